"""What the thesis prints, and when a value counts as the printed one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from discreet_replications.thesis.data.thesis_queries import (
    DATASETS,
    QUERIES,
    RELATIVE_ERROR,
    REPLACEMENT_ERROR,
    matches,
)


def test_twenty_six_queries_of_three_data_sets() -> None:
    assert [query.number for query in QUERIES] == list(range(26))
    assert [sum(query.dataset == name for query in QUERIES) for name in DATASETS] == [6, 10, 10]
    assert QUERIES[7].sql == "SELECT AVG(concave_points_mean) FROM breast"


def test_the_means_over_queries_are_those_of_the_tables() -> None:
    generated = math.fsum(query.generated_error for query in QUERIES) / 26
    replaced = math.fsum(query.replaced_error for query in QUERIES) / 26
    assert f"{generated:.3f}" == f"{RELATIVE_ERROR['0.01', 100_000].mean:.3f}"
    assert f"{replaced:.3f}" == f"{REPLACEMENT_ERROR.mean:.3f}"


@pytest.mark.parametrize(
    ("value", "printed", "same"),
    [
        ("0.00035423", "3.5400e-4", True),
        ("0.0003551", "3.5400e-4", False),
        ("8425.773196", "8425.7730", True),
        ("8406.122449", "8425.7730", False),
        ("21879.2", "2.1879e4", True),
        ("21879.6", "2.1879e4", False),
        ("501051.8", "5.0105e5", True),
        ("390", "391", False),
        ("28", "28", True),
        ("30.4", "30", True),
        ("34", "30", False),
    ],
)
def test_a_value_matches_to_the_printed_figures(value: str, printed: str, same: bool) -> None:
    assert matches(Fraction(value), printed) is same
