"""Position text and turn text: what is read, what is written, and each way of being wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import IllegalMoveError, PositionError
from solver.game.boards import BOARD_24
from solver.game.notation import format_position, format_turn, parse_position, parse_turn, start_fields
from solver.game.rules import Rules, get_rules
from tests.support.small_boards import NINE_POINTS

NINE = get_rules("nine")
LIMITED = get_rules("kurnik-100")
GOOD = "WW.W..../....BBB./W.....W. w 0,0 0"

SHORT_OF_STONES = "W......./B......./........ w"


def test_the_good_text_is_good() -> None:
    fields = parse_position(NINE, GOOD)
    assert fields == (1 << 0 | 1 << 1 | 1 << 3 | 1 << 16 | 1 << 22, 0b111 << 12, "white", (0, 0), 0)
    assert format_position(BOARD_24, fields) == GOOD


@pytest.mark.parametrize("text", ["start", " start\n", "......../......../........ w 9,9 0"])
def test_start(text: str) -> None:
    assert parse_position(NINE, text) == start_fields(NINE)


def test_rings_follow_the_board() -> None:
    rules = Rules("three", NINE_POINTS, 3)
    assert format_position(NINE_POINTS, start_fields(rules)) == ".../.../... w 3,3 0"
    assert parse_position(rules, "W../.B./... w 2,2 0").black == 1 << 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 fields, expected 4 .* as in '......../......../........ w 9,9 0'"),
        (GOOD[:-2], "3 fields, expected 4"),
        (GOOD + " 0", "5 fields, expected 4"),
        (GOOD.replace("./W", ".W"), "2 rings, expected 3"),
        (GOOD.replace("WW.W", "WW/.W"), "4 rings, expected 3"),
        (GOOD.replace("WW.W", "WW."), "ring 1 has 7 points, expected 8"),
        (GOOD.replace("BBB.", "BBB..."), "ring 2 has 10 points, expected 8"),
        (GOOD.replace("BBB.", "BXB."), "ring 2 has 'X' on d2, expected W, B or ."),
        (GOOD.replace("BBB.", "BBb."), "ring 2 has 'b' on b2"),
        (GOOD.replace(" w ", " W "), "side to move 'W', expected w or b"),
        (GOOD.replace(" w ", " white "), "side to move 'white', expected w or b"),
        (GOOD.replace("0,0", "0"), "stones in hand '0', expected two numbers"),
        (GOOD.replace("0,0", "0,0,0"), "stones in hand '0,0,0', expected two numbers"),
        (GOOD.replace("0,0", "0,"), "stones in hand '', expected a number"),
        (GOOD.replace("0,0", "0,x"), "stones in hand 'x', expected a number"),
        (GOOD.replace("0,0", "0,1.5"), "stones in hand '1.5', expected a number"),
        (GOOD.replace("0,0", "-1,-1"), "White has -1 stones in hand, expected 0 or more"),
        (GOOD.replace("0,0", "\u0661,\u0661"), "expected a number"),  # digits, but not of ASCII
        (GOOD.replace("0,0", "5,5"), "White has 5 stones on the board and 5 in hand, but the rules give 9"),
        (GOOD.replace("W.....W.", "BBBBBBB."), "Black has 10 stones on the board and 0 in hand"),
        (GOOD.replace("0,0", "1,2"), "White to move with 1,2 stones in hand"),
        (GOOD.replace("0,0", "3,1"), "White to move with 3,1 stones in hand"),
        (GOOD.replace("w 0,0", "b 1,0"), "Black to move with 1,0 stones in hand"),
        (GOOD.replace("w 0,0", "b 0,2"), "Black to move with 0,2 stones in hand"),
        (GOOD[:-1] + "x", "quiet turns 'x', expected a number"),
        (GOOD[:-1] + "1e3", "quiet turns '1e3', expected a number"),
        (GOOD[:-1] + "-1", "-1 quiet turns, expected 0 or more"),
        (GOOD[:-1] + "101", "101 quiet turns, expected at most the limit of 100"),
        (GOOD[:-1].replace("0,0", "1,1") + "3", "3 quiet turns, expected 0 while a stone is in hand"),
        (f"{SHORT_OF_STONES} 1,1 0", "both sides have fewer than 3 stones"),
    ],
)
def test_each_fault_has_its_message(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message) as caught:
        parse_position(LIMITED, text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("position text '")


@pytest.mark.parametrize("text", ["9" * 10**6, GOOD[:-1] + "9" * 10**6, "W" * 10**6, "/" * 10**6 + " w 0,0 0"])
def test_huge_texts_are_refused_briefly(text: str) -> None:
    with pytest.raises(PositionError) as caught:
        parse_position(NINE, text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("w 0,0", "b 0,0"),
        GOOD.replace("w 0,0", "b 2,3"),
        GOOD.replace("0,0", "3,2"),  # as if Black had begun
        "WWWWWWWW/W......./BBB..... w 0,0 0",
        "W......./BBB...../........ w 0,0 0",  # White has lost
        GOOD[:-1] + "100",
    ],
)
def test_what_play_cannot_reach_is_accepted_all_the_same(text: str) -> None:
    assert format_position(BOARD_24, parse_position(LIMITED, text)) == text


def test_without_a_limit_any_quiet_count_is_accepted() -> None:
    assert parse_position(NINE, GOOD[:-1] + "101").quiet_turns == 101


@given(st.text(alphabet="WB./ wb0123456789,-", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        fields = parse_position(NINE, text)
    except PositionError:
        return
    assert parse_position(NINE, format_position(BOARD_24, fields)) == fields


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("d6", (None, 9, ())),
        ("d7xe3", (None, 1, (20,))),
        ("d6-d7xa4", (9, 1, (7,))),
        ("d7xd2xe3", (None, 1, (13, 20))),
        ("b6-d7xd2xe3", (8, 1, (13, 20))),
        ("d2-d7", (13, 1, ())),
    ],
)
def test_turn_text(text: str, turn: tuple) -> None:
    assert parse_turn(BOARD_24, text) == turn
    assert format_turn(BOARD_24, *turn) == text


def test_stones_taken_are_read_in_either_order() -> None:
    assert parse_turn(BOARD_24, "d7xe3xd2") == parse_turn(BOARD_24, "d7xd2xe3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a turn such as"),
        ("a7-d7-g7", "expected a turn such as"),
        ("d7xa1xa4xd1", "expected a turn such as"),
        ("d8", "no point 'd8'"),
        ("D7", "no point 'D7'"),
        ("d7x", "no point ''"),
        ("-d7", "no point ''"),
        ("d7 xe3", "no point 'd7 '"),
        ("d7-d6xz1", "no point 'z1'"),
        ("d" * 10**6, "no point 'ddd"),
    ],
    ids=lambda text: text[:20],
)
def test_bad_turn_text(text: str, message: str) -> None:
    with pytest.raises(IllegalMoveError, match=message) as caught:
        parse_turn(BOARD_24, text)
    assert len(str(caught.value)) < 250
