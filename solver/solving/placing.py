"""Solve one subspace of the placing phase from the layer after it. Plies have no cycles, so one look ahead is enough.

White is the row side. After the last placement the layer is the moving phase, with White to move; there the pair's row
side is the side with more stones, so where Black has more the plane is transposed first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
import numpy.typing as npt

from solver.compiled.workers import Workers
from solver.game.rules import Rules
from solver.indexing.columns import column_table
from solver.indexing.index import SubspaceIndex
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import (
    COLUMN_TO_MOVE,
    ROW_TO_MOVE,
    MovingPair,
    PlacingSubspace,
    Plane,
    counts_after,
    is_decided,
)
from solver.indexing.values import metric_of
from solver.kernels import initialise, place, tables
from solver.kernels.board import board_tables
from solver.solving.code_book import code_book

Codes = npt.NDArray[np.unsignedinteger]
LayerSource = Callable[[int, int], Codes]
"""Gives the codes of the layer after by (white, black) stones; rows are White's. Shape (rows, at least its columns)."""


def last_layer_plane(
    rules: Rules, white: int, black: int, moving: Callable[[MovingPair, Plane], Codes], workers: Workers
) -> Codes:
    """The moving phase, White to move, as a layer: rows are White's stones."""
    if white >= black:
        return moving(MovingPair(white, black), ROW_TO_MOVE)
    index = SubspaceIndex(rules.board, white, black)
    source = SubspaceIndex(rules.board, black, white)
    plane = moving(MovingPair(black, white), COLUMN_TO_MOVE)
    out = np.empty(index.shape, plane.dtype)
    workers.over_rows(
        index.shape[0],
        lambda first, last: place.transpose(first, last, _kernel_index(index), _kernel_index(source), plane, out),
    )
    return out


def solve_placing(
    rules: Rules,
    subspace: PlacingSubspace,
    source: LayerSource,
    workers: Workers,
    progress: Callable[[int], object] | None = None,
) -> dict[Plane, Codes]:
    """The plane of ``subspace`` as codes, shape (rows, columns).

    :param source: gives the layer after it
    :param progress: told of positions done; they add up to the indices of the plane
    """
    layer = _Layer(rules, subspace, source, workers)
    index = subspace.index(rules.board)
    step = _white_step(layer, index) if subspace.planes == (ROW_TO_MOVE,) else _black_step(layer, index)
    values = np.empty(index.shape, layer.value_type)

    def work(first: int, last: int) -> None:
        step(first, last, values)
        if progress is not None:
            progress((last - first) * index.shape[1])

    workers.over_rows(index.shape[0], work)
    return {subspace.planes[0]: values}


Step = Callable[[int, int, Codes], None]


class _Layer:
    """The layer after a subspace: its planes as codes or as scores, and what captures lead to."""

    def __init__(self, rules: Rules, subspace: PlacingSubspace, source: LayerSource, workers: Workers) -> None:
        self.rules, self.subspace, self.workers = rules, subspace, workers
        self._planes: dict[tuple[int, int], Codes | None] = {}
        highest = 0
        for counts in counts_after(rules, subspace.ply, subspace.white, subspace.black):
            plane = None if is_decided(rules, subspace.ply + 1, *counts) else source(*counts)
            self._planes[counts] = plane
            if plane is not None:
                highest = max(highest, int(plane.max()))
        # One more ply, and a score has room for codes up to top - 4.
        self.value_type: type[np.unsignedinteger] = np.uint8 if highest + 1 <= 255 - 4 else np.uint16
        self.book = code_book(metric_of(rules, "placing"), self.value_type, most_turns=0)

    def codes(self, white: int, black: int) -> Codes | None:
        """The codes of one stone count; None where the game is over for the side to move."""
        return self._planes[white, black]

    def reaches(self, white: int, black: int) -> bool:
        return (white, black) in self._planes

    def quiet_codes(self) -> Codes:
        """The codes after a placement that takes nothing: it cannot end the game."""
        white, black = self.subspace.white, self.subspace.black
        codes = self.codes(*((white + 1, black) if self.subspace.ply % 2 == 0 else (white, black + 1)))
        assert codes is not None
        return codes

    def scores(self, codes: Codes) -> Codes:
        """``codes`` as scores for the side that has just moved."""
        scores = np.empty(codes.shape, self.value_type)
        self.workers.over_rows(len(codes), lambda first, last: place.fill_scores(first, last, self.book, codes, scores))
        return scores


