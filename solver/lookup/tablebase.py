"""Answers from the tables: what a position is worth, which moves are perfect, and one perfect line.

A value belongs to the stones, the side to move, the hands and, under a quiet limit, the quiet turns so far. The turns
before, which repetition is counted in, are ignored: a position that has stood on the board before is worth what it was
worth then.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from solver.compiled.bitboard import U
from solver.errors import MissingTableError, PositionError, RulesMismatchError
from solver.game.boards import Board
from solver.game.notation import PositionFields, other_side
from solver.game.position import Move, Position
from solver.game.rules import LOSING_STONES, Rules
from solver.indexing.ranks import Masks, rank_table
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import (
    COLUMN_TO_MOVE,
    ROW_TO_MOVE,
    MovingPair,
    PlacingSubspace,
    Plane,
    Subspace,
    counts_after,
    hands,
    is_decided,
)
from solver.indexing.values import LOST, Metric, Value, decode, metric_of, preference
from solver.lookup.forward_search import search
from solver.lookup.locator import SYMMETRY_BITS, Locator, fill_rows, locate, locate_many, probe_chosen
from solver.tables.database import CACHE_BYTES, Database, Table
from solver.tables.directory import differences

T = TypeVar("T")

MAX_LINE = 1000
NO_DEPTH = -1
"""Stands for None in arrays of depths."""


def open_tablebase(path: str | Path, cache_bytes: int = CACHE_BYTES) -> Tablebase:
    """The tables in the directory ``path``, for look-ups; use it in a ``with`` statement.

    :param cache_bytes: how many bytes of values to keep in memory

    :raises DatabaseError: where the directory is no database
    """
    return Tablebase(path, cache_bytes)


class _Address(NamedTuple):
    """Where the value of a position is stored."""

    subspace: Subspace
    plane: Plane
    row_is_white: bool


class Tablebase:
    """Look-ups in a directory of tables. Files are opened when they are needed; safe to share between threads.

    Values are from the side to move:

    ======== ======== ==========================================================
    ``wdl``  result   ``depth``
    ======== ======== ==========================================================
    +1       win      plies, see below
    0        draw     None
    -1       loss     plies; 0 if the game is over
    ======== ======== ==========================================================

    ``depth`` counts the plies to the end of the game. Under rules with a quiet limit it counts the plies to the next
    mill or the end of the game, and is None while placing.

    All look-ups raise

    * :class:`MissingTableError` where the table has not been computed (``get...`` return a default instead),
    * :class:`RulesMismatchError` for a position of rules with other values,
    * :class:`DatabaseError` for a damaged file.
    """

    def __init__(self, path: str | Path, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = Database(path, cache_bytes=cache_bytes)
        self._locators: dict[tuple[int, int], Locator] = {}
        self._rows: dict[int, Masks] = {}  # by number of stones; subspaces share them

    @property
    def rules(self) -> Rules:
        """The rules of the tables."""
        return self._database.rules

    @property
    def database(self) -> Database:
        """The tables themselves."""
        return self._database

    def close(self) -> None:
        """Close all files."""
        self._database.close()

    def __enter__(self) -> Tablebase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"open_tablebase({str(self._database.directory)!r})"

    def probe(self, pos: Position) -> Value:
        """The value of a position, from the side to move."""
        self._check_rules(pos)
        return self._values([pos.fields])[0]

    def probe_wdl(self, pos: Position) -> int:
        """+1 win, 0 draw, -1 loss for the side to move."""
        return self.probe(pos).wdl

    def probe_depth(self, pos: Position) -> int | None:
        """Plies of the value, or None."""
        return self.probe(pos).depth

    def get(self, pos: Position, default: T | None = None) -> Value | T | None:
        """:meth:`probe`, or ``default`` where the table has not been computed."""
        try:
            return self.probe(pos)
        except MissingTableError:
            return default

    def get_wdl(self, pos: Position, default: T | None = None) -> int | T | None:
        """:meth:`probe_wdl`, or ``default`` where the table has not been computed."""
        value = self.get(pos)
        return default if value is None else value.wdl

    def get_depth(self, pos: Position, default: T | None = None) -> int | T | None:
        """:meth:`probe_depth`, or ``default`` where the table has not been computed."""
        value = self.get(pos)
        return default if value is None else value.depth

    def moves(self, pos: Position) -> list[tuple[Move, Value]]:
        """The legal moves with the value after each from the side of the player who makes it, best first.

        Wins come first, the fastest first, then draws, then losses, the slowest first. Depths count from ``pos``: a
        move that ends the game has depth 1. There are none in a game that is over.
        """
        self._check_rules(pos)
        legal = pos.legal_moves
        values = self._values([pos.fields_after(move) for move in legal])
        rated = [(move, value_for_mover(pos, move, value)) for move, value in zip(legal, values, strict=True)]
        return sorted(rated, key=lambda item: preference(item[1]))

    def best_moves(self, pos: Position) -> list[Move]:
        """The moves that keep the value and, in a decided game, win fastest or lose slowest."""
        rated = self.moves(pos)
        return [move for move, value in rated if value == rated[0][1]]

    def line(self, pos: Position, max_plies: int = MAX_LINE) -> list[Move]:
        """One line of perfect play of both sides from ``pos`` to the end of the game, or ``max_plies`` of it.

        A drawn line ends by repetition or the quiet limit.
        """
        game, line = pos.copy(), list[Move]()
        while len(line) < max_plies and (best := self.best_moves(game)):
            game.push(best[0])
            line.append(best[0])
        return line

    def probe_many(
        self,
        white: npt.ArrayLike,
        black: npt.ArrayLike,
        side: npt.ArrayLike,
        hands: npt.ArrayLike = (0, 0),
        quiet: npt.ArrayLike = 0,
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]:
        """The values of n positions of these rules at once.

        :param white: masks of White's stones, shape (n,)
        :param black: masks of Black's stones, shape (n,)
        :param side: 0 where White is to move, 1 where Black is; shape (n,) or one for all
        :param hands: stones in hand of (White, Black), shape (n, 2) or one pair for all
        :param quiet: quiet turns so far, shape (n,) or one for all; they matter under a quiet limit only

        :returns: (wdl, depth), shape (n,); depth is -1 where :meth:`probe` says None

        :raises PositionError: for stones outside the board or on top of each other, and for impossible hands
        """
        white, black = np.ascontiguousarray(white, np.uint32), np.ascontiguousarray(black, np.uint32)
        _check_masks(self.rules.board, white, black)
        states = self._states(np.asarray(side), np.asarray(hands))
        codes = np.zeros(len(white), np.uint16)
        won = []
        for state, stones, chosen in _groups(states, white, black):
            result = self._result_by_stones(state, *stones)
            if result is None:
                self._look_up(state, stones, chosen, white, black, codes)
            else:
                codes[chosen] = LOST
            if result == 1:
                won.append(chosen)
        wdl, depth = self._decode_many(codes, np.broadcast_to(states, codes.shape), np.asarray(quiet))
        for chosen in won:
            wdl[chosen] = 1
        return wdl, depth

    def _check_rules(self, pos: Position) -> None:
        if pos.rules is self.rules or pos.rules == self.rules:
            return
        if words := differences(self.rules, pos.rules, pos.phase):
            raise RulesMismatchError(
                f"{self._database.directory}: tables of the rules {self.rules.name!r}, asked for a position of "
                f"{pos.rules.name!r}: {', '.join(words)}; open the tables of those rules"
            )

    # A *state* says which stones are in hand and who is to move: the ply of the placing phase and, after it, the number
    # of placements, plus one where Black is to move. So White is to move in even states.

    @property
    def _placements(self) -> int:
        return 2 * self.rules.stones

    def _states(self, side: npt.NDArray[Any], pairs: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
        """The states of sides and hands. :raises PositionError: where no game can show them"""
        if pairs.shape[-1:] != (2,):
            raise PositionError(f"hands of shape {pairs.shape}, expected one pair or (n, 2)")
        ply = self._placements - pairs.sum(axis=-1)
        expected = np.stack(hands(self.rules, ply), axis=-1)
        if (ply < 0).any() or (ply > self._placements).any() or (pairs != expected).any():
            raise PositionError("some stones in hand are not what any number of placements leaves")
        if ((side != 0) & (side != 1)).any():
            raise PositionError("some sides to move are neither 0 (White) nor 1 (Black)")
        is_moving = ply == self._placements
        if (~is_moving & (side != ply & 1)).any():
            raise PositionError("while placing, White moves where the hands are equal and Black where they are not")
        states: npt.NDArray[np.uint16] = ply.astype(np.uint16) + is_moving * side.astype(np.uint16)
        return states

    def _result_by_stones(self, state: int, white: int, black: int) -> int | None:
        """+1 or -1 for the side to move where a player has too few of its stones left, else None."""
        if state < self._placements:
            white_hand, black_hand = hands(self.rules, state)
            white, black = white + white_hand, black + black_hand
        own, opponent = (white, black) if state % 2 == 0 else (black, white)
        if own < LOSING_STONES:
            return -1
        return 1 if opponent < LOSING_STONES else None

    def _address(self, state: int, white: int, black: int) -> _Address:
        """Where positions with so many stones on the board are."""
        if state < self._placements:
            placing = PlacingSubspace(state, white, black)
            return _Address(placing, placing.planes[0], row_is_white=True)
        white_moves = state % 2 == 0
        if white == black:  # the plane of equal sides is that of the side to move
            return _Address(MovingPair(white, black), ROW_TO_MOVE, row_is_white=white_moves)
        pair = MovingPair(max(white, black), min(white, black))
        row_is_white = white > black
        return _Address(pair, ROW_TO_MOVE if row_is_white == white_moves else COLUMN_TO_MOVE, row_is_white)

    def _locator(self, table: Table) -> Locator:
        row_stones, column_stones = table.subspace.row_stones, table.subspace.column_stones
        locator = self._locators.get((row_stones, column_stones))
        if locator is None:
            rows = self._rows.get(row_stones)
            if rows is None:
                rows = self._rows[row_stones] = number_rows(self.rules.board, row_stones, table.row_masks())
            locator = make_locator(self.rules.board, row_stones, column_stones, rows)
            self._locators[row_stones, column_stones] = locator
        return locator

    def _values(self, positions: list[PositionFields]) -> list[Value]:
        """Values of positions with the same stones in hand, by the tables or by a forward search for all of them."""
        began = [_as_if_white_began(fields, self._placements) for fields in positions]
        try:
            return [self._read(fields) for fields in began]
        except MissingTableError:
            if not any(began[0].hands):
                raise
        return self._search_values(began)

    def _read(self, fields: PositionFields) -> Value:
        state = self._state(fields)
        stones = fields.white.bit_count(), fields.black.bit_count()
        metric = metric_of(self.rules, "placing" if state < self._placements else "moving")
        result = self._result_by_stones(state, *stones)
        if result is not None:
            return Value(result, decode(LOST, metric).depth)
        address = self._address(state, *stones)
        table = self._database.table(address.subspace)
        row_side, column_side = fields[:2] if address.row_is_white else fields[1::-1]
        row, column = locate(self._locator(table), row_side, column_side)
        value = decode(table.read(address.plane, row, column), metric)
        if metric is Metric.DTC and fields.quiet_turns + (value.depth or 0) > self.rules.quiet_limit:
            return Value(0)
        return value

    def _state(self, fields: PositionFields) -> int:
        ply = self._placements - sum(fields.hands)
        return ply + (fields.turn == "black") if ply == self._placements else ply

    def _search_values(self, positions: list[PositionFields]) -> list[Value]:
        ply = self._state(positions[0])
        white = np.array([fields.white for fields in positions], np.uint32)
        black = np.array([fields.black for fields in positions], np.uint32)
        codes = self._search(ply, white, black)
        metric = metric_of(self.rules, "placing")
        values = []
        for fields, code in zip(positions, codes.tolist(), strict=True):
            result = self._result_by_stones(ply, fields.white.bit_count(), fields.black.bit_count())
            values.append(decode(code, metric) if result is None else Value(result, decode(LOST, metric).depth))
        return values

    def _search(self, ply: int, white: Masks, black: Masks) -> npt.NDArray[np.uint16]:
        """Codes of placing positions, not all of which have tables.

        :raises MissingTableError: where play from one leads to a position without a table, when all stones are placed
        """
        for counts in set(zip(np.bitwise_count(white).tolist(), np.bitwise_count(black).tolist(), strict=True)):
            if not self._reaches_tables(ply, *counts):
                self._database.table(PlacingSubspace(ply, *counts))  # raises
        return search(self.rules, ply, white, black, self._probe_layer)

    def _reaches_tables(self, ply: int, white: int, black: int) -> bool:
        """Whether all play from such stone counts leads to tables that are there, or to the end of the game."""
        if is_decided(self.rules, ply, white, black):
            return True
        if self._database.has(self._address(ply, white, black).subspace):
            return True
        after = counts_after(self.rules, ply, white, black) if ply < self._placements else []
        return bool(after) and all(self._reaches_tables(ply + 1, *counts) for counts in after)

    def _probe_layer(self, ply: int, white: Masks, black: Masks) -> npt.NDArray[np.uint16] | None:
        """Codes of positions with equal stone counts, None where there is no table of them."""
        address = self._address(ply, int(white[0]).bit_count(), int(black[0]).bit_count())
        if isinstance(address.subspace, PlacingSubspace) and not self._database.has(address.subspace):
            return None
        codes = np.zeros(len(white), np.uint16)
        self._read_group(address, np.arange(len(white)), white, black, codes)
        return codes

    def _look_up(
        self,
        state: int,
        stones: tuple[int, int],
        chosen: npt.NDArray[np.int64],
        white: Masks,
        black: Masks,
        codes: npt.NDArray[np.uint16],
    ) -> None:
        """Write the codes of the positions numbered in ``chosen``, all of one state and with the same stone counts."""
        address = self._address(state, *stones)
        if isinstance(address.subspace, PlacingSubspace) and not self._database.has(address.subspace):
            codes[chosen] = self._search(state, white[chosen], black[chosen])
        else:
            self._read_group(address, chosen, white, black, codes)

    def _read_group(
        self,
        address: _Address,
        chosen: npt.NDArray[np.int64],
        white: Masks,
        black: Masks,
        codes: npt.NDArray[np.uint16],
    ) -> None:
        """Write the codes of the positions numbered in ``chosen``, all at the same address."""
        table = self._database.table(address.subspace)
        locator = self._locator(table)
        row_masks, column_masks = (white, black) if address.row_is_white else (black, white)
        plane = table.whole_plane(address.plane, len(chosen))
        if plane is not None:
            probe_chosen(locator, chosen, row_masks, column_masks, plane, codes)
            return
        rows, columns = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
        locate_many(locator, chosen, row_masks, column_masks, rows, columns)
        codes[chosen] = table.read_many(address.plane, rows, columns)

    def _decode_many(
        self, codes: npt.NDArray[np.uint16], states: npt.NDArray[np.uint16], quiet: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]:
        metric = metric_of(self.rules, "moving")
        wdl_of, depth_of = _decode_tables(metric)
        wdl, depth = wdl_of[codes], depth_of[codes]
        if metric is Metric.DTC:
            is_moving = states >= self._placements
            depth[~is_moving] = NO_DEPTH
            late = is_moving & (depth + quiet > self.rules.quiet_limit)
            wdl[late], depth[late] = 0, NO_DEPTH
        return wdl, depth


def value_for_mover(pos: Position, move: Move, after: Value) -> Value:
    """The value of ``move`` for the player who makes it in ``pos``, by that of the position ``after`` it."""
    metric = metric_of(pos.rules, pos.phase)
    if after.wdl == 0 or metric is Metric.WDL:
        return Value(-after.wdl)
    if metric is Metric.DTC and move.taken:
        return Value(-after.wdl, 1)
    return Value(-after.wdl, (after.depth or 0) + 1)


def number_rows(board: Board, stones: int, row_masks: Masks) -> Masks:
    """The row of the stones of each row, by their rank; other entries mean nothing."""
    rows = np.zeros(comb(board.n_points, stones), np.uint32)
    fill_rows(rank_table(board.n_points, stones), row_masks, rows)
    return rows


def make_locator(board: Board, row_stones: int, column_stones: int, rows: Masks) -> Locator:
    """What :func:`locate` needs for a subspace; ``rows`` as of :func:`number_rows`."""
    return Locator(
        points=U((1 << board.n_points) - 1),
        images=symmetry_tables(board).images,
        images_aside=_images_aside(board),
        row_ranks=rank_table(board.n_points, row_stones),
        rows=rows,
        column_ranks=rank_table(board.n_points - row_stones, column_stones),
    )


@lru_cache(maxsize=16)
def _images_aside(board: Board) -> Masks:
    images = symmetry_tables(board).images
    aside = np.ascontiguousarray(images.T << np.uint32(SYMMETRY_BITS))
    aside |= np.arange(len(images), dtype=np.uint32)
    return aside


@lru_cache(maxsize=4)
def _decode_tables(metric: Metric) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]:
    """(wdl, depth) by code."""
    values = [decode(code, metric) for code in range(1 << 16)]
    depths = [NO_DEPTH if value.depth is None else value.depth for value in values]
    return np.array([value.wdl for value in values], np.int8), np.array(depths, np.int32)


def _check_masks(board: Board, white: Masks, black: Masks) -> None:
    if white.shape != black.shape or white.ndim != 1:
        raise PositionError(f"stones of shapes {white.shape} and {black.shape}, expected (n,) twice")
    if (white & black).any() or ((white | black) >> board.n_points).any():
        raise PositionError(f"some stones overlap or lie outside the {board.n_points} points of the board")


def _groups(
    states: npt.NDArray[np.uint16], white: Masks, black: Masks
) -> Iterator[tuple[int, tuple[int, int], npt.NDArray[np.int64]]]:
    """Group positions by state and numbers of stones: (state, (white, black), which positions)."""
    keys = (states << np.uint16(10)) + (np.bitwise_count(white) * np.uint16(32) + np.bitwise_count(black))
    counts = np.bincount(keys, minlength=1)
    present = np.flatnonzero(counts)
    order = np.arange(len(keys)) if len(present) == 1 else np.argsort(keys, kind="stable")  # a radix sort
    ends = np.cumsum(counts[present])
    for key, first, last in zip(present.tolist(), ends - counts[present], ends, strict=True):
        yield key >> 10, (key >> 5 & 31, key & 31), order[first:last]


def _as_if_white_began(fields: PositionFields, placements: int) -> PositionFields:
    """While placing, the same position with the colours exchanged where Black must have made the first turn."""
    ply = placements - sum(fields.hands)
    if ply == placements or (ply % 2 == 0) == (fields.turn == "white"):
        return fields
    white, black, turn, in_hand, quiet_turns = fields
    return PositionFields(black, white, other_side(turn), (in_hand[1], in_hand[0]), quiet_turns)
