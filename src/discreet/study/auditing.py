"""What samples alone show of a loss: the epsilon that a way of answering cannot be below, whatever it claims.

An event is chosen on one half of the answers to two neighbouring data sets and measured on the other half, by Clopper
and Pearson's limits: the bound is wrong with probability at most `alpha`. Passing is no proof: a loss may hide in
events that nobody looked for, and so many samples show no more than about ln(samples / 2 · 2 / ln(2 / alpha)).

Refs: [CP34].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.audit import clopper_pearson
from discreet.errors import ExtraMissing, ParameterInvalid

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["AuditResult", "Event", "audit", "require_limits"]

# Thresholds tried on the first half, as shares of its answers.
_SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_FEWEST: Final = 100


@dataclass(frozen=True, slots=True)
class Event:
    """Answers on one side of a threshold: of the answer itself, or of its distance from `centre`.

    `first` says on which of the two data sets it is the likelier one.
    """

    above: bool
    threshold: float
    centre: float | None
    first: int

    def count(self, answers: NDArray[float64]) -> int:
        seen = answers if self.centre is None else np.abs(answers - self.centre)
        return int(((seen >= self.threshold) if self.above else (seen < self.threshold)).sum())

    def tell(self) -> str:
        """In words, for a table."""
        what = "answer" if self.centre is None else f"distance from {self.centre:,.6g}"
        return f"{what} {'at least' if self.above else 'below'} {self.threshold:,.6g}"


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The loss is at least `lower_bound`, with confidence 1 − alpha; `claimed` is what was promised."""

    lower_bound: float
    event: Event
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


def require_limits() -> None:
    """ExtraMissing without scipy, told before anything is drawn."""
    try:
        import scipy.special  # noqa: F401
    except ImportError:
        raise ExtraMissing(needed_for="the audit of a claim", extra="study") from None


def audit(
    draw_first: Callable[[], float],
    draw_second: Callable[[], float],
    *,
    claimed: float,
    samples: int,
    delta: float = 0.0,
    alpha: float = 0.001,
) -> AuditResult:
    """A lower bound of epsilon from so many answers on each of two neighbours; 0 where nothing is shown."""
    if samples < _FEWEST or not 0 < alpha < 1 or not 0 <= delta < 1:
        rule = f"must be at least {_FEWEST}, with alpha between 0 and 1"
        raise ParameterInvalid(parameter="audit samples", rule=rule, came=str(samples))
    sides = tuple(np.array([draw() for _ in range(samples)], dtype=np.float64) for draw in (draw_first, draw_second))
    half = samples // 2
    chosen = max(
        _events(sides, half),
        # Stricter than below, or a few lucky answers in a tail would choose an event that fresh ones do not show.
        key=lambda event: _limit(event, [side[:half] for side in sides], delta=delta, alpha=alpha / 100),
    )
    found = _limit(chosen, [side[half:] for side in sides], delta=delta, alpha=alpha)
    return AuditResult(max(found, 0.0), chosen, claimed, samples, alpha)


def _events(sides: tuple[NDArray[float64], ...], half: int) -> Iterator[Event]:
    """Thresholds between the answers of the first half, either way, for either data set to be the likelier."""
    seen = np.concatenate([side[:half] for side in sides])
    for centre in (None, float(np.median(seen))):
        shown = [side[:half] if centre is None else np.abs(side[:half] - centre) for side in sides]
        for threshold in np.unique(np.concatenate([np.quantile(one, _SHARES) for one in shown])):
            for above in (True, False):
                for first in (0, 1):
                    yield Event(above, float(threshold), centre, first)


def _limit(event: Event, halves: list[NDArray[float64]], *, delta: float, alpha: float) -> float:
    """ln((p − delta) / q) with p at its lower and q at its upper limit, each missed by at most alpha / 2."""
    likely, other = halves[event.first], halves[1 - event.first]
    low, _ = clopper_pearson(event.count(likely), likely.size, alpha=alpha)
    _, high = clopper_pearson(event.count(other), other.size, alpha=alpha)
    return math.log((low - delta) / high) if low > delta else -math.inf
