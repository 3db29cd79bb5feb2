"""Directories of tables: the manifest with the rules, the lock, files that appear whole or not at all.

Also the place where errors of the system and of HDF5 become one line that says what to do.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from solver.errors import CorruptTableError, DatabaseError, FormatVersionError, RulesMismatchError
from solver.game.boards import Board
from solver.game.rules import PRESETS, Phase, Rules

RULES_FORMAT = "merels rules"
FORMAT_VERSION = 1
"""Of the directories and of the files in them."""

COMPUTE_AGAIN = "delete the file and run the solver again, which computes only what is missing"

_RULES_FILE, _LOCK_FILE = "rules.json", ".lock"
_TEMPORARY = ".tmp-"
_LONGEST_NAME = 500
_MOST_LETTERS = 1 << 20  # that are read of a manifest; it has some thousand
_PHASES: tuple[Phase, ...] = ("moving", "placing")


def rules_to_json(rules: Rules, indent: int | None = None) -> str:
    """``rules`` with its whole board as JSON text; edges and lines join points by number."""
    board = rules.board
    document = {
        "format": RULES_FORMAT,
        "format_version": FORMAT_VERSION,
        "name": rules.name,
        "stones": rules.stones,
        "flying": rules.flying,
        "double_mill": rules.double_mill,
        "quiet_limit": rules.quiet_limit,
        "board": {
            "name": board.name,
            "points": board.points,
            "edges": board.edges,
            "lines": board.lines,
            "rings": board.rings,
        },
        "fingerprints": {phase: rules.fingerprint(phase) for phase in _PHASES},
    }
    return json.dumps(document, indent=indent)


@lru_cache(maxsize=64)  # so that the tables of one directory share one Board and what is derived from it
def rules_from_json(text: str, source: str) -> Rules:
    """The rules in ``text``; messages name the ``source``.

    :raises FormatVersionError: for a document of another version
    :raises CorruptTableError: for anything else that is not such a document
    """
    try:
        document = json.loads(text)
        if document["format"] != RULES_FORMAT:
            raise CorruptTableError(f"{source}: format {document['format']!r}, expected {RULES_FORMAT!r}")
        check_version(source, document["format_version"])
        board = document["board"]
        for name in (document["name"], board["name"]):
            if not name.isprintable() or len(name) > _LONGEST_NAME:
                raise ValueError(f"a name that cannot be printed, or of more than {_LONGEST_NAME} letters")
        rules = Rules(
            document["name"],
            Board(
                board["name"],
                tuple(board["points"]),
                tuple((a, b) for a, b in board["edges"]),
                tuple((a, b, c) for a, b, c in board["lines"]),
                tuple(board["rings"]),
            ),
            document["stones"],
            document["flying"],
            document["double_mill"],
            document["quiet_limit"],
        )
        intact = document["fingerprints"] == {phase: rules.fingerprint(phase) for phase in _PHASES}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptTableError(
            f"{source}: the rules cannot be read ({type(error).__name__}: {reason(error)}); "
            "restore the file, or delete it and run the solver again"
        ) from error
    if not intact:
        raise CorruptTableError(
            f"{source}: the rules were altered, they do not match their fingerprints; restore the file"
        )
    preset = PRESETS.get(rules.name)
    return preset if preset == rules else rules  # the same object, so that what has been derived from it is found


def check_version(source: str | Path, version: int) -> None:
    """:raises FormatVersionError: for a format version that this package does not read"""
    if version != FORMAT_VERSION:
        advice = (
            "update this package" if version > FORMAT_VERSION else "compute it again, or read it by an older release"
        )
        raise FormatVersionError(f"{source}: format version {version}, expected {FORMAT_VERSION}; {advice}")


def differences(found: Rules, expected: Rules, phase: Phase) -> list[str]:
    """The switches that matter to ``phase`` and differ, in words."""
    theirs = found.matters_to(phase)
    words = []
    for switch, value in expected.matters_to(phase).items():
        if switch == "board" and theirs[switch] != value:
            words.append(f"board {found.board.name!r} has other points, edges or lines than {expected.board.name!r}")
        elif switch in theirs and theirs[switch] != value:
            words.append(f"{switch}={theirs[switch]} instead of {value}")
    return words


def create_directory(path: str | Path, rules: Rules) -> None:
    """Make ``path`` a database directory of ``rules``; nothing happens where it is one already.

    :raises RulesMismatchError: where it is one of other rules
    :raises DatabaseError: where it cannot be made or written
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise DatabaseError(f"{path}: is a file, expected a directory; choose another name")
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        if not (path / _RULES_FILE).exists():
            with temporary_file(path / _RULES_FILE) as temporary:
                temporary.write_text(rules_to_json(rules, indent=1) + "\n", encoding="utf-8")
    check_same_rules(path, rules)


