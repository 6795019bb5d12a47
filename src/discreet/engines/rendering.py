"""A plan as SQL: one statement for all counts and sums, and one for each value of which a histogram is needed.

Relations nest as sub-queries and each asks the one below for the columns it needs. Above the datasets columns have
labels of our own, made from their identities, and every one is written with the sub-query it comes from: no name of a
statement reaches an engine, and those of a card only where its dataset is read. The unit's id travels only as far as
something joins, groups or counts by it. Rows beyond a unit's bound are dropped where its dataset is read, before any
filter or join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from discreet.engines.dialects import Dialect
from discreet.engines.expressions import ExpressionWriter
from discreet.sql import (
    Absolute,
    Clamp,
    Condition,
    Derive,
    Extreme,
    Field,
    Filter,
    Identity,
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
    columns_of,
    fields_in,
    key_join_refused,
    measured_of,
    next_identity,
    walk,
)

__all__ = ["ROWS", "LateKey", "RenderedTable", "Rendering", "one_row_each", "placed", "render"]

# Labels of columns are c and their number, so these differ from all of them.
_UNIT: Final = "unit"
_ENTRY: Final = "entry"
_ORDER: Final = "ord"
ROWS: Final = "prepared rows"
"""What a dataset's rows are called: no column of a card can be called so, and none be taken for it."""

Lines = list[str]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """A dataset to an engine: a FROM item that yields its prepared rows with `ord`, and the column with unit ids."""

    rows: str
    unit: str

    def read(self, columns: Iterable[str]) -> str:
        """The FROM item, for a statement that reads these columns."""
        return self.rows

    def bound(self, dialect: Dialect, rows: int) -> list[str]:
        """The condition that leaves so many rows of a unit."""
        return [dialect.first_rows(f"{dialect.name(ROWS)}.{dialect.name(_ORDER)}", rows)]

    def late(self, column: str) -> LateKey | None:
        """How groups by a column can be made on its raw values, and those made into prepared ones afterwards."""
        return None


@dataclass(frozen=True, slots=True)
class LateKey:
    """Another column to group by, and how its values become those of the column that was asked for."""

    column: str
    prepared: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Rendering:
    """The statements of a plan. All give the keys first.

    `numbers` then gives one column per different count or sum. Each of `histograms` gives a value, ascending, and how
    many rows have it. `places` says for every measure in which column, or in which histogram, it is.
    """

    numbers: str | None
    histograms: tuple[str, ...]
    places: tuple[int, ...]


def render(plan: Plan, dialect: Dialect, tables: Mapping[str, RenderedTable]) -> Rendering:
    """The SQL of a plan in an engine's words."""
    writer = _Writer(dialect, tables)
    aggregates: list[str] = []
    values: list[Value] = []
    indices = []
    for measure in map(measured_of, plan.measures):
        if isinstance(measure, Quantile | Extreme):
            indices.append(_place(_ranked(measure), values))
        else:
            indices.append(_place(writer.aggregate(measure, plan.source), aggregates))
    if plan.open and not aggregates:
        aggregates.append("count(*)")  # cells without any value are cells too
    return Rendering(
        numbers=writer.numbers(plan, aggregates) if aggregates else None,
        histograms=tuple(writer.histogram(plan, value) for value in values),
        places=tuple(indices),
    )


def placed(table: Any, plan: Plan, rendering: Rendering) -> Any:
    """The Arrow table of `numbers` with one column for each key and each measure, in the plan's order."""
    keys = len(plan.keys)
    return table.select([*range(keys), *(keys + place for place in rendering.places)])


