"""The rules as data: a board plus a few switches, the presets, and which switches matter to which phase.

``RULES.md`` of the project decides every rule; this module only names them. A :class:`Rules` value is frozen and
hashable and travels through the whole package.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

from solver.errors import RulesError
from solver.game.boards import BOARD_16, BOARD_24, Board

Phase = Literal["moving", "placing"]

LOSING_STONES = 3
"""A player with fewer stones than this, on the board and in hand together, has lost."""

FLYING_STONES = 3
"""With flying on, a player with an empty hand and exactly this many stones may move to any empty point."""

MAX_QUIET_LIMIT = 30_000


@dataclass(frozen=True)
class Rules:
    """One rule set.

    :param name: what it is called; not compared
    :param board: the board
    :param stones: stones of each player at the start
    :param flying: whether a player with three stones and an empty hand may fly
    :param double_mill: stones taken by a turn that completes two mills at once, 1 or 2
    :param quiet_limit: so many consecutive moving-phase turns without a mill are a draw; 0 means no limit

    :raises RulesError: for a switch with an impossible value
    """

    name: str = field(compare=False)
    board: Board
    stones: int
    flying: bool = True
    double_mill: int = 1
    quiet_limit: int = 0

    def __post_init__(self) -> None:
        for switch in ("stones", "double_mill", "quiet_limit"):
            value = getattr(self, switch)
            if isinstance(value, bool) or not isinstance(value, int):
                raise RulesError(f"{switch}={value!r}: expected a whole number")
        if not isinstance(self.flying, bool):
            raise RulesError(f"flying={self.flying!r}: expected True or False")
        if not LOSING_STONES <= self.stones <= self.board.n_points // 2:
            raise RulesError(
                f"stones={self.stones}: the board of {self.board.n_points} points takes "
                f"{LOSING_STONES} to {self.board.n_points // 2} stones a player"
            )
        if self.double_mill not in (1, 2):
            raise RulesError(f"double_mill={self.double_mill}: a double mill takes 1 or 2 stones")
        if not 0 <= self.quiet_limit <= MAX_QUIET_LIMIT:
            raise RulesError(
                f"quiet_limit={self.quiet_limit}: expected 0 (no limit) or a number of turns up to {MAX_QUIET_LIMIT}"
            )

    def matters_to(self, phase: Phase) -> dict[str, Any]:
        """The switches that values of ``phase`` depend on, as plain data.

        The moving phase does not depend on the number of stones at the start (a table is for a piece count), nor on the
        double-mill rule where no slide can complete two mills and a flying player has too few stones to do so.
        """
        switches: dict[str, Any] = {
            "board": self.board.fingerprint,
            "flying": self.flying,
            "quiet_limit": self.quiet_limit,
        }
        if phase == "placing":
            switches["stones"] = self.stones
        if phase == "placing" or self.board.max_mills_by_slide > 1:
            switches["double_mill"] = self.double_mill
        return switches

    def fingerprint(self, phase: Phase) -> str:
        """A hash of :meth:`matters_to`: rule sets with the same one share the tables of that phase."""
        text = json.dumps(self.matters_to(phase), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def replace(self, **switches: Any) -> Rules:
        """The same rules with other switches; the name says which."""
        unknown = set(switches) - set(SWITCHES)
        if unknown:
            raise RulesError(f"unknown switch {sorted(unknown)[0]!r}; known: {', '.join(SWITCHES)}")
        changed = {k: v for k, v in switches.items() if v != getattr(self, k) or type(v) is not type(getattr(self, k))}
        rules = dataclasses.replace(self, **changed)
        for preset in PRESETS.values():
            if preset == rules:
                return preset
        suffix = "".join(f"+{k}={v.name if isinstance(v, Board) else v}" for k, v in changed.items())
        return dataclasses.replace(rules, name=self.name + suffix)


SWITCHES = ("board", "stones", "flying", "double_mill", "quiet_limit")

PRESETS: dict[str, Rules] = {
    rules.name: rules
    for rules in (
        Rules("kurnik", BOARD_24, 9, flying=True, double_mill=2),
        Rules("kurnik-100", BOARD_24, 9, flying=True, double_mill=2, quiet_limit=100),
        Rules("kurnik-100-noflying", BOARD_24, 9, flying=False, double_mill=2, quiet_limit=100),
        Rules("nine", BOARD_24, 9, flying=True),
        Rules("nine-noflying", BOARD_24, 9, flying=False),
        Rules("six", BOARD_16, 6, flying=False),
        Rules("six-double", BOARD_16, 6, flying=False, double_mill=2),
        Rules("five", BOARD_16, 5, flying=False),
    )
}


def get_rules(name: str, **switches: Any) -> Rules:
    """The preset ``name``, with any of its switches replaced.

    >>> get_rules("six", quiet_limit=40).quiet_limit
    40

    :raises RulesError: for an unknown preset or an impossible switch
    """
    if name not in PRESETS:
        raise RulesError(f"unknown preset {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name].replace(**switches)
