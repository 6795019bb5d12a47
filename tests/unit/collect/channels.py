"""The exact law of a randomiser's reports, by walking every branch of the code that draws them.

Coins and uniform numbers are scripted, so the code itself is followed, not a formula. e^(−ε/2) is replaced by the
fraction nearest to it, and e^(−ε) by its square: identities between chances then hold without any rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.collect.randomisers.randomiser import Randomiser
from discreet.noise import ByteTape, Entropy
from discreet.noise.chance import Chance

Law = dict[tuple[int, ...], Fraction]
CATEGORIES = ("unary_encoding", "hashing", "subset_selection", "hadamard")
NUMBERS = ("duchi", "piecewise")


def root_of_decay(randomiser: Randomiser) -> Fraction:
    """The fraction that stands for e^(−ε/2)."""
    return Fraction(math.exp(-float(randomiser.epsilon) / 2))


class _Script:
    def __init__(self) -> None:
        self.steps: list[tuple[int, Sequence[Fraction]]] = []
        self.position = 0

    def choose(self, weights: Sequence[Fraction]) -> int:
        if self.position == len(self.steps):
            self.steps.append((0, weights))
        choice = self.steps[self.position][0]
        self.position += 1
        return choice

    def weight(self) -> Fraction:
        return math.prod((weights[choice] for choice, weights in self.steps), start=Fraction(1))

    def advance(self) -> bool:
        """On to the next branch; False when all have been walked."""
        while self.steps and self.steps[-1][0] == len(self.steps[-1][1]) - 1:
            self.steps.pop()
        if not self.steps:
            return False
        choice, weights = self.steps[-1]
        self.steps[-1] = (choice + 1, weights)
        self.position = 0
        return True


def walk_reports(
    monkeypatch: pytest.MonkeyPatch, randomiser: Randomiser, answer: int, *, modules: Sequence[str] = CATEGORIES
) -> Law:
    """Each report that an answer can lead to, with its probability; `modules` are those that draw uniform numbers."""
    script, root = _Script(), root_of_decay(randomiser)
    half = Fraction(randomiser.epsilon) / 2

    def toss(_: Entropy, chance: Chance, *, count: int) -> bytearray:
        decay = root ** int(chance.exponent / half)
        held = chance.times * decay / (chance.whole + chance.plus * decay)
        return bytearray(script.choose([1 - held, held]) for _ in range(count))

    def uniform(_: Entropy, n: int, *, count: int) -> NDArray[np.int64]:
        return np.array([script.choose([Fraction(1, n)] * n) for _ in range(count)], dtype=np.int64)

    law: Law = {}
    with monkeypatch.context() as patch:
        patch.setattr("discreet.noise.chance.toss", toss)
        patch.setattr("discreet.noise.response.uniform_array_below", uniform)
        for module in modules:
            patch.setattr(f"discreet.collect.randomisers.{module}.uniform_array_below", uniform)
        while True:
            report = tuple(randomiser.randomise(ByteTape(b""), np.array([answer])).ravel().tolist())
            law[report] = law.get(report, Fraction(0)) + script.weight()
            if not script.advance():
                return law


def worst_ratio(laws: Sequence[Law]) -> Fraction:
    """The largest ratio of the probabilities of one report under two answers: e to the real epsilon."""
    reports = {report for law in laws for report in law}
    return max(max(law[report] for law in laws) / min(law[report] for law in laws) for report in reports)


def as_array(oracle: CategoryOracle, reports: Sequence[tuple[int, ...]]) -> NDArray[Any]:
    """Walked reports in the shape in which the randomiser draws them."""
    rows = np.array(reports, dtype=np.int64)
    return rows[:, 0] if oracle.name == "grr" else rows


def supports(oracle: CategoryOracle, report: Any, category: int) -> bool:
    """Whether a report supports a category, straight from the definition."""
    if oracle.name == "grr":
        return bool(report == category)
    if oracle.name in ("oue", "rappor"):
        return bool(report[category] == 1)
    if oracle.name == "subset":
        return category in list(report)
    if oracle.name == "hadamard":
        return (int(report[0]) & (category + 1)).bit_count() % 2 == int(report[1])
    values = int(oracle.parameters()["hash_range"])
    base = next(factor for factor in range(2, values + 1) if values % factor == 0)
    hashed, rest = 0, category + 1
    for coefficient in report[:-1]:
        hashed, rest = hashed + int(coefficient) * (rest % base), rest // base
    assert rest == 0, "the hash has a number for each digit"
    return hashed % values == int(report[-1])
