"""The calculus: what one protected unit can be in a relation, derived from the plan and the cards alone.

Every relation carries `Facts`: the most rows one unit can have in it, whether a unit's presence is fixed by what is
public, and for every column a `Span` (interval, NULLs, publicness, lineage). Each operator maps the facts of what is
below it; `sensitivity` reads the bound of a measure off the facts of the relation it is taken over.
Proof: docs/proofs/calculus.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from discreet.cards import Card, Column, ColumnKind, Membership, SizeRule
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    KeyJoin,
    Least,
    Lookup,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plan,
    Plus,
    Relation,
    Scan,
    Tally,
    TextIn,
    Times,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    measured_of,
    scans,
)

__all__ = [
    "MOST_ROWS",
    "SEARCHED",
    "WIDEST",
    "Caps",
    "Facts",
    "Lineage",
    "Span",
    "ends_of",
    "facts_of",
    "key_join_refused",
    "lineage_of",
    "move_bounds",
    "private_spans",
    "span_of",
]

# Single values and products stay inside 64 bits on every engine; sums of 2·10^9 rows then stay inside 128.
WIDEST: Final = 1 << 62
MOST_ROWS: Final = 10**9

SEARCHED: Final = 1 << 40
"""How far from 0, in whole steps, bounds that the card keeps private are looked for."""

Lineage = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Caps:
    """Upper bounds of a weight by the category of a public column of the same relation; `largest` without one."""

    by: Identity
    each: tuple[int, ...]
    largest: int

    def highest(self, possible: frozenset[int | None] | None) -> int:
        if possible is None:
            return self.largest
        listed = (index for index in possible if index is None or 0 <= index < len(self.each))
        return max((self.largest if index is None else self.each[index] for index in listed), default=0)


@dataclass(frozen=True, slots=True)
class Span:
    """What is known of a value without its rows, in whole steps.

    `low` and `high` are None for texts and for what is always NULL. `bounded` is false where the card gives no bounds:
    such a value may be compared and counted, but not summed. `public`: fixed for a unit whatever is confidential of
    it, and the same on all its rows. `settled`: whether a row has the value is fixed, though not what it is.
    `lineage`: the card columns it is made of.
    """

    low: int | None
    high: int | None
    nullable: bool
    public: bool
    bounded: bool = True
    lineage: Lineage = frozenset()
    caps: Caps | None = None
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What a relation carries, by the identities of its columns.

    `steady`: whether a unit has rows here does not depend on what is confidential of it. `possible` narrows the
    categories that a column can still have; `lineage` names the columns that decided which rows are here.
    """

    rows: int
    steady: bool
    spans: Mapping[Identity, Span]
    possible: Mapping[Identity, frozenset[int | None]] = field(default_factory=dict)
    lineage: Lineage = frozenset()

    def given(self, key: Identity, cell: int | None) -> Facts:
        """The facts of the rows in one cell of a key."""
        return replace(self, possible={**self.possible, key: frozenset({cell})})


# --- relations ------------------------------------------------------------------------------------------------------


def facts_of(relation: Relation, cards: Mapping[str, Card], *, trusting: bool = False) -> Facts:
    """What a relation carries, by operator.

    `trusting` takes cards at their word that a column is complete: it tells which keys are worth listing, and no
    sensitivity may rest on it.
    """
    known: dict[int, tuple[Relation, Facts]] = {}  # by the node itself, which is kept so that no other takes its place

    def below(source: Relation) -> Facts:
        """Once per node: a condition reads what is below it twice, and so would each of those."""
        if id(source) not in known:
            known[id(source)] = source, _facts_above(source, cards, below, trusting=trusting)
        return known[id(source)][1]

    return below(relation)


