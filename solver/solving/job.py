"""The whole job: every subspace of a rule set in order, one file each, resumable.

The directory is the state of the job. A subspace whose file is there is done and is not computed again; a killed run
loses at most the subspace under way. One solver at a time works on a directory.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from solver.compiled.workers import Workers
from solver.errors import RulesError
from solver.game.rules import Rules
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import (
    MovingPair,
    Subspace,
    moving_pairs,
    placing_subspaces,
)
from solver.indexing.values import metric_of
from solver.kernels.board import MAX_DIRECTED_EDGES
from solver.solving.kept_layers import JobTables, Keep, kept_plies
from solver.solving.moving import solve_pair
from solver.solving.placing import solve_placing
from solver.solving.resources import KEPT_BYTES, check_resources, peak_memory, reset_peak_memory
from solver.solving.successor_planes import Planes
from solver.tables.database import Database, create_directory, lock, remove_leftovers, table_path, write_table
from solver.tables.directory import temporary_file, writing
from solver.tables.plane_counts import count_plane

JobPhase = Literal["moving", "placing", "all"]


@dataclass(frozen=True)
class SolveReport:
    """What one call of :func:`solve` did."""

    computed: tuple[Subspace, ...]
    found: tuple[Subspace, ...]
    seconds: float
    peak_memory: int | None
    """Most bytes of memory that one subspace took; None if none was computed or the system does not tell."""


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
    keep: Keep = None,
    reuse: str | Path | None = None,
    progress: bool = True,
    on_finished: Callable[[Subspace, float], None] | None = None,
) -> SolveReport:
    """Compute the tables of ``rules`` that are missing in ``directory``.

    :param directory: made if it is not there; a directory of other rules is refused
    :param phase: which phase to solve; the placing phase needs the moving phase, computed before or in the same call
    :param max_stones: see :func:`plan`
    :param threads: default: all cores
    :param keep: which layers of the placing phase stay: ``"all"``, or the first so many plies, of which look-ups then
        search forward; default: the first ones as far as they are small, see ``layers``
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
    plies = kept_plies(rules, keep)
    path = Path(directory)
    create_directory(path, rules)
    with (
        lock(path),
        Database(path, rules) as database,
        closing(JobTables(database, plies)) as tables,
        Workers(threads) as workers,
    ):
        remove_leftovers(path)
        if reuse is not None:
            _take_over(path, rules, Path(reuse), [s for s in subspaces if tables.is_kept(s) and not database.has(s)])
        missing = tables.missing(subspaces)
        found = tuple(subspace for subspace in subspaces if database.has(subspace))
        for subspace in found:
            database.table(subspace).close()  # refuses a damaged file before hours are spent on others
        check_resources(rules, path, missing, plies)
        total = sum(_positions(rules, subspace) for subspace in (*found, *missing))
        bar = tqdm(total=total, unit="pos", unit_scale=True, disable=None if progress else True, smoothing=0.1)
        with bar:
            bar.update(sum(_positions(rules, subspace) for subspace in found))
            job = _Job(rules, tables, workers, bar.update)
            peaks = []
            for subspace in missing:
                if subspace.ply is not None:
                    tables.drop(after_ply=subspace.ply + 1)
                bar.set_description(subspace.name)
                seconds = job.run(subspace)
                peaks.append(peak_memory())
                if on_finished is not None:
                    on_finished(subspace, seconds)
        tables.finish()
    peak = max((size for size in peaks if size is not None), default=None)
    return SolveReport(tuple(missing), found, time.monotonic() - started, peak)


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
    """Solves one subspace after the other."""

    def __init__(self, rules: Rules, tables: JobTables, workers: Workers, advance: Callable[[int], object]) -> None:
        self._rules, self._tables, self._workers, self._advance = rules, tables, workers, advance
        self._sources = {phase: Planes(rules, tables.table, workers, limit) for phase, limit in KEPT_BYTES.items()}

    def run(self, subspace: Subspace) -> float:
        started = time.monotonic()
        reset_peak_memory()
        metric = metric_of(self._rules, subspace.phase)
        sources = self._sources[subspace.phase]
        if isinstance(subspace, MovingPair):
            planes = solve_pair(self._rules, subspace, sources.of_table, self._workers, self._advance)
        else:
            after = partial(sources.of_layer, subspace.ply + 1)
            planes = solve_placing(self._rules, subspace, after, self._workers, self._advance)
        index = subspace.index(self._rules.board)
        statistics = {plane: count_plane(index, codes, metric, self._workers) for plane, codes in planes.items()}
        seconds = time.monotonic() - started
        write_table(
            self._tables.folder(subspace),
            self._rules,
            subspace,
            metric,
            planes,
            statistics,
            seconds=seconds,
            peak_memory=peak_memory(),
            threads=self._workers.threads,
        )
        for plane, codes in planes.items():
            sources.keep(subspace, plane, codes)
        return seconds
