"""Neighbours searched for a counter-example: nothing moves by more than the calculus derives.

Random plans over random populations are attacked by `tests.algebra.neighbours`; on every pair found, each relation of
the plan must also keep what its facts promise. A seed in the message names the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from secrets import randbits

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees.types import Neighbours
from discreet.sql.algebra import Derive, Extreme, Field, Filter, Join, Lookup, PerUnit, Quantile, Relation, Scan, walk
from discreet.sql.calculus import Facts, Span, facts_of, span_of
from discreet.sql.sensitivity import sensitivities
from tests.algebra.generator import EVERY_NODE, Example, nodes_in, random_example
from tests.algebra.interpreter import Datum, Row, Tables, grouped, holds, rows_of
from tests.algebra.neighbours import Pair, distance, neighbouring_tables, place_of, search
from tests.algebra.populations import Cards

Owned = Mapping[Datum, list[Row]]


def attack(seed: int, *, steps: int, starts: int) -> Example:
    """One random plan against the search: bounds of measures, and facts of every relation on the pairs found."""
    example = random_example(seed, units=2)
    for place, measure in enumerate(example.plan.measures):
        found = search(Random(seed), example.plan, place, example.cards, example.tables, steps=steps, starts=starts)
        assert max(found.share_l1, found.share_l2) <= 1, f"seed {seed}, {measure}: {found} for {example.plan}"
        require_facts(example, found.pair)
        require_whole(example, place, found.pair)
        require_any_order(example, found.pair)
    return example


def require_any_order(example: Example, pair: Pair) -> None:
    """No condition leaves 64 bits, whichever of the conditions beside it have run; the interpreter would say so."""
    for tables in neighbouring_tables(pair, example.cards, example.tables):
        for relation in relations(example.plan.source):
            if isinstance(relation, Filter):
                for _, row in rows_of(without_conditions(relation.source), tables, example.cards):
                    holds(relation.where, row)


def without_conditions(relation: Relation) -> Relation:
    if isinstance(relation, Filter):
        return without_conditions(relation.source)
    if isinstance(relation, Join):
        return Join(without_conditions(relation.left), without_conditions(relation.right))
    if isinstance(relation, Derive | Lookup):
        return replace(relation, source=without_conditions(relation.source))
    return relation


def require_whole(example: Example, place: int, pair: Pair) -> None:
    """The search leaves out everybody else where counts and sums cancel: here the bound is held with them."""
    measure = example.plan.measures[place]
    if isinstance(measure, Quantile | Extreme):
        return
    bound = sensitivities(example.plan, measure, example.cards)
    first, second = (
        grouped(example.plan, tables, example.cards)
        for tables in neighbouring_tables(pair, example.cards, example.tables)
    )
    apart = distance(example.plan, place, bound, first, second, (0, 0))
    assert max(apart.share_l1, apart.share_l2) <= 1, f"seed {example.seed}, {measure}: {apart}"


def require_facts(example: Example, pair: Pair) -> None:
    """Every relation of the plan keeps what its facts promise, on both neighbours and between them."""
    tables = neighbouring_tables(pair, example.cards, example.tables)
    for relation in relations(example.plan.source):
        facts = facts_of(relation, example.cards)
        seen = [owned(relation, one, example.cards) for one in tables]
        for units in seen:
            for rows in units.values():
                require_rows(facts, rows, example.seed)
        if example.cards[example.plan.dataset].neighbours is Neighbours.REPLACE_ONE:
            require_public(facts, seen[0], seen[1], example.seed)


def relations(relation: Relation) -> Iterator[Relation]:
    return (node for node in walk(relation) if isinstance(node, Scan | Filter | Derive | PerUnit | Join | Lookup))


def owned(relation: Relation, tables: Tables, cards: Cards) -> dict[Datum, list[Row]]:
    units: dict[Datum, list[Row]] = {}
    for unit, row in rows_of(relation, tables, cards):
        units.setdefault(place_of(unit), []).append(row)
    return units


def require_rows(facts: Facts, rows: list[Row], seed: int) -> None:
    assert len(rows) <= facts.rows, f"seed {seed}: more rows of a unit than derived"
    for column in facts.spans:
        span = span_of(Field(column), facts)
        values = {row[column] for row in rows}
        assert len(values) == 1 or not span.public, f"seed {seed}: public column {column} varies within a unit"
        present = {value is not None for value in values}
        assert len(present) == 1 or not span.settled, f"seed {seed}: presence in {column} varies within a unit"
        assert all(inside(span, value) for value in values), f"seed {seed}: {column} leaves its interval"
        assert values <= facts.possible.get(column, values), f"seed {seed}: {column} has a value that is not possible"
        assert all(capped(span, row, row[column]) for row in rows), f"seed {seed}: {column} is above its cap"


def inside(span: Span, value: Datum) -> bool:
    if value is None:
        return span.nullable
    if isinstance(value, str):
        return span.low is None
    return span.low is not None and span.high is not None and span.low <= value <= span.high


def capped(span: Span, row: Row, value: Datum) -> bool:
    if span.caps is None or value is None:
        return True
    category = row[span.caps.by]
    return isinstance(value, int) and value <= (
        span.caps.each[category] if isinstance(category, int) else span.caps.largest
    )


def require_public(facts: Facts, first: Owned, second: Owned, seed: int) -> None:
    """Under replace-one, steady relations keep their units, or who stands in for them, and public columns their values.

    Who stands in for a unit is in one dataset alone, so it has no rows in a relation that joins several.
    """
    assert not facts.steady or first.keys() == second.keys(), f"seed {seed}: presence in a steady relation changed"
    for unit in first.keys() & second.keys():
        for column, span in facts.spans.items():
            same = first[unit][0][column] == second[unit][0][column]
            assert same or not span.public, f"seed {seed}: public column {column} changed between neighbours"
            present = {rows[0][column] is not None for rows in (first[unit], second[unit])}
            known = len(present) == 1 or not span.settled
            assert known, f"seed {seed}: presence in {column} changed between neighbours"


def test_nothing_moves_by_more_than_derived() -> None:
    covered: set[str] = set()
    for _ in range(160):
        covered |= nodes_in(attack(randbits(48), steps=20, starts=2).plan)
    assert covered == EVERY_NODE


@pytest.mark.long
@pytest.mark.parametrize("block", range(5))
def test_nothing_moves_by_more_than_derived_at_length(block: int) -> None:
    for _ in range(200):
        attack(randbits(48), steps=50, starts=4)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**64))
def test_nothing_moves_by_more_than_derived_for_any_seed(seed: int) -> None:
    attack(seed, steps=10, starts=2)
