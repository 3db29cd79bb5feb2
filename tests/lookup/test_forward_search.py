"""Forward search: placing positions without tables have the values of those with tables."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from solver.errors import MissingTableError
from solver.game.position import Position
from solver.game.rules import Rules
from solver.indexing.subspaces import MovingPair, PlacingSubspace, placing_counts, placing_subspaces
from solver.indexing.values import Value
from solver.lookup import forward_search
from solver.lookup.tablebase import Tablebase, open_tablebase
from solver.tables.database import create_directory, table_path
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS
from tests.support.written_tables import Key, naive_values, write_naive_tables

FOUR = Rules("four", NINE_POINTS, 4, flying=True)
DOUBLE = Rules("double", NINE_POINTS_DIAGONALS, 4, flying=False, double_mill=2)
LIMITED = Rules("limited", NINE_POINTS, 4, flying=False, quiet_limit=5)
ALL = (FOUR, DOUBLE, LIMITED)

values_of = cache(naive_values)


@pytest.fixture(scope="module", params=ALL, ids=lambda rules: rules.name)
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of a rule set."""
    directory = tmp_path_factory.mktemp("full") / request.param.name
    write_naive_tables(directory, request.param, values_of(request.param))
    return directory


def without(full: Path, directory: Path, leave_out: Callable[[PlacingSubspace], bool]) -> Path:
    """A copy without some tables of the placing phase."""
    shutil.copytree(full, directory)
    with open_tablebase(directory) as tablebase:
        gone = [subspace for subspace in placing_subspaces(tablebase.rules) if leave_out(subspace)]
    assert gone
    for subspace in gone:
        table_path(directory, subspace).unlink()
    return directory


def placing_keys(rules: Rules) -> list[Key]:
    """The placing positions with stone counts that play can reach, finished ones included."""
    counts = placing_counts(rules)

    def is_reached(key: Key) -> bool:
        white, black, _, *hands = key
        return any(hands) and (white.bit_count(), black.bit_count()) in counts[2 * rules.stones - sum(hands)]

    return [key for key in values_of(rules) if is_reached(key)]


def probe(tablebase: Tablebase, keys: list[Key]) -> list[Value]:
    white, black, side, *hands = zip(*keys, strict=True)
    sides = np.array([0 if turn == "white" else 1 for turn in side])
    wdl, depth = tablebase.probe_many(white, black, sides, np.array(hands).T)
    return [Value(w, None if d < 0 else d) for w, d in zip(wdl.tolist(), depth.tolist(), strict=True)]


def test_the_moving_tables_alone_give_every_value_of_the_placing_phase(full: Path, tmp_path: Path) -> None:
    with open_tablebase(without(full, tmp_path / "moving", lambda subspace: True)) as tablebase:
        known = values_of(tablebase.rules)
        keys = placing_keys(tablebase.rules)
        assert len(keys) > 5000
        found = probe(tablebase, keys)
        assert [key for key, value in zip(keys, found, strict=True) if value != known[key]] == []


def test_tables_on_the_way_are_asked(full: Path, tmp_path: Path) -> None:
    """A search ends at the first table, so what it says there is believed."""
    rules = open_tablebase(full).rules
    directory = without(full, tmp_path / "gap", lambda subspace: subspace.ply in (2, 3, 6))
    table_path(directory, MovingPair(4, 4)).unlink()
    with open_tablebase(directory) as tablebase:
        keys = [key for key in placing_keys(rules) if 2 <= 2 * rules.stones - key[3] - key[4] <= 4]
        found = probe(tablebase, keys)
        assert [key for key, value in zip(keys, found, strict=True) if value != values_of(rules)[key]] == []


def test_probes_and_lines_do_not_notice(full: Path, tmp_path: Path) -> None:
    directory = without(full, tmp_path / "gap", lambda subspace: subspace.ply >= 3)
    with open_tablebase(full) as whole, open_tablebase(directory) as gap:
        pos = Position(whole.rules)
        for move in whole.line(pos, max_plies=2 * whole.rules.stones):
            assert gap.probe(pos) == whole.probe(pos)
            assert gap.moves(pos) == whole.moves(pos)
            pos.push(move)
        start = Position(whole.rules)
        assert gap.line(start, max_plies=40) == whole.line(start, max_plies=40)


def test_black_may_have_begun(full: Path, tmp_path: Path) -> None:
    directory = without(full, tmp_path / "gap", lambda subspace: subspace.ply >= 1)
    with open_tablebase(full) as whole, open_tablebase(directory) as gap:
        rules = whole.rules
        pos = Position.from_stones(rules, white=0, black=1, turn="white", hands=(4, 3))
        assert gap.probe(pos) == whole.probe(pos)


def test_without_a_table_of_the_moving_phase_nothing_is_searched(full: Path, tmp_path: Path) -> None:
    directory = without(full, tmp_path / "gap", lambda subspace: True)
    table_path(directory, MovingPair(4, 3)).unlink()
    with open_tablebase(directory) as tablebase:
        pos = Position(tablebase.rules)
        with pytest.raises(MissingTableError, match=r"no table placing_00_0-0 .* compute it: "):
            tablebase.probe(pos)
        assert tablebase.get(pos) is None


def test_too_wide_a_search_is_refused(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = without(full, tmp_path / "gap", lambda subspace: True)
    monkeypatch.setattr(forward_search, "MAX_POSITIONS", 100)
    with (
        open_tablebase(directory) as tablebase,
        pytest.raises(MissingTableError, match=r"meets \d+ positions a ply, more than 100; compute more plies"),
    ):
        tablebase.probe(Position(tablebase.rules))


def test_an_empty_directory_is_refused_at_once(tmp_path: Path) -> None:
    create_directory(tmp_path / "none", FOUR)
    with open_tablebase(tmp_path / "none") as tablebase, pytest.raises(MissingTableError, match="no table placing_00"):
        tablebase.probe(Position(FOUR))
