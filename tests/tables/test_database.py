"""Files: what is written is read back, by us and by strangers, and nothing damaged is taken for whole."""

import errno
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import (
    CorruptTableError,
    DatabaseError,
    FormatVersionError,
    MissingTableError,
    RulesMismatchError,
)
from solver.game.boards import BOARD_16
from solver.game.rules import PRESETS, Rules, get_rules
from solver.indexing.subspaces import COLUMN_TO_MOVE, ROW_TO_MOVE, MovingPair, PlacingSubspace, Subspace
from solver.indexing.values import Metric
from solver.tables import table_file
from solver.tables.database import (
    Cache,
    Database,
    Table,
    create_directory,
    lock,
    read_rules,
    remove_leftovers,
    solve_command,
    table_path,
    write_table,
)
from solver.tables.plane_counts import count_plane
from solver.tables.table_file import Grid
from tests.support.paths import ROOT
from tests.support.small_boards import NINE_POINTS_DIAGONALS
from tests.support.written_tables import (
    attributes_checksum,
    chunk_checksums,
    planes_of,
    random_codes,
    rewrite_checksums,
    write_codes,
)

SIX = get_rules("six")
PAIR = MovingPair(4, 3)
FORMAT = ROOT / "data" / "FORMAT.md"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A database directory of ``six``."""
    path = tmp_path / "six"
    create_directory(path, SIX)
    return path


@pytest.fixture
def path(directory: Path) -> Path:
    """A file in it."""
    return write_codes(directory, SIX, PAIR, random_codes(SIX, PAIR))


# Reading what was written


@pytest.mark.parametrize("top", [0, 60, 255, 256, 40_000])
@pytest.mark.parametrize("subspace", [PAIR, MovingPair(3, 3), PlacingSubspace(7, 4, 3), PlacingSubspace(0, 0, 0)])
def test_values_are_read_back(directory: Path, subspace: Subspace, top: int) -> None:
    planes = random_codes(SIX, subspace, top)
    for codes in planes.values():
        codes.flat[0] = top
    write_codes(directory, SIX, subspace, planes)
    with Database(directory) as database:
        table = database.table(subspace)
        assert table.subspace == subspace
        assert table.metric is Metric.DTM
        assert table.rules == SIX
        for plane, codes in planes.items():
            assert table.shape(plane) == codes.shape
            assert table.dtype(plane) == (np.uint8 if top <= 255 else np.uint16)
            np.testing.assert_array_equal(table.load(plane), codes)
            np.testing.assert_array_equal(table.load(plane, threads=3), codes)
            rows, columns = (a.ravel() for a in np.indices(codes.shape))
            np.testing.assert_array_equal(table.read_many(plane, rows, columns), codes.ravel())
            assert table.read(plane, 0, 0) == top
        table.check(threads=2)


def test_padding_and_spare_width_are_not_stored(directory: Path) -> None:
    planes = random_codes(SIX, PAIR)
    wide = {}
    for plane, codes in planes.items():
        wide[plane] = np.full((codes.shape[0], 256), 7, np.uint16)
        wide[plane][:, : codes.shape[1]] = codes
    statistics = {plane: count_plane(PAIR.index(BOARD_16), codes, Metric.DTM) for plane, codes in planes.items()}
    table = Table(write_table(directory, SIX, PAIR, Metric.DTM, wide, statistics, seconds=0, threads=2))
    for plane, codes in planes.items():
        assert table.dtype(plane) == np.uint8
        np.testing.assert_array_equal(table.load(plane), codes)


@pytest.mark.parametrize("chunk_values", [1, 7, 100, 221, 5000])
def test_any_chunks(directory: Path, chunk_values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of whole rows, slices of rows, and chunks that reach past the edge."""
    monkeypatch.setattr(table_file, "CHUNK_VALUES", chunk_values)
    subspace = PlacingSubspace(6, 3, 2)
    planes = random_codes(SIX, subspace)
    path = write_codes(directory, SIX, subspace, planes)
    table = Table(path, Cache(limit=chunk_values))
    rng = np.random.default_rng(0)
    for plane, codes in planes.items():
        np.testing.assert_array_equal(table.load(plane), codes)
        rows, columns = rng.integers(0, codes.shape[0], 500), rng.integers(0, codes.shape[1], 500)
        np.testing.assert_array_equal(table.read_many(plane, rows, columns), codes[rows, columns])
        assert [table.read(plane, r, c) for r, c in zip(rows[:50], columns[:50], strict=True)] == (
            codes[rows, columns][:50].tolist()
        )
        with h5py.File(path) as file:  # HDF5's own way through the filters
            np.testing.assert_array_equal(file[plane][...], codes)


