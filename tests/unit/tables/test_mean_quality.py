"""A mean of which nothing is known is called unreliable, however narrow the bounds of its column are."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.data.sample.survey import write_survey
from discreet.session import Session
from discreet.tables.table import Quality


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
