"""The opening: every position that perfect play can reach, with its perfect turns, and the first chance to go wrong.

Positions are walked layer by layer from the empty board, one of each class under the symmetries of the board, and
valued by the tables, or by forward search where a layer was not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from solver.errors import RulesError
from solver.game.boards import Board
from solver.game.movegen import NONE
from solver.game.notation import PositionFields, Side, format_position, format_turn
from solver.game.rules import LOSING_STONES, Rules
from solver.indexing.ranks import Masks
from solver.indexing.subspaces import hands
from solver.indexing.values import Metric, Value, metric_of
from solver.lookup.successors import Expansion, classes_of, count_turns, expand
from solver.lookup.tablebase import Tablebase

_AT_A_TIME = 200_000  # positions, so that their turns fit into memory
_FAR = 1 << 20  # more than any distance
_SIDES: tuple[Side, Side] = ("white", "black")


@dataclass(frozen=True)
class OpeningPosition:
    """One class of positions of the opening, by its representative.

    :param ply: placements before it
    :param fields: the position as plain numbers
    :param value: from the side to move
    :param moves: texts of turns: the perfect ones in a book, the losing ones of mistakes
    """

    ply: int
    fields: PositionFields
    value: Value
    moves: tuple[str, ...]

    def text(self, board: Board) -> str:
        """Position text."""
        return format_position(board, self.fields)


@dataclass(frozen=True)
class FirstMistakes:
    """Where a player can first give something away.

    :param ply: placements before the turn
    :param positions: the positions, reached without a mistake, in which some turn is one; ``moves`` are those turns
    """

    ply: int
    positions: tuple[OpeningPosition, ...]


class _Rated(NamedTuple):
    """Some positions of a layer with their turns and what each is worth to the player who makes it."""

    white: Masks  # (n,)
    black: Masks  # (n,)
    expansion: Expansion  # of n positions, m turns
    scores: npt.NDArray[np.int64]  # (m,) larger is better: sign of the result, sooner wins, later losses
    best: npt.NDArray[np.int64]  # (n,) the score of the perfect turns

    def parents(self) -> npt.NDArray[np.int64]:
        """The position of each turn, (m,)."""
        return np.repeat(np.arange(len(self.white)), np.diff(self.expansion.start))


def opening_book(tablebase: Tablebase, plies: int, progress: bool = False) -> list[OpeningPosition]:
    """Every class of positions that perfect play of both sides reaches in at most ``plies`` placements.

    Perfect turns keep the value and the distance, as :meth:`Tablebase.best_moves` does. The last positions are listed
    with their turns, too. A game that is over is not listed.

    :raises RulesError: for a number of plies that is not part of the placing phase
    :raises MissingTableError: where tables are missing
    """
    _check_plies(tablebase.rules, plies)
    book: list[OpeningPosition] = []
    for ply, rated in _walk(tablebase, plies, progress, keep=lambda some: some.scores == some.best[some.parents()]):
        perfect = rated.scores == rated.best[rated.parents()]
        book += _positions(tablebase.rules, ply, rated, perfect)
    return book


def first_mistakes(tablebase: Tablebase, progress: bool = False) -> FirstMistakes | None:
    """The earliest ply at which a turn can give up a win or a draw, with every such turn; None if there is none.

    Play before it keeps the result, not necessarily the distance.
    """

    def keeps_result(rated: _Rated) -> npt.NDArray[np.bool_]:
        kept: npt.NDArray[np.bool_] = np.sign(rated.scores) == np.sign(rated.best)[rated.parents()]
        return kept

    found: list[OpeningPosition] = []
    for ply, rated in _walk(tablebase, 2 * tablebase.rules.stones - 1, progress, keep=keeps_result):
        if found and ply > found[0].ply:
            break
        found += _positions(tablebase.rules, ply, rated, ~keeps_result(rated))
    return FirstMistakes(found[0].ply, tuple(found)) if found else None


def _check_plies(rules: Rules, plies: int) -> None:
    last = 2 * rules.stones - 1
    if not 0 <= plies <= last:
        raise RulesError(f"plies={plies}: expected 0 to {last}, the last placement of {rules.name!r}")


def _walk(
    tablebase: Tablebase, plies: int, progress: bool, keep: Callable[[_Rated], npt.NDArray[np.bool_]]
) -> Iterator[tuple[int, _Rated]]:
    """(ply, positions) for ply 0 to ``plies``, following the turns that ``keep`` says; a layer comes in parts."""
    rules = tablebase.rules
    white, black = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    for ply in range(plies + 1):
        reached: list[tuple[Masks, Masks]] = []
        bar = tqdm(total=len(white), desc=f"ply {ply}", unit="pos", disable=None if progress else True, leave=False)
        with bar:
            for first in range(0, len(white), _AT_A_TIME):
                rated = _rate(tablebase, ply, white[first : first + _AT_A_TIME], black[first : first + _AT_A_TIME])
                yield ply, rated
                reached.append(_distinct(rules, ply + 1, *_after(ply, rated.expansion, keep(rated))))
                bar.update(len(rated.white))
        white, black = _distinct(rules, ply + 1, *map(np.concatenate, zip(*reached, strict=True)))


def _rate(tablebase: Tablebase, ply: int, white: Masks, black: Masks) -> _Rated:
    rules = tablebase.rules
    own, opponent = (white, black) if ply % 2 == 0 else (black, white)
    hand = hands(rules, ply)[ply % 2]
    expansion = expand(rules, own, opponent, hand, count_turns(rules, own, opponent, hand))
    classes = classes_of(rules.board, *_after(ply, expansion, slice(None)))
    wdl, depth = tablebase.probe_many(classes.white, classes.black, (ply + 1) % 2, hands(rules, ply + 1))
    scores = (-wdl.astype(np.int64) * (_FAR - 1 - depth))[classes.number]
    return _Rated(white, black, expansion, scores, np.maximum.reduceat(scores, expansion.start[:-1]))


def _after(ply: int, expansion: Expansion, chosen: npt.NDArray[np.bool_] | slice) -> tuple[Masks, Masks]:
    """(white, black) after some of the turns."""
    own, opponent = expansion.own[chosen], expansion.opponent[chosen]
    return (own, opponent) if ply % 2 == 0 else (opponent, own)


def _distinct(rules: Rules, ply: int, white: Masks, black: Masks) -> tuple[Masks, Masks]:
    """The classes among positions after ``ply`` placements whose game goes on."""
    in_hand = hands(rules, ply)
    goes_on = np.bitwise_count(white) + in_hand[0] >= LOSING_STONES
    goes_on &= np.bitwise_count(black) + in_hand[1] >= LOSING_STONES
    classes = classes_of(rules.board, white[goes_on], black[goes_on])
    return classes.white, classes.black


def _positions(rules: Rules, ply: int, rated: _Rated, listed: npt.NDArray[np.bool_]) -> Iterator[OpeningPosition]:
    """The positions that have a listed turn, with those turns."""
    in_hand, turn = hands(rules, ply), _SIDES[ply % 2]
    has_depth = metric_of(rules, "placing") is not Metric.WDL
    start = rated.expansion.start.tolist()
    for i in np.unique(rated.parents()[listed]).tolist():
        turns = rated.expansion.turns[start[i] : start[i + 1]][listed[start[i] : start[i + 1]]]
        fields = PositionFields(int(rated.white[i]), int(rated.black[i]), turn, in_hand, 0)
        moves = tuple(_turn_text(rules.board, row) for row in turns.tolist())
        yield OpeningPosition(ply, fields, _value(int(rated.best[i]), has_depth), moves)


def _value(score: int, has_depth: bool) -> Value:
    """The value of a position by the score of its best turn."""
    wdl = (score > 0) - (score < 0)
    return Value(wdl, _FAR - abs(score) if wdl and has_depth else None)


def _turn_text(board: Board, row: list[int]) -> str:
    origin, target, *taken = row
    return format_turn(board, None if origin == NONE else origin, target, tuple(p for p in taken if p != NONE))
