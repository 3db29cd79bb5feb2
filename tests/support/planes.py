"""Rule sets solved in memory, and their values compared with those of the naive solver."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from solver.compiled.workers import Workers
from solver.game.rules import Rules
from solver.indexing.subspaces import PlacingSubspace, Plane, Subspace, moving_pairs, placing_subspaces
from solver.indexing.values import Value, decode, metric_of
from solver.solving.moving import solve_pair
from solver.solving.placing import last_layer_plane, solve_placing
from tests.support.written_tables import Key, key_of

Codes = npt.NDArray[np.unsignedinteger]
Planes = dict[Subspace, dict[Plane, Codes]]


def solve_moving(
    rules: Rules, max_stones: int | None = None, threads: int = 1, value_type: type[np.unsignedinteger] = np.uint8
) -> Planes:
    """All pairs with at most ``max_stones`` stones. Planes are cut to their columns."""
    done: Planes = {}
    with Workers(threads) as workers:
        for pair in moving_pairs(rules, max_stones):
            planes = solve_pair(rules, pair, lambda p, plane: done[p][plane], workers, value_type=value_type)
            columns = pair.index(rules.board).shape[1]
            done[pair] = {plane: np.ascontiguousarray(codes[:, :columns]) for plane, codes in planes.items()}
    return done


def solve_all(rules: Rules, threads: int = 1) -> Planes:
    """Both phases."""
    done = solve_moving(rules, threads=threads)
    with Workers(threads) as workers:

        def source(ply: int, white: int, black: int) -> Codes:
            if ply < 2 * rules.stones:
                (codes,) = done[PlacingSubspace(ply, white, black)].values()
                return codes
            return last_layer_plane(rules, white, black, lambda pair, plane: done[pair][plane], workers)

        for subspace in placing_subspaces(rules):
            ply = subspace.ply + 1
            done[subspace] = solve_placing(rules, subspace, lambda w, b, ply=ply: source(ply, w, b), workers)
    return done


def value_of_start(rules: Rules, done: Planes) -> Value:
    """The value of the empty board."""
    (codes,) = done[PlacingSubspace(0, 0, 0)].values()
    return decode(int(codes[0, 0]), metric_of(rules, "placing"))


def positions(rules: Rules, subspace: Subspace, planes: dict[Plane, Codes]) -> Iterator[tuple[Key, Value]]:
    """Every index of the planes as a position with its value; the row side of a moving pair is White."""
    index = subspace.index(rules.board)
    rows, columns = (numbers.ravel() for numbers in np.indices(index.shape))
    row_masks, column_masks = (masks.tolist() for masks in index.unrank_many(rows, columns))
    metric = metric_of(rules, subspace.phase)
    for plane, codes in planes.items():
        for row_side, column_side, code in zip(row_masks, column_masks, codes.ravel().tolist(), strict=True):
            yield key_of(rules, subspace, plane, row_side, column_side), decode(code, metric)


def disagreements(
    rules: Rules, done: Planes, expected: dict[Key, Value]
) -> tuple[int, list[tuple[str, Key, Value, Value]]]:
    """(number of indices compared, those whose value is not the expected one)."""
    compared, wrong = 0, []
    for subspace, planes in done.items():
        for key, value in positions(rules, subspace, planes):
            compared += 1
            if value != expected[key]:
                wrong.append((subspace.name, key, value, expected[key]))
    return compared, wrong
