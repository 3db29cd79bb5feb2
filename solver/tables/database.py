"""Tables on disk: one directory a rule set, one HDF5 file a subspace; this module reads them.

Nothing is trusted on the way back: values are checked chunk by chunk as they are read, everything else when a file is
opened, and a file must say that it is of the right rules, subspace and version. Files are opened when first needed.

``directory`` and ``table_file`` hold how they are written.
"""

from __future__ import annotations

import errno
import math
import os
import shlex
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from solver.errors import CorruptTableError, DatabaseError, MissingTableError, RulesMismatchError
from solver.game.rules import PRESETS, SWITCHES, Rules
from solver.indexing.subspaces import Plane, Subspace, parse_name
from solver.indexing.values import Metric, metric_of
from solver.tables.directory import (
    COMPUTE_AGAIN,
    check_same_rules,
    create_directory,
    differences,
    lock,
    read_rules,
    reading,
    remove_leftovers,
)
from solver.tables.hdf5_guard import HEAD_BYTES, check_head
from solver.tables.plane_counts import PlaneStatistics
from solver.tables.table_file import Codes, Header, position_text, read_header, table_path, write_table

__all__ = [
    "Cache",
    "Database",
    "Table",
    "create_directory",
    "lock",
    "position_text",
    "read_rules",
    "remove_leftovers",
    "solve_command",
    "table_path",
    "write_table",
]

CACHE_BYTES = 256 << 20
"""Bytes of values that an open database keeps in memory, unless told otherwise."""

_MAX_OPEN_FILES = 128  # some systems allow 256 a process


