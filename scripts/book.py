#!/usr/bin/env python3
"""The opening book: every class of positions that perfect play reaches, its value and all perfect turns.

Also says at which ply a player can first give up a win or a draw, and by which turns.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import open_tablebase
from solver.commands import command_line
from solver.game.boards import Board
from solver.game.diagram import text_board
from solver.indexing.values import RESULT_WORDS, in_words
from solver.lookup.opening import FirstMistakes, OpeningPosition, first_mistakes, opening_book

EXAMPLES = """\
  book.py data/six --plies 4
  book.py data/kurnik --plies 5 --csv book.csv --json book.json
"""

COLUMNS = ("ply", "position", "result", "depth", "moves", "board")


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("--plies", type=command_line.positive, metavar="N", default=3, help="placements (default: 3)")
    parser.add_argument("--csv", metavar="FILE", help="write the book there")
    parser.add_argument("--json", metavar="FILE", help="write the book and the mistakes there")
    arguments = parser.parse_args()
    with open_tablebase(arguments.dir) as tablebase:
        board, name = tablebase.rules.board, tablebase.rules.name
        book = opening_book(tablebase, arguments.plies, progress=True)
        mistakes = first_mistakes(tablebase, progress=True)
    rows = [as_row(board, position) for position in book]
    if arguments.csv:
        write(arguments.csv, lambda: to_csv(rows))
    if arguments.json:
        entries = [] if mistakes is None else [as_row(board, position) for position in mistakes.positions]
        document = {"rules": name, "book": rows, "first_mistakes": entries}
        write(arguments.json, lambda: json.dumps(document, indent=1) + "\n")
    print(summary(name, board, book, mistakes))
    return command_line.EXIT_OK


def as_row(board: Board, position: OpeningPosition) -> dict[str, Any]:
    """One position as plain data, with a picture; values are from the side to move."""
    return {
        "ply": position.ply,
        "position": position.text(board),
        "result": RESULT_WORDS[position.value.wdl],
        "depth": position.value.depth,
        "moves": " ".join(position.moves),
        "board": text_board(board, position.fields.white, position.fields.black),
    }


def to_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def write(path: str, content: Callable[[], str]) -> None:
    with command_line.writing(path):
        Path(path).write_text(content(), encoding="utf-8")


def summary(name: str, board: Board, book: list[OpeningPosition], mistakes: FirstMistakes | None) -> str:
    """How many positions there are at each ply, the start, and the first mistakes."""
    lines = [f"{name}: the empty board is a {in_words(book[0].value)}; perfect: {' '.join(book[0].moves)}"]
    for ply in range(book[-1].ply + 1):
        count = sum(position.ply == ply for position in book)
        lines.append(f"ply {ply}: {count:,} classes of positions")
    if mistakes is None:
        lines.append("no turn of the placing phase can give up a win or a draw")
        return "\n".join(lines)
    lines.append(f"the first turns that can give something away are those of ply {mistakes.ply}:")
    for position in mistakes.positions:
        lines += ["", text_board(board, position.fields.white, position.fields.black)]
        lines.append(f"{position.text(board)}: a {in_words(position.value)}, given up by {' '.join(position.moves)}")
    return "\n".join(lines)


if __name__ == "__main__":
    command_line.run(main)
