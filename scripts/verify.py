#!/usr/bin/env python3
"""Check tables: recompute every stored value from its successors by the plain move generator.

What was found is kept as verify.json beside the tables, where stats.py and query.py look for it.

Exit status 0 if all values agree, 1 if any does not, 2 for an error such as a missing or damaged file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from solver.commands import command_line
from solver.compiled.workers import available_cores
from solver.indexing.subspaces import MovingPair, Subspace
from solver.proof.verifier import VerifyReport, verify
from solver.tables import counts_text, subspace_counts
from solver.tables.database import Database
from solver.tables.verification_record import write_record

EXAMPLES = """\
  verify.py data/six                                every value of every table
  verify.py data/six --counts data/results/six.csv  the same, and the counts against a file of them
  verify.py data/nine --max-stones 10               the pairs with at most ten stones
  verify.py data/nine --sample 0.001 --json v.json  a thousandth of each plane, at random, with a report
  verify.py data/nine --sample 20000 --run 500      20,000 of each plane at 40 random places: reads a part of the files
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument(
        "--max-stones",
        type=command_line.positive,
        metavar="N",
        help="only pairs of the moving phase with at most N stones",
    )
    parser.add_argument(
        "--sample", type=sample_size, metavar="N", help="N random positions of each plane; below 1, this part of them"
    )
    parser.add_argument(
        "--run",
        type=command_line.positive,
        default=1,
        metavar="N",
        help="sample N neighbouring positions at each random place: less to read (default: 1)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random choice (default: 0)")
    parser.add_argument("--threads", type=command_line.positive, metavar="N", help="(default: one for each core)")
    parser.add_argument("--json", metavar="FILE", help="write all that was found there")
    parser.add_argument(
        "--counts",
        metavar="CSV",
        help="also compare the counts of the moving phase with this file of stats.py --csv",
    )
    parser.add_argument("--no-record", action="store_true", help="do not write verify.json into DIR")
    arguments = parser.parse_args()
    differences = compare_counts(arguments.dir, arguments.counts) if arguments.counts else []
    found = verify(
        arguments.dir,
        chosen_subspaces(arguments.dir, arguments.max_stones),
        sample=arguments.sample,
        run=arguments.run,
        seed=arguments.seed,
        threads=arguments.threads or available_cores(),
    )
    if arguments.json:
        with command_line.writing(arguments.json):
            Path(arguments.json).write_text(found.to_json() + "\n", encoding="utf-8")
    print(as_text(found))
    if arguments.counts:
        print("\n".join([*differences, f"{len(differences)} differences from the counts of {arguments.counts}"]))
    if not arguments.no_record:
        print(f"recorded in {write_record(arguments.dir, found.tables)}")
    return command_line.EXIT_OK if found.is_clean and not differences else command_line.EXIT_DISAGREES


def compare_counts(directory: str, file: str) -> list[str]:
    """How the counts in a file differ from those of the tables."""
    with command_line.reading(file):
        text = Path(file).read_text(encoding="utf-8")
    with Database(directory) as database:
        return counts_text.count_differences(subspace_counts.subspace_reports(database), text, file)


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


def as_text(found: VerifyReport) -> str:
    """What was found, the disagreements first."""
    lines = [
        f"{example.table}/{example.plane}: {example.position} stored {example.stored}, expected {example.expected}"
        for example in found.examples
    ]
    lines += [
        f"{plane.table}/{plane.plane}: the counts in the file are not those of its values"
        for plane in found.planes
        if not plane.statistics_agree
    ]
    if found.left_out:
        lines.append(
            f"left out, since the layer after them was not kept: {', '.join(found.left_out)}; "
            "scripts/prove.py checks some of their values"
        )
    lines.append(
        f"{found.rules}: {found.positions:,} values of {len(found.planes)} planes checked in {found.seconds:.1f} s "
        f"({found.positions_per_second:,.0f} a second), {found.disagreements:,} disagreements"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    command_line.run(main)
