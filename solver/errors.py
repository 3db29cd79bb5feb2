"""The exceptions of the package. Each message says what was read, where, what was expected, and what to do."""

from __future__ import annotations


class SolverError(Exception):
    """Base of all errors that this package raises on purpose."""

    def __str__(self) -> str:
        # KeyError would print the repr of its argument.
        return str(self.args[0]) if self.args else ""


class RulesError(SolverError, ValueError):
    """An unknown preset or a switch with an impossible value."""


class IllegalMoveError(SolverError, ValueError):
    """A turn that the rules do not allow in this position."""


class PositionError(SolverError, ValueError):
    """Bad position text or an impossible position."""


class RecordError(SolverError, ValueError):
    """A game record that cannot be read or written; the message gives the move number and what was expected."""


class RecordMoveError(RecordError, IllegalMoveError):
    """A turn of a record that the rules do not allow.

    :param legal: the texts of all legal turns there, in the notation of the record
    """

    def __init__(self, message: str, legal: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.legal = legal


class MissingTableError(SolverError, KeyError):
    """The table that holds a position has not been computed; the message names it and how to compute it."""


class DatabaseError(SolverError, OSError):
    """A database directory or file that cannot be used."""


class FormatVersionError(DatabaseError):
    """A file of a format version that this package does not read."""


class CorruptTableError(DatabaseError):
    """A truncated, unfinished or altered file."""


class RulesMismatchError(DatabaseError):
    """A file or directory computed under other rules."""
