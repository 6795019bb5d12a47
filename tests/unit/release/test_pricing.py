"""Prices: epsilon is split to the last unit, noise follows the sensitivity, open keys pay with a delta."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees.types import ApproxDP, PureDP
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.release.measurement.pricing import MeasurePrice, price
from discreet.sql.algebra import Extreme, Nothing, Quantile, Rows, Total, Value
from discreet.sql.outputs import Mean, Noted, Output, ShownColumn
from discreet.sql.reader.centres import TOTAL_OF_MEAN
from discreet.sql.statement import Statement
from tests.algebra.columns import field
from tests.unit.release.statements import BY_PROVINCE, BY_TOWN, COUNT, SUM, UNITS, WEIGHTS, make_card, make_statement

CARDS = {"t": make_card()}


@settings(deadline=None)
@given(units=st.integers(3, 10**12), count=st.integers(1, 3))
def test_shares_add_up_to_epsilon_exactly_and_the_last_gets_the_rest(units: int, count: int) -> None:
    epsilon = Decimal(units).scaleb(-9)
    measures = (COUNT, SUM, Rows(field("x")))[:count]
    pricing = price(make_statement(*measures), CARDS, epsilon=epsilon)
    shares = [one.epsilon for one in pricing.measures]
    assert sum(shares) == epsilon
    assert len(set(shares[:-1])) <= 1
    assert Decimal(0) <= shares[-1] - shares[0] < Decimal(count).scaleb(-9)
    assert pricing.guarantee == PureDP(epsilon=epsilon)


def averaging(*more: Output) -> Statement:
    """A statement that shows AVG(x), and perhaps something else of the same two measures."""
    statement = make_statement(SUM, COUNT)
    one, none = Fraction(1), Fraction(0)
    mean = Mean(0, 1, total_step=one, size_step=one, centre=none, floor=one, low=-one, high=one)
    columns = tuple(ShownColumn(f"c{place}", shown) for place, shown in enumerate((mean, *more)))
    return replace(statement, presentation=replace(statement.presentation, columns=columns))


@settings(deadline=None)
@given(units=st.integers(2, 10**12))
def test_the_total_of_a_mean_gets_three_quarters(units: int) -> None:
    epsilon = Decimal(units).scaleb(-9)
    total, size = (one.epsilon for one in price(averaging(), CARDS, epsilon=epsilon).measures)
    assert total + size == epsilon
    assert size >= Decimal("1e-9")
    assert 0 <= epsilon - 4 * size < Decimal("4e-9") or size == Decimal("1e-9")


def test_a_statement_may_show_nothing_but_its_keys() -> None:
    assert price(make_statement(UNITS, outputs=()), CARDS, epsilon=Decimal(1)).measures[0].epsilon == 1


def test_a_mean_beside_something_else_shares_evenly() -> None:
    statement = averaging(Noted(1, Fraction(1)))
    assert [one.epsilon for one in price(statement, CARDS, epsilon=Decimal(1)).measures] == [Decimal("0.5")] * 2


@pytest.mark.parametrize("total", [Fraction(1, 2), Fraction(7, 10), TOTAL_OF_MEAN, Fraction(4, 5)])
def test_no_other_parts_keep_a_mean_as_near_to_the_best(total: Fraction) -> None:
    """docs/proofs/mean.md: how much wider than with the best parts, wherever in its bounds the mean lies."""
    worst = max((1 / total + (r / 100) / (1 - total)) / (1 + (r / 100) ** 0.5) ** 2 for r in range(101))
    assert (worst <= 4 / 3 + 1e-12) == (total == TOTAL_OF_MEAN)


def test_a_share_below_the_grid_is_refused() -> None:
    with pytest.raises(QueryRefused, match="shared by 2 measures"):
        price(make_statement(COUNT, SUM), CARDS, epsilon=Decimal("1e-9"))


def test_noise_follows_the_sensitivity() -> None:
    pricing = price(make_statement(COUNT, SUM), CARDS, epsilon=Decimal(2))
    assert [one.mechanisms for one in pricing.measures] == [
        (DiscreteLaplace(scale=Fraction(3)),),
        (DiscreteLaplace(scale=Fraction(60)),),
    ]


def test_caps_by_a_public_key_give_each_of_its_cells_a_scale_of_its_own() -> None:
    found = price(make_statement(WEIGHTS, keys=(BY_PROVINCE,)), CARDS, epsilon=Decimal(1)).measures[0]
    assert found.sensitivities.key == 0
    assert [one.scale for one in found.mechanisms if isinstance(one, DiscreteLaplace)] == [30, 120, 120]


def test_quantiles_and_extremes_are_chosen_among_all_values_of_the_column() -> None:
    ends = (-5, 20)
    median, most = Quantile(field("x"), Fraction(1, 2), ends), Extreme(field("x"), largest=True, candidates=ends)
    priced = price(make_statement(median, most), CARDS, epsilon=Decimal(3)).measures
    assert [one.candidates for one in priced] == [(-5, 20), (-5, 20)]
    assert priced[0].candidate_count == 26
    # rate = share / (2 * sensitivity): 1.5 / (2 * 3 * 1/2) and 1.5 / (2 * 3)
    assert [one.mechanisms for one in priced] == [(NoisyMax(rate=Fraction(1, 2)),), (NoisyMax(rate=Fraction(1, 4)),)]


@pytest.mark.parametrize("value", [field("x"), Nothing()], ids=["a column", "nothing"])
def test_values_as_they_are_have_no_price(value: Value) -> None:
    """The reader of statements gives every quantile and extreme its candidates, or refuses what has no numbers."""
    for measure in (Quantile(value, Fraction(1, 2)), Extreme(value, largest=True)):
        with pytest.raises(AssertionError, match="comparisons"):
            price(make_statement(measure), CARDS, epsilon=Decimal(1))


def public_card(*, exact: bool) -> dict[str, object]:
    changes = [("add-remove", "replace-one"), ("rows: 3", "rows: 1"), ("budget:", "size: public\nbudget:")]
    if exact:
        changes.append(("budget:", "exact_public: true\nbudget:"))
    return {"t": make_card(*changes)}


def test_what_is_public_is_refused_unless_the_card_allows_it() -> None:
    single = make_statement(COUNT, SUM, rows=1)
    with pytest.raises(QueryRefused, match="exact_public"):
        price(single, public_card(exact=False), epsilon=Decimal(1))  # type: ignore[arg-type]
    pricing = price(single, public_card(exact=True), epsilon=Decimal(1))  # type: ignore[arg-type]
    assert pricing.measures[0].mechanisms == (None,)
    assert [one.epsilon for one in pricing.measures] == [0, 1]
    assert pricing.guarantee == PureDP(epsilon=1)


def test_an_exact_answer_needs_the_word_of_every_card() -> None:
    cards = {**public_card(exact=True), "another": public_card(exact=False)["t"]}
    with pytest.raises(QueryRefused, match="exact_public"):
        price(make_statement(COUNT, SUM, rows=1), cards, epsilon=Decimal(1))  # type: ignore[arg-type]


def test_shares_can_be_given_and_must_add_up() -> None:
    statement = make_statement(COUNT, SUM)
    pricing = price(statement, CARDS, epsilon=Decimal(1), shares=[Decimal("0.9"), Decimal("0.1")])
    assert pricing.measures[1].mechanisms == (DiscreteLaplace(scale=Fraction(600)),)
    for shares in (["0.9", "0.2"], ["1", "0"], ["0.5"]):
        with pytest.raises(ParameterInvalid, match="add up to the whole"):
            price(statement, CARDS, epsilon=Decimal(1), shares=[Decimal(share) for share in shares])


def open_price(*, neighbours: str = "add-remove", epsilon: str = "2", delta: str = "1e-6") -> tuple[int, MeasurePrice]:
    cards = {"t": make_card(("add-remove", neighbours))}
    pricing = price(make_statement(SUM, UNITS, keys=(BY_TOWN,)), cards, epsilon=Decimal(epsilon), delta=Decimal(delta))
    assert pricing.guarantee == ApproxDP(epsilon=epsilon, delta=delta)
    assert pricing.threshold is not None
    assert pricing.threshold.keys == (3 if neighbours == "add-remove" else 6)
    return pricing.threshold.least, pricing.measures[1]


def test_open_keys_need_a_delta() -> None:
    with pytest.raises(QueryRefused, match="--delta"):
        price(make_statement(UNITS, keys=(BY_TOWN,)), CARDS, epsilon=Decimal(1))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_key_of_one_unit_passes_with_at_most_its_part_of_delta_and_not_much_less(neighbours: str) -> None:
    least, priced = open_price(neighbours=neighbours)
    mechanism = priced.mechanisms[0]
    assert isinstance(mechanism, DiscreteLaplace)
    keys = 3 if neighbours == "add-remove" else 6
    assert mechanism.scale == keys

    def passing(threshold: int) -> float:
        """P(1 + noise >= threshold) by the discrete Laplace law."""
        ratio = math.exp(-1 / float(mechanism.scale))
        return ratio ** (threshold - 1) / (1 + ratio)

    assert passing(least) <= 1e-6 / keys < passing(least - 1)


def test_a_delta_too_large_for_its_epsilon_is_cut_and_not_trusted() -> None:
    generous, priced = open_price(epsilon="0.002", delta="0.4")
    share = float(priced.epsilon)
    ratio = math.exp(-share / 3)
    assert ratio ** (generous - 1) / (1 + ratio) <= (1 - math.exp(-share)) / 3


def test_delta_is_not_charged_where_keys_are_listed() -> None:
    pricing = price(make_statement(COUNT, keys=(BY_PROVINCE,)), CARDS, epsilon=Decimal(1), delta=Decimal("1e-7"))
    assert pricing.guarantee == PureDP(epsilon=1)
    assert pricing.threshold is None


def test_a_sum_needs_bounds() -> None:
    cards = {"t": make_card(("x: {kind: integer, bounds: [-5, 20]}", "x: {kind: integer}"))}
    with pytest.raises(QueryRefused, match="needs bounds"):
        price(make_statement(Total(field("x"))), cards, epsilon=Decimal(1))
