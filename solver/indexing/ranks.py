"""Colexicographic ranks: the k-subsets of n points as numbers 0, 1, 2, ... in the order of their masks.

Colex rank is the sum of C(p_k, k) over the points p_1 < p_2 < ..., does not depend on how many points there are, and
orders masks by their numeric value. For masks of a fixed number of bits it is *additive* over two parts of the mask,
``rank(z) = low[z & 511] + high[z >> 9]``, since the number of bits in the low part follows from that in the high part.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U
from solver.compiled.jit import jit

LOW_BITS = 9
_LOW = U((1 << LOW_BITS) - 1)
_SHIFT = U(LOW_BITS)

Masks = npt.NDArray[np.uint32]


class RankTable(NamedTuple):
    """Additive colex rank of the ``k``-subsets of ``n`` points: ``low[z & 511] + high[z >> 9]``."""

    low: Masks  # (512,)
    high: Masks  # (2 ** max(n - 9, 0),)


@jit
def rank(table, z):
    """Colex rank of ``z`` (as many bits set as ``table`` was made for)."""
    return U(table.low[z & _LOW]) + U(table.high[z >> _SHIFT])


def k_subsets(n: int, k: int) -> Masks:
    """The masks with ``k`` of ``n`` bits set, ascending: shape (C(n, k),)."""
    by_size = [np.zeros(1, np.uint32)] + [np.zeros(0, np.uint32)] * k
    for p in range(n):
        for size in range(min(k, p + 1), 0, -1):
            by_size[size] = np.concatenate([by_size[size], by_size[size - 1] | np.uint32(1 << p)])
    return by_size[k]


BINOMIALS = np.array([[comb(n, k) for k in range(34)] for n in range(34)], np.int64)


@lru_cache(maxsize=1024)
def rank_table(n: int, k: int) -> RankTable:
    """The rank table for ``k`` of ``n`` points."""
    high_bits = max(n - LOW_BITS, 0)
    low = np.zeros(1 << LOW_BITS, np.int64)
    high = np.zeros(1 << high_bits, np.int64)
    z, order = np.arange(len(low)), np.zeros(len(low), np.int64)
    for p in range(LOW_BITS):
        bit = z >> p & 1
        order += bit
        low += bit * BINOMIALS[p, order]
    z, order = np.arange(len(high)), np.full(len(high), k)
    for p in reversed(range(high_bits)):  # the highest stone is the k-th
        bit = z >> p & 1
        high += bit * BINOMIALS[LOW_BITS + p, np.maximum(order, 0)]
        order -= bit
    return RankTable(low.astype(np.uint32), high.astype(np.uint32))
