"""Look-ups against the naive solver: every position of four small rule sets, one by one and all at once."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from solver.errors import DatabaseError, MissingTableError, PositionError, RulesMismatchError
from solver.game.boards import BOARD_16
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import MovingPair, placing_counts
from solver.indexing.values import Value
from solver.lookup.tablebase import NO_DEPTH, Tablebase, open_tablebase
from solver.tables.database import create_directory
from tests.support import naive
from tests.support.small_boards import NINE_POINTS, NINE_POINTS_DIAGONALS, geometry
from tests.support.written_tables import Key, naive_values, random_codes, write_codes, write_naive_tables

THREE = Rules("three", NINE_POINTS, 3, flying=False)
FOUR = Rules("four", NINE_POINTS, 4, flying=True)
DOUBLE = Rules("double", NINE_POINTS_DIAGONALS, 4, flying=False, double_mill=2)
LIMITED = Rules("limited", NINE_POINTS, 4, flying=False, quiet_limit=5)
ALL = (THREE, FOUR, DOUBLE, LIMITED)

values_of = cache(naive_values)


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A directory of tables for each rule set."""
    base = tmp_path_factory.mktemp("tables")
    for rules in ALL:
        write_naive_tables(base / rules.name, rules, values_of(rules))
    return {rules.name: base / rules.name for rules in ALL}


def positions(rules: Rules) -> dict[Key, Value]:
    """The values of the positions that have a table: those with stone counts that play can reach."""
    reachable = placing_counts(rules)

    def is_stored(key: Key) -> bool:
        white, black, _, *hands = key
        placements = 2 * rules.stones - sum(hands)
        return not any(hands) or (white.bit_count(), black.bit_count()) in reachable[placements]

    return {key: value for key, value in values_of(rules).items() if is_stored(key)}


def position(rules: Rules, key: Key, quiet_turns: int = 0) -> Position:
    white, black, side, *hands = key
    return Position.from_stones(
        rules, white=white, black=black, turn=side, hands=(hands[0], hands[1]), quiet_turns=quiet_turns
    )


