"""Games by clicks, without a browser: every click of whole games, what it may be, and what the widget sends."""

from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from solver.errors import IllegalMoveError, PositionError, RulesMismatchError, SolverError
from solver.game.position import Move, Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import MovingPair
from solver.lookup.tablebase import Tablebase, open_tablebase
from solver.pictures.drawing import bits
from solver.play.clicked_game import NOTHING, Choice, Play
from solver.play.explorer import Explorer
from tests.support.paths import ROOT
from tests.support.written_tables import random_codes, write_codes

NINE, SIX, DOUBLE = get_rules("nine"), get_rules("six"), get_rules("six-double")

FLYING = "W...W..W/....BB.B/........ w 0,0 0"
TWO_MILLS = ["a5", "b2", "c5", "c2", "e3", "b3", "e1", "d3"]
"""White closes a5-c5-e5 and e5-e3-e1 with the ninth stone; no black stone stands in a mill."""


def clicks_of(move: Move) -> list[int]:
    origin = [] if move.origin is None else [move.origin]
    return [*origin, move.target, *move.taken]


def click(play: Play, *names: str) -> None:
    for name in names:
        play.click(play.position.board.point_numbers[name])


def names(play: Play, mask: int) -> set[str]:
    return {play.position.board.points[p] for p in bits(mask)}


@pytest.mark.parametrize("rules", [NINE, DOUBLE, SIX])
def test_whole_games_by_clicks(rules: Rules) -> None:
    """Clicks make the same turns as texts do, and before each click it is among the hints."""
    kinds = set()
    for seed in range(6):
        twin = Position.from_turns(rules, TWO_MILLS if rules == DOUBLE else [])
        random, play = Random(seed), Play(twin)
        while not twin.is_over() and play.ply < 120:
            most = max(len(m.taken) for m in twin.legal_moves)
            move = random.choice([m for m in twin.legal_moves if len(m.taken) == most])
            points = clicks_of(move)
            for k, point in enumerate(points):
                assert play.position == twin, "a turn is made with its last click only"
                hints = play.hints
                is_target = k == len(points) - len(move.taken) - 1
                shown = hints.targets if is_target else hints.movable if k == 0 else hints.takeable
                assert shown >> point & 1
                play.click(point)
            twin.push(move)
            assert play.position == twin
            assert play.choice == NOTHING
            flies = move.origin is not None and not rules.board.neighbours[move.origin] >> move.target & 1
            kinds.add((len(move.taken), flies))
    assert kinds >= {NINE: {(0, True), (1, True)}, DOUBLE: {(2, False)}, SIX: {(1, False)}}[rules]


def test_hints_are_exactly_the_legal_points() -> None:
    play = Play(Position.from_fen(SIX, "WW.W..W./BB..BB.. w 0,0 0"))
    assert names(play, play.hints.movable) == {"a5", "c5", "e3", "a1"}
    assert play.hints.targets == 0
    click(play, "e3")
    assert names(play, play.hints.targets) == {"e5", "d3", "e1"}
    assert names(play, play.hints.selected) == {"e3"}
    click(play, "a1")  # another stone instead
    assert play.choice == Choice(origin=6)
    click(play, "e3", "e5")
    assert names(play, play.hints.takeable) == {"b4", "c4", "d2", "c2"}
    assert play.hints.targets == play.hints.movable == 0
    assert names(play, play.hints.selected) == {"e5"}
    assert play.message == "A mill: White takes a stone."
    click(play, "d2")
    assert play.history == ["e3-e5xd2"]


def test_stones_in_mills_are_not_offered() -> None:
    play = Play(Position.from_turns(SIX, ["a5", "b2", "c5", "c2", "b4", "d2xb4", "a1", "b4"]))
    click(play, "e5")
    assert names(play, play.hints.takeable) == {"b4"}
    with pytest.raises(IllegalMoveError, match="c2 cannot be taken; the stones with a cross can"):
        click(play, "c2")
    click(play, "b4")
    assert play.history[-1] == "e5xb4"


def test_two_removals_can_be_chosen_and_unchosen() -> None:
    play = Play(Position.from_turns(DOUBLE, TWO_MILLS))
    click(play, "e5")
    assert play.message == "A mill: White takes 2 stones."
    click(play, "b2")
    assert play.message == "A mill: White takes a stone."
    assert names(play, play.hints.selected) == {"e5", "b2"}
    click(play, "b2", "c2", "d3")
    assert play.history[-1] == "e5xd3xc2"
    assert play.position.black.bit_count() == 2


def test_a_half_made_turn_is_shown_and_can_be_given_up() -> None:
    play = Play(Position.from_turns(DOUBLE, TWO_MILLS))
    click(play, "e5")
    root = ElementTree.fromstring(play.picture().svg)
    shown = {g.get("data-name"): [c.get("class", "") for c in g] for g in root.iter() if g.get("data-name")}
    assert any("stone white" in name for name in shown["e5"])
    assert any("takeable" in name for name in shown["b2"])
    assert not any("last-turn" in (g.get("class") or "") for g in root.iter())
    click(play, "e5")
    assert play.choice == NOTHING
    click(play, "e5")
    play.cancel()
    assert (play.choice, play.ply) == (NOTHING, 8)


