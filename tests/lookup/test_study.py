"""Searches of whole subspaces against a plain search of every raw position."""

import json
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from solver.errors import MissingTableError, PositionError
from solver.game.boards import Board, mask_of
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import MovingPair, PlacingSubspace, Subspace, hands
from solver.lookup.study import STUDIES, longest_wins, mutual_zugzwangs, only_moves
from solver.lookup.tablebase import Tablebase, open_tablebase
from tests.conftest import Run
from tests.support.small_boards import NINE_POINTS_DIAGONALS

SIX = get_rules("six")
THREE = Rules("three on nine points", NINE_POINTS_DIAGONALS, 3)
SMALL: list[Subspace] = [MovingPair(3, 3), PlacingSubspace(5, 3, 2), PlacingSubspace(4, 2, 2)]
Masks = tuple[int, int]


def raw_positions(rules: Rules, subspace: Subspace) -> Iterator[Position]:
    """Every raw position of both sides to move, White having the stones of the row side."""
    in_hand = hands(rules, subspace.ply) if isinstance(subspace, PlacingSubspace) else (0, 0)
    points = range(rules.board.n_points)
    for white in combinations(points, subspace.row_stones):
        left = [p for p in points if p not in white]
        for black in combinations(left, subspace.column_stones):
            for plane in subspace.planes:
                yield Position.from_stones(
                    rules,
                    white=mask_of(white),
                    black=mask_of(black),
                    turn="white" if plane == "row_to_move" else "black",
                    hands=in_hand,
                )


def image_of(board: Board, masks: Masks, swaps: bool) -> frozenset[Masks]:
    """The class of a position: all its images, with colours exchanged too if wanted."""
    images = set()
    for symmetry in board.symmetries:
        white, black = (mask_of(symmetry[p] for p in range(board.n_points) if mask >> p & 1) for mask in masks)
        images |= {(white, black), (black, white)} if swaps else {(white, black)}
    return frozenset(images)


def classes(board: Board, positions: list[Position], swaps: bool = False) -> set[tuple[str, frozenset[Masks]]]:
    return {(pos.turn, image_of(board, (pos.white, pos.black), swaps)) for pos in positions}


def wrong_turns(tablebase: Tablebase, pos: Position) -> int | None:
    """How many turns give the value up, None unless exactly one of several keeps it."""
    values = [value.wdl for _, value in tablebase.moves(pos)]
    return len(values) - 1 if len(values) > 1 and values[0] >= 0 and values[1] < values[0] else None


@pytest.mark.parametrize(
    ("rules", "subspace"),
    [*((THREE, subspace) for subspace in SMALL), (THREE.replace(quiet_limit=10), SMALL[0])],
    ids=lambda value: value.name,
)
def test_only_moves(solved: Callable[[Rules], Path], rules: Rules, subspace: Subspace) -> None:
    with open_tablebase(solved(rules)) as tablebase:
        expected = {pos: wrong for pos in raw_positions(rules, subspace) if (wrong := wrong_turns(tablebase, pos))}
        study = only_moves(tablebase, subspace, limit=10_000, progress=False)
        found = [Position.from_fen(rules, text) for text in study.texts()]
        assert classes(rules.board, found) == classes(rules.board, list(expected))
        assert study.total == len(found) == len(classes(rules.board, found))
        assert [expected[pos] for pos in found] == sorted((expected[pos] for pos in found), reverse=True)
        for pos, (_, value, remark) in zip(found, study.findings, strict=True):
            assert value == tablebase.probe(pos)
            assert remark == f"only {tablebase.best_moves(pos)[0]} keeps it, {expected[pos]} turns do not"
        assert only_moves(tablebase, subspace, limit=2, progress=False).findings == study.findings[:2]


def test_only_moves_exist_where_they_are_looked_for(solved: Callable[[Rules], Path]) -> None:
    with open_tablebase(solved(THREE)) as tablebase:
        assert all(only_moves(tablebase, subspace, progress=False).total for subspace in SMALL)


