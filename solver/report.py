"""What finished tables say in sum: one record a subspace and side to move, as text or CSV. Reads statistics only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from solver.database import Database
from solver.errors import SolverError
from solver.subspaces import MovingPair, PlacingSubspace, Plane, Subspace
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


RESOURCE_COLUMNS = ("table", "seconds", "file_bytes")


@dataclass(frozen=True)
class SubspaceReport:
    """Counts of one subspace with one side to move.

    :param raw: raw positions (won, drawn, lost) for the side to move
    :param classes: classes of positions (won, drawn, lost) for the side to move
    :param longest: distance of the longest win and loss in plies; None where there is none or none is stored
    :param examples: position text of a longest win and a longest loss
    :param seconds: what computing its file took
    :param file_bytes: the size of its file
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


def subspace_reports(database: Database) -> list[SubspaceReport]:
    """The reports of all tables there are: the moving phase by stones in all, then the placing phase by ply."""
    found = database.subspaces()
    pairs = sorted((s for s in found if isinstance(s, MovingPair)), key=lambda s: (sum(_stones(s)), s.row_stones))
    placing = sorted(s for s in found if isinstance(s, PlacingSubspace))
    ordered: list[Subspace] = [*pairs, *placing]
    return [_report(database, subspace, plane) for subspace in ordered for plane in subspace.planes]


def _stones(subspace: Subspace) -> tuple[int, int]:
    return subspace.row_stones, subspace.column_stones


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
            resources = [report.subspace.name, report.seconds, report.file_bytes]
            writer.writerow(row + (resources if with_resources else []))
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


def count_differences(reports: Iterable[SubspaceReport], text: str, source: str) -> list[str]:
    """What differs between counts and those in the CSV ``text`` made by :func:`to_csv`, a line each.

    Subspaces that only one of them has are passed over; the name of the rules does not matter, since rule sets share
    tables.

    :raises SolverError: for a text that is no such CSV, or where they have no subspace in common
    """
    columns = CSV_COLUMNS[1:]
    try:
        rows = [[int(row[column]) for column in columns] for row in csv.DictReader(io.StringIO(text))]
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise SolverError(f"{source}: no counts made by scripts/stats.py --csv; choose another file") from error
    expected = {(row[0], row[1]): row for row in rows}
    found = {}
    for row in csv.DictReader(io.StringIO(to_csv("", reports))):
        found[int(row["mover_stones"]), int(row["opponent_stones"])] = [int(row[column]) for column in columns]
    common = sorted(expected.keys() & found.keys())
    if not common:
        raise SolverError(f"{source}: counts of none of the tables; choose another file")
    return [
        f"{mover}-{opponent}: {column} {ours}, expected {theirs}"
        for mover, opponent in common
        for column, ours, theirs in zip(columns, found[mover, opponent], expected[mover, opponent], strict=True)
        if ours != theirs
    ]
