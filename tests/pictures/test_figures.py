"""Figures: what they draw is compared with the counts that they were made from."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from solver.errors import SolverError
from solver.game.position import Position
from solver.game.rules import get_rules
from solver.indexing.values import Value
from solver.lookup.tablebase import open_tablebase
from solver.pictures import figures
from solver.pictures.svg import PALETTES
from solver.tables import counts_text, subspace_counts
from solver.tables.counts_text import Counts
from tests.support.paths import RESULTS

SMALL = [
    Counts("small", None, 3, 3, (6, 3, 1), (3, 2, 1), (15, 14)),
    Counts("small", None, 4, 3, (8, 0, 0), (4, 0, 0), (7, None)),
    Counts("small", None, 3, 4, (0, 1, 3), (0, 1, 2), (None, 0)),
    Counts("small", 0, 0, 0, (0, 1, 0), (0, 1, 0), (None, None)),
    Counts("small", 1, 0, 1, (1, 3, 4), (1, 3, 4), (None, None)),
    Counts("small", 2, 1, 1, (0, 1, 1), (0, 1, 1), (None, None)),
    Counts("small", 2, 2, 0, (2, 0, 0), (2, 0, 0), (None, None)),
]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def boxes(figure: Figure) -> list[Rectangle]:
    return [patch for axes in figure.axes for patch in axes.patches if isinstance(patch, Rectangle)]


def test_shares_fill_the_squares() -> None:
    figure = figures.shares(SMALL)
    heights = [box.get_height() / 0.92 for box in boxes(figure)]
    assert heights == pytest.approx([0.6, 0.3, 0.1, 1, 0, 0, 0, 0.25, 0.75])
    assert texts(figure) == ["60%", "30%", "100%", "25%", "75%"]
    columns = {round(box.get_x() + 0.46) for box in boxes(figure)[6:]}
    rows = {int(box.get_y() + 0.46) for box in boxes(figure)[6:]}
    assert (columns, rows) == ({3}, {4})
    hatches = {(to_hex(box.get_facecolor()), box.get_hatch()) for box in boxes(figure)[:3]}
    assert len(hatches) == 3
    assert sum(bool(hatch) for _, hatch in hatches) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["lost", "drawn", "won"]


def brightness(colour: object) -> float:
    red, green, blue = (int(to_hex(colour)[k : k + 2], 16) for k in (1, 3, 5))
    return (0.3 * red + 0.59 * green + 0.11 * blue) / 255


@pytest.mark.parametrize("style", ["light", "dark"])
def test_results_can_be_told_apart_in_grey(style: figures.Style) -> None:
    figure = figures.shares(SMALL, style=style)
    won, drawn, lost = boxes(figure)[:3]
    assert abs(brightness(won.get_facecolor()) - brightness(drawn.get_facecolor())) > 0.15
    assert lost.get_hatch() != drawn.get_hatch()
    assert to_hex(figure.get_facecolor()) == PALETTES[style]["ground"]


def test_longest_lines() -> None:
    figure = figures.longest_lines(SMALL)
    wins, losses = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert (wins, losses) == (["15", "7", "-"], ["14", "-", "0"])


def test_first_turns() -> None:
    position = Position(get_rules("six"))
    values = [(move, Value(0)) for move in position.legal_moves[2:]]
    values += [(position.parse_move("a5"), Value(1, 9)), (position.parse_move("c5"), Value(-1, 4))]
    figure = figures.first_turns(position.board, values)
    shown = texts(figure)
    assert dict(zip(shown[1::2], shown[::2], strict=True)) == {
        **dict.fromkeys(position.board.points, "D"),
        "a5": "W9",
        "c5": "L4",
    }
    with pytest.raises(ValueError, match="placements"):
        figures.first_turns(position.board, [])


def test_shares_by_ply_are_white_s_and_black_s() -> None:
    assert figures.shares_by_ply(SMALL) == {0: (0, 1, 0), 1: (0.5, 0.375, 0.125), 2: (0.5, 0.25, 0.25)}
    (axes,) = figures.placing(SMALL).axes
    lines = {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in axes.lines}
    assert {label: list(ys) for label, (_, ys) in lines.items()} == {
        "White wins": [0, 50, 50],
        "draw": [100, 37.5, 25],
        "Black wins": [0, 12.5, 25],
    }
    with pytest.raises(ValueError, match="placing phase"):
        figures.placing(SMALL[:3])
    with pytest.raises(ValueError, match="moving phase"):
        figures.shares(SMALL[3:])


def test_distances_of_a_solved_game(six: Path, six_limited: Path) -> None:
    with open_tablebase(six) as tablebase:
        won, lost = counts_text.distances(tablebase.database)
        counts = [one for one in counts_text.counts_of(tablebase.database) if one.ply is None]
        placing_won, _ = counts_text.distances(tablebase.database, "placing")
    raw = np.array([one.raw for one in counts])
    assert (won.total(), lost.total()) == (raw[:, 0].sum(), raw[:, 2].sum())
    assert max(won) == max(one.longest[0] or 0 for one in counts)
    assert max(lost) == max(one.longest[1] or 0 for one in counts)
    assert {ply % 2 for ply in won} == {1}
    assert {ply % 2 for ply in lost} == {0}
    upper, lower = figures.histogram((won, lost)).axes
    for axes, found in ((upper, won), (lower, lost)):
        drawn = {round(box.get_x() + box.get_width() / 2): box.get_height() for box in axes.patches}
        assert drawn == dict(found)
    assert max(placing_won) == 119  # the longest win of the game is one from the placing phase
    with open_tablebase(six_limited) as tablebase, pytest.raises(ValueError, match="no distances"):
        figures.histogram(counts_text.distances(tablebase.database, "placing"))


def test_counts_survive_their_file(six: Path, tmp_path: Path) -> None:
    with open_tablebase(six) as tablebase:
        reports = subspace_counts.subspace_reports(tablebase.database)
        counts = counts_text.counts_of(tablebase.database)
    path = tmp_path / "six.csv"
    path.write_text(counts_text.to_csv("six", reports))
    assert counts_text.read_csv(path) == [one for one in counts if one.ply is None]
    assert counts_text.read_csv(path) == counts_text.read_csv(RESULTS / "six.csv")


@pytest.mark.parametrize("text", ["", "rules,mover_stones\nsix,3\n", None])
def test_other_files_are_refused(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "some.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SolverError, match=r"some\.csv: no table of counts .* expected the columns"):
        counts_text.read_csv(path)


def test_the_published_totals_are_in_the_results() -> None:
    counts = counts_text.read_csv(RESULTS / "nine-moving.csv")
    assert tuple(np.sum([one.classes for one in counts], axis=0)) == (4325452782, 1832093880, 2747046939)
