"""Rows of an answer as they are read: columns are kept, and the object of a row is made when somebody looks at it.

A million rows as objects take a gigabyte; as columns, some dozen megabytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Generic, TypeVar, overload

__all__ = ["Chosen", "PairedColumns", "RowListing", "ends_of", "parts_of"]

T = TypeVar("T")

_PART: Final = 8_192


class RowListing(Sequence[dict[str, T]], Generic[T]):
    """Rows by number, as a list of objects would give them; equal to such a list."""

    def __init__(self, columns: Mapping[str, Sequence[T]], count: int) -> None:
        self.columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> dict[str, T]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, T]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, T] | list[dict[str, T]]:
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(self._count))]
        number = range(self._count)[index]
        return {name: next(parts_of(column, number, 1))[0] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, T]]:
        names = list(self.columns)
        if not names:
            return iter([{} for _ in range(self._count)])
        parts = zip(*(parts_of(column) for column in self.columns.values()), strict=True)
        return (dict(zip(names, row, strict=True)) for part in parts for row in zip(*part, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != self._count:
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == another for one, another in zip(self, other, strict=True))

    def to_json(self) -> Iterator[str]:
        """The lines of a JSON list of these rows, two spaces deep and two for each level, a stretch at a time."""
        fields = [f"      {_quoted(name)}: {_slots(column)}" for name, column in self.columns.items()]
        row = "    {\n" + ",\n".join(fields) + "\n    }" if fields else "    {}"
        if not fields:
            yield from (f",\n{row}" if index else row for index in range(self._count))
            return
        flat = [end for column in self.columns.values() for end in _flat(column)]
        for index, part in enumerate(zip(*(parts_of(column) for column in flat), strict=True)):
            text = ",\n".join(map(row.__mod__, zip(*map(_in_json, part), strict=True)))
            yield f",\n{text}" if index else text

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(map(repr, islice(self, 3)))
        return f"[{first}, … {self._count - 3:,} more]" if self._count > 3 else f"[{first}]"


def parts_of(column: Sequence[T], start: int = 0, stop: int | None = None) -> Iterator[Sequence[T]]:
    """A column in stretches of some thousand, in Python's own numbers."""
    end = len(column) if stop is None else min(len(column), start + stop)
    for index in range(start, end, _PART):
        part: Any = column[index : min(end, index + _PART)]
        yield part.tolist() if hasattr(part, "tolist") else part


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("%", "%%")


def _slots(column: Sequence[object]) -> str:
    return "[\n        %s,\n        %s\n      ]" if _paired(column) else "%s"


def _flat(column: Any) -> Sequence[Sequence[Any]]:
    return ends_of(column) if _paired(column) else (column,)


def ends_of(column: Sequence[Sequence[T]]) -> tuple[Sequence[T], Sequence[T]]:
    """A column of pairs as two columns."""
    if isinstance(column, PairedColumns):
        return column.ends
    return [pair[0] for pair in column], [pair[1] for pair in column]


def _paired(column: Sequence[object]) -> bool:
    return isinstance(column, PairedColumns) or (len(column) > 0 and isinstance(column[0], list))


def _in_json(part: Sequence[object]) -> list[str]:
    if any(isinstance(value, str) for value in part):
        known = {value: json.dumps(value, ensure_ascii=False) for value in set(part)}
        return [known[value] for value in part]
    return json.dumps(list(part))[1:-1].split(", ")  # numbers alone: no comma is part of one


class PairedColumns(Sequence[list[T]]):
    """Two columns as one of pairs."""

    def __init__(self, low: Sequence[T], high: Sequence[T]) -> None:
        self.ends = (low, high)

    def __len__(self) -> int:
        return len(self.ends[0])

    @overload
    def __getitem__(self, index: int) -> list[T]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[T]]: ...

    def __getitem__(self, index: int | slice) -> list[T] | list[list[T]]:
        if isinstance(index, int):
            return self[index : index + 1 or None][0]
        parts: list[Any] = [end[index] for end in self.ends]
        lows, highs = (part.tolist() if hasattr(part, "tolist") else part for part in parts)
        return [[low, high] for low, high in zip(lows, highs, strict=True)]


class Chosen(Sequence[T]):
    """A column of few different values: which of them stands in each row."""

    def __init__(self, values: Sequence[T], numbers: Any) -> None:
        self._values = values
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, int):
            return self._values[int(self._numbers[index])]
        return [self._values[number] for number in self._numbers[index].tolist()]
