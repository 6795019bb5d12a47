"""Which cells of a key are listed: those that a row kept by the plan can lie in, by the plan and the cards alone.

Two things take cells away. A condition that every row has passed and that no row of the cell can pass; and a card that
calls columns `complete`: where a key can be NULL only because one of them is, the rows without it are filtered out,
after the row bound and for this question alone. Nothing is believed of the rows. Proof: docs/proofs/calculus.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from discreet.cards import Card
from discreet.sql.algebra import (
    And,
    Case,
    Condition,
    Derive,
    Field,
    Filter,
    Identity,
    IsNull,
    Join,
    Key,
    Largest,
    Lookup,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Relation,
    Smallest,
    TextIn,
    Value,
    Whole,
    Within,
    all_of,
    columns_of,
    fields_in,
    walk,
)
from discreet.sql.calculus import Facts, Span, facts_of, span_of

__all__ = ["close_keys"]

Cards = Mapping[str, Card]
Cells = Sequence[int | None]
Truth = bool | None
Truths = frozenset[Truth]
"""What a condition may be on the rows of a cell: true, false, unknown."""

_EVERY: Final[Truths] = frozenset({True, False, None})
_MOST_TRIED: Final = 100_000
"""Of longer lists only what stands directly against a constant takes cells away."""


def close_keys(source: Relation, keys: Sequence[Key], cards: Cards) -> tuple[Relation, tuple[Key, ...]]:
    """The relation without the rows that break what a card calls complete, and its keys without impossible cells."""
    absent = _absent(source, (key.field for key in keys), cards, trusting=False) if keys else []
    broken = _absent(source, absent, cards, trusting=True) if absent else []
    assured = tuple(Not(IsNull(field)) for field in absent if field not in broken)
    if assured:
        source = Filter(source, all_of(assured), by_card=True)
    return source, tuple(_listed(key, source, cards) for key in keys)


def _absent(source: Relation, keys: Iterable[Field], cards: Cards, *, trusting: bool) -> list[Field]:
    """The keys that can be NULL; `trusting`, those that can on a row which has all that is called complete."""
    facts = facts_of(source, cards, trusting=trusting)
    made: Mapping[Identity, Value] = dict(source.columns) if isinstance(source, Derive) else {}
    below = facts_of(source.source, cards, trusting=trusting) if isinstance(source, Derive) else facts
    found = []
    for key in keys:
        value = made.get(key.column, key)
        results = list(_reached(value, below)) if isinstance(value, Case) else [value]
        if any(span_of(result, below).nullable for result in results):
            found.append(key)
    return found


def _listed(key: Key, source: Relation, cards: Cards) -> Key:
    if key.cells is None:
        return key
    cells = tuple(_cut(key.cells, key.field, source, cards))
    return key if len(cells) == len(key.cells) else Key(key.field, cells, whole=key.cells)


def _cut(cells: Cells, value: Value, relation: Relation, cards: Cards) -> Cells:
    """The cells that are left by all conditions below, of a key that is `value` in this relation."""
    match relation:
        case Filter(source, where):
            kept = _pass(cells, value, where, source, cards)
            return _cut(kept, value, source, cards)
        case Derive(source, columns) if isinstance(value, Field):
            made = dict(columns)[value.column]
            return _cut(_results(cells, made, source, cards), made, source, cards)
        case PerUnit(source, columns) if isinstance(value, Field):
            aggregate = dict(columns)[value.column]
            if isinstance(aggregate, Largest | Smallest):  # one of the unit's values, or NULL where all are
                return _cut(cells, aggregate.value, source, cards)
        case Join(left, right):
            for side in (left, right):
                if set(fields_in(value)) <= set(columns_of(side)):
                    return _cut(cells, value, side, cards)
        case Lookup(source) if set(fields_in(value)) <= set(columns_of(source)):
            return _cut(cells, value, source, cards)
    return cells


def _results(cells: Cells, made: Value, source: Relation, cards: Cards) -> Cells:
    """Of a CASE with constant results, those of branches that a row can reach."""
    if not isinstance(made, Case):
        return cells
    reached = list(_reached(made, facts_of(source, cards)))
    if not all(isinstance(result, Whole | Nothing) for result in reached):
        return cells
    known = {result.value if isinstance(result, Whole) else None for result in reached}
    return [cell for cell in cells if cell in known]


def _reached(case: Case, facts: Facts) -> Iterator[Value]:
    for condition, then in case.branches:
        truths = _truths(condition, facts)
        if True in truths:
            yield then
        if truths == {True}:
            return
    yield case.otherwise


# --- conditions -----------------------------------------------------------------------------------------------------


def _pass(cells: Cells, value: Value, where: Condition, source: Relation, cards: Cards) -> Cells:
    """The cells of which a row can pass a condition."""
    for part in where.operands if isinstance(where, And) else (where,):
        if isinstance(part, And):
            cells = _pass(cells, value, part, source, cards)
            continue
        plain, wanted = (part.operand, False) if isinstance(part, Not) else (part, True)
        if isinstance(plain, OneOf | Within | IsNull) and plain.value == value:
            holds = _test(plain)
            cells = [cell for cell in cells if holds(cell) is wanted]
        elif len(cells) <= _MOST_TRIED and any(node == value for node in walk(part)):
            facts = facts_of(source, cards)
            cells = [cell for cell in cells if True in _truths(part, facts, value, cell)]
    return cells


def _test(part: OneOf | Within | IsNull) -> Callable[[int | None], Truth]:
    """A comparison of the key itself, as what it is in one of its cells."""
    match part:
        case IsNull():
            return lambda cell: cell is None
        case OneOf(_, values):
            known = frozenset(values)
            return lambda cell: None if cell is None else cell in known
        case Within(_, low, high):
            return lambda cell: (
                None if cell is None else (low is None or low <= cell) and (high is None or cell <= high)
            )


def _truths(condition: Condition, facts: Facts, key: Value | None = None, cell: int | None = None) -> Truths:
    """What a condition can be on a row, where `key` is as in this cell; never less than it can be."""
    match condition:
        case Not(operand):
            return _negated(_truths(operand, facts, key, cell))
        case And(operands):
            return _together([_truths(operand, facts, key, cell) for operand in operands])
        case Or(operands):
            return _negated(_together([_negated(_truths(operand, facts, key, cell)) for operand in operands]))
        case TextIn():
            return _EVERY
        case OneOf(value) | Within(value) | IsNull(value) if value == key:
            return frozenset({_test(condition)(cell)})
    if isinstance(key, Field):
        exact = Span(cell, cell, nullable=cell is None, public=False)
        facts = replace(facts, spans={**facts.spans, key.column: exact}, possible={})
    return _of_span(condition, span_of(condition.value, facts))


def _negated(truths: Truths) -> Truths:
    return frozenset(None if item is None else not item for item in truths)


def _together(text: Sequence[Truths]) -> Truths:
    """What AND can be of operands that can be these."""
    found = {
        True: all(True in item for item in text),
        False: any(False in item for item in text),
        None: any(None in item for item in text) and all(item - {False} for item in text),
    }
    return frozenset(truth for truth, possible in found.items() if possible)


def _of_span(condition: OneOf | Within | IsNull, span: Span) -> Truths:
    """What a comparison can be of a value of which this is known."""
    never = span.low is None and span.bounded  # a text has no ends either, but no bounds
    if isinstance(condition, IsNull):
        return frozenset({*([True] if span.nullable else []), *([] if never else [False])})
    found: dict[Truth, bool] = {None: span.nullable}
    if span.low is not None and span.high is not None:
        if isinstance(condition, OneOf):
            inside = sum(span.low <= item <= span.high for item in set(condition.values))
            found |= {True: inside > 0, False: inside <= span.high - span.low}
        else:
            low = span.low if condition.low is None else max(condition.low, span.low)
            high = span.high if condition.high is None else min(condition.high, span.high)
            found |= {True: low <= high, False: (low, high) != (span.low, span.high)}
    return frozenset(truth for truth, possible in found.items() if possible)
