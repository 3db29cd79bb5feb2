"""The fused loops against slow twins in plain Python, on boards of every kind of line."""

from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.compiled.bitboard import U
from solver.compiled.jit import jit
from solver.compiled.workers import Workers
from solver.game.boards import BOARD_16, BOARD_24, Board
from solver.game.rules import Rules, get_rules
from solver.indexing.columns import column_table
from solver.indexing.index import SubspaceIndex
from solver.indexing.rows import symmetry_tables
from solver.indexing.values import Metric, Value, decode
from solver.kernels import board as board_kernels
from solver.kernels import flying, frontier, initialise, place, tables
from solver.kernels.board import board_tables
from solver.solving.code_book import code_book
from solver.solving.moving import _pair_counters, _pair_tables
from tests.support.brute_force import image, smallest_images
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS

# 20 points without symmetry: lines inside a byte, ladders {p, p+8, p+16}, lines across bytes, lines with two points in
# common, points without a line, a point without a neighbour.
TWISTED = Board(
    "twisted",
    tuple(f"a{p}" for p in range(20)),
    (*((p, p + 1) for p in range(18)), (0, 9), (3, 17), (7, 16), (2, 10), (10, 18), (5, 11)),
    ((0, 1, 2), (2, 5, 7), (8, 9, 15), (2, 10, 18), (3, 11, 19), (0, 8, 17), (7, 8, 9), (7, 8, 16), (1, 10, 18)),
    (20,),
)
BOARDS = [BOARD_24, BOARD_16, NINE_POINTS, NINE_POINTS_DIAGONALS, TWISTED]
on_all_boards = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)


def members(mask: int) -> list[int]:
    return [p for p in range(64) if mask >> p & 1]


@st.composite
def stones_on(draw: st.DrawFn, board: Board) -> tuple[int, int]:
    """(stones of one side, of the other), any numbers of them; whole lines are frequent."""
    stones = draw(st.integers(0, (1 << board.n_points) - 1))
    for line in draw(st.lists(st.sampled_from(board.line_masks), max_size=3)):
        stones |= line
    others = draw(st.integers(0, (1 << board.n_points) - 1)) & ~stones
    return stones, others


# Boards: one word of mills and slides


@jit
def stones_in_mills(board, stones):
    return board_kernels.stones_in_mills(board, stones)


@jit
def removable(board, stones):
    return board_kernels.removable(board, stones)


@jit
def closing_points(board, stones):
    return board_kernels.closing_points(board, stones)


@jit
def mills_through(board, stones, point):
    return board_kernels.mills_through(board, stones, point)


@jit
def slides_out_of(board, movers, occupied):
    return board_kernels.slides_out_of(board, movers, occupied)


@jit
def targets_of(board, point, empty, flies):
    return board_kernels.targets_of(board, point, empty, flies)


@jit
def lowest(mask):
    return board_kernels.lowest(mask)


def slow_mills(board: Board, stones: int) -> int:
    mills = 0
    for line in board.lines:
        if all(stones >> p & 1 for p in line):
            for p in line:
                mills |= 1 << p
    return mills


def slow_removable(board: Board, stones: int) -> int:
    return stones & ~slow_mills(board, stones) or stones


def slow_closing(board: Board, stones: int) -> int:
    """Points without an own stone whose own stone would complete a line."""
    return sum(
        1 << p for p in range(board.n_points) if not stones >> p & 1 and slow_mills(board, stones | 1 << p) >> p & 1
    )


@on_all_boards
@given(data=st.data())
def test_mills_of_a_whole_side(data, board: Board) -> None:
    stones, _ = data.draw(stones_on(board))
    table = board_tables(board)
    assert stones_in_mills(table, U(stones)) == slow_mills(board, stones)
    assert removable(table, U(stones)) == slow_removable(board, stones)
    assert int(closing_points(table, U(stones))) & ~stones == slow_closing(board, stones)


@on_all_boards
def test_mills_of_every_line_and_pair_of_lines(board: Board) -> None:
    table = board_tables(board)
    for one, two in combinations([0, *board.line_masks], 2):
        for stones in (one | two, (one | two) & ~(1 << members(two)[0])):
            assert stones_in_mills(table, U(stones)) == slow_mills(board, stones)
            assert removable(table, U(stones)) == slow_removable(board, stones)
            assert int(closing_points(table, U(stones))) & ~stones == slow_closing(board, stones)


