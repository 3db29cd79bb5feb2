"""Board geometry: points, edges, mill lines, and the symmetry group computed from them.

A board is plain data. Everything else in the package (bit masks, move tables, indices, text) is derived from it, so a
board of one's own needs nothing but its points, edges and lines.

Points are numbered; a set of points is an integer mask with bit ``p`` for point ``p``. On the two boards below the
number is ``8 * ring + place in the ring``, each ring read clockwise from its top-left corner::

    24 points                                   16 points
    0-----------1-----------2                   0-------1-------2
    |  8--------9-------10  |                   |   8---9--10   |
    |  |  16---17---18   |  |                   |   |       |   |
    7-15--23         19-11--3                   7--15      11---3
    |  |  22---21---20   |  |                   |   |       |   |
    | 14-------13-------12  |                   |  14--13--12   |
    6-----------5-----------4                   6-------5-------4
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

MAX_POINTS = 24
"""The bit tables of the solver cover three bytes."""

MAX_SYMMETRIES = 256
"""The index packs the number of a symmetry into a byte."""

# Move text joins point names with "-" and "x", so a name may hold neither.
_POINT_NAME = re.compile(r"[a-wyz0-9]+")

Permutation = tuple[int, ...]


def mask_of(points: Iterable[int]) -> int:
    """The mask with the bits of ``points`` set."""
    mask = 0
    for point in points:
        mask |= 1 << point
    return mask


@dataclass(frozen=True)
class Board:
    """An immutable board.

    :param name: what messages call it
    :param points: point names in index order, such as ``("a7", "d7", ...)``
    :param edges: pairs of neighbouring point numbers
    :param lines: triples of point numbers that form a mill
    :param rings: sizes of the groups in which position text lists the points; they add up to the number of points

    Use :meth:`from_names` to build one from names. :raises ValueError: when the parts do not fit together.
    """

    name: str
    points: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    lines: tuple[tuple[int, int, int], ...]
    rings: tuple[int, ...]

    def __post_init__(self) -> None:
        self._check_points()
        self._check_groups("edge", self.edges, 2)
        self._check_groups("mill line", self.lines, 3)

    def _check_points(self) -> None:
        if not 1 <= len(self.points) <= MAX_POINTS:
            raise ValueError(f"board {self.name!r} has {len(self.points)} points; 1 to {MAX_POINTS} are supported")
        if len(set(self.points)) != len(self.points):
            raise ValueError(f"board {self.name!r} names a point twice")
        for point in self.points:
            if not _POINT_NAME.fullmatch(point):
                raise ValueError(f"point name {point!r} must be lower-case letters (no x) and digits")
        if min(self.rings, default=0) < 1 or sum(self.rings) != len(self.points):
            raise ValueError(f"rings {self.rings} must be positive and add up to the {len(self.points)} points")

    def _check_groups(self, what: str, groups: Sequence[tuple[int, ...]], size: int) -> None:
        seen = set()
        for group in groups:
            if len(group) != size or len(set(group)) != size:
                raise ValueError(f"{what} {group} of board {self.name!r} must join {size} different points")
            if not all(type(point) is int and 0 <= point < len(self.points) for point in group):
                raise ValueError(f"{what} {group} of board {self.name!r} names a point outside the board")
            seen.add(frozenset(group))
        if len(seen) != len(groups):
            raise ValueError(f"board {self.name!r} lists the same {what} twice")

    @classmethod
    def from_names(
        cls,
        name: str,
        points: Sequence[str],
        edges: Iterable[Sequence[str]],
        lines: Iterable[Sequence[str]],
        rings: Sequence[int] | None = None,
    ) -> Board:
        """A board from point names; ``rings`` defaults to one group of all points."""
        number = {point: i for i, point in enumerate(points)}

        def numbers(group: Sequence[str]) -> tuple[int, ...]:
            unknown = [point for point in group if point not in number]
            if unknown:
                raise ValueError(f"board {name!r} has no point {unknown[0]!r}")
            return tuple(sorted(number[point] for point in group))

        return cls(
            name,
            tuple(points),
            # The check of groups, not the type, says that they are pairs and triples.
            tuple(numbers(edge) for edge in edges),  # type: ignore[misc]
            tuple(numbers(line) for line in lines),  # type: ignore[misc]
            tuple(rings) if rings is not None else (len(points),),
        )

    @property
    def n_points(self) -> int:
        return len(self.points)

    @cached_property
    def point_numbers(self) -> dict[str, int]:
        """Point number by name."""
        return {point: i for i, point in enumerate(self.points)}

    @cached_property
    def neighbours(self) -> tuple[int, ...]:
        """Mask of the neighbours of each point."""
        masks = [0] * self.n_points
        for a, b in self.edges:
            masks[a] |= 1 << b
            masks[b] |= 1 << a
        return tuple(masks)

    @cached_property
    def line_masks(self) -> tuple[int, ...]:
        """Mask of each mill line."""
        return tuple(mask_of(line) for line in self.lines)

    @cached_property
    def lines_through(self) -> tuple[tuple[int, ...], ...]:
        """For each point the masks of the lines through it."""
        return tuple(tuple(line for line in self.line_masks if line >> p & 1) for p in range(self.n_points))

    @cached_property
    def max_mills_by_slide(self) -> int:
        """The most mills that one slide can complete: 1 on both boards of this module."""
        most = 0
        for a, b in (*self.edges, *((b, a) for a, b in self.edges)):
            most = max(most, sum(not line >> a & 1 for line in self.lines_through[b]))
        return most

    @cached_property
    def symmetries(self) -> tuple[Permutation, ...]:
        """The automorphisms of the board, in lexicographic order (the identity first).

        ``symmetries[g][p]`` is the image of point ``p``. Found by backtracking over the points; a partial map is
        given up as soon as it breaks adjacency or maps a mill line to what is none.

        :raises ValueError: for more than :data:`MAX_SYMMETRIES`; boards of interchangeable points have up to 24!
        """
        found: list[Permutation] = []
        for symmetry in self._extensions([]):
            found.append(symmetry)
            if len(found) > MAX_SYMMETRIES:
                raise ValueError(
                    f"board {self.name!r} has more than the {MAX_SYMMETRIES} symmetries that are supported"
                )
        return tuple(found)

    def _extensions(self, image: list[int]) -> Iterator[Permutation]:
        """The symmetries that map the first points to ``image``, in lexicographic order."""
        p = len(image)
        if p == self.n_points:
            yield tuple(image)
            return
        for candidate in range(self.n_points):
            if candidate not in image and self._may_map([*image, candidate]):
                yield from self._extensions([*image, candidate])

    def _may_map(self, image: list[int]) -> bool:
        """Whether a partial map keeps what its last point has to do with the others."""
        p, to = len(image) - 1, image[-1]
        if self._degrees[p] != self._degrees[to]:
            return False
        if any(self._relations[p][q] != self._relations[to][image[q]] for q in range(p)):
            return False
        complete = [line for line in self.lines if max(line) == p]
        return all(mask_of(image[q] for q in line) in self._line_set for line in complete)

    @cached_property
    def _degrees(self) -> tuple[tuple[int, int], ...]:
        """(neighbours, lines) of each point."""
        return tuple((self.neighbours[p].bit_count(), len(self.lines_through[p])) for p in range(self.n_points))

    @cached_property
    def _relations(self) -> list[list[tuple[int, int]]]:
        """By two points: (whether they are neighbours, number of lines through both)."""
        points = range(self.n_points)
        return [
            [(self.neighbours[p] >> q & 1, sum(line >> q & 1 for line in self.lines_through[p])) for q in points]
            for p in points
        ]

    @cached_property
    def _line_set(self) -> frozenset[int]:
        return frozenset(self.line_masks)

    @cached_property
    def coordinates(self) -> tuple[tuple[int, int], ...] | None:
        """(column, row) of each point read off names such as ``d7``, or None where the names are not of that form."""
        if not all(re.fullmatch(r"[a-z][0-9]+", point) for point in self.points):
            return None
        return tuple((ord(point[0]) - ord("a"), int(point[1:])) for point in self.points)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what matters to values: the number of points, the edges and the lines (not the names)."""
        geometry = [
            self.n_points,
            sorted(sorted(edge) for edge in self.edges),
            sorted(sorted(line) for line in self.lines),
        ]
        return hashlib.sha256(json.dumps(geometry).encode()).hexdigest()[:16]


