#!/usr/bin/env python3
"""Play against the tables in a terminal. The opponent is perfect and, in drawn positions, sets traps."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

from solver import Position, RulesMismatchError, open_tablebase
from solver.commands import command_line
from solver.play.terminal import HELP, Session

EXAMPLES = f"""\
  play.py six --dir data/six                        you are White
  play.py six --dir data/six --side black
  play.py six --dir data/six --start "WW.W..../..BBB... b 2,3 0"

commands:
{HELP}

In positions that are in no table of the directory the opponent makes any legal turn, and says so.
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    command_line.add_rules_arguments(parser)
    parser.add_argument("--dir", metavar="DIR", required=True, help="directory of the database")
    parser.add_argument("--side", choices=("white", "black"), default="white", help="your side (default white)")
    parser.add_argument("--start", metavar="POSITION", default="start", help="position text (default: the empty board)")
    parser.add_argument("--seed", type=int, help="choose the same among equal turns each time")
    arguments = parser.parse_args()
    rules = command_line.parse_rules(arguments.preset, arguments.set)
    position = Position.from_fen(rules, arguments.start)
    with open_tablebase(arguments.dir) as tablebase:
        if rules.fingerprint("moving") != tablebase.rules.fingerprint("moving"):
            raise RulesMismatchError(
                f"{arguments.dir}: tables of the rules {tablebase.rules.name!r}, expected those of {rules.name!r}; "
                "choose another directory or preset"
            )
        session = Session(position, tablebase, arguments.side, print, random.Random(arguments.seed))
        session.run(lines())
    return command_line.EXIT_OK


def lines() -> Iterator[str]:
    """What the player types, with a prompt; it ends with the input or Ctrl-C."""
    while True:
        try:
            yield input("> ")
        except (EOFError, KeyboardInterrupt):
            print()
            return


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # not everywhere: arrow keys bring back earlier lines
        import readline  # noqa: F401
    command_line.run(main)