@given(st.integers(1, 300), st.integers(1, 300_000))
def test_grids_cover_every_index_once(rows: int, columns: int) -> None:
    grid = Grid.of_shape((rows, columns))
    assert math.prod(grid.chunk) <= table_file.CHUNK_VALUES
    assert grid.chunk[0] == 1 or grid.chunk[1] == columns
    covered = 0
    for number in range(grid.total):
        row, column = grid.origin(number)
        assert grid.number(row, column) == number
        height, width = min(grid.chunk[0], rows - row), min(grid.chunk[1], columns - column)
        assert height > 0
        assert width > 0
        assert grid.number(row + height - 1, column + width - 1) == number
        covered += height * width
    assert covered == rows * columns


def test_statistics_and_examples_are_read_back(path: Path) -> None:
    table = Table(path)
    for plane in PAIR.planes:
        counted = count_plane(PAIR.index(BOARD_16), table.load(plane), Metric.DTM)
        stored = table.statistics(plane)
        np.testing.assert_array_equal(stored.raw, counted.raw)
        np.testing.assert_array_equal(stored.classes, counted.classes)
        assert stored.examples == counted.examples
        attributes = table.plane_attributes(plane)
        assert tuple(attributes["raw_wins_draws_losses"]) == counted.raw_wdl
        assert tuple(attributes["class_wins_draws_losses"]) == counted.classes_wdl
        assert attributes["longest_win"] == counted.longest_win == 59
        assert attributes["longest_loss"] == counted.longest_loss == 58
        stones, side, hands, quiet = attributes["longest_win_example"].split()
        own, opponent = PAIR.stones_to_move(plane)
        assert (stones.count("W"), stones.count("B"), side, hands, quiet) == (own, opponent, "w", "0,0", "0")


def test_examples_of_the_placing_phase_name_side_and_hands(directory: Path) -> None:
    subspace = PlacingSubspace(7, 4, 3)
    table = Table(write_codes(directory, SIX, subspace, random_codes(SIX, subspace)))
    stones, *rest = table.plane_attributes(COLUMN_TO_MOVE)["longest_win_example"].split()
    assert (stones.count("W"), stones.count("B"), rest) == (4, 3, ["b", "2,3", "0"])
    assert table.attributes["ply"] == 7
    assert table.attributes["hands"] == [2, 3]


def test_attributes_say_what_the_file_is(path: Path) -> None:
    attributes = Table(path).attributes
    assert attributes["format"] == "merels table"
    assert attributes["format_version"] == 1
    assert attributes["rules_name"] == "six"
    assert attributes["fingerprint"] == SIX.fingerprint("moving")
    assert (attributes["subspace"], attributes["phase"], attributes["metric"]) == ("moving_4-3", "moving", "dtm")
    assert (attributes["row_stones"], attributes["column_stones"], attributes["seconds"]) == (4, 3, 1.5)
    assert attributes["created"].endswith("+00:00")
    assert "HDF5" in attributes["software"]
    assert attributes["complete"] == 1


def test_files_need_no_more_than_hdf5_1_10(path: Path) -> None:
    with h5py.File(path) as file:
        assert file.id.get_create_plist().get_version()[0] == 3  # of the superblock
        for plane in PAIR.planes:
            filters = file[plane].id.get_create_plist()
            assert filters.get_nfilters() == 1
            assert filters.get_filter(0)[0] == h5py.h5z.FILTER_DEFLATE


