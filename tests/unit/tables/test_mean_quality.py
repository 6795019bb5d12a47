"""A mean of which nothing is known is called unreliable, however narrow the bounds of its column are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from discreet.data.sample.survey import write_survey
from discreet.plan.outputs import Mean
from discreet.session import Session
from discreet.tables.releasing import _mean_errors
from discreet.tables.table import Quality

ONE = Fraction(1)
MEAN = Mean(0, 1, total_step=ONE, size_step=ONE, centre=ONE, floor=ONE, low=ONE, high=Fraction(2))


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    data, card = write_survey(tmp_path / "data", rows=1000)
    monkeypatch.setenv("DISCREET_ANALYST", "maria")
    session = Session.create(tmp_path / "office")
    session.add(data, card=card, confirm=lambda terms: True)
    return session


def test_a_mean_over_nobody_is_unreliable(house: Session) -> None:
    """Nobody is without a sex: the interval is all of [1.2, 2.1], but for a chance below 1e-6."""
    with house:
        table = house.table("survey", by="sex", value="height", mean=True, epsilon="0.5", level="0.999999")
    male, female, nobody = table.cells
    assert (nobody.low, nobody.high) == (1.2, 2.1)
    assert nobody.quality is Quality.UNRELIABLE
    assert {male.quality, female.quality} == {Quality.GOOD}


@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999999"])
def test_the_error_of_a_mean_does_not_follow_the_level(level: str) -> None:
    reach = 0.01 * NormalDist().inv_cdf((1 + float(level)) / 2)
    found = _mean_errors(MEAN, np.array([1.7 - reach]), np.array([1.7 + reach]), Decimal(level))
    assert found == pytest.approx([0.01])
