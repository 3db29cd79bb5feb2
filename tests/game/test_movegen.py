"""The plain move generator against the naive one, and the facts about turns that the solver relies on."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.game.boards import BOARD_16, BOARD_24, Board
from solver.game.movegen import (
    MAX_TURNS,
    NONE,
    TURN_FIELDS,
    is_lost_by_stones,
    legal_turns,
    move_tables,
    stones_after,
    successors,
)
from solver.game.rules import Rules, get_rules
from tests.support import naive
from tests.support.small_boards import NINE_POINTS_DIAGONALS, geometry

U = np.uint64
BOARDS = [BOARD_24, BOARD_16, NINE_POINTS_DIAGONALS]


@cache
def rules_for(board: Board, flying: bool, double_mill: int) -> Rules:
    return Rules("test", board, 3, flying, double_mill)


@cache
def naive_game(board: Board, flying: bool, double_mill: int) -> naive.Game:
    return naive.Game(*geometry(board), flying, double_mill)


def turns_of(rules: Rules, own: int, opponent: int, hand: int) -> list[list[int]]:
    turns = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    n = legal_turns(move_tables(rules), U(own), U(opponent), hand, turns)
    return turns[:n].tolist()


def successors_of(rules: Rules, own: int, opponent: int, hand: int) -> list[tuple[int, int]]:
    out = np.empty((2, MAX_TURNS), np.uint64)
    n = successors(move_tables(rules), U(own), U(opponent), hand, out[0], out[1])
    return [tuple(pair) for pair in out[:, :n].T.tolist()]


@st.composite
def stones_on(draw: st.DrawFn, board: Board, most: int = 12) -> tuple[int, int]:
    """(own, opponent): disjoint masks, of few stones and of many."""
    order = draw(st.permutations(range(board.n_points)))
    own = draw(st.integers(0, min(most, board.n_points)))
    opponent = draw(st.integers(0, min(most, board.n_points - own)))
    return sum(1 << p for p in order[:own]), sum(1 << p for p in order[own : own + opponent])


@pytest.mark.parametrize("hand", [0, 2])
@pytest.mark.parametrize("double_mill", [1, 2])
@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
@given(data=st.data(), flying=st.booleans())
def test_successors_are_those_of_the_naive_generator(data, board, double_mill, hand, flying) -> None:
    own, opponent = data.draw(stones_on(board))
    found = successors_of(rules_for(board, flying, double_mill), own, opponent, hand)
    assert len(found) == len(set(found)), "a turn is listed twice"
    assert set(found) == naive_game(board, flying, double_mill).successors(own, opponent, hand)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
@given(data=st.data())
def test_turns_come_in_ascending_order(data, board) -> None:
    own, opponent = data.draw(stones_on(board))
    turns = turns_of(rules_for(board, True, 2), own, opponent, data.draw(st.integers(0, 1)))
    assert turns == sorted(turns)
    assert all(second == NONE or taken < second for _, _, taken, second in turns)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
@given(data=st.data(), flying=st.booleans())
def test_a_move_can_be_taken_back(data, board, flying) -> None:
    """Where a stone may go it may come from: predecessors by quiet turns are successors with the mover's side kept."""
    rules = rules_for(board, flying, 1)
    own, opponent = data.draw(stones_on(board))
    for turn in turns_of(rules, own, opponent, 0):
        origin, target, taken, _ = turn
        after, others = (int(mask) for mask in stones_after(U(own), U(opponent), np.array(turn, np.int8)))
        if taken == NONE:
            back = [t for t in turns_of(rules, after, others, 0) if t[:2] == [target, origin]]
            assert back, "no way back"
            assert all((after & ~(1 << t[0])) | 1 << t[1] == own for t in back)


@pytest.mark.parametrize("board", [BOARD_24, BOARD_16], ids=lambda board: board.name)
@given(data=st.data(), flying=st.booleans())
def test_the_double_mill_rule_does_not_touch_the_moving_phase(data, board, flying) -> None:
    own, opponent = data.draw(stones_on(board))
    one, two = (turns_of(rules_for(board, flying, taken), own, opponent, 0) for taken in (1, 2))
    assert one == two


def test_a_slide_can_take_two_on_a_board_where_it_completes_two_mills() -> None:
    number = NINE_POINTS_DIAGONALS.point_numbers
    own = sum(1 << number[name] for name in ("a3", "c1", "c3", "a1", "b3"))
    opponent = 1 << number["a2"] | 1 << number["c2"]
    turns = turns_of(rules_for(NINE_POINTS_DIAGONALS, False, 2), own, opponent, 0)
    assert [number["b3"], number["b2"], number["a2"], number["c2"]] in turns


@pytest.mark.parametrize(
    ("flying", "stones", "hand", "turns"),
    [
        (True, "b6 f6 d2", 0, 3 * 21),
        (False, "b6 f6 d2", 0, 2 + 2 + 4),
        (True, "b6 f6 d2 a7", 0, 2 + 2 + 4 + 2),
        (True, "b6 f6", 0, 2 + 2),
        (True, "b6 f6 d2", 1, 21),
    ],
)
def test_flying_takes_exactly_three_stones_and_an_empty_hand(flying: bool, stones: str, hand: int, turns: int) -> None:
    own = sum(1 << BOARD_24.point_numbers[name] for name in stones.split())
    assert len(turns_of(get_rules("nine", flying=flying), own, 0, hand)) == turns


def test_removal_lapses_where_there_is_nothing_to_take() -> None:
    turns = turns_of(get_rules("kurnik"), 0b11, 0, 5)
    assert [NONE, 2, NONE, NONE] in turns
    assert len(turns) == 22


def test_three_stones_are_needed_in_all() -> None:
    assert [is_lost_by_stones(U(0b11), hand) for hand in (0, 1)] == [True, False]
    assert [is_lost_by_stones(U(0), hand) for hand in (2, 3)] == [True, False]


def test_max_turns_is_the_bound_that_its_comment_derives() -> None:
    most = max(
        own * (24 - own - opponent) * max(opponent, opponent * (opponent - 1) // 2)
        for own in range(1, 25)
        for opponent in range(25 - own)
    )
    assert most == MAX_TURNS


def test_masks_may_be_python_integers() -> None:
    turns = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    tables = move_tables(get_rules("nine"))
    assert legal_turns(tables, 0b101, 0b11 << 8, 3, turns) == 21
    assert legal_turns(tables, 0b101, 0b11 << 8, 0, turns) == len(turns_of(get_rules("nine"), 0b101, 0b11 << 8, 0))
