"""The outer form of game records: tags, move numbers, turns, comments and results.

PlayOK, Sanmill and the records of the Mühle federation all look like chess games in PGN::

    [White "Anna"]                      tags, a pair of brackets each

    1. d6 f4 2. d2 {comment} b4         numbers, turns, {comments} and ; comments to the end of the line
    3. a4 (3. d7 g7) 3... d5 $1 1-0     variations and marks, which are left out, and the result

This module knows text only. It never raises: what is broken becomes a token of its own, so that the reader, who counts
the turns, can say at which move it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
"""White won, Black won, draw, unknown."""

TAG_NAME = re.compile(r"[A-Za-z0-9_]+")

Kind = Literal["number", "turn", "result", "broken"]


class Token(NamedTuple):
    """One piece of a record. ``text`` of a broken piece says what was read and what was expected."""

    kind: Kind
    text: str


@dataclass
class RecordText:
    """One game as text: its tags and its tokens."""

    tags: dict[str, str] = field(default_factory=dict)
    tokens: list[Token] = field(default_factory=list)


_PIECES = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<comment> \{[^}]*\} | ;[^\n]* )
    | (?P<unclosed> \{[^}]* )
    | \[ \s* (?P<name>[A-Za-z0-9_]+) \s+ "(?P<value>(?:[^"\\\n]|\\.)*)" \s* \]
    | (?P<mark> \$[0-9]* | [!?]+ )
    | (?P<parenthesis> [()] )
    | (?P<number> [0-9]{1,6}\.+ )
    | (?P<word> [^\s{}()\[\];!?$]+ )
    | (?P<stray> . )
    """,
    re.VERBOSE,
)

_LONGEST_TURN = len("d6-d7xa4xb4")

_STRAYS = {
    "}": "a } without its {, expected a turn or a result",
    "[": 'a [ that begins no tag, expected [Name "value"]',
    "]": "a ] without its tag, expected a turn or a result",
}


def split_records(text: str) -> list[RecordText]:
    """The games of a text: a tag after turns or after a result begins the next one."""
    records = [RecordText()]
    depth = 0
    for piece in _pieces(text):
        kind, found = piece.lastgroup, piece.group()
        if kind == "parenthesis":
            depth += 1 if found == "(" else -1
            if depth < 0:
                depth = 0
                records[-1].tokens.append(Token("broken", "a ) without its (, expected a turn or a result"))
        elif depth:
            continue
        elif kind == "value":
            if records[-1].tokens:
                records.append(RecordText())
            records[-1].tags[piece["name"]] = re.sub(r"\\(.)", r"\1", piece["value"])
        elif kind in ("number", "word"):
            _add_word(records[-1].tokens, kind, found)
        elif kind == "unclosed":
            records[-1].tokens.append(Token("broken", "a comment that is not closed, expected a } after it"))
        elif kind == "stray":
            records[-1].tokens.append(Token("broken", _STRAYS.get(found, f"{found!r}, expected a turn or a result")))
    if depth:
        records[-1].tokens.append(Token("broken", "a variation that is not closed, expected a ) after it"))
    return records


def _pieces(text: str) -> Iterator[re.Match[str]]:
    """The pieces that matter, in order; a byte order mark before the first is none."""
    for piece in _PIECES.finditer(text.removeprefix("\ufeff")):
        if piece.lastgroup not in ("space", "comment", "mark"):
            yield piece


def _add_word(tokens: list[Token], kind: str, word: str) -> None:
    if kind == "number":
        tokens.append(Token("number", word))
    elif word in RESULTS:
        tokens.append(Token("result", word))
    elif word.startswith("x") and tokens and tokens[-1].kind == "turn" and len(tokens[-1].text) <= _LONGEST_TURN:
        # A comment may stand between a turn and the stones that it takes.
        tokens[-1] = Token("turn", tokens[-1].text + word)
    else:
        tokens.append(Token("turn", word))


def format_tags(tags: dict[str, str]) -> str:
    """One tag a line."""
    escaped = {name: value.replace("\\", r"\\").replace('"', r"\"") for name, value in tags.items()}
    return "".join(f'[{name} "{value}"]\n' for name, value in escaped.items())


def can_be_tag(name: str, value: str) -> bool:
    """Whether :func:`split_records` reads the tag back."""
    return TAG_NAME.fullmatch(name) is not None and "\n" not in value
