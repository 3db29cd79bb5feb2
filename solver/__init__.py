"""Solve mill games (Nine Men's Morris, Six Men's Morris and their family) and query perfect play.

>>> import solver
>>> pos = solver.Position(solver.get_rules("six"))
>>> pos.push_text("c4")
>>> len(pos.legal_moves)
15

``solver.solve`` computes the tables of a rule set, ``solver.open_tablebase`` answers from them.

The packages, from the lowest to the highest; each imports only from those before it:

============= =======================================================================
``compiled``  numba settings, bit tricks, threads
``game``      boards, rules, legal moves, positions, notation
``indexing``  subspaces, the rows and columns of their index, the value code
``kernels``   the compiled loops of retrograde analysis and of the placing phase
``tables``    files of a database: names, format, checks, counts
``records``   game records in several notations
``solving``   the whole job, pair by pair and layer by layer
``lookup``    probing, perfect moves, forward search, opening book, analysis
``proof``     verification that shares nothing with ``solving`` and ``kernels``
``pictures``  boards and figures
``play``      opponents, the terminal game, the interactive board
``commands``  the sub-commands of ``merels``
============= =======================================================================

Names are imported when they are first used, so that ``import solver`` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.errors import (
        CorruptTableError,
        DatabaseError,
        FormatVersionError,
        IllegalMoveError,
        MissingTableError,
        PositionError,
        RecordError,
        RecordMoveError,
        RulesError,
        RulesMismatchError,
        SolverError,
    )
    from solver.game.boards import BOARD_16, BOARD_24, Board
    from solver.game.position import Move, Outcome, Position
    from solver.game.rules import PRESETS, Rules, get_rules
    from solver.indexing.values import Metric, Value
    from solver.lookup.tablebase import Tablebase, open_tablebase
    from solver.play.explorer import Explorer
    from solver.records.games import Game, read_game, read_games, write_game
    from solver.solving.job import SolveReport, solve

__version__ = "0.1.0"

_HOMES = {
    "solver.errors": (
        "CorruptTableError",
        "DatabaseError",
        "FormatVersionError",
        "IllegalMoveError",
        "MissingTableError",
        "PositionError",
        "RecordError",
        "RecordMoveError",
        "RulesError",
        "RulesMismatchError",
        "SolverError",
    ),
    "solver.game.boards": ("BOARD_16", "BOARD_24", "Board"),
    "solver.game.position": ("Move", "Outcome", "Position"),
    "solver.game.rules": ("PRESETS", "Rules", "get_rules"),
    "solver.indexing.values": ("Metric", "Value"),
    "solver.lookup.tablebase": ("Tablebase", "open_tablebase"),
    "solver.play.explorer": ("Explorer",),
    "solver.records.games": ("Game", "read_game", "read_games", "write_game"),
    "solver.solving.job": ("SolveReport", "solve"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "BOARD_16",
    "BOARD_24",
    "PRESETS",
    "Board",
    "CorruptTableError",
    "DatabaseError",
    "Explorer",
    "FormatVersionError",
    "Game",
    "IllegalMoveError",
    "Metric",
    "MissingTableError",
    "Move",
    "Outcome",
    "Position",
    "PositionError",
    "RecordError",
    "RecordMoveError",
    "Rules",
    "RulesError",
    "RulesMismatchError",
    "SolveReport",
    "SolverError",
    "Tablebase",
    "Value",
    "get_rules",
    "open_tablebase",
    "read_game",
    "read_games",
    "solve",
    "write_game",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
