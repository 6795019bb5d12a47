"""Reading the nodes of a YAML tree by a declared schema, with every problem kept beside its line.

Scalars are given their meaning here and nowhere else: booleans are `true` and `false`, numbers are exact
decimals, codes are the text one sees. The plain word DECIDE marks what a person has yet to decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeVar, assert_never

from discreet.cards.columns import CardFault, Labels, as_written
from discreet.cards.schema import (
    ChoiceType,
    CodeType,
    FieldsType,
    FileSchema,
    FlagType,
    FormsType,
    LabelType,
    ListType,
    MappingType,
    NumberType,
    ParameterType,
    SchemaKey,
    SchemaType,
    TextType,
    WholeType,
    call_by_place,
)
from discreet.cards.yaml_text import MappingNode, Node, ScalarNode, SequenceNode
from discreet.catalogue import Phrase, language, say, say_list
from discreet.errors import CardInvalid, ParameterInvalid, nearest, tell_point
from discreet.guarantees import exact

__all__ = ["NUMBER_PATTERN", "UNDECIDED", "Entry", "Record", "SchemaReader", "normal_text", "one_line"]

UNDECIDED: Final = "DECIDE"
NUMBER_PATTERN: Final = r"[+-]?(\d{1,16}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?"

_NUMBER: Final = re.compile(NUMBER_PATTERN, re.ASCII)
_LARGEST: Final = 10**15
_DECIMALS: Final = 9
_TEXT_LENGTH: Final = 2_000
_NAME_SHOWN: Final = 70

_LANGUAGES: Final = FieldsType(
    (
        SchemaKey("en", TextType(), Phrase("English."), required=True),
        SchemaKey("fr", TextType(), Phrase("French."), required=True),
    ),
    called=lambda _key, where, _value: where,
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Record:
    """What was read of a mapping with fixed keys. A key that is absent or could not be read has the value None.

    `nodes` are those of all known keys that were given. `whole` says that all of them were read and none is missing.
    """

    node: Node
    values: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    whole: bool = False

    def __getitem__(self, key: str) -> Any:
        return self.values.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self.nodes


@dataclass(frozen=True, slots=True)
class Entry:
    """One item under a name that the author chose, with the line of the name."""

    name: str
    line: int
    value: Any


class SchemaReader:
    """A part that cannot be read is noted and becomes None, so that the rest is read too."""

    def __init__(self) -> None:
        self.problems: list[tuple[int, str]] = []
        self.undecided: list[tuple[int, str]] = []

    def is_clean(self) -> bool:
        """Whether nothing has been noted so far."""
        return not (self.problems or self.undecided)

    def settle(self, *, file: str, invalid: type[CardInvalid]) -> None:
        """Raise `invalid` with everything that was noted, in the order of the lines; nothing when all was read."""
        found = sorted([*self.problems, *self.undecided])
        if found:
            raise invalid(file=file, problems=[f"{file}:{line}: {what}" for line, what in found])

    def read_file(self, schema: FileSchema, root: Node) -> Record:
        """The outermost mapping of a file."""
        record: Record = self.read(schema.fields, root, schema.where.text(language()))
        return record

    def read(self, kind: SchemaType, node: Node, what: str) -> Any:
        """What a node means as a value of this type, or None with a note; fixed keys always become a `Record`."""
        if self._is_undecided(node, what):
            return Record(node) if isinstance(kind, FieldsType) else None
        match kind:
            case TextType():
                return self._named(kind, node, what)
            case CodeType():
                return self._text(node, what)
            case LabelType():
                return self._label(node, what)
            case FlagType():
                return self._flag(node, what)
            case WholeType() | NumberType():
                return self._number(kind, node, what)
            case ParameterType():
                return self._parameter(kind, node, what)
            case ChoiceType():
                return self._choice(kind, node, what)
            case ListType():
                return self._list(kind, node, what)
            case MappingType():
                return self._mapping(kind, node, what)
            case FieldsType():
                return self._fields(kind, node, what)
            case FormsType():
                return self._form(kind, node, what)
            case _:
                assert_never(kind)

    # Scalars.

    def _text(self, node: Node, what: str) -> str | None:
        if not isinstance(node, ScalarNode):
            self.note(node.line, say("{what} must be one word or text, not a list or mapping", what=what))
            return None
        text = normal_text(node.text)
        if not text:
            self.note(node.line, say("{what} has no value", what=what))
            return None
        if len(text) > _TEXT_LENGTH:
            self.note(node.line, say("{what} is longer than {most} characters", what=what, most=_TEXT_LENGTH))
            return None
        return text

    def _named(self, kind: TextType, node: Node, what: str) -> str | None:
        text = self._text(node, what)
        if text is None or not kind.pattern or re.fullmatch(kind.pattern, text, re.ASCII):
            return text
        if kind.refusal is not None:
            self._note_rule(kind.refusal, node, what)
            return None
        shown = text[:_NAME_SHOWN]
        self.note(node.line, say("{what} '{text}' must be {rule}", what=what, text=shown, rule=kind.words))
        return None

    def _label(self, node: Node, what: str) -> Labels | None:
        if not isinstance(node, MappingNode):
            text = self._text(node, what)
            return None if text is None else Labels(one_line(text), one_line(text))
        found = self._fields(_LANGUAGES, node, what)
        return Labels(one_line(found["en"]), one_line(found["fr"])) if found["en"] and found["fr"] else None

    def _flag(self, node: Node, what: str) -> bool | None:
        text = self._text(node, what)
        if text is not None and text not in {"true", "false"}:
            self.note(node.line, say("{what} must be true or false; received '{text}'", what=what, text=text[:40]))
            return None
        return None if text is None else text == "true"

    def _number(self, kind: WholeType | NumberType, node: Node, what: str) -> Decimal | int | None:
        text = self._text(node, what)
        number = None if text is None else self._decimal(text, node, what)
        if number is None:
            return None
        if isinstance(kind, WholeType):
            if number % 1 or not kind.low <= number <= kind.high:
                self.note(
                    node.line,
                    say(
                        "{what} must be a whole number from {low:,} to {high:,}",
                        what=what,
                        low=kind.low,
                        high=kind.high,
                    ),
                )
                return None
            return int(number)
        if (kind.positive and number <= 0) or (not kind.negative and number < 0):
            self.note(
                node.line,
                say("{what} must be positive; received {number}", what=what, number=as_written(number))
                if kind.positive
                else say("{what} must not be negative; received {number}", what=what, number=as_written(number)),
            )
            return None
        return number

    def _decimal(self, text: str, node: Node, what: str) -> Decimal | None:
        if not _NUMBER.fullmatch(text):
            point, shown = tell_point(text), text[:40]
            self.note(
                node.line,
                say(
                    "{what} must be a plain decimal number: {point}; received '{text}'",
                    what=what,
                    point=point,
                    text=shown,
                )
                if point
                else say("{what} must be a plain decimal number; received '{text}'", what=what, text=shown),
            )
            return None
        number = Decimal(text)
        exponent = number.normalize().as_tuple().exponent
        if not isinstance(exponent, int) or abs(number) > _LARGEST or exponent < -_DECIMALS:
            self.note(
                node.line,
                say(
                    "{what} must lie within 10^15 and have at most {decimals} decimals; received '{text}'",
                    what=what,
                    decimals=_DECIMALS,
                    text=text[:40],
                ),
            )
            return None
        return number + 0

    def _parameter(self, kind: ParameterType, node: Node, what: str) -> Decimal | None:
        text = self._text(node, what)
        if text is None:
            return None
        try:
            return exact(text.removeprefix("+"), parameter=what, zero=kind.zero, below=kind.below, largest=kind.largest)
        except ParameterInvalid as error:
            self.note(node.line, error.message)
            return None

    def _choice(self, kind: ChoiceType, node: Node, what: str) -> str | None:
        text = self._text(node, what)
        if text is None or text in kind.names:
            return next((name for name in kind.names if name == text), None)
        if len(kind.names) == 1:
            self.note(node.line, say("{what} can only be {name}", what=what, name=kind.names[0]))
            return None
        names, shown, guess = say_list(kind.names, either=True), text[:40], nearest(text, kind.names)
        self.note(
            node.line,
            say(
                "{what} must be {names}; received '{text}'; did you mean '{guess}'?",
                what=what,
                names=names,
                text=shown,
                guess=guess,
            )
            if guess
            else say("{what} must be {names}; received '{text}'", what=what, names=names, text=shown),
        )
        return None

    # Lists and mappings.

    def _list(self, kind: ListType, node: Node, what: str) -> tuple[Any, ...] | None:
        items = node.items if isinstance(node, SequenceNode) else (node,) if kind.single else None
        if items is None or not kind.least <= len(items) <= (len(items) if kind.most is None else kind.most):
            self._note_rule(kind.shape, node, what)
            return None
        called = what if kind.each is None else kind.each.text(language())
        found = tuple(self.read(kind.item, item, called) for item in items)
        known = tuple(value for value in found if value is not None)
        if kind.distinct is not None and len(set(known)) < len(known):
            self._note_rule(kind.distinct, node, what)
            return None
        return known if len(known) == len(found) else None

    def _mapping(self, kind: MappingType, node: Node, what: str) -> tuple[Entry, ...] | None:
        if not isinstance(node, MappingNode):
            self._note_rule(kind.shape, node, what)
            return None
        if len(node.entries) < kind.least:
            if kind.empty is None:
                self._note_rule(kind.shape, node, what)
            else:
                self.note(node.line, kind.empty.text(language()))
            return None
        entries = []
        for key, value in node.entries:
            coded = isinstance(kind.names, CodeType)
            name = normal_text(key.text) if coded else key.text
            if coded and not name:
                self.note(key.line, say("{what}: a code must not be empty", what=what))
            item = self.read(kind.item, value, kind.each(name[:_NAME_SHOWN], what))
            entries.append(Entry(name, key.line, item))
        return None if any(entry.value is None for entry in entries) else tuple(entries)

    def _fields(self, kind: FieldsType, node: Node, where: str) -> Record:
        if not isinstance(node, MappingNode):
            names = ", ".join(kind.names)
            self.note(node.line, say("{where} must be a mapping with the keys {names}", where=where, names=names))
            return Record(node)
        nodes: dict[str, Node] = {}
        for key, part in node.entries:
            if key.text in kind.named:
                nodes[key.text] = part
            else:
                self._refuse_unknown(kind, key, where)
        before = len(self.problems) + len(self.undecided)
        for name in dict.fromkeys(key.name for key in kind.keys if key.required and key.name not in nodes):
            self.note(node.line, say("key '{name}' is missing in {where}", name=name, where=where))
        values = self._values(kind, node, nodes, where)
        return Record(node, values, nodes, whole=len(self.problems) + len(self.undecided) == before)

    def _values(self, kind: FieldsType, node: Node, nodes: Mapping[str, Node], where: str) -> dict[str, Any]:
        """The values of all keys, `by` first, and the defaults of those that are absent."""
        values: dict[str, Any] = {}
        for name in kind.named:
            decided: str | None = values.get(kind.by)
            key = kind.pick(name, decided)
            if key is None:  # which of several is meant is not known
                continue
            called = kind.called if key.called is None else key.called
            what = called(name, where, decided or where) if callable(called) else called.text(language())
            if decided is not None and not key.suits(decided):
                if name in nodes and not _says_nothing(key.type, nodes[name]):
                    self._refuse_unfit(kind, nodes[name], name, decided, where)
            elif name in nodes:
                values[name] = self.read(key.type, nodes[name], what)
            elif key.default:
                values[name] = self.read(key.type, ScalarNode(key.default, node.line), what)
        return values

    def _refuse_unknown(self, kind: FieldsType, key: ScalarNode, where: str) -> None:
        """A key that the mapping does not have."""
        shown, guess = key.text[:60], nearest(key.text, kind.names)
        self.note(
            key.line,
            say("unknown key '{key}' in {where}; did you mean '{guess}'?", key=shown, where=where, guess=guess)
            if guess
            else say("unknown key '{key}' in {where}", key=shown, where=where),
        )

    def _refuse_unfit(self, kind: FieldsType, node: Node, name: str, value: str, where: str) -> None:
        """A key that does not go with the value of `by`."""
        fitting = dict.fromkeys(key.name for key in kind.keys if key.suits(value) and key.name != kind.by)
        facts = {"name": name, "by": kind.by, "value": value, "fitting": ", ".join(fitting)}
        self.note(
            node.line,
            say("'{name}' does not go with {by} {value} ({where}); it takes {fitting}", where=where, **facts)
            if kind.called is call_by_place
            else say("'{name}' does not go with {by} {value}; it takes {fitting}", **facts),
        )

    def _form(self, kind: FormsType, node: Node, what: str) -> Any:
        form = next((form for form in kind.forms if _stands_for(form, node)), None)
        if kind.shape is not None:
            other = isinstance(form, ChoiceType) and isinstance(node, ScalarNode) and node.text not in form.names
            if form is None or other:
                self._note_rule(kind.shape, node, what)
                return None
        return self.read(form or kind.forms[-1], node, what)

    # Lines and problems.

    def built(self, node: Node | None, build: Callable[[], _T], *, line: int = 1) -> _T | None:
        """What `build` makes, or None with the rules that it breaks, at the keys of the node that break them."""
        try:
            return build()
        except CardFault as fault:
            for key, text in fault.problems:
                part = node.get(key) if isinstance(node, MappingNode) else None
                self.note(part.line if part is not None else (node.line if node and line == 1 else line), text)
            return None

    def note_at(self, root: Node, problems: Iterable[tuple[str, str]]) -> None:
        """Problems at dotted paths below a node; a path that is not there is noted as near to it as there is."""
        for path, text in problems:
            node = root
            for key in path.split("."):
                deeper = node.get(key) if isinstance(node, MappingNode) else None
                node = deeper if deeper is not None else node
            self.note(node.line, text)

    def note(self, line: int, text: str) -> None:
        self.problems.append((line, text))

    def _note_rule(self, rule: Labels, node: Node, what: str) -> None:
        """A rule of the schema that a value breaks."""
        self.note(node.line, say("{what} {rule}", what=what, rule=rule))

    def _is_undecided(self, node: Node, what: str) -> bool:
        undecided = isinstance(node, ScalarNode) and node.plain and node.text == UNDECIDED
        if undecided:
            self.undecided.append((node.line, say("{what} is still to be decided", what=what)))
        return undecided


def _says_nothing(kind: SchemaType, node: Node) -> bool:
    """Whether a key says no more than its absence would: `false`, or nothing in a list or mapping."""
    if isinstance(node, ScalarNode):
        return isinstance(kind, FlagType) and node.text == "false"
    return not (node.items if isinstance(node, SequenceNode) else node.entries)


def _stands_for(form: SchemaType, node: Node) -> bool:
    """Whether a node has the shape of a form."""
    if isinstance(node, SequenceNode):
        return isinstance(form, ListType)
    if isinstance(node, MappingNode):
        return isinstance(form, MappingType | FieldsType | LabelType)
    return not isinstance(form, ListType | MappingType | FieldsType)


def normal_text(text: str) -> str:
    """Text as it is compared everywhere: trimmed and in Unicode's composed form."""
    return unicodedata.normalize("NFC", text.strip())


def one_line(text: str) -> str:
    """Text as a label: on one line, single blanks."""
    return " ".join(text.split())