@on_all_boards
@given(data=st.data())
def test_mills_through_a_point(data, board: Board) -> None:
    stones, _ = data.draw(stones_on(board))
    for point in members(stones):
        lines = [line for line in board.lines if point in line and all(stones >> p & 1 for p in line)]
        assert mills_through(board_tables(board), U(stones), point) == len(lines)


@on_all_boards
@given(data=st.data())
def test_slides_of_a_whole_side(data, board: Board) -> None:
    stones, others = data.draw(stones_on(board))
    movers = stones & data.draw(st.integers(0, (1 << board.n_points) - 1))
    occupied = stones | others
    found = members(int(slides_out_of(board_tables(board), U(movers), U(occupied))))
    directed = [*board.edges, *((b, a) for a, b in board.edges)]
    expected = {(a, b) for a, b in directed if movers >> a & 1 and not occupied >> b & 1}
    assert {directed[edge] for edge in found} == expected
    assert len(found) == len(expected)
    for edge in found:
        assert int(board_tables(board).edge_points[edge]) == 1 << directed[edge][0] | 1 << directed[edge][1]


@on_all_boards
@given(data=st.data(), flies=st.booleans())
def test_targets_of_one_stone(data, board: Board, flies: bool) -> None:
    stones, others = data.draw(stones_on(board))
    empty = ~(stones | others) & (1 << board.n_points) - 1
    for point in members(stones):
        near = {b for edge in board.edges for a, b in (edge, edge[::-1]) if a == point}
        expected = [p for p in members(empty) if flies or p in near]
        assert members(int(targets_of(board_tables(board), point, U(empty), flies))) == expected


@given(st.integers(1, (1 << 64) - 1))
def test_lowest_bit(mask: int) -> None:
    assert lowest(U(mask)) == 1 << members(mask)[0]


def test_too_many_edges_are_refused() -> None:
    edges = tuple(combinations(range(9), 2))[:33]
    dense = Board("dense", tuple(f"a{p}" for p in range(9)), edges, ((0, 1, 2),), (9,))
    with pytest.raises(ValueError, match="'dense' has 33 edges; the solver takes at most 32"):
        board_tables(dense)


def test_a_board_without_lines_has_no_mills() -> None:
    board = Board("plain", tuple("abcdef"), ((0, 1), (1, 2)), (), (6,))
    assert stones_in_mills(board_tables(board), U(63)) == 0
    assert removable(board_tables(board), U(63)) == 63


# Codes, counts and scores in one byte

VALUE_TYPES = [np.uint8, np.uint16]


@pytest.mark.parametrize("value_type", VALUE_TYPES)
@pytest.mark.parametrize("metric", Metric)
def test_scores_order_what_a_side_can_reach(metric: Metric, value_type) -> None:
    """A better value before the turn has a greater score: wins the sooner, losses the later the better."""
    book = code_book(metric, value_type, most_turns=40)
    top = book.first_count if metric is not Metric.WDL else 3

    def before(code: int) -> Value:
        after = decode(code, metric)
        if after.wdl == 0 or metric is Metric.WDL:
            return Value(-after.wdl)
        return Value(-after.wdl, 1 if metric is Metric.DTC else (after.depth or 0) + 1)

    def goodness(value: Value) -> tuple[int, int]:
        return value.wdl, -value.wdl * (value.depth or 0)

    def decode_score(score: int) -> Value:
        if score == book.draw_score:
            return Value(0)
        return decode(2 * (book.top_score - score) if score > book.draw_score else 2 * score - 1, metric)

    scores = {code: int(book.score_of_code[code]) for code in range(top)}
    assert {code: decode_score(score) for code, score in scores.items()} == {code: before(code) for code in scores}
    by_score = sorted(scores, key=scores.__getitem__)
    assert [goodness(before(code)) for code in by_score] == sorted(goodness(before(code)) for code in by_score)
    assert min(scores.values()) > 0, "0 stands for no capture"


@pytest.mark.parametrize("value_type", VALUE_TYPES)
@pytest.mark.parametrize("most_turns", [0, 3, 54, 200])
def test_counts_fit_between_codes_and_never(value_type, most_turns: int) -> None:
    book = code_book(Metric.DTM, value_type, most_turns)
    assert book.first_count > 0
    assert book.first_count + most_turns < book.never <= np.iinfo(value_type).max