def some(rules: Rules, count: int, seed: int = 0) -> list[Position]:
    """Random positions that have a table, decided ones as often as draws."""
    rng = np.random.default_rng(seed)
    known = positions(rules)
    keys = []
    for wdl in (-1, 0, 1):
        of_kind = [key for key, value in known.items() if value.wdl == wdl]
        keys += [of_kind[i] for i in rng.integers(0, len(of_kind), count // 3)] if of_kind else []
    return [position(rules, key) for key in keys]


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_every_position(directories: dict[str, Path], rules: Rules) -> None:
    known = positions(rules)
    assert len(known) > 5000
    keys = list(known)[:: max(1, len(known) // 5000)]
    with open_tablebase(directories[rules.name]) as tablebase:
        assert {key: tablebase.probe(position(rules, key)) for key in keys} == {key: known[key] for key in keys}


@pytest.mark.parametrize("cache_bytes", [1 << 20, 0], ids=["planes", "chunks"])
@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_all_positions_at_once(directories: dict[str, Path], rules: Rules, cache_bytes: int) -> None:
    known = positions(rules)
    white, black, side, *hands = map(np.array, zip(*known, strict=True))
    with open_tablebase(directories[rules.name], cache_bytes) as tablebase:
        # While placing, quiet turns are not counted.
        quiet = np.where(np.any(hands, axis=0), 99, 0)
        wdl, depth = tablebase.probe_many(white, black, side == "black", np.stack(hands, axis=1), quiet)
    assert (wdl.dtype, depth.dtype) == (np.int8, np.int32)
    assert wdl.tolist() == [value.wdl for value in known.values()]
    assert depth.tolist() == [NO_DEPTH if value.depth is None else value.depth for value in known.values()]


def test_scalars_stand_for_all(directories: dict[str, Path]) -> None:
    known = [key for key in positions(FOUR) if key[2:] == ("black", 0, 0)][:300]
    white, black = (np.array([key[i] for key in known]) for i in range(2))
    with open_tablebase(directories["four"]) as tablebase:
        wdl, depth = tablebase.probe_many(white, black, 1)
        many = tablebase.probe_many(white, black, np.ones(len(known), int), np.zeros((len(known), 2), int))
        assert wdl.tolist() == many[0].tolist() == [values_of(FOUR)[key].wdl for key in known]
        assert depth.tolist() == many[1].tolist()
        empty = tablebase.probe_many([], [], 0)
        assert [len(part) for part in empty] == [0, 0]


# Under a quiet limit


@cache
def limited_wdl(own: int, opponent: int, quiet_turns: int) -> int:
    """The result of a position of LIMITED for the player to move, by playing it out: every quiet turn is counted."""
    if own.bit_count() < 3:
        return -1
    turns = limited_game().successors(own, opponent, hand=0)
    if not turns:
        return -1
    if quiet_turns >= LIMITED.quiet_limit:
        return 0
    return max(-limited_wdl(b, a, quiet_turns + 1 if b == opponent else 0) for a, b in turns)


@cache
def limited_game() -> naive.Game:
    return naive.Game(*geometry(LIMITED.board), LIMITED.flying, LIMITED.double_mill)


def test_quiet_turns_so_far_count(directories: dict[str, Path]) -> None:
    rng = np.random.default_rng(1)
    moving = [key for key in positions(LIMITED) if key[3:] == (0, 0)]
    keys = [moving[i] for i in rng.integers(0, len(moving), 1500)]
    quiet = rng.integers(0, LIMITED.quiet_limit + 1, len(keys))
    with open_tablebase(directories["limited"]) as tablebase:
        white, black, side, *_ = map(np.array, zip(*keys, strict=True))
        wdl, depth = tablebase.probe_many(white, black, side == "black", quiet=quiet)
        changed = 0
        for i, key in enumerate(keys):
            own, opponent = key[:2] if key[2] == "white" else key[1::-1]
            pos = position(LIMITED, key, int(quiet[i]))
            value = tablebase.probe(pos)
            assert value.wdl == wdl[i] == limited_wdl(own, opponent, int(quiet[i]))
            assert value.depth == (None if depth[i] == NO_DEPTH else depth[i])
            assert value in (Value(0), values_of(LIMITED)[key])
            changed += value != values_of(LIMITED)[key]
            outcome = pos.outcome()
            if outcome is not None:
                assert value.wdl == (0 if outcome.winner is None else 1 if outcome.winner == pos.turn else -1)
        assert changed > 50


# Moves and lines


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_moves_are_worth_what_they_lead_to(directories: dict[str, Path], rules: Rules) -> None:
    with open_tablebase(directories[rules.name]) as tablebase:
        for pos in some(rules, 90):
            value, moves = tablebase.probe(pos), tablebase.moves(pos)
            assert [move for move, _ in sorted(moves, key=lambda item: str(item[0]))] == sorted(
                pos.legal_moves, key=str
            )
            for move, after in moves:
                before, phase = pos.copy(), pos.phase
                before.push(move)
                opponent = tablebase.probe(before)
                assert after.wdl == -opponent.wdl
                if (rules.quiet_limit and phase == "placing") or after.wdl == 0:
                    assert after.depth is None
                elif rules.quiet_limit and move.taken:
                    assert after.depth == 1
                else:
                    assert after.depth == opponent.depth + 1
            if moves:
                assert moves[0][1] == value
                order = [(-v.wdl, (v.depth or 0) * v.wdl) for _, v in moves]
                assert order == sorted(order)
                best = tablebase.best_moves(pos)
                assert best == [move for move, after in moves if after == value]
            else:
                assert pos.is_over()


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_lines_reach_the_promised_result(directories: dict[str, Path], rules: Rules) -> None:
    with open_tablebase(directories[rules.name]) as tablebase:
        for pos in some(rules, 60, seed=1):
            value, line = tablebase.probe(pos), tablebase.line(pos)
            game, promised = pos.copy(), value
            for move in line:
                game.push(move)
                now = tablebase.probe(game)
                assert now.wdl == -promised.wdl
                promised = now
            outcome = game.outcome()
            assert outcome is not None
            winner = {0: None, 1: pos.turn, -1: "black" if pos.turn == "white" else "white"}[value.wdl]
            assert outcome.winner == winner
            if value.wdl == 0:
                assert outcome.reason in ("repetition", "quiet_limit")
            elif not rules.quiet_limit:
                assert len(line) == value.depth
            assert pos.move_stack == ()


def test_a_line_may_be_cut_short(directories: dict[str, Path]) -> None:
    with open_tablebase(directories["four"]) as tablebase:
        pos = next(pos for pos in some(FOUR, 90) if (tablebase.probe_depth(pos) or 0) > 4)
        assert tablebase.line(pos, max_plies=3) == tablebase.line(pos)[:3]
        assert tablebase.line(pos, max_plies=0) == []


def test_a_win_does_not_run_into_the_quiet_limit(directories: dict[str, Path]) -> None:
    """Each mill comes before the limit, also from positions in which some quiet turns have been made."""
    with open_tablebase(directories["limited"]) as tablebase:
        tried = 0
        for key, value in positions(LIMITED).items():
            if value.wdl <= 0 or (value.depth or 0) < 3 or key[3:] != (0, 0):
                continue
            pos = position(LIMITED, key, quiet_turns=LIMITED.quiet_limit - value.depth)
            assert tablebase.probe(pos) == value
            for move in tablebase.line(pos):
                pos.push(move)
            assert pos.outcome().winner == key[2]
            tried += 1
            if tried == 30:
                break
        assert tried == 30


# The end of the game


def test_finished_games_need_no_table(tmp_path: Path) -> None:
    for rules, depth in ((get_rules("six"), 0), (get_rules("six", quiet_limit=9), 0)):
        create_directory(tmp_path / rules.name, rules)
        with open_tablebase(tmp_path / rules.name) as tablebase:
            lost = Position.from_stones(rules, white=0b11, black=0b11100, turn="white")
            assert tablebase.probe(lost) == Value(-1, depth)
            won = Position.from_stones(rules, white=0b11, black=0b11100, turn="black")
            assert tablebase.probe(won) == Value(1, depth)
            assert tablebase.moves(lost) == tablebase.best_moves(lost) == tablebase.line(lost) == []
            wdl, depths = tablebase.probe_many([0b11, 0b11, 0b11], [0b11100, 0b11100, 0b11100], [0, 1, 0])
            assert (wdl.tolist(), depths.tolist()) == ([-1, 1, -1], [0, 0, 0])


def test_finished_games_with_stones_in_hand(tmp_path: Path) -> None:
    """White has two stones left, while Black has still one to place."""
    for limit, depth in ((0, 0), (9, None)):
        rules = get_rules("six", quiet_limit=limit)
        create_directory(tmp_path / str(limit), rules)
        with open_tablebase(tmp_path / str(limit)) as tablebase:
            pos = Position.from_stones(rules, white=0b11, black=0b11100, turn="black", hands=(0, 1))
            assert tablebase.probe(pos) == Value(1, depth)
            wdl, depths = tablebase.probe_many([0b11], [0b11100], 1, (0, 1))
            assert (wdl.tolist(), depths.tolist()) == ([1], [NO_DEPTH if depth is None else depth])


def test_history_does_not_matter(directories: dict[str, Path]) -> None:
    with open_tablebase(directories["four"]) as tablebase:
        pos = next(pos for pos in some(FOUR, 90) if pos.phase == "moving" and tablebase.probe_wdl(pos) == 0)
        value = tablebase.probe(pos)
        for move in tablebase.line(pos):
            pos.push(move)
        assert pos.outcome().reason == "repetition"
        assert tablebase.probe(pos) == value
        assert tablebase.moves(pos) == []


# What is refused


def test_missing_tables(tmp_path: Path) -> None:
    six = get_rules("six")
    create_directory(tmp_path, six)
    write_codes(tmp_path, six, MovingPair(3, 3), random_codes(six, MovingPair(3, 3)))
    with open_tablebase(tmp_path) as tablebase:
        pos = Position(six)
        with pytest.raises(MissingTableError, match=r"no table placing_00_0-0 .* scripts/solve\.py six"):
            tablebase.probe(pos)
        with pytest.raises(MissingTableError, match="placing_01_1-0"):
            tablebase.moves(pos)
        with pytest.raises(MissingTableError, match="moving_4-3"):
            tablebase.probe_many([0b111, 0b1111], [0b111000, 0b1110000], 0)
        assert tablebase.get(pos) is tablebase.get_wdl(pos) is tablebase.get_depth(pos) is None
        assert tablebase.get(pos, 7) == tablebase.get_wdl(pos, 7) == tablebase.get_depth(pos, 7) == 7
        known = Position.from_stones(six, white=0b111, black=0b111000)
        assert tablebase.get(known, 7) == tablebase.probe(known)
        assert tablebase.get_wdl(known, 7) == tablebase.probe_wdl(known)
        assert tablebase.get_depth(known) == tablebase.probe_depth(known)


def test_positions_of_other_rules(directories: dict[str, Path]) -> None:
    with open_tablebase(directories["three"]) as tablebase:
        for pos in some(THREE, 30):
            if pos.phase == "placing":
                continue
            # More stones at the start change nothing once all are on the board.
            more = Position.from_stones(FOUR.replace(flying=False), white=pos.white, black=pos.black, turn=pos.turn)
            assert tablebase.probe(more) == tablebase.probe(pos)
            with pytest.raises(
                RulesMismatchError, match="'three', asked for a position of 'four': flying=False instead"
            ):
                tablebase.probe(Position.from_stones(FOUR, white=pos.white, black=pos.black, turn=pos.turn))
        with pytest.raises(RulesMismatchError, match="stones=3 instead of 4"):
            tablebase.moves(Position(FOUR.replace(flying=False)))
        with pytest.raises(RulesMismatchError, match="board"):
            tablebase.line(Position(get_rules("nine")))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0b111], [0b100], 0), "overlap"),
        (([0b111], [1 << 16], 0), "outside the 16 points"),
        (([0b111, 0b111], [0b111000], 0), "shapes"),
        (([0b111], [0b111000], 2), "neither 0"),
        (([0b111], [0b111000], [-1]), "neither 0"),
        (([0b111], [0b111000], 1, (3, 3)), "while placing"),
        (([0b111], [0b111000], 0, (2, 3)), "while placing"),
        (([0b111], [0b111000], 0, (3, 2)), "any number of placements"),
        (([0b111], [0b111000], 0, (-1, -1)), "any number of placements"),
        (([0b111], [0b111000], 0, (9, 9)), "any number of placements"),
        (([0b111], [0b111000], 0, (1, 1, 1)), "hands of shape"),
    ],
)
def test_impossible_positions(tmp_path: Path, arguments: tuple, words: str) -> None:
    create_directory(tmp_path, get_rules("six"))
    with open_tablebase(tmp_path) as tablebase, pytest.raises(PositionError, match=words):
        tablebase.probe_many(*arguments)


