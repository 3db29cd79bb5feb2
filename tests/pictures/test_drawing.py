"""Boards drawn as SVG: read back as XML, element by element."""

import math
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from solver.errors import SolverError
from solver.game.boards import BOARD_16, BOARD_24, Board
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.values import Value
from solver.pictures import drawing
from solver.pictures.drawing import Hints, bits

NINE, SIX = get_rules("nine"), get_rules("six")

SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: drawing.Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg)


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def point(root: ElementTree.Element, name: str) -> ElementTree.Element:
    (found,) = [element for element in root.iter(f"{SVG}g") if element.get("data-name") == name]
    return found


def centre(element: ElementTree.Element) -> tuple[int, int]:
    """In user units, of the first circle in a group, or of the middle of its first rectangle."""
    for child in element.iter():
        if child.tag == f"{SVG}circle":
            return round(float(child.get("cx", ""))), round(float(child.get("cy", "")))
        if child.tag == f"{SVG}rect":
            x, y, side = (float(child.get(key, "")) for key in ("x", "y", "width"))
            return round(x + side / 2), round(y + side / 2)
    raise AssertionError("neither circle nor rectangle")


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def names_with(root: ElementTree.Element, name: str) -> set[str]:
    """The points that have a mark of this class."""
    points = with_class(root, "point")
    return {p.get("data-name", "") for p in points if with_class(p, name)}


def test_every_point_stands_where_its_name_says() -> None:
    root = parsed(drawing.board(Position(NINE)))
    x0, y0 = centre(point(root, "a1"))
    for name in BOARD_24.points:
        x, y = centre(point(root, name))
        assert ((x - x0) / 60, (y0 - y) / 60) == (ord(name[0]) - ord("a"), int(name[1]) - 1)
    assert {*texts(root)} >= {*"abcdefg", *"1234567"}
    assert len(with_class(root, "edges")[0]) == 32
    assert point(root, "b4").get("data-point") == str(BOARD_24.point_numbers["b4"])


def test_stones_and_the_stones_in_hand() -> None:
    root = parsed(drawing.board(Position.from_fen(NINE, "WW.W..../....BB../........ b 5,6 0")))
    assert names_with(root, "white") == {"a7", "d7", "g4"}
    assert names_with(root, "black") == {"f2", "d2"}
    assert len(names_with(root, "empty")) == 19
    white, black = with_class(root, "hand")
    assert (white.get("data-stones"), black.get("data-stones")) == ("5", "6")
    assert [len(list(hand.iter(f"{SVG}circle"))) for hand in (white, black)] == [5, 6]
    assert (texts(white), texts(black)) == (["White: 3 + 5"], ["Black: 2 + 6"])
    assert [len(with_class(hand, "to-move")) for hand in (white, black)] == [0, 1]
    label = root.get("aria-label", "")
    assert label == "White a7 d7 g4; Black f2 d2; Black to move"


def test_mills_are_marked_only_where_they_are_closed() -> None:
    position = Position.from_fen(NINE, "WWWBBB../......../WWB..... w 0,0 0")
    root = parsed(drawing.board(position))
    assert [m.get("data-mill") for m in root.iter(f"{SVG}metadata")] == ["a7 d7 g7"]
    assert len(with_class(root, "mills")[0].findall(f"{SVG}line")) == 2
    assert with_class(parsed(drawing.board(position, mills=False)), "mills") == []


def test_the_last_turn() -> None:
    position = Position.from_turns(SIX, ["a5", "b2", "c5", "d2", "e5xb2"])
    (last,) = with_class(parsed(drawing.board(position)), "last-turn")
    assert [e.get("data-target") for e in last if e.get("data-target")] == ["e5"]
    assert [e.get("data-taken") for e in with_class(last, "taken")] == ["b2"]
    assert with_class(parsed(drawing.board(position, last_turn=False)), "last-turn") == []

    slide = Position.from_fen(NINE, "W...W..W/....BB../B....... w 0,0 0")
    slide.push_text("a4-b4")
    (last,) = with_class(parsed(drawing.board(slide)), "last-turn")
    assert [e.get("data-origin") for e in last if e.get("data-origin")] == ["a4"]


def rated(position: Position, values: dict[str, Value]) -> list[tuple[drawing.Turn, Value]]:
    return [(position.parse_move(text), value) for text, value in values.items()]


def test_values_of_placements_stand_on_their_points() -> None:
    position = Position(SIX)
    values = rated(position, {"a5": Value(1, 5), "c5": Value(-1, 118), "b4": Value(0), "c4": Value(-1, None)})
    root = parsed(drawing.board(position, values=values))
    found = {centre(mark): (mark.get("class"), texts(mark)) for mark in with_class(root, "value")}
    assert found == {
        centre(point(root, "a5")): ("value win best", ["+5"]),
        centre(point(root, "c5")): ("value loss", ["\u2212118"]),
        centre(point(root, "b4")): ("value draw", ["="]),
        centre(point(root, "c4")): ("value loss", ["\u2212"]),
    }


