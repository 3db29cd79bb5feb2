"""The placing phase: value by value against the naive solver, by a forward search, and against published values."""

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from solver.compiled.jit import jit
from solver.compiled.workers import Workers
from solver.errors import RulesError
from solver.game.boards import BOARD_16, Board
from solver.game.movegen import MAX_TURNS, is_lost_by_stones, move_tables, successors
from solver.game.rules import Rules, get_rules
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import COLUMN_TO_MOVE, ROW_TO_MOVE, MovingPair, PlacingSubspace, hands, placing_subspaces
from solver.indexing.values import Value, decode, metric_of
from solver.kernels.tables import image_of
from solver.lookup.tablebase import open_tablebase
from solver.solving.job import plan
from solver.solving.placing import solve_placing
from tests.support import naive
from tests.support.planes import Planes, disagreements, positions, solve_all, value_of_start
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS, geometry
from tests.support.written_tables import naive_values

U = np.uint64

# A ring of ten points, some of them in two lines: the smallest board on which five stones can close two mills.
RING = Board(
    "ring",
    tuple(f"a{p}" for p in range(10)),
    tuple((p, (p + 1) % 10) for p in range(10)),
    ((0, 1, 2), (2, 3, 4), (5, 6, 7), (7, 8, 9)),
    (10,),
)

solved = cache(solve_all)


def placing_only(done: Planes) -> Planes:
    return {subspace: planes for subspace, planes in done.items() if isinstance(subspace, PlacingSubspace)}


# Value by value against the naive solver


@pytest.mark.parametrize("quiet_limit", [0, 2])
@pytest.mark.parametrize("double_mill", [1, 2])
@pytest.mark.parametrize("flying", [False, True])
@pytest.mark.parametrize("board", [NINE_POINTS, NINE_POINTS_DIAGONALS], ids=lambda board: board.name)
def test_every_value_is_that_of_the_naive_solver(
    board: Board, flying: bool, double_mill: int, quiet_limit: int
) -> None:
    rules = Rules("small", board, 3, flying, double_mill, quiet_limit)
    compared, wrong = disagreements(rules, solved(rules), naive_values(rules))
    assert compared > 500
    assert wrong == []


@pytest.mark.parametrize("quiet_limit", [pytest.param(0, marks=pytest.mark.slow), 3])
def test_every_value_with_four_stones_a_side(quiet_limit: int) -> None:
    rules = Rules("four", NINE_POINTS, 4, flying=True, quiet_limit=quiet_limit)
    assert disagreements(rules, solved(rules), naive_values(rules))[1] == []


@pytest.mark.slow
def test_every_value_with_five_stones_a_side() -> None:
    rules = Rules("five", RING, 5, flying=False, double_mill=2)
    compared, wrong = disagreements(rules, solved(rules), naive_values(rules))
    assert compared > 10_000
    assert wrong == []