@pytest.mark.parametrize(
    "subspace", [MovingPair(4, 4), MovingPair(5, 3), PlacingSubspace(9, 5, 4)], ids=lambda s: s.name
)
def test_longest_wins(six: Path, subspace: Subspace) -> None:
    with open_tablebase(six) as tablebase:
        findings = longest_wins(tablebase, subspace, limit=5, progress=False).findings
        longest = max(tablebase.database.table(subspace).statistics(plane).longest_win for plane in subspace.planes)
        assert findings[0].value == (1, longest)
        depths = [finding.value.depth or 0 for finding in findings]
        assert depths == sorted(depths, reverse=True)
        positions = [Position.from_fen(SIX, finding.position) for finding in findings]
        assert [tablebase.probe(pos) for pos in positions] == [finding.value for finding in findings]
        assert len(classes(SIX.board, positions)) == 5


@pytest.mark.parametrize("pair", [MovingPair(4, 4), MovingPair(5, 3)], ids=lambda pair: pair.name)
def test_mutual_zugzwangs(six: Path, pair: MovingPair) -> None:
    white, black = all_masks(SIX.board, pair)
    with open_tablebase(six) as tablebase:
        values = [tablebase.probe_many(white, black, side) for side in (0, 1)]
        lost = np.logical_and.reduce([(wdl < 0) & (depth > 0) for wdl, depth in values])
        swaps = pair.row_stones == pair.column_stones
        expected = {image_of(SIX.board, (int(white[k]), int(black[k])), swaps) for k in np.flatnonzero(lost)}
        study = mutual_zugzwangs(tablebase, pair, limit=1000, progress=False)
        found = [Position.from_fen(SIX, text) for text in study.texts()]
        assert {masks for _, masks in classes(SIX.board, found, swaps)} == expected
        assert study.total == len(found) == len(expected) > 0
        for pos, (_, value, remark) in zip(found, study.findings, strict=True):
            other = Position.from_stones(SIX, white=pos.white, black=pos.black, turn="black")
            assert tablebase.probe(pos) == value
            assert (value.wdl, tablebase.probe_wdl(other)) == (-1, -1)
            assert remark == f"Black would lose in {tablebase.probe_depth(other)}"
            assert pos.legal_moves
            assert other.legal_moves


def all_masks(board: Board, pair: MovingPair) -> tuple[np.ndarray, np.ndarray]:
    """The masks of both sides of every raw position."""
    masks = np.arange(1 << board.n_points, dtype=np.uint32)
    white = masks[np.bitwise_count(masks) == pair.row_stones][:, None]
    black = masks[np.bitwise_count(masks) == pair.column_stones][None]
    rows, columns = np.nonzero((white & black) == 0)
    return white[rows, 0], black[0, columns]


def test_what_cannot_be_searched_is_refused(six: Path, six_limited: Path) -> None:
    placing = PlacingSubspace(9, 5, 4)
    with open_tablebase(six) as tablebase, pytest.raises(PositionError, match="only one side can be to move"):
        mutual_zugzwangs(tablebase, placing)
    with open_tablebase(six) as tablebase, pytest.raises(MissingTableError):
        only_moves(tablebase, MovingPair(7, 3))
    with open_tablebase(six_limited) as tablebase, pytest.raises(PositionError, match="no distances are stored"):
        longest_wins(tablebase, placing)


def test_script(six: Path, tmp_path: Path, run: Run) -> None:
    status, out, _ = run("study.py", six, "moving_4-4", "--limit", "2", "--json", tmp_path / "s.json")
    data = json.loads((tmp_path / "s.json").read_text())
    assert status == 0
    assert [study["study"] for study in data] == list(STUDIES)
    assert [len(study["findings"]) for study in data] == [2, 2, 2]
    assert all(finding["position"] in out for study in data for finding in study["findings"])
    status, texts, _ = run("study.py", six, "moving_4-4", "--limit", "2", "--texts")
    assert texts.splitlines() == [finding["position"] for study in data for finding in study["findings"]]
    status, out, _ = run("study.py", six, "placing_09_5-4", "--what", "only-moves", "--json", "-", "--limit", "1")
    assert (status, len(json.loads(out)[0]["findings"])) == (0, 1)
    status, out, errors = run("study.py", six, "moving_3-4")
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert "names no subspace; expected a name such as moving_5-4" in errors
    status, _, errors = run("study.py", six, "moving_7-3")
    assert (status, errors.count("\n")) == (2, 1)
