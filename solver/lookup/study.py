"""What is worth looking at in a whole subspace: only moves, long wins, and mutual zugzwangs.

Each search goes once over all indices of a subspace, in pieces that fit the memory, and looks values up with
``Tablebase.probe_many``. Positions that symmetry makes the same count once, and in a pair of equal sides so do those
that become the same when the colours are exchanged. In the positions of a moving pair White has the stones of the row
side. Under a quiet limit no quiet turn has been made yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from solver.compiled.bitboard import U
from solver.compiled.jit import jit
from solver.errors import PositionError
from solver.game.boards import Board
from solver.game.movegen import MAX_TURNS, MoveTables, move_tables, successors
from solver.game.notation import Side
from solver.game.position import Position
from solver.indexing.ranks import Masks
from solver.indexing.rows import symmetry_tables
from solver.indexing.subspaces import ROW_TO_MOVE, MovingPair, PlacingSubspace, Plane, Subspace, hands
from solver.indexing.values import Value
from solver.lookup.tablebase import Tablebase

Wdl = npt.NDArray[np.int8]
Depths = npt.NDArray[np.int32]

_PIECE = 1 << 17  # positions looked at together; their turns are a few million
_MAX_BOARD = 32
_SLOW = 1 << 22  # positions from which on a progress bar is worth its line


class Finding(NamedTuple):
    """One position found.

    :param position: its text
    :param value: its value from the side to move
    :param remark: what is remarkable about it
    """

    position: str
    value: Value
    remark: str


@dataclass(frozen=True)
class Study:
    """What a search found.

    :param name: ``only-moves``, ``longest-wins`` or ``zugzwangs``
    :param total: how many positions were found; None for the longest wins, which are a ranking
    :param findings: the most remarkable ones, best first
    """

    name: str
    subspace: Subspace
    total: int | None
    findings: tuple[Finding, ...]

    def texts(self) -> list[str]:
        """The position texts."""
        return [finding.position for finding in self.findings]

    def to_data(self) -> dict[str, Any]:
        """Everything as plain data for JSON."""
        return {
            "study": self.name,
            "subspace": self.subspace.name,
            "total": self.total,
            "findings": [
                {"position": text, "value": value._asdict(), "remark": remark} for text, value, remark in self.findings
            ],
        }


class _Piece(NamedTuple):
    """Some positions of a subspace with one side to move, and their values."""

    white: Masks
    black: Masks
    wdl: Wdl
    depth: Depths

    def only(self, chosen: npt.NDArray[Any]) -> _Piece:
        return _Piece(*(array[chosen] for array in self))


class _Found(NamedTuple):
    """Candidates of one side to move, with a rank: higher ranks first."""

    piece: _Piece
    side: int
    rank: npt.NDArray[np.int64]
    note: npt.NDArray[np.int64]


def only_moves(tablebase: Tablebase, subspace: Subspace, limit: int = 10, progress: bool = True) -> Study:
    """The most difficult positions: won or drawn, and only one of many turns keeps that.

    Those with the most turns that give it up come first, of these wins before draws, and longer wins before shorter.
    Turns that lead to the same position but for symmetry are different turns.

    :raises MissingTableError: where the subspace or one that its turns lead to has not been computed
    """
    tables = move_tables(tablebase.rules)

    def pick(piece: _Piece, side: int) -> _Found:
        piece = piece.only(piece.wdl >= 0)
        turns, keeping = _count_keeping(tablebase, tables, subspace, piece, side)
        chosen = (keeping == 1) & (turns > 1)
        piece = piece.only(chosen)
        wrong = turns[chosen] - 1
        # Decided values have at most 16 bits of depth.
        rank = (wrong << 18) + (piece.wdl.astype(np.int64) << 17) + np.maximum(piece.depth, 0)
        return _Found(piece, side, rank, wrong)

    total, best = _search(tablebase, subspace, limit, progress, "only moves", pick)
    findings = [_finding(tablebase, subspace, found, k, _name_only_move(tablebase, found.note[k])) for found, k in best]
    return Study("only-moves", subspace, total, tuple(findings))


def longest_wins(tablebase: Tablebase, subspace: Subspace, limit: int = 10, progress: bool = True) -> Study:
    """The wins that take longest.

    :raises MissingTableError: where the subspace has not been computed
    :raises PositionError: where its tables hold no distances (the placing phase under a quiet limit)
    """
    if tablebase.rules.quiet_limit and isinstance(subspace, PlacingSubspace):
        raise PositionError(f"{subspace.name}: under a quiet limit no distances are stored; choose a moving pair")

    def pick(piece: _Piece, side: int) -> _Found:
        piece = piece.only(piece.wdl > 0)
        depth = piece.depth.astype(np.int64)
        return _Found(piece, side, depth, depth)

    _, best = _search(tablebase, subspace, limit, progress, "longest wins", pick)
    findings = [_finding(tablebase, subspace, found, k, _say("among the longest")) for found, k in best]
    return Study("longest-wins", subspace, None, tuple(findings))


def mutual_zugzwangs(tablebase: Tablebase, subspace: Subspace, limit: int = 10, progress: bool = True) -> Study:
    """The positions that whoever moves loses, though both could move. White is the side to move in their texts.

    Those in which the side to move resists longest come first.

    :raises MissingTableError: where the subspace has not been computed
    :raises PositionError: for a subspace of the placing phase, where the stones in hand say who is to move
    """
    if isinstance(subspace, PlacingSubspace):
        raise PositionError(f"{subspace.name}: while placing only one side can be to move; choose a moving pair")

    def pick(piece: _Piece, side: int) -> _Found:
        # A loss in no plies is a finished game, in which nobody is forced to move.
        piece = piece.only((piece.wdl < 0) & (piece.depth > 0))
        wdl, depth = tablebase.probe_many(piece.white, piece.black, 1 - side)
        chosen = (wdl < 0) & (depth > 0)
        piece = piece.only(chosen)
        return _Found(piece, side, piece.depth.astype(np.int64), depth[chosen].astype(np.int64))

    total, best = _search(tablebase, subspace, limit, progress, "zugzwangs", pick, sides=(0,), is_mutual=True)
    findings = [
        _finding(tablebase, subspace, found, k, _say(f"Black would lose in {found.note[k]}")) for found, k in best
    ]
    return Study("zugzwangs", subspace, total, tuple(findings))


def _search(
    tablebase: Tablebase,
    subspace: Subspace,
    limit: int,
    progress: bool,
    what: str,
    pick: Callable[[_Piece, int], _Found],
    sides: Sequence[int] | None = None,
    is_mutual: bool = False,
) -> tuple[int, list[tuple[_Found, int]]]:
    """(how many were picked, the ``limit`` of highest rank) over all positions of ``subspace``."""
    if not tablebase.database.has(subspace):
        tablebase.database.table(subspace)  # raises with the words of the database
    if sides is None:
        sides = [_side_to_move(subspace, plane) for plane in subspace.planes]
    index = subspace.index(tablebase.rules.board)
    swaps = is_mutual and index.row_stones == index.column_stones
    total, kept = 0, list[tuple[_Found, int]]()
    is_silent = not progress or index.size * len(sides) < _SLOW
    with tqdm(total=index.size * len(sides), desc=what, unit="pos", unit_scale=True, disable=is_silent or None) as bar:
        for side in sides:
            seen = np.empty(0, np.uint64)
            for white, black in _masks(subspace, tablebase.rules.board):
                found = pick(_probe(tablebase, subspace, white, black, side), side)
                found, seen = _without_equals(tablebase.rules.board, found, seen, swaps)
                total += len(found.rank)
                kept = _highest(kept, found, limit)
                bar.update(len(white))
    return total, kept


def _side_to_move(subspace: Subspace, plane: Plane) -> int:
    """0 for White, 1 for Black; White is the row side."""
    return 0 if plane == ROW_TO_MOVE else 1


def _masks(subspace: Subspace, board: Board) -> Iterator[tuple[Masks, Masks]]:
    """The positions of all indices in pieces of whole rows."""
    index = subspace.index(board)
    rows, columns = index.shape
    height = max(_PIECE // columns, 1)
    for first in range(0, rows, height):
        numbers = np.arange(first * columns, min(first + height, rows) * columns)
        yield index.unrank_many(numbers // columns, numbers % columns)


def _hands(tablebase: Tablebase, subspace: Subspace, later: int = 0) -> tuple[int, int]:
    if isinstance(subspace, MovingPair):
        return 0, 0
    return hands(tablebase.rules, subspace.ply + later)


def _probe(tablebase: Tablebase, subspace: Subspace, white: Masks, black: Masks, side: int) -> _Piece:
    wdl, depth = tablebase.probe_many(white, black, side, _hands(tablebase, subspace))
    return _Piece(white, black, wdl, depth)


@jit
def _list_successors(tables, own, opponent, hand, starts, out_own, out_opponent):
    """List the stones after every turn: those of position k are at starts[k] .. starts[k + 1] - 1.

    own, opponent: uint32 (n,); starts: int64 (n + 1,). With no room in out_own (uint32) turns are only counted.
    """
    stones = np.empty((2, MAX_TURNS), np.uint64)
    n = 0
    for k in range(own.size):
        starts[k] = n
        turns = successors(tables, U(own[k]), U(opponent[k]), hand, stones[0], stones[1])
        if out_own.size:
            for j in range(turns):
                out_own[n + j], out_opponent[n + j] = stones[0, j], stones[1, j]
        n += turns
    starts[own.size] = n


def _count_keeping(
    tablebase: Tablebase, tables: MoveTables, subspace: Subspace, piece: _Piece, side: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(turns, turns that keep the value) of each position, shape (n,)."""
    own, opponent = (piece.white, piece.black) if side == 0 else (piece.black, piece.white)
    hand = _hands(tablebase, subspace)[side]
    starts = np.zeros(len(own) + 1, np.int64)
    _list_successors(tables, own, opponent, hand, starts, np.empty(0, np.uint32), np.empty(0, np.uint32))
    after_own, after_opponent = np.empty((2, starts[-1]), np.uint32)
    if len(after_own):
        _list_successors(tables, own, opponent, hand, starts, after_own, after_opponent)
    turns = np.diff(starts)
    quiet = np.bitwise_count(after_opponent) == np.repeat(np.bitwise_count(opponent), turns)
    white, black = (after_own, after_opponent) if side == 0 else (after_opponent, after_own)
    after_hands = _hands(tablebase, subspace, later=1)
    is_moving = _hands(tablebase, subspace) == (0, 0)
    wdl, _ = tablebase.probe_many(white, black, 1 - side, after_hands, quiet.astype(np.int64) if is_moving else 0)
    keeps = -wdl == np.repeat(piece.wdl, turns)
    sums = np.concatenate([[0], np.cumsum(keeps)])
    return turns, sums[starts[1:]] - sums[starts[:-1]]


