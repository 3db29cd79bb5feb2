"""The whole job: what is solved in which order, that it survives anything, and that the tables play perfectly."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from solver.errors import CorruptTableError, DatabaseError, MissingTableError, RulesError, RulesMismatchError
from solver.game.boards import Board
from solver.game.position import Position
from solver.game.rules import Rules, get_rules
from solver.indexing.subspaces import MovingPair, PlacingSubspace, Subspace, moving_pairs, placing_subspaces
from solver.indexing.values import Value
from solver.lookup.tablebase import Tablebase, open_tablebase
from solver.proof.verifier import verify
from solver.solving import job, resources
from solver.solving.job import plan, solve
from solver.tables.database import Database, lock, position_text, table_path
from tests.support.paths import ROOT

THREE = get_rules("six", stones=3)


def names(directory: Path) -> set[str]:
    """The stems of the tables in ``directory``."""
    return {path.stem for path in directory.glob("*.h5")}


def states(directory: Path) -> dict[str, tuple[int, int, int]]:
    """What changes when a file is written again, by table."""
    found = {path.stem: path.stat() for path in directory.glob("*.h5")}
    return {name: (status.st_ino, status.st_mtime_ns, status.st_size) for name, status in found.items()}


def values(directory: Path) -> dict[tuple[str, str], bytes]:
    """All values of all tables, as bytes."""
    with Database(directory) as database:
        tables = {subspace: database.table(subspace) for subspace in database.subspaces()}
        return {(s.name, plane): table.load(plane).tobytes() for s, table in tables.items() for plane in s.planes}


@pytest.fixture
def copy(six: Path, tmp_path: Path) -> Path:
    """A solved directory of ``six`` that a test may spoil."""
    return Path(shutil.copytree(six, tmp_path / "copy"))


# The plan


def test_the_whole_job() -> None:
    rules = get_rules("six")
    assert plan(rules) == [*moving_pairs(rules), *placing_subspaces(rules)]
    assert plan(rules, "moving") == moving_pairs(rules)
    assert plan(rules, "placing") == placing_subspaces(rules)


def test_few_stones_leave_the_placing_phase_out() -> None:
    rules = get_rules("six")
    assert plan(rules, "all", 8) == plan(rules, "moving", 8) == moving_pairs(rules)[:4]
    assert plan(rules, "all", 11) == moving_pairs(rules)[:-1]
    assert plan(rules, "all", 12) == plan(rules, "all", 99) == plan(rules)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("opening",), "unknown phase 'opening'"),
        (("all", 5), "max_stones=5: the smallest pair of the moving phase has 6 stones"),
        (("all", 0), "max_stones=0"),
        (("moving", -1), "max_stones=-1"),
        (("placing", 8), "placing phase needs all"),
        (("placing", 12), "placing phase needs all"),
    ],
)
def test_impossible_plans(arguments: tuple, words: str, tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=words):
        plan(get_rules("six"), *arguments)
    keywords = dict(zip(("phase", "max_stones"), arguments, strict=False))
    with pytest.raises(RulesError, match=words):
        solve(get_rules("six"), tmp_path / "new", progress=False, **keywords)
    assert not (tmp_path / "new").exists()


def own_board(points: int, edges: list[tuple[int, int]], lines: list[tuple[int, int, int]]) -> Board:
    return Board("own", tuple(f"a{p}" for p in range(points)), tuple(edges), tuple(lines), (points,))


RING = [(p, (p + 1) % 10) for p in range(10)]
STAR = [(0, p) for p in range(1, 10)]
DENSE = [(p, q) for p in range(10) for q in range(p)][:33]


@pytest.mark.parametrize(
    ("board", "double_mill", "words"),
    [
        (own_board(10, DENSE, [(0, 1, 2)]), 1, "33 edges"),
        (own_board(10, STAR, [(0, 1, 2)]), 1, "symmetries"),
        (own_board(10, RING, [(0, 1, 2), (2, 7, 8), (2, 5, 6)]), 2, "two mills"),
    ],
    ids=["edges", "symmetries", "slides"],
)
def test_boards_that_the_solver_does_not_take(board: Board, double_mill: int, words: str, tmp_path: Path) -> None:
    """They are refused, by a message that says so, before anything is computed."""
    with pytest.raises(RulesError, match=words):
        solve(Rules("own", board, 5, double_mill=double_mill), tmp_path / "own", progress=False)
    assert not (tmp_path / "own").exists()


# One job


def test_a_job_reports_what_it_did(tmp_path: Path) -> None:
    finished: list[tuple[Subspace, float]] = []
    report = solve(THREE, tmp_path / "deep" / "er", progress=False, on_finished=lambda *done: finished.append(done))
    assert list(report.computed) == plan(THREE) == [subspace for subspace, _ in finished]
    assert report.found == ()
    assert 0 < sum(seconds for _, seconds in finished) <= report.seconds
    assert names(tmp_path / "deep" / "er") == {subspace.name for subspace in plan(THREE)}


def test_finished_tables_are_not_computed_again(six: Path) -> None:
    before = states(six)
    report = solve(get_rules("six"), six, progress=False)
    assert report.computed == ()
    assert list(report.found) == plan(get_rules("six"))
    assert states(six) == before


def test_only_missing_tables_are_computed(copy: Path, six: Path) -> None:
    gone: list[Subspace] = [MovingPair(5, 4), MovingPair(6, 6), PlacingSubspace(0, 0, 0), PlacingSubspace(11, 4, 4)]
    for subspace in gone:
        table_path(copy, subspace).unlink()
    before = states(copy)
    report = solve(get_rules("six"), copy, progress=False)
    assert set(report.computed) == set(gone)
    after = states(copy)
    assert {name: after[name] for name in before} == before
    assert values(copy) == values(six)


def test_a_job_in_parts_gives_the_same_values(six: Path, tmp_path: Path) -> None:
    rules = get_rules("six")
    for part in ({"max_stones": 6}, {"max_stones": 9, "threads": 1}, {"phase": "moving"}, {"phase": "placing"}):
        solve(rules, tmp_path, progress=False, **part)
    assert values(tmp_path) == values(six)


@pytest.mark.slow
def test_planes_come_back_from_their_files(six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no room to keep planes in memory each is read again, as after a break."""
    monkeypatch.setattr(job, "KEPT_BYTES", {"moving": 0, "placing": 0})
    solve(get_rules("six"), tmp_path, progress=False)
    assert values(tmp_path) == values(six)


