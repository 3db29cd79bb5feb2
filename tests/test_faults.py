"""Faults: whatever happens to a job, its files or its machine, nothing finished is lost and no answer is wrong.

More of this stands in ``test_database`` (full disk, truncated and foreign files, older formats), ``test_solving``
(interrupted and killed jobs, locks) and ``test_jit`` (no cache folder). The long ones here take some minutes::

    python -m pytest tests/test_faults.py -m slow
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import h5py
import pytest

from solver.commands import command_line
from solver.errors import DatabaseError
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import MovingPair
from solver.lookup.tablebase import open_tablebase
from solver.proof.verifier import verify
from solver.solving import job
from solver.solving.job import solve
from solver.tables import table_file
from solver.tables.database import Database, Table, create_directory, remove_leftovers, table_path
from solver.tables.verification_record import read_record, status_of, write_record
from tests.fuzz.damaged_files import PAIR, RULES, fuzz, make_original, outcome, read_all
from tests.support.paths import ROOT
from tests.support.written_tables import random_codes, write_codes

THREE = get_rules("six", stones=3)
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def values_of(directory: Path) -> dict[str, bytes]:
    """All values of a directory, by table and plane."""
    with Database(directory) as database:
        return {
            f"{subspace.name}/{plane}": database.table(subspace).load(plane).tobytes()
            for subspace in database.subspaces()
            for plane in subspace.planes
        }


@pytest.fixture(scope="session")
def three(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of three stones a side on 16 points."""
    return solved(THREE)


def in_child(function: Callable[[], object]) -> int:
    """Run ``function`` in a copy of this process; its exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Kills


def killed_at(step: int, function: Callable[[], object]) -> None:
    """Run ``function`` and kill this process, as by ``kill -9``, before its ``step``-th line of Python."""
    left = step

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    threading.settrace(trace)
    function()


@POSIX
def test_killed_at_any_moment_of_writing(tmp_path: Path) -> None:
    """30 moments between the first line and the last, renaming included: the old table, or the new one.

    Threads do not wait for one another equally often each time, so that the last moments may come after the end.
    """
    create_directory(tmp_path, RULES)
    path = write_codes(tmp_path, RULES, PAIR, random_codes(RULES, PAIR, seed=1))
    old = read_all(path)
    write_codes(tmp_path, RULES, PAIR, random_codes(RULES, PAIR, seed=2))
    new = read_all(path)
    planes = random_codes(RULES, PAIR, seed=2)

    def write() -> None:
        write_codes(tmp_path, RULES, PAIR, planes)

    found, kills = set(), 0
    rng = random.Random(1)
    last = lines_of(write)
    for step in [*rng.sample(range(last), 15), *range(last - 75, last, 5)]:
        write_codes(tmp_path, RULES, PAIR, random_codes(RULES, PAIR, seed=1))
        status = in_child(lambda step=step: killed_at(step, write))
        assert status in (0, -signal.SIGKILL)
        kills += status != 0
        now = read_all(path)
        planes_now = {plane: now[plane] for plane in PAIR.planes}
        assert planes_now in ({p: old[p] for p in PAIR.planes}, {p: new[p] for p in PAIR.planes})
        found.add(planes_now == {p: new[p] for p in PAIR.planes})
        with Database(tmp_path) as database:
            assert database.subspaces() == [PAIR]
        remove_leftovers(tmp_path)
        assert sorted(os.listdir(tmp_path)) == [path.name, "rules.json"]
    assert found == {False, True}
    assert kills >= 20


def lines_of(function: Callable[[], object]) -> int:
    """How many lines of Python ``function`` runs, as :func:`killed_at` counts them."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    threading.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]
    return lines


