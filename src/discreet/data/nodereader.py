"""Reading the nodes of a YAML tree by a table of keys, with every problem kept beside its line.

Scalars are given their meaning here and nowhere else: booleans are `true` and `false`, numbers are exact
decimals, codes are the text one sees. The plain word DECIDE marks what a person has yet to decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeVar

from discreet.data.cardkeys import Key
from discreet.data.columns import CardFault, Labels
from discreet.data.yamltext import MappingNode, Node, ScalarNode, SequenceNode
from discreet.errors import CardInvalid, nearest, tell_point

__all__ = ["UNDECIDED", "NodeReader", "normal_text", "one_line"]

UNDECIDED: Final = "DECIDE"

_NUMBER: Final = re.compile(r"[+-]?(\d{1,16}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_LARGEST: Final = 10**15
_DECIMALS: Final = 9
_TEXT_LENGTH: Final = 2_000

_LANGUAGES: Final = (
    Key("en", "English.", "text", required=True),
    Key("fr", "French.", "text", required=True),
)

_Choice = TypeVar("_Choice", bound=StrEnum)
_T = TypeVar("_T")


class NodeReader:
    """A method that cannot read a part notes why and returns None, so that the rest is read too."""

    def __init__(self) -> None:
        self.problems: list[tuple[int, str]] = []
        self.undecided: list[tuple[int, str]] = []

    def settle(self, *, file: str, invalid: type[CardInvalid]) -> None:
        """Raise `invalid` with everything that was noted, in the order of the lines; nothing when all was read."""
        found = sorted([*self.problems, *self.undecided])
        if found:
            raise invalid(file=file, problems=[f"{file}:{line}: {what}" for line, what in found])

    def named(self, node: Node, what: str, rule: re.Pattern[str], rule_text: str) -> str | None:
        text = self.text(node, what)
        if text is not None and not rule.fullmatch(text):
            self.note(node.line, f"{what} '{text[:70]}' must be {rule_text}")
            return None
        return text

    def text(self, node: Node, what: str) -> str | None:
        if self.is_undecided(node, what):
            return None
        if not isinstance(node, ScalarNode):
            self.note(node.line, f"{what} is one word or text, not a list or mapping")
            return None
        text = normal_text(node.text)
        if not text:
            self.note(node.line, f"{what} has no value")
            return None
        if len(text) > _TEXT_LENGTH:
            self.note(node.line, f"{what} is longer than {_TEXT_LENGTH} characters")
            return None
        return text

    def texts(self, node: Node, what: str) -> tuple[str, ...] | None:
        if self.is_undecided(node, what):
            return None
        if not isinstance(node, SequenceNode):
            self.note(node.line, f"{what} are a list, such as [a, b]")
            return None
        found = [self.text(item, what) for item in node.items]
        known = tuple(text for text in found if text is not None)
        return known if len(known) == len(found) else None

    def number(self, node: Node, what: str) -> Decimal | None:
        text = self.text(node, what)
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            point = tell_point(text)
            self.note(node.line, f"{what} must be a plain decimal number{point and f': {point}'}; '{text[:40]}' came")
            return None
        number = Decimal(text)
        exponent = number.normalize().as_tuple().exponent
        if not isinstance(exponent, int) or abs(number) > _LARGEST or exponent < -_DECIMALS:
            self.note(
                node.line,
                f"{what} must lie within 10^15 and have at most {_DECIMALS} decimals; '{text[:40]}' came",
            )
            return None
        return number + 0

    def boolean(self, node: Node, what: str) -> bool | None:
        text = self.text(node, what)
        if text is not None and text not in {"true", "false"}:
            self.note(node.line, f"{what} must be true or false; '{text[:40]}' came")
            return None
        return None if text is None else text == "true"

    def choice(self, node: Node, choices: type[_Choice], what: str) -> _Choice | None:
        text = self.text(node, what)
        if text is None:
            return None
        if text not in set(choices):
            hint = _hint(text, choices)
            self.note(node.line, f"{what} must be {' or '.join(choices)}; '{text[:40]}' came{hint}")
            return None
        return choices(text)

    def labels(self, node: Node, what: str) -> Labels | None:
        if not isinstance(node, MappingNode):
            text = self.text(node, what)
            return None if text is None else Labels(one_line(text), one_line(text))
        fields = self.fields(node, _LANGUAGES, what)
        if fields is None:
            return None
        en, fr = (self.optional(fields, lang, lambda part: self.text(part, what)) for lang in ("en", "fr"))
        return Labels(one_line(en), one_line(fr)) if en and fr else None

    # Keys, lines, problems.

    def fields(self, node: Node, keys: Iterable[Key], where: str) -> dict[str, Node] | None:
        if self.is_undecided(node, where):
            return None
        names = {key.name: key for key in keys}
        if not isinstance(node, MappingNode):
            self.note(node.line, f"{where} must be a mapping with the keys {', '.join(names)}")
            return None
        fields: dict[str, Node] = {}
        for key, value in node.entries:
            if key.text in names:
                fields[key.text] = value
            else:
                self.note(key.line, f"unknown key '{key.text[:60]}' in {where}{_hint(key.text, names)}")
        for name in (name for name, key in names.items() if key.required and name not in fields):
            self.note(node.line, f"key '{name}' is missing in {where}")
        return fields

    def optional(self, fields: Mapping[str, Node], key: str, read: Callable[[Node], _T | None]) -> _T | None:
        return read(fields[key]) if key in fields else None

    def built(self, node: Node | None, build: Callable[[], _T], *, line: int = 1) -> _T | None:
        try:
            return build()
        except CardFault as fault:
            for key, text in fault.problems:
                part = node.get(key) if isinstance(node, MappingNode) else None
                self.note(part.line if part is not None else (node.line if node and line == 1 else line), text)
            return None

    def note_at(self, root: Node, problems: Iterable[tuple[str, str]]) -> None:
        for path, text in problems:
            node = root
            for key in path.split("."):
                deeper = node.get(key) if isinstance(node, MappingNode) else None
                node = deeper if deeper is not None else node
            self.note(node.line, text)

    def note(self, line: int, text: str) -> None:
        self.problems.append((line, text))

    def is_undecided(self, node: Node, what: str) -> bool:
        undecided = isinstance(node, ScalarNode) and node.plain and node.text == UNDECIDED
        if undecided:
            self.undecided.append((node.line, f"{what} is still to be decided"))
        return undecided


def _hint(word: str, known: Iterable[str]) -> str:
    guess = nearest(word, known)
    return f"; did you mean '{guess}'?" if guess else ""


def normal_text(text: str) -> str:
    """Text as it is compared everywhere: trimmed and in Unicode's composed form."""
    return unicodedata.normalize("NFC", text.strip())


def one_line(text: str) -> str:
    """Text as a label: on one line, single blanks."""
    return " ".join(text.split())
