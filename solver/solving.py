"""The whole job: every subspace of a rule set in order, one file each, resumable.

The directory is the state of the job. A subspace whose file is there is done and is not computed again; a killed run
loses at most the subspace under way. One solver at a time works on a directory.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from solver.database import Database, create_directory, lock, remove_leftovers, table_path, write_table
from solver.directory import temporary_file, writing
from solver.errors import RulesError
from solver.indexing import symmetry_tables
from solver.kernels.board import MAX_DIRECTED_EDGES
from solver.placing import last_layer_plane, solve_placing
from solver.resources import check_resources
from solver.retrograde import solve_pair
from solver.rules import Rules, metric_of
from solver.statistics import count_plane
from solver.subspaces import (
    MovingPair,
    PlacingSubspace,
    Plane,
    Subspace,
    moving_pairs,
    placing_subspaces,
)
from solver.workers import Workers

Codes = npt.NDArray[np.unsignedinteger]
JobPhase = Literal["moving", "placing", "all"]

_KEPT_BYTES = 256 << 20  # planes kept in memory for the subspaces that need them next


@dataclass(frozen=True)
class SolveReport:
    """What one call of :func:`solve` did."""

    computed: tuple[Subspace, ...]
    found: tuple[Subspace, ...]
    seconds: float


def plan(rules: Rules, phase: JobPhase = "all", max_stones: int | None = None) -> list[Subspace]:
    """The subspaces of the job in the order of solving.

    :param phase: ``"moving"``, ``"placing"`` or ``"all"``
    :param max_stones: only pairs of the moving phase with at most so many stones in all, and no placing phase, which
        needs all pairs

    :raises RulesError: for an unknown phase, a limit that leaves nothing to do, or a board that is not supported
    """
    _check_supported(rules)
    if phase not in ("moving", "placing", "all"):
        raise RulesError(f"unknown phase {phase!r}; expected moving, placing or all")
    pairs = moving_pairs(rules, max_stones)
    if max_stones is not None:
        if phase == "placing":
            raise RulesError("max_stones limits the moving phase; the placing phase needs all of its pairs")
        if not pairs:
            raise RulesError(f"max_stones={max_stones}: the smallest pair of the moving phase has 6 stones")
    whole = len(pairs) == len(moving_pairs(rules))
    subspaces: list[Subspace] = []
    if phase in ("moving", "all"):
        subspaces += pairs
    if phase == "placing" or (phase == "all" and whole):
        subspaces += placing_subspaces(rules)
    return subspaces


def _check_supported(rules: Rules) -> None:
    """:raises RulesError: for rules that can be played but that the solver's kernels do not cover"""
    board = rules.board
    if 2 * len(board.edges) > MAX_DIRECTED_EDGES:
        raise RulesError(
            f"board {board.name!r} has {len(board.edges)} edges; the solver takes {MAX_DIRECTED_EDGES // 2}"
        )
    try:
        symmetry_tables(board)
    except ValueError as error:
        raise RulesError(str(error)) from None
    if rules.double_mill > 1 and board.max_mills_by_slide > 1:
        raise RulesError(
            f"on board {board.name!r} a slide can complete two mills; the solver takes such boards with double_mill=1"
        )
    if rules.double_mill > 1 and any((a & b).bit_count() > 1 for a, b in combinations(board.line_masks, 2)):
        raise RulesError(
            f"on board {board.name!r} two lines share two points; the solver takes such boards with double_mill=1"
        )


