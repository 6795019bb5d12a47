"""The corrected figures of docs/errata.md, computed anew."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.guarantees import PureDP, text
from discreet.guarantees.belief import posterior, solve
from discreet.guarantees.composition import compose
from tests.places import DOCS

PAGE = (DOCS / "errata.md").read_text("utf-8")


def answers_at_belief() -> str:
    return f"⌊30·ln 4⌋ = {solve(prior='0.5', scale=30, belief='0.8').queries}"


def belief_of_fifty() -> str:
    belief = solve(prior="0.5", scale=30, queries=50).belief
    return f"With 50 the belief reaches {belief:.3f}".replace("0.", ".")


def belief_from_strong_prior() -> str:
    belief = posterior(epsilon=f"{math.log(4):.9f}", prior="0.95")
    return f"with param = 4 and π = .95 it is {belief:.3f}".replace(" 0.", " .")


def cost_of_three_thousand() -> str:
    solution = solve(prior="0.5", scale=30, queries=3000)
    return f"3,000 queries at scale 30 cost ε = {text(solution.epsilon)}"


def secret_from_one_seed() -> str:
    secret = (10 * Decimal("67036.76") - Decimal("62028.67")) / 9
    return f"(10·67,036.76 − 62,028.67)/9 = {secret:,.2f}"


def raw_randomised_share() -> str:
    channel = GeneralisedResponse(epsilon="0.6", categories=2).channel()
    return f"a true share of 15% of a yes/no question shows as {100 * (0.15 * channel.p + 0.85 * channel.q):.1f}%"


def hidden_cost_of_ten_categories() -> str:
    kept = math.e / (1 + math.e)
    real = math.log(kept / ((1 - kept) / 9))
    return f"for 10 categories, {real - 1:.2f} more than claimed"


def wrapped_height() -> str:
    low, high = Decimal("1.2"), Decimal("2.1")
    return f"1.70 becomes {Decimal('1.70') % (high - low) + low}"


def moving_farm() -> str:
    return f"17,610 + 14,520 = {17_610 + 14_520:,}"


def ten_columns() -> str:
    return f"A person with ten columns has lost {text(compose(*[PureDP(epsilon=1)] * 10).epsilon)}·ε."


FIGURES = [
    answers_at_belief,
    belief_of_fifty,
    belief_from_strong_prior,
    cost_of_three_thousand,
    secret_from_one_seed,
    raw_randomised_share,
    hidden_cost_of_ten_categories,
    wrapped_height,
    moving_farm,
    ten_columns,
]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_a_corrected_figure_stands_on_the_page(figure: object) -> None:
    assert callable(figure)
    assert figure() in PAGE


def test_every_document_has_its_part() -> None:
    for key in "RTLBP":
        assert f"\n## {key}: " in PAGE
