"""Widths known before an answer: they are those of the answer, and hold for what is assumed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import ParameterInvalid, QueryRefused, UnknownName
from discreet.guarantees.numbers import from_units, to_units
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.release.cells.evaluation import enclose
from discreet.release.forecast.accuracy import Assumptions, Depends, ExpectedNoise, assume, reach_of, read_amounts
from discreet.release.forecast.accuracy_targets import Targets, epsilon_within
from discreet.release.forecast.explainer import figure_outputs
from discreet.release.forecast.explanation import OutputFigures
from discreet.release.measurement.pricing import price
from discreet.sql.outputs import KeyShown, Mean, Output, Spread
from discreet.sql.reader.questions import read_statement
from discreet.sql.statement import Statement
from tests.unit.release.conftest import House
from tests.unit.sql.catalogue import shelf

LEVEL = Decimal("0.95")


def read(sql: str) -> Statement:
    return read_statement(sql, shelf())[0]


def figures(sql: str, *, epsilon: str = "1", **assumed: int) -> dict[str, OutputFigures]:
    statement, cards = read_statement(sql, shelf())
    pricing = price(statement, cards, epsilon=Decimal(epsilon))
    assumptions = assume(statement, read_amounts(assumed, option="assume"))
    found = figure_outputs(statement, pricing, level=LEVEL, assumptions=assumptions)
    return {output.name: output for output in found}


def output_of(statement: Statement) -> Output:
    shows = statement.presentation.columns[-1].shows
    assert not isinstance(shows, KeyShown)
    return shows


# --- what the answer will show --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT group, COUNT(*) AS n FROM t GROUP BY group",
        "SELECT SUM(height) AS n FROM t",
        "SELECT 2 * COUNT(*) - SUM(age) / 4 + 7 AS n FROM t",
        "SELECT COUNT(age) + COUNT(height) AS n FROM t WHERE age > 30",
    ],
)
def test_counts_sums_and_combinations_have_the_width_of_their_answer(house: House, sql: str) -> None:
    question = house.question(sql, epsilon="0.7")
    pricing = price(question.statement, question.cards, epsilon=question.epsilon)
    told = figure_outputs(question.statement, pricing, level=LEVEL, assumptions=Assumptions())[-1]
    low, high = house.ask(sql, epsilon="0.7").intervals[0]["n"]
    assert low is not None
    assert high is not None
    assert told.widest is not None
    assert high - low == pytest.approx(float(2 * told.widest), rel=1e-12)


def test_expected_errors_of_single_measures_are_exact() -> None:
    single = figures("SELECT COUNT(*) AS n FROM survey")["n"]
    assert single.exact
    assert single.expected[0] == pytest.approx(0.8509181282393216)  # 1/sinh(1)
    assert not figures("SELECT COUNT(*) + SUM(age) AS n FROM survey")["n"].exact


def test_the_expected_error_of_a_mean_is_that_of_both_noises_together() -> None:
    """Held against the law itself: |total noise − distance · size noise| over the size, added up over both."""
    sql = "SELECT AVG(age) AS a FROM survey"
    statement, cards = read_statement(sql, shelf())
    mean = output_of(statement)
    assert isinstance(mean, Mean)
    priced = price(statement, cards, epsilon=Decimal(1)).measures
    total, size = (priced[place].mechanisms[0] for place in (mean.total, mean.size))
    assert isinstance(total, DiscreteLaplace)
    assert isinstance(size, DiscreteLaplace)
    for age in (40, 60, 100):
        distance = float((age - mean.centre) / mean.total_step)
        laws = [_law(one) for one in (total, size)]
        noise = np.abs(laws[0][0][:, None] - distance * laws[1][0][None, :])
        expected = float(laws[0][1] @ noise @ laws[1][1] * float(mean.total_step)) / 1000
        assert figures(sql, n=1000, a=age)["a"].expected[0] == pytest.approx(expected, rel=0.01)


def _law(mechanism: DiscreteLaplace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values of the noise up to thirty scales, and how likely each is."""
    values = np.arange(-math.ceil(30 * mechanism.scale), math.ceil(30 * mechanism.scale) + 1, dtype=np.float64)
    weights = np.exp(-np.abs(values) / float(mechanism.scale))
    return values, weights / weights.sum()


def test_weights_capped_by_region_have_their_own_widths() -> None:
    output = figures("SELECT region, SUM(weight) AS n FROM survey GROUP BY region")["n"]
    assert output.cells == ("region 10", "region 11", "region ON", "region 010", "region NULL")
    widths = [float(width) for width in output.half_widths if width is not None]
    assert widths[1] / widths[2] == pytest.approx(4, rel=1e-3)
    assert output.widest == max(width for width in output.half_widths if width is not None)


# --- what is assumed ------------------------------------------------------------------------------------------------


