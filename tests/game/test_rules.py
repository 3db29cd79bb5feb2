"""Rule sets: the presets, their switches, and which tables they share."""

import dataclasses

import pytest

from solver.errors import RulesError, SolverError
from solver.game.boards import BOARD_16, BOARD_24
from solver.game.rules import PRESETS, Rules, get_rules
from tests.support.small_boards import NINE_POINTS_DIAGONALS


@pytest.mark.parametrize(
    ("name", "board", "stones", "flying", "double_mill", "quiet_limit"),
    [
        ("kurnik", BOARD_24, 9, True, 2, 0),
        ("kurnik-100", BOARD_24, 9, True, 2, 100),
        ("kurnik-100-noflying", BOARD_24, 9, False, 2, 100),
        ("nine", BOARD_24, 9, True, 1, 0),
        ("nine-noflying", BOARD_24, 9, False, 1, 0),
        ("six", BOARD_16, 6, False, 1, 0),
        ("six-double", BOARD_16, 6, False, 2, 0),
        ("five", BOARD_16, 5, False, 1, 0),
    ],
)
def test_presets(name: str, board, stones: int, flying: bool, double_mill: int, quiet_limit: int) -> None:
    rules = get_rules(name)
    assert rules.name == name
    assert rules == Rules("any name", board, stones, flying, double_mill, quiet_limit)


def test_no_preset_is_missing_above() -> None:
    assert len(PRESETS) == 8


def test_switches_replace_single_values() -> None:
    rules = get_rules("six", quiet_limit=40, flying=True)
    assert (rules.quiet_limit, rules.flying, rules.stones, rules.board) == (40, True, 6, BOARD_16)
    assert rules.name == "six+quiet_limit=40+flying=True"


def test_switches_that_make_another_preset_give_its_name() -> None:
    assert get_rules("nine", double_mill=2).name == "kurnik"
    assert get_rules("nine", double_mill=1).name == "nine"


def test_rules_are_frozen_and_hashable() -> None:
    rules = get_rules("nine")
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.stones = 3  # type: ignore[misc]
    assert {rules, get_rules("kurnik", double_mill=1)} == {rules}


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"stones": 2}, "3 to 12 stones"),
        ({"stones": 13}, "3 to 12 stones"),
        ({"stones": True}, "whole number"),
        ({"stones": "9"}, "whole number"),
        ({"flying": 1}, "True or False"),
        ({"double_mill": 3}, "1 or 2"),
        ({"double_mill": 0}, "1 or 2"),
        ({"quiet_limit": -1}, "expected 0"),
        ({"quiet_limit": 10**9}, "up to"),
        ({"quiet_limit": 1.5}, "whole number"),
        ({"quiet_limits": 3}, "unknown switch 'quiet_limits'"),
    ],
)
def test_impossible_switches_are_refused(switches: dict, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        get_rules("nine", **switches)


def test_unknown_presets_are_refused_with_the_known_ones() -> None:
    with pytest.raises(RulesError, match=r"'twelve'.*known: kurnik,.*five"):
        get_rules("twelve")
    assert issubclass(RulesError, SolverError)
    assert issubclass(RulesError, ValueError)


def test_rule_sets_share_the_tables_that_their_differences_do_not_touch() -> None:
    nine, kurnik = get_rules("nine"), get_rules("kurnik")
    assert nine.fingerprint("moving") == kurnik.fingerprint("moving")
    assert nine.fingerprint("placing") != kurnik.fingerprint("placing")
    assert get_rules("six").fingerprint("moving") == get_rules("five").fingerprint("moving")
    assert get_rules("six").fingerprint("placing") != get_rules("five").fingerprint("placing")


@pytest.mark.parametrize(
    "switches", [{"flying": False}, {"quiet_limit": 100}, {"board": BOARD_16, "stones": 8}], ids=str
)
def test_what_matters_to_the_moving_phase_matters_to_both(switches: dict) -> None:
    nine, other = get_rules("nine"), get_rules("nine", **switches)
    assert nine.fingerprint("moving") != other.fingerprint("moving")
    assert nine.fingerprint("placing") != other.fingerprint("placing")


def test_double_mill_matters_where_a_slide_can_complete_two() -> None:
    one, two = (Rules("three", NINE_POINTS_DIAGONALS, 4, double_mill=taken) for taken in (1, 2))
    assert one.fingerprint("moving") != two.fingerprint("moving")
