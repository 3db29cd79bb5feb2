"""The record of what has been verified: it says so as long as it is true, and no longer."""

import dataclasses
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from solver.commands.command_line import parse_rules
from solver.errors import CorruptTableError, DatabaseError
from solver.game.rules import Rules
from solver.indexing.subspaces import ROW_TO_MOVE, MovingPair, PlacingSubspace
from solver.proof.verifier import verify
from solver.tables.database import Database, Table, table_path
from solver.tables.verification_record import (
    RECORD_FILE,
    Checked,
    _checksum,
    read_record,
    status_of,
    summary,
    write_record,
)
from tests.support.small_boards import NINE_POINTS
from tests.support.written_tables import alter_value, naive_values, write_naive_tables

RULES = Rules("three", NINE_POINTS, 3, flying=True)
PAIR = MovingPair(3, 3)
LAST = PlacingSubspace(5, 3, 2)  # the subspace that the pair follows


@pytest.fixture(scope="module")
def values() -> dict:
    return naive_values(RULES)


@pytest.fixture
def directory(tmp_path: Path, values: dict) -> Path:
    """True tables with the record of a complete check."""
    write_naive_tables(tmp_path, RULES, values)
    write_record(tmp_path, verify(tmp_path, progress=False).tables)
    return tmp_path


def words(directory: Path, subspace: MovingPair | PlacingSubspace) -> tuple[bool, str]:
    with Database(directory) as database:
        status = status_of(database, read_record(directory), subspace)
    return status.is_verified, status.words


def line(directory: Path) -> str:
    with Database(directory) as database:
        return summary(database, database.subspaces())


def test_a_complete_check(directory: Path) -> None:
    record = read_record(directory)
    with Database(directory) as database:
        assert set(record) == {subspace.name for subspace in database.subspaces()}
        assert record["moving_3-3"].checksum == database.table(PAIR).checksum
        assert record["placing_05_3-2"].successors["moving_3-3"] == database.table(PAIR).checksum
        assert "moving_3-3" not in record["moving_3-3"].successors
    assert all(checked.is_complete and checked.is_clean for checked in record.values())
    assert words(directory, PAIR) == (True, f"every value, {record['moving_3-3'].checked[:10]}")
    assert line(directory).startswith(f"verified: {len(record)} of {len(record)} tables value by value (oldest")


def test_a_changed_table_and_those_before_it_are_no_longer_verified(directory: Path) -> None:
    alter_value(directory, PAIR, ROW_TO_MOVE, 2, 3, 200)
    for subspace in (PAIR, LAST):
        assert words(directory, subspace) == (False, "moving_3-3 is another file than when it was checked")
    assert words(directory, PlacingSubspace(0, 0, 0))[0]
    assert line(directory).startswith("not verified: moving_3-3 (moving_3-3 is another file")
    table_path(directory, PAIR).unlink()
    assert not words(directory, LAST)[0]


def test_disagreements_are_remembered(directory: Path) -> None:
    alter_value(directory, PAIR, ROW_TO_MOVE, 2, 3, 200)
    report = verify(directory, [PAIR], progress=False)
    write_record(directory, report.tables)
    verified, why = words(directory, PAIR)
    assert not verified
    assert why.startswith(f"{report.disagreements:,} values disagree")


def test_a_sample_is_called_a_sample(directory: Path) -> None:
    (directory / RECORD_FILE).unlink()
    assert words(directory, PAIR) == (False, "never checked")
    write_record(directory, verify(directory, [PAIR], sample=10, progress=False).tables)
    verified, how = words(directory, PAIR)
    assert verified
    assert how.startswith("a sample of 10 of ")
    assert ", 1 by a sample" in summary_of_pair(directory)
    write_record(directory, verify(directory, [PAIR], progress=False).tables)
    assert words(directory, PAIR)[1].startswith("every value")
    write_record(directory, verify(directory, [PAIR], sample=10, progress=False).tables)
    assert words(directory, PAIR)[1].startswith("every value")  # a sample takes nothing away from it


