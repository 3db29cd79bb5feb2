"""The placing phase: value every position of a subspace by the layer after it, with forward look-ups only.

White is the row side. A placement by White leads from row to row: one class look-up and one *renaming* of the free
points for all columns. A placement by Black stays in the row; columns after it without a mill are *pulled* through an
index table that all rows share, the few with a mill are *pushed* to the columns before, each stone by what taking it
back undoes.

All masks of columns stay compressed to the free points of their row. Where a symmetry leads to another row, the new
mask is the union of the images of single points, so it is looked up in two parts, as the rank is (``fill_images``).
Mills of a row's columns are found line by line for many columns at once, which processors do eight or sixteen at a
time. Scores are those of ``initialise``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.compiled.bitboard import ONE, ZERO, U, by_bytes, compress, expand, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.columns import ColumnTable
from solver.indexing.ranks import BINOMIALS, LOW_BITS, Masks, RankTable, rank
from solver.indexing.rows import ClassTable, SymmetryTables, class_and_symmetry, unpack_class
from solver.kernels.board import BoardTables, lowest, mills_through, removable
from solver.kernels.tables import Codes, image_of

TABLE, WON, LAPSES, AS_ONE = 0, 1, 2, 3
"""What removals lead to: positions of a table, the end of the game, nothing, since there is no stone to take, or for
two mills at once to what one mill leads to."""

_LOW, _SHIFT = U((1 << LOW_BITS) - 1), U(LOW_BITS)


class Index(NamedTuple):
    """The index of one subspace, for kernels."""

    board: BoardTables
    lines: Masks  # (lines,) all mill lines
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


@jit
def fill_columns_without(subsets, out):
    """out[k]: the columns that have no stone on the k-th free point, ascending."""
    for k in range(out.shape[0]):
        n = 0
        for c in range(subsets.size):
            if not (U(subsets[c]) >> U(k)) & ONE:
                out[k, n] = c
                n += 1


@jit
def fill_scores(first, last, book, codes, scores):
    """Fill ``scores`` with ``codes`` of a plane as scores for the side that has just moved."""
    for row in range(first, last):
        for c in range(scores.shape[1]):
            scores[row, c] = book.score_of_code[codes[row, c]]


@jit_inner
def fill_images(image, free, free_after, low, high):
    """Fill ``low``, ``high``: a mask z compressed to ``free`` becomes ``low[z & 511] | high[z >> 9]``.

    image: byte table of a symmetry; free_after: the points that the new mask is compressed to. Points that the
    symmetry maps elsewhere vanish.
    """
    low[0] = high[0] = 0
    k = ZERO
    while free:
        point = lowest(free)
        free ^= point
        bit = compress(by_bytes(image, point), free_after)
        if k < _SHIFT:
            low[ONE << k] = bit
        else:
            high[ONE << (k - _SHIFT)] = bit
        k += ONE
    for part in range(3, low.size):
        low[part] = low[part & (part - 1)] | low[part & -part]
    for part in range(3, high.size):
        high[part] = high[part & (part - 1)] | high[part & -part]


@jit_inner
def _renamed(low, high, z):
    return U(low[z & _LOW]) | U(high[z >> _SHIFT])


@jit_inner
def _write_codes(scores, book, values):
    for c in range(scores.size):
        values[c] = book.code_of_score[scores[c]]


@jit
def place_white(first, last, index, after, without, book, quiet, one, two, values):
    """White to place.

    without: (free, columns without a stone on one point) from ``fill_columns_without``; quiet, one, two: scores (rows
    after, stride) after no, one and two mills; values: codes out.
    """
    scores = np.empty(index.columns.subsets.size, quiet.dtype)
    places = np.empty(without.shape[1], np.uint32)
    low = np.zeros(index.columns.ranks.low.size, np.uint32)
    high = np.zeros(index.columns.ranks.high.size, np.uint32)
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        free = index.board.points & ~stones
        scores[:] = 0
        empty = free
        k = 0
        while empty:
            target = trailing_zeros(empty)
            empty &= empty - ONE
            row_after, symmetry = class_and_symmetry(after.rows, stones | (ONE << target))
            free_after = index.board.points & ~U(after.rows.representatives[row_after])
            fill_images(index.symmetries.images[symmetry], free, free_after, low, high)
            mills = mills_through(index.board, stones | (ONE << target), target)
            plane = quiet if mills == 0 else one if mills == 1 else two
            for i in range(places.size):
                z = U(index.columns.subsets[without[k, i]])
                places[i] = rank(after.columns.ranks, _renamed(low, high, z))
            _raise_scores(without[k], places, plane[row_after], scores)
            k += 1
        _write_codes(scores, book, values[row])


@jit_inner
def _raise_scores(columns, places, scores_after, scores):
    """scores[c] = max(scores[c], score of the column that c becomes), for the listed columns."""
    for i in range(columns.size):
        c = columns[i]
        scores[c] = max(scores[c], scores_after[places[i]])


@jit
def place_black(first, last, index, after, successors, book, quiet, one, two, values):
    """Black to place.

    after: ColumnTable with one stone more; successors: from ``fill_after_placement``; quiet: codes (rows, columns
    after) of turns without a mill; one, two: Removals after one and two mills; values: codes out.
    """
    columns_after = after.subsets.size
    scores = np.empty(index.columns.subsets.size, values.dtype)
    quiet_scores = np.empty(columns_after, values.dtype)
    loose = np.empty(columns_after, values.dtype)  # scores of the columns without a mill, else 0
    scores_one = np.empty(columns_after, values.dtype)
    scores_two = np.empty(columns_after, values.dtype)
    mills = np.empty(columns_after, np.uint32)  # points in a mill
    crossings = np.empty(columns_after, np.uint32)  # points where two mills meet
    listed = np.empty(columns_after, np.uint32)
    scratch = (
        np.zeros(after.ranks.low.size, np.uint32),
        np.zeros(after.ranks.high.size, np.uint32),
        np.empty(columns_after, np.uint32),
    )
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        _find_mills(index.lines, index.board.points & ~stones, after.subsets, mills, crossings)
        if two.kind == AS_ONE:
            crossings[:] = 0
        for c in range(columns_after):
            score = book.score_of_code[quiet[row, c]]
            quiet_scores[c] = score
            loose[c] = 0 if mills[c] else score
        _pull(successors, loose, scores)
        n = _list_nonzero(crossings, listed)
        _score_removals(index, book, two, stones, after.subsets, listed[:n], quiet_scores, scratch, scores_two)
        n = _list_nonzero(mills, listed)
        _score_removals(index, book, one, stones, after.subsets, listed[:n], quiet_scores, scratch, scores_one)
        for k in range(n):
            c = listed[k]
            z, in_mill, crossing = U(after.subsets[c]), U(mills[c]), U(crossings[c])
            _push(index.columns.ranks, z, z & ~in_mill, quiet_scores[c], scores)
            _push(index.columns.ranks, z, in_mill & ~crossing, scores_one[c], scores)
            _push(index.columns.ranks, z, crossing, scores_two[c], scores)
        _write_codes(scores, book, values[row])


@jit_inner
def _find_mills(lines, free, subsets, mills, crossings):
    """mills[c]: the stones of column c in a mill; crossings[c]: those in more than one."""
    mills[:] = 0
    crossings[:] = 0
    for k in range(lines.size):
        line = U(lines[k])
        if line & ~free == ZERO:
            mask = np.uint32(compress(line, free))
            for c in range(subsets.size):
                hit = mask if subsets[c] & mask == mask else np.uint32(0)
                crossings[c] |= mills[c] & hit
                mills[c] |= hit


@jit_inner
def _pull(successors, scores_after, scores):
    """scores[c] = the best score of the columns that column c becomes."""
    for c in range(scores.size):
        score = scores_after[successors[c, 0]]
        for k in range(1, successors.shape[1]):
            score = max(score, scores_after[successors[c, k]])
        scores[c] = score


@jit_inner
def _list_nonzero(masks, listed):
    """List the columns with a nonzero mask; returns how many."""
    n = 0
    for c in range(masks.size):
        listed[n] = c
        n += 1 if masks[c] else 0
    return n


@jit_inner
def _score_removals(index, book, removals, white, subsets, columns, quiet_scores, scratch, scores):
    """scores[c]: best outcome for Black of taking white stones, for the listed columns."""
    for k in range(columns.size):
        if removals.kind == WON:
            scores[columns[k]] = book.score_of_code[1]
        elif removals.kind == LAPSES:
            scores[columns[k]] = quiet_scores[columns[k]]
        else:
            scores[columns[k]] = 0
    if removals.kind == TABLE:
        first = removable(index.board, white)
        while first:
            stone = lowest(first)
            first ^= stone
            if removals.taken == 1:
                _take(index, book, removals, white, white ^ stone, subsets, columns, scratch, scores)
            else:  # the second removal is judged on the board after the first
                second = removable(index.board, white ^ stone)
                while second:
                    other = lowest(second)
                    second ^= other
                    _take(index, book, removals, white, white ^ stone ^ other, subsets, columns, scratch, scores)


@jit_inner
def _take(index, book, removals, white, left, subsets, columns, scratch, scores):
    """Raise scores[c] to the outcome of leaving White the stones ``left``, for the listed columns."""
    row, symmetry = class_and_symmetry(removals.rows, left)
    free_there = index.board.points & ~U(removals.rows.representatives[row])
    low, high, places = scratch
    fill_images(index.symmetries.images[symmetry], index.board.points & ~white, free_there, low, high)
    values = removals.plane[row]
    for k in range(columns.size):
        places[k] = rank(removals.ranks, _renamed(low, high, U(subsets[columns[k]])))
    for k in range(columns.size):
        c = columns[k]
        scores[c] = max(scores[c], book.score_of_code[values[places[k]]])


@jit_inner
def _push(ranks, z, stones, score, scores):
    """Raise the score of the columns before: those of column ``z`` without one of ``stones``."""
    while stones:
        stone = lowest(stones)
        stones ^= stone
        c = rank(ranks, z ^ stone)
        scores[c] = max(scores[c], score)


@jit
def transpose(first, last, index, source, plane, out):
    """out[row, column] = the value of the same position in ``plane``, whose rows are the other side's stones.

    index: Index of ``out``; source: Index of ``plane``. All places of a row are found before any value is read: in a
    loop of their own the reads, most of which miss every cache, overlap. That made it three times as fast.
    """
    columns = index.columns.subsets.size
    rows_there, columns_there = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    low = np.zeros(index.columns.ranks.low.size, np.uint32)
    high = np.zeros(index.columns.ranks.high.size, np.uint32)
    images = np.empty(index.symmetries.images.shape[0], np.uint32)
    for row in range(first, last):
        stones = U(index.rows.representatives[row])
        _fill_board_ranks(index.columns.subsets, index.board.points & ~stones, low, high)
        for g in range(images.size):
            images[g] = image_of(index.symmetries, g, stones)
        for c in range(columns):
            z = U(index.columns.subsets[c])
            row_there, g = unpack_class(source.rows.packed[U(low[z & _LOW]) + U(high[z >> _SHIFT])])
            free_there = index.board.points & ~U(source.rows.representatives[row_there])
            rows_there[c] = row_there
            columns_there[c] = rank(source.columns.ranks, compress(U(images[g]), free_there))
        for c in range(columns):
            out[row, c] = plane[rows_there[c], columns_there[c]]


@jit_inner
def _fill_board_ranks(subsets, free, low, high):
    """Fill tables with the rank on the board, ``low[z & 511] + high[z >> 9]``, of masks z compressed to ``free``.

    subsets: masks of the number of stones that the rank is for. The p-th stone from below adds C(its point, p); so a
    low part counts from one, and a high part on from the stones that the low part must have.
    """
    stones = np.int64(popcount(U(subsets[0])))
    for part in range(1, min(low.size, np.int64(ONE << popcount(free)))):
        rest, highest = part, 0
        while rest > 1:
            rest >>= 1
            highest += 1
        point = np.int64(trailing_zeros(expand(ONE << U(highest), free)))
        low[part] = low[part ^ (1 << highest)] + BINOMIALS[point, np.int64(popcount(U(part)))]
    for part in range(1, high.size):
        order = stones - np.int64(popcount(U(part))) + 1
        if order > 0:  # else it has too many stones
            point = np.int64(trailing_zeros(expand(U(part & -part) << _SHIFT, free)))
            high[part] = high[part & (part - 1)] + BINOMIALS[point, order]
