"""A mixture of normals in one dimension, fitted by EM, that drops the modes which the values do not call for.

Modes are pruned by the message length of their two parameters [FJ02]: a mode must hold more than one value's worth of
evidence above the rest, and more than half a percent of the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Mixture", "fit_mixture"]

_ROUNDS: Final = 100
_LEAST_SHARE: Final = 0.005
_PARAMETERS: Final = 2
_SETTLED: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Mixture:
    """Normal modes: where they lie, how far they reach, and the share of each."""

    centres: NDArray[float64]
    spreads: NDArray[float64]
    shares: NDArray[float64]

    def log_densities(self, values: NDArray[float64]) -> NDArray[float64]:
        """The logarithm of each mode's weighted density at each value, up to one constant."""
        distances = (values[:, None] - self.centres) / self.spreads
        densities: NDArray[float64] = np.log(self.shares / self.spreads) - distances**2 / 2
        return densities

    def memberships(self, values: NDArray[float64]) -> NDArray[float64]:
        """The probability of each mode given each value."""
        logs = self.log_densities(values)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares: NDArray[float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares


def fit_mixture(values: NDArray[float64], *, most: int, narrowest: float) -> Mixture:
    """At most `most` modes, none narrower than `narrowest`; values may repeat, and a single value is one mode."""
    points, counts = np.unique(values, return_counts=True)
    centres = np.unique(np.quantile(values, (np.arange(most) + 0.5) / most, method="nearest"))
    width = max(float(values.std()) / len(centres), narrowest)
    mixture = Mixture(centres, np.full(len(centres), width), np.full(len(centres), 1 / len(centres)))
    before = -np.inf
    for _ in range(_ROUNDS):
        logs = mixture.log_densities(points)
        likelihood = float(counts @ np.logaddexp.reduce(logs, axis=1)) / len(values)
        if abs(likelihood - before) < _SETTLED:
            break
        before = likelihood
        mixture = _improve(mixture, points, counts, narrowest)
    return mixture


def _improve(mixture: Mixture, points: NDArray[float64], counts: NDArray[np.int64], narrowest: float) -> Mixture:
    """One round: who belongs where, which modes are worth their parameters, and their new places."""
    weights = mixture.memberships(points) * counts[:, None]
    held = weights.sum(axis=0)
    evidence = held - _PARAMETERS / 2
    kept = evidence > max(_LEAST_SHARE * held.sum(), 0)
    if not kept.any():
        kept = held == held.max()
        evidence = held
    weights, held, evidence = weights[:, kept], held[kept], evidence[kept]
    centres = points @ weights / held
    variances = ((points[:, None] - centres) ** 2 * weights).sum(axis=0) / held
    return Mixture(centres, np.maximum(np.sqrt(variances), narrowest), evidence / evidence.sum())
