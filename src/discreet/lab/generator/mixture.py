"""A mixture of normals in one dimension, fitted by EM, that drops the modes which the values do not call for.

Modes are pruned by the message length of their two parameters [FJ02]: a mode must hold more than one value's worth of
evidence above the rest, and more than half a percent of the values.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

__all__ = ["Mixture", "fit_mixture"]

_ROUNDS: Final = 100
_LEAST_SHARE: Final = 0.005
_SETTLED: Final = 1e-5


class Mixture(NamedTuple):
    """Normal modes: where they lie, how far they reach, and the share of each."""

    centres: NDArray[float64]
    spreads: NDArray[float64]
    shares: NDArray[float64]

    def weigh(self, values: NDArray[float64]) -> tuple[NDArray[float64], NDArray[float64]]:
        """The probability of each mode given each value, and the logarithm of its density, up to one constant."""
        distances = (values[:, None] - self.centres) / self.spreads
        logs = np.log(self.shares / self.spreads) - distances**2 / 2
        densities: NDArray[float64] = np.logaddexp.reduce(logs, axis=1)
        return np.exp(logs - densities[:, None]), densities


def fit_mixture(values: NDArray[float64], *, most: int, narrowest: float) -> Mixture:
    """At most `most` modes, none narrower than `narrowest`; values may repeat, and a single value is one mode."""
    points, counts = np.unique(values, return_counts=True)
    centres = np.unique(np.quantile(values, (np.arange(most) + 0.5) / most, method="nearest"))
    width = max(float(values.std()) / len(centres), narrowest)
    mixture = Mixture(centres, np.full(len(centres), width), np.full(len(centres), 1 / len(centres)))
    before = -np.inf
    for _ in range(_ROUNDS):
        memberships, densities = mixture.weigh(points)
        likelihood = float(counts @ densities) / len(values)
        if abs(likelihood - before) < _SETTLED:
            break
        before = likelihood
        mixture = _place_modes(points, memberships * counts[:, None], narrowest)
    return mixture


def _place_modes(points: NDArray[float64], weights: NDArray[float64], narrowest: float) -> Mixture:
    """The modes that are worth their parameters, each where the points that belong to it lie."""
    held = weights.sum(axis=0)
    evidence = held - 1
    kept = evidence > _LEAST_SHARE * held.sum()
    if not kept.any():
        kept, evidence = held == held.max(), held
    weights, held, evidence = weights[:, kept], held[kept], evidence[kept]
    centres = points @ weights / held
    variances = ((points[:, None] - centres) ** 2 * weights).sum(axis=0) / held
    return Mixture(centres, np.maximum(np.sqrt(variances), narrowest), evidence / evidence.sum())