# The object


def test_a_tablebase_shows_how_to_open_it(directories: dict[str, Path]) -> None:
    tablebase = open_tablebase(directories["four"])
    assert repr(tablebase) == f"open_tablebase({str(directories['four'])!r})"
    assert isinstance(tablebase, Tablebase)
    assert tablebase.rules == FOUR
    tablebase.close()
    with pytest.raises(DatabaseError, match="closed"):
        tablebase.probe(Position(FOUR))
    with pytest.raises(DatabaseError, match="does not exist"):
        open_tablebase(directories["four"] / "nowhere")


def test_threads_share_a_tablebase(directories: dict[str, Path]) -> None:
    chosen = some(DOUBLE, 300)
    with open_tablebase(directories["double"], cache_bytes=1000) as tablebase, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tablebase.probe, chosen))
        assert found == [tablebase.probe(pos) for pos in chosen]


def test_values_of_equivalent_positions_agree(tmp_path: Path) -> None:
    """On the 16 points, with a table in which each row has a value of its own."""
    six, pair = get_rules("six"), MovingPair(4, 3)
    codes = random_codes(six, pair)
    for plane in codes.values():
        plane[:] = np.arange(len(plane))[:, np.newaxis]
    create_directory(tmp_path, six)
    write_codes(tmp_path, six, pair, codes)
    index, rng = pair.index(BOARD_16), np.random.default_rng(2)
    with open_tablebase(tmp_path) as tablebase:
        for row in rng.integers(0, index.shape[0], 20).tolist():
            masks = index.unrank(row, int(rng.integers(index.shape[1])))
            for g in BOARD_16.symmetries:
                white, black = (sum(1 << g[p] for p in range(16) if mask >> p & 1) for mask in masks)
                wdl, depth = tablebase.probe_many([white], [black], 0)
                assert depth[0] == (row - 1 if row else NO_DEPTH)
                assert wdl[0] == (0 if row == 0 else -1 if row % 2 else 1)


@pytest.mark.parametrize(
    ("black_began", "white_began"),
    [
        ("B......./........ w 6,5 0", "W......./........ b 5,6 0"),
        ("WW....../BB...... b 4,4 0", "BB....../WW...... w 4,4 0"),
    ],
)
def test_games_that_black_began_are_the_same_with_the_colours_exchanged(
    six: Path, black_began: str, white_began: str
) -> None:
    rules = get_rules("six")
    with open_tablebase(six) as tablebase:
        one, other = (Position.from_fen(rules, text) for text in (black_began, white_began))
        assert tablebase.probe(one) == tablebase.probe(other)
        assert [(str(m), v) for m, v in tablebase.moves(one)] == [(str(m), v) for m, v in tablebase.moves(other)]
