"""Tables that the tests of today's methods share."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.tables.today.holdings import Holdings


@pytest.fixture
def sparse() -> Holdings:
    """Four provinces by three kinds of smoking, with cells of one and two people."""
    return Holdings.of_counts(np.array([[120, 2, 40], [300, 45, 61], [17, 8, 1], [64, 33, 29]]))


@pytest.fixture
def incomes() -> Holdings:
    """A table of totals, 2 × 2, in which one person makes most of the first cell."""
    rows = [(0, 1000, 1), (0, 20, 6), (1, 100, 20), (2, 90, 30), (3, 110, 25), (3, 60, 2)]
    return Holdings.of_contributions((2, 2), np.array(rows))
