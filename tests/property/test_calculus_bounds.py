"""Operator by operator: bounds that some pair of neighbours reaches, bounds known to be loose, and wrong calculi.

A bound that is reached cannot be lowered; a wrong rule is refuted by the same search that finds nothing against the
right ones.
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

from discreet.cards.card import Card, Category, Column, ColumnKind, Labels, Membership, SizeRule, WeightRule
from discreet.guarantees.budget import Budget
from discreet.guarantees.types import Neighbours, Unit
from discreet.sql import calculus, sensitivity
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Filter,
    Greatest,
    IsNull,
    Join,
    Key,
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
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
)
from discreet.sql.calculus import Caps, Span
from discreet.sql.sensitivity import Sensitivities, Sensitivity, sensitivities
from tests.algebra import neighbours
from tests.algebra.columns import at, field, scan
from tests.algebra.generator import EVERY_NODE, nodes_in
from tests.algebra.interpreter import Tables
from tests.algebra.neighbours import Found, reach, search
from tests.algebra.populations import Cards

# --- a small population ---------------------------------------------------------------------------------------------

SETTINGS: Final = {
    "add-remove": (Neighbours.ADD_REMOVE, SizeRule.PRIVATE),
    "replace-one": (Neighbours.REPLACE_ONE, SizeRule.PRIVATE),
    "replace-one, public size": (Neighbours.REPLACE_ONE, SizeRule.PUBLIC),
    "replace-one, public size, people known": (Neighbours.REPLACE_ONE, SizeRule.PUBLIC),
    "replace-one, public size, people and visits known": (Neighbours.REPLACE_ONE, SizeRule.PUBLIC),
}


def column(name: str, kind: ColumnKind, **parts: object) -> Column:
    return Column(name, kind, Labels(name, name), **parts)  # type: ignore[arg-type]


def categories(number: int) -> tuple[Category, ...]:
    return tuple(Category(str(place), Labels(str(place), str(place))) for place in range(number))


def bounds(low: int, high: int) -> tuple[Decimal, Decimal]:
    return Decimal(low), Decimal(high)


def population(setting: str, rows: int = 3) -> dict[str, Card]:
    """People with up to `rows` rows, and their visits, of which two count. One cap cuts below the weight's bounds."""
    neighbours, size = SETTINGS[setting]
    people = Card(
        dataset="people",
        title=Labels("people", "people"),
        population="everyone",
        unit=Unit("pid", rows),
        neighbours=neighbours,
        budget=Budget(epsilon=3),
        size=size,
        membership=Membership.PUBLIC if "people" in setting else Membership.CONFIDENTIAL,
        exact_public=True,
        columns=(
            column("pid", ColumnKind.ID, type="integer"),
            column("region", ColumnKind.CATEGORY, public=True, categories=categories(2)),
            column("sick", ColumnKind.CATEGORY, categories=categories(2)),
            column("age", ColumnKind.INTEGER, bounds=bounds(-3, 5)),
            column("up", ColumnKind.INTEGER, bounds=bounds(2, 7)),
            column("note", ColumnKind.TEXT),
            column("gain", ColumnKind.INTEGER),
            column("weight", ColumnKind.INTEGER, bounds=bounds(6, 20)),
        ),
        weight=WeightRule("weight", by="region", caps=(("0", Decimal(4)), ("1", Decimal(15)))),
    )
    cost = column("cost", ColumnKind.INTEGER, bounds=bounds(-1, 4))
    return {
        "people": people,
        "visits": replace(
            people,
            dataset="visits",
            unit=Unit("pid", 2),
            columns=(people.columns[0], cost),
            weight=None,
            membership=Membership.PUBLIC if "visits" in setting else Membership.CONFIDENTIAL,
        ),
    }


OTHERS: Final[Tables] = {
    "people": [
        {"pid": 1, "region": 0, "sick": 0, "age": -3, "up": 2, "note": "flu", "gain": 0, "weight": 4, "ord": order}
        for order in (1, 2, 3)
    ],
    "visits": [{"pid": 1, "cost": 4, "ord": 1}],
}
"""Somebody else: a score moves by a whole row only where it is not at its best without the unit."""


def worst(plan: Plan, cards: Cards) -> Found:
    return reach(Random(randbits(48)), plan, 0, cards, OTHERS, steps=60, starts=60)


