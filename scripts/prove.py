#!/usr/bin/env python3
"""Compare random placing positions with a forward search that reads the tables of the moving phase only.

Exit status 0 if all values agree, 1 if any does not, 2 for an error such as a missing table.
"""

from __future__ import annotations

from solver import cli, open_tablebase
from solver.proof import prove_by_search

EXAMPLES = """\
  prove.py data/six --positions 1000
  prove.py data/nine --positions 1000 --first-ply 12
"""


def main() -> int:
    parser = cli.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument("--positions", type=cli.positive, metavar="N", default=1000, help="in all (default: 1000)")
    parser.add_argument(
        "--first-ply", type=cli.positive, metavar="P", help="first ply to draw from (default: the last six plies)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random choice (default: 0)")
    arguments = parser.parse_args()
    wrong: list[str] = []
    with open_tablebase(arguments.dir) as tablebase:
        first_ply = arguments.first_ply or 2 * tablebase.rules.stones - 6
        for proof in prove_by_search(tablebase, arguments.positions, first_ply, arguments.seed):
            wrong += proof.wrong
            text = (
                f"ply {proof.ply}: {proof.positions} positions, {len(proof.wrong)} disagreements, {proof.seconds:.1f} s"
            )
            print("\n".join([text, *proof.wrong]), flush=True)
        print(f"{tablebase.rules.name}: {arguments.positions} positions, {len(wrong)} disagreements")
    return cli.EXIT_DISAGREES if wrong else cli.EXIT_OK


if __name__ == "__main__":
    cli.run(main)
