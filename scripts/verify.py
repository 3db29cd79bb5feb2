#!/usr/bin/env python3
"""Check tables: recompute every stored value from its successors by the plain move generator.

Exit status 0 if all values agree, 1 if any does not, 2 for an error such as a missing or damaged file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from solver import cli
from solver.database import Database
from solver.subspaces import MovingPair, Subspace
from solver.verify import VerifyReport, verify
from solver.workers import available_cores

EXAMPLES = """\
  verify.py data/six                                every value of every table
  verify.py data/nine --max-stones 10               the pairs with at most ten stones
  verify.py data/nine --sample 0.001 --json v.json  a thousandth of each plane, at random, with a report
"""


def main() -> int:
    parser = cli.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument(
        "--max-stones", type=cli.positive, metavar="N", help="only pairs of the moving phase with at most N stones"
    )
    parser.add_argument(
        "--sample", type=sample_size, metavar="N", help="N random positions of each plane; below 1, this part of them"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random choice (default: 0)")
    parser.add_argument("--threads", type=cli.positive, metavar="N", help="(default: one for each core)")
    parser.add_argument("--json", metavar="FILE", help="write the report there")
    arguments = parser.parse_args()
    report = verify(
        arguments.dir,
        chosen_subspaces(arguments.dir, arguments.max_stones),
        sample=arguments.sample,
        seed=arguments.seed,
        threads=arguments.threads or available_cores(),
    )
    if arguments.json:
        with cli.writing(arguments.json):
            Path(arguments.json).write_text(report.to_json() + "\n", encoding="utf-8")
    print(as_text(report))
    return cli.EXIT_OK if report.is_clean else cli.EXIT_DISAGREES


def sample_size(text: str) -> float:
    """An argument type: a whole number of positions, or a part of them below 1."""
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not (0 < size < 1 or (size >= 1 and size.is_integer())):
        raise argparse.ArgumentTypeError(f"expected a whole number or a part between 0 and 1, got {text!r}")
    return size


def chosen_subspaces(directory: str, max_stones: int | None) -> list[Subspace] | None:
    """The tables to check; None for all of them."""
    if max_stones is None:
        return None
    with Database(directory) as database:
        found = database.subspaces()
    return [s for s in found if isinstance(s, MovingPair) and s.row_stones + s.column_stones <= max_stones]


def as_text(report: VerifyReport) -> str:
    """What was found, the disagreements first."""
    lines = [
        f"{found.table}/{found.plane}: {found.position} stored {found.stored}, expected {found.expected}"
        for found in report.examples
    ]
    lines += [
        f"{plane.table}/{plane.plane}: the counts in the file are not those of its values"
        for plane in report.planes
        if not plane.statistics_agree
    ]
    lines.append(
        f"{report.rules}: {report.positions:,} values of {len(report.planes)} planes checked in {report.seconds:.1f} s "
        f"({report.positions_per_second:,.0f} a second), {report.disagreements:,} disagreements"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    cli.run(main)
