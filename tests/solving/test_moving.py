"""The moving phase: against golden counts, value by value against the naive solver, and against itself."""

import csv
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from solver.compiled.workers import Workers
from solver.game.boards import BOARD_24, Board
from solver.game.rules import Rules, get_rules
from solver.indexing.index import SubspaceIndex
from solver.indexing.subspaces import COLUMN_TO_MOVE, ROW_TO_MOVE, MovingPair, Plane, moving_pairs
from solver.indexing.values import Metric, Value, metric_of
from solver.kernels.tables import CodeBook
from solver.solving import moving
from solver.solving.moving import solve_pair
from solver.tables.plane_counts import count_plane
from tests.support import naive
from tests.support.brute_force import smallest_images
from tests.support.paths import GOLDEN
from tests.support.planes import Planes, disagreements, solve_moving
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS, geometry
from tests.support.written_tables import Key

DATA = GOLDEN
BOARDS = [NINE_POINTS, NINE_POINTS_DIAGONALS]

# A ring of ten points with three lines: few symmetries, lines across two bytes, up to five stones a side.
RING = Board(
    "ring",
    tuple(f"a{p}" for p in range(10)),
    (*((p, (p + 1) % 10) for p in range(10)), (0, 5), (2, 7)),
    ((0, 1, 2), (5, 6, 7), (3, 4, 8), (2, 7, 9)),
    (10,),
)

solved = cache(solve_moving)


# Golden counts


def golden_rows(name: str) -> list[dict[str, int | str]]:
    with (DATA / name).open(newline="") as file:
        return [{k: v if k == "rules" else int(v) for k, v in row.items()} for row in csv.DictReader(file)]


def counts_of(rules: Rules, done: Planes, mover: int, opponent: int) -> list[int]:
    """The numbers of a golden row."""
    pair = MovingPair(max(mover, opponent), min(mover, opponent))
    plane = ROW_TO_MOVE if mover >= opponent else COLUMN_TO_MOVE
    statistics = count_plane(pair.index(rules.board), done[pair][plane], metric_of(rules, "moving"))
    return [*statistics.raw_wdl, *statistics.classes_wdl, statistics.longest_win, statistics.longest_loss]


def check_rows(rules: Rules, done: Planes, rows: list[dict[str, int | str]]) -> None:
    assert rows
    for row in rows:
        mover, opponent, *expected = [number for number in row.values() if isinstance(number, int)]
        assert counts_of(rules, done, mover, opponent) == expected, (rules.name, mover, opponent)


def test_golden_counts_of_six() -> None:
    rows = [row for row in golden_rows("subspaces.csv") if row["rules"] == "six"]
    assert len(rows) == 16
    check_rows(get_rules("six"), solved(get_rules("six")), rows)


def test_golden_counts_under_a_quiet_limit() -> None:
    rows = golden_rows("quiet_limit.csv")
    assert {(row["rules"], row.pop("quiet_limit")) for row in rows} == {("six", 40)}
    assert len(rows) == 16
    check_rows(get_rules("six", quiet_limit=40), solved(get_rules("six", quiet_limit=40)), rows)


def rows_of_nine(least: int, most: int) -> list[dict[str, int | str]]:
    rows = [row for row in golden_rows("subspaces.csv") if row["rules"] == "nine"]
    return [row for row in rows if least <= int(row["mover_stones"]) + int(row["opponent_stones"]) <= most]


def test_golden_counts_of_nine_up_to_eight_stones() -> None:
    check_rows(get_rules("nine"), solved(get_rules("nine"), 8, threads=2), rows_of_nine(6, 8))


@pytest.mark.slow
def test_golden_counts_of_nine_up_to_ten_stones() -> None:
    """About ten seconds: ``python -m pytest tests/test_retrograde.py -m slow -k ten_stones``."""
    check_rows(get_rules("nine"), solve_moving(get_rules("nine"), 10, threads=2), rows_of_nine(9, 10))


def test_three_against_three_by_depth() -> None:
    """``REFERENCES.md``, Moving phase: classes of 3-3 of nine men by plies."""
    wins = "1:66472 3:33775 5:16651 7:6619 9:4770 11:2561 13:3808 15:2506 17:1185 19:776 21:1125 23:346 25:27"
    losses = "2:3125 4:4700 6:3998 8:2496 10:2099 12:2160 14:2261 16:2387 18:2116 20:2122 22:1079 24:123 26:70"
    published = {int(depth): int(count) for depth, count in (pair.split(":") for pair in f"{wins} {losses}".split())}
    codes = solved(get_rules("nine"), 8, threads=2)[MovingPair(3, 3)][ROW_TO_MOVE]
    statistics = count_plane(SubspaceIndex(BOARD_24, 3, 3), codes, Metric.DTM)
    found = {code - 1: count for code, count in enumerate(statistics.classes.tolist()) if code and count}
    assert found == published


