"""Each sampler against its exact law, and against faults that the same test must reject.

For the nearest fault at CDF distance `gap`, n = 2*ln(2/alpha)/gap**2 draws keep a true sampler within gap/2
of its law but for a probability alpha (Dvoretzky-Kiefer-Wolfowitz with Massart's constant), and a faulty one
beyond it likewise. With alpha = 1e-8 per comparison and fewer than 100 comparisons here, a false alarm in the
whole file has probability below 1e-6. Entropy is fresh and nothing is rerun.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.noise import (
    Run,
    SystemEntropy,
    discrete_gaussian,
    discrete_laplace,
    gaussian_tail,
    geometric,
    polya,
    respond_array,
    select,
    uniform_array_below,
    uniform_below,
)

pytestmark = pytest.mark.statistical

ALPHA = 1e-8
ENTROPY = SystemEntropy()
FLOATS = np.random.default_rng()

Law = dict[int, float]
Sampler = Callable[[int], Iterable[int]]


@dataclass(frozen=True)
class Case:
    """A sampler, its law, and faults: each a sampler with a law of its own."""

    name: str
    law: Law
    sampler: Sampler
    faults: dict[str, tuple[Law, Sampler]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def normalised(weights: Law) -> Law:
    total = math.fsum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def distance(one: Law, other: Law) -> float:
    """The largest difference of the two distribution functions."""
    apart = worst = 0.0
    for value in sorted({*one, *other}):
        apart += one.get(value, 0.0) - other.get(value, 0.0)
        worst = max(worst, abs(apart))
    return worst


def empirical(values: Iterable[int]) -> Law:
    return normalised({value: float(count) for value, count in Counter(values).items()})


def each(draw: Callable[[], int]) -> Sampler:
    return lambda n: [draw() for _ in range(n)]


def plus_one(sampler: Sampler) -> Sampler:
    return lambda n: [value + 1 for value in sampler(n)]


def shifted(law: Law) -> Law:
    return {value + 1: weight for value, weight in law.items()}


def laplace_law(scale: float) -> Law:
    reach = math.ceil(45 * scale)
    return normalised({z: math.exp(-abs(z) / scale) for z in range(-reach, reach + 1)})


def gaussian_law(sigma: float) -> Law:
    reach = math.ceil(10 * sigma)
    return normalised({z: math.exp(-z * z / (2 * sigma * sigma)) for z in range(-reach, reach + 1)})


def geometric_law(scale: float) -> Law:
    return normalised({x: math.exp(-x / scale) for x in range(math.ceil(45 * scale))})


def polya_law(shape: float, scale: float) -> Law:
    law, weight = {}, 1.0
    for x in range(math.ceil(60 * scale)):
        law[x] = weight
        weight *= (x + shape) / (x + 1) * math.exp(-1 / scale)
    return normalised(law)


def rounded_laplace_law(scale: float) -> Law:
    """A float Laplace draw rounded to the nearest integer: a wrong law, though it looks right."""
    step = math.exp(-1 / scale)
    law = {0: 1 - math.exp(-1 / (2 * scale))}
    for z in range(1, math.ceil(45 * scale)):
        law[z] = law[-z] = math.sinh(1 / (2 * scale)) * step**z
    return law


def rounded_laplace(scale: float) -> Sampler:
    return lambda n: np.rint(FLOATS.laplace(scale=scale, size=n)).astype(int).tolist()


def scale_faults(
    law: Callable[[float], Law], sampler: Callable[[Fraction], Sampler], scale: Fraction
) -> dict[str, tuple[Law, Sampler]]:
    return {
        "scale +25%": (law(float(scale * 5 / 4)), sampler(scale * 5 / 4)),
        "scale -25%": (law(float(scale * 3 / 4)), sampler(scale * 3 / 4)),
        "support off by one": (shifted(law(float(scale))), plus_one(sampler(scale))),
    }


def laplace_sampler(scale: Fraction) -> Sampler:
    return each(lambda: discrete_laplace(ENTROPY, scale=scale))


def laplace_release(scale: Fraction) -> Sampler:
    return lambda n: DiscreteLaplace(scale=scale).release([0] * n)


def gaussian_sampler(scale: Fraction) -> Sampler:
    return each(lambda: discrete_gaussian(ENTROPY, variance=scale * scale))


def gaussian_release(scale: Fraction) -> Sampler:
    return lambda n: DiscreteGaussian(scale=scale).release([0] * n)


def tail_law(sigma: float) -> Law:
    """From 2 on: where a draw goes that lies beyond the end of a table."""
    return normalised({z: weight for z, weight in gaussian_law(sigma).items() if z >= 2})


def tail_sampler(scale: Fraction) -> Sampler:
    return each(lambda: gaussian_tail(ENTROPY, variance=scale * scale, start=2))


def geometric_sampler(scale: Fraction) -> Sampler:
    return each(lambda: geometric(ENTROPY, scale=scale))


def polya_sampler(scale: Fraction) -> Sampler:
    return each(lambda: polya(ENTROPY, shape=Fraction(1, 3), scale=scale))


def uniform_sampler(n: int) -> Sampler:
    return each(lambda: uniform_below(ENTROPY, n))


def uniform_law(n: int) -> Law:
    return dict.fromkeys(range(n), 1 / n)


def noise_cases() -> list[Case]:
    cases = []
    for scale in (Fraction(3, 4), Fraction(5)):
        exact = laplace_law(float(scale))
        for name, sampler in (("discrete_laplace", laplace_sampler), ("DiscreteLaplace", laplace_release)):
            faults = scale_faults(laplace_law, sampler, scale)
            if scale < 1:
                rounded = rounded_laplace_law(float(scale)), rounded_laplace(float(scale))
                faults["rounded float"] = rounded
            cases.append(Case(f"{name}({scale})", exact, sampler(scale), faults))
    for scale in (Fraction(3, 4), Fraction(6)):
        for name, sampler in (
            ("discrete_gaussian", gaussian_sampler),
            ("DiscreteGaussian", gaussian_release),
        ):
            faults = scale_faults(gaussian_law, sampler, scale)
            cases.append(Case(f"{name}({scale})", gaussian_law(float(scale)), sampler(scale), faults))
    return cases


def other_cases() -> list[Case]:
    scale = Fraction(7, 2)
    polya_faults = scale_faults(lambda s: polya_law(1 / 3, s), polya_sampler, scale)
    return [
        Case(
            "geometric",
            geometric_law(float(scale)),
            geometric_sampler(scale),
            scale_faults(geometric_law, geometric_sampler, scale),
        ),
        Case("gaussian_tail", tail_law(3.5), tail_sampler(scale), scale_faults(tail_law, tail_sampler, scale)),
        Case("polya", polya_law(1 / 3, float(scale)), polya_sampler(scale), polya_faults),
        Case(
            "uniform_below",
            uniform_law(13),
            uniform_sampler(13),
            {
                "one too few": (uniform_law(12), uniform_sampler(12)),
                "one too many": (uniform_law(14), uniform_sampler(14)),
                "remainder instead of rejection": (
                    normalised({r: 1.0 + (r < 3) for r in range(13)}),
                    each(lambda: uniform_below(ENTROPY, 16) % 13),
                ),
            },
        ),
        Case(
            "uniform_array_below",
            uniform_law(13),
            lambda n: uniform_array_below(ENTROPY, 13, count=n).tolist(),
            {"one too few": (uniform_law(12), uniform_sampler(12))},
        ),
    ]


@pytest.mark.parametrize("case", [*noise_cases(), *other_cases()], ids=str)
def test_sampler_has_its_law_and_faults_are_rejected(case: Case) -> None:
    gap = min(distance(case.law, law) for law, _ in case.faults.values())
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert distance(case.law, empirical(case.sampler(n))) < gap / 2
    for name, (_, faulty) in case.faults.items():
        assert distance(case.law, empirical(faulty(n))) > gap / 2, f"{name} was not found"


def response_law(epsilon: float, categories: int, answer: int) -> Law:
    keep = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    law = dict.fromkeys(range(categories), (1 - keep) / (categories - 1))
    return {**law, answer: keep}


def binary_keep_law(epsilon: float, categories: int, answer: int) -> Law:
    """The classic mistake: p = e^eps / (1 + e^eps) for more than two categories."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return {**dict.fromkeys(range(categories), (1 - keep) / (categories - 1)), answer: keep}


