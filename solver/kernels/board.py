"""Board tables for the fused loops: mills and slides of a whole side at once.

*Slides.* Number the directed edges of the board; the 24-point board has exactly 64. A set of edges is then one word,
and the legal slides of a side are the edges out of its stones without the edges into occupied points: two look-ups in
byte tables instead of a loop over stones.

*Mills.* Lines inside one byte (all sides of a square) come from byte tables. Lines of the form {p, p+8, p+16} (the
spokes of the 24-point board) come from ``x & x >> 8 & x >> 16``. Whatever other lines a board has are tested one by
one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import ONE, U, by_bytes, byte_table, popcount
from solver.compiled.jit import jit_inner
from solver.game.boards import Board

MAX_DIRECTED_EDGES = 64
_NO_LINE = 1 << 40  # a mask that no set of points contains
_B8, _B16 = U(8), U(16)
_LADDER = U(0x010101)

Words = npt.NDArray[np.uint64]


class BoardTables(NamedTuple):
    """What the kernels know of a board."""

    points: np.uint64  # mask of all points
    neighbours: Words  # (points,)
    lines_through: Words  # (points, most lines through a point): the other two points; padded with an impossible mask
    edges_from: Words  # (768,) by_bytes: directed edges out of the stones
    edges_into: Words  # (768,) by_bytes: directed edges into the points
    edge_points: Words  # (64,) mask of the two ends of a directed edge
    mills_in_byte: Words  # (768,) by_bytes: points in complete lines that lie inside one byte
    closing_in_byte: Words  # (768,) by_bytes: points that would complete such a line
    ladders: np.uint64  # the points p < 8 for which {p, p+8, p+16} is a line
    other_lines: Words  # (k,) masks of all other lines


@lru_cache(maxsize=16)
def board_tables(board: Board) -> BoardTables:
    """The tables of ``board``. :raises ValueError: for a board whose slides do not fit into one word."""
    directed = [*board.edges, *((b, a) for a, b in board.edges)]
    if len(directed) > MAX_DIRECTED_EDGES:
        raise ValueError(
            f"board {board.name!r} has {len(board.edges)} edges; the solver takes at most {MAX_DIRECTED_EDGES // 2}"
        )
    n = board.n_points
    edges_from, edges_into = [0] * n, [0] * n
    edge_points = np.zeros(MAX_DIRECTED_EDGES, np.uint64)
    for e, (a, b) in enumerate(directed):
        edges_from[a] |= 1 << e
        edges_into[b] |= 1 << e
        edge_points[e] = 1 << a | 1 << b
    width = max(1, *(len(lines) for lines in board.lines_through))
    lines_through = np.full((n, width), _NO_LINE, np.uint64)
    for p, lines in enumerate(board.lines_through):
        for k, line in enumerate(lines):
            lines_through[p, k] = line & ~(1 << p)
    in_byte = [line for line in board.line_masks if any(line & 255 << 8 * k == line for k in range(3))]
    ladders = [p for p in range(8) if _ladder(p) in board.line_masks]
    other = [line for line in board.line_masks if line not in in_byte and line not in map(_ladder, ladders)]
    return BoardTables(
        points=U((1 << n) - 1),
        neighbours=np.array(board.neighbours, np.uint64),
        lines_through=lines_through,
        edges_from=byte_table(edges_from),
        edges_into=byte_table(edges_into),
        edge_points=edge_points,
        mills_in_byte=_mill_bytes(in_byte),
        closing_in_byte=_closing_bytes(in_byte),
        ladders=U(sum(1 << p for p in ladders)),
        other_lines=np.array(other, np.uint64),
    )


def _ladder(p: int) -> int:
    return 0x010101 << p


def _mill_bytes(lines: list[int]) -> Words:
    table = np.zeros(768, np.uint64)
    for k in range(3):
        for byte in range(256):
            for line in lines:
                if line & ~(byte << 8 * k) == 0:
                    table[k * 256 + byte] |= U(line)
    return table


def _closing_bytes(lines: list[int]) -> Words:
    table = np.zeros(768, np.uint64)
    for k in range(3):
        for byte in range(256):
            for line in lines:
                missing = line & ~(byte << 8 * k)
                if line & 255 << 8 * k == line and missing.bit_count() == 1:
                    table[k * 256 + byte] |= U(missing)
    return table


@jit_inner
def stones_in_mills(board, stones):
    """The stones that stand in at least one mill of their own side."""
    ladder = stones & (stones >> _B8) & (stones >> _B16) & board.ladders
    mills = by_bytes(board.mills_in_byte, stones) | (ladder * _LADDER)
    for k in range(board.other_lines.size):
        line = board.other_lines[k]
        if stones & line == line:
            mills |= line
    return mills


@jit_inner
def removable(board, stones):
    """The stones that the opponent may take: those in no mill or, if all stand in mills, any."""
    outside = stones & ~stones_in_mills(board, stones)
    return outside if outside else stones


@jit_inner
def closing_points(board, stones):
    """The points that would complete a mill of ``stones`` (occupied ones not excluded)."""
    inner, middle, outer = stones & board.ladders, (stones >> _B8) & board.ladders, (stones >> _B16) & board.ladders
    points = by_bytes(board.closing_in_byte, stones)
    points |= (middle & outer) | ((inner & outer) << _B8) | ((inner & middle) << _B16)
    for k in range(board.other_lines.size):
        missing = board.other_lines[k] & ~stones
        if popcount(missing) == ONE:
            points |= missing
    return points


@jit_inner
def mills_through(board, stones, point):
    """How many complete lines of ``stones`` run through ``point``."""
    count = 0
    for k in range(board.lines_through.shape[1]):
        line = board.lines_through[point, k]
        if stones & line == line:
            count += 1
    return count


@jit_inner
def slides_out_of(board, movers, occupied):
    """Directed edges from the stones ``movers`` to empty points."""
    return by_bytes(board.edges_from, movers) & ~by_bytes(board.edges_into, occupied)


@jit_inner
def lowest(mask):
    """The lowest set bit of a nonzero mask, as a mask."""
    return mask & (~mask + ONE)


@jit_inner
def targets_of(board, point, empty, flies):
    """The empty points that a stone on ``point`` may move to (or may have come from: moves are symmetric)."""
    return empty if flies else board.neighbours[point] & empty