def _facts_above(
    relation: Relation, cards: Mapping[str, Card], below: Callable[[Relation], Facts], *, trusting: bool
) -> Facts:
    match relation:
        case Scan():
            scanned = _scan(cards[relation.dataset], relation)
            return _trust(scanned, cards[relation.dataset], relation) if trusting else scanned
        case Filter(source, where):
            # Engines run conditions in any order, so none may rest on another one to stay within 64 bits.
            _read(where, below(_unfiltered(source)))
            return _choose(below(source), where) if relation.by_card else _filter(below(source), where)
        case Derive(source, columns):
            return _derive(below(source), columns)
        case PerUnit(source, columns):
            facts = below(source)
            spans = {column: _per_unit(aggregate, facts) for column, aggregate in columns}
            return Facts(rows=1, steady=facts.steady, spans=spans, lineage=facts.lineage)
        case Join(left, right):
            known = all(cards[scan.dataset].membership is Membership.PUBLIC for scan in scans(relation))
            return _join(below(left), below(right), known=known)
        case Lookup():
            return _lookup(below(relation.source), relation)
        case KeyJoin():
            raise key_join_refused()


def key_join_refused() -> QueryRefused:
    """Why nothing but `elastic` is done with a join on a key."""
    return QueryRefused(
        say(
            "datasets are joined on the unit they share, as in ON a.person_id = b.person_id. A join on another column "
            "lets one unit move as many rows as others have, and is admitted only in custodians' comparisons under the "
            "strategy `elastic`. Join on the unit, or let the custodian add the other side as a public table."
        ),
        part="JOIN",
    )


def _unfiltered(relation: Relation) -> Relation:
    """The relation as if its conditions had not run; those below an aggregate have run before anything above it."""
    match relation:
        case Scan() | PerUnit() | KeyJoin():
            return relation
        case Filter(source, _):
            return _unfiltered(source)
        case Join(left, right):
            one, other = _unfiltered(left), _unfiltered(right)
            return relation if one is left and other is right else Join(one, other)
        case Derive() | Lookup():
            source = _unfiltered(relation.source)
            return relation if source is relation.source else replace(relation, source=source)


def _scan(card: Card, scan: Scan) -> Facts:
    identities = {name: column for column, name in scan.columns}
    # With more rows, how many a unit has, and which comes first, is not public.
    single = scan.rows == card.unit.rows == 1
    spans = {identity: _column_span(card, card.column(name), identities) for identity, name in scan.columns}
    if single:
        settled = [identity for identity, name in scan.columns if card.column(name).public_presence]
        spans |= {identity: replace(spans[identity], settled=True) for identity in settled}
    return Facts(rows=scan.rows, steady=card.size is SizeRule.PUBLIC, spans=spans)


def _trust(facts: Facts, card: Card, scan: Scan) -> Facts:
    """The facts of a scan, were no complete column ever NULL."""
    there = [identity for identity, name in scan.columns if card.column(name).complete]
    spans = {identity: replace(facts.spans[identity], nullable=False) for identity in there}
    return replace(facts, spans={**facts.spans, **spans})


def _column_span(card: Card, column: Column, identities: Mapping[str, Identity]) -> Span:
    lineage = frozenset({(card.dataset, column.name)})
    if column.kind is ColumnKind.TEXT:
        return Span(None, None, nullable=True, public=False, bounded=False, lineage=lineage)
    if column.kind is ColumnKind.CATEGORY:
        return Span(0, len(column.categories) - 1, nullable=True, public=column.public, lineage=lineage)
    low, high = column.low_units, column.high_units
    caps = None
    if card.weight is not None and card.weight.column == column.name:
        high = min(high, column.in_steps(card.weight.largest))
        low = min(low, *map(column.in_steps, card.weight.every_cap))  # a cap may cut below the lower bound
        by = card.weight.by
        if by is not None and by in identities:
            codes = [category.code for category in card.column(by).categories]
            each = tuple(min(high, column.in_steps(card.weight.cap_for(code))) for code in codes)
            caps = Caps(identities[by], each, high)
            lineage |= {(card.dataset, by)}
    bounded = column.bounds is not None
    return Span(low, high, nullable=True, public=column.public, bounded=bounded, lineage=lineage, caps=caps)


