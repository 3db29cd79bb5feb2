"""A perfect opponent that sets traps: of equally good turns it makes the one after which most replies are mistakes.

In a won game it wins fastest, in a lost one it resists longest. All drawn turns are equally good, and there the number
of wrong replies decides which one is hardest to meet.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from solver.game.position import Move, Position
from solver.indexing.values import Value
from solver.lookup.analysis import Choice, choices
from solver.lookup.tablebase import Tablebase

_UNKNOWN_RANK = -0.5  # a turn whose value is unknown is tried before one that loses, and after one that draws


class Decision(NamedTuple):
    """A turn with the reasons for it.

    :param value: its value from the side of the player who makes it, None if it is unknown
    :param wrong: how many replies give up a win or a draw; 0 where a value is unknown
    :param replies: how many replies there are
    """

    move: Move
    value: Value | None
    wrong: int
    replies: int


def decide(pos: Position, tablebase: Tablebase, rng: random.Random) -> Decision:
    """The turn of the perfect opponent in ``pos``; ``rng`` chooses among those that are equal in everything.

    Where no table at hand says more, any legal turn may be made, and its value is None.

    :raises ValueError: where the game is over
    """
    rated = choices(pos, tablebase)
    if not rated:
        raise ValueError(f"no turn in {pos.fen()!r}: {pos.outcome()}")
    decisions = [_look_ahead(pos, choice, tablebase) for choice in _best(rated)]
    most = max(map(_trap_rank, decisions))
    return rng.choice([decision for decision in decisions if _trap_rank(decision) == most])


def count_wrong_replies(pos: Position, move: Move, tablebase: Tablebase) -> tuple[int, int]:
    """(replies to ``move`` that give up a win or a draw, all replies); (0, n) where a value is unknown."""
    pos.push(move)
    replies = choices(pos, tablebase)
    pos.pop()
    results = [choice.value.wdl for choice in replies if choice.value is not None]
    if len(results) < len(replies):
        return 0, len(replies)
    return sum(wdl < results[0] for wdl in results), len(replies)


def _best(rated: list[Choice]) -> list[Choice]:
    """The turns among which traps decide."""
    first = max(rated, key=lambda choice: _rank(choice.value))  # of equal ranks the first, hence the best
    if first.value is None or first.value.wdl == 0:
        return [choice for choice in rated if _rank(choice.value) == _rank(first.value)]
    return [choice for choice in rated if choice.value == first.value]


def _rank(value: Value | None) -> float:
    return _UNKNOWN_RANK if value is None else value.wdl


def _look_ahead(pos: Position, choice: Choice, tablebase: Tablebase) -> Decision:
    if choice.value is None:
        return Decision(choice.move, None, 0, 0)
    return Decision(*choice, *count_wrong_replies(pos, choice.move, tablebase))


def _trap_rank(decision: Decision) -> tuple[int, int]:
    """Most wrong replies, then fewest right ones."""
    return decision.wrong, decision.wrong - decision.replies
