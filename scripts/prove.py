#!/usr/bin/env python3
"""Compare random placing positions with a forward search that reads the tables of the moving phase only.

Exit status 0 if all values agree, 1 if any does not, 2 for an error such as a missing table.
"""

from __future__ import annotations

from solver import open_tablebase
from solver.commands import command_line
from solver.proof.forward_proof import prove_by_search

EXAMPLES = """\
  prove.py data/six --positions 1000
  prove.py data/nine --positions 1000 --first-ply 12
"""


def main() -> int:
    parser = command_line.parser(__doc__ or "", EXAMPLES)
    parser.add_argument("dir", metavar="DIR", help="directory of the database")
    parser.add_argument(
        "--positions", type=command_line.positive, metavar="N", default=1000, help="in all (default: 1000)"
    )
    parser.add_argument(
        "--first-ply",
        type=command_line.positive,
        metavar="P",
        help="first ply to draw from (default: the last six plies)",
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
    return command_line.EXIT_DISAGREES if wrong else command_line.EXIT_OK


if __name__ == "__main__":
    command_line.run(main)
