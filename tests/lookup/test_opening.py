"""The opening book and the first mistakes, against a walk with Position objects."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from solver.errors import RulesError
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.lookup.analysis import first_mistakes
from solver.lookup.opening import opening_book
from solver.lookup.tablebase import Tablebase, open_tablebase
from tests.support.small_boards import NINE_POINTS

FOUR = Rules("four", NINE_POINTS, 4, flying=True)
LIMITED = Rules("limited", NINE_POINTS, 4, flying=False, quiet_limit=5)
DOUBLE = get_rules("six-double")

Walk = dict[str, tuple[Position, tuple[str, ...]]]


@pytest.fixture(scope="module", params=[FOUR, LIMITED, DOUBLE], ids=lambda rules: rules.name)
def tablebase(request: pytest.FixtureRequest, solved: Callable[[Rules], Path]) -> Tablebase:
    return open_tablebase(solved(request.param))


def canonical(pos: Position) -> Position:
    """The image with the smallest masks."""
    images = [
        Position.from_stones(
            pos.rules, white=image(g, pos.white), black=image(g, pos.black), turn=pos.turn, hands=pos.hands
        )
        for g in pos.board.symmetries
    ]
    return min(images, key=lambda p: p.white | p.black << 24)


@cache
def image(symmetry: tuple[int, ...], mask: int) -> int:
    return sum(1 << q for p, q in enumerate(symmetry) if mask >> p & 1)


def layer_after(layer: Walk) -> Walk:
    """The classes after the turns of a layer, with no turns yet."""
    after: Walk = {}
    for pos, moves in layer.values():
        for text in moves:
            pos.push_text(text)
            if not pos.is_over():
                smallest = canonical(pos)
                after[smallest.fen()] = smallest, ()
            pos.pop()
    return after


def perfect(tablebase: Tablebase, layer: Walk) -> Walk:
    return {text: (pos, tuple(map(str, tablebase.best_moves(pos)))) for text, (pos, _) in layer.items()}


def by_result(tablebase: Tablebase, layer: Walk, keeps: bool) -> Walk:
    """The turns that keep the result, or those that do not."""
    found: Walk = {}
    for text, (pos, _) in layer.items():
        rated = tablebase.moves(pos)
        moves = [move for move, value in rated if (value.wdl == rated[0][1].wdl) is keeps]
        found[text] = pos, tuple(sorted(map(str, moves)))
    return found


def test_the_book_is_what_best_moves_reach(tablebase: Tablebase) -> None:
    layer: Walk = {Position(tablebase.rules).fen(): (Position(tablebase.rules), ())}
    expected = {}
    for ply in range(4):
        layer = perfect(tablebase, layer)
        for text, (pos, moves) in layer.items():
            expected[ply, text] = tablebase.probe(pos), sorted(moves)
        layer = layer_after(layer)
    book = opening_book(tablebase, 3)
    found = {(p.ply, p.text(tablebase.rules.board)): (p.value, sorted(p.moves)) for p in book}
    assert len(found) == len(book) > 4
    assert found == expected


def test_first_mistakes_are_the_earliest(tablebase: Tablebase) -> None:
    layer: Walk = {Position(tablebase.rules).fen(): (Position(tablebase.rules), ())}
    ply = 0
    while True:
        wrong = {text: moves for text, (_, moves) in by_result(tablebase, layer, keeps=False).items() if moves}
        if wrong:
            break
        layer = layer_after(by_result(tablebase, layer, keeps=True))
        ply += 1
    found = first_mistakes(tablebase)
    assert found is not None
    assert found.ply == ply
    assert {p.text(tablebase.rules.board): tuple(sorted(p.moves)) for p in found.positions} == wrong
    assert all(tablebase.probe_wdl(Position.from_fen(tablebase.rules, text)) >= 0 for text in wrong)


@pytest.mark.parametrize("plies", [-1, 12, 100])
def test_plies_outside_the_placing_phase_are_refused(solved: Callable[[Rules], Path], plies: int) -> None:
    with open_tablebase(solved(DOUBLE)) as tables, pytest.raises(RulesError, match="expected 0 to 11"):
        opening_book(tables, plies)
