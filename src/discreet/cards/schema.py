"""The language of a file that people write, declared once: types as values, keys with meaning, default and example.

From one declaration come the reader (`schema_reader`), the reference page and the comments of drafts
(`schema_words`), and the JSON Schema by which editors complete and check (`json_schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from discreet.catalogue import Labels, Phrase, say

__all__ = [
    "COLUMN_NAME",
    "SCHEMAS_URL",
    "ChoiceType",
    "CodeType",
    "FieldsType",
    "FileSchema",
    "FlagType",
    "FormsType",
    "LabelType",
    "ListType",
    "MappingType",
    "NumberType",
    "ParameterType",
    "SchemaKey",
    "SchemaType",
    "TextType",
    "WholeType",
    "call_by_key",
    "call_by_place",
    "find_fields",
    "walk_keys",
]

SCHEMAS_URL: Final = "https://discreet-dp.github.io/discreet/schemas"


@dataclass(frozen=True, slots=True)
class TextType:
    """Text. `words` say what it is, and with a `pattern` what it must be, unless `refusal` is the rule in its place.

    `known` are words that editors offer; whether another word will do is for the reader of the file to say.
    """

    words: Labels = field(default=Phrase("text"))
    pattern: str = ""
    refusal: Labels | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelType:
    """What readers see: one text for both languages, or `{en: ..., fr: ...}`."""


@dataclass(frozen=True, slots=True)
class CodeType:
    """A code of the data: the text one sees, whatever YAML would make of it."""


@dataclass(frozen=True, slots=True)
class FlagType:
    """`true` or `false`, and no other spelling."""


@dataclass(frozen=True, slots=True)
class WholeType:
    """A whole number, both limits included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class NumberType:
    """An exact decimal within 10^15 and of at most nine decimals, as it was written."""

    positive: bool = False
    negative: bool = True


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A privacy parameter, level or share: an exact decimal on the grid of 1e-9, above 0 unless `zero` may be."""

    zero: bool = False
    below: int | None = None
    largest: int = 10**6


@dataclass(frozen=True, slots=True)
class ChoiceType:
    """One of these names. What is read is the member itself, where names are those of an enumeration."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListType:
    """Items of one type. `single`: one item may stand without the list.

    `shape` is the rule that another shape or number of items breaks, `distinct` the one that equal items break; `each`
    is what one item is called in messages.
    """

    item: SchemaType
    shape: Labels = field(default=Phrase("must be a list, such as [a, b]"))
    least: int = 0
    most: int | None = None
    distinct: Labels | None = None
    single: bool = False
    each: Labels | None = None


@dataclass(frozen=True, slots=True)
class MappingType:
    """Items under names that the author chooses. `shape` is the rule that another shape breaks; `empty` is all that is
    said where there are no items and some are needed.

    `each` says what an item is called in messages, by its name and by what the mapping is called. Names are checked by
    what the items become; here they tell editors what a name looks like.
    """

    item: SchemaType
    each: Callable[[str, str], str]
    shape: Labels = field(default=Phrase("must be a mapping from name to description"))
    names: TextType | CodeType = field(default=CodeType())
    least: int = 0
    empty: Labels | None = None


Calling = Callable[[str, str, str], str]
"""What messages call the value of a key: by the key, by what its mapping is called, and by the value of `by`."""


def call_by_key(key: str, _where: str, _value: str) -> str:
    """What messages call the value of a key of the file, or of a mapping that occurs once."""
    return say("{key}", key=key)


def call_by_place(key: str, where: str, _value: str) -> str:
    """What they call it in one of several mappings of a sort, such as a column."""
    return say("{key} of {where}", key=key, where=where)


@dataclass(frozen=True, slots=True)
class FieldsType:
    """A mapping with fixed keys. `called` is what messages call the value of a key that has no name of its own.

    `by` names the key whose value decides which others go with it; several keys may then share one name. `named` are
    the keys by name, the deciding one first.
    """

    keys: tuple[SchemaKey, ...]
    by: str = ""
    called: Calling = call_by_key
    named: Mapping[str, tuple[SchemaKey, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = sorted(self.names, key=lambda name: name != self.by)
        named = {name: tuple(key for key in self.keys if key.name == name) for name in names}
        object.__setattr__(self, "named", named)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the keys, each once, in their order."""
        return tuple(dict.fromkeys(key.name for key in self.keys))

    def pick(self, name: str, value: str | None) -> SchemaKey | None:
        """The key of that name for a value of `by`; None where several share the name and the value is not known."""
        keys = self.named[name]
        if value is None:
            return keys[0] if len(keys) == 1 else None
        return next((key for key in keys if key.suits(value)), keys[0])


@dataclass(frozen=True, slots=True)
class FormsType:
    """One of several forms, told apart by whether a word, a list or a mapping stands there."""

    forms: tuple[SchemaType, ...]
    shape: Labels | None = None


SchemaType = (
    TextType
    | LabelType
    | CodeType
    | FlagType
    | WholeType
    | NumberType
    | ParameterType
    | ChoiceType
    | ListType
    | MappingType
    | FieldsType
    | FormsType
)


@dataclass(frozen=True, slots=True)
class SchemaKey:
    """One key: its type, its meaning, and what holds where it is absent.

    The first sentence of the meaning stands alone as a comment. `default` and `example` are YAML text. `goes_with`
    are the values of `by` with which the key may stand, all when empty; `needed_with` those that cannot do without.
    """

    name: str
    type: SchemaType
    meaning: Labels
    required: bool = False
    default: str = ""
    example: str = ""
    called: Labels | Calling | None = None
    goes_with: tuple[str, ...] = ()
    needed_with: tuple[str, ...] = ()

    def suits(self, value: str) -> bool:
        """Whether it goes with this value of `by`."""
        return not self.goes_with or value in self.goes_with


@dataclass(frozen=True, slots=True)
class FileSchema:
    """One kind of file. `where` is what messages call its outermost mapping."""

    kind: str
    where: Labels
    title: Labels
    about: Labels
    fields: FieldsType

    @property
    def url(self) -> str:
        """Where its JSON Schema is published."""
        return f"{SCHEMAS_URL}/{self.kind}.json"

    @property
    def editor_line(self) -> str:
        """The comment by which editors find the JSON Schema; every draft begins with it."""
        return f"# yaml-language-server: $schema={self.url}"

    def key(self, path: str) -> SchemaKey:
        """The key at a dotted path, as `walk_keys` gives it."""
        return next(key for found, key in walk_keys(self.fields) if found == path)


COLUMN_NAME: Final = TextType(Phrase("column name"))


def walk_keys(fields: FieldsType, prefix: str = "") -> Iterator[tuple[str, SchemaKey]]:
    """Every key with its dotted path, in the order of the file; a name chosen by the author is '*'."""
    for key in fields.keys:
        path = f"{prefix}{key.name}"
        yield path, key
        if (found := find_fields(key.type)) is not None:
            inner, named = found
            yield from walk_keys(inner, f"{path}.*." if named else f"{path}.")


def find_fields(kind: SchemaType) -> tuple[FieldsType, bool] | None:
    """The fixed keys that a type holds, and whether they stand under chosen names; None where it holds none."""
    match kind:
        case FieldsType():
            return kind, False
        case ListType(item=item):
            return find_fields(item)
        case MappingType(item=item):
            found = find_fields(item)
            return None if found is None else (found[0], True)
        case FormsType(forms=forms):
            return next((found for form in forms if (found := find_fields(form))), None)
        case _:
            return None
