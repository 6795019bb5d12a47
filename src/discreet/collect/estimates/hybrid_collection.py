"""One estimate from respondents who answered in clear and respondents who answered with protection.

Guarantee: post-processing for the protected; none for the clear, who gave their answers away.
Requires:  the two groups answered independently; in `pool_samples` both estimate the same quantity.
Proof:     docs/proofs/local-estimates.md
Refs:      [Coc54] for weighting by the inverse of variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from discreet.catalogue import Labels, Phrase, language, say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

__all__ = ["Combined", "Relation", "add_strata", "combine", "pool_samples"]

Relation = Literal["strata", "samples"]

_ADDED: Final = Phrase(
    "Answers given in clear are not protected. The total adds two groups that chose themselves; neither stands for the "
    "other."
)
_POOLED: Final = Phrase(
    "Answers given in clear are not protected. People choose for themselves whether to answer in clear, and those who "
    "do may differ from the others; no variance shows that."
)


@dataclass(frozen=True, slots=True, eq=False)
class Combined(EstimatedArray):
    """What both groups say together.

    `clear_share` is the weight of the clear estimate, `z` how many standard deviations the two groups lie apart
    (nan where they are not compared) and `apart` whether that is more than noise at the level, over all estimates
    together. `caution` belongs beside every publication.
    """

    clear_share: NDArray[float64]
    z: NDArray[float64]
    apart: NDArray[bool_]
    caution: Labels

    @property
    def warning(self) -> str:
        """What belongs beside every publication, in the language of the moment."""
        return self.caution.text(language())


def combine(clear: EstimatedArray, protected: EstimatedArray, *, relation: Relation) -> Combined:
    """Both groups in one: "strata" are parts of a whole, "samples" two looks at the same population."""
    if relation == "strata":
        return add_strata(clear, protected)
    if relation == "samples":
        return pool_samples(clear, protected)
    raise ParameterInvalid(parameter="relation", rule=say("must be 'strata' or 'samples'"), given=repr(relation))


def add_strata(clear: EstimatedArray, protected: EstimatedArray) -> Combined:
    """Totals of two groups that make up the whole: they add, and so do their variances.

    Each group keeps its own weights. For totals only: means and shares of two strata do not add.
    """
    _check_shapes(clear, protected)
    shape = clear.estimates.shape
    return Combined(
        estimates=clear.estimates + protected.estimates,
        variances=clear.variances + protected.variances,
        level=protected.level,
        clear_share=np.ones(shape),
        z=np.full(shape, np.nan),
        apart=np.zeros(shape, dtype=np.bool_),
        caution=_ADDED,
    )


def pool_samples(
    clear: EstimatedArray,
    protected: EstimatedArray,
    *,
    planned: tuple[NDArray[float64], NDArray[float64]] | None = None,
) -> Combined:
    """Two unbiased estimates of the same quantity, each weighted by the inverse of its variance.

    Each group's weights must make it stand for the whole population, and the variances must hold the sampling of
    people. Variances estimated from the same answers lean towards the estimate that happens to be small, which
    biases the result; `planned` variances (of clear and protected: from theory, an earlier wave, or an average over
    cells) then fix the weights, and the estimated ones only the interval.
    """
    _check_shapes(clear, protected)
    by_clear, by_protected = (clear.variances, protected.variances) if planned is None else planned
    if not (np.all(by_clear > 0) and np.all(by_protected > 0)):
        raise ParameterInvalid(
            parameter="variances",
            rule=say("must be positive and include the sampling of people"),
            given=say("a zero"),
        )
    share = _clear_share(np.broadcast_to(by_clear, clear.estimates.shape), by_protected)
    parts = ((share, clear), (1 - share, protected))
    z = _distance(clear, protected)
    apart = np.abs(z) > _threshold(protected.level, comparisons=int(np.count_nonzero(~np.isnan(z))))
    return Combined(
        estimates=sum((_times(part, group.estimates) for part, group in parts), np.zeros(share.shape)),
        variances=sum((_times(part**2, group.variances) for part, group in parts), np.zeros(share.shape)),
        level=protected.level,
        clear_share=share,
        z=z,
        apart=apart,
        caution=_pooling_warning(apart, protected.level),
    )


def _clear_share(clear: NDArray[float64], protected: NDArray[float64]) -> NDArray[float64]:
    finite = np.where(np.isinf(clear), 1.0, clear)
    share = np.where(np.isinf(clear), 0.0, 1 / (1 + finite / protected))
    return np.where(np.isinf(clear) & np.isinf(protected), 0.5, share)


def _times(share: NDArray[float64], amounts: NDArray[float64]) -> NDArray[float64]:
    """A product in which a group without any share says nothing, even where its own amount is nan or infinite."""
    used = share > 0
    return np.where(used, share * np.where(used, amounts, 0.0), 0.0)


def _distance(clear: EstimatedArray, protected: EstimatedArray) -> NDArray[float64]:
    together = clear.variances + protected.variances
    compared = np.isfinite(together) & (together > 0)
    deviation = np.sqrt(np.where(compared, together, 1.0))
    return np.where(compared, (clear.estimates - protected.estimates) / deviation, np.nan)


def _threshold(level: float, *, comparisons: int) -> float:
    """Bonferroni: so many comparisons of equal groups stay below it all together with probability `level`."""
    return NormalDist().inv_cdf(1 - (1 - level) / (2 * max(comparisons, 1)))


def _pooling_warning(apart: NDArray[bool_], level: float) -> Labels:
    found = int(np.count_nonzero(apart))
    if not found:
        return _POOLED
    return Phrase(
        "{warning} Here they do differ: {found} of {estimates} estimates of the two groups lie further apart than "
        "noise explains (all together at level {level:g}). Publish the groups apart.",
        warning=_POOLED,
        found=found,
        estimates=apart.size,
        level=level,
    )


def _check_shapes(clear: EstimatedArray, protected: EstimatedArray) -> None:
    if clear.estimates.shape != protected.estimates.shape:
        raise ValueError("both groups need the same cells and categories")
