"""Initialise the two planes of a moving pair: count quiet turns, and value captures by the tables they lead to.

A *score* orders what a side can reach by captures in one small integer: 0 nothing yet, then losses (the longer the
better), then the draw, then wins (the shorter the better). The best capture is a maximum, whatever the metric:

====================== ============================ =====================================
score                  meaning                      code
====================== ============================ =====================================
0                      no capture                   1 if there is no quiet turn either
s < draw_score         a loss                       2 s - 1
draw_score             a draw                       -
s > draw_score         a win                        2 (top_score - s)
====================== ============================ =====================================
"""

from __future__ import annotations

import numpy as np

from solver.compiled.bitboard import ONE, ZERO, U, by_bytes, compress, expand, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.ranks import rank
from solver.indexing.rows import class_and_symmetry
from solver.kernels.board import lowest, removable, slides_out_of, stones_in_mills
from solver.kernels.tables import image_of

_LOW, _SHIFT = U(511), U(9)


@jit
def best_removals(first, last, pair, captures, book, best):
    """For rows that hold a mill: best[row, column] = score of the best removal of a column stone.

    Every turn of the row side that closes a mill leads to such a row, so each is valued by one look-up here.
    best: (R, S) of the value type; rows without a mill are left as they are.
    """
    columns = pair.columns.subsets.size
    scores = np.empty(captures.columns, best.dtype)
    for row in range(first, last):
        stones = U(pair.rows.representatives[row])
        if stones_in_mills(pair.board, stones) == ZERO:
            continue
        if captures.finished:
            best[row, :columns] = book.score_of_code[1]
        else:
            values = captures.plane[row]
            for c in range(captures.columns):
                scores[c] = book.score_of_code[values[c]]
            _best_removals_of_row(pair, captures, pair.board.points & ~stones, scores, best[row, :columns])
        best[row, columns:] = 0


@jit_inner
def _best_removals_of_row(pair, captures, free, scores, best):
    for c in range(pair.columns.subsets.size):
        z = U(pair.columns.subsets[c])
        stones = expand(z, free)
        takeable = removable(pair.board, stones)
        score = scores.dtype.type(0)
        if takeable == stones:
            for k in range(captures.without.shape[1]):
                score = max(score, scores[U(captures.without[c, k])])
        else:
            left = compress(takeable, free)
            while left:
                stone = lowest(left)
                left ^= stone
                score = max(score, scores[rank(captures.ranks, z ^ stone)])
        best[c] = score


@jit
def initialise_row_side(first, last, pair, book, best, side):
    """Row side to move: fill ``side`` from the counts of quiet moves and from ``best``. Returns the highest code."""
    columns = pair.columns.subsets.size
    counts = np.empty(columns, np.uint8)
    scores = np.empty(columns, best.dtype)
    expanded = np.empty(columns, np.uint32)
    to_point = np.zeros(64, np.uint8)
    low = np.zeros(pair.columns.ranks.low.size, np.uint8)
    high = np.zeros(pair.columns.ranks.high.size, np.uint8)
    seen = np.empty(256, np.uint8)
    highest = 0
    for row in range(first, last):
        _count_quiet_row_moves(pair, row, to_point, low, high, counts)
        scores[:] = 0
        if pair.closing.start[row + 1] > pair.closing.start[row]:
            _score_row_captures(pair, row, best, expanded, scores)
        highest = max(highest, _settle_row(side, row, counts, scores, book, seen))
    return highest


@jit_inner
def _count_quiet_row_moves(pair, row, to_point, low, high, counts):
    """counts[c] = quiet moves of the row side: all of them minus those whose target a column stone occupies.

    The second number is a sum over the column's stones, so it is additive over two parts of the compressed mask.
    Scratch: to_point (64,), low and high as the rank table.
    """
    free = pair.board.points & ~U(pair.rows.representatives[row])
    to_point[:] = 0  # quiet moves to each compressed point
    total = 0
    for k in range(pair.quiet.start[row], pair.quiet.start[row + 1]):
        to_point[popcount(free & ((ONE << U(pair.quiet.target[k])) - ONE))] += 1
        total += 1
    for part in range(1, low.size):
        low[part] = low[part & (part - 1)] + to_point[trailing_zeros(U(part))]
    for part in range(1, high.size):
        high[part] = high[part & (part - 1)] + to_point[trailing_zeros(U(part)) + _SHIFT]
    for c in range(counts.size):
        z = U(pair.columns.subsets[c])
        counts[c] = total - low[z & _LOW] - high[z >> _SHIFT]


@jit_inner
def _score_row_captures(pair, row, best, expanded, scores):
    """Raise scores[c] to the best of the row side's mill-closing moves. expanded: scratch, (C,)."""
    columns = scores.size
    free = pair.board.points & ~U(pair.rows.representatives[row])
    for c in range(columns):
        expanded[c] = expand(U(pair.columns.subsets[c]), free)
    for k in range(pair.closing.start[row], pair.closing.start[row + 1]):
        after = pair.closing.row[k]
        free_after = pair.board.points & ~U(pair.rows.representatives[after])
        image = pair.symmetries.images[pair.closing.symmetry[k]]
        target = U(pair.closing.target[k])
        raise_scores(image, pair.columns.ranks, expanded, target, free_after, best[after], scores)


