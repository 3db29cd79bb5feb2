"""The naive solver itself, on positions that can be checked by hand, and against independent numbers."""

import csv
from functools import cache
from pathlib import Path

import pytest

from solver.game.boards import BOARD_16, Board
from tests.support import naive
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS, geometry

#  a3 b3 c3    0 1 2
#  a2 b2 c2    3 4 5
#  a1 b1 c1    6 7 8


def mask(text: str) -> int:
    return sum(1 << NINE_POINTS.point_numbers[name] for name in text.split())


@cache
def moving(board: Board, stones: int, flying: bool, quiet_limit: int = 0) -> dict:
    return naive.solve_moving(*geometry(board), stones, stones, flying, quiet_limit=quiet_limit)


@pytest.mark.parametrize(
    ("white", "black", "side", "value", "why"),
    [
        ("a3 b3 c2", "a1 b1 b2", "white", (1, 1), "c2-c3 closes a mill and takes the third stone"),
        ("a1 b1 b2", "a3 b3 c2", "black", (1, 1), "the same for Black"),
        ("a3 b3 c3", "a2 b2 c2", "white", (-1, 0), "White is blocked"),
        ("a3 a2 b3", "a1 b2 c3", "white", (-1, 0), "White is blocked in the corner"),
        ("a3 b3 a1", "c3 b2 c1", "white", (-1, 2), "whatever White does, Black has b2-c2"),
    ],
)
def test_three_against_three(white: str, black: str, side: str, value: naive.Value, why: str) -> None:
    assert moving(NINE_POINTS, 3, False)[mask(white), mask(black), side] == value, why


def test_a_flyer_is_never_blocked() -> None:
    white, black = mask("a3 b3 c3"), mask("a2 b2 c2")
    assert moving(NINE_POINTS, 3, False)[white, black, "white"] == (-1, 0)
    assert moving(NINE_POINTS, 3, True)[white, black, "white"] != (-1, 0)


@pytest.mark.parametrize("board", [NINE_POINTS, NINE_POINTS_DIAGONALS], ids=lambda board: board.name)
@pytest.mark.parametrize("flying", [False, True])
def test_values_fit_those_of_the_successors(board: Board, flying: bool) -> None:
    """The definition: best of what the turns lead to, and a draw only where no turn decides."""
    values = moving(board, 4, flying)
    game = naive.Game(*geometry(board), flying, 1)
    for (white, black, side), value in values.items():
        if side == "white":
            after = [
                naive.before(naive.LOST if o.bit_count() < 3 else values[w, o, "black"])
                for w, o in game.successors(white, black, hand=0)
            ]
            assert value == (naive.best(after) if after else naive.LOST)
        else:
            assert value == values[black, white, "white"]


@pytest.mark.parametrize("limit", [1, 4, 7])
@pytest.mark.parametrize("board", [NINE_POINTS, NINE_POINTS_DIAGONALS], ids=lambda board: board.name)
def test_the_quiet_limit_is_that_of_a_game_with_a_counter(board: Board, limit: int) -> None:
    """Play with the counter as part of the position, which makes the game finite: decided iff q + DTC <= limit."""
    game = naive.Game(*geometry(board), False, 1)

    @cache
    def wdl(own: int, opponent: int, quiet_turns: int) -> int:
        if own.bit_count() < 3:
            return -1
        after = game.successors(own, opponent, hand=0)
        if not after:
            return -1
        if quiet_turns == limit:
            return 0
        return max(-wdl(o, w, quiet_turns + 1 if o == opponent else 0) for w, o in after)

    decided = 0
    for (white, black, side), (result, depth) in moving(board, 4, False, limit).items():
        if side == "white":
            decided += result != 0
            for quiet_turns in range(limit + 1):
                within = depth is not None and quiet_turns + depth <= limit
                assert wdl(white, black, quiet_turns) == (result if within else 0)
    assert decided > 100


def test_a_generous_limit_changes_no_result() -> None:
    without, within = moving(NINE_POINTS_DIAGONALS, 4, False), moving(NINE_POINTS_DIAGONALS, 4, False, 100)
    assert all(within[key][0] == wdl for key, (wdl, _) in without.items())
    assert all((within[key][1] or 0) <= (depth or 0) for key, (_, depth) in without.items())


class TestPlacing:
    values = naive.solve_placing(*geometry(NINE_POINTS_DIAGONALS), 3, flying=False)

    def test_every_arrangement_of_the_stones_placed_is_there(self) -> None:
        keys = [(white, black) for white, black, side, *hands in self.values if (side, hands) == ("white", [2, 2])]
        assert len(keys) == 9 * 8  # with fewer stones on the board the game would be over
        assert {(side, *hands) for _, _, side, *hands in self.values} == {
            ("white", 3, 3),
            ("black", 2, 3),
            ("white", 2, 2),
            ("black", 1, 2),
            ("white", 1, 1),
            ("black", 0, 1),
        }

    def test_closing_the_mill_wins_at_once(self) -> None:
        assert self.values[mask("a3 b3"), mask("a1 b2"), "white", 1, 1] == (1, 1)

    def test_a_threat_that_is_not_met_loses_in_two(self) -> None:
        """With White on a3 and b3 Black must place on c3, which loses too, but later."""
        white, black = mask("a3 b3"), mask("a1")
        assert self.values[white, black | mask("c2"), "white", 1, 1] == (1, 1)
        assert self.values[white, black, "black", 1, 2] == naive.before(
            self.values[white, black | mask("c3"), "white", 1, 1]
        )

    def test_the_centre_is_the_only_winning_start(self) -> None:
        after = {p: self.values[1 << p, 0, "black", 2, 3] for p in range(9)}
        assert self.values[0, 0, "white", 3, 3][0] == 1
        assert [p for p, (wdl, _) in after.items() if wdl < 0] == [4]

    def test_under_a_limit_results_have_no_depth(self) -> None:
        limited = naive.solve_placing(*geometry(NINE_POINTS_DIAGONALS), 3, flying=False, quiet_limit=100)
        assert {key: wdl for key, (wdl, _) in limited.items()} == {key: wdl for key, (wdl, _) in self.values.items()}
        assert {depth for _, depth in limited.values()} == {None}


@pytest.mark.parametrize(
    ("file", "limit"), [("subspaces.csv", 0), pytest.param("quiet_limit.csv", 40, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_golden_counts_of_three_against_three_on_16_points(golden: Path, file: str, limit: int) -> None:
    with (golden / file).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    row = next(r for r in rows if (r["rules"], r["mover_stones"], r["opponent_stones"]) == ("six", "3", "3"))
    values = naive.solve_moving(*geometry(BOARD_16), 3, 3, flying=False, quiet_limit=limit)
    of_white = [value for (_, _, side), value in values.items() if side == "white"]
    counts = [sum(wdl == result for wdl, _ in of_white) for result in (1, 0, -1)]
    longest = [max(depth or 0 for wdl, depth in of_white if wdl == result) for result in (1, -1)]
    assert counts == [int(row[f"raw_{result}"]) for result in ("wins", "draws", "losses")]
    assert longest == [int(row[f"longest_{result}{'_dtc' if limit else ''}"]) for result in ("win", "loss")]
