"""Guarantees, units and budgets check themselves when built and never change."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Budget,
    Guarantee,
    LocalDP,
    Neighbours,
    PopulationTerms,
    PureDP,
    ShuffleDP,
    Unit,
    Unproven,
)

EVERY_KIND: list[Guarantee] = [
    PureDP(epsilon=1),
    ZCDP(rho=1),
    ApproxDP(epsilon=1, delta="1e-6"),
    LocalDP(epsilon=1),
    ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=4, anonymity=1000),
    ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=None, anonymity=1000),
    BootstrapDP(epsilon=1),
    Unproven("noise from a generator"),
]


@pytest.mark.parametrize("guarantee", EVERY_KIND, ids=lambda guarantee: type(guarantee).__name__)
def test_a_guarantee_is_frozen_hashable_and_says_what_it_is(guarantee: Guarantee) -> None:
    field = dataclasses.fields(guarantee)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(guarantee, field, Decimal(2))
    assert hash(guarantee) == hash(dataclasses.replace(guarantee))
    assert guarantee.differentially_private is ("not differentially private" not in str(guarantee))


def test_equal_numbers_make_equal_guarantees() -> None:
    assert PureDP(epsilon="0.10") == PureDP(epsilon=0.1)
    assert len({ZCDP(rho="1e-1"), ZCDP(rho=".1"), ZCDP(rho=0.1, delta=0)}) == 1
    assert len({*EVERY_KIND, *EVERY_KIND}) == len(EVERY_KIND)


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(ParameterInvalid):
        PureDP(epsilon=0)
    with pytest.raises(ParameterInvalid):
        ZCDP(rho=1, delta=1)
    with pytest.raises(ParameterInvalid):
        ApproxDP(epsilon=1, delta="-1e-6")
    with pytest.raises(ValueError, match="says why"):
        Unproven("  ")


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_counts_are_whole_and_positive(count: int) -> None:
    with pytest.raises(ValueError, match="rows per unit"):
        Unit(column="person_id", rows=count)
    with pytest.raises(ValueError, match="anonymity"):
        ShuffleDP(epsilon=1, delta=0, local_epsilon=1, anonymity=count)


def test_a_shuffled_report_says_what_it_promises_alone() -> None:
    alone = ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=4, anonymity=1000)
    assert str(alone).endswith("; local epsilon = 4 if the shuffler is not honest")
    bare = ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=None, anonymity=1000)
    assert str(bare).endswith("among 1000 people; nothing if the shuffler is not honest")
    with pytest.raises(ParameterInvalid):
        ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=0, anonymity=1000)


def test_a_unit_says_whom_it_protects() -> None:
    assert str(Unit(column="person_id", rows=1)) == "person_id (at most 1 row each)"
    assert str(Unit(column="person_id", rows=40)) == "person_id (at most 40 rows each)"
    with pytest.raises(ValueError, match="names its column"):
        Unit(column="", rows=1)


def test_a_budget_fills_in_the_analysts_share() -> None:
    pure = Budget(epsilon=3)
    assert pure.pure
    assert pure.per_analyst == 3
    assert pure.per_analyst_delta == 0
    approximate = Budget(epsilon=3, delta="1e-6", per_analyst=1)
    assert not approximate.pure
    assert approximate.per_analyst_delta == Decimal("0.000001")
    assert str(approximate) == "epsilon 3, delta 0.000001; per analyst epsilon 1"


def test_population_and_analysts_share_the_sort_of_budget() -> None:
    with pytest.raises(ParameterInvalid, match="per_analyst_delta"):
        Budget(epsilon=3, per_analyst_delta="1e-6")
    with pytest.raises(ParameterInvalid, match="per_analyst_delta"):
        Budget(epsilon=3, delta="1e-6", per_analyst_delta=0)


def test_terms_name_population_and_unit() -> None:
    def terms(population: str, unit_type: str) -> PopulationTerms:
        return PopulationTerms(
            population=population,
            budget=Budget(epsilon=1),
            neighbours=Neighbours.ADD_REMOVE,
            unit_column="person_id",
            unit_type=unit_type,
        )

    assert terms("cchs-2017", "integer") == terms("cchs-2017", "integer")
    with pytest.raises(ValueError, match="names"):
        terms("", "integer")
    with pytest.raises(ValueError, match="integer or text"):
        terms("cchs-2017", "float")


@pytest.mark.parametrize(
    "change", [{"neighbours": Neighbours.REPLACE_ONE}, {"unit_column": "household"}, {"unit_type": "text"}]
)
def test_terms_that_promise_something_else_are_told_apart(change: dict[str, str]) -> None:
    """A budget may change; whom it protects, and from what, may not."""
    terms = PopulationTerms(
        population="cchs-2017",
        budget=Budget(epsilon=1),
        neighbours=Neighbours.ADD_REMOVE,
        unit_column="person_id",
        unit_type="integer",
    )
    assert terms.protects_as(dataclasses.replace(terms, budget=Budget(epsilon=2)))
    assert not terms.protects_as(dataclasses.replace(terms, **change))  # type: ignore[arg-type]