def _without_equals(
    board: Board, found: _Found, seen: npt.NDArray[np.uint64], swaps: bool
) -> tuple[_Found, npt.NDArray[np.uint64]]:
    """One of each class of positions, and the classes seen so far."""
    keys = _class_keys(board, found.piece.white, found.piece.black)
    if swaps:
        keys = np.minimum(keys, _class_keys(board, found.piece.black, found.piece.white))
    fresh, places = np.unique(keys, return_index=True)
    if swaps:  # equal positions share a row and pieces hold whole rows, but a mirror image may be in any row
        is_new = ~np.isin(fresh, seen)
        places, seen = places[is_new], np.concatenate([seen, fresh[is_new]])
    found = _Found(found.piece.only(places), found.side, found.rank[places], found.note[places])
    return found, seen


def _class_keys(board: Board, white: Masks, black: Masks) -> npt.NDArray[np.uint64]:
    """A number for each position that its images under the symmetries share, shape (n,)."""
    keys = np.full(len(white), ~np.uint64(0))
    for image in symmetry_tables(board).images:
        images = [
            image[mask & 255] | image[256 + (mask >> 8 & 255)] | image[512 + (mask >> 16)] for mask in (white, black)
        ]
        keys = np.minimum(keys, images[0].astype(np.uint64) << np.uint64(_MAX_BOARD) | images[1].astype(np.uint64))
    return keys


