"""The account of the shuffle: what hiding among n people adds to what each report hides by itself.

`anonymity` is n, the people whose reports nobody can tell apart by public labels. With scipy (extra 'study') the bounds
are numeric; without it a closed form, inside its domain only; where neither helps, ε0 itself. ε is a cost and rounded
up, ε0 an allowance and rounded down.

Guarantee: n shuffled reports, each ε0-local DP, are (ε, δ)-DP for replace-one neighbours.
Requires:  an honest shuffler; `categories` only for k-ary randomised response with that many categories.
Proof:     docs/proofs/shuffle-amplification.md
Refs:      [FMT21], [BBGN19].
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal

from discreet.catalogue import say
from discreet.collect.mixing.closed_form import closed_epsilon, largest_closed_domain
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, ShuffleDP, ceil_to_grid, exact, floor_to_grid, shown

if TYPE_CHECKING:
    from discreet.collect.mixing.divergence import Divergence

__all__ = [
    "Amplification",
    "Method",
    "amplified_epsilon",
    "largest_local_epsilon",
    "raise_local_epsilon",
    "shuffled",
    "suffices",
]

Method = Literal["numeric", "numeric-response", "closed-form", "local"]

LARGEST_ANONYMITY: Final = 10**8
_LARGEST_CATEGORIES: Final = 10**6
_LARGEST_LOCAL: Final = 30  # beyond, not even the largest anonymity set hides a report
_CACHED: Final = 1 << 14
_HIGHEST: Final = math.log(1e4)
_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class Amplification:
    """The ε of the shuffled reports, and the bound that gave it."""

    epsilon: Decimal
    method: Method


def amplified_epsilon(
    *, local_epsilon: ExactLike, anonymity: int, delta: ExactLike, categories: int | None = None
) -> Amplification:
    """The smallest proven ε of n shuffled ε0-local reports at this δ; never above ε0. δ = 0 gains nothing."""
    return _amplified(
        exact(local_epsilon, parameter=say("local epsilon")),
        _whole(anonymity, parameter="anonymity", least=1, largest=LARGEST_ANONYMITY),
        exact(delta, parameter="delta", zero=True, below=1),
        _categories(categories),
    )


def largest_local_epsilon(
    *,
    epsilon: ExactLike,
    delta: ExactLike,
    anonymity: int,
    categories: int | None = None,
    within: float = 1e-5,
) -> Decimal:
    """The largest ε0 whose n shuffled reports are proven (epsilon, delta)-DP; never below epsilon.

    Always on the proven side; a coarser `within` ends the search for the largest earlier.
    """
    return _largest(
        exact(epsilon, parameter="epsilon"),
        exact(delta, parameter="delta", zero=True, below=1),
        _whole(anonymity, parameter="anonymity", least=1, largest=LARGEST_ANONYMITY),
        _categories(categories),
        within,
    )


def raise_local_epsilon(
    *,
    proven: Decimal,
    guess: float,
    epsilon: Decimal,
    delta: Decimal,
    anonymity: int,
    categories: int | None = None,
    within: float,
    spare: float,
) -> Decimal:
    """The same from where it is known: `proven` is an ε0 that holds for this many people, or for fewer.

    A guess that holds and leaves about `spare` or less is taken; others are corrected in a look or two. Never below
    `proven`.
    """
    if not delta or anonymity < 2 or proven >= _LARGEST_LOCAL:
        return proven
    if not _numeric():
        return max(proven, _largest(epsilon, delta, anonymity, categories, within))
    target, share = float(epsilon), float(delta)
    found = _climb(
        lambda x: _height(_divergence(x, anonymity, share, categories)(target)) - _height(share),
        holds=float(proven),
        fails=_beyond_reach(target, anonymity, categories),
        guess=guess,
        within=within,
        spare=spare,
    )
    return max(proven, floor_to_grid(Fraction(found)))


def suffices(
    *, local_epsilon: Decimal, epsilon: Decimal, delta: Decimal, anonymity: int, categories: int | None = None
) -> bool:
    """Whether n shuffled ε0-local reports are proven (epsilon, delta)-DP: one look, without a search."""
    if local_epsilon <= epsilon:
        return True
    if not delta or anonymity < 2 or local_epsilon > _LARGEST_LOCAL:
        return False
    if not _numeric():
        closed = closed_epsilon(local_epsilon=float(local_epsilon), anonymity=anonymity, delta=float(delta))
        return closed is not None and closed <= float(epsilon)
    bound = _divergence(float(local_epsilon), anonymity, float(delta), categories)
    return bound(float(epsilon)) <= float(delta)


def shuffled(*, local_epsilon: ExactLike, anonymity: int, delta: ExactLike, categories: int | None = None) -> ShuffleDP:
    """The guarantee of n shuffled ε0-local reports."""
    gained = amplified_epsilon(local_epsilon=local_epsilon, anonymity=anonymity, delta=delta, categories=categories)
    return ShuffleDP(epsilon=gained.epsilon, delta=delta, local_epsilon=local_epsilon, anonymity=anonymity)


@lru_cache(maxsize=_CACHED)
def _amplified(local: Decimal, anonymity: int, delta: Decimal, categories: int | None) -> Amplification:
    own = Amplification(local, "local")
    if not delta or anonymity < 2 or local > _LARGEST_LOCAL:
        return own
    if not _numeric():
        closed = closed_epsilon(local_epsilon=float(local), anonymity=anonymity, delta=float(delta))
        return own if closed is None else _lesser(own, closed, "closed-form")
    bound = _divergence(float(local), anonymity, float(delta), categories)
    found = _boundary(
        lambda x: _height(bound(math.exp(x))),
        fails=math.log(1e-9),
        holds=math.log(local),
        goal=_height(float(delta)),
        within=1e-9,
    )
    return _lesser(own, math.exp(found), "numeric" if categories is None else "numeric-response")


@lru_cache(maxsize=_CACHED)
def _largest(epsilon: Decimal, delta: Decimal, anonymity: int, categories: int | None, within: float) -> Decimal:
    target, share = float(epsilon), float(delta)
    if not delta or anonymity < 2 or epsilon >= _LARGEST_LOCAL:
        return epsilon
    if not _numeric():
        return max(epsilon, floor_to_grid(Fraction(_largest_closed(target, share, anonymity))))
    found = _boundary(
        lambda x: _height(_divergence(x, anonymity, share, categories)(target)),
        fails=_beyond_reach(target, anonymity, categories),
        holds=target,
        goal=_height(share),
        within=within,
    )
    return max(epsilon, floor_to_grid(Fraction(found)))


def _largest_closed(epsilon: float, delta: float, anonymity: int) -> float:
    low, high = 0.0, max(0.0, largest_closed_domain(anonymity=anonymity, delta=delta))
    for _ in range(60):
        middle = (low + high) / 2
        closed = closed_epsilon(local_epsilon=middle, anonymity=anonymity, delta=delta)
        low, high = (middle, high) if closed is not None and closed <= epsilon else (low, middle)
    return low


def _beyond_reach(epsilon: float, anonymity: int, categories: int | None) -> float:
    """An ε0 of which even a lone report in so many gives too much away."""
    return min(float(_LARGEST_LOCAL), epsilon + math.log(anonymity) + 2 + math.log(categories or 1))


def _lesser(own: Amplification, epsilon: float, method: Method) -> Amplification:
    rounded = ceil_to_grid(Fraction(epsilon))
    return Amplification(rounded, method) if rounded < own.epsilon else own


def _divergence(local_epsilon: float, anonymity: int, delta: float, categories: int | None) -> Divergence:
    from discreet.collect.mixing.divergence import divergence_of_any, divergence_of_response

    if categories is None:
        return divergence_of_any(local_epsilon=local_epsilon, anonymity=anonymity, delta=delta)
    return divergence_of_response(local_epsilon=local_epsilon, anonymity=anonymity, delta=delta, categories=categories)


@cache
def _numeric() -> bool:
    return importlib.util.find_spec("scipy") is not None


def _height(delta: float) -> float:
    """ln(−ln δ): close to a straight line in ln ε and in ε0, so that a secant finds its way in a few steps."""
    if delta <= 0:
        return _HIGHEST
    return min(_HIGHEST, math.log(max(-math.log(min(delta, 1.0)), 1e-9)))


def _boundary(height: Callable[[float], float], *, fails: float, holds: float, goal: float, within: float) -> float:
    """A point where the height reaches the goal, and hardly passes it (regula falsi, after Illinois)."""
    low, high = height(fails) - goal, _HIGHEST - goal
    if low >= 0:
        return fails
    for step in range(_STEPS):
        if abs(holds - fails) <= within:
            break
        # A secant that creeps along one end is cut by a bisection now and then. It aims just past the goal.
        bisects = step % 5 == 4
        share = 0.5 if bisects else min(max((within - low) / (high - low), 1e-4), 1 - 1e-4)
        middle = fails + share * (holds - fails)
        reached = height(middle) - goal
        if 0 <= reached <= 3 * within:
            return middle
        if reached >= 0:
            holds, high, low = middle, reached, low if bisects else low / 2
        else:
            fails, low, high = middle, reached, high if bisects else high / 2
    return holds


def _climb(
    height: Callable[[float], float], *, holds: float, fails: float, guess: float, within: float, spare: float
) -> float:
    """A point between the two where the height is 0 to `spare`, or the highest that holds when none is near.

    −ln δ goes with e^(−ε0), so heights fall about as fast as ε0 rises: that leads from the guess to both sides of the
    boundary, and secants between them to the boundary itself.
    """
    high: float | None = None
    low: float | None = None
    tried = guess
    for step in range(_STEPS):
        if fails - holds <= within:
            break
        tried = min(max(tried, holds + within / 2), fails - within / 2)
        reached = height(tried)
        if 0 <= reached <= spare:
            return tried
        if reached >= 0:
            holds, high = tried, reached
        else:
            fails, low = tried, reached
        if high is None or low is None:
            tried += (reached - within) * 2 ** (step // 2)
        else:
            share = 0.5 if step % 5 == 4 else min(max((high - within) / (high - low), 0.02), 0.98)
            tried = holds + share * (fails - holds)
    return holds


def _categories(categories: int | None) -> int | None:
    if categories is None:
        return None
    return _whole(categories, parameter="categories", least=2, largest=_LARGEST_CATEGORIES)


def _whole(value: int, *, parameter: str, least: int, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
        rule = say("must be a whole number between {low} and {high}", low=least, high=largest)
        raise ParameterInvalid(parameter=parameter, rule=rule, given=shown(value))
    return value