def test_the_example_of_the_format_document_reads_values(path: Path, directory: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", FORMAT.read_text(encoding="utf-8"), re.DOTALL)
    assert set(re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)) == {"h5py", "math"}
    names: dict = {}
    exec(code, names)
    placing = PlacingSubspace(9, 2, 4)
    codes = {"placing": random_codes(SIX, placing)[COLUMN_TO_MOVE], "moving": Table(path).load(ROW_TO_MOVE)}
    for row in range(codes["placing"].shape[0]):  # the same value for equivalent positions, as in true tables
        codes["placing"][row] = row
    placing_path = write_codes(directory, SIX, placing, {COLUMN_TO_MOVE: codes["placing"]})
    rng = np.random.default_rng(3)
    for file, plane, subspace in ((path, ROW_TO_MOVE, PAIR), (placing_path, COLUMN_TO_MOVE, placing)):
        index = subspace.index(BOARD_16)
        # Rows that no symmetry keeps hold each position once.
        rows = np.flatnonzero(index.classes.orbit_sizes == len(BOARD_16.symmetries))
        for row, column in zip(rng.choice(rows, 10), rng.integers(0, index.shape[1], 10), strict=True):
            masks = index.unrank(int(row), int(column))
            image = BOARD_16.symmetries[rng.integers(16)]
            sides = [{image[p] for p in range(16) if mask >> p & 1} for mask in masks]
            assert names["read_code"](file, plane, *sides) == codes[subspace.phase][row, column]


def test_checksums_are_those_of_the_format_document(path: Path) -> None:
    with h5py.File(path) as file:
        assert file.attrs["attributes_checksum"] == attributes_checksum(file)
        assert planes_of(file) == sorted(PAIR.planes)
        for plane in PAIR.planes:
            np.testing.assert_array_equal(file["checksums"][plane], chunk_checksums(file[plane]))


def test_indices_outside_the_table_are_refused(path: Path) -> None:
    table = Table(path)
    rows, columns = table.shape(ROW_TO_MOVE)
    for row, column in ((rows, 0), (0, columns), (-1, 0), (0, -1)):
        with pytest.raises(IndexError, match="outside moving_4-3"):
            table.read(ROW_TO_MOVE, row, column)
        with pytest.raises(IndexError, match="outside moving_4-3"):
            table.read_many(ROW_TO_MOVE, [0, row], [0, column])


def test_planes_of_another_subspace_are_refused(directory: Path) -> None:
    planes = random_codes(SIX, PAIR)
    statistics = {plane: count_plane(PAIR.index(BOARD_16), codes, Metric.DTM) for plane, codes in planes.items()}
    for wrong in (
        {ROW_TO_MOVE: planes[ROW_TO_MOVE]},
        {plane: codes[:, :-1] for plane, codes in planes.items()},
        {plane: codes[:-1] for plane, codes in planes.items()},
        {plane: codes.astype(np.int64) for plane, codes in planes.items()},
    ):
        with pytest.raises(ValueError, match="moving_4-3"):
            write_table(directory, SIX, PAIR, Metric.DTM, wrong, statistics, seconds=0)
    assert os.listdir(directory) == ["rules.json"]


# Directories


def test_a_directory_keeps_its_rules(directory: Path) -> None:
    assert read_rules(directory) is SIX
    create_directory(directory, SIX)
    assert Database(directory, SIX).rules is SIX


