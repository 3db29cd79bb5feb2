"""Settings of the compiler: where compiled code is kept, and that nothing depends on it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import solver
from solver.compiled import jit

PACKAGE = Path(solver.__file__).parent

# Solves a board of seven points with and without flying and shows a checksum of all values.
TINY_JOB = """
import zlib
from solver.game.boards import Board
from solver.game.rules import Rules
from tests.support.planes import solve_all
ring = tuple((p, (p + 1) % 7) for p in range(7))
board = Board("ring", tuple("abcdefg"), ring, ((0, 1, 2), (2, 3, 4), (4, 5, 6)), (7,))
planes = {}
for flying in (False, True):
    planes |= {(flying, key): found for key, found in solve_all(Rules("tiny", board, 3, flying)).items()}
print(zlib.crc32(b"".join(codes.tobytes() for found in planes.values() for codes in found.values())))
"""


def run(code: str, folder: Path = PACKAGE.parent, **environment: str) -> str:
    """The output of a Python program that sees the package in ``folder``."""
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(folder)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the package, whose sources a test may change."""
    shutil.copytree(PACKAGE, tmp_path / "solver", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def cache_folder(folder: Path, **environment: str) -> str:
    """The cache folder of the copy in ``folder``; found without compiling anything."""
    environment = {"NUMBA_CACHE_DIR": str(folder / "cache")} | environment
    return run("from solver.compiled.jit import CACHE_FOLDER; print(CACHE_FOLDER)", folder, **environment)


def test_the_cache_folder_changes_with_the_sources(copy: Path) -> None:
    before = cache_folder(copy)
    assert Path(before).is_dir()
    assert cache_folder(copy) == before
    with (copy / "solver" / "kernels" / "board.py").open("a") as file:
        file.write("# changed\n")
    assert cache_folder(copy) != before


def test_sources_without_compiled_code_do_not_matter(copy: Path) -> None:
    before = cache_folder(copy)
    with (copy / "solver" / "report.py").open("a") as file:
        file.write("# changed\n")
    assert cache_folder(copy) == before


def test_bounds_checks_have_a_cache_of_their_own(copy: Path) -> None:
    assert cache_folder(copy, MERELS_BOUNDSCHECK="1") != cache_folder(copy)


RANK = """
from solver.indexing import index
from solver.game.boards import BOARD_16
print(index.SubspaceIndex(BOARD_16, 3, 2).rank(7, 24), len(index._rank_many.stats.cache_hits))
"""


def test_compiled_code_is_found_again(tmp_path: Path) -> None:
    assert run(RANK, NUMBA_CACHE_DIR=str(tmp_path)) == "(0, 0) 0"
    assert run(RANK, NUMBA_CACHE_DIR=str(tmp_path)) == "(0, 0) 1"


def test_without_a_writable_cache(tmp_path: Path) -> None:
    """A file where the folder should be stops even the superuser."""
    (tmp_path / "file").touch()
    blocked = str(tmp_path / "file" / "cache")
    assert cache_folder(PACKAGE.parent, NUMBA_CACHE_DIR=blocked) == "None"
    assert run(RANK, NUMBA_CACHE_DIR=blocked) == "(0, 0) 0"


def test_without_a_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    gone = {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    assert cache_folder(PACKAGE.parent, **gone) == "None"


def test_the_cache_of_other_users_of_numba_stays(tmp_path: Path) -> None:
    code = "import solver.indexing.index, numba.core.config; print(numba.core.config.CACHE_DIR)"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == str(tmp_path)


def test_plain_python_gives_the_same_values() -> None:
    assert run(TINY_JOB, NUMBA_DISABLE_JIT="1") == run(TINY_JOB)


def test_importing_the_package_compiles_nothing() -> None:
    code = """
import numba.core.dispatcher as dispatcher
dispatcher.Dispatcher.compile = None
import solver
"""
    run(code)


def test_functions_without_a_source_file_are_compiled() -> None:
    scope: dict = {}
    exec("def double(x): return 2 * x", scope)
    double = jit.jit(scope["double"])
    assert double(21) == 42


@pytest.mark.slow
def test_no_access_out_of_bounds() -> None:
    """Both phases of small rule sets with bounds checks, all kernels compiled anew: about a minute.

    Run it with ``python -m pytest tests/test_jit.py -m slow``.
    """
    job = """
from solver.game.rules import get_rules, Rules
from tests.support.planes import solve_all, solve_moving
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS
for board in (NINE_POINTS, NINE_POINTS_DIAGONALS):
    for flying in (False, True):
        for quiet_limit in (0, 3):
            solve_all(Rules("small", board, 4, flying, 1, quiet_limit))
for switches in ({}, {"double_mill": 2}, {"quiet_limit": 40}, {"flying": True}):
    solve_all(get_rules("six", **switches), threads=2)
solve_moving(get_rules("nine"), max_stones=8, threads=2)
print("done")
"""
    assert run(job, MERELS_BOUNDSCHECK="1") == "done"


@pytest.mark.parametrize(
    "damage", ["bit", *(pytest.param(d, marks=pytest.mark.slow) for d in ("truncated", "empty", "text"))]
)
def test_a_damaged_cache_is_compiled_anew(tmp_path: Path, damage: str) -> None:
    """Machine code with a flipped bit would be run, and index files are pickles: neither is touched."""
    assert run(RANK, NUMBA_CACHE_DIR=str(tmp_path)) == "(0, 0) 0"
    files = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
    assert len(files) >= 2
    for path in files:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 16
        spoiled = {"truncated": data[:-20], "empty": b"", "bit": data, "text": b"cos\nsystem\n(S'false'\ntR." * 9}
        path.write_bytes(spoiled[damage])
    assert run(RANK, NUMBA_CACHE_DIR=str(tmp_path)) == "(0, 0) 0"
    assert run(RANK, NUMBA_CACHE_DIR=str(tmp_path)) == "(0, 0) 1"  # and was replaced
