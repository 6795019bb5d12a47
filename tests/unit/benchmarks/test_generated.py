"""The benchmark of warm questions on a few rows: every figure is there."""

from __future__ import annotations

import pytest

from benchmarks.generated import run

pytestmark = pytest.mark.long


def test_both_columns_have_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", "")  # put back afterwards: the benchmark sets its own
    told = run(rows=60, rounds=2)
    assert len(told) == 6
    assert all(figure > 0 for figure in told.values())
    assert any("generated, at most 50 (ms)" in name for name in told)
