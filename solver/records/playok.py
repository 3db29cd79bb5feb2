"""The turns of PlayOK (formerly Kurnik) exports: points are numbers, row by row from the top left.

::

     1-----------2-----------3
     |   4-------5-------6   |         5         places on d6
     |   |   7---8---9   |   |         10-1x23   moves from a4 to a7 and takes d1
    10--11--12      13--14--15         3x9x23    places on g7 and takes e5 and d1
     |   |  16--17--18   |   |
     |  19------20------21   |
    22----------23----------24
"""

from __future__ import annotations

import re
from functools import lru_cache

from solver.errors import IllegalMoveError, RecordError
from solver.game.boards import Board
from solver.game.notation import shorten

_TURN = re.compile(r"[0-9]{1,3}(-[0-9]{1,3})?(x[0-9]{1,3})*")
_NAME = re.compile(r"[^-x]+")


@lru_cache(maxsize=16)
def points_in_rows(board: Board) -> tuple[str, ...]:
    """Point names row by row from the top left; the point at index i has the number i + 1.

    :raises RecordError: for a board whose point names are no coordinates
    """
    if board.coordinates is None:
        raise RecordError(f"board {board.name!r}: PlayOK numbers need point names such as d7; use another notation")
    places = {name: (-row, column) for name, (column, row) in zip(board.points, board.coordinates, strict=True)}
    return tuple(sorted(board.points, key=places.__getitem__))


def from_playok(board: Board, text: str) -> str:
    """Turn text with point names.

    >>> from solver.game.boards import BOARD_24
    >>> from_playok(BOARD_24, "10-1x23")
    'a4-a7xd1'

    :raises IllegalMoveError: for text of another form and for a number that is no point
    """
    if not _TURN.fullmatch(text):
        raise IllegalMoveError(f"turn text {shorten(text)}: expected a turn such as 5, 10-1, 3x9, 10-1x23 or 3x9x23")
    names = points_in_rows(board)

    def name_of(number: re.Match[str]) -> str:
        if not 1 <= int(number[0]) <= len(names):
            raise IllegalMoveError(
                f"turn text {shorten(text)}: the board has no point {number[0]}, expected 1 to {len(names)}"
            )
        return names[int(number[0]) - 1]

    return re.sub("[0-9]+", name_of, text)


def to_playok(board: Board, text: str) -> str:
    """The inverse of :func:`from_playok`, for turn text of this board.

    >>> from solver.game.boards import BOARD_24
    >>> to_playok(BOARD_24, "g7xe5xd1")
    '3x9x23'
    """
    names = points_in_rows(board)
    return _NAME.sub(lambda name: str(names.index(name[0]) + 1), text)
