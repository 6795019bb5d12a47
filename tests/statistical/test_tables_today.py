"""Random rounding is unbiased; the attack does to each method what theory says, and stays below the ceiling of DP."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.guarantees.types import Neighbours, PureDP
from discreet.lab.today.holdings import Figures, Holdings
from discreet.lab.today.log_audit import QueryAuditing
from discreet.lab.today.overlap import OverlapControl
from discreet.lab.today.partitioning import Partitioning
from discreet.lab.today.perturbation import FixedPerturbation
from discreet.lab.today.private_release import Draw, PrivateRelease, Seen, success_ceiling
from discreet.lab.today.rounding import RandomRounding
from discreet.lab.today.trials import attack, base_rate
from discreet.noise.bits import discrete_laplace_many
from discreet.noise.entropy import SystemEntropy

pytestmark = pytest.mark.statistical

EPSILON = Decimal("0.5")


def test_random_rounding_is_unbiased() -> None:
    """Hoeffding: the mean of 20,000 roundings of one of 4 figures strays by 0.1 with chance at most 8·e^-16 < 1e-6."""
    counts = np.arange(6)
    held = Holdings.of_counts(np.tile(counts, 20_000))
    drawn = RandomRounding(base=5).apply(held).figures[0,].reshape(20_000, 6)
    assert (np.abs(drawn.mean(axis=0) - counts) <= 0.1).all()
    assert set(np.unique(drawn)) == {0, 5}
    nearest = np.where(counts > 2, 5, 0)
    assert (np.abs(nearest - counts) > 0.1).any()


class LaplaceCells(PrivateRelease):
    """Discrete Laplace noise on the cells; without `noisy` it is forgotten."""

    def __init__(self, *, noisy: bool) -> None:
        self.epsilon = EPSILON
        self.guarantee = PureDP(epsilon=EPSILON)
        self._noisy = noisy

    def draw(self, figures: Figures) -> Draw:
        scale = 1 / Fraction(EPSILON)
        noise = discrete_laplace_many(SystemEntropy(), scale=scale, count=figures.size) if self._noisy else 0
        noisy = figures + np.array(noise).reshape(figures.shape if self._noisy else ())
        return Draw((Seen(tuple(range(figures.ndim)), noisy, np.array(float(scale))),), lambda: noisy)


def test_private_tables_keep_below_their_ceiling() -> None:
    """Hoeffding with 2000 trials: a rate above its mean by 0.06 has the chance e^(−2·2000·0.06²) < 1e-6.

    The same attack finds everyone when the noise is forgotten, which the ceiling rejects.
    """
    held = Holdings.of_counts(np.array([[40, 42, 38, 41], [90, 88, 93, 87]]))
    rng = np.random.default_rng()
    most = success_ceiling(held, 1, guarantee=PureDP(epsilon=EPSILON), neighbours=Neighbours.ADD_REMOVE)
    assert most is not None
    assert most < 0.45
    found = attack(LaplaceCells(noisy=True), held, target=1, trials=2000, seconds=600, rng=rng, ceiling=most)
    assert found is not None
    assert (found.trials, found.sure) == (2000, 0)
    assert base_rate(held, 1) - 0.06 <= found.rate <= most + 0.06
    faulty = attack(LaplaceCells(noisy=False), held, target=1, trials=200, seconds=600, rng=rng)
    assert faulty is not None
    assert faulty.rate > most + 0.06


def test_the_attack_on_private_tables_is_as_good_as_can_be() -> None:
    """Of two equally common places the best guess is right as often as the total variation between them allows.

    That is Σ max(p, q)/2 over all pairs of changes. Hoeffding with 5000 trials: a rate 0.04 away from its mean has the
    chance 2·e^(−2·5000·0.04²) < 1e-6. Guessing at random, right for a half, is rejected.
    """
    reach = 60
    alpha = np.exp(-float(EPSILON))
    noise = alpha ** np.abs(np.arange(-reach, reach + 1)) * (1 - alpha) / (1 + alpha)
    law = np.convolve(noise, noise)
    here, absent = np.append(0.0, law), np.append(law, 0.0)
    best = float(np.maximum(np.outer(here, absent), np.outer(absent, here)).sum() / 2)
    assert best > 0.5 + 0.06
    held = Holdings.of_counts(np.array([500, 500]))
    found = attack(LaplaceCells(noisy=True), held, target=0, trials=5000, seconds=600, rng=np.random.default_rng())
    assert found is not None
    assert abs(found.rate - best) <= 0.04


def test_overlap_control_lets_one_user_find_everyone() -> None:
    """With k = 5 and r = 1 nine queries are enough [DJL79], whoever stands in them: no draw can fail."""
    held = Holdings.of_counts(np.array([[40, 42, 3, 41], [90, 1, 93, 87]]))
    found = attack(OverlapControl(), held, target=1, trials=500, seconds=600, rng=np.random.default_rng())
    assert found is not None
    assert (found.trials, found.sure) == (500, 500)


def test_pairs_pass_the_audit_as_often_as_theory_says() -> None:
    """Somebody is found unless all m others stand in one and the same other place: 1 − Σ π_c Σ_{d≠c} π_d^m.

    Others are drawn without replacement from 10,000, which moves this by less than 0.001. Hoeffding with 2000 trials: a
    rate 0.061 away from its mean has the chance 2·e^(−2·2000·0.06²) < 2e-6. One pair less is rejected.
    """
    shares = np.array([0.5, 0.3, 0.2])
    held = Holdings.of_counts(np.outer([6000, 4000], shares).round().astype(np.int64))

    def theory(pairs: int) -> float:
        return float(1 - sum(one * sum(two**pairs for two in shares if two != one) for one in shares))

    assert theory(2) - theory(1) > 0.13
    method = QueryAuditing(confidential=1, pairs=2)
    found = attack(method, held, target=1, trials=2000, seconds=600, rng=np.random.default_rng())
    assert found is not None
    assert found.trials == 2000
    assert abs(found.sure / found.trials - theory(2)) <= 0.061


def test_editions_of_a_partition_tell_as_much_as_theory_says() -> None:
    """Who stands in a group of one cell is found; of joined cells the more common is named.

    Groups of [3, 4, 30, 2, 9] by five are 3 + 4, 30, 2 + 9: 30 of 48 are found, and 30 + 4 + 9 named. Hoeffding with
    2000 trials: a rate 0.07 away from its mean has the chance 2·e^(−2·2000·0.07²) < 1e-8.
    """
    held = Holdings.of_counts(np.array([[3, 4, 30, 2, 9]]))
    found = attack(Partitioning(along=1), held, target=1, trials=2000, seconds=600, rng=np.random.default_rng())
    assert found is not None
    assert abs(found.sure / found.trials - 30 / 48) <= 0.07
    assert abs(found.rate - 43 / 48) <= 0.07
    cells = attack(Partitioning(along=1, least=1), held, target=1, trials=200, seconds=600, rng=np.random.default_rng())
    assert cells is not None
    assert cells.rate == 1


def test_perturbed_people_are_named_as_often_as_theory_says() -> None:
    """Of K equally common places the one that changed is right with the chance 1 − q + q/K, and nothing is sure.

    Hoeffding with 4000 trials: a rate 0.05 away from its mean has the chance 2·e^(−2·4000·0.05²) < 1e-8. A file that is
    perturbed afresh for the second table, or not at all, is rejected.
    """
    held = Holdings.of_counts(np.array([[50, 50, 50, 50], [70, 70, 70, 70]]))
    method = FixedPerturbation(perturbed=1, share=0.4)
    found = attack(method, held, target=1, trials=4000, seconds=600, rng=np.random.default_rng())
    assert found is not None
    assert (found.trials, found.sure) == (4000, 0)
    assert abs(found.rate - 0.7) <= 0.05
