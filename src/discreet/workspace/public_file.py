"""A file as a public table: columns are typed from their values, which only public values allow.

A column is integers, or exact decimals, or else text whose distinct values are its categories in order of first
appearance. docs/public-tables.md states the rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from discreet.cards import LARGEST_UNITS, ColumnKind, canonical_code, find_control, is_reserved, is_well_named
from discreet.catalogue import Phrase, say
from discreet.errors import UnknownName
from discreet.sources import BLANK_TOKENS, WHITE_SPACE, DataSource
from discreet.workspace.public_tables import MOST_COLUMNS, MOST_ROWS, PublicColumn, PublicTable, describe_column

__all__ = ["read_public_file"]

_MOST_PLACES: Final = 9
_LONGEST_TEXT: Final = 500
# A whole part with a leading zero is a code, such as 01: as a number it would lose what tells it from 1.
_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII
)

Texts = list[str | None]
Values = list[int | None]


def read_public_file(source: DataSource, *, name: str, key: str) -> PublicTable:
    """The whole file as version 1 of a public table, or FileRefused naming the rule it breaks."""
    _check_names(source)
    if key not in source.names:
        raise UnknownName(
            sort=Phrase("Column"), name=key, where=Phrase("'{name}'", name=source.file.name), known=source.names
        )
    texts = _read_texts(source)
    columns: list[PublicColumn] = []
    stored: list[Values] = []
    for column_name, column_texts in zip(source.names, texts, strict=True):
        column, values = _type_column(source, column_name, column_texts)
        columns.append(column)
        stored.append(values)
    index = source.names.index(key)
    _check_key(source, columns[index], stored[index])
    rows = tuple(zip(*stored, strict=True))
    return PublicTable(name=name, version=1, key=key, columns=tuple(columns), rows=rows)


def _check_names(source: DataSource) -> None:
    if len(source.names) > MOST_COLUMNS:
        raise source.refusal(
            say(
                "has {columns:,} columns; a public table has at most {most}",
                columns=len(source.names),
                most=MOST_COLUMNS,
            )
        )
    seen: dict[str, str] = {}
    for name in source.names:
        if not is_well_named(name):
            raise source.refusal(
                say(
                    "has a column named '{name}'; a name is letters, digits and underscores, at most 63, no digit "
                    "first. Rename it",
                    name=name[:40],
                )
            )
        if is_reserved(name):
            raise source.refusal(say("has a column named '{name}', which is reserved. Rename it", name=name))
        if name.lower() in seen:
            raise source.refusal(
                say(
                    "has columns '{one}' and '{other}'; names must differ, whatever case",
                    one=seen[name.lower()],
                    other=name,
                )
            )
        seen[name.lower()] = name


def _read_texts(source: DataSource) -> list[Texts]:
    """Every value as cleaned text, column by column; None where the file itself holds nothing."""
    texts: list[Texts] = [[] for _ in source.names]
    for batch in source.batches(source.names):
        if len(texts[0]) + batch.num_rows > MOST_ROWS:
            raise source.refusal(say("has more rows than the {most:,} that a public table may have", most=MOST_ROWS))
        for column, array in zip(texts, batch.columns, strict=True):
            column += [_clean(value) for value in _as_texts(array)]
    if not texts[0]:
        raise source.refusal(say("has no rows"))
    for name, column in zip(source.names, texts, strict=True):
        for text in column:
            if text is not None and (why := _unfit(text, name)):
                raise source.refusal(why)
    return texts


def _as_texts(array: Any) -> Sequence[str | None]:
    """Floats by their shortest decimal, other types as they are written; NaN and infinities are absent."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_floating(array.type):
        array = compute.if_else(compute.is_finite(array), array, None)
    result: Sequence[str | None] = array.cast(pa.string()).to_pylist()
    return result


def _clean(text: str | None) -> str | None:
    return None if text is None else unicodedata.normalize("NFC", text.strip(WHITE_SPACE)) or None


