"""Laws of belief: the solver's three answers agree with each other, and never please the optimist."""

from __future__ import annotations

import math
from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.guarantees.belief import epsilon_for, odds_ratio, posterior, solve
from discreet.guarantees.numbers import from_units

PROBABILITIES = st.integers(min_value=10**6, max_value=10**9 - 10**6).map(from_units)
EPSILONS = st.integers(min_value=1, max_value=20 * 10**9).map(from_units)
SCALES = st.integers(min_value=1, max_value=10**13).map(from_units)
SENSITIVITIES = st.integers(min_value=10**6, max_value=10**12).map(from_units)


@given(EPSILONS, PROBABILITIES)
def test_posterior_is_rounded_up_and_never_below_the_prior(epsilon: Decimal, prior: Decimal) -> None:
    odds = math.exp(float(epsilon)) * float(prior)
    truth = odds / (1 - float(prior) + odds)
    stated = posterior(epsilon=epsilon, prior=prior)
    assert prior <= stated <= 1
    assert truth - 1e-12 <= float(stated) <= truth + 1.1e-6
    assert float(odds_ratio(epsilon)) >= math.exp(float(epsilon)) * (1 - 1e-13)


@given(PROBABILITIES, PROBABILITIES)
def test_an_allowed_epsilon_keeps_the_belief(belief: Decimal, prior: Decimal) -> None:
    assume(belief - prior > Decimal("1e-6"))
    epsilon = epsilon_for(belief=belief, prior=prior)
    assert posterior(epsilon=epsilon, prior=prior) <= belief.quantize(Decimal("1e-6"), rounding="ROUND_CEILING")
    # One step more of the grid is too much: the allowance is not needlessly small either.
    truth = math.log(float(belief) / (1 - float(belief))) - math.log(float(prior) / (1 - float(prior)))
    assert truth - 2e-9 < float(epsilon) < truth + 1e-9


@given(PROBABILITIES, PROBABILITIES, SCALES, SENSITIVITIES)
def test_the_queries_allowed_fit_and_one_more_does_not(
    belief: Decimal, prior: Decimal, scale: Decimal, sensitivity: Decimal
) -> None:
    assume(belief - prior > Decimal("1e-6"))
    solution = solve(prior=prior, belief=belief, scale=scale, sensitivity=sensitivity)
    limit = math.log(float(belief) / (1 - float(belief))) - math.log(float(prior) / (1 - float(prior)))
    steps = limit * float(scale) / float(sensitivity)
    assert solution.queries is not None
    assert solution.belief_reached is not None
    assert steps - 1 - 1e-6 * (1 + steps) <= solution.queries <= steps + 1e-6 * (1 + steps)
    assert solution.belief_reached <= belief.quantize(Decimal("1e-6"), rounding="ROUND_CEILING")


@given(EPSILONS, PROBABILITIES, st.integers(min_value=1, max_value=10**6), SENSITIVITIES)
def test_the_solved_scale_allows_exactly_the_queries_asked(
    epsilon: Decimal, prior: Decimal, queries: int, sensitivity: Decimal
) -> None:
    assume(queries * sensitivity < 10**11 * epsilon)
    # Scales are rounded up to the grid; where one step of it is worth a query, more may fit.
    assume(queries * Decimal("1e-8") < queries * sensitivity / epsilon / queries)
    solution = solve(prior=prior, epsilon=epsilon, queries=queries, sensitivity=sensitivity)
    again = solve(prior=prior, epsilon=epsilon, scale=solution.scale, sensitivity=sensitivity)
    assert again.queries is not None
    assert again.queries >= queries
    back = solve(prior=prior, queries=queries, scale=solution.scale, sensitivity=sensitivity)
    assert back.epsilon <= epsilon
    assert back.belief <= solution.belief
