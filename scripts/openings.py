#!/usr/bin/env python3
"""One line of CSV for each database: the value of the empty board, of each first turn, and the earliest mistakes.

First turns are those to different classes of points. A mistake gives up a win or a draw; turns before it give up
neither.
"""

from __future__ import annotations

import csv
import sys

from solver import Position, Tablebase, Value, open_tablebase
from solver.commands import command_line
from solver.indexing.values import RESULT_WORDS, in_words
from solver.lookup.opening import first_mistakes

EXAMPLES = """\
  openings.py data/six data/six-double > openings.csv
"""

COLUMNS = (
    "rules",
    "value",
    "depth",
    "first_turns",
    "first_mistake_ply",
    "positions_with_mistakes",
    "mistakes",
)


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dirs", metavar="DIR", nargs="+", help="directories of databases")
    arguments = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for directory in arguments.dirs:
        with open_tablebase(directory) as tablebase:
            writer.writerow(row(tablebase))
            sys.stdout.flush()
    return command_line.EXIT_OK


def row(tablebase: Tablebase) -> list[object]:
    """What the tables say of the opening."""
    rules = tablebase.rules
    value = tablebase.probe(Position(rules))
    mistakes = first_mistakes(tablebase, progress=True)
    found = () if mistakes is None else mistakes.positions
    return [
        rules.name,
        RESULT_WORDS[value.wdl],
        "" if value.depth is None else value.depth,
        "; ".join(f"{move} {in_words(after)}" for move, after in first_turns(tablebase)),
        "" if mistakes is None else mistakes.ply,
        len(found),
        "; ".join(f"{position.text(rules.board)}: {' '.join(position.moves)}" for position in found),
    ]


def first_turns(tablebase: Tablebase) -> list[tuple[str, Value]]:
    """The value, for White, of a first turn to each class of points."""
    pos = Position(tablebase.rules)
    values = dict(tablebase.moves(pos))
    turns = []
    seen: set[int] = set()
    for move in pos.legal_moves:
        if move.target not in seen:
            seen |= {symmetry[move.target] for symmetry in pos.board.symmetries}
            turns.append((str(move), values[move]))
    return turns


if __name__ == "__main__":
    command_line.run(main)
