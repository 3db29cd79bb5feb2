"""``Position``: a game in progress, with its turns, its history and its end.

This is the friendly face of the rules: legal turns come from ``movegen``, text from ``notation``, and what is kept here
is what a single position does not show, the history that repetition is counted in.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from solver.compiled.bitboard import U
from solver.errors import IllegalMoveError
from solver.game.boards import Board, mask_of
from solver.game.diagram import text_board
from solver.game.movegen import MAX_TURNS, NONE, TURN_FIELDS, is_lost_by_stones, legal_turns, move_tables
from solver.game.notation import (
    PositionFields,
    Side,
    check_position,
    format_position,
    format_turn,
    other_side,
    parse_position,
    parse_turn,
    shorten,
    start_fields,
)
from solver.game.rules import PRESETS, Phase, Rules

Reason = Literal["stones", "blocked", "repetition", "quiet_limit"]

DRAWING_REPETITIONS = 3

_LEGAL_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Move:
    """One turn: a placement or a move of a stone, with the stones that it takes.

    :param origin: number of the point that the stone leaves, None for a placement
    :param target: number of the point that it goes to
    :param taken: numbers of the points whose stones are removed, ascending
    :param board: the board, for the names of the points
    """

    origin: int | None
    target: int
    taken: tuple[int, ...]
    board: Board = field(hash=False)

    def __str__(self) -> str:
        return format_turn(self.board, self.origin, self.target, self.taken)

    def __repr__(self) -> str:
        return f"<Move {self}>"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended. ``winner`` is None for a draw."""

    winner: Side | None
    reason: Reason

    def __str__(self) -> str:
        return f"{self.winner.title()} won ({self.reason})" if self.winner else f"draw ({self.reason})"