def _kernel_index(index: SubspaceIndex) -> place.Index:
    board = index.board
    lines = np.array(board.line_masks, np.uint32)
    return place.Index(board_tables(board), lines, symmetry_tables(board), index.classes.table, index.columns)


def _white_step(layer: _Layer, index: SubspaceIndex) -> Step:
    white, black = index.row_stones + 1, index.column_stones
    after = SubspaceIndex(index.board, white, black)
    without = np.zeros((index.free, comb(index.free - 1, black)), np.uint32)
    place.fill_columns_without(index.columns.subsets, without)
    quiet = layer.scores(layer.quiet_codes())
    one = _best_removals(layer, after, layer.codes(white, black - 1)) if layer.reaches(white, black - 1) else quiet
    two = one
    if layer.reaches(white, black - 2):
        # The second removal is judged on the board after the first, so the first is valued by the best second one.
        fewer = SubspaceIndex(index.board, white, black - 1)
        second = _best_removals(layer, fewer, layer.codes(white, black - 2))
        two = _best_removals(layer, after, second, are_scores=True)
    arguments = _kernel_index(index), _kernel_index(after), without, layer.book, quiet, one, two
    return lambda first, last, values: place.place_white(first, last, *arguments, values)


def _best_removals(layer: _Layer, after: SubspaceIndex, codes: Codes | None, are_scores: bool = False) -> Codes:
    """Scores of the best removal of a black stone, for the rows of ``after`` that hold a mill.

    :param codes: plane of one black stone fewer; None where taking it ends the game
    :param are_scores: whether ``codes`` are scores already
    """
    book = layer.book
    if are_scores:
        identity = np.arange(len(book.score_of_code)).astype(layer.value_type)
        book = book._replace(score_of_code=identity)
    fewer = SubspaceIndex(after.board, after.row_stones, after.column_stones - 1)
    without = np.zeros((after.shape[1] if codes is not None else 0, after.column_stones), np.uint32)
    if codes is not None:
        tables.fill_without(after.columns.subsets, fewer.columns.ranks, without)
    captures = tables.RowCaptures(
        codes is None,
        np.zeros((1, 1), layer.value_type) if codes is None else codes,
        fewer.shape[1],
        fewer.columns.ranks,
        without,
    )
    best = np.zeros((after.shape[0], tables.stride_of(after.shape[1])), layer.value_type)
    kernel_index = _kernel_index(after)
    layer.workers.over_rows(
        after.shape[0],
        lambda first, last: initialise.best_removals(first, last, kernel_index, captures, book, best),
    )
    return best


def _black_step(layer: _Layer, index: SubspaceIndex) -> Step:
    white, black = index.row_stones, index.column_stones + 1
    after = column_table(index.free, black)
    successors = np.zeros((index.shape[1], index.free - index.column_stones), np.uint32)
    place.fill_after_placement(index.columns.subsets, after.ranks, index.free, successors)
    one, two = _removals(layer, white, black, 1), _removals(layer, white, black, 2)
    arguments = _kernel_index(index), after, successors, layer.book, layer.quiet_codes(), one, two
    return lambda first, last, values: place.place_black(first, last, *arguments, values)


def _removals(layer: _Layer, white: int, black: int, taken: int) -> place.Removals:
    """Where Black's placement leads that takes ``taken`` of ``white`` stones."""
    fewer = max(white - taken, 0)
    index = SubspaceIndex(layer.rules.board, fewer, black)
    codes = layer.codes(fewer, black) if layer.reaches(white - taken, black) else None
    if layer.reaches(white - taken, black):
        kind = place.WON if codes is None else place.TABLE
    else:
        kind = place.LAPSES if taken == 1 else place.AS_ONE
    plane = np.zeros((1, 1), layer.value_type) if codes is None else codes
    return place.Removals(kind, taken, plane, index.classes.table, index.columns.ranks)