def test_randomised_response_has_its_law() -> None:
    categories, answer, epsilon = 6, 2, Fraction(3, 2)

    def reports(at: Fraction, n: int) -> list[int]:
        drawn: list[int] = respond_array(ENTROPY, np.full(n, answer), epsilon=at, categories=categories).tolist()
        return drawn

    law = response_law(1.5, categories, answer)
    nearest = min(distance(law, response_law(1.5 * factor, categories, answer)) for factor in (0.75, 1.25))
    n = math.ceil(2 * math.log(2 / ALPHA) / nearest**2)
    assert distance(law, empirical(reports(epsilon, n))) < nearest / 2
    for factor in (Fraction(3, 4), Fraction(5, 4)):
        assert distance(law, empirical(reports(epsilon * factor, n))) > nearest / 2
    assert distance(law, binary_keep_law(1.5, categories, answer)) > nearest
    assert distance(law, empirical((r + 1) % categories for r in reports(epsilon, n))) > nearest / 2


def test_selection_has_its_law_over_runs() -> None:
    runs: list[Run] = [(0, 40), (-1, 2), (Fraction(5, 2), 3), (4, 1), (-100, 10**6)]
    starts = [0, 40, 42, 45, 46]

    def law(rate: float) -> Law:
        weights = {
            start + place: math.exp(rate * float(score))
            for start, (score, multiplicity) in zip(starts, runs, strict=True)
            for place in range(min(multiplicity, 50))
        }
        return normalised(weights)

    def sampler(rate: Fraction) -> Sampler:
        def draw() -> int:
            choice = select(ENTROPY, runs, rate=rate)
            return starts[choice.run] + choice.offset

        return each(draw)

    exact = law(0.8)
    faults = {factor: law(0.8 * float(factor)) for factor in (Fraction(3, 4), Fraction(5, 4))}
    gap = min(distance(exact, wrong) for wrong in faults.values())
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)
    assert distance(exact, empirical(sampler(Fraction(4, 5))(n))) < gap / 2
    for factor in faults:
        assert distance(exact, empirical(sampler(Fraction(4, 5) * factor)(n))) > gap / 2
    assert distance(exact, empirical(plus_one(sampler(Fraction(4, 5)))(n))) > gap / 2


