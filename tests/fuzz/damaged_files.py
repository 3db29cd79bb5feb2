"""Damaged table files: each must be refused by a clean error, or read as if it were whole.

Files are damaged and read in processes of their own, some at a time, so that a crash of libhdf5, a hang or a hunger for
memory is seen and laid at the door of the file that caused it::

    python -m tests.fuzz.damaged_files --files 1000 --seed 0

It prints what happened how often, each bad file on a line of its own with the seed that makes it again, and leaves with
status 1 if there was one. ``tests/test_faults.py`` runs some of it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from solver.errors import DatabaseError
from solver.game.rules import get_rules
from solver.indexing.subspaces import MovingPair
from solver.tables.database import Table, create_directory
from tests.support.paths import ROOT
from tests.support.written_tables import random_codes, write_codes

PAIR = MovingPair(4, 3)
RULES = get_rules("six")

BATCH = 50
SECONDS = 120  # for a batch; a file takes some milliseconds
MEMORY = 4 << 30  # bytes of address space; a file has 40 KB

# Where HDF5 keeps what it needs to find anything else.
_SIGNATURES = (b"\x89HDF", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF", b"FAHD", b"FADB")
_SIZES = (2**63 - 1, 2**64 - 1, 2**40, 2**32, 2**31 - 1)


def damage(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """(kind of damage, damaged file)."""
    spoiled = bytearray(data)
    size = len(data)
    kind = str(rng.choice(["bit", "bytes", "zeros", "noise", "cut", "tail", "swap", "structure", "size"]))
    place, length = int(rng.integers(size)), int(rng.integers(1, 2000))
    match kind:
        case "bit":
            spoiled[place] ^= 1 << int(rng.integers(8))
        case "bytes":
            for other in rng.integers(0, size, 20).tolist():
                spoiled[other] = int(rng.integers(256))
        case "zeros":
            spoiled[place : place + length] = bytes(len(spoiled[place : place + length]))
        case "noise":
            spoiled[place : place + length] = rng.bytes(len(spoiled[place : place + length]))
        case "cut":
            del spoiled[place:]
        case "tail":
            spoiled += rng.bytes(length)
        case "swap":
            other = int(rng.integers(size))
            length = min(length, size - max(place, other))
            spoiled[place : place + length], spoiled[other : other + length] = (
                data[other : other + length],
                data[place : place + length],
            )
        case "structure":
            place = _some_signature(data, rng) + int(rng.integers(64))
            if place < size:
                spoiled[place] = int(rng.integers(256))
        case "size":  # what looks like a length or an address, made huge or negative
            place = _some_signature(data, rng) + int(rng.integers(4, 64))
            spoiled[place : place + 8] = _SIZES[rng.integers(len(_SIZES))].to_bytes(8, "little")
    return kind, bytes(spoiled)


def _some_signature(data: bytes, rng: np.random.Generator) -> int:
    places = [place for signature in _SIGNATURES for place in _places(data, signature)]
    return int(rng.choice(places))


def _places(data: bytes, signature: bytes) -> Iterator[int]:
    place = data.find(signature)
    while place >= 0:
        yield place
        place = data.find(signature, place + 1)


def read_all(path: Path) -> dict[str, bytes]:
    """Everything that the package reads of a file. :raises DatabaseError: for a file that it refuses"""
    table = Table(path)
    try:
        table.check()
        found = {plane: table.load(plane).tobytes() for plane in PAIR.planes}
        for plane in PAIR.planes:
            statistics = table.statistics(plane)
            found[f"{plane}/raw"] = statistics.raw.tobytes()
            found[f"{plane}/attributes"] = repr(table.plane_attributes(plane)).encode()
        found["masks"] = table.row_masks().tobytes()
        found["attributes"] = repr((table.metric, table.rules, table.fingerprint, table.attributes)).encode()
        return found
    finally:
        table.close()


def run_batch(first: int, count: int, original: Path, folder: Path) -> None:
    """Damage and read files ``first``..; says on standard output what is tried and how it ended."""
    limit_memory()
    data = original.read_bytes()
    truth = read_all(original)
    path = folder / original.name
    for number in range(first, first + count):
        kind, spoiled = damage(data, np.random.default_rng(number))
        print(number, kind, end=" ", flush=True)
        path.write_bytes(spoiled)
        print(outcome(path, truth), flush=True)


def outcome(path: Path, truth: dict[str, bytes]) -> str:
    """``refused``, ``right``, ``wrong`` or the name of an error that should not have got out."""
    try:
        return "right" if read_all(path) == truth else "wrong"
    except DatabaseError as error:
        return "refused" if "\n" not in str(error) else "two-lines"
    except Exception as error:
        return f"raised-{type(error).__name__}"


def limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))


def fuzz(files: int, seed: int = 0) -> Counter[tuple[str, str]]:
    """How often each (kind of damage, outcome) came about; a crash shows as its signal, a hang as ``hung``."""
    found: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        original = make_original(Path(name))
        number, end = seed, seed + files
        while number < end:
            done, bad = _one_process(number, min(BATCH, end - number), original, Path(name))
            found.update(done)
            number += len(done) + (bad is not None)
            if bad is not None:
                found[bad] += 1
    return found


def make_original(folder: Path) -> Path:
    create_directory(folder / "whole", RULES)
    return write_codes(folder / "whole", RULES, PAIR, random_codes(RULES, PAIR))


def _one_process(
    first: int, count: int, original: Path, folder: Path
) -> tuple[list[tuple[str, str]], tuple[str, str] | None]:
    """(kind and outcome of each file, those of the file that ended the process)."""
    command = [sys.executable, "-m", "tests.fuzz.damaged_files", "--batch", str(first), str(count), original, folder]
    hung = False
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        out, status = run.stdout, run.returncode
    except subprocess.TimeoutExpired as timeout:
        out, status, hung = (timeout.stdout or b"").decode(), -9, True
    lines = [line.split() for line in out.splitlines()]
    done = [(kind, found) for _, kind, found in (line for line in lines if len(line) == 3)]
    for (kind, found), (number, *_) in zip(done, lines, strict=False):
        if found not in ("refused", "right"):
            print(f"file {number}: {kind}: {found}")
    if status == 0:
        return done, None
    if not hung and status > 0:
        raise RuntimeError(f"the fuzzer itself failed: {run.stderr}")
    number, kind = lines[-1][:2]
    bad = kind, "hung" if hung else f"crashed({-status})"
    print(f"file {number}: {kind}: {bad[1]}")
    return done, bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first file")
    parser.add_argument("--batch", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        first, count, original, folder = arguments.batch
        run_batch(int(first), int(count), Path(original), Path(folder))
        return 0
    found = fuzz(arguments.files, arguments.seed)
    for (kind, result), times in sorted(found.items()):
        print(f"{kind:10} {result:10} {times:6,}")
    return 0 if {result for _, result in found} <= {"refused", "right"} else 1


if __name__ == "__main__":
    sys.exit(main())
