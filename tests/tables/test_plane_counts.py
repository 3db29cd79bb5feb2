"""Counts of a plane against counting position by position."""

import numpy as np
import pytest

from solver.compiled.workers import Workers
from solver.game.boards import BOARD_16, BOARD_24, Board
from solver.indexing.counting import count_classes, count_positions
from solver.indexing.index import SubspaceIndex
from solver.indexing.values import Metric, decode
from solver.tables.plane_counts import PlaneStatistics, count_plane
from tests.support.brute_force import arrangements, smallest_images
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS

SUBSPACES = [
    (NINE_POINTS, 3, 3),
    (NINE_POINTS, 2, 3),
    (NINE_POINTS_DIAGONALS, 4, 3),
    (NINE_POINTS, 0, 0),
    (BOARD_16, 3, 3),
    (BOARD_16, 2, 4),
    (BOARD_16, 4, 2),
]
by_subspace = pytest.mark.parametrize(
    ("board", "a", "b"), SUBSPACES, ids=[f"{board.name}, {a}-{b}" for board, a, b in SUBSPACES]
)


def brute_force(board: Board, a: int, b: int, top: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random plane with equal codes for equivalent positions; its raw positions and classes by code."""
    ours, theirs = arrangements(board, a, b)
    _, first, number = np.unique(smallest_images(board, ours, theirs), return_index=True, return_inverse=True)
    code_of_class = np.random.default_rng(seed).integers(0, top + 1, len(first))
    plane = np.empty(SubspaceIndex(board, a, b).shape, np.uint8 if top <= 255 else np.uint16)
    plane[SubspaceIndex(board, a, b).rank_many(ours, theirs)] = code_of_class[number]
    return plane, np.bincount(code_of_class[number]), np.bincount(code_of_class)


@by_subspace
@pytest.mark.parametrize("top", [0, 1, 60, 255, 3000])
def test_histograms(board: Board, a: int, b: int, top: int) -> None:
    plane, raw, classes = brute_force(board, a, b, top)
    statistics = count_plane(SubspaceIndex(board, a, b), plane, Metric.DTM)
    assert statistics.raw.tolist() == raw.tolist()
    assert statistics.classes.tolist() == classes.tolist()
    assert statistics.raw.sum() == count_positions(board, a, b)
    assert statistics.classes.sum() == count_classes(board, a, b)


def test_wins_draws_and_losses() -> None:
    statistics = PlaneStatistics(Metric.DTM, np.array([5, 1, 2, 3, 4]), np.array([1, 1, 1, 0, 2]))
    assert statistics.raw_wdl == (2 + 4, 5, 1 + 3)
    assert statistics.classes_wdl == (1 + 2, 1, 1 + 0)


@pytest.mark.parametrize("metric", [Metric.DTM, Metric.DTC])
@by_subspace
def test_longest_win_and_loss_with_an_example(board: Board, a: int, b: int, metric: Metric) -> None:
    plane, _, _ = brute_force(board, a, b, 60)
    statistics = count_plane(SubspaceIndex(board, a, b), plane, metric)
    values = [decode(code, metric) for code in np.unique(plane).tolist()]
    for wdl, longest, code in (
        (1, statistics.longest_win, statistics.longest_win_code),
        (-1, statistics.longest_loss, statistics.longest_loss_code),
    ):
        depths = [value.depth for value in values if value.wdl == wdl]
        assert longest == max(depths, default=0)
        assert (code is None) == (not depths)
        if code is not None:
            assert plane[statistics.examples[code]] == code
            assert decode(code, metric) == (wdl, longest)


@pytest.mark.parametrize(
    ("codes", "wdl", "longest"),
    [
        ([0], (0, 1, 0), (0, 0)),
        ([1], (0, 0, 1), (0, 0)),
        ([2], (1, 0, 0), (1, 0)),
        ([65535], (0, 0, 1), (0, 65534)),
    ],
)
def test_a_plane_of_one_index(codes: list[int], wdl: tuple[int, ...], longest: tuple[int, int]) -> None:
    statistics = count_plane(SubspaceIndex(BOARD_24, 0, 0), np.array([codes], np.uint16), Metric.DTM)
    assert statistics.raw_wdl == statistics.classes_wdl == wdl
    assert (statistics.longest_win, statistics.longest_loss) == longest
    assert len(statistics.examples) == (codes != [0])


def test_results_without_distances() -> None:
    plane, raw, _ = brute_force(BOARD_16, 3, 3, 2)
    statistics = count_plane(SubspaceIndex(BOARD_16, 3, 3), plane, Metric.WDL)
    assert statistics.raw_wdl == (raw[2], raw[0], raw[1])
    assert (statistics.longest_win, statistics.longest_loss) == (0, 0)


def test_padding_is_not_counted() -> None:
    plane, raw, classes = brute_force(BOARD_16, 3, 3, 60)
    padded = np.full((plane.shape[0], plane.shape[1] + 7), 255, np.uint8)
    padded[:, : plane.shape[1]] = plane
    statistics = count_plane(SubspaceIndex(BOARD_16, 3, 3), padded, Metric.DTM)
    assert statistics.raw.tolist() == raw.tolist()
    assert statistics.classes.tolist() == classes.tolist()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_count_the_same(threads: int) -> None:
    index = SubspaceIndex(BOARD_24, 5, 3)
    plane = np.random.default_rng(1).integers(0, 200, index.shape, dtype=np.uint8)
    alone = count_plane(index, plane, Metric.DTM)
    with Workers(threads) as workers:
        together = count_plane(index, plane, Metric.DTM, workers)
    assert together.raw.tolist() == alone.raw.tolist()
    assert together.classes.tolist() == alone.classes.tolist()
    assert together.examples == alone.examples
    assert together.raw.sum() == count_positions(BOARD_24, 5, 3)
