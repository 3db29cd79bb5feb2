"""Counts of positions as text and CSV, and back: what scripts print and figures draw."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from solver.errors import SolverError
from solver.game.rules import Phase
from solver.indexing.subspaces import MovingPair, PlacingSubspace
from solver.indexing.values import Metric, decode
from solver.tables.database import Database
from solver.tables.subspace_counts import SubspaceReport, subspace_reports

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


class Counts(NamedTuple):
    """What a report and a line of CSV have in common: all that figures need.

    :param ply: of the placing phase, None for the moving phase
    :param raw: raw positions (won, drawn, lost) for the side to move
    :param classes: the same in classes
    :param longest: distance of the longest win and loss in plies; None where there is none or none is stored
    """

    rules: str
    ply: int | None
    mover_stones: int
    opponent_stones: int
    raw: tuple[int, int, int]
    classes: tuple[int, int, int]
    longest: tuple[int | None, int | None]


def counts_of(database: Database) -> list[Counts]:
    """The counts of all tables there are, in the order of :func:`subspace_reports`."""
    return [
        Counts(database.rules.name, r.subspace.ply, r.mover_stones, r.opponent_stones, r.raw, r.classes, r.longest)
        for r in subspace_reports(database)
    ]


def read_csv(path: str | Path) -> list[Counts]:
    """The counts in a file that :func:`to_csv` or :func:`to_placing_csv` made.

    :raises SolverError: for a file that cannot be read or has other columns
    """
    try:
        with open(path, newline="") as file:
            found = [_from_line(line) for line in csv.DictReader(file)]
        if not found:
            raise ValueError("no lines")
        return found
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise SolverError(
            f"{path}: no table of counts ({error}); expected the columns {', '.join(CSV_COLUMNS)} "
            "as scripts/stats.py DIR --csv writes them"
        ) from error


def _from_line(line: dict[str, str]) -> Counts:
    wins, draws, losses, *classes, win, loss = (int(line[column]) for column in CSV_COLUMNS[3:])
    longest = win if win and classes[0] else None, loss if classes[2] and (win or loss) else None
    raw = wins, draws, losses
    if "ply" not in line:
        mover, opponent, ply = int(line["mover_stones"]), int(line["opponent_stones"]), None
    else:
        white, black, ply = int(line["white_stones"]), int(line["black_stones"]), int(line["ply"])
        mover, opponent = (white, black) if ply % 2 == 0 else (black, white)
    return Counts(line["rules"], ply, mover, opponent, raw, (classes[0], classes[1], classes[2]), longest)


def distances(database: Database, phase: Phase = "moving") -> tuple[Counter[int], Counter[int]]:
    """Raw positions by distance in plies, won and lost, in all tables of a phase that hold distances."""
    found: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for subspace in database.subspaces():
        table = database.table(subspace)
        if subspace.phase == phase and table.metric is not Metric.WDL:
            for plane in subspace.planes:
                raw = table.statistics(plane).raw
                for code in np.flatnonzero(raw).tolist():
                    wdl, depth = decode(code, table.metric)
                    if depth is not None:
                        found[wdl < 0][depth] += int(raw[code])
    return found


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
