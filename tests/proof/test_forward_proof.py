"""The proof of placing tables by forward search passes on true tables and finds false ones."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from solver.errors import MissingTableError, RulesError
from solver.game.position import Position
from solver.game.rules import Rules
from solver.indexing.subspaces import PlacingSubspace, placing_subspaces
from solver.lookup.tablebase import open_tablebase
from solver.proof.forward_proof import PlyProof, prove_by_search
from solver.tables.table_file import table_path
from tests.support.paths import SCRIPTS
from tests.support.small_boards import NINE_POINTS
from tests.support.written_tables import naive_values, random_codes, write_codes, write_naive_tables

FOUR = Rules("four", NINE_POINTS, 4, flying=True)
LIMITED = Rules("limited", NINE_POINTS, 4, flying=False, quiet_limit=5)

SCRIPT = SCRIPTS / "prove.py"

values_of = cache(naive_values)


@pytest.fixture(params=[FOUR, LIMITED], ids=lambda rules: rules.name)
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """True tables."""
    write_naive_tables(tmp_path / "tables", request.param, values_of(request.param))
    return tmp_path / "tables"


def prove(directory: Path, count: int = 200, first_ply: int = 1) -> list[PlyProof]:
    with open_tablebase(directory) as tablebase:
        return list(prove_by_search(tablebase, count, first_ply))


def test_true_tables_pass(directory: Path) -> None:
    proofs = prove(directory, count=205)
    assert [proof.ply for proof in proofs] == [7, 6, 5, 4, 3, 2, 1]
    assert sum(proof.positions for proof in proofs) == 205
    assert [text for proof in proofs for text in proof.wrong] == []


@pytest.mark.parametrize("subspace", [PlacingSubspace(7, 4, 3), PlacingSubspace(3, 2, 1)])
def test_false_tables_are_found(directory: Path, subspace: PlacingSubspace) -> None:
    with open_tablebase(directory) as tablebase:
        rules = tablebase.rules
    table_path(directory, subspace).unlink()
    write_codes(directory, rules, subspace, random_codes(rules, subspace, top=2))
    wrong = {proof.ply: proof.wrong for proof in prove(directory, count=700)}
    assert {ply for ply, texts in wrong.items() if texts} == {subspace.ply}
    pos = Position.from_fen(rules, wrong[subspace.ply][0])
    assert (pos.white.bit_count(), pos.black.bit_count()) == (subspace.white, subspace.black)


def test_layers_that_are_not_there_are_left_out(directory: Path) -> None:
    for subspace in placing_subspaces(FOUR):
        if subspace.ply >= 4:
            table_path(directory, subspace).unlink()
    assert [proof.ply for proof in prove(directory)] == [3, 2, 1]
    with pytest.raises(MissingTableError, match="no tables of the plies from 5 on; solve them with --keep all"):
        prove(directory, first_ply=5)
    with pytest.raises(RulesError, match="first_ply=8: expected 0 to 7"):
        prove(directory, first_ply=8)


def test_the_script(six: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(six), "--positions", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "six: 60 positions, 0 disagreements"
