"""A game played by clicks on points, for the notebook widget: what a click means, may be, and is worth.

A turn takes up to four clicks: a stone, where it goes, and the stones that it takes. The clicks so far are a
:class:`Choice`; the legal turns that agree with it are the candidates, and all else follows from them: a click is
right if some candidate has it, and the turn is made once it is complete. The rules themselves stay in ``Position``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from solver.errors import DatabaseError, IllegalMoveError, MissingTableError, RulesMismatchError, SolverError
from solver.game.boards import Board, mask_of
from solver.game.notation import Side, other_side
from solver.game.position import Move, Position
from solver.indexing.values import Value, in_words, preference
from solver.lookup.tablebase import Tablebase
from solver.pictures.drawing import Hints, board
from solver.pictures.svg import Picture, Theme


@dataclass(frozen=True)
class Choice:
    """The part of a turn that has been clicked: points, or None where nothing is chosen yet."""

    origin: int | None = None
    target: int | None = None
    taken: tuple[int, ...] = ()

    def allows(self, move: Move) -> bool:
        """Whether ``move`` is one way to go on from here."""
        return (
            (self.origin is None or self.origin == move.origin)
            and (self.target is None or self.target == move.target)
            and set(self.taken) <= set(move.taken)
        )

    def is_all_of(self, move: Move) -> bool:
        """Whether nothing of ``move`` is left to be clicked."""
        return self.target == move.target and self.origin == move.origin and set(self.taken) == set(move.taken)


NOTHING = Choice()


class _Mark(NamedTuple):
    """Something to draw a value at: a turn of which one point matters."""

    target: int
    origin: int | None = None
    taken: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Preview:
    """The board while a turn is half made: its stone has moved, and nothing has been taken yet."""

    board: Board
    white: int
    black: int
    turn: Side
    hands: tuple[int, int]
    move_stack: Sequence[Move] = ()


class Play:
    """A game from ``start`` on.

    :param start: the position to begin with
    :param tablebase: where values and perfect turns come from; without it the rules are checked and nothing is valued
    :param perfect: the side that the perfect player plays, or None

    :raises SolverError: where the tables are for other rules, or a perfect player has none
    """

    def __init__(self, start: Position, tablebase: Tablebase | None = None, perfect: Side | None = None) -> None:
        self.tablebase = tablebase
        self._choice = NOTHING
        self._undone: list[Move] = []  # the last one is the next to be made again
        self._rated: tuple[Position, list[tuple[Move, Value]]] | None = None
        self._problem = ""  # why there are no values
        self._perfect: Side | None = None
        self.position = start.copy()
        if tablebase is not None:
            tablebase.get(start)  # refuses tables of other rules
        self.perfect = perfect

    # What is shown

    @property
    def candidates(self) -> list[Move]:
        """The legal turns that agree with the clicks so far."""
        return [move for move in self.position.legal_moves if self._choice.allows(move)]

    @property
    def choice(self) -> Choice:
        """The clicks so far."""
        return self._choice

    @property
    def values(self) -> list[tuple[Move, Value]]:
        """The candidates with their values, best first; empty without tables for them."""
        return [(move, value) for move, value in self._rate() if self._choice.allows(move)]

    @property
    def hints(self) -> Hints:
        """What may be clicked."""
        choice, candidates = self._choice, self.candidates
        if choice.target is not None:
            taken = mask_of(point for move in candidates for point in move.taken)
            return Hints(takeable=taken & ~mask_of(choice.taken), selected=mask_of(choice.taken) | 1 << choice.target)
        targets = mask_of(move.target for move in candidates)
        origins = mask_of(move.origin for move in self.position.legal_moves if move.origin is not None)
        if choice.origin is not None:
            return Hints(targets=targets, movable=origins, selected=1 << choice.origin)
        return Hints(movable=origins) if origins else Hints(targets=targets)

    def picture(
        self, *, with_values: bool = True, flipped: bool = False, theme: Theme = "auto", size: int = 420
    ) -> Picture:
        """The board with everything that may be clicked."""
        return board(
            self._preview(),
            values=self._marks() if with_values else (),
            hints=self.hints,
            last_turn=self._choice.target is None,
            flipped=flipped,
            theme=theme,
            size=size,
        )

    def _preview(self) -> Position | _Preview:
        target = self._choice.target
        if target is None:
            return self.position
        after = self.position.fields_after(Move(self._choice.origin, target, (), self.position.board))
        return _Preview(self.position.board, after.white, after.black, self.position.turn, after.hands)

    def _marks(self) -> list[tuple[Move | _Mark, Value]]:
        """Values where the next click goes: on the way or the target of a turn, on a stone to be taken."""
        if self._choice.target is None:
            return [(move if self._choice.origin is None else _Mark(move.target), value) for move, value in self.values]
        open_points = self.hints.takeable
        return [
            (_Mark(point), value) for move, value in self.values for point in move.taken if open_points >> point & 1
        ]

    @property
    def message(self) -> str:
        """One sentence: the result, or what to do and what the position is worth."""
        if outcome := self.position.outcome():
            return f"The game is over: {outcome}."
        mover = self.position.turn.title()
        if self._choice.target is not None:
            left = max(len(move.taken) for move in self.candidates) - len(self._choice.taken)
            return f"A mill: {mover} takes {'a stone' if left == 1 else f'{left} stones'}."
        words = f"{mover} to {'place' if self.position.own_hand else 'move'}"
        if rated := self._rate():
            return f"{words}: {in_words(rated[0][1])}."
        return f"{words}. {self._problem}".rstrip()

    @property
    def history(self) -> list[str]:
        """The turns of the game as text, those taken back at the end."""
        return [str(move) for move in (*self.position.move_stack, *reversed(self._undone))]

    @property
    def ply(self) -> int:
        """How many turns of the history have been made."""
        return len(self.position.move_stack)

    def _rate(self) -> list[tuple[Move, Value]]:
        """All legal turns with their values. Without tables the board goes on, and the message says why."""
        if self.tablebase is None or self.position.is_over():
            return []
        if self._rated is None or self._rated[0] != self.position:
            found, self._problem = list[tuple[Move, Value]](), ""
            try:
                found = self.tablebase.moves(self.position)
            except MissingTableError:
                self._problem = "There is no table for this position."
            except (DatabaseError, RulesMismatchError) as error:
                self._problem = f"There are no values: {error}."
            self._rated = self.position.copy(), found
        return self._rated[1]

    # What is done

    def click(self, point: int) -> None:
        """Go on with a turn by clicking ``point``. :raises IllegalMoveError: saying why it cannot be"""
        choice = self._next_choice(point)
        made = [move for move in self.position.legal_moves if choice.is_all_of(move)]
        if made:
            self.push(made[0])
        else:
            self._choice = choice

    def _next_choice(self, point: int) -> Choice:
        choice, hints = self._choice, self.hints
        name = self.position.board.points[point]
        if choice.target is not None:
            if point == choice.target:
                return NOTHING
            if point in choice.taken:
                return replace(choice, taken=tuple(p for p in choice.taken if p != point))
            if hints.takeable >> point & 1:
                return replace(choice, taken=(*choice.taken, point))
            raise IllegalMoveError(f"{name} cannot be taken; the stones with a cross can")
        if point == choice.origin:
            return NOTHING
        if hints.targets >> point & 1:
            return replace(choice, target=point)
        if hints.movable >> point & 1:
            return Choice(origin=point)
        raise IllegalMoveError(self._why_not(point))

    def _why_not(self, point: int) -> str:
        position, name = self.position, self.position.board.points[point]
        if position.is_over():
            return f"the game is over: {position.outcome()}"
        if position.opponent >> point & 1:
            return f"{name} is {other_side(position.turn).title()}'s stone; {position.turn.title()} is to move"
        if position.own >> point & 1:
            return f"{name} is occupied" if position.own_hand else f"the stone on {name} has no free point to go to"
        if self._choice.origin is None:
            return f"first choose a stone to move to {name}"
        return f"the stone on {position.board.points[self._choice.origin]} cannot go to {name}"

    def cancel(self) -> None:
        """Forget the clicks of a turn that is not complete."""
        self._choice = NOTHING

    def push(self, move: Move) -> None:
        """Make ``move``, and then the perfect player's answer. :raises IllegalMoveError: where it is not legal"""
        self._make(move)
        self._reply()

    def push_text(self, text: str) -> None:
        """:meth:`push` the turn that ``text`` names."""
        self.push(self.position.parse_move(text))

    def _make(self, move: Move) -> None:
        self.position.push(move)
        self._choice = NOTHING
        if self._undone and self._undone[-1] == move:
            self._undone.pop()  # the same game goes on
        else:
            self._undone.clear()

    @property
    def perfect(self) -> Side | None:
        """The side that the perfect player plays; it moves at once where it is its turn."""
        return self._perfect

    @perfect.setter
    def perfect(self, side: Side | None) -> None:
        if side is not None:
            self._need_tables()
        before, self._perfect = self._perfect, side
        try:
            self._reply()
        except SolverError:
            self._perfect = before
            raise

    def _reply(self) -> None:
        if self.position.turn == self._perfect and not self.position.is_over():
            self.answer()

    def answer(self) -> None:
        """Make a perfect turn for the side to move. :raises SolverError: without tables that tell it"""
        self._need_tables()
        if self.position.is_over():
            raise IllegalMoveError(f"the game is over: {self.position.outcome()}")
        rated = self._rate()
        if not rated:
            raise SolverError(f"the perfect player cannot move; take a turn back. {self._problem}")
        self._make(min(rated, key=lambda item: preference(item[1]))[0])

    def _need_tables(self) -> None:
        if self.tablebase is None:
            raise SolverError("the perfect player needs tables; open some and hand them over as tablebase")

    def undo(self) -> None:
        """Take back a turn, and with it the perfect player's answer. Without a turn nothing happens."""
        self._choice = NOTHING
        if self.ply:
            self._undone.append(self.position.pop())
        if self.ply and self.position.turn == self._perfect:
            self._undone.append(self.position.pop())

    def redo(self) -> None:
        """Make a turn again that was taken back, and the perfect player's answer."""
        self.go_to(self.ply + 1)
        if self.position.turn == self._perfect:
            self.go_to(self.ply + 1)

    def go_to(self, ply: int) -> None:
        """Show the game after ``ply`` turns of the history; a number outside it means the nearest end."""
        self._choice = NOTHING
        while self.ply > max(ply, 0):
            self._undone.append(self.position.pop())
        while self.ply < ply and self._undone:
            self._make(self._undone[-1])

    def paste(self, text: str) -> None:
        """Begin a new game with a position text. :raises PositionError: for bad text"""
        self.position = Position.from_fen(self.position.rules, text)
        self._choice = NOTHING
        self._undone.clear()
        self._reply()
