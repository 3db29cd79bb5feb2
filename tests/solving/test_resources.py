"""What a job needs, and that it is refused where that is not there."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from solver.errors import DatabaseError, MissingTableError, RulesError
from solver.game.rules import get_rules
from solver.indexing.subspaces import MovingPair, PlacingSubspace
from solver.proof.verifier import verify
from solver.solving import resources
from solver.solving.job import plan, solve
from solver.solving.resources import BASE_BYTES, DISK_BYTES_PER_INDEX, check_resources, disk_needed, memory_needed
from solver.tables.database import create_directory

SIX, NINE = get_rules("six"), get_rules("nine")


class Usage(NamedTuple):
    """Of a disk."""

    free: int


def test_memory_of_a_pair_is_its_planes_and_those_it_is_valued_by() -> None:
    # Rows of 9 stones: 82,880. Strides: 6,435 columns pad to 6,464; 12,870 (8 against 8) to 12,928.
    expected = 2 * 82_880 * 6_464 + 82_880 * 6_464 + 46_879 * 12_928
    assert memory_needed(NINE, MovingPair(9, 8)) == BASE_BYTES + expected


def test_the_moving_phase_of_nine_fits_into_five_gigabytes() -> None:
    assert max(memory_needed(NINE, subspace) for subspace in plan(NINE, "moving")) < 5 << 30


@pytest.mark.parametrize("ply", [0, 1, 5, 10, 11])
def test_memory_of_a_placing_subspace_grows_with_what_it_leads_to(ply: int) -> None:
    white, black = (ply + 1) // 2, ply // 2
    needed = memory_needed(SIX, PlacingSubspace(ply, white, black))
    assert BASE_BYTES < needed < BASE_BYTES + (64 << 20)


def test_too_little_memory_is_refused_with_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "available_memory", lambda: 100 << 20)
    with pytest.raises(DatabaseError, match=r"moving_6-5 needs 7\d\d MB of memory, 100 MB are available"):
        solve(SIX, tmp_path / "six", phase="moving", progress=False)


def test_too_little_disk_is_refused_with_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=1 << 20))
    monkeypatch.setattr(resources, "available_memory", lambda: None)
    with pytest.raises(DatabaseError, match=r"28 tables may need 3,\d\d\d MB of disk, 1 MB are free"):
        check_resources(NINE, tmp_path, plan(NINE, "moving"), kept_plies=18)


def test_layers_that_are_not_kept_take_disk_two_at_a_time() -> None:
    layers = plan(NINE, "placing")
    largest = sum(subspace.index(NINE.board).size for subspace in layers if subspace.ply >= 16)
    kept = sum(subspace.index(NINE.board).size for subspace in layers if subspace.ply < 10)
    assert disk_needed(NINE, layers, kept_plies=10) == int((kept + largest) * DISK_BYTES_PER_INDEX)
    everything = sum(subspace.index(NINE.board).size for subspace in layers)
    assert disk_needed(NINE, layers, kept_plies=18) == int(everything * DISK_BYTES_PER_INDEX)


def test_nothing_to_do_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "available_memory", lambda: 0)
    check_resources(NINE, tmp_path, [], kept_plies=18)


def test_tables_with_the_same_values_are_taken_over(six: Path, tmp_path: Path) -> None:
    report = solve(get_rules("six-double"), tmp_path / "double", reuse=six, progress=False)
    assert {subspace.phase for subspace in report.found} == {"moving"}
    assert len(report.found) == 10
    assert {subspace.phase for subspace in report.computed} == {"placing"}
    assert verify(tmp_path / "double", sample=0.05, progress=False).is_clean


@pytest.mark.parametrize("threads", [0, -1])
def test_too_few_threads_are_refused_before_anything_is_done(threads: int, tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="expected at least 1"):
        solve(SIX, tmp_path / "six", threads=threads, progress=False)
    assert not (tmp_path / "six").exists()


def test_nothing_to_verify_is_an_error(tmp_path: Path) -> None:
    create_directory(tmp_path / "six", SIX)
    with pytest.raises(MissingTableError, match="no tables to check"):
        verify(tmp_path / "six", progress=False)


def test_tables_with_other_values_are_not_taken_over(six: Path, tmp_path: Path) -> None:
    report = solve(SIX.replace(quiet_limit=5), tmp_path / "limited", max_stones=6, reuse=six, progress=False)
    assert report.found == ()
