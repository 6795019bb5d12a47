"""Many Laplace draws at once against their exact law, with faults planted in single digits.

The law of any set of chances is computed from the chances themselves, so a fault's distance is known before it is
drawn. For the nearest fault at CDF distance `gap`, n = 2*ln(2/alpha)/gap**2 draws keep a true sampler within gap/2 of
its law but for a probability alpha, and a faulty one beyond it likewise (Dvoretzky-Kiefer-Wolfowitz with Massart's
constant). With alpha = 1e-8 and fewer than 100 comparisons here, a false alarm in the whole file has probability below
1e-6. Entropy is fresh and nothing is rerun.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import SystemEntropy, discrete_laplace, discrete_laplace_many
from discreet.noise.bits import Digits, draw_batch, expand
from discreet.noise.chance import Chance

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ENTROPY = SystemEntropy()
NEVER = Fraction(10**4)

Law = NDArray[np.float64]


def chance_of(chance: Chance) -> float:
    e = math.exp(-chance.exponent)
    return chance.times * e / (1 + chance.plus * e)


def law_of(digits: Digits, reach: int) -> Law:
    """P(Z = z) for z = -reach .. reach, for any chances, right or wrong."""
    magnitudes: Law = np.ones(1)
    for chance in digits.places:
        p = chance_of(chance)
        magnitudes = np.concatenate([magnitudes * (1 - p), magnitudes * p])
    beyond, blocks = chance_of(digits.beyond), reach // magnitudes.size + 1
    magnitudes = np.concatenate([magnitudes * (1 - beyond) * beyond**k for k in range(blocks)])[:reach]
    half = magnitudes * chance_of(digits.nonzero) / 2
    return np.concatenate([half[::-1], [1 - chance_of(digits.nonzero)], half])


def laplace_law(scale: Fraction, reach: int) -> Law:
    steps = np.abs(np.arange(-reach, reach + 1))
    return np.asarray(np.tanh(1 / (2 * float(scale))) * np.exp(-steps / float(scale)))


def distance(one: Law, other: Law) -> float:
    return float(np.abs(np.cumsum(one - other)).max())


def empirical(drawn: list[int], reach: int) -> Law:
    values = np.clip(np.array(drawn, dtype=np.int64), -reach, reach)
    return np.bincount(values + reach, minlength=2 * reach + 1) / len(drawn)


def draw(digits: Digits, n: int) -> list[int]:
    batches = [min(1 << 16, n - start) for start in range(0, n, 1 << 16)]
    return [value for count in batches for value in draw_batch(ENTROPY, digits, count=count)]


def with_place(digits: Digits, place: int, change: Callable[[Chance], Chance]) -> Digits:
    places = list(digits.places)
    places[place] = change(places[place])
    return replace(digits, places=tuple(places))


def scaled(chance: Chance, factor: Fraction) -> Chance:
    return replace(chance, exponent=chance.exponent * factor)


def planted(digits: Digits) -> dict[str, Digits]:
    """Faults whose distance is large enough to be found with two million draws."""
    faults = {
        "zero too often": replace(digits, nonzero=scaled(digits.nonzero, Fraction(5, 4))),
        "zero counted twice": replace(digits, nonzero=replace(digits.nonzero, times=1)),
        "beyond too often": replace(digits, beyond=scaled(digits.beyond, Fraction(3, 4))),
        "beyond never": replace(digits, beyond=Chance(NEVER, plus=0)),
        "places in the wrong order": replace(digits, places=digits.places[::-1]),
    }
    for place in range(len(digits.places)):
        faults[f"digit {place} off"] = with_place(digits, place, lambda c: scaled(c, Fraction(5, 4)))
        faults[f"digit {place} missing"] = with_place(digits, place, lambda c: scaled(c, NEVER))
    return faults


@pytest.mark.parametrize(
    ("scale", "reach", "found"),
    [
        (Fraction(3, 4), 2, {"zero counted twice", "beyond never", "digit 0 missing"}),
        (Fraction(5), 1, {"beyond too often", "beyond never", "digit 1 off", "digit 2 off", "digit 2 missing"}),
        (Fraction(10, 3), 45, {"zero too often", "digit 0 missing", "digit 1 off", "digit 3 off", "digit 3 missing"}),
    ],
)
def test_draws_have_their_law_and_faulty_digits_do_not(scale: Fraction, reach: int, found: set[str]) -> None:
    """A short reach makes the coin beyond the digits count; the law is the same for every reach.

    Faults at a distance below .005 would need too many draws here; those that must be found are named.
    """
    digits, end = expand(scale, reach=reach), math.ceil(45 * scale)
    exact = laplace_law(scale, end)
    assert distance(exact, law_of(digits, end)) < 1e-12
    faults = {name: faulty for name, faulty in planted(digits).items() if distance(exact, law_of(faulty, end)) > 0.005}
    assert found <= faults.keys()
    gap = min(distance(exact, law_of(faulty, end)) for faulty in faults.values())
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert distance(exact, empirical(draw(digits, n), end)) < gap / 2
    for name, faulty in faults.items():
        assert distance(exact, empirical(draw(faulty, n), end)) > gap / 2, f"{name} was not found"


def distribution(values: NDArray[Any], scale: float) -> Law:
    """P(Z <= value) of the discrete Laplace law."""
    step = math.exp(-1 / scale)
    tail = np.exp(-(np.abs(values) + (values >= 0)) / scale) / (1 + step)
    return np.asarray(np.where(values < 0, tail, 1 - tail))


def farthest(drawn: list[int], scale: float) -> float:
    """The largest distance of the distribution functions, found at the values drawn and just below them."""
    values, counts = np.unique(np.array(drawn, dtype=np.int64), return_counts=True)
    at = np.cumsum(counts) / len(drawn)
    above = np.abs(at - distribution(values, scale)).max()
    below = np.abs(at - counts / len(drawn) - distribution(values - 1, scale)).max()
    return float(max(above, below))


@pytest.mark.parametrize("scale", [10**3, 10**6, 10**9, 2**52])
def test_wide_draws_have_their_law_and_a_wrong_scale_does_not(scale: int) -> None:
    near = np.arange(-8, 8, 1e-4) * scale
    gap = float(np.abs(distribution(near, scale) - distribution(near, 1.15 * scale)).max())
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert farthest(discrete_laplace_many(ENTROPY, scale=Fraction(scale), count=n), scale) < gap / 2
    wide = discrete_laplace_many(ENTROPY, scale=Fraction(scale) * 23 / 20, count=n)
    assert farthest(wide, scale) > gap / 2


def share_of(digits: Digits, place: int, n: int) -> float:
    """How often a digit of the magnitude is 1, among the cells that are not 0."""
    magnitudes = [abs(value) - 1 for value in draw(digits, n) if value]
    return sum(magnitude >> place & 1 for magnitude in magnitudes) / len(magnitudes)


@pytest.mark.parametrize("place", [0, 7, 8, 15, 16, 24, 29, 30, 31])
def test_each_digit_of_a_wide_draw_is_a_coin_of_its_chance(place: int) -> None:
    """On both sides of the bounds of bytes; at scale 1e9 no cell of these is 0."""
    scale, n = Fraction(10**9), 60_000
    digits, expected = expand(scale), chance_of(Chance(2**place / scale))
    slack = math.sqrt(math.log(2 / ALPHA) / (2 * n))  # Hoeffding
    assert abs(share_of(digits, place, n) - expected) < slack
    missing = with_place(digits, place, lambda chance: scaled(chance, NEVER * scale))
    assert abs(share_of(missing, place, n) - expected) > slack
    if place > 28:  # further down the chances of neighbours hardly differ
        shifted = replace(digits, places=digits.places[1:])
        assert abs(share_of(shifted, place, n) - expected) > slack


def test_digits_signs_and_neighbours_are_independent() -> None:
    """Products of centred coins average 0 within Hoeffding's bound; a shared byte would give 1/4."""
    n = 200_000
    drawn = np.array(discrete_laplace_many(ENTROPY, scale=Fraction(2**40), count=n), dtype=np.int64)
    magnitude = np.abs(drawn) - 1
    coins = [(magnitude >> place & 1) - 0.5 for place in (0, 1, 7, 8, 9)] + [(drawn < 0) - 0.5]
    slack = math.sqrt(math.log(2 / ALPHA) / (8 * n))  # products lie within ±1/4
    for i, one in enumerate(coins):
        assert abs(float(np.mean(one[1:] * one[:-1]))) < slack
        for other in coins[:i]:
            assert abs(float(np.mean(one * other))) < slack
    assert float(np.mean(coins[0] * coins[0])) > slack


def test_the_reference_sampler_agrees() -> None:
    """Two samples of n = 8*ln(4/alpha)/gap**2 each: equal laws come within gap/2, laws at distance gap do not.

    A coarse look, for both samplers are held to their law above and in test_laws.py.
    """
    scale, end = Fraction(4, 3), 60
    gap = distance(laplace_law(scale, end), laplace_law(scale * 3 / 2, end))
    n = math.ceil(8 * math.log(4 / ALPHA) / gap**2)
    reference = empirical([discrete_laplace(ENTROPY, scale=scale) for _ in range(n)], end)
    assert distance(empirical(discrete_laplace_many(ENTROPY, scale=scale, count=n), end), reference) < gap / 2
    wide = discrete_laplace_many(ENTROPY, scale=scale * 3 / 2, count=n)
    assert distance(empirical(wide, end), reference) > gap / 2