def _ranked(measure: Quantile | Extreme) -> Value:
    """What is ranked: the value, moved into the candidates."""
    return measure.value if measure.candidates is None else Clamp(measure.value, *measure.candidates)


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

    columns: tuple[Identity, ...]
    unit: bool = False
    filtered: bool = False
    guarded: bool = False

    def asking(
        self, nodes: object, *, unit: bool = False, columns: Iterable[Identity] = (), condition: bool = False
    ) -> _Below:
        """The same, for the columns that `nodes` read; `condition` when they decide which rows are kept."""
        filtered = self.filtered or condition
        return _Below(
            tuple(dict.fromkeys([*columns, *fields_in(nodes)])),
            unit=self.unit or unit,
            filtered=filtered,
            guarded=self.guarded or (filtered and _has_arithmetic(nodes)),
        )


@dataclass(frozen=True, slots=True)
class _Writer:
    dialect: Dialect
    tables: Mapping[str, RenderedTable]

    # --- what is measured ---------------------------------------------------------------------------------------------

    def numbers(self, plan: Plan, aggregates: list[str]) -> str:
        late = self._late_keys(plan)
        return "\n".join(self._grouped_late(plan, aggregates, late) if late else self._grouped(plan, aggregates))

    def _late_keys(self, plan: Plan) -> dict[Identity, LateKey]:
        """The keys whose groups can be made on raw values: nothing else reads them, and all that is asked adds up."""
        source = plan.source.source if isinstance(plan.source, Filter) else plan.source
        asked = tuple(map(measured_of, plan.measures))
        if not isinstance(source, Scan) or any(self._counts_units(measure, source) for measure in asked):
            return {}
        names, table = dict(source.columns), self.tables[source.dataset]
        read = set(fields_in(tuple(measure for measure in asked if not isinstance(measure, Quantile | Extreme))))
        if isinstance(plan.source, Filter):
            read |= set(fields_in(plan.source.where))
        found = {key.field.column: table.late(names[key.field.column]) for key in plan.keys}
        return {column: late for column, late in found.items() if late is not None and column not in read}

    def _grouped_late(self, plan: Plan, aggregates: list[str], late: Mapping[Identity, LateKey]) -> Lines:
        """Group by raw values first: then only as many are read as there are different ones."""
        source = _with_columns(plan.source, {column: key.column for column, key in late.items()})
        sums = [f"s{index}" for index in range(len(aggregates))]
        named = [f"{text} AS {name}" for text, name in zip(aggregates, sums, strict=True)]
        groups = self._grouped(replace(plan, source=source), named)
        labels = {key.field.column: self._label(key.field.column) for key in plan.keys}
        keys = [late[c].prepared(f"a.{label}") if c in late else f"a.{label}" for c, label in labels.items()]
        items = [f"{key} AS {label}" for key, label in zip(keys, labels.values(), strict=True)]
        items += [f"{self.dialect.wide(f'a.{name}')} AS {name}" for name in sums]
        asked = [f"a.{label}" for label in labels.values()]
        totals = [*asked, *(f"sum(a.{name})" for name in sums)]
        return self._select(totals, self._select(items, groups), [f"GROUP BY {', '.join(asked)}"])

    def _grouped(self, plan: Plan, aggregates: list[str]) -> Lines:
        keys = [self._column(key.field.column) for key in plan.keys]
        asked = map(measured_of, plan.measures)
        measured = [measure for measure in asked if not isinstance(measure, Quantile | Extreme)]
        below = _Below(()).asking(
            tuple(measured),
            columns=[key.field.column for key in plan.keys],
            unit=any(self._counts_units(measure, plan.source) for measure in measured),
        )
        group = [f"GROUP BY {', '.join(keys)}"] if keys else []
        return self._select([*keys, *aggregates], self.relation(plan.source, below), group)

    def histogram(self, plan: Plan, value: Value) -> str:
        ranked = next_identity(plan.source)
        keys = tuple((key.field.column, key.field) for key in plan.keys)
        there = Filter(Derive(plan.source, (*keys, (ranked, value))), Not(IsNull(Field(ranked))))
        below = _Below((*(key.field.column for key in plan.keys), ranked))
        columns = [self._column(column) for column in below.columns]
        tail = [f"GROUP BY {', '.join(columns)}", f"ORDER BY {columns[-1]}"]
        return "\n".join(self._select([*columns, "count(*)"], self.relation(there, below), tail))

    def aggregate(self, measure: Measure, source: Relation) -> str:
        """A count or a sum over the rows of a cell."""
        match measure:
            case Units():
                return f"count(DISTINCT {self._unit()})" if self._counts_units(measure, source) else "count(*)"
            case Rows(None):
                return "count(*)"
            case Rows(value) if value is not None:
                return f"count({self._expressions.value(value)})"
            case Total(value):
                return self._expressions.total(value)
        raise AssertionError("quantiles and extremes are chosen from histograms")

    def _counts_units(self, measure: Measure, source: Relation) -> bool:
        return isinstance(measure, Units) and not one_row_each(source)

    # --- relations ----------------------------------------------------------------------------------------------------

    def relation(self, relation: Relation, below: _Below) -> Lines:
        """A SELECT of the columns asked for, under their labels."""
        match relation:
            case Scan():
                return self._scan(relation, below)
            case Filter(Scan() as scan, where):
                # Beside the bound rather than around it: easier to read, and the same.
                return self._scan(scan, below, where)
            case Filter(source, where):
                inner = self.relation(source, below.asking(where, columns=below.columns, condition=True))
                condition = self._expressions.condition(where)
                items = self._items(below, self._column, [condition])
                return self._select(items, inner, [f"WHERE {condition}"])
            case Derive(source, columns):
                values = {column: value for column, value in columns if column in below.columns}
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

    def _scan(self, scan: Scan, below: _Below, where: Condition | None = None) -> Lines:
        table, names = self.tables[scan.dataset], dict(scan.columns)
        column = self._card_columns(scan)
        conditions = [ExpressionWriter(self.dialect, column).condition(where)] if where is not None else []
        items = self._items(below, column, conditions, unit=self._card_column(table.unit))
        read = dict.fromkeys(names[item] for item in (*below.columns, *fields_in(where)))
        kept = [*table.bound(self.dialect, scan.rows), *conditions]
        return [
            f"SELECT {', '.join(items)}",
            f"FROM {table.read([table.unit, *read] if below.unit else read)} AS {self.dialect.name(ROWS)}",
            *([f"WHERE {' AND '.join(kept)}"] if kept else []),
        ]

    def _items(
        self, below: _Below, column: Callable[[Identity], str], conditions: list[str], *, unit: str | None = None
    ) -> list[str]:
        """The columns of a relation that passes them on, each under its label."""
        guard = " AND ".join(conditions) if below.guarded else ""
        texts = [f"CASE WHEN {guard} THEN {column(item)} END" if guard else column(item) for item in below.columns]
        passed = [f"{text} AS {self._label(item)}" for text, item in zip(texts, below.columns, strict=True)]
        return self._with_unit(passed, below, unit or self._unit())

    def _with_unit(self, items: list[str], below: _Below, unit: str) -> list[str]:
        owned = [f"{unit} AS {self.dialect.name(_UNIT)}", *items] if below.unit else items
        return owned or [f"1 AS {self.dialect.name('one')}"]

    def _derived(self, below: _Below, values: Mapping[Identity, Value]) -> list[str]:
        items = [f"{self._expressions.value(values[item])} AS {self._label(item)}" for item in below.columns]
        return self._with_unit(items, below, self._unit())

    def _per_unit(self, source: Relation, columns: Mapping[Identity, UnitAggregate], below: _Below) -> Lines:
        asked = {column: columns[column] for column in below.columns}
        # No condition from above passes through an aggregate.
        inner = self.relation(source, _Below(()).asking(tuple(asked.values()), unit=True))
        items = [f"{self._unit_aggregate(asked[item])} AS {self._label(item)}" for item in below.columns]
        return self._select(self._with_unit(items, below, self._unit()), inner, [f"GROUP BY {self._unit()}"])

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
        lefts = frozenset(columns_of(left))
        sides = [
            replace(below, columns=tuple(item for item in below.columns if (item in lefts) == mine), unit=True)
            for mine in (True, False)
        ]
        items = self._items(below, lambda item: self._column(item, "a" if item in lefts else "b"), [])
        tail = ["JOIN (", *_indent(self.relation(right, sides[1])), f") AS b ON {self._unit()} = {self._unit('b')}"]
        return self._select(items, self.relation(left, sides[0]), tail)

    def _lookup(self, lookup: Lookup, below: _Below) -> Lines:
        wanted = [index for index, column in enumerate(lookup.columns) if column in below.columns]
        passed = [column for column in below.columns if column not in lookup.columns]
        inner = self.relation(lookup.source, below.asking(lookup.key, columns=passed, condition=True))
        names = [self.dialect.name(_ENTRY), *(self._label(lookup.columns[index]) for index in wanted)]
        key = self._expressions.value(lookup.key)
        entries = [(entry[0], *(entry[1 + index] for index in wanted)) for entry in lookup.entries]
        tail = [
            "JOIN (",
            *_indent(_entries([entry for entry in entries if entry[0] is not None], len(names))),
            f") AS b({', '.join(names)}) ON {key} = b.{names[0]}",
        ]
        items = self._items(below, lambda item: self._column(item, "b" if item in lookup.columns else "a"), [])
        return self._select(items, inner, tail)

    def _select(self, items: list[str], source: Lines, tail: Lines | None = None) -> Lines:
        return [f"SELECT {', '.join(items)}", "FROM (", *_indent(source), ") AS a", *(tail or [])]

    # --- names --------------------------------------------------------------------------------------------------------

    def _unit(self, side: str = "a") -> str:
        return f"{side}.{self.dialect.name(_UNIT)}"

    @property
    def _expressions(self) -> ExpressionWriter:
        return ExpressionWriter(self.dialect, self._column)

    def _label(self, column: Identity) -> str:
        """What a column is called above its dataset."""
        return self.dialect.name(f"c{column}")

    def _column(self, column: Identity, side: str = "a") -> str:
        """A column of the sub-query that is called `side`."""
        return f"{side}.{self._label(column)}"

    def _card_column(self, name: str) -> str:
        """A column of a dataset's prepared rows."""
        return f"{self.dialect.name(ROWS)}.{self.dialect.name(name)}"

    def _card_columns(self, scan: Scan) -> Callable[[Identity], str]:
        names = dict(scan.columns)
        return lambda column: self._card_column(names[column])


