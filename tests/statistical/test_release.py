"""The noise on whole answers, as an analyst gets them: its law, its independence of calls, its intervals.

One question over an integer column with far more values than people gives thousands of cells whose exact count is 0,
so the answer itself is the noise. Dvoretzky-Kiefer-Wolfowitz with Massart's constant: n = 2*ln(2/alpha)/gap**2 draws
keep the empirical distribution function within gap/2 of the law but for a probability alpha = 1e-8, and that of the
nearest planted fault beyond it likewise; shares of cells are held against Hoeffding's bound at the same alpha. Ten
comparisons: a false alarm has probability below 2e-7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.engines.engine import Measured
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.release.measurement.noisy_measures import draw
from discreet.release.measurement.pricing import Pricing, price
from discreet.session import Session
from discreet.sql.algebra import Key, Plan, Quantile, Units
from discreet.sql.outputs import Presentation
from discreet.sql.statement import KeyFace, MeasureFace, Statement
from tests.algebra.columns import field, scan
from tests.unit.release.conftest import Given, ask_session

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ROWS_PER_UNIT = 3
GROUPS = 3000
GROUP_SIZE = 12
CARD = f"""
dataset: t
unit: {{column: pid, rows: {ROWS_PER_UNIT}}}
neighbours: add-remove
budget: {{epsilon: 100}}
columns:
  pid: {{kind: id, type: integer}}
  age: {{kind: integer, bounds: [0, 29999]}}
  town: {{kind: text}}
"""
SMALL = f"""
dataset: s
unit: {{column: pid, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 100}}
columns:
  pid: {{kind: id, type: integer}}
  cell: {{kind: integer, bounds: [0, {GROUPS - 1}]}}
  x: {{kind: integer, bounds: [0, 20]}}