def _filter(below: Facts, where: Condition) -> Facts:
    chosen = _choose(below, where)
    spans, possible = dict(chosen.spans), dict(chosen.possible)
    _narrow(where, spans, possible)
    return replace(chosen, spans=spans, possible=possible)


def _choose(below: Facts, where: Condition) -> Facts:
    """Rows chosen by a condition of which nothing else is concluded."""
    public, lineage = _read(where, below)
    return replace(below, steady=below.steady and public, lineage=below.lineage | lineage)


def _narrow(part: Condition, spans: dict[Identity, Span], possible: dict[Identity, frozenset[int | None]]) -> None:
    """What a condition on a single column, which holds for every row kept, says about that column."""
    match part:
        case And(operands):
            for operand in operands:
                _narrow(operand, spans, possible)
            for column in _limited(part, below=True) & _limited(part, below=False):
                spans[column] = replace(spans[column], bounded=True)
        case Within(Field(column), low, high):
            span = spans[column]
            start, end = ends_of(span)
            tight_low = start if low is None else max(low, start)
            tight_high = end if high is None else min(high, end)
            bounded = span.bounded or (low is not None and high is not None)
            if tight_low > tight_high:  # no row can be kept; the old interval is as true as any
                tight_low, tight_high = start, end
            spans[column] = replace(span, low=tight_low, high=tight_high, nullable=False, bounded=bounded)
        case OneOf(Field(column), values):
            kept: frozenset[int | None] = frozenset(values)
            possible[column] = kept & possible.get(column, kept)
            _narrow(Within(Field(column), min(values, default=None), max(values, default=None)), spans, possible)
        case TextIn(Field(column), _) | Not(IsNull(Field(column))):
            spans[column] = replace(spans[column], nullable=False)


def _limited(part: Condition, *, below: bool) -> set[Identity]:
    """The columns that a condition keeps from lying too far below, or too far above."""
    match part:
        case And(operands):
            return set[Identity]().union(*(_limited(operand, below=below) for operand in operands))
        case Within(Field(column), low, high) if (low if below else high) is not None:
            return {column}
    return set()


def _derive(below: Facts, columns: tuple[tuple[Identity, Value], ...]) -> Facts:
    copies = {value.column: column for column, value in columns if isinstance(value, Field)}
    spans, possible = {}, {}
    for column, value in columns:
        span = span_of(value, below)
        if isinstance(value, Field):
            caps = span.caps
            kept = caps is not None and caps.by in copies
            span = replace(span, caps=replace(caps, by=copies[caps.by]) if caps is not None and kept else None)
            if value.column in below.possible:
                possible[column] = below.possible[value.column]
        spans[column] = span
    return Facts(below.rows, below.steady, spans, possible, below.lineage)


def _per_unit(aggregate: UnitAggregate, below: Facts) -> Span:
    if isinstance(aggregate, Tally):
        counted = aggregate.value is None
        lineage = below.lineage if aggregate.value is None else span_of(aggregate.value, below).lineage
        return Span(1 if counted else 0, below.rows, nullable=False, public=False, lineage=lineage)
    span = span_of(aggregate.value, below)
    if isinstance(aggregate, UnitTotal):
        low, high = ends_of(span)
        low, high = min(low, below.rows * low), max(high, below.rows * high)
        return _checked(replace(span, low=low, high=high, public=False, caps=None, settled=False))
    return replace(span, caps=None, settled=False)


def _join(left: Facts, right: Facts, *, known: bool) -> Facts:
    """`known`: who is in each dataset is public, so who is in all of them is."""
    rows = left.rows * right.rows
    if rows > MOST_ROWS:
        raise QueryRefused(
            say(
                "one unit could have {rows:,} rows after this join; at most {most:,} are joined. Aggregate "
                "one side per unit first, as in (SELECT id, SUM(x) AS total FROM dataset GROUP BY id).",
                rows=rows,
                most=MOST_ROWS,
            )
        )
    return Facts(
        rows=rows,
        steady=known and left.steady and right.steady,
        spans={**left.spans, **right.spans},
        possible={**left.possible, **right.possible},
        lineage=left.lineage | right.lineage,
    )


