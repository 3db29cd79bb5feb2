"""A slow and plain solver, to compare the package with. It imports nothing of it.

Positions are seen by the player to move: a pair of masks (own stones, opponent stones). Each function takes the board
as a number of points, the neighbours of each point, and the lines as triples of points. There is no symmetry, no
predecessor generator, and no counter: predecessors are the successor lists turned round, and a value is read off the
values of *all* successors.

Values are (wdl, depth): +1 win, 0 draw, -1 loss for the player to move, and the plies to the end of the game (DTM) or,
under a quiet limit, to the next mill or the end (DTC); None for a draw.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

Key = tuple[int, int]  # (own, opponent)
Value = tuple[int, int | None]

DRAW: Value = (0, None)
LOST: Value = (-1, 0)


class Game:
    """The rules of movement on one board."""

    def __init__(
        self,
        points: int,
        neighbours: Sequence[Iterable[int]],
        lines: Sequence[Sequence[int]],
        flying: bool,
        removals: int,
    ) -> None:
        self.points = points
        self.neighbours = neighbours
        self.lines_through = [[sum(1 << p for p in line) for line in lines if q in line] for q in range(points)]
        self.flying = flying
        self.removals = removals

    def mills(self, stones: int, point: int) -> int:
        """Complete lines of ``stones`` through ``point``."""
        return sum(stones & line == line for line in self.lines_through[point])

    def members(self, stones: int) -> list[int]:
        return [p for p in range(self.points) if stones >> p & 1]

    def without_one(self, stones: int) -> list[int]:
        """What can be left of ``stones`` after one removal; nothing changes if there are none."""
        members = self.members(stones)
        outside_mills = [p for p in members if not self.mills(stones, p)]
        return [stones & ~(1 << p) for p in outside_mills or members] or [stones]

    def successors(self, own: int, opponent: int, hand: int) -> set[Key]:
        """(own, opponent) after each legal turn, still from the mover's side."""
        empty = [p for p in range(self.points) if not (own | opponent) >> p & 1]
        if hand > 0:
            arrivals = [(own | 1 << target, target) for target in empty]
        else:
            flies = self.flying and own.bit_count() == 3
            arrivals = [
                (own & ~(1 << origin) | 1 << target, target)
                for origin in self.members(own)
                for target in (empty if flies else self.neighbours[origin])
                if not (own | opponent) >> target & 1
            ]
        after = set()
        for stones, target in arrivals:
            left = {opponent}
            for _ in range(min(self.mills(stones, target), self.removals)):
                left = {fewer for others in left for fewer in self.without_one(others)}
            after |= {(stones, others) for others in left}
        return after


def arrangements(points: int, own: int, opponent: int) -> Iterator[Key]:
    """All ways to put ``own`` and ``opponent`` stones on the board."""
    for ours in combinations(range(points), own):
        free = [p for p in range(points) if p not in ours]
        for theirs in combinations(free, opponent):
            yield sum(1 << p for p in ours), sum(1 << p for p in theirs)


def solve_moving(
    points: int,
    neighbours: Sequence[Iterable[int]],
    lines: Sequence[Sequence[int]],
    a_max: int,
    b_max: int,
    flying: bool,
    removals: int = 1,
    quiet_limit: int = 0,
) -> dict[tuple[int, int, str], Value]:
    """Values of all positions with empty hands and 3..a_max white against 3..b_max black stones.

    Keys are (white mask, black mask, "white" or "black" to move). With ``quiet_limit`` 0 depths are DTM; otherwise they
    are DTC at a quiet count of 0, and only results within the limit count.
    """
    game = Game(points, neighbours, lines, flying, removals)
    colours = [(a, b) for a in range(3, a_max + 1) for b in range(3, b_max + 1)]
    counts = {*colours, *((b, a) for a, b in colours)}
    values: dict[Key, Value] = {}
    # Captures lead to fewer stones, so their values are known by then.
    for total in sorted({a + b for a, b in counts}):
        keys = [key for a, b in sorted(counts) if a + b == total for key in arrangements(points, a, b)]
        values |= _solve_equal_totals(game, keys, values, quiet_limit)
    return {
        (white, black, side): values[(white, black) if side == "white" else (black, white)]
        for a, b in colours
        for white, black in arrangements(points, a, b)
        for side in ("white", "black")
    }


