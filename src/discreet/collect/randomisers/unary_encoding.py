"""Unary encoding: one bit per category, each randomised by itself.

Guarantee: local DP, epsilon per report (all bits together).
Requires:  categories fixed before the answers are known; each respondent draws alone, once.
Proof:     docs/proofs/local-categories.md
Refs:      [WBLJ17] for the optimised form; [EPK14] for the symmetric one.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.collect.estimates.estimators.tallies import WeightedCells
from discreet.collect.randomisers.oracle import CategoryOracle, check_answers
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.noise import Chance, toss_array, uniform_array_below

if TYPE_CHECKING:
    from numpy import bool_, int64, uint8
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["OptimisedUnary", "SymmetricUnary", "UnaryEncoding"]

_BLOCK: Final = 1 << 23  # coins drawn at a time, so that drawing takes little more memory than the reports


@dataclass(frozen=True, slots=True, init=False)
class UnaryEncoding(CategoryOracle):
    """Reports are rows of bits, 1 where a category is supported; on the wire hexadecimal, the first category first."""

    # A longer row of bits costs more to send than local hashing, at the same variance.
    largest_categories: ClassVar[int] = 1024

    @abstractmethod
    def _draw(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[uint8]:
        """The rows of bits for some answers."""

    def randomise(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[uint8]:
        """A row of bits (0 or 1, one byte each) for each answer."""
        true = check_answers(answers, categories=self.categories)
        rows = max(1, _BLOCK // self.categories)
        reports = np.empty((true.size, self.categories), dtype=np.uint8)
        for start in range(0, true.size, rows):
            reports[start : start + rows] = self._draw(entropy, true[start : start + rows])
        return reports

    def tally(
        self, reports: NDArray[Any], *, cells: NDArray[int64], weights: NDArray[int64], number: int
    ) -> ReportTally:
        """Exact sums; a report supports the categories whose bits are 1."""
        masks = (reports[:, category] == 1 for category in range(self.categories))
        return WeightedCells(cells, weights, number).tally_masks(masks, categories=self.categories)

    def wire_form(self, reports: NDArray[Any]) -> NDArray[Any]:
        """The bits in hexadecimal, filled up with zeros to whole bytes."""
        digits = np.packbits(reports, axis=1).tobytes().hex().encode("ascii")
        return np.frombuffer(digits, dtype=f"S{2 * self._octets()}")

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[uint8], NDArray[bool_]]:
        """Rows of bits, and which values are such: lower-case digits, the right number, zeros at the end."""
        shape = re.compile(f"[0-9a-f]{{{2 * self._octets()}}}")
        blank = "00" * self._octets()
        shaped = [isinstance(value, str) and shape.fullmatch(value) is not None for value in values]
        digits = "".join(str(value) if known else blank for value, known in zip(values, shaped, strict=True))
        packed = np.frombuffer(bytes.fromhex(digits), dtype=np.uint8).reshape(-1, self._octets())
        bits = np.unpackbits(packed, axis=1)
        valid = np.array(shaped, dtype=np.bool_) & ~bits[:, self.categories :].any(axis=1)
        return bits[:, : self.categories], valid

    def _octets(self) -> int:
        return -(-self.categories // 8)


@dataclass(frozen=True, slots=True, init=False)
class OptimisedUnary(UnaryEncoding):
    """The true bit is a fair coin; every other bit is 1 with chance 1/(e^ε + 1)."""

    name: ClassVar[str] = "oue"

    def channel(self) -> Channel:
        """p = 1/2, q = 1/(e^ε + 1)."""
        decay = math.exp(-float(self.epsilon))
        return Channel(p=0.5, q=decay / (1 + decay))

    def _draw(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[uint8]:
        chance = Chance(Fraction(self.epsilon))
        coins = toss_array(entropy, chance, count=answers.size * self.categories)
        bits = coins.view(np.uint8).reshape(-1, self.categories)
        bits[np.arange(answers.size), answers] = uniform_array_below(entropy, 2, count=answers.size)
        return bits


@dataclass(frozen=True, slots=True, init=False)
class SymmetricUnary(UnaryEncoding):
    """Every bit of the one-hot answer is flipped with chance 1/(e^(ε/2) + 1), as in basic one-time RAPPOR."""

    name: ClassVar[str] = "rappor"

    def channel(self) -> Channel:
        """p = e^(ε/2)/(e^(ε/2) + 1), q = 1 - p."""
        decay = math.exp(-float(self.epsilon) / 2)
        return Channel(p=1 / (1 + decay), q=decay / (1 + decay))

    def _draw(self, entropy: Entropy, answers: NDArray[int64]) -> NDArray[uint8]:
        chance = Chance(Fraction(self.epsilon) / 2)
        coins = toss_array(entropy, chance, count=answers.size * self.categories)
        bits = coins.view(np.uint8).reshape(-1, self.categories)
        bits[np.arange(answers.size), answers] ^= 1
        return bits
