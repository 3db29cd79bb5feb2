#!/usr/bin/env python3
"""Measure what chunk size and deflate level cost and save on a real table: size, write speed, time of a cold read."""

from __future__ import annotations

import time
import zlib

import numpy as np

from solver.commands import command_line
from solver.indexing.subspaces import Subspace, parse_name
from solver.tables.database import Database
from solver.tables.table_file import Codes

EXAMPLES = """\
  bench_compression.py data/nine moving_7-4 moving_8-6
"""

CHUNKS = (1 << 14, 1 << 16, 1 << 18)
LEVELS = (1, 4, 6, 9)
SAMPLE_BYTES = 16 << 20  # of each plane


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("table", metavar="TABLE", nargs="+", help="names of tables, such as moving_7-4")
    arguments = parser.parse_args()
    with Database(arguments.dir) as database:
        samples = [sample for name in arguments.table for sample in plane_samples(database, parse_name(name))]
    print("| chunk | level | bits a value | write, MB/s | unpack a chunk, ms |\n|---|---|---|---|---|")
    for chunk in CHUNKS:
        for level in LEVELS:
            bits, speed, unpack = measure(samples, chunk, level)
            print(f"| {chunk >> 10} K | {level} | {bits:.2f} | {speed:.0f} | {unpack * 1e3:.2f} |", flush=True)
    return command_line.EXIT_OK


def plane_samples(database: Database, subspace: Subspace) -> list[Codes]:
    """Some consecutive values from the middle of each plane."""
    table = database.table(subspace)
    planes = [table.load(plane).reshape(-1) for plane in subspace.planes]
    return [plane[len(plane) // 2 :][:SAMPLE_BYTES].copy() for plane in planes]


def measure(samples: list[Codes], chunk: int, level: int) -> tuple[float, float, float]:
    """(bits a value, MB written a second, seconds to unpack a chunk), one thread."""
    packed: list[bytes] = []
    started = time.perf_counter()
    for sample in samples:
        packed += [zlib.compress(part.data, level) for part in np.split(sample, range(chunk, len(sample), chunk))]
    writing = time.perf_counter() - started
    started = time.perf_counter()
    for part in packed:
        zlib.decompress(part)
    reading = time.perf_counter() - started
    values = sum(map(len, samples))
    return 8 * sum(map(len, packed)) / values, values / writing / 1e6, reading / len(packed)


if __name__ == "__main__":
    command_line.run(main)
