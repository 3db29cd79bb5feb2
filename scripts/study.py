#!/usr/bin/env python3
"""Search a subspace for difficult positions, long wins and mutual zugzwangs."""

from __future__ import annotations

import json
from pathlib import Path

from solver import PositionError, open_tablebase
from solver.commands import command_line
from solver.indexing.subspaces import parse_name
from solver.lookup.analysis import in_words
from solver.lookup.study import STUDIES, Study

EXAMPLES = """\
  study.py data/six moving_4-4                             all three searches
  study.py data/nine moving_3-3 --what zugzwangs           positions that whoever moves loses
  study.py data/nine moving_5-3 --what only-moves --limit 50 --texts > difficult.txt
  study.py data/six placing_09_5-4 --what only-moves --json -

SUBSPACE is the name of a table without its ending: moving_A-B for A against B stones, placing_PLY_W-B after so many
placements.
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("subspace", metavar="SUBSPACE", help="name of the table")
    parser.add_argument("--what", choices=STUDIES, action="append", help="which search; may be repeated (default: all)")
    parser.add_argument(
        "--limit", type=command_line.positive, default=10, metavar="N", help="positions to show (default 10)"
    )
    parser.add_argument("--texts", action="store_true", help="print position texts only, one a line")
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE; - for standard output instead of the text")
    arguments = parser.parse_args()
    try:
        subspace = parse_name(arguments.subspace)
    except ValueError as error:
        raise PositionError(f"{error}; expected a name such as moving_5-4 or placing_07_4-3") from None
    names = arguments.what or [name for name in STUDIES if name == "only-moves" or subspace.phase == "moving"]
    with open_tablebase(arguments.dir) as tablebase:
        studies = [STUDIES[name](tablebase, subspace, arguments.limit, True) for name in names]
    data = json.dumps([study.to_data() for study in studies], indent=1)
    if arguments.json == "-":
        print(data)
    else:
        lines = [text for study in studies for text in study.texts()] if arguments.texts else map(as_text, studies)
        print("\n".join(lines))
        if arguments.json is not None:
            with command_line.writing(arguments.json):
                Path(arguments.json).write_text(data + "\n", encoding="utf-8")
    return command_line.EXIT_OK


def as_text(study: Study) -> str:
    """A heading and a line a position."""
    count = "" if study.total is None else f", {study.total:,} positions"
    lines = [f"{study.name} of {study.subspace.name}{count}"]
    lines += [f"  {text}  {in_words(value)}; {remark}" for text, value, remark in study.findings]
    return "\n".join(lines)


if __name__ == "__main__":
    command_line.run(main)
