"""Tables for tests: written from the naive solver's values, and altered so that every checksum fits."""

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from solver.game.rules import Rules
from solver.indexing.subspaces import (
    ROW_TO_MOVE,
    PlacingSubspace,
    Plane,
    Subspace,
    hands,
    moving_pairs,
    placing_subspaces,
)
from solver.indexing.values import Value, encode, metric_of
from solver.tables.database import create_directory, table_path, write_table
from solver.tables.plane_counts import count_plane
from tests.support import naive
from tests.support.small_boards import geometry

Key = tuple[int, int, str, int, int]  # white, black, side to move, white hand, black hand


def naive_values(rules: Rules) -> dict[Key, Value]:
    """The values of all positions of both phases."""
    switches = {"flying": rules.flying, "removals": rules.double_mill, "quiet_limit": rules.quiet_limit}
    board = geometry(rules.board)
    moving = naive.solve_moving(*board, rules.stones, rules.stones, **switches)
    values = {(*key, 0, 0): Value(*value) for key, value in moving.items()}
    for key, value in naive.solve_placing(*board, rules.stones, **switches).items():
        values[key] = Value(*value)
    return values


def key_of(rules: Rules, subspace: Subspace, plane: Plane, row_side: int, column_side: int) -> Key:
    """The position with these stones; the row side of a moving pair is White."""
    if isinstance(subspace, PlacingSubspace):
        return row_side, column_side, ("white", "black")[subspace.ply % 2], *hands(rules, subspace.ply)
    return row_side, column_side, "white" if plane == ROW_TO_MOVE else "black", 0, 0


def indices(rules: Rules, subspace: Subspace) -> Iterator[tuple[int, int, int, int]]:
    """(row, column, stones of the row side, stones of the column side) of all indices."""
    index = subspace.index(rules.board)
    rows, columns = (a.ravel() for a in np.indices(index.shape))
    row_masks, column_masks = index.unrank_many(rows, columns)
    yield from zip(rows.tolist(), columns.tolist(), row_masks.tolist(), column_masks.tolist(), strict=True)


def write_naive_tables(directory: Path, rules: Rules, values: dict[Key, Value]) -> None:
    """Write all tables of ``rules`` from ``values``."""
    create_directory(directory, rules)
    for subspace in (*moving_pairs(rules), *placing_subspaces(rules)):
        write_codes(directory, rules, subspace, naive_codes(rules, subspace, values))


def naive_codes(rules: Rules, subspace: Subspace, values: dict[Key, Value]) -> dict[Plane, np.ndarray]:
    """The planes of a subspace."""
    metric = metric_of(rules, subspace.phase)
    planes: dict[Plane, np.ndarray] = {}
    for plane in subspace.planes:
        planes[plane] = np.zeros(subspace.index(rules.board).shape, np.uint8)
        for row, column, row_side, column_side in indices(rules, subspace):
            value = values[key_of(rules, subspace, plane, row_side, column_side)]
            planes[plane][row, column] = encode(value, metric)
    return planes


def random_codes(rules: Rules, subspace: Subspace, top: int = 60, seed: int = 1) -> dict[Plane, np.ndarray]:
    """Planes of nonsense with codes up to ``top``."""
    rng = np.random.default_rng(seed)
    dtype = np.uint8 if top <= 255 else np.uint16
    shape = subspace.index(rules.board).shape
    return {plane: rng.integers(0, top + 1, shape, dtype=dtype) for plane in subspace.planes}


def write_codes(directory: Path, rules: Rules, subspace: Subspace, planes: dict[Plane, np.ndarray]) -> Path:
    """Write planes with their true statistics."""
    metric = metric_of(rules, subspace.phase)
    statistics = {plane: count_plane(subspace.index(rules.board), codes, metric) for plane, codes in planes.items()}
    return write_table(directory, rules, subspace, metric, planes, statistics, seconds=1.5)


def alter_value(directory: Path, subspace: Subspace, plane: Plane, row: int, column: int, code: int) -> None:
    """Change one value and make all checksums fit."""
    path = table_path(directory, subspace)
    with h5py.File(path, "r+") as file:
        file[plane][row, column] = code
    rewrite_checksums(path)


def rewrite_checksums(path: Path) -> None:
    """Make all checksums of a file fit what is in it, by the words of FORMAT.md."""
    with h5py.File(path, "r+") as file:
        for plane in planes_of(file):
            file["checksums"][plane][...] = chunk_checksums(file[plane])
        file.attrs["attributes_checksum"] = attributes_checksum(file)


def planes_of(file: h5py.File) -> list[str]:
    return sorted({"row_to_move", "column_to_move"} & set(file))


def chunk_checksums(dataset: h5py.Dataset) -> np.ndarray:
    """The CRC-32 of each chunk."""
    (rows, columns), (height, width) = dataset.shape, dataset.chunks
    return np.array(
        [
            [zlib.crc32(dataset[r : r + height, c : c + width].tobytes()) for c in range(0, columns, width)]
            for r in range(0, rows, height)
        ],
        np.uint32,
    )


def attributes_checksum(file: h5py.File) -> str:
    """The SHA-256 of all but the values."""
    planes = planes_of(file)
    text = b""
    for name in ("/", *planes):
        attributes = {key: plain(value) for key, value in file[name].attrs.items()}
        for unsigned in ("attributes_checksum", "complete"):
            attributes.pop(unsigned, None)
        text += json.dumps([name, attributes], sort_keys=True).encode()
    kinds = ("checksums", "statistics")
    for name in sorted(["rows", "symmetries", *(f"{kind}/{plane}" for kind in kinds for plane in planes)]):
        data = file[name]
        text += json.dumps([name, data.dtype.str, list(data.shape)]).encode() + data[()].tobytes()
    return hashlib.sha256(text).hexdigest()


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
