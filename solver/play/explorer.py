"""The interactive board for notebooks.

The widget is a thin shell: ``clicks`` knows what a click means, ``drawing`` makes the picture, and the script under
``static`` shows the picture and sends clicks. It needs anywidget, which is in the extra ``notebook``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from solver.errors import SolverError
from solver.game.notation import Side
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.values import RESULT_WORDS, in_words
from solver.lookup.tablebase import Tablebase
from solver.pictures.svg import Theme
from solver.play.clicked_game import Play

_STATIC = Path(__file__).parent / "static"


class Explorer(anywidget.AnyWidget):
    """A board to click on.

    ::

        with open_tablebase("data/six") as tablebase:
            display(Explorer(tablebase=tablebase, perfect="black"))

    (A widget outlives its cell; keep the tablebase open while it is used.)

    :param start: a position, rules or the name of a preset; the empty board of the tablebase's rules by default
    :param tablebase: where values come from; without it this is a board that checks the rules
    :param perfect: the side that the perfect player plays, ``"white"`` or ``"black"``
    :param flipped: whether to look from Black's side
    :param with_values: whether to show values
    :param theme: ``auto`` follows the notebook's theme
    :param size: width of the board in pixels

    :raises SolverError: without a start and a tablebase, for tables of other rules, for a perfect player without tables
    """

    _esm = _STATIC / "explorer.js"
    _css = _STATIC / "explorer.css"

    svg = traitlets.Unicode().tag(sync=True)
    turns: traitlets.List[list[str]] = traitlets.List().tag(sync=True)
    history: traitlets.List[str] = traitlets.List().tag(sync=True)
    ply = traitlets.Int().tag(sync=True)
    fen = traitlets.Unicode().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    is_error = traitlets.Bool().tag(sync=True)
    has_values = traitlets.Bool().tag(sync=True)
    with_values = traitlets.Bool(True).tag(sync=True)
    perfect = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        start: Position | Rules | str | None = None,
        tablebase: Tablebase | None = None,
        *,
        perfect: Side | None = None,
        flipped: bool = False,
        with_values: bool = True,
        theme: Theme = "auto",
        size: int = 420,
    ) -> None:
        super().__init__()
        self.play = Play(_position(start, tablebase), tablebase, perfect)
        self._flipped, self._theme, self._size = flipped, theme, size
        self._follows_page = theme == "auto"
        self.has_values = tablebase is not None
        self.with_values = with_values
        self.on_msg(self._receive)
        self._show()

    @property
    def position(self) -> Position:
        """A copy of the position that is shown, with its history."""
        return self.play.position.copy()

    def _receive(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        """A message of the page: the name of an action and its argument."""
        action = self._actions.get(str(content.get("action")))
        if action is None:
            return self._show(f"the page asked for {content.get('action')!r}, which is not known here")
        try:
            action(content.get("argument"))
        except SolverError as error:
            return self._show(str(error))
        return self._show()

    @property
    def _actions(self) -> dict[str, Callable[[Any], None]]:
        play = self.play
        return {
            "click": lambda point: play.click(self._point(point)),
            "turn": lambda text: play.push_text(str(text)),
            "cancel": lambda _: play.cancel(),
            "undo": lambda _: play.undo(),
            "redo": lambda _: play.redo(),
            "go_to": lambda ply: play.go_to(_whole(ply)),
            "answer": lambda _: play.answer(),
            "paste": lambda text: play.paste(str(text)),
            "perfect": self._set_perfect,
            "flip": lambda _: setattr(self, "_flipped", not self._flipped),
            "values": lambda _: setattr(self, "with_values", not self.with_values),
            "theme": self._set_theme,
        }

    def _point(self, point: Any) -> int:
        if not 0 <= _whole(point) < self.play.position.board.n_points:
            raise SolverError(f"the board has no point number {point}")
        return _whole(point)

    def _set_perfect(self, side: Any) -> None:
        self.play.perfect = {"white": "white", "black": "black"}.get(side)  # type: ignore[assignment]

    def _set_theme(self, theme: Any) -> None:
        """The theme of the page, where none was asked for."""
        if self._follows_page and theme in ("light", "dark"):
            self._theme = theme

    def _show(self, error: str | None = None) -> None:
        """Bring the page up to date in one message."""
        play = self.play
        shown = self.with_values
        with self.hold_sync():
            self.svg = play.picture(with_values=shown, flipped=self._flipped, theme=self._theme, size=self._size).svg
            self.turns = self._turns()
            self.history, self.ply = play.history, play.ply
            self.fen = play.position.fen()
            self.message, self.is_error = error or play.message, error is not None
            self.perfect = play.perfect or ""

    def _turns(self) -> list[list[str]]:
        """The turns that agree with the clicks so far: text, value in words, and result for its colour."""
        if self.with_values and (values := self.play.values):
            return [[str(move), in_words(value), RESULT_WORDS[value.wdl]] for move, value in values]
        return [[str(move), "", ""] for move in self.play.candidates]


def _whole(argument: Any) -> int:
    if not isinstance(argument, int):
        raise SolverError(f"the page sent {argument!r} where a whole number was expected")
    return argument


def _position(start: Position | Rules | str | None, tablebase: Tablebase | None) -> Position:
    if isinstance(start, Position):
        return start
    if isinstance(start, str):
        start = get_rules(start)
    if start is None:
        if tablebase is None:
            raise SolverError("Explorer() needs a position, rules, the name of a preset, or a tablebase")
        start = tablebase.rules
    return Position(start)
