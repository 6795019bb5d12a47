"""What a release is made of as plain JSON values, and back: every field by its own annotation, and nothing else.

A record is an object that says what it `is`, beside all of its fields. Decimals and fractions are exact text, columns
are lists whole, texts in two languages are the two texts, and what is worked out later is worked out. Only types that
annotations of a release name can come back, with values that they admit: all else is a ValueError, or what their own
checks raise. No name from a message is looked up anywhere but among those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from itertools import chain
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from discreet.results import notes
from discreet.results.figures import Figures, Later, Margin
from discreet.results.labels import Labels
from discreet.results.notes import Note
from discreet.results.row_listing import parts_of

__all__ = ["PlainForm", "form_of"]

T = TypeVar("T")

_IS: Final = "is"
_OF: Final = "of"
_DEEPEST: Final = 12
_LARGEST: Final = 10**300
"""Beyond every sum of a plan, and within what formats with floats can write."""

_DECIMAL: Final = re.compile(r"-?\d{1,100}(\.\d{1,100})?(E[+-]\d{1,3})?", re.ASCII)
_FRACTION: Final = re.compile(r"-?\d{1,1000}(/\d{1,1000})?", re.ASCII)
_NOTES: Final = tuple(
    one for one in vars(notes).values() if isinstance(one, type) and issubclass(one, Note) and one is not Note
)


@dataclass(frozen=True, slots=True)
class PlainForm:
    """How values of one type are written as plain ones, and read again."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@cache
