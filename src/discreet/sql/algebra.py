"""The plan: what an engine may be asked to do, in frozen nodes over whole numbers.

Columns have identities, not names: every column that a plan reads or makes has a number of its own, and no node can be
built whose inputs share one. What a statement calls its columns is not part of the plan. Values are whole steps,
categories are positions in the card's list; a plan never holds a float. What the nodes mean for one protected unit is
said in `calculus`; how they read in SQL is said by the engines; what a plan is known by, in `serialisation`. Values and
conditions follow SQL's three-valued logic: arithmetic with NULL is NULL, a comparison with NULL is unknown, and only
rows whose condition is true are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import Final, NewType

__all__ = [
    "Absolute",
    "And",
    "Case",
    "Clamp",
    "Coalesce",
    "Condition",
    "Derive",
    "Extreme",
    "Field",
    "Filter",
    "Greatest",
    "Identity",
    "IsNull",
    "Join",
    "Key",
    "KeyJoin",
    "Largest",
    "Least",
    "Lookup",
    "Marginal",
    "Measure",
    "Not",
    "Nothing",
    "OneOf",
    "Or",
    "PerUnit",
    "Plan",
    "Plus",
    "Quantile",
    "Relation",
    "Residual",
    "Rows",
    "Scan",
    "Smallest",
    "Tally",
    "TextIn",
    "Times",
    "Total",
    "Trimmed",
    "UnitAggregate",
    "UnitTotal",
    "Units",
    "Value",
    "Whole",
    "Within",
    "all_of",
    "columns_of",
    "fields_in",
    "measured_of",
    "next_identity",
    "reduced",
    "scans",
    "substitute",
    "walk",
]

Identity = NewType("Identity", int)
"""A column of a plan. Two columns never share one, and nothing follows from its number."""

# --- values ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the relation below."""

    column: Identity


@dataclass(frozen=True, slots=True)
class Whole:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """NULL."""


@dataclass(frozen=True, slots=True)
class Plus:
    """The sum of two or more values."""

    terms: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """The product of two values."""

    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Absolute:
    value: Value


@dataclass(frozen=True, slots=True)
class Clamp:
    """The value moved into [low, high]; NULL stays NULL."""

    value: Value
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Least:
    """The least of the values that are there; NULL only when all are NULL."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Greatest:
    """The greatest of the values that are there; NULL only when all are NULL."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first value that is there."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition is true."""

    branches: tuple[tuple[Condition, Value], ...]
    otherwise: Value


Value = Field | Whole | Nothing | Plus | Times | Absolute | Clamp | Least | Greatest | Coalesce | Case

# --- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value is one of these; unknown for NULL. An empty list is false, and unknown for NULL."""

    value: Value
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """The value lies between two whole numbers, both included; None leaves a side open (never both)."""

    value: Value
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class TextIn:
    """The text column is one of these."""

    field: Field
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """The value (or text column) is absent."""

    value: Value


@dataclass(frozen=True, slots=True)
class Not:
    operand: Condition


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Condition, ...]


Condition = OneOf | Within | TextIn | IsNull | Not | And | Or


def all_of(conditions: Sequence[Condition]) -> Condition:
    """The condition that all of these are true; one alone is itself."""
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))


# --- relations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """The first `rows` rows of every unit of a dataset, before anything else.

    `columns` give an identity to each column of its card but the ids. `version` is 0 for the plan's first dataset,
    whose version the ledger keeps beside the hash.
    """

    dataset: str
    rows: int
    columns: tuple[tuple[Identity, str], ...]
    version: int = 0

    def __post_init__(self) -> None:
        _require_different(column for column, _ in self.columns)

    def name_of(self, column: Identity) -> str:
        """What the card calls a column."""
        return dict(self.columns)[column]


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows whose condition is true.

    `by_card`: not the statement says so but a card, of rows that break what it calls complete. It chooses rows and is
    believed of none: no sensitivity falls by it.
    """

    source: Relation
    where: Condition
    by_card: bool = False

    def __post_init__(self) -> None:
        _require_known(self.where, self.source)


@dataclass(frozen=True, slots=True)
class Derive:
    """These columns and no others, row by row: new ones, and columns of the source that are passed on as they are."""

    source: Relation
    columns: tuple[tuple[Identity, Value], ...]

    def __post_init__(self) -> None:
        _require_different(column for column, _ in self.columns)
        _require_known(tuple(value for _, value in self.columns), self.source)
        made = [column for column, value in self.columns if value != Field(column)]
        _require_apart(made, _identities(self.source))


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows of the unit have the value (or text column); how many there are, when it is None."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class UnitTotal:
    """The sum over the unit's rows that have the value; NULL when none has."""

    value: Value


