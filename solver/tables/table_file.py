"""The layout of a table file and how it is written. ``data/FORMAT.md`` describes it for strangers.

Values are compressed in chunks of about 64 K, in threads, past HDF5's own filters (zlib frees the GIL, HDF5 does not);
the chunks are plain deflate all the same, which every HDF5 can read. Each chunk has a checksum, and everything else one
checksum together.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import zlib
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from solver.errors import CorruptTableError, DatabaseError
from solver.game.notation import PositionFields, Side, format_position
from solver.game.rules import Rules
from solver.indexing.counting import count_classes
from solver.indexing.index import SubspaceIndex
from solver.indexing.subspaces import ROW_TO_MOVE, PlacingSubspace, Plane, Subspace, hands, parse_name
from solver.indexing.values import Metric
from solver.tables.directory import (
    COMPUTE_AGAIN,
    FORMAT_VERSION,
    check_version,
    reading,
    rules_from_json,
    rules_to_json,
    temporary_file,
    writing,
)
from solver.tables.hdf5_guard import own_dataset, small_dataset
from solver.tables.plane_counts import PlaneStatistics

Codes = npt.NDArray[np.unsignedinteger]

TABLE_FORMAT = "merels table"

COMPRESSION_LEVEL = 4
"""Of deflate. Level 6 takes two to three times as long for files smaller by a twentieth, level 1 makes them larger by a
seventh."""

CHUNK_VALUES = 1 << 16
_CHUNKS_AT_A_TIME = 64

# HDF5 1.10 and newer: its metadata carry checksums of their own, and chunks are found without a search.
_LIBRARY_VERSIONS = ("v110", "v110")

_UNSIGNED = ("attributes_checksum", "complete")
_REQUIRED = (
    "rules",
    "rules_name",
    "fingerprint",
    "phase",
    "subspace",
    "row_stones",
    "column_stones",
    "metric",
    "conventions",
    "software",
    "seconds",
    "created",
    "attributes_checksum",
)


@dataclass(frozen=True)
class Grid:
    """How a plane is cut into chunks, numbered row by row.

    :param shape: (rows, columns) of the plane
    :param chunk: (rows, columns) of a chunk
    """

    shape: tuple[int, int]
    chunk: tuple[int, int]

    @classmethod
    def of_shape(cls, shape: tuple[int, int]) -> Grid:
        """Some whole rows a chunk, or equal slices of one row where rows are long."""
        rows, columns = shape
        if columns <= CHUNK_VALUES:
            return cls(shape, (min(rows, CHUNK_VALUES // columns), columns))
        slices = math.ceil(columns / CHUNK_VALUES)
        return cls(shape, (1, math.ceil(columns / slices)))

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many chunks there are down and across."""
        return math.ceil(self.shape[0] / self.chunk[0]), math.ceil(self.shape[1] / self.chunk[1])

    @property
    def total(self) -> int:
        return math.prod(self.counts)

    def origin(self, number: int) -> tuple[int, int]:
        """(row, column) of the first value of a chunk."""
        down, across = divmod(number, self.counts[1])
        return down * self.chunk[0], across * self.chunk[1]

    def part(self, number: int) -> tuple[slice, slice]:
        """Where the chunk lies in the plane; slices end at the edge of the plane by themselves."""
        row, column = self.origin(number)
        return slice(row, row + self.chunk[0]), slice(column, column + self.chunk[1])

    def number(self, row: Any, column: Any) -> Any:
        """The chunk of an index or of an array of indices."""
        return row // self.chunk[0] * self.counts[1] + column // self.chunk[1]


def _small_names(subspace: Subspace) -> list[str]:
    """The datasets besides the planes."""
    per_plane = [f"{kind}/{plane}" for kind in ("checksums", "statistics") for plane in subspace.planes]
    return ["rows", "symmetries", *per_plane]


def _small_datasets(file: h5py.File, subspace: Subspace) -> dict[str, npt.NDArray[Any]]:
    return {name: small_dataset(file, name)[()] for name in _small_names(subspace)}


