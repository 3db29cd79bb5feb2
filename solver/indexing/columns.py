"""Columns of the index: the stones of the column side among the points that a row leaves free.

The free points are *compressed*: the lowest becomes bit 0, and so on. A column is the colex rank of that mask, so every
row of a subspace has the same columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from solver.indexing.ranks import Masks, RankTable, k_subsets, rank_table


class ColumnTable(NamedTuple):
    """The subsets of ``k`` stones of the column side among the free points of a row, for kernels."""

    subsets: Masks  # (columns,) ascending
    ranks: RankTable


@lru_cache(maxsize=256)
def column_table(free: int, stones: int) -> ColumnTable:
    """The columns of a row that leaves ``free`` points to ``stones`` stones."""
    return ColumnTable(k_subsets(free, stones), rank_table(free, stones))
