"""What must be looked at before HDF5 may read a file that could be damaged or made to do harm.

HDF5 checks most of what it reads, but not its *global heap*, the place of attributes of variable length: an object of
size zero there keeps it in a loop for ever. And an HDF5 file may name other files, or claim to be larger than any
memory; nothing of ours does.
"""

from __future__ import annotations

from pathlib import Path

import h5py

from solver.errors import CorruptTableError

SIGNATURE = b"\x89HDF\r\n\x1a\n"

HEAD_BYTES = 1 << 16
"""How much of the start of a file :func:`check_head` wants. Writers make the heap first: it begins within 4 KB."""

MAX_SMALL_BYTES = 64 << 20
"""Of a dataset that is read as a whole. The largest is the list of rows of a board without symmetries, 11 MB."""

_HEAP = b"GCOL\x01\x00\x00\x00"
_HEAP_HEADER = 16  # signature, version, size of the whole heap
_OBJECT_HEADER = 16  # number, references, size


def check_head(head: bytes, path: Path, advice: str) -> None:
    """Check the first :data:`HEAD_BYTES` of a file.

    :raises CorruptTableError: for a file that is not HDF5, or with a heap that HDF5 must not read
    """
    if not head.startswith(SIGNATURE):
        raise CorruptTableError(f"{path}: {'no HDF5 file' if head else 'empty'}; {advice}")
    start = head.find(_HEAP)
    while start >= 0:
        end = start + int.from_bytes(head[start + 8 : start + 16], "little")
        if end <= len(head) and not _is_sound(head[start:end]):
            raise CorruptTableError(f"{path}: damaged (the objects of its global heap do not fill it); {advice}")
        start = head.find(_HEAP, start + 1)


def _is_sound(heap: bytes) -> bool:
    """Whether the objects of a heap follow one another to its end; the last one, number 0, is free space."""
    place = _HEAP_HEADER
    while len(heap) - place >= _OBJECT_HEADER:
        number = int.from_bytes(heap[place : place + 2], "little")
        size = int.from_bytes(heap[place + 8 : place + 16], "little")
        if number == 0:
            return place + size == len(heap)
        place += _OBJECT_HEADER + (size + 7 & ~7)
    return _HEAP_HEADER <= place <= len(heap)


def own_dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """The dataset ``name``, whose values lie in this very file. :raises ValueError: for anything else"""
    parent, _, last = f"/{name}".rpartition("/")
    group = file[parent] if parent else file
    if not isinstance(group.get(last, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link, expected a dataset")
    dataset = group[last]
    if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external:
        raise ValueError(f"{name} does not hold its values in this file")
    return dataset


def small_dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """The same for a dataset that will be read as a whole. :raises ValueError: for a large one, too"""
    dataset = own_dataset(file, name)
    if dataset.nbytes > MAX_SMALL_BYTES:
        raise ValueError(f"{name} claims {dataset.nbytes:,} bytes, expected at most {MAX_SMALL_BYTES:,}")
    return dataset
