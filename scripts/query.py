#!/usr/bin/env python3
"""What a position is worth and which turns are perfect, looked up in a database."""

from __future__ import annotations

import json
from typing import Any

from solver import Move, Position, Tablebase, Value, open_tablebase
from solver.commands import command_line
from solver.indexing.values import in_words
from solver.tables.verification_record import summary

EXAMPLES = """\
  query.py data/six start
  query.py data/six "WW.W..../..BBB... b 2,3 0" --line
  query.py data/nine "WW....../..BB.BB./......W. w 0,0 0" --json

position text: rings from the outside in, each clockwise from its top-left corner; side to move (w or b); stones in hand
of White and Black; turns without a mill so far. "start" is the empty board.
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("position", metavar="POSITION", help="position text, or start")
    parser.add_argument("--line", action="store_true", help="also one perfect line to the end of the game")
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args()
    with open_tablebase(arguments.dir) as tablebase:
        position = Position.from_fen(tablebase.rules, arguments.position)
        answer = query(tablebase, position, arguments.line)
        answer["tables"] = summary(tablebase.database, tablebase.database.used())
    print(json.dumps(answer, indent=1) if arguments.json else as_text(position, answer))
    return command_line.EXIT_OK


def query(tablebase: Tablebase, position: Position, with_line: bool) -> dict[str, Any]:
    """The answer as plain data."""
    outcome = position.outcome()
    answer: dict[str, Any] = {
        "rules": tablebase.rules.name,
        "position": position.fen(),
        "value": as_data(tablebase.probe(position)),
        "outcome": None if outcome is None else {"winner": outcome.winner, "reason": outcome.reason},
        "moves": [{"move": str(move), "value": as_data(value)} for move, value in tablebase.moves(position)],
    }
    if with_line:
        line: list[Move] = tablebase.line(position)
        answer["line"] = [str(move) for move in line]
    return answer


def as_data(value: Value) -> dict[str, Any]:
    return {"wdl": value.wdl, "depth": value.depth}


def as_text(position: Position, answer: dict[str, Any]) -> str:
    """The board, the value, the moves best first, and the line."""
    lines = [str(position), ""]
    mover = position.turn.title()
    if answer["outcome"] is not None:
        lines.append(f"the game is over: {position.outcome()}")
    else:
        lines.append(f"{mover} to move: {in_words(Value(**answer['value']))}")
    width = max((len(entry["move"]) for entry in answer["moves"]), default=0)
    lines += [f"  {entry['move']:{width}}  {in_words(Value(**entry['value']))}" for entry in answer["moves"]]
    lines += ["", f"tables {answer['tables']}"]
    if "line" in answer:
        lines += ["", f"line ({len(answer['line'])} plies): {' '.join(answer['line'])}"]
    return "\n".join(lines)


if __name__ == "__main__":
    command_line.run(main)
