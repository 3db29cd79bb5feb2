"""The verifier accepts true tables of all kinds and finds any value that is not."""

import ast
import json
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest

from solver.errors import CorruptTableError, DatabaseError, MissingTableError
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import (
    COLUMN_TO_MOVE,
    ROW_TO_MOVE,
    MovingPair,
    PlacingSubspace,
    moving_pairs,
    placing_subspaces,
)
from solver.indexing.values import Value
from solver.proof.verifier import EXAMPLES, VerifyReport, _indices, verify
from solver.tables.database import Database, Table, table_path
from tests.support.paths import ROOT
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS
from tests.support.written_tables import (
    alter_value,
    indices,
    key_of,
    naive_codes,
    naive_values,
    random_codes,
    rewrite_checksums,
    write_codes,
    write_naive_tables,
)

FOUR = Rules("four", NINE_POINTS, 4, flying=True)
DOUBLE = Rules("double", NINE_POINTS_DIAGONALS, 4, flying=False, double_mill=2)
LIMITED = Rules("limited", NINE_POINTS, 4, flying=False, quiet_limit=5)
ALL = (FOUR, DOUBLE, LIMITED)
PAIR = MovingPair(4, 3)

values_of = cache(naive_values)


@pytest.fixture(params=ALL, ids=lambda rules: rules.name)
def rules(request: pytest.FixtureRequest) -> Rules:
    return request.param


@pytest.fixture
def directory(tmp_path: Path, rules: Rules) -> Path:
    """True tables."""
    write_naive_tables(tmp_path / "tables", rules, values_of(rules))
    return tmp_path / "tables"


@pytest.fixture
def four(tmp_path: Path) -> Path:
    """True tables of FOUR."""
    write_naive_tables(tmp_path / "four", FOUR, values_of(FOUR))
    return tmp_path / "four"


def quiet_verify(directory: Path, *subspaces: MovingPair | PlacingSubspace, **options: int) -> VerifyReport:
    return verify(directory, subspaces or None, progress=False, **options)


def test_true_tables_are_clean(directory: Path, rules: Rules) -> None:
    report = quiet_verify(directory, threads=2)
    assert report.is_clean
    assert report.examples == []
    subspaces = (*moving_pairs(rules), *placing_subspaces(rules))
    assert {(p.table, p.plane) for p in report.planes} == {(s.name, plane) for s in subspaces for plane in s.planes}
    assert report.positions == sum(s.index(rules.board).size * len(s.planes) for s in subspaces)
    assert report.positions_per_second > 0


def test_false_values_are_found(directory: Path, rules: Rules) -> None:
    """Every kind of change: of the result, and of the distance alone."""
    for subspace in (*moving_pairs(rules), *placing_subspaces(rules)):
        truth = naive_codes(rules, subspace, values_of(rules))
        for plane, codes in truth.items():
            row, column = codes.shape[0] // 2, codes.shape[1] // 3
            true_code = int(codes[row, column])
            for code in {0, 1, 2, true_code + 2} - {true_code}:
                if code > 2 and rules.quiet_limit and subspace.phase == "placing":
                    continue
                alter_value(directory, subspace, plane, row, column, code)
                report = quiet_verify(directory, subspace)
                assert report.disagreements >= 1, (subspace, plane, true_code, code)
                assert not report.is_clean
            alter_value(directory, subspace, plane, row, column, true_code)
    assert quiet_verify(directory).is_clean


def test_a_report_shows_position_and_values(four: Path) -> None:
    row, column, row_side, column_side = next(
        (r, c, a, b) for r, c, a, b in indices(FOUR, PAIR) if values_of(FOUR)[b, a, "white", 0, 0].wdl < 0
    )
    true = values_of(FOUR)[column_side, row_side, "white", 0, 0]
    # A lost position of the side with three stones, said to be won far away.
    alter_value(four, PAIR, COLUMN_TO_MOVE, row, column, 250)
    report = quiet_verify(four, PAIR)
    (shown,) = [example for example in report.examples if example.stored.depth == 249]
    assert (shown.table, shown.plane) == ("moving_4-3", COLUMN_TO_MOVE)
    assert (shown.stored, shown.expected) == (Value(1, 249), true)
    # In text of the moving phase the side to move is White.
    letters = "".join("B" if row_side >> p & 1 else "W" if column_side >> p & 1 else "." for p in range(9))
    assert shown.position == f"{letters[:3]}/{letters[3:6]}/{letters[6:]} w 0,0 0"


