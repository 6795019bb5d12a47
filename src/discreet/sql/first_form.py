"""Statements as the first version of stored answers wrote them, so that what was paid for then is still found.

That version knew columns by names, and serialised nodes by the names of their classes: both are written here as they
were then. Columns were called as their cards, derived tables and public tables called them; where the two sides of a
join shared a name, those of the right side were renamed by the number of the join. Nothing is released under this form;
it is only looked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
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
    Units,
    UnitTotal,
    Whole,
    Within,
)
from discreet.sql.serialisation import digest
from discreet.sql.statement import Statement, WrittenAggregate

__all__ = ["FirstForm", "first_hash", "make_first_form"]

_WRITTEN: Final[Mapping[type, tuple[str, tuple[str, ...]]]] = {
    Whole: ("Whole", ("value",)),
    Nothing: ("Nothing", ()),
    Plus: ("Plus", ("terms",)),
    Times: ("Times", ("left", "right")),
    Absolute: ("Absolute", ("value",)),
    Clamp: ("Clamp", ("value", "low", "high")),
    Least: ("Least", ("values",)),
    Greatest: ("Greatest", ("values",)),
    Coalesce: ("Coalesce", ("values",)),
    Case: ("Case", ("branches", "otherwise")),
    OneOf: ("OneOf", ("value", "values")),
    Within: ("Within", ("value", "low", "high")),
    TextIn: ("TextIn", ("field", "values")),
    IsNull: ("IsNull", ("value",)),
    Not: ("Not", ("operand",)),
    And: ("And", ("operands",)),
    Or: ("Or", ("operands",)),
    Tally: ("Tally", ("value",)),
    UnitTotal: ("UnitTotal", ("value",)),
    Smallest: ("Smallest", ("value",)),
    Largest: ("Largest", ("value",)),
    Rows: ("Rows", ("value",)),
    Units: ("Units", ()),
    Total: ("Total", ("value",)),
    Quantile: ("Quantile", ("value", "rank")),
    Extreme: ("Extreme", ("value", "largest")),
    Trimmed: ("Trimmed", ("value", "share")),
    Marginal: ("Marginal", ("of", "kept")),
    Residual: ("Residual", ("of", "kept", "whole")),
    Key: ("Key", ("field", "domain")),
}
"""The names that nodes and their parts had, whatever they are called now."""

Names = Mapping[Identity, str]
Written = tuple[object, Names]
"""A relation as it was written, and what its columns were called there, in their order."""


@dataclass(frozen=True, slots=True)
class FirstForm:
    """What the first version knew a plan by; `names` are those of the measured relation's columns."""

    plan_hash: str
    names: Names

    def measure_id(self, measure: Measure) -> str:
        return hashlib.sha256(_text(measure, self.names).encode()).hexdigest()

    def column_key(self, column: Identity) -> str:
        return self.names[column]


def make_first_form(plan: Plan, called: Names) -> FirstForm:
    """A plan in the first form; `called` are its columns as the statement called them."""
    source, names = _Writer(called).relation(plan.source)
    measures = sorted(_text(measure, names) for measure in plan.measures)
    return FirstForm(digest([source, [_node(key, names) for key in plan.keys], measures]), names)


def first_hash(statement: Statement) -> str:
    """What the first version knew a statement by."""
    form = make_first_form(statement.plan, statement.names)
    if not statement.searched:
        return form.plan_hash
    readings = {
        " ".join([item.aggregate, *(_text(node, form.names) for node in (item.value.value, *parts))])
        for item, parts in statement.readings.items()
        if isinstance(item, WrittenAggregate)
    }
    searched = sorted(form.names[column] for column in statement.searched)
    return digest([form.plan_hash, searched, sorted(readings)])


@dataclass(frozen=True, slots=True)
class _Writer:
    """`called` are the columns as the statement called them."""

    called: Names

    def relation(self, relation: Relation) -> Written:
        match relation:
            case Scan(dataset, rows, columns, version):
                return ["Scan", dataset, rows, version], dict(columns)
            case Filter(source, where):
                below, names = self.relation(source)
                return ["Filter", below, _node(where, names)], names
            case Derive(source, columns):
                below, names = self.relation(source)
                made = {item: names[item] if value == Field(item) else self._called(item) for item, value in columns}
                return ["Derive", below, [[made[item], _node(value, names)] for item, value in columns]], made
            case PerUnit(source, columns):
                below, names = self.relation(source)
                made = {item: self._called(item) for item, _ in columns}
                return ["PerUnit", below, [[made[item], _node(value, names)] for item, value in columns]], made
            case Lookup(source, key, columns, entries):
                below, names = self.relation(source)
                made = {item: self._called(item) for item in columns}
                return ["Lookup", below, _node(key, names), list(made.values()), _node(entries, names)], {
                    **names,
                    **made,
                }
            case Join(left, right):
                ours, mine = self.relation(left)
                theirs, its = _apart(self.relation(right), mine, _number(left))
                return ["Join", ours, theirs], {**mine, **its}
            case KeyJoin(left, right, left_key, right_key):
                ours, mine = self.relation(left)
                theirs, its = self._filtered_apart(right, mine, _number(left))
                return ["KeyJoin", ours, theirs, _node(left_key, mine), _node(right_key, its)], {**mine, **its}

    def _called(self, column: Identity) -> str:
        return self.called.get(column, str(column))

    def _filtered_apart(self, right: Relation, taken: Names, number: int) -> Written:
        """Conditions over a join on a key were asked of its sides after these had been named apart."""
        if not isinstance(right, Filter):
            return _apart(self.relation(right), taken, number)
        below, names = self._filtered_apart(right.source, taken, number)
        return ["Filter", below, _node(right.where, names)], names


def _number(left: Relation) -> int:
    """Which join of its FROM one is, by what stands to its left."""
    while isinstance(left, Filter):
        left = left.source
    number = 1
    while isinstance(left, Join | Lookup):
        left, number = left.left if isinstance(left, Join) else left.source, number + 1
    return number


def _apart(right: Written, taken: Names, number: int) -> Written:
    below, names = right
    clashes = set(taken.values()) & set(names.values())
    if not clashes:
        return right
    renamed = {item: f"{name}:{number}" if name in clashes else name for item, name in names.items()}
    return ["Derive", below, [[renamed[item], ["Field", name]] for item, name in names.items()]], renamed


def _text(node: object, names: Names) -> str:
    return json.dumps(_node(node, names), separators=(",", ":"), ensure_ascii=True)


def _node(node: object, names: Names) -> object:
    match node:
        case None | int() | str():
            return node
        case Fraction():
            return str(node)
        case tuple():
            return [part if type(part) is int else _node(part, names) for part in node]
        case Field(column):
            return ["Field", names[column]]
    name, parts = _WRITTEN[type(node)]
    return [name, *(_node(getattr(node, part), names) for part in parts)]