def solve(
    rules: Rules,
    directory: str | Path,
    *,
    phase: JobPhase = "all",
    max_stones: int | None = None,
    threads: int | None = None,
    reuse: str | Path | None = None,
    progress: bool = True,
    on_finished: Callable[[Subspace, float], None] | None = None,
) -> SolveReport:
    """Compute the tables of ``rules`` that are missing in ``directory``.

    :param directory: made if it is not there; a directory of other rules is refused
    :param phase: which phase to solve; the placing phase needs the moving phase, computed before or in the same call
    :param max_stones: see :func:`plan`
    :param threads: default: all cores
    :param reuse: a directory whose tables are taken over where its rules give them the same values, as for the
        moving phases of `nine` and `kurnik`
    :param progress: draw a progress bar over positions, if there is a terminal to draw it on
    :param on_finished: called with each subspace that was computed and its seconds

    :raises DatabaseError: for a directory or file that cannot be used; finished files are never changed
    :raises MissingTableError: for the placing phase without the tables of the moving phase
    """
    started = time.monotonic()
    if threads is not None and threads < 1:
        raise RulesError(f"threads={threads}: expected at least 1")
    subspaces = plan(rules, phase, max_stones)
    path = Path(directory)
    create_directory(path, rules)
    with lock(path), Database(path, rules) as database, Workers(threads) as workers:
        remove_leftovers(path)
        if reuse is not None:
            _take_over(path, rules, Path(reuse), [s for s in subspaces if not database.has(s)])
        missing = [subspace for subspace in subspaces if not database.has(subspace)]
        found = tuple(subspace for subspace in subspaces if subspace not in set(missing))
        for subspace in found:
            database.table(subspace).close()  # refuses a damaged file before hours are spent on others
        check_resources(rules, path, missing)
        total = sum(_positions(rules, subspace) for subspace in subspaces)
        bar = tqdm(total=total, unit="pos", unit_scale=True, disable=None if progress else True, smoothing=0.1)
        with bar:
            bar.update(sum(_positions(rules, subspace) for subspace in found))
            job = _Job(rules, path, database, workers, bar.update)
            for subspace in missing:
                bar.set_description(subspace.name)
                seconds = job.run(subspace)
                if on_finished is not None:
                    on_finished(subspace, seconds)
    return SolveReport(tuple(missing), found, time.monotonic() - started)


def _take_over(path: Path, rules: Rules, reuse: Path, subspaces: Sequence[Subspace]) -> None:
    """Link or copy the tables of another directory that have the same values. Files never change, so links are safe."""
    with Database(reuse) as other:
        for subspace in subspaces:
            same = other.rules.fingerprint(subspace.phase) == rules.fingerprint(subspace.phase)
            if same and other.has(subspace):
                source = other.table(subspace)  # opening checks it
                target = table_path(path, subspace)
                with writing(target), temporary_file(target) as temporary:
                    try:
                        os.link(source.path, temporary)
                    except OSError:  # another disk, or one without links
                        shutil.copyfile(source.path, temporary)


def _positions(rules: Rules, subspace: Subspace) -> int:
    return subspace.index(rules.board).size * len(subspace.planes)


class _Job:
    """Solves one subspace after the other and keeps small planes at hand for the next."""

    def __init__(
        self, rules: Rules, path: Path, database: Database, workers: Workers, advance: Callable[[int], object]
    ) -> None:
        self.rules, self.path, self.database, self.workers = rules, path, database, workers
        self._advance = advance
        self._kept: OrderedDict[tuple[Subspace, Plane], Codes] = OrderedDict()

    def run(self, subspace: Subspace) -> float:
        started = time.monotonic()
        metric = metric_of(self.rules, subspace.phase)
        if isinstance(subspace, MovingPair):
            planes = solve_pair(self.rules, subspace, self._plane, self.workers, self._advance)
        else:
            source = partial(self._layer_plane, subspace.ply + 1)
            planes = solve_placing(self.rules, subspace, source, self.workers, self._advance)
        index = subspace.index(self.rules.board)
        statistics = {plane: count_plane(index, codes, metric, self.workers) for plane, codes in planes.items()}
        seconds = time.monotonic() - started
        write_table(
            self.path, self.rules, subspace, metric, planes, statistics, seconds=seconds, threads=self.workers.threads
        )
        for plane, codes in planes.items():
            self._keep(subspace, plane, codes)
        return seconds

    def _layer_plane(self, ply: int, white: int, black: int) -> Codes:
        if ply < 2 * self.rules.stones:
            subspace = PlacingSubspace(ply, white, black)
            return self._plane(subspace, subspace.planes[0])
        return last_layer_plane(self.rules, white, black, self._plane, self.workers)

    def _plane(self, subspace: Subspace, plane: Plane) -> Codes:
        """A finished plane, from memory or from its file."""
        codes = self._kept.get((subspace, plane))
        if codes is None:
            codes = self.database.table(subspace).load(plane, threads=self.workers.threads)
            self._keep(subspace, plane, codes)
        else:
            self._kept.move_to_end((subspace, plane))
        return codes

    def _keep(self, subspace: Subspace, plane: Plane, codes: Codes) -> None:
        self._kept[subspace, plane] = codes
        while sum(kept.nbytes for kept in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)
