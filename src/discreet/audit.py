"""What samples alone show, with limits that hold at every size. They need scipy; callers see to it that it is there.

Refs: [CP34].
"""

from __future__ import annotations

__all__ = ["clopper_pearson"]


def clopper_pearson(hits: int, trials: int, *, alpha: float = 0.05) -> tuple[float, float]:
    """The limits of a rate seen in trials: each side misses the true one with probability at most alpha / 2."""
    from scipy.special import betainccinv, betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, alpha / 2))
    high = 1.0 if hits == trials else float(betainccinv(hits + 1, trials - hits, alpha / 2))
    return low, high