def summary_of_pair(directory: Path) -> str:
    with Database(directory) as database:
        return summary(database, [PAIR])


def test_wrong_counts_are_remembered(directory: Path) -> None:
    record = read_record(directory)
    write_record(directory, {PAIR.name: dataclasses.replace(record[PAIR.name], statistics_agree=False)})
    verified, why = words(directory, PAIR)
    assert not verified
    assert why.startswith("its counts are wrong")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"disagreements": 0', '"disagreements": 1'),
        ('"format_version": 1', '"format_version": 2'),
        ('"merels verification"', '"something"'),
        ("{", "["),
        ("{", "[" * 100_000),
        ('"tables"', '"table"'),
    ],
)
def test_an_altered_record_counts_for_nothing(directory: Path, old: str, new: str) -> None:
    path = directory / RECORD_FILE
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CorruptTableError, match=r"verify\.json") as error:
        read_record(directory)
    assert "\n" not in str(error.value)
    assert line(directory).startswith("not verified: ")
    write_record(directory, verify(directory, progress=False).tables)
    assert line(directory).startswith("verified: ")


@pytest.mark.parametrize("change", [{"positions": "all"}, {"checksum": 5}, {"successors": [1]}, {"more": 1}])
def test_a_record_of_another_form_is_refused(directory: Path, change: dict) -> None:
    """With a checksum that fits."""
    path = directory / RECORD_FILE
    document = json.loads(path.read_text())
    document["tables"]["moving_3-3"] |= change
    document["checksum"] = _checksum(document["tables"])
    path.write_text(json.dumps(document))
    with pytest.raises(CorruptTableError):
        read_record(directory)


def test_a_record_that_is_no_file(directory: Path) -> None:
    (directory / RECORD_FILE).unlink()
    (directory / RECORD_FILE).mkdir()
    with pytest.raises(DatabaseError, match="cannot be opened"):
        read_record(directory)
    with pytest.raises(DatabaseError):
        write_record(directory, {PAIR.name: Checked("a", {}, 1, 1, 0, True)})


def test_nothing_is_verified_without_tables(tmp_path: Path, directory: Path) -> None:
    with Database(directory) as database:
        assert summary(database, []).startswith("not verified: no tables")


COMPLETE = ("six", "six-double", "five", "six quiet_limit=40", "six flying=on")


@pytest.mark.slow
@pytest.mark.parametrize("job", COMPLETE)
def test_one_value_altered_in_each_file_in_turn(job: str, solved: Callable[[Rules], Path], tmp_path: Path) -> None:
    """A minute each, with checksums made to fit: ``python -m pytest tests/test_verification.py -m slow``."""
    preset, *settings = job.split()
    rules = parse_rules(preset, settings)
    directory = Path(shutil.copytree(solved(rules), tmp_path / "copy"))
    assert verify(directory, progress=False, threads=2).is_clean
    rng = random.Random(job)
    with Database(directory) as database:
        subspaces = database.subspaces()
    for subspace in subspaces:
        path = table_path(directory, subspace)
        whole = path.read_bytes()
        plane = rng.choice(subspace.planes)
        rows, columns = subspace.index(rules.board).shape
        row, column = rng.randrange(rows), rng.randrange(columns)
        table = Table(path)
        code = table.read(plane, row, column)
        table.close()
        wrong = rng.choice([other for other in range(3) if other != code])
        alter_value(directory, subspace, plane, row, column, wrong)
        report = verify(directory, [subspace], progress=False)
        assert report.disagreements, f"{subspace.name}/{plane} [{row}, {column}] {code} -> {wrong}"
        path.write_bytes(whole)
    assert len(subspaces) == len(list(directory.glob("*.h5")))
    assert verify(directory, progress=False).is_clean
