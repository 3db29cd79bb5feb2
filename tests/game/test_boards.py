"""Boards: geometry, and the group axioms of the computed symmetries."""

import pytest

from solver.game.boards import BOARD_16, BOARD_24, Board, mask_of
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS

BOARDS = [BOARD_24, BOARD_16, NINE_POINTS, NINE_POINTS_DIAGONALS]
all_boards = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)


@pytest.mark.parametrize(
    ("board", "points", "edges", "lines", "degrees"),
    [
        (BOARD_24, 24, 32, 16, {2: 12, 3: 8, 4: 4}),
        (BOARD_16, 16, 20, 8, {2: 8, 3: 8}),
        (NINE_POINTS, 9, 12, 6, {2: 4, 3: 4, 4: 1}),
        (NINE_POINTS_DIAGONALS, 9, 16, 8, {3: 8, 8: 1}),
    ],
    ids=lambda value: value.name if isinstance(value, Board) else "",
)
def test_sizes(board: Board, points: int, edges: int, lines: int, degrees: dict[int, int]) -> None:
    assert (board.n_points, len(board.edges), len(board.lines)) == (points, edges, lines)
    found = [mask.bit_count() for mask in board.neighbours]
    assert {degree: found.count(degree) for degree in set(found)} == degrees


def test_numbering_is_by_ring_clockwise_from_the_top_left_corner() -> None:
    assert BOARD_24.points[:9] == ("a7", "d7", "g7", "g4", "g1", "d1", "a1", "a4", "b6")
    assert BOARD_24.points[23] == "c4"
    assert BOARD_16.points[8:] == ("b4", "c4", "d4", "d3", "d2", "c2", "b2", "b3")


def test_spokes_are_lines_on_24_points_only() -> None:
    number = BOARD_24.point_numbers
    for spoke in ("a4 b4 c4", "d7 d6 d5", "g4 f4 e4", "d1 d2 d3"):
        assert mask_of(number[name] for name in spoke.split()) in BOARD_24.line_masks
    assert all(max(line) - min(line) < 8 for line in BOARD_16.lines)


@all_boards
def test_symmetries_form_a_group(board: Board) -> None:
    group = set(board.symmetries)
    points = range(board.n_points)
    assert len(group) == len(board.symmetries)
    assert board.symmetries[0] == tuple(points)
    for g in group:
        assert sorted(g) == list(points)
        inverse = tuple(sorted(points, key=g.__getitem__))
        assert inverse in group
        assert all(tuple(g[h[p]] for p in points) in group for h in group)


@all_boards
def test_symmetries_keep_edges_and_lines(board: Board) -> None:
    edges = {frozenset(edge) for edge in board.edges}
    lines = {frozenset(line) for line in board.lines}
    for g in board.symmetries:
        assert {frozenset(g[p] for p in edge) for edge in edges} == edges
        assert {frozenset(g[p] for p in line) for line in lines} == lines


@pytest.mark.parametrize(
    ("board", "order"), [(BOARD_24, 16), (BOARD_16, 16), (NINE_POINTS, 8), (NINE_POINTS_DIAGONALS, 8)]
)
def test_order_of_the_group(board: Board, order: int) -> None:
    assert len(board.symmetries) == order


def test_lines_break_symmetries_that_edges_allow() -> None:
    square = Board("square", ("p", "q", "r", "s"), ((0, 1), (1, 2), (2, 3), (0, 3)), (), (4,))
    with_line = Board("square", square.points, square.edges, ((0, 1, 2),), (4,))
    assert len(square.symmetries) == 8
    assert len(with_line.symmetries) == 2


def test_at_most_one_mill_by_a_slide() -> None:
    assert BOARD_24.max_mills_by_slide == BOARD_16.max_mills_by_slide == 1
    assert NINE_POINTS_DIAGONALS.max_mills_by_slide == 3  # from the middle of a side into the centre


def test_coordinates() -> None:
    assert BOARD_24.coordinates is not None
    assert BOARD_24.coordinates[:3] == ((0, 7), (3, 7), (6, 7))
    assert Board("pair", ("left", "right"), ((0, 1),), (), (2,)).coordinates is None


def test_fingerprint_looks_at_geometry_only() -> None:
    renamed = Board(
        "other",
        tuple(f"p{i}" for i in range(9)),
        tuple((b, a) for a, b in reversed(NINE_POINTS.edges)),
        tuple(reversed(NINE_POINTS.lines)),
        (9,),
    )
    assert renamed.fingerprint == NINE_POINTS.fingerprint
    assert len({board.fingerprint for board in BOARDS}) == len(BOARDS)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"points": ["a1", "a2", "a3", "a3"]}, "names a point twice"),
        ({"points": ["a1", "a2", "a3", "ax"]}, "'ax'"),
        ({"points": [], "edges": [], "lines": []}, "0 points"),
        ({"points": [f"p{i}" for i in range(25)], "edges": [], "lines": []}, "25 points"),
        ({"edges": [["a1", "a9"]]}, "no point 'a9'"),
        ({"edges": [["a1", "a1"]]}, "must join 2 different points"),
        ({"edges": [["a1", "a2"], ["a2", "a1"]]}, "lists the same edge twice"),
        ({"lines": [["a1", "a2"]]}, "must join 3 different points"),
        ({"lines": [["a1", "a2", "a3"], ["a3", "a2", "a1"]]}, "lists the same mill line twice"),
        ({"rings": [2, 2]}, "add up to the 3 points"),
        ({"rings": [3, 0]}, "must be positive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_boards_are_refused(parts: dict[str, list], message: str) -> None:
    good = {"points": ["a1", "a2", "a3"], "edges": [["a1", "a2"], ["a2", "a3"]], "lines": [["a1", "a2", "a3"]]}
    assert Board.from_names("mine", **good).rings == (3,)
    with pytest.raises(ValueError, match=message):
        Board.from_names("mine", **(good | parts))


def test_point_numbers_outside_the_board_are_refused() -> None:
    with pytest.raises(ValueError, match="outside the board"):
        Board("mine", ("a1", "a2"), ((0, 2),), (), (2,))


def plain_board(edges: list[tuple[int, int]], lines: list[tuple[int, int, int]]) -> Board:
    return Board("24", tuple(f"a{p}" for p in range(24)), tuple(edges), tuple(lines), (24,))


@pytest.mark.parametrize("lines", [[], [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(8)]])
def test_boards_of_interchangeable_points_are_refused_at_once(lines: list[tuple[int, int, int]]) -> None:
    """24! maps must not be tried one by one."""
    with pytest.raises(ValueError, match="more than the 256 symmetries"):
        _ = plain_board([], lines).symmetries


def test_the_search_for_symmetries_does_not_wait_for_whole_maps() -> None:
    ring = [(p, (p + 1) % 24) for p in range(24)]
    assert len(plain_board(ring, []).symmetries) == 48
    assert len(plain_board([], [(p, (p + 1) % 24, (p + 3) % 24) for p in range(24)]).symmetries) == 24


def test_point_numbers_are_whole_numbers() -> None:
    with pytest.raises(ValueError, match="outside the board"):
        plain_board([(0.0, 1.0)], [])  # type: ignore[list-item]