def form_of(hint: Any) -> PlainForm:
    """The form of what is annotated like this."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(parts)
    if origin is Literal:
        return _choice(parts)
    if origin is tuple:
        return _tuple(parts)
    if origin is Sequence:
        return _sequence(parts[0])
    if origin is Mapping:
        return _mapping(parts)
    if origin is Later:
        return _later(form_of(parts[0]))
    return _single(hint)


def _single(hint: Any) -> PlainForm:
    if hint in _PLAIN:
        return _plain(_PLAIN[hint])
    if hint is Decimal:
        return _exact(Decimal, _DECIMAL)
    if hint is Fraction:
        return _exact(_read_fraction, _FRACTION)
    if hint is object:
        return PlainForm(_write_any, _read_any)
    if hint is Figures:
        return _figures()
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return PlainForm(lambda value: hint(value).value, lambda value: hint(_text(value)))
    if hint is Note:
        return _record(_NOTES)
    if is_dataclass(hint):
        return _record((hint,))
    raise TypeError(f"no form is known for {hint}")


# --- numbers and texts ----------------------------------------------------------------------------------------------

_PLAIN: Final[Mapping[Any, frozenset[type]]] = {
    str: frozenset({str}),
    bool: frozenset({bool}),
    int: frozenset({int}),
    # Whole numbers are floats to a type checker.
    float: frozenset({int, float}),
    NoneType: frozenset({NoneType}),
}
_ANY: Final = frozenset().union(*_PLAIN.values())


def _plain(kinds: frozenset[type]) -> PlainForm:
    def read(value: object) -> object:
        return _checked([value], kinds)[0]

    return PlainForm(lambda value: read(_own(value)), read)


def _checked(values: list[Any], kinds: frozenset[type]) -> list[Any]:
    """The values, if all are of these types; floats finite, and whole numbers such that they can be written."""
    found = set(map(type, values))
    if not found <= kinds:
        raise ValueError("a value is of another type")
    if float in found and not all(isfinite(value) for value in values if type(value) is float):
        raise ValueError("a number is not finite")
    whole = [value for value in values if type(value) is int] if int in found else [0]
    if max(whole) >= _LARGEST or min(whole) <= -_LARGEST:
        raise ValueError("a number is too long")
    return values


def _own(value: object) -> object:
    """The value in Python's own types: no member of an enumeration, and no number of numpy's."""
    if type(value) in _ANY:
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            # What such texts or numbers print may be more than what they hold.
            return kind.__str__(value) if kind is str else kind(value)
    raise ValueError("a value is of another type")


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("a value is no text")
    return value


def _exact(make: Callable[[str], Decimal | Fraction], pattern: re.Pattern[str]) -> PlainForm:
    """Numbers as text in full: neither rounded, nor so long that it takes time to read them."""

    def read(value: object) -> Decimal | Fraction:
        if not pattern.fullmatch(_text(value)):
            raise ValueError("a number is not written as such")
        return make(str(value))

    def write(value: Decimal | Fraction) -> str:
        written = str(value)
        if type(read(written)) is not type(value):
            raise ValueError("a value is of another type")
        return written

    return PlainForm(write, read)


def _read_fraction(written: str) -> Fraction:
    found = Fraction(written)
    float(found)  # as readers are told it: what is beyond floats overflows here
    return found


def _choice(options: tuple[str, ...]) -> PlainForm:
    def check(value: object) -> object:
        if _text(value) not in options:
            raise ValueError("a value is none of those that there are")
        return value

    return PlainForm(check, check)


# --- several types --------------------------------------------------------------------------------------------------


def _one_of(parts: tuple[Any, ...]) -> PlainForm:
    """Plain values of several types; records of several; or one type. Each perhaps beside None."""
    others = [part for part in parts if part is not NoneType]
    if all(part in _PLAIN for part in parts):
        return _plain(_kinds(parts))
    form = form_of(others[0]) if len(others) == 1 else _record(tuple(others))
    if len(others) == len(parts):
        return form
    return PlainForm(
        lambda value: None if value is None else form.write(value),
        lambda value: None if value is None else form.read(value),
    )


def _kinds(parts: Iterable[Any]) -> frozenset[type]:
    return frozenset().union(*(_PLAIN[part] for part in parts))


def _record(kinds: tuple[Any, ...]) -> PlainForm:
    """One of these dataclasses. A phrase is the texts that it says."""
    known = {kind.__name__: kind for kind in kinds}

    def write(value: Any) -> dict[str, Any]:
        name = Labels.__name__ if isinstance(value, Labels) else type(value).__name__
        if not isinstance(value, known.get(name, ())):
            raise ValueError("a value is of another type")
        own = _fields_of(known[name])
        return {_IS: name, **{field: form.write(getattr(value, field)) for field, form in own.items()}}

    def read(value: Any) -> Any:
        kind = known[_text(_object(value)[_IS])]
        own = _fields_of(kind)
        if value.keys() != {_IS, *own}:
            raise ValueError("a record has other fields")
        return kind(**{field: form.read(value[field]) for field, form in own.items()})

    return PlainForm(write, read)


@cache
def _fields_of(kind: Any) -> dict[str, PlainForm]:
    hints = get_type_hints(kind)
    return {item.name: form_of(hints[item.name]) for item in fields(kind)}


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict or not all(type(name) is str for name in value):
        raise ValueError("a value is no object")
    return value


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("a value is no list")
    return value


# --- many values ----------------------------------------------------------------------------------------------------


def _sequence(part: Any) -> PlainForm:
    """Columns are plain values or codes of an enumeration, and come back as lists; others as what they were."""
    if isinstance(part, type) and issubclass(part, StrEnum):
        return _coded(part)
    parts = get_args(part) or (part,)
    if all(item in _PLAIN for item in parts):
        return _column(_kinds(parts))
    form = form_of(part)

    def read(value: object) -> Sequence[Any]:
        kind, items = _kept(value)
        return kind(map(form.read, items))

    return PlainForm(lambda value: _keep(value, [form.write(item) for item in value]), read)


def _column(kinds: frozenset[type]) -> PlainForm:
    """A whole column in one go: a table has a million cells."""

    def write(column: Sequence[Any]) -> list[Any]:
        listed = list(chain.from_iterable(parts_of(column)))
        return _checked(listed if set(map(type, listed)) <= kinds else list(map(_own, listed)), kinds)

    return PlainForm(write, lambda value: _checked(_list(value), kinds))


def _coded(kind: type[StrEnum]) -> PlainForm:
    members = {item.value: item for item in kind}
    texts = {item: item.value for item in kind}
    return PlainForm(
        lambda column: [texts[item] for item in column],
        lambda value: list(map(members.__getitem__, _checked(_list(value), _PLAIN[str]))),
    )


def _tuple(parts: tuple[Any, ...]) -> PlainForm:
    if parts[1:] == (Ellipsis,):
        form = form_of(parts[0])
        return PlainForm(
            lambda value: [form.write(item) for item in value],
            lambda value: tuple(map(form.read, _list(value))),
        )
    forms = list(map(form_of, parts))
    return PlainForm(
        lambda value: [form.write(item) for form, item in zip(forms, value, strict=True)],
        lambda value: tuple(form.read(item) for form, item in zip(forms, _list(value), strict=True)),
    )


def _mapping(parts: tuple[Any, ...]) -> PlainForm:
    name, form = form_of(parts[0]), form_of(parts[1])
    return PlainForm(
        lambda value: {name.write(key): form.write(item) for key, item in value.items()},
        lambda value: {key: form.read(item) for key, item in _object(value).items()},
    )


def _later(form: PlainForm) -> PlainForm:
    def read(value: object) -> Later[Any]:
        found = form.read(value)
        return Later(partial(_same, found))

    return PlainForm(lambda value: form.write(value.value), read)


def _figures() -> PlainForm:
    margins = form_of(tuple[Margin, ...])

    def read(value: object) -> Figures:
        found = list(margins.read(value))
        return Figures(sum(map(len, found)), partial(_same, found))

    return PlainForm(lambda value: margins.write(value.margins), read)


def _same(found: T) -> T:
    """What was found is kept in a `partial` of this: other processes can be sent it."""
    return found


# --- what a request holds -------------------------------------------------------------------------------------------


def _keep(value: Sequence[Any], items: list[Any]) -> Any:
    """A list as it is; a tuple says so."""
    return {_IS: "tuple", _OF: items} if isinstance(value, tuple) else items


def _kept(value: Any) -> tuple[type[list[Any]] | type[tuple[Any, ...]], list[Any]]:
    if type(value) is list:
        return list, value
    if value.keys() != {_IS, _OF} or value[_IS] != "tuple":
        raise ValueError("a value is no list")
    return tuple, _list(value[_OF])


def _write_any(value: Any, depth: int = 0) -> Any:
    """Plain values, and lists, tuples and mappings of them."""
    if depth > _DEEPEST:
        raise ValueError("a request is too deep")
    match value:
        case list() | tuple():
            return _keep(value, [_write_any(item, depth + 1) for item in value])
        case Mapping():
            found = {_text(_own(key)): _write_any(item, depth + 1) for key, item in value.items()}
            return {_IS: "mapping", _OF: found}
    return _checked([_own(value)], _ANY)[0]


def _read_any(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ValueError("a request is too deep")
    if type(value) is dict and value.get(_IS) == "mapping" and value.keys() == {_IS, _OF}:
        return {key: _read_any(item, depth + 1) for key, item in _object(value[_OF]).items()}
    if type(value) in (list, dict):
        kind, items = _kept(value)
        return kind(_read_any(item, depth + 1) for item in items)
    return _checked([value], _ANY)[0]
