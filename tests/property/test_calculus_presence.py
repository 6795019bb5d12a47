"""Columns of which everybody knows who has a value: bounds that are reached, values that nobody moves, wrong rules.

`presence: public` settles whether a unit adds anything, not what it adds. The search that refutes wrong calculi knows
it as well: it moves values, never their presence, where a dataset counts one row per unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random
from secrets import randbits
from typing import Any, Final

import pytest

from discreet.cards.card import Card, Category, Column, ColumnKind, Labels, Membership, SizeRule
from discreet.guarantees.budget import Budget
from discreet.guarantees.types import Neighbours, Unit
from discreet.sql import calculus, sensitivity
from discreet.sql.algebra import (
    And,
    Case,
    Clamp,
    Coalesce,
    Derive,
    Filter,
    IsNull,
    Join,
    Key,
    Largest,
    Least,
    Lookup,
    Marginal,
    Not,
    Nothing,
    OneOf,
    PerUnit,
    Plan,
    Plus,
    Relation,
    Residual,
    Rows,
    Times,
    Total,
    UnitTotal,
    Value,
    Whole,
    Within,
)
from discreet.sql.calculus import Facts, Span, facts_of, span_of
from discreet.sql.sensitivity import sensitivities
from tests.algebra.columns import at, field, scan
from tests.algebra.interpreter import Tables
from tests.algebra.neighbours import reach, search
from tests.algebra.populations import Cards


def column(name: str, kind: ColumnKind, **parts: object) -> Column:
    return Column(name, kind, Labels(name, name), **parts)  # type: ignore[arg-type]


def bounds(low: int, high: int) -> tuple[Decimal, Decimal]:
    return Decimal(low), Decimal(high)


def population(rows: int = 1, membership: Membership = Membership.PUBLIC) -> dict[str, Card]:
    """People with one row each, all of whose answers are known to be there or not, and their visits."""
    sick = tuple(Category(code, Labels(code, code)) for code in "ab")
    people = Card(
        dataset="people",
        title=Labels("people", "people"),
        population="everyone",
        unit=Unit("pid", rows),
        neighbours=Neighbours.REPLACE_ONE,
        budget=Budget(epsilon=3),
        size=SizeRule.PUBLIC,
        membership=membership,
        exact_public=True,
        columns=(
            column("pid", ColumnKind.ID, type="integer"),
            column("sick", ColumnKind.CATEGORY, categories=sick, public_presence=True),
            column("up", ColumnKind.INTEGER, bounds=bounds(4, 7), public_presence=True),
            column("wide", ColumnKind.INTEGER, bounds=bounds(2, 5), public_presence=True),
            column("hidden", ColumnKind.INTEGER, bounds=bounds(4, 7)),
        ),
    )
    cost = column("cost", ColumnKind.INTEGER, bounds=bounds(1, 3))
    visits = replace(people, dataset="visits", unit=Unit("pid", 2), columns=(people.columns[0], cost))
    return {"people": people, "visits": visits}


CARDS: Final = population()
PEOPLE, VISITS = scan(CARDS["people"], 1), scan(CARDS["visits"], 2)
UP, WIDE, HIDDEN, SICK, COST = (field(name) for name in ("up", "wide", "hidden", "sick", "cost"))
BY_SICK: Final = Key(SICK, (0, 1, None))
HAS: Final = Case(((IsNull(UP), Whole(1)),), Whole(0))
NOBODY: Final[Tables] = {"people": [], "visits": []}


def summed(value: Value, source: Relation = PEOPLE, *keys: Key) -> Plan:
    return Plan(source, keys, (Total(value),))


SETTLED: Final[dict[str, tuple[Plan, int]]] = {
    "a sum moves by the width of its bounds": (summed(UP), 3),
    "so does a sum of two": (summed(Plus((UP, WIDE))), 6),
    "and a clamped one": (summed(Clamp(UP, 5, 9)), 2),
    "and a product": (summed(Times(UP, WIDE)), 27),
    "what may be absent moves the whole value": (summed(HIDDEN), 7),
    "as does a sum with it": (summed(Plus((UP, HIDDEN))), 14),
    "a count of what is there does not move": (Plan(PEOPLE, (), (Rows(UP),)), 0),
    "nor the count of those with it": (Plan(Filter(PEOPLE, Not(IsNull(UP))), (), (Rows(None),)), 0),
    "nor of those without": (Plan(Filter(PEOPLE, IsNull(Plus((UP, WIDE)))), (), (Rows(None),)), 0),
    "nor a count by who has it": (
        Plan(Derive(PEOPLE, ((at("has"), HAS),)), (Key(field("has"), (0, 1)),), (Rows(None),)),
        0,
    ),
    "a sum over those with it": (summed(UP, Filter(PEOPLE, Not(IsNull(UP)))), 3),
    "a sum over those with another": (summed(UP, Filter(PEOPLE, Not(IsNull(WIDE)))), 3),
    "a sum under a confidential condition": (summed(UP, Filter(PEOPLE, Within(WIDE, 3, None))), 7),
    "a sum by a confidential key": (summed(UP, PEOPLE, BY_SICK), 14),
    "a joined count of those with it": (Plan(Filter(Join(PEOPLE, VISITS), Not(IsNull(UP))), (), (Rows(None),)), 1),
    "a sum past a public table": (summed(UP, Lookup(PEOPLE, SICK, (at("worth"),), ((0, 3),))), 7),
    "a margin of it": (Plan(PEOPLE, (BY_SICK,), (Marginal(Total(UP), ()),)), 3),
}


@pytest.mark.parametrize("name", SETTLED)
def test_the_bound_is_derived_and_reached(name: str) -> None:
    plan, moved = SETTLED[name]
    cards = population()
    assert sensitivities(plan, plan.measures[0], cards).largest.l1 == moved
    found = reach(Random(randbits(48)), plan, 0, cards, NOBODY, steps=60, starts=60)
    if moved == 0:
        assert found.l1 == 0
    else:
        assert found.share_l1 == found.share_l2 == 1, str(found)


LOOSE: Final[dict[str, tuple[Plan, int, int]]] = {
    "a joined sum loses that all rows add or none": (summed(UP, Join(PEOPLE, VISITS)), 10, 14),
    "the smaller of two forgets which of them is there": (summed(Least((UP, WIDE))), 3, 5),
    "so does the first that is there": (summed(Coalesce((UP, WIDE))), 3, 5),
    "a case forgets that what it takes is there": (
        summed(Case(((OneOf(SICK, (0,)), UP),), Coalesce((UP, Whole(4))))),
        4,
        7,
    ),
    "a total per unit forgets it": (summed(field("t"), PerUnit(PEOPLE, ((at("t"), UnitTotal(UP)),))), 3, 7),
    "so does the largest per unit": (summed(field("t"), PerUnit(PEOPLE, ((at("t"), Largest(UP)),))), 3, 7),
}


@pytest.mark.parametrize("name", LOOSE)
def test_known_to_be_loose(name: str) -> None:
    plan, moved, bound = LOOSE[name]
    assert sensitivities(plan, plan.measures[0], population()).largest.l1 == bound
    found = search(Random(randbits(48)), plan, 0, population(), NOBODY, steps=60, starts=20)
    assert found.l1 == moved


def test_residuals_and_margins_hold() -> None:
    cards = population()
    for measure in (Marginal(Total(UP), (0,)), Residual(Total(UP), (0,)), Residual(Rows(UP), (0,))):
        plan = Plan(PEOPLE, (BY_SICK,), (measure,))
        found = search(Random(randbits(48)), plan, 0, cards, NOBODY, steps=60, starts=10)
        assert max(found.share_l1, found.share_l2) <= 1, str(found)


# --- what is settled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "settled"),
    [
        (UP, True),
        (HIDDEN, False),
        (Plus((UP, WIDE, Whole(2))), True),
        (Plus((UP, HIDDEN)), False),
        (Plus((UP, Nothing())), False),
        (Coalesce((UP, WIDE)), True),
        (Coalesce((UP, HIDDEN)), False),
        (Least((UP, HIDDEN)), False),
        (Case(((OneOf(SICK, (0,)), UP),), Nothing()), False),
        (Case(((IsNull(HIDDEN), UP),), Nothing()), False),
    ],
)
def test_which_values_are_settled(value: Value, settled: bool) -> None:
    assert span_of(value, facts_of(PEOPLE, population())).settled is settled


@pytest.mark.parametrize(
    ("relation", "steady"),
    [
        (Filter(PEOPLE, IsNull(UP)), True),
        (Filter(PEOPLE, And((Not(IsNull(UP)), IsNull(WIDE)))), True),
        (Filter(PEOPLE, IsNull(HIDDEN)), False),
        (Filter(PEOPLE, Within(UP, 4, None)), False),
        (Filter(PEOPLE, IsNull(Case(((OneOf(SICK, (0,)), UP),), WIDE))), False),
        (Filter(PerUnit(PEOPLE, ((at("t"), UnitTotal(UP)),)), IsNull(field("t"))), False),
        (Filter(Join(PEOPLE, VISITS), IsNull(UP)), True),
        (Lookup(PEOPLE, UP, (at("worth"),), ((4, 3),)), False),
    ],
)
def test_whose_presence_is_public(relation: Relation, steady: bool) -> None:
    assert facts_of(relation, population()).steady is steady


def test_presence_in_a_join_is_public_only_where_membership_is() -> None:
    confidential = population(membership=Membership.CONFIDENTIAL)
    relation = Filter(Join(PEOPLE, VISITS), IsNull(UP))
    assert not facts_of(relation, confidential).steady
    assert not facts_of(relation, {**confidential, "people": population()["people"]}).steady
    plan, moved = SETTLED["a joined count of those with it"]
    assert moved == 1
    assert sensitivities(plan, plan.measures[0], confidential).largest.l1 == 2
    found = reach(Random(randbits(48)), plan, 0, confidential, NOBODY, steps=60, starts=60)
    assert found.share_l1 == found.share_l2 == 1, str(found)


@pytest.mark.parametrize(("rows", "counted"), [(3, 3), (3, 1), (1, 2)])
def test_nothing_is_settled_where_a_unit_may_have_several_rows(rows: int, counted: int) -> None:
    cards = population(rows)
    facts = facts_of(scan(cards["people"], counted), cards)
    assert not any(span.settled for span in facts.spans.values())


# --- wrong rules ----------------------------------------------------------------------------------------------------

Patch = Callable[[pytest.MonkeyPatch], None]


def instead(name: str, wrong: Callable[..., Any]) -> Patch:
    module = calculus if hasattr(calculus, name) else sensitivity
    right = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *given, **named: wrong(right, *given, **named))


def all_settled(facts: Facts) -> Facts:
    known = {at("sick"), at("up"), at("wide")}
    spans = {column: replace(span, settled=column in known) for column, span in facts.spans.items()}
    return replace(facts, spans=spans)


def settled_case(right: Callable[..., Span], value: Value, facts: Facts) -> Span:
    span = right(value, facts)
    return replace(span, settled=True) if isinstance(value, Case) else span


def any_settled(right: Callable[..., Span], spans: list[Span]) -> Span:
    return replace(right(spans), settled=any(span.settled for span in spans))


CASE: Final = Case(((OneOf(SICK, (0,)), UP),), Nothing())
PLANTED: Final[dict[str, tuple[Patch, Plan, int]]] = {
    "settled with several rows per unit": (
        instead("_scan", lambda right, *given: all_settled(right(*given))),
        Plan(Filter(scan(CARDS["people"], 3), Not(IsNull(UP))), (), (Rows(None),)),
        3,
    ),
    "settled on the first of several rows": (
        instead("_scan", lambda right, *given: all_settled(right(*given))),
        Plan(PEOPLE, (), (Rows(UP),)),
        3,
    ),
    "several rows that are sure to add": (
        instead("_certain", lambda right, span, facts: not span.nullable or span.settled or facts.rows > 1),
        summed(HIDDEN, Join(PEOPLE, VISITS)),
        1,
    ),
    "a settled case": (
        instead("span_of", settled_case),
        summed(field("made"), Derive(PEOPLE, ((at("made"), CASE),))),
        1,
    ),
    "the presence of a case believed public": (
        instead("span_of", settled_case),
        Plan(Filter(PEOPLE, IsNull(CASE)), (), (Rows(None),)),
        1,
    ),
    "one settled operand believed to settle all": (instead("_hull", any_settled), summed(Plus((UP, HIDDEN))), 1),
    "the first settled operand believed to settle the rest": (
        instead("_hull", any_settled),
        summed(Coalesce((UP, HIDDEN))),
        1,
    ),
    "a settled value believed public": (
        instead("_read", lambda right, condition, facts: (True, right(condition, facts)[1])),
        Plan(Filter(PEOPLE, Within(UP, 6, None)), (), (Rows(None),)),
        1,
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_rule_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, plan, rows = PLANTED[name]
    cards = population(rows)
    assert attacked(plan, cards) <= 1
    plant(monkeypatch)
    assert any(attacked(plan, cards) > 1 for _ in range(30))


def attacked(plan: Plan, cards: Cards) -> Fraction:
    found = search(Random(randbits(48)), plan, 0, cards, NOBODY, steps=60, starts=2)
    return max(found.share_l1, found.share_l2)
