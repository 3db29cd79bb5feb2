"""What finished tables say in sum: one record a subspace and side to move. Reads statistics only.

Tables that are not kept leave their records in ``passed.json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from solver.errors import CorruptTableError
from solver.indexing.subspaces import MovingPair, Plane, Subspace, parse_name
from solver.indexing.values import Metric
from solver.tables.database import Database
from solver.tables.directory import reading, temporary_file, writing

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
