"""Counts of a finished plane: how many wins, draws and losses, at which distance, with an example of the longest.

Raw positions and classes are counted from the same histogram of codes: a row stands for as many raw rows as its class
has masks, and for one class of positions per column unless symmetries keep its stones (then per set of equivalent
columns).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U
from solver.compiled.jit import jit
from solver.compiled.workers import Workers
from solver.indexing.index import SubspaceIndex
from solver.indexing.values import Metric, decode

Counts = npt.NDArray[np.int64]


@dataclass
class PlaneStatistics:
    """Histograms of the codes of one plane.

    :param raw: raw positions with each code, shape (codes,)
    :param classes: classes of positions with each code, shape (codes,)
    :param examples: by code, one index (row, column) that has it, for the longest win and the longest loss
    """

    metric: Metric
    raw: Counts
    classes: Counts
    examples: dict[int, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def wdl_of(histogram: Counts) -> tuple[int, int, int]:
        """(wins, draws, losses) of a histogram of codes."""
        return int(histogram[2::2].sum()), int(histogram[0]), int(histogram[1::2].sum())

    @property
    def raw_wdl(self) -> tuple[int, int, int]:
        """Raw positions (won, drawn, lost) for the side to move."""
        return self.wdl_of(self.raw)

    @property
    def classes_wdl(self) -> tuple[int, int, int]:
        """Classes (won, drawn, lost) for the side to move."""
        return self.wdl_of(self.classes)

    @property
    def longest_win_code(self) -> int | None:
        """The code of the win with the greatest distance, or None without a win."""
        codes = np.flatnonzero(self.raw[2::2])
        return int(codes[-1]) * 2 + 2 if len(codes) else None

    @property
    def longest_loss_code(self) -> int | None:
        """The code of the loss with the greatest distance, or None without a loss."""
        codes = np.flatnonzero(self.raw[1::2])
        return int(codes[-1]) * 2 + 1 if len(codes) else None

    def _depth(self, code: int | None) -> int:
        return 0 if code is None else decode(code, self.metric).depth or 0

    @property
    def longest_win(self) -> int:
        """Distance of the longest win in plies; 0 if there is none or the metric has no distances."""
        return self._depth(self.longest_win_code)

    @property
    def longest_loss(self) -> int:
        """Distance of the longest loss in plies; 0 if there is none or the metric has no distances."""
        return self._depth(self.longest_loss_code)


@jit
def _count_rows(first, last, plane, columns, histograms):
    """Histogram of the codes of each row first..last-1: histograms[row - first, code].

    Four partial ones in turn, since most neighbours have the same code and each count would wait for the one before.
    """
    parts = np.empty((4, histograms.shape[1]), np.uint32)
    for row in range(first, last):
        values = plane[row]
        parts[:] = 0
        for c in range(0, columns - 3, 4):
            parts[0, U(values[c])] += 1
            parts[1, U(values[c + 1])] += 1
            parts[2, U(values[c + 2])] += 1
            parts[3, U(values[c + 3])] += 1
        for c in range(columns & ~3, columns):
            parts[0, U(values[c])] += 1
        for code in range(parts.shape[1]):
            histograms[row - first, code] = parts[0, code] + parts[1, code] + parts[2, code] + parts[3, code]


_ROWS_AT_A_TIME = 1024


def count_plane(
    index: SubspaceIndex,
    plane: npt.NDArray[np.unsignedinteger],
    metric: Metric,
    workers: Workers | None = None,
) -> PlaneStatistics:
    """Statistics of a plane of codes, shape (rows, at least as many columns as the index has)."""
    rows, columns = index.shape
    orbit_sizes = index.classes.orbit_sizes.astype(np.int64)
    n_codes = int(plane[:, :columns].max(initial=0)) + 1

    def count(first: int, last: int) -> npt.NDArray[np.int64]:
        totals = np.zeros((2, n_codes), np.int64)
        for start in range(first, last, _ROWS_AT_A_TIME):
            end = min(start + _ROWS_AT_A_TIME, last)
            histograms = np.zeros((end - start, n_codes), np.int64)
            _count_rows(start, end, plane, columns, histograms)
            totals[0] += orbit_sizes[start:end] @ histograms
            totals[1] += histograms.sum(axis=0)
        return totals

    raw, classes = np.sum((workers or Workers(1)).over_rows(rows, count), axis=0)
    for row in np.flatnonzero(orbit_sizes < len(index.board.symmetries)):
        members = index.class_members(int(row))
        if members is not None:
            classes -= np.bincount(plane[row, :columns][~members], minlength=n_codes)
    statistics = PlaneStatistics(metric, raw, classes)
    for code in (statistics.longest_win_code, statistics.longest_loss_code):
        if code is not None:
            statistics.examples[code] = _first_index(plane[:, :columns], code)
    return statistics


def _first_index(plane: npt.NDArray[np.unsignedinteger], code: int) -> tuple[int, int]:
    for row, values in enumerate(plane):
        columns = np.flatnonzero(values == code)
        if len(columns):
            return row, int(columns[0])
    raise ValueError(f"no index has the code {code}")
