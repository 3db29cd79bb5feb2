"""What has been verified, kept beside the tables as ``verify.json``, and whether it still holds.

The record names each table by its checksum, and so the tables that its values were recomputed from. As soon as one of
these files is another one than it was, the table counts as not verified; nobody has to remember to delete the record.
It has a checksum of its own. Checksums show accidents and forgotten steps; who forges a table can forge its record too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from solver.errors import CorruptTableError, DatabaseError, MissingTableError
from solver.indexing.subspaces import Subspace, parse_name
from solver.tables.database import Database
from solver.tables.directory import reason, temporary_file, writing
from solver.tables.table_file import software_versions

RECORD_FILE = "verify.json"
RECORD_FORMAT = "merels verification"
RECORD_VERSION = 1

_MAX_BYTES = 16 << 20  # a record has about 500 bytes a table


@dataclass(frozen=True)
class Checked:
    """What was found in one table.

    :param checksum: of the table
    :param successors: by name of table, the checksums of the tables that its values were recomputed from
    :param positions: indices checked, of all planes together
    :param indices: indices there are
    :param disagreements: values that do not follow from their successors
    :param statistics_agree: whether the counts in the file are right, as far as that was checked
    :param software: versions of what checked it
    :param checked: date and time (UTC)
    """

    checksum: str
    successors: dict[str, str]
    positions: int
    indices: int
    disagreements: int
    statistics_agree: bool
    software: str = field(default_factory=software_versions)
    checked: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.disagreements and self.statistics_agree

    @property
    def is_complete(self) -> bool:
        """Whether every value was checked, not a sample."""
        return self.positions == self.indices


@dataclass(frozen=True)
class Status:
    """Whether a table is verified: ``words`` says how, or why not."""

    is_verified: bool
    words: str


def read_record(directory: str | Path) -> dict[str, Checked]:
    """What has been checked, by name of table; empty without a record.

    :raises CorruptTableError: for a record that cannot be read or was altered
    """
    path = Path(directory) / RECORD_FILE
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be opened ({reason(error)}); check its permissions") from error
    try:
        document = json.loads(text)
        if (document["format"], document["format_version"]) != (RECORD_FORMAT, RECORD_VERSION):
            raise ValueError("another format or version")
        if document["checksum"] != _checksum(document["tables"]):
            raise ValueError("its checksum does not fit")
        return {name: _checked(entry) for name, entry in document["tables"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptTableError(
            f"{path}: no record of this package, or altered ({reason(error)}); delete it and run scripts/verify.py"
        ) from error


def _checked(entry: Mapping[str, Any]) -> Checked:
    """:raises TypeError: for an entry of another form"""
    checked = Checked(**entry)
    texts = checked.checksum, checked.software, checked.checked, *checked.successors, *checked.successors.values()
    numbers = checked.positions, checked.indices, checked.disagreements, checked.statistics_agree
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(number, int) for number in numbers):
        raise TypeError("an entry of another form")
    return checked


def _checksum(tables: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def write_record(directory: str | Path, found: Mapping[str, Checked]) -> Path:
    """Add what was found to the record of ``directory``, in place of what it said of the same tables.

    A clean sample does not take the place of a clean complete check of the same files. A record that cannot be read is
    replaced.

    :raises DatabaseError: where it cannot be written
    """
    path = Path(directory) / RECORD_FILE
    try:
        record = read_record(directory)
    except CorruptTableError:
        record = {}
    for name, new in found.items():
        if not (name in record and _says_more(record[name], new)):
            record[name] = new
    tables = {name: asdict(checked) for name, checked in sorted(record.items())}
    document = {
        "format": RECORD_FORMAT,
        "format_version": RECORD_VERSION,
        "tables": tables,
        "checksum": _checksum(tables),
    }
    with writing(path), temporary_file(path) as temporary:
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def _says_more(old: Checked, new: Checked) -> bool:
    same = (old.checksum, old.successors) == (new.checksum, new.successors)
    return same and old.is_clean and new.is_clean and old.positions > new.positions


def status_of(database: Database, record: Mapping[str, Checked], subspace: Subspace) -> Status:
    """Whether the table of ``subspace``, as it is now, is verified."""
    checked = record.get(subspace.name)
    if checked is None:
        return Status(False, "never checked")
    changed = [
        name
        for name, checksum in {subspace.name: checked.checksum, **checked.successors}.items()
        if _current_checksum(database, name) != checksum
    ]
    if changed:
        return Status(False, f"{changed[0]} is another file than when it was checked")
    if not checked.is_clean:
        problem = f"{checked.disagreements:,} values disagree" if checked.disagreements else "its counts are wrong"
        return Status(False, f"{problem}, found {checked.checked}")
    part = "every value" if checked.is_complete else f"a sample of {checked.positions:,} of {checked.indices:,} values"
    return Status(True, f"{part}, {checked.checked[:10]}")


def _current_checksum(database: Database, name: str) -> str | None:
    try:
        return database.table(parse_name(name)).checksum
    except (ValueError, MissingTableError):
        return None


def summary(database: Database, subspaces: Iterable[Subspace]) -> str:
    """One line for some tables: ``verified: ...`` or ``not verified: ...`` with a reason."""
    try:
        record = read_record(database.directory)
    except DatabaseError as error:
        return f"not verified: {error}"
    statuses = {subspace.name: status_of(database, record, subspace) for subspace in subspaces}
    bad = [f"{name} ({status.words})" for name, status in statuses.items() if not status.is_verified]
    if bad or not statuses:
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        return f"not verified: {bad[0] if bad else 'no tables'}{more}; run scripts/verify.py"
    complete = sum(record[name].is_complete for name in statuses)
    dates = sorted(record[name].checked[:10] for name in statuses)
    sampled = f", {len(statuses) - complete} by a sample" if complete < len(statuses) else ""
    return f"verified: {complete} of {len(statuses)} tables value by value{sampled} (oldest check {dates[0]})"
