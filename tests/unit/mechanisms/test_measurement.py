"""Noise shared among cores: every draw is its own, none is lost, and no core takes OpenDP's flag from another."""

from __future__ import annotations

import time
from typing import Any

import pytest
from opendp import measurements

from discreet.mechanisms.measurement import draw_noise


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)


@pytest.mark.parametrize("count", [4096, 9001, 10_000])
def test_no_two_shares_hold_the_same_draws(count: int) -> None:
    """At a scale of 2**50 two of 10,000 draws are equal with a chance below 1e-7."""
    drawn = draw_noise(count, family="gaussian", scale=2.0**50)
    assert len(drawn) == count
    assert len(set(drawn)) == count


def test_only_one_core_at_a_time_raises_the_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is done puts the flag back, under the hands of any other that builds."""
    make, building, seen = measurements.make_gaussian, [0], []

    def slowly(*words: Any, **named: Any) -> Any:
        building[0] += 1
        seen.append(building[0])
        time.sleep(0.05)
        building[0] -= 1
        return make(*words, **named)

    monkeypatch.setattr(measurements, "make_gaussian", slowly)
    assert len(draw_noise(8192, family="gaussian", scale=1.0)) == 8192
    assert seen == [1, 1, 1, 1]
