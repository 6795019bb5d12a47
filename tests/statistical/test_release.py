"""The noise on whole answers, as an analyst gets them: its law, its independence of calls, its intervals.

One question over an integer column with far more values than people gives thousands of cells whose exact count is 0,
so the answer itself is the noise. Dvoretzky-Kiefer-Wolfowitz with Massart's constant: n = 2*ln(2/alpha)/gap**2 draws
keep the empirical distribution function within gap/2 of the law but for a probability alpha = 1e-8, and that of the
nearest planted fault (scale wrong by a quarter) beyond it likewise. Four comparisons: a false alarm has probability
below 1e-7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from discreet.session import Session

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ROWS_PER_UNIT = 3
CARD = f"""
dataset: t
unit: {{column: pid, rows: {ROWS_PER_UNIT}}}
neighbours: add-remove
budget: {{epsilon: 100}}
columns:
  pid: {{kind: id, type: integer}}
  age: {{kind: integer, bounds: [0, 29999]}}
"""
SQL = "SELECT age, COUNT(*) AS n FROM t GROUP BY age"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "t.csv").write_text("pid,age\n", encoding="utf-8")
    (tmp_path / "t.yaml").write_text(CARD, encoding="utf-8")
    with Session.create(tmp_path / "w") as session:
        session.add(tmp_path / "t.csv", confirm=lambda _: True)
        yield session


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


def test_answers_carry_the_noise_that_is_charged_for(house: Session) -> None:
    scale = ROWS_PER_UNIT / 0.5
    gap = min(law_gap(scale, scale * 0.75), law_gap(scale, scale * 1.25))
    first = house.query(SQL, epsilon="0.5").noisy.values
    second = house.query(SQL, epsilon="0.5", fresh=True).noisy.values
    assert len(first) == 30_001 >= 2 * math.log(2 / ALPHA) / gap**2
    assert farthest(first, scale) < gap / 2
    assert farthest(second, scale) < gap / 2
    # Noise drawn once and added twice would cancel.
    assert sum(a == b for a, b in zip(first, second, strict=True)) < len(first) / 4


@pytest.mark.parametrize("wrong", [0.75, 1.25, 1 / ROWS_PER_UNIT])
def test_the_same_comparison_rejects_a_wrong_scale(house: Session, wrong: float) -> None:
    scale = ROWS_PER_UNIT / 0.5
    gap = min(law_gap(scale, scale * 0.75), law_gap(scale, scale * 1.25))
    values = house.query(SQL, epsilon="0.5").noisy.values
    assert farthest(values, scale * wrong) > gap / 2


def test_intervals_cover_at_least_their_level(house: Session) -> None:
    answer = house.query(SQL, epsilon=1, level="0.9")
    covered = sum(low <= 0 <= high for interval in answer.intervals for low, high in interval.values())
    # Hoeffding: below the level by more than this with probability at most 1e-8.
    slack = math.sqrt(math.log(1 / ALPHA) / (2 * len(answer.rows)))
    assert covered / len(answer.rows) >= 0.9 - slack
    # and not by making them endless: one step narrower must miss the level of the law itself
    half = answer.noisy.mechanism.half_width("0.9") if answer.noisy.mechanism is not None else 0
    assert distribution(half - 1, ROWS_PER_UNIT) - distribution(-half, ROWS_PER_UNIT) < 0.9