class Position:
    """The empty board of ``rules``, White to move; the turns made from there are pushed and popped.

    Stones are masks: bit ``p`` is the point ``rules.board.points[p]``.

    >>> from solver.game.rules import get_rules
    >>> pos = Position(get_rules("nine"))
    >>> pos.push_text("d6")
    >>> len(pos.legal_moves), pos.turn, pos.fen()
    (23, 'black', '......../.W....../........ b 8,9 0')
    >>> pos.pop()
    <Move d6>

    Equality and hash look at the rules, stones, side to move, hands and quiet turns, and not at the turns before.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._begin(start_fields(rules))

    @classmethod
    def from_fen(cls, rules: Rules, text: str) -> Position:
        """The position of a position text; ``start`` is the empty board. :raises PositionError: for bad text."""
        return cls._from_fields(rules, parse_position(rules, text))

    @classmethod
    def from_stones(
        cls,
        rules: Rules,
        *,
        white: int,
        black: int,
        turn: Side = "white",
        hands: tuple[int, int] = (0, 0),
        quiet_turns: int = 0,
    ) -> Position:
        """The position with these masks of stones and stones in hand of (White, Black).

        :raises PositionError: for a position that no game can show
        """
        white_hand, black_hand = map(operator.index, hands)
        fields = PositionFields(
            operator.index(white), operator.index(black), turn, (white_hand, black_hand), operator.index(quiet_turns)
        )
        check_position(rules, fields)
        return cls._from_fields(rules, fields)

    @classmethod
    def from_turns(cls, rules: Rules, turns: Iterable[str]) -> Position:
        """The position after a game given as turn texts from the empty board.

        :raises IllegalMoveError: naming the number of the first turn that is not legal
        """
        position = cls(rules)
        for number, text in enumerate(turns, start=1):
            try:
                position.push_text(text)
            except IllegalMoveError as error:
                raise IllegalMoveError(f"turn {number}: {error}") from None
        return position

    @classmethod
    def _from_fields(cls, rules: Rules, fields: PositionFields) -> Position:
        position = cls(rules)
        position._begin(fields)
        return position

    def _begin(self, fields: PositionFields) -> None:
        self._history: list[tuple[Move, PositionFields]] = []
        # How often each position of the moving phase has been on the board. A removal needs no reset: with fewer
        # stones no earlier position can return.
        self._seen: Counter[tuple[int, int, Side]] = Counter()
        self._enter(fields)

    def _enter(self, fields: PositionFields) -> None:
        self._fields = fields
        self._turns: tuple[Move, ...] | None = None  # found when asked for
        if self.phase == "moving":
            self._seen[self.key] += 1

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def board(self) -> Board:
        return self._rules.board

    @property
    def fields(self) -> PositionFields:
        """The position as plain numbers, without its history."""
        return self._fields

    @property
    def white(self) -> int:
        """Mask of White's stones."""
        return self._fields.white

    @property
    def black(self) -> int:
        """Mask of Black's stones."""
        return self._fields.black

    @property
    def turn(self) -> Side:
        """The side to move."""
        return self._fields.turn

    @property
    def hands(self) -> tuple[int, int]:
        """Stones in hand of (White, Black)."""
        return self._fields.hands

    @property
    def quiet_turns(self) -> int:
        """Moving-phase turns since the last mill or the last placement."""
        return self._fields.quiet_turns

    @property
    def own(self) -> int:
        """Mask of the stones of the side to move."""
        return self.white if self.turn == "white" else self.black

    @property
    def opponent(self) -> int:
        """Mask of the stones of the other side."""
        return self.black if self.turn == "white" else self.white

    @property
    def own_hand(self) -> int:
        """Stones in hand of the side to move."""
        return self.hands[self.turn == "black"]

    @property
    def opponent_hand(self) -> int:
        """Stones in hand of the other side."""
        return self.hands[self.turn == "white"]

    @property
    def phase(self) -> Phase:
        """``moving`` once both hands are empty."""
        return "moving" if self.hands == (0, 0) else "placing"

    @property
    def placements(self) -> int:
        """Stones that both sides have placed so far, the ply of the placing phase."""
        return 2 * self._rules.stones - sum(self.hands)

    @property
    def key(self) -> tuple[int, int, Side]:
        """What has to recur for a repetition: stones and side to move."""
        return self.white, self.black, self.turn

    @property
    def repetitions(self) -> int:
        """How often this position has been on the board, this time included; 0 in the placing phase."""
        return self._seen[self.key]

    @property
    def move_stack(self) -> tuple[Move, ...]:
        """The moves pushed so far."""
        return tuple(move for move, _ in self._history)

    @property
    def legal_moves(self) -> tuple[Move, ...]:
        """The legal moves in ascending order of point numbers; none if the game is over."""
        return () if self.is_over() else self._generate()

    def _generate(self) -> tuple[Move, ...]:
        """The turns that the rules of movement allow, whether or not the game is over."""
        if self._turns is None:
            rows = np.empty((MAX_TURNS, TURN_FIELDS), np.int8)
            n = legal_turns(move_tables(self._rules), U(self.own), U(self.opponent), self.own_hand, rows)
            self._turns = tuple(
                Move(None if origin == NONE else origin, target, tuple(p for p in taken if p != NONE), self.board)
                for origin, target, *taken in rows[:n].tolist()
            )
        return self._turns

    def outcome(self) -> Outcome | None:
        """How the game has ended, or None while it goes on."""
        if is_lost_by_stones(U(self.own), self.own_hand):
            return Outcome(other_side(self.turn), "stones")
        if is_lost_by_stones(U(self.opponent), self.opponent_hand):  # no play leads here, but a text may
            return Outcome(self.turn, "stones")
        if not self._generate():
            return Outcome(other_side(self.turn), "blocked")
        if 0 < self._rules.quiet_limit <= self.quiet_turns:
            return Outcome(None, "quiet_limit")
        if self.repetitions >= DRAWING_REPETITIONS:
            return Outcome(None, "repetition")
        return None

    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.outcome() is not None

    def parse_move(self, text: str) -> Move:
        """The legal move that ``text`` names. :raises IllegalMoveError: where there is none."""
        move = Move(*parse_turn(self.board, text), self.board)
        self._check_legal(move)
        return move

    def push(self, move: Move) -> None:
        """Make ``move``. :raises IllegalMoveError: where the rules do not allow it."""
        self._check_legal(move)
        self._make(move)

    def push_text(self, text: str) -> None:
        """Make the move that ``text`` names, such as ``d6-d7xa4``. :raises IllegalMoveError: where there is none."""
        self._make(self.parse_move(text))

    def pop(self) -> Move:
        """Take the last move back and return it. :raises IndexError: if there is none."""
        if not self._history:
            raise IndexError("no move to take back")
        if self.phase == "moving":
            self._seen[self.key] -= 1
        move, self._fields = self._history.pop()
        self._turns = None
        return move

    def _check_legal(self, move: Move) -> None:
        legal = self.legal_moves
        if move in legal:
            return
        if outcome := self.outcome():
            why = f"the game is over: {outcome}"
        else:
            shown = ", ".join(map(str, legal[:_LEGAL_SHOWN]))
            why = f"legal: {shown}" + (f", ... ({len(legal)} in all)" if len(legal) > _LEGAL_SHOWN else "")
        raise IllegalMoveError(f"{shorten(str(move))} is not legal in {self.fen()!r}; {why}")

    def _make(self, move: Move) -> None:
        after = self.fields_after(move)
        self._history.append((move, self._fields))
        self._enter(after)

    def fields_after(self, move: Move) -> PositionFields:
        """The position after the legal move ``move``, as plain numbers; this position stays as it is."""
        own, own_hand = self.own | 1 << move.target, self.own_hand
        if move.origin is None:
            own_hand -= 1
        else:
            own &= ~(1 << move.origin)
        opponent, opponent_hand = self.opponent & ~mask_of(move.taken), self.opponent_hand
        quiet_turns = self.quiet_turns + 1 if self.phase == "moving" and not move.taken else 0
        if self.turn == "white":
            return PositionFields(own, opponent, "black", (own_hand, opponent_hand), quiet_turns)
        return PositionFields(opponent, own, "white", (opponent_hand, own_hand), quiet_turns)

    def copy(self) -> Position:
        """An independent position with the same history."""
        position = type(self)(self._rules)
        position._fields, position._turns = self._fields, self._turns
        position._history, position._seen = self._history.copy(), self._seen.copy()
        return position

    def fen(self) -> str:
        """The position as text; :meth:`from_fen` reads it back (without the history)."""
        return format_position(self.board, self._fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._fields == other._fields and self._rules == other._rules

    def __hash__(self) -> int:
        return hash((self._rules, self._fields))

    def __repr__(self) -> str:
        is_preset = PRESETS.get(self._rules.name) == self._rules
        rules = f"get_rules({self._rules.name!r})" if is_preset else repr(self._rules)
        return f"Position.from_fen({rules}, {self.fen()!r})"

    def _repr_svg_(self) -> str:
        """What a notebook shows; :mod:`solver.pictures.drawing` has the options."""
        from solver.pictures.drawing import board  # only where a picture is wanted

        return board(self).svg

    def __str__(self) -> str:
        if self.phase == "placing":
            counters = f"in hand: White {self.hands[0]}, Black {self.hands[1]}"
        else:
            counters = f"quiet turns: {self.quiet_turns}"
        last = self._history[-1][0].target if self._history else None
        mark = None if last is None else 1 << last
        return f"{text_board(self.board, self.white, self.black, mark)}\n{self.turn.title()} to move; {counters}"
