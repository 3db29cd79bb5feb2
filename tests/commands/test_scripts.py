"""The scripts as a user runs them: what they print, their exit statuses, and one line for whatever is wrong."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from solver.game.position import Position
from solver.game.rules import PRESETS, Rules, get_rules
from solver.indexing.subspaces import MovingPair, placing_subspaces
from solver.lookup.tablebase import open_tablebase
from solver.tables.database import table_path
from tests.conftest import Run
from tests.support.paths import SCRIPTS
from tests.support.written_tables import alter_value

ROOT = SCRIPTS.parent
THREE = get_rules("six", stones=3)


def start(name: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Starts a script in a process of its own, which heeds Ctrl-C even where the tests were started in background."""
    return subprocess.Popen(
        [sys.executable, SCRIPTS / name, *arguments],
        preexec_fn=None if os.name == "nt" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="session")
def three(solved: Callable[[Rules], Path]) -> Path:
    """The solved directory of three stones a side on 16 points."""
    return solved(THREE)


@pytest.fixture
def copy(three: Path, tmp_path: Path) -> Path:
    """The same for tests that spoil it."""
    return Path(shutil.copytree(three, tmp_path / "copy"))


# solve.py


def test_solve(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("solve.py", "six", "--set", "stones=3", "--dir", tmp_path, "--threads", "1")
    tables = 1 + len(placing_subspaces(THREE))
    assert status == 0
    assert f"{tables} tables computed, 0 found" in out
    assert "the empty board of six+stones=3 is a draw" in out.splitlines()
    assert any(line.split()[:2] == ["moving", "3-3"] for line in out.splitlines())
    status, out, _ = run("solve.py", "six", "--set", "stones=3", "--dir", tmp_path, "--quiet")
    assert status == 0
    assert f"0 tables computed, {tables} found" in out


def test_quiet_is_quiet(run: Run, tmp_path: Path) -> None:
    status, out, errors = run("solve.py", "six", "--set", "stones=3", "--dir", tmp_path, "--quiet")
    assert status == 0
    assert errors == ""
    assert len(out.splitlines()) <= 2


def test_solve_some_pairs(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("solve.py", "six", "--max-stones", "7", "--dir", tmp_path)
    assert status == 0
    assert {path.stem for path in tmp_path.glob("*.h5")} == {"moving_3-3", "moving_4-3"}
    assert "empty board" not in out


def test_solve_one_phase_after_the_other(run: Run, tmp_path: Path) -> None:
    arguments = "six", "--set", "stones=4", "quiet_limit=9", "--dir", tmp_path
    assert run("solve.py", *arguments, "--phase", "moving")[0] == 0
    assert {path.stem for path in tmp_path.glob("*.h5")} == {"moving_3-3", "moving_4-3", "moving_4-4"}
    status, out, _ = run("solve.py", *arguments, "--phase", "placing")
    assert status == 0
    assert "the empty board of six+stones=4+quiet_limit=9 is a" in out


def test_solve_into_the_default_directory(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("solve.py", "six", "--set", "stones=3", "--quiet")[0] == 0
    assert (tmp_path / "data" / "six+stones=3" / "moving_3-3.h5").is_file()


def test_a_plan_computes_nothing(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("solve.py", "six", "--dir", tmp_path / "new", "--plan")
    assert status == 0
    assert "71 tables" in out
    assert any(line.startswith("moving_6-5 ") for line in out.splitlines())
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_known(name: str, run: Run) -> None:
    status, out, _ = run("solve.py", name, "--plan", "--max-stones", "6")
    assert status == 0
    assert "moving_3-3" in out


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs POSIX signals")
def test_control_c_keeps_what_is_finished(tmp_path: Path) -> None:
    with start("solve.py", "nine", "--dir", tmp_path, "--phase", "moving", "--max-stones", "9") as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("*.h5")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted; finished tables are kept, run again to go on"
    assert "Traceback" not in errors
    assert not list(tmp_path.glob(".*tmp*"))


# bench_probe.py


def test_measured_look_ups(run: Run, three: Path) -> None:
    status, out, errors = run("bench_probe.py", three, "--after", 4, "--probes", 3)
    assert (status, errors) == (0, "")
    assert [line.split(":")[0] for line in out.splitlines()] == ["value", "all turns"]
    assert all(line.endswith("us, 3 random positions") for line in out.splitlines())
    status, _, errors = run("bench_probe.py", three, "--after", 6)
    assert (status, errors) == (2, "error: --after 6: expected fewer than 6 placements\n")


# query.py


def test_query_start(run: Run, three: Path) -> None:
    status, out, errors = run("query.py", three, "start")
    lines = out.splitlines()
    assert (status, errors) == (0, "")
    assert "White to move: draw" in lines
    assert len([line for line in lines if line.endswith(" draw") and line.startswith("  ")]) == 16


TEXT = "WW...W../BB.B.... w 0,0 0"


def test_query_as_text(run: Run, three: Path) -> None:
    status, out, _ = run("query.py", three, TEXT, "--line")
    lines = out.splitlines()
    assert status == 0
    with open_tablebase(three) as tablebase:
        pos = Position.from_fen(tablebase.rules, TEXT)
        value, moves, line = tablebase.probe(pos), tablebase.moves(pos), tablebase.line(pos)
    word = {1: f"win in {value.depth}", 0: "draw", -1: f"loss in {value.depth}"}[value.wdl]
    assert f"White to move: {word}" in lines
    first = lines.index(f"White to move: {word}") + 1
    shown = [text.split()[0] for text in lines[first : lines.index("", first)]]
    assert shown == [str(move) for move, _ in moves]
    assert lines[-1] == f"line ({len(line)} plies): {' '.join(map(str, line))}"


@pytest.mark.parametrize("text", [TEXT, "start", "W......./B....... w 2,2 0", "WWW...../BBB..... b 0,0 0"])
def test_query_as_json(run: Run, three: Path, text: str) -> None:
    status, out, _ = run("query.py", three, text, "--json", "--line")
    answer = json.loads(out)
    assert status == 0
    with open_tablebase(three) as tablebase:
        pos = Position.from_fen(tablebase.rules, text)
        assert answer == {
            "rules": "six+stones=3",
            "position": pos.fen(),
            "value": tablebase.probe(pos)._asdict(),
            "outcome": None,
            "moves": [{"move": str(move), "value": value._asdict()} for move, value in tablebase.moves(pos)],
            "line": [str(move) for move in tablebase.line(pos)],
            "tables": answer["tables"],
        }
    assert answer["tables"].startswith("not verified: ")


@pytest.mark.parametrize(
    ("text", "value", "winner", "reason"),
    [
        ("WW....../BBB..... w 0,0 0", (-1, 0), "black", "stones"),
        ("WW....../BBB..... b 0,0 0", (1, 0), "black", "stones"),
        ("WWWB...B/.B...... w 0,0 0", (-1, 0), "black", "blocked"),
    ],
)
def test_query_of_a_finished_game(
    run: Run, three: Path, text: str, value: tuple[int, int], winner: str, reason: str
) -> None:
    status, out, _ = run("query.py", three, text, "--json", "--line")
    answer = json.loads(out)
    assert status == 0
    assert answer["outcome"] == {"winner": winner, "reason": reason}
    assert (answer["value"]["wdl"], answer["value"]["depth"]) == value
    assert answer["moves"] == answer["line"] == []
    assert f"the game is over: Black won ({reason})" in run("query.py", three, text)[1]


# stats.py


def test_statistics_as_csv_are_the_golden_rows(run: Run, six: Path, golden: Path) -> None:
    status, out, errors = run("stats.py", six, "--csv")
    assert (status, errors) == (0, "")
    found = list(csv.DictReader(io.StringIO(out)))
    with (golden / "subspaces.csv").open(newline="") as file:
        expected = [row for row in csv.DictReader(file) if row["rules"] == "six"]
    assert sorted(found, key=sorted_key) == sorted(expected, key=sorted_key)
    assert list(found[0]) == list(expected[0])


def sorted_key(row: dict[str, str]) -> tuple[str, str]:
    return row["mover_stones"], row["opponent_stones"]


def test_statistics_under_a_quiet_limit_are_the_golden_rows(run: Run, six_limited: Path, golden: Path) -> None:
    _, out, _ = run("stats.py", six_limited, "--csv")
    found = [list(row.values())[1:] for row in csv.DictReader(io.StringIO(out))]
    with (golden / "quiet_limit.csv").open(newline="") as file:
        expected = [list(row.values())[2:] for row in csv.DictReader(file)]
    assert sorted(found) == sorted(expected)


def test_statistics_as_text(run: Run, six: Path) -> None:
    status, out, _ = run("stats.py", six)
    rows = {tuple(line.split()[:2]): line.split() for line in out.splitlines() if line.strip()}
    assert status == 0
    assert rows["moving", "6-5"][2:] == ["117,001", "2,146", "7,369", "119", "26"]
    assert rows["moving", "5-6"][2:] == ["25,678", "6,723", "94,115", "25", "118"]
    assert ["placing", "ply", "0", "0", "1", "0", "-", "-"] in [line.split() for line in out.splitlines()]


def test_statistics_with_examples(run: Run, six: Path) -> None:
    """Every example is a position of the value that it is said to have."""
    status, out, _ = run("stats.py", six, "--raw")
    assert status == 0
    examples = [line.split(maxsplit=4) for line in out.splitlines() if line.startswith("  longest ")]
    assert len(examples) > 100
    with open_tablebase(six) as tablebase:
        for _, result, plies, _, text in examples:
            value = tablebase.probe(Position.from_fen(tablebase.rules, text))
            assert value == ({"win": 1, "loss": -1}[result], int(plies))


def test_statistics_of_a_directory_without_tables(run: Run, copy: Path) -> None:
    for path in copy.glob("*.h5"):
        path.unlink()
    status, out, errors = run("stats.py", copy)
    assert (status, errors) == (0, "")
    assert "0 subspaces" in out


def test_a_reader_that_has_seen_enough(six: Path) -> None:
    """As in ``stats.py ... | head``."""
    with start("stats.py", six, "--raw") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


# verify.py


def test_verify(run: Run, three: Path, tmp_path: Path) -> None:
    arguments = "--json", tmp_path / "report.json", "--threads", "1", "--no-record"
    status, out, errors = run("verify.py", three, *arguments)
    assert (status, errors) == (0, "")
    assert "0 disagreements" in out
    assert json.loads((tmp_path / "report.json").read_text())


def test_verify_finds_a_false_value(run: Run, copy: Path) -> None:
    alter_value(copy, MovingPair(3, 3), "row_to_move", 5, 7, 200)
    status, out, _ = run("verify.py", copy)
    assert status == 1
    assert out.startswith("moving_3-3/row_to_move: ")
    assert "Traceback" not in out


def test_verify_a_sample_of_some_pairs(run: Run, six: Path) -> None:
    status, out, _ = run("verify.py", six, "--sample", "50", "--max-stones", "7", "--seed", "3", "--no-record")
    assert status == 0
    assert "150 values of 3 planes" in out


def test_what_has_been_verified_is_shown_until_a_table_changes(run: Run, copy: Path) -> None:
    assert "not verified: moving_3-3 (never checked)" in run("stats.py", copy)[1]
    status, out, _ = run("verify.py", copy)
    assert status == 0
    assert out.splitlines()[-1] == f"recorded in {copy / 'verify.json'}"
    tables = len(list(copy.glob("*.h5")))
    assert f"verified: {tables} of {tables} tables value by value" in run("stats.py", copy)[1]
    assert "tables verified: 1 of 1 tables value by value" in run("query.py", copy, TEXT)[1]
    alter_value(copy, MovingPair(3, 3), "row_to_move", 5, 7, 200)
    assert (
        "\nnot verified: moving_3-3 (moving_3-3 is another file than when it was checked)" in run("stats.py", copy)[1]
    )
    assert "tables not verified: moving_3-3 " in run("query.py", copy, TEXT)[1]
    assert run("verify.py", copy)[0] == 1
    assert "not verified: moving_3-3 (" in run("stats.py", copy)[1]


def test_verify_compares_counts(run: Run, six: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text(run("stats.py", six, "--csv")[1])
    arguments = six, "--sample", "5", "--max-stones", "6", "--no-record", "--counts", counts
    for file in (counts, ROOT / "data" / "results" / "six.csv"):
        status, out, _ = run("verify.py", *arguments[:-1], file)
        assert (status, out.splitlines()[-1]) == (0, f"0 differences from the counts of {file}")
    counts.write_text(counts.read_text().replace("six,3,3,70696", "six,3,3,70697"))
    status, out, _ = run("verify.py", *arguments)
    assert status == 1
    assert "3-3: raw_wins 70696, expected 70697" in out.splitlines()
    for text in ("rules,mover_stones\nsix,3\n", "nonsense", ""):
        counts.write_text(text)
        check_refused(run("verify.py", *arguments), "counts.csv")
    counts.write_bytes(b"\xff\xfe")
    check_refused(run("verify.py", *arguments), "counts.csv", "no text in UTF-8")
    check_refused(run("verify.py", *arguments[:-1], tmp_path / "none"), "cannot be read")


# What is wrong is said on one line


def damage(directory: Path) -> Path:
    """Cut one table short."""
    path = table_path(directory, MovingPair(3, 3))
    path.write_bytes(path.read_bytes()[:-500])
    return directory


def check_refused(found: tuple[int, str, str], *words: str) -> None:
    status, out, errors = found
    assert status == 2
    assert len(errors.splitlines()) == 1, errors
    assert errors.startswith("error: ")
    for word in words:
        assert word in errors
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ten"], "unknown preset 'ten'; known: kurnik"),
        ([""], "unknown preset ''"),
        (["six", "--set", "stones=9"], "stones=9"),
        (["six", "--set", "stones=2"], "3 to 8 stones"),
        (["six", "--set", "stones=six"], "--set stones='six': expected a whole number"),
        (["six", "--set", "stones="], "--set stones='': expected a whole number"),
        (["six", "--set", "stones=1\n2"], r"--set stones='1\n2': expected a whole number"),
        (["six", "--set", "a\nb=2"], r"--set 'a\nb=2': expected SWITCH=VALUE"),
        (["six", "--set", "flying=\n"], r"--set flying='\n': expected on or off"),
        (["six", "--set", "stones=³"], "expected a whole number"),
        (["six", "--set", "double_mill=3"], "double_mill=3"),
        (["six", "--set", "double_mill=0"], "double_mill=0"),
        (["six", "--set", "quiet_limit=-1"], "quiet_limit=-1"),
        (["six", "--set", "quiet_limit=99999999999"], "quiet_limit='99999999999'"),
        (["six", "--set", "flying=maybe"], "--set flying='maybe': expected on or off"),
        (["six", "--set", "flying"], "--set 'flying': expected SWITCH=VALUE"),
        (["six", "--set", "board=9"], "--set 'board=9': expected SWITCH=VALUE with one of stones, flying"),
        (["six", "--set", "colour=red"], "--set 'colour=red'"),
        (["six", "--max-stones", "5"], "max_stones=5: the smallest pair"),
        (["six", "--max-stones", "8", "--phase", "placing"], "placing phase needs all"),
        (["six", "--max-stones", "0"], "expected a whole number of at least 1"),
        (["six", "--threads", "-2"], "threads"),
        (["six", "--phase", "opening"], "opening"),
        (["six", "--fast"], "--fast"),
        ([], "PRESET"),
    ],
    ids=" ".join,
)
def test_solve_refuses(run: Run, tmp_path: Path, arguments: list[str], words: str) -> None:
    check_refused(run("solve.py", *arguments, "--dir", tmp_path / "new"), words)
    assert not (tmp_path / "new").exists()


def test_solve_refuses_a_file_in_the_place_of_the_directory(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check_refused(run("solve.py", "six", "--dir", tmp_path / "file"), str(tmp_path / "file"))
    check_refused(run("solve.py", "six", "--dir", tmp_path / "file" / "deeper"), str(tmp_path / "file"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_solve_refuses_a_directory_that_may_not_be_written(run: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        check_refused(run("solve.py", "six", "--dir", tmp_path / "new"), "cannot be written", "permissions")
    finally:
        tmp_path.chmod(0o700)


def test_solve_refuses_a_directory_of_other_rules(run: Run, three: Path) -> None:
    check_refused(run("solve.py", "six", "--dir", three), "six+stones=3", "stones=3 instead of 6", "another directory")


def test_solve_refuses_a_damaged_table(run: Run, copy: Path) -> None:
    check_refused(run("solve.py", "six", "--set", "stones=3", "--dir", damage(copy)), "moving_3-3.h5")


def test_solve_needs_the_moving_phase_for_placing(run: Run, tmp_path: Path) -> None:
    found = run("solve.py", "six", "--set", "stones=3", "--phase", "placing", "--dir", tmp_path)
    check_refused(found, "no table moving_3-3", "compute it")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("WW....../BB.... w 2,2 0", "ring 2 has 6 points, expected 8"),
        ("WW......./BB..... w 1,1 0", "ring 1 has 9 points, expected 8"),
        ("........ w 3,3 0", "1 rings, expected 2"),
        ("......../......../........ w 3,3 0", "3 rings, expected 2"),  # of the board with 24 points
        ("WX....../BB...... w 1,1 0", "'X'"),
        ("ww....../BB...... w 1,1 0", "'w'"),
        ("WWWW..../BB...... w 0,0 0", "the rules give 3"),
        ("WWW...../BB...... w 1,1 0", "the rules give 3"),
        ("W......./B....... w 1,2 0", "hand"),
        ("W......./B....... w 0,2 0", "hand"),
        ("W......./B....... x 2,2 0", "'x', expected w or b"),
        ("W......./B....... w 2 0", "stones in hand"),
        ("W......./B....... w 2,2 -1", "quiet turns"),
        ("W......./B....... w 2,2", "3 fields, expected 4"),
        ("", "0 fields, expected 4"),
        ("WW\n....../BB...... w 1,1 0", "5 fields"),
        ("W" * 5000, "..."),
    ],
)
def test_query_refuses(run: Run, three: Path, text: str, words: str) -> None:
    check_refused(run("query.py", three, text), words)
    check_refused(run("query.py", three, text, "--json", "--line"), words)


def test_query_refuses_a_directory_without_database(run: Run, tmp_path: Path) -> None:
    check_refused(run("query.py", tmp_path, "start"), str(tmp_path), "expected a database directory")
    check_refused(run("query.py", tmp_path / "none", "start"), "does not exist")


def test_query_names_a_missing_table(run: Run, copy: Path) -> None:
    table_path(copy, MovingPair(3, 3)).unlink()
    check_refused(run("query.py", copy, TEXT), "no table moving_3-3", "compute it: ", "solve.py")


def test_query_does_not_advise_to_compute_what_play_cannot_reach(run: Run, three: Path) -> None:
    """Stones that have vanished without a mill: no solver makes such a table."""
    status, _, errors = run("query.py", three, "......../........ w 2,2 0")
    assert status == 2
    assert len(errors.splitlines()) == 1
    assert "compute it" not in errors


def test_query_refuses_a_damaged_table(run: Run, copy: Path) -> None:
    check_refused(run("query.py", damage(copy), TEXT), "moving_3-3.h5", "run the solver again")


def test_statistics_and_verification_refuse_what_is_damaged_or_missing(run: Run, copy: Path, tmp_path: Path) -> None:
    for script in ("stats.py", "verify.py"):
        check_refused(run(script, tmp_path / "none"), "does not exist")
        check_refused(run(script), "DIR")
    damage(copy)
    for script in ("stats.py", "verify.py"):
        check_refused(run(script, copy), "moving_3-3.h5")


def test_verification_refuses_a_report_that_cannot_be_written(run: Run, three: Path, tmp_path: Path) -> None:
    found = run("verify.py", three, "--sample", "10", "--no-record", "--json", tmp_path / "none" / "report.json")
    check_refused(found, "cannot be written")


@pytest.mark.parametrize("name", ["solve.py", "query.py", "stats.py", "verify.py"])
def test_help_shows_examples(run: Run, name: str) -> None:
    status, out, _ = run(name, "--help")
    assert status == 0
    assert "examples:" in out


def test_a_script_runs_by_itself(tmp_path: Path) -> None:
    """From any folder, as a process of its own."""
    with start("solve.py", "six", "--set", "stones=9", "--dir", tmp_path) as process:
        out, errors = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert len(errors.splitlines()) == 1
