"""Exact intervals for a rate seen in trials. They need scipy; whoever asks for one has made sure that it is there.

Refs: [CP34].
"""

from __future__ import annotations

__all__ = ["clopper_pearson"]


def clopper_pearson(hits: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """An interval that holds the true rate with at least this probability."""
    from scipy.special import betaincinv

    beyond = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, beyond))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - beyond))
    return low, high
