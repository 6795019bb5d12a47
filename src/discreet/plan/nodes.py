"""The plan: what an engine may be asked to do, in frozen nodes over stored integers.

Categories are positions in the card's list, numbers are whole multiples of their step; so a predicate never holds a
float, and two ways to write one question give one plan and one hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["And", "CountPlan", "IsNull", "Key", "Not", "OneOf", "Or", "Predicate", "TextIn", "Within"]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The stored integer is one of these; unknown for NULL, as SQL has it. An empty list is false."""

    column: str
    values: tuple[int, ...]

    def to_json(self) -> list[object]:
        return ["one-of", self.column, list(self.values)]


@dataclass(frozen=True, slots=True)
class Within:
    """The stored integer lies between two whole numbers, both included; None leaves a side open."""

    column: str
    low: int | None
    high: int | None

    def to_json(self) -> list[object]:
        return ["within", self.column, self.low, self.high]


@dataclass(frozen=True, slots=True)
class TextIn:
    """The stored text is one of these."""

    column: str
    values: tuple[str, ...]

    def to_json(self) -> list[object]:
        return ["text-in", self.column, list(self.values)]


@dataclass(frozen=True, slots=True)
class IsNull:
    """The value is absent."""

    column: str

    def to_json(self) -> list[object]:
        return ["is-null", self.column]


@dataclass(frozen=True, slots=True)
class Not:
    operand: Predicate

    def to_json(self) -> list[object]:
        return ["not", self.operand.to_json()]


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Predicate, ...]

    def to_json(self) -> list[object]:
        return ["and", *(operand.to_json() for operand in self.operands)]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Predicate, ...]

    def to_json(self) -> list[object]:
        return ["or", *(operand.to_json() for operand in self.operands)]


Predicate = OneOf | Within | TextIn | IsNull | Not | And | Or


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping column with its whole public domain, in card order; the NULL key follows, always."""

    column: str
    stored: tuple[int, ...]

    @property
    def cells(self) -> tuple[int | None, ...]:
        return (*self.stored, None)


@dataclass(frozen=True, slots=True)
class CountPlan:
    """Count the rows of a dataset, of at most `rows_per_unit` rows of each unit, that satisfy a predicate, by keys.

    `outputs` are the columns of the answer in the order asked: a key's column name, or None for the count itself,
    each with its name in the answer.
    """

    dataset: str
    rows_per_unit: int
    keys: tuple[Key, ...]
    where: Predicate | None
    outputs: tuple[tuple[str | None, str], ...]

    @property
    def cell_count(self) -> int:
        total = 1
        for key in self.keys:
            total *= len(key.cells)
        return total

    def columns_used(self) -> frozenset[str]:
        """Columns on which the answer depends, beside the unit."""
        return frozenset(key.column for key in self.keys) | frozenset(_columns(self.where))

    def to_json(self) -> dict[str, object]:
        return {
            "count": self.dataset,
            "rows_per_unit": self.rows_per_unit,
            "keys": [[key.column, list(key.stored)] for key in self.keys],
            "where": self.where.to_json() if self.where is not None else None,
        }

    @property
    def hash(self) -> str:
        """Identifies the question, not its wording: names of outputs and order of columns do not enter."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def _columns(predicate: Predicate | None) -> Iterator[str]:
    match predicate:
        case None:
            return
        case Not(operand):
            yield from _columns(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _columns(operand)
        case _:
            yield predicate.column