def test_means_depend_on_a_count_and_weighted_ones_on_a_sum_of_weights() -> None:
    sql = "SELECT AVG(age) AS a, WAVG(height) AS w FROM survey"
    unknown = figures(sql)
    assert unknown["a"].depends == "depends on a count: add --assume n=…"
    assert unknown["w"].depends == "depends on a sum of weights: add --assume weights=…"
    known = figures(sql, n=1000, weights=50_000)
    assert known["a"].depends is None
    assert known["w"].depends is None


def test_ratios_depend_on_both_sides_by_name_or_text() -> None:
    sql = "SELECT SUM(age) AS total, SUM(age) / COUNT(*) AS q FROM survey"
    assert figures(sql, n=100)["q"].depends == 'depends on SUM(age): add --assume "total=…"'
    assert figures(sql, n=100, total=200)["q"].depends is None
    by_text = assume(read(sql), read_amounts("sum( age )=200, COUNT(*)=100", option="assume"))
    assert sorted(by_text.measures.values()) == [100, 200]
    assert figures(sql, n=1, total=2)["q"].half_widths == (None,)


def test_unknown_names_and_numbers_are_refused() -> None:
    with pytest.raises(UnknownName, match="totl"):
        assume(read("SELECT SUM(age) AS total FROM survey"), {"totl": Fraction(1)})
    for given in ("n", "n=", "n=many", "n=1 2", "=3", "n=1,,m=2"):
        with pytest.raises(ParameterInvalid):
            read_amounts(given, option="assume")
    assert read_amounts(7, option="assume") == read_amounts("7", option="assume") == {"n": 7}
    assert read_amounts("QUANTILE(x, 0.5)=3, n=.5", option="assume") == {"QUANTILE(x, 0.5)": 3, "n": Fraction(1, 2)}


def test_ranks_are_told_for_quantiles() -> None:
    found = figures("SELECT MEDIAN(height) AS m, MEDIAN(height) / 2 AS h FROM survey")
    assert found["m"].ranked
    assert found["h"].depends is not None
    assert "ranks" in found["h"].depends


@pytest.mark.parametrize("function", ["AVG(height)", "WAVG(height)"])
def test_the_reach_of_a_mean_holds_wherever_the_mean_lies(function: str) -> None:
    statement = read(f"SELECT {function} AS m FROM survey")
    mean = output_of(statement)
    assert isinstance(mean, Mean)
    dice = random.Random(7)
    reached = 0.0
    for _ in range(500):
        size = dice.randint(2, 3000)
        noise = {
            mean.total: ExpectedNoise(dice.randint(0, 5000), 0.0),
            mean.size: ExpectedNoise(dice.randint(0, size), 0.0),
        }
        total = dice.choice([-1, 1]) * int(size * mean.size_step * (mean.high - mean.centre) / mean.total_step)
        total = dice.choice([total, 0, dice.randint(-abs(total), abs(total))])
        known = assume(statement, {"n": size * mean.size_step, "weights": size * mean.size_step})
        told = reach_of(mean, noise, statement, known, name="m").half_width
        assert told is not None
        low, high = enclose(mean, _box({mean.total: total, mean.size: size}, noise))
        value = mean.centre + total * mean.total_step / max(size * mean.size_step, mean.floor)
        assert low is not None
        assert high is not None
        assert max(high - value, value - low) <= told
        reached = max(reached, float(max(high - value, value - low) / told) if told else 0.0)
    assert reached > 0.9