def test_many_disagreements_are_counted_and_some_shown(four: Path) -> None:
    subspace = PlacingSubspace(5, 3, 2)
    write_codes(four, FOUR, subspace, random_codes(FOUR, subspace, top=50))
    report = quiet_verify(four, subspace)
    assert report.disagreements > 0.9 * report.positions > EXAMPLES
    assert len(report.examples) == EXAMPLES


def test_false_statistics_are_found(four: Path) -> None:
    for dataset, place in (("statistics/row_to_move", (0, 0)), ("statistics/column_to_move", (3, 1))):
        path = table_path(four, PAIR)
        with h5py.File(path, "r+") as file:
            before = file[dataset][place]
            file[dataset][place] = before + 1
        rewrite_checksums(path)
        report = quiet_verify(four, PAIR)
        assert report.disagreements == 0
        assert not report.is_clean
        assert [p.plane for p in report.planes if not p.statistics_agree] == [dataset.split("/")[1]]
        with h5py.File(path, "r+") as file:
            file[dataset][place] = before
        rewrite_checksums(path)
    assert quiet_verify(four, PAIR).is_clean


def test_a_false_example_is_found(four: Path) -> None:
    path = table_path(four, PAIR)
    with h5py.File(path, "r+") as file:
        row, column = file["row_to_move"].attrs["longest_win_index"]
        codes = file["row_to_move"][...]
        other = next((r, c) for r in range(codes.shape[0]) for c in range(codes.shape[1]) if codes[r, c] == 0)
        assert codes[row, column] != 0
        file["row_to_move"].attrs["longest_win_index"] = other
    rewrite_checksums(path)
    assert not quiet_verify(four, PAIR).is_clean


def test_a_sample(directory: Path, rules: Rules) -> None:
    report = quiet_verify(directory, sample=50, seed=3)
    sizes = [
        subspace.index(rules.board).size
        for subspace in (*moving_pairs(rules), *placing_subspaces(rules))
        for _ in subspace.planes
    ]
    assert report.positions == sum(min(size, 50) for size in sizes)
    assert report.is_clean


def test_a_sample_is_determined_by_its_seed(four: Path) -> None:
    write_codes(four, FOUR, PAIR, random_codes(FOUR, PAIR))

    def found(seed: int) -> list[str]:
        return [example.position for example in quiet_verify(four, PAIR, sample=100, seed=seed).examples]

    assert found(1) == found(1) != found(2)


