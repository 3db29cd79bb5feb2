"""The placing phase: value every position of a subspace by the layer after it, with forward look-ups only.

White is the row side. A placement by White leads from row to row, one class look-up for all columns. A placement by
Black stays in the row; columns after it without a mill are *pulled* through an index table that all rows share, the
few with a mill are *pushed* to the columns before, each stone by what taking it back undoes.

Scores are those of ``initialise``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.bitboard import ONE, ZERO, U, compress, expand, trailing_zeros
from solver.indexing import ClassTable, ColumnTable, RankTable, SymmetryTables, class_and_symmetry, rank
from solver.jit import jit, jit_inner
from solver.kernels.board import BoardTables, lowest, mills_through, removable, stones_in_mills
from solver.kernels.initialise import raise_scores, score_removals
from solver.kernels.tables import Codes, image_of

TABLE, WON, LAPSES = 0, 1, 2
"""What a removal leads to: positions of a table, the end of the game, or nothing, since there is no stone to take."""


class Index(NamedTuple):
    """The index of one subspace, for kernels."""

    board: BoardTables
    symmetries: SymmetryTables
    rows: ClassTable
    columns: ColumnTable


class Removals(NamedTuple):
    """Where Black's placements lead that take white stones."""

    kind: int
    taken: int  # stones taken, 1 or 2
    plane: Codes  # (rows, columns), White to move
    rows: ClassTable
    ranks: RankTable


@jit
def fill_after_placement(subsets, ranks, free, out):
    """out[c]: the columns that column c becomes when a stone is put on one of its ``free - stones`` empty points."""
    everything = (ONE << U(free)) - ONE
    for c in range(subsets.size):
        z = U(subsets[c])
        empty = everything & ~z
        n = 0
        while empty:
            point = lowest(empty)
            empty ^= point
            out[c, n] = rank(ranks, z | point)
            n += 1


@jit_inner
def _write_codes(scores, book, values):
    for c in range(scores.size):
        score = int(scores[c])
        if score > book.draw_score:
            values[c] = 2 * (book.top_score - score)
        elif score == book.draw_score:
            values[c] = 0
        else:
            values[c] = max(2 * score - 1, 1)


@jit
def place_white(first, last, index, after, book, quiet, one, two, values):
    """White to place. quiet, one, two: scores (rows after, stride) after no, one and two mills; values: codes out."""
    columns = index.columns.subsets.size
    scores = np.empty(columns, quiet.dtype)
    expanded = np.empty(columns, np.uint32)
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        free = index.board.points & ~stones
        for c in range(columns):
            expanded[c] = expand(U(index.columns.subsets[c]), free)
        scores[:] = 0
        empty = free
        while empty:
            target = trailing_zeros(empty)
            empty &= empty - ONE
            row_after, symmetry = class_and_symmetry(after.rows, stones | (ONE << target))
            free_after = index.board.points & ~U(after.rows.representatives[row_after])
            mills = mills_through(index.board, stones | (ONE << target), target)
            plane = quiet if mills == 0 else one if mills == 1 else two
            image = index.symmetries.images[symmetry]
            raise_scores(image, after.columns.ranks, expanded, target, free_after, plane[row_after], scores)
        _write_codes(scores, book, values[row])


@jit
def place_black(first, last, index, after, successors, book, quiet, one, two, values):
    """Black to place.

    after: ColumnTable with one stone more; successors: from ``fill_after_placement``; quiet: scores (rows, stride) of
    turns without a mill; one, two: Removals after one and two mills; values: codes out.
    """
    columns, columns_after = index.columns.subsets.size, after.subsets.size
    scores = np.empty(columns, quiet.dtype)
    loose = np.empty(columns_after, quiet.dtype)  # scores of the columns without a mill, else 0
    mill_columns = np.empty(columns_after, np.uint32)  # numbers of those with a mill
    mill_stones = np.empty(columns_after, np.uint32)  # their expanded masks
    scores_one = np.empty(columns_after, quiet.dtype)
    scores_two = np.empty(columns_after, quiet.dtype)
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        free = index.board.points & ~stones
        n = 0
        for c in range(columns_after):
            black = expand(U(after.subsets[c]), free)
            has_mill = stones_in_mills(index.board, black) != ZERO
            loose[c] = 0 if has_mill else quiet[row, c]
            mill_columns[n] = c
            mill_stones[n] = black
            n += 1 if has_mill else 0
        for c in range(columns):
            score = loose[U(successors[c, 0])]
            for k in range(1, successors.shape[1]):
                score = max(score, loose[U(successors[c, k])])
            scores[c] = score
        _score_mills(index, book, one, stones, quiet[row], mill_columns[:n], mill_stones[:n], scores_one)
        _score_mills(index, book, two, stones, quiet[row], mill_columns[:n], mill_stones[:n], scores_two)
        for k in range(n):
            c = mill_columns[k]
            _push_back(index, free, U(mill_stones[k]), quiet[row, c], scores_one[k], scores_two[k], scores)
        _write_codes(scores, book, values[row])


@jit_inner
def _score_mills(index, book, removals, white, quiet, mill_columns, mill_stones, scores):
    """scores[k]: best outcome for Black of taking white stones after mill_stones[k]."""
    for k in range(mill_columns.size):
        if removals.kind == WON:
            scores[k] = book.score_of_code[1]
        elif removals.kind == LAPSES:
            scores[k] = quiet[mill_columns[k]]
        else:
            scores[k] = 0
    if removals.kind == TABLE:
        if removals.taken == 1:
            score_removals(index, removals, book, white, mill_stones, scores)
        else:
            first = removable(index.board, white)
            while first:
                stone = lowest(first)
                first ^= stone
                score_removals(index, removals, book, white ^ stone, mill_stones, scores)


@jit_inner
def _push_back(index, free, black, quiet, one, two, scores):
    """Take each stone of a column with a mill back and give the column before the score of that placement."""
    mills = stones_in_mills(index.board, black)
    left = black
    while left:
        point = trailing_zeros(left)
        left &= left - ONE
        score = quiet
        if (mills >> point) & ONE:
            score = one if mills_through(index.board, black, point) == 1 else two
        c = rank(index.columns.ranks, compress(black & ~(ONE << point), free))
        scores[c] = max(scores[c], score)


@jit
def transpose(first, last, index, source, plane, out):
    """out[row, column] = the value of the same position in ``plane``, whose rows are the other side's stones.

    index: Index of ``out``; source: Index of ``plane``.
    """
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        free = index.board.points & ~stones
        for c in range(index.columns.subsets.size):
            other = expand(U(index.columns.subsets[c]), free)
            row_there, symmetry = class_and_symmetry(source.rows, other)
            free_there = index.board.points & ~U(source.rows.representatives[row_there])
            image = compress(image_of(index.symmetries, symmetry, stones), free_there)
            out[row, c] = plane[row_there, rank(source.columns.ranks, image)]
