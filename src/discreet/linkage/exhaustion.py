"""How long a service lives: requests until the first account, and until a share of all, has no room left.

For samples drawn at random from all people, the kindest case. Chronic patients are drawn again and again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import numeral, say
from discreet.errors import ParameterInvalid

__all__ = ["SHARES", "Exhaustion", "binomial_chance", "forecast_exhaustion", "share_exhausted"]

SHARES: Final = (0.01, 0.05, 0.5)
_MOST: Final = 10**9


@dataclass(frozen=True, slots=True)
class Exhaustion:
    """Requests until somebody would be left out: the first person (as likely as not), then shares of all people."""

    people: int
    sample: int
    allowed: int
    first: int
    shares: tuple[tuple[float, int], ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "people": self.people,
            "sample": self.sample,
            "allowed_each": self.allowed,
            "first_person": self.first,
            "shares": [{"share": share, "requests": requests} for share, requests in self.shares],
        }


def forecast_exhaustion(*, people: int, sample: int, allowed: int) -> Exhaustion:
    """For requests that each person may be in `allowed` times."""
    if not 1 <= people <= _MOST or not 1 <= sample <= people:
        raise ParameterInvalid(
            parameter="sample",
            rule=say("must be 1 to the number of people, which is 1 to {most:,}", most=_MOST),
            given=numeral(sample),
        )
    if allowed < 0:
        raise ParameterInvalid(parameter="allowed", rule=say("must not be negative"), given=str(allowed))
    chance = sample / people

    def until(share: float) -> int:
        return _smallest(lambda requests: share_exhausted(requests, allowed=allowed, chance=chance) >= share)

    # Somebody is left out as likely as not: 1 − (1 − share)^people = ½.
    first = until(-math.expm1(-math.log(2) / people))
    return Exhaustion(people, sample, allowed, first, tuple((share, until(share)) for share in SHARES))


def share_exhausted(requests: int, *, allowed: int, chance: float) -> float:
    """The chance that a person is in more than `allowed` of so many samples: P(Bin(requests, chance) > allowed)."""
    if requests <= allowed:
        return 0.0
    if chance >= 1:
        return 1.0
    if requests * chance > allowed:
        return max(0.0, 1 - math.fsum(binomial_chance(requests, drawn, chance) for drawn in range(allowed + 1)))
    total, drawn = 0.0, allowed + 1
    while drawn <= requests and (term := binomial_chance(requests, drawn, chance)) > total * 1e-16:
        total, drawn = total + term, drawn + 1
    return total


def binomial_chance(trials: int, hits: int, chance: float) -> float:
    """P(Bin(trials, chance) = hits), for a chance above 0; one of 1 always hits."""
    if chance >= 1:
        return float(hits == trials)
    ways = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
    return math.exp(ways + hits * math.log(chance) + (trials - hits) * math.log1p(-chance))


def _smallest(holds: Callable[[int], bool]) -> int:
    """The smallest number for which a condition holds that stays true from there on."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
