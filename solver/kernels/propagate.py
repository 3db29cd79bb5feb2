"""Propagate one level: the positions that hold a code settle their quiet predecessors.

A lost position makes every predecessor a win; a won one takes one from the count of each, and a count that reaches zero
is a loss. Work is split so that each row of the plane being changed belongs to one thread: a turn of the column side
stays in its row, so the row pushes; a turn of the row side leads from row to row, so the target row *pulls* from the
frontier lists of the rows that its moves lead to. Both collect columns of the target row in a small buffer and then
apply them in one tight loop.
"""

from __future__ import annotations

import numpy as np

from solver.compiled.bitboard import ONE, ZERO, U, by_bytes, compress, expand, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.ranks import rank
from solver.indexing.rows import class_and_symmetry
from solver.kernels import flying
from solver.kernels.board import (
    MAX_DIRECTED_EDGES,
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
_WORTH_A_MAP = 100  # measured: from so many masks on, filling the tables pays
_LOW, _LOW_BITS = np.uint32(511), np.uint32(9)


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
def _column_predecessors(pair, row, row_stones, free, column, targets, n):
    """Append the columns from which one quiet slide of the column side leads to ``column``; returns the new length."""
    z = U(pair.columns.subsets[column])
    stones = expand(z, free)
    mills = stones_in_mills(pair.board, stones)
    slides = slides_out_of(pair.board, stones & ~mills, stones | row_stones)
    while slides:
        edge = trailing_zeros(slides)
        slides &= slides - ONE
        targets[n] = rank(pair.columns.ranks, z ^ U(pair.edge_bits[row, edge]))
        n += 1
    return n


@jit
def push_column_turns(first, last, code, pair, book, source, captures, counters, side):
    """From rows first..last-1 of ``source`` (row side to move) to ``side`` (column side to move).

    counters: PairCounters of a flying column side. Returns the highest code assigned, 0 if none.
    """
    columns = pair.columns.subsets.size
    found = np.empty(columns, np.uint32)
    zeros = np.empty(columns + 1, np.uint32)
    targets = np.empty(max(BUFFER + MAX_DIRECTED_EDGES, 2 * counters.alive.shape[1]), np.uint32)
    win, loss = code + 1, code + book.loss_step
    highest = 0
    for row in range(first, last):
        if not may_hold(source, row, code):
            continue
        n_found = find_code(source.words[row], code, book.lanes, found)
        values = side.values[row]
        if pair.column_flies:
            free = pair.board.points & ~U(pair.rows.representatives[row])
            n_free = int(popcount(free))
            listed = found[:n_found]
            if code & 1:
                changed = flying.propagate_wins(pair, free, listed, counters, row, n_free, values, win)
                n_zeros = 0
            else:
                changed = False
                n_zeros = flying.propagate_losses(
                    pair, free, listed, source.values[row], counters, row, n_free, values, book, code, targets, zeros
                )
        else:
            changed, n_zeros = _push_slides(pair, book, code, row, found[:n_found], targets, values, zeros)
        if changed:
            note_code(side, row, win)
            highest = max(highest, win)
        if n_zeros:
            lost = _settle_zeros_of_column_side(pair, captures, book, row, zeros[:n_zeros], loss, side)
            highest = max(highest, lost)
    return highest


@jit_inner
def _push_slides(pair, book, code, row, found, targets, values, zeros):
    """Settle the predecessors by slides of the columns ``found``; (whether a win was written, length of zeros)."""
    row_stones = U(pair.rows.representatives[row])
    free = pair.board.points & ~row_stones
    n, n_zeros, changed = 0, 0, False
    for i in range(found.size):
        n = _column_predecessors(pair, row, row_stones, free, found[i], targets, n)
        if n >= BUFFER or i == found.size - 1:
            if code & 1:
                changed |= _apply_wins(values, targets, n, code + 1)
            else:
                n_zeros = _apply_decrements(values, targets, n, book, zeros, n_zeros)
            n = 0
    return changed, n_zeros


@jit_inner
def _collect_row_predecessors(pair, masks, free_after, back, origin, free, targets):
    """List the columns, in the target row, of compressed column masks of the row that a move leads to.

    ``back`` is the symmetry that maps that row back; free_after, free: free points there and in the target row. The
    point that the row stone leaves is free there; positions with a column stone on it have no predecessor by this move
    and are left out, without a branch that could not be predicted. Returns the number of columns listed.
    """
    image = pair.symmetries.images[back]
    n = ZERO
    for i in range(masks.size):
        before = by_bytes(image, expand(U(masks[i]), free_after))
        targets[n] = rank(pair.columns.ranks, compress(before, free))
        n += ONE - ((before >> origin) & ONE)
    return n


@jit_inner
def _fill_map(pair, free_after, back, origin, free, low, high):
    """Tables of the same map of compressed masks: low[z & 511] | high[z >> 9] is the mask in the target row.

    A stone on the point that the row stone leaves becomes the bit above all free points.
    """
    image = pair.symmetries.images[back]
    n_free = popcount(free)
    low[0] = 0
    high[0] = 0
    size, table = 1, low
    bit = ZERO
    points = free_after
    while points:
        point = lowest(points)
        points ^= point
        before = by_bytes(image, point)
        mapped = ONE << (n_free if before == ONE << origin else popcount(free & (before - ONE)))
        if bit == _LOW_BITS:
            size, table = 1, high
        for z in range(size):
            table[size + z] = table[z] | mapped
        size *= 2
        bit += ONE


@jit_inner
def _collect_by_map(masks, low, high, low_ranks, high_ranks, n_free, targets):
    """The same as ``_collect_row_predecessors`` by the tables of ``_fill_map``; worth their while for many masks.

    low_ranks, high_ranks: a rank table with room for the bit above all free points.
    """
    n = ZERO
    for i in range(masks.size):
        z = masks[i]
        before = low[z & _LOW] | high[z >> _LOW_BITS]
        targets[n] = low_ranks[before & _LOW] + high_ranks[before >> _LOW_BITS]
        n += ONE - (U(before) >> n_free)
    return n


@jit
def pull_row_turns(first, last, code, pair, book, start, masks, captures, side):
    """From frontier lists (column side to move) to rows first..last-1 of ``side`` (row side to move).

    masks[start[r] : start[r + 1]] are the compressed column masks of the frontier of row r. Returns the highest code
    assigned, 0 if none.
    """
    zeros = np.empty(pair.columns.subsets.size + 1, np.uint32)
    targets = np.empty(BUFFER + 1, np.uint32)
    ranks = pair.columns.ranks
    low_map = np.zeros(ranks.low.size, np.uint32)
    high_map = np.zeros(ranks.high.size, np.uint32)
    high_ranks = np.zeros(2 * ranks.high.size, np.uint32)
    high_ranks[: ranks.high.size] = ranks.high
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
            free_after = pair.board.points & ~U(pair.rows.representatives[after])
            back = pair.symmetries.inverse[pair.quiet.symmetry[k]]
            origin = U(pair.quiet.origin[k])
            by_map = end - begin >= _WORTH_A_MAP
            if by_map:
                _fill_map(pair, free_after, back, origin, free, low_map, high_map)
            for block in range(begin, end, BUFFER):
                some = masks[block : min(block + BUFFER, end)]
                if by_map:
                    n = int(_collect_by_map(some, low_map, high_map, ranks.low, high_ranks, popcount(free), targets))
                else:
                    n = int(_collect_row_predecessors(pair, some, free_after, back, origin, free, targets))
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
