"""A game against the tables in a terminal: reads lines, writes lines, and knows nothing of files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from solver.errors import IllegalMoveError
from solver.game.notation import Side
from solver.game.position import Position
from solver.lookup.analysis import choices, in_words, perfect_moves, value_of
from solver.lookup.tablebase import Tablebase
from solver.play.opponent import decide
from solver.records.games import Game, write_game

HELP = """\
a turn   d6 places, d6-d7 moves, x names a stone that is taken: d7xe3, d6-d7xa4
hint     the value of the position and the perfect turns
moves    every legal turn with its value
undo     take your last turn back, and the reply to it
board    the board again
fen      the position as text
record   the turns so far
help     this
quit     end the game"""

_HINTS_SHOWN = 6


class Session:
    """One game of a human player against the opponent.

    :param human: the side of the human player
    :param write: what to do with text for the player
    """

    def __init__(
        self,
        position: Position,
        tablebase: Tablebase,
        human: Side,
        write: Callable[[str], None],
        rng: random.Random,
    ) -> None:
        self._position = position
        self._start = position.fen()
        self._tablebase = tablebase
        self._human = human
        self._write = write
        self._rng = rng
        self._commands: dict[str, Callable[[], None]] = {
            "hint": self._hint,
            "moves": self._list_moves,
            "undo": self._undo,
            "board": self._show_board,
            "fen": lambda: write(self._position.fen()),
            "record": self._show_record,
            "help": lambda: write(HELP),
        }

    def run(self, lines: Iterable[str]) -> None:
        """Play until the lines end or one of them is ``quit``. After the end of the game turns can be undone."""
        self._show_board()
        self._reply()
        for line in lines:
            text = line.strip()
            if text == "quit":
                break
            self.answer(text)
        self._write("goodbye")

    def answer(self, text: str) -> None:
        """Do what one line says."""
        if not text:
            return
        if command := self._commands.get(text):
            command()
            return
        try:
            self._position.push_text(text)
        except IllegalMoveError as error:
            self._write(f"{error}\nhelp lists the commands")
            return
        self._reply()

    def _reply(self) -> None:
        """Make the turns of the opponent, and say how the game ended."""
        if self._position.turn != self._human and not self._position.is_over():
            decision = decide(self._position, self._tablebase, self._rng)
            self._position.push(decision.move)
            self._write(f"{self._other_name} plays {decision.move}")
            if decision.value is None:
                self._write("(no table at hand knows this position: any legal turn)")
        if self._position.move_stack:
            self._show_board()
        if outcome := self._position.outcome():
            self._write(f"The game is over: {outcome}. undo takes your last turn back, quit ends.")

    @property
    def _other_name(self) -> str:
        return "Black" if self._human == "white" else "White"

    def _show_board(self) -> None:
        self._write(f"\n{self._position}")

    def _hint(self) -> None:
        value = value_of(self._position, self._tablebase)
        self._write(f"{self._position.turn.title()} to move: {in_words(value)}")
        best = perfect_moves(choices(self._position, self._tablebase))
        if best:
            more = f" ... ({len(best)} in all)" if len(best) > _HINTS_SHOWN else ""
            self._write(f"perfect: {', '.join(map(str, best[:_HINTS_SHOWN]))}{more}")

    def _list_moves(self) -> None:
        rated = choices(self._position, self._tablebase)
        width = max((len(str(choice.move)) for choice in rated), default=0)
        self._write("\n".join(f"{choice.move!s:{width}}  {in_words(choice.value)}" for choice in rated) or "none")

    def _show_record(self) -> None:
        game = Game(self._position.rules, self._position.move_stack, start=self._start)
        self._write(write_game(game).rstrip())

    def _undo(self) -> None:
        """Take back the human player's last turn with all that followed."""
        turns = self._position.move_stack
        own = [ply for ply in range(len(turns)) if self._side_of(ply) == self._human]
        if not own:
            self._write("no turn of yours to take back")
            return
        while len(self._position.move_stack) > own[-1]:
            self._position.pop()
        self._show_board()

    def _side_of(self, ply: int) -> Side:
        """Who made turn number ``ply`` of this game, counted from 0."""
        is_same_side = (len(self._position.move_stack) - ply) % 2 == 0
        other: Side = "black" if self._position.turn == "white" else "white"
        return self._position.turn if is_same_side else other
