"""Propagate one level: the positions that hold a code settle their quiet predecessors.

A lost position makes every predecessor a win; a won one takes one from the count of each, and a count that reaches zero
is a loss. Work is split so that each row of the plane being changed belongs to one thread: a turn of the column side
stays in its row, so the row pushes; a turn of the row side leads from row to row, so the target row *pulls* from the
frontier lists of the rows that its moves lead to. Both collect columns of the target row in a small buffer and then
apply them in one tight loop.
"""

from __future__ import annotations

import numpy as np

from solver.bitboard import ONE, U, compress, expand, trailing_zeros
from solver.indexing import class_and_symmetry, rank
from solver.jit import jit, jit_inner
from solver.kernels.board import (
    closing_points,
    lowest,
    mills_through,
    removable,
    slides_out_of,
    stones_in_mills,
    targets_of,
)
from solver.kernels.frontier import find_code, may_hold, note_code
from solver.kernels.tables import image_of

BUFFER = 2048
_MOST_MOVES = 256  # of one position, with room to spare: 64 slides, or 3 stones on 21 points


@jit_inner
def _apply_wins(values, targets, n, code):
    """Make the targets wins with ``code`` unless they win sooner; whether anything changed."""
    changed = False
    new = values.dtype.type(code)
    for i in range(n):
        column = U(targets[i])
        old = values[column]
        changed |= old > new
        values[column] = min(old, new)
    return changed


@jit_inner
def _apply_decrements(values, targets, n, book, zeros, n_zeros):
    """Take one from the counts of the targets; appends those that reach zero, returns how many there are now."""
    first = values.dtype.type(book.first_count)
    never = values.dtype.type(book.never)
    one = values.dtype.type(1)
    nothing = values.dtype.type(0)
    for i in range(n):
        column = U(targets[i])
        value = values[column]
        counted = (value > first) & (value < never)
        value -= one if counted else nothing
        values[column] = value
        zeros[n_zeros] = column
        n_zeros += counted & (value == first)
    return n_zeros


@jit_inner
def _settle_zeros_of_column_side(pair, captures, book, row, zeros, code, side):
    """Positions whose count reached zero are losses with ``code``, or later where a capture loses later."""
    row_stones = U(pair.rows.representatives[row])
    free = pair.board.points & ~row_stones
    highest = 0
    for i in range(zeros.size):
        loss = code
        if side.worst_capture[row] > code:
            stones = expand(U(pair.columns.subsets[zeros[i]]), free)
            loss = max(loss, _column_capture_loss(pair, captures, book, row_stones, stones))
        side.values[row, zeros[i]] = loss
        note_code(side, row, loss)
        highest = max(highest, loss)
    return highest


@jit_inner
def _settle_zeros_of_row_side(pair, captures, book, row, zeros, code, side):
    """The same for positions with the row side to move."""
    free = pair.board.points & ~U(pair.rows.representatives[row])
    highest = 0
    for i in range(zeros.size):
        loss = code
        if side.worst_capture[row] > code:
            stones = expand(U(pair.columns.subsets[zeros[i]]), free)
            loss = max(loss, _row_capture_loss(pair, captures, book, row, stones))
        side.values[row, zeros[i]] = loss
        note_code(side, row, loss)
        highest = max(highest, loss)
    return highest


@jit_inner
def _row_capture_loss(pair, captures, book, row, stones):
    """The code of the longest loss by a capture of the row side, all of whose captures lose; 0 without a capture."""
    best = 0
    takeable = removable(pair.board, stones)
    for k in range(pair.closing.start[row], pair.closing.start[row + 1]):
        if (stones >> U(pair.closing.target[k])) & ONE:
            continue
        after = pair.closing.row[k]
        free = pair.board.points & ~U(pair.rows.representatives[after])
        left = takeable
        while left:
            stone = lowest(left)
            left ^= stone
            image = compress(image_of(pair.symmetries, pair.closing.symmetry[k], stones ^ stone), free)
            score = int(book.score_of_code[captures.plane[after, rank(captures.ranks, image)]])
            best = max(best, 2 * score - 1)
    return best


@jit_inner
def _column_capture_loss(pair, captures, book, row_stones, stones):
    """The same for a capture of the column side."""
    empty = pair.board.points & ~(row_stones | stones)
    targets = closing_points(pair.board, stones) & empty
    takeable = removable(pair.board, row_stones)
    best = 0
    while targets:
        target = trailing_zeros(targets)
        targets &= targets - ONE
        origins = targets_of(pair.board, target, stones, pair.column_flies)
        while origins:
            origin = lowest(origins)
            origins ^= origin
            after = (stones ^ origin) | (ONE << target)
            if mills_through(pair.board, after, target):
                best = max(best, _worst_removal(pair, captures, book, row_stones, takeable, after))
    return best


@jit_inner
def _worst_removal(pair, captures, book, row_stones, takeable, column_stones):
    best = 0
    while takeable:
        stone = lowest(takeable)
        takeable ^= stone
        row, symmetry = class_and_symmetry(captures.rows, row_stones ^ stone)
        free = pair.board.points & ~U(captures.rows.representatives[row])
        image = compress(image_of(pair.symmetries, symmetry, column_stones), free)
        score = int(book.score_of_code[captures.plane[row, rank(captures.ranks, image)]])
        best = max(best, 2 * score - 1)
    return best