def _solve_equal_totals(game: Game, keys: list[Key], smaller: dict[Key, Value], quiet_limit: int) -> dict[Key, Value]:
    """Values of ``keys``, all positions with one total number of stones, level by level.

    What is won or lost in exactly d plies is settled at level d = 0, 1, 2, ...: a win if some turn leads to a loss in
    d - 1, a loss if every turn leads to a win and the longest of them takes d - 1. So only positions with a turn
    worth d plies have to be looked at.
    """
    same = {key: key for key in keys}
    quiet: dict[Key, list[Key]] = {}
    captures: dict[Key, list[Value]] = {}  # values of the turns that take a stone, for the mover
    predecessors: dict[Key, list[Key]] = defaultdict(list)
    by_depth: dict[int, list[Key]] = defaultdict(list)  # positions with a capture of that depth
    for key in keys:
        quiet[key], captures[key] = [], []
        for own, opponent in game.successors(*key, hand=0):
            if opponent == key[1]:
                successor = same[opponent, own]
                quiet[key].append(successor)
                predecessors[successor].append(key)
            else:
                value = before(LOST if opponent.bit_count() < 3 else smaller[opponent, own])
                if quiet_limit and value != DRAW:
                    value = value[0], 1
                captures[key].append(value)
                if value[1] is not None:
                    by_depth[value[1]].append(key)

    settled: dict[Key, Value] = {}
    reached: Iterable[Key] = keys  # at level 0 every position is looked at: it may be blocked
    for depth in range(quiet_limit + 1 if quiet_limit else 10**6):
        found = {}
        for key in {*reached, *by_depth.pop(depth, ())} - settled.keys():
            turns = captures[key] + [before(settled[s]) if s in settled else DRAW for s in quiet[key]]
            if (1, depth) in turns:
                found[key] = (1, depth)
            elif all(wdl < 0 for wdl, _ in turns):
                longest = max((length or 0 for _, length in turns), default=0)
                if longest == depth:
                    found[key] = (-1, depth)
        settled |= found
        reached = {p for key in found for p in predecessors[key]}
        if not reached and not by_depth:
            break
    return {key: settled.get(key, DRAW) for key in keys}


def before(value: Value) -> Value:
    """The value of a turn for its player, from the value after it for the opponent."""
    wdl, depth = value
    return -wdl, None if depth is None else depth + 1


def best(values: Iterable[Value]) -> Value:
    """The best of some values: the shortest win, else a draw, else the longest loss."""
    return max(values, key=lambda value: (value[0], -value[0] * (value[1] or 0)))


def solve_placing(
    points: int,
    neighbours: Sequence[Iterable[int]],
    lines: Sequence[Sequence[int]],
    stones: int,
    flying: bool,
    removals: int = 1,
    quiet_limit: int = 0,
) -> dict[tuple[int, int, str, int, int], Value]:
    """Values of all positions with a stone in hand and three or more stones in all on either side.

    Keys are (white mask, black mask, side to move, white hand, black hand); every arrangement of at most the stones
    placed so far is there, reachable or not. With a quiet limit depths are None.
    """
    game = Game(points, neighbours, lines, flying, removals)
    moving = solve_moving(points, neighbours, lines, stones, stones, flying, removals, quiet_limit)
    values: dict[tuple[int, int, str, int, int], Value] = {}

    def value_after(white: int, black: int, side: str, hands: tuple[int, int]) -> Value:
        mover = 0 if side == "white" else 1
        if (white, black)[1 - mover].bit_count() + hands[1 - mover] < 3:
            raise AssertionError("a player who has just moved has not lost a stone")
        if (white, black)[mover].bit_count() + hands[mover] < 3:
            return LOST
        return values[(white, black, side, *hands)] if any(hands) else moving[white, black, side]

    for ply in reversed(range(2 * stones)):
        hands = stones - (ply + 1) // 2, stones - ply // 2
        side, other = ("white", "black") if ply % 2 == 0 else ("black", "white")
        hands_after = (hands[0] - 1, hands[1]) if side == "white" else (hands[0], hands[1] - 1)
        for white_stones in range(stones - hands[0] + 1):
            for black_stones in range(stones - hands[1] + 1):
                if white_stones + hands[0] < 3 or black_stones + hands[1] < 3:
                    continue
                for white, black in arrangements(points, white_stones, black_stones):
                    own, opponent = (white, black) if side == "white" else (black, white)
                    value = best(
                        before(value_after(*(pair if side == "white" else pair[::-1]), other, hands_after))
                        for pair in game.successors(own, opponent, hand=1)
                    )
                    values[(white, black, side, *hands)] = (value[0], None) if quiet_limit else value
    return values
