"""The legal turns of one position, for compiled code: placing, sliding, flying, mills, removals.

This is the *plain* generator. The fused loops under ``kernels`` never ask it; the verifier and the forward search do,
as a witness that shares nothing with those loops. So it prefers loops that read like the rules to bit tricks.

A position is seen by the player to move: ``own`` and ``opponent`` stones as masks, and the mover's stones in hand. A
turn is a row of four small integers::

    origin   point that the stone leaves, NONE for a placement
    target   point that it is placed on or moved to
    taken    opponent stone that is removed, NONE without a mill
    second   second stone removed by a double mill, or NONE; its number is larger than that of ``taken``

Whether the game is over is not asked here: a player with two stones still gets turns. See :func:`is_lost_by_stones`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import ONE, U, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.game.boards import MAX_POINTS
from solver.game.rules import FLYING_STONES, LOSING_STONES, Rules

NONE = -1
"""Stands for a point that a turn does not have."""

TURN_FIELDS = 4

MAX_TURNS = 6 * 6 * (12 * 11 // 2)
"""No position has more turns.

With ``e`` empty points and ``s`` own and ``t`` opponent stones there are at most ``s * e`` moves (or ``e`` placements),
each with at most ``max(t, t * (t - 1) / 2)`` choices of stones to take. With ``s + e + t <= 24`` points the product is
largest at ``s = e = 6`` and ``t = 12``.
"""
assert MAX_POINTS == 24, "MAX_TURNS counts on it"

_NO_LINE = 1 << 40  # a mask that no set of points contains

Words = npt.NDArray[np.uint64]


class MoveTables(NamedTuple):
    """What the generator knows of a rule set."""

    points: np.uint64  # mask of all points
    neighbours: Words  # (points,) mask of the neighbours of each point
    partners: Words  # (points, most lines through a point): the other two points of each line; padded with _NO_LINE
    lines: Words  # (lines,) mask of each mill line
    flying: bool
    double_mill: int  # stones taken by a turn that completes two mills


@lru_cache(maxsize=64)
def move_tables(rules: Rules) -> MoveTables:
    """The tables for ``rules``."""
    board = rules.board
    width = max([1, *map(len, board.lines_through)])
    partners = np.full((board.n_points, width), _NO_LINE, np.uint64)
    for point, lines in enumerate(board.lines_through):
        for k, line in enumerate(lines):
            partners[point, k] = line & ~(1 << point)
    return MoveTables(
        points=U((1 << board.n_points) - 1),
        neighbours=np.array(board.neighbours, np.uint64),
        partners=partners,
        lines=np.array(board.line_masks, np.uint64),
        flying=rules.flying,
        double_mill=rules.double_mill,
    )


@jit
def is_lost_by_stones(stones, hand):
    """Whether a player with these stones on the board and in hand has too few to go on."""
    return popcount(U(stones)) + U(hand) < U(LOSING_STONES)


@jit_inner
def _mills_through(tables, stones, point):
    """How many mills a stone on ``point`` completes beside ``stones``."""
    count = 0
    for k in range(tables.partners.shape[1]):
        others = tables.partners[point, k]
        if stones & others == others:
            count += 1
    return count


@jit_inner
def _takeable(tables, stones):
    """The stones that may be taken: those that stand in no mill or, where all do, any."""
    outside = stones
    for k in range(tables.lines.size):
        line = tables.lines[k]
        if stones & line == line:
            outside &= ~line
    return outside if outside else stones


@jit_inner
def _may_take_both(tables, stones, first, second):
    """Whether two stones, given as masks, may be taken one after the other, in one order or the other."""
    takeable = _takeable(tables, stones)
    return bool(
        (takeable & first and _takeable(tables, stones & ~first) & second)
        or (takeable & second and _takeable(tables, stones & ~second) & first)
    )


@jit_inner
def _first_point(mask):
    """The lowest point of a nonzero mask, as a signed number: NONE is one too."""
    return np.int64(trailing_zeros(mask))


@jit_inner
def _write(turns, n, origin, target, taken, second):
    turns[n, 0] = origin
    turns[n, 1] = target
    turns[n, 2] = taken
    turns[n, 3] = second
    return n + 1


@jit_inner
def _add_single_removals(tables, opponent, origin, target, turns, n):
    left = _takeable(tables, opponent)
    while left:
        n = _write(turns, n, origin, target, _first_point(left), NONE)
        left &= left - ONE
    return n


@jit_inner
def _add_double_removals(tables, opponent, origin, target, turns, n):
    left = opponent
    while left:
        taken = _first_point(left)
        left &= left - ONE
        partners = left
        while partners:
            second = _first_point(partners)
            partners &= partners - ONE
            if _may_take_both(tables, opponent, ONE << U(taken), ONE << U(second)):
                n = _write(turns, n, origin, target, taken, second)
    return n


@jit_inner
def _add_turns(tables, stones, opponent, origin, targets, turns, n):
    """Add the turns that bring one more stone beside ``stones`` to each of ``targets``; returns their number so far."""
    while targets:
        target = _first_point(targets)
        targets &= targets - ONE
        mills = _mills_through(tables, stones, target)
        removals = min(mills, tables.double_mill, np.int64(popcount(opponent)))
        if removals == 0:
            n = _write(turns, n, origin, target, NONE, NONE)
        elif removals == 1:
            n = _add_single_removals(tables, opponent, origin, target, turns, n)
        else:
            n = _add_double_removals(tables, opponent, origin, target, turns, n)
    return n


@jit
def legal_turns(tables, own, opponent, hand, turns):
    """Write the legal turns of the player to move into ``turns``, int8 (MAX_TURNS, 4); returns their number.

    They come in ascending order of origin, target, and stones taken.
    """
    stones, others = U(own), U(opponent)
    empty = tables.points & ~(stones | others)
    if hand > 0:
        return _add_turns(tables, stones, others, NONE, empty, turns, 0)
    flies = tables.flying and popcount(stones) == U(FLYING_STONES)
    n = 0
    left = stones
    while left:
        origin = _first_point(left)
        left &= left - ONE
        targets = empty if flies else empty & tables.neighbours[origin]
        n = _add_turns(tables, stones & ~(ONE << U(origin)), others, origin, targets, turns, n)
    return n


@jit
def stones_after(own, opponent, turn):
    """(mover's stones, opponent's stones) after ``turn``, one row of :func:`legal_turns`."""
    stones, others = U(own), U(opponent)
    if turn[0] != NONE:
        stones &= ~(ONE << U(turn[0]))
    stones |= ONE << U(turn[1])
    for k in range(2, TURN_FIELDS):
        if turn[k] != NONE:
            others &= ~(ONE << U(turn[k]))
    return stones, others


@jit
def successors(tables, own, opponent, hand, out_own, out_opponent):
    """Write the stones after each legal turn, still as (mover, opponent), uint64 (MAX_TURNS,); returns their number."""
    turns = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    n = legal_turns(tables, own, opponent, hand, turns)
    for k in range(n):
        out_own[k], out_opponent[k] = stones_after(own, opponent, turns[k])
    return n