class Cache:
    """Chunks and planes in memory, the least recently used forgotten first. Safe to share between threads."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self._arrays: OrderedDict[tuple[object, Plane, int], Codes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[object, Plane, int]) -> Codes | None:
        """The array under ``key`` or None."""
        with self._lock:
            array = self._arrays.get(key)
            if array is not None:
                self._arrays.move_to_end(key)
            return array

    def put(self, key: tuple[object, Plane, int], array: Codes) -> None:
        """Keep ``array``, if it is not larger than the whole cache."""
        with self._lock:
            if key in self._arrays or array.nbytes > self.limit:
                return
            self._arrays[key] = array
            self._bytes += array.nbytes
            while self._bytes > self.limit:
                self._bytes -= self._arrays.popitem(last=False)[1].nbytes


_WHOLE = -1  # the number of a whole plane among those of its chunks


class Table:
    """One file, open for reading. Safe to share between threads.

    It is opened and checked at first use, and again after :meth:`close`. Values are checked as they are read.

    :raises CorruptTableError: on use, for a damaged, unfinished or misnamed file
    :raises FormatVersionError: on use, for another version of the format
    """

    def __init__(self, path: str | Path, cache: Cache | None = None) -> None:
        self.path = Path(path)
        self._cache = cache if cache is not None else Cache()
        self._lock = threading.RLock()
        self._file: h5py.File | None = None
        self._datasets: dict[Plane, h5py.Dataset] = {}
        self._header: Header | None = None

    def open(self) -> Table:
        """Open and check the file, if that has not been done."""
        self._opened()
        return self

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._datasets = None, {}

    def _opened(self) -> Header:
        with self._lock:
            if self._file is None:
                file = _open_hdf5(self.path)
                try:
                    self._header = read_header(file, self.path, self.path.stem)
                    self._datasets = {plane: file[plane] for plane in self._header.subspace.planes}
                except BaseException:
                    file.close()
                    raise
                self._file = file
            assert self._header is not None
            return self._header

    @property
    def _known(self) -> Header:
        """The header, which stays known while the file is closed."""
        return self._header or self._opened()

    def __repr__(self) -> str:
        return f"Table({str(self.path)!r})"

    @property
    def subspace(self) -> Subspace:
        return self._known.subspace

    @property
    def metric(self) -> Metric:
        """What the distances count."""
        return Metric(self._known.attributes["/"]["metric"])

    @property
    def rules(self) -> Rules:
        """The rules it was computed under; other rules of the same :attr:`fingerprint` have the same values."""
        return self._known.rules

    @property
    def fingerprint(self) -> str:
        """Of the rules, as far as they matter to the phase of this table."""
        return str(self._known.attributes["/"]["fingerprint"])

    @property
    def checksum(self) -> str:
        """Of the whole file: that of all but the values, which covers the checksums of the values."""
        return str(self._known.attributes["/"]["attributes_checksum"])

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the file."""
        return dict(self._known.attributes["/"])

    def plane_attributes(self, plane: Plane) -> dict[str, Any]:
        """The attributes of a plane: counts, longest win and loss with an example of each as position text."""
        return dict(self._known.attributes[plane])

    def shape(self, plane: Plane) -> tuple[int, int]:
        """(rows, columns)."""
        return self._known.grids[plane].shape

    def dtype(self, plane: Plane) -> np.dtype[np.unsignedinteger]:
        """Of the codes, uint8 or uint16."""
        return self._known.dtypes[plane]

    def row_masks(self) -> npt.NDArray[np.uint32]:
        """The stones of each row, shape (rows,)."""
        with reading(self.path), self._lock:
            self._opened()
            assert self._file is not None
            masks: npt.NDArray[np.uint32] = self._file["rows"][()]
            return masks

    def statistics(self, plane: Plane) -> PlaneStatistics:
        """The counts of a plane."""
        header = self._known
        raw, classes = header.histograms[plane].T.copy()
        statistics = PlaneStatistics(self.metric, raw, classes)
        attributes = header.attributes[plane]
        for result, code in (
            ("longest_win", statistics.longest_win_code),
            ("longest_loss", statistics.longest_loss_code),
        ):
            if code is not None and f"{result}_index" in attributes:
                row, column = attributes[f"{result}_index"]
                statistics.examples[code] = row, column
        return statistics

    def read(self, plane: Plane, row: int, column: int) -> int:
        """The code of one index; reads at most one chunk. :raises IndexError: outside the table."""
        grid = self._known.grids[plane]
        if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
            raise IndexError(f"index ({row}, {column}) lies outside {self.path.stem} of shape {grid.shape}")
        chunk = self._cached_chunk(plane, grid.number(row, column))
        return int(chunk[row % grid.chunk[0], column % grid.chunk[1]])

    def read_many(self, plane: Plane, rows: npt.ArrayLike, columns: npt.ArrayLike) -> Codes:
        """The codes of many indices, arrays of one dimension. :raises IndexError: outside the table."""
        rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        grid = self._known.grids[plane]
        if len(rows) and (
            min(rows.min(), columns.min()) < 0 or rows.max() >= grid.shape[0] or columns.max() >= grid.shape[1]
        ):
            raise IndexError(f"some indices lie outside {self.path.stem} of shape {grid.shape}")
        whole = self.whole_plane(plane, len(rows))
        if whole is not None:
            gathered: Codes = whole[rows, columns]
            return gathered
        return self._gather(plane, rows, columns, self._cached_chunk, threads=1)

    def read_scattered(
        self, plane: Plane, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], threads: int = 1
    ) -> Codes:
        """The codes of many indices inside the table, past the cache: each chunk that holds some is read once."""
        return self._gather(plane, rows, columns, self._chunk, threads)

    def _gather(
        self,
        plane: Plane,
        rows: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int64],
        chunk_of: Callable[[Plane, int], Codes],
        threads: int,
    ) -> Codes:
        """The codes of indices, chunk by chunk."""
        grid = self._known.grids[plane]
        codes = np.empty(len(rows), self.dtype(plane))
        numbers = grid.number(rows, columns)
        order = np.argsort(numbers, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(numbers[order])) + 1, len(order)) if len(order) else order

        def fill(k: int) -> None:
            same = order[ends[k - 1] if k else 0 : ends[k]]
            chunk = chunk_of(plane, int(numbers[same[0]]))
            codes[same] = chunk[rows[same] % grid.chunk[0], columns[same] % grid.chunk[1]]

        _in_threads(fill, len(ends), threads)
        return codes

    def whole_plane(self, plane: Plane, probes: int) -> Codes | None:
        """The plane, if it is in memory or if loading it pays for so many probes; otherwise None."""
        key = self, plane, _WHOLE
        codes = self._cache.get(key)
        if codes is None:
            grid = self._known.grids[plane]
            if probes >= grid.total and math.prod(grid.shape) * self.dtype(plane).itemsize <= self._cache.limit // 2:
                codes = self.load(plane)
                self._cache.put(key, codes)
        return codes

    def load(self, plane: Plane, threads: int = 1) -> Codes:
        """The whole plane, shape (rows, columns), read and checked by so many threads."""
        grid = self._known.grids[plane]
        codes = np.empty(grid.shape, self.dtype(plane))

        def fill(number: int) -> None:
            codes[grid.part(number)] = self._chunk(plane, number)

        _in_threads(fill, grid.total, threads)
        return codes

    def check(self, threads: int = 1) -> None:
        """Read the whole file. :raises CorruptTableError: where a checksum does not fit"""
        self.close()
        for plane, grid in self._opened().grids.items():
            _in_threads(partial(self._chunk, plane), grid.total, threads)

    def _cached_chunk(self, plane: Plane, number: int) -> Codes:
        key = self, plane, number
        chunk = self._cache.get(key)
        if chunk is None:
            chunk = self._chunk(plane, number)
            self._cache.put(key, chunk)
        return chunk

    def _chunk(self, plane: Plane, number: int) -> Codes:
        """Read, unpack and check one chunk, cut off at the edge of the plane."""
        with reading(self.path):
            with self._lock:
                header = self._opened()
                grid, dtype = header.grids[plane], header.dtypes[plane]
                stored = self._datasets[plane].id
                info = stored.get_chunk_info_by_coord(grid.origin(number))
                if info.byte_offset is None:
                    raise CorruptTableError(f"{self.path}: chunk {number} of {plane} is missing; {COMPUTE_AGAIN}")
                if info.size > 2 * math.prod(grid.chunk) * dtype.itemsize + 64:  # deflate adds little to noise
                    raise ValueError(f"chunk {number} of {plane} claims {info.size:,} bytes")
                skipped_filters, packed = stored.read_direct_chunk(grid.origin(number))
            size = math.prod(grid.chunk) * dtype.itemsize
            unpacked = packed if skipped_filters else zlib.decompressobj().decompress(packed, size)
            row, column = grid.origin(number)
            padded = np.frombuffer(unpacked, dtype).reshape(grid.chunk)
            chunk: Codes = np.ascontiguousarray(padded[: grid.shape[0] - row, : grid.shape[1] - column])
            found, expected = zlib.crc32(chunk.data), int(header.checksums[plane][number])
            if found != expected:
                raise CorruptTableError(
                    f"{self.path}: chunk {number} of {plane} was altered "
                    f"(checksum {found:08x}, expected {expected:08x}); {COMPUTE_AGAIN}"
                )
        return chunk


