"""Positions <-> (row, column): the index of every table.

A subspace fixes the stones of a *row side* (a) and of a *column side* (b). Then

* row    = number of the class of the row side's stones (``rows``);
* column = colexicographic rank of the column side's stones among the ``F = n - a`` points that the representative of
  the row leaves free, compressed (``columns``).

::

    board          . R . . C R . C            bit 0 leftmost
    row side       0 1 0 0 0 1 0 0  -> class -> row           (after the symmetry that makes it the representative)
    free points    0   1 2 3   4 5
    column side    0   0 0 1   0 1  -> bits 3 and 5 of 6 -> C(3,1) + C(5,2) = 13

A row whose stones are mapped to themselves by several symmetries holds some positions more than once. All of these
indices carry the same value; counts of classes and raw positions weigh them (:meth:`SubspaceIndex.class_members`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U, by_bytes, compress, expand
from solver.compiled.jit import jit
from solver.game.boards import Board
from solver.indexing.columns import ColumnTable, column_table
from solver.indexing.ranks import Masks, rank
from solver.indexing.rows import StoneClasses, class_and_symmetry, stone_classes, symmetry_tables


@jit
def _rank_many(row_masks, column_masks, points, classes, symmetries, columns, out_rows, out_columns):
    for i in range(row_masks.size):
        row, g = class_and_symmetry(classes, U(row_masks[i]))
        free = points & ~U(classes.representatives[row])
        out_rows[i] = row
        out_columns[i] = rank(columns.ranks, compress(by_bytes(symmetries.images[g], U(column_masks[i])), free))


@jit
def _unrank_many(rows, columns, points, classes, column_table, out_row_masks, out_column_masks):
    for i in range(rows.size):
        stones = classes.representatives[rows[i]]
        out_row_masks[i] = stones
        out_column_masks[i] = expand(U(column_table.subsets[columns[i]]), points & ~U(stones))


@jit
def _mark_canonical(stones, points, columns, symmetries, canonical):
    """Clear ``canonical[c]`` where a symmetry that keeps ``stones`` maps column ``c`` to a smaller one."""
    free = points & ~stones
    for g in range(symmetries.images.shape[0]):
        image = symmetries.images[g]
        if by_bytes(image, stones) == stones:
            for c in range(columns.subsets.size):
                z = U(columns.subsets[c])
                if compress(by_bytes(image, expand(z, free)), free) < z:
                    canonical[c] = False


@dataclass(frozen=True)
class SubspaceIndex:
    """The index of the subspace with ``row_stones`` against ``column_stones``.

    >>> from solver.game.boards import BOARD_16
    >>> SubspaceIndex(BOARD_16, 4, 3).shape
    (140, 220)
    """

    board: Board
    row_stones: int
    column_stones: int

    @property
    def free(self) -> int:
        """Points that a row leaves free."""
        return self.board.n_points - self.row_stones

    @property
    def points(self) -> np.uint64:
        """Mask of all points."""
        return U((1 << self.board.n_points) - 1)

    @property
    def classes(self) -> StoneClasses:
        return stone_classes(self.board, self.row_stones)

    @property
    def columns(self) -> ColumnTable:
        return column_table(self.free, self.column_stones)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.classes.count, comb(self.free, self.column_stones)

    @property
    def size(self) -> int:
        """Number of indices of one plane."""
        return self.shape[0] * self.shape[1]

    def rank_many(
        self, row_masks: npt.ArrayLike, column_masks: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(rows, columns) of positions given as masks, arrays of one dimension."""
        row_masks, column_masks = np.asarray(row_masks, np.uint32), np.asarray(column_masks, np.uint32)
        rows, columns = np.empty(len(row_masks), np.int64), np.empty(len(row_masks), np.int64)
        symmetries = symmetry_tables(self.board)
        _rank_many(row_masks, column_masks, self.points, self.classes.table, symmetries, self.columns, rows, columns)
        return rows, columns

    def unrank_many(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> tuple[Masks, Masks]:
        """(masks of the row side, masks of the column side) of indices, arrays of one dimension."""
        rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        row_masks, column_masks = np.empty(len(rows), np.uint32), np.empty(len(rows), np.uint32)
        _unrank_many(rows, columns, self.points, self.classes.table, self.columns, row_masks, column_masks)
        return row_masks, column_masks

    def rank(self, row_mask: int, column_mask: int) -> tuple[int, int]:
        """(row, column) of one position. :raises ValueError: where the masks are not of this subspace."""
        if row_mask.bit_count() != self.row_stones or column_mask.bit_count() != self.column_stones:
            raise ValueError(f"expected {self.row_stones} against {self.column_stones} stones")
        if row_mask & column_mask or (row_mask | column_mask) >> self.board.n_points:
            raise ValueError("the stones overlap or lie outside the board")
        rows, columns = self.rank_many([row_mask], [column_mask])
        return int(rows[0]), int(columns[0])

    def unrank(self, row: int, column: int) -> tuple[int, int]:
        """(mask of the row side, mask of the column side) of one index. :raises IndexError: outside the shape."""
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            raise IndexError(f"index ({row}, {column}) lies outside a subspace of shape {self.shape}")
        row_masks, column_masks = self.unrank_many([row], [column])
        return int(row_masks[0]), int(column_masks[0])

    def class_members(self, row: int) -> npt.NDArray[np.bool_] | None:
        """Which columns of ``row`` count as classes of positions: one of each set of equivalent columns.

        None stands for all of them, which is so wherever no symmetry but the identity keeps the row's stones.
        """
        if self.classes.orbit_sizes[row] == len(self.board.symmetries):
            return None
        canonical = np.ones(self.shape[1], np.bool_)
        stones = U(self.classes.table.representatives[row])
        _mark_canonical(stones, self.points, self.columns, symmetry_tables(self.board), canonical)
        return canonical