def _nested_squares(name: str, rings: Sequence[str], spokes_are_lines: bool) -> Board:
    """Nested squares from the names of each ring; spokes join the middles of neighbouring sides."""
    points = [point for ring in rings for point in ring.split()]
    edges, lines = [], []
    for first in range(0, len(points), 8):
        ring = points[first : first + 8]
        edges += [(ring[i], ring[(i + 1) % 8]) for i in range(8)]
        lines += [(ring[i], ring[i + 1], ring[(i + 2) % 8]) for i in range(0, 8, 2)]
    for middle in range(1, 8, 2):
        spoke = points[middle::8]
        edges += list(pairwise(spoke))
        if spokes_are_lines:
            lines.append((spoke[0], spoke[1], spoke[2]))
    return Board.from_names(name, points, edges, lines, rings=[8] * len(rings))


BOARD_24 = _nested_squares(
    "24 points",
    ["a7 d7 g7 g4 g1 d1 a1 a4", "b6 d6 f6 f4 f2 d2 b2 b4", "c5 d5 e5 e4 e3 d3 c3 c4"],
    spokes_are_lines=True,
)
"""The board of Nine Men's Morris: three nested squares, 16 mill lines."""

BOARD_16 = _nested_squares("16 points", ["a5 c5 e5 e3 e1 c1 a1 a3", "b4 c4 d4 d3 d2 c2 b2 b3"], spokes_are_lines=False)
"""The board of Six Men's Morris: two nested squares, 8 mill lines."""