@pytest.mark.parametrize(
    ("fen", "clicks", "words"),
    [
        ("start", ["a5", "a5"], "a5 is White's stone; Black is to move"),
        ("WB....../........ w 5,5 0", ["a5"], "a5 is occupied"),
        ("WW.W..W./BB..BB.. w 0,0 0", ["c2"], "c2 is Black's stone"),
        ("WW.W..W./BB..BB.. w 0,0 0", ["e5"], "first choose a stone to move to e5"),
        ("WW.W..W./BB..BB.. w 0,0 0", ["a1", "e5"], "the stone on a1 cannot go to e5"),
        ("WB.W..WB/BB..BB.. w 0,0 0", ["a5"], "the stone on a5 has no free point to go to"),
        ("WW....../BBB..... w 0,0 0", ["a5"], "the game is over: Black won"),
    ],
)
def test_wrong_clicks_say_why(fen: str, clicks: list[str], words: str) -> None:
    play = Play(Position.from_fen(SIX, fen))
    click(play, *clicks[:-1])
    before = play.position.copy(), play.choice
    with pytest.raises(IllegalMoveError, match=words):
        click(play, clicks[-1])
    assert (play.position, play.choice) == before


def test_history() -> None:
    play = Play(Position(SIX))
    click(play, "a5", "b4", "c5")
    play.undo()
    play.undo()
    assert (play.ply, play.history) == (1, ["a5", "b4", "c5"])
    play.redo()
    assert (play.ply, play.position.turn) == (2, "white")
    play.go_to(0)
    assert play.position == Position(SIX)
    play.go_to(99)
    assert play.ply == 3
    play.go_to(1)
    click(play, "b4")  # the same turn: the rest can still be made again
    assert play.history == ["a5", "b4", "c5"]
    click(play, "d4")  # another one
    assert play.history == ["a5", "b4", "d4"]
    play.go_to(-1)
    play.undo()
    assert play.ply == 0
    play.paste("WW.W..W./BB..BB.. w 0,0 0")
    assert (play.history, play.position.fen()) == ([], "WW.W..W./BB..BB.. w 0,0 0")
    with pytest.raises(PositionError):
        play.paste("nonsense")


# With tables


@pytest.fixture
def tables(six: Path) -> Any:
    with open_tablebase(six) as tablebase:
        yield tablebase


def test_values_follow_the_clicks(tables: Tablebase) -> None:
    position = Position.from_fen(SIX, "WW.W..W./BB..BB.. w 0,0 0")
    play = Play(position, tables)
    rated = tables.moves(position)
    assert play.values == rated
    assert f"White to move: {'win' if rated[0][1].wdl > 0 else '?'} in {rated[0][1].depth}." == play.message
    click(play, "e3")
    assert play.values == [(m, v) for m, v in rated if m.origin == 3]
    click(play, "e5")
    closing = {m.taken[0]: v for m, v in rated if m.taken}
    assert {m.taken[0]: v for m, v in play.values} == closing
    root = ElementTree.fromstring(play.picture().svg)
    marks = [g for g in root.iter() if (g.get("class") or "").startswith("value ")]
    assert len(marks) == len(closing) == 4
    assert not [
        g for g in ElementTree.fromstring(play.picture(with_values=False).svg).iter() if g.get("class") == "values"
    ]


def test_a_whole_game_against_the_perfect_player(tables: Tablebase) -> None:
    """The perfect player never gets a worse result than the tables say, and answers each turn at once."""
    play, random = Play(Position(SIX), tables, perfect="black"), Random(3)
    best = 0
    while not play.position.is_over():
        assert play.position.turn == "white"
        move = random.choice(play.position.legal_moves)
        for point in clicks_of(move):
            play.click(point)
        if not play.position.is_over():
            value = tables.probe_wdl(play.position)
            assert value <= best, "White's value never rises while Black plays perfectly"
            best = value
    outcome = play.position.outcome()
    assert outcome is not None
    assert outcome.winner == "black"


def test_the_perfect_player_takes_turns_back_with_one_s_own(tables: Tablebase) -> None:
    play = Play(Position(SIX), tables, perfect="white")
    assert play.ply == 1
    click(play, next(iter(names(play, play.hints.targets))))
    assert play.ply == 3
    play.undo()
    assert (play.ply, play.position.turn) == (1, "black")
    play.redo()
    assert play.ply == 3
    play.perfect = None
    play.undo()
    assert play.ply == 2
    play.answer()
    assert play.ply == 3