@pytest.mark.parametrize(
    "rules",
    [
        *PRESETS.values(),
        SIX.replace(quiet_limit=40, flying=True),
        Rules("mine", NINE_POINTS_DIAGONALS, 4, flying=True, double_mill=2, quiet_limit=30_000),
    ],
    ids=lambda rules: rules.name,
)
def test_rules_survive(tmp_path: Path, rules: Rules) -> None:
    create_directory(tmp_path / "new" / "deep", rules)
    found = read_rules(tmp_path / "new" / "deep")
    assert found == rules
    assert found.name == rules.name


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (get_rules("six-double"), "'six', expected 'six-double': double_mill=1 instead of 2"),
        (get_rules("five"), "stones=6 instead of 5"),
        (get_rules("nine"), "board '16 points' has other points, edges or lines than '24 points'"),
        (SIX.replace(flying=True, quiet_limit=9), "flying=False instead of True, quiet_limit=0 instead of 9"),
    ],
)
def test_other_rules_are_refused(directory: Path, other: Rules, words: str) -> None:
    for refused in (lambda: create_directory(directory, other), lambda: Database(directory, other)):
        with pytest.raises(RulesMismatchError) as error:
            refused()
        assert words in str(error.value)
        assert str(directory) in str(error.value)


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="does not exist"):
        Database(tmp_path / "nowhere")
    with pytest.raises(DatabaseError, match=r"has no rules\.json"):
        Database(tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    for path in (file, file / "below"):
        with pytest.raises(DatabaseError, match=r"cannot be written|is a file") as error:
            create_directory(path, SIX)
        assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DatabaseError, match="Permission denied"):
        create_directory(tmp_path / "new", SIX)


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ('"format_version": 1', '"format_version": 2', FormatVersionError, "update this package"),
        ('"format_version": 1', '"format_version": 0', FormatVersionError, "older release"),
        ('"merels rules"', '"other rules"', CorruptTableError, "expected 'merels rules'"),
        ('"double_mill": 1', '"double_mill": 2', CorruptTableError, "altered"),
        ('"double_mill": 1', '"double_mill": 3', CorruptTableError, "cannot be read"),
        ('"double_mill": 1,', "", CorruptTableError, "cannot be read"),
        ("{", "", CorruptTableError, "cannot be read"),
    ],
)
def test_a_damaged_manifest(directory: Path, old: str, new: str, error: type[Exception], words: str) -> None:
    manifest = directory / "rules.json"
    text = manifest.read_text()
    assert old in text
    manifest.write_text(text.replace(old, new, 1))
    with pytest.raises(error, match=words) as raised:
        Database(directory)
    assert str(manifest) in str(raised.value)


def test_one_solver_at_a_time(directory: Path) -> None:
    with lock(directory), pytest.raises(DatabaseError, match="another process is solving"), lock(directory):
        pass
    with lock(directory):
        pass


def test_a_killed_solver_lets_go(directory: Path) -> None:
    code = """
        import sys, time
        from solver.tables.database import lock
        with lock(sys.argv[1]):
            print("held", flush=True)
            time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), directory]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseError, match="another process"), lock(directory):
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
        with lock(directory):
            pass


def test_leftovers_are_ignored_and_removed(directory: Path, path: Path) -> None:
    leftovers = [directory / ".moving_5-5.h5.tmp-123-ab", directory / ".rules.json.tmp-1-cd"]
    for leftover in leftovers:
        leftover.write_bytes(b"half")
    with Database(directory) as database:
        assert database.subspaces() == [PAIR]
    remove_leftovers(directory)
    assert sorted(os.listdir(directory)) == [path.name, "rules.json"]


# Writing whole or not at all


@pytest.mark.parametrize("step", ["_write_attributes", "_write_chunks", "_write_statistics", "_check_written"])
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "full"), RuntimeError("HDF5\nsays no"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing(
    directory: Path, step: str, problem: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(table_file, step, fail)
    with pytest.raises((DatabaseError, KeyboardInterrupt)) as error:
        write_codes(directory, SIX, PAIR, random_codes(SIX, PAIR))
    assert os.listdir(directory) == ["rules.json"]
    if isinstance(error.value, DatabaseError):
        assert "moving_4-3.h5: cannot be written" in str(error.value)
        assert "\n" not in str(error.value)
        assert ("No space left" in str(error.value)) == isinstance(problem, OSError)


def test_a_full_disk_leaves_nothing(directory: Path, tmp_path: Path) -> None:
    """HDF5 crashes where a write fails; it must not be told. Here the system allows no larger files."""
    code = """
        import resource, sys
        from pathlib import Path
        from solver.tables.database import DatabaseError
        from tests.tables.test_database import PAIR, SIX
        from tests.support.written_tables import random_codes, write_codes
        planes = random_codes(SIX, PAIR)
        write_codes(Path(sys.argv[2]), SIX, PAIR, planes)  # compiles what it needs
        for size in (0, 500, 3000, 20_000, 40_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            try:
                write_codes(Path(sys.argv[1]), SIX, PAIR, planes)
            except DatabaseError as error:
                assert "File too large" in str(error), error
            else:
                raise SystemExit(f"a file of {size} bytes?")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), directory, tmp_path],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert os.listdir(directory) == ["rules.json"]


