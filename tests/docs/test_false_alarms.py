"""The suite's chance of a false alarm adds up, and nobody is listed who draws nothing."""

from __future__ import annotations

import pytest

from tests.false_alarms import BUDGET, CHANCES, ELSEWHERE
from tests.places import ROOT


def test_the_shares_stay_within_the_budget() -> None:
    assert sum(CHANCES.values()) + ELSEWHERE <= BUDGET


@pytest.mark.parametrize("file", CHANCES)
def test_only_statistical_tests_have_a_share(file: str) -> None:
    assert "mark.statistical" in (ROOT / file).read_text(encoding="utf-8")
