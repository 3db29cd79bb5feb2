"""Positions and turns as text, and back.

*Position text* lists the points ring by ring in index order, then the side to move, the stones in hand of White and of
Black, and the quiet turns so far::

    WW.W..../....BBB./W.....W. w 0,0 0

*Turn text* names points: ``d6`` places, ``d6-d7`` moves, and ``x`` precedes each stone taken: ``d7xe3``,
``d6-d7xa4``, ``d7xd2xe3``. Two stones are written in the order of their point numbers and read in either order.

This module knows text and plain numbers only; ``position`` makes objects of them.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, NoReturn

from solver.errors import IllegalMoveError, PositionError
from solver.game.boards import Board
from solver.game.rules import LOSING_STONES, Rules

Side = Literal["white", "black"]

START = "start"
"""Short for the text of the empty board."""

WHITE_LETTER, BLACK_LETTER, EMPTY_LETTER = "W", "B", "."

_MAX_TAKEN = 2
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SIDES: dict[str, Side] = {"w": "white", "b": "black"}
_SHOWN = 80


class PositionFields(NamedTuple):
    """A position as plain numbers: what its text says."""

    white: int  # mask of stones
    black: int
    turn: Side
    hands: tuple[int, int]  # of (White, Black)
    quiet_turns: int


def other_side(side: Side) -> Side:
    """The opponent of ``side``."""
    return "black" if side == "white" else "white"


def start_fields(rules: Rules) -> PositionFields:
    """The empty board with White to move."""
    return PositionFields(0, 0, "white", (rules.stones, rules.stones), 0)


def shorten(text: str) -> str:
    """``text`` quoted for a message, cut to a readable length."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def format_position(board: Board, fields: PositionFields) -> str:
    """Position text.

    >>> from solver.game.rules import get_rules
    >>> six = get_rules("six")
    >>> format_position(six.board, start_fields(six))
    '......../........ w 6,6 0'
    """
    letters = "".join(
        WHITE_LETTER if fields.white >> p & 1 else BLACK_LETTER if fields.black >> p & 1 else EMPTY_LETTER
        for p in range(board.n_points)
    )
    rings, first = [], 0
    for size in board.rings:
        rings.append(letters[first : first + size])
        first += size
    white_hand, black_hand = fields.hands
    return f"{'/'.join(rings)} {fields.turn[0]} {white_hand},{black_hand} {fields.quiet_turns}"


def parse_position(rules: Rules, text: str) -> PositionFields:
    """The position that ``text`` describes; ``start`` is the empty board.

    >>> from solver.game.rules import get_rules
    >>> parse_position(get_rules("six"), "WW......../BB...... w 4,4 0")
    Traceback (most recent call last):
    ...
    solver.errors.PositionError: position text 'WW......../BB...... w 4,4 0': ring 1 has 10 points, expected 8

    :raises PositionError: for bad text and for a position that :func:`check_position` refuses
    """
    if text.strip() == START:
        return start_fields(rules)
    try:
        fields = _parse_fields(rules, text)
        check_position(rules, fields)
    except PositionError as error:
        raise PositionError(f"position text {shorten(text)}: {error}") from None
    return fields


def _parse_fields(rules: Rules, text: str) -> PositionFields:
    parts = text.split()
    if len(parts) != 4:
        example = format_position(rules.board, start_fields(rules))
        raise PositionError(
            f"{len(parts)} fields, expected 4 (points, side to move, stones in hand, quiet turns) as in {example!r}"
        )
    points, side, hands, quiet_turns = parts
    white, black = _parse_points(rules.board, points)
    if side not in _SIDES:
        raise PositionError(f"side to move {shorten(side)}, expected w or b")
    return PositionFields(white, black, _SIDES[side], _parse_hands(hands), _parse_number("quiet turns", quiet_turns))


def _parse_points(board: Board, text: str) -> tuple[int, int]:
    """(white, black) masks."""
    rings = text.split("/")
    if len(rings) != len(board.rings):
        raise PositionError(f"{len(rings)} rings, expected {len(board.rings)}, joined by /")
    white = black = point = 0
    for number, (ring, size) in enumerate(zip(rings, board.rings, strict=True), start=1):
        if len(ring) != size:
            raise PositionError(f"ring {number} has {len(ring)} points, expected {size}")
        for letter in ring:
            if letter not in (WHITE_LETTER, BLACK_LETTER, EMPTY_LETTER):
                raise PositionError(
                    f"ring {number} has {letter!r} on {board.points[point]}, expected "
                    f"{WHITE_LETTER}, {BLACK_LETTER} or {EMPTY_LETTER}"
                )
            white |= (letter == WHITE_LETTER) << point
            black |= (letter == BLACK_LETTER) << point
            point += 1
    return white, black


