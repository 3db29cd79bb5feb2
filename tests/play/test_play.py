"""The opponent that sets traps, and the game in a terminal."""

import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from solver.game.position import Position
from solver.game.rules import get_rules
from solver.lookup.tablebase import open_tablebase
from solver.play.opponent import count_wrong_replies, decide
from solver.play.terminal import Session
from tests.conftest import Run
from tests.support.paths import ROOT

SIX, FIVE = get_rules("six"), get_rules("five")


def play(directory: Path, *arguments: str, lines: str) -> tuple[int, str, str]:
    """(exit status, output, errors) of the script with ``lines`` typed."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "play.py", "six", "--dir", directory, "--seed", "1", *arguments],
        input=lines,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def after_random_turns(seed: int, wdl: int, six: Path) -> Position:
    """A position of ``six`` with this value and several turns that keep it."""
    rng = random.Random(seed)
    position = Position(SIX)
    with open_tablebase(six) as tablebase:
        while True:
            rated = tablebase.moves(position)
            if (
                len(position.move_stack) > 3
                and [value.wdl for _, value in rated].count(wdl) > 2
                and rated[0][1].wdl == wdl
            ):
                return position
            position = Position(SIX) if position.is_over() else position
            if not position.is_over():
                position.push(rng.choice(position.legal_moves))


@pytest.mark.parametrize("seed", range(4))
def test_of_drawn_turns_the_one_with_most_wrong_replies_is_made(six: Path, seed: int) -> None:
    position = after_random_turns(seed, 0, six)
    with open_tablebase(six) as tablebase:
        wrong = {}
        for move, value in tablebase.moves(position):
            if value.wdl == 0:
                after = position.copy()
                after.push(move)
                replies = [reply.wdl for _, reply in tablebase.moves(after)]
                wrong[move] = sum(wdl < 0 for wdl in replies), len(replies)
                assert count_wrong_replies(position, move, tablebase) == wrong[move]
        decision = decide(position, tablebase, random.Random(0))
    assert (decision.wrong, decision.replies) == wrong[decision.move]
    assert decision.wrong == max(wrong.values())[0]
    assert decision.value == (0, None)


@pytest.mark.parametrize("wdl", [1, -1])
def test_decided_games_are_played_perfectly(six: Path, wdl: int) -> None:
    with open_tablebase(six) as tablebase:
        for seed in range(3):
            position = after_random_turns(seed, wdl, six)
            assert decide(position, tablebase, random.Random(0)).move in tablebase.best_moves(position)


def test_the_opponent_never_loses_a_drawn_game(five: Path) -> None:
    rng = random.Random(1)
    with open_tablebase(five) as tablebase:
        for _ in range(3):
            position = Position(FIVE)
            while not position.is_over():
                if position.turn == "black":
                    position.push(decide(position, tablebase, rng).move)
                    assert tablebase.probe_wdl(position) <= 0
                else:
                    position.push(rng.choice(position.legal_moves))
            outcome = position.outcome()
            assert outcome is not None
            assert outcome.winner != "white"


def test_no_decision_in_a_finished_game(six: Path) -> None:
    with open_tablebase(six) as tablebase, pytest.raises(ValueError, match="no turn in"):
        decide(Position.from_fen(SIX, "BB....../WWWW.... b 0,0 0"), tablebase, random.Random(0))


def test_a_game_typed_in(six: Path) -> None:
    status, out, errors = play(
        six, lines="help\nhint\nmoves\nc4\nfen\nc4\nnonsense\n\nrecord\nundo\nfen\nundo\nquit\nd2\n"
    )
    assert (status, errors) == (0, "")
    assert out.count("White to move; in hand: White 6, Black 6") == 2  # at the start and after undo
    assert "takes your last turn back" not in out
    assert "White to move: draw" in out
    assert "perfect: a5, c5, e5" in out
    assert "c4  draw" in out
    assert "Black plays " in out
    assert "'c4' is not legal" in out
    assert "has no point 'nonsense'" in out
    assert '[Rules "six"]' in out
    assert "1. c4 " in out
    assert "......../........ w 6,6 0" in out  # the second fen, after undo
    assert "no turn of yours to take back" in out
    assert out.rstrip().endswith("goodbye")
    assert "d2" not in out.split("goodbye")[1]


def test_the_end_of_the_input_ends_the_game(six: Path) -> None:
    status, out, errors = play(six, "--side", "black", lines="undo\n")
    assert (status, errors) == (0, "")
    assert out.index("White plays ") < out.index("Black to move; in hand: White 5, Black 6")
    assert "no turn of yours to take back" in out


def test_a_whole_game_against_the_opponent(six: Path) -> None:
    """White, two stones from defeat, moves until the end and takes the last turn back."""
    start = "WWW...../BBBB.... w 0,0 0"
    lines: list[str] = []
    with open_tablebase(six) as tablebase:
        position = Position.from_fen(SIX, start)
        assert tablebase.probe_wdl(position) == -1
        said: list[str] = []
        session = Session(position, tablebase, "white", said.append, random.Random(1))
        while not position.is_over():
            lines.append(str(position.legal_moves[0]))
            session.answer(lines[-1])
        assert str(position.outcome()).startswith("Black won")
        assert said[-1] == f"The game is over: {position.outcome()}. undo takes your last turn back, quit ends."
        session.answer("undo")
        assert not position.is_over()
        assert position.turn == "white"
    status, out, _ = play(six, "--start", start, lines="\n".join([*lines, "hint", "moves", "record"]))
    assert status == 0
    assert "The game is over: Black won" in out
    assert "White to move: loss in 0" in out
    assert f'[Position "{start}"]' in out


def test_without_tables_any_legal_turn_is_made_and_said_to_be_that(
    six: Path,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for path in set(six.glob("moving*")) - {six / "moving_3-3.h5"}:
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "rules.json").write_text((six / "rules.json").read_text())
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nc4\n"))
    status, out, _ = run("play.py", "six", "--dir", tmp_path)
    assert status == 0
    assert "White to move: unknown" in out
    assert "no table at hand knows this position" in out


def test_errors_are_one_line(six: Path, tmp_path: Path, run: Run) -> None:
    for preset, directory, message in (
        ("nine", six, "tables of the rules 'six', expected those of 'nine'"),
        ("chess", six, "unknown preset 'chess'"),
        ("six", tmp_path, "rules.json"),
    ):
        status, out, errors = run("play.py", preset, "--dir", directory)
        assert (status, out) == (2, "")
        assert message in errors
        assert errors.count("\n") == 1