def kill_at_random_moments(truth: dict[str, bytes], folder: Path, job: str, kills: int, longest: float) -> None:
    """Kill a job after at most ``longest`` seconds, ``kills`` times in all; what is finished is true each time.

    Each run goes on where the last one was killed, or begins anew when all was done.
    """
    rng = random.Random(7)
    command = [sys.executable, str(ROOT / "scripts" / "solve.py"), *job.split(), "--quiet", "--dir"]
    directory, finished = folder / "job0", 0
    while kills:
        with subprocess.Popen([*command, directory], env=os.environ | {"PYTHONPATH": str(ROOT)}) as process:
            while not directory.exists() and process.poll() is None:
                time.sleep(0.001)
            try:
                process.wait(rng.uniform(0, longest))
            except subprocess.TimeoutExpired:
                process.kill()
        if process.returncode == 0:
            assert values_of(directory) == truth
            finished += 1
            directory = folder / f"job{finished}"
        else:
            assert process.returncode == -signal.SIGKILL
            kills -= 1
            if (directory / "rules.json").exists():
                done = values_of(directory)
                assert {name: truth[name] for name in done} == done
    subprocess.run([*command, directory], env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    assert values_of(directory) == truth
    assert not list(directory.glob(".*tmp*"))


@POSIX
@pytest.mark.slow
def test_a_job_killed_at_50_random_moments(three: Path, tmp_path: Path) -> None:
    """About three minutes."""
    kill_at_random_moments(values_of(three), tmp_path, "six --set stones=3", kills=50, longest=0.4)


@POSIX
@pytest.mark.slow
def test_nine_killed_at_ten_random_moments(tmp_path: Path) -> None:
    """About two minutes: the pairs of nine men's morris with at most nine stones."""
    solve(get_rules("nine"), tmp_path / "whole", max_stones=9, progress=False)
    job = "nine --phase moving --max-stones 9"
    kill_at_random_moments(values_of(tmp_path / "whole"), tmp_path, job, kills=10, longest=6)


# Disks


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """A file system of its own in memory."""
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a file system is not allowed here; test_database has a full disk by RLIMIT_FSIZE")
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_a_full_disk_keeps_what_is_finished(three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "check_resources", lambda *_: None)  # which would have refused at once
    truth = values_of(three)
    with small_disk(tmp_path / "disk", "44k") as disk:
        with pytest.raises(DatabaseError, match=r"\.h5: cannot be written \(No space left on device\)"):
            solve(THREE, disk / "three", progress=False)
        done = values_of(disk / "three")
        assert 0 < len(done) < len(truth)
        assert {name: truth[name] for name in done} == done
        assert not list((disk / "three").glob(".*tmp*"))
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        assert solve(THREE, disk / "three", progress=False).found
        assert values_of(disk / "three") == truth


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_a_directory_that_may_only_be_read(three: Path, tmp_path: Path) -> None:
    """Answers come as ever; a job ends in one line. Permissions do not stop the superuser, a read-only disk does."""
    with small_disk(tmp_path / "disk", "20m") as disk:
        directory = Path(shutil.copytree(three, disk / "three"))
        table_path(directory, MovingPair(3, 3)).unlink()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with open_tablebase(directory) as tablebase:
            assert tablebase.probe(Position(THREE)).wdl == 0
        for attempt in (lambda: solve(THREE, directory, progress=False), lambda: write_record(directory, {})):
            with pytest.raises(DatabaseError, match="Read-only file system") as error:
                attempt()
            assert "\n" not in str(error.value)


# Damaged files


def places(path: Path) -> dict[str, range]:
    """Where each kind of thing lies in a file."""
    data = path.read_bytes()
    found = {
        "superblock": range(48),
        "object header": range(at := data.index(b"OHDR"), at + 120),
        "heap of attributes": range(at := data.index(b"GCOL"), at + 1500),
        "index of attributes": range(at := data.index(b"BTHD"), at + 38),
    }
    with h5py.File(path) as file:
        for plane in PAIR.planes:
            chunk = file[plane].id.get_chunk_info(0)
            found[f"values of {plane}"] = range(chunk.byte_offset, chunk.byte_offset + chunk.size)
            for kind in ("checksums", "statistics"):
                found[f"{kind} of {plane}"] = extent(file[f"{kind}/{plane}"])
        for name in ("rows", "symmetries"):
            found[name] = extent(file[name])
    return found


def extent(dataset: h5py.Dataset) -> range:
    first = dataset.id.get_offset()
    return range(first, first + dataset.nbytes)


def test_a_flipped_bit_in_each_kind_of_stored_thing(tmp_path: Path) -> None:
    """20 bits of each of 14 kinds. Only what nobody reads, such as unused space, may change unnoticed."""
    path = make_original(tmp_path)
    data, truth = path.read_bytes(), read_all(path)
    rng = random.Random(3)
    for kind, extent_of_it in places(path).items():
        results = []
        for place in rng.choices(extent_of_it, k=20):
            spoiled = bytearray(data)
            spoiled[place] ^= 1 << rng.randrange(8)
            path.write_bytes(spoiled)
            results.append(outcome(path, truth))
        assert set(results) <= {"refused", "right"}, kind
        assert results.count("refused") >= 5, kind
        if kind.startswith(("values", "checksums", "statistics", "rows", "symmetries")):
            assert set(results) == {"refused"}, kind


def test_damaged_files_in_processes_of_their_own() -> None:
    found = fuzz(60, seed=1_000_000)
    assert sum(found.values()) == 60
    assert {result for _, result in found} <= {"refused", "right"}, found


@pytest.mark.slow
def test_a_thousand_damaged_files() -> None:
    """Some minutes: ``python -m pytest tests/test_faults.py -m slow -k thousand``."""
    found = fuzz(1000)
    assert sum(found.values()) == 1000
    assert {result for _, result in found} <= {"refused", "right"}, found


def test_a_damaged_heap_does_not_keep_hdf5_in_a_loop(tmp_path: Path) -> None:
    """An object of size zero in the global heap; libhdf5 2.0 reads it for ever."""
    path = make_original(tmp_path)
    data = bytearray(path.read_bytes())
    first = data.index(b"GCOL") + 16
    data[first : first + 16] = bytes(16)
    path.write_bytes(data)
    with pytest.raises(DatabaseError, match="global heap"):
        Table(path).check()


# Machines


def test_readers_beside_two_solvers(three: Path, tmp_path: Path) -> None:
    """Ten readers look at all that is finished, all the time; the second solver is told of the first."""
    truth, directory = values_of(three), tmp_path / "three"
    create_directory(directory, THREE)
    finished = threading.Event()
    refused = []

    def read() -> int:
        rounds = 0
        while not finished.is_set() or not rounds:
            done = values_of(directory)
            assert {name: truth[name] for name in done} == done
            rounds += 1
        return rounds

    def on_finished(*_: object) -> None:
        with pytest.raises(DatabaseError, match="another process is solving") as error:
            solve(THREE, directory, progress=False)
        refused.append(error)

    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read) for _ in range(10)]
        try:
            solve(THREE, directory, progress=False, on_finished=on_finished)
        finally:
            finished.set()
        assert all(reader.result() for reader in readers)
    assert len(refused) == len(list(directory.glob("*.h5")))
    assert values_of(directory) == truth


