"""A plan as SQL: one statement for all counts and sums, and one for each value of which a histogram is needed.

Relations nest as sub-queries and each asks the one below for the columns it needs. The unit's id travels only as far
as something joins, groups or counts by it. Rows beyond a unit's bound are dropped where its dataset is read, before
any filter or join.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from discreet.engines.dialects import Dialect
from discreet.engines.expressions import Expressions
from discreet.plan.algebra import (
    Absolute,
    Derive,
    Extreme,
    Field,
    Filter,
    IsNull,
    Join,
    KeyJoin,
    Largest,
    Lookup,
    Measure,
    Not,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Relation,
    Rows,
    Scan,
    Smallest,
    Tally,
    Times,
    Total,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    measured_of,
    walk,
)
from discreet.plan.calculus import key_join_refused

__all__ = ["Rendering", "Table", "render"]

_UNIT: Final = "_discreet_unit"
_VALUE: Final = "_discreet_value"
_ENTRY: Final = "_discreet_entry"
_ORDER: Final = "ord"
_PLAIN: Final = re.compile(r"(?!_discreet|ord$)[a-z_][a-z0-9_]{0,62}", re.ASCII)

Lines = list[str]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Table:
    """A dataset to an engine: a FROM item that yields its prepared rows, its columns, and the one with unit ids."""

    rows: str
    columns: frozenset[str]
    unit: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """The statements of a plan. All give the keys first.

    `numbers` then gives one column per different count or sum. Each of `histograms` gives a value, ascending, and how
    many rows have it. `places` says for every measure in which column, or in which histogram, it is.
    """

    numbers: str | None
    histograms: tuple[str, ...]
    places: tuple[int, ...]


def render(plan: Plan, dialect: Dialect, tables: Mapping[str, Table]) -> Rendering:
    """The SQL of a plan in an engine's words."""
    writer = _Writer(dialect, tables)
    aggregates: list[str] = []
    values: list[Value] = []
    places = []
    for measure in map(measured_of, plan.measures):
        if isinstance(measure, Quantile | Extreme):
            places.append(_place(measure.value, values))
        else:
            places.append(_place(writer.aggregate(measure, plan.source), aggregates))
    if plan.open and not aggregates:
        aggregates.append("count(*)")  # cells without any value are cells too
    return Rendering(
        numbers=writer.numbers(plan, aggregates) if aggregates else None,
        histograms=tuple(writer.histogram(plan, value) for value in values),
        places=tuple(places),
    )


def _place(item: Item, among: list[Item]) -> int:
    if item not in among:
        among.append(item)
    return among.index(item)


@dataclass(frozen=True, slots=True)
class _Below:
    """What a relation is asked for by those above it.

    Engines may move a condition below others and try it on rows that those would drop, where its arithmetic can leave
    64 bits and fail. `guarded`: such arithmetic stands above, so values must be NULL on rows that are not kept.
    `filtered`: a condition stands above.
    """

    names: tuple[str, ...]
    unit: bool = False
    filtered: bool = False
    guarded: bool = False

    def asking(
        self, nodes: object, *, unit: bool = False, names: Iterable[str] = (), condition: bool = False
    ) -> _Below:
        """The same, for the columns that `nodes` read; `condition` when they decide which rows are kept."""
        filtered = self.filtered or condition
        return _Below(
            tuple(dict.fromkeys([*names, *_names(nodes)])),
            unit=self.unit or unit,
            filtered=filtered,
            guarded=self.guarded or (filtered and _has_arithmetic(nodes)),
        )