def _attributes(item: h5py.File | h5py.Dataset) -> dict[str, Any]:
    """All attributes as plain Python values."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in item.attrs.items()}


def _digest(attributes: Mapping[str, Mapping[str, Any]], small: Mapping[str, npt.NDArray[Any]]) -> str:
    """One checksum of everything but the values; ``data/FORMAT.md`` defines it."""
    digest = hashlib.sha256()
    for name, values in sorted(attributes.items()):
        signed = {key: value for key, value in values.items() if key not in _UNSIGNED}
        digest.update(json.dumps([name, signed], sort_keys=True).encode())
    for name, array in sorted(small.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def table_path(directory: str | Path, subspace: Subspace) -> Path:
    return Path(directory) / f"{subspace.name}.h5"


def write_table(
    directory: str | Path,
    rules: Rules,
    subspace: Subspace,
    metric: Metric,
    planes: Mapping[Plane, Codes],
    statistics: Mapping[Plane, PlaneStatistics],
    *,
    seconds: float,
    peak_memory: int | None = None,
    threads: int = 1,
) -> Path:
    """Write the file of ``subspace``: whole, or not at all.

    :param planes: codes of each plane of the subspace, shape (rows, at least columns); further columns are padding
    :param seconds: what the computation took
    :param peak_memory: bytes of memory that it took, if known
    :param threads: threads that compress

    :raises ValueError: for planes that are not those of the subspace
    :raises DatabaseError: where the file cannot be written; nothing is left behind then
    """
    index = subspace.index(rules.board)
    _check_planes(index, subspace, planes, statistics)
    path = table_path(directory, subspace)
    dtype = "<u1" if max(len(statistics[plane].raw) for plane in subspace.planes) <= 256 else "<u2"
    with writing(path), temporary_file(path) as temporary:
        with _PatientFile(temporary) as disk, ThreadPoolExecutor(threads) as pool:
            with h5py.File(disk, "w", libver=_LIBRARY_VERSIONS) as file:
                _write_attributes(file, rules, subspace, metric, seconds)
                if peak_memory is not None:
                    file.attrs["peak_memory"] = peak_memory
                file["rows"] = index.classes.table.representatives.astype("<u4")
                file["symmetries"] = np.array(rules.board.symmetries, np.uint8)
                for plane in subspace.planes:
                    dataset = _create_plane(file, plane, index.shape, dtype)
                    file[f"checksums/{plane}"] = _write_chunks(dataset, planes[plane], pool, disk)
                    _write_statistics(file, rules, subspace, plane, statistics[plane])
                disk.raise_error()
                attributes = {name: _attributes(file[name]) for name in ("/", *subspace.planes)}
                file.attrs["attributes_checksum"] = _digest(attributes, _small_datasets(file, subspace))
                file.flush()
                file.attrs["complete"] = 1
            disk.raise_error()
        _check_written(temporary, subspace)
    return path


class _PatientFile(io.FileIO):
    """A new file that HDF5 can always write to: it crashes where a write fails, so it is told of success.

    Whoever made the file must ask with :meth:`raise_error`, at the end and before anything is read back.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "x+")
        self._error: OSError | None = None

    def write(self, data: Any, /) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left and self._error is None:
                left = left[super().write(left) :]
        except OSError as error:
            self._error = error
        return size

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def raise_error(self) -> None:
        """:raises OSError: what went wrong so far"""
        if self._error is not None:
            raise self._error


def _check_planes(
    index: SubspaceIndex, subspace: Subspace, planes: Mapping[Plane, Codes], statistics: Mapping[Plane, PlaneStatistics]
) -> None:
    if set(planes) != set(subspace.planes) or set(statistics) != set(subspace.planes):
        raise ValueError(f"{subspace.name} has the planes {subspace.planes}, got {tuple(planes)}, {tuple(statistics)}")
    rows, columns = index.shape
    for plane, codes in planes.items():
        if codes.dtype not in (np.uint8, np.uint16) or codes.shape[0] != rows or codes.shape[1] < columns:
            raise ValueError(
                f"{subspace.name}/{plane}: expected uint8 or uint16 of {rows} rows and at least {columns} columns, "
                f"got {codes.dtype} of shape {codes.shape}"
            )


