"""The exact law of reports of numbers, by walking every branch of the code that draws them.

e^(−ε/2) is replaced by the fraction nearest to it, and e^(−ε) by its square, so that ratios are exact. Laplace draws
have endless branches: their bytes are compared with those of the proved sampler instead (tests/unit/noise).
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.hybrid import Hybrid
from discreet.collect.randomisers.missing_numbers import MISSING, TernaryNumber
from discreet.collect.randomisers.piecewise import Piecewise, WidePiecewise
from discreet.noise.chance import Chance
from tests.randomisers.numbers import law as stated_law
from tests.unit.collect.channels import NUMBERS, Law, root_of_decay, walk_reports, worst_ratio

Walked = Duchi | Piecewise | Hybrid | TernaryNumber


def walk(monkeypatch: pytest.MonkeyPatch, randomiser: Walked, answer: int) -> Law:
    return walk_reports(monkeypatch, randomiser, answer, modules=NUMBERS)


@pytest.mark.parametrize("grid", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("kind", [Duchi, Piecewise, WidePiecewise, Hybrid])
def test_the_code_draws_the_stated_law_and_epsilon(
    kind: type[Duchi | Piecewise | Hybrid], epsilon: str, grid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    randomiser = kind(epsilon=epsilon, grid=grid)
    laws = [walk(monkeypatch, randomiser, x) for x in range(grid + 1)]
    assert all(sum(found.values()) == 1 for found in laws)
    assert worst_ratio(laws) == 1 / root_of_decay(randomiser) ** 2
    for x, found in enumerate(laws):
        stated = stated_law(randomiser, x)
        assert {report for (report,) in found} == set(stated)
        assert all(float(found[(report,)]) == pytest.approx(chance) for report, chance in stated.items())


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_code_hides_whether_a_number_is_missing(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    randomiser = TernaryNumber(epsilon=epsilon, grid=4)
    laws = [walk(monkeypatch, randomiser, x) for x in range(MISSING, 5)]
    assert all(sum(found.values()) == 1 for found in laws)
    assert worst_ratio(laws) == 1 / root_of_decay(randomiser) ** 2
    present = laws[1:]
    assert len({found[(2,)] for found in present}) == 1  # the number says nothing more about being there


def test_the_walk_finds_a_window_whose_chance_forgets_the_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside with chance e^ε/(1 + e^ε) whatever the sizes: nominally 1, really more."""
    randomiser = Piecewise(epsilon=1, grid=6)
    window = 2 * randomiser.half_window() + 1
    root = root_of_decay(randomiser)
    monkeypatch.setattr(
        "discreet.collect.randomisers.piecewise.Chance",
        lambda exponent, **_: Chance(exponent, times=1, plus=1, whole=1),
    )
    laws = [walk(monkeypatch, randomiser, x) for x in range(7)]
    assert worst_ratio(laws) == Fraction(6, window) / root**2
    assert worst_ratio(laws) > 1 / root**2