@POSIX
def test_a_memory_limit_is_respected_at_once(tmp_path: Path) -> None:
    """The largest pair of nine men's morris takes more than 1.5 GB; nothing is begun."""
    import resource

    command = [sys.executable, ROOT / "scripts" / "solve.py", "nine", "--phase", "moving", "--dir", tmp_path / "nine"]
    run = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1500 << 20, resource.RLIM_INFINITY)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith("error: moving_")
    assert "of memory, 1,500 MB are available" in run.stderr
    assert not list((tmp_path / "nine").glob("*.h5"))


def test_memory_that_runs_out_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def solve_pair(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(job, "solve_pair", solve_pair)
    with pytest.raises(SystemExit) as left:
        command_line.run(lambda: solve(THREE, tmp_path / "three", progress=False) and 0)
    assert left.value.code == 2
    assert capsys.readouterr().err == "error: out of memory; close other programs; finished tables are kept\n"


def test_a_clock_that_is_set_back(three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the future and a clock of 1970: nothing is computed again, nothing is believed less or more."""
    directory = Path(shutil.copytree(three, tmp_path / "three"))
    write_record(directory, verify(directory, progress=False).tables)
    for path in directory.iterdir():
        os.utime(path, (4e9, 4e9))

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(1970, 1, 2, tzinfo=UTC)

    monkeypatch.setattr(table_file, "datetime", Clock)
    monkeypatch.setattr(time, "time", lambda: 100_000.0)
    assert solve(THREE, directory, progress=False).computed == ()
    with Database(directory) as database:
        record = read_record(directory)
        assert all(status_of(database, record, subspace).is_verified for subspace in database.subspaces())
    pair = MovingPair(3, 3)
    table_path(directory, pair).unlink()
    assert solve(THREE, directory, progress=False).computed == (pair,)
    assert values_of(directory) == values_of(three)
    with Database(directory) as database:
        assert database.table(pair).attributes["created"].startswith("1970-01-02")
        assert not status_of(database, record, pair).is_verified  # another file, whatever its date
