"""Optimised local hashing: each respondent draws a hash with few values, and randomises its value at the answer.

Guarantee: local DP, epsilon per report; the hash is drawn without a look at the answer.
Requires:  categories fixed before the answers are known; each respondent draws alone, once.
Proof:     docs/proofs/local-categories.md
Refs:      [WBLJ17]; linear hashing [CW79].

The family is linear: h(x) = Σ a_i·d_i(x + 1) mod g, with the a_i uniform modulo g and d_i(y) the digits of y to a base
that is the least prime factor of g. Two categories differ in some digit by less than that prime, so by a unit modulo
g, and collide with probability exactly 1/g, whether g is prime or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.oracle import CategoryOracle, check_answers, settle_by_odds
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.collect.reporting.wire import read_lists
from discreet.noise import respond_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["LocalHashing", "choose_hash_range", "least_prime_factor"]


@dataclass(frozen=True, slots=True, init=False)
class LocalHashing(CategoryOracle):
    """Reports a hash and a randomised hash value: [a_1, ..., a_m, value]."""

    name: ClassVar[str] = "olh"
    # Above this the best hash has more values than there can be categories: generalised response does better.
    largest_epsilon: ClassVar[int] = 10

    def hash_range(self) -> int:
        """g, the number of hash values: e^ε rounded, plus 1."""
        return choose_hash_range(self.epsilon)

    def coefficients(self) -> int:
        """m, how many numbers make up a hash: the digits of the number of categories."""
        base, number, reach = least_prime_factor(self.hash_range()), 1, self.categories
        while reach >= base:
            reach //= base
            number += 1
        return number

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, with what follows from them."""
        made = {"hash_range": str(self.hash_range()), "coefficients": str(self.coefficients())}
        return {**CategoryOracle.parameters(self), **made}

    def channel(self) -> Channel:
        """p = e^ε/(e^ε + g - 1), q = 1/g."""
        values = self.hash_range()
        return Channel(p=1 / (1 + (values - 1) * math.exp(-float(self.epsilon))), q=1 / values)

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[int64]:
        """A hash and a value for each answer."""
        true = check_answers(answers, categories=self.categories)
        values, length = self.hash_range(), self.coefficients()
        reports = np.empty((true.size, length + 1), dtype=np.int64)
        for index in range(length):
            reports[:, index] = uniform_array_below(entropy, values, count=true.size)
        hashed = self.hash(reports[:, :length], true)
        reports[:, length] = respond_array(entropy, hashed, epsilon=Fraction(self.epsilon), categories=values)
        return reports

    def hash(self, coefficients: NDArray[int64], categories: NDArray[int64] | int) -> NDArray[int64]:
        """The value of each hash at its category, or of all at one; no sum comes near the end of 64 bits."""
        base, values = least_prime_factor(self.hash_range()), self.hash_range()
        total = np.zeros(coefficients.shape[0], dtype=np.int64)
        rest = categories + 1
        for index in range(coefficients.shape[1]):
            total += coefficients[:, index] * (rest % base)
            rest = rest // base
        return total % values

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums; a report supports the categories that its hash sends to its value."""
        drawn, value = np.asfortranarray(reports[:, :-1]), reports[:, -1].copy()
        masks = (self.hash(drawn, category) == value for category in range(self.categories))
        return WeightedCells(cells, weights, number).tally_masks(masks, categories=self.categories)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """Hashes with values, and which of what was received are such."""
        return read_lists(values, below=[self.hash_range()] * (self.coefficients() + 1))


@lru_cache(maxsize=1024)
def choose_hash_range(epsilon: Decimal) -> int:
    """e^ε rounded to the nearest whole number, plus 1."""
    return settle_by_odds(lambda odds: math.floor(odds + Fraction(1, 2)) + 1, epsilon=epsilon)


@lru_cache(maxsize=1024)
def least_prime_factor(number: int) -> int:
    """The smallest prime that divides a number of at least 2."""
    for candidate in range(2, math.isqrt(number) + 1):
        if number % candidate == 0:
            return candidate
    return number