def test_lines_with_two_points_in_common_are_valued_or_refused() -> None:
    """There four stones close two mills, where lines that meet in a point take five."""
    edges = ((0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (7, 8))
    board = Board("shared", tuple(f"a{p}" for p in range(9)), edges, ((0, 1, 2), (0, 1, 3), (4, 6, 8)), (9,))
    assert board.max_mills_by_slide == 1
    try:
        rules = Rules("shared", board, 4, flying=False, double_mill=2)
        plan(rules)
    except RulesError:
        return
    done = solve_all(rules)
    assert disagreements(rules, done, naive_values(rules))[1] == []


def value_after(rules: Rules, done: Planes, ply: int, white: int, black: int) -> Value:
    """The value of a position of the layer ``ply``, for the side to move."""
    counts = white.bit_count(), black.bit_count()
    in_hand = hands(rules, ply)
    mover = ply % 2
    assert counts[1 - mover] + in_hand[1 - mover] >= 3
    if counts[mover] + in_hand[mover] < 3:
        return Value(-1, 0)
    if ply < 2 * rules.stones:
        subspace: MovingPair | PlacingSubspace = PlacingSubspace(ply, *counts)
        plane, pair = subspace.planes[0], (white, black)
    elif counts[0] >= counts[1]:
        subspace, plane, pair = MovingPair(*counts), ROW_TO_MOVE, (white, black)
    else:
        subspace, plane, pair = MovingPair(counts[1], counts[0]), COLUMN_TO_MOVE, (black, white)
    index = subspace.index(rules.board)
    return decode(int(done[subspace][plane][index.rank(*pair)]), metric_of(rules, subspace.phase))


@pytest.mark.parametrize("name", ["six", "six-double", "five"])
@pytest.mark.parametrize("quiet_limit", [0, 10])
def test_values_are_the_best_of_what_the_turns_lead_to(name: str, quiet_limit: int) -> None:
    """Some positions of every subspace, by the naive generator."""
    rules = get_rules(name, quiet_limit=quiet_limit)
    done = solved(rules)
    game = naive.Game(*geometry(rules.board), rules.flying, rules.double_mill)
    rng = np.random.default_rng(1)
    for subspace, planes in placing_only(done).items():
        index = subspace.index(rules.board)
        (codes,) = planes.values()
        white_moves = subspace.ply % 2 == 0
        for number in rng.integers(0, index.size, 30).tolist():
            row, column = divmod(number, index.shape[1])
            white, black = index.unrank(row, column)
            turns = game.successors(*((white, black) if white_moves else (black, white)), hand=1)
            after = [pair if white_moves else pair[::-1] for pair in turns]
            expected = naive.best(naive.before(value_after(rules, done, subspace.ply + 1, *pair)) for pair in after)
            found = decode(int(codes[row, column]), metric_of(rules, "placing"))
            assert found == (expected if not quiet_limit else (expected[0], None)), (subspace.name, white, black)


# The forward search: everything that play can reach from the empty board, by the plain move generator


@jit
def smallest_image(symmetries, white, black):
    """(the smallest image of a position on 16 points as one number, how many symmetries lead to it)."""
    best = (U(1) << U(32)) - U(1)
    ways = 0
    for g in range(symmetries.images.shape[0]):
        image = image_of(symmetries, g, white) | (image_of(symmetries, g, black) << U(16))
        if image < best:
            best = image
            ways = 0
        ways += image == best
    return best, ways


@jit
def find_slot(slots, keys, key):
    """The slot of ``key`` in a hash table of numbers of keys, 1 for the first; or the empty slot where it belongs."""
    slot = ((key * U(0x9E3779B97F4A7C15)) >> U(20)) & U(slots.size - 1)
    while slots[slot] != 0 and keys[slots[slot] - 1] != key:
        slot = (slot + U(1)) & U(slots.size - 1)
    return slot


@jit
def explore(tables, symmetries, stones, slots, keys, orbits):
    """All classes of positions that play can reach: keys, numbers of raw positions; returns how many.

    A key is white | black << 16 | state << 32; the state is the ply while placing, then 2 n with White to move and
    2 n + 1 with Black to move. slots: zeros, a power of two of them.
    """
    after = np.empty((2, MAX_TURNS), np.uint64)
    low = U(0xFFFF)
    n = 1
    keys[0], orbits[0] = 0, 1
    slots[find_slot(slots, keys, U(0))] = 1
    k = 0
    while k < n:
        white, black, state = keys[k] & low, (keys[k] >> U(16)) & low, np.int64(keys[k] >> U(32))
        k += 1
        white_moves = state % 2 == 0
        own, opponent = (white, black) if white_moves else (black, white)
        own_hand, opponent_hand = max(stones - state // 2, 0), max(stones - (state + 1) // 2, 0)
        if is_lost_by_stones(own, own_hand) or is_lost_by_stones(opponent, opponent_hand):
            continue
        state_after = U(state + 1 if state <= 2 * stones else state - 1)
        for turn in range(successors(tables, own, opponent, own_hand, after[0], after[1])):
            own, opponent = after[0, turn], after[1, turn]
            white, black = (own, opponent) if white_moves else (opponent, own)
            image, ways = smallest_image(symmetries, white, black)
            key = image | (state_after << U(32))
            slot = find_slot(slots, keys, key)
            if slots[slot] == 0:
                keys[n] = key
                orbits[n] = symmetries.images.shape[0] // ways
                n += 1
                slots[slot] = n
    return n


def forward_search(rules: Rules, most: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """(keys, orbit sizes) of all classes that play can reach, at most ``most`` of them."""
    slots = np.zeros(1 << (2 * most).bit_length(), np.int32)
    keys, orbits = np.zeros(most, np.uint64), np.zeros(most, np.uint8)
    n = explore(move_tables(rules), symmetry_tables(rules.board), rules.stones, slots, keys, orbits)
    return keys[:n], orbits[:n]


@pytest.mark.parametrize(
    ("name", "classes", "raw_wdl", "longest"),
    [
        ("six", 2_660_288, (23_392_364, 3_459_385, 15_520_996), (119, 118)),
        ("five", 1_120_745, (10_070_264, 1_724_637, 6_049_820), (73, 74)),
    ],
)
def test_all_reachable_positions(
    name: str,
    classes: int,
    raw_wdl: tuple[int, int, int],
    longest: tuple[int, int],
    request: pytest.FixtureRequest,
) -> None:
    """Published counts: ``REFERENCES.md``, Sizes (Liou 2026; GamesmanOne). Each position is looked up in the tables."""
    rules = get_rules(name)
    keys, orbits = forward_search(rules, 2_700_000)
    assert len(keys) == classes
    white, black = (keys & U(0xFFFF)).astype(np.uint32), (keys >> U(16) & U(0xFFFF)).astype(np.uint32)
    state = (keys >> U(32)).astype(np.int64)
    in_hand = [np.maximum(rules.stones - (state + 1 - k) // 2, 0) for k in (0, 1)]
    with open_tablebase(request.getfixturevalue(name)) as tablebase:
        wdl, depth = tablebase.probe_many(white, black, state % 2, np.stack(in_hand, axis=1))
    counts = tuple(int(orbits[wdl == result].sum(dtype=np.int64)) for result in (1, 0, -1))
    assert counts == raw_wdl
    assert sum(counts) == {"six": 42_372_745, "five": 17_844_721}[name]
    assert (depth[wdl > 0].max(), depth[wdl < 0].max()) == longest
    assert (depth[wdl == 0] == -1).all()


# Published values of the empty board: ``REFERENCES.md``


@pytest.mark.parametrize("flying", [False, True])
@pytest.mark.parametrize("name", ["six", "six-double", "five"])
def test_the_empty_board_on_16_points_is_a_draw(name: str, flying: bool) -> None:
    rules = get_rules(name, flying=flying)
    assert value_of_start(rules, solved(rules)) == Value(0)


def test_three_men_on_24_points() -> None:
    flying, sliding = get_rules("nine", stones=3), get_rules("nine-noflying", stones=3)
    assert value_of_start(flying, solve_all(flying)) == Value(1, 23)
    assert value_of_start(sliding, solve_all(sliding)) == Value(0)


def seven_men(flying: bool) -> Rules:
    """Two squares and a centre: 17 points, 14 lines."""
    points = [*BOARD_16.points, "c3"]
    edges = [(BOARD_16.points[a], BOARD_16.points[b]) for a, b in BOARD_16.edges]
    lines = [[BOARD_16.points[p] for p in line] for line in BOARD_16.lines]
    edges += [(inner, "c3") for inner in ("b3", "c4", "d3", "c2")]
    lines += [[outer, inner, "c3"] for outer, inner in (("a3", "b3"), ("c5", "c4"), ("e3", "d3"), ("c1", "c2"))]
    lines += [["b3", "c3", "d3"], ["c4", "c3", "c2"]]
    return Rules("seven", Board.from_names("17 points", points, edges, lines, [8, 8, 1]), 7, flying)


@pytest.mark.parametrize("flying", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_seven_men_are_won_by_the_centre_alone(flying: bool) -> None:
    """A board of one's own, whose lines cross the bytes of a mask: won in 25 plies (GamesmanOne)."""
    rules = seven_men(flying)
    assert len(rules.board.lines) == 14
    done = solve_all(rules, threads=2)
    assert value_of_start(rules, done) == Value(1, 25)
    first = PlacingSubspace(1, 1, 0)
    after = {rules.board.points[key[0].bit_length() - 1]: value for key, value in positions(rules, first, done[first])}
    assert after.pop("c3") == Value(-1, 24)
    assert all(value.wdl == 1 for value in after.values())


# The same result by other ways


@pytest.mark.parametrize("name", ["six", "six-double"])
def test_threads_give_the_same_values(name: str) -> None:
    rules = get_rules(name)
    alone, together = placing_only(solved(rules)), placing_only(solve_all(rules, threads=2))
    assert alone.keys() == together.keys()
    for subspace, planes in alone.items():
        for plane, codes in planes.items():
            assert (codes == together[subspace][plane]).all()


@pytest.mark.parametrize("name", ["six", "six-double"])
@pytest.mark.parametrize("shift", [100, 132, 134, 136, 138, 140, 142, 250, 1000])
@pytest.mark.slow
def test_longer_distances_take_two_bytes(name: str, shift: int) -> None:
    """Where no turn ends the game, values are longer by as much as all values after them are, whatever their width."""
    rules = get_rules(name)
    done = solved(rules)
    for ply in (6, 7):
        for subspace in (s for s in placing_subspaces(rules) if s.ply == ply):

            def source(white: int, black: int, ply: int = ply) -> npt.NDArray[np.unsignedinteger]:
                (codes,) = done[PlacingSubspace(ply + 1, white, black)].values()
                longer = np.where(codes > 0, codes + np.uint16(shift), 0)
                return longer.astype(np.uint8 if longer.max() <= 255 else np.uint16)

            with Workers(1) as workers:
                (found,) = solve_placing(rules, subspace, source, workers).values()
            (codes,) = done[subspace].values()
            assert (found == np.where(codes > 0, codes + np.uint16(shift), 0)).all()


def test_only_the_result_is_kept_under_a_quiet_limit() -> None:
    rules = get_rules("six", quiet_limit=40)
    for planes in placing_only(solved(rules)).values():
        for codes in planes.values():
            assert codes.dtype == np.uint8
            assert codes.max() <= 2


def test_a_limit_that_is_never_reached_changes_no_result() -> None:
    free, limited = (placing_only(solved(get_rules("six", quiet_limit=limit))) for limit in (0, 1000))
    for subspace, planes in free.items():
        for plane, codes in planes.items():
            assert (np.where(codes > 0, 2 - codes % 2, 0) == limited[subspace][plane]).all()


def test_progress_adds_up_to_the_positions() -> None:
    rules = get_rules("six")
    done = solved(rules)
    subspace = PlacingSubspace(10, 5, 5)

    def source(white: int, black: int) -> npt.NDArray[np.unsignedinteger]:
        (codes,) = done[PlacingSubspace(11, white, black)].values()
        return codes

    steps: list[int] = []
    with Workers(2) as workers:
        solve_placing(rules, subspace, source, workers, steps.append)
    assert sum(steps) == subspace.index(rules.board).size