def check_same_rules(path: Path, rules: Rules) -> Rules:
    """The rules of a database directory. :raises RulesMismatchError: where they are others than ``rules``"""
    found = read_rules(path)
    if words := differences(found, rules, "placing"):
        raise RulesMismatchError(
            f"{path}: a database of the rules {found.name!r}, expected {rules.name!r}: {', '.join(words)}; "
            "use another directory for other rules"
        )
    return found


def read_rules(path: str | Path) -> Rules:
    """The rules of a database directory. :raises DatabaseError: where it is none"""
    file = Path(path) / _RULES_FILE
    if not file.is_file():
        found = f"has no {_RULES_FILE}" if Path(path).is_dir() else "does not exist"
        raise DatabaseError(f"{path}: expected a database directory, but it {found}; scripts/solve.py makes one")
    try:
        with file.open(encoding="utf-8") as source:
            text = source.read(_MOST_LETTERS)
    except (OSError, UnicodeDecodeError) as error:
        raise DatabaseError(f"{file}: cannot be read ({reason(error)}); restore the file") from error
    return rules_from_json(text, str(file))


@contextmanager
def lock(directory: str | Path) -> Iterator[None]:
    """Hold the directory for one solver.

    The system lets go when the process ends, however it ends. Readers need no lock.

    :raises DatabaseError: where another solver holds it
    """
    path = Path(directory) / _LOCK_FILE
    with writing(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock_handle(handle, path)
        yield
    finally:
        os.close(handle)


def _lock_handle(handle: int, path: Path) -> None:
    if sys.platform == "win32":  # two solvers would merely do the same work twice
        return
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DatabaseError(
            f"{path.parent}: another process is solving in this directory; wait until it has finished, or stop it"
        ) from None
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be locked ({reason(error)}); use a disk that knows locks") from error


def remove_leftovers(directory: str | Path) -> None:
    """Remove the temporary files of solvers that were killed. Call it with the :func:`lock` held."""
    with writing(Path(directory)):
        for leftover in Path(directory).glob(f".*{_TEMPORARY}*"):
            leftover.unlink(missing_ok=True)


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """A temporary name next to ``path``: removed after an error, else written to the disk and renamed to ``path``."""
    temporary = path.with_name(f".{path.name}{_TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sys.platform != "win32":
        _flush_to_disk(path.parent)  # its new name, too


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make one line of what goes wrong. :raises DatabaseError: for errors of the system and of HDF5"""
    try:
        yield
    except DatabaseError:
        raise
    except (OSError, RuntimeError) as error:
        raise DatabaseError(f"{path}: cannot be written ({reason(error)}); check permissions and free space") from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make one line of what goes wrong; HDF5 reports damage by many kinds of errors.

    :raises CorruptTableError: for damage
    :raises DatabaseError: for a file that is not there or may not be read
    """
    try:
        yield
    except DatabaseError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise DatabaseError(f"{path}: cannot be opened ({reason(error)}); check its name and permissions") from error
    except (OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, zlib.error) as error:
        raise CorruptTableError(f"{path}: damaged ({reason(error)}); {COMPUTE_AGAIN}") from error


def reason(error: Exception) -> str:
    """What an error says, on one line."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return " ".join(str(error).split())
