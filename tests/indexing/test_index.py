"""The index: classes against brute force, rank and unrank, sizes against Burnside's lemma and published figures."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.compiled.bitboard import U
from solver.game.boards import BOARD_16, BOARD_24, Board
from solver.game.rules import get_rules
from solver.indexing.columns import column_table
from solver.indexing.counting import count_classes, count_positions
from solver.indexing.index import SubspaceIndex
from solver.indexing.ranks import k_subsets, rank, rank_table
from solver.indexing.rows import class_and_symmetry, stone_classes, symmetry_tables
from solver.indexing.subspaces import closed_form_counts, moving_pairs
from tests.support.brute_force import arrangements, image, images, smallest_images
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS

# 10 points in a ring with two lines: two symmetries, and masks that span two bytes.
RING = Board(
    "ring",
    tuple(f"a{p}" for p in range(10)),
    tuple((p, (p + 1) % 10) for p in range(10)),
    ((0, 1, 2), (5, 6, 7)),
    (10,),
)
# No two points are alike.
PATH = Board(
    "path", tuple(f"a{p}" for p in range(7)), tuple((p, p + 1) for p in range(6)), ((0, 1, 2), (2, 3, 4)), (7,)
)
SMALL = [NINE_POINTS, NINE_POINTS_DIAGONALS, RING, PATH]
by_name = pytest.mark.parametrize("board", [BOARD_16, *SMALL], ids=lambda board: board.name)


# Subsets and colex ranks


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (0, 1, 8, 9, 10, 13) for k in range(n + 2)])
def test_subsets_are_all_there_and_ascend(n: int, k: int) -> None:
    expected = sorted(sum(1 << p for p in points) for points in combinations(range(n), k))
    assert k_subsets(n, k).tolist() == expected


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (9, 4), (10, 4), (15, 9), (21, 3), (24, 3), (24, 9)])
def test_colex_rank_is_the_order_of_the_masks(n: int, k: int) -> None:
    table = rank_table(n, k)
    masks = k_subsets(n, k)
    chosen = np.unique(np.linspace(0, len(masks) - 1, 3000).astype(int))
    assert [int(rank(table, U(masks[i]))) for i in chosen] == chosen.tolist()


@given(st.sets(st.integers(0, 23), max_size=12))
def test_colex_rank_is_the_sum_of_binomials(points: set[int]) -> None:
    mask = sum(1 << p for p in points)
    expected = sum(comb(p, k) for k, p in enumerate(sorted(points), start=1))
    assert rank(rank_table(24, len(points)), U(mask)) == expected


@given(st.sets(st.integers(0, 14), max_size=7))
def test_colex_rank_does_not_depend_on_the_number_of_points(points: set[int]) -> None:
    mask = U(sum(1 << p for p in points))
    assert len({int(rank(rank_table(n, len(points)), mask)) for n in range(15, 25)}) == 1


def test_columns_are_ranked_among_themselves() -> None:
    table = column_table(11, 4)
    assert [int(rank(table.ranks, U(z))) for z in table.subsets] == list(range(comb(11, 4)))


# Classes of one side's stones


def test_numbers_of_classes_of_one_colour() -> None:
    """Published for 24 points: ``REFERENCES.md``, Sizes."""
    published = [1, 4, 30, 158, 757, 2830, 8774, 22188, 46879, 82880, 124124, 157668, 170854]
    assert [stone_classes(BOARD_24, k).count for k in range(11)] == published[:11]
    assert [count_classes(BOARD_24, k, 0) for k in range(13)] == published


@by_name
def test_representatives_are_the_smallest_images(board: Board) -> None:
    for k in range(board.n_points + 1):
        classes = stone_classes(board, k)
        masks = k_subsets(board.n_points, k)
        found = images(board, masks)
        smallest = found.min(axis=0)
        packed = classes.table.packed
        representatives = classes.table.representatives[packed >> np.uint32(8)]
        assert (representatives == smallest).all()
        assert (found[packed & np.uint32(255), np.arange(len(masks))] == representatives).all()
        assert (np.diff(classes.table.representatives.astype(np.int64)) > 0).all()
        assert classes.orbit_sizes.tolist() == np.unique(smallest, return_counts=True)[1].tolist()


@by_name
def test_a_representative_is_mapped_by_the_identity(board: Board) -> None:
    """So unranking and ranking again gives the same index, where others would be equivalent."""
    for k in range(board.n_points + 1):
        table = stone_classes(board, k).table
        found = [class_and_symmetry(table, U(mask)) for mask in table.representatives]
        assert [(int(row), int(g)) for row, g in found] == [(row, 0) for row in range(len(found))]


@pytest.mark.parametrize("k", [3, 5, 9])
def test_representatives_on_24_points(k: int) -> None:
    table = stone_classes(BOARD_24, k).table
    rng = np.random.default_rng(k)
    for mask in rng.choice(k_subsets(24, k), 200).tolist():
        row, g = (int(number) for number in class_and_symmetry(table, U(mask)))
        found = [image(BOARD_24, h, mask) for h in range(16)]
        assert table.representatives[row] == min(found) == found[g]


@by_name
def test_symmetry_tables(board: Board) -> None:
    tables = symmetry_tables(board)
    points = range(board.n_points)
    for g, symmetry in enumerate(board.symmetries):
        inverse = board.symmetries[tables.inverse[g]]
        assert [inverse[symmetry[p]] for p in points] == list(points)
        for p in points:
            assert tables.images[g, (p >> 3) * 256 + (1 << (p & 7))] == 1 << symmetry[p]


# Rank and unrank


def check_unrank_and_rank(index: SubspaceIndex, rows: np.ndarray, columns: np.ndarray) -> None:
    """Unranking gives positions of the subspace, and ranking them the same indices again."""
    row_masks, column_masks = index.unrank_many(rows, columns)
    assert (np.bitwise_count(row_masks) == index.row_stones).all()
    assert (np.bitwise_count(column_masks) == index.column_stones).all()
    assert not (row_masks & column_masks).any()
    assert not ((row_masks | column_masks) >> np.uint32(index.board.n_points)).any()
    again = index.rank_many(row_masks, column_masks)
    assert (again[0] == rows).all()
    assert (again[1] == columns).all()


def all_indices(index: SubspaceIndex) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.indices(index.shape)
    return rows.ravel(), columns.ravel()


@pytest.mark.parametrize("board", SMALL, ids=lambda board: board.name)
def test_every_index_of_every_small_subspace(board: Board) -> None:
    for a, b in product(range(board.n_points + 1), repeat=2):
        if a + b <= board.n_points:
            index = SubspaceIndex(board, a, b)
            assert index.shape == (stone_classes(board, a).count, comb(board.n_points - a, b))
            check_unrank_and_rank(index, *all_indices(index))


@pytest.mark.parametrize(
    ("a", "b"), [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 4), (3, 3), (4, 3), (3, 5), (5, 4), (6, 6)]
)
def test_every_index_of_subspaces_on_16_points(a: int, b: int) -> None:
    """Placing subspaces among them, whose row side may have fewer stones than the column side."""
    index = SubspaceIndex(BOARD_16, a, b)
    check_unrank_and_rank(index, *all_indices(index))


@pytest.mark.parametrize(("a", "b"), [(3, 3), (7, 3), (3, 7), (8, 7), (6, 9), (9, 8), (9, 9)])
def test_large_subspaces(a: int, b: int) -> None:
    """A sample with all corners, and the first and last rows and columns."""
    index = SubspaceIndex(BOARD_24, a, b)
    rows, columns = index.shape
    rng = np.random.default_rng(10 * a + b)
    some_rows = np.concatenate([rng.integers(0, rows, 20_000), [0, 0, rows - 1, rows - 1]])
    some_columns = np.concatenate([rng.integers(0, columns, 20_000), [0, columns - 1, 0, columns - 1]])
    some_rows[:1000], some_rows[1000:2000] = 0, rows - 1
    some_columns[2000:3000], some_columns[3000:4000] = 0, columns - 1
    check_unrank_and_rank(index, some_rows, some_columns)


def test_corners_by_hand() -> None:
    index = SubspaceIndex(BOARD_16, 3, 2)
    assert index.unrank(0, 0) == (0b111, 0b11 << 3)
    assert index.unrank(0, index.shape[1] - 1) == (0b111, 0b11 << 14)
    assert index.rank(0b111 << 8, 0b11 << 14) == index.rank(0b111, 0b11 << 6)


@pytest.mark.parametrize(
    ("row_mask", "column_mask"), [(0b11, 0b111000), (0b111, 0b110), (0b111, 0b11 << 15), (0b111, 0), (1 << 20 | 3, 48)]
)
def test_positions_of_another_subspace_are_refused(row_mask: int, column_mask: int) -> None:
    with pytest.raises(ValueError, match="stones"):
        SubspaceIndex(BOARD_16, 3, 2).rank(row_mask, column_mask)


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (0, -1), (42, 0), (0, 78), (1 << 40, 0)])
def test_indices_outside_the_shape_are_refused(row: int, column: int) -> None:
    index = SubspaceIndex(BOARD_16, 3, 2)
    assert index.shape == (42, 78)
    with pytest.raises(IndexError, match=r"outside a subspace of shape \(42, 78\)"):
        index.unrank(row, column)


# Classes of positions


@pytest.mark.parametrize(
    ("board", "a", "b"),
    [(BOARD_16, 3, 3), (BOARD_16, 4, 2), (BOARD_16, 2, 4)]
    + [(board, a, b) for board in SMALL for a, b in ((0, 2), (2, 2), (3, 2), (2, 3), (3, 3))],
    ids=lambda value: value.name if isinstance(value, Board) else str(value),
)
def test_indices_of_a_class_are_those_of_its_images(board: Board, a: int, b: int) -> None:
    """The indices of all positions, grouped by brute force into classes: all in one row, one of them a member."""
    index = SubspaceIndex(board, a, b)
    ours, theirs = arrangements(board, a, b)
    classes = smallest_images(board, ours, theirs)
    rows, columns = index.rank_many(ours, theirs)
    assert len(ours) == count_positions(board, a, b)
    assert (np.unique(rows * index.shape[1] + columns) == np.arange(index.size)).all(), "an index without a position"
    row_of_class: dict[int, int] = {}
    columns_of_class: dict[int, set[int]] = {}
    for key, row, column in zip(classes.tolist(), rows.tolist(), columns.tolist(), strict=True):
        assert row_of_class.setdefault(key, row) == row
        columns_of_class.setdefault(key, set()).add(column)
    assert len(columns_of_class) == count_classes(board, a, b)
    members = {row: index.class_members(row) for row in range(index.shape[0])}
    for key, equivalent in columns_of_class.items():
        canonical = members[row_of_class[key]]
        if canonical is None:
            assert len(equivalent) == 1
        else:
            assert [column for column in equivalent if canonical[column]] == [min(equivalent)]


@pytest.mark.parametrize(("a", "b"), [(3, 3), (8, 7), (9, 9), (7, 3)])
def test_images_of_large_positions_are_equivalent(a: int, b: int) -> None:
    """Also for the rows with the most symmetries, where the images spread over several columns."""
    index = SubspaceIndex(BOARD_24, a, b)
    rng = np.random.default_rng(a + b)
    orbit_sizes = index.classes.orbit_sizes
    symmetric = np.argsort(orbit_sizes, kind="stable")[:20]
    assert orbit_sizes[symmetric[0]] < 16
    rows = np.concatenate([symmetric, rng.integers(0, index.shape[0], 20)])
    row_masks, column_masks = index.unrank_many(rows, rng.integers(0, index.shape[1], len(rows)))
    for row, ours, theirs in zip(rows.tolist(), row_masks.tolist(), column_masks.tolist(), strict=True):
        positions = {(image(BOARD_24, g, ours), image(BOARD_24, g, theirs)) for g in range(16)}
        found = {index.rank(*position) for position in positions}
        assert {r for r, _ in found} == {row}
        columns = sorted(column for _, column in found)
        assert len(columns) * orbit_sizes[row] == len(positions)
        members = index.class_members(row)
        if members is None:
            assert len(columns) == 1
        else:
            assert [column for column in columns if members[column]] == columns[:1]


@pytest.mark.parametrize(
    ("board", "a", "b"),
    [(BOARD_24, 3, 3), (BOARD_24, 5, 3), (BOARD_24, 3, 5), (BOARD_24, 4, 4), (BOARD_16, 5, 5), (BOARD_16, 6, 4)],
    ids=lambda value: value.name if isinstance(value, Board) else str(value),
)
def test_members_are_as_many_as_burnside_counts(board: Board, a: int, b: int) -> None:
    index = SubspaceIndex(board, a, b)
    members = 0
    raw = 0
    for row, orbit_size in enumerate(index.classes.orbit_sizes.tolist()):
        canonical = index.class_members(row)
        members += index.shape[1] if canonical is None else int(canonical.sum())
        raw += orbit_size * index.shape[1]
    assert members == count_classes(board, a, b)
    assert raw == count_positions(board, a, b)


def test_sizes_of_the_moving_phase_of_nine() -> None:
    """Published: ``REFERENCES.md``, Sizes (Gasser, and others since)."""
    rules = get_rules("nine")
    pairs = moving_pairs(rules)
    assert (len(pairs), sum(len(pair.planes) for pair in pairs)) == (28, 49)
    counts = {pair: closed_form_counts(rules.board, pair) for pair in pairs}
    assert sum(pair.index(rules.board).size * len(pair.planes) for pair in pairs) == 9_074_932_579
    assert sum(counts[pair][0] * len(pair.planes) for pair in pairs) == 142_430_121_724
    assert sum(counts[pair][1] * len(pair.planes) for pair in pairs) == 8_904_593_601


def test_classes_do_not_depend_on_which_side_is_called_the_row_side() -> None:
    for a, b in product(range(5), repeat=2):
        assert count_classes(BOARD_24, a, b) == count_classes(BOARD_24, b, a)
        assert count_positions(BOARD_24, a, b) == count_positions(BOARD_24, b, a)
