"""The audit on noise that is known: it never accuses exact Laplace noise, and finds noise of the data's own scale."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.study.auditing import audit

pytest.importorskip("scipy")
pytestmark = pytest.mark.statistical

# An audit is wrong with this probability at most, whatever it chooses to look at.
ALPHA = 1e-6
SAMPLES = 4_000


def noisy(value: int, scale: int) -> float:
    [answer] = DiscreteLaplace(scale=Fraction(scale)).release([value])
    return float(answer)


@pytest.mark.parametrize("epsilon", [1, Fraction(1, 2)])
def test_exact_laplace_noise_is_not_accused(epsilon: Fraction) -> None:
    scale, claimed = int(20 / epsilon), float(epsilon)
    found = audit(lambda: noisy(0, scale), lambda: noisy(20, scale), claimed=claimed, samples=SAMPLES, alpha=ALPHA)
    assert not found.refuted


def test_noise_that_is_too_small_is_found() -> None:
    """The planted fault: half the scale that epsilon 1 needs loses 2, and about 1.4 shows at 2,000 fresh answers."""
    found = audit(lambda: noisy(0, 10), lambda: noisy(20, 10), claimed=1, samples=SAMPLES, alpha=ALPHA)
    assert found.refuted


def test_noise_of_the_data_s_own_scale_is_found() -> None:
    """The planted leak: maxima of 50,000 and 4,000 under noise that follows them, where epsilon 0.01 is claimed."""
    found = audit(lambda: noisy(0, 5_000_000), lambda: noisy(0, 400_000), claimed=0.01, samples=SAMPLES, alpha=ALPHA)
    assert found.lower_bound > 2