def test_a_table_is_replaced_whole(directory: Path, path: Path) -> None:
    old = Table(path).open()
    planes = random_codes(SIX, PAIR, seed=2)
    write_codes(directory, SIX, PAIR, planes)
    assert not np.array_equal(old.load(ROW_TO_MOVE), planes[ROW_TO_MOVE])  # who has it open goes on reading the old one
    np.testing.assert_array_equal(Table(path).load(ROW_TO_MOVE), planes[ROW_TO_MOVE])


# Damage


def refused(path: Path, kind: type[DatabaseError], words: str) -> None:
    """The file is refused when it is opened and read, in one line that names it."""
    with pytest.raises(kind, match=words) as error:
        Table(path).check()
    assert type(error.value) is kind
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999])
def test_a_truncated_file(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(path, CorruptTableError, "damaged")


def test_no_file_at_all(tmp_path: Path) -> None:
    refused(tmp_path / "moving_4-3.h5", DatabaseError, "cannot be opened")


@pytest.mark.parametrize(
    ("data", "words"), [(b"", "empty"), (b"no table" * 99, "no HDF5 file"), (b"\x89HD", "no HDF5")]
)
def test_no_hdf5_file(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    refused(path, CorruptTableError, words)


def test_an_hdf5_file_of_something_else(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["row_to_move"] = np.zeros((2, 2))
    refused(path, CorruptTableError, "no table of this package")


def test_flipped_bytes_are_noticed_or_harmless(path: Path, directory: Path) -> None:
    original = path.read_bytes()
    planes = {plane: Table(path).load(plane) for plane in PAIR.planes}
    rng = np.random.default_rng(5)
    noticed = 0
    for place in rng.integers(0, len(original), 150).tolist():
        data = bytearray(original)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        table = Table(path)
        try:
            table.check()
        except DatabaseError:
            noticed += 1
        else:  # in space that holds nothing
            for plane, codes in planes.items():
                np.testing.assert_array_equal(table.load(plane), codes)
        table.close()
    assert noticed > 100


def test_an_altered_value(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["row_to_move"][3, 5] ^= 1
    table = Table(path).open()
    with pytest.raises(CorruptTableError, match="chunk 0 of row_to_move was altered"):
        table.read(ROW_TO_MOVE, 0, 0)
    table.read(COLUMN_TO_MOVE, 0, 0)
    refused(path, CorruptTableError, "chunk 0 of row_to_move was altered")


def test_a_missing_chunk(path: Path, directory: Path) -> None:
    with h5py.File(path, "r+") as file:
        old = file["row_to_move"]
        attributes, layout = dict(old.attrs), {"chunks": old.chunks, "compression": "gzip"}
        shape = old.shape
        del file["row_to_move"]
        file.create_dataset("row_to_move", shape, "u1", **layout).attrs.update(attributes)
    refused(path, CorruptTableError, "chunk 0 of row_to_move is missing")


def _set_attribute(name: str, value: object) -> object:
    return lambda file: file.attrs.__setitem__(name, value)


def _delete_attribute(name: str) -> object:
    return lambda file: file.attrs.__delitem__(name)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (_set_attribute("seconds", 2.0), CorruptTableError, "altered"),
        (_set_attribute("metric", "dtc"), CorruptTableError, "altered"),
        (lambda file: file["row_to_move"].attrs.__setitem__("longest_win", 3), CorruptTableError, "altered"),
        (lambda file: file["statistics/row_to_move"].__setitem__((0, 0), 3), CorruptTableError, "altered"),
        (lambda file: file["checksums/row_to_move"].__setitem__((0, 0), 3), CorruptTableError, "altered"),
        (lambda file: file["rows"].__setitem__(0, 3), CorruptTableError, "altered"),
        (lambda file: file["symmetries"].__setitem__((1, 1), 3), CorruptTableError, "altered"),
        (lambda file: file.__delitem__("statistics/row_to_move"), CorruptTableError, "damaged"),
        (lambda file: file.__delitem__("column_to_move"), CorruptTableError, "damaged"),
        (_set_attribute("format_version", 0), FormatVersionError, "version 0, expected 1; compute it again"),
        (_set_attribute("format_version", 2), FormatVersionError, "version 2, expected 1; update this package"),
        (_set_attribute("format_version", "new"), CorruptTableError, "damaged"),
        (_set_attribute("complete", 0), CorruptTableError, "never completed"),
        (_delete_attribute("complete"), CorruptTableError, "never completed"),
        (_delete_attribute("format"), CorruptTableError, "no table of this package"),
        (_delete_attribute("format_version"), FormatVersionError, "version 0"),
        *(
            (_delete_attribute(name), CorruptTableError, f"lacks the attribute '{name}'")
            for name in table_file._REQUIRED
        ),
    ],
)
def test_altered_attributes(path: Path, change, kind: type[DatabaseError], words: str) -> None:
    with h5py.File(path, "r+") as file:
        change(file)
    refused(path, kind, words)


def _replace_plane(**layout: object) -> object:
    def change(file: h5py.File) -> None:
        plane = file["row_to_move"]
        codes, attributes = plane[...], dict(plane.attrs)
        del file["row_to_move"]
        options = {"chunks": plane.chunks, "compression": "gzip"} | layout
        columns = options.pop("columns", codes.shape[1])
        options["chunks"] = min(options["chunks"], (codes.shape[0], columns))
        dtype = options.pop("dtype", "u1")
        file.create_dataset("row_to_move", data=codes[:, :columns].astype(dtype), **options).attrs.update(attributes)

    return change


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ({"columns": 219}, r"the shape \(140, 219\), expected \(140, 220\)"),
        ({"dtype": "i4"}, "the type <i4, expected"),
        ({"dtype": ">u2"}, "the type >u2, expected"),
        ({"shuffle": True}, "other filters"),
        ({"compression": None}, "other filters"),
        ({"chunks": (1, 220)}, "damaged|one for each chunk"),
    ],
)
def test_a_plane_of_another_layout(path: Path, layout: dict, words: str) -> None:
    with h5py.File(path, "r+") as file:
        checksums = file["checksums/row_to_move"][...]
        _replace_plane(**layout)(file)
        file["checksums/row_to_move"][...] = checksums
        file.attrs["attributes_checksum"] = attributes_checksum(file)
    refused(path, CorruptTableError, words)