CARDS: Final = population("add-remove")
PEOPLE: Final = scan(CARDS["people"], 3)
PEOPLE_ONCE: Final = scan(CARDS["people"], 1)
VISITS: Final = scan(CARDS["visits"], 2)
AGE, UP, SICK, REGION, NOTE, WEIGHT = (field(name) for name in ("age", "up", "sick", "region", "note", "weight"))
BY_REGION: Final = Key(REGION, (0, 1, None))
BY_SICK: Final = Key(SICK, (0, 1, None))
BY_NOTE: Final = Key(NOTE, None)
KEYS: Final[dict[str, tuple[Key, ...]]] = {
    "no key": (),
    "public key": (BY_REGION,),
    "confidential key": (BY_SICK,),
    "open key": (BY_NOTE,),
    "both": (BY_REGION, BY_SICK),
}
MEASURES: Final[dict[str, Measure]] = {
    "rows": Rows(None),
    "rows with age": Rows(AGE),
    "units": Units(),
    "total": Total(AGE),
    "total up": Total(UP),
    "total weight": Total(WEIGHT),
    "low quantile": Quantile(AGE, Fraction(1, 4)),
    "median": Quantile(AGE, Fraction(1, 2)),
    "median among few": Quantile(AGE, Fraction(1, 2), candidates=(0, 2)),
    "largest": Extreme(AGE, largest=True),
    "smallest": Extreme(AGE, largest=False),
}


def over(source: Relation, measure: Measure | None = None) -> Plan:
    return Plan(source, (), (measure or Rows(None),))


def summed(value: Value) -> Plan:
    return over(Derive(PEOPLE, ((at("made"), value),)), Total(field("made")))


VALUES: Final[dict[str, Value]] = {
    "Field": AGE,
    "Whole": Whole(-3),
    "Nothing": Nothing(),
    "Plus": Plus((AGE, UP, Whole(2))),
    "Times": Times(AGE, UP),
    "Times, a square": Times(AGE, AGE),
    "Absolute": Absolute(AGE),
    "Clamp": Clamp(AGE, -1, 4),
    "Clamp without bounds": Clamp(field("gain"), -6, 4),
    "Least": Least((AGE, UP)),
    "Least with one always there": Least((AGE, Whole(1))),
    "Greatest": Greatest((AGE, UP)),
    "Greatest with one always there": Greatest((UP, Whole(4))),
    "Coalesce": Coalesce((AGE, Whole(9))),
    "Case": Case(((OneOf(SICK, (0,)), AGE), (IsNull(SICK), UP)), Whole(11)),
}
CONDITIONS: Final[dict[str, Condition]] = {
    "OneOf": OneOf(SICK, (0,)),
    "Within": Within(AGE, 1, 2),
    "Within, public": Within(REGION, 1, None),
    "TextIn": TextIn(NOTE, ("flu",)),
    "IsNull": IsNull(AGE),
    "Not": Not(OneOf(SICK, (0,))),
    "And": And((OneOf(SICK, (0,)), Within(AGE, None, 4))),
    "Or": Or((IsNull(NOTE), OneOf(REGION, (0,)))),
}
AGGREGATES: Final[dict[str, UnitAggregate]] = {
    "Tally of rows": Tally(None),
    "Tally": Tally(AGE),
    "Tally of texts": Tally(NOTE),
    "UnitTotal": UnitTotal(AGE),
    "UnitTotal up": UnitTotal(UP),
    "Smallest": Smallest(AGE),
    "Largest": Largest(AGE),
}
RELATIONS: Final = {
    "Scan of fewer rows": over(scan(CARDS["people"], 2)),
    "Join": over(Join(PEOPLE, VISITS)),
    "Join, summed": over(Join(PEOPLE, VISITS), Total(Times(AGE, field("cost")))),
    "Join of a filtered side": over(Join(PEOPLE, Filter(VISITS, Within(field("cost"), 0, 2))), Total(field("cost"))),
    "Join of a side per unit": over(
        Join(PEOPLE, PerUnit(VISITS, ((at("n"), UnitTotal(field("cost"))),))), Total(field("n"))
    ),
    "Join of a side per unit, counted": over(Join(PEOPLE, PerUnit(VISITS, ((at("n"), Tally(None)),)))),
    "Lookup by what is confidential": over(Lookup(PEOPLE, SICK, (at("worth"),), ((0, -2), (1, 6)))),
    "Lookup, summed": over(Lookup(PEOPLE, SICK, (at("worth"),), ((0, -2), (1, 6))), Total(field("worth"))),
    "Lookup by what is public": over(Lookup(PEOPLE, REGION, (at("worth"),), ((0, 2), (1, 2)))),
    "PerUnit of filtered rows": over(
        PerUnit(Filter(PEOPLE, OneOf(SICK, (0,))), ((at("n"), Tally(None)),)), Total(field("n"))
    ),
}
MARGINS: Final = {
    f"margin {kept}, {measure}": Plan(PEOPLE, (BY_REGION, BY_SICK), (Marginal(MEASURES[measure], kept),))  # type: ignore[arg-type]
    for kept in ((), (0,), (1,), (0, 1))
    for measure in ("rows", "total", "total weight")
}
RESIDUALS: Final[dict[str, tuple[Plan, tuple[str, ...]]]] = {
    "of one key": (Plan(PEOPLE, (BY_SICK,), (Residual(Rows(None), (0,)),)), ("add-remove", "replace-one")),
    "of a key in the margin": (
        Plan(PEOPLE, (BY_REGION, BY_SICK), (Residual(Rows(None), (1,)),)),
        ("add-remove", "replace-one"),
    ),
    "of two keys": (Plan(PEOPLE, (BY_REGION, BY_SICK), (Residual(Total(UP), (0, 1)),)), ("add-remove",)),
    "beside a whole key": (
        Plan(PEOPLE, (BY_REGION, BY_SICK), (Residual(Total(WEIGHT), (0, 1), whole=(0,)),)),
        ("add-remove",),
    ),
}
TIGHT: Final = {
    **MARGINS,
    **{f"{key}, {measure}": Plan(PEOPLE, KEYS[key], (MEASURES[measure],)) for key in KEYS for measure in MEASURES},
    **{name: summed(value) for name, value in VALUES.items()},
    **{name: over(Filter(PEOPLE, where), Total(UP)) for name, where in CONDITIONS.items()},
    **{
        name: over(PerUnit(PEOPLE, ((at("n"), aggregate),)), Total(field("n")))
        for name, aggregate in AGGREGATES.items()
    },
    **RELATIONS,
}


