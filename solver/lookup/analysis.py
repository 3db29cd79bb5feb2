"""Games against perfect play: what each position was worth, which turns gave something away, who was how accurate.

A turn is judged by the value before it and the value after it, both from the side of the player who makes it; perfect
turns keep the value and the distance. Values ignore the turns before, but where a turn ends the game by repetition or
by the quiet limit, its value is the draw that it makes. Where a position is in no table that is at hand its value is
*unknown* and the turns beside it are not judged. Nothing is guessed.

Two analyses of more than one game are reached from here as well: :func:`first_mistakes` and the module :mod:`study`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from solver.errors import MissingTableError, RulesMismatchError
from solver.game.notation import Side
from solver.game.position import Move, Position
from solver.game.rules import Rules
from solver.indexing import values
from solver.indexing.values import LOST, Value, decode, metric_of
from solver.lookup import study as study
from solver.lookup.opening import FirstMistakes as FirstMistakes
from solver.lookup.opening import first_mistakes as first_mistakes
from solver.lookup.tablebase import Tablebase, value_for_mover
from solver.records.games import Game

_BEST_SHOWN = 3


class Mistake(StrEnum):
    """What an imperfect turn gave away."""

    WIN = "win given up"
    DRAW = "draw given up"
    FASTEST_WIN = "faster win missed"
    RESISTANCE = "longer resistance missed"


class Choice(NamedTuple):
    """A legal turn with its value from the side of the player who makes it, None where it is unknown."""

    move: Move
    value: Value | None


@dataclass(frozen=True)
class JudgedMove:
    """One turn of a game. Values are from the side of the player who makes it; None stands for unknown.

    :param number: number of the move, which counts a turn of White and one of Black as one
    :param side: who makes it
    :param position: text of the position before it
    :param before: value before it
    :param after: value after it; its depth counts from before the turn, so a perfect turn has ``after == before``
    :param best: the perfect turns; none where some turn or the position is unknown
    """

    number: int
    side: Side
    move: Move
    position: str
    before: Value | None
    after: Value | None
    best: tuple[Move, ...]

    @property
    def is_known(self) -> bool:
        """Whether the turn can be judged."""
        return self.before is not None and self.after is not None

    @property
    def mistake(self) -> Mistake | None:
        """What the turn gave away, None for a perfect turn and for one that cannot be judged."""
        # A repetition can save a game that is lost by its value, which ignores the turns before.
        if self.before is None or self.after is None or _order(self.after) <= _order(self.before):
            return None
        if self.after.wdl < self.before.wdl:
            return Mistake.WIN if self.before.wdl > 0 else Mistake.DRAW
        return Mistake.FASTEST_WIN if self.before.wdl > 0 else Mistake.RESISTANCE


@dataclass(frozen=True)
class Accuracy:
    """The turns of one player.

    :param moves: all of them
    :param judged: those whose value before and after is known
    :param kept: of these, those that kept win or draw, or could not but lose
    :param perfect: of these, those that won fastest or resisted longest, too
    """

    moves: int
    judged: int
    kept: int
    perfect: int

    @property
    def share(self) -> float | None:
        """Part of the judged turns that kept the value; None without any."""
        return self.kept / self.judged if self.judged else None


@dataclass(frozen=True)
class Analysis:
    """A game with all its turns judged.

    :param final: text of the last position
    :param final_value: value of the last position from its side to move, None if unknown
    """

    game: Game
    moves: tuple[JudgedMove, ...]
    final: str
    final_value: Value | None

    def accuracy(self, side: Side) -> Accuracy:
        """How well ``side`` played."""
        own = [move for move in self.moves if move.side == side]
        judged = [move for move in own if move.is_known]
        lost = sum(move.mistake in (Mistake.WIN, Mistake.DRAW) for move in judged)
        return Accuracy(len(own), len(judged), len(judged) - lost, sum(move.mistake is None for move in judged))

    def to_data(self) -> dict[str, Any]:
        """Everything as plain data for JSON; an unknown value is null."""
        return {
            "rules": self.game.rules.name,
            "tags": dict(self.game.tags),
            "result": self.game.result,
            "start": self.game.start,
            "moves": [_move_data(move) for move in self.moves],
            "final": {"position": self.final, "value": _value_data(self.final_value)},
            "accuracy": {side: _accuracy_data(self.accuracy(side)) for side in ("white", "black")},
        }

    def to_text(self) -> str:
        """A line a turn, then the last position and the accuracy of both players."""
        rows = [("move", "", "turn", "before", "after", ""), *map(_row, self.moves)]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row[:5], widths, strict=True)), row[5]]).rstrip()
            for row in rows
        ]
        lines += ["", f"last position {self.final}: {in_words(self.final_value)} for the side to move"]
        lines.append(f"result {self.game.result}")
        return "\n".join([*lines, *(_accuracy_line(side, self.accuracy(side)) for side in ("white", "black"))])


def analyse(game: Game, tablebase: Tablebase) -> Analysis:
    """Judge every turn of ``game``.

    :raises RulesMismatchError: where the tables are of rules whose moving phase has other values
    :raises IllegalMoveError: where a turn is not legal
    :raises DatabaseError: for a damaged file
    """
    _check_rules(game.rules, tablebase)
    positions = list(game.positions())
    judged = tuple(_judge(positions[0], tablebase, *turn) for turn in zip(positions, game.moves, strict=False))
    return Analysis(game, judged, positions[-1].fen(), value_of(positions[-1], tablebase))


def value_of(pos: Position, tablebase: Tablebase) -> Value | None:
    """The value of a position from its side to move, None if no table at hand holds it.

    The end of the game by the rules, repetition included, needs no table.
    """
    if outcome := pos.outcome():
        if outcome.winner is None:
            return Value(0)
        lost = decode(LOST, metric_of(pos.rules, pos.phase))
        return lost if outcome.winner != pos.turn else Value(1, lost.depth)
    try:
        return tablebase.probe(pos)
    except MissingTableError:
        return None
    except RulesMismatchError:
        # Rules may share the moving phase only, such as nine and kurnik; analyse() refuses those that share nothing.
        return None


def choices(pos: Position, tablebase: Tablebase) -> list[Choice]:
    """The legal turns, those with unknown values last, the others best first."""
    rated = [Choice(move, value_after(pos, move, tablebase)) for move in pos.legal_moves]
    return sorted(rated, key=lambda choice: _order(choice.value))


def value_after(pos: Position, move: Move, tablebase: Tablebase) -> Value | None:
    """The value of the legal turn ``move`` from the side of its player, depth counted from ``pos``; None if unknown."""
    pos.push(move)
    value = value_of(pos, tablebase)
    pos.pop()
    return None if value is None else value_for_mover(pos, move, value)


def perfect_moves(rated: list[Choice]) -> tuple[Move, ...]:
    """The best of :func:`choices`; none where one of their values is unknown."""
    if not rated or any(choice.value is None for choice in rated):
        return ()
    return tuple(choice.move for choice in rated if choice.value == rated[0].value)


def in_words(value: Value | None) -> str:
    """``win in 5``, ``draw``, ``loss``, ``unknown``."""
    return "unknown" if value is None else values.in_words(value)


def _check_rules(rules: Rules, tablebase: Tablebase) -> None:
    if rules.fingerprint("moving") != tablebase.rules.fingerprint("moving"):
        raise RulesMismatchError(
            f"{tablebase.database.directory}: tables of the rules {tablebase.rules.name!r}, "
            f"but the game is one of {rules.name!r}; open the tables of those rules"
        )


def _judge(first: Position, tablebase: Tablebase, pos: Position, move: Move) -> JudgedMove:
    before = value_of(pos, tablebase)
    rated = choices(pos, tablebase) if before is not None else []
    known = dict(rated)
    ply = len(pos.move_stack) + (first.turn == "black")
    return JudgedMove(
        number=1 + ply // 2,
        side=pos.turn,
        move=move,
        position=pos.fen(),
        before=before,
        after=known[move] if known else value_after(pos, move, tablebase),
        best=perfect_moves(rated),
    )


def _order(value: Value | None) -> tuple[bool, int, int]:
    """Sorts better values first and unknown ones last."""
    return (True, 0, 0) if value is None else (False, *values.preference(value))


def _row(move: JudgedMove) -> tuple[str, ...]:
    remark = ""
    if move.mistake is not None:
        shown = [str(best) for best in move.best[:_BEST_SHOWN]]
        more = " ..." if len(move.best) > _BEST_SHOWN else ""
        remark = f"{_MARKS[move.mistake]} {move.mistake}" + (f"; best {', '.join(shown)}{more}" if shown else "")
    number = f"{move.number}." if move.side == "white" else ""
    return number, move.side.title(), str(move.move), in_words(move.before), in_words(move.after), remark


_MARKS = {Mistake.WIN: "??", Mistake.DRAW: "??", Mistake.FASTEST_WIN: "?", Mistake.RESISTANCE: "?"}


def _accuracy_line(side: Side, accuracy: Accuracy) -> str:
    unknown = accuracy.moves - accuracy.judged
    tail = f"; {unknown} unknown" if unknown else ""
    if accuracy.share is None:
        return f"{side.title()}: accuracy unknown, no turn of {accuracy.moves} can be judged"
    return (
        f"{side.title()}: accuracy {accuracy.share:.0%}, {accuracy.kept} of {accuracy.judged} turns kept the value, "
        f"{accuracy.perfect} were perfect{tail}"
    )


def _value_data(value: Value | None) -> dict[str, int | None] | None:
    return None if value is None else value._asdict()


def _accuracy_data(accuracy: Accuracy) -> dict[str, float | int | None]:
    return {
        "moves": accuracy.moves,
        "judged": accuracy.judged,
        "kept": accuracy.kept,
        "perfect": accuracy.perfect,
        "share": accuracy.share,
    }


def _move_data(move: JudgedMove) -> dict[str, Any]:
    return {
        "number": move.number,
        "side": move.side,
        "move": str(move.move),
        "position": move.position,
        "before": _value_data(move.before),
        "after": _value_data(move.after),
        "mistake": move.mistake,
        "best": [str(best) for best in move.best],
    }
