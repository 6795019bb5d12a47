"""The exact law of reports of numbers, by walking every branch of the code that draws them.

e^(−ε/2) is replaced by the fraction nearest to it, and e^(−ε) by its square, so that ratios are exact. Laplace draws
have endless branches: their bytes are compared with those of the proved sampler instead (tests/unit/noise).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.local.duchi import Duchi
from discreet.local.hybrid import Hybrid
from discreet.local.piecewise import Piecewise, WidePiecewise
from discreet.local.ternary import MISSING, TernaryNumber
from discreet.noise import ByteTape, Entropy
from discreet.noise.chance import Chance
from tests.randomisers.numbers import law as stated_law
from tests.unit.local.channels import Law, _Script, worst_ratio

Walked = Duchi | Piecewise | Hybrid | TernaryNumber


def root_of_decay(epsilon: Decimal) -> Fraction:
    return Fraction(math.exp(-float(epsilon) / 2))


def walk(monkeypatch: pytest.MonkeyPatch, randomiser: Walked, answer: int) -> Law:
    """Each report that an answer can lead to, with its probability."""
    script, root, half = _Script(), root_of_decay(randomiser.epsilon), Fraction(randomiser.epsilon) / 2

    def toss(_: Entropy, chance: Chance, *, count: int) -> bytearray:
        decay = root ** int(chance.exponent / half)
        held = chance.times * decay / (chance.whole + chance.plus * decay)
        return bytearray(script.choose([1 - held, held]) for _ in range(count))

    def uniform(_: Entropy, n: int, *, count: int) -> NDArray[np.int64]:
        return np.array([script.choose([Fraction(1, n)] * n) for _ in range(count)], dtype=np.int64)

    found: Law = {}
    with monkeypatch.context() as patch:
        patch.setattr("discreet.local.oracle.toss", toss)
        for module in ("duchi", "piecewise", "response"):
            patch.setattr(f"discreet.local.{module}.uniform_array_below", uniform)
        while True:
            report = tuple(randomiser.randomise(ByteTape(b""), np.array([answer])).tolist())
            found[report] = found.get(report, Fraction(0)) + script.weight()
            if not script.advance():
                return found


@pytest.mark.parametrize("grid", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("kind", [Duchi, Piecewise, WidePiecewise, Hybrid])
def test_the_code_draws_the_stated_law_and_epsilon(
    kind: type[Duchi | Piecewise | Hybrid], epsilon: str, grid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    randomiser = kind(epsilon=epsilon, grid=grid)
    laws = [walk(monkeypatch, randomiser, x) for x in range(grid + 1)]
    assert all(sum(found.values()) == 1 for found in laws)
    assert worst_ratio(laws) == 1 / root_of_decay(randomiser.epsilon) ** 2
    for x, found in enumerate(laws):
        stated = stated_law(randomiser, x)
        assert {report for (report,) in found} == set(stated)
        assert all(float(found[(report,)]) == pytest.approx(chance) for report, chance in stated.items())


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_code_hides_whether_a_number_is_missing(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    randomiser = TernaryNumber(epsilon=epsilon, grid=4)
    laws = [walk(monkeypatch, randomiser, x) for x in range(MISSING, 5)]
    assert all(sum(found.values()) == 1 for found in laws)
    assert worst_ratio(laws) == 1 / root_of_decay(randomiser.epsilon) ** 2
    present = laws[1:]
    assert len({found[(2,)] for found in present}) == 1  # the number says nothing more about being there


def test_the_walk_finds_a_window_whose_chance_forgets_the_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside with chance e^ε/(1 + e^ε) whatever the sizes: nominally 1, really more."""
    randomiser = Piecewise(epsilon=1, grid=6)
    window = 2 * randomiser.half_window() + 1
    root = root_of_decay(randomiser.epsilon)
    monkeypatch.setattr(
        "discreet.local.piecewise.Chance", lambda exponent, **_: Chance(exponent, times=1, plus=1, whole=1)
    )
    laws = [walk(monkeypatch, randomiser, x) for x in range(7)]
    assert worst_ratio(laws) == Fraction(6, window) / root**2
    assert worst_ratio(laws) > 1 / root**2
