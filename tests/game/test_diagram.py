"""Boards drawn with characters."""

from textwrap import dedent

from solver.game.boards import BOARD_24, Board
from solver.game.diagram import text_board
from tests.support.small_boards import NINE_POINTS_DIAGONALS


def picture(text: str) -> str:
    return dedent(text).strip("\n")


def test_24_points() -> None:
    assert text_board(BOARD_24, 0b11, 0b1 << 8 | 1 << 23) == picture("""
        7   W-----------W-----------.
            |           |           |
        6   |   B-------.-------.   |
            |   |       |       |   |
        5   |   |   .---.---.   |   |
            |   |   |       |   |   |
        4   .---.---B       .---.---.
            |   |   |       |   |   |
        3   |   |   .---.---.   |   |
            |   |       |       |   |
        2   |   .-------.-------.   |
            |           |           |
        1   .-----------.-----------.
            a   b   c   d   e   f   g
    """)


def test_diagonals_and_marks() -> None:
    assert text_board(NINE_POINTS_DIAGONALS, 1 << 4, 1 << 2, mark=1 << 4 | 1) == picture("""
        3  (.)--.---B
            | \\ | / |
        2   .--(W)--.
            | / | \\ |
        1   .---.---.
            a   b   c
    """)


def test_columns_and_rows_without_points_take_no_room() -> None:
    board = Board("three", ("a12", "d12", "a3"), ((0, 1), (0, 2)), (), (3,))
    assert text_board(board, 1, 0b10) == picture("""
        12   W---B
             |
        3    .
             a   d
    """)


def test_boards_with_other_names_are_listed_by_ring() -> None:
    board = Board("ring", ("north", "east", "south", "west"), ((0, 1), (1, 2), (2, 3), (0, 3)), (), (2, 2))
    assert text_board(board, 0b1, 0b10, mark=0b10) == "north=W east=(B)\nsouth=. west=."


def test_two_points_in_one_place_are_listed() -> None:
    assert text_board(Board("twice", ("a1", "a01"), ((0, 1),), (), (2,)), 1, 0) == "a1=W a01=."