@dataclass(frozen=True, slots=True)
class _Writer:
    dialect: Dialect
    tables: Mapping[str, Table]
    labels: dict[str, str] = field(default_factory=dict)

    # --- what is measured ---------------------------------------------------------------------------------------------

    def numbers(self, plan: Plan, aggregates: list[str]) -> str:
        keys = [self._column(key.field.name) for key in plan.keys]
        asked = map(measured_of, plan.measures)
        measured = [measure for measure in asked if not isinstance(measure, Quantile | Extreme)]
        below = _Below(()).asking(
            tuple(measured),
            names=[key.field.name for key in plan.keys],
            unit=any(self._counts_units(measure, plan.source) for measure in measured),
        )
        group = [f"GROUP BY {', '.join(keys)}"] if keys else []
        return "\n".join(self._select([*keys, *aggregates], self.relation(plan.source, below), group))

    def histogram(self, plan: Plan, value: Value) -> str:
        named = tuple((key.field.name, key.field) for key in plan.keys)
        there = Filter(Derive(plan.source, (*named, (_VALUE, value))), Not(IsNull(Field(_VALUE))))
        below = _Below((*(key.field.name for key in plan.keys), _VALUE))
        columns = [self._column(name) for name in below.names]
        tail = [f"GROUP BY {', '.join(columns)}", f"ORDER BY {columns[-1]}"]
        return "\n".join(self._select([*columns, "count(*)"], self.relation(there, below), tail))

    def aggregate(self, measure: Measure, source: Relation) -> str:
        """A count or a sum over the rows of a cell."""
        match measure:
            case Units():
                return f"count(DISTINCT {self._unit})" if self._counts_units(measure, source) else "count(*)"
            case Rows(None):
                return "count(*)"
            case Rows(value) if value is not None:
                return f"count({self._expressions.value(value)})"
            case Total(value):
                return self._expressions.total(value)
        raise AssertionError("quantiles and extremes are chosen from histograms")

    def _counts_units(self, measure: Measure, source: Relation) -> bool:
        return isinstance(measure, Units) and not _one_row_each(source)

    # --- relations ----------------------------------------------------------------------------------------------------

    def relation(self, relation: Relation, below: _Below) -> Lines:
        """A SELECT of the columns asked for, under their labels."""
        match relation:
            case Scan():
                return self._scan(relation, below, [])
            case Filter(Scan() as scan, where):
                # Beside the bound rather than around it: easier to read, and the same.
                named = Expressions(self.dialect, self.dialect.name)
                return self._scan(scan, below, [named.condition(where)])
            case Filter(source, where):
                inner = self.relation(source, below.asking(where, names=below.names, condition=True))
                condition = self._expressions.condition(where)
                items = self._items(below, self._column, [condition])
                return self._select(items, inner, [f"WHERE {condition}"])
            case Derive(source, columns):
                values = {name: value for name, value in columns if name in below.names}
                inner = self.relation(source, below.asking(tuple(values.values())))
                return self._select(self._derived(below, values), inner)
            case PerUnit(source, columns):
                return self._per_unit(source, dict(columns), below)
            case Join(left, right):
                return self._join(left, right, below)
            case Lookup():
                return self._lookup(relation, below)
            case KeyJoin():
                raise key_join_refused()

    def _scan(self, scan: Scan, below: _Below, conditions: list[str]) -> Lines:
        table = self.tables[scan.dataset]
        bound = self.dialect.first_rows(self.dialect.name(_ORDER), scan.rows)
        items = self._items(below, self.dialect.name, conditions, unit=self.dialect.name(table.unit))
        return [f"SELECT {', '.join(items)}", f"FROM {table.rows} AS r", f"WHERE {' AND '.join([bound, *conditions])}"]

    def _items(
        self, below: _Below, column: Callable[[str], str], conditions: list[str], *, unit: str | None = None
    ) -> list[str]:
        """The columns of a relation that passes them on, each under its label."""
        guard = " AND ".join(conditions) if below.guarded else ""
        texts = [f"CASE WHEN {guard} THEN {column(name)} END" if guard else column(name) for name in below.names]
        passed = [_named(text, self._column(name)) for text, name in zip(texts, below.names, strict=True)]
        return self._with_unit(passed, below, unit or self._unit)

    def _with_unit(self, items: list[str], below: _Below, unit: str) -> list[str]:
        owned = [_named(unit, self._unit), *items] if below.unit else items
        return owned or [f"1 AS {self.dialect.name('_discreet_one')}"]

    def _derived(self, below: _Below, values: Mapping[str, Value]) -> list[str]:
        items = [_named(self._expressions.value(values[name]), self._column(name)) for name in below.names]
        return self._with_unit(items, below, self._unit)

    def _per_unit(self, source: Relation, columns: Mapping[str, UnitAggregate], below: _Below) -> Lines:
        asked = {name: columns[name] for name in below.names}
        # No condition from above passes through an aggregate.
        inner = self.relation(source, _Below(()).asking(tuple(asked.values()), unit=True))
        items = [_named(self._unit_aggregate(asked[name]), self._column(name)) for name in below.names]
        return self._select(self._with_unit(items, below, self._unit), inner, [f"GROUP BY {self._unit}"])

    def _unit_aggregate(self, aggregate: UnitAggregate) -> str:
        match aggregate:
            case Tally(None):
                return "count(*)"
            case Tally(value) if value is not None:
                return f"count({self._expressions.value(value)})"
            case UnitTotal(value):
                return self._expressions.unit_total(value)
            case Smallest(value):
                return f"min({self._expressions.value(value)})"
            case Largest(value):
                return f"max({self._expressions.value(value)})"
        raise AssertionError("every aggregate of a unit is one of these")

    def _join(self, left: Relation, right: Relation, below: _Below) -> Lines:
        lefts = _columns(left, self.tables)
        sides = [
            replace(below, names=tuple(name for name in below.names if (name in lefts) == mine), unit=True)
            for mine in (True, False)
        ]
        items = self._items(below, self._column, [], unit=f"a.{self._unit}")
        tail = ["JOIN (", *_indent(self.relation(right, sides[1])), f") AS b ON a.{self._unit} = b.{self._unit}"]
        return self._select(items, self.relation(left, sides[0]), tail, alias="a")

    def _lookup(self, lookup: Lookup, below: _Below) -> Lines:
        wanted = [place for place, name in enumerate(lookup.columns) if name in below.names]
        passed = [name for name in below.names if name not in lookup.columns]
        inner = self.relation(lookup.source, below.asking(lookup.key, names=passed, condition=True))
        names = [self.dialect.name(_ENTRY), *(self._column(lookup.columns[place]) for place in wanted)]
        key = self._expressions.value(lookup.key)
        entries = [(entry[0], *(entry[1 + place] for place in wanted)) for entry in lookup.entries]
        tail = [
            "JOIN (",
            *_indent(_entries([entry for entry in entries if entry[0] is not None], len(names))),
            f") AS b({', '.join(names)}) ON {key} = b.{names[0]}",
        ]
        return self._select(self._items(below, self._column, []), inner, tail, alias="a")

    def _select(self, items: list[str], source: Lines, tail: Lines | None = None, *, alias: str = "a") -> Lines:
        return [f"SELECT {', '.join(items)}", "FROM (", *_indent(source), f") AS {alias}", *(tail or [])]

    # --- names --------------------------------------------------------------------------------------------------------

    @property
    def _unit(self) -> str:
        return self.dialect.name(_UNIT)

    @property
    def _expressions(self) -> Expressions:
        return Expressions(self.dialect, self._column)

    def _column(self, name: str) -> str:
        """The label of a column above its table: engines fold case and cut long names, so only plain ones are kept."""
        if not _PLAIN.fullmatch(name):
            name = self.labels.setdefault(name, f"_discreet_{len(self.labels) + 1}")
        return self.dialect.name(name)


