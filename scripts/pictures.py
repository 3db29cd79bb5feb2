#!/usr/bin/env python3
"""Makes the pictures that the README shows: boards, and what the results say about Nine Men's Morris."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from solver import Position, get_rules, open_tablebase
from solver.commands import command_line
from solver.pictures import drawing, figures
from solver.tables import counts_text

EXAMPLES = """\
  pictures.py data/six                 into docs/pictures
  pictures.py data/six --out /tmp/new  into another folder
  pictures.py data/six --png           as PNG, too
"""

ROOT = Path(__file__).resolve().parents[1]

GAME = ["d6", "f4", "d2", "b4", "f6", "d3", "b6xd3", "d3", "f2", "d5", "c4", "e5", "c5", "e4", "e3"]
"""A game of `nine` with a mill; the last turn is marked."""

VALUED = "WW.W..../..BBB... b 2,3 0"
"""A position of `six` with one winning turn."""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("six", metavar="DIR", help="directory of the solved rules six (scripts/solve.py six --dir DIR)")
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "docs" / "pictures", help="where they go")
    parser.add_argument("--png", action="store_true", help="each as PNG, too, light and dark")
    arguments = parser.parse_args()
    with command_line.writing(str(arguments.out)):
        arguments.out.mkdir(parents=True, exist_ok=True)
        for path in (*boards(arguments.six, arguments.out, arguments.png), *shares(arguments.out, arguments.png)):
            print(f"{path}: {path.stat().st_size:,} bytes")
    return command_line.EXIT_OK


def boards(six: str, out: Path, with_png: bool) -> list[Path]:
    """A game of nine men's morris, and a position of six men's morris with the value of every turn."""
    with open_tablebase(six) as tablebase:
        valued = Position.from_fen(tablebase.rules, VALUED)
        values = tablebase.moves(valued)
    game = Position.from_turns(get_rules("nine"), GAME)
    saved = []
    for name, position, rated in (("game", game, []), ("values", valued, values)):
        saved.append(drawing.board(position, values=rated, size=360).save(out / f"{name}.svg"))
        for theme in ("light", "dark") if with_png else ():
            picture = drawing.board(position, values=rated, size=360, theme=theme)
            saved.append(picture.save(out / f"{name}-{theme}.png"))
    return saved


def shares(out: Path, with_png: bool) -> list[Path]:
    """Who wins nine men's morris with how many stones, from the results."""
    counts = counts_text.read_csv(ROOT / "data" / "results" / "nine-moving.csv")
    saved = []
    for style in ("light", "dark"):
        figure = figures.shares(counts, title="nine: positions won, drawn and lost", style=style)
        # The same figure is to be the same file.
        with mpl.rc_context({"svg.hashsalt": "merels", "svg.fonttype": "none"}):
            for ending in ("svg", "png") if with_png else ("svg",):
                path = out / f"nine-shares-{style}.{ending}"
                figure.savefig(path, metadata={"Date": None} if ending == "svg" else None)
                saved.append(path)
    return saved


if __name__ == "__main__":
    command_line.run(main)
