"""Boards small enough for the naive solver, and board geometry as the plain data that it takes."""

from itertools import pairwise

from solver.game.boards import Board

_POINTS_9 = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]
_ROWS_AND_COLUMNS = [line.split() for line in ("a3 b3 c3", "a2 b2 c2", "a1 b1 c1", "a3 a2 a1", "b3 b2 b1", "c3 c2 c1")]
_DIAGONALS = [line.split() for line in ("a3 b2 c1", "c3 b2 a1")]


def _along(lines: list[list[str]]) -> list[tuple[str, str]]:
    """The edges between neighbours on ``lines``."""
    return [pair for line in lines for pair in pairwise(line)]


NINE_POINTS = Board.from_names("9 points", _POINTS_9, _along(_ROWS_AND_COLUMNS), _ROWS_AND_COLUMNS, rings=[3, 3, 3])
"""Three men's morris without diagonals."""

NINE_POINTS_DIAGONALS = Board.from_names(
    "9 points with diagonals",
    _POINTS_9,
    _along(_ROWS_AND_COLUMNS + _DIAGONALS),
    _ROWS_AND_COLUMNS + _DIAGONALS,
    rings=[3, 3, 3],
)
"""The same with diagonals: four lines meet in the centre."""


def geometry(board: Board) -> tuple[int, list[list[int]], list[tuple[int, int, int]]]:
    """(number of points, neighbours of each point, lines): the arguments of the naive solver."""
    neighbours: list[list[int]] = [[] for _ in range(board.n_points)]
    for a, b in board.edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return board.n_points, neighbours, list(board.lines)
