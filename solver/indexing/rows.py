"""Rows of the index: the classes of one side's stones under the symmetry group of the board, numbered.

A *class* is an orbit of masks; its smallest mask is the *representative*, and classes are numbered by it. One table by
the rank of a mask holds the class and a symmetry that maps the mask to its representative, packed into one integer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U, byte_table
from solver.compiled.jit import jit
from solver.game.boards import Board
from solver.indexing.ranks import Masks, RankTable, k_subsets, rank, rank_table

_SYMMETRY_BITS = 8
_SYMMETRY = U((1 << _SYMMETRY_BITS) - 1)
_CLASS_SHIFT = U(_SYMMETRY_BITS)


class ClassTable(NamedTuple):
    """The classes of ``k`` stones of one side, for kernels."""

    representatives: Masks  # (classes,) ascending
    packed: Masks  # (C(n, k),) by colex rank: class << 8 | symmetry that maps the mask to its representative
    ranks: RankTable


@jit
def class_and_symmetry(table, mask):
    """(class, symmetry) of the stones ``mask``; the symmetry maps them to the representative."""
    return unpack_class(table.packed[rank(table.ranks, mask)])


@jit
def unpack_class(packed):
    """(class, symmetry) of an entry of ``ClassTable.packed``."""
    return U(packed) >> _CLASS_SHIFT, U(packed) & _SYMMETRY


class SymmetryTables(NamedTuple):
    """The symmetry group, for kernels: ``by_bytes(images[g], mask)`` is the image of ``mask`` under symmetry ``g``."""

    images: Masks  # (group, 768)
    inverse: npt.NDArray[np.uint8]  # (group,)


@lru_cache(maxsize=16)
def symmetry_tables(board: Board) -> SymmetryTables:
    """Byte tables of the symmetries of ``board``. :raises ValueError: for a group too large to be packed."""
    group = board.symmetries
    images = np.stack([byte_table([1 << q for q in g], np.uint32) for g in group])
    number = {g: i for i, g in enumerate(group)}
    inverse = [number[tuple(int(p) for p in np.argsort(g))] for g in group]
    return SymmetryTables(images, np.array(inverse, np.uint8))


@dataclass(frozen=True)
class StoneClasses:
    """The classes of ``k`` stones of one side on a board.

    :param table: what kernels read
    :param orbit_sizes: how many masks each class has, shape (classes,)
    """

    table: ClassTable
    orbit_sizes: npt.NDArray[np.uint16]

    @property
    def count(self) -> int:
        return len(self.orbit_sizes)


@lru_cache(maxsize=64)
def stone_classes(board: Board, k: int) -> StoneClasses:
    """The classes of ``k`` stones, found by taking the smallest image of every mask."""
    masks = k_subsets(board.n_points, k)
    smallest = masks.copy()
    symmetry = np.zeros(len(masks), np.uint32)
    for g, table in enumerate(symmetry_tables(board).images):
        image = table[masks & 255] | table[256 + (masks >> 8 & 255)] | table[512 + (masks >> 16)]
        better = image < smallest
        smallest[better] = image[better]
        symmetry[better] = g
    representatives, number = np.unique(smallest, return_inverse=True)
    packed = (number.astype(np.uint32) << np.uint32(_SYMMETRY_BITS)) | symmetry
    table = ClassTable(representatives, packed, rank_table(board.n_points, k))
    return StoneClasses(table, np.bincount(number).astype(np.uint16))
