#!/usr/bin/env python3
"""Counts of the tables of a directory: wins, draws, losses and the longest lines, with an example of each."""

from __future__ import annotations

from solver.commands import command_line
from solver.tables import counts_text, subspace_counts
from solver.tables.database import Database
from solver.tables.verification_record import summary

EXAMPLES = """\
  stats.py data/six                 classes per subspace
  stats.py data/six --raw           raw positions and examples of the longest lines, too
  stats.py data/nine --csv > n.csv  the moving phase for a spreadsheet
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("--csv", action="store_true", help="the moving phase as CSV")
    parser.add_argument("--placing-csv", action="store_true", help="the placing phase as CSV, ply by ply")
    parser.add_argument("--resources", action="store_true", help="with --csv: also seconds and bytes of each table")
    parser.add_argument("--raw", action="store_true", help="every subspace with raw positions and examples")
    arguments = parser.parse_args()
    with Database(arguments.dir) as database:
        reports = subspace_counts.subspace_reports(database)
        if arguments.csv:
            print(counts_text.to_csv(database.rules.name, reports, arguments.resources), end="")
            return command_line.EXIT_OK
        if arguments.placing_csv:
            print(counts_text.to_placing_csv(database.rules.name, reports), end="")
            return command_line.EXIT_OK
        print(f"{database.rules.name}, {len(reports)} subspaces and sides to move")
        print(f"{summary(database, database.subspaces())}\n")
        print("\n\n".join(map(details, reports)) if arguments.raw else counts_text.to_text(reports))
    return command_line.EXIT_OK


def details(one: subspace_counts.SubspaceReport) -> str:
    """Everything known of one subspace and side to move."""
    lines = [
        f"{one.subspace.name} {one.plane}: {one.mover_stones} against {one.opponent_stones} stones, {one.metric.value}",
        *(
            f"  {name:8} won {counts[0]:>15,}  drawn {counts[1]:>15,}  lost {counts[2]:>15,}"
            for name, counts in (("raw", one.raw), ("classes", one.classes))
        ),
    ]
    for result, depth, example in zip(("win", "loss"), one.longest, one.examples, strict=True):
        if depth is not None:
            lines.append(f"  longest {result} {depth} plies: {example}")
    return "\n".join(lines)


if __name__ == "__main__":
    command_line.run(main)