@dataclass(frozen=True, slots=True)
class Smallest:
    value: Value


@dataclass(frozen=True, slots=True)
class Largest:
    value: Value


UnitAggregate = Tally | UnitTotal | Smallest | Largest


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row for every unit that has rows in the source."""

    source: Relation
    columns: tuple[tuple[Identity, UnitAggregate], ...]

    def __post_init__(self) -> None:
        _require_different(column for column, _ in self.columns)
        _require_known(tuple(aggregate for _, aggregate in self.columns), self.source)
        _require_apart((column for column, _ in self.columns), _identities(self.source))


@dataclass(frozen=True, slots=True)
class Join:
    """Every pair of rows of one unit. The two sides share no column."""

    left: Relation
    right: Relation

    def __post_init__(self) -> None:
        _require_apart(_identities(self.left), _identities(self.right))


@dataclass(frozen=True, slots=True)
class Lookup:
    """Each row with the columns that a public table has for its key; rows without an entry are dropped.

    Entries are (key, values…); keys are all different, so no row is doubled.
    """

    source: Relation
    key: Value
    columns: tuple[Identity, ...]
    entries: tuple[tuple[int | None, ...], ...]

    def __post_init__(self) -> None:
        _require_different(self.columns)
        _require_known(self.key, self.source)
        _require_apart(self.columns, _identities(self.source))


@dataclass(frozen=True, slots=True)
class KeyJoin:
    """Every pair of rows of whatever units whose keys are equal; a NULL key equals none.

    What one unit adds depends on the others, so no bound of the calculus holds and no engine runs it: only `elastic`
    counts its pairs, from each side's counts by key. The two sides share no column.
    """

    left: Relation
    right: Relation
    left_key: Field
    right_key: Field

    def __post_init__(self) -> None:
        _require_known(self.left_key, self.left)
        _require_known(self.right_key, self.right)
        _require_apart(_identities(self.left), _identities(self.right))


Relation = Scan | Filter | Derive | PerUnit | Join | Lookup | KeyJoin

# --- what is measured -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows have the value (or text column); how many there are, when it is None."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Units:
    """How many different units have rows."""


@dataclass(frozen=True, slots=True)
class Total:
    """The sum over the rows that have the value; 0 when none has."""

    value: Value


@dataclass(frozen=True, slots=True)
class Quantile:
    """A point v with at most a share `rank` of the values below it and at most 1 - rank above it.

    It is chosen among the `candidates`, first to last; engines move values that lie outside to the nearer end. Without
    candidates the values are read as they are, for custodians' comparisons.
    """

    value: Value
    rank: Fraction
    candidates: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest value, or the smallest; candidates as for quantiles."""

    value: Value
    largest: bool
    candidates: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The mean without a share of the values at each end. Read for the comparison of `smooth` alone; never measured."""

    value: Value
    share: Fraction


@dataclass(frozen=True, slots=True)
class Marginal:
    """A count or a total for every cell of the kept keys: summed over the others. Keys are closed."""

    of: Rows | Total
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Residual:
    """What a margin says beyond the margins below it, in whole numbers.

    Along every kept key but those in `whole`, with m cells: m times the value less the sum of its line.
    """

    of: Rows | Total
    kept: tuple[int, ...]
    whole: tuple[int, ...] = ()


Measure = Rows | Units | Total | Quantile | Extreme | Trimmed | Marginal | Residual


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping column. `cells` are those of its public domain in which rows can lie, in order, with None last.

    `cells` None means an open domain: the keys come from the rows and pass a threshold. `whole` is the domain where
    conditions took some of it away (`keycells`): they follow from the rest of the plan, so it is known by the domain.
    """

    field: Field
    cells: tuple[int | None, ...] | None
    whole: tuple[int | None, ...] | None = None

    @property
    def domain(self) -> tuple[int | None, ...] | None:
        """All cells, possible or not; None where they are open."""
        return self.cells if self.whole is None else self.whole


@dataclass(frozen=True, slots=True)
class Plan:
    """Measures over a relation, by keys. What is shown of them is post-processing (`outputs`) and not part of it."""

    source: Relation
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        _require_known((self.keys, self.measures), self.source)

    @property
    def open(self) -> bool:
        """Whether the list of keys itself comes from the rows."""
        return any(key.cells is None for key in self.keys)

    @property
    def cell_count(self) -> int:
        """Cells of the answer; for closed keys."""
        return prod(len(key.cells) for key in self.keys if key.cells is not None)

    @property
    def dataset(self) -> str:
        """The first dataset: the one whose name stands on the ledger."""
        return next(scans(self.source)).dataset

    @property
    def widened(self) -> Plan:
        """The same with every cell of the domains listed, as plans were measured before conditions took cells away."""
        return replace(self, keys=tuple(Key(key.field, key.domain) for key in self.keys))