def _unfit(text: str, name: str) -> str | None:
    if len(text) > _LONGEST_TEXT:
        longest = {"name": name, "most": _LONGEST_TEXT}
        return say("holds a text in column '{name}' that is longer than {most} characters", **longest)
    # What is shown on a terminal must not steer it, nor look like another text.
    control = find_control(text)
    if control is None:
        return None
    point = f"{ord(control):04X}"
    return say("holds a text in column '{name}' that has the control character U+{point}", name=name, point=point)


def _type_column(source: DataSource, name: str, texts: Texts) -> tuple[PublicColumn, Values]:
    """Numbers when every value is one, blanks aside; else categories."""
    present = [text for text in texts if text is not None]
    if not present:
        raise source.refusal(say("has no value at all in column '{name}'; leave it out", name=name))
    numbers = [text for text in present if text.lower() not in BLANK_TOKENS]
    if numbers and all(_NUMBER.fullmatch(text) for text in numbers):
        return _number_column(source, name, texts)
    return _category_column(name, texts)


def _number_column(source: DataSource, name: str, texts: Texts) -> tuple[PublicColumn, Values]:
    parts = [None if text is None or text.lower() in BLANK_TOKENS else _take_apart(text) for text in texts]
    places = max(0, *(-exponent for part in parts if part is not None for _, exponent in [part]))
    if places > _MOST_PLACES:
        raise source.refusal(
            say("has more than {most} decimals in column '{name}'. Round it", most=_MOST_PLACES, name=name)
        )
    values: Values = []
    for part in parts:
        if part is None:
            values.append(None)
            continue
        mantissa, exponent = part
        # The length is looked at first: a power such as 1e99999 is never computed.
        if len(str(abs(mantissa))) + exponent + places > len(str(LARGEST_UNITS)):
            raise source.refusal(_too_large(name, places))
        values.append(mantissa * 10 ** (exponent + places))
    if any(value is not None and abs(value) > LARGEST_UNITS for value in values):
        raise source.refusal(_too_large(name, places))
    kind = ColumnKind.NUMBER if places else ColumnKind.INTEGER
    return describe_column(name, kind, step=Decimal(1).scaleb(-places), categories=(), values=values), values


def _too_large(name: str, places: int) -> str:
    if not places:
        return say(
            "has a number in column '{name}' that is more than 10^15 steps from 0. Use a larger unit, or put a letter "
            "before each value if these are codes",
            name=name,
        )
    return say(
        "has a number in column '{name}' that is more than 10^15 steps (here of {step:f}) from 0. Use a larger unit, "
        "or put a letter before each value if these are codes",
        name=name,
        step=Decimal(1).scaleb(-places),
    )


def _take_apart(text: str) -> tuple[int, int]:
    """A number as mantissa and power of ten, exactly, with no zero at the end of the mantissa."""
    sign, digits, exponent = Decimal(text.replace(",", "")).as_tuple()
    assert isinstance(exponent, int)  # the pattern admits no NaN and no infinity
    written = "".join(map(str, digits))
    kept = written.rstrip("0")
    if not kept:
        return 0, 0
    return (-1 if sign else 1) * int(kept), exponent + len(written) - len(kept)


def _category_column(name: str, texts: Texts) -> tuple[PublicColumn, Values]:
    # Codes are those of cards: 10 and 10.0 are one, so that a column of codes and a total joins with either.
    codes = [None if text is None else canonical_code(text) for text in texts]
    positions: dict[str, int] = {}
    values: Values = [None if code is None else positions.setdefault(code, len(positions)) for code in codes]
    return describe_column(name, ColumnKind.CATEGORY, step=None, categories=tuple(positions), values=values), values


def _check_key(source: DataSource, column: PublicColumn, values: Values) -> None:
    if column.kind is ColumnKind.NUMBER:
        raise source.refusal(
            say("has decimals in its key '{name}'; a key holds whole numbers or texts", name=column.name)
        )
    seen: dict[int, int] = {}
    for row, value in enumerate(values, start=1):
        if value is None:
            raise source.refusal(
                say("has no key '{name}' in row {row}; a key is never absent", name=column.name, row=row)
            )
        if value in seen:
            raise source.refusal(
                say(
                    "has the key '{value}' in rows {first} and {second}; a key is unique, so that a join adds no rows",
                    value=column.text(value),
                    first=seen[value],
                    second=row,
                )
            )
        seen[value] = row
