"""Solve mill games (Nine Men's Morris, Six Men's Morris and their family) and query perfect play.

>>> import solver
>>> pos = solver.Position(solver.get_rules("six"))
>>> pos.push_text("c4")
>>> len(pos.legal_moves)
15

``solver.solve`` computes the tables of a rule set, ``solver.open_tablebase`` answers from them.
"""

from solver.boards import BOARD_16, BOARD_24, Board
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
from solver.lookup import Tablebase, open_tablebase
from solver.position import Move, Outcome, Position
from solver.records import Game, read_game, read_games, write_game
from solver.rules import PRESETS, Rules, get_rules
from solver.solving import SolveReport, solve
from solver.values import Metric, Value

__version__ = "0.1.0"

__all__ = [
    "BOARD_16",
    "BOARD_24",
    "PRESETS",
    "Board",
    "CorruptTableError",
    "DatabaseError",
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