@jit_inner
def raise_scores(image, ranks, expanded, target, free_after, scores_after, scores):
    """scores[c] = max(scores[c], score after the row side puts a stone on ``target``), for all columns of a row.

    image: byte table of the symmetry that leads to the row after; ranks: of the columns there; scores_after: that row,
    whose last entry is padding and zero. Columns with a stone on ``target`` have no such turn.
    """
    dummy = U(scores_after.size - 1)
    for c in range(scores.size):
        stones = U(expanded[c])
        column = rank(ranks, compress(by_bytes(image, stones), free_after))
        column = dummy if (stones >> target) & ONE else column
        scores[c] = max(scores[c], scores_after[column])


@jit_inner
def _settle_row(side, row, counts, scores, book, seen):
    """Write the codes and counts of a row and note which codes it holds. Returns the highest code, pending ones too.

    seen: scratch, (256,).
    """
    values = side.values[row]
    columns = counts.size
    seen[:] = 0
    highest, worst = 0, 0
    for c in range(columns):
        score = int(scores[c])
        if score > book.draw_score:
            value = 2 * (book.top_score - score)
            highest = max(highest, value)
        elif score == book.draw_score:
            value = book.never
        else:
            worst = max(worst, score)
            value = book.first_count + int(counts[c]) if counts[c] else max(2 * score - 1, 1)
            if counts[c] == 0:
                highest = max(highest, value)
        values[c] = value
        if value < book.first_count:
            seen[value & 255] = 1
    values[columns:] = 0
    side.worst_capture[row] = max(2 * worst - 1, 0)
    for k in range(4):
        side.pending[row, k] = 0
    for code in range(256):
        if seen[code]:
            side.pending[row, code >> 6] |= ONE << U(code & 63)
    return max(highest, 2 * worst - 1)


@jit
def initialise_column_side(first, last, pair, captures, book, side):
    """Column side to move: the same for ``side`` of the column side. Returns the highest code.

    Turns that close a mill are found backwards: from every column that holds a mill, move one of the stones in it back.
    """
    columns = pair.columns.subsets.size
    counts = np.empty(columns, np.uint8)
    scores = np.empty(columns, side.values.dtype)
    mill_columns = np.empty(columns, np.uint32)  # expanded masks of the columns that hold a mill
    mill_scores = np.empty(columns, side.values.dtype)
    seen = np.empty(256, np.uint8)
    highest = 0
    for row in range(first, last):
        stones = U(pair.rows.representatives[row])
        scores[:] = 0
        n = _count_column_moves(pair, stones, counts, mill_columns)
        mill_scores[:n] = 0
        score_removals(pair, captures, book, stones, mill_columns[:n], mill_scores)
        for k in range(n):
            _push_mill_back(pair, stones, U(mill_columns[k]), mill_scores[k], counts, scores)
        highest = max(highest, _settle_row(side, row, counts, scores, book, seen))
    return highest


@jit_inner
def _count_column_moves(pair, row_stones, counts, mill_columns):
    """counts[c] = all moves of the column side; lists the columns that hold a mill and returns how many there are."""
    free = pair.board.points & ~row_stones
    n = 0
    for c in range(counts.size):
        stones = expand(U(pair.columns.subsets[c]), free)
        if pair.column_flies:
            counts[c] = popcount(stones) * popcount(free & ~stones)
        else:
            counts[c] = popcount(slides_out_of(pair.board, stones, stones | row_stones))
        mill_columns[n] = stones
        n += 1 if stones_in_mills(pair.board, stones) else 0
    return n


@jit_inner
def score_removals(pair, captures, book, row_stones, mill_columns, mill_scores):
    """mill_scores[k] = best removal of a row stone after the column side has closed a mill in mill_columns[k]."""
    takeable = removable(pair.board, row_stones)
    while takeable:
        stone = lowest(takeable)
        takeable ^= stone
        row, symmetry = class_and_symmetry(captures.rows, row_stones ^ stone)
        free = pair.board.points & ~U(captures.rows.representatives[row])
        values = captures.plane[row]
        for k in range(mill_columns.size):
            image = compress(image_of(pair.symmetries, symmetry, U(mill_columns[k])), free)
            score = book.score_of_code[values[rank(captures.ranks, image)]]
            mill_scores[k] = max(mill_scores[k], score)


@jit_inner
def _push_mill_back(pair, row_stones, stones, score, counts, scores):
    """Give ``score`` to every column from which one move closes a mill of ``stones``; that move is not quiet."""
    free = pair.board.points & ~row_stones
    movers = stones_in_mills(pair.board, stones)
    if pair.column_flies:
        while movers:
            stone = lowest(movers)
            movers ^= stone
            empty = free & ~stones
            while empty:
                origin = lowest(empty)
                empty ^= origin
                c = rank(pair.columns.ranks, compress(stones ^ stone ^ origin, free))
                scores[c] = max(scores[c], score)
                counts[c] -= 1
    else:
        slides = slides_out_of(pair.board, movers, stones | row_stones)
        while slides:
            edge = trailing_zeros(slides)
            slides &= slides - ONE
            c = rank(pair.columns.ranks, compress(stones ^ pair.board.edge_points[edge], free))
            scores[c] = max(scores[c], score)
            counts[c] -= 1
