"""What fits under a cap: worked examples and laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.guarantees.budget import Budget
from discreet.guarantees.conversions import largest_rho, smallest_epsilon
from discreet.guarantees.renyi import ORDERS
from discreet.guarantees.types import ZCDP, ApproxDP, CentralGuarantee, PureDP
from discreet.ledger.accounting import (
    RHO_GRID,
    RHO_UNIT,
    Cap,
    ChargeTotals,
    admits,
    balance,
    caps,
    cost_of,
    how_many,
    loss_limits,
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


def total(charges: Sequence[CentralGuarantee]) -> ChargeTotals:
    return sum((weigh(charge) for charge in charges), ChargeTotals())


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
    assert admits(THREE, gaussian + weigh(PureDP(epsilon="0.5")))


def test_a_little_rho_leaves_most_of_a_budget_to_pure_questions() -> None:
    mixed: list[CentralGuarantee] = [PureDP(epsilon="0.6"), ZCDP(rho="0.02")]
    left = balance(THREE, total(mixed)).epsilon_remaining
    assert Decimal("1.40") < left < Decimal("1.50"), "order 24, with an eighth of half of delta"
    assert admits(THREE, total([*mixed, PureDP(epsilon=left)]))
    assert [ORDERS[place] for place, _ in loss_limits(THREE)] == [12, 24, 48]
    earlier = [replace(weigh(charge), losses=None) for charge in mixed]
    assert not admits(THREE, sum(earlier, ChargeTotals())), "the zCDP filter alone has no room for the two"


def test_a_holder_charged_before_losses_were_recorded_keeps_the_earlier_rule() -> None:
    def old(charge: CentralGuarantee) -> ChargeTotals:
        return replace(weigh(charge), losses=None)

    gaussian = ZCDP(rho="0.1757")
    assert admits(THREE, old(gaussian)), "all of its half of delta pays for the one filter it has"
    assert not admits(THREE, weigh(gaussian))
    assert (old(gaussian) + weigh(PureDP(epsilon="0.1"))).losses is None
    assert admits(THREE, old(PureDP(epsilon=2)) + weigh(PureDP(epsilon=1))), "epsilons add up as ever"
    assert balance(THREE, old(gaussian)).to_dict()["rho_cap"] == "0.175749908689"
    assert ChargeTotals() + old(gaussian) == old(gaussian)


def randomised_response(epsilon: float, order: int) -> float:
    """Its Rényi divergence from its two probabilities, written as the definition has it."""
    odds = math.exp(epsilon)
    yes, no = odds / (1 + odds), 1 / (1 + odds)
    return math.log(yes**order * no ** (1 - order) + no**order * yes ** (1 - order)) / (order - 1)


@given(st.floats(1e-4, 0.9))
def test_a_pure_charge_loses_what_randomised_response_does(epsilon: float) -> None:
    charge = PureDP(epsilon=f"{epsilon:.9f}")
    for order, loss in zip(ORDERS, weigh(charge).losses or (), strict=True):
        lost = loss * 1e-12
        assert lost <= min(float(charge.epsilon), order * float(charge.epsilon) ** 2 / 2) + 1.1e-12
        if order * epsilon < 300:
            assert lost == pytest.approx(randomised_response(float(charge.epsilon), order), rel=1e-6, abs=2e-12)


def test_the_filters_share_half_of_delta() -> None:
    """Each converts to the cap's epsilon with a delta of its own; together these are half of the cap's."""
    epsilon, spent = 3.0, 0.0
    for place, limit in loss_limits(THREE):
        order = ORDERS[place]
        conversion = (order - 1) * (limit * 1e-12 - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)
        spent += math.exp(conversion)
    spent += converted_delta(float(rho_cap(THREE) * RHO_UNIT), epsilon)
    assert 0.999 * 5e-7 < spent <= 5e-7 * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", ["0.01", "0.03", "0.1", "0.25", "0.5"])
@pytest.mark.parametrize("cap", [THREE, Cap(10**9, 10), Cap(10**10, 10**4)])
def test_as_many_as_fit_are_within_the_budget(epsilon: str, cap: Cap) -> None:
    """Randomised response again and again: its exact delta at the cap's epsilon, from the binomial law."""
    count = how_many(cap, ChargeTotals(), weigh(PureDP(epsilon=epsilon)))
    assert admits(cap, weigh(PureDP(epsilon=epsilon)).times(count))
    assert not admits(cap, weigh(PureDP(epsilon=epsilon)).times(count + 1))
    odds, most = math.exp(float(epsilon)), cap.epsilon * 1e-9
    delta = 0.0
    for heads in range(count + 1):
        loss = (2 * heads - count) * float(epsilon)
        if loss > most:
            log_choose = math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
            chance = math.exp(log_choose + heads * math.log(odds) - count * math.log1p(odds))
            delta += chance * -math.expm1(most - loss)
    assert delta <= cap.delta * 1e-9 / 2


