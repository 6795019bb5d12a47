"""What a plan is known by: a serialisation of its own, with tags and numbers that follow from the plan alone.

Neither class names nor what a statement calls its columns enter, so a renamed class or alias loses no stored answer.
Columns are numbered in the order in which the relation makes them; of a dataset those that are read. `VERSION` stands
in every text: a change of the serialisation is a new version, and answers stored under an earlier one are looked for
under that (`first_form`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    Key,
    KeyJoin,
    Largest,
    Least,
    Lookup,
    Marginal,
    Measure,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Relation,
    Residual,
    Rows,
    Scan,
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    Trimmed,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    fields_in,
)

__all__ = ["VERSION", "Serialisation", "digest", "plan_hash"]

VERSION: Final = 2

Part = list[object]


def digest(content: object) -> str:
    """The hash of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=True).encode()).hexdigest()


def plan_hash(plan: Plan) -> str:
    """Identifies what is measured, not its wording: names, aliases and order of outputs do not enter."""
    return Serialisation.of(plan).plan(plan)


@dataclass(frozen=True, slots=True)
class Serialisation:
    """Writes the parts of a plan, and of others over the same relation, by the numbers of their columns."""

    numbers: Mapping[Identity, int]

    @classmethod
    def of(cls, plan: Plan) -> Serialisation:
        read = frozenset(fields_in(plan))
        return cls({column: number for number, column in enumerate(dict.fromkeys(_made(plan.source, read)))})

    def plan(self, plan: Plan) -> str:
        measures = sorted(json.dumps(self.measure(measure), separators=(",", ":")) for measure in plan.measures)
        return digest(["plan", VERSION, self.relation(plan.source), [self._key(key) for key in plan.keys], measures])

    def measure_id(self, measure: Measure) -> str:
        """What a measure is called in stored answers, wherever it stands in a statement."""
        return digest(["measure", VERSION, self.measure(measure)])

    def column_key(self, column: Identity) -> str:
        """What a column is called in stored answers."""
        return str(self.numbers[column])

    # --- relations --------------------------------------------------------------------------------------------------

    def relation(self, relation: Relation) -> Part:
        match relation:
            case Scan(dataset, rows, columns, version):
                listed = [[self.numbers[column], name] for column, name in columns if column in self.numbers]
                return ["scan", dataset, rows, version, listed]
            case Filter(source, where):
                return ["filter", self.relation(source), self.condition(where)]
            case Derive(source, columns):
                made = [[self.numbers[column], self.value(value)] for column, value in columns]
                return ["derive", self.relation(source), made]
            case PerUnit(source, columns):
                summed = [[self.numbers[column], self._unit_aggregate(item)] for column, item in columns]
                return ["per-unit", self.relation(source), summed]
            case Join(left, right):
                return ["join", self.relation(left), self.relation(right)]
            case Lookup(source, key, columns, entries):
                looked_up = [self.numbers[column] for column in columns]
                return ["lookup", self.relation(source), self.value(key), looked_up, [list(entry) for entry in entries]]
            case KeyJoin(left, right, left_key, right_key):
                sides = [self.relation(left), self.relation(right)]
                return ["key-join", *sides, self.value(left_key), self.value(right_key)]

    def _unit_aggregate(self, aggregate: UnitAggregate) -> Part:
        match aggregate:
            case Tally(value):
                return ["tally", self._optional(value)]
            case UnitTotal(value):
                return ["total", self.value(value)]
            case Smallest(value):
                return ["least", self.value(value)]
            case Largest(value):
                return ["greatest", self.value(value)]

    # --- values and conditions --------------------------------------------------------------------------------------

    def _optional(self, value: Value | None) -> Part | None:
        return None if value is None else self.value(value)

    def value(self, value: Value) -> Part:
        match value:
            case Field(column):
                return ["column", self.numbers[column]]
            case Whole(number):
                return ["whole", number]
            case Nothing():
                return ["null"]
            case Plus(values):
                return ["plus", *map(self.value, values)]
            case Times(left, right):
                return ["times", self.value(left), self.value(right)]
            case Absolute(inner):
                return ["absolute", self.value(inner)]
            case Clamp(inner, low, high):
                return ["clamp", self.value(inner), low, high]
            case Least(values):
                return ["least", *map(self.value, values)]
            case Greatest(values):
                return ["greatest", *map(self.value, values)]
            case Coalesce(values):
                return ["coalesce", *map(self.value, values)]
            case Case(branches, otherwise):
                written = [[self.condition(when), self.value(then)] for when, then in branches]
                return ["case", written, self.value(otherwise)]

    def condition(self, condition: Condition) -> Part:
        match condition:
            case OneOf(value, values):
                return ["one-of", self.value(value), list(values)]
            case Within(value, low, high):
                return ["within", self.value(value), low, high]
            case TextIn(field, texts):
                return ["text-in", self.value(field), list(texts)]
            case IsNull(value):
                return ["is-null", self.value(value)]
            case Not(operand):
                return ["not", self.condition(operand)]
            case And(operands):
                return ["and", *map(self.condition, operands)]
            case Or(operands):
                return ["or", *map(self.condition, operands)]

    # --- what is measured -------------------------------------------------------------------------------------------

    def measure(self, measure: Measure) -> Part:
        match measure:
            case Rows(value):
                return ["rows", self._optional(value)]
            case Units():
                return ["units"]
            case Total(value):
                return ["total", self.value(value)]
            case Quantile(value, rank, candidates):
                return ["quantile", self.value(value), str(rank), candidates and list(candidates)]
            case Extreme(value, largest, candidates):
                sort = "largest" if largest else "smallest"
                return [sort, self.value(value), candidates and list(candidates)]
            case Trimmed(value, share):
                return ["trimmed", self.value(value), str(share)]
            case Marginal(of, kept):
                return ["marginal", self.measure(of), list(kept)]
            case Residual(of, kept, whole):
                return ["residual", self.measure(of), list(kept), list(whole)]

    def _key(self, key: Key) -> Part:
        return ["key", self.numbers[key.field.column], None if key.domain is None else list(_runs(key.domain))]


def _made(relation: Relation, read: frozenset[Identity]) -> Iterator[Identity]:
    """The columns of a relation and of those below it, the innermost and leftmost first."""
    match relation:
        case Scan():
            yield from (column for column, _ in relation.columns if column in read)
        case Join() | KeyJoin():
            yield from _made(relation.left, read)
            yield from _made(relation.right, read)
        case Filter():
            yield from _made(relation.source, read)
        case Derive() | PerUnit():
            yield from _made(relation.source, read)
            yield from (column for column, _ in relation.columns)
        case Lookup():
            yield from _made(relation.source, read)
            yield from relation.columns


def _runs(cells: Sequence[int | None]) -> Iterator[list[int] | None]:
    """Listed cells as stretches of whole numbers, first and last, and NULL."""
    first = last = None
    for cell in cells:
        if first is not None and last is not None and cell == last + 1:
            last = cell
            continue
        if first is not None and last is not None:
            yield [first, last]
        first = last = cell
        if cell is None:
            yield None
    if first is not None and last is not None:
        yield [first, last]
