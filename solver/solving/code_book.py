"""The small integers of the solver: how codes, counts and scores share a byte."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solver.indexing.values import DRAW, Metric
from solver.kernels.tables import CodeBook


def score_of_code(metric: Metric, top: int) -> npt.NDArray[np.int64]:
    """The score of a turn by the code of the position after it, seen from the side that made the turn; (top + 1,).

    Scores are explained in ``kernels.initialise``; ``metric`` is that of the value *before* the turn.
    """
    code = np.arange(top + 1)
    if metric is Metric.DTM:  # one ply more
        win, loss = top - (code + 1) // 2, (code + 2) // 2
    elif metric is Metric.DTC:  # a capture is a conversion: one ply, whatever follows
        win, loss = np.full_like(code, top - 1), np.full_like(code, 2)
    else:
        win, loss = np.full_like(code, top - 1), np.full_like(code, 1)
    score = np.where(code % 2 == 1, win, loss)
    score[DRAW] = (top + 1) // 2
    return score


def code_of_score(top: int) -> npt.NDArray[np.int64]:
    """The code of a position by the score of its best turn; (top + 1,)."""
    score, draw_score = np.arange(top + 1), (top + 1) // 2
    code = np.where(score > draw_score, 2 * (top - score), np.maximum(2 * score - 1, 1))
    code[draw_score] = DRAW
    return code


def code_book(metric: Metric, value_type: type[np.unsignedinteger], most_turns: int) -> CodeBook:
    """The constants for values of ``value_type`` where a position has at most ``most_turns`` turns without a mill."""
    top = int(np.iinfo(value_type).max)
    bits = np.iinfo(value_type).bits
    ones = sum(1 << bits * lane for lane in range(64 // bits))
    return CodeBook(
        # A score has room for codes up to top - 4.
        first_count=min(top - 1 - most_turns, top - 4),
        never=top,
        draw_score=(top + 1) // 2,
        top_score=top,
        score_of_code=score_of_code(metric, top).astype(value_type),
        code_of_score=code_of_score(top).astype(value_type),
        loss_step=3 if metric is Metric.DTC else 1,
        lanes=np.array([ones, ones * (top >> 1), bits, bits.bit_length() - 1], np.uint64),
    )
