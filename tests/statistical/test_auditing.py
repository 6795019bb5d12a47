"""The audit on noise that is known: it never accuses exact Laplace noise, and finds noise of the data's own scale."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.lab.audit import audit_loss
from discreet.mechanisms.discrete_laplace import DiscreteLaplace

pytest.importorskip("scipy")
pytestmark = pytest.mark.statistical

# An audit is wrong with this probability at most, whatever it chooses to look at.
ALPHA = 1e-6
SAMPLES = 4_000


def noisy(value: int, scale: int) -> list[int]:
    return DiscreteLaplace(scale=Fraction(scale)).release([value] * SAMPLES)


@pytest.mark.parametrize("epsilon", [1, Fraction(1, 2)])
def test_exact_laplace_noise_is_not_accused(epsilon: Fraction) -> None:
    scale = int(20 / epsilon)
    assert not audit_loss(noisy(0, scale), noisy(20, scale), claimed=float(epsilon), alpha=ALPHA).refuted


def test_noise_that_is_too_small_is_found() -> None:
    """The planted fault: half the scale that epsilon 1 needs loses 2, and about 1.4 shows at 2,000 fresh answers."""
    assert audit_loss(noisy(0, 10), noisy(20, 10), claimed=1, alpha=ALPHA).refuted


def test_noise_of_the_data_s_own_scale_is_found() -> None:
    """The planted leak: maxima of 50,000 and 4,000 under noise that follows them, where epsilon 0.01 is claimed."""
    found = audit_loss(noisy(0, 5_000_000), noisy(0, 400_000), claimed=0.01, alpha=ALPHA)
    assert found.lower_bound > 2
