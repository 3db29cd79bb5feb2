"""Which tables there are: names, dependencies, order, and the stone counts that the placing phase can reach."""

from functools import cache
from itertools import product

import pytest

from solver.game.boards import BOARD_24
from solver.game.rules import PRESETS, Rules, get_rules
from solver.indexing.counting import count_classes
from solver.indexing.subspaces import (
    COLUMN_TO_MOVE,
    ROW_TO_MOVE,
    MovingPair,
    PlacingSubspace,
    Subspace,
    closed_form_counts,
    hands,
    is_decided,
    moving_pairs,
    parse_name,
    placing_counts,
    placing_subspaces,
)
from tests.support import naive
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS, geometry

SMALL = [
    Rules("three", NINE_POINTS, 3, flying=False),
    Rules("four", NINE_POINTS, 4, flying=True),
    Rules("double", NINE_POINTS_DIAGONALS, 4, flying=False, double_mill=2),
]
ALL = [*PRESETS.values(), *SMALL, get_rules("six", stones=8), get_rules("kurnik", stones=12)]
by_name = pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)


def all_subspaces(rules: Rules) -> list[Subspace]:
    return [*moving_pairs(rules), *placing_subspaces(rules)]


@by_name
def test_names_are_read_back(rules: Rules) -> None:
    subspaces = all_subspaces(rules)
    names = [subspace.name for subspace in subspaces]
    assert [parse_name(name) for name in names] == subspaces
    assert len(set(names)) == len(names)


def test_names_by_hand() -> None:
    assert MovingPair(5, 4).name == "moving_5-4"
    assert PlacingSubspace(7, 4, 3).name == "placing_07_4-3"
    assert parse_name("placing_17_9-8") == PlacingSubspace(17, 9, 8)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "moving",
        "moving_5",
        "moving_4-5",
        "moving_4-2",
        "moving_05-4",
        "moving_5-4-3",
        "moving_5-4 ",
        "moving_\N{ARABIC-INDIC DIGIT FIVE}-4",
        "Moving_5-4",
        "moving_5-4.h5",
        "placing_7_4-3",
        "placing_007_4-3",
        "placing_07_4",
        "placing_07_4-3-2",
        "placing_4-3",
        "placing_-1_0-0",
        "placing_07_4--3",
        "flying_3-3",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="names no subspace"):
        parse_name(name)


@pytest.mark.parametrize(("a", "b"), [(3, 4), (3, 2), (2, 2)])
def test_impossible_pairs_are_refused(a: int, b: int) -> None:
    with pytest.raises(ValueError, match="a >= b >= 3"):
        MovingPair(a, b)


def test_planes() -> None:
    assert MovingPair(5, 5).planes == (ROW_TO_MOVE,)
    assert MovingPair(5, 4).planes == (ROW_TO_MOVE, COLUMN_TO_MOVE)
    assert PlacingSubspace(6, 2, 3).planes == (ROW_TO_MOVE,)
    assert PlacingSubspace(7, 2, 3).planes == (COLUMN_TO_MOVE,)


def test_stones_to_move() -> None:
    assert [MovingPair(5, 4).stones_to_move(plane) for plane in (ROW_TO_MOVE, COLUMN_TO_MOVE)] == [(5, 4), (4, 5)]
    assert PlacingSubspace(7, 2, 3).stones_to_move(COLUMN_TO_MOVE) == (3, 2)


# The moving phase


@by_name
def test_every_pair_comes_after_those_that_captures_lead_to(rules: Rules) -> None:
    pairs = moving_pairs(rules)
    for number, pair in enumerate(pairs):
        assert set(pair.dependencies()) <= set(pairs[:number])


@by_name
def test_dependencies_are_what_captures_lead_to(rules: Rules) -> None:
    for pair in moving_pairs(rules):
        a, b = pair.row_stones, pair.column_stones
        after = {(a, b - 1), (a - 1, b)}
        expected = {tuple(sorted(counts, reverse=True)) for counts in after if min(counts) >= 3}
        assert {(p.row_stones, p.column_stones) for p in pair.dependencies()} == expected


@by_name
def test_there_is_one_pair_for_each_pair_of_counts(rules: Rules) -> None:
    pairs = moving_pairs(rules)
    counts = {tuple(sorted(both, reverse=True)) for both in product(range(3, rules.stones + 1), repeat=2)}
    assert {(pair.row_stones, pair.column_stones) for pair in pairs} == counts
    assert len(pairs) == len(counts)


@pytest.mark.parametrize(("most", "pairs"), [(5, 0), (6, 1), (7, 2), (8, 4), (17, 27), (18, 28), (100, 28)])
def test_pairs_with_at_most_so_many_stones(most: int, pairs: int) -> None:
    found = moving_pairs(get_rules("nine"), most)
    assert len(found) == pairs
    assert found == moving_pairs(get_rules("nine"))[:pairs]


# The placing phase


@cache
def counts_after(rules: Rules, ply: int, white: int, black: int) -> frozenset[tuple[int, int]]:
    """What the naive generator makes of all arrangements of a count, reachable or not."""
    game = naive.Game(*geometry(rules.board), rules.flying, rules.double_mill)
    found = set()
    for stones in naive.arrangements(rules.board.n_points, white, black):
        own, opponent = stones if ply % 2 == 0 else stones[::-1]
        for pair in game.successors(own, opponent, hand=1):
            after = tuple(mask.bit_count() for mask in pair)
            found.add(after if ply % 2 == 0 else after[::-1])
    return frozenset(found)


