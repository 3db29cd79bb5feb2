"""Forward search: exact values of placing positions without a table, from the tables that come after them.

The stones in hand run out, so play from a position reaches tables after a known number of plies. All positions on the
way are generated ply by ply, each once up to symmetry: the orders in which the same stones can be placed multiply the
lines, not the positions. Where a table is there it is asked, for all positions at once; then values go back up. No
position is valued by a bound, so there is nothing to confuse with a value.

This uses the plain move generator and shares no kernel with the solver. With the tables of the moving phase alone it
proves those of the placing phase.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solver.compiled.jit import jit
from solver.errors import MissingTableError
from solver.game.rules import Rules
from solver.indexing.ranks import Masks
from solver.indexing.subspaces import hands, is_decided
from solver.indexing.values import DRAW, LOST, Metric, metric_of
from solver.lookup.successors import classes_of, count_turns, expand

MAX_POSITIONS = 40_000_000
"""Successors of one ply, before equal ones are joined, that a search may have: about 1 GB of memory."""

Codes = npt.NDArray[np.uint16]
Probe = Callable[[int, Masks, Masks], Codes | None]
"""(ply, white, black) -> the codes of positions with equal stone counts, or None where there is no table of them."""


def search(rules: Rules, ply: int, white: Masks, black: Masks, probe: Probe) -> Codes:
    """The codes of placing positions of these rules, by the tables that ``probe`` knows.

    :param ply: placements so far, the same for all positions
    :param white: masks of White's stones, shape (n,)
    :param black: masks of Black's stones, shape (n,)
    :param probe: what tables say; it must answer after the last placement

    :returns: codes of the metric of the placing phase, shape (n,)

    :raises MissingTableError: where the tables are so far away that memory would not do
    """
    codes = np.zeros(len(white), np.uint16)
    open_ = np.ones(len(white), np.bool_)
    for counts, chosen in _by_counts(white, black):
        found: Codes | int | None = LOST
        if not is_decided(rules, ply, *counts):
            found = probe(ply, white[chosen], black[chosen])
        if found is not None:
            codes[chosen] = found
            open_[chosen] = False
    if open_.any():
        codes[open_] = _search_deeper(rules, ply, white[open_], black[open_], probe)
    return codes


def _search_deeper(rules: Rules, ply: int, white: Masks, black: Masks, probe: Probe) -> Codes:
    hand = hands(rules, ply)[ply % 2]
    own, opponent = (white, black) if ply % 2 == 0 else (black, white)
    counts = count_turns(rules, own, opponent, hand)
    if (total := int(counts.sum())) > MAX_POSITIONS:
        raise MissingTableError(
            f"no tables of rules {rules.name!r} near ply {ply}: a forward search to the next ones meets {total:,} "
            f"positions a ply, more than {MAX_POSITIONS:,}; compute more plies with scripts/solve.py --keep"
        )
    expansion = expand(rules, own, opponent, hand, counts)
    after = (expansion.own, expansion.opponent) if ply % 2 == 0 else (expansion.opponent, expansion.own)
    classes = classes_of(rules.board, *after)
    found = search(rules, ply + 1, classes.white, classes.black, probe)
    codes = np.empty(len(white), np.uint16)
    _back_up(expansion.start, found[classes.number], metric_of(rules, "placing") is Metric.DTM, codes)
    return codes


def _by_counts(white: Masks, black: Masks) -> list[tuple[tuple[int, int], npt.NDArray[np.int64]]]:
    """Positions grouped by their numbers of (white, black) stones."""
    keys = np.bitwise_count(white).astype(np.int64) * 32 + np.bitwise_count(black)
    return [(divmod(int(key), 32), np.flatnonzero(keys == key)) for key in np.unique(keys)]


@jit
def _back_up(start, after, has_depth, codes):
    """codes[i] = the value of a position by the codes after its turns, ``after[start[i]:start[i + 1]]``."""
    for i in range(codes.size):
        best_win, best_loss, is_draw = 1 << 16, 0, False
        for k in range(start[i], start[i + 1]):
            code = int(after[k])
            if code == DRAW:
                is_draw = True
            elif code % 2 == 1:
                best_win = min(best_win, code)
            else:
                best_loss = max(best_loss, code)
        if best_win < 1 << 16:
            codes[i] = best_win + 1 if has_depth else 2
        elif is_draw:
            codes[i] = DRAW
        else:
            codes[i] = best_loss + 1 if has_depth else 1
