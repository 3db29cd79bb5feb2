#!/usr/bin/env python3
"""Judge every turn of a game record: the value before and after it, what it gave away, and how accurate both were."""

from __future__ import annotations

import json
from pathlib import Path

from solver import open_tablebase, read_game
from solver.commands import command_line
from solver.lookup.analysis import analyse
from solver.pictures.analysis_strip import to_svg
from solver.records.games import NOTATIONS
from solver.records.markup import split_records

EXAMPLES = """\
  analyse.py game.txt --dir data/six                  a line a turn
  analyse.py game.pgn --dir data/nine --json -        as JSON on standard output
  analyse.py game.txt --dir data/nine --svg game.svg  also as a strip of bars
  echo "1. c4 c2 2. a3 e3" | analyse.py - --dir data/six

GAME is a file with one game in the notation of the federation (d6, f2-f4xd5), of PlayOK (5, 10-1x23) or of Sanmill, or
- for standard input. A tag [Rules "PRESET"] names its rules; without one they are those of the tables. Positions in
no table of the directory are said to be unknown.
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("game", metavar="GAME", help="file of the record, or -")
    parser.add_argument("--dir", metavar="DIR", required=True, help="directory of the database")
    parser.add_argument("--notation", choices=NOTATIONS, help="how turns are written, if not to be found out")
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE; - for standard output instead of the text")
    parser.add_argument("--svg", metavar="FILE", help="write a strip of bars to FILE")
    arguments = parser.parse_args()
    text = command_line.read_text(arguments.game)
    names_rules = any("Rules" in record.tags for record in split_records(text))
    with open_tablebase(arguments.dir) as tablebase:
        game = read_game(text, None if names_rules else tablebase.rules, arguments.notation)
        analysis = analyse(game, tablebase)
    data = json.dumps(analysis.to_data(), indent=1)
    print(data if arguments.json == "-" else analysis.to_text())
    if arguments.json not in (None, "-"):
        write(arguments.json, data + "\n")
    if arguments.svg is not None:
        write(arguments.svg, to_svg(analysis))
    return command_line.EXIT_OK


def write(path: str, text: str) -> None:
    with command_line.writing(path):
        Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
