"""Strict YAML: text in, a tree of nodes with line numbers out, and every scalar still text.

Only mappings, sequences and scalars of one document are taken. Tags, anchors, aliases, duplicate keys, keys
that are not scalars, control characters, deep nesting and large files are refused, because each lets a file
mean something else than it looks like. What a scalar means is decided by whoever reads the tree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from discreet.catalogue import Phrase, say
from discreet.errors import CardInvalid, PathInvalid
from discreet.paths import AnyPath, as_path, open_regular, tell_reason

__all__ = [
    "DEPTH_LIMIT",
    "SIZE_LIMIT",
    "MappingNode",
    "Node",
    "ScalarNode",
    "SequenceNode",
    "find_control",
    "parse_yaml",
    "read_yaml_text",
]

SIZE_LIMIT: Final = 1_000_000
DEPTH_LIMIT: Final = 20

# Bidirectional controls reorder what a reviewer sees; they have no place in a card.
_REORDERING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SORTS: Final = {
    "card": Phrase("card"),
    "workload": Phrase("workload"),
    "study": Phrase("study"),
    "manifest": Phrase("manifest"),
    "agreement": Phrase("agreement"),
}
# What the parser says most often; anything else is told as it came.
_PROBLEMS: Final = {
    problem.en: problem
    for problem in (
        Phrase("mapping values are not allowed in this context"),
        Phrase("block sequence entries are not allowed in this context"),
        Phrase("could not find expected ':'"),
        Phrase("did not find expected ',' or '}}'"),
        Phrase("did not find expected ',' or ']'"),
        Phrase("did not find expected '-' indicator"),
        Phrase("did not find expected key"),
        Phrase("did not find expected node content"),
        Phrase("did not find expected <document start>"),
        Phrase("found a tab character that violates indentation"),
        Phrase("found character that cannot start any token"),
        Phrase("found undefined tag handle"),
        Phrase("found unexpected document indicator"),
        Phrase("found unexpected end of stream"),
        Phrase("found unknown escape character"),
    )
}
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """Text as it was written. `plain` is false when the author put it in quotes or in a block."""

    text: str
    line: int
    plain: bool = True


@dataclass(frozen=True, slots=True)
class SequenceNode:
    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class MappingNode:
    entries: tuple[tuple[ScalarNode, Node], ...]
    line: int

    def get(self, key: str) -> Node | None:
        """The value under a key, or None."""
        return next((value for name, value in self.entries if name.text == key), None)


Node = ScalarNode | SequenceNode | MappingNode


class _Fault(Exception):
    """One refusal with its line; it ends the reading, since nothing after it can be trusted."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def read_yaml_text(path: AnyPath, *, sort: str, invalid: type[CardInvalid] = CardInvalid) -> str:
    """The text of a card, or of another `sort` of file; PathInvalid, or `invalid` with what is wrong."""
    path, called = as_path(path), _SORTS.get(sort, sort)
    try:
        with open_regular(path) as stream:
            data = stream.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise PathInvalid(
            say("{sort} '{name}' cannot be read: {reason}.", sort=called, name=path.name, reason=tell_reason(error)),
            path=str(path),
        ) from None
    if len(data) > SIZE_LIMIT:
        problem = say("a {sort} has at most {most:,} bytes", sort=called, most=SIZE_LIMIT)
        raise invalid(file=path.name, problems=[f"{path.name}:1: {problem}"])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = say("a {sort} must be UTF-8 text; save it as UTF-8", sort=called)
        raise invalid(file=path.name, problems=[f"{path.name}:{line}: {problem}"]) from None


def parse_yaml(text: str, *, file: str, invalid: type[CardInvalid] = CardInvalid) -> Node:
    """The one document of the text, or `invalid` with 'file:line: what is wrong'."""
    problems: list[tuple[int, str]] = []
    try:
        _check_characters(text)
        root = _Builder(yaml.parse(text, Loader=_LOADER), problems).document()
    except _Fault as fault:
        problems.append((fault.line, fault.text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problems.append((line, say("this is not YAML: {problem}", problem=_tell_problem(error))))
    except yaml.YAMLError:
        problems.append((1, say("this is not YAML text")))
    if problems:
        raise invalid(file=file, problems=[f"{file}:{line}: {what}" for line, what in problems])
    return root


def _tell_problem(error: yaml.MarkedYAMLError) -> str:
    told = str(error.problem or error.context)
    return str(_PROBLEMS.get(told, told))


def _check_characters(text: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT:
        raise _Fault(1, say("the file is larger than {most:,} bytes", most=SIZE_LIMIT))
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.isascii() or not line.isprintable():
            _refuse_control(line.removesuffix("\r"), number)


def _refuse_control(text: str, line: int) -> None:
    if (character := find_control(text)) is not None:
        raise _Fault(line, say("control character U+{point} is not allowed", point=f"{ord(character):04X}"))


def find_control(text: str) -> str | None:
    """The first character that steers a terminal or reorders what is seen, or None."""
    if text.isascii() and text.isprintable():
        return None
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs" or (category == "Cc" and character not in "\t\n") or character in _REORDERING:
            return character
    return None


class _Builder:
    """Turns parser events into nodes; one method per sort of node."""

    def __init__(self, events: Iterator[yaml.Event], problems: list[tuple[int, str]]) -> None:
        self._events = events
        self._problems = problems

    def document(self) -> Node:
        next(self._events)
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise _Fault(1, say("the file is empty"))
        if isinstance(start, yaml.DocumentStartEvent) and start.tags:
            raise _Fault(_line(start), say("tags are not allowed"))
        root = self._node(next(self._events), 1)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise _Fault(_line(after), say("a second document is not allowed"))
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise _Fault(line, say("aliases (*name) are not allowed; write the value out"))
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise _Fault(line, say("anchors (&name) are not allowed"))
        if getattr(event, "tag", None) is not None:
            raise _Fault(line, say("tags (!name) are not allowed"))
        if depth > DEPTH_LIMIT:
            raise _Fault(line, say("nesting is deeper than {most} levels", most=DEPTH_LIMIT))
        if isinstance(event, yaml.ScalarEvent):
            _refuse_control(event.value, line)
            return ScalarNode(event.value, line, plain=not event.style)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(line, depth)
        return self._mapping(line, depth)

    def _sequence(self, line: int, depth: int) -> SequenceNode:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return SequenceNode(tuple(items), line)

    def _mapping(self, line: int, depth: int) -> MappingNode:
        entries: list[tuple[ScalarNode, Node]] = []
        first: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key, ScalarNode):
                raise _Fault(key.line, say("a key must be plain text"))
            if key.text in first:
                twice = say("key '{key}' appears twice (first on line {line})", key=key.text, line=first[key.text])
                self._problems.append((key.line, twice))
            first.setdefault(key.text, key.line)
            entries.append((key, self._node(next(self._events), depth + 1)))
        return MappingNode(tuple(entries), line)


def _line(event: yaml.Event) -> int:
    mark = event.start_mark
    return int(mark.line) + 1 if mark is not None else 1
