"""What fits under a cap: worked examples and laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.guarantees.budget import Budget
from discreet.guarantees.conversions import largest_rho, smallest_epsilon
from discreet.guarantees.types import ZCDP, ApproxDP, CentralGuarantee, PureDP
from discreet.ledger.accounting import (
    RHO_GRID,
    RHO_UNIT,
    Cap,
    Totals,
    admits,
    balance,
    caps,
    cost_of,
    require_priceable,
    rho_cap,
    weigh,
)

THREE = Cap(epsilon=3 * 10**9, delta=1000)
epsilons = st.integers(1, 5 * 10**9).map(lambda units: Decimal(units).scaleb(-9))
deltas = st.integers(1, 10**6).map(lambda units: Decimal(units).scaleb(-9))
guarantees = st.one_of(
    st.builds(lambda e: PureDP(epsilon=e), epsilons),
    st.builds(lambda r: ZCDP(rho=r), epsilons),
    st.builds(lambda r, d: ZCDP(rho=r, delta=d), epsilons, deltas),
    st.builds(lambda e, d: ApproxDP(epsilon=e, delta=d), epsilons, deltas),
)
limits = st.builds(Cap, epsilon=st.integers(1, 10**10), delta=st.integers(1, 10**7))


def total(charges: Sequence[CentralGuarantee]) -> Totals:
    return sum((weigh(charge) for charge in charges), Totals())


def converted_delta(rho: float, epsilon: float) -> float:
    """The tight conversion [CKS20, Prop. 12] by ever finer search: an independent way to the same number."""

    def log_delta(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        shrink = order * (log_excess - math.log1p(excess))
        return excess * (order * rho - epsilon) - log_excess + shrink

    best, width = 0.0, 30.0
    for _ in range(8):
        best = min((best + width * step / 50 for step in range(-50, 51)), key=log_delta)
        width /= 20
    return min(1.0, math.exp(min(0.0, log_delta(best))))


def test_a_lone_laplace_fits_under_an_approximate_budget() -> None:
    one = weigh(PureDP(epsilon=1))
    assert one.rho * RHO_UNIT == Fraction(1, 2)
    assert one.rho > rho_cap(THREE), "the filter alone would refuse it"
    assert admits(THREE, one)
    assert admits(THREE, one + one + one)
    assert not admits(THREE, one + one + one + weigh(PureDP(epsilon="1e-9")))


def test_a_charge_that_is_not_pure_closes_the_pure_route() -> None:
    gaussian = weigh(ZCDP(rho="0.1"))
    assert admits(THREE, gaussian)
    assert not admits(THREE, gaussian + weigh(PureDP(epsilon=1)))
    assert admits(THREE, gaussian + weigh(PureDP(epsilon="0.3")))


def test_deltas_of_charges_take_half() -> None:
    half = ApproxDP(epsilon="0.01", delta="5e-7")
    assert admits(THREE, weigh(half))
    assert not admits(THREE, weigh(half) + weigh(ApproxDP(epsilon="1e-9", delta="1e-9")))
    odd = Cap(epsilon=10**9, delta=1)
    assert not admits(odd, weigh(ApproxDP(epsilon="1e-9", delta="1e-9")))
    assert admits(odd, weigh(ZCDP(rho="0.001")))


def test_a_pure_cap_is_a_plain_sum() -> None:
    cap = Cap(epsilon=10**9, delta=0)
    assert admits(cap, total([PureDP(epsilon="0.1")] * 10))
    assert not admits(cap, total([PureDP(epsilon="0.1")] * 10 + [PureDP(epsilon="1e-9")]))
    assert not admits(cap, weigh(ZCDP(rho="1e-9")))
    with pytest.raises(QueryRefused, match="takes pure charges only"):
        require_priceable(cap, ZCDP(rho="1e-9"), population="cchs")


def test_analysts_have_caps_of_their_own() -> None:
    budget = Budget(epsilon=3, delta="1e-6", per_analyst=1, per_analyst_delta="1e-7")
    assert caps(budget) == (Cap(3 * 10**9, 1000), Cap(10**9, 100))


def test_costs_are_shown_exactly() -> None:
    assert cost_of(PureDP(epsilon="0.10")) == "epsilon 0.1"
    assert cost_of(ZCDP(rho="0.5")) == "rho 0.5"
    assert cost_of(ZCDP(rho="0.5", delta="1e-7")) == "rho 0.5 with delta 0.0000001"
    assert cost_of(ApproxDP(epsilon=1, delta="1e-7")) == "epsilon 1 with delta 0.0000001"


def test_a_balance_shows_rho_and_epsilon() -> None:
    shown = balance(THREE, weigh(ZCDP(rho="0.1"))).to_dict()
    assert shown["rho_spent"] == "0.1"
    assert shown["rho_cap"] == "0.175749908689"
    assert Decimal("2.1") < Decimal(str(shown["epsilon_spent"])) < Decimal("2.3")
    assert balance(Cap(10**9, 0), Totals()).to_dict()["rho_cap"] is None


@pytest.mark.parametrize(("epsilon", "delta"), [(3, "1e-6"), (1, "1e-6"), ("0.1", "1e-5"), (10, "1e-9"), (3, "0.5")])
def test_the_cap_is_the_tight_conversion(epsilon: int | str, delta: str) -> None:
    rho = largest_rho(epsilon=Fraction(epsilon), delta=Fraction(delta))
    assert converted_delta(float(rho), float(Fraction(epsilon))) <= float(delta) * (1 + 1e-6)
    beyond = float(rho) * (1 + 1e-5) + 1e-11
    assert converted_delta(beyond, float(Fraction(epsilon))) > float(delta)
    classic = Fraction(epsilon) - rho
    assert float(classic) < 2 * math.sqrt(float(rho) * math.log(1 / float(delta))), "tighter than the classic bound"


def test_extreme_parameters_have_a_cap() -> None:
    assert 0 <= largest_rho(epsilon=Fraction(1, 10**9), delta=Fraction(1, 2 * 10**9)) < Fraction(1, 10**12)
    assert 9 * 10**5 < largest_rho(epsilon=Fraction(10**6), delta=Fraction(1, 10**9)) < 10**6
    assert balance(Cap(10**15, 1), weigh(PureDP(epsilon=10**6))).rho_spent == 5 * 10**11


@given(limits, st.lists(guarantees, min_size=1, max_size=4))
def test_composition_is_order_free(cap: Cap, charges: list[CentralGuarantee]) -> None:
    sums = {total(list(order)) for order in permutations(charges)}
    assert len(sums) == 1
    assert len({admits(cap, each) for each in sums}) == 1


@given(limits, st.lists(guarantees, min_size=1, max_size=8))
def test_admission_is_monotone(cap: Cap, charges: list[CentralGuarantee]) -> None:
    if admits(cap, total(charges)):
        assert all(admits(cap, total(charges[:end])) for end in range(len(charges)))


@given(limits, st.lists(guarantees, max_size=8))
def test_nothing_beyond_the_proven_conversion_is_admitted(cap: Cap, charges: list[CentralGuarantee]) -> None:
    totals = Totals()
    for charge in charges:
        if admits(cap, totals + weigh(charge)):
            totals += weigh(charge)
    epsilon, delta = Fraction(cap.epsilon, 10**9), Fraction(cap.delta, 10**9)
    added = totals.additive and Fraction(totals.epsilon, 10**9) <= epsilon and 2 * totals.delta <= cap.delta
    filtered = totals.rho == 0 or converted_delta(
        float(totals.rho * RHO_UNIT), float(epsilon)
    ) + totals.delta * 1e-9 <= float(delta) * (1 + 1e-6)
    assert added or filtered


@given(limits, st.lists(guarantees, max_size=5))
def test_what_is_shown_is_what_is_done(cap: Cap, charges: list[CentralGuarantee]) -> None:
    totals = total(charges)
    left = balance(cap, totals).epsilon_remaining
    if left:
        assert admits(cap, totals + weigh(PureDP(epsilon=left)))
    assert not admits(cap, totals + weigh(PureDP(epsilon=left + Decimal("1e-9"))))


@given(st.integers(1, 10**13), st.integers(1, 10**8))
def test_conversions_round_against_the_optimist(epsilon_units: int, delta_units: int) -> None:
    epsilon, delta = Fraction(epsilon_units, 10**9), Fraction(delta_units, 10**9)
    rho = math.floor(largest_rho(epsilon=epsilon, delta=delta) / RHO_GRID) * RHO_GRID
    if rho:
        back = smallest_epsilon(rho=rho, delta=delta)
        assert back <= epsilon + Fraction(1, 10**9), "another order, found in floats, costs next to nothing"
        assert smallest_epsilon(rho=rho + 2 * RHO_GRID, delta=delta) > epsilon - Fraction(1, 10**6) * (1 + epsilon)


def test_approximate_charges_add_up_like_pure_ones() -> None:
    one = ApproxDP(epsilon=1, delta="1e-7")
    assert admits(THREE, total([one])), "its rho alone would be refused"
    assert admits(THREE, total([one, one, PureDP(epsilon=1)]))
    assert not admits(THREE, total([one, one, one, PureDP(epsilon="1e-9")]))
    assert not admits(THREE, total([one] * 2 + [ApproxDP(epsilon="0.1", delta="4e-7")])), "half of delta is for charges"
    assert not admits(THREE, total([one, ZCDP(rho="0.001")])), "a zCDP charge has no epsilon to add"
    assert not admits(Cap(3 * 10**9, 0), total([ApproxDP(epsilon=1, delta="1e-9")]))
