"""The placing phase proved from its end: random positions valued again by forward search to the moving phase.

:mod:`solver.proof.verifier` checks each value against those one ply on. Here all plies between a position and the
moving phase are searched with the plain move generator, and no table of the placing phase is read but the one that is
tested.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solver.errors import MissingTableError, RulesError
from solver.game.notation import PositionFields, format_position
from solver.indexing.ranks import Masks
from solver.indexing.subspaces import PlacingSubspace, hands, placing_subspaces
from solver.indexing.values import Metric, metric_of
from solver.lookup.forward_search import search
from solver.lookup.tablebase import Tablebase

_SUCCESSORS_AT_ONCE = 5_000_000  # searched together; a guess that keeps memory below a gigabyte


@dataclass(frozen=True)
class PlyProof:
    """What the comparison of some positions of one ply gave.

    :param positions: how many were compared
    :param wrong: position texts of those whose values differ
    :param seconds: what it took
    """

    ply: int
    positions: int
    wrong: tuple[str, ...]
    seconds: float


def prove_by_search(tablebase: Tablebase, count: int, first_ply: int, seed: int = 0) -> Iterator[PlyProof]:
    """Compare ``count`` random positions of the plies from ``first_ply`` on, the last ply first.

    Positions are drawn evenly from the indices of each ply; plies whose tables are not there are left out.

    :raises RulesError: for a ply that is not one of the placing phase
    :raises MissingTableError: where no table of these plies is there, or one of the moving phase is missing
    """
    plies = 2 * tablebase.rules.stones
    if not 0 <= first_ply < plies:
        raise RulesError(f"first_ply={first_ply}: expected 0 to {plies - 1}")
    rng = np.random.default_rng(seed)
    tables = {ply: _tables(tablebase, ply) for ply in range(first_ply, plies)}
    tables = {ply: found for ply, found in tables.items() if found}
    if not tables:
        raise MissingTableError(
            f"{tablebase.database.directory}: no tables of the plies from {first_ply} on; solve them with --keep all"
        )
    shares = np.full(len(tables), count // len(tables)) + (np.arange(len(tables)) < count % len(tables))
    for (ply, subspaces), share in zip(reversed(tables.items()), shares.tolist(), strict=True):
        started = time.monotonic()
        white, black = _random_positions(tablebase, subspaces, share, rng)
        wrong = tuple(_compare(tablebase, ply, white, black))
        yield PlyProof(ply, share, wrong, time.monotonic() - started)


def _tables(tablebase: Tablebase, ply: int) -> list[PlacingSubspace]:
    return [s for s in placing_subspaces(tablebase.rules) if s.ply == ply and tablebase.database.has(s)]


def _random_positions(
    tablebase: Tablebase, subspaces: list[PlacingSubspace], count: int, rng: np.random.Generator
) -> tuple[Masks, Masks]:
    """(white, black) of positions drawn evenly from the indices of some tables of one ply."""
    indices = [subspace.index(tablebase.rules.board) for subspace in subspaces]
    sizes = np.array([index.size for index in indices], np.float64)
    chosen = rng.choice(len(indices), count, p=sizes / sizes.sum())
    parts = []
    for number in np.unique(chosen).tolist():
        index, n = indices[number], int((chosen == number).sum())
        rows, columns = np.divmod(rng.integers(0, index.size, n), index.shape[1])
        parts.append(index.unrank_many(rows, columns))
    white, black = zip(*parts, strict=True)
    return np.concatenate(white), np.concatenate(black)


def _compare(tablebase: Tablebase, ply: int, white: Masks, black: Masks) -> Iterator[str]:
    """The texts of positions whose value in the tables is not that of the search."""
    rules = tablebase.rules
    stored = _codes(tablebase, ply, white, black)
    gap = 2 * rules.stones - ply
    step = max(1, _SUCCESSORS_AT_ONCE // 5**gap // 10)
    for first in range(0, len(white), step):
        part = slice(first, first + step)
        found = search(
            rules, ply, white[part], black[part],
            lambda at, w, b: _codes(tablebase, at, w, b) if at == 2 * rules.stones else None,
        )  # fmt: skip
        for i in np.flatnonzero(found != stored[part]).tolist():
            stones = int(white[part][i]), int(black[part][i])
            fields = PositionFields(*stones, "white" if ply % 2 == 0 else "black", hands(rules, ply), 0)
            yield format_position(rules.board, fields)


def _codes(tablebase: Tablebase, ply: int, white: Masks, black: Masks) -> npt.NDArray[np.uint16]:
    """What the tables say of positions after ``ply`` placements, as codes of the placing phase."""
    wdl, depth = tablebase.probe_many(white, black, ply % 2, hands(tablebase.rules, ply))
    if metric_of(tablebase.rules, "placing") is Metric.WDL:
        return np.where(wdl > 0, 2, (wdl < 0).astype(np.uint16)).astype(np.uint16)
    return np.where(wdl == 0, 0, depth + 1).astype(np.uint16)