# The frontier


def words_of(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint64)


@jit
def find_code(words, code, lanes, out):
    return frontier.find_code(words, code, lanes, out)


@pytest.mark.parametrize("value_type", VALUE_TYPES)
@given(data=st.data())
def test_codes_are_found(data, value_type) -> None:
    """Neighbours that differ from the code in one bit or by one are frequent: they would show a carry between lanes."""
    top = int(np.iinfo(value_type).max)
    code = data.draw(st.one_of(st.integers(1, top), st.sampled_from([1, 2, top // 2, top // 2 + 1, top - 1, top])))
    bits = np.iinfo(value_type).bits
    near = [code, 0, top, (code + 1) & top, code - 1, *(code ^ 1 << bit for bit in range(bits))]
    seed = data.draw(st.integers(0, 1 << 32))
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array(near, value_type), 64 * data.draw(st.integers(1, 5)))
    out = np.zeros(len(values), np.uint32)
    lanes = code_book(Metric.DTM, value_type, 10).lanes
    n = find_code(words_of(values), code, lanes, out)
    assert out[:n].tolist() == np.flatnonzero(values == code).tolist()


def side_of(codes: np.ndarray) -> tables.Side:
    """A side whose rows may hold any code."""
    rows, columns = codes.shape
    values = np.zeros((rows, tables.stride_of(columns)), codes.dtype)
    values[:, :columns] = codes
    pending = np.full((rows, 4), (1 << 64) - 1, np.uint64)
    return tables.Side(values, words_of(values), pending, np.zeros(rows, codes.dtype))


@jit
def note_code(side, row, code):
    frontier.note_code(side, row, code)


@jit
def may_hold(side, row, code):
    return frontier.may_hold(side, row, code)


@pytest.mark.parametrize("code", [1, 63, 64, 127, 128, 255, 256, 300, 65000])
def test_noted_codes_are_looked_for(code: int) -> None:
    side = side_of(np.zeros((3, 5), np.uint16))
    side.pending[:] = 0
    note_code(side, 1, code)
    assert [bool(may_hold(side, row, code)) for row in range(3)] == [False, True, False]
    assert not may_hold(side, 1, code + 1)


@pytest.mark.parametrize("value_type", VALUE_TYPES)
def test_frontier_lists(value_type) -> None:
    index = SubspaceIndex(BOARD_16, 4, 3)
    pair = _pair_tables(get_rules("six"), index)
    codes = np.random.default_rng(1).integers(0, 4, index.shape).astype(value_type)
    side = side_of(codes)
    lanes = code_book(Metric.DTM, value_type, 10).lanes
    counts = np.zeros(index.shape[0], np.int64)
    frontier.count_frontier(0, index.shape[0], 3, lanes, side, counts)
    assert counts.tolist() == (codes == 3).sum(axis=1).tolist()
    start = np.concatenate([[0], np.cumsum(counts)])
    masks = np.zeros(start[-1], np.uint32)
    frontier.list_frontier(0, index.shape[0], 3, lanes, pair, side, start, masks)
    assert masks.tolist() == index.columns.subsets[np.nonzero(codes == 3)[1]].tolist()


MIRRORED = [(BOARD_16, 3), (BOARD_24, 3), (NINE_POINTS, 3), (NINE_POINTS, 4), (NINE_POINTS_DIAGONALS, 4)]


@cache
def mirrored_plane(board: Board, stones: int) -> tuple[np.ndarray, np.ndarray]:
    """A plane of random codes, equal for equivalent positions; by index the code of the mirrored position."""
    index = SubspaceIndex(board, stones, stones)
    rows, columns = (numbers.ravel() for numbers in np.indices(index.shape))
    ours, theirs = index.unrank_many(rows, columns)
    known, number = np.unique(smallest_images(board, ours, theirs), return_inverse=True)
    code_of_class = np.random.default_rng(1).integers(0, 6, len(known)).astype(np.uint8)
    mirrored = np.searchsorted(known, smallest_images(board, theirs, ours))
    return code_of_class[number].reshape(index.shape), code_of_class[mirrored].reshape(index.shape)


@pytest.mark.parametrize(("board", "stones"), MIRRORED, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("slabs", [1, 3])
def test_mirror_images(board: Board, stones: int, slabs: int) -> None:
    """Every index whose mirrored position holds the code is listed once, also in rows that symmetries keep."""
    index = SubspaceIndex(board, stones, stones)
    rows = np.arange(index.shape[0])
    pair = _pair_tables(Rules("test", board, stones, flying=True), index)
    assert pair.stabilised.any()
    codes, mirrored = mirrored_plane(board, stones)
    side = side_of(codes)
    lanes = code_book(Metric.DTM, np.uint8, 10).lanes
    for code in (1, 2, 5):
        counts = np.zeros(len(rows), np.int64)
        frontier.count_mirrored(0, len(rows), code, lanes, pair, side, counts)
        assert counts.tolist() == (mirrored == code).sum(axis=1).tolist()
        found: list[tuple[int, int]] = []
        for first, last in pairwise(len(rows) * k // slabs for k in range(slabs + 1)):
            in_slab = np.where((rows >= first) & (rows < last), counts, 0)
            ends = np.cumsum(in_slab)
            cursor = ends - in_slab
            masks = np.zeros(ends[-1], np.uint32)
            frontier.list_mirrored(0, len(rows), code, lanes, pair, side, first, last, cursor, masks)
            assert cursor.tolist() == ends.tolist()
            found += zip(np.repeat(rows, in_slab).tolist(), masks.tolist(), strict=True)
        expected_rows, expected_columns = np.nonzero(mirrored == code)
        expected = zip(expected_rows.tolist(), index.columns.subsets[expected_columns].tolist(), strict=True)
        assert Counter(found) == Counter(expected)


# Captures


def kernel_index(index: SubspaceIndex) -> place.Index:
    board = index.board
    lines = np.array(board.line_masks, np.uint32)
    return place.Index(board_tables(board), lines, symmetry_tables(board), index.classes.table, index.columns)


REMOVALS = [(BOARD_16, 4, 4), (BOARD_16, 5, 3), (NINE_POINTS, 4, 3), (NINE_POINTS_DIAGONALS, 3, 5), (BOARD_24, 3, 4)]


@pytest.mark.parametrize(("board", "a", "b"), REMOVALS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("value_type", VALUE_TYPES)
def test_best_removals(board: Board, a: int, b: int, value_type) -> None:
    """The greatest score over all stones that may be taken, one position after the other."""
    index, fewer = SubspaceIndex(board, a, b), SubspaceIndex(board, a, b - 1)
    codes = np.random.default_rng(1).integers(0, 200, fewer.shape).astype(value_type)
    without = np.zeros((index.shape[1], b), np.uint32)
    tables.fill_without(index.columns.subsets, fewer.columns.ranks, without)
    captures = tables.RowCaptures(False, codes, fewer.shape[1], fewer.columns.ranks, without)
    book = code_book(Metric.DTM, value_type, 30)
    untouched = 77
    best = np.full((index.shape[0], tables.stride_of(index.shape[1])), untouched, value_type)
    initialise.best_removals(0, index.shape[0], kernel_index(index), captures, book, best)
    assert not best[:, index.shape[1] :][best[:, 0] != untouched].any(), "padding is no score"
    has_mill = [slow_mills(board, stones) != 0 for stones in index.classes.table.representatives.tolist()]
    assert (best[np.logical_not(has_mill)] == untouched).all()
    rng = np.random.default_rng(2)
    for row in np.flatnonzero(has_mill):
        for column in rng.integers(0, index.shape[1], 20).tolist():
            row_mask, column_mask = index.unrank(int(row), column)
            left = [column_mask & ~(1 << p) for p in members(slow_removable(board, column_mask))]
            scores = [book.score_of_code[codes[fewer.rank(row_mask, stones)]] for stones in left]
            assert best[row, column] == max(scores)


def test_taking_the_third_stone_wins_at_once() -> None:
    index = SubspaceIndex(BOARD_16, 4, 3)
    nothing = np.zeros((1, 1), np.uint8)
    ranks = SubspaceIndex(BOARD_16, 4, 2).columns.ranks
    captures = tables.RowCaptures(True, nothing, 1, ranks, np.zeros((0, 3), np.uint32))
    book = code_book(Metric.DTM, np.uint8, 30)
    best = np.zeros((index.shape[0], tables.stride_of(index.shape[1])), np.uint8)
    initialise.best_removals(0, index.shape[0], kernel_index(index), captures, book, best)
    for row, stones in enumerate(index.classes.table.representatives.tolist()):
        score = book.top_score - 1 if slow_mills(BOARD_16, stones) else 0
        assert (best[row, : index.shape[1]] == score).all()


@pytest.mark.parametrize(("free", "stones"), [(5, 2), (13, 4), (15, 9), (21, 3), (9, 8)])
def test_columns_after_taking_and_placing_a_stone(free: int, stones: int) -> None:
    fewer, same, more = (column_table(free, k) for k in (stones - 1, stones, stones + 1))
    without = np.zeros((len(same.subsets), stones), np.uint32)
    tables.fill_without(same.subsets, fewer.ranks, without)
    after = np.zeros((len(same.subsets), free - stones), np.uint32)
    place.fill_after_placement(same.subsets, more.ranks, free, after)
    for column, z in enumerate(same.subsets.tolist()):
        assert fewer.subsets[without[column]].tolist() == [z & ~(1 << p) for p in members(z)]
        empty = [p for p in range(free) if not z >> p & 1]
        assert more.subsets[after[column]].tolist() == [z | 1 << p for p in empty]


@pytest.mark.parametrize(
    ("board", "a", "b"),
    [(BOARD_16, 2, 4), (BOARD_16, 3, 3), (BOARD_24, 2, 3), (TWISTED, 1, 3)],
    ids=lambda value: getattr(value, "name", value),
)
def test_transposed_planes_hold_the_same_positions(board: Board, a: int, b: int) -> None:
    index, source = SubspaceIndex(board, a, b), SubspaceIndex(board, b, a)
    plane = np.random.default_rng(1).integers(0, 250, source.shape).astype(np.uint8)
    out = np.zeros(index.shape, np.uint8)
    place.transpose(0, index.shape[0], kernel_index(index), kernel_index(source), plane, out)
    rows, columns = (numbers.ravel() for numbers in np.indices(index.shape))
    ours, theirs = index.unrank_many(rows, columns)
    assert (out.ravel() == plane[source.rank_many(theirs, ours)]).all()


# Moves of the row side


@pytest.mark.parametrize("flies", [False, True])
@pytest.mark.parametrize("board", [BOARD_16, NINE_POINTS_DIAGONALS, TWISTED], ids=lambda board: board.name)
def test_moves_from_row_to_row(board: Board, flies: bool) -> None:
    index = SubspaceIndex(board, 3, 3)
    pair = _pair_tables(Rules("test", board, 3, flies), index)
    representatives = index.classes.table.representatives.tolist()
    rows = [*range(0, len(representatives), 7), len(representatives) - 1]
    for row in rows:
        stones = representatives[row]
        expected = {True: Counter(), False: Counter()}
        for origin in members(stones):
            for target in range(board.n_points):
                near = (origin, target) in board.edges or (target, origin) in board.edges
                if not stones >> target & 1 and (flies or near):
                    after = stones & ~(1 << origin) | 1 << target
                    closes = bool(slow_mills(board, after) >> target & 1)
                    expected[closes][origin, target, after] += 1
        for closes, moves in ((False, pair.quiet), (True, pair.closing)):
            found: Counter[tuple[int, int, int]] = Counter()
            for k in range(moves.start[row], moves.start[row + 1]):
                origin, target = int(moves.origin[k]), int(moves.target[k])
                after = stones & ~(1 << origin) | 1 << target
                assert image(board, int(moves.symmetry[k]), after) == representatives[moves.row[k]]
                found[origin, target, after] += 1
            assert found == expected[closes]


# Pair counters of a flying column side

FLYING = [(NINE_POINTS, 4), (NINE_POINTS_DIAGONALS, 5), (BOARD_16, 5), (BOARD_24, 6), (TWISTED, 8)]
on_flying_rows = pytest.mark.parametrize(("board", "stones"), FLYING, ids=lambda value: getattr(value, "name", value))


@jit
def propagate_wins(pair, free, found, counters, row, free_points, values, new):
    return flying.propagate_wins(pair, free, found, counters, row, free_points, values, new)


@jit
def propagate_losses(pair, free, found, source, counters, row, free_points, values, book, code, low, zeros):
    return flying.propagate_losses(
        pair, free, found, source, counters, row, free_points, values, book, code, low, zeros
    )


class FlyingRow:
    """One row against three flying stones: the counters, and all quiet turns listed one by one."""

    def __init__(self, board: Board, stones: int, row: int) -> None:
        self.index = SubspaceIndex(board, stones, 3)
        self.pair = _pair_tables(Rules("test", board, min(stones, board.n_points // 2), flying=True), self.index)
        self.row, self.free = row, U(int(self.index.points) & ~int(self.pair.rows.representatives[row]))
        column_masks = [self.index.unrank(row, column)[1] for column in range(self.index.shape[1])]
        number = {mask: column for column, mask in enumerate(column_masks)}
        free_points = members(int(self.free))
        self.quiet = [
            [
                number[after]
                for origin in members(mask)
                for target in free_points
                if not mask >> target & 1
                and not slow_mills(board, after := mask & ~(1 << origin) | 1 << target) >> target & 1
            ]
            for mask in column_masks
        ]
        self.before: list[list[int]] = [[] for _ in column_masks]
        for column, successors in enumerate(self.quiet):
            for after in successors:
                self.before[after].append(column)


@cache
def flying_rows(board: Board, stones: int) -> list[FlyingRow]:
    """The first and the last row, and one in between."""
    rows = SubspaceIndex(board, stones, 3).shape[0]
    return [FlyingRow(board, stones, row) for row in sorted({0, rows // 2, rows - 1})]


@on_flying_rows
def test_pair_counters_at_first(board: Board, stones: int) -> None:
    """alive, last and winner of each pair, by trying all third points."""
    for case in flying_rows(board, stones):
        with Workers(1) as workers:
            counters = _pair_counters(case.pair, case.index, workers)
        free_points = members(int(case.free))
        for number, (q, p) in enumerate((high, low) for high in range(len(free_points)) for low in range(high)):
            thirds = [
                t
                for t, point in enumerate(free_points)
                if t not in (p, q) and not slow_mills(board, 1 << free_points[p] | 1 << free_points[q] | 1 << point)
            ]
            assert counters.alive[case.row, number] == len(thirds)
            assert counters.last[case.row, number] == np.bitwise_xor.reduce(thirds or [0])
            assert counters.winner[case.row, number] == flying.NONE


@on_flying_rows
@pytest.mark.parametrize("seed", range(4))
def test_pair_counters_find_what_single_steps_find(board: Board, stones: int, seed: int) -> None:
    """Positions are won and lost for the row side in random order; after each level all is as if counted singly."""
    for case in flying_rows(board, stones):
        rng = np.random.default_rng(seed)
        with Workers(1) as workers:
            counters = _pair_counters(case.pair, case.index, workers)
        columns = case.index.shape[1]
        book = code_book(Metric.DTM, np.uint8, 3 * case.index.free)
        counts = np.array([len(turns) for turns in case.quiet])
        values = np.where(counts > 0, book.first_count + counts, 1).astype(np.uint8)
        values[rng.random(columns) < 0.1] = book.never
        source = np.zeros(columns, np.uint8)
        expected = values.copy()
        order = rng.permutation(columns)
        low, zeros = np.zeros(2 * counters.alive.shape[1], np.uint32), np.zeros(columns + 1, np.uint32)
        for code, found in enumerate(np.array_split(order[: columns * 9 // 10], 12), start=1):
            found = np.sort(found).astype(np.uint32)
            source[found] = code
            common = case.pair, case.free, found
            if code % 2:  # lost for the row side: the side that flew wins
                changed = propagate_wins(*common, counters, case.row, case.index.free, values, code + 1)
                targets = [c for column in found for c in case.before[column]]
                should_change = any(expected[c] > code + 1 for c in targets)
                expected[targets] = np.minimum(expected[targets], code + 1)
                assert changed == should_change
            else:
                n = propagate_losses(
                    *common, source, counters, case.row, case.index.free, values, book, code, low, zeros
                )
                lost = []
                for column in found:
                    for c in case.before[column]:
                        counts[c] -= 1
                        if counts[c] == 0 and book.first_count < expected[c] < book.never:
                            lost.append(c)
                assert sorted(zeros[:n].tolist()) == sorted(lost)
                expected[lost] = book.first_count
                assert (values[lost] == book.first_count).all()
                values[lost] = expected[lost] = code + 1
            assert (values == expected).all()
