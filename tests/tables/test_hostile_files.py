"""Input made to do harm: no crash, no hang, no hunger for memory, nothing run or read that is not ours.

``tests/fuzz`` has the long versions: damaged files, and a fuzzer guided by coverage for the parsers.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.commands import command_line
from solver.errors import CorruptTableError, DatabaseError, IllegalMoveError, PositionError, RulesError
from solver.game.notation import format_position, format_turn, parse_position, parse_turn
from solver.game.position import Position
from solver.game.rules import PRESETS, get_rules
from solver.indexing.subspaces import parse_name
from solver.lookup.tablebase import open_tablebase
from solver.solving.job import solve
from solver.tables.database import Database, Table, create_directory, read_rules
from solver.tables.directory import rules_from_json, rules_to_json
from tests.fuzz.damaged_files import RULES, make_original
from tests.support.paths import ROOT
from tests.support.written_tables import attributes_checksum

THREE = get_rules("six", stones=3)


# Files that fit their checksums


def replaced(name: str, **layout: object) -> Callable[[h5py.File], None]:
    """Replaces a dataset."""

    def change(file: h5py.File) -> None:
        attributes = dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, **layout).attrs.update(attributes)  # type: ignore[arg-type]

    return change


def linked(name: str, link: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]
        file[name] = link

    return change


def virtual(file: h5py.File) -> None:
    shape = file["rows"].shape
    del file["rows"]
    layout = h5py.VirtualLayout(shape, "u4")
    layout[:] = h5py.VirtualSource("/dev/zero", "rows", shape)
    file.create_virtual_dataset("rows", layout)


def attribute(name: str, value: object, item: str = "/") -> Callable[[h5py.File], None]:
    return lambda file: file[item].attrs.__setitem__(name, value)


HUGE = {"shape": (1 << 40,), "dtype": "u4", "chunks": (1 << 20,), "compression": "gzip"}


@pytest.mark.parametrize(
    "change",
    [
        replaced("rows", **HUGE),
        replaced("statistics/row_to_move", shape=(1 << 38, 2), dtype="i8", chunks=(1 << 10, 2)),
        replaced("checksums/row_to_move", shape=(1 << 20, 1 << 20), dtype="u4", chunks=(1 << 10, 1 << 10)),
        replaced("symmetries", shape=(1 << 40, 16), dtype="u1", chunks=(1 << 10, 16)),
        replaced("rows", shape=(140,), dtype="u4", external=[("/dev/zero", 0, 560)]),
        replaced("rows", data=np.zeros(140, "f4")),
        replaced("rows", data=["text"]),
        replaced("statistics/row_to_move", data=np.zeros((5, 3), "i8")),
        replaced("statistics/row_to_move", data=np.zeros((0, 2), "i8")),
        replaced("statistics/row_to_move", data=np.zeros(6, "i8")),
        replaced("row_to_move", shape=(140, 220), dtype="u1", chunks=(1 << 16, 1 << 14), maxshape=(None, None)),
        linked("rows", h5py.SoftLink("/symmetries")),
        linked("row_to_move", h5py.SoftLink("/row_to_move")),
        linked("rows", h5py.ExternalLink("/etc/passwd", "/rows")),
        linked("column_to_move", h5py.ExternalLink("moving_3-3.h5", "/row_to_move")),
        virtual,
        attribute("metric", "furlongs"),
        attribute("metric", np.zeros(3)),
        attribute("seconds", "long"),
        attribute("seconds", h5py.Empty("f8")),
        attribute("subspace", "moving_4-3\n"),
        attribute("rules", "[" * 100_000),
        attribute("rules", "{}"),
        attribute("rules", 7),
        attribute("format_version", 2.5e300),
        attribute("format_version", np.nan),
        attribute("longest_win_index", 7, "row_to_move"),
        attribute("longest_win_index", "ab", "row_to_move"),
        attribute("longest_win_example", "\x1b[2J", "row_to_move"),
    ],
)
def test_hostile_tables_are_refused(tmp_path: Path, change: Callable[[h5py.File], None]) -> None:
    """Some claim terabytes, which no machine gives."""
    path = make_original(tmp_path)
    with h5py.File(path, "r+") as file:
        change(file)
    # Some are too hostile even for us: the reader has to stop before it asks for the checksum.
    with (
        contextlib.suppress(OSError, RuntimeError, KeyError, TypeError, ValueError, MemoryError),
        h5py.File(path, "r+") as file,
    ):
        file.attrs["attributes_checksum"] = attributes_checksum(file)
    with pytest.raises(DatabaseError) as error:
        Table(path).check()
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_a_packed_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """A chunk that claims to be a few bytes and unpacks to gigabytes."""
    import zlib

    path = make_original(tmp_path)
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    with h5py.File(path, "r+") as file:
        file["row_to_move"].id.write_direct_chunk((0, 0), bomb)
    with pytest.raises(CorruptTableError, match=r"claims|altered"):
        Table(path).check()


def test_a_pipe_in_the_place_of_a_table_does_not_keep_us_waiting(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "moving_4-3.h5")
    with pytest.raises(DatabaseError, match="cannot be opened"):
        Table(tmp_path / "moving_4-3.h5").check()


# Manifests


def with_changes(**changes: object) -> str:
    document = json.loads(rules_to_json(RULES))
    board = changes.pop("board", {})
    document |= changes
    document["board"] |= board
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 10_000,
        '{"format": "merels rules", "format_version": 1e400}',
        with_changes(name="\x1b[2J"),
        with_changes(name="x" * 10_000),
        with_changes(name=5),
        with_changes(name=None),
        with_changes(stones=10**100),
        with_changes(board={"points": ["a"] * 10**6}),
        with_changes(board={"edges": [[0.0, 1.0]]}),
        with_changes(board={"edges": [[0, 10**30]]}),
        with_changes(board={"lines": [[0, 1]]}),
        with_changes(board={"rings": ["16"]}),
        with_changes(board={"name": "\n"}),
        with_changes(fingerprints={}),
        with_changes(fingerprints=[[]]),
        "null",
        "",
    ],
    ids=range(18),
)
def test_hostile_manifests_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(DatabaseError) as error:
        read_rules(tmp_path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000 + len(str(tmp_path))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def attempt(function: Callable[..., Any], kind: type[Exception], *arguments: Any) -> Any:
    """What ``function`` returns, or None where it refuses its input, which it must do in one short line."""
    try:
        return function(*arguments)
    except kind as error:
        text = str(error)
    assert len(text.splitlines()) <= 1, repr(text)
    assert len(text) < 1000
    assert "\x1b" not in text
    return None


KEYS = ["name", "stones", "flying", "double_mill", "quiet_limit", "board", "fingerprints"]


@given(st.sampled_from(KEYS), json_values)
@settings(max_examples=100)
def test_any_manifest_is_read_or_refused(key: str, value: object) -> None:
    document = json.loads(rules_to_json(RULES)) | {key: value}
    found = attempt(rules_from_json, DatabaseError, json.dumps(document), "there")
    assert found in (None, RULES)


# Text

LETTERS = "WB.wbx/ ,-0123456789start\n\t\x00é棋"
near_positions = st.builds(
    lambda text, place, letters: text[:place] + letters + text[place + len(letters) :],
    st.sampled_from(["WW.W..../..BBB... b 2,3 0", "......../........ w 6,6 0", "WWW...../BBB..... w 0,0 12"]),
    st.integers(0, 25),
    st.text(LETTERS, max_size=4),
)


def read_position(text: str) -> None:
    """Reads it and writes it again, or refuses it."""
    for rules in (RULES, PRESETS["kurnik-100"]):
        fields = attempt(parse_position, PositionError, rules, text)
        assert fields is None or parse_position(rules, format_position(rules.board, fields)) == fields


@given(st.text(max_size=60) | st.text(LETTERS, max_size=40) | near_positions)
@settings(max_examples=500)
def test_any_position_text_is_read_or_refused(text: str) -> None:
    read_position(text)


@pytest.mark.slow
def test_a_hundred_thousand_position_texts() -> None:
    """A minute: texts that are nearly right, by chance. ``python -m pytest tests/test_hostile.py -m slow``."""
    rng = np.random.default_rng(11)
    whole = ["WW.W..../..BBB... b 2,3 0", "......../........ w 6,6 0", "W.B...../......../......W. b 0,0 99"]
    read = 0
    for _ in range(100_000):
        text = list(whole[rng.integers(len(whole))])
        for _ in range(rng.integers(0, 4)):
            place = int(rng.integers(len(text) + 1))
            match rng.integers(3):
                case 0:
                    text[place : place + 1] = LETTERS[rng.integers(len(LETTERS))]
                case 1:
                    text.insert(place, LETTERS[rng.integers(len(LETTERS))])
                case _:
                    del text[place : place + int(rng.integers(1, 5))]
        read_position("".join(text))
        read += 1
    assert read == 100_000


@given(st.text(max_size=30) | st.text("abcdefgx-1234567 ", max_size=12))
def test_any_turn_text_is_read_or_refused(text: str) -> None:
    turn = attempt(parse_turn, IllegalMoveError, RULES.board, text)
    assert turn is None or parse_turn(RULES.board, format_turn(RULES.board, *turn)) == turn


@given(st.text(max_size=30) | st.from_regex(r"(moving|placing)_[0-9]{0,4}[-_]?[0-9]{0,4}-?[0-9]*", fullmatch=True))
def test_any_file_name_is_a_subspace_or_not(text: str) -> None:
    subspace = attempt(parse_name, ValueError, text)
    assert subspace is None or subspace.name == text


@given(st.lists(st.text(max_size=20) | st.from_regex(r"(stones|flying|quiet_limit|double_mill)=.*"), max_size=3))
def test_any_setting_is_understood_or_refused(settings: list[str]) -> None:
    rules = attempt(command_line.parse_rules, RulesError, "six", settings)
    assert rules is None or rules.board == RULES.board


# Paths


@pytest.mark.parametrize("name", ["with spaces", "młynek 棋 ü", "-dash", "a'b\"c", "%s {0}", "new\nline"])
def test_names_of_directories(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the system allows, also as a relative path, and from another working directory later."""
    monkeypatch.chdir(tmp_path)
    solve(THREE, name, progress=False)
    with open_tablebase(name) as tablebase:
        monkeypatch.chdir("/")
        assert tablebase.probe(Position(THREE)).wdl == 0
        assert tablebase.line(Position.from_fen(THREE, "WW...W../BB.B.... w 0,0 0"))
    with Database(tmp_path / name) as database:
        assert len(database.subspaces()) == len(list((tmp_path / name).glob("*.h5")))


