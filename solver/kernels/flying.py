"""Propagation to a flying column side by *pair counters* instead of one visit for each predecessor.

A flying side has three stones and moves one of them anywhere, so a position {p, q, r} and its successor {p, q, t}
share a pair of points. Per row and pair of free points three bytes are kept:

* ``alive``: how many third points t give a quiet successor {p, q, t} that is not yet lost for the side that flew;
* ``last``: the exclusive or of these t, hence the only one where ``alive`` is 1;
* ``winner``: a third point t for which the successor {p, q, t} wins for the side that flew; NONE at first, ALL once
  there are two, when every {p, q, r} wins.

A settled position touches its three pairs, not its 3 (F - 3) predecessors. {p, q, r} has lost all its quiet turns
when its three pairs hold nothing alive but, possibly, {p, q, r} itself, which is no turn. That can first be so only
when one of its pairs falls to none or one alive, so only then positions are looked at.

Everything here is in compressed coordinates: points are numbers among the F free points of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import ONE, U, expand, popcount, trailing_zeros
from solver.compiled.jit import jit, jit_inner
from solver.indexing.ranks import rank
from solver.kernels.board import stones_in_mills

NONE, ALL = 255, 254
_STONES = 3


class PairCounters(NamedTuple):
    """See above. Shapes (R, F (F - 1) / 2); of no rows where the column side does not fly."""

    alive: npt.NDArray[np.uint8]
    last: npt.NDArray[np.uint8]
    winner: npt.NDArray[np.uint8]


@jit_inner
def _pair_number(p, q):
    """Colex rank of a pair of points, given in any order."""
    low, high = min(p, q), max(p, q)
    return (high * (high - ONE) >> ONE) + low


@jit
def initialise_counters(first, last, pair, free_points, counters):
    """Count, for rows first..last-1, the quiet third points of each pair: all but those that complete a line."""
    numbers = 0
    for p in range(free_points):
        numbers ^= p
    for row in range(first, last):
        free = pair.board.points & ~U(pair.rows.representatives[row])
        counters.winner[row] = NONE
        for q in range(1, free_points):
            end = expand(ONE << U(q), free)
            for p in range(q):
                start = trailing_zeros(expand(ONE << U(p), free))
                alive, last_alive = free_points - 2, numbers ^ p ^ q
                for k in range(pair.board.lines_through.shape[1]):
                    third = pair.board.lines_through[start, k] & ~end
                    if third != pair.board.lines_through[start, k] and third & free:
                        alive -= 1
                        last_alive ^= int(popcount(free & (third - ONE)))
                number = _pair_number(U(p), U(q))
                counters.alive[row, number] = alive
                counters.last[row, number] = last_alive


@jit_inner
def _three_points(z):
    p = trailing_zeros(z)
    z &= z - ONE
    q = trailing_zeros(z)
    z &= z - ONE
    return p, q, trailing_zeros(z)


@jit_inner
def _win(pair, values, p, q, r, new):
    """Make {p, q, r} a win with code ``new`` unless it wins sooner; whether that changed it."""
    column = rank(pair.columns.ranks, (ONE << p) | (ONE << q) | (ONE << r))
    if values[column] > new:
        values[column] = new
        return True
    return False


@jit_inner
def _win_pair(pair, values, winner, p, q, t, free_points, new):
    """{p, q, t} wins for the side that flew: so do all {p, q, r} but itself, which needs another such t."""
    number = _pair_number(p, q)
    known = winner[number]
    if known == ALL or known == t:
        return False
    if known != NONE:
        winner[number] = ALL
        return _win(pair, values, p, q, U(known), new)
    winner[number] = t
    changed = False
    for r in range(free_points):
        if U(r) not in (p, q, t):
            changed |= _win(pair, values, p, q, U(r), new)
    return changed


@jit_inner
def propagate_wins(pair, free, found, counters, row, free_points, values, new):
    """The columns ``found`` are lost for the row side: their quiet predecessors win. Whether any code changed."""
    winner = counters.winner[row]
    changed = False
    for i in range(found.size):
        z = U(pair.columns.subsets[found[i]])
        if not stones_in_mills(pair.board, expand(z, free)):
            p, q, r = _three_points(z)
            changed |= _win_pair(pair, values, winner, p, q, r, free_points, new)
            changed |= _win_pair(pair, values, winner, p, r, q, free_points, new)
            changed |= _win_pair(pair, values, winner, q, r, p, free_points, new)
    return changed


@jit_inner
def _drop(counters, row, p, q, t, low, n):
    """{p, q, t} is alive no more; lists the pair if it has at most one alive left."""
    number = _pair_number(p, q)
    counters.alive[row, number] -= 1
    counters.last[row, number] ^= np.uint8(t)
    if counters.alive[row, number] <= 1:
        low[n] = (ONE << p) | (ONE << q)
        n += 1
    return n


@jit_inner
def propagate_losses(pair, free, found, source, counters, row, free_points, values, book, code, low, zeros):
    """The columns ``found`` are won for the row side: list the positions that have no quiet turn left.

    source: codes of the row with the row side to move; low: scratch, twice the pairs; zeros: columns out. Returns how
    many. A column is listed once: its value becomes ``first_count``, as when a count reaches zero.
    """
    n = 0
    for i in range(found.size):
        z = U(pair.columns.subsets[found[i]])
        if not stones_in_mills(pair.board, expand(z, free)):
            p, q, r = _three_points(z)
            n = _drop(counters, row, p, q, r, low, n)
            n = _drop(counters, row, p, r, q, low, n)
            n = _drop(counters, row, q, r, p, low, n)
    n_zeros = 0
    for i in range(n):
        z = U(low[i])
        p = trailing_zeros(z)
        q = trailing_zeros(z & (z - ONE))
        number = _pair_number(p, q)
        only = counters.alive[row, number] == 1
        for r in range(free_points):
            if (z >> U(r)) & ONE or (only and counters.last[row, number] != r):
                continue
            column = rank(pair.columns.ranks, z | (ONE << U(r)))
            value = values[column]
            if book.first_count < value < book.never:
                others = int(counters.alive[row, number]) + counters.alive[row, _pair_number(p, U(r))]
                others += counters.alive[row, _pair_number(q, U(r))]
                if others == _STONES * _is_alive(pair, free, z | (ONE << U(r)), source[column], code):
                    values[column] = book.first_count
                    zeros[n_zeros] = column
                    n_zeros += 1
    return n_zeros


@jit_inner
def _is_alive(pair, free, z, value, code):
    """Whether ``z``, with the row side to move, counts in the pair counters: no mill, and no win up to this level."""
    if 0 < value <= code and value & 1 == 0:
        return 0
    return 0 if stones_in_mills(pair.board, expand(z, free)) else 1