def _indent(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


def _with_columns(relation: Relation, columns: Mapping[Identity, str]) -> Relation:
    """A scan, filtered or not, that reads some of its columns under other names."""
    if isinstance(relation, Filter):
        return replace(relation, source=_with_columns(relation.source, columns))
    assert isinstance(relation, Scan)
    return replace(relation, columns=tuple((item, columns.get(item, name)) for item, name in relation.columns))


def _entries(entries: list[tuple[int | None, ...]], width: int) -> Lines:
    """The rows of a public table; the first gives its columns their type."""
    if not entries:
        return [f"SELECT {', '.join(['CAST(NULL AS BIGINT)'] * width)} WHERE FALSE"]
    first, *rest = [["NULL" if part is None else str(part) for part in entry] for entry in entries]
    typed = [f"CAST({part} AS BIGINT)" for part in first]
    rows = [f"({', '.join(row)})" for row in [typed, *rest]]
    return [f"VALUES {', '.join(rows)}"]


def _has_arithmetic(nodes: object) -> bool:
    return any(isinstance(node, Plus | Times | Absolute) for node in walk(nodes))


def one_row_each(relation: Relation) -> bool:
    """Whether the plan alone says that no unit has two rows, so that counting rows counts units."""
    match relation:
        case Scan(_, rows):
            return rows == 1
        case PerUnit():
            return True
        case Filter(source) | Derive(source) | Lookup(source):
            return one_row_each(source)
        case Join(left, right):
            return one_row_each(left) and one_row_each(right)
        case KeyJoin():
            return False
