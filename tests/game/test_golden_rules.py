"""The rules against golden data made by independent programs (sources: ``data/README.md``)."""

import csv
import json

import numpy as np
import pytest

from solver.compiled.jit import jit
from solver.game.movegen import MAX_TURNS, is_lost_by_stones, move_tables, successors
from solver.game.position import Position
from solver.game.rules import get_rules
from tests.support import naive
from tests.support.paths import GOLDEN
from tests.support.small_boards import geometry

DATA = GOLDEN
CASES = json.loads((DATA / "rule_cases.json").read_text())
GAMES = json.loads((DATA / "games.json").read_text())
WINNERS = {"w": "white", "b": "black", "draw": None, "1-0": "white", "0-1": "black"}

U = np.uint64


def perft_rows() -> list[tuple[str, str, int, int]]:
    with (DATA / "perft.csv").open(newline="") as file:
        return [(r["rules"], r["position"], int(r["depth"]), int(r["turns"])) for r in csv.DictReader(file)]


@jit
def perft(tables, own, opponent, own_hand, opponent_hand, quiet_turns, quiet_limit, depth):
    """Number of sequences of ``depth`` turns; a game that is over has no turns."""
    if depth == 0:
        return 1
    if is_lost_by_stones(own, own_hand) or is_lost_by_stones(opponent, opponent_hand):
        return 0
    if 0 < quiet_limit <= quiet_turns:
        return 0
    after = np.empty((2, MAX_TURNS), np.uint64)
    n = successors(tables, own, opponent, own_hand, after[0], after[1])
    if depth == 1:
        return n
    is_moving = own_hand == 0 and opponent_hand == 0
    hand_after = max(own_hand - 1, 0)
    total = 0
    for k in range(n):
        quiet_after = quiet_turns + 1 if is_moving and after[1, k] == opponent else 0
        total += perft(tables, after[1, k], after[0, k], opponent_hand, hand_after, quiet_after, quiet_limit, depth - 1)
    return total


@pytest.mark.parametrize(("name", "text", "depth", "turns"), perft_rows())
def test_perft(name: str, text: str, depth: int, turns: int) -> None:
    rules = get_rules(name)
    pos = Position.from_fen(rules, text)
    found = perft(
        move_tables(rules),
        U(pos.own),
        U(pos.opponent),
        pos.own_hand,
        pos.opponent_hand,
        pos.quiet_turns,
        rules.quiet_limit,
        depth,
    )
    assert found == turns


@pytest.mark.parametrize(("name", "text", "depth", "turns"), [row for row in perft_rows() if row[3] < 1000])
def test_perft_by_push_and_pop(name: str, text: str, depth: int, turns: int) -> None:
    def count(pos: Position, depth: int) -> int:
        if depth == 1:
            return len(pos.legal_moves)
        total = 0
        for move in pos.legal_moves:
            pos.push(move)
            total += count(pos, depth - 1)
            pos.pop()
        return total

    assert count(Position.from_fen(get_rules(name), text), depth) == turns


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_rule_case(case: dict) -> None:
    pos = Position.from_fen(get_rules(case["rules"]), case["position"])
    assert sorted(map(str, pos.legal_moves)) == case["turns"], case["why"]
    outcome = pos.outcome()
    if case["result"] is None:
        assert outcome is None
    else:
        assert outcome is not None
        assert outcome.winner == WINNERS[case["result"]]


@pytest.mark.parametrize("case", [case for case in CASES if case["result"] is None], ids=lambda case: case["name"])
def test_the_naive_generator_agrees_with_the_rule_case(case: dict) -> None:
    pos = Position.from_fen(get_rules(case["rules"]), case["position"])
    game = naive.Game(*geometry(pos.board), pos.rules.flying, pos.rules.double_mill)
    expected = set()
    for text in case["turns"]:
        pos.push_text(text)
        expected.add((pos.opponent, pos.own))
        pos.pop()
    assert game.successors(pos.own, pos.opponent, pos.own_hand) == expected


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game["name"])
def test_game(game: dict) -> None:
    rules = get_rules(game["rules"])
    pos = Position(rules)
    for text in game["turns"]:
        assert not pos.is_over()
        pos.push_text(text)
    assert pos.fen() == game["final"]
    assert [str(move) for move in pos.move_stack] == game["turns"]
    outcome = pos.outcome()
    assert outcome is not None
    assert outcome.winner == WINNERS[game["result"]]
    assert outcome.reason == ("blocked" if "blocking" in game["why"] else "stones")
    assert Position.from_turns(rules, game["turns"]) == pos
