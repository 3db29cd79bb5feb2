#!/usr/bin/env python3
"""Compute the tables of a rule set, one file a subspace; an interrupted run goes on where it was."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tqdm import tqdm

from solver import Position, Rules, open_tablebase
from solver.commands import command_line
from solver.indexing.subspaces import PlacingSubspace, Subspace
from solver.solving.job import plan, solve
from solver.solving.kept_layers import Keep, kept_plies
from solver.solving.resources import disk_needed, memory_needed, peak_memory
from solver.tables import counts_text, subspace_counts
from solver.tables.database import Database

EXAMPLES = """\
  solve.py six                                 six men's morris, both phases, into data/six
  solve.py six --set quiet_limit=40 --dir d    the same with a draw after 40 turns without a mill
  solve.py nine --max-stones 10 --threads 2    the smaller pairs of nine men's morris
  solve.py nine --phase moving --plan          what the moving phase takes
  solve.py kurnik --phase moving --reuse data/nine
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    command_line.add_rules_arguments(parser)
    parser.add_argument("--dir", help="directory of the database (default: data/ and the name of the rules)")
    parser.add_argument("--phase", choices=("moving", "placing", "all"), default="all", help="(default: all)")
    parser.add_argument(
        "--max-stones",
        type=command_line.positive,
        metavar="N",
        help="only pairs of the moving phase with at most N stones",
    )
    parser.add_argument(
        "--keep",
        type=keep,
        metavar="all|K|value",
        help="layers of the placing phase to keep: all, the first K plies, or the value of the empty board only; "
        "look-ups search forward from others (default: the first ones that have 4e9 positions together)",
    )
    parser.add_argument("--reuse", metavar="DIR", help="take over tables with the same values, say of nine for kurnik")
    parser.add_argument("--plan", action="store_true", help="print what each table takes, and compute nothing")
    parser.add_argument("--threads", type=command_line.positive, metavar="N", help="(default: one for each core)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    arguments = parser.parse_args()

    rules = command_line.parse_rules(arguments.preset, arguments.set)
    directory = Path(arguments.dir or Path("data") / rules.name)
    if arguments.plan:
        subspaces = plan(rules, arguments.phase, arguments.max_stones)
        print_plan(rules, subspaces, kept_plies(rules, arguments.keep))
        return command_line.EXIT_OK
    started = time.monotonic()

    def on_finished(subspace: Subspace, seconds: float) -> None:
        if not arguments.quiet and seconds >= 1:
            total = time.monotonic() - started
            line = f"{subspace.name}: {seconds:.1f} s, {total:.0f} s in all, peak memory {in_megabytes(peak_memory())}"
            tqdm.write(line, file=sys.stderr)

    done = solve(
        rules,
        directory,
        phase=arguments.phase,
        max_stones=arguments.max_stones,
        threads=arguments.threads,
        keep=arguments.keep,
        reuse=arguments.reuse,
        progress=not arguments.quiet,
        on_finished=on_finished,
    )
    if not arguments.quiet:
        with Database(directory, rules) as database:
            print(counts_text.to_text(subspace_counts.subspace_reports(database)))
    print(
        f"{len(done.computed)} tables computed, {len(done.found)} found, "
        f"in {time.monotonic() - started:.1f} s, peak memory {in_megabytes(done.peak_memory)}"
    )
    if PlacingSubspace(0, 0, 0) in plan(rules, arguments.phase, arguments.max_stones):
        with open_tablebase(directory) as tablebase:
            print(f"the empty board of {rules.name} is a {describe(tablebase.probe(Position(rules)))}")
    return command_line.EXIT_OK


def keep(text: str) -> Keep:
    """The value of ``--keep``."""
    if text == "value":
        return 1
    return "all" if text == "all" else command_line.positive(text)


def print_plan(rules: Rules, subspaces: list[Subspace], plies: int) -> None:
    """Positions and memory of each table, and what the job needs in all."""
    print(f"{'table':16} {'positions':>15} {'memory':>10}")
    for subspace in subspaces:
        positions = subspace.index(rules.board).size * len(subspace.planes)
        stays = subspace.ply is None or subspace.ply < plies
        note = "" if stays else "  not kept"
        print(f"{subspace.name:16} {positions:15,} {memory_needed(rules, subspace) >> 20:7,} MB{note}")
    total = sum(subspace.index(rules.board).size * len(subspace.planes) for subspace in subspaces)
    print(
        f"{len(subspaces)} tables, {total:,} positions, at most "
        f"{max(memory_needed(rules, s) for s in subspaces) >> 20:,} MB of memory and "
        f"{disk_needed(rules, subspaces, plies) >> 20:,} MB of disk"
    )


def in_megabytes(size: int | None) -> str:
    return "?" if size is None else f"{size >> 20} MB"


def describe(value: tuple[int, int | None]) -> str:
    """The value of the empty board in words: White is to move."""
    wdl, depth = value
    if wdl == 0:
        return "draw"
    plies = "" if depth is None else f" in {depth} plies"
    return f"{'win' if wdl > 0 else 'loss'} for White{plies}"


if __name__ == "__main__":
    command_line.run(main)