def _lookup(below: Facts, lookup: Lookup) -> Facts:
    key = span_of(lookup.key, below)
    spans = dict(below.spans)
    for index, column in enumerate(lookup.columns, start=1):
        present = [entry[index] for entry in lookup.entries]
        values = [value for value in present if value is not None]
        low, high = min(values, default=None), max(values, default=None)
        spans[column] = _checked(Span(low, high, nullable=None in present, public=key.public, lineage=key.lineage))
    return replace(below, spans=spans, steady=below.steady and key.public, lineage=below.lineage | key.lineage)


# --- values ---------------------------------------------------------------------------------------------------------


def span_of(value: Value, facts: Facts) -> Span:
    """What is known of a value on a row of the relation."""
    match value:
        case Field(column):
            span = facts.spans[column]
            if span.caps is not None and span.high is not None:
                high = min(span.high, span.caps.highest(facts.possible.get(span.caps.by)))
                return replace(span, high=max(high, span.low or 0))
            return span
        case Whole(number):
            return _checked(Span(number, number, nullable=False, public=True))
        case Nothing():
            return Span(None, None, nullable=True, public=True)
        case Plus(terms):
            spans = [span_of(term, facts) for term in terms]
            return _strict(spans, lambda parts: _add(_within_reach(parts)))
        case Times(left, right) if left == right:
            return _strict([span_of(left, facts)], lambda parts: _square(*parts[0]))
        case Times(left, right):
            return _strict([span_of(left, facts), span_of(right, facts)], _multiply)
        case Absolute(inner):
            return _strict([span_of(inner, facts)], lambda parts: _absolute(*parts[0]))
        case Clamp(inner, low, high):
            moved = _strict([span_of(inner, facts)], lambda parts: _clamp(parts[0], low, high))
            return replace(moved, bounded=True)
        case Least(values):
            return _chosen([span_of(part, facts) for part in values], least=True)
        case Greatest(values):
            return _chosen([span_of(part, facts) for part in values], least=False)
        case Coalesce(values):
            spans = [span_of(part, facts) for part in values]
            reached = next((index for index, span in enumerate(spans, start=1) if not span.nullable), len(spans))
            return replace(_hull(spans[:reached]), nullable=all(span.nullable for span in spans))
        case Case(branches, otherwise):
            hull = _hull([*(span_of(then, facts) for _, then in branches), span_of(otherwise, facts)])
            read = [_read(condition, facts) for condition, _ in branches]
            public = hull.public and all(public for public, _ in read)
            lineage = hull.lineage.union(*(lineage for _, lineage in read))
            return replace(hull, public=public, lineage=lineage, settled=False)


Interval = tuple[int, int]


def _within_reach(parts: list[Interval]) -> list[Interval]:
    """Engines add from left to right, so no sum of some of the terms may overflow either."""
    _require_reach(sum(max(abs(low), abs(high)) for low, high in parts))
    return parts


def _add(parts: list[Interval]) -> Interval:
    return sum(low for low, _ in parts), sum(high for _, high in parts)


def _multiply(parts: list[Interval]) -> Interval:
    corners = [left * right for left in parts[0] for right in parts[1]]
    return min(corners), max(corners)


def _square(low: int, high: int) -> Interval:
    least, most = _absolute(low, high)
    return least**2, most**2


def _absolute(low: int, high: int) -> Interval:
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _clamp(part: Interval, low: int, high: int) -> Interval:
    return min(max(part[0], low), high), min(max(part[1], low), high)


def _strict(spans: list[Span], combine: Callable[[list[Interval]], Interval]) -> Span:
    """An operator whose result is NULL as soon as one operand is."""
    joined = _hull(spans)
    if any(span.low is None for span in spans):
        return replace(joined, low=None, high=None, nullable=True, caps=None)
    low, high = combine([ends_of(span) for span in spans])
    return _checked(replace(joined, low=low, high=high))


