"""Check finished tables: every stored value must follow from the values one ply later.

The solver works backwards with counters, shared look-ups and bit tricks. The verifier does none of that: it takes each
position by itself, asks the plain move generator for its turns, reads the value after each from the tables, and
compares what follows with the stored value. The two share the rules, the index and the files, and no line of the loops
that compute values.

If all values of all tables agree, distances included, all are right: a false win or loss needs a successor that is
false and nearer to the end, and so does a position that is falsely drawn, seen from its true distance.

Under a quiet limit N a decided value says how many plies away the next mill is; a quiet turn that makes it more than N
leads to a draw.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from solver.compiled.bitboard import U, by_bytes, compress, expand
from solver.compiled.jit import jit, jit_inner
from solver.errors import MissingTableError, SolverError
from solver.game.movegen import MAX_TURNS, NONE, TURN_FIELDS, legal_turns, move_tables, stones_after
from solver.game.rules import LOSING_STONES
from solver.indexing.index import SubspaceIndex
from solver.indexing.ranks import Masks, RankTable, rank
from solver.indexing.rows import ClassTable, SymmetryTables, class_and_symmetry, symmetry_tables
from solver.indexing.subspaces import (
    COLUMN_TO_MOVE,
    ROW_TO_MOVE,
    MovingPair,
    PlacingSubspace,
    Plane,
    Subspace,
    closed_form_counts,
    counts_after,
    hands,
)
from solver.indexing.values import DRAW, LOST, Metric, Value, decode
from solver.tables.database import Database, Table, position_text
from solver.tables.plane_counts import PlaneStatistics, count_plane
from solver.tables.subspace_counts import subspace_reports
from solver.tables.verification_record import Checked

MAX_TAKEN = 2
EXAMPLES = 10
"""Disagreements that a report shows of each plane."""

Codes = npt.NDArray[np.unsignedinteger]
Indices = npt.NDArray[np.int64]

_CHUNK = 1 << 16  # positions that a thread takes at a time
_TURNS = 1 << 16  # and turns that it lists at a time: few enough for the second-level cache
_SCATTERED = 1 << 20  # positions of a plane, up to which a sample reads but the chunks that it needs
_SCATTERED_TURNS = 1 << 22  # turns listed at a time then: many, for each chunk is read anew for each list
_METRICS = (Metric.DTM, Metric.DTC, Metric.WDL)
_DTM, _DTC = range(2)
_NEVER = 1 << 30


class _Plane(NamedTuple):
    """The positions of a plane."""

    points: np.uint64  # mask of all points
    row_masks: Masks
    subsets: Masks  # of the column side, by column
    mover_is_row: bool
    hand: int  # of the mover


class _Turns(NamedTuple):
    """The turns of some positions, one after the other, with what they lead to."""

    start: npt.NDArray[np.int64]  # (positions + 1,) turns of position k: start[k] .. start[k + 1] - 1
    own: Masks  # stones after the turn of the player who made it
    opponent: Masks
    taken: npt.NDArray[np.uint8]  # number of stones taken
    code: npt.NDArray[np.uint16]  # of the position after it, the opponent to move


class _Place(NamedTuple):
    """Where the positions lie that turns taking a given number of stones lead to."""

    mover_is_row: bool  # whether the player who has made the turn is the row side
    points: np.uint64
    rows: ClassTable
    columns: RankTable
    symmetries: SymmetryTables


@jit
def _list_turns(first, indices, plane, moves, turns):
    """List the turns of the positions at ``indices[first:]``, as far as there is room; returns where it ended."""
    buffer = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    n = 0
    position = first
    while position < indices.size and n + MAX_TURNS <= turns.own.size and position - first < turns.start.size - 1:
        row, column = divmod(indices[position], plane.subsets.size)
        own = U(plane.row_masks[row])
        opponent = expand(U(plane.subsets[column]), plane.points & ~own)
        if not plane.mover_is_row:
            own, opponent = opponent, own
        turns.start[position - first] = n
        for k in range(legal_turns(moves, own, opponent, plane.hand, buffer)):
            turns.own[n], turns.opponent[n] = stones_after(own, opponent, buffer[k])
            turns.taken[n] = (buffer[k, 2] != NONE) + (buffer[k, 3] != NONE)
            n += 1
        position += 1
    turns.start[position - first] = n
    return position


@jit
def _index_after(place, own, opponent):
    """(row, column) of the position after a turn that has left these stones."""
    row_side, column_side = (own, opponent) if place.mover_is_row else (opponent, own)
    row, g = class_and_symmetry(place.rows, row_side)
    free = place.points & ~U(place.rows.representatives[row])
    return row, rank(place.columns, compress(by_bytes(place.symmetries.images[g], column_side), free))


@jit
def _look_up(taken, place, codes, n, turns):
    """Fill in the codes after those of the first n turns that take ``taken`` stones."""
    for k in range(n):
        if turns.taken[k] == taken:
            row, column = _index_after(place, U(turns.own[k]), U(turns.opponent[k]))
            turns.code[k] = codes[row, column]


@jit
def _locate(chosen, place, turns, rows, columns):
    """Fill in where the positions after the turns ``chosen`` lie."""
    for i in range(chosen.size):
        k = chosen[i]
        rows[i], columns[i] = _index_after(place, U(turns.own[k]), U(turns.opponent[k]))


@jit_inner
def _plies(metric, code, taken):
    """Plies from before a turn, if it leads to ``code``; 0 where plies are not counted."""
    if metric == _DTM:
        return code  # a code is one more than its distance
    if metric == _DTC:
        return 1 if taken else (code >> 1) + 1
    return 0


@jit_inner
def _encode(metric, is_win, plies):
    if metric == _DTM:
        return plies + 1
    if metric == _DTC:
        return 2 * plies + (0 if is_win else 1)
    return 2 if is_win else LOST


@jit
def _judge(metric, quiet_limit, n, turns, expected):
    """Fill in the codes of the first n positions from those that their turns lead to."""
    for position in range(n):
        fastest_win, slowest_loss, draws = _NEVER, 0, 0
        for k in range(turns.start[position], turns.start[position + 1]):
            code = np.int64(turns.code[k])
            plies = _plies(metric, code, turns.taken[k])
            is_late = metric == _DTC and plies > quiet_limit
            if code == DRAW or is_late:
                draws += 1
            elif code & 1:
                fastest_win = min(fastest_win, plies)
            else:
                slowest_loss = max(slowest_loss, plies)
        if fastest_win < _NEVER:
            expected[position] = _encode(metric, True, fastest_win)
        else:
            expected[position] = DRAW if draws else _encode(metric, False, slowest_loss)


@dataclass(frozen=True)
class Disagreement:
    """A stored value that does not follow from its successors."""

    table: str
    plane: Plane
    position: str
    stored: Value
    expected: Value


@dataclass(frozen=True)
class PlaneReport:
    """What the check of one plane found.

    :param positions: indices checked
    :param indices: indices there are
    :param disagreements: how many values do not follow from their successors
    :param statistics_agree: whether the counts in the file are those of its values
    """

    table: str
    plane: Plane
    positions: int
    indices: int
    disagreements: int
    statistics_agree: bool


@dataclass
class VerifyReport:
    """What :func:`verify` found.

    :param tables: by name of table, what :func:`solver.tables.verification_record.write_record` keeps
    :param left_out: tables whose successors were not kept, so that they cannot be checked by them
    """

    rules: str
    left_out: list[str] = field(default_factory=list)
    planes: list[PlaneReport] = field(default_factory=list)
    tables: dict[str, Checked] = field(default_factory=dict)
    examples: list[Disagreement] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def positions(self) -> int:
        """Indices checked."""
        return sum(plane.positions for plane in self.planes)

    @property
    def disagreements(self) -> int:
        """Values that do not follow from their successors."""
        return sum(plane.disagreements for plane in self.planes)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.disagreements and all(plane.statistics_agree for plane in self.planes)

    @property
    def positions_per_second(self) -> float:
        return self.positions / self.seconds if self.seconds else 0.0

    def to_json(self) -> str:
        """The report as JSON text."""
        summary = {
            "rules": self.rules,
            "is_clean": self.is_clean,
            "positions": self.positions,
            "disagreements": self.disagreements,
            "left_out": self.left_out,
            "seconds": round(self.seconds, 3),
            "positions_per_second": round(self.positions_per_second),
        }
        examples = [asdict(e) | {"stored": e.stored._asdict(), "expected": e.expected._asdict()} for e in self.examples]
        return json.dumps(summary | {"planes": [asdict(p) for p in self.planes], "examples": examples}, indent=1)


def verify(
    directory: str | Path,
    subspaces: Iterable[Subspace] | None = None,
    *,
    sample: float | None = None,
    run: int = 1,
    seed: int = 0,
    progress: bool = True,
    threads: int = 1,
) -> VerifyReport:
    """Recompute the values of tables from the values one ply later.

    Also counts the values and compares the counts with those in the file, unless a sample is so small that only the
    chunks that hold it and its successors are read. Else a plane of the subspace and those that its captures lead to
    are in memory at a time.

    :param subspaces: which tables to check; default: all that are there and have all their successors; of a table
        before a layer that was not kept it is said that it was left out
    :param sample: check so many random positions of each plane, or below 1 this part of them; default: all of them
    :param run: take so many neighbouring positions from each random place; their successors lie in few chunks
    :param seed: of the random choice
    :param progress: draw a progress bar over positions, if there is a terminal to draw it on

    :raises MissingTableError: where a table is missing that successors lie in
    :raises DatabaseError: for a damaged file
    """
    started = time.monotonic()
    rng = np.random.default_rng(seed)
    with Database(directory) as database, ThreadPoolExecutor(threads) as pool:
        report = VerifyReport(database.rules.name)
        chosen = list(subspaces) if subspaces is not None else _with_successors(database, report)
        planes = [(subspace, plane) for subspace in chosen for plane in subspace.planes]
        if not planes:
            raise MissingTableError(f"{directory}: no tables to check; compute some with scripts/solve.py")
        indices = [_indices(subspace.index(database.rules.board).size, sample, run, rng) for subspace, _ in planes]
        total = sum(map(len, indices))
        with tqdm(total=total, unit="pos", unit_scale=True, disable=None if progress else True) as bar:
            for (subspace, plane), some in zip(planes, indices, strict=True):
                bar.set_description(subspace.name)
                scattered = not isinstance(some, range) and len(some) <= _SCATTERED
                _verify_plane(_Checker(database, subspace, plane, threads, scattered), some, pool, bar.update, report)
    report.seconds = time.monotonic() - started
    return report


def _with_successors(database: Database, report: VerifyReport) -> list[Subspace]:
    """The tables to check, without those before a layer that was not kept."""
    passed = {one.subspace for one in subspace_reports(database) if not database.has(one.subspace)}
    chosen = []
    for subspace in database.subspaces():
        after: set[Subspace] = set()
        if isinstance(subspace, PlacingSubspace):
            counts = counts_after(database.rules, subspace.ply, subspace.white, subspace.black)
            after = {PlacingSubspace(subspace.ply + 1, *stones) for stones in counts}
        if after & passed:
            report.left_out.append(subspace.name)
        else:
            chosen.append(subspace)
    return chosen


def _indices(size: int, sample: float | None, run: int, rng: np.random.Generator) -> range | Indices:
    """The indices of a plane to check, ascending."""
    if sample is None or sample >= size:
        return range(size)
    count = math.ceil(sample * size if sample < 1 else sample)
    run = min(run, count)
    places = rng.integers(0, size - run + 1, math.ceil(count / run))
    return np.sort((places[:, None] + np.arange(run)).ravel()[:count])


def _verify_plane(
    checker: _Checker, indices: range | Indices, pool: Executor, advance: Callable[[int], object], report: VerifyReport
) -> None:
    parts = [indices[first : first + checker.part] for first in range(0, len(indices), checker.part)]
    disagreements, examples = 0, list[Disagreement]()
    for part, (wrong, expected) in zip(parts, pool.map(checker.check, parts), strict=True):
        disagreements += len(wrong)
        shown = slice(EXAMPLES - len(examples))
        examples += map(checker.disagreement, wrong[shown].tolist(), expected[shown].tolist())
        advance(len(part))
    name, plane = checker.subspace.name, checker.plane
    size = checker.subspace.index(checker.rules.board).size
    report.planes.append(PlaneReport(name, plane, len(indices), size, disagreements, checker.statistics_agree()))
    report.examples += examples
    _add_table(report, checker)


def _add_table(report: VerifyReport, checker: _Checker) -> None:
    """Sum up the planes of a table that have been checked so far."""
    name = checker.subspace.name
    planes = [plane for plane in report.planes if plane.table == name]
    before = report.tables[name].successors if name in report.tables else {}
    report.tables[name] = Checked(
        checker.checksum,
        before | checker.successors,
        sum(plane.positions for plane in planes),
        sum(plane.indices for plane in planes),
        sum(plane.disagreements for plane in planes),
        all(plane.statistics_agree for plane in planes),
    )


class _Loaded:
    """The codes of a plane, all in memory."""

    def __init__(self, table: Table, plane: Plane, threads: int) -> None:
        self._codes = table.load(plane, threads)

    def fill(self, taken: int, place: _Place, n: int, turns: _Turns) -> None:
        """Fill in the codes after those of the first n turns that take ``taken`` stones."""
        _look_up(taken, place, self._codes, n, turns)

    def at(self, rows: Indices, columns: Indices) -> Codes:
        """The codes of these indices."""
        codes: Codes = self._codes[rows, columns]
        return codes

    def statistics_agree(self, index: SubspaceIndex, stored: PlaneStatistics) -> bool:
        """Whether counts are those of the codes."""
        counted = count_plane(index, self._codes, stored.metric)
        return np.array_equal(stored.raw, counted.raw) and np.array_equal(stored.classes, counted.classes)


class _Scattered:
    """The codes of a plane, read chunk by chunk when some of them are wanted."""

    def __init__(self, table: Table, plane: Plane, threads: int) -> None:
        self._table, self._plane, self._threads = table, plane, threads

    def fill(self, taken: int, place: _Place, n: int, turns: _Turns) -> None:
        """Fill in the codes after those of the first n turns that take ``taken`` stones."""
        chosen = np.flatnonzero(turns.taken[:n] == taken)
        rows, columns = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
        _locate(chosen, place, turns, rows, columns)
        turns.code[chosen] = self.at(rows, columns)

    def at(self, rows: Indices, columns: Indices) -> Codes:
        """The codes of these indices."""
        return self._table.read_scattered(self._plane, rows, columns, self._threads)

    def statistics_agree(self, index: SubspaceIndex, stored: PlaneStatistics) -> bool:
        """Nothing that a sample could tell."""
        return True


class _Checker:
    """One plane with everything that its values follow from.

    :param scattered: whether to read only the chunks that are needed
    """

    def __init__(
        self, database: Database, subspace: Subspace, plane: Plane, threads: int, scattered: bool = False
    ) -> None:
        self.subspace, self.plane = subspace, plane
        self.part = _SCATTERED if scattered else _CHUNK
        self._database, self._threads = database, threads
        self._codes_of: type[_Scattered] | type[_Loaded] = _Scattered if scattered else _Loaded
        self._turns = _SCATTERED_TURNS if scattered else _TURNS
        self.rules = database.rules
        self.successors: dict[str, str] = {}  # checksums of the other tables that values follow from, by name
        self._index = subspace.index(self.rules.board)
        self._table = database.table(subspace)
        self.checksum = self._table.checksum
        self._codes = self._codes_of(self._table, plane, threads)
        self._targets = {taken: self._target(taken) for taken in range(MAX_TAKEN + 1) if self._is_possible(taken)}
        self._positions = _Plane(
            self._index.points,
            self._index.classes.table.representatives,
            self._index.columns.subsets,
            plane == ROW_TO_MOVE,
            self._hands()[0],
        )

    def check(self, indices: range | Indices) -> tuple[Indices, Indices]:
        """(indices whose value is wrong, the codes expected there)."""
        numbers = np.arange(indices.start, indices.stop) if isinstance(indices, range) else indices
        expected = np.empty(len(numbers), np.int64)
        turns = _Turns(
            np.empty(self._turns + 1, np.int64),
            np.empty(self._turns, np.uint32),
            np.empty(self._turns, np.uint32),
            np.empty(self._turns, np.uint8),
            np.empty(self._turns, np.uint16),
        )
        first = 0
        while first < len(numbers):
            last = _list_turns(first, numbers, self._positions, move_tables(self.rules), turns)
            self._fill_codes(turns, int(turns.start[last - first]))
            metric = _METRICS.index(self._table.metric)
            _judge(metric, self.rules.quiet_limit, last - first, turns, expected[first:last])
            first = last
        wrong = expected != self._codes.at(*np.divmod(numbers, self._index.shape[1]))
        return numbers[wrong], expected[wrong]

    def _fill_codes(self, turns: _Turns, n: int) -> None:
        taken = turns.taken[:n]
        for number in np.flatnonzero(np.bincount(taken)).tolist():
            if number not in self._targets:
                raise SolverError(
                    f"{self.subspace.name}: a turn takes {number} stones, which the rules should not allow"
                )
            target = self._targets[number]
            if target is None:
                turns.code[:n][taken == number] = LOST
            else:
                place, codes = target
                codes.fill(number, place, n, turns)

    def _code(self, row: int, column: int) -> int:
        return int(self._codes.at(np.array([row]), np.array([column]))[0])

    def disagreement(self, index: int, expected: int) -> Disagreement:
        row, column = divmod(index, self._index.shape[1])
        return Disagreement(
            self.subspace.name,
            self.plane,
            position_text(self.rules, self.subspace, self.plane, row, column),
            decode(self._code(row, column), self._table.metric),
            decode(expected, self._table.metric),
        )

    def statistics_agree(self) -> bool:
        """Whether the counts in the file are those of its values, and add up to what combinatorics says.

        A sample that reads chunks cannot count; of that, the sum and the examples remain.
        """
        stored = self._table.statistics(self.plane)
        totals = int(stored.raw.sum()), int(stored.classes.sum())
        return (
            totals == closed_form_counts(self.rules.board, self.subspace)
            and all(self._code(*index) == code for code, index in stored.examples.items())
            and self._codes.statistics_agree(self._index, stored)
        )

    def _hands(self) -> tuple[int, int]:
        """Stones in hand of (mover, opponent)."""
        if isinstance(self.subspace, MovingPair):
            return 0, 0
        in_hand = hands(self.rules, self.subspace.ply)
        return in_hand if self.subspace.ply % 2 == 0 else in_hand[::-1]

    def _is_possible(self, taken: int) -> bool:
        """Whether turns may take so many stones."""
        own, opponent = self.subspace.stones_to_move(self.plane)
        if taken > min(opponent, self.rules.double_mill):
            return False
        if isinstance(self.subspace, PlacingSubspace):
            return taken == 0 or own >= 2 * taken  # two mills in a point have five stones
        return taken <= max(1, self.rules.board.max_mills_by_slide)  # a flying player has too few stones for two

    def _target(self, taken: int) -> tuple[_Place, _Loaded | _Scattered] | None:
        """Where turns lead that take so many stones; None where the opponent has too few stones left."""
        own, opponent = self.subspace.stones_to_move(self.plane)
        own, opponent = own + (self.subspace.phase == "placing"), opponent - taken
        if opponent + self._hands()[1] < LOSING_STONES:
            return None
        subspace, plane, mover_is_row = self._place_after(own, opponent)
        index = subspace.index(self.rules.board)
        is_same = (subspace, plane) == (self.subspace, self.plane)
        table = self._database.table(subspace)
        if subspace != self.subspace:
            self.successors[subspace.name] = table.checksum
        codes = self._codes if is_same else self._codes_of(table, plane, self._threads)
        symmetries = symmetry_tables(self.rules.board)
        return _Place(mover_is_row, index.points, index.classes.table, index.columns.ranks, symmetries), codes

    def _place_after(self, own: int, opponent: int) -> tuple[Subspace, Plane, bool]:
        """Where positions after a turn are, and whether the player who has made it is the row side there."""
        if isinstance(self.subspace, PlacingSubspace) and self.subspace.ply + 1 < 2 * self.rules.stones:
            white_moved = self.subspace.ply % 2 == 0
            white, black = (own, opponent) if white_moved else (opponent, own)
            placing = PlacingSubspace(self.subspace.ply + 1, white, black)
            return placing, placing.planes[0], white_moved
        if opponent >= own:
            return MovingPair(opponent, own), ROW_TO_MOVE, False
        return MovingPair(own, opponent), COLUMN_TO_MOVE, True