@pytest.mark.parametrize("rules", SMALL, ids=lambda rules: rules.name)
def test_successors_of_every_table_have_a_table_or_are_decided(rules: Rules) -> None:
    tables = set(placing_subspaces(rules))
    counts = placing_counts(rules)
    for ply, white, black in ((s.ply, s.white, s.black) for s in tables):
        for after in counts_after(rules, ply, white, black):
            assert after in counts[ply + 1]
            if ply + 1 == 2 * rules.stones:
                assert min(after) < 3 or MovingPair(max(after), min(after)) in moving_pairs(rules)
            else:
                assert is_decided(rules, ply + 1, *after) or PlacingSubspace(ply + 1, *after) in tables


@pytest.mark.parametrize("rules", SMALL[:2], ids=lambda rules: rules.name)
def test_every_table_but_the_first_holds_successors(rules: Rules) -> None:
    tables = {(s.ply, s.white, s.black) for s in placing_subspaces(rules)}
    reached = {(ply + 1, *after) for ply, white, black in tables for after in counts_after(rules, ply, white, black)}
    last = 2 * rules.stones
    assert tables - {(0, 0, 0)} == {key for key in reached if key[0] < last and not is_decided(rules, *key)}


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        (
            "six",
            [
                {(0, 0)},
                {(1, 0)},
                {(1, 1)},
                {(2, 1)},
                {(2, 2)},
                {(3, 2), (3, 1)},  # White's third stone may close a mill
                {(3, 3), (2, 3), (3, 2)},  # Black has three stones only if none was taken
                {(4, 3), (4, 2), (3, 3), (3, 2), (4, 1)},
            ],
        ),
        ("nine", [{(0, 0)}, {(1, 0)}, {(1, 1)}, {(2, 1)}, {(2, 2)}, {(3, 2), (3, 1)}]),
    ],
)
def test_first_plies_by_hand(name: str, layers: list[set[tuple[int, int]]]) -> None:
    assert [set(layer) for layer in placing_counts(get_rules(name))[: len(layers)]] == layers


@pytest.mark.parametrize("name", ["six", "kurnik"])
def test_two_stones_are_first_taken_by_the_fifth_stone_of_white(name: str) -> None:
    single, double = (placing_counts(get_rules(name, double_mill=taken)) for taken in (1, 2))
    assert single[:9] == double[:9]
    assert (5, 2) in double[9]
    assert (5, 2) in single[9], "also by two mills one after the other"
    assert min(black for white, black in double[9] if white == 5) == min(black for _, black in single[9]) - 1


@by_name
def test_counts_that_no_play_reaches_are_absent(rules: Rules) -> None:
    """No side takes more than a stone a mill, and its first mill needs three stones placed."""
    for ply, layer in enumerate(placing_counts(rules)):
        white_placed, black_placed = (ply + 1) // 2, ply // 2
        for white, black in layer:
            assert 0 <= white_placed - white <= rules.double_mill * max(black_placed - 2, 0)
            assert 0 <= black_placed - black <= rules.double_mill * max(white_placed - 2, 0)


@by_name
def test_layers_are_solved_backwards(rules: Rules) -> None:
    subspaces = placing_subspaces(rules)
    plies = [subspace.ply for subspace in subspaces]
    assert plies == sorted(plies, reverse=True)
    assert set(plies) == set(range(2 * rules.stones))
    assert subspaces[-1] == PlacingSubspace(0, 0, 0)
    assert len(set(subspaces)) == len(subspaces)


@by_name
def test_decided_counts_have_no_table(rules: Rules) -> None:
    tables = set(placing_subspaces(rules))
    for ply, layer in enumerate(placing_counts(rules)[:-1]):
        white_hand, black_hand = hands(rules, ply)
        for white, black in layer:
            is_over = white + white_hand < 3 or black + black_hand < 3
            assert is_decided(rules, ply, white, black) == is_over
            assert (PlacingSubspace(ply, white, black) in tables) == (not is_over)


def test_hands() -> None:
    rules = get_rules("nine")
    assert [hands(rules, ply) for ply in (0, 1, 2, 17, 18)] == [(9, 9), (8, 9), (8, 8), (0, 1), (0, 0)]


def test_published_size_of_the_placing_phase_of_nine() -> None:
    """``REFERENCES.md``: with captured stones at most the opponent's placed stones minus two. Ours are among them."""
    rules = get_rules("nine")
    classes = cache(lambda a, b: count_classes(BOARD_24, a, b))
    published: set[tuple[int, int, int]] = set()
    for ply in range(18):
        white_placed, black_placed = (ply + 1) // 2, ply // 2
        for white, black in product(range(white_placed + 1), range(black_placed + 1)):
            white_taken, black_taken = white_placed - white, black_placed - black
            if white_taken <= max(black_placed - 2, 0) and black_taken <= max(white_placed - 2, 0):
                published.add((ply, white, black))
    assert sum(classes(white, black) for _, white, black in published) == 17_849_543_887
    ours = placing_subspaces(rules)
    assert {(s.ply, s.white, s.black) for s in ours} < published
    assert sum(closed_form_counts(BOARD_24, s)[1] for s in ours) == 17_838_514_173
