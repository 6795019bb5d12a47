"""What ε means for one person: how far an answer may move an observer's belief.

Guarantee: beliefs and scales are rounded up, ε and numbers of queries down when they are allowances: the
           stated figure is never rosier than the truth. Enclosures make floors exact.
Requires:  pure ε for the protected unit; the observer may know everyone else's data. `prior` is what the
           observer believed before; each query has noise of Laplace `scale` and `sensitivity`.
Proof:     docs/proofs/belief.md
Refs:      [L] Section 3, with the prior made explicit; [WZ10] Theorem 2.4; [DR14] Theorem 3.16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

from discreet.catalogue import Phrase, say, say_list
from discreet.errors import ParameterInvalid
from discreet.guarantees.enclosures import DIGITS, exp_down, ln_down, ln_up
from discreet.guarantees.numbers import ExactLike, ceil_to_grid, exact, floor_to_grid, from_units, shown, text

__all__ = ["BeliefSolution", "epsilon_for", "odds_ratio", "posterior", "solve"]

BELIEF_DECIMALS: Final = 6
ODDS_DIGITS: Final = 12
MOST: Final = 10**12


@dataclass(frozen=True, slots=True)
class BeliefSolution:
    """Noise, number of queries and belief that fit together, and which of them was asked for.

    `epsilon` and `belief` are the limit; `epsilon_used` and `belief_reached` are what the queries add up to
    at this scale, which is at most the limit, up to rounding against the optimist. A mere translation
    between epsilon and belief leaves noise and queries out.
    """

    solved_for: str
    prior: Decimal
    sensitivity: Decimal
    epsilon: Decimal
    odds_ratio: Decimal
    belief: Decimal
    scale: Decimal | None = None
    queries: int | None = None
    epsilon_used: Decimal | None = None
    belief_reached: Decimal | None = None

    def to_dict(self) -> dict[str, str | int | None]:
        """Exact decimals as text, for JSON."""
        return {
            "solved_for": self.solved_for,
            "prior": text(self.prior),
            "sensitivity": text(self.sensitivity),
            "epsilon": text(self.epsilon),
            "odds_ratio": text(self.odds_ratio) if self.odds_ratio < MOST else str(self.odds_ratio),
            "belief": text(self.belief),
            "scale": _text_or_none(self.scale),
            "queries": self.queries,
            "epsilon_used": _text_or_none(self.epsilon_used),
            "belief_reached": _text_or_none(self.belief_reached),
        }


def odds_ratio(epsilon: ExactLike) -> Decimal:
    """e^ε, the most by which an answer may multiply anyone's odds; rounded up to twelve digits."""
    wide = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    narrow = Context(prec=ODDS_DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return narrow.plus(wide.next_plus(wide.exp(exact(epsilon, parameter="epsilon"))))


def posterior(*, epsilon: ExactLike, prior: ExactLike) -> Decimal:
    """The highest belief an answer may leave, e^ε·π / (1 − π + e^ε·π); rounded up to six decimals."""
    loss = Fraction(exact(epsilon, parameter="epsilon"))
    return _posterior(loss, _probability(prior, parameter="prior"))


def epsilon_for(*, belief: ExactLike, prior: ExactLike) -> Decimal:
    """The largest ε that keeps belief at most `belief`, from `prior`; rounded down to the grid."""
    odds = _odds(_probability(belief, parameter="belief"), _probability(prior, parameter="prior"))
    epsilon = floor_to_grid(ln_down(odds))
    if epsilon <= 0:
        raise ParameterInvalid(
            parameter="belief",
            rule=say("must exceed the prior by enough for an epsilon of 1e-9"),
            given=shown(belief),
        )
    return epsilon


def solve(
    *,
    prior: ExactLike,
    sensitivity: ExactLike = 1,
    belief: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    scale: ExactLike | None = None,
    queries: int | None = None,
) -> BeliefSolution:
    """Give two of belief (or epsilon), scale and queries: the third follows.

    Belief or epsilon alone is translated into the other.
    queries = ⌊scale·ε/sensitivity⌋, scale = queries·sensitivity/ε rounded up, ε = queries·sensitivity/scale,
    with belief and ε tied by the prior. Zero queries is an answer: this noise does not allow even one.
    """
    start = _probability(prior, parameter="prior")
    step = exact(sensitivity, parameter="sensitivity", largest=MOST)
    noise = None if scale is None else exact(scale, parameter="scale", largest=MOST)
    asked = None if queries is None else _number_of_queries(queries)
    limit = _limit(belief, epsilon, start)
    if limit is not None and noise is None and asked is None:
        return _solution("epsilon" if epsilon is None else "belief", prior=start, sensitivity=step, limit=limit)
    _check_two(limit=limit is not None, scale=noise is not None, queries=asked is not None)
    if limit is None:
        assert noise is not None
        assert asked is not None
        used = asked * Fraction(step) / Fraction(noise)
        cost = exact(ceil_to_grid(used), parameter=say("the epsilon of these queries"))
        limit = _Limit(cost, _posterior(used, start))
        return _solution("belief", prior=start, sensitivity=step, limit=limit, scale=noise, queries=asked)
    if noise is None:
        assert asked is not None
        noise = ceil_to_grid(asked * Fraction(step) / limit.lowest())
        return _solution("scale", prior=start, sensitivity=step, limit=limit, scale=noise, queries=asked)
    allowed = _floor_queries(limit, Fraction(noise) / Fraction(step))
    return _solution("queries", prior=start, sensitivity=step, limit=limit, scale=noise, queries=allowed)


@dataclass(frozen=True, slots=True)
class _Limit:
    """The most that may be learnt: ε, the belief it allows, and exact odds when belief was given."""

    epsilon: Decimal
    belief: Decimal
    odds: Fraction | None = None

    def lowest(self, *, digits: int = DIGITS) -> Fraction:
        return Fraction(self.epsilon) if self.odds is None else ln_down(self.odds, digits=digits)

    def highest(self, *, digits: int = DIGITS) -> Fraction:
        return Fraction(self.epsilon) if self.odds is None else ln_up(self.odds, digits=digits)


def _limit(belief: ExactLike | None, epsilon: ExactLike | None, prior: Fraction) -> _Limit | None:
    if belief is not None and epsilon is not None:
        raise ParameterInvalid(
            parameter="belief", rule=say("must be given without epsilon, which says the same"), given=say("both")
        )
    if belief is not None:
        wished = _probability(belief, parameter="belief")
        odds = _odds(wished, prior)
        return _Limit(epsilon_for(belief=belief, prior=prior), from_units(int(wished * 10**9)), odds)
    if epsilon is not None:
        loss = exact(epsilon, parameter="epsilon")
        return _Limit(loss, _posterior(Fraction(loss), prior))
    return None


def _floor_queries(limit: _Limit, steps: Fraction) -> int:
    """⌊steps·ε⌋ exactly: the logarithm of a fraction is irrational, so more digits always decide."""
    digits = DIGITS
    while True:
        fewest, most = (math.floor(steps * end) for end in (limit.lowest(digits=digits), limit.highest(digits=digits)))
        if fewest == most:
            return fewest
        digits *= 2


def _solution(
    solved_for: str,
    *,
    prior: Fraction,
    sensitivity: Decimal,
    limit: _Limit,
    scale: Decimal | None = None,
    queries: int | None = None,
) -> BeliefSolution:
    used = None
    if scale is not None and queries is not None:
        used = queries * Fraction(sensitivity) / Fraction(scale)
    return BeliefSolution(
        solved_for=solved_for,
        prior=from_units(int(prior * 10**9)),
        sensitivity=sensitivity,
        epsilon=limit.epsilon,
        odds_ratio=odds_ratio(limit.epsilon) if limit.odds is None else _digits_down(limit.odds),
        belief=limit.belief,
        scale=scale,
        queries=queries,
        epsilon_used=None if used is None else ceil_to_grid(used),
        belief_reached=None if used is None else _posterior(used, prior),
    )


def _posterior(epsilon: Fraction, prior: Fraction) -> Decimal:
    highest = 1 / (1 + (1 - prior) / prior * exp_down(-epsilon))
    units = math.ceil(highest * 10**BELIEF_DECIMALS)
    return from_units(units * 10 ** (9 - BELIEF_DECIMALS))


def _odds(belief: Fraction, prior: Fraction) -> Fraction:
    if belief <= prior:
        raise ParameterInvalid(
            parameter="belief",
            rule=say("must be above the prior of {prior}", prior=text(from_units(int(prior * 10**9)))),
            given=text(from_units(int(belief * 10**9))),
        )
    return belief * (1 - prior) / (prior * (1 - belief))


def _text_or_none(value: Decimal | None) -> str | None:
    return None if value is None else text(value)


def _digits_down(odds: Fraction) -> Decimal:
    down = Context(prec=ODDS_DIGITS, rounding=ROUND_FLOOR)
    return down.divide(Decimal(odds.numerator), Decimal(odds.denominator))


def _probability(value: ExactLike, *, parameter: str) -> Fraction:
    return Fraction(exact(value, parameter=parameter, below=1))


def _number_of_queries(queries: int) -> int:
    if isinstance(queries, bool) or not isinstance(queries, int) or not 1 <= queries <= MOST:
        raise ParameterInvalid(
            parameter="queries",
            rule=say("must be a whole number between 1 and {most}", most=MOST),
            given=shown(queries),
        )
    return queries


def _check_two(**given: bool) -> None:
    names = [name for name, there in given.items() if there]
    if len(names) != 2:
        received = [say("belief (or epsilon)") if name == "limit" else name for name in names]
        raise ParameterInvalid(
            parameter=Phrase("two of belief (or epsilon), scale and queries"),
            rule=say("must be given, and the third left out"),
            given=say_list(received) or say("none"),
        )