def test_the_reach_of_a_variance_holds_for_a_mean_in_the_middle() -> None:
    for function in ("VAR", "STDDEV"):
        statement = read(f"SELECT {function}(height) AS v FROM survey")
        spread = output_of(statement)
        assert isinstance(spread, Spread)
        dice = random.Random(8)
        for _ in range(300):
            n, variance = dice.randint(20, 5000), spread.high / dice.randint(2, 50)
            squares = int(variance * (n - 1) / spread.step**2)
            places = (spread.total, spread.squares, spread.size)
            noise = {place: ExpectedNoise(dice.randint(0, n // 3), 0.0) for place in places}
            exact = Fraction(squares, n - 1) * spread.step**2
            shown = exact if function == "VAR" else Fraction(float(exact) ** 0.5)
            assumed = assume(statement, {"n": Fraction(n), "v": shown})
            told = reach_of(spread, noise, statement, assumed, name="v").half_width
            box = _box({spread.total: 0, spread.squares: squares, spread.size: n}, noise)
            low, high = enclose(spread, box)
            assert told is not None
            assert low is not None
            assert high is not None
            assert max(high - shown, shown - low) <= told * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)


def _box(values: Mapping[int, int], noise: Mapping[int, ExpectedNoise]) -> dict[int, tuple[int, int]]:
    return {
        place: (value - noise[place].half_width, value + noise[place].half_width) for place, value in values.items()
    }


def test_a_quotient_of_noisy_outputs_without_values_says_what_is_missing() -> None:
    statement = read("SELECT AVG(age) / COUNT(*) AS q FROM survey")
    noise = dict.fromkeys(range(len(statement.plan.measures)), ExpectedNoise(1, 1.0))
    with pytest.raises(Depends, match="mean or variance"):
        reach_of(output_of(statement), noise, statement, assume(statement, {"n": Fraction(9)}), name="q")


def test_the_greatest_of_two_is_as_far_off_as_the_farther() -> None:
    for function in ("LEAST", "GREATEST"):
        statement = read(f"SELECT {function}(COUNT(*), SUM(age)) AS m FROM survey")
        noise = {0: ExpectedNoise(3, 1.0), 1: ExpectedNoise(10, 4.0)}
        assert reach_of(output_of(statement), noise, statement, Assumptions(), name="m").half_width == 10


@pytest.mark.parametrize(("count", "bounded"), [(4, False), (5, False), (6, True)])
def test_nothing_bounds_a_quotient_whose_divisor_may_be_zero(count: int, bounded: bool) -> None:
    statement = read("SELECT SUM(age) / COUNT(*) AS q, SUM(age) AS total FROM survey")
    output = statement.presentation.columns[0].shows
    assert not isinstance(output, KeyShown)
    noise = dict.fromkeys(range(len(statement.plan.measures)), ExpectedNoise(5, 1.0))
    assumed = assume(statement, {"n": Fraction(count), "total": Fraction(100)})
    assert (reach_of(output, noise, statement, assumed, name="q").half_width is not None) is bounded


# --- targets --------------------------------------------------------------------------------------------------------


def targets(sql: str, within: str, **assumed: int) -> Targets:
    statement, cards = read_statement(sql, shelf())
    assumptions = assume(statement, read_amounts(assumed, option="assume"))
    widths = read_amounts(within, option="within")
    return Targets(statement, cards, widths, level=LEVEL, assumptions=assumptions)


def test_the_least_epsilon_meets_the_width_and_one_grid_step_less_does_not() -> None:
    sql = "SELECT region, COUNT(*) AS n FROM survey GROUP BY region"
    epsilon = targets(sql, "n=5").least_epsilon()
    assert figures(sql, epsilon=str(epsilon))["n"].widest == 5
    less = from_units(to_units(epsilon) - 1)
    assert figures(sql, epsilon=str(less))["n"].widest == 6


@pytest.mark.parametrize(
    ("sql", "within"),
    [
        ("SELECT region, SUM(weight) AS n FROM survey GROUP BY region", "n=55.5"),
        ("SELECT AVG(age) AS m FROM survey", "m=0.25"),
        ("SELECT COUNT(*) AS n, SUM(height) AS s FROM survey", "n=3,s=40"),
        ("SELECT VAR(age) AS v FROM survey", "v=0.5"),
    ],
)
def test_unequal_shares_cost_no_more_and_none_can_be_less(sql: str, within: str) -> None:
    statement, cards = read_statement(sql, shelf())
    aimed = targets(sql, within, n=1000)
    equal, shares = aimed.least_epsilon(), aimed.least_shares()
    assert sum(shares) <= equal + Decimal(len(shares)) / 10**9
    units = [to_units(share) for share in shares]
    assert aimed.met(units)
    for place in range(len(units)):
        assert not aimed.met([unit - (number == place) for number, unit in enumerate(units)])
    pricing = price(statement, cards, epsilon=sum(shares, Decimal(0)), shares=shares)
    assumptions = assume(statement, {"n": Fraction(1000)})
    told = {one.name: one for one in figure_outputs(statement, pricing, level=LEVEL, assumptions=assumptions)}
    for name, width in read_amounts(within, option="within").items():
        widest = told[name].widest
        assert widest is not None
        assert widest <= width


def test_measures_without_a_target_get_the_smallest_share() -> None:
    counted, summed = targets("SELECT COUNT(*) AS n, SUM(age) AS s FROM survey", "n=10").least_shares()
    assert counted == summed


def test_targets_that_cannot_be_are_refused() -> None:
    sql = "SELECT COUNT(*) AS n, MEDIAN(age) AS m, AVG(age) AS a FROM survey"
    with pytest.raises(UnknownName, match="'n'"):
        targets(sql, "nn=5")
    with pytest.raises(QueryRefused, match="ranks"):
        targets(sql, "m=5")
    with pytest.raises(QueryRefused, match="--assume n="):
        targets(sql, "a=5")
    with pytest.raises(QueryRefused, match="above 0"):
        targets(sql, "n=0")


def test_a_width_beyond_what_remains_says_what_can_be_reached() -> None:
    statement, cards = read_statement("SELECT COUNT(*) AS n FROM survey", shelf())
    with pytest.raises(QueryRefused, match=r"needs epsilon .*epsilon 0\.1 remains, which reaches n ± 30"):
        epsilon_within(statement, cards, {"n": Fraction(3)}, level=LEVEL, most=Decimal("0.1"))
    with pytest.raises(QueryRefused, match="no epsilon remains"):
        epsilon_within(statement, cards, {"n": Fraction(3)}, level=LEVEL, most=Decimal(0))
    assert epsilon_within(statement, cards, {"n": Fraction(30)}, level=LEVEL, most=Decimal("0.1")) < Decimal("0.1")
