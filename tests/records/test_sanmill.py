"""The FEN of Sanmill."""

import json

import pytest

from solver.errors import PositionError
from solver.game.position import Position
from solver.game.rules import get_rules
from solver.records.games import read_game
from solver.records.sanmill import format_fen, parse_fen
from tests.support.paths import GOLDEN

NINE = get_rules("nine")
GAMES = json.loads((GOLDEN / "games.json").read_text())
START = "********/********/******** w p p 0 9 0 9 0 0 0 0 0 0 0 0 1"


def test_the_rings_are_listed_from_the_inside_each_from_the_north() -> None:
    turns = ["d5", "d6", "d7", "e5", "f6", "g7", "c5", "b6", "a7"]
    assert format_fen(Position(NINE)) == START
    # d5 e5 c5 inside, d6 f6 b6 in the middle, d7 g7 a7 outside
    assert format_fen(Position.from_turns(NINE, turns)) == (
        "O@*****O/@O*****@/O@*****O b p p 5 4 4 5 0 0 0 0 0 0 0 0 5"
    )


@pytest.mark.parametrize("data", GAMES, ids=lambda data: data["name"])
def test_positions_of_golden_games_are_read_back(data: dict) -> None:
    game = read_game(" ".join(data["turns"]), NINE)
    for turns, position in enumerate(game.positions()):
        text = format_fen(position)
        assert parse_fen(NINE, text) == position
        assert text.split()[-1] == str(1 + turns // 2)
        assert (text.split()[2] == "o") == position.is_over()


def test_other_phases_and_ignored_fields() -> None:
    assert parse_fen(NINE, START.replace("w p p", "w r p")) == Position(NINE)
    game = read_game(" ".join(GAMES[0]["turns"]), NINE)
    text = format_fen(game.final)
    fields = text.split()
    fields[10:15] = ["8", "9", "31", "24", "281474976710912"]
    assert parse_fen(NINE, " ".join(fields)) == game.final


REFUSED = {
    "other field count": (START + " 1", "18 fields, expected 17"),
    "rings": (START.replace("*/*", "**", 1), "not three rings of eight"),
    "letter": (START.replace("*", "X", 1), "'X' on d5, expected O (White), @ (Black) or *"),
    "side": (START.replace(" w ", " x "), "side to move 'x', expected w (white), b (black)"),
    "phase": (START.replace("w p p", "w q p"), "phase 'q', expected r (ready), p (placing), m (moving), o (over)"),
    "action": (START.replace("w p p", "w p q"), "action 'q', expected p (place), s (select), r (remove)"),
    "phase and hands": (START.replace("w p p", "w m s"), "phase m, expected p p (place) while a stone is in hand"),
    "action and hands": (START.replace("w p p", "w p s"), "action s, expected p p (place)"),
    "number": (START.replace(" 9 0 9 ", " nine 0 9 "), "field 6 is 'nine', expected a whole number"),
    "stones": (START.replace(" 0 9 0 9 ", " 1 8 0 9 "), "White has 0 stones on the board, expected 1 as counted"),
    "hands": (START.replace(" 0 9 0 9 ", " 0 9 0 7 "), "White to move with 9,7 stones in hand"),
    "removal": (START.replace(" 0 9 0 9 0", " 0 9 0 9 1"), "a stone has yet to be removed"),
    "many stones": (
        "OOOOOOOO/OO******/@@@***** w m s 10 0 3 0 0 0 0 0 0 0 0 0 9",
        "White has 10 stones on the board and 0 in",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(PositionError) as error:
        parse_fen(NINE, text)
    assert message in str(error.value)
    assert str(error.value).startswith("Sanmill FEN '")


def test_other_boards_are_refused() -> None:
    six = get_rules("six")
    for call in (lambda: parse_fen(six, START), lambda: format_fen(Position(six))):
        with pytest.raises(PositionError, match="another board"):
            call()
