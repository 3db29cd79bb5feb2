"""Figures of solved games, with matplotlib: shares, distances, longest lines, first turns, the placing phase.

Each function takes plain counts, from ``tally.counts_of`` of a database or ``tally.read_csv`` of a file in
``data/results``, and returns a ``Figure`` that a notebook shows and ``savefig`` saves. Results differ in brightness and
hatching as well as in colour, so that a print in black and white can be read.

matplotlib is in the extra ``pictures``; nothing else in the package imports this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from solver.game.boards import Board
from solver.indexing.values import Value, preference
from solver.pictures.drawing import Turn, layout
from solver.pictures.svg import PALETTES
from solver.tables.counts_text import Counts

Style = Literal["light", "dark"]

_RESULTS = ("won", "drawn", "lost")
_HATCHES = ("", "", "////")
_MARKERS = ("o", "D", "s")


class _Ink:
    """The colours of a style."""

    def __init__(self, style: Style) -> None:
        palette = PALETTES[style]
        self.ground, self.text, self.line = palette["ground"], palette["text"], palette["line"]
        light, dark = style == "light", style == "dark"
        self.results = (palette["win"], "#dcd5c8" if light else "#8d857a", "#e08b3e")
        self.on_results = ("#ffffff", "#26221e", "#26221e")
        self.stones = (palette["white"], "#8d857a" if dark else palette["line"], palette["black"])

    def context(self) -> AbstractContextManager[None]:
        """The settings of matplotlib for the time in which a figure is made."""
        return mpl.rc_context(
            {
                "figure.facecolor": self.ground,
                "savefig.facecolor": self.ground,
                "axes.facecolor": self.ground,
                "axes.edgecolor": self.line,
                "axes.labelcolor": self.text,
                "axes.titlecolor": self.text,
                "text.color": self.text,
                "xtick.color": self.text,
                "ytick.color": self.text,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "hatch.linewidth": 0.6,
                "legend.frameon": False,
            }
        )


@contextmanager
def _figure(style: Style) -> Iterator[tuple[Figure, _Ink]]:
    """A new figure, and the colours to draw it with."""
    ink = _Ink(style)
    with ink.context():
        yield Figure(layout="constrained"), ink


def shares(counts: Sequence[Counts], title: str | None = None, style: Style = "light") -> Figure:
    """Won, drawn and lost positions of every piece count of the moving phase, one square each.

    A square stands at the stones of the side to move (to the right) and of the opponent (upwards). It is filled from
    below with the share of wins, of draws, and, hatched, of losses of the side to move.

    :raises ValueError: without counts of the moving phase, as all functions here without what they draw
    """
    counts = _moving(counts)
    with _figure(style) as (figure, ink):
        axes = _piece_counts(figure, counts, 0.82)
        for one in counts:
            below = one.opponent_stones - 0.46
            for k, part in enumerate(_parts(one.raw)):
                place = (one.mover_stones - 0.46, below)
                look: dict[str, Any] = {
                    "facecolor": ink.results[k],
                    "hatch": _HATCHES[k],
                    "edgecolor": ink.ground,
                    "lw": 0,
                }
                axes.add_patch(Rectangle(place, 0.92, 0.92 * part, **look))
                if part > 0.2:
                    _write(axes, one.mover_stones, below + 0.46 * part, f"{100 * part:.0f}%", ink, k)
                below += 0.92 * part
        axes.set_title(title or f"{counts[0].rules}: shares of the side to move")
        _result_legend(figure, ink)
    return figure


def _write(axes: Axes, x: float, y: float, text: str, ink: _Ink, result: int) -> None:
    box = {"facecolor": ink.results[result], "edgecolor": "none", "pad": 0.6}
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color=ink.on_results[result], bbox=box)


def _parts(wdl: Sequence[int]) -> list[float]:
    total = sum(wdl)
    return [count / total if total else 0.0 for count in wdl]


def _moving(counts: Iterable[Counts]) -> list[Counts]:
    chosen = [one for one in counts if one.ply is None]
    if not chosen:
        raise ValueError("no counts of the moving phase")
    return chosen


def _piece_counts(figure: Figure, counts: Sequence[Counts], inches: float, axes: Axes | None = None) -> Axes:
    """Axes with the stones of the side to move and of the opponent."""
    low = min(min(one.mover_stones, one.opponent_stones) for one in counts)
    high = max(max(one.mover_stones, one.opponent_stones) for one in counts)
    if axes is None:
        figure.set_size_inches(2.2 + inches * (high - low + 1), 1.0 + inches * (high - low + 1))
        axes = figure.add_subplot()
    axes.set(xlim=(low - 0.55, high + 0.55), ylim=(low - 0.55, high + 0.55), aspect="equal")
    axes.set(xticks=range(low, high + 1), yticks=range(low, high + 1))
    axes.set(xlabel="stones of the side to move", ylabel="stones of the opponent")
    axes.tick_params(length=0)
    return axes


def _result_legend(figure: Figure, ink: _Ink) -> None:
    patches = [
        Patch(facecolor=ink.results[k], hatch=_HATCHES[k], edgecolor=ink.ground, label=_RESULTS[k]) for k in (2, 1, 0)
    ]
    figure.legend(handles=patches, loc="outside right upper")


def longest_lines(counts: Sequence[Counts], title: str | None = None, style: Style = "light") -> Figure:
    """The longest win and the longest loss of every piece count of the moving phase, in plies."""
    counts = _moving(counts)
    with _figure(style) as (figure, ink):
        top = max((depth for one in counts for depth in one.longest if depth is not None), default=1)
        size = 0.62 * (max(one.mover_stones for one in counts) - 1)
        figure.set_size_inches(2 * size + 1.6, size + 1.3)
        colours = mpl.colormaps["cividis"]
        for k, axes in enumerate(figure.subplots(1, 2)):
            _piece_counts(figure, counts, 0.62, axes)
            axes.set_title(("longest win", "longest loss")[k])
            for one in counts:
                depth = one.longest[k]
                part = (depth or 0) / max(top, 1)
                x, y = one.mover_stones, one.opponent_stones
                face = "none" if depth is None else colours(part)
                axes.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, facecolor=face, edgecolor=ink.line, lw=0.4))
                colour = ink.text if depth is None else "white" if part < 0.55 else "black"
                axes.text(
                    x, y, "-" if depth is None else str(depth), ha="center", va="center", fontsize=9, color=colour
                )
        figure.suptitle(title or f"{counts[0].rules}: longest lines in plies", color=ink.text)
    return figure


def histogram(distances: tuple[Counter[int], Counter[int]], title: str | None = None, style: Style = "light") -> Figure:
    """Positions won and lost in so many plies, on a logarithmic scale; ``tally.distances`` counts them.

    :param distances: by plies the positions won and the positions lost
    """
    if not any(distances):
        raise ValueError("no distances: the tables hold results only")
    with _figure(style) as (figure, ink):
        figure.set_size_inches(8, 4.2)
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axes, found, k in ((upper, distances[0], 0), (lower, distances[1], 2)):
            plies = sorted(found)
            axes.bar(
                plies, [found[ply] for ply in plies], width=1.6, color=ink.results[k], hatch=_HATCHES[k],
                edgecolor=ink.ground, lw=0,
            )  # fmt: skip
            axes.set(yscale="log", ylabel=f"positions {_RESULTS[k]}")
        lower.invert_yaxis()
        lower.set_xlabel("plies to the end of the game, or to the next conversion under a quiet limit")
        upper.set_title(title or "positions by distance")
    return figure


def first_turns(
    board: Board, values: Sequence[tuple[Turn, Value]], title: str | None = None, style: Style = "light"
) -> Figure:
    """What each placement is worth, on the board: the stronger the colour, the faster the win or the loss.

    :param values: placements with their values, such as ``Tablebase.moves`` gives for the empty board
    """
    if not values or any(turn.origin is not None for turn, _ in values):
        raise ValueError("expected placements with their values")
    with _figure(style) as (figure, ink):
        figure.set_size_inches(5.6, 5.4)
        axes = figure.add_subplot()
        places = layout(board)
        for a, b in board.edges:
            axes.plot(*zip(places[a], places[b], strict=True), color=ink.line, lw=1.5, zorder=1)
        best: dict[int, Value] = {}
        for turn, value in values:
            if turn.target not in best or preference(value) < preference(best[turn.target]):
                best[turn.target] = value
        deepest = max((value.depth or 0 for value in best.values()), default=0)
        for point, value in best.items():
            k = 1 - value.wdl
            strength = 1.0 if value.depth is None or not deepest else 1.0 - 0.6 * value.depth / deepest
            axes.scatter(*places[point], s=900, marker=_MARKERS[k], c=[ink.ground], zorder=2)  # hides the lines
            axes.scatter(
                *places[point],
                s=900,
                marker=_MARKERS[k],
                c=[ink.results[k]],
                alpha=strength,
                edgecolors=ink.text,
                zorder=3,
            )
            words = f"{'WDL'[k]}{'' if value.depth is None else value.depth}"
            colour = ink.on_results[k] if strength > 0.7 else ink.text
            axes.annotate(words, places[point], ha="center", va="center", fontsize=9, color=colour, zorder=4)
            axes.annotate(
                board.points[point], places[point], (15, 15), textcoords="offset points", ha="center", fontsize=8,
                color=ink.text,
            )  # fmt: skip
        axes.set(aspect="equal")
        axes.margins(0.14)
        axes.invert_yaxis()
        axes.axis("off")
        axes.set_title(title or "value of each first turn: W win, D draw, L loss, in plies")
    return figure


def placing(counts: Sequence[Counts], title: str | None = None, style: Style = "light") -> Figure:
    """The shares of draws and of both sides' wins over the plies of the placing phase.

    All positions of the tables count, whether or not good play leads to them.
    """
    chosen = [one for one in counts if one.ply is not None]
    if not chosen:
        raise ValueError("no counts of the placing phase")
    with _figure(style) as (figure, ink):
        figure.set_size_inches(7, 3.6)
        axes = figure.add_subplot()
        found = shares_by_ply(chosen)
        plies = list(found)
        looks = (
            ("White wins", "o", "-", ink.stones[0]),
            ("draw", "D", "--", ink.stones[1]),
            ("Black wins", "s", ":", ink.stones[2]),
        )
        for k, (label, marker, dashes, face) in enumerate(looks):
            axes.plot(
                plies, [100 * found[ply][k] for ply in plies], dashes, marker=marker, color=ink.text,
                markerfacecolor=face, label=label,
            )  # fmt: skip
        axes.set(xlabel="stones placed", ylabel="% of positions", ylim=(-2, 102), xticks=plies)
        axes.legend(loc="best")
        axes.set_title(title or f"{chosen[0].rules}: the placing phase")
    return figure


def shares_by_ply(counts: Iterable[Counts]) -> dict[int, tuple[float, float, float]]:
    """By ply of the placing phase the shares of raw positions (White wins, draw, Black wins)."""
    sums: dict[int, Any] = {}
    for one in counts:
        if one.ply is not None:
            wdl = np.array(one.raw if one.ply % 2 == 0 else one.raw[::-1], dtype=float)  # White moves on even plies
            sums[one.ply] = sums.get(one.ply, 0) + wdl
    return {ply: tuple((sums[ply] / sums[ply].sum()).tolist()) for ply in sorted(sums)}
