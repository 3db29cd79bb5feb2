"""Positions of one subspace to indices and values, for look-ups.

The class tables of ``indexing`` know the class and symmetry of every arrangement of stones, but take up to half a
second to build, and most programs want a few values only. Here the symmetry is found anew for each position, by trying
all of them; their images lie side by side in memory, so that the compiler can use vector instructions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import BYTE, U, by_bytes, compress
from solver.compiled.jit import jit, jit_inner
from solver.indexing.ranks import Masks, RankTable, rank

SYMMETRY_BITS = 8
_MIDDLE, _HIGH = U(256), U(512)
_B8, _B16 = U(8), U(16)


class Locator(NamedTuple):
    """What turns the positions of one subspace into indices."""

    points: np.uint64  # mask of all points
    images: Masks  # (symmetries, 768), for by_bytes
    images_aside: Masks  # (768, symmetries): image << 8, with the number of the symmetry in the lowest byte
    row_ranks: RankTable
    rows: npt.NDArray[np.uint32]  # row by the rank of its stones
    column_ranks: RankTable


@jit
def fill_rows(row_ranks, row_masks, rows):
    """Fill ``Locator.rows`` from the stones of each row; other entries stay."""
    for row in range(row_masks.size):
        rows[rank(row_ranks, U(row_masks[row]))] = row


@jit_inner
def _smallest_image(images_aside, mask):
    """(smallest image of ``mask``, the symmetry that leads to it)."""
    low = images_aside[mask & BYTE]
    middle = images_aside[_MIDDLE + ((mask >> _B8) & BYTE)]
    high = images_aside[_HIGH + (mask >> _B16)]
    best = low[0] | middle[0] | high[0]
    for g in range(low.size):
        best = min(best, low[g] | middle[g] | high[g])
    return U(best) >> _B8, U(best) & BYTE


@jit
def locate(locator, row_mask, column_mask):
    """(row, column) of the position with these stones."""
    stones, g = _smallest_image(locator.images_aside, U(row_mask))
    others = by_bytes(locator.images[g], U(column_mask))
    row = locator.rows[rank(locator.row_ranks, stones)]
    column = rank(locator.column_ranks, compress(others, locator.points & ~stones))
    return np.int64(row), np.int64(column)


@jit
def locate_many(locator, chosen, row_masks, column_masks, rows, columns):
    """(rows, columns) of the positions numbered in ``chosen``, one after the other."""
    for k in range(chosen.size):
        i = chosen[k]
        rows[k], columns[k] = locate(locator, row_masks[i], column_masks[i])


@jit
def probe_chosen(locator, chosen, row_masks, column_masks, plane, codes):
    """Write ``codes[i]`` of the positions i in ``chosen``, from a plane in memory."""
    for k in range(chosen.size):
        i = chosen[k]
        row, column = locate(locator, row_masks[i], column_masks[i])
        codes[i] = plane[row, column]