def test_what_cannot_be_without_tables(tmp_path: Path, tables: Tablebase) -> None:
    with pytest.raises(SolverError, match="the perfect player needs tables"):
        Play(Position(SIX), perfect="white")
    play = Play(Position(SIX))
    with pytest.raises(SolverError, match="needs tables"):
        play.answer()
    assert play.message == "White to place."
    with pytest.raises(RulesMismatchError):
        Play(Position(NINE), tables)


def test_missing_tables_leave_a_board_without_values(tmp_path: Path) -> None:
    from solver.tables.database import create_directory

    create_directory(tmp_path, SIX)
    write_codes(tmp_path, SIX, MovingPair(3, 3), random_codes(SIX, MovingPair(3, 3)))
    with open_tablebase(tmp_path) as tablebase:
        play = Play(Position(SIX), tablebase)
        assert play.values == []
        assert play.message == "White to place. There is no table for this position."
        with pytest.raises(SolverError, match=r"cannot move; take a turn back\. There is no table"):
            play.perfect = "white"
        assert play.perfect is None
        click(play, "a5")
        assert play.ply == 1


def test_a_closed_tablebase_leaves_a_board_without_values(six: Path) -> None:
    tablebase = open_tablebase(six)
    explorer = Explorer(tablebase=tablebase)
    tablebase.close()
    send(explorer, "click", 0)
    assert explorer.ply == 1
    assert explorer.message.startswith("Black to place. There are no values:")
    assert "closed" in explorer.message


# The widget


def send(explorer: Explorer, action: str, argument: object = None) -> None:
    """A message as the page sends it."""
    explorer._handle_custom_msg({"action": action, "argument": argument}, [])


def test_the_widget_answers_messages(tables: Tablebase) -> None:
    explorer = Explorer(tablebase=tables)
    assert explorer.has_values
    assert len(explorer.turns) == 16
    assert explorer.turns[0][1:] == ["draw", "draw"]
    send(explorer, "click", 9)
    assert (explorer.history, explorer.ply, explorer.fen) == (["c4"], 1, "......../.W...... b 5,6 0")
    assert explorer.message.startswith("Black to place")
    send(explorer, "turn", "c2")
    send(explorer, "undo")
    assert (explorer.history, explorer.ply) == (["c4", "c2"], 1)
    send(explorer, "redo")
    send(explorer, "go_to", 0)
    assert explorer.ply == 0
    before = explorer.svg
    send(explorer, "flip")
    assert explorer.svg != before
    send(explorer, "values")
    assert explorer.turns[0][1:] == ["", ""]
    assert not explorer.with_values
    send(explorer, "perfect", "white")
    assert (explorer.perfect, explorer.ply) == ("white", 1)
    send(explorer, "perfect", "")
    send(explorer, "answer")
    assert explorer.ply == 2
    send(explorer, "paste", "WW.W..W./BB..BB.. w 0,0 0")
    assert explorer.position == Position.from_fen(SIX, "WW.W..W./BB..BB.. w 0,0 0")
    send(explorer, "click", 3)
    send(explorer, "cancel")
    assert not explorer.is_error


@pytest.mark.parametrize(
    ("action", "argument", "words"),
    [
        ("click", 99, "no point number 99"),
        ("click", "a5", "a whole number was expected"),
        ("go_to", None, "a whole number was expected"),
        ("turn", "z9", "no point 'z9'"),
        ("paste", "<script>", "position text"),
        ("answer", None, "needs tables"),
        ("perfect", "white", "needs tables"),
        ("__init__", None, "not known here"),
    ],
)
def test_errors_are_shown_and_change_nothing(action: str, argument: object, words: str) -> None:
    explorer = Explorer("six")
    before = explorer.svg, explorer.position
    send(explorer, action, argument)
    assert words in explorer.message
    assert explorer.is_error
    assert (explorer.svg, explorer.position) == before
    send(explorer, "click", 0)
    assert not explorer.is_error


def test_where_the_widget_begins() -> None:
    position = Position.from_fen(NINE, FLYING)
    explorer = Explorer(position)
    assert explorer.position == position
    assert Explorer(NINE).position == Explorer("nine").position == Position(NINE)
    with pytest.raises(SolverError, match="needs a position, rules"):
        Explorer()
    dark = Explorer("six", theme="dark").svg
    auto = Explorer("six")
    send(auto, "theme", "dark")
    assert auto.svg == dark
    send(auto, "theme", "pink")
    assert auto.svg == dark
    send(auto, "theme", "light")
    assert auto.svg == Explorer("six", theme="light").svg


def test_the_page_knows_the_actions_and_traits_of_the_widget() -> None:
    script = (ROOT / "solver" / "play" / "static" / "explorer.js").read_text()
    explorer = Explorer("six")
    for action in explorer._actions:
        assert f'"{action}"' in script, action
    for trait in ("svg", "turns", "history", "ply", "fen", "message", "is_error", "has_values", "perfect"):
        assert explorer.has_trait(trait)
        assert f'model.get("{trait}")' in script, trait
