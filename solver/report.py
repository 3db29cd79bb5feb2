"""What finished tables say in sum: one record a subspace and side to move, as text or CSV. Reads statistics only."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from solver.database import Database
from solver.directory import reading, temporary_file, writing
from solver.errors import CorruptTableError
from solver.subspaces import MovingPair, PlacingSubspace, Plane, Subspace, parse_name
from solver.values import Metric

CSV_COLUMNS = (
    "rules",
    "mover_stones",
    "opponent_stones",
    "raw_wins",
    "raw_draws",
    "raw_losses",
    "classes_wins",
    "classes_draws",
    "classes_losses",
    "longest_win",
    "longest_loss",
)


RESOURCE_COLUMNS = ("table", "seconds", "file_bytes", "peak_memory")

PLACING_COLUMNS = ("rules", "ply", "white_stones", "black_stones", "mover", *CSV_COLUMNS[3:], *RESOURCE_COLUMNS[1:])

PASSED_FILE = "passed.json"
"""The reports of tables that were not kept."""

_PASSED_FORMAT = "merels passed layers"


@dataclass(frozen=True)
class SubspaceReport:
    """Counts of one subspace with one side to move.

    :param raw: raw positions (won, drawn, lost) for the side to move
    :param classes: classes of positions (won, drawn, lost) for the side to move
    :param longest: distance of the longest win and loss in plies; None where there is none or none is stored
    :param examples: position text of a longest win and a longest loss
    :param seconds: what computing its file took
    :param file_bytes: the size of its file
    :param peak_memory: bytes of memory that computing it took, if known
    """

    subspace: Subspace
    plane: Plane
    metric: Metric
    mover_stones: int
    opponent_stones: int
    raw: tuple[int, int, int]
    classes: tuple[int, int, int]
    longest: tuple[int | None, int | None]
    examples: tuple[str | None, str | None]
    seconds: float
    file_bytes: int
    peak_memory: int | None


def subspace_reports(database: Database) -> list[SubspaceReport]:
    """The reports of all tables there are or were: the moving phase by stones in all, then the placing phase by ply."""
    found = database.subspaces()
    reports = [report for subspace in found for report in table_reports(database, subspace)]
    reports += [report for report in _passed(database.directory) if report.subspace not in set(found)]
    return sorted(reports, key=_place)


def table_reports(database: Database, subspace: Subspace) -> list[SubspaceReport]:
    """The reports of the planes of one table."""
    return [_report(database, subspace, plane) for plane in subspace.planes]


def _place(report: SubspaceReport) -> tuple[int, int, int, int]:
    subspace, is_second = report.subspace, report.plane != report.subspace.planes[0]
    if isinstance(subspace, MovingPair):
        return -1, subspace.row_stones + subspace.column_stones, subspace.row_stones, is_second
    return subspace.ply, subspace.white, subspace.black, is_second


def remember(directory: Path, reports: Sequence[SubspaceReport]) -> None:
    """Keep the reports of tables that are about to be removed."""
    tables = {(report.subspace, report.plane): report for report in (*_passed(directory), *reports)}
    entries = [asdict(report) | {"subspace": report.subspace.name} for report in sorted(tables.values(), key=_place)]
    path = directory / PASSED_FILE
    with writing(path), temporary_file(path) as temporary:
        text = json.dumps({"format": _PASSED_FORMAT, "format_version": 1, "tables": entries}, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8")


def _passed(directory: Path) -> list[SubspaceReport]:
    path = directory / PASSED_FILE
    if not path.exists():
        return []
    with reading(path):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _PASSED_FORMAT or document["format_version"] != 1:
            raise CorruptTableError(f"{path}: not a document of passed layers; delete it")
        return [_from_entry(entry) for entry in document["tables"]]


def _from_entry(entry: dict[str, Any]) -> SubspaceReport:
    pairs = {name: tuple(entry[name]) for name in ("raw", "classes", "longest", "examples")}
    return SubspaceReport(
        **entry | pairs | {"subspace": parse_name(entry["subspace"]), "metric": Metric(entry["metric"])}
    )


def _report(database: Database, subspace: Subspace, plane: Plane) -> SubspaceReport:
    table = database.table(subspace)
    statistics = table.statistics(plane)
    attributes = table.plane_attributes(plane)
    has_depth = table.metric is not Metric.WDL
    longest = [
        depth if code is not None and has_depth else None
        for depth, code in (
            (statistics.longest_win, statistics.longest_win_code),
            (statistics.longest_loss, statistics.longest_loss_code),
        )
    ]
    mover, opponent = subspace.stones_to_move(plane)
    return SubspaceReport(
        subspace,
        plane,
        table.metric,
        mover,
        opponent,
        statistics.raw_wdl,
        statistics.classes_wdl,
        (longest[0], longest[1]),
        (attributes.get("longest_win_example"), attributes.get("longest_loss_example")),
        float(table.attributes["seconds"]),
        table.path.stat().st_size,
        table.attributes.get("peak_memory"),
    )


def to_csv(rules_name: str, reports: Iterable[SubspaceReport], with_resources: bool = False) -> str:
    """The moving phase as CSV with :data:`CSV_COLUMNS`; a longest line that does not exist is 0.

    :param with_resources: also the table, the seconds that it took and its size; both planes of a table have the same
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*CSV_COLUMNS, *(RESOURCE_COLUMNS if with_resources else ())])
    for report in reports:
        if isinstance(report.subspace, MovingPair):
            longest = [depth or 0 for depth in report.longest]
            row = [rules_name, report.mover_stones, report.opponent_stones, *report.raw, *report.classes, *longest]
            resources = [report.subspace.name, report.seconds, report.file_bytes, report.peak_memory or ""]
            writer.writerow(row + (resources if with_resources else []))
    return out.getvalue()


def to_placing_csv(rules_name: str, reports: Iterable[SubspaceReport]) -> str:
    """The placing phase as CSV with :data:`PLACING_COLUMNS`, one line a ply and stone count."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PLACING_COLUMNS)
    for report in reports:
        subspace = report.subspace
        if isinstance(subspace, PlacingSubspace):
            longest = [depth or 0 for depth in report.longest]
            position = [rules_name, subspace.ply, subspace.white, subspace.black, ("white", "black")[subspace.ply % 2]]
            resources = [report.seconds, report.file_bytes, report.peak_memory or ""]
            writer.writerow([*position, *report.raw, *report.classes, *longest, *resources])
    return out.getvalue()


def to_text(reports: Sequence[SubspaceReport]) -> str:
    """The moving phase subspace by subspace and the placing phase ply by ply, in columns."""
    rows: list[tuple[str, ...]] = [("phase", "mover-opp.", "classes won", "drawn", "lost", "longest win", "loss")]
    rows += [_row("moving", f"{r.mover_stones}-{r.opponent_stones}", [r]) for r in reports if r.subspace.ply is None]
    for ply in sorted({r.subspace.ply for r in reports if r.subspace.ply is not None}):
        rows.append(_row("placing", f"ply {ply}", [r for r in reports if r.subspace.ply == ply]))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _row(phase: str, name: str, reports: Sequence[SubspaceReport]) -> tuple[str, ...]:
    counts = [sum(report.classes[i] for report in reports) for i in range(3)]
    depths = [[depth for report in reports if (depth := report.longest[i]) is not None] for i in range(2)]
    longest = [max(found, default=None) for found in depths]
    return phase, name, *(f"{count:,}" for count in counts), *("-" if d is None else str(d) for d in longest)
