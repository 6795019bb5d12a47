"""Hostile names: what the planner and the engines call their own columns, reserved words, twins and case variants.

The planner's names are read from its source when this is imported, so a new one is attacked without being told here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final, Literal

from sqlglot.dialects.postgres import Postgres

import discreet.engines
import discreet.sql

__all__ = ["ORDINARY", "OWN", "PATTERNS", "PLAIN", "Namer", "needs_quotes", "quoted"]

ORDINARY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_{][A-Za-z0-9_ :.{}]{0,23}", re.ASCII)
_HOLE: Final = "{}"

CLASSIC: Final = ("{}:{}", "key {}", "{}.{}", "_discreet_value", "_discreet_{}", "u{}", "ord", "_discreet_unit")
"""Names that planners have used before, whatever today's source says."""

RESERVED: Final = (
    *("select", "from", "order", "group", "where", "case", "end", "null", "table", "user", "join", "on", "using", "as"),
    *("values", "cast", "count", "sum", "true", "unit", "date", "value", "in", "and", "limit", "having", "distinct"),
)
FAMILIAR: Final = (
    *("x", "X", "income", "province", "sex", "pn", "h", "s", "free", "w", "region", "prov", "size", "person_id"),
    *("a", "b", "c", "t", "n", "r", "q", "k", "y", "z", "A", "B", "T", "Province", "INCOME", "Person_Id", "u1", "v1"),
    *(f"c{place}" for place in range(1, 31)),
)
Theme = Literal["join", "key", "public", "value", "any"]
THEMES: Final[tuple[Theme, ...]] = (*("join",) * 5, *("key",) * 4, *("public",) * 2, "value", "any")

COLUMNS: Final = ("x", "income", "province", "sex", "pn", "s", "w", "region", "h")
_KEYWORDS: Final = frozenset(word.upper() for word in Postgres.Tokenizer.KEYWORDS) | frozenset(map(str.upper, RESERVED))


def _sources() -> Iterator[Path]:
    for package in (discreet.sql, discreet.engines):
        for folder in package.__path__:
            yield from sorted(Path(folder).glob("*.py"))


def _texts(path: Path) -> Iterator[str]:
    """Every text of a file that could name a column; holes of f-strings are {}."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in node.values]
            yield "".join(parts)


def _own_names() -> tuple[str, ...]:
    found = {text for path in _sources() for text in _texts(path) if _NAME.fullmatch(text) and text.count(" ") < 2}
    found = {text for text in found if not set(text.replace(_HOLE, "")) & set("{}")}
    return tuple(sorted(found))


OWN: Final = _own_names()
PATTERNS: Final = tuple(text for text in OWN if _HOLE in text and text.replace(_HOLE, ""))
PLAIN: Final = tuple(text for text in OWN if _HOLE not in text)


def needs_quotes(name: str) -> bool:
    """Whether SQL would read the bare name as something else."""
    return not ORDINARY.fullmatch(name) or name.upper() in _KEYWORDS


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Namer:
    """Draws names for one statement. In a wild one some hold more than letters, digits and underscores.

    `theme` says what a statement is out for, so that its joins and keys can suit: names like those of a join's second
    side, of a computed key, of a public table's column, of the value that is ranked; or whatever comes.
    """

    def __init__(self, random: Random, *, wild: bool) -> None:
        self._random = random
        self.wild = wild
        self.theme: Theme = "any"
        if wild:
            self.theme = random.choice(THEMES)
        elif random.random() < 0.04:
            self.theme = "value"
        self.used_wild = False

    def column(self, near: tuple[str, ...]) -> tuple[str, str]:
        """A name for a derived column and how to write it; `near` are names of columns elsewhere in the statement."""
        return self._written(self._drawn(near))

    def alias(self) -> tuple[str, str]:
        """A name for a table, with its text; what is not quoted is read in lower case."""
        random = self._random
        if self.wild and random.random() < 0.15:
            return self._written(self._wild_name(()))
        name = random.choice(FAMILIAR) if random.random() < 0.5 else random.choice(("aa", "bb", "cc", "dd", "v", "q1"))
        return self._written(name)

    def output(self) -> tuple[str, str]:
        """A name for a column of the answer: may hold spaces and accents."""
        random = self._random
        if random.random() < 0.1:
            name = random.choice(("nombre d'élèves", "key 0", "x:1", "très grand", "_discreet_value"))
            return name, quoted(name)
        return self._written(self._ordinary(()))

    def _drawn(self, near: tuple[str, ...]) -> str:
        if self.theme == "value" and self._random.random() < 0.4:
            return "_discreet_value"
        if self.wild and self._random.random() < 0.7:
            return self._wild_name(near)
        return self._ordinary(near)

    def _ordinary(self, near: tuple[str, ...]) -> str:
        random = self._random
        sort = random.random()
        if sort < 0.35 and near:
            return random.choice(near)
        if sort < 0.55:
            return random.choice(FAMILIAR)
        if sort < 0.65:
            return random.choice(RESERVED)
        name = random.choice(PLAIN) if sort >= 0.85 else self._filled(random.choice((*PATTERNS, *CLASSIC)), near)
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        return f"n{plain}" if plain[:1].isdigit() else plain

    def _wild_name(self, near: tuple[str, ...]) -> str:
        """A name of the theme, one that a planner used before, or one after a pattern of its source."""
        random = self._random
        themed = {"join": "{}:{}", "key": "key {}", "public": "{}.{}"}.get(self.theme)
        if themed is not None and random.random() < 0.75:
            return self._filled(themed, near)
        return self._filled(random.choice(CLASSIC if random.random() < 0.6 else PATTERNS), near)

    def _filled(self, pattern: str, near: tuple[str, ...]) -> str:
        """A pattern with its holes filled by names of columns and tables, or by small numbers."""
        random = self._random
        holes, dotted = pattern.count(_HOLE), pattern == "{}.{}"
        columns = near or COLUMNS
        for hole in range(holes):
            if dotted:
                filler = random.choice(
                    ("t", "t", "t", "n", "b") if hole == 0 else ("region", "region", "size", "x", "sex")
                )
            elif hole == 0 and holes > 1:
                filler = random.choice(columns)
            else:
                numbers = (0, 0, 0, 1) if self.theme == "key" else (0, 1, 1, 1, 1, 2)
                filler = str(random.choice(numbers)) if random.random() < 0.85 else random.choice(columns)
            pattern = pattern.replace(_HOLE, filler, 1)
        return pattern

    def _written(self, name: str) -> tuple[str, str]:
        """The name as SQL means it, and as it is written: quoted where it must be, and now and then elsewhere."""
        random = self._random
        if not ORDINARY.fullmatch(name):
            self.used_wild = True
            return name, quoted(name)
        if needs_quotes(name) or random.random() < 0.3:
            return name, quoted(name)
        return name.lower(), random.choice((name, name, name.upper(), name.lower()))
