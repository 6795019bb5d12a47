"""Random rounding is unbiased; the differencing attack stays below the ceiling of differential privacy."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.guarantees.types import Neighbours, PureDP
from discreet.noise.bits import discrete_laplace_many
from discreet.noise.entropy import SystemEntropy
from discreet.tables.today.holdings import Figures, Holdings, Published
from discreet.tables.today.rounding import RandomRounding
from discreet.tables.today.trials import attack, base_rate, publish_private, success_ceiling

pytestmark = pytest.mark.statistical

EPSILON = Decimal("0.5")


def test_random_rounding_is_unbiased() -> None:
    """Hoeffding: the mean of 20,000 roundings of one of 4 figures strays by 0.1 with chance at most 8·e^-16 < 1e-6."""
    held = Holdings.of_counts(np.array([0, 1, 2, 3, 4, 5]))
    drawn = np.array([RandomRounding(base=5).apply(held).figures[0,] for _ in range(20000)])
    assert (np.abs(drawn.mean(axis=0) - held.counts) <= 0.1).all()
    assert set(np.unique(drawn)) == {0, 5}
    nearest = np.where(held.counts > 2, 5, 0)
    assert (np.abs(nearest - held.counts) > 0.1).any()


def publish(holdings: Holdings) -> Published:
    def add_laplace(figures: Figures, epsilon: Decimal) -> Figures:
        noise = discrete_laplace_many(SystemEntropy(), scale=1 / Fraction(epsilon), count=figures.size)
        noisy: Figures = figures + np.array(noise).reshape(figures.shape)
        return noisy

    return publish_private(add_laplace, EPSILON, holdings, PureDP(epsilon=EPSILON))


def publish_without_noise(holdings: Holdings) -> Published:
    return publish_private(lambda figures, _: figures, EPSILON, holdings, PureDP(epsilon=EPSILON))


def test_private_tables_keep_below_their_ceiling() -> None:
    """Hoeffding with 2000 trials: a rate above its mean by 0.06 has the chance e^(−2·2000·0.06²) < 1e-6.

    The same attack finds everyone when the noise is forgotten, which the ceiling rejects.
    """
    held = Holdings.of_counts(np.array([[40, 42, 38, 41], [90, 88, 93, 87]]))
    rng = np.random.default_rng()
    most = success_ceiling(held, 1, guarantee=PureDP(epsilon=EPSILON), neighbours=Neighbours.ADD_REMOVE)
    assert most is not None
    assert most < 0.45
    found = attack(publish, held, target=1, trials=2000, seconds=600, rng=rng, ceiling=most)
    assert found is not None
    assert (found.trials, found.sure) == (2000, 0)
    assert base_rate(held, 1) - 0.06 <= found.rate <= most + 0.06
    faulty = attack(publish_without_noise, held, target=1, trials=200, seconds=600, rng=rng)
    assert faulty is not None
    assert faulty.rate > most + 0.06
