#!/usr/bin/env python3
"""Measure look-ups: single probes, cold and warm, and many at once.

Cold: the chunk that holds the value is read from its file, unpacked and checked. Warm: it is in the cache of the open
tablebase. Many: positions of one table that is in memory. With --after: positions of the placing phase, for which
look-ups search forward where their layer was not kept.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from solver import Position, Rules, RulesError, Tablebase, open_tablebase
from solver.commands import command_line
from solver.indexing.subspaces import MovingPair

EXAMPLES = """\
  bench_probe.py data/nine
  bench_probe.py data/six --probes 1000
  bench_probe.py data/nine --after 15 --probes 50
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument(
        "--probes", type=command_line.positive, default=300, metavar="N", help="single probes (default: 300)"
    )
    parser.add_argument(
        "--many", type=command_line.positive, default=2_000_000, metavar="N", help="(default: 2,000,000)"
    )
    parser.add_argument(
        "--after", type=command_line.positive, metavar="PLY", help="positions after PLY random placements"
    )
    arguments = parser.parse_args()
    with open_tablebase(arguments.dir) as tablebase:
        if arguments.after:
            positions = random_placings(tablebase.rules, arguments.after, arguments.probes)
            tablebase.moves(positions.pop())  # compiles
            print_seconds("value", seconds_of(tablebase.probe, positions))
            print_seconds("all turns", seconds_of(tablebase.moves, positions))
            return command_line.EXIT_OK
        pairs = [s for s in tablebase.database.subspaces() if isinstance(s, MovingPair)]
        positions = random_positions(tablebase.rules, pairs, arguments.probes)
        for first_of_pair in random_positions(tablebase.rules, pairs, len(pairs)):
            tablebase.probe(first_of_pair)  # opens the files and compiles
        print_seconds("cold", seconds_of(tablebase.probe, positions))
        print_seconds("warm", seconds_of(tablebase.probe, positions))
        print(f"many: {many_per_second(tablebase, pairs[0], arguments.many) / 1e6:.1f} million positions a second")
    return command_line.EXIT_OK


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


def random_placings(rules: Rules, ply: int, n: int) -> list[Position]:
    """One position more than ``n`` after so many random placements, from games that go on.

    :raises RulesError: for a ply after the placing phase
    """
    if ply >= 2 * rules.stones:
        raise RulesError(f"--after {ply}: expected fewer than {2 * rules.stones} placements")
    rng = random.Random(1)
    found: list[Position] = []
    while len(found) <= n:
        position = Position(rules)
        while len(position.move_stack) < ply and not position.is_over():
            position.push(rng.choice(position.legal_moves))
        if not position.is_over():
            found.append(position)
    return found


def seconds_of(look_up: Callable[[Position], object], positions: Sequence[Position]) -> list[float]:
    """Seconds of each single look-up."""
    seconds = []
    for position in positions:
        started = time.perf_counter()
        look_up(position)
        seconds.append(time.perf_counter() - started)
    return seconds


def print_seconds(name: str, seconds: list[float]) -> None:
    median, worst = statistics.median(seconds) * 1e6, max(seconds) * 1e6
    print(f"{name}: median {median:,.0f} us, slowest {worst:,.0f} us, {len(seconds)} random positions", flush=True)


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
    command_line.run(main)