# Who is known to be in a dataset matters where datasets are joined.
REACHED: Final = [
    (name, setting) for name in TIGHT for setting in SETTINGS if "known" not in setting or name.startswith("Join")
]


@pytest.mark.parametrize(("name", "setting"), REACHED)
def test_some_pair_reaches_the_bound(name: str, setting: str) -> None:
    cards = population(setting)
    plan = TIGHT[name]
    found = worst(plan, cards)
    if sensitivities(plan, plan.measures[0], cards).largest.l1 == 0:
        assert found.l1 == 0
    else:
        assert found.share_l1 == 1, str(found)
        assert found.share_l2 == 1, str(found)


@pytest.mark.parametrize("name", RESIDUALS)
def test_some_pair_reaches_the_l2_bound_of_residuals(name: str) -> None:
    plan, settings = RESIDUALS[name]
    for setting in settings:
        found = worst(plan, population(setting))
        assert found.share_l2 == 1, f"{setting}: {found}"


def test_every_node_has_a_bound_that_is_reached() -> None:
    plans = [*TIGHT.values(), *(plan for plan, _ in RESIDUALS.values())]
    assert frozenset[str]().union(*(nodes_in(plan) for plan in plans)) == EVERY_NODE


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("no key, rows", "replace-one, public size"),
        ("public key, units", "replace-one, public size"),
        ("Lookup by what is public", "replace-one, public size"),
    ],
)
def test_what_is_public_does_not_move(name: str, setting: str) -> None:
    """Not a bound of convenience: with one row per unit nothing here depends on what is confidential."""
    cards = population(setting, rows=1)
    plan = replace(TIGHT[name], source=with_rows(TIGHT[name].source, 1))
    assert sensitivities(plan, plan.measures[0], cards).largest.l1 == 0
    assert worst(plan, cards).l1 == 0