def test_shares_of_a_geometric_draw_add_up_to_it() -> None:
    """Five draws of shape 1/5 are one geometric draw: what lets respondents share the noise among them."""
    scale = Fraction(3)
    law = geometric_law(3.0)
    faults = {f: geometric_law(3.0 * float(f)) for f in (Fraction(3, 4), Fraction(5, 4))}
    gap = min(distance(law, wrong) for wrong in faults.values())
    n = math.ceil(2 * math.log(2 / ALPHA) / gap**2)

    def total(at: Fraction) -> int:
        return sum(polya(ENTROPY, shape=Fraction(1, 5), scale=at) for _ in range(5))

    assert distance(law, empirical(total(scale) for _ in range(n))) < gap / 2
    assert distance(law, empirical(total(scale * 5 / 4) for _ in range(n))) > gap / 2


LARGE = (1 << 55) + (1 << 20) + 1


def low_bits(values: Iterable[int]) -> Law:
    return empirical((value - LARGE) % 8 for value in values)


@pytest.mark.parametrize("family", [DiscreteLaplace, DiscreteGaussian])
def test_low_bits_of_a_large_value_are_noisy_too(family: type[DiscreteLaplace | DiscreteGaussian]) -> None:
    """A float holds 53 bits, so noise added as a float leaves a pattern in the last three here."""
    exact: Law = {}
    for z, weight in (laplace_law(50.0) if family is DiscreteLaplace else gaussian_law(50.0)).items():
        exact[z % 8] = exact.get(z % 8, 0.0) + weight
    gap = distance(exact, {7: 1.0})  # every float just above 2**55 is a multiple of 8
    n = math.ceil(2 * math.log(2 / ALPHA) / (gap / 4) ** 2)
    assert distance(exact, low_bits(family(scale=Fraction(50)).release([LARGE] * n))) < gap / 8
    floats = [int(value) for value in float(LARGE) + FLOATS.laplace(scale=50, size=n)]
    assert distance(exact, low_bits(floats)) > gap / 2
