"""The textbook chapter's example of two means, from the command line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.cli.clinic import Run


def test_the_wider_range_needs_the_larger_noise(run: Run) -> None:
    """Mean income against mean expenditure at the same epsilon, told without the data."""
    run("sample", "ce", ".")
    run("init", "w")
    run("add", "-w", "w", "ce.csv")
    scales = []
    for column in ("income", "expenditure"):
        asked = ("query", "-w", "w", f"SELECT AVG({column}) AS m FROM ce", "--epsilon", "0.2", "--explain")
        told = run(*asked, "--format", "json").json()
        scales.append(Fraction(told["measures"][0]["slices"][0]["scale"]))
    assert scales[0] / scales[1] == pytest.approx(10)
    groups = run("query", "-w", "w", "SELECT race, COUNT(*) AS n FROM ce GROUP BY race", "--epsilon", "1")
    assert "Pacific Islander" in groups.out
