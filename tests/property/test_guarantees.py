"""Laws of guarantees: conversions never tighten, composition is order-free, roundings are honest."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    CentralGuarantee,
    Guarantee,
    PureDP,
    ceil_to_grid,
    exact,
    floor_to_grid,
)
from discreet.guarantees.composition import compose, group
from discreet.guarantees.conversions import zcdp_to_approx, zcdp_within
from discreet.guarantees.implications import approx_to_zcdp, pure_to_approx, pure_to_zcdp
from discreet.guarantees.numbers import from_units, text, to_units


def amounts(largest: int = 100) -> st.SearchStrategy[Decimal]:
    """Grid values over all magnitudes: a uniform choice would hardly ever be small."""
    whole = st.integers(min_value=1, max_value=largest * 10**9)
    small = st.integers(min_value=1, max_value=10**6)
    return st.one_of(whole, small).map(from_units)


DELTAS = st.integers(min_value=1, max_value=5 * 10**7).map(from_units)
PURE = amounts().map(lambda epsilon: PureDP(epsilon=epsilon))
APPROX = st.builds(lambda epsilon, delta: ApproxDP(epsilon=epsilon, delta=delta), amounts(), DELTAS)
CONCENTRATED = st.builds(
    lambda rho, delta: ZCDP(rho=rho, delta=delta), amounts(), st.one_of(st.just(Decimal(0)), DELTAS)
)
CENTRAL = st.one_of(PURE, APPROX, CONCENTRATED)
FEW = st.lists(CENTRAL, min_size=1, max_size=5)


def implies(stronger: CentralGuarantee, weaker: CentralGuarantee, *, slack: int = 0) -> bool:
    """Whether each parameter of `weaker` is at least that of `stronger`, of the same kind."""

    def at_most(left: Decimal, right: Decimal) -> bool:
        return to_units(left) <= to_units(right) + slack

    match stronger, weaker:
        case PureDP(), PureDP():
            return at_most(stronger.epsilon, weaker.epsilon)
        case ApproxDP(), ApproxDP():
            return at_most(stronger.epsilon, weaker.epsilon) and at_most(stronger.delta, weaker.delta)
        case ZCDP(), ZCDP():
            return at_most(stronger.rho, weaker.rho) and at_most(stronger.delta, weaker.delta)
    return False


# ── conversions ─────────────────────────────────────────────────────────────────────────────────────────────


@given(PURE, DELTAS)
def test_pure_through_zcdp_never_returns_stronger(pure: PureDP, delta: Decimal) -> None:
    # Randomised response at ε is ε-DP, so what is claimed for every ε-DP mechanism must hold for it.
    there_and_back = zcdp_to_approx(pure_to_zcdp(pure), delta=delta)
    if there_and_back.epsilon < pure.epsilon:
        assert _randomised_response_delta(pure.epsilon, there_and_back.epsilon) <= delta


@given(APPROX, DELTAS)
def test_approximate_through_zcdp_never_returns_stronger(start: ApproxDP, more: Decimal) -> None:
    delta = start.delta + more
    there_and_back = zcdp_to_approx(approx_to_zcdp(start), delta=delta)
    assert there_and_back.delta > start.delta
    if there_and_back.epsilon < start.epsilon:
        leak = _randomised_response_delta(start.epsilon, there_and_back.epsilon)
        kept = (1 - Fraction(start.delta)) * leak + Fraction(start.delta)
        assert kept <= Fraction(delta)


def _randomised_response_delta(epsilon: Decimal, claimed: Decimal) -> Fraction:
    """The least δ at which binary randomised response at `epsilon` is (claimed, δ)-DP, rounded down."""
    spread = math.exp(-float(epsilon))
    leak = (1 - spread * math.exp(float(claimed))) / (1 + spread)
    return Fraction(max(0.0, leak * (1 - 1e-12)))


@given(amounts(100), DELTAS)
def test_gaussian_noise_obeys_its_converted_guarantee(rho: Decimal, delta: Decimal) -> None:
    # Gaussian noise is exactly ρ-zCDP, and its exact δ at ε is known; the conversion must not claim less.
    epsilon = float(zcdp_to_approx(ZCDP(rho=rho), delta=delta).epsilon)
    shift = math.sqrt(2 * float(rho))

    def tail(value: float) -> float:
        return math.erfc(value / math.sqrt(2)) / 2

    first, second = tail(epsilon / shift - shift / 2), tail(epsilon / shift + shift / 2)
    assume(second > 1e-290)
    needed = first - math.exp(epsilon + math.log(second))
    assert needed <= float(delta) * (1 + 1e-6)


@given(CONCENTRATED, DELTAS, DELTAS)
def test_conversion_follows_the_order_of_guarantees(start: ZCDP, delta: Decimal, more: Decimal) -> None:
    total = start.delta + delta
    converted = zcdp_to_approx(start, delta=total)
    worse_rho = ZCDP(rho=start.rho + Decimal("1e-9"), delta=start.delta)
    assert zcdp_to_approx(worse_rho, delta=total).epsilon >= converted.epsilon
    # The order α comes from a search in floats, so two near deltas may differ by one step of the grid.
    loosened = zcdp_to_approx(start, delta=total + more).epsilon
    assert to_units(loosened) <= to_units(converted.epsilon) + 1


@given(amounts(1000), DELTAS)
def test_conversion_is_at_most_the_classic_bound(rho: Decimal, delta: Decimal) -> None:
    classic = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    assert float(zcdp_to_approx(ZCDP(rho=rho), delta=delta).epsilon) <= classic * (1 + 1e-12) + 2e-9


@given(amounts(50), DELTAS)
def test_an_allowance_of_rho_never_exceeds_its_budget(epsilon: Decimal, delta: Decimal) -> None:
    try:
        allowed = zcdp_within(epsilon=epsilon, delta=delta)
    except ParameterInvalid:
        assert zcdp_to_approx(ZCDP(rho="1e-9"), delta=delta).epsilon > epsilon
        return
    assert zcdp_to_approx(allowed, delta=delta).epsilon <= epsilon


# ── composition ─────────────────────────────────────────────────────────────────────────────────────────────


@given(FEW, st.randoms(use_true_random=False))
def test_order_does_not_matter(parts: list[CentralGuarantee], shuffler: object) -> None:
    shuffled = list(parts)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    assert compose(*parts) == compose(*shuffled)


@pytest.mark.parametrize("kind", [PURE, APPROX, CONCENTRATED])
@given(data=st.data())
def test_one_kind_composes_the_same_in_any_steps(kind: object, data: st.DataObject) -> None:
    assert isinstance(kind, st.SearchStrategy)
    first, second, third = (data.draw(kind) for _ in range(3))
    at_once = compose(first, second, third)
    assert compose(compose(first, second), third) == at_once
    assert compose(first, compose(second, third)) == at_once


@given(FEW, FEW)
def test_composing_in_steps_is_never_stronger_than_at_once(
    left: list[CentralGuarantee], right: list[CentralGuarantee]
) -> None:
    at_once = compose(*left, *right)
    in_steps = compose(compose(*left), compose(*right))
    # Converting terms rounds up once per term, converting a sum only once.
    assert implies(at_once, in_steps, slack=len(left) + len(right))


@given(CENTRAL, CENTRAL)
def test_a_composition_is_weaker_than_its_parts(first: CentralGuarantee, second: CentralGuarantee) -> None:
    assume(type(first) is type(second))
    assert implies(first, compose(first, second))


@given(PURE, st.integers(min_value=1, max_value=50))
def test_pure_group_is_the_composition_of_its_members(pure: PureDP, size: int) -> None:
    assert group(pure, size) == compose(*[pure] * size)


@given(CENTRAL)
def test_a_group_of_one_is_a_unit(start: CentralGuarantee) -> None:
    assert group(start, 1) == start


@given(st.integers(min_value=1, max_value=10**10), DELTAS, st.integers(min_value=2, max_value=8))
def test_groups_of_approximate_dp_stay_within_the_textbook_bound(epsilon_units: int, delta: Decimal, size: int) -> None:
    start = ApproxDP(epsilon=from_units(epsilon_units), delta=delta)
    textbook = size * float(delta) * math.exp((size - 1) * float(start.epsilon))
    assume(textbook < 0.99)
    grouped = group(start, size)
    assert isinstance(grouped, ApproxDP)
    assert size * delta <= grouped.delta
    assert float(grouped.delta) <= textbook * (1 + 1e-9) + 1e-9


@given(amounts(1), st.integers(min_value=1, max_value=30), st.integers(min_value=1, max_value=30))
def test_groups_of_groups_multiply(amount: Decimal, inner: int, outer: int) -> None:
    for start in (PureDP(epsilon=amount), ZCDP(rho=amount)):
        assert group(group(start, inner), outer) == group(start, inner * outer)


@given(PURE)
def test_concentrated_groups_are_no_stronger_than_pure_ones(pure: PureDP) -> None:
    assert implies(pure_to_zcdp(compose(pure, pure)), _central(group(pure_to_zcdp(pure), 2)))
    assert pure_to_approx(pure).delta == 0


def _central(guarantee: Guarantee) -> CentralGuarantee:
    assert isinstance(guarantee, PureDP | ApproxDP | ZCDP)
    return guarantee


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(min_value=1, max_value=10**15))
def test_every_grid_value_survives_its_own_text(units: int) -> None:
    value = from_units(units)
    assert exact(text(value), parameter="epsilon") == value
    assert exact(Fraction(units, 10**9), parameter="epsilon") == value
    assert to_units(value) == units


@given(st.fractions(min_value=0, max_value=1000))
def test_rounding_brackets_the_truth(value: Fraction) -> None:
    low, high = Fraction(floor_to_grid(value)), Fraction(ceil_to_grid(value))
    assert low <= value <= high
    assert high - low <= Fraction(1, 10**9)


@given(st.text(max_size=30))
def test_text_is_taken_only_as_plain_ascii_decimals(words: str) -> None:
    try:
        value = exact(words, parameter="epsilon", zero=True)
    except ParameterInvalid:
        return
    assert words.isascii()
    assert set(words) <= set("0123456789.eE+-")
    assert Fraction(value) == Fraction(words)


@given(st.floats())
def test_floats_are_taken_by_their_shortest_decimal(number: float) -> None:
    try:
        value = exact(number, parameter="epsilon")
    except ParameterInvalid:
        return
    assert Fraction(value) == Fraction(repr(number))