"""
SQL = "SELECT age, COUNT(*) AS n FROM t GROUP BY age"
MEANS = "SELECT cell, AVG(x) AS mean FROM s GROUP BY cell"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Session]:
    small = [f"{i},{i % GROUPS},{value_of(i)}" for i in range(GROUPS * GROUP_SIZE)]
    files = {"t": ("pid,age,town\n", CARD), "s": ("\n".join(["pid,cell,x", *small, ""]), SMALL)}
    with Session.create(tmp_path / "w") as session:
        for name, (rows, card) in files.items():
            (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")
            (tmp_path / f"{name}.yaml").write_text(card, encoding="utf-8")
            session.add(tmp_path / f"{name}.csv", confirm=lambda _: True)
        yield session


def value_of(number: int) -> int:
    """The value of a row of the small dataset: every cell has the same values."""
    return number // GROUPS * 3 % 21


def distribution(value: int, scale: float) -> float:
    """P(Z <= value) of the discrete Laplace law."""
    ratio = math.exp(-1 / scale)
    if value < 0:
        return ratio**-value / (1 + ratio)
    return 1 - ratio ** (value + 1) / (1 + ratio)


def farthest(values: Sequence[int], scale: float) -> float:
    """The largest distance between the values' distribution function and the law's."""
    below, worst = 0, 0.0
    ordered = sorted(values)
    for value in range(ordered[0] - 1, ordered[-1] + 1):
        while below < len(ordered) and ordered[below] <= value:
            below += 1
        worst = max(worst, abs(below / len(ordered) - distribution(value, scale)))
    return worst


def law_gap(scale: float, other: float) -> float:
    return max(abs(distribution(v, scale) - distribution(v, other)) for v in range(-200, 200))


def slack(count: int) -> float:
    """Hoeffding: a share of this many cells is farther than this on one side of its mean with probability alpha."""
    return math.sqrt(math.log(1 / ALPHA) / (2 * count))


def drawn(answer: Given) -> tuple[int, ...]:
    values: tuple[int, ...] = answer.noisy.measures[0].values
    return values


# --- counts ---------------------------------------------------------------------------------------------------------


def test_answers_carry_the_noise_that_is_charged_for(house: Session) -> None:
    scale = ROWS_PER_UNIT / 0.5
    gap = min(law_gap(scale, scale * 0.75), law_gap(scale, scale * 1.25))
    first = drawn(ask_session(house, SQL, epsilon="0.5"))
    second = drawn(ask_session(house, SQL, epsilon="0.5", fresh=True))
    assert len(first) == 30_001 >= 2 * math.log(2 / ALPHA) / gap**2
    assert farthest(first, scale) < gap / 2
    assert farthest(second, scale) < gap / 2
    # Noise drawn once and added twice would cancel.
    assert sum(a == b for a, b in zip(first, second, strict=True)) < len(first) / 4


def test_measures_of_one_statement_have_noise_of_their_own(house: Session) -> None:
    answer = ask_session(house, "SELECT age, COUNT(*) AS n, SUM(age) AS s FROM t GROUP BY age", epsilon=1)
    count, total = (one.values for one in answer.noisy.in_order_of(answer.statement))
    gap = min(law_gap(6, 4.5), law_gap(6, 7.5))
    assert farthest(count, 6) < gap / 2
    # The sum's scale is 29,999 times that of the count: the same draws, stretched, would be found.
    assert sum(t == c * 29999 for c, t in zip(count, total, strict=True)) < len(count) / 4


@pytest.mark.parametrize("wrong", [0.75, 1.25, 1 / ROWS_PER_UNIT])
def test_the_same_comparison_rejects_a_wrong_scale(house: Session, wrong: float) -> None:
    scale = ROWS_PER_UNIT / 0.5
    gap = min(law_gap(scale, scale * 0.75), law_gap(scale, scale * 1.25))
    assert farthest(drawn(ask_session(house, SQL, epsilon="0.5")), scale * wrong) > gap / 2


def test_intervals_cover_at_least_their_level(house: Session) -> None:
    answer = ask_session(house, SQL, epsilon=1, level="0.9")
    covered = sum(low <= 0 <= high for interval in answer.intervals for low, high in [interval["n"]])
    assert covered / len(answer.rows) >= 0.9 - slack(len(answer.rows))
    # and not by making them endless: one step narrower must miss the level of the law itself
    mechanism = answer.noisy.measures[0].mechanisms[0]
    assert isinstance(mechanism, DiscreteLaplace)
    half = mechanism.half_width("0.9")
    assert distribution(half - 1, ROWS_PER_UNIT) - distribution(-half, ROWS_PER_UNIT) < 0.9


# --- averages -------------------------------------------------------------------------------------------------------


def mean_coverage(answer: Given) -> float:
    values = [value_of(place * GROUPS) for place in range(GROUP_SIZE)]
    exact = sum(values) / len(values)
    shown = [
        interval["mean"] for row, interval in zip(answer.rows, answer.intervals, strict=True) if row["cell"] is not None
    ]
    assert len(shown) == GROUPS
    return sum(bool(low <= exact <= high) for low, high in shown) / len(shown)


def test_averages_are_covered_at_least_at_their_level(house: Session) -> None:
    answer = ask_session(house, MEANS, epsilon=8, level="0.8")
    assert mean_coverage(answer) >= 0.8 - slack(GROUPS)
    # Read as if the noise were a fifth of what it is, the same answers miss the level.
    fault = tuple(replace(one, mechanisms=(narrowed(one.mechanisms[0]),)) for one in answer.noisy.measures)
    assert mean_coverage(Given(replace(answer.answer, noisy=replace(answer.noisy, measures=fault)))) < 0.8 - slack(
        GROUPS
    )


def narrowed(mechanism: object) -> DiscreteLaplace:
    assert isinstance(mechanism, DiscreteLaplace)
    return DiscreteLaplace(scale=Fraction(float(mechanism.scale) / 5))


# --- quantiles ------------------------------------------------------------------------------------------------------


def quantile_law(rows: Sequence[int], domain: Sequence[int], rate: float) -> list[float]:
    """The distribution function of a median on a tiny domain, from the definition of its score."""
    weights = []
    for point in domain:
        below, above = sum(x < point for x in rows), sum(x > point for x in rows)
        weights.append(math.exp(-rate * max(0.0, below - len(rows) / 2, above - len(rows) / 2)))
    total = sum(weights)
    return [sum(weights[: place + 1]) / total for place in range(len(weights))]


def test_medians_follow_their_law_on_a_tiny_domain(house: Session) -> None:
    card = house.workspace.dataset("s").card
    statement = Statement(
        Plan(
            scan(card, 1),
            (Key(field("cell"), tuple(range(GROUPS))),),
            (Quantile(field("x"), Fraction(1, 2), candidates=(0, 20)),),
        ),
        Presentation(()),
        (KeyFace("cell"),),
        (MeasureFace("MEDIAN(x)", Fraction(1)),),
    )
    pricing = price(statement, {"s": card}, epsilon=Decimal("0.25"))
    rows, domain = [2, 2, 3, 9, 9, 9, 9], list(range(21))
    histogram = sorted((value, rows.count(value)) for value in set(rows))
    chosen: list[int] = []
    for _ in range(4):
        chosen += draw(statement.plan, pricing, Measured(([histogram] * GROUPS,))).measures[0].values
    found = [sum(value <= point for value in chosen) / len(chosen) for point in domain]
    # epsilon = 2 * rate * sensitivity with sensitivity 1/2: the rate is epsilon; faults take it twice or half.
    law, twice, half = (quantile_law(rows, domain, 0.25 * factor) for factor in (1, 2, 0.5))
    gap = min(max(abs(a - b) for a, b in zip(law, other, strict=True)) for other in (twice, half))
    assert len(chosen) >= 2 * math.log(2 / ALPHA) / gap**2
    assert max(abs(a - b) for a, b in zip(found, law, strict=True)) < gap / 2
    for fault in (twice, half):
        assert max(abs(a - b) for a, b in zip(found, fault, strict=True)) > gap / 2


# --- open keys ------------------------------------------------------------------------------------------------------


def passing(pricing: Pricing, statement: Statement, keys: int) -> float:
    """The share of keys that are shown when each is held by one unit alone."""
    measured = Measured(([1] * keys,), tuple((f"{place:06}",) for place in range(keys)))
    return len(draw(statement.plan, pricing, measured).keys or ()) / keys


def test_keys_of_a_single_unit_pass_no_more_often_than_delta_allows(house: Session) -> None:
    card = house.workspace.dataset("t").card
    statement = Statement(
        Plan(scan(card, 3), (Key(field("town"), None),), (Units(),)),
        Presentation(()),
        (KeyFace("town"),),
        (MeasureFace("units", Fraction(1)),),
    )
    pricing = price(statement, {"t": card}, epsilon=Decimal(3), delta=Decimal("0.3"))
    assert pricing.threshold is not None
    count, allowed = 30_000, 0.3 / ROWS_PER_UNIT
    law = 1 - distribution(pricing.threshold.least - 2, 1.0)
    assert law <= allowed
    assert abs(passing(pricing, statement, count) - law) < slack(count)
    # A threshold one lower shows more of them than delta pays for.
    fault = replace(pricing, threshold=replace(pricing.threshold, least=pricing.threshold.least - 1))
    assert passing(fault, statement, count) > allowed + slack(count)