def _named(text: str, label: str) -> str:
    return text if text == label else f"{text} AS {label}"


def _indent(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


def _entries(entries: list[tuple[int | None, ...]], width: int) -> Lines:
    """The rows of a public table; the first gives its columns their type."""
    if not entries:
        return [f"SELECT {', '.join(['CAST(NULL AS BIGINT)'] * width)} WHERE FALSE"]
    first, *rest = [["NULL" if part is None else str(part) for part in entry] for entry in entries]
    typed = [f"CAST({part} AS BIGINT)" for part in first]
    rows = [f"({', '.join(row)})" for row in [typed, *rest]]
    return [f"VALUES {', '.join(rows)}"]


def _names(nodes: object) -> Iterator[str]:
    return (node.name for node in walk(nodes) if isinstance(node, Field))


def _has_arithmetic(nodes: object) -> bool:
    return any(isinstance(node, Plus | Times | Absolute) for node in walk(nodes))


def _columns(relation: Relation, tables: Mapping[str, Table]) -> frozenset[str]:
    match relation:
        case Scan(dataset):
            return tables[dataset].columns
        case Filter(source):
            return _columns(source, tables)
        case Derive(_, columns) | PerUnit(_, columns):
            return frozenset(name for name, _ in columns)
        case Join(left, right):
            return _columns(left, tables) | _columns(right, tables)
        case Lookup(source, _, columns):
            return _columns(source, tables) | frozenset(columns)
        case KeyJoin():
            raise key_join_refused()


def _one_row_each(relation: Relation) -> bool:
    """Whether the plan alone says that no unit has two rows, so that counting rows counts units."""
    match relation:
        case Scan(_, rows):
            return rows == 1
        case PerUnit():
            return True
        case Filter(source) | Derive(source) | Lookup(source):
            return _one_row_each(source)
        case Join(left, right):
            return _one_row_each(left) and _one_row_each(right)
        case KeyJoin():
            return False
