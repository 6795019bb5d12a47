"""Plans as values: what identifies them, and how they are walked."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from discreet.plan.algebra import (
    And,
    Extreme,
    Field,
    Filter,
    Join,
    Key,
    Lookup,
    OneOf,
    PerUnit,
    Plan,
    Quantile,
    Rows,
    Scan,
    Tally,
    TextIn,
    Total,
    Units,
    Whole,
    Within,
    scans,
    walk,
)
from tests.algebra.generator import random_example

AGE = Field("age")
PLAN = Plan(
    Filter(Scan("people", 2), Within(AGE, 1, None)), (Key(Field("sex"), (0, 1, None)),), (Rows(None), Total(AGE))
)

CHANGES = {
    "dataset": replace(PLAN, source=Filter(Scan("others", 2), Within(AGE, 1, None))),
    "version": replace(PLAN, source=Filter(Scan("people", 2, 3), Within(AGE, 1, None))),
    "rows": replace(PLAN, source=Filter(Scan("people", 3), Within(AGE, 1, None))),
    "condition": replace(PLAN, source=Filter(Scan("people", 2), Within(AGE, None, 1))),
    "node": replace(PLAN, source=Filter(Scan("people", 2), OneOf(AGE, (1,)))),
    "no condition": replace(PLAN, source=Scan("people", 2)),
    "cells": replace(PLAN, keys=(Key(Field("sex"), (0, 1)),)),
    "open": replace(PLAN, keys=(Key(Field("sex"), None),)),
    "order of keys": replace(PLAN, keys=(Key(AGE, (1,)), *PLAN.keys)),
    "measure": replace(PLAN, measures=(Rows(None), Total(Whole(1)))),
    "measured value": replace(PLAN, measures=(Rows(AGE), Total(AGE))),
    "rank": replace(PLAN, measures=(Quantile(AGE, Fraction(1, 3)),)),
    "another rank": replace(PLAN, measures=(Quantile(AGE, Fraction(1, 2)),)),
    "largest": replace(PLAN, measures=(Extreme(AGE, largest=True),)),
    "smallest": replace(PLAN, measures=(Extreme(AGE, largest=False),)),
}


def test_whatever_is_measured_enters_the_hash() -> None:
    hashes = {plan.hash for plan in (PLAN, *CHANGES.values())}
    assert len(hashes) == len(CHANGES) + 1


def test_the_order_of_measures_does_not_enter_the_hash() -> None:
    assert replace(PLAN, measures=PLAN.measures[::-1]).hash == PLAN.hash


def test_a_hash_stays_the_same_between_runs() -> None:
    assert PLAN.hash == replace(PLAN).hash
    assert len(PLAN.hash) == 64


def test_random_plans_have_hashes_of_their_own() -> None:
    plans = [random_example(seed).plan for seed in range(300)]
    assert len({plan.hash for plan in plans}) == len(
        {(plan.source, plan.keys, frozenset(plan.measures)) for plan in plans}
    )


def test_texts_are_told_apart_in_the_hash() -> None:
    one, two = (
        Plan(Filter(Scan("people", 1), TextIn(Field("note"), texts)), (), (Units(),))
        for texts in (("a", "b"), ('a","b',))
    )
    assert one.hash != two.hash


def test_datasets_from_left_to_right() -> None:
    tally = PerUnit(Filter(Scan("visits", 3), OneOf(Field("kind"), (1,))), (("n", Tally(None)),))
    looked = Lookup(Join(Scan("people", 1), tally), Field("n"), ("worth",), ((1, 5),))
    assert [scan.dataset for scan in scans(looked)] == ["people", "visits"]
    assert Plan(looked, (), (Units(),)).dataset == "people"


def test_a_walk_meets_every_part() -> None:
    condition = And((OneOf(AGE, (1, 2)), Within(Field("height"), 0, 3)))
    assert [type(node).__name__ for node in walk(condition)] == ["And", "OneOf", "Field", "Within", "Field"]


def test_cells_are_the_product_of_closed_keys() -> None:
    assert PLAN.cell_count == 3
    assert replace(PLAN, keys=()).cell_count == 1
    assert replace(PLAN, keys=(*PLAN.keys, Key(AGE, (1, 2)))).cell_count == 6
    assert not PLAN.open
    assert CHANGES["open"].open


def test_plans_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        PLAN.keys = ()  # type: ignore[misc]
