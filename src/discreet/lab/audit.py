"""What samples alone show of a loss: the epsilon that a way of answering cannot be below, whatever it claims.

An event is chosen on one half of the answers to two neighbouring data sets and measured on the other half, by Clopper
and Pearson's limits: the bound is wrong with probability at most `alpha`. Passing is no proof: a loss may hide in
events that nobody looked for, and so many samples show no more than about ln(samples / 2 · 2 / ln(2 / alpha)).

Limits need scipy; callers see to it that it is there.

Refs: [CP34].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Labels, Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

__all__ = ["AnswerRange", "AuditResult", "audit_loss", "clopper_pearson", "require_limits"]

# Thresholds tried on the first half, as shares of its answers: dense near both ends, where rare answers tell most.
_SHARES: Final = (
    0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999,
)  # fmt: skip
_FEWEST: Final = 100
# Answers of no more values than this are looked at one by one too: reports of a category have no order.
_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class AnswerRange:
    """Answers from `low` to `high`, both among them; with a `centre` their distances from it.

    `first` says on which of the two data sets it is the likelier one.
    """

    low: float
    high: float
    centre: float | None
    first: int

    def count(self, answers: NDArray[float64]) -> int:
        seen = answers if self.centre is None else np.abs(answers - self.centre)
        return int(np.count_nonzero((seen >= self.low) & (seen <= self.high)))

    def tell(self) -> str:
        """In words, for a table."""
        if self.centre is None:
            if self.low == self.high:
                return say("answer {value:,.6g}", value=self.low)
            if self.high == math.inf:
                return say("answer at least {low:,.6g}", low=self.low)
            return say("answer at most {high:,.6g}", high=self.high)
        if self.low == self.high:
            return say("distance from {centre:,.6g} {value:,.6g}", centre=self.centre, value=self.low)
        if self.high == math.inf:
            return say("distance from {centre:,.6g} at least {low:,.6g}", centre=self.centre, low=self.low)
        return say("distance from {centre:,.6g} at most {high:,.6g}", centre=self.centre, high=self.high)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The loss is at least `lower_bound`, with confidence 1 − alpha; `claimed` is what was promised."""

    lower_bound: float
    event: AnswerRange
    claimed: float
    samples: int
    alpha: float

    @property
    def refuted(self) -> bool:
        """Whether samples alone show that the claim is false."""
        return self.lower_bound > self.claimed

    def to_dict(self) -> dict[str, Any]:
        return {
            "claimed_epsilon": self.claimed,
            "lower_bound": self.lower_bound,
            "refuted": self.refuted,
            "samples": self.samples,
            "alpha": self.alpha,
            "event": self.event.tell(),
        }


def audit_loss(
    first: ArrayLike, second: ArrayLike, *, claimed: float, delta: float = 0.0, alpha: float = 0.001
) -> AuditResult:
    """A lower bound of epsilon from as many answers to each of two neighbours; 0 where nothing is shown.

    Answers are numbers, independent and in any order; what has no order may be numbered as one likes.
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    samples = sides[0].size
    if samples < _FEWEST or sides[1].size != samples or not 0 < alpha < 1 or not 0 <= delta < 1:
        rule = say("must be at least {fewest} of either side, with alpha between 0 and 1", fewest=_FEWEST)
        given = say("{first} and {second}", first=samples, second=sides[1].size)
        raise ParameterInvalid(parameter=Phrase("audit samples"), rule=rule, given=given)
    half = samples // 2
    seen = [side[:half] for side in sides]
    # Stricter than below, or a few lucky answers in a tail would choose an event that fresh ones do not show.
    chosen = max(_events(seen), key=lambda event: _limit(event, seen, delta=delta, alpha=alpha / 100))
    found = _limit(chosen, [side[half:] for side in sides], delta=delta, alpha=alpha)
    return AuditResult(max(found, 0.0), chosen, claimed, samples, alpha)


def clopper_pearson(hits: int, trials: int, *, alpha: float = 0.05) -> tuple[float, float]:
    """The limits of a rate seen in trials: each side misses the true one with probability at most alpha / 2."""
    from scipy.special import betainccinv, betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, alpha / 2))
    high = 1.0 if hits == trials else float(betainccinv(hits + 1, trials - hits, alpha / 2))
    return low, high


def require_limits(needed_for: str | Labels, *, extra: str) -> None:
    """ExtraMissing without scipy, told before anything is drawn."""
    try:
        import scipy.special  # noqa: F401
    except ImportError:
        raise ExtraMissing(needed_for=needed_for, extra=extra) from None


def _events(seen: Sequence[NDArray[float64]]) -> Iterator[AnswerRange]:
    """Either side of thresholds between the answers, and single values, for either data set to be the likelier."""
    together = np.concatenate(seen)
    values = np.unique(together)
    ranges: list[tuple[float, float, float | None]] = []
    if values.size <= _VALUES:
        ranges += [(value, value, None) for value in values.tolist()]
    for centre in (None, float(np.median(together))):
        shown = [side if centre is None else np.abs(side - centre) for side in seen]
        for threshold in np.unique(np.concatenate([np.quantile(item, _SHARES) for item in shown])).tolist():
            ranges += [(threshold, math.inf, centre), (-math.inf, threshold, centre)]
    return (AnswerRange(*each, first) for each, first in product(ranges, (0, 1)))


def _limit(event: AnswerRange, halves: Sequence[NDArray[float64]], *, delta: float, alpha: float) -> float:
    """ln((p − delta) / q) with p at its lower and q at its upper limit, each missed by at most alpha / 2."""
    likely, other = halves[event.first], halves[1 - event.first]
    low, _ = clopper_pearson(event.count(likely), likely.size, alpha=alpha)
    _, high = clopper_pearson(event.count(other), other.size, alpha=alpha)
    return math.log((low - delta) / high) if low > delta else -math.inf
