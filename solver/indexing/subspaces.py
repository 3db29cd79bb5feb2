"""Which tables a rule set has, how large they are, what each needs, and in which order they are solved.

A *moving pair* {a, b}, a >= b, holds all positions of a against b stones with empty hands, whoever is to move; the
side with a stones is the row side. A *placing subspace* holds the positions after ``ply`` placements with given
stones on the board; White is the row side, and White is to move on even plies. Both have up to two planes with the
same index: ``row_to_move`` and ``column_to_move``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from solver.game.boards import Board
from solver.game.rules import LOSING_STONES, Phase, Rules
from solver.indexing.counting import count_classes, count_positions
from solver.indexing.index import SubspaceIndex

Plane = Literal["row_to_move", "column_to_move"]
ROW_TO_MOVE: Plane = "row_to_move"
COLUMN_TO_MOVE: Plane = "column_to_move"


@dataclass(frozen=True, order=True)
class MovingPair:
    """Stones of the row side and of the column side, both hands empty."""

    phase: ClassVar[Phase] = "moving"
    ply: ClassVar[None] = None

    row_stones: int
    column_stones: int

    def __post_init__(self) -> None:
        if not self.row_stones >= self.column_stones >= LOSING_STONES:
            raise ValueError(f"a moving pair needs a >= b >= {LOSING_STONES} stones, got {self}")

    @property
    def name(self) -> str:
        """The stem of the file name, such as ``moving_5-4``."""
        return f"moving_{self.row_stones}-{self.column_stones}"

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The planes that are stored: of equal sides one is the mirror of the other."""
        return (ROW_TO_MOVE,) if self.row_stones == self.column_stones else (ROW_TO_MOVE, COLUMN_TO_MOVE)

    def index(self, board: Board) -> SubspaceIndex:
        return SubspaceIndex(board, self.row_stones, self.column_stones)

    def dependencies(self) -> tuple[MovingPair, ...]:
        """The pairs that captures lead to, without those in which the game is over."""
        a, b = self.row_stones, self.column_stones
        smaller = {tuple(sorted(pair, reverse=True)) for pair in ((a, b - 1), (a - 1, b))}
        return tuple(MovingPair(*pair) for pair in sorted(smaller) if min(pair) >= LOSING_STONES)

    def stones_to_move(self, plane: Plane) -> tuple[int, int]:
        """(stones of the side to move, stones of the opponent) in ``plane``."""
        a, b = self.row_stones, self.column_stones
        return (a, b) if plane == ROW_TO_MOVE else (b, a)


@dataclass(frozen=True, order=True)
class PlacingSubspace:
    """``white`` against ``black`` stones on the board after ``ply`` placements."""

    phase: ClassVar[Phase] = "placing"

    ply: int
    white: int
    black: int

    def __post_init__(self) -> None:
        if min(self.ply, self.white, self.black) < 0:
            raise ValueError(f"a placing subspace counts from 0, got {self}")

    @property
    def name(self) -> str:
        """The stem of the file name, such as ``placing_07_4-3``."""
        return f"placing_{self.ply:02d}_{self.white}-{self.black}"

    @property
    def row_stones(self) -> int:
        return self.white

    @property
    def column_stones(self) -> int:
        return self.black

    @property
    def planes(self) -> tuple[Plane, ...]:
        """One plane: the ply says who is to move."""
        return (ROW_TO_MOVE,) if self.ply % 2 == 0 else (COLUMN_TO_MOVE,)

    def index(self, board: Board) -> SubspaceIndex:
        return SubspaceIndex(board, self.white, self.black)

    def stones_to_move(self, plane: Plane) -> tuple[int, int]:
        """(stones of the side to move, stones of the opponent) in ``plane``."""
        return (self.white, self.black) if plane == ROW_TO_MOVE else (self.black, self.white)


Subspace = MovingPair | PlacingSubspace


def parse_name(name: str) -> Subspace:
    """The subspace with this file stem. :raises ValueError: for any other text."""
    kind, _, rest = name.partition("_")
    try:
        if kind == "moving":
            a, b = rest.split("-")
            subspace: Subspace = MovingPair(int(a), int(b))
        elif kind == "placing":
            ply, stones = rest.split("_")
            white, black = stones.split("-")
            subspace = PlacingSubspace(int(ply), int(white), int(black))
        else:
            raise ValueError
        if subspace.name != name:
            raise ValueError
    except ValueError:
        raise ValueError(f"{name!r} names no subspace") from None
    return subspace


def moving_pairs(rules: Rules, max_stones: int | None = None) -> list[MovingPair]:
    """The pairs of the moving phase, fewest stones first, those with at most ``max_stones`` stones in all."""
    limit = 2 * rules.stones if max_stones is None else max_stones
    pairs = [
        MovingPair(a, b)
        for a in range(LOSING_STONES, rules.stones + 1)
        for b in range(LOSING_STONES, a + 1)
        if a + b <= limit
    ]
    return sorted(pairs, key=lambda pair: (pair.row_stones + pair.column_stones, pair.row_stones))


def hands(rules: Rules, ply: int) -> tuple[int, int]:
    """Stones in hand of (White, Black) after ``ply`` placements."""
    return rules.stones - (ply + 1) // 2, rules.stones - ply // 2


def is_decided(rules: Rules, ply: int, white: int, black: int) -> bool:
    """Whether one side has too few stones, on the board and in hand together: such positions need no table."""
    white_hand, black_hand = hands(rules, ply)
    return white + white_hand < LOSING_STONES or black + black_hand < LOSING_STONES


def counts_after(rules: Rules, ply: int, white: int, black: int) -> list[tuple[int, int]]:
    """The counts (white, black) on the board to which a placement leads, fewest stones taken first.

    A placement closes a mill only with three own stones on the board, and two mills only with five; every arrangement
    of a count is taken to be possible, so the successors of every position in a table have a table or are decided.
    """
    own, opponent = (white, black) if ply % 2 == 0 else (black, white)
    takes = range(min(rules.double_mill, opponent) + 1)
    after = [(own + 1, opponent - taken) for taken in takes if taken == 0 or own + 1 >= 2 * taken + 1]
    return after if ply % 2 == 0 else [counts[::-1] for counts in after]


@lru_cache(maxsize=64)
def placing_counts(rules: Rules) -> tuple[frozenset[tuple[int, int]], ...]:
    """For each ply 0..2n the counts (white, black) on the board that play can reach, decided ones included."""
    layers = [frozenset({(0, 0)})]
    for ply in range(2 * rules.stones):
        after: set[tuple[int, int]] = set()
        for white, black in layers[-1]:
            if not is_decided(rules, ply, white, black):
                after.update(counts_after(rules, ply, white, black))
        layers.append(frozenset(after))
    return tuple(layers)


def placing_subspaces(rules: Rules) -> list[PlacingSubspace]:
    """The subspaces of the placing phase in the order of solving: the last ply first.

    Within a ply those with the same stones of the mover stand side by side: they share what they lead to.
    """
    return [
        PlacingSubspace(ply, white, black)
        for ply in reversed(range(2 * rules.stones))
        for white, black in sorted(placing_counts(rules)[ply], key=lambda counts: counts[:: 1 if ply % 2 == 0 else -1])
        if not is_decided(rules, ply, white, black)
    ]


def closed_form_counts(board: Board, subspace: Subspace) -> tuple[int, int]:
    """(raw positions, classes) of one plane, by binomials and Burnside's lemma."""
    a, b = subspace.row_stones, subspace.column_stones
    return count_positions(board, a, b), count_classes(board, a, b)
