#!/usr/bin/env python3
"""Write game records in another notation: those of the Mühle federation, of PlayOK, and of Sanmill."""

from __future__ import annotations

from solver import RecordError, get_rules, read_games, write_game
from solver.commands import command_line
from solver.records.games import NOTATIONS

EXAMPLES = """\
  convert.py game.txt --to playok            turns as numbers, 10-1x23
  convert.py games.pgn --to federation       turns as names of points, a4-a7xd1
  convert.py game.txt --rules nine --to sanmill > game.pgn

GAME is a file with one game or more, or - for standard input. Every turn is checked: the first that is not legal ends
the job with the number of its move and the legal turns.
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("game", metavar="GAME", help="file of the records, or -")
    parser.add_argument("--to", choices=NOTATIONS, default="federation", help="notation to write (default federation)")
    parser.add_argument("--notation", choices=NOTATIONS, help="notation to read, if not to be found out")
    parser.add_argument("--rules", metavar="PRESET", help="rules of the games, if their tags do not say")
    arguments = parser.parse_args()
    rules = None if arguments.rules is None else get_rules(arguments.rules)
    games = read_games(command_line.read_text(arguments.game), rules, arguments.notation)
    if not games:
        raise RecordError(f"{arguments.game}: no game in it, expected one or more")
    print("\n".join(write_game(game, arguments.to) for game in games), end="")
    return command_line.EXIT_OK


if __name__ == "__main__":
    command_line.run(main)