def test_fitting_checksums_hide_an_altered_value(path: Path) -> None:
    """What checksums cannot show; the verifier is there for that."""
    table = Table(path)
    value = table.read(ROW_TO_MOVE, 3, 5)
    table.close()
    with h5py.File(path, "r+") as file:
        file["row_to_move"][3, 5] = value ^ 1
    rewrite_checksums(path)
    table = Table(path)
    table.check()
    assert table.read(ROW_TO_MOVE, 3, 5) == value ^ 1


def test_a_renamed_file(path: Path, directory: Path) -> None:
    renamed = table_path(directory, MovingPair(5, 3))
    path.rename(renamed)
    refused(renamed, CorruptTableError, "holds the subspace 'moving_4-3', expected 'moving_5-3'")


# Databases


def test_files_of_other_rules_are_refused(path: Path, tmp_path: Path) -> None:
    flying = tmp_path / "flying"
    create_directory(flying, SIX.replace(flying=True))
    shutil.copy(path, flying)
    with Database(flying) as database, pytest.raises(RulesMismatchError, match="flying=False instead of True") as error:
        database.table(PAIR)
    assert "moving_4-3.h5: computed under the rules 'six'" in str(error.value)


def test_files_of_the_same_values_are_shared(path: Path, tmp_path: Path) -> None:
    create_directory(tmp_path / "five", get_rules("five"))
    shutil.copy(path, tmp_path / "five")
    with Database(tmp_path / "five") as database:
        assert database.table(PAIR).rules == SIX


def test_a_file_of_another_metric_is_refused(directory: Path) -> None:
    planes = random_codes(SIX, PAIR, top=2)
    statistics = {plane: count_plane(PAIR.index(BOARD_16), codes, Metric.WDL) for plane, codes in planes.items()}
    write_table(directory, SIX, PAIR, Metric.WDL, planes, statistics, seconds=0)
    with Database(directory) as database, pytest.raises(CorruptTableError, match="metric wdl, expected dtm"):
        database.table(PAIR)