def _highest(kept: list[tuple[_Found, int]], found: _Found, limit: int) -> list[tuple[_Found, int]]:
    """The ``limit`` of highest rank among those kept and those found, earlier ones first among equals."""
    order = np.argsort(-found.rank, kind="stable")[:limit]
    candidates = [*kept, *((found, int(k)) for k in order)]
    return sorted(candidates, key=lambda item: -int(item[0].rank[item[1]]))[:limit]


def _finding(
    tablebase: Tablebase, subspace: Subspace, found: _Found, k: int, remark: Callable[[Position], str]
) -> Finding:
    side: Side = "white" if found.side == 0 else "black"
    position = Position.from_stones(
        tablebase.rules,
        white=int(found.piece.white[k]),
        black=int(found.piece.black[k]),
        turn=side,
        hands=_hands(tablebase, subspace),
    )
    depth = int(found.piece.depth[k])
    value = Value(int(found.piece.wdl[k]), depth if depth >= 0 else None)
    return Finding(position.fen(), value, remark(position))


def _say(remark: str) -> Callable[[Position], str]:
    return lambda position: remark


def _name_only_move(tablebase: Tablebase, wrong: int) -> Callable[[Position], str]:
    def name(position: Position) -> str:
        return f"only {tablebase.moves(position)[0][0]} keeps it, {wrong} turns do not"

    return name


STUDIES: dict[str, Callable[[Tablebase, Subspace, int, bool], Study]] = {
    "only-moves": only_moves,
    "longest-wins": longest_wins,
    "zugzwangs": mutual_zugzwangs,
}
"""The searches by name."""
