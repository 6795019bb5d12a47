"""What samples show, by hand: limits against the binomial law itself."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from discreet.audit import clopper_pearson

pytest.importorskip("scipy")


def test_limits_at_known_values() -> None:
    assert clopper_pearson(0, 10) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert clopper_pearson(10, 10) == pytest.approx((0.025 ** (1 / 10), 1))
    assert clopper_pearson(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-11])
@pytest.mark.parametrize(("hits", "trials"), [(1, 7), (30, 31), (3, 400), (200, 400)])
def test_at_its_limits_a_rate_gives_so_many_hits_with_half_of_alpha(hits: int, trials: int, alpha: float) -> None:
    low, high = clopper_pearson(hits, trials, alpha=alpha)
    assert tail(low, trials, range(hits, trials + 1)) == pytest.approx(alpha / 2, rel=1e-6)
    assert tail(high, trials, range(hits + 1)) == pytest.approx(alpha / 2, rel=1e-6)


def tail(rate: float, trials: int, hits: range) -> float:
    """The chance of one of these numbers of hits, in exact fractions."""
    right, wrong = Fraction(rate), 1 - Fraction(rate)
    return float(sum(comb(trials, number) * right**number * wrong ** (trials - number) for number in hits))