def test_missing_tables(directory: Path, path: Path) -> None:
    with Database(directory) as database:
        assert database.has(PAIR)
        assert not database.has(MovingPair(5, 3))
        with pytest.raises(MissingTableError, match=r"no table moving_5-3 .* python scripts/solve\.py six --dir"):
            database.table(MovingPair(5, 3))
        with pytest.raises(KeyError):
            database.table(PlacingSubspace(0, 0, 0))


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        (SIX, "python scripts/solve.py six --dir 'my data'"),
        (
            SIX.replace(flying=True, quiet_limit=40),
            "python scripts/solve.py six --dir 'my data' --set flying=True quiet_limit=40",
        ),
        (Rules("mine", NINE_POINTS_DIAGONALS, 3), "solver.solve(rules, 'my data') in Python"),
    ],
)
def test_the_command_to_compute_what_is_missing(rules: Rules, command: str) -> None:
    assert solve_command(rules, "my data") == command


def test_a_closed_database(directory: Path, path: Path) -> None:
    with Database(directory) as database:
        table = database.table(PAIR)
        assert database.table(PAIR) is table
    with pytest.raises(DatabaseError, match="closed"):
        database.table(PAIR)


def test_few_files_are_open_at_a_time(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.tables.database._MAX_OPEN_FILES", 2)
    subspaces = [MovingPair(3, 3), PlacingSubspace(6, 3, 3), PlacingSubspace(7, 3, 3), PlacingSubspace(8, 3, 3)]
    planes = {subspace: random_codes(SIX, subspace, seed=i) for i, subspace in enumerate(subspaces)}
    for subspace in subspaces:
        write_codes(directory, SIX, subspace, planes[subspace])
    with Database(directory, cache_bytes=0) as database:
        for subspace in (*subspaces, *reversed(subspaces)):
            table = database.table(subspace)
            for plane, codes in planes[subspace].items():
                assert table.read(plane, 2, 3) == codes[2, 3]
            assert sum(t._file is not None for t in database._tables.values()) <= 2


def test_one_probe_reads_one_chunk(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_file, "CHUNK_VALUES", 500)
    planes = random_codes(SIX, PAIR)
    table = Table(write_codes(directory, SIX, PAIR, planes), Cache(limit=1000))
    read = []
    monkeypatch.setattr(
        Table, "_chunk", lambda self, plane, n, chunk=Table._chunk: read.append(n) or chunk(self, plane, n)
    )
    for row in (0, 1, 0, 7, 100):
        assert table.read(ROW_TO_MOVE, row, 9) == planes[ROW_TO_MOVE][row, 9]
    assert read == [0, 3, 50]  # two rows a chunk


def test_the_cache_forgets_what_was_not_used() -> None:
    cache = Cache(limit=25)
    arrays = [np.zeros(10, np.uint8) for _ in range(3)]
    for number, array in enumerate(arrays[:2]):
        cache.put((None, ROW_TO_MOVE, number), array)
    assert cache.get((None, ROW_TO_MOVE, 0)) is arrays[0]
    cache.put((None, ROW_TO_MOVE, 2), arrays[2])
    assert cache.get((None, ROW_TO_MOVE, 1)) is None
    assert cache.get((None, ROW_TO_MOVE, 0)) is arrays[0]
    cache.put((None, ROW_TO_MOVE, 3), np.zeros(26, np.uint8))
    assert cache.get((None, ROW_TO_MOVE, 3)) is None


def test_many_threads_may_read(directory: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planes = {plane: Table(path).load(plane) for plane in PAIR.planes}
    rows, columns = planes[ROW_TO_MOVE].shape
    with Database(directory, cache_bytes=1) as database, ThreadPoolExecutor(8) as pool:

        def read(seed: int) -> bool:
            rng = np.random.default_rng(seed)
            r, c = rng.integers(0, rows, 20), rng.integers(0, columns, 20)
            table = database.table(PAIR)
            if seed % 5 == 0:
                table.close()
            plane = PAIR.planes[seed % 2]
            return np.array_equal(table.read_many(plane, r, c), planes[plane][r, c])

        assert all(pool.map(read, range(200)))