def test_how_many_more_is_counted_on_what_was_spent() -> None:
    spent = total([PureDP(epsilon=1)])
    assert how_many(THREE, spent, weigh(PureDP(epsilon="0.5"))) == 4
    assert how_many(THREE, spent, weigh(PureDP(epsilon=3))) == 0
    assert how_many(Cap(10**9, 0), ChargeTotals(), weigh(PureDP(epsilon="1e-9"))) == 10**9
    assert how_many(THREE, total([PureDP(epsilon=9)]), weigh(ZCDP(rho="1e-9"))) == 0, "nothing fits any more"


CHARGES: list[CentralGuarantee] = [
    PureDP(epsilon="0.01"),
    PureDP(epsilon="0.7"),
    ZCDP(rho="0.003"),
    ZCDP(rho="0.001", delta="1e-8"),
    ApproxDP(epsilon="0.05", delta="1e-8"),
]


@pytest.mark.parametrize("cap", [THREE, Cap(10**9, 0), Cap(10**9, 10), Cap(10**10, 10**4)])
@pytest.mark.parametrize("cost", CHARGES)
@pytest.mark.parametrize("known", [True, False])
def test_one_more_than_fit_does_not(cap: Cap, cost: CentralGuarantee, known: bool) -> None:
    """Whatever was spent before, also where losses were not recorded then."""
    for spent in ([], CHARGES[:1], CHARGES[1:3], CHARGES[3:], CHARGES):
        before = total(spent) if known else replace(total([*spent, CHARGES[0]]), losses=None)
        count = how_many(cap, before, weigh(cost))
        assert count == 0 or admits(cap, before + weigh(cost).times(count))
        assert not admits(cap, before + weigh(cost).times(count + 1))


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
    assert cost_of(PureDP(epsilon="0.10")).en == "epsilon 0.1"
    assert cost_of(ZCDP(rho="0.5")).en == "rho 0.5"
    assert cost_of(ZCDP(rho="0.5", delta="1e-7")).en == "rho 0.5 with delta 0.0000001"
    assert cost_of(ApproxDP(epsilon=1, delta="1e-7")).en == "epsilon 1 with delta 0.0000001"


def test_a_balance_shows_rho_and_epsilon() -> None:
    shown = balance(THREE, weigh(ZCDP(rho="0.1"))).to_dict()
    assert shown["rho_spent"] == "0.1"
    assert shown["rho_cap"] == "0.172143577999"
    assert Decimal("2.1") < Decimal(str(shown["epsilon_spent"])) < Decimal("2.3")
    assert balance(Cap(10**9, 0), ChargeTotals()).to_dict()["rho_cap"] is None


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
    totals, charged = ChargeTotals(), []
    for charge in charges:
        if admits(cap, totals + weigh(charge)):
            totals += weigh(charge)
            charged.append(charge)
    epsilon, delta = Fraction(cap.epsilon, 10**9), Fraction(cap.delta, 10**9)
    added = totals.additive and Fraction(totals.epsilon, 10**9) <= epsilon and 2 * totals.delta <= cap.delta
    filtered = totals.rho == 0 or converted_delta(
        float(totals.rho * RHO_UNIT), float(epsilon)
    ) + totals.delta * 1e-9 <= float(delta) * (1 + 1e-6)
    assert added or filtered or any(renyi_holds(order, cap, charged) for order in ORDERS)


def renyi_holds(order: int, cap: Cap, charges: Sequence[CentralGuarantee]) -> bool:
    """Whether the losses at an order, each in floats by its definition, convert to the cap with an eighth of half."""
    loss = 0.0
    for charge in charges:
        if isinstance(charge, ZCDP):
            loss += order * float(charge.rho)
        else:
            epsilon = float(charge.epsilon)
            loss += epsilon + (math.log1p(math.exp(-(2 * order - 1) * epsilon)) - math.log1p(math.exp(-epsilon))) / (
                order - 1
            )
    conversion = (order - 1) * (loss - cap.epsilon * 1e-9) - math.log(order - 1) + order * math.log1p(-1 / order)
    return conversion <= math.log(cap.delta * 1e-9 / 16) + 1e-6


@given(limits, st.lists(guarantees, max_size=5))
def test_what_is_shown_is_what_is_done(cap: Cap, charges: list[CentralGuarantee]) -> None:
    totals = total(charges)
    left = balance(cap, totals).epsilon_remaining
    if left:
        assert admits(cap, totals + weigh(PureDP(epsilon=left)))
    assert not admits(cap, totals + weigh(PureDP(epsilon=left + Decimal("1e-9"))))
    rho = (balance(cap, totals).rho_remaining or Decimal(0)).quantize(Decimal("1e-9"), ROUND_FLOOR)
    if rho:
        assert admits(cap, totals + weigh(ZCDP(rho=rho)))
    assert not admits(cap, totals + weigh(ZCDP(rho=rho + Decimal("1e-9"))))


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
    left = balance(THREE, total([one, ZCDP(rho="0.001")])).epsilon_remaining
    assert left < 2, "a zCDP charge has no epsilon to add"
    assert not admits(Cap(3 * 10**9, 0), total([ApproxDP(epsilon=1, delta="1e-9")]))
