#!/usr/bin/env python3
"""Measure look-ups: single probes, cold and warm, and many at once.

Cold: the chunk that holds the value is read from its file, unpacked and checked. Warm: it is in the cache of the open
tablebase. Many: positions of one table that is in memory.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np

from solver import Position, Rules, Tablebase, cli, open_tablebase
from solver.subspaces import MovingPair

EXAMPLES = """\
  bench_probe.py data/nine
  bench_probe.py data/six --probes 1000
"""


def main() -> int:
    parser = cli.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("--probes", type=cli.positive, default=300, metavar="N", help="single probes (default: 300)")
    parser.add_argument("--many", type=cli.positive, default=2_000_000, metavar="N", help="(default: 2,000,000)")
    arguments = parser.parse_args()
    with open_tablebase(arguments.dir) as tablebase:
        pairs = [s for s in tablebase.database.subspaces() if isinstance(s, MovingPair)]
        positions = random_positions(tablebase.rules, pairs, arguments.probes)
        for first_of_pair in random_positions(tablebase.rules, pairs, len(pairs)):
            tablebase.probe(first_of_pair)  # opens the files and compiles
        cold = probe_seconds(tablebase, positions)
        warm = probe_seconds(tablebase, positions)
        for name, seconds in (("cold", cold), ("warm", warm)):
            median, worst = statistics.median(seconds) * 1e6, max(seconds) * 1e6
            print(f"{name}: median {median:,.0f} us, slowest {worst:,.0f} us, {len(seconds)} random positions")
        print(f"many: {many_per_second(tablebase, pairs[0], arguments.many) / 1e6:.1f} million positions a second")
    return cli.EXIT_OK


def random_positions(rules: Rules, pairs: Sequence[MovingPair], n: int) -> list[Position]:
    """Positions of the moving phase, every pair equally often."""
    rng = np.random.default_rng(1)
    found = []
    for k in range(n):
        pair = pairs[k % len(pairs)]
        index = pair.index(rules.board)
        white, black = index.unrank(int(rng.integers(index.shape[0])), int(rng.integers(index.shape[1])))
        found.append(Position.from_stones(rules, white=white, black=black, turn=("white", "black")[k % 2]))
    return found


def probe_seconds(tablebase: Tablebase, positions: Sequence[Position]) -> list[float]:
    """Seconds of each single probe."""
    seconds = []
    for position in positions:
        started = time.perf_counter()
        tablebase.probe(position)
        seconds.append(time.perf_counter() - started)
    return seconds


def many_per_second(tablebase: Tablebase, pair: MovingPair, n: int) -> float:
    """Positions a second of ``probe_many`` on one table."""
    rng = np.random.default_rng(1)
    index = pair.index(tablebase.rules.board)
    masks = index.unrank_many(rng.integers(0, index.shape[0], n), rng.integers(0, index.shape[1], n))
    tablebase.probe_many(*masks, side=0)  # loads the table
    started = time.perf_counter()
    tablebase.probe_many(*masks, side=0)
    return n / (time.perf_counter() - started)


if __name__ == "__main__":
    cli.run(main)