def test_the_double_mill_rule_does_not_matter() -> None:
    one, two = (solved(get_rules("six", double_mill=taken)) for taken in (1, 2))
    assert all((one[pair][plane] == two[pair][plane]).all() for pair in one for plane in one[pair])


# Value by value against the naive solver


@cache
def naive_values(rules: Rules) -> dict[Key, Value]:
    values = naive.solve_moving(
        *geometry(rules.board), rules.stones, rules.stones, rules.flying, rules.double_mill, rules.quiet_limit
    )
    return {(*key, 0, 0): Value(*value) for key, value in values.items()}


@pytest.mark.parametrize("quiet_limit", [0, 1, 2, 3, 5, 8])
@pytest.mark.parametrize("flying", [False, True])
@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_every_value_is_that_of_the_naive_solver(board: Board, flying: bool, quiet_limit: int) -> None:
    rules = Rules("small", board, 4, flying, 1, quiet_limit)
    compared, wrong = disagreements(rules, solved(rules), naive_values(rules))
    assert compared > 800
    assert wrong == []


@pytest.mark.parametrize(("flying", "quiet_limit"), [(True, 0), (False, 3)])
def test_every_value_with_five_stones_a_side(flying: bool, quiet_limit: int) -> None:
    rules = Rules("ring", RING, 5, flying, 1, quiet_limit)
    compared, wrong = disagreements(rules, solved(rules), naive_values(rules))
    assert compared > 5000
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_every_value_on_random_boards(seed: int) -> None:
    """About half a minute: ``python -m pytest tests/test_retrograde.py -m slow -k random_boards``."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(7, 12))

    def some(size: int, at_most: int) -> set[tuple]:
        return {tuple(sorted(rng.choice(n, size, replace=False).tolist())) for _ in range(rng.integers(1, at_most))}

    edges = tuple({*((p, p + 1) for p in range(n - 1)), *some(2, n)})
    lines = tuple(some(3, n))
    board = Board("random", tuple(f"a{p}" for p in range(n)), edges, lines, (n,))
    rules = Rules("random", board, int(rng.integers(3, n // 2 + 1)), bool(seed % 2), 1, int(rng.choice([0, 0, 1, 4])))
    assert disagreements(rules, solve_moving(rules), naive_values(rules))[1] == []


# The same result by other ways


def same(one: Planes, two: Planes) -> bool:
    """Whether all codes are equal, whatever their type."""
    return one.keys() == two.keys() and all(
        planes.keys() == two[pair].keys() and all((codes == two[pair][plane]).all() for plane, codes in planes.items())
        for pair, planes in one.items()
    )


WAYS = [
    (get_rules("six"), None),
    (get_rules("six", flying=True), None),
    (get_rules("six", quiet_limit=40), None),
    (get_rules("nine"), 7),
    (Rules("small", NINE_POINTS_DIAGONALS, 4, flying=True), None),
]
by_rules = pytest.mark.parametrize(("rules", "max_stones"), WAYS, ids=lambda value: getattr(value, "name", value))


@by_rules
@pytest.mark.slow
def test_two_bytes_give_the_same_values(rules: Rules, max_stones: int | None) -> None:
    wide = solve_moving(rules, max_stones, value_type=np.uint16)
    assert {codes.dtype for planes in wide.values() for codes in planes.values()} == {np.dtype(np.uint16)}
    assert same(wide, solved(rules, max_stones))


@by_rules
def test_threads_give_the_same_values(rules: Rules, max_stones: int | None) -> None:
    assert same(solve_moving(rules, max_stones, threads=2), solved(rules, max_stones))
    assert same(solve_moving(rules, max_stones, threads=3), solved(rules, max_stones))


@by_rules
@pytest.mark.slow
def test_short_frontier_lists_give_the_same_values(
    rules: Rules, max_stones: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frontiers longer than the limit are cut into slabs of rows."""
    monkeypatch.setattr(moving, "_FRONTIER_LIMIT", 500)
    assert same(solve_moving(rules, 7, threads=2), solved(rules, 7))


