"""The records that the moving-phase kernels work on. They hold arrays and flags only; ``solving.moving`` fills them.

Shapes: R rows, C columns of the pair being solved; S its stride, the columns of a row padded with zeros to a multiple
of 64 values and to at least C + 1. Column C of each row is a *dummy*: branch-free loops send there what has no
target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import ONE, U, by_bytes, compress, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.columns import ColumnTable
from solver.indexing.ranks import RankTable, rank
from solver.indexing.rows import ClassTable, SymmetryTables, class_and_symmetry
from solver.kernels.board import BoardTables, mills_through, targets_of

Codes = npt.NDArray[np.unsignedinteger]


def stride_of(columns: int) -> int:
    """Padded length of a row: a multiple of 64 with room for the dummy column."""
    return (columns + 64) // 64 * 64


class RowMoves(NamedTuple):
    """Moves of the row side from each row, all of one kind; the moves of row r are start[r] .. start[r + 1] - 1."""

    start: npt.NDArray[np.int64]  # (R + 1,)
    row: npt.NDArray[np.uint32]  # row that the move leads to
    symmetry: npt.NDArray[np.uint8]  # maps the stones after the move to the representative of that row
    origin: npt.NDArray[np.uint8]  # point that the stone leaves
    target: npt.NDArray[np.uint8]  # point that it moves to


class Pair(NamedTuple):
    """A moving pair: its index and the moves of its row side."""

    board: BoardTables
    symmetries: SymmetryTables
    rows: ClassTable
    stabilised: npt.NDArray[np.bool_]  # (R,) whether a symmetry other than the identity keeps the row's stones
    columns: ColumnTable
    quiet: RowMoves
    closing: RowMoves  # moves that complete a mill
    column_flies: bool
    edge_bits: npt.NDArray[np.uint32]  # (R, 64) the two ends of a directed edge, compressed to the row's free points


class RowCaptures(NamedTuple):
    """Where the row side's captures lead: same rows, one column stone less, column side to move."""

    finished: bool  # the column side keeps two stones: the game is over
    plane: Codes  # (R, stride)
    columns: int
    ranks: RankTable
    without: npt.NDArray[np.unsignedinteger]  # (C, stones) column after taking the k-th stone


class ColumnCaptures(NamedTuple):
    """Where the column side's captures lead: one row stone less, row side to move."""

    plane: Codes  # (rows of the smaller pair, stride)
    rows: ClassTable
    ranks: RankTable


class CodeBook(NamedTuple):
    """How values, successor counts and scores share small integers (see ``solving.moving``)."""

    first_count: int  # larger values are successor counts; first_count itself is a count that has just reached zero
    never: int  # this position can no longer be lost
    draw_score: int
    top_score: int
    score_of_code: Codes  # score, for the side that made the capture, of the value after it
    code_of_score: Codes  # code of the position whose best turn has the score
    loss_step: int  # from the code of a win to that of the loss one ply before
    lanes: npt.NDArray[np.uint64]  # constants for scanning several values a word: ones, low bits, bits, log2 bits


class Side(NamedTuple):
    """One plane while it is being solved."""

    values: Codes  # (R, S)
    words: npt.NDArray[np.uint64]  # the same memory, several values a word
    pending: npt.NDArray[np.uint64]  # (R, 4): bit (code & 255) is set if the row may hold that code
    worst_capture: Codes  # (R,) an upper bound of the codes of losses by capture in the row


@jit
def enumerate_row_moves(board, rows, flies, out_from, out_row, out_symmetry, out_points, out_closing):
    """All moves of the row side against an empty board; returns their number. out_points: (moves, 2) origin, target."""
    n = 0
    for r in range(rows.representatives.size):
        stones = U(rows.representatives[r])
        empty = board.points & ~stones
        left = stones
        while left:
            origin = trailing_zeros(left)
            left &= left - ONE
            targets = targets_of(board, origin, empty, flies)
            while targets:
                target = trailing_zeros(targets)
                targets &= targets - ONE
                after = (stones & ~(ONE << origin)) | (ONE << target)
                row, symmetry = class_and_symmetry(rows, after)
                out_from[n] = r
                out_row[n] = row
                out_symmetry[n] = symmetry
                out_points[n, 0] = origin
                out_points[n, 1] = target
                out_closing[n] = mills_through(board, after, target) > 0
                n += 1
    return n


@jit
def fill_edge_bits(board, representatives, out):
    """out[r, e]: edge_points[e] compressed to the free points of row r (ends that are not free are left out)."""
    for r in range(representatives.size):
        free = board.points & ~U(representatives[r])
        for e in range(board.edge_points.size):
            out[r, e] = compress(board.edge_points[e] & free, free)


@jit
def fill_without(subsets, ranks, out):
    """out[c, k]: the column among one stone fewer that is left when the k-th stone of column c is taken."""
    for c in range(subsets.size):
        z = U(subsets[c])
        stones = z
        n = 0
        while stones:
            stone = ONE << trailing_zeros(stones)
            stones ^= stone
            left = z ^ stone
            out[c, n] = rank(ranks, left)
            n += 1


@jit_inner
def image_of(symmetries, g, mask):
    """The image of ``mask`` under symmetry ``g``."""
    return by_bytes(symmetries.images[g], mask)