def _chosen(spans: list[Span], *, least: bool) -> Span:
    """LEAST and GREATEST pass over NULLs: only operands that are always there limit the far side."""
    hull = _hull(spans)
    limiting = [span for span in spans if not span.nullable and span.low is not None]
    if hull.low is None or hull.high is None:
        return hull
    low, high = hull.low, hull.high
    if limiting:
        ends = [ends_of(span) for span in limiting]
        low, high = (low, min(end for _, end in ends)) if least else (max(start for start, _ in ends), high)
    return replace(hull, low=low, high=high, nullable=not limiting)


def _hull(spans: list[Span]) -> Span:
    present = [ends_of(span) for span in spans if span.low is not None]
    return Span(
        low=min((low for low, _ in present), default=None),
        high=max((high for _, high in present), default=None),
        nullable=any(span.nullable for span in spans),
        public=all(span.public for span in spans),
        bounded=all(span.bounded for span in spans),
        lineage=frozenset[tuple[str, str]]().union(*(span.lineage for span in spans)),
        settled=all(span.settled or not span.nullable for span in spans),
    )


def ends_of(span: Span) -> Interval:
    """The interval; (0, 0) for what is never there and so never adds anything."""
    return (0, 0) if span.low is None or span.high is None else (span.low, span.high)


def _checked(span: Span) -> Span:
    _require_reach(max(abs(end) for end in ends_of(span)))
    return span


def _require_reach(reach: int) -> None:
    if reach > WIDEST:
        raise QueryRefused(
            say(
                "an expression of this statement could leave 64-bit integers. Multiply fewer columns, or CLAMP "
                "them first, as in CLAMP(x, 0, 1000); or give the columns a coarser step in the card."
            )
        )


def _read(condition: Condition, facts: Facts) -> tuple[bool, Lineage]:
    """Whether a condition rests on public values alone, and the columns it reads."""
    match condition:
        case IsNull(value):
            span = span_of(value, facts)
            return span.public or span.settled, span.lineage
        case OneOf(value, _) | Within(value, _, _) | TextIn(value, _):
            span = span_of(value, facts)
            return span.public, span.lineage
        case Not(operand):
            return _read(operand, facts)
        case And(operands) | Or(operands):
            read = [_read(operand, facts) for operand in operands]
            return all(public for public, _ in read), frozenset[tuple[str, str]]().union(*(names for _, names in read))


def private_spans(facts: Facts, cards: Mapping[str, Card]) -> frozenset[Identity]:
    """The columns of a relation that lack bounds only because the card says that those are private."""

    def searchable(dataset: str, name: str) -> bool:
        column = cards[dataset].column(name)
        return column.private_bounds or column.bounds is not None or column.kind is ColumnKind.CATEGORY

    return frozenset(
        column
        for column, span in facts.spans.items()
        if span.low is not None and not span.bounded and all(searchable(*origin) for origin in span.lineage)
    )


def move_bounds(bounds: Interval, span: Span) -> Interval:
    """Bounds that were found, moved to where a statement's own conditions leave values.

    Noise may have put them elsewhere; an expression could then reach farther than within the widest bounds, for which
    it was priced, and fail after the charge.
    """
    start, end = ends_of(span)
    low, high = (min(max(bound, start), end) for bound in bounds)
    if low < high or start == end:
        return low, high
    return (low, low + 1) if low < end else (low - 1, low)


def lineage_of(plan: Plan, cards: Mapping[str, Card]) -> Lineage:
    """Every card column on which an answer depends, beside the units."""
    facts = facts_of(plan.source, cards)
    parts: list[Value] = [key.field for key in plan.keys]
    parts += [
        measured.value
        for measured in map(measured_of, plan.measures)
        if not isinstance(measured, Units) and measured.value is not None
    ]
    return facts.lineage.union(*(span_of(part, facts).lineage for part in parts))