@pytest.mark.parametrize("name", ["six", "six_double", "six_limited", "five"])
def test_the_verifier_agrees(name: str, request: pytest.FixtureRequest) -> None:
    report = verify(request.getfixturevalue(name), sample=200, threads=2, progress=False)
    assert report.is_clean, report.examples
    assert report.positions > 5_000


# Breaks


@pytest.mark.slow
def test_an_interrupted_job_goes_on(six: Path, tmp_path: Path) -> None:
    """Ctrl-C, or an error of one's own, between two tables."""
    rules = get_rules("six")

    def stop_after(tables: int) -> Callable[[Subspace, float], None]:
        left = iter(range(tables))

        def on_finished(subspace: Subspace, seconds: float) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        return on_finished

    done = 0
    for tables in (0, 7, 15):
        with pytest.raises(KeyboardInterrupt):
            solve(rules, tmp_path, progress=False, on_finished=stop_after(tables))
        done += tables + 1
        assert names(tmp_path) == {subspace.name for subspace in plan(rules)[:done]}
    assert len(solve(rules, tmp_path, progress=False).found) == done
    assert values(tmp_path) == values(six)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_job_goes_on(six: Path, tmp_path: Path) -> None:
    """Killed without warning at random moments: finished tables stay as they are, and the values come out the same."""
    program = "import sys, solver; solver.solve(solver.get_rules('six'), sys.argv[1], progress=False, threads=2)"
    seed = random.randrange(10**6)
    rng = random.Random(seed)
    for _ in range(3):
        before = states(tmp_path)
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
        )
        enough = len(before) + rng.randrange(1, 22)
        deadline = time.monotonic() + 120
        while len(names(tmp_path)) < enough and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(rng.random() * 0.05)
        process.kill()
        _, errors = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), errors.decode()
        after = states(tmp_path)
        assert {name: after[name] for name in before} == before, f"seed {seed}"
        assert names(tmp_path) == {s.name for s in plan(get_rules("six"))[: len(after)]}, f"seed {seed}"
    report = solve(get_rules("six"), tmp_path, progress=False)
    assert len(report.found) == len(after)
    assert values(tmp_path) == values(six), f"seed {seed}"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in six.iterdir()}, "something is left over"


# What is refused


def test_a_second_solver_is_refused(six: Path) -> None:
    with lock(six), pytest.raises(DatabaseError, match="another process is solving"):
        solve(get_rules("six"), six, progress=False)
    assert solve(get_rules("six"), six, progress=False).computed == ()


