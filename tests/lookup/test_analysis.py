"""Judged games, on solved small boards."""

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from solver.errors import RulesMismatchError
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.values import Value
from solver.lookup.analysis import Analysis, Mistake, analyse, choices, in_words, perfect_moves, value_after, value_of
from solver.lookup.tablebase import Tablebase, open_tablebase
from solver.pictures.analysis_strip import to_svg
from solver.records.games import Game, write_game
from tests.conftest import Run

SIX = get_rules("six")
SVG = "{http://www.w3.org/2000/svg}"


def random_game(rules: Rules, seed: int, start: str = "start") -> Game:
    """A game of random turns to its end."""
    rng = random.Random(seed)
    position = Position.from_fen(rules, start)
    while not position.is_over():
        position.push(rng.choice(position.legal_moves))
    outcome = position.outcome()
    result = {None: "1/2-1/2", "white": "1-0", "black": "0-1"}[outcome and outcome.winner]
    return Game(rules, position.move_stack, result, {"White": "<A & B>"}, start)


@pytest.fixture(scope="module")
def moving_only(six: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``six`` without the tables of the placing phase and without the pair 4-4."""
    directory = tmp_path_factory.mktemp("moving-only")
    for path in six.iterdir():
        if path.is_file() and not path.name.startswith("placing") and path.stem != "moving_4-4":
            shutil.copy(path, directory)
    return directory


def lose_a_value(tablebase: Tablebase, wdl: int, rng: random.Random) -> tuple[Position, str]:
    """A position worth ``wdl`` and a turn that gives that up."""
    while True:
        position = Position(tablebase.rules)
        while not position.is_over():
            rated = tablebase.moves(position)
            if rated[0][1].wdl == wdl and rated[-1][1].wdl < wdl:
                return position, str(rated[-1][0])
            position.push(rng.choice(position.legal_moves))


@pytest.mark.parametrize("seed", range(3))
def test_every_turn_is_judged_as_the_tables_say(six: Path, seed: int) -> None:
    game = random_game(SIX, seed)
    with open_tablebase(six) as tablebase:
        analysis = analyse(game, tablebase)
        for judged, position in zip(analysis.moves, game.positions(), strict=False):
            assert judged.position == position.fen()
            assert judged.before == tablebase.probe(position)
            values = dict(tablebase.moves(position))
            after = position.copy()
            after.push(judged.move)
            if (outcome := after.outcome()) is None or outcome.winner:
                assert judged.after == values[judged.move]
                assert (judged.mistake is None) == (judged.move in tablebase.best_moves(position))
    assert [judged.move for judged in analysis.moves] == list(game.moves)
    assert [(judged.number, judged.side) for judged in analysis.moves[:3]] == [
        (1, "white"), (1, "black"), (2, "white"),
    ]  # fmt: skip
    assert analysis.final == game.final.fen()
    for side, moves in (("white", analysis.moves[::2]), ("black", analysis.moves[1::2])):
        accuracy = analysis.accuracy(side)
        assert accuracy.moves == accuracy.judged == len(moves)
        assert accuracy.perfect == sum(move.after == move.before for move in moves)
        kept = [move for move in moves if move.before and move.after and move.after.wdl == move.before.wdl]
        assert (accuracy.kept, accuracy.share) == (len(kept), len(kept) / len(moves))


def test_a_game_is_analysed_in_under_five_seconds(six: Path) -> None:
    game = max((random_game(SIX, seed) for seed in range(20)), key=lambda game: len(game.moves))
    assert len(game.moves) > 60
    begin = time.perf_counter()
    with open_tablebase(six) as tablebase:
        analyse(game, tablebase)
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(("wdl", "mistake"), [(1, Mistake.WIN), (0, Mistake.DRAW)])
def test_values_given_up(six: Path, wdl: int, mistake: Mistake) -> None:
    with open_tablebase(six) as tablebase:
        position, turn = lose_a_value(tablebase, wdl, random.Random(4))
        before = position.move_stack
        position.push_text(turn)
        judged = analyse(Game(SIX, position.move_stack), tablebase).moves[-1]
        assert judged.mistake is mistake
        assert judged.before is not None
        assert judged.before.wdl == wdl
        assert judged.best == tuple(tablebase.best_moves(Position.from_turns(SIX, map(str, before))))


@pytest.mark.parametrize(("wdl", "mistake"), [(1, Mistake.FASTEST_WIN), (-1, Mistake.RESISTANCE)])
def test_distances_given_up(six: Path, wdl: int, mistake: Mistake) -> None:
    rng = random.Random(2)
    with open_tablebase(six) as tablebase:
        position = Position(SIX)
        while True:
            rated = [item for item in tablebase.moves(position) if item[1].wdl == wdl]
            if rated and rated[0][1].wdl == tablebase.probe_wdl(position) and rated[0][1] != rated[-1][1]:
                break
            position = Position(SIX) if position.is_over() else position
            position.push(rng.choice(position.legal_moves))
        position.push(rated[-1][0])
        judged = analyse(Game(SIX, position.move_stack), tablebase).moves[-1]
        assert judged.mistake is mistake
        assert (judged.before, judged.after) == (rated[0][1], rated[-1][1])


def test_positions_outside_the_tables_are_unknown(moving_only: Path, six: Path) -> None:
    game = next(
        game
        for game in (random_game(SIX, seed) for seed in range(100))
        if any(p.phase == "moving" and (p.white.bit_count(), p.black.bit_count()) == (4, 4) for p in game.positions())
        and game.final.white.bit_count() + game.final.black.bit_count() < 7
    )
    with open_tablebase(moving_only) as tablebase, open_tablebase(six) as whole:
        analysis = analyse(game, tablebase)
        complete = analyse(game, whole)
        for judged, truth, position in zip(analysis.moves, complete.moves, game.positions(), strict=False):
            stones = position.white.bit_count(), position.black.bit_count()
            searched = position.phase == "placing" and sum(position.hands) <= 8  # may miss the table that is not there
            if searched:
                assert judged.before in (None, truth.before)
            elif position.phase == "placing" or stones == (4, 4):
                assert (judged.before, judged.mistake, judged.best) == (None, None, ())
                assert not judged.is_known
            else:
                assert judged.before == truth.before
            assert judged.after in (None, truth.after)
            assert judged.best in ((), truth.best)
        assert analysis.moves[11].after == complete.moves[11].after  # the last placement leads into the moving phase
        opening = analyse(Game(SIX, game.moves[:4]), tablebase)
    accuracy = analysis.accuracy("white")
    assert 0 < accuracy.judged < accuracy.moves
    text = analysis.to_text()
    assert "unknown" in text.splitlines()[1]
    assert f"; {accuracy.moves - accuracy.judged} unknown" in text
    assert "White: accuracy unknown, no turn of 2 can be judged" in opening.to_text()
    assert opening.final_value is None


def test_the_end_by_the_rules_needs_no_table(moving_only: Path) -> None:
    with open_tablebase(moving_only) as tablebase:
        blocked = Position.from_fen(SIX, "BWW.WB../WBB..... b 0,0 0")
        assert (blocked.outcome() is None) == bool(blocked.legal_moves)
        few = Position.from_fen(SIX, "BB....../WWWW.... b 0,0 0")
        assert value_of(few, tablebase) == Value(-1, 0)
        assert value_of(Position.from_fen(SIX, "BB....../WWWW.... w 0,0 0"), tablebase) == Value(1, 0)


def test_a_repetition_is_a_draw_that_may_give_up_a_win(six: Path) -> None:
    with open_tablebase(six) as tablebase:
        position = Position.from_fen(SIX, "WWWW...B/B.B..B.. w 0,0 0")
        assert tablebase.probe_wdl(position) == 1
        start = position.fen()
        back_and_forth = _there_and_back(position)
        for turn in back_and_forth * 2:
            position.push_text(turn)
        analysis = analyse(Game(SIX, position.move_stack, start=start), tablebase)
    assert str(position.outcome()) == "draw (repetition)"
    assert analysis.final_value == Value(0)
    saved = analysis.moves[-1]
    assert saved.before is not None
    assert (saved.before.wdl, saved.after, saved.mistake) == (-1, Value(0), None)


def _there_and_back(position: Position) -> list[str]:
    """Four quiet turns after which the same position stands again."""
    for there in map(str, position.legal_moves):
        for reply in _after(position, there):
            turns = [there, reply, _reverse(there), _reverse(reply)]
            if not any("x" in turn for turn in turns) and _is_playable(position, turns):
                return turns
    raise AssertionError


def _after(position: Position, turn: str) -> list[str]:
    after = position.copy()
    after.push_text(turn)
    return list(map(str, after.legal_moves))


def _reverse(turn: str) -> str:
    return "-".join(reversed(turn.split("-")))


def _is_playable(position: Position, turns: list[str]) -> bool:
    position = position.copy()
    for turn in turns:
        if turn not in map(str, position.legal_moves):
            return False
        position.push_text(turn)
    return True


def test_choices_are_those_of_the_tablebase_under_every_metric(
    six_limited: Path, solved: Callable[[Rules], Path]
) -> None:
    for directory in (six_limited, solved(get_rules("six", stones=3))):
        with open_tablebase(directory) as tablebase:
            game = random_game(tablebase.rules, 5)
            for with_history in list(game.positions())[:-1]:
                position = Position.from_fen(tablebase.rules, with_history.fen())
                rated = choices(position, tablebase)
                expected = tablebase.moves(position)
                assert [choice.value for choice in rated] == [value for _, value in expected]
                assert dict(rated) == dict(expected)
                assert set(perfect_moves(rated)) == set(tablebase.best_moves(position))
                assert value_after(position, rated[0].move, tablebase) == rated[0].value


def test_rules_of_other_values_are_refused(six: Path, five: Path) -> None:
    game = random_game(get_rules("six", flying=True), 1)
    with open_tablebase(six) as tablebase, pytest.raises(RulesMismatchError, match="but the game is one of"):
        analyse(game, tablebase)
    # Games of six share with five the moving phase of at most five stones, and nothing of the placing phase.
    with open_tablebase(five) as tablebase:
        assert analyse(random_game(SIX, 1), tablebase).moves[0].before is None


def test_games_set_up_with_black_to_move(six: Path) -> None:
    game = random_game(SIX, 3, "WW.WW.../BB.B.B.. b 0,0 0")
    with open_tablebase(six) as tablebase:
        moves = analyse(game, tablebase).moves
    assert [(move.number, move.side) for move in moves[:2]] == [(1, "black"), (2, "white")]


def test_the_strip_has_a_bar_for_every_turn(six: Path, moving_only: Path) -> None:
    game = random_game(SIX, 1)
    for directory, is_known in ((six, True), (moving_only, False)):
        with open_tablebase(directory) as tablebase:
            analysis = analyse(game, tablebase)
        strip = ElementTree.fromstring(to_svg(analysis))
        bars = strip.findall(f"{SVG}g")
        assert len(bars) == len(game.moves)
        assert len(strip.findall(f"{SVG}g/{SVG}polygon")) == sum(bool(move.mistake) for move in analysis.moves)
        assert _heights_agree_with_distances(strip, analysis)
        title = bars[0].find(f"{SVG}title")
        assert title is not None
        assert title.text is not None
        assert title.text.startswith(f"1. White {game.moves[0]}: {in_words(analysis.moves[0].before)} -> ")
        assert ("unknown" not in title.text) == is_known
    with open_tablebase(six) as tablebase:
        assert ElementTree.fromstring(to_svg(analyse(Game(SIX), tablebase))).findall(f"{SVG}g") == []


def _heights_agree_with_distances(strip: ElementTree.Element, analysis: Analysis) -> bool:
    """Wins of White stand above the line, those of Black below, and the sooner a game is over the higher its bar."""
    line = strip.find(f"{SVG}line")
    assert line is not None
    depths = []
    for bar, move in zip(strip.iterfind(f"{SVG}g/{SVG}rect"), analysis.moves, strict=True):
        top, height = float(bar.attrib["y"]), float(bar.attrib["height"])
        if move.after and move.after.wdl:
            is_white = (move.after.wdl > 0) == (move.side == "white")
            assert float(line.attrib["y1"]) == (top + height if is_white else top)
            depths.append((height, -(move.after.depth or 0)))
    return len(depths) > 1 and [height for height, _ in sorted(depths, key=lambda item: item[1])] == sorted(
        height for height, _ in depths
    )


def test_script(six: Path, tmp_path: Path, run: Run) -> None:
    game = random_game(SIX, 2)
    record = tmp_path / "game.txt"
    record.write_text(write_game(game, "playok"))
    status, out, _ = run("analyse.py", record, "--dir", six, "--svg", tmp_path / "g.svg", "--json", tmp_path / "g.json")
    assert status == 0
    data = json.loads((tmp_path / "g.json").read_text())
    with open_tablebase(six) as tablebase:
        analysis = analyse(game, tablebase)
    assert data == json.loads(json.dumps(analysis.to_data()))
    assert [move["move"] for move in data["moves"]] == [str(move) for move in game.moves]
    assert out == analysis.to_text() + "\n"
    assert (tmp_path / "g.svg").read_text() == to_svg(analysis)
    status, out, _ = run("analyse.py", record, "--dir", six, "--json", "-")
    assert (status, json.loads(out)) == (0, data)


def test_script_errors_are_one_line(six: Path, tmp_path: Path, run: Run) -> None:
    record = tmp_path / "game.txt"
    record.write_text("1. c4 c4")
    for arguments, message in (
        ((record, "--dir", six), "move 1 of Black: 'c4' goes to a point that is not empty"),
        ((tmp_path / "none", "--dir", six), "cannot be read"),
        ((record, "--dir", tmp_path), "rules.json"),
    ):
        status, out, errors = run("analyse.py", *arguments)
        assert (status, out) == (2, "")
        assert message in errors
        assert errors.count("\n") == 1
    record.write_text('[Rules "nine"] 1. d6')
    status, _, errors = run("analyse.py", record, "--dir", six)
    assert status == 2
    assert "tables of the rules 'six', but the game is one of 'nine'" in errors
    record.write_text("1. c4 c2")
    status, _, errors = run("analyse.py", record, "--dir", six, "--svg", tmp_path / "no" / "g.svg")
    assert status == 2
    assert "cannot be written" in errors
