"""Design and privacy variance together, from replicate weights.

Guarantee: post-processing of reports; costs nothing.
Requires:  replicate weights that are public, as the weights are; the debiased estimator, not the raw counts.
Proof:     docs/proofs/local-estimates.md
Refs:      [RW88] for the bootstrap of surveys; [Jud90] for Fay's factor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["Replicated", "replicate_variance", "restore_privacy"]

Sums = TypeVar("Sums")


@dataclass(frozen=True, slots=True, eq=False)
class Replicated(EstimatedArray):
    """Estimates with the variance of their `replicates`: who was drawn, and the noise of their reports."""

    replicates: int


def replicate_variance(
    estimator: Callable[[Sums], NDArray[float64]],
    tally_for: Callable[[NDArray[int64]], Sums],
    *,
    weights: NDArray[int64],
    replicate_weights: Iterable[NDArray[int64]],
    fay: float = 0.0,
    level: float = 0.95,
) -> Replicated:
    """The estimate at the full weights, and the mean square of how far those at each replicate lie from it.

    `tally_for` sums the reports under some weights and `estimator` debiases the sums; both run once for each
    replicate. `fay` is the part of its weight that a replicate always keeps (balanced replication by Fay's method).
    """
    if not 0 <= fay < 1:
        raise ParameterInvalid(parameter="fay", rule=say("must be at least 0 and below 1"), given=str(fay))
    full = np.asarray(estimator(tally_for(weights)), dtype=np.float64)
    squares, replicates = np.zeros(full.shape), 0
    for replicate in replicate_weights:
        if replicate.shape != weights.shape:
            raise ValueError("every replicate needs one weight for each report")
        squares += (estimator(tally_for(replicate)) - full) ** 2
        replicates += 1
    if replicates < 2:
        raise ParameterInvalid(
            parameter=Phrase("replicate weights"), rule=say("must be at least 2"), given=str(replicates)
        )
    return Replicated(
        estimates=full, variances=squares / (replicates * (1 - fay) ** 2), level=level, replicates=replicates
    )


def restore_privacy(replicated: Replicated, privacy: NDArray[float64], *, sampled: float) -> Replicated:
    """The variance when the replicate weights hold a finite population correction.

    Such weights shrink all variance by 1 − `sampled`, the share of the population that was drawn. Privacy noise is
    there even in a census, so that share of the `privacy` variance is put back.
    """
    if not 0 <= sampled <= 1:
        raise ParameterInvalid(parameter="sampled", rule=say("must lie between 0 and 1"), given=str(sampled))
    return Replicated(
        estimates=replicated.estimates,
        variances=replicated.variances + sampled * privacy,
        level=replicated.level,
        replicates=replicated.replicates,
    )
