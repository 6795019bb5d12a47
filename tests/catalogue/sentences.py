"""Every sentence of the source that a person may read: what is said, and the help of every command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "discreet", ROOT / "replications" / "src")
SAYERS = {"say": 1, "Phrase": 1, "say_count": 2}


@dataclass(frozen=True)
class Sentence:
    """A sentence in English, its form for several if it has one, and where it stands."""

    one: str
    many: str | None
    places: tuple[str, ...]

    def to_json(self) -> object:
        return {"text": self.one, **({"plural": self.many} if self.many else {}), "places": self.places[:3]}


@cache
def list_sentences() -> tuple[Sentence, ...]:
    """All of them, by where they first stand."""
    found: dict[str, tuple[str | None, list[str]]] = {}
    for one, many, place in [*_said(), *_helps()]:
        known = found.setdefault(one, (many, []))
        if place not in known[1]:
            known[1].append(place)
    return tuple(Sentence(one, many, tuple(places)) for one, (many, places) in found.items())


def _said() -> Iterator[tuple[str, str | None, str]]:
    for source in SOURCES:
        for file in sorted(source.rglob("*.py")):
            place = file.relative_to(ROOT).as_posix()
            for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (said := what_is_said(call)) is not None and said[0]:
                    yield said[0], said[1] if len(said) > 1 else None, place


def what_is_said(node: ast.AST) -> list[str] | None:
    """The templates of a call that says something; None for what is no such call."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in SAYERS:
        return None
    templates = [argument.value for argument in node.args[: SAYERS[node.func.id]] if isinstance(argument, ast.Constant)]
    return [template for template in templates if isinstance(template, str)] or None


def _helps() -> Iterator[tuple[str, str | None, str]]:
    from discreet.cli.app import root
    from discreet.cli.help_screens import list_help

    for text, place in list_help(root()):
        yield text, None, f"command:{place}"
