"""All turns of many positions at once, and one representative of each class of positions under the symmetries.

For whatever walks through the game layer by layer: the forward search and the opening book. It uses the plain move
generator.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U, by_bytes
from solver.compiled.jit import jit
from solver.game.boards import Board
from solver.game.movegen import MAX_TURNS, TURN_FIELDS, legal_turns, move_tables, stones_after
from solver.game.rules import Rules
from solver.indexing.ranks import Masks
from solver.indexing.rows import symmetry_tables

_BLACK_SHIFT = U(24)
_WHITE = U((1 << 24) - 1)


class Expansion(NamedTuple):
    """The turns of n positions, m in all; those of position i are ``start[i]`` to ``start[i + 1] - 1``."""

    start: npt.NDArray[np.int64]  # (n + 1,)
    turns: npt.NDArray[np.int8]  # (m, 4): see movegen
    own: Masks  # (m,) stones of the player who made the turn, after it
    opponent: Masks  # (m,)


def count_turns(rules: Rules, own: Masks, opponent: Masks, hand: int) -> npt.NDArray[np.int64]:
    """How many turns each position has. own, opponent: masks, shape (n,); hand: the mover's stones in hand."""
    counts = np.empty(len(own), np.int64)
    _count(move_tables(rules), own, opponent, hand, counts)
    return counts


def expand(rules: Rules, own: Masks, opponent: Masks, hand: int, counts: npt.NDArray[np.int64]) -> Expansion:
    """The turns of positions; ``counts`` as :func:`count_turns` says."""
    start = np.zeros(len(own) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    total = int(start[-1])
    expansion = Expansion(
        start, np.empty((total, TURN_FIELDS), np.int8), np.empty(total, np.uint32), np.empty(total, np.uint32)
    )
    _fill(move_tables(rules), own, opponent, hand, expansion)
    return expansion


class Classes(NamedTuple):
    """The classes among many positions."""

    white: Masks  # (classes,) of the representative: the image with the smallest white | black << 24
    black: Masks  # (classes,)
    number: npt.NDArray[np.int64]  # (positions,) the class of each position


def classes_of(board: Board, white: Masks, black: Masks) -> Classes:
    """One representative of each class of positions under the symmetries of the board. Shapes (n,)."""
    keys = np.empty(len(white), np.uint64)
    _fill_keys(symmetry_tables(board).images, white, black, keys)
    unique, number = np.unique(keys, return_inverse=True)
    return Classes((unique & _WHITE).astype(np.uint32), (unique >> _BLACK_SHIFT).astype(np.uint32), number)


@jit
def _count(tables, own, opponent, hand, counts):
    turns = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    for i in range(own.size):
        counts[i] = legal_turns(tables, own[i], opponent[i], hand, turns)


@jit
def _fill(tables, own, opponent, hand, out):
    turns = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
    n = 0
    for i in range(own.size):
        for k in range(legal_turns(tables, own[i], opponent[i], hand, turns)):
            out.turns[n] = turns[k]
            out.own[n], out.opponent[n] = stones_after(own[i], opponent[i], turns[k])
            n += 1


@jit
def _fill_keys(images, white, black, keys):
    for i in range(keys.size):
        best = ~U(0)
        for g in range(images.shape[0]):
            best = min(best, by_bytes(images[g], U(white[i])) | by_bytes(images[g], U(black[i])) << _BLACK_SHIFT)
        keys[i] = best
