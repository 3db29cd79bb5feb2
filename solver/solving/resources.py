"""How much memory and disk a job needs, and whether they are there: better refused at once than killed after hours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from solver.errors import DatabaseError
from solver.game.rules import Phase, Rules
from solver.indexing.index import SubspaceIndex
from solver.indexing.subspaces import MovingPair, Subspace, counts_after, placing_subspaces
from solver.kernels.tables import stride_of

BASE_BYTES = 700 << 20
"""Interpreter, compiled code, index tables, frontier lists, planes kept for the next pair; measured."""

KEPT_BYTES: dict[Phase, int] = {"moving": 256 << 20, "placing": 1280 << 20}
"""Planes kept in memory for the subspaces that need them next. The largest of nine men has 600 MB."""

DISK_BYTES_PER_INDEX = 0.45
"""More than any rule set has taken: `nine` takes 0.34 bytes."""


def plane_bytes(index: SubspaceIndex) -> int:
    """Memory of one plane while it is being solved."""
    return index.shape[0] * stride_of(index.shape[1])


def memory_needed(rules: Rules, subspace: Subspace) -> int:
    """Bytes that solving ``subspace`` takes at its peak: its planes and those that it is valued by."""
    own = plane_bytes(subspace.index(rules.board))
    if isinstance(subspace, MovingPair):
        captured = sum(plane_bytes(pair.index(rules.board)) for pair in subspace.dependencies())
        return BASE_BYTES + 2 * own + captured
    counts = counts_after(rules, subspace.ply, subspace.white, subspace.black)
    after = [plane_bytes(SubspaceIndex(rules.board, *stones)) for stones in counts]
    kept = min(KEPT_BYTES["placing"], sum(plane_bytes(other.index(rules.board)) for other in placing_subspaces(rules)))
    codes = max(sum(after), kept)
    if subspace.ply == 2 * rules.stones - 1:
        codes += max(after)  # a plane of the moving phase that is being transposed
    # White's turns also take scores: quiet, after one removal and, with two, after the first and the second.
    scores = 2 * after[0] + sum(after[:2]) * (len(after) > 2) if subspace.ply % 2 == 0 else 0
    return BASE_BYTES + own + codes + scores


def available_memory() -> int | None:
    """Bytes that a new process can have, or None where the system does not tell."""
    limits: list[int] = []
    try:
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        meminfo = ""  # not Linux
    limits += [int(line.split()[1]) << 10 for line in meminfo.splitlines() if line.startswith("MemAvailable:")]
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    except ImportError:
        pass  # Windows
    return min(limits, default=None)


def disk_needed(rules: Rules, subspaces: Sequence[Subspace], kept_plies: int) -> int:
    """Bytes of disk that solving ``subspaces`` takes at its peak: what stays, and two layers that do not."""
    kept = 0
    passing = dict.fromkeys(range(2 * rules.stones + 1), 0)
    for subspace in subspaces:
        indices = subspace.index(rules.board).size * len(subspace.planes)
        if subspace.ply is None or subspace.ply < kept_plies:
            kept += indices
        else:
            passing[subspace.ply] += indices
    most = max(passing[ply] + passing[ply + 1] for ply in range(2 * rules.stones))
    return int((kept + most) * DISK_BYTES_PER_INDEX)


def check_resources(rules: Rules, directory: Path, subspaces: Sequence[Subspace], kept_plies: int) -> None:
    """:raises DatabaseError: where memory or disk will not do for ``subspaces``, with the numbers"""
    if not subspaces:
        return
    largest = max(subspaces, key=lambda subspace: memory_needed(rules, subspace))
    needed, available = memory_needed(rules, largest), available_memory()
    if available is not None and needed > available:
        raise DatabaseError(
            f"{largest.name} needs {_megabytes(needed)} of memory, {_megabytes(available)} are available; "
            "close other programs, or solve fewer stones"
        )
    on_disk, free = disk_needed(rules, subspaces, kept_plies), shutil.disk_usage(directory).free
    if on_disk > free:
        raise DatabaseError(
            f"{os.fspath(directory)}: {len(subspaces)} tables may need {_megabytes(on_disk)} of disk, "
            f"{_megabytes(free)} are free; make room or choose another disk"
        )


def _megabytes(n: int) -> str:
    return f"{n / (1 << 20):,.0f} MB"


def reset_peak_memory() -> None:
    """Let :func:`peak_memory` count from here on, where the system can do that (Linux)."""
    with suppress(OSError):  # elsewhere the peak of the whole process is reported
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory() -> int | None:
    """The most memory that this process has had since :func:`reset_peak_memory`, in bytes; None if it is not told."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass  # not Linux
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
