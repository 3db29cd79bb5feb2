"""Which layers of the placing phase stay, where the others are while they are needed, and what is remembered of them.

A layer, all stone counts after so many placements, is solved from the one after it. The layers that are to be kept are
ordinary tables of the directory. Those that are not are written to a folder of their own inside it, ``in-progress``, so
that no reader meets them and a killed job finds them again; each goes when the layer before it is complete. Their
counts stay, in ``passed.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from solver.errors import RulesError
from solver.game.rules import Rules
from solver.indexing.subspaces import PlacingSubspace, Subspace, counts_after, is_decided, placing_subspaces
from solver.tables.database import Database, Table
from solver.tables.directory import create_directory, remove_leftovers, writing
from solver.tables.subspace_counts import remember, table_reports
from solver.tables.table_file import table_path

Keep = Literal["all"] | int | None
"""Which layers of the placing phase to keep: all, the first so many plies, or as many as fit the default."""

IN_PROGRESS = "in-progress"

DEFAULT_KEPT_INDICES = 4_000_000_000
"""By default the first layers that have at most so many indices together are kept, about 1.6 GB. Of nine men these are
the plies 0 to 14, of six men all. What lies between is searched forward in a second or two (README)."""


def kept_plies(rules: Rules, keep: Keep) -> int:
    """How many plies of the placing phase stay. :raises RulesError: for an impossible number"""
    plies = 2 * rules.stones
    if keep == "all":
        return plies
    if keep is None:
        total = 0
        for ply in range(plies):
            total += sum(s.index(rules.board).size for s in placing_subspaces(rules) if s.ply == ply)
            if total > DEFAULT_KEPT_INDICES:
                return ply
        return plies
    if not isinstance(keep, int) or not 1 <= keep <= plies:
        raise RulesError(f"keep={keep!r}: expected 'all' or a number of plies from 1 to {plies}")
    return keep


class JobTables:
    """The tables of a job: those that stay and those in progress. Close it after use.

    :param database: the directory of the tables that stay
    :param plies: layers of the placing phase that stay
    """

    def __init__(self, database: Database, plies: int) -> None:
        self._database, self._plies = database, plies
        self._folder = database.directory / IN_PROGRESS
        self._passing: Database | None = None
        if self._folder.exists():
            self._open_folder()

    def _open_folder(self) -> None:
        rules = self._database.rules
        create_directory(self._folder, rules)
        remove_leftovers(self._folder)
        self._passing = Database(self._folder, rules)

    def close(self) -> None:
        """Close the files in progress."""
        if self._passing is not None:
            self._passing.close()

    def is_kept(self, subspace: Subspace) -> bool:
        """Whether the table of ``subspace`` stays."""
        return subspace.ply is None or subspace.ply < self._plies

    def folder(self, subspace: Subspace) -> Path:
        """Where the table of ``subspace`` is to be written."""
        if self.is_kept(subspace):
            return self._database.directory
        if self._passing is None:
            self._open_folder()
        return self._folder

    def table(self, subspace: Subspace) -> Table:
        """The finished table of ``subspace``. :raises MissingTableError: where there is none"""
        if self._passing is not None and not self._database.has(subspace) and self._passing.has(subspace):
            return self._passing.table(subspace)
        return self._database.table(subspace)

    def missing(self, subspaces: Sequence[Subspace]) -> list[Subspace]:
        """Those of ``subspaces`` that have to be solved: kept ones, and others that they need."""
        wanted = {subspace for subspace in subspaces if self.is_kept(subspace) and not self._has(subspace)}
        rules = self._database.rules
        for ply in range(2 * rules.stones - 1):
            for subspace in [s for s in wanted if s.ply == ply]:
                for counts in counts_after(rules, ply, *_stones(subspace)):
                    after = PlacingSubspace(ply + 1, *counts)
                    if not (is_decided(rules, ply + 1, *counts) or self._has(after)):
                        wanted.add(after)
        return [subspace for subspace in subspaces if subspace in wanted]

    def drop(self, after_ply: int) -> None:
        """Remember the counts of the tables in progress after ``after_ply`` and remove them."""
        if self._passing is None:
            return
        gone = [s for s in self._passing.subspaces() if s.ply is not None and s.ply > after_ply]
        if gone:
            remember(self._database.directory, [r for s in gone for r in table_reports(self._passing, s)])
            self._passing.forget(gone)
            with writing(self._folder):
                for subspace in gone:
                    table_path(self._folder, subspace).unlink()

    def finish(self) -> None:
        """Remove what was in progress, if the placing phase is complete as far as it is to be kept."""
        if self._passing is None or self.missing(placing_subspaces(self._database.rules)):
            return
        self.drop(after_ply=-1)
        self._passing.close()
        self._passing = None
        with writing(self._folder):
            for path in self._folder.iterdir():
                path.unlink()
            self._folder.rmdir()

    def _has(self, subspace: Subspace) -> bool:
        return self._database.has(subspace) or (self._passing is not None and self._passing.has(subspace))


def _stones(subspace: Subspace) -> tuple[int, int]:
    return subspace.row_stones, subspace.column_stones
