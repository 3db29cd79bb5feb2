"""Threads that share the rows of a plane: each chunk of rows belongs to one thread, so kernels need no atomics."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

_CHUNKS_PER_THREAD = 8


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """A pool of ``threads`` threads (default: all cores) for kernels that free the GIL. A context manager."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or available_cores()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def chunks(self, rows: int) -> list[tuple[int, int]]:
        """Ranges (first, last) that cover ``rows``."""
        n = 1 if self._pool is None else max(1, min(rows, self.threads * _CHUNKS_PER_THREAD))
        bounds = [rows * k // n for k in range(n + 1)]
        return list(pairwise(bounds))

    def map(self, function: Callable[[int, int], T], ranges: list[tuple[int, int]]) -> list[T]:
        """``[function(first, last) for first, last in ranges]``, in threads."""
        if self._pool is None or len(ranges) == 1:
            return [function(first, last) for first, last in ranges]
        return list(self._pool.map(lambda bounds: function(*bounds), ranges))

    def over_rows(self, rows: int, function: Callable[[int, int], T]) -> list[T]:
        """``function`` on chunks that cover ``rows``."""
        return self.map(function, self.chunks(rows))