def test_a_solver_in_another_process_is_refused(tmp_path: Path) -> None:
    holder = """
import sys
from solver.tables.directory import lock
with lock(sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(DatabaseError, match="another process is solving in this directory"):
            solve(THREE, tmp_path, progress=False)
        process.communicate()
    assert names(tmp_path) == set()
    assert len(solve(THREE, tmp_path, progress=False).computed) == len(plan(THREE))


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ({"stones": 5}, "stones=6 instead of 5"),
        ({"quiet_limit": 7}, "quiet_limit=0"),
        ({"flying": True}, "flying=False"),
    ],
)
def test_a_directory_of_other_rules_is_refused(six: Path, switches: dict, words: str) -> None:
    before = states(six)
    with pytest.raises(RulesMismatchError, match=words):
        solve(get_rules("six", **switches), six, progress=False)
    assert states(six) == before


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(DatabaseError, match=r"file.*: .*(is a file|cannot be written)"):
            solve(THREE, path, progress=False)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("damage", ["truncated", "empty", "text"])
def test_a_damaged_table_is_refused_by_name_at_once(copy: Path, damage: str) -> None:
    path = table_path(copy, MovingPair(4, 3))
    table_path(copy, PlacingSubspace(3, 2, 1)).unlink()
    data = {"truncated": path.read_bytes()[:-100], "empty": b"", "text": b"no table"}[damage]
    path.write_bytes(data)
    before = states(copy)
    with pytest.raises(CorruptTableError, match=r"moving_4-3\.h5: .*run the solver again") as caught:
        solve(get_rules("six"), copy, progress=False)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == data
    assert states(copy) == before, "nothing is computed beside a damaged table"


def test_a_damaged_value_is_refused_when_it_is_needed(copy: Path) -> None:
    path = table_path(copy, MovingPair(3, 3))
    data = bytearray(path.read_bytes())
    with Database(copy) as database:
        offset = database.table(MovingPair(3, 3))._datasets["row_to_move"].id.get_chunk_info(0).byte_offset
    data[offset + 1000] ^= 0xFF
    path.write_bytes(data)
    table_path(copy, MovingPair(4, 3)).unlink()
    with pytest.raises(CorruptTableError, match=r"moving_3-3\.h5: "):
        solve(get_rules("six"), copy, progress=False)
    assert "moving_4-3" not in names(copy)
    path.unlink()
    assert len(solve(get_rules("six"), copy, progress=False).computed) == 2


def test_the_placing_phase_needs_the_moving_phase(tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match=r"no table moving_\d-\d for .* 'six'; compute it: .*solve\.py six"):
        solve(get_rules("six"), tmp_path, phase="placing", progress=False)
    assert names(tmp_path) == set()


def test_too_little_memory_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "available_memory", lambda: 1 << 20)
    with pytest.raises(DatabaseError, match="of memory, 1 MB are available"):
        solve(THREE, tmp_path, progress=False)
    assert names(tmp_path) == set()


def test_too_little_disk_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))
    with pytest.raises(DatabaseError, match="of disk, 0 MB are free"):
        solve(THREE, tmp_path, progress=False)


# Tables of other rules with the same values


def test_tables_with_the_same_values_are_taken_over(six: Path, six_double: Path, tmp_path: Path) -> None:
    """The double-mill rule does not reach the moving phase."""
    rules = get_rules("six-double")
    report = solve(rules, tmp_path, reuse=six, progress=False)
    assert report.found == tuple(moving_pairs(rules))
    assert report.computed == tuple(placing_subspaces(rules))
    assert values(tmp_path) == values(six_double)


def test_tables_with_other_values_are_not_taken_over(six: Path, tmp_path: Path) -> None:
    rules = get_rules("six", flying=True)
    assert solve(rules, tmp_path, phase="moving", reuse=six, progress=False).found == ()


def test_nothing_is_taken_over_from_what_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="expected a database directory"):
        solve(THREE, tmp_path / "new", reuse=tmp_path / "none", progress=False)


# Perfect play

GAMES = ["six", "six_double", "six_limited", "five"]
by_game = pytest.mark.parametrize("name", GAMES)


@pytest.fixture
def tablebase(name: str, request: pytest.FixtureRequest) -> Iterator[Tablebase]:
    with open_tablebase(request.getfixturevalue(name)) as opened:
        yield opened


def random_positions(tablebase: Tablebase, wdl: int, rng: random.Random) -> Iterator[Position]:
    """Positions of one result from tables chosen at random, either colour to move. Games that are over are left out."""
    subspaces = tablebase.database.subspaces()
    while True:
        subspace = rng.choice(subspaces)
        plane = rng.choice(subspace.planes)
        table = tablebase.database.table(subspace)
        row, column = (rng.randrange(size) for size in table.shape(plane))
        code = table.read(plane, row, column)
        if (code > 0) - 2 * (code % 2) != wdl:
            continue
        pos = Position.from_fen(tablebase.rules, position_text(tablebase.rules, subspace, plane, row, column))
        if isinstance(subspace, MovingPair) and rng.random() < 0.5:
            turn = "black" if pos.turn == "white" else "white"
            pos = Position.from_stones(tablebase.rules, white=pos.black, black=pos.white, turn=turn)
        if not pos.is_over():
            yield pos


def seen_by_winner(value: Value, winner_moves: bool) -> Value:
    return value if winner_moves else Value(-value.wdl, value.depth)


def check_all_defences(tablebase: Tablebase, pos: Position, plies: int, seen: set[tuple]) -> None:
    """The side to move wins in exactly ``plies``: by every best move, whatever the replies, and by none faster."""
    key = (pos.key, pos.hands)
    if key in seen:
        return
    seen.add(key)
    best = tablebase.best_moves(pos)
    for move in pos.legal_moves:
        pos.push(move)
        left = tablebase.probe(pos)
        if move in best:
            assert left == Value(-1, plies - 1)
            assert (pos.outcome() is not None) == (plies == 1)
            replies = []
            for reply in pos.legal_moves:
                pos.push(reply)
                replies.append(tablebase.probe(pos))
                assert pos.outcome() is None, "the loser has ended the game"
                check_all_defences(tablebase, pos, replies[-1].depth or 0, seen)
                pos.pop()
            assert max((value.depth or 0 for value in replies), default=-1) == (plies - 2 if plies > 1 else -1)
            assert {value.wdl for value in replies} <= {1}
        else:
            assert left.wdl >= 0 or (left.depth or 0) > plies - 1
        pos.pop()


@pytest.mark.parametrize("name", ["six", "six_double"])
def test_short_wins_against_all_defences(tablebase: Tablebase) -> None:
    rng = random.Random(1)
    short = (pos for pos in random_positions(tablebase, 1, rng) if (tablebase.probe_depth(pos) or 99) <= 5)
    for pos in islice(short, 20):
        check_all_defences(tablebase, pos, tablebase.probe_depth(pos) or 0, set())


@by_game
@pytest.mark.parametrize("defence", ["best", "random"])
def test_wins_are_reached_when_promised(tablebase: Tablebase, defence: str) -> None:
    """In exactly the promised plies against the best defence, and no later against any other."""
    rng = random.Random(2)
    for pos in islice(random_positions(tablebase, 1, rng), 25):
        winner, promised = pos.turn, tablebase.probe(pos)
        while (outcome := pos.outcome()) is None:
            winner_moves = pos.turn == winner
            moves = tablebase.best_moves(pos) if winner_moves or defence == "best" else list(pos.legal_moves)
            move = rng.choice(moves)
            phase = pos.phase
            pos.push(move)
            left = seen_by_winner(tablebase.probe(pos), pos.turn == winner)
            assert left.wdl == 1, pos.fen()
            conversion = tablebase.rules.quiet_limit and (phase == "placing" or move.taken)
            if promised.depth is not None and left.depth is not None and not conversion:
                is_best = winner_moves or defence == "best"
                assert left.depth == promised.depth - 1 if is_best else left.depth < promised.depth, pos.fen()
            promised = left
        assert outcome.winner == winner
        assert promised.depth in (0, None)


@by_game
@pytest.mark.parametrize("attack", ["best", "random"])
def test_draws_are_never_lost(tablebase: Tablebase, attack: str) -> None:
    rng = random.Random(3)
    for pos in islice(random_positions(tablebase, 0, rng), 12):
        drawer = rng.choice(["white", "black"])
        for _ in range(120):
            if pos.is_over():
                break
            moves = tablebase.best_moves(pos) if pos.turn == drawer or attack == "best" else list(pos.legal_moves)
            pos.push(rng.choice(moves))
            assert seen_by_winner(tablebase.probe(pos), pos.turn == drawer).wdl >= 0, pos.fen()
        outcome = pos.outcome()
        assert outcome is None or outcome.winner in (None, drawer)


@by_game
def test_the_quiet_turns_so_far_do_not_lose_a_won_game(tablebase: Tablebase) -> None:
    """Under a quiet limit a win goes on from any count of quiet turns that leaves it one; else counts do not matter."""
    rng, rules = random.Random(4), tablebase.rules
    wins = (pos for pos in random_positions(tablebase, 1, rng) if pos.phase == "moving")
    for pos in islice(wins, 25):
        depth = tablebase.probe_depth(pos) or 0
        most = rules.quiet_limit - depth if rules.quiet_limit else 1000
        for quiet_turns, wdl in ((most, 1), (most + 1, 0 if rules.quiet_limit else 1)):
            if quiet_turns > (rules.quiet_limit or 1000):
                continue
            late = Position.from_stones(rules, white=pos.white, black=pos.black, turn=pos.turn, quiet_turns=quiet_turns)
            assert tablebase.probe_wdl(late) == wdl
            winner = pos.turn
            while late.outcome() is None and wdl == 1 and rules.quiet_limit:
                late.push(rng.choice(tablebase.best_moves(late)))
            assert wdl == 0 or not rules.quiet_limit or late.outcome().winner == winner
