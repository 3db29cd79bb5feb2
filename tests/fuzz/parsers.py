"""The parsers under a fuzzer that is guided by coverage.

It needs atheris from PyPI (not a dependency; it has builds for Linux and macOS)::

    pip install atheris
    python -m tests.fuzz.parsers -max_total_time=300

It runs until the time is over, and stops at an input that raises an error which is not the right one, takes long or
much memory; it leaves that input in a file, which is tried again by giving its name as an argument.
"""

import os
import sys
import tempfile
from pathlib import Path

import atheris

os.environ["NUMBA_DISABLE_JIT"] = "1"  # atheris adds calls to the functions it watches, which numba cannot compile

INSTRUMENTED = ("game.notation", "tables.directory", "indexing.subspaces", "commands.command_line", "records")

with atheris.instrument_imports(include=[f"solver.{name}" for name in INSTRUMENTED]):
    from solver.commands import command_line
    from solver.errors import SolverError
    from solver.game.notation import format_position, format_turn, parse_position, parse_turn
    from solver.game.position import Position
    from solver.game.rules import PRESETS
    from solver.indexing.subspaces import parse_name
    from solver.records.games import read_games
    from solver.records.sanmill import format_fen, parse_fen
    from solver.tables.directory import rules_from_json, rules_to_json

RULES, NINE = PRESETS["six"], PRESETS["nine"]


def read_position(text: str) -> None:
    fields = parse_position(RULES, text)
    assert parse_position(RULES, format_position(RULES.board, fields)) == fields


def read_turn(text: str) -> None:
    turn = parse_turn(RULES.board, text)
    assert parse_turn(RULES.board, format_turn(RULES.board, *turn)) == turn


def read_name(text: str) -> None:
    try:
        assert parse_name(text).name == text
    except ValueError as error:
        if "names no subspace" not in str(error):
            raise


def read_manifest(text: str) -> None:
    rules_from_json.__wrapped__(text, "there")  # without its memory


def read_settings(text: str) -> None:
    command_line.parse_rules("six", text.split(" "))


def read_records(text: str) -> None:
    read_games(text)


def read_sanmill(text: str) -> None:
    position = parse_fen(NINE, text)
    assert Position.from_fen(NINE, position.fen()) == position


PARSERS = (read_position, read_turn, read_name, read_manifest, read_settings, read_records, read_sanmill)


SEEDS = (
    "......../........ w 6,6 0",
    "WW.W..../..BBB... b 2,3 0",
    "c4xd4xe3",
    "b4-c4xd4",
    "placing_07_4-3",
    "moving_6-5",
    rules_to_json(RULES),
    "stones=4 flying=on quiet_limit=40",
    '[White "a"]\n\n1. d6 f4 2. d2 {so} b4 3. a4 1/2-1/2',
    "1. 10-1x23 3x9x23 *",
    '[Rules "six"]\n1. c5 a5',
    format_fen(Position(NINE)),
)


def try_one(data: bytes) -> None:
    """The first byte chooses the parser, the rest is its text."""
    parser = PARSERS[(data[0] if data else 0) % len(PARSERS)]
    try:
        parser(data[1:].decode("utf-8", "replace"))
    except SolverError as error:
        if len(str(error).splitlines()) > 1:
            raise RuntimeError(f"more than one line: {str(error)!r}") from error


def main() -> None:
    with tempfile.TemporaryDirectory() as corpus:
        for number, text in enumerate(SEEDS):
            for parser in range(len(PARSERS)):
                (Path(corpus) / f"{number}-{parser}").write_bytes(bytes([parser]) + text.encode())
        limits = "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"
        given_files = [name for name in sys.argv[1:] if not name.startswith("-")]
        atheris.Setup([*sys.argv, *limits, *([] if given_files else [corpus])], try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