def with_rows(source: Relation, rows: int) -> Relation:
    return replace(source, source=PEOPLE_ONCE) if isinstance(source, Lookup) else scan(CARDS["people"], rows)


# --- known to be loose ----------------------------------------------------------------------------------------------

NEVER: Final = And((OneOf(SICK, (0,)), OneOf(SICK, (1,))))
LOOSE: Final[dict[str, tuple[Plan, str, int, int]]] = {
    "x - x: intervals forget that both are one value": (
        summed(Plus((AGE, Times(Whole(-1), AGE)))),
        "add-remove",
        0,
        24,
    ),
    "x * (x + 1): intervals forget that the factors move together": (
        summed(Times(AGE, Plus((AGE, Whole(1))))),
        "replace-one",
        90,
        144,
    ),
    "CASE: a condition on x does not narrow x in its branch": (
        summed(Case(((Within(AGE, 0, None), AGE),), Nothing())),
        "replace-one",
        15,
        24,
    ),
    "conditions that exclude each other": (over(Filter(PEOPLE, NEVER)), "add-remove", 0, 3),
    "a confidential key of which one cell is left": (
        Plan(Filter(PEOPLE, OneOf(SICK, (0,))), (BY_SICK,), (Rows(None),)),
        "replace-one",
        3,
        6,
    ),
    "a public value, summed over one row of each of a public number of units": (
        over(PEOPLE_ONCE, Total(Coalesce((REGION, Whole(0))))),
        "replace-one, public size",
        0,
        1,
    ),
    "TALLY of a value that is always there": (
        over(PerUnit(PEOPLE, ((at("n"), Tally(Whole(1))),)), Total(field("n"))),
        "replace-one, public size",
        2,
        3,
    ),
}


@pytest.mark.parametrize("name", LOOSE)
def test_known_to_be_loose(name: str) -> None:
    plan, setting, moved, bound = LOOSE[name]
    cards = population(setting)
    assert sensitivities(plan, plan.measures[0], cards).largest.l1 == bound
    assert search(Random(randbits(48)), plan, 0, cards, OTHERS, steps=60, starts=12).l1 == moved


def test_a_sum_does_not_tell_how_many_add_unless_the_card_says_so() -> None:
    """Not tight: without `exact_public` a sum is bounded as if whoever adds to it could be absent."""
    plan = over(PEOPLE_ONCE, Total(Coalesce((UP, Whole(4)))))
    told = population("replace-one, public size", rows=1)
    hidden = {name: replace(card, exact_public=False) for name, card in told.items()}
    for cards, bound in ((told, 5), (hidden, 7)):
        assert sensitivities(plan, plan.measures[0], cards).largest.l1 == bound
        assert search(Random(randbits(48)), plan, 0, cards, OTHERS, steps=60, starts=12).l1 == 5


# --- wrong calculi --------------------------------------------------------------------------------------------------

Patch = Callable[[pytest.MonkeyPatch], None]


def instead(name: str, wrong: Callable[..., Any]) -> Patch:
    """The rule of that name replaced by one that is given the right rule and its arguments."""
    module = calculus if hasattr(calculus, name) else sensitivity
    right = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *given, **named: wrong(right, *given, **named))


def by_moves_alone(found: Sensitivity) -> Sensitivity:
    return replace(found, squared_l2=found.l1**2 / 2)


def uncut(span: Span, column: Column) -> Span:
    return replace(span, low=column.low_units) if column.name == "weight" else span


def merged(patch: pytest.MonkeyPatch) -> None:
    def wrong(plan: Plan, measure: Measure, cards: Cards) -> Sensitivities:
        found = sensitivities(plan, measure, cards)
        return found if len({one.l1 for one in found.each}) > 1 else Sensitivities(None, found.each[:1])

    patch.setattr(neighbours, "sensitivities", wrong)


