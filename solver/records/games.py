"""Game records: read, replayed, checked turn by turn, and written in three notations.

============== ====================== ======================================================
notation       a turn                 who writes it
============== ====================== ======================================================
``federation`` ``d6``, ``f2-f4xd5``   the Mühle federation; names of points
``playok``     ``5``, ``10-1x23``     PlayOK, formerly Kurnik; numbers of points
``sanmill``    ``d6``, ``f2-f4xd5``   Sanmill; a game set up begins with its FEN
============== ====================== ======================================================

All of them look like PGN (``markup``). A double mill is written ``d7xd2xe3`` or ``3x9x23``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, get_args

from solver.errors import IllegalMoveError, RecordError, RecordMoveError
from solver.game.notation import START, Side, parse_turn, shorten
from solver.game.position import Move, Position
from solver.game.rules import PRESETS, Rules, get_rules
from solver.records.markup import RESULTS, RecordText, Token, can_be_tag, format_tags, split_records
from solver.records.playok import from_playok, points_in_rows, to_playok
from solver.records.sanmill import format_fen, has_sanmill_board, parse_fen

Result = Literal["1-0", "0-1", "1/2-1/2", "*"]
Notation = Literal["federation", "playok", "sanmill"]
NOTATIONS: tuple[Notation, ...] = get_args(Notation)

UNKNOWN: Result = "*"
_WIDTH = 80
_LEGAL_SHOWN = 12
_NINE_MENS_MORRIS = "Nine Men's Morris"

# Tags that follow from the rest of a Game and are therefore not kept among its tags.
_DERIVED_TAGS = ("Result", "Rules", "Position", "FEN", "SetUp", "Variant", "PlyCount")


@dataclass(frozen=True)
class Game:
    """One game.

    :param rules: the rules it was played by
    :param moves: its turns
    :param result: ``1-0``, ``0-1``, ``1/2-1/2`` or ``*`` (unknown)
    :param tags: what else the record says: ``White``, ``Black``, ``Date``, ``Site`` ...
    :param start: text of the first position; that of the empty board becomes ``start``

    >>> game = read_game("1. d6 f4 2. d2 b4 *", get_rules("nine"))
    >>> game.moves
    (<Move d6>, <Move f4>, <Move d2>, <Move b4>)
    >>> move_text(game, "playok")
    '1. 5 14 2. 20 11'
    """

    rules: Rules
    moves: tuple[Move, ...] = ()
    result: Result = UNKNOWN
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    start: str = START

    def __post_init__(self) -> None:
        if self.start == Position(self.rules).fen():
            object.__setattr__(self, "start", START)

    def positions(self) -> Iterator[Position]:
        """The first position and the position after every turn, each with its history.

        :raises IllegalMoveError: where a turn is not legal
        """
        position = Position.from_fen(self.rules, self.start)
        yield position.copy()
        for move in self.moves:
            position.push(move)
            yield position.copy()

    @property
    def final(self) -> Position:
        """The last position. :raises IllegalMoveError: where a turn is not legal"""
        position = Position.from_fen(self.rules, self.start)
        for move in self.moves:
            position.push(move)
        return position


def read_game(text: str, rules: Rules | None = None, notation: Notation | None = None) -> Game:
    """The one game in ``text``.

    :param rules: the rules; by default those that the tags name, ``kurnik`` for PlayOK numbers, else ``nine``
    :param notation: how turns are written; by default numbers and names are told apart

    The result is that of the text, else of its tag, else of the last position.

    :raises RecordMoveError: for a turn that is not legal, with the number of the move and the legal turns
    :raises RecordError: for any other text that is no record of one game, with the number of the move
    :raises PositionError: for a start position that cannot be
    :raises RulesError: for rules in the tags that are no preset
    """
    games = read_games(text, rules, notation)
    if len(games) != 1:
        count = f"{len(games)} games" if games else "no turn, no tag and no result"
        raise RecordError(f"record {shorten(text)}: {count}, expected one game")
    return games[0]


def read_games(text: str, rules: Rules | None = None, notation: Notation | None = None) -> list[Game]:
    """All games in ``text``, each beginning with its tags; errors as of :func:`read_game`."""
    if notation is not None:
        _check_notation(notation)
    records = [record for record in split_records(text) if record.tokens or record.tags]
    games = []
    for number, record in enumerate(records, start=1):
        try:
            games.append(_read(record, rules, notation))
        except RecordError as error:
            if len(records) > 1:
                error.args = (f"game {number}: {error}",)
            raise
    return games


def move_text(game: Game, notation: Notation = "federation") -> str:
    """The numbered turns on one line, without tags and result.

    :raises RecordError: where the notation cannot write the game
    """
    return " ".join(_numbered(game, notation))


def write_game(game: Game, notation: Notation = "federation") -> str:
    """The record as text that :func:`read_game` reads back: tags, an empty line, turns, result.

    :raises RecordError: where the notation cannot write the game
    :raises IllegalMoveError: where a turn of the game is not legal
    """
    turns = _numbered(game, notation)
    tags = _tags_to_write(game, notation)
    if notation == "sanmill":
        body = "\n".join([*turns, game.result])
    else:
        words = " ".join([*turns, game.result]).split()
        body = textwrap.fill(" ".join(words), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{format_tags(tags)}\n{body}\n" if tags else f"{body}\n"


def _check_notation(notation: str) -> None:
    if notation not in NOTATIONS:
        raise RecordError(f"notation {notation!r}: expected {', '.join(NOTATIONS)}")


def _numbered(game: Game, notation: Notation) -> list[str]:
    """The turns with their numbers, White's and Black's together: ``["1. d6 f4", "2. d2 b4"]``."""
    _check_notation(notation)
    if notation == "sanmill" and not has_sanmill_board(game.rules):
        raise RecordError(f"rules {game.rules.name!r}: Sanmill has the board of 24 points only; use another notation")
    turns = [_turn_text(move, notation) for move in game.moves]
    black_begins = Position.from_fen(game.rules, game.start).turn == "black"
    moves = []
    if black_begins and turns:
        moves.append(f"1... {turns.pop(0)}")
    for number, first in enumerate(range(0, len(turns), 2), start=1 + len(moves)):
        moves.append(f"{number}. {' '.join(turns[first : first + 2])}")
    return moves


def _turn_text(move: Move, notation: Notation | None) -> str:
    return to_playok(move.board, str(move)) if notation == "playok" else str(move)


def _tags_to_write(game: Game, notation: Notation) -> dict[str, str]:
    for name, value in game.tags.items():
        if not can_be_tag(name, value) or name in _DERIVED_TAGS:
            raise RecordError(f"tag {shorten(name)} with value {shorten(value)} cannot be written; leave it out")
    tags = {**game.tags, "Result": game.result}
    if PRESETS.get(game.rules.name) == game.rules:
        tags["Rules"] = game.rules.name
    if notation == "sanmill":
        if game.rules.stones == PRESETS["nine"].stones:
            tags["Variant"] = _NINE_MENS_MORRIS
        # The app counts a removal as a ply of its own.
        tags["PlyCount"] = str(sum(1 + len(move.taken) for move in game.moves))
    if game.start != START:
        start = Position.from_fen(game.rules, game.start)
        tags |= {"FEN": format_fen(start), "SetUp": "1"} if notation == "sanmill" else {"Position": game.start}
    return tags


def _read(record: RecordText, rules: Rules | None, notation: Notation | None) -> Game:
    if notation is None:
        notation = _notation_of(record)
    if rules is None:
        rules = _rules_of(record, notation)
    position = _start_of(record, rules)
    start = position.fen()
    result = _Reader(position, notation).read(record)
    return Game(
        rules,
        position.move_stack,
        result,
        {name: value for name, value in record.tags.items() if name not in _DERIVED_TAGS},
        start,
    )


def _notation_of(record: RecordText) -> Notation:
    first = next((token.text for token in record.tokens if token.kind == "turn"), "")
    site = record.tags.get("Site", "")
    if first[:1].isdigit() or (not first and site == "PlayOK"):
        return "playok"
    return "sanmill" if site == "Sanmill" or "FEN" in record.tags else "federation"


def _rules_of(record: RecordText, notation: Notation) -> Rules:
    if "Rules" in record.tags:
        return get_rules(record.tags["Rules"])
    variant = record.tags.get("Variant", _NINE_MENS_MORRIS)
    if variant != _NINE_MENS_MORRIS:
        raise RecordError(f"variant {shorten(variant)}: expected {_NINE_MENS_MORRIS!r}; say which rules to read it by")
    return get_rules("kurnik" if notation == "playok" else "nine")


def _start_of(record: RecordText, rules: Rules) -> Position:
    if "Position" in record.tags:
        return Position.from_fen(rules, record.tags["Position"])
    if "FEN" in record.tags:
        return parse_fen(rules, record.tags["FEN"])
    return Position(rules)


class _Reader:
    """Makes the turns of one record on ``position`` and knows where in the record it is."""

    def __init__(self, position: Position, notation: Notation) -> None:
        self._position = position
        self._notation = notation
        self._is_set_up = position != Position(position.rules)
        self._first_side: Side = position.turn
        # Whether the record counts White's turn before a first turn by Black, and from which number it counts.
        self._missing_turn = False
        self._number_offset: int | None = None if self._is_set_up else 0
        if notation == "playok":
            points_in_rows(position.board)

    def read(self, record: RecordText) -> Result:
        """Make all turns. Gives the result."""
        result: Token | None = None
        for before, token in zip([None, *record.tokens], record.tokens, strict=False):
            if token.kind == "broken":
                self._fail(f"read {token.text}")
            if result is not None:
                self._fail(f"{shorten(token.text)} after the result {result.text}, expected nothing more")
            if token.kind == "result":
                result = token
            elif token.kind == "number":
                if before is not None and before.kind == "number":
                    self._fail(f"read the number {shorten(token.text)} after {shorten(before.text)}, expected a turn")
                self._check_number(token.text)
            else:
                self._make(token.text)
        return self._result(record.tags.get("Result"), None if result is None else result.text)

    @property
    def _plies(self) -> int:
        return len(self._position.move_stack) + self._missing_turn

    @property
    def _place(self) -> str:
        """Where the reader is, such as ``move 15 of White``."""
        number = 1 + self._plies // 2 + (self._number_offset or 0)
        return f"move {number} of {self._position.turn.title()}"

    def _fail(self, problem: str) -> NoReturn:
        raise RecordError(f"{self._place}: {problem}")

    def _check_number(self, text: str) -> None:
        number, is_continued = int(text.rstrip(".")), text.endswith("...")
        if not self._position.move_stack and self._is_set_up:
            # Sanmill counts pairs from the first turn, whoever makes it; others write 1... before a turn of Black.
            self._missing_turn = is_continued and self._first_side == "black"
            self._number_offset = number - 1
            return
        expected = 1 + self._plies // 2 + (self._number_offset or 0)
        is_second = self._plies % 2 == 1
        if number != expected or is_continued != is_second:
            wanted = f"the second turn of move {expected}" if is_second else f"{expected}."
            self._fail(f"read the number {shorten(text)}, expected {wanted}")

    def _make(self, text: str) -> None:
        try:
            names = from_playok(self._position.board, text) if self._notation == "playok" else text
            move = Move(*parse_turn(self._position.board, names), self._position.board)
        except IllegalMoveError as error:
            self._fail(f"{error}{self._hint()}")
        if move not in self._position.legal_moves:
            self._refuse(text, move)
        self._position.push(move)

    def _hint(self) -> str:
        outcome = self._position.outcome()
        if outcome is not None:
            return f"; the game is over: {outcome}, expected a result or nothing"
        example = _turn_text(self._position.legal_moves[0], self._notation)
        return f"; expected a legal turn such as {example}"

    def _refuse(self, text: str, move: Move) -> NoReturn:
        """Say why ``move`` is not legal, the legal turns most like it first."""
        legal = self._position.legal_moves
        if not legal:
            outcome = self._position.outcome()
            self._fail(f"{shorten(text)} after the end of the game ({outcome}), expected a result or nothing")
        alike = [other for other in legal if (other.origin, other.target) == (move.origin, move.target)]
        problem = _capture_problem(move, alike) if alike else _move_problem(self._position, move)
        shown = sorted(legal, key=lambda other: -_likeness(move, other))
        texts = tuple(_turn_text(other, self._notation) for other in shown)
        listed = ", ".join(texts[:_LEGAL_SHOWN])
        if len(texts) > _LEGAL_SHOWN:
            listed += f", ... ({len(texts)} in all)"
        raise RecordMoveError(
            f"{self._place}: {shorten(text)} {problem} in {self._position.fen()!r}; legal: {listed}", texts
        )

    def _result(self, tag: str | None, text: str | None) -> Result:
        """The result that token, tag and last position agree on."""
        known: Result = UNKNOWN
        outcome = self._position.outcome()
        if outcome is not None:
            known = "1/2-1/2" if outcome.winner is None else "1-0" if outcome.winner == "white" else "0-1"
        for what, claimed in (("tag Result", tag), ("result", text)):
            if claimed in (None, "?", UNKNOWN):
                continue
            result = _as_result(claimed)
            if result is None:
                self._fail(f"{what} {shorten(str(claimed))}, expected {', '.join(RESULTS)}")
            if known not in (UNKNOWN, result):
                self._fail(f"{what} {claimed}, expected {known}" + (f": {outcome}" if outcome else " as in the tag"))
            known = result
        return known


def _as_result(text: Any) -> Result | None:
    return text if text in RESULTS else None


def _capture_problem(move: Move, alike: list[Move]) -> str:
    """What is wrong with the stones that ``move`` takes, given the legal turns that place or move the same stone."""
    expected = sorted({len(other.taken) for other in alike})
    if len(move.taken) not in expected:
        count = " or ".join(map(str, expected))
        return f"takes {len(move.taken)} stones, expected {count},"
    return "takes a stone that may not be taken"


def _move_problem(position: Position, move: Move) -> str:
    """Why the stone may not go there."""
    if (position.white | position.black) >> move.target & 1:
        return "goes to a point that is not empty"
    if move.origin is None:
        return "is not legal" if position.own_hand else "places a stone, but none is in hand"
    if position.own_hand:
        return f"moves a stone, but {position.own_hand} are still in hand"
    if not position.own >> move.origin & 1:
        return f"moves no stone of {position.turn.title()}"
    return "moves a stone to a point that is no neighbour"


def _likeness(move: Move, other: Move) -> int:
    """How much a legal turn resembles the one that was read."""
    return 2 * (move.target == other.target) + 2 * (move.origin == other.origin) + (move.taken == other.taken)