def _open_hdf5(path: Path) -> h5py.File:
    with reading(path):
        if not path.is_file():  # a pipe would keep us waiting
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with path.open("rb") as file:
            check_head(file.read(HEAD_BYTES), path, COMPUTE_AGAIN)
        try:
            return h5py.File(path, "r")
        except OSError:  # perhaps a disk that knows no locks; files never change, so we need none
            return h5py.File(path, "r", locking=False)


def _in_threads(function: Callable[[int], Any], count: int, threads: int) -> None:
    """``function`` of 0..count-1, the results dropped."""
    if threads == 1:
        for number in range(count):
            function(number)
        return
    with ThreadPoolExecutor(threads) as pool:
        bounds = [count * k // threads for k in range(threads + 1)]

        def run(k: int) -> None:
            for number in range(bounds[k], bounds[k + 1]):
                function(number)

        list(pool.map(run, range(threads)))


class Database:
    """The tables of a directory. A context manager; safe to share between threads.

    :param rules: what the directory is expected to hold; default: what it says

    :raises DatabaseError: where the directory is no database
    :raises RulesMismatchError: where it is one of other rules
    """

    def __init__(self, directory: str | Path, rules: Rules | None = None, cache_bytes: int = CACHE_BYTES) -> None:
        self.directory = Path(directory).absolute()  # files are opened later, perhaps from another working directory
        self.rules = read_rules(self.directory) if rules is None else check_same_rules(self.directory, rules)
        self._cache = Cache(cache_bytes)
        self._tables: dict[Subspace, Table] = {}
        self._open: OrderedDict[Subspace, None] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Database({str(self.directory)!r})"

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._closed = True
            for table in self._tables.values():
                table.close()

    def has(self, subspace: Subspace) -> bool:
        """Whether the table of ``subspace`` has been computed."""
        return table_path(self.directory, subspace).is_file()

    def forget(self, subspaces: Iterable[Subspace]) -> None:
        """Close the tables of ``subspaces``, whose files are about to be removed."""
        with self._lock:
            for subspace in subspaces:
                self._open.pop(subspace, None)
                if table := self._tables.pop(subspace, None):
                    table.close()

    def subspaces(self) -> list[Subspace]:
        """The subspaces whose tables have been computed."""
        found = []
        for path in sorted(self.directory.glob("*.h5")):
            try:
                found.append(parse_name(path.stem))
            except ValueError:
                continue  # not one of ours
        return found

    def used(self) -> list[Subspace]:
        """The subspaces whose tables have been looked into so far."""
        with self._lock:
            return sorted(self._tables, key=lambda subspace: subspace.name)

    def table(self, subspace: Subspace) -> Table:
        """The table of ``subspace``, checked.

        :raises MissingTableError: where it has not been computed
        :raises DatabaseError: where its file is damaged or of other rules
        """
        with self._lock:
            if self._closed:
                raise DatabaseError(f"{self.directory}: the database has been closed; open it again")
            table = self._tables.get(subspace)
            if table is None:
                table = self._new_table(subspace)
                self._tables[subspace] = table
            self._open[subspace] = None
            self._open.move_to_end(subspace)
            if len(self._open) > _MAX_OPEN_FILES:
                self._tables[self._open.popitem(last=False)[0]].close()
            return table

    def _new_table(self, subspace: Subspace) -> Table:
        path = table_path(self.directory, subspace)
        if not path.is_file():
            raise MissingTableError(
                f"{self.directory}: no table {subspace.name} for the rules {self.rules.name!r}; "
                f"compute it: {solve_command(self.rules, self.directory)}"
            )
        table = Table(path, self._cache).open()
        if table.fingerprint != self.rules.fingerprint(subspace.phase):
            table.close()
            words = ", ".join(differences(table.rules, self.rules, subspace.phase))
            raise RulesMismatchError(
                f"{path}: computed under the rules {table.rules.name!r}, expected {self.rules.name!r}: {words}; "
                "put back the right file, or delete this one"
            )
        if table.metric is not metric_of(self.rules, subspace.phase):
            raise CorruptTableError(
                f"{path}: metric {table.metric}, expected {metric_of(self.rules, subspace.phase)}; {COMPUTE_AGAIN}"
            )
        return table


def solve_command(rules: Rules, directory: str | Path) -> str:
    """What to type to compute the tables of ``rules``."""
    preset = PRESETS.get(rules.name.partition("+")[0])
    if preset is None or preset.board != rules.board:
        return f"solver.solve(rules, {str(directory)!r}) in Python"
    settings = [f"{s}={getattr(rules, s)}" for s in SWITCHES if getattr(rules, s) != getattr(preset, s)]
    words = [
        "python",
        "scripts/solve.py",
        preset.name,
        "--dir",
        str(directory),
        *(["--set", *settings] if settings else []),
    ]
    return shlex.join(words)