def test_symbolic_links(tmp_path: Path) -> None:
    """To a directory, to a table, and to nowhere."""
    solve(THREE, tmp_path / "real", progress=False)
    (tmp_path / "link").symlink_to("real")
    table = tmp_path / "real" / "moving_3-3.h5"
    table.rename(tmp_path / "elsewhere.h5")
    table.symlink_to(tmp_path / "elsewhere.h5")
    assert solve(THREE, tmp_path / "link", progress=False).computed == ()
    with open_tablebase(tmp_path / "link") as tablebase:
        assert tablebase.probe(Position(THREE)).wdl == 0
    (tmp_path / "elsewhere.h5").unlink()
    assert [subspace.name for subspace in solve(THREE, tmp_path / "link", progress=False).computed] == ["moving_3-3"]
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DatabaseError) as error:
        create_directory(tmp_path / "loop", THREE)
    assert "\n" not in str(error.value)


def test_nothing_is_run_from_data() -> None:
    """No module evaluates text, unpickles or starts a program; ``jit`` unpickles what its own checksum covers."""
    for path in (ROOT / "solver").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        found = re.findall(r"\b(eval|exec|pickle\.loads?|np\.load|os\.system|subprocess|__import__)\b\(?", source)
        assert not found or (path.name, set(found)) == ("jit.py", {"pickle.loads"}), path


def test_command_lines_in_a_language_of_bytes(tmp_path: Path) -> None:
    """Arguments that are no UTF-8, in the C locale."""
    script = os.fsencode(ROOT / "scripts" / "query.py")
    for arguments in ([b"\xff\xfe", b"start"], [b"no\nwhere", b"\xff W"]):
        run = subprocess.run(
            [os.fsencode(sys.executable), script, *arguments],
            env={"PYTHONPATH": str(ROOT), "LC_ALL": "C", "PATH": os.environ["PATH"], "PYTHONUTF8": "0"},
            capture_output=True,
            check=False,
        )
        assert run.returncode == 2
        assert b"Traceback" not in run.stderr
        assert len(run.stderr.splitlines()) == 1, run.stderr