def measured_of(measure: Measure) -> Rows | Units | Total | Quantile | Extreme | Trimmed:
    """What is asked of the rows for a measure: a margin is made of the cells."""
    return measure.of if isinstance(measure, Marginal | Residual) else measure


def reduced(plan: Plan, measure: Measure) -> Plan:
    """The plan whose cells a measure has values for: for a margin, that of the kept keys alone."""
    if not isinstance(measure, Marginal | Residual):
        return plan
    return Plan(plan.source, tuple(plan.keys[index] for index in measure.kept), (measure.of,))


Node = Value | Condition | Relation | UnitAggregate | Measure | Key | Plan

_LEAVES: Final = (int, str, type(None))


def scans(relation: Relation) -> Iterator[Scan]:
    """The datasets of a relation, from left to right."""
    return (node for node in walk(relation) if isinstance(node, Scan))


def walk(node: object) -> Iterator[object]:
    """A node and every node below it. Cells of keys and entries of public tables are many, and none is a node."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        kind: type = type(found)
        if isinstance(found, tuple):
            waiting.extend(part for part in reversed(found) if not isinstance(part, _LEAVES))
        elif (parts := _parts_of(kind)) is not None:
            yield found
            waiting.extend(getattr(found, name) for name in parts)


@cache
def _parts_of(kind: type) -> tuple[str, ...] | None:
    """The fields of a class of nodes that may hold nodes, the last one first; None where it is none."""
    if kind is Key:
        return ("field",)
    if kind is Lookup:
        return ("key", "source")
    if not is_dataclass(kind):
        return None
    return tuple(field.name for field in reversed(fields(kind)))


def substitute(value: Value, put: Callable[[Field], Value]) -> Value:
    """A value with something else in the place of its columns; those inside conditions and clamps stay."""
    match value:
        case Field():
            return put(value)
        case Whole() | Nothing() | Clamp():
            return value
        case Plus(terms):
            return Plus(tuple(substitute(term, put) for term in terms))
        case Times(left, right):
            return Times(substitute(left, put), substitute(right, put))
        case Absolute(inner):
            return Absolute(substitute(inner, put))
        case Least(values):
            return Least(tuple(substitute(part, put) for part in values))
        case Greatest(values):
            return Greatest(tuple(substitute(part, put) for part in values))
        case Coalesce(values):
            return Coalesce(tuple(substitute(part, put) for part in values))
        case Case(branches, otherwise):
            chosen = tuple((condition, substitute(then, put)) for condition, then in branches)
            return Case(chosen, substitute(otherwise, put))


# --- columns --------------------------------------------------------------------------------------------------------


def columns_of(relation: Relation) -> tuple[Identity, ...]:
    """The columns that a relation has, in their order."""
    match relation:
        case Scan() | Derive() | PerUnit():
            return tuple(column for column, _ in relation.columns)
        case Filter():
            return columns_of(relation.source)
        case Join() | KeyJoin():
            return (*columns_of(relation.left), *columns_of(relation.right))
        case Lookup():
            return (*columns_of(relation.source), *relation.columns)


def fields_in(nodes: object) -> Iterator[Identity]:
    """The columns that nodes read, as often as they do."""
    return (node.column for node in walk(nodes) if isinstance(node, Field))


def next_identity(relation: Relation) -> Identity:
    """One that no column of the relation has, nor any below it."""
    return Identity(max(_identities(relation), default=-1) + 1)


def _identities(relation: Relation) -> frozenset[Identity]:
    """Every column that is made in a relation, whether it still has it or not."""
    made: set[Identity] = set()
    waiting = [relation]
    while waiting:
        node = waiting.pop()
        made.update(columns_of(node) if isinstance(node, Scan | Derive | PerUnit) else ())
        match node:
            case Join() | KeyJoin():
                waiting += [node.left, node.right]
            case Lookup():
                made.update(node.columns)
                waiting.append(node.source)
            case Filter() | Derive() | PerUnit():
                waiting.append(node.source)
    return frozenset(made)


def _require_different(columns: Iterable[Identity]) -> None:
    listed = list(columns)
    if len(set(listed)) < len(listed):
        raise ValueError("two columns of a node share an identity")


def _require_apart(made: Iterable[Identity], there: frozenset[Identity]) -> None:
    if not there.isdisjoint(made):
        raise ValueError("a column of a node has the identity of another that its inputs made")


def _require_known(nodes: object, source: Relation) -> None:
    if not set(columns_of(source)).issuperset(fields_in(nodes)):
        raise ValueError("a node reads a column that its input does not have")
