"""Tables that the tests of today's methods share."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.guarantees.types import PureDP
from discreet.lab.today.holdings import Figures, Holdings
from discreet.lab.today.private_release import Draw, PrivateRelease, Seen
from discreet.noise.bits import discrete_laplace_many
from discreet.noise.entropy import SystemEntropy


class LaplaceCells(PrivateRelease):
    """Discrete Laplace noise on the cells alone, published as drawn."""

    def __init__(self, epsilon: Decimal) -> None:
        self.epsilon = epsilon
        self.guarantee = PureDP(epsilon=epsilon)

    def draw(self, figures: Figures) -> Draw:
        scale = 1 / Fraction(self.epsilon)
        noise = discrete_laplace_many(SystemEntropy(), scale=scale, count=figures.size)
        noisy = figures + np.array(noise).reshape(figures.shape)
        return Draw((Seen(tuple(range(figures.ndim)), noisy, np.array(float(scale))),), lambda: noisy)


@pytest.fixture
def laplace() -> Callable[[str], PrivateRelease]:
    """A private release at an epsilon."""
    return lambda epsilon: LaplaceCells(Decimal(epsilon))


@pytest.fixture
def sparse() -> Holdings:
    """Four provinces by three kinds of smoking, with cells of one and two people."""
    return Holdings.of_counts(np.array([[120, 2, 40], [300, 45, 61], [17, 8, 1], [64, 33, 29]]))


@pytest.fixture
def incomes() -> Holdings:
    """A table of totals, 2 × 2, in which one person makes most of the first cell."""
    rows = [(0, 1000, 1), (0, 20, 6), (1, 100, 20), (2, 90, 30), (3, 110, 25), (3, 60, 2)]
    return Holdings.of_contributions((2, 2), np.array(rows))
