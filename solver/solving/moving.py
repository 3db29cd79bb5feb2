"""Solve one pair of the moving phase by retrograde analysis. Buffers, order and progress; the loops are in ``kernels``.

While a pair is being solved one small integer a position holds either its value or what is missing to know it::

    0        padding                                         c .. : value codes, as in ``values``
    1 ..     value code                                      d .. : a count of quiet turns not yet known to lose
    d        a count that has just reached zero              top  : cannot be lost (a capture draws)
    d + n    n quiet turns not yet known to lose

with d = ``first_count`` chosen so that the largest count fits below ``top``. The solver watches that no code reaches
d; if one would, the pair is solved again with two bytes a position. A win by capture is written at once, though its
level comes later: a shorter win may still replace it, and levels are processed in the order of the codes, so depths
are minimal.

Under a quiet limit the codes count plies to the next conversion. Every winning capture then has the same code, a loss
found by counting is one ply longer than the win that completes it (``loss_step``), and levels past the limit are not
processed: what is left is a draw.

Of two equal sides only one plane is solved; its frontier is mirrored to stand for the other side's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U
from solver.compiled.workers import Workers
from solver.game.rules import FLYING_STONES, LOSING_STONES, Rules
from solver.indexing.index import SubspaceIndex
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import COLUMN_TO_MOVE, ROW_TO_MOVE, MovingPair, Plane
from solver.indexing.values import LOST, metric_of
from solver.kernels import flying, frontier, initialise, propagate, tables
from solver.kernels.board import MAX_DIRECTED_EDGES, board_tables
from solver.solving.code_book import code_book

Codes = npt.NDArray[np.unsignedinteger]
PlaneSource = Callable[[MovingPair, Plane], Codes]
"""Gives a plane of a smaller pair, shape (rows, at least its columns)."""

Progress = Callable[[int], object]
"""Called with the number of positions done since the last call."""

_FRONTIER_LIMIT = 32 << 20  # entries of a frontier list at a time: 128 MB


class CodeOverflowError(Exception):
    """A code would meet the successor counts: the value type is too small."""


@dataclass
class PairProblem:
    """Everything that the levels of one pair work on."""

    pair: tables.Pair
    book: tables.CodeBook
    rows: int
    row_side: tables.Side
    column_side: tables.Side | None  # None for equal sides
    row_captures: tables.RowCaptures
    column_captures: tables.ColumnCaptures | None
    counters: flying.PairCounters
    workers: Workers
    highest: int = 0  # of all codes written so far
    _buffer: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))

    @property
    def sides(self) -> list[tables.Side]:
        return [side for side in (self.row_side, self.column_side) if side is not None]

    def raise_highest(self, codes: list[int]) -> None:
        self.highest = max(self.highest, *codes)

    def frontier_buffer(self, size: int) -> npt.NDArray[np.uint32]:
        """A list of ``size`` entries; the memory is reused from level to level."""
        if len(self._buffer) < size:
            self._buffer = np.empty(size, np.uint32)
        return self._buffer[:size]


def solve_pair(
    rules: Rules,
    pair: MovingPair,
    source: PlaneSource,
    workers: Workers,
    progress: Progress | None = None,
    value_type: type[np.unsignedinteger] = np.uint8,
) -> dict[Plane, Codes]:
    """The planes of ``pair`` as codes, each of shape (rows, stride), the stride padded with zeros.

    :param source: gives the planes of the pairs that captures lead to
    :param progress: told of positions done; they add up to the indices of the stored planes
    :param value_type: the smallest type to try; a wider one is taken where codes do not fit
    """
    report = _Progress(progress, pair.index(rules.board).size * len(pair.planes))
    while True:
        try:
            problem = prepare_pair(rules, pair, source, workers, value_type)
            report.advance_to(0.2)
            propagate_pair(problem, rules.quiet_limit, lambda part: report.advance_to(0.2 + 0.8 * part))
            break
        except CodeOverflowError:
            if value_type == np.uint16:
                raise
            value_type = np.uint16
    planes: dict[Plane, Codes] = {ROW_TO_MOVE: problem.row_side.values}
    if problem.column_side is not None:
        planes[COLUMN_TO_MOVE] = problem.column_side.values
    report.advance_to(1.0)
    return planes


class _Progress:
    """Turns fractions of a pair into positions; never runs backwards."""

    def __init__(self, callback: Progress | None, total: int) -> None:
        self._callback, self._total, self._done = callback, total, 0

    def advance_to(self, fraction: float) -> None:
        done = int(self._total * min(fraction, 1.0))
        if self._callback is not None and done > self._done:
            self._callback(done - self._done)
            self._done = done


def prepare_pair(
    rules: Rules,
    pair: MovingPair,
    source: PlaneSource,
    workers: Workers,
    value_type: type[np.unsignedinteger] = np.uint8,
) -> PairProblem:
    """Count quiet turns and value captures. :raises CodeOverflowError: where codes do not fit ``value_type``"""
    index = pair.index(rules.board)
    kernel_pair = _pair_tables(rules, index)
    row_captures = _row_captures(index, pair, source)
    column_captures = _column_captures(index, pair, source)
    captured = [row_captures.plane] + ([column_captures.plane] if column_captures else [])
    book = _code_book(rules, kernel_pair, index, value_type)
    # Scores have room for codes up to top - 4.
    if any(int(plane.max()) > book.top_score - 4 for plane in captured):
        raise CodeOverflowError
    rows, columns = index.shape
    row_side = _new_side(rows, columns, value_type)
    other = _new_side(rows, columns, value_type)
    # The plane of the column side first serves as the buffer of the best removals, which only row-side turns need.
    best = other.values
    workers.over_rows(
        rows, lambda first, last: initialise.best_removals(first, last, kernel_pair, row_captures, book, best)
    )
    highest = workers.over_rows(
        rows, lambda first, last: initialise.initialise_row_side(first, last, kernel_pair, book, best, row_side)
    )
    if column_captures is not None:
        highest += workers.over_rows(
            rows,
            lambda first, last: initialise.initialise_column_side(
                first, last, kernel_pair, column_captures, book, other
            ),
        )
    column_side = other if column_captures is not None else None
    counters = _pair_counters(kernel_pair, index, workers)
    problem = PairProblem(
        kernel_pair, book, rows, row_side, column_side, row_captures, column_captures, counters, workers
    )
    problem.raise_highest(highest)
    _check_codes(book, problem.highest)
    return problem


def _check_codes(book: tables.CodeBook, highest: int) -> None:
    if highest >= book.first_count:
        raise CodeOverflowError


def _new_side(rows: int, columns: int, value_type: type[np.unsignedinteger]) -> tables.Side:
    values = np.empty((rows, tables.stride_of(columns)), value_type)
    return tables.Side(values, values.view(np.uint64), np.zeros((rows, 4), np.uint64), np.zeros(rows, value_type))


def _pair_tables(rules: Rules, index: SubspaceIndex) -> tables.Pair:
    board = board_tables(rules.board)
    row_flies = rules.flying and index.row_stones == FLYING_STONES
    column_flies = rules.flying and index.column_stones == FLYING_STONES
    quiet, closing = _row_moves(rules, index, row_flies)
    edge_bits = np.zeros((index.shape[0], MAX_DIRECTED_EDGES), np.uint32)
    tables.fill_edge_bits(board, index.classes.table.representatives, edge_bits)
    return tables.Pair(
        board=board,
        symmetries=symmetry_tables(rules.board),
        rows=index.classes.table,
        stabilised=index.classes.orbit_sizes < len(rules.board.symmetries),
        columns=index.columns,
        quiet=quiet,
        closing=closing,
        column_flies=column_flies,
        edge_bits=edge_bits,
    )


def _pair_counters(pair: tables.Pair, index: SubspaceIndex, workers: Workers) -> flying.PairCounters:
    """The pair counters of a flying column side; empty where it slides."""
    rows = index.shape[0] if pair.column_flies else 0
    free = index.free
    counters = flying.PairCounters(*(np.zeros((rows, free * (free - 1) // 2), np.uint8) for _ in range(3)))
    if pair.column_flies:
        workers.over_rows(rows, lambda first, last: flying.initialise_counters(first, last, pair, free, counters))
    return counters


def _row_moves(rules: Rules, index: SubspaceIndex, flies: bool) -> tuple[tables.RowMoves, tables.RowMoves]:
    """The quiet and the mill-closing moves of the row side."""
    rows, a = index.shape[0], index.row_stones
    bound = rows * min(a * index.free, a * index.free if flies else MAX_DIRECTED_EDGES)
    row, after = np.empty(bound, np.uint32), np.empty(bound, np.uint32)
    symmetry, points = np.empty(bound, np.uint8), np.empty((bound, 2), np.uint8)
    is_closing = np.empty(bound, np.bool_)
    n = tables.enumerate_row_moves(
        board_tables(rules.board), index.classes.table, flies, row, after, symmetry, points, is_closing
    )

    def select(kind: npt.NDArray[np.bool_]) -> tables.RowMoves:
        start = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(row[:n][kind], minlength=rows), out=start[1:])
        return tables.RowMoves(
            start,
            after[:n][kind],
            symmetry[:n][kind],
            np.ascontiguousarray(points[:n, 0][kind]),
            np.ascontiguousarray(points[:n, 1][kind]),
        )

    return select(~is_closing[:n]), select(is_closing[:n])


def _row_captures(index: SubspaceIndex, pair: MovingPair, source: PlaneSource) -> tables.RowCaptures:
    """Captures of the row side: the pair with one column stone less."""
    a, b = pair.row_stones, pair.column_stones
    smaller = SubspaceIndex(index.board, a, b - 1)
    if b - 1 < LOSING_STONES:
        nowhere = np.zeros((1, 1), np.uint8)
        return tables.RowCaptures(True, nowhere, 1, smaller.columns.ranks, np.zeros((0, b), np.uint16))
    without = np.zeros((index.shape[1], b), np.uint16)
    tables.fill_without(index.columns.subsets, smaller.columns.ranks, without)
    plane = source(MovingPair(a, b - 1), COLUMN_TO_MOVE)
    return tables.RowCaptures(False, plane, smaller.shape[1], smaller.columns.ranks, without)


def _column_captures(index: SubspaceIndex, pair: MovingPair, source: PlaneSource) -> tables.ColumnCaptures | None:
    """Captures of the column side: the pair with one row stone less; not needed for equal sides."""
    a, b = pair.row_stones, pair.column_stones
    if a == b:
        return None
    smaller = SubspaceIndex(index.board, a - 1, b)
    plane = source(MovingPair(a - 1, b), ROW_TO_MOVE)
    return tables.ColumnCaptures(plane, smaller.classes.table, smaller.columns.ranks)


def _code_book(
    rules: Rules, pair: tables.Pair, index: SubspaceIndex, value_type: type[np.unsignedinteger]
) -> tables.CodeBook:
    book = code_book(metric_of(rules, "moving"), value_type, _most_quiet_turns(rules, pair, index))
    if book.first_count <= LOST:
        raise CodeOverflowError
    return book


def _most_quiet_turns(rules: Rules, pair: tables.Pair, index: SubspaceIndex) -> int:
    """An upper bound of the turns of either side without a mill."""
    row_side = int(np.diff(pair.quiet.start).max())
    b = index.column_stones
    degrees = sorted((mask.bit_count() for mask in rules.board.neighbours), reverse=True)
    column_side = b * (index.free - b) if pair.column_flies else sum(degrees[:b])
    return max(row_side, column_side)


def propagate_pair(
    problem: PairProblem, quiet_limit: int, on_progress: Callable[[float], object] | None = None
) -> None:
    """Propagate level by level, until no code is left.

    :param on_progress: told which part of all positions is done

    :raises CodeOverflowError: where a code would meet the successor counts
    """
    total = problem.rows * problem.pair.columns.subsets.size
    settled = 0
    code = 0
    while code < problem.highest:
        code += 1
        if quiet_limit and (code >> 1) + 1 > quiet_limit:
            break
        if any(_is_pending(side, code) for side in problem.sides):
            _check_codes(problem.book, code + problem.book.loss_step)
            settled += _propagate_level(problem, code)
            _check_codes(problem.book, problem.highest)
            if on_progress is not None:
                on_progress(settled / total)
    for side in problem.sides:
        problem.workers.over_rows(problem.rows, partial(_erase_counts, problem.book, side))


def _erase_counts(book: tables.CodeBook, side: tables.Side, first: int, last: int) -> None:
    propagate.erase_counts(first, last, book, side)


def _is_pending(side: tables.Side, code: int) -> bool:
    return bool((side.pending[:, (code & 255) >> 6] & U(1 << (code & 63))).any())


def _propagate_level(problem: PairProblem, code: int) -> int:
    """Settle the predecessors of all positions with ``code``; returns how many of these the row side pulled from."""
    if problem.column_side is not None and _is_pending(problem.row_side, code):
        _push(problem, code)
    # Of equal sides the mirrored frontier of the row side stands for that of the column side.
    mirrored = problem.column_side is None
    side = problem.row_side if problem.column_side is None else problem.column_side
    if not _is_pending(side, code):
        return 0
    settled = 0
    for start, stones in (_mirrored_frontier if mirrored else _frontier)(problem, side, code):
        settled += len(stones)
        _pull(problem, code, start, stones)
    return settled


def _push(problem: PairProblem, code: int) -> None:
    source, side, captures = problem.row_side, problem.column_side, problem.column_captures

    def push(first: int, last: int) -> int:
        book = problem.book
        highest: int = propagate.push_column_turns(
            first, last, code, problem.pair, book, source, captures, problem.counters, side
        )
        return highest

    problem.raise_highest(problem.workers.over_rows(problem.rows, push))


def _pull(problem: PairProblem, code: int, start: npt.NDArray[np.int64], masks: npt.NDArray[np.uint32]) -> None:
    side, captures = problem.row_side, problem.row_captures

    def pull(first: int, last: int) -> int:
        book = problem.book
        highest: int = propagate.pull_row_turns(first, last, code, problem.pair, book, start, masks, captures, side)
        return highest

    problem.raise_highest(problem.workers.over_rows(problem.rows, pull))


Frontier = Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]]


def _frontier(problem: PairProblem, side: tables.Side, code: int) -> Frontier:
    """Lists (start, stones) of the positions of ``side`` with ``code``, a slab of rows at a time."""
    lanes = problem.book.lanes
    counts = np.zeros(problem.rows, np.int64)
    problem.workers.over_rows(
        problem.rows, lambda first, last: frontier.count_frontier(first, last, code, lanes, side, counts)
    )
    for slab_first, slab_last, start in _slabs(counts):
        stones = problem.frontier_buffer(int(start[-1]))

        def fill(
            first: int,
            last: int,
            offset: int = slab_first,
            start: npt.NDArray[np.int64] = start,
            stones: npt.NDArray[np.uint32] = stones,
        ) -> None:
            frontier.list_frontier(first + offset, last + offset, code, lanes, problem.pair, side, start, stones)

        problem.workers.over_rows(slab_last - slab_first, fill)
        yield start, stones


def _mirrored_frontier(problem: PairProblem, side: tables.Side, code: int) -> Frontier:
    """The same for the mirror images of the positions of ``side`` with ``code``.

    Mirroring scatters over all rows, so each chunk of source rows counts for itself and fills its own part of each
    list.
    """
    lanes = problem.book.lanes
    ranges = problem.workers.chunks(problem.rows)
    counts = np.zeros((len(ranges), problem.rows), np.int64)
    numbers = [(k, k + 1) for k in range(len(ranges))]

    def count(k: int, _: int) -> None:
        frontier.count_mirrored(*ranges[k], code, lanes, problem.pair, side, counts[k])

    problem.workers.map(count, numbers)
    before = np.cumsum(counts, axis=0) - counts
    for slab_first, slab_last, start in _slabs(counts.sum(axis=0)):
        stones = problem.frontier_buffer(int(start[-1]))
        cursors = start[:-1] + before

        def fill(
            k: int,
            _: int,
            slab: tuple[int, int] = (slab_first, slab_last),
            cursors: npt.NDArray[np.int64] = cursors,
            stones: npt.NDArray[np.uint32] = stones,
        ) -> None:
            frontier.list_mirrored(*ranges[k], code, lanes, problem.pair, side, *slab, cursors[k], stones)

        problem.workers.map(fill, numbers)
        yield start, stones


def _slabs(counts: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """Cut rows into slabs of bounded totals: (first, last, start), start being empty outside the slab."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _FRONTIER_LIMIT, side="right")))
        start = np.clip(np.concatenate([[0], ends]) - done, 0, int(ends[last - 1]) - done)
        if start[-1]:
            yield first, last, start
        first = last
