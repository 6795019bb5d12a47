"""Belief: the corrected figures of the linked-counts paper, and roundings against the optimist."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.belief import epsilon_for, odds_ratio, posterior, solve


def test_scale_thirty_and_belief_eighty_percent_allow_forty_one_queries() -> None:
    solution = solve(prior="0.5", scale=30, belief="0.8")
    assert (solution.solved_for, solution.queries) == ("queries", 41)
    assert solution.odds_ratio == 4
    assert solution.belief_reached is not None
    assert solution.belief_reached < Decimal("0.8")


def test_fifty_queries_at_scale_thirty_reach_eighty_four_percent() -> None:
    solution = solve(prior="0.5", scale=30, queries=50)
    assert solution.solved_for == "belief"
    assert Decimal("0.841") < solution.belief < Decimal("0.8412")
    assert solution.belief == solution.belief_reached
    assert solution.epsilon == Decimal("1.666666667")


def test_the_scale_that_fifty_queries_need() -> None:
    solution = solve(prior="0.5", belief="0.8", queries=50)
    assert solution.solved_for == "scale"
    assert solution.scale is not None
    assert float(solution.scale) == pytest.approx(50 / math.log(4), abs=1e-8)
    assert solve(prior="0.5", belief="0.8", scale=solution.scale).queries == 50
    assert solve(prior="0.5", belief="0.8", scale=solution.scale - Decimal("1e-9")).queries == 49


def test_the_prior_matters() -> None:
    assert posterior(epsilon="1.386294361", prior="0.95") == Decimal("0.987013")
    assert solve(prior="0.95", belief="0.987", scale=30).queries == 41
    assert solve(prior="0.05", belief="0.8", scale=30).queries == 129


def test_sensitivity_divides_the_number_of_queries() -> None:
    assert solve(prior="0.5", belief="0.8", scale=30, sensitivity=4).queries == 10
    assert solve(prior="0.5", belief="0.8", scale=30, sensitivity=100).queries == 0
    assert solve(prior="0.5", epsilon=1, queries=3, sensitivity=4).scale == 12


def test_an_exact_limit_has_an_exact_floor() -> None:
    assert solve(prior="0.5", epsilon="0.1", scale=30).queries == 3
    assert solve(prior="0.5", epsilon="0.099999999", scale=30).queries == 2


def test_beliefs_round_up_and_epsilons_down() -> None:
    assert float(posterior(epsilon=1, prior="0.5")) >= math.e / (1 + math.e)
    assert posterior(epsilon="1e-9", prior="1e-9") == Decimal("0.000001")
    assert posterior(epsilon=10**6, prior="0.5") == 1
    allowed = epsilon_for(belief="0.8", prior="0.5")
    assert float(allowed) <= math.log(4)
    assert allowed == Decimal("1.386294361")
    assert posterior(epsilon=allowed, prior="0.5") <= Decimal("0.8")


def test_odds_round_up_and_stay_short() -> None:
    assert odds_ratio(1) == Decimal("2.71828182846")
    assert float(odds_ratio("0.1")) == pytest.approx(math.exp(0.1))
    assert len(str(odds_ratio(10**6))) < 30
    huge = solve(prior="0.5", epsilon=10**6, scale=1)
    assert len(json.dumps(huge.to_dict())) < 500


def test_a_solution_prints_exact_text() -> None:
    assert solve(prior="0.5", scale=30, belief="0.8").to_dict() == {
        "solved_for": "queries",
        "prior": "0.5",
        "sensitivity": "1",
        "epsilon": "1.386294361",
        "odds_ratio": "4",
        "belief": "0.8",
        "scale": "30",
        "queries": 41,
        "epsilon_used": "1.366666667",
        "belief_reached": "0.796842",
    }


def test_belief_or_epsilon_alone_is_translated() -> None:
    from_belief = solve(prior="0.5", belief="0.8")
    assert (from_belief.solved_for, from_belief.epsilon) == ("epsilon", Decimal("1.386294361"))
    from_epsilon = solve(prior="0.1", epsilon=1)
    assert (from_epsilon.solved_for, from_epsilon.belief) == ("belief", posterior(epsilon=1, prior="0.1"))
    assert from_epsilon.to_dict()["queries"] is from_epsilon.to_dict()["belief_reached"] is None


def test_floors_are_right_where_floats_are_not() -> None:
    # The scale whose 41st query just fits, and the next smaller one on the grid.
    fits = solve(prior="0.5", belief="0.8", queries=41).scale
    assert fits is not None
    assert solve(prior="0.5", belief="0.8", scale=fits).queries == 41
    assert solve(prior="0.5", belief="0.8", scale=fits - Decimal("1e-9")).queries == 40
    # A scale of 9e11 asks for more digits of ln 4 than a float holds.
    many = solve(prior="0.5", belief="0.8", scale=9 * 10**11, sensitivity="1e-9").queries
    ln4 = Fraction("1.38629436111989061883446424291635313615100026872051")
    assert many == math.floor(9 * 10**20 * ln4)


@pytest.mark.parametrize("belief", ["0.5", "0.4", "1", "0", "-0.1", True])
def test_a_belief_not_above_the_prior_is_impossible(belief: str) -> None:
    with pytest.raises(ParameterInvalid, match="belief"):
        solve(prior="0.5", belief=belief, scale=30)
    with pytest.raises(ParameterInvalid, match="belief"):
        epsilon_for(belief=belief, prior="0.5")


def test_a_belief_hardly_above_the_prior_leaves_little_epsilon() -> None:
    # ln(odds) for prior ½ and belief ½ + 1e-9 is a little more than 4e-9; other priors leave more.
    assert epsilon_for(belief="0.500000001", prior="0.5") == Decimal("4e-9")


def test_two_of_three_must_be_given() -> None:
    for given in ({}, {"scale": 30}, {"queries": 3}):
        with pytest.raises(ParameterInvalid, match="two of"):
            solve(prior="0.5", **given)
    with pytest.raises(ParameterInvalid, match="two of"):
        solve(prior="0.5", belief="0.8", scale=30, queries=41)
    with pytest.raises(ParameterInvalid, match="without epsilon"):
        solve(prior="0.5", belief="0.8", epsilon=1, scale=30)


@pytest.mark.parametrize("queries", [0, -1, True, 1.5, pytest.param(10**5000, id="huge")])
def test_queries_are_counted_in_whole_numbers(queries: int) -> None:
    with pytest.raises(ParameterInvalid, match="queries"):
        solve(prior="0.5", belief="0.8", queries=queries)


@pytest.mark.parametrize("prior", [0, 1, "1.5", -1, float("nan")])
def test_a_prior_is_a_proper_probability(prior: float) -> None:
    with pytest.raises(ParameterInvalid, match="prior"):
        posterior(epsilon=1, prior=prior)
