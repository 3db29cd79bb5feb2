"""Layers of the placing phase that are not kept: their counts and values stay, their files go, nothing is lost."""

import json
from pathlib import Path

import pytest

from solver.errors import CorruptTableError, RulesError
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import PlacingSubspace, Subspace, moving_pairs, placing_subspaces
from solver.lookup.tablebase import open_tablebase
from solver.proof.verifier import verify
from solver.solving.job import SolveReport, solve
from solver.solving.kept_layers import IN_PROGRESS, kept_plies
from solver.tables.database import Database, table_path
from solver.tables.subspace_counts import PASSED_FILE, subspace_reports
from tests.support.small_boards import NINE_POINTS

FOUR = Rules("four", NINE_POINTS, 4, flying=True)
ALL = placing_subspaces(FOUR)
KEEP = 3


class StopError(Exception):
    """Stands for a job that dies."""


def run(directory: Path, keep: int | str | None, dies_after: int | None = None) -> SolveReport:
    """Solve; the job dies after so many subspaces of the placing phase."""
    done: list[Subspace] = []

    def on_finished(subspace: Subspace, _: float) -> None:
        if subspace.phase == "placing":
            done.append(subspace)
            if len(done) == dies_after:
                raise StopError

    return solve(FOUR, directory, keep=keep, progress=False, on_finished=on_finished)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables."""
    directory = tmp_path_factory.mktemp("layers") / "full"
    run(directory, "all")
    return directory


def values(directory: Path, subspace: PlacingSubspace) -> bytes:
    with Database(directory, FOUR) as database:
        return database.table(subspace).load(subspace.planes[0]).tobytes()


def counts(directory: Path) -> list[tuple[object, ...]]:
    with Database(directory, FOUR) as database:
        return [
            (r.subspace.name, r.plane, r.metric, r.mover_stones, r.raw, r.classes, r.longest, r.examples)
            for r in subspace_reports(database)
        ]


def test_the_first_layers_stay_and_the_counts_of_all(full: Path, tmp_path: Path) -> None:
    report = run(tmp_path / "kept", KEEP)
    assert report.computed == (*moving_pairs(FOUR), *ALL)
    there = {path.stem for path in (tmp_path / "kept").glob("placing*")}
    assert there == {subspace.name for subspace in ALL if subspace.ply < KEEP}
    assert not (tmp_path / "kept" / IN_PROGRESS).exists()
    assert counts(tmp_path / "kept") == counts(full)
    kept = [subspace for subspace in ALL if subspace.ply < KEEP]
    assert [values(tmp_path / "kept", s) for s in kept] == [values(full, s) for s in kept]
    with open_tablebase(full) as whole, open_tablebase(tmp_path / "kept") as part:
        start = Position(FOUR)
        assert part.line(start, max_plies=30) == whole.line(start, max_plies=30)


@pytest.mark.parametrize("dies_after", [1, 9, len(ALL) - 4, len(ALL) - 1])
def test_a_job_that_dies_goes_on_where_it_was(full: Path, tmp_path: Path, dies_after: int) -> None:
    directory = tmp_path / "kept"
    with pytest.raises(StopError):
        run(directory, KEEP, dies_after)
    solve(FOUR, directory, phase="moving", keep=KEEP, progress=False)  # another phase leaves it alone
    assert run(directory, KEEP).computed == tuple(ALL[dies_after:])
    assert counts(directory) == counts(full)
    assert not (directory / IN_PROGRESS).exists()


def test_the_verifier_says_what_it_cannot_check(full: Path, tmp_path: Path) -> None:
    run(tmp_path / "kept", KEEP)
    report = verify(tmp_path / "kept", progress=False)
    assert report.is_clean
    assert report.left_out == [subspace.name for subspace in ALL if subspace.ply == KEEP - 1]
    assert {plane.table for plane in report.planes} == {
        subspace.name for subspace in (*moving_pairs(FOUR), *ALL) if subspace.ply is None or subspace.ply < KEEP - 1
    }
    assert verify(full, progress=False).left_out == []


def test_a_finished_job_has_nothing_to_do(tmp_path: Path) -> None:
    run(tmp_path / "kept", KEEP)
    assert run(tmp_path / "kept", KEEP).computed == ()
    assert run(tmp_path / "kept", 1).computed == ()
    assert (tmp_path / "kept" / "placing_02_1-1.h5").exists()


def test_keeping_more_later_computes_what_is_missing(full: Path, tmp_path: Path) -> None:
    run(tmp_path / "kept", 1)
    report = run(tmp_path / "kept", "all")
    assert set(report.computed) == set(ALL) - {PlacingSubspace(0, 0, 0)}
    assert [values(tmp_path / "kept", s) for s in ALL] == [values(full, s) for s in ALL]
    assert counts(tmp_path / "kept") == counts(full)


def test_tables_that_were_kept_before_are_used(full: Path, tmp_path: Path) -> None:
    run(tmp_path / "kept", "all")
    gone = [s for s in ALL if s.ply < 2]
    for subspace in gone:
        table_path(tmp_path / "kept", subspace).unlink()
    assert set(run(tmp_path / "kept", KEEP).computed) == set(gone)
    assert len(list((tmp_path / "kept").glob("placing*"))) == len(ALL)


def test_how_many_plies_are_kept() -> None:
    nine, six = get_rules("nine"), get_rules("six")
    assert kept_plies(nine, "all") == 18
    assert kept_plies(nine, 5) == 5
    assert kept_plies(nine, None) == 15
    assert kept_plies(six, None) == 12
    for keep in (0, 19, -1, "some", 2.5):
        with pytest.raises(RulesError, match="expected 'all' or a number of plies from 1 to 18"):
            kept_plies(nine, keep)  # type: ignore[arg-type]


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "kept", KEEP)
    path = tmp_path / "kept" / PASSED_FILE
    document = json.loads(path.read_text())
    for text in ("{", json.dumps(document | {"format_version": 2}), json.dumps(document | {"tables": [{}]})):
        path.write_text(text)
        with pytest.raises(CorruptTableError, match=PASSED_FILE):
            counts(tmp_path / "kept")
