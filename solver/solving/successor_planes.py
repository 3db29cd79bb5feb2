"""Finished planes for the subspaces that need them next: from memory, or from their files.

Neighbouring subspaces of the placing phase share what they are valued by, and a plane of the last layer may have to be
transposed first, so what was used last is kept as far as it fits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from solver.compiled.workers import Workers
from solver.game.rules import Rules
from solver.indexing.subspaces import MovingPair, PlacingSubspace, Plane, Subspace
from solver.solving.placing import last_layer_plane
from solver.tables.database import Table

Codes = npt.NDArray[np.unsignedinteger]


class Planes:
    """Planes of finished tables, the least recently used forgotten first.

    :param table: opens the table of a subspace
    :param limit: bytes that may be kept
    """

    def __init__(self, rules: Rules, table: Callable[[Subspace], Table], workers: Workers, limit: int) -> None:
        self._rules, self._table, self._workers, self._limit = rules, table, workers, limit
        self._kept: OrderedDict[tuple[Subspace, Plane], Codes] = OrderedDict()

    def of_table(self, subspace: Subspace, plane: Plane) -> Codes:
        """A plane of a table, shape (rows, at least columns)."""
        return self._recall(subspace, plane, partial(self._load, subspace, plane))

    def of_layer(self, ply: int, white: int, black: int) -> Codes:
        """The positions after ``ply`` placements, rows White's; after the last one they are those of moving tables."""
        subspace = PlacingSubspace(ply, white, black)
        plane = subspace.planes[0]
        if ply < 2 * self._rules.stones:
            return self.of_table(subspace, plane)
        load = partial(last_layer_plane, self._rules, white, black, self._moving, self._workers)
        return self._recall(subspace, plane, load)

    def keep(self, subspace: Subspace, plane: Plane, codes: Codes) -> None:
        """Keep a plane that has just been computed, if nothing else has to make room for it."""
        self._kept[subspace, plane] = codes
        self._kept.move_to_end((subspace, plane), last=isinstance(subspace, MovingPair))
        self._forget()

    def _recall(self, subspace: Subspace, plane: Plane, load: Callable[[], Codes]) -> Codes:
        codes = self._kept.get((subspace, plane))
        if codes is None:
            codes = self._kept[subspace, plane] = load()
            self._forget()
        else:
            self._kept.move_to_end((subspace, plane))
        return codes

    def _load(self, subspace: Subspace, plane: Plane) -> Codes:
        return self._table(subspace).load(plane, threads=self._workers.threads)

    def _moving(self, pair: MovingPair, plane: Plane) -> Codes:
        """Without keeping it: of the last layer each plane is used once, transposed or not."""
        kept = self._kept.get((pair, plane))
        return self._load(pair, plane) if kept is None else kept

    def _forget(self) -> None:
        while sum(kept.nbytes for kept in self._kept.values()) > self._limit:
            self._kept.popitem(last=False)
