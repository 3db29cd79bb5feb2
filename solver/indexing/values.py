"""The value code: one small integer for win, draw or loss and its distance.

=========== ============== =====================  ==================  ==================
metric      code 0         odd code               even code           distance
=========== ============== =====================  ==================  ==================
``dtm``     draw           loss                   win                 ``code - 1``
``dtc``     draw           loss                   win                 ``code >> 1``
``wdl``     draw           loss (1)               win (2)             none
=========== ============== =====================  ==================  ==================

All values are from the side to move. Under every metric the parity of a nonzero code says who wins, so code that only
wants to know the result need not know the metric. ``dtm`` counts the plies to the end of the game: a finished game is
lost for the player to move (code 1), hence losses take an even and wins an odd number of plies. ``dtc`` counts the
plies to the next mill or the end of the game and can be odd or even for both.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from solver.game.rules import Phase, Rules


class Metric(StrEnum):
    """What the distance in a table counts."""

    DTM = "dtm"
    DTC = "dtc"
    WDL = "wdl"


def metric_of(rules: Rules, phase: Phase) -> Metric:
    """What the distances of a phase count: under a quiet limit plies to the next conversion, while placing nothing."""
    if not rules.quiet_limit:
        return Metric.DTM
    return Metric.DTC if phase == "moving" else Metric.WDL


class Value(NamedTuple):
    """A game value from the side to move.

    :param wdl: +1 win, 0 draw, -1 loss
    :param depth: plies, or None for a draw and where only the result is known
    """

    wdl: int
    depth: int | None = None


RESULT_WORDS = {1: "win", 0: "draw", -1: "loss"}

DRAW = 0
LOST = 1
"""The code of a finished game that the player to move has lost, under every metric."""


def decode(code: int, metric: Metric) -> Value:
    """The value that ``code`` stands for.

    >>> decode(6, Metric.DTM), decode(6, Metric.DTC), decode(2, Metric.WDL)
    (Value(wdl=1, depth=5), Value(wdl=1, depth=3), Value(wdl=1, depth=None))
    """
    if code == DRAW:
        return Value(0)
    wdl = -1 if code & 1 else 1
    match metric:
        case Metric.DTM:
            return Value(wdl, code - 1)
        case Metric.DTC:
            return Value(wdl, code >> 1)
        case Metric.WDL:
            return Value(wdl)


def encode(value: Value, metric: Metric) -> int:
    """The code of ``value``, the inverse of :func:`decode`. :raises ValueError: where the two do not fit."""
    wdl, depth = value
    if wdl == 0:
        return DRAW
    if metric is Metric.WDL:
        return 1 if wdl < 0 else 2
    if depth is None or depth < 0 or (wdl > 0 and depth == 0):
        raise ValueError(f"a decided value needs a depth, got {value}")
    if metric is Metric.DTM and depth % 2 != (wdl > 0):
        raise ValueError(f"wins take an odd and losses an even number of plies, got {value}")
    return depth + 1 if metric is Metric.DTM else 2 * depth + (wdl < 0)


def preference(value: Value) -> tuple[int, int]:
    """A key that sorts better values first: wins, the fastest first, draws, losses, the slowest first.

    >>> sorted([Value(-1, 2), Value(0), Value(1, 9), Value(-1, 8), Value(1, 3)], key=preference)[:2]
    [Value(wdl=1, depth=3), Value(wdl=1, depth=9)]
    """
    depth = value.depth or 0
    return -value.wdl, depth if value.wdl > 0 else -depth


def in_words(value: Value) -> str:
    """A value as text.

    >>> in_words(Value(1, 5)), in_words(Value(0)), in_words(Value(-1, 4))
    ('win in 5', 'draw', 'loss in 4')
    """
    word = RESULT_WORDS[value.wdl]
    return word if value.depth is None else f"{word} in {value.depth}"
