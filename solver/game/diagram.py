"""Boards drawn with characters.

The points need names such as ``d7`` to be laid out; a board with other names is listed ring by ring.
"""

from __future__ import annotations

from solver.game.boards import Board
from solver.game.notation import BLACK_LETTER, EMPTY_LETTER, WHITE_LETTER

_ACROSS, _DOWN = 4, 2  # characters between neighbouring columns and rows
_MARGIN = 1  # room for the bracket of a mark beside the leftmost point


def text_board(board: Board, white_mask: int, black_mask: int, mark: int | None = None) -> str:
    """The board with its stones; the points in the mask ``mark`` stand in brackets.

    >>> from solver.game.boards import BOARD_16
    >>> print(text_board(BOARD_16, 0b11, 0b100, mark=0b10))
    5   W------(W)------B
        |       |       |
    4   |   .---.---.   |
        |   |       |   |
    3   .---.       .---.
        |   |       |   |
    2   |   .---.---.   |
        |       |       |
    1   .-------.-------.
        a   b   c   d   e
    """
    letters = [
        WHITE_LETTER if white_mask >> p & 1 else BLACK_LETTER if black_mask >> p & 1 else EMPTY_LETTER
        for p in range(board.n_points)
    ]
    marked = [bool((mark or 0) >> p & 1) for p in range(board.n_points)]
    coordinates = board.coordinates
    if coordinates is None or len(set(coordinates)) < board.n_points:
        return _list(board, letters, marked)
    return _draw(board, coordinates, letters, marked)


def _list(board: Board, letters: list[str], marked: list[bool]) -> str:
    """One line a ring: ``p0=W p1=(B) p2=.``"""
    items = [
        f"{name}=({letter})" if bracket else f"{name}={letter}"
        for name, letter, bracket in zip(board.points, letters, marked, strict=True)
    ]
    lines, first = [], 0
    for size in board.rings:
        lines.append(" ".join(items[first : first + size]))
        first += size
    return "\n".join(lines)


def _draw(board: Board, coordinates: tuple[tuple[int, int], ...], letters: list[str], marked: list[bool]) -> str:
    columns = sorted({column for column, _ in coordinates})
    rows = sorted({row for _, row in coordinates}, reverse=True)
    # Places on the canvas: (line, character). Columns and rows without a point take no room.
    places = [(_DOWN * rows.index(row), _MARGIN + _ACROSS * columns.index(column)) for column, row in coordinates]
    canvas = [[" "] * (_ACROSS * len(columns)) for _ in range(_DOWN * len(rows) - 1)]
    for a, b in board.edges:
        _draw_edge(canvas, places[a], places[b])
    for (y, x), letter, bracket in zip(places, letters, marked, strict=True):
        canvas[y][x] = letter
        if bracket:
            canvas[y][x - 1], canvas[y][x + 1] = "()"
    width = max(len(str(row)) for row in rows) + 2
    lines = [
        (str(rows[y // _DOWN]) if y % _DOWN == 0 else "").ljust(width) + "".join(line) for y, line in enumerate(canvas)
    ]
    names = "".join(chr(ord("a") + column).ljust(_ACROSS) for column in columns)
    lines.append(" " * (width + _MARGIN) + names)
    return "\n".join(line.rstrip() for line in lines)


def _draw_edge(canvas: list[list[str]], start: tuple[int, int], end: tuple[int, int]) -> None:
    """A horizontal, vertical or diagonal run of characters; an edge in any other direction is left out."""
    (y, x), (y1, x1) = sorted((start, end))
    dy, dx = y1 - y, x1 - x
    if dy == 0:
        step, character, length = (0, 1), "-", dx
    elif dx == 0:
        step, character, length = (1, 0), "|", dy
    elif abs(dx) * _DOWN == dy * _ACROSS:
        slope = _ACROSS // _DOWN if dx > 0 else -_ACROSS // _DOWN
        step, character, length = (1, slope), "\\" if dx > 0 else "/", dy
    else:
        return
    for k in range(1, length):
        canvas[y + k * step[0]][x + k * step[1]] = character
