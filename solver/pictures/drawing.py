"""Boards drawn as SVG: stones, stones in hand, mills, the last turn, and the values of turns.

A picture has to be read by everybody and on every page, so results differ in shape and sign and not in colour alone,
and the board brings its own ground, light or dark.

Like ``diagram`` this module knows nothing of the rules. It draws what it is handed, and asks of a position and of a
turn only what :class:`Drawable` and :class:`Turn` list.

Every point is a ``<g data-point="NUMBER">``, which is where the notebook widget listens for clicks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from xml.etree import ElementTree

from solver.game.boards import Board
from solver.game.notation import Side
from solver.indexing.values import RESULT_WORDS, Value, preference
from solver.pictures.svg import Canvas, Picture, Place, Theme

__all__ = ["Drawable", "Hints", "Picture", "Turn", "bits", "board", "layout"]

_STONE, _HAND_STONE, _MARK, _HIT = 0.32, 0.15, 0.23, 0.45  # radii, in columns
_MARGIN = 1.0  # from the outermost points to the edge, with room for the names of rows
_BAND = 0.75  # height of a player's strip above or below
_HALF_WAY = _STONE + _MARK + 0.01  # where the mark of a slide stands, from the stone that would move


class Turn(Protocol):
    """What is asked of a turn; ``solver.Move`` has it."""

    @property
    def origin(self) -> int | None: ...
    @property
    def target(self) -> int: ...
    @property
    def taken(self) -> tuple[int, ...]: ...


class Drawable(Protocol):
    """What is asked of a position; ``solver.Position`` has it."""

    @property
    def board(self) -> Board: ...
    @property
    def white(self) -> int: ...
    @property
    def black(self) -> int: ...
    @property
    def turn(self) -> Side: ...
    @property
    def hands(self) -> tuple[int, int]: ...
    @property
    def move_stack(self) -> Sequence[Turn]: ...


@dataclass(frozen=True)
class Hints:
    """What a player may click: drawn by the notebook widget.

    :param targets: mask of the points to go to
    :param movable: mask of the stones that can move
    :param takeable: mask of the stones that may be taken
    :param selected: mask of the stone that was picked up, and of stones chosen to be taken
    """

    targets: int = 0
    movable: int = 0
    takeable: int = 0
    selected: int = 0


def board(
    position: Drawable,
    *,
    values: Iterable[tuple[Turn, Value]] = (),
    hints: Hints | None = None,
    last_turn: bool = True,
    mills: bool = True,
    flipped: bool = False,
    caption: str | None = None,
    theme: Theme = "auto",
    size: int = 420,
) -> Picture:
    """A picture of ``position``.

    :param values: turns with the value of each for the player who makes it, such as ``Tablebase.moves`` gives.
        A turn is marked on the point where its stone is placed or, for a slide, on its way there; the mark shows sign
        and distance: a blue disc ``+5`` is a win in 5 plies, a square ``-4`` a loss, a diamond ``=`` a draw. Turns that
        share a mark, since they differ in the stones that they take or fly from different points, show the best of
        them. The best of all have a thick rim.
    :param hints: what can be clicked
    :param last_turn: whether to mark the last turn: ring, path, and a cross where a stone was taken
    :param mills: whether to mark closed mills
    :param flipped: whether to look from Black's side, turned by half a circle
    :param caption: a line of text below
    :param theme: ``light``, ``dark``, or ``auto``, which follows the reader's setting
    :param size: width in pixels

    >>> from solver import Position, get_rules
    >>> board(Position(get_rules("six"))).svg[:4]
    '<svg'
    """
    draft = _Draft(position, _places(position.board, flipped), theme, caption)
    draft.add_frame(size)
    draft.add_edges()
    draft.add_names()
    if mills:
        draft.add_mills()
    if last_turn and position.move_stack:
        draft.add_last_turn(position.move_stack[-1])
    draft.add_points(hints or Hints())
    draft.add_values(list(values))
    draft.add_hands(flipped)
    return draft.finish()


def layout(of: Board) -> tuple[Place, ...]:
    """Where the points are, in columns to the right and rows down, from the top left corner of the board.

    Columns and rows without a point take no room. A board whose names are no coordinates is drawn as circles, a ring
    each.
    """
    coordinates = of.coordinates
    if coordinates is None or len(set(coordinates)) < of.n_points:
        return _circles(of)
    columns = sorted({column for column, _ in coordinates})
    rows = sorted({row for _, row in coordinates}, reverse=True)
    return tuple((float(columns.index(column)), float(rows.index(row))) for column, row in coordinates)


def _circles(of: Board) -> tuple[Place, ...]:
    widest = max(len(of.rings), *(size / math.tau for size in of.rings))
    places = []
    for number, size in enumerate(of.rings):
        radius = widest - number
        for k in range(size):
            angle = math.tau * k / size
            places.append((round(widest + radius * math.sin(angle), 3), round(widest - radius * math.cos(angle), 3)))
    return tuple(places)


def _places(of: Board, flipped: bool) -> tuple[Place, ...]:
    places = layout(of)
    if not flipped:
        return places
    width, height = _extent(places)
    return tuple((width - x, height - y) for x, y in places)


def _extent(places: Sequence[Place]) -> Place:
    return max(x for x, _ in places), max(y for _, y in places)


def bits(mask: int) -> list[int]:
    """The points of ``mask``, ascending."""
    return [p for p in range(mask.bit_length()) if mask >> p & 1]


class _Draft(Canvas):
    """The picture of a board while it is drawn; lengths are given in columns."""

    def __init__(self, position: Drawable, places: Sequence[Place], theme: Theme, caption: str | None) -> None:
        super().__init__(theme, _MARGIN, _MARGIN + _BAND)
        self.position, self.board, self.places, self.caption = position, position.board, places, caption
        self.width, self.height = _extent(places)

    def add_frame(self, pixels: int) -> None:
        """The ground, the description and the caption."""
        height = self.height + 2 * _MARGIN + 2 * _BAND + (0.5 if self.caption else 0)
        self.add_ground(self.width + 2 * _MARGIN, height, pixels)
        self.root.set("role", "img")
        self.root.set("aria-label", self._description())
        if self.caption:
            place = (self.width / 2, self.height + _MARGIN + _BAND + 0.12)
            self.text(self.root, place, self.caption, 0.27, "text", class_="caption")

    def _description(self) -> str:
        names = [
            f"{side} {' '.join(self.board.points[p] for p in bits(mask)) or 'none'}"
            for side, mask in (("White", self.position.white), ("Black", self.position.black))
        ]
        return f"{'; '.join(names)}; {self.position.turn.title()} to move"

    def add_edges(self) -> None:
        group = self.group("edges", stroke_linecap="round")
        for a, b in self.board.edges:
            self.line(group, self.places[a], self.places[b], "line", 0.05)

    def add_names(self) -> None:
        """Letters and numbers along two sides, or each name beside its point where names are no coordinates."""
        group = self.group("names")
        coordinates = self.board.coordinates
        if coordinates is None or len(set(coordinates)) < self.board.n_points:
            for (x, y), name in zip(self.places, self.board.points, strict=True):
                self.text(group, (x, y + 0.5), name, 0.2, "text")
            return
        for (x, y), (column, row) in dict(zip(self.places, coordinates, strict=True)).items():
            letter, number = (x, chr(ord("a") + column)), (y, str(row))
            self._name_once(group, (letter[0], self.height + 0.7), letter[1])
            self._name_once(group, (-0.7, number[0]), number[1])

    def _name_once(self, group: ElementTree.Element, place: Place, name: str) -> None:
        if all(child.text != name for child in group):
            self.text(group, place, name, 0.3, "text")

    def add_mills(self) -> None:
        group = self.group("mills", stroke_linecap="round")
        for line, mask in zip(self.board.lines, self.board.line_masks, strict=True):
            if any(stones & mask == mask for stones in (self.position.white, self.position.black)):
                for a, b in self.board.edges:
                    if a in line and b in line:
                        self.line(group, self.places[a], self.places[b], "mill", 0.2)
                names = " ".join(self.board.points[p] for p in line)
                self.add(group, "metadata", data_mill=names)

    def add_last_turn(self, turn: Turn) -> None:
        group = self.group("last-turn")
        target = self.places[turn.target]
        if turn.origin is not None:
            origin = self.places[turn.origin]
            self.line(group, origin, target, "last", 0.07, stroke_dasharray="5 5")
            self.circle(group, origin, 0.12, {"fill": "last"}, data_origin=self.board.points[turn.origin])
        self.circle(
            group, target, _STONE + 0.08, {"stroke": "last"}, fill="none", stroke_width=4,
            data_target=self.board.points[turn.target],
        )  # fmt: skip
        for p in turn.taken:
            (x, y), d = self.places[p], 0.17
            cross = self.group("taken", group, data_taken=self.board.points[p], stroke_linecap="round")
            self.line(cross, (x - d, y - d), (x + d, y + d), "last", 0.07)
            self.line(cross, (x - d, y + d), (x + d, y - d), "last", 0.07)

    def add_points(self, hints: Hints) -> None:
        for p, name in enumerate(self.board.points):
            point = self.group("point", data_point=p, data_name=name)
            place = self.places[p]
            side = "white" if self.position.white >> p & 1 else "black" if self.position.black >> p & 1 else None
            self.circle(point, place, _HIT, {}, fill="transparent", class_="hit")
            if side is None:
                self.circle(point, place, 0.08, {"fill": "line"}, class_="empty")
            else:
                paint = {"fill": side, "stroke": "rim"}
                self.circle(point, place, _STONE, paint, stroke_width=2.5, class_=f"stone {side}")
            self._add_hints(point, p, hints)

    def _add_hints(self, point: ElementTree.Element, p: int, hints: Hints) -> None:
        x, y = place = self.places[p]
        if hints.targets >> p & 1:
            paint = {"stroke": "target"}
            self.circle(
                point, place, 0.18, paint, fill="none", stroke_width=3.5, stroke_dasharray="4 3", class_="target"
            )
        if hints.movable >> p & 1:
            self.circle(point, place, 0.11, {"fill": "target"}, class_="movable")
        if hints.selected >> p & 1:
            self.circle(
                point, place, _STONE + 0.06, {"stroke": "target"}, fill="none", stroke_width=5, class_="selected"
            )
        if hints.takeable >> p & 1:
            paint = {"stroke": "loss"}
            self.circle(point, place, _STONE + 0.06, paint, fill="none", stroke_width=4, stroke_dasharray="6 4")
            cross = self.group("takeable", point, stroke_linecap="round")
            for dx, dy in ((0.15, 0.15), (0.15, -0.15)):
                self.line(cross, (x - dx, y - dy), (x + dx, y + dy), "loss", 0.09)

    def add_values(self, values: Sequence[tuple[Turn, Value]]) -> None:
        if not values:
            return
        best = min(preference(value) for _, value in values)
        marks: dict[Place, Value] = {}
        place_of = self._mark_places([turn for turn, _ in values])
        for turn, value in values:
            place = place_of(turn)
            if place not in marks or preference(value) < preference(marks[place]):
                marks[place] = value
        group = self.group("values", pointer_events="none")
        for place, value in marks.items():
            self._add_mark(group, place, value, preference(value) == best)

    def _mark_places(self, turns: Sequence[Turn]) -> Callable[[Turn], Place]:
        """Where the mark of a turn stands. Turns that place or fly meet on their target; no two slides share a way."""

        def is_slide(turn: Turn) -> bool:
            return turn.origin is not None and bool(self.board.neighbours[turn.origin] >> turn.target & 1)

        def on_the_way(turn: Turn) -> Place:
            assert turn.origin is not None
            (x0, y0), (x1, y1) = origin, target = self.places[turn.origin], self.places[turn.target]
            part = _HALF_WAY / math.dist(origin, target)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)

        return on_the_way if all(map(is_slide, turns)) else lambda turn: self.places[turn.target]

    def _add_mark(self, group: ElementTree.Element, place: Place, value: Value, is_best: bool) -> None:
        name = RESULT_WORDS[value.wdl]
        mark = self.group(f"value {name}{' best' if is_best else ''}", group)
        sign = {1: "+", 0: "=", -1: "\N{MINUS SIGN}"}[value.wdl]
        text = sign + ("" if value.depth is None else str(value.depth))
        paint = {"fill": name, "stroke": "rim"}
        width = 3.5 if is_best else 1
        if name == "win":
            self.circle(mark, place, _MARK, paint, stroke_width=width)
        elif name == "loss":
            self.square(mark, place, 1.75 * _MARK, paint, stroke_width=width)
        else:
            x, y = self.at(place)
            self.square(mark, place, 1.5 * _MARK, paint, stroke_width=width, transform=f"rotate(45 {x} {y})")
        size = {1: 0.3, 2: 0.22, 3: 0.17}.get(len(text), 0.14)
        self.text(mark, place, text, size, "on-draw" if name == "draw" else "on-mark", font_weight="bold")

    def add_hands(self, flipped: bool) -> None:
        """Black's strip above and White's below, or the other way round; a triangle marks the side to move."""
        above, below = -_MARGIN - _BAND / 2 + 0.15, self.height + _MARGIN + _BAND / 2 - 0.1
        sides: tuple[tuple[Side, float], ...] = (
            ("white", above if flipped else below),
            ("black", below if flipped else above),
        )
        for side, y in sides:
            count = self.position.hands[side == "black"]
            on_board = (self.position.black if side == "black" else self.position.white).bit_count()
            group = self.group(f"hand {side}", data_stones=count)
            if side == self.position.turn:
                x0, y0 = self.at((-0.78, y))
                self.add(group, "path", {"fill": "text"}, class_="to-move", d=f"M {x0} {y0} m 0 -8 l 14 8 l -14 8 z")
            words = f"{side.title()}: {on_board}" + (f" + {count}" if count else "")
            self.text(group, (-0.42, y), words, 0.27, "text", text_anchor="start")
            for k in range(count):
                place = (self.width + 0.6 - k * (2 * _HAND_STONE + 0.06), y)
                self.circle(group, place, _HAND_STONE, {"fill": side, "stroke": "rim"}, stroke_width=1.5)
