#!/usr/bin/env python3
"""Measure the solver: CPU nanoseconds a position, stage by stage, pair by pair.

Positions are counted for both sides to move, also where one plane stands for two. Machines are noisy: compare ratios
of one run. --against runs another program on the same pairs in turn with this one and prints the ratio of CPU
seconds; of this program the solving is counted, of the other the whole process.
"""

from __future__ import annotations

import json
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from solver.commands import command_line
from solver.compiled.workers import Workers
from solver.errors import SolverError
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import COLUMN_TO_MOVE, ROW_TO_MOVE, MovingPair, Plane, moving_pairs
from solver.indexing.values import metric_of
from solver.solving.moving import prepare_pair, propagate_pair, solve_pair
from solver.tables.directory import create_directory
from solver.tables.plane_counts import count_plane
from solver.tables.table_file import Codes, write_table

STAGES = ("prepare", "propagate", "count", "write")

EXAMPLES = """\
  bench.py nine --max-stones 10                     one thread
  bench.py nine --max-stones 11 --threads 2
  bench.py nine --max-stones 11 --threads 2 --scaling
  bench.py nine --max-stones 11 --runs 3 --against "./reference 3 9 3 1 11"
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    command_line.add_rules_arguments(parser)
    parser.add_argument("--max-stones", type=command_line.positive, metavar="N", default=9, help="(default: 9)")
    parser.add_argument("--threads", type=command_line.positive, metavar="N", default=1, help="(default: 1)")
    parser.add_argument("--against", metavar="CMD", help="another program that solves the same pairs")
    parser.add_argument("--scaling", action="store_true", help="compare --threads with one thread, in turn")
    parser.add_argument(
        "--runs", type=command_line.positive, metavar="N", default=3, help="runs of each when comparing"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object with the totals, nothing else")
    arguments = parser.parse_args()
    rules = command_line.parse_rules(arguments.preset, arguments.set)
    if arguments.against:
        compare(arguments.against, arguments.runs, sys.argv[1:])
    elif arguments.scaling:
        measure_scaling(arguments.threads, arguments.runs, sys.argv[1:])
    else:
        measure(rules, arguments.max_stones, arguments.threads, arguments.json)
    return command_line.EXIT_OK


def measure(rules: Rules, max_stones: int, threads: int, as_json: bool) -> None:
    """Solve all pairs up to ``max_stones`` stones and print what each stage took."""
    with Workers(threads) as workers, tempfile.TemporaryDirectory() as directory:
        compile_kernels(rules, workers)
        create_directory(directory, rules)
        totals = dict.fromkeys(STAGES, 0.0)
        wall = positions = 0.0
        planes: dict[tuple[MovingPair, Plane], Codes] = {}
        for pair in moving_pairs(rules, max_stones):
            started = time.perf_counter()
            seconds = measure_pair(rules, pair, planes, workers, Path(directory))
            elapsed = time.perf_counter() - started
            n = 2 * pair.index(rules.board).size
            positions, wall = positions + n, wall + elapsed
            totals = {stage: totals[stage] + seconds[stage] for stage in STAGES}
            if not as_json:
                print_row(pair.name, n, seconds, elapsed)
    if as_json:
        print(json.dumps({"positions": positions, "cpu_seconds": totals, "wall_seconds": wall}))
    else:
        print_row("all", int(positions), totals, wall)


def compile_kernels(rules: Rules, workers: Workers) -> None:
    """Solve small pairs of a small board first, so that no compilation is measured."""
    small = get_rules("six", flying=rules.flying, quiet_limit=rules.quiet_limit)
    planes: dict[tuple[MovingPair, Plane], Codes] = {}
    for pair in moving_pairs(small, 8):
        found = solve_pair(small, pair, lambda other, plane: planes[other, plane], workers)
        for plane, codes in found.items():
            planes[pair, plane] = codes
            count_plane(pair.index(small.board), codes, metric_of(small, "moving"), workers)


def measure_pair(
    rules: Rules,
    pair: MovingPair,
    planes: dict[tuple[MovingPair, Plane], Codes],
    workers: Workers,
    directory: Path,
) -> dict[str, float]:
    """CPU seconds of each stage; the planes go into ``planes``."""
    clock = [time.process_time()]
    problem = prepare_pair(rules, pair, lambda other, plane: planes[other, plane], workers)
    clock.append(time.process_time())
    propagate_pair(problem, rules.quiet_limit)
    clock.append(time.process_time())
    found: dict[Plane, Codes] = dict(
        zip((ROW_TO_MOVE, COLUMN_TO_MOVE), (side.values for side in problem.sides), strict=False)
    )
    metric = metric_of(rules, "moving")
    counts = {plane: count_plane(pair.index(rules.board), codes, metric, workers) for plane, codes in found.items()}
    clock.append(time.process_time())
    write_table(directory, rules, pair, metric, found, counts, seconds=0.0, threads=workers.threads)
    clock.append(time.process_time())
    planes |= {(pair, plane): codes for plane, codes in found.items()}
    for old in [key for key in planes if sum_of(key[0]) < sum_of(pair) - 1]:
        del planes[old]
    return {stage: clock[i + 1] - clock[i] for i, stage in enumerate(STAGES)}


def sum_of(pair: MovingPair) -> int:
    return pair.row_stones + pair.column_stones


def print_row(name: str, positions: int, seconds: dict[str, float], wall: float) -> None:
    """One line: ns a position of each stage, CPU and wall seconds, positions a second, peak memory."""
    stages = "  ".join(f"{stage} {seconds[stage] * 1e9 / positions:6.1f}" for stage in STAGES)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{name:12} {positions:>13,} positions  {stages} ns  cpu {sum(seconds.values()):7.2f} s  wall {wall:7.2f} s  "
        f"{positions / wall / 1e6:6.1f} M/s  {memory} MB",
        flush=True,
    )


def compare(command: str, runs: int, own_arguments: list[str]) -> None:
    """Run this program and ``command`` in turn; the first round warms caches and is not counted."""
    own = [sys.executable, __file__, *without_comparison(own_arguments), "--json"]
    ratios = []
    for number in range(runs + 1):
        answer = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
        ours = answer["cpu_seconds"]["prepare"] + answer["cpu_seconds"]["propagate"]
        theirs = cpu_seconds_of(shlex.split(command))
        if number:
            ratios.append(ours / theirs)
            print(f"run {number}: this {ours:.2f} s, other {theirs:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


def measure_scaling(threads: int, runs: int, own_arguments: list[str]) -> None:
    """One thread and ``threads`` in turn, beside what the machine gives: plain loops, alone and side by side."""
    own = [sys.executable, __file__, *without_comparison(own_arguments), "--json"]
    for number in range(1, runs + 1):
        walls = []
        for n in (1, threads):
            answer = json.loads(
                subprocess.run([*own, "--threads", str(n)], check=True, capture_output=True, text=True).stdout
            )
            walls.append(answer["wall_seconds"])
        alone, together = plain_loops(1), plain_loops(threads)
        print(
            f"run {number}: {walls[0]:.2f} s with one thread, {walls[1]:.2f} s with {threads}: "
            f"{walls[0] / walls[1]:.2f} times as fast; the machine gives {threads * alone / together:.2f} cores",
            flush=True,
        )


def plain_loops(count: int) -> float:
    """Seconds that ``count`` processes side by side need for one plain loop each."""
    command = [sys.executable, "-c", "for i in range(50_000_000): pass"]
    started = time.perf_counter()
    for process in [subprocess.Popen(command) for _ in range(count)]:
        process.wait()
    return time.perf_counter() - started


def without_comparison(arguments: list[str]) -> list[str]:
    """The arguments without those that ask for a comparison."""
    kept = []
    skip = False
    for argument in arguments:
        name, _, value = argument.partition("=")
        if not skip and name not in ("--against", "--runs", "--scaling"):
            kept.append(argument)
        skip = not skip and not value and name in ("--against", "--runs")
    return kept


def cpu_seconds_of(command: list[str]) -> float:
    """CPU seconds of a command, of its whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SolverError(f"--against {' '.join(command)}: {error}; give a command that solves the pairs") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    command_line.run(main)
