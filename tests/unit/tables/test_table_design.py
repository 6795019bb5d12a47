"""What is measured of a table: decided before any row is looked at, and paid for to the last digit."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees.types import ZCDP, PureDP
from discreet.ledger.accounting import RHO_UNIT, caps, rho_cap
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.sql.algebra import Marginal, Residual, Rows
from discreet.sql.serialisation import plan_hash
from discreet.tables.linear.margin_strategies import choose_strategy
from tests.unit.tables.office import CARD, POPULATION, Office, open_office


def test_without_margins_the_cells_alone_are_measured(reading_room: Office) -> None:
    design = reading_room.design("region,smokes", margins=False)
    assert design.statement.plan == design.formed.plan
    assert design.shares == (Decimal(1),)
    assert design.price().guarantee == PureDP(epsilon=1)


def test_margins_are_measured_beside_the_cells_where_that_errs_less(reading_room: Office) -> None:
    design = reading_room.design("region,smokes,age")
    assert design.components[0].chosen.name == "weighted"
    measures = design.statement.plan.measures
    assert measures[0] == Rows(None)
    assert measures[-1] == Marginal(Rows(None), ())
    assert [face.text for face in design.statement.measures][-1] == "COUNT(*) by all"
    assert plan_hash(design.statement.plan) != plan_hash(design.formed.plan)


@pytest.mark.parametrize("epsilon", ["1", "0.1", "0.333333333", "0.000001001", "999999.999999999"])
@pytest.mark.parametrize("mean", [False, True])
def test_shares_add_up_to_what_is_charged(reading_room: Office, epsilon: str, mean: bool) -> None:
    options = {"value": "height", "mean": True} if mean else {}
    design = reading_room.design("region,smokes,age", epsilon=epsilon, **options)
    assert sum(design.shares) == Decimal(epsilon)
    pricing = design.price()
    assert pricing.guarantee == PureDP(epsilon=epsilon)
    assert sum(one.epsilon for one in pricing.measures) == Decimal(epsilon)


def test_what_is_too_little_to_be_shared_goes_to_the_cells(reading_room: Office) -> None:
    design = reading_room.design("region,smokes,age", epsilon="0.000000002")
    assert design.components[0].chosen.name == "cells"
    assert design.shares == (Decimal("0.000000002"),)


def test_rho_that_is_too_little_to_be_shared_leaves_laplace_noise(generous_room: Office) -> None:
    design = generous_room.design("region,smokes,age", epsilon="0.0001")
    assert sum(design.shares) == (design.epsilon if design.rho is None else design.rho)
    assert all(design.shares)


def test_a_share_below_the_grid_is_refused(reading_room: Office) -> None:
    with pytest.raises(QueryRefused, match=r"epsilon 0\.000000003 is too small.*share"):
        reading_room.design("region,smokes,age", epsilon="0.000000003", value="height", mean=True)


def test_most_of_a_mean_goes_to_its_total(reading_room: Office) -> None:
    design = reading_room.design("smokes", value="height", mean=True, margins=False)
    assert [one.part for one in design.components] == [Fraction(3, 4), Fraction(1, 4)]
    assert design.shares == (Decimal("0.75"), Decimal("0.25"))


@pytest.mark.parametrize("by", ["region", "region,smokes", "region,smokes,age,grade"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_chosen_strategy_is_the_best_there_is(generous_room: Office, by: str, weighted: bool) -> None:
    for noise in ("auto", "laplace", "gaussian"):
        component = generous_room.design(by, noise=noise, weighted=weighted, epsilon="0.5").components[0]
        offered = [one for one in component.strategies if noise in ("auto", one.noise)]
        assert component.chosen == choose_strategy(offered)
        assert all(component.chosen.mean <= one.mean * (1 + 1e-9) for one in offered)


# --- slices -----------------------------------------------------------------------------------------------------------


def test_caps_by_a_key_give_each_of_its_slices_noise_of_its_own(reading_room: Office) -> None:
    component = reading_room.design("smokes,region", weighted=True).components[0]
    assert component.layout.slicing == 1
    assert reading_room.design("smokes,region").components[0].layout.slicing is None
    assert reading_room.design("smokes,age", weighted=True).components[0].layout.slicing is None


def test_slices_are_priced_by_their_caps(reading_room: Office) -> None:
    design = reading_room.design("smokes,region", weighted=True, margins=False)
    priced = design.price().measures[0]
    assert [one.l1 for one in priced.sensitivities.each] == [5, 20, 20]
    assert priced.sensitivities.key == 1


# --- kinds of noise ---------------------------------------------------------------------------------------------------


def test_a_pure_budget_has_laplace_noise_alone(reading_room: Office) -> None:
    design = reading_room.design("region,smokes")
    assert {one.noise for one in design.components[0].strategies} == {"laplace"}
    with pytest.raises(ParameterInvalid, match="pure budget"):
        reading_room.design("region,smokes", noise="gaussian")
    with pytest.raises(ParameterInvalid, match="one of auto, laplace, gaussian"):
        reading_room.design("region,smokes", noise="uniform")


def test_gaussian_noise_weighs_as_much_as_the_pure_answer(generous_room: Office) -> None:
    design = generous_room.design("region,smokes,age", epsilon="0.1")
    assert design.rho == Decimal("0.005")
    assert sum(design.shares) == Decimal("0.005")
    pricing = design.price()
    assert pricing.guarantee == ZCDP(rho="0.005")
    assert {one.noise for one in design.components[0].strategies} == {"laplace", "gaussian"}
    assert all(isinstance(one, DiscreteGaussian) for priced in pricing.measures for one in priced.mechanisms)
    assert any(isinstance(one, Residual | Marginal) for one in design.statement.plan.measures)


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "5"])
def test_gaussian_noise_takes_no_larger_part_of_the_budget(generous_room: Office, epsilon: str) -> None:
    design = generous_room.design("region,smokes", epsilon=epsilon, noise="gaussian")
    terms = generous_room.session.ledger.terms(POPULATION).budget
    whole = min(rho_cap(cap) for cap in caps(terms)) * RHO_UNIT
    assert design.rho is not None
    assert Fraction(design.rho) <= min(Fraction(epsilon) ** 2 / 2, whole * Fraction(epsilon) / Fraction(terms.epsilon))


def test_noise_may_be_chosen_by_name(generous_room: Office) -> None:
    laplace = generous_room.design("region,smokes,age", epsilon="0.5", noise="laplace")
    assert laplace.rho is None
    assert laplace.price().guarantee == PureDP(epsilon="0.5")
    assert all(isinstance(one, DiscreteLaplace) for priced in laplace.price().measures for one in priced.mechanisms)
    named = generous_room.design("region,smokes,age", epsilon="0.5", noise="gaussian")
    assert named == generous_room.design("region,smokes,age", epsilon="0.5")


def test_where_laplace_noise_errs_less_it_is_taken(generous_room: Office) -> None:
    assert generous_room.design("region,smokes,age", epsilon="9").rho is None


def test_an_epsilon_too_small_for_gaussian_noise_stays_laplace(generous_room: Office) -> None:
    assert generous_room.design("region", epsilon="0.00001").rho is None
    with pytest.raises(ParameterInvalid, match="at least"):
        generous_room.design("region", epsilon="0.00001", noise="gaussian")


def test_both_parts_of_a_mean_have_one_kind_of_noise(generous_room: Office) -> None:
    design = generous_room.design("region,smokes", value="height", mean=True, weighted=True, epsilon="0.5")
    assert len({one.chosen.noise for one in design.components}) == 1
    assert design.rho is not None


# --- what nobody can move ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_fixed_by_what_is_public_is_not_a_table(tmp_path: Path, exact: bool) -> None:
    fixed = CARD.replace("neighbours: add-remove", "neighbours: replace-one\nsize: public")
    with open_office(tmp_path, fixed + "exact_public: true\n" if exact else fixed) as office:
        before = office.head
        with pytest.raises(QueryRefused, match="discreet query" if exact else "exact_public"):
            office.table("region")
        assert office.head == before
        # what people say for themselves still needs noise
        assert office.design("region,smokes").price().measures[0].sensitivities.largest.l1 == 2