def _write_attributes(file: h5py.File, rules: Rules, subspace: Subspace, metric: Metric, seconds: float) -> None:
    attributes: dict[str, Any] = {
        "format": TABLE_FORMAT,
        "format_version": FORMAT_VERSION,
        "rules": rules_to_json(rules),
        "rules_name": rules.name,
        "fingerprint": rules.fingerprint(subspace.phase),
        "phase": subspace.phase,
        "subspace": subspace.name,
        "row_stones": subspace.row_stones,
        "column_stones": subspace.column_stones,
        "metric": metric.value,
        "conventions": _conventions(subspace, metric),
        "software": software_versions(),
        "seconds": round(seconds, 3),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if isinstance(subspace, PlacingSubspace):
        attributes |= {"ply": subspace.ply, "hands": np.array(hands(rules, subspace.ply))}
    for name, value in attributes.items():
        file.attrs[name] = value


def _conventions(subspace: Subspace, metric: Metric) -> str:
    sides = (
        "White is the row side, Black the column side."
        if isinstance(subspace, PlacingSubspace)
        else "The row side is the side with more stones, of either colour; both hands are empty."
    )
    codes = {
        Metric.DTM: "Depth = code - 1, in plies to the end of the game.",
        Metric.DTC: "Depth = code >> 1, in plies to the next mill or the end of the game.",
        Metric.WDL: "No depth is stored.",
    }
    return (
        f"{sides} In plane row_to_move the row side is to move, in column_to_move the column side. "
        f"Values are from the side to move: 0 draw, odd codes loss, even codes win. {codes[metric]}"
    )


def software_versions() -> str:
    """The versions of what makes and checks tables, in one line."""
    versions = []
    for package in ("merels", "numpy", "numba", "h5py"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} (not installed)")
    return ", ".join([*versions, f"HDF5 {h5py.version.hdf5_version}", f"Python {platform.python_version()}"])


def _create_plane(file: h5py.File, plane: Plane, shape: tuple[int, int], dtype: str) -> h5py.Dataset:
    chunk = Grid.of_shape(shape).chunk
    return file.create_dataset(
        plane, shape, dtype, chunks=chunk, compression="gzip", compression_opts=COMPRESSION_LEVEL
    )


def _write_chunks(
    dataset: h5py.Dataset, codes: Codes, pool: Executor, disk: _PatientFile
) -> npt.NDArray[np.unsignedinteger]:
    """Compress the chunks of a plane in ``pool``, write them, and return their checksums, shape ``Grid.counts``."""
    grid = Grid(dataset.shape, dataset.chunks)
    inside = codes[:, : grid.shape[1]]

    def pack(number: int) -> tuple[int, bytes]:
        values = np.ascontiguousarray(inside[grid.part(number)], dataset.dtype)
        padded = values
        if values.shape != grid.chunk:
            padded = np.zeros(grid.chunk, dataset.dtype)
            padded[: values.shape[0], : values.shape[1]] = values
        return zlib.crc32(values.data), zlib.compress(padded.data, COMPRESSION_LEVEL)

    checksums = np.zeros(grid.total, "<u4")
    for first in range(0, grid.total, _CHUNKS_AT_A_TIME):
        numbers = range(first, min(first + _CHUNKS_AT_A_TIME, grid.total))
        for number, (checksum, packed) in zip(numbers, pool.map(pack, numbers), strict=True):
            checksums[number] = checksum
            dataset.id.write_direct_chunk(grid.origin(number), packed)
        disk.raise_error()
    return checksums.reshape(grid.counts)


def _write_statistics(
    file: h5py.File, rules: Rules, subspace: Subspace, plane: Plane, statistics: PlaneStatistics
) -> None:
    attributes = file[plane].attrs
    file[f"statistics/{plane}"] = np.stack([statistics.raw, statistics.classes], axis=1).astype("<i8")
    attributes["raw_wins_draws_losses"] = np.array(statistics.raw_wdl)
    attributes["class_wins_draws_losses"] = np.array(statistics.classes_wdl)
    for result, depth, code in (
        ("longest_win", statistics.longest_win, statistics.longest_win_code),
        ("longest_loss", statistics.longest_loss, statistics.longest_loss_code),
    ):
        attributes[result] = depth
        if code is not None and code in statistics.examples:
            row, column = statistics.examples[code]
            attributes[f"{result}_index"] = np.array([row, column])
            attributes[f"{result}_example"] = position_text(rules, subspace, plane, row, column)


def position_text(rules: Rules, subspace: Subspace, plane: Plane, row: int, column: int) -> str:
    """Position text of an index. Where either colour may move, it is White."""
    white, black = subspace.index(rules.board).unrank(row, column)
    side: Side = "white"
    in_hand = 0, 0
    if isinstance(subspace, PlacingSubspace):
        side = "white" if subspace.ply % 2 == 0 else "black"
        in_hand = hands(rules, subspace.ply)
    elif plane != ROW_TO_MOVE:
        white, black = black, white
    return format_position(rules.board, PositionFields(white, black, side, in_hand, quiet_turns=0))


def _check_written(temporary: Path, subspace: Subspace) -> None:
    """Open the file again and see that its header is right and no chunk is missing."""
    with h5py.File(temporary, "r") as file:
        header = read_header(file, temporary, subspace.name)
        for plane, grid in header.grids.items():
            if file[plane].id.get_num_chunks() != grid.total:
                raise DatabaseError(f"{temporary}: the disk did not keep all chunks; check the disk and run again")


@dataclass(frozen=True)
class Header:
    """Everything of a file but its values.

    :param attributes: of the file (``"/"``) and of its planes
    :param checksums: of the chunks in the order of their numbers
    :param histograms: raw positions and classes by code, shape (codes, 2)
    """

    rules: Rules
    subspace: Subspace
    attributes: dict[str, dict[str, Any]]
    grids: dict[Plane, Grid]
    dtypes: dict[Plane, np.dtype[np.unsignedinteger]]
    checksums: dict[Plane, npt.NDArray[np.uint32]]
    histograms: dict[Plane, npt.NDArray[np.int64]]


def read_header(file: h5py.File, path: Path, name: str) -> Header:
    """Read and check all of the file but its values; ``name`` is that of the subspace it should hold."""
    with reading(path):
        attributes = {"/": _attributes(file)}
        _check_attributes(attributes["/"], path, name)
        subspace = parse_name(name)
        datasets = {plane: own_dataset(file, plane) for plane in subspace.planes}
        attributes |= {plane: _attributes(dataset) for plane, dataset in datasets.items()}
        small = _small_datasets(file, subspace)
        found, expected = _digest(attributes, small), attributes["/"]["attributes_checksum"]
        if found != expected:
            raise CorruptTableError(
                f"{path}: its attributes or statistics were altered (checksum {found}, expected {expected}); "
                f"{COMPUTE_AGAIN}"
            )
        rules = rules_from_json(attributes["/"]["rules"], str(path))
        _check_types(attributes, small, subspace)
        for plane, dataset in datasets.items():
            _check_layout(dataset, path, rules, subspace, small[f"checksums/{plane}"].shape)
        return Header(
            rules,
            subspace,
            attributes,
            {plane: Grid(dataset.shape, dataset.chunks) for plane, dataset in datasets.items()},
            {plane: dataset.dtype for plane, dataset in datasets.items()},
            {plane: small[f"checksums/{plane}"].reshape(-1) for plane in datasets},
            {plane: small[f"statistics/{plane}"] for plane in datasets},
        )


def _check_attributes(attributes: Mapping[str, Any], path: Path, name: str) -> None:
    if attributes.get("format") != TABLE_FORMAT:
        raise CorruptTableError(f"{path}: HDF5, but no table of this package (no attribute format={TABLE_FORMAT!r})")
    check_version(path, int(attributes.get("format_version", 0)))
    if attributes.get("complete") != 1:
        raise CorruptTableError(f"{path}: was never completed; {COMPUTE_AGAIN}")
    missing = [required for required in _REQUIRED if required not in attributes]
    if missing:
        raise CorruptTableError(f"{path}: lacks the attribute {missing[0]!r}; {COMPUTE_AGAIN}")
    if attributes["subspace"] != name:
        raise CorruptTableError(
            f"{path}: holds the subspace {attributes['subspace']!r}, expected {name!r} by its name; rename it back"
        )


def _check_types(
    attributes: Mapping[str, Mapping[str, Any]], small: Mapping[str, npt.NDArray[Any]], subspace: Subspace
) -> None:
    """:raises ValueError: where something that fits its checksum is not of the form that readers count on"""
    Metric(attributes["/"]["metric"])
    float(attributes["/"]["seconds"])
    forms = [("rows", "<u4", 1), ("symmetries", "|u1", 2)]
    for plane in subspace.planes:
        forms += [(f"checksums/{plane}", "<u4", 2), (f"statistics/{plane}", "<i8", 2)]
        for result in ("longest_win", "longest_loss"):
            row, column = attributes[plane].get(f"{result}_index", (0, 0))
            if not isinstance(row, int) or not isinstance(column, int):
                raise ValueError(f"{result}_index of {plane} is no index")
            if not str(attributes[plane].get(f"{result}_example", "")).isprintable():
                raise ValueError(f"{result}_example of {plane} is no position text")
        if small[f"statistics/{plane}"].shape[1:] != (2,) or not len(small[f"statistics/{plane}"]):
            raise ValueError(f"statistics/{plane} are not two counts a code")
    for name, dtype, dimensions in forms:
        if (small[name].dtype.str, small[name].ndim) != (dtype, dimensions):
            raise ValueError(f"{name} is {small[name].dtype.str} of {small[name].ndim} dimensions")


def _check_layout(
    dataset: h5py.Dataset, path: Path, rules: Rules, subspace: Subspace, checksums: tuple[int, ...]
) -> None:
    rows = count_classes(rules.board, subspace.row_stones, 0)
    expected = rows, math.comb(rules.board.n_points - subspace.row_stones, subspace.column_stones)
    problem = ""
    if dataset.shape != expected:
        problem = f"the shape {dataset.shape}, expected {expected}"
    elif dataset.dtype.str not in ("|u1", "<u2"):
        problem = f"the type {dataset.dtype.str}, expected |u1 or <u2"
    elif dataset.compression != "gzip" or dataset.id.get_create_plist().get_nfilters() != 1:
        problem = "other filters, expected deflate alone"
    elif dataset.chunks[0] > rows or dataset.chunks[1] > expected[1]:
        problem = f"chunks of {dataset.chunks}, expected none larger than the plane"
    elif checksums != Grid(expected, dataset.chunks).counts:
        problem = f"checksums of shape {checksums}, expected one for each chunk of {dataset.chunks}"
    if problem:
        raise CorruptTableError(f"{path}: {dataset.name[1:]} has {problem}; {COMPUTE_AGAIN}")