@jit_inner
def _column_predecessors(pair, row_stones, free, column, targets, n):
    """Append the columns from which one quiet turn of the column side leads to ``column``; returns the new length."""
    stones = expand(U(pair.columns.subsets[column]), free)
    mills = stones_in_mills(pair.board, stones)
    if pair.column_flies:  # three stones: either none or all stand in the mill
        if not mills:
            for k in range(pair.column_neighbours.shape[1]):
                targets[n] = pair.column_neighbours[column, k]
                n += 1
        return n
    slides = slides_out_of(pair.board, stones & ~mills, stones | row_stones)
    while slides:
        before = stones ^ pair.board.edge_points[trailing_zeros(slides)]
        slides &= slides - ONE
        targets[n] = rank(pair.columns.ranks, compress(before, free))
        n += 1
    return n


@jit
def push_column_turns(first, last, code, pair, book, source, captures, side):
    """From rows first..last-1 of ``source`` (row side to move) to ``side`` (column side to move).

    Returns the highest code assigned, 0 if none.
    """
    columns = pair.columns.subsets.size
    found = np.empty(columns, np.uint32)
    zeros = np.empty(columns + 1, np.uint32)
    targets = np.empty(BUFFER + _MOST_MOVES, np.uint32)
    predecessors_win = code & 1
    win, loss = code + 1, code + book.loss_step
    highest = 0
    for row in range(first, last):
        if not may_hold(source, row, code):
            continue
        row_stones = U(pair.rows.representatives[row])
        free = pair.board.points & ~row_stones
        n_found = find_code(source.words[row], code, book.lanes, found)
        values = side.values[row]
        n, n_zeros, changed = 0, 0, False
        for i in range(n_found):
            n = _column_predecessors(pair, row_stones, free, found[i], targets, n)
            if n >= BUFFER or i == n_found - 1:
                if predecessors_win:
                    changed |= _apply_wins(values, targets, n, win)
                else:
                    n_zeros = _apply_decrements(values, targets, n, book, zeros, n_zeros)
                n = 0
        if changed:
            note_code(side, row, win)
            highest = max(highest, win)
        if n_zeros:
            lost = _settle_zeros_of_column_side(pair, captures, book, row, zeros[:n_zeros], loss, side)
            highest = max(highest, lost)
    return highest


@jit_inner
def _collect_row_predecessors(pair, stones, symmetry, origin, free, targets):
    """targets[i]: column, in the target row, of stones[i] in the row that a move leads to.

    ``symmetry`` maps that row back. The point that the row stone leaves is free there; positions with a column stone
    on it have no predecessor by this move and go to the dummy column.
    """
    dummy = U(pair.columns.subsets.size)
    image = pair.symmetries.images[symmetry]
    for i in range(stones.size):
        before = _by_bytes32(image, U(stones[i]))
        column = rank(pair.columns.ranks, compress(before, free))
        targets[i] = dummy if (before >> origin) & ONE else column


@jit_inner
def _by_bytes32(table, x):
    return U(table[x & U(255)] | table[U(256) + ((x >> U(8)) & U(255))] | table[U(512) + (x >> U(16))])


@jit
def pull_row_turns(first, last, code, pair, book, start, stones, captures, side):
    """From frontier lists (column side to move) to rows first..last-1 of ``side`` (row side to move).

    stones[start[r] : start[r + 1]] are the column side's stones of the frontier of row r. Returns the highest code
    assigned, 0 if none.
    """
    zeros = np.empty(pair.columns.subsets.size + 1, np.uint32)
    targets = np.empty(BUFFER, np.uint32)
    predecessors_win = code & 1
    win, loss = code + 1, code + book.loss_step
    highest = 0
    for row in range(first, last):
        free = pair.board.points & ~U(pair.rows.representatives[row])
        values = side.values[row]
        n_zeros, changed = 0, False
        for k in range(pair.quiet.start[row], pair.quiet.start[row + 1]):
            after = pair.quiet.row[k]
            begin, end = start[after], start[after + 1]
            if begin == end:
                continue
            back = pair.symmetries.inverse[pair.quiet.symmetry[k]]
            origin = U(pair.quiet.origin[k])
            for block in range(begin, end, BUFFER):
                n = min(BUFFER, end - block)
                _collect_row_predecessors(pair, stones[block : block + n], back, origin, free, targets)
                if predecessors_win:
                    changed |= _apply_wins(values, targets, n, win)
                else:
                    n_zeros = _apply_decrements(values, targets, n, book, zeros, n_zeros)
        if changed:
            note_code(side, row, win)
            highest = max(highest, win)
        if n_zeros:
            lost = _settle_zeros_of_row_side(pair, captures, book, row, zeros[:n_zeros], loss, side)
            highest = max(highest, lost)
    return highest


@jit
def erase_counts(first, last, book, side):
    """What is still a count when nothing is left to propagate is a draw."""
    for row in range(first, last):
        values = side.values[row]
        for c in range(values.size):
            if values[c] >= book.first_count:
                values[c] = 0
