"""How many positions and classes a subspace has, by closed forms: what enumeration is compared with."""

from __future__ import annotations

from math import comb

from solver.game.boards import Board


def count_positions(board: Board, a: int, b: int) -> int:
    """Raw positions of ``a`` against ``b`` stones, side to move not counted: the closed form."""
    return comb(board.n_points, a) * comb(board.n_points - a, b)


def count_classes(board: Board, a: int, b: int) -> int:
    """Classes of positions of ``a`` against ``b`` stones, by Burnside's lemma.

    A symmetry fixes a position if each of its cycles is empty or holds stones of one side, so the fixed positions are
    counted by the coefficient of x^a y^b in the product of (1 + x^c + y^c) over its cycle lengths c.
    """
    total = 0
    for g in board.symmetries:
        ways = {(0, 0): 1}
        for length in _cycle_lengths(g):
            longer: dict[tuple[int, int], int] = {}
            for (i, j), n in ways.items():
                for key in ((i, j), (i + length, j), (i, j + length)):
                    if key[0] <= a and key[1] <= b:
                        longer[key] = longer.get(key, 0) + n
            ways = longer
        total += ways.get((a, b), 0)
    return total // len(board.symmetries)


def _cycle_lengths(permutation: tuple[int, ...]) -> list[int]:
    seen = 0
    lengths = []
    for start in range(len(permutation)):
        p, length = start, 0
        while not seen >> p & 1:
            seen |= 1 << p
            p, length = permutation[p], length + 1
        if length:
            lengths.append(length)
    return lengths
