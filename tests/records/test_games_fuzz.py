"""Random and damaged text: the parsers answer or raise an error of the package, and they never hang."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.errors import PositionError, RecordError, RulesError
from solver.game.position import Position
from solver.game.rules import PRESETS, get_rules
from solver.records.games import NOTATIONS, Game, read_game, read_games, write_game
from solver.records.sanmill import format_fen, parse_fen
from tests.support.paths import GOLDEN

NINE, KURNIK, SIX = (get_rules(name) for name in ("nine", "kurnik", "six"))
_GAMES = json.loads((GOLDEN / "games.json").read_text())
_SHORT = 24  # turns; long games make slow examples

DEFAULT = settings(max_examples=80, deadline=5000)
LONG = settings(max_examples=25_000, deadline=20_000)  # three tests: 75,000 texts


def _valid_records() -> list[str]:
    double = read_game("d6 a7 b4 d7 f4 g4 d2 g1 b2 g7xd6xf4", KURNIK)
    black = read_game('[Position "WW.W..../BB.B..../........ b 0,0 3"] 1... b6-b4', NINE)
    six = read_game("c5 a5 e5 c4 d4 e3", SIX)
    records = [write_game(six, notation) for notation in ("federation", "playok")]
    for game in (double, black, *map(_opening, _GAMES)):
        records += [write_game(game, notation) for notation in NOTATIONS]
    return [*records, "1. d6 {a (comment)} f4! 2. d2 (2. a1 (2. a4)) 2... b4?? $14 ; end\n3. a4 1/2-1/2"]


def _opening(data: dict) -> Game:
    game = read_game(" ".join(data["turns"]), NINE)
    return Game(NINE, game.moves[:_SHORT], "*", {"White": 'a "b"', "Site": "PlayOK"})


RECORDS = _valid_records()
POSITIONS = [position.fen() for data in _GAMES for position in read_game(" ".join(data["turns"]), NINE).positions()]
FENS = [format_fen(Position.from_fen(NINE, text)) for text in POSITIONS]

LETTERS = '0123456789abcdefgwxWBO@*.,-/()[]{};!?$"\\ \n\t\x00é½٣'
WORDS = ["1.", "99999999999", "...", "1-0", "0-1", "1/2-1/2", "d6", "xd6", "d6-d7", "10-1x23", "x", "start", "-1", "--"]
OTHERS = ["w 0,0 0", '[Rules "six"]', '[FEN "', '[Result "1-0"]', "[Rules", "[Variant", "\ud800", "\ufeff", "W" * 30]
PIECES = st.sampled_from([*LETTERS, *WORDS, *OTHERS])
NONSENSE = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map(" ".join), st.lists(PIECES).map("".join))


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """A valid text with up to four pieces cut out, put in, or moved."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(text)))
        last = min(first + draw(st.sampled_from([0, 0, 1, 1, 2, 5, 40])), len(text))
        cut = text[first:last]
        text = text[:first] + draw(st.one_of(st.just(""), PIECES, st.just(cut * 2), st.just(cut[::-1]))) + text[last:]
    return text


def check_record(text: str) -> None:
    """What is read can be written and read again; what is not gives one line."""
    for rules in (None, NINE, SIX):
        try:
            games = read_games(text, rules)
        except (RecordError, PositionError, RulesError) as error:
            message = str(error)
        else:
            message = ""
        assert "\n" not in message
        for game in games if not message else ():
            assert read_game(write_game(game), game.rules) == game


def check_position(text: str) -> None:
    for rules in PRESETS.values():
        for parse in (Position.from_fen, parse_fen):
            try:
                position = parse(rules, text)
            except PositionError:
                continue
            assert Position.from_fen(rules, position.fen()) == position
            position.outcome()


def check_both(text: str) -> None:
    check_record(text)
    check_position(text)


CHECKS = {
    "nonsense": (NONSENSE, check_both),
    "damaged records": (damaged(RECORDS), check_record),
    "damaged positions": (damaged(POSITIONS + FENS), check_both),
}


def run(name: str, effort: settings) -> None:
    texts, check = CHECKS[name]

    @effort
    @given(texts)
    def examine(text: str) -> None:
        check(text)

    examine()


@pytest.mark.parametrize("name", CHECKS)
def test_parsers_answer_or_refuse(name: str) -> None:
    run(name, DEFAULT)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_parsers_answer_or_refuse_75000_texts(name: str) -> None:
    run(name, LONG)


def test_the_undamaged_texts_are_read() -> None:
    assert all(read_games(text) for text in RECORDS)
    assert all(parse_fen(NINE, fen).fen() == text for fen, text in zip(FENS, POSITIONS, strict=True))


LENGTHY: dict[str, Callable[[int], str]] = {
    "opening parentheses": lambda n: "(" * n,
    "closing parentheses": lambda n: ")" * n,
    "opening braces": lambda n: "{" * n,
    "opening brackets": lambda n: "[ " * n,
    "tags without end": lambda n: '[a "' * n,
    "escapes": lambda n: '[a "' + "\\" * n,
    "names": lambda n: "[" + "a" * n,
    "digits": lambda n: "1" * n,
    "numbers": lambda n: "1." * n,
    "captures": lambda n: "d6 " + "xd6 " * n,
    "one word": lambda n: "d6" + "xd6" * n,
    "spaces": lambda n: "[" + " " * n,
    "stars": lambda n: "* " * n,
    "slashes": lambda n: "/" * n,
}


@pytest.mark.parametrize("make", LENGTHY.values(), ids=LENGTHY)
def test_the_time_grows_no_faster_than_the_text(make: Callable[[int], str]) -> None:
    text = make(40_000)  # a quadratic parser would take a minute
    begin = time.perf_counter()
    with pytest.raises(RecordError) as error:
        read_game(text)
    assert len(str(error.value)) < 500
    for parse in (Position.from_fen, parse_fen):
        with pytest.raises(PositionError):
            parse(NINE, text)
    assert time.perf_counter() - begin < 5


def test_many_tags_are_read_in_one_go() -> None:
    begin = time.perf_counter()
    assert read_game('[A "b"]' * 40_000).tags == {"A": "b"}
    assert time.perf_counter() - begin < 5