@by_rules
def test_equivalent_columns_have_the_same_value(rules: Rules, max_stones: int | None) -> None:
    """A row whose stones a symmetry keeps holds some positions several times."""
    for pair, planes in solved(rules, max_stones).items():
        index = pair.index(rules.board)
        stabilised = np.flatnonzero(index.classes.orbit_sizes < len(rules.board.symmetries))[:40]
        rows, columns = (numbers.ravel() for numbers in np.meshgrid(stabilised, range(index.shape[1]), indexing="ij"))
        _, first, number = np.unique(
            smallest_images(rules.board, *index.unrank_many(rows, columns)), return_index=True, return_inverse=True
        )
        assert len(first) < len(rows)
        for codes in planes.values():
            values = codes[rows, columns]
            assert (values == values[first][number]).all()


def small_code_book(first_count: int):
    """``code_book`` with room for fewer codes in one byte."""

    def make(metric: Metric, value_type: type[np.unsignedinteger], most_turns: int) -> CodeBook:
        book = real(metric, value_type, most_turns)
        return book._replace(first_count=min(first_count, book.first_count)) if value_type is np.uint8 else book

    real = moving.code_book
    return make


@pytest.mark.parametrize("first_count", [2, 3, 4, 10, 27, 40, 120])
@pytest.mark.parametrize("rules", [WAYS[0][0], WAYS[2][0]], ids=lambda rules: rules.name)
@pytest.mark.slow
def test_codes_that_do_not_fit_one_byte_take_two(
    rules: Rules, first_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a code would meet the successor counts, the pair and all that follow are solved with two bytes."""
    monkeypatch.setattr(moving, "code_book", small_code_book(first_count))
    found = solve_moving(rules)
    assert same(found, solved(rules))
    for planes in found.values():
        highest = max(int(codes.max()) for codes in planes.values())
        widths = {codes.dtype.itemsize for codes in planes.values()}
        assert len(widths) == 1
        assert widths == {2} or highest < first_count


@pytest.mark.slow
@pytest.mark.parametrize("code", [249, 250, 251, 252, 253, 254, 255])
@pytest.mark.parametrize("rules", [get_rules("six"), get_rules("six", quiet_limit=200)], ids=lambda rules: rules.name)
def test_captures_with_the_largest_codes_of_one_byte(rules: Rules, code: int) -> None:
    """Files keep one byte a value as long as codes fit, so a plane solved with two bytes comes back with one."""
    pair, smaller = MovingPair(4, 3), MovingPair(3, 3)
    narrow = np.full(smaller.index(rules.board).shape, code, np.uint8)
    narrow[::2] = 0
    wide = narrow.astype(np.uint16)
    with Workers(1) as workers:
        one, two = (solve_pair(rules, pair, lambda *_, plane=plane: plane, workers) for plane in (narrow, wide))
    columns = pair.index(rules.board).shape[1]
    assert all((one[plane][:, :columns] == two[plane][:, :columns]).all() for plane in pair.planes)


# Planes and progress


@pytest.mark.parametrize("rules", [get_rules("six"), get_rules("nine")], ids=lambda rules: rules.name)
def test_rows_are_padded_with_zeros(rules: Rules) -> None:
    done: dict[MovingPair, dict[Plane, npt.NDArray[np.unsignedinteger]]] = {}
    with Workers(2) as workers:
        for pair in moving_pairs(rules, 7):
            done[pair] = solve_pair(rules, pair, lambda p, plane: done[p][plane], workers)
            columns = pair.index(rules.board).shape[1]
            assert tuple(done[pair]) == pair.planes
            for codes in done[pair].values():
                assert codes.shape[1] > columns
                assert not codes[:, columns:].any()


@pytest.mark.parametrize("value_type", [np.uint8, np.uint16])
def test_progress_adds_up_to_the_positions(value_type: type[np.unsignedinteger]) -> None:
    rules = get_rules("six")
    done = solved(rules)
    for pair in (MovingPair(3, 3), MovingPair(5, 4), MovingPair(4, 4)):
        steps: list[int] = []
        with Workers(2) as workers:
            solve_pair(rules, pair, lambda p, plane: done[p][plane], workers, steps.append, value_type)
        assert min(steps) > 0
        assert sum(steps) == pair.index(rules.board).size * len(pair.planes)


def test_progress_does_not_start_again_with_two_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "code_book", small_code_book(20))
    rules, steps = get_rules("six"), list[int]()
    pair = MovingPair(5, 4)
    with Workers(1) as workers:
        solve_pair(rules, pair, lambda p, plane: solved(rules)[p][plane], workers, steps.append)
    assert sum(steps) == pair.index(rules.board).size * 2