PLANTED: Final[dict[str, tuple[Patch, Plan, str]]] = {
    "one row per unit": (
        instead("_scan", lambda right, *given: replace(right(*given), rows=1)),
        over(PEOPLE),
        "add-remove",
    ),
    "rows of the card, not of the scan": (
        instead("_scan", lambda right, card, one: right(card, replace(one, rows=min(one.rows, card.unit.rows)))),
        over(scan(CARDS["people"], 5)),
        "add-remove",
    ),
    "NULL ignored": (
        instead("_column_span", lambda right, *given: replace(right(*given), nullable=False)),
        over(PEOPLE, Total(UP)),
        "replace-one, public size",
    ),
    "a filter believed public": (
        instead("_filter", lambda right, below, where: replace(right(below, where), steady=below.steady)),
        over(Filter(PEOPLE, OneOf(SICK, (0,)))),
        "replace-one, public size",
    ),
    "a confidential key of a public table believed public": (
        instead("_lookup", lambda right, below, lookup: replace(right(below, lookup), steady=below.steady)),
        RELATIONS["Lookup by what is confidential"],
        "replace-one, public size",
    ),
    "replace-one priced as add-remove": (
        instead("_sensitivity", lambda right, *given: right(*given[:3], Neighbours.ADD_REMOVE)),
        Plan(PEOPLE, (BY_SICK,), (Rows(None),)),
        "replace-one",
    ),
    "replace-one priced as add-remove, scores": (
        instead("_sensitivity", lambda right, *given: right(*given[:3], Neighbours.ADD_REMOVE)),
        Plan(PEOPLE, (), (Quantile(AGE, Fraction(1, 2)),)),
        "replace-one",
    ),
    "rows believed to stay in their cell": (
        instead(
            "_units", lambda right, plan, facts, relation, _: right(replace(plan, keys=()), facts, relation, False)
        ),
        Plan(PEOPLE, (BY_SICK,), (Units(),)),
        "add-remove",
    ),
    "the cap of the wrong category": (
        lambda patch: patch.setattr(Caps, "highest", lambda caps, possible: min(caps.each)),
        Plan(PEOPLE, (BY_REGION,), (Total(WEIGHT),)),
        "add-remove",
    ),
    "cells merged that agree in l1 alone": (
        merged,
        Plan(PEOPLE, (BY_REGION, BY_SICK), (Total(Plus((WEIGHT, Whole(-10)))),)),
        "replace-one",
    ),
    "l2 of moving rows without their width": (
        instead("_moved", lambda right, *given: by_moves_alone(right(*given))),
        Plan(PEOPLE, (BY_SICK,), (Total(AGE),)),
        "replace-one",
    ),
    "joins that add rows": (
        instead(
            "_join", lambda right, one, two, known: replace(right(one, two, known=known), rows=one.rows + two.rows)
        ),
        RELATIONS["Join"],
        "add-remove",
    ),
    "who is in datasets of public size believed public": (
        instead("_join", lambda right, one, two, known: right(one, two, known=True)),
        RELATIONS["Join"],
        "replace-one, public size",
    ),
    "who is in both believed public because it is of one": (
        instead("_join", lambda right, one, two, known: right(one, two, known=True)),
        RELATIONS["Join of a side per unit, counted"],
        "replace-one, public size, people known",
    ),
    "LEAST limited by what may be NULL": (
        instead(
            "_chosen", lambda right, spans, least: right([replace(one, nullable=False) for one in spans], least=least)
        ),
        summed(VALUES["Least"]),
        "add-remove",
    ),
    "the tally of a unit believed public": (
        instead("_per_unit", lambda right, *given: replace(right(*given), public=True)),
        Plan(PerUnit(PEOPLE, ((at("n"), Tally(None)),)), (Key(field("n"), (1, 2, 3)),), (Rows(None),)),
        "replace-one",
    ),
    "weights never below their lower bound": (
        instead("_column_span", lambda right, card, column, among: uncut(right(card, column, among), column)),
        over(Filter(PEOPLE_ONCE, OneOf(REGION, (0,))), Total(Coalesce((WEIGHT, Whole(9))))),
        "replace-one, public size",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_rule_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, plan, setting = PLANTED[name]
    cards = population(setting)
    for _ in range(3):
        assert attacked(plan, cards) <= 1
    plant(monkeypatch)
    assert any(attacked(plan, cards) > 1 for _ in range(30))


def attacked(plan: Plan, cards: Cards) -> Fraction:
    """The largest share of a bound that a short search finds."""
    found = search(Random(randbits(48)), plan, 0, cards, OTHERS, steps=60, starts=2)
    return max(found.share_l1, found.share_l2)
