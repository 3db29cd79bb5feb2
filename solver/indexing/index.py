"""Positions <-> (row, column): the index of every table.

A subspace fixes the stones of a *row side* (a) and of a *column side* (b). Then

* row    = number of the class of the row side's stones under the symmetry group of the board; classes are numbered by
           their smallest mask, the *representative*;
* column = colexicographic rank of the column side's stones among the ``F = n - a`` points that the representative
leaves
           free, *compressed*: the lowest free point becomes bit 0, and so on.

::

    board          . R . . C R . C            bit 0 leftmost
    row side       0 1 0 0 0 1 0 0  -> class -> row           (after the symmetry that makes it the representative)
    free points    0   1 2 3   4 5
    column side    0   0 0 1   0 1  -> bits 3 and 5 of 6 -> C(3,1) + C(5,2) = 13

Colex rank is the sum of C(p_k, k) over the points p_1 < p_2 < ..., does not depend on how many points there are, and
orders masks by their numeric value. For masks of a fixed number of bits it is *additive* over two parts of the mask,
``rank(z) = low[z & 511] + high[z >> 9]``, since the number of bits in the low part follows from that in the high part.

A row whose stones are mapped to themselves by several symmetries holds some positions more than once. All of these
indices carry the same value; counts of classes and raw positions weigh them (:meth:`SubspaceIndex.class_members`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U, by_bytes, byte_table, compress, expand
from solver.compiled.jit import jit
from solver.game.boards import Board

LOW_BITS = 9
_LOW = U((1 << LOW_BITS) - 1)
_SHIFT = U(LOW_BITS)
_SYMMETRY_BITS = 8
_SYMMETRY = U((1 << _SYMMETRY_BITS) - 1)
_CLASS_SHIFT = U(_SYMMETRY_BITS)

Masks = npt.NDArray[np.uint32]


class RankTable(NamedTuple):
    """Additive colex rank of the ``k``-subsets of ``n`` points: ``low[z & 511] + high[z >> 9]``."""

    low: Masks  # (512,)
    high: Masks  # (2 ** max(n - 9, 0),)


class ClassTable(NamedTuple):
    """The classes of ``k`` stones of one side, for kernels."""

    representatives: Masks  # (classes,) ascending
    packed: Masks  # (C(n, k),) by colex rank: class << 8 | symmetry that maps the mask to its representative
    ranks: RankTable


class ColumnTable(NamedTuple):
    """The subsets of ``k`` stones of the column side among the free points of a row, for kernels."""

    subsets: Masks  # (columns,) ascending
    ranks: RankTable


@jit
def rank(table, z):
    """Colex rank of ``z`` (as many bits set as ``table`` was made for)."""
    return U(table.low[z & _LOW]) + U(table.high[z >> _SHIFT])


@jit
def class_and_symmetry(table, mask):
    """(class, symmetry) of the stones ``mask``; the symmetry maps them to the representative."""
    return unpack_class(table.packed[rank(table.ranks, mask)])


@jit
def unpack_class(packed):
    """(class, symmetry) of an entry of ``ClassTable.packed``."""
    return U(packed) >> _CLASS_SHIFT, U(packed) & _SYMMETRY


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


@lru_cache(maxsize=256)
def column_table(free: int, stones: int) -> ColumnTable:
    """The columns of a row that leaves ``free`` points to ``stones`` stones."""
    return ColumnTable(k_subsets(free, stones), rank_table(free, stones))


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


def count_positions(board: Board, a: int, b: int) -> int:
    """Raw positions of ``a`` against ``b`` stones, side to move not counted: the closed form."""
    return comb(board.n_points, a) * comb(board.n_points - a, b)


def count_classes(board: Board, a: int, b: int) -> int:
    """Classes of positions of ``a`` against ``b`` stones, by Burnside's lemma.

    A symmetry fixes a position if each of its cycles is empty or holds stones of one side, so the fixed positions are
    counted by the coefficient of x^a y^b in the product of (1 + x^c + y^c) over its cycle lengths c.
    """
    total = 0
    for g in board.symmetries:
        ways = {(0, 0): 1}
        for length in _cycle_lengths(g):
            longer: dict[tuple[int, int], int] = {}
            for (i, j), n in ways.items():
                for key in ((i, j), (i + length, j), (i, j + length)):
                    if key[0] <= a and key[1] <= b:
                        longer[key] = longer.get(key, 0) + n
            ways = longer
        total += ways.get((a, b), 0)
    return total // len(board.symmetries)


def _cycle_lengths(permutation: tuple[int, ...]) -> list[int]:
    seen = 0
    lengths = []
    for start in range(len(permutation)):
        p, length = start, 0
        while not seen >> p & 1:
            seen |= 1 << p
            p, length = permutation[p], length + 1
        if length:
            lengths.append(length)
    return lengths
