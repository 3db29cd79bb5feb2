"""An analysed game as a strip of bars, one a turn: up where White is better, down where Black is, grey if unknown."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from solver.indexing.values import Value
from solver.lookup.analysis import Analysis, JudgedMove, Mistake, in_words

_BAR, _GAP = 10, 2
_HALF = 50  # height of a win at once
_LEAST = 12  # height of the win that takes longest in this game
_MARGIN, _FOOT = 8, 18

_WHITE, _BLACK, _UNKNOWN, _LINE = "#f2e8d5", "#2b2b2b", "#b8b8b8", "#808080"
_GRAVE, _SLIGHT = "#c62828", "#ef9a00"


def to_svg(analysis: Analysis) -> str:
    """The strip as SVG text. A bar shows the value after its turn; hovering over it says which turn it was.

    A red triangle marks a win or a draw given up, an amber one a faster win or a longer resistance missed.
    """
    width = 2 * _MARGIN + max(len(analysis.moves), 1) * (_BAR + _GAP)
    height = 2 * (_MARGIN + _HALF) + _FOOT
    middle = _MARGIN + _HALF
    svg = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "font-family": "sans-serif",
            "font-size": "9",
        },
    )
    SubElement(svg, "rect", {"width": str(width), "height": str(height), "fill": "#ffffff"})
    slowest = max((move.after.depth or 0 for move in analysis.moves if move.after), default=0)
    for place, move in enumerate(analysis.moves):
        _draw_move(svg, _MARGIN + place * (_BAR + _GAP), middle, slowest, move)
    line = {"x1": str(_MARGIN), "x2": str(width - _MARGIN), "y1": str(middle), "y2": str(middle), "stroke": _LINE}
    SubElement(svg, "line", line)
    return tostring(svg, encoding="unicode") + "\n"


def _draw_move(svg: Element, x: int, middle: int, slowest: int, move: JudgedMove) -> None:
    group = SubElement(svg, "g")
    remark = f", {move.mistake}" if move.mistake else ""
    SubElement(
        group, "title"
    ).text = (
        f"{move.number}. {move.side.title()} {move.move}: {in_words(move.before)} -> {in_words(move.after)}{remark}"
    )
    top, height, colour = _bar(move, middle, slowest)
    bar = {"x": str(x), "y": str(top), "width": str(_BAR), "height": str(height), "fill": colour, "stroke": _LINE}
    SubElement(group, "rect", bar)
    foot = middle + _HALF + _MARGIN
    if move.mistake:
        colour = _GRAVE if move.mistake in (Mistake.WIN, Mistake.DRAW) else _SLIGHT
        points = f"{x},{foot + 6} {x + _BAR},{foot + 6} {x + _BAR // 2},{foot - 2}"
        SubElement(group, "polygon", {"points": points, "fill": colour})
    if move.side == "white" and move.number % 5 == 0:
        text = SubElement(group, "text", {"x": str(x + _BAR // 2), "y": str(foot + 16), "fill": _LINE})
        text.set("text-anchor", "middle")
        text.text = str(move.number)


def _bar(move: JudgedMove, middle: int, slowest: int) -> tuple[int, int, str]:
    """(top, height, colour) of the bar of the value after a turn."""
    if move.after is None:
        return middle - _LEAST // 2, _LEAST, _UNKNOWN
    for_white = move.after.wdl if move.side == "white" else -move.after.wdl
    if for_white == 0:
        return middle - 2, 4, _LINE
    height = _height(move.after, slowest)
    return (middle - height, height, _WHITE) if for_white > 0 else (middle, height, _BLACK)


def _height(value: Value, slowest: int) -> int:
    """Tall for a game that is soon over; ``slowest`` is the greatest depth in the game."""
    return round(_HALF - (_HALF - _LEAST) * (value.depth or 0) / max(slowest, 1))