def test_values_of_slides_stand_on_the_way_and_of_equal_ways_the_best() -> None:
    position = Position.from_fen(SIX, "WW.W..W./BB..BB.. w 0,0 0")
    moves = [m for m in position.legal_moves if not m.taken]
    root = parsed(drawing.board(position, values=[(m, Value(0)) for m in moves]))
    marks = [centre(mark) for mark in with_class(root, "value")]
    assert len(marks) == len(set(marks)) == len(moves) > 3
    for move, (x, y) in zip(moves, marks, strict=True):
        origin, target = (centre(point(root, BOARD_16.points[p])) for p in (move.origin or 0, move.target))
        on_the_way = math.dist(origin, (x, y)) + math.dist((x, y), target)
        assert on_the_way == pytest.approx(math.dist(origin, target), abs=2)

    closing = [m for m in position.legal_moves if m.taken]
    assert len({(m.origin, m.target) for m in closing}) == 1 < len(closing)
    values = [(m, Value(-1, 4 + 2 * k)) for k, m in enumerate(closing)]
    (mark,) = with_class(parsed(drawing.board(position, values=values)), "value")
    assert texts(mark) == [f"\u2212{2 + 2 * len(closing)}"]


def test_flights_are_marked_on_their_targets() -> None:
    position = Position.from_fen(NINE, "W...W..W/....BB.B/........ w 0,0 0")
    moves = position.legal_moves
    root = parsed(drawing.board(position, values=[(m, Value(0)) for m in moves]))
    expected = {centre(point(root, BOARD_24.points[m.target])) for m in moves}
    assert {centre(mark) for mark in with_class(root, "value")} == expected
    assert len(expected) == 18


def test_hints() -> None:
    hints = Hints(targets=0b1, movable=0b10, takeable=0b100, selected=0b1000)
    root = parsed(drawing.board(Position(SIX), hints=hints))
    names = {kind: names_with(root, kind) for kind in ("target", "movable", "takeable", "selected")}
    assert names == {"target": {"a5"}, "movable": {"c5"}, "takeable": {"e5"}, "selected": {"e3"}}


def test_flipped_is_turned_by_half_a_circle() -> None:
    position = Position.from_fen(SIX, "WW....../B....... b 4,5 0")
    plain, flipped = (parsed(drawing.board(position, flipped=f)) for f in (False, True))
    for name, opposite in (("a5", "e1"), ("c4", "c2"), ("b3", "d3")):
        assert centre(point(flipped, name)) == centre(point(plain, opposite))
    assert names_with(flipped, "white") == {"a5", "c5"}
    hands = [centre(with_class(root, "hand")[0])[1] for root in (plain, flipped)]
    assert hands[0] > hands[1]  # White's stones are below, and above on the flipped board


def test_names_and_captions_are_text_and_never_markup() -> None:
    script = "</text><script>alert(1)</script>&amp;"
    root = parsed(drawing.board(Position(SIX), caption=script))
    assert script in texts(root)
    assert {element.tag for element in root.iter()} <= {
        SVG + tag for tag in ("svg", "style", "rect", "g", "line", "text", "circle", "path")
    }

    class Hostile(Position):
        board = Board("<b>", ("a", "b", "c"), ((0, 1), (1, 2)), ((0, 1, 2),), (3,))

    names = ('"><script>', "<!--", "]]>")  # Board refuses them, a board of somebody's own might not
    object.__setattr__(Hostile.board, "points", names)
    root = parsed(drawing.board(Hostile(SIX)))
    assert {p.get("data-name") for p in with_class(root, "point")} == set(names)
    assert set(names) <= set(texts(root))


def test_boards_with_other_names_are_drawn_as_rings() -> None:
    board = Board(
        "rings",
        ("north", "east", "south", "west", "up", "down"),
        ((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (2, 5)),
        (),
        (4, 2),
    )
    places = drawing.layout(board)
    assert len(set(places)) == 6
    middle = (places[0][0], places[1][1])
    assert len({round(math.dist(middle, place), 2) for place in places[:4]}) == 1
    assert math.dist(middle, places[4]) < math.dist(middle, places[0])
    root = parsed(drawing.board(Position(Rules("rings", board, 3))))
    assert {*board.points} <= {*texts(root)}


def fills(root: ElementTree.Element) -> set[str]:
    return {element.get("fill", "") for element in root.iter() if element.get("fill")}


def test_themes() -> None:
    position = Position.from_fen(SIX, "WW....../B....... b 4,5 0")
    light, dark, auto = (parsed(drawing.board(position, theme=theme)) for theme in ("light", "dark", "auto"))
    assert with_class(light, "ground")[0].get("fill") != with_class(dark, "ground")[0].get("fill")
    assert fills(auto) == fills(light)
    (style,) = auto.iter(f"{SVG}style")
    assert "prefers-color-scheme:dark" in (style.text or "")
    assert with_class(dark, "ground")[0].get("fill", "?") in (style.text or "")
    assert not list(light.iter(f"{SVG}style"))


def test_a_position_shows_itself_in_a_notebook() -> None:
    position = Position.from_fen(SIX, "WW....../B....... b 4,5 0")
    assert position._repr_svg_() == str(drawing.board(position)) == drawing.board(position)._repr_svg_()


def test_saving(tmp_path: Path) -> None:
    picture = drawing.board(Position(SIX), size=300)
    assert picture.save(tmp_path / "board.svg").read_text() == picture.svg
    png = picture.save(tmp_path / "board.png", width=200).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width == 200
    assert height == pytest.approx(200 * 7.5 / 6, abs=1)
    with pytest.raises(SolverError, match=r"board\.gif: pictures are saved as \.svg or \.png"):
        picture.save(tmp_path / "board.gif")
    with pytest.raises(SolverError, match=r"cannot be written .*; choose another file"):
        picture.save(tmp_path / "nowhere" / "board.svg")


def test_bits() -> None:
    assert bits(0b101001) == [0, 3, 5]
    assert bits(0) == []
