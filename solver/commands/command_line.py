"""What the scripts share: rules from the command line, and errors as one line with exit status 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from solver.errors import RulesError, SolverError
from solver.game.notation import shorten
from solver.game.rules import PRESETS, SWITCHES, Rules, get_rules

EXIT_OK, EXIT_DISAGREES, EXIT_ERROR, EXIT_INTERRUPTED = 0, 1, 2, 130

_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments on one line, as for every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_ERROR, f"error: {message}; see {self.prog} --help\n")


def parser(description: str, examples: str) -> argparse.ArgumentParser:
    """An argument parser whose help ends with examples."""
    return _Parser(
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_rules_arguments(arguments: argparse.ArgumentParser) -> None:
    """Add ``PRESET`` and ``--set SWITCH=VALUE ...``."""
    arguments.add_argument("preset", metavar="PRESET", help=f"rule set: {', '.join(PRESETS)}")
    arguments.add_argument(
        "--set",
        metavar="SWITCH=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help=f"change switches of the preset: {', '.join(s for s in SWITCHES if s != 'board')}",
    )


def parse_rules(preset: str, settings: Sequence[str]) -> Rules:
    """The preset with ``SWITCH=VALUE`` settings. :raises RulesError: for anything that cannot be"""
    switches: dict[str, int | bool] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in SWITCHES or name == "board":
            known = ", ".join(switch for switch in SWITCHES if switch != "board")
            raise RulesError(f"--set {shorten(setting)}: expected SWITCH=VALUE with one of {known}")
        switches[name] = _parse_value(name, text)
    return get_rules(preset, **switches)


def _parse_value(name: str, text: str) -> int | bool:
    if name == "flying":
        if text.lower() not in _WORDS:
            raise RulesError(f"--set flying={shorten(text)}: expected on or off")
        return _WORDS[text.lower()]
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 9):
        raise RulesError(f"--set {name}={shorten(text)}: expected a whole number")
    return int(text)


def positive(text: str) -> int:
    """An argument type: a whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {shorten(text)}")
    return int(text)


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``; bytes that are no UTF-8 become marks that no reader takes.

    :raises SolverError: where it cannot be read
    """
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise SolverError(f"{path}: cannot be read ({error.strerror}); expected a text file, or - for input") from error
    return data.decode("utf-8", errors="replace")


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Make one line of an output file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise SolverError(f"{path}: cannot be written ({error.strerror}); choose another file") from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Make one line of an input file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise SolverError(f"{path}: cannot be read ({error.strerror}); choose another file") from error
    except UnicodeDecodeError as error:
        raise SolverError(f"{path}: no text in UTF-8 ({error.reason}); choose another file") from error


def run(main: Callable[[], int]) -> NoReturn:
    """Run ``main`` and leave with its status; expected errors become one line and status 2."""
    try:
        status = main()
        sys.stdout.flush()
    except SolverError as error:
        print(f"error: {' '.join(str(error).splitlines())}", file=sys.stderr)  # a file may be named on two lines
        status = EXIT_ERROR
    except MemoryError:
        print(
            "error: out of memory; close other programs; finished tables are kept",
            file=sys.stderr,
        )
        status = EXIT_ERROR
    except KeyboardInterrupt:
        print("interrupted; finished tables are kept, run again to go on", file=sys.stderr)
        status = EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = EXIT_OK
    sys.exit(status)