def test_a_sample_reads_no_more_than_it_needs(four: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunk by chunk it finds what it finds with whole planes in memory."""
    for row in range(0, 20, 2):
        alter_value(four, PAIR, ROW_TO_MOVE, row, 4, 200)
    size = PAIR.index(FOUR.board).size
    chosen = {"sample": size - 1, "seed": 3}  # with repetitions
    few = quiet_verify(four, PAIR, **chosen)
    monkeypatch.setattr(Table, "load", None)
    assert quiet_verify(four, PAIR, **chosen).examples == few.examples != []
    monkeypatch.undo()
    monkeypatch.setattr("solver.proof.verifier._SCATTERED", 0)
    monkeypatch.setattr(Table, "read_scattered", None)
    many = quiet_verify(four, PAIR, **chosen)
    assert (many.examples, many.disagreements) == (few.examples, few.disagreements)


def test_a_sample_in_runs(four: Path) -> None:
    rng = np.random.default_rng(0)
    for run, places in ((1, 60), (7, 9), (60, 1), (100, 1)):
        chosen = _indices(1000, 60, run, rng)
        assert len(chosen) == 60
        assert 0 <= chosen.min() <= chosen.max() < 1000
        assert np.count_nonzero(np.diff(chosen) != 1) <= places + 60 // run
    assert quiet_verify(four, PAIR, sample=20, run=5).is_clean


def test_a_missing_successor_is_named(four: Path) -> None:
    table_path(four, MovingPair(3, 3)).unlink()
    assert quiet_verify(four, MovingPair(4, 4)).is_clean
    with pytest.raises(MissingTableError, match="no table moving_3-3"):
        quiet_verify(four, PAIR)
    table_path(four, PlacingSubspace(6, 2, 3)).unlink()
    with pytest.raises(MissingTableError, match="no table placing_06_2-3"):
        quiet_verify(four, PlacingSubspace(5, 3, 2))
    with pytest.raises(MissingTableError, match="no table moving_3-3"):
        quiet_verify(four, MovingPair(3, 3))


def test_a_damaged_file_is_named(four: Path) -> None:
    with h5py.File(table_path(four, MovingPair(3, 3)), "r+") as file:
        file["row_to_move"][0, 0] ^= 1
    with pytest.raises(CorruptTableError, match=r"moving_3-3\.h5: chunk 0 of row_to_move was altered"):
        quiet_verify(four, PAIR)
    with pytest.raises(DatabaseError):
        quiet_verify(four / "nowhere")


def test_two_bytes_a_position(four: Path) -> None:
    """A table of wide codes beside narrow ones."""
    codes = {plane: plane_codes.astype("u2") for plane, plane_codes in naive_codes(FOUR, PAIR, values_of(FOUR)).items()}
    codes[ROW_TO_MOVE][0, 0] = 40_000
    write_codes(four, FOUR, PAIR, codes)
    with Database(four) as database:
        assert database.table(PAIR).dtype(COLUMN_TO_MOVE) == "u2"
    report = quiet_verify(four, PAIR)
    assert Value(1, 39_999) in [example.stored for example in report.examples]
    assert quiet_verify(four, MovingPair(4, 4)).positions > 0


def test_the_report_as_json(four: Path) -> None:
    alter_value(four, PAIR, ROW_TO_MOVE, 0, 0, 200)
    report = quiet_verify(four, PAIR)
    document = json.loads(report.to_json())
    assert document["rules"] == "four"
    assert document["is_clean"] is False
    assert document["disagreements"] == report.disagreements > 0
    assert document["positions"] == report.positions
    assert [plane["table"] for plane in document["planes"]] == ["moving_4-3", "moving_4-3"]
    assert {"wdl": 1, "depth": 199} in [example["stored"] for example in document["examples"]]


def test_keys_of_the_helper_match_the_index() -> None:
    """The tests above stand on this: which side is to move in which plane."""
    assert key_of(FOUR, PAIR, ROW_TO_MOVE, 1, 2) == (1, 2, "white", 0, 0)
    assert key_of(FOUR, PAIR, COLUMN_TO_MOVE, 1, 2) == (1, 2, "black", 0, 0)
    assert key_of(get_rules("six"), PlacingSubspace(3, 2, 1), COLUMN_TO_MOVE, 1, 2) == (1, 2, "black", 4, 5)


def test_the_verifier_shares_no_loops_with_the_solver() -> None:
    """Neither the drivers of the solver nor their kernels are imported, directly or by way of others."""
    package = ROOT / "solver"
    seen: set[str] = set()

    def visit(module: str) -> None:
        if module in seen:
            return
        seen.add(module)
        source = (package.parent / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("solver."):
                visit(node.module)
            elif isinstance(node, ast.ImportFrom) and node.module in ("solver", "solver.kernels"):
                for name in node.names:
                    visit(f"{node.module}.{name.name}")

    visit("solver.proof.verifier")
    assert {"solver.game.movegen", "solver.tables.database"} <= seen
    assert (
        not {"solver.solving.moving", "solver.solving.placing", "solver.solving.job", "solver.solving.code_book"} & seen
    )
    assert not [module for module in seen if module.startswith("solver.kernels")]