def _parse_hands(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2:
        raise PositionError(f"stones in hand {shorten(text)}, expected two numbers, White's and Black's, such as 9,9")
    white, black = (_parse_number("stones in hand", part) for part in parts)
    return white, black


def _parse_number(what: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise PositionError(f"{what} {shorten(text)}, expected a number of at most nine digits")
    return int(text)


def check_position(rules: Rules, fields: PositionFields) -> None:
    """Refuse what no game can show. :raises PositionError: naming the first fault found.

    A position that merely cannot be reached by play is accepted, also one in which Black must have begun.
    """
    _check_stones(rules, fields)
    _check_hands(fields)
    _check_quiet_turns(rules, fields)


def _check_stones(rules: Rules, fields: PositionFields) -> None:
    board = rules.board
    totals = []
    for side, stones, hand in zip(("White", "Black"), fields[:2], fields.hands, strict=True):
        if stones >> board.n_points:
            raise PositionError(f"{side}'s stones {stones:#x} lie outside the {board.n_points} points of the board")
        if hand < 0:
            raise PositionError(f"{side} has {hand} stones in hand, expected 0 or more")
        totals.append(stones.bit_count() + hand)
        if totals[-1] > rules.stones:
            raise PositionError(
                f"{side} has {stones.bit_count()} stones on the board and {hand} in hand, "
                f"but the rules give {rules.stones}"
            )
    if both := fields.white & fields.black:
        raise PositionError(f"both sides have a stone on {board.points[both.bit_length() - 1]}")
    if max(totals) < LOSING_STONES:
        raise PositionError(
            f"both sides have fewer than {LOSING_STONES} stones on the board and in hand; the game ends with the first"
        )


def _check_hands(fields: PositionFields) -> None:
    if fields.turn not in _SIDES.values():
        raise PositionError(f"side to move {fields.turn!r}, expected 'white' or 'black'")
    white, black = fields.hands
    lead = white - black if fields.turn == "white" else black - white
    if lead not in (0, 1):
        raise PositionError(
            f"{fields.turn.title()} to move with {white},{black} stones in hand, expected as many as the opponent has "
            "or one more: the sides place in turn"
        )


def _check_quiet_turns(rules: Rules, fields: PositionFields) -> None:
    quiet_turns = fields.quiet_turns
    if quiet_turns < 0:
        raise PositionError(f"{quiet_turns} quiet turns, expected 0 or more")
    if quiet_turns and fields.hands != (0, 0):
        raise PositionError(f"{quiet_turns} quiet turns, expected 0 while a stone is in hand")
    if rules.quiet_limit and quiet_turns > rules.quiet_limit:
        raise PositionError(f"{quiet_turns} quiet turns, expected at most the limit of {rules.quiet_limit}")


def format_turn(board: Board, origin: int | None, target: int, taken: tuple[int, ...] = ()) -> str:
    """Turn text from point numbers; ``origin`` None for a placement."""
    move = board.points[target] if origin is None else f"{board.points[origin]}-{board.points[target]}"
    return "x".join([move, *(board.points[p] for p in taken)])


def parse_turn(board: Board, text: str) -> tuple[int | None, int, tuple[int, ...]]:
    """(origin or None, target, stones taken) as point numbers, the inverse of :func:`format_turn`.

    >>> from solver.game.boards import BOARD_24
    >>> parse_turn(BOARD_24, "d7xe3xd2")
    (None, 1, (13, 20))

    :raises IllegalMoveError: for text that names no turn on this board
    """
    move, *taken = text.split("x")
    points = move.split("-")
    if not text or len(points) > 2 or len(taken) > _MAX_TAKEN:
        _refuse_turn(text, "expected a turn such as d6, d6-d7, d7xe3, d6-d7xa4 or d7xd2xe3")
    for name in (*points, *taken):
        if name not in board.point_numbers:
            _refuse_turn(text, f"the board has no point {shorten(name)}")
    *origin, target = (board.point_numbers[name] for name in points)
    return origin[0] if origin else None, target, tuple(sorted(board.point_numbers[name] for name in taken))


def _refuse_turn(text: str, problem: str) -> NoReturn:
    raise IllegalMoveError(f"turn text {shorten(text)}: {problem}")
