"""Positions in the FEN of Sanmill, the mill app that most people use.

::

    O@**@@**/O***O***/**@**O** w m s 4 0 4 0 0 0 0 0 0 0 0 3 23
    |        |        |        | | | | | | | | | `-----' | | `- number of the move, from 1
    |        |        |        | | | | | | | | |    |    | `--- turns without a mill
    |        |        |        | | | | | | | | |    |    `----- mask of the mills formed
    |        |        |        | | | | | | | | |    `----------- last mill of White and Black, from and to
    |        |        |        | | | | | | | `-`---------------- stones that White and Black have yet to remove
    |        |        |        | | | `-`-`-`-------------------- White on board, in hand, Black on board, in hand
    |        |        |        | | `---------------------------- action: p place, s select, r remove
    |        |        |        | `------------------------------ phase: r ready, p placing, m moving, o over
    |        |        |        `-------------------------------- side to move
    inner    middle   outer ring, each clockwise from the point north: O White, @ Black, * empty

The app plays rules that this project does not have (mills that may not be made twice, other captures): the last mills
and the mask are read and left out, and a position in the middle of a turn is refused.
"""

from __future__ import annotations

import re
from typing import NoReturn

from solver.errors import PositionError
from solver.game.boards import BOARD_24
from solver.game.notation import Side, shorten
from solver.game.position import Position
from solver.game.rules import Rules

_WHITE, _BLACK, _EMPTY = "O", "@", "*"
_SIDES: dict[str, Side] = {"w": "white", "b": "black"}
_PHASES = {"r": "ready", "p": "placing", "m": "moving", "o": "over"}
_ACTIONS = {"p": "place", "s": "select", "r": "remove"}
_FIELDS = 17
_NUMBER = re.compile(r"-?[0-9]{1,20}")

# Our point numbers in the order of the text: inner to outer ring, each from the middle of its top side.
_POINTS = tuple(8 * ring + place for ring in (2, 1, 0) for place in (1, 2, 3, 4, 5, 6, 7, 0))


def has_sanmill_board(rules: Rules) -> bool:
    """Whether Sanmill's text can show positions of these rules: the points of the 24-point board."""
    return rules.board.points == BOARD_24.points


def format_fen(pos: Position) -> str:
    """The FEN of a position.

    >>> from solver.game.rules import get_rules
    >>> pos = Position(get_rules("nine"))
    >>> pos.push_text("d6")
    >>> format_fen(pos)
    '********/O*******/******** b p p 1 8 0 9 0 0 0 0 0 0 0 0 1'

    :raises PositionError: for another board
    """
    _check_board(pos.rules)
    letters = "".join(_WHITE if pos.white >> p & 1 else _BLACK if pos.black >> p & 1 else _EMPTY for p in _POINTS)
    phase, action = ("p", "p") if pos.phase == "placing" else ("m", "s")
    if pos.is_over():
        phase = "o"
    white_hand, black_hand = pos.hands
    turns = pos.placements + sum(move.origin is not None for move in pos.move_stack)
    parts = [
        f"{letters[:8]}/{letters[8:16]}/{letters[16:]}",
        pos.turn[0],
        phase,
        action,
        *map(str, (pos.white.bit_count(), white_hand, pos.black.bit_count(), black_hand)),
        *["0"] * 7,
        str(pos.quiet_turns),
        str(1 + turns // 2),
    ]
    return " ".join(parts)


def parse_fen(rules: Rules, text: str) -> Position:
    """The position of a FEN.

    >>> from solver.game.rules import get_rules
    >>> parse_fen(get_rules("nine"), "********/O*******/******** b p p 1 8 0 9 0 0 0 0 0 0 0 0 1").fen()
    '......../.W....../........ b 8,9 0'

    :raises PositionError: for bad text, for an impossible position, and for one in the middle of a turn
    """
    _check_board(rules)
    try:
        return _parse(rules, text.split())
    except PositionError as error:
        raise PositionError(f"Sanmill FEN {shorten(text)}: {error}") from None


def _check_board(rules: Rules) -> None:
    if not has_sanmill_board(rules):
        raise PositionError(
            f"Sanmill FEN: rules {rules.name!r} have another board, expected one with the points of {BOARD_24.name!r}"
        )


def _parse(rules: Rules, parts: list[str]) -> Position:
    if len(parts) != _FIELDS:
        raise PositionError(f"{len(parts)} fields, expected {_FIELDS} (rings, side, phase, action and 13 numbers)")
    rings, side, phase, action, *texts = parts
    white, black = _parse_rings(rings)
    for what, letter, known in (
        ("side to move", side, _SIDES),
        ("phase", phase, _PHASES),
        ("action", action, _ACTIONS),
    ):
        if letter not in known:
            raise PositionError(
                f"{what} {shorten(letter)}, expected {', '.join(f'{k} ({v})' for k, v in known.items())}"
            )
    numbers = [_parse_number(number, text) for number, text in enumerate(texts, start=5)]
    white_on_board, white_hand, black_on_board, black_hand, *removals = numbers[:6]
    _check_count("White", white_on_board, white)
    _check_count("Black", black_on_board, black)
    if action == "r" or any(removals):
        raise PositionError("a stone has yet to be removed, expected a position between two turns")
    _check_phase(phase, action, is_placing=(white_hand, black_hand) != (0, 0))
    return Position.from_stones(
        rules,
        white=white,
        black=black,
        turn=_SIDES[side],
        hands=(white_hand, black_hand),
        quiet_turns=numbers[-2],
    )


def _parse_rings(text: str) -> tuple[int, int]:
    """(white, black) masks."""
    rings = text.split("/")
    if [len(ring) for ring in rings] != [8, 8, 8]:
        raise PositionError("the points are not three rings of eight joined by /")
    white = black = 0
    for point, letter in zip(_POINTS, "".join(rings), strict=True):
        if letter not in (_WHITE, _BLACK, _EMPTY):
            raise PositionError(
                f"{letter!r} on {BOARD_24.points[point]}, expected {_WHITE} (White), {_BLACK} (Black) or {_EMPTY}"
            )
        white |= (letter == _WHITE) << point
        black |= (letter == _BLACK) << point
    return white, black


def _parse_number(number: int, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise PositionError(f"field {number} is {shorten(text)}, expected a whole number")
    return int(text)


def _check_count(side: str, expected: int, stones: int) -> None:
    if stones.bit_count() != expected:
        raise PositionError(f"{side} has {stones.bit_count()} stones on the board, expected {expected} as counted")


def _check_phase(phase: str, action: str, is_placing: bool) -> None:
    fitting = {"r": is_placing, "p": is_placing, "m": not is_placing, "o": True}
    if not fitting[phase]:
        _refuse_phase(f"phase {phase}", is_placing)
    if phase != "o" and (action == "p") != is_placing:
        _refuse_phase(f"action {action}", is_placing)


def _refuse_phase(what: str, is_placing: bool) -> NoReturn:
    wanted = "p p (place) while a stone is in hand" if is_placing else "m s (select) with both hands empty"
    raise PositionError(f"{what}, expected {wanted}")
