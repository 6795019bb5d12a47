"""Laws of the samplers and enclosures that hold for every parameter."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.lab.study import SeededEntropy
from discreet.noise import (
    ByteTape,
    Run,
    discrete_gaussian,
    discrete_laplace,
    discrete_laplace_many,
    gaussian_tail,
    geometric,
    polya,
    respond_array,
    select,
    uniform_below,
)
from discreet.noise.bits import expand
from discreet.noise.chance import Chance, toss
from discreet.noise.enclosure import enclose_exp_minus
from discreet.noise.gaussian_array import discrete_gaussian_array
from discreet.noise.quantile import gaussian_half_width, laplace_half_width, laplace_threshold

scales = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**6)
levels = st.integers(1, 10**9 - 1).map(lambda units: Fraction(units, 10**9))
seeds = st.integers(0, 2**64)


@given(st.fractions(min_value=0, max_value=500, max_denominator=10**12), st.integers(1, 300))
def test_finer_enclosures_nest(x: Fraction, bits: int) -> None:
    low, high = enclose_exp_minus(x, bits=bits)
    fine_low, fine_high = enclose_exp_minus(x, bits=bits + 64)
    assert 0 <= low <= high <= 1 << bits
    assert high - low <= 2
    assert fine_low <= high << 64
    assert low << 64 <= fine_high


@given(st.integers(1, 2**70), seeds)
def test_uniform_stays_below_and_reads_whole_draws(n: int, seed: int) -> None:
    data = SeededEntropy(seed).read(4096)
    tape = ByteTape(data)
    size = ((n - 1).bit_length() + 7) // 8
    assert 0 <= uniform_below(tape, n) < n
    assert (tape.used == 0) if n == 1 else (tape.used % size == 0 and tape.used > 0)


@given(scales, seeds)
def test_the_same_bytes_give_the_same_draws(scale: Fraction, seed: int) -> None:
    draws = [
        (
            geometric(entropy, scale=scale),
            discrete_laplace(entropy, scale=scale),
            discrete_gaussian(entropy, variance=scale * scale),
            polya(entropy, shape=Fraction(1, 7), scale=scale),
            discrete_laplace_many(entropy, scale=scale, count=5),
            gaussian_tail(entropy, variance=scale * scale, start=math.ceil(scale)),
        )
        for entropy in (SeededEntropy(seed), SeededEntropy(seed))
    ]
    assert draws[0] == draws[1]
    assert draws[0][0] >= 0
    assert draws[0][3] >= 0
    assert draws[0][5] >= scale


@given(scales, st.integers(0, 40), seeds)
def test_many_draws_are_their_columns_put_together(scale: Fraction, count: int, seed: int) -> None:
    """Cell by cell from the coins, the slow way; the coins themselves are tested elsewhere."""
    drawn = discrete_laplace_many(SeededEntropy(seed), scale=scale, count=count)
    entropy, digits = SeededEntropy(seed), expand(scale)
    signs = [1 - 2 * (byte % 2) for byte in entropy.read(count)]
    nonzero = toss(entropy, digits.nonzero, count=count)
    columns = [toss(entropy, chance, count=count) for chance in digits.places]
    for cell in range(count):
        magnitude = 1 + sum(column[cell] * 2**place for place, column in enumerate(columns))
        assert drawn[cell] == signs[cell] * nonzero[cell] * magnitude
    assert len(drawn) == count


@given(scales, st.integers(1, 10**12 - 1).map(lambda units: Fraction(units, 10**12)))
def test_a_threshold_agrees_with_the_half_width_of_twice_the_chance(scale: Fraction, probability: Fraction) -> None:
    t = laplace_threshold(scale=scale, probability=probability)
    if t > 1:
        assert t == 1 + laplace_half_width(scale=scale, level=1 - 2 * probability)
    else:
        # P(Z >= t) <= p is P(Z >= 1-t) >= 1-p: one step further out it is not.
        assert laplace_threshold(scale=scale, probability=1 - probability) == 2 - t


@given(st.integers(1, 10**9), st.integers(2, 500))
def test_digits_of_a_chance_extend_each_other_and_lie_within_it(units: int, categories: int) -> None:
    others = categories - 1
    chance = Chance(Fraction(units, 10**7), times=others, plus=others)
    assert chance.leading(2) >> 64 == chance.leading(1)
    assert 0 <= chance.leading(1) <= 2**64 * others // categories


@given(st.integers(2, 400), st.data(), seeds)
def test_reports_are_categories(categories: int, data: st.DataObject, seed: int) -> None:
    answers = data.draw(st.lists(st.integers(0, categories - 1), max_size=20))
    array = np.array(answers, dtype=np.int64)
    reports = respond_array(SeededEntropy(seed), array, epsilon=Fraction(1, 3), categories=categories).tolist()
    assert len(reports) == len(answers)
    assert all(0 <= report < categories for report in reports)


@given(st.fractions(min_value=Fraction(1, 100), max_value=2**104), st.integers(1, 20), seeds)
def test_a_gaussian_vector_repeats_with_its_bytes(variance: Fraction, count: int, seed: int) -> None:
    first, second = (discrete_gaussian_array(SeededEntropy(seed), variance=variance, count=count) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert abs(first).max() < 10 * (1 + math.isqrt(int(variance)))


runs = st.lists(st.tuples(st.integers(-50, 50) | st.fractions(-9, 9, max_denominator=9), st.integers(0, 10**12)))


@given(runs, st.fractions(min_value=Fraction(1, 1000), max_value=100), seeds)
def test_a_choice_lies_in_its_run_and_shifting_all_scores_changes_nothing(
    candidates: list[Run], rate: Fraction, seed: int
) -> None:
    assume(any(multiplicity for _, multiplicity in candidates))
    choice = select(SeededEntropy(seed), candidates, rate=rate)
    assert 0 <= choice.offset < candidates[choice.run][1]
    shifted: list[Run] = [(score + Fraction(17, 3), multiplicity) for score, multiplicity in candidates]
    assert select(SeededEntropy(seed), shifted, rate=rate) == choice


@given(scales, levels, levels)
def test_a_higher_level_reaches_as_far_or_further(scale: Fraction, one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    assert laplace_half_width(scale=scale, level=low) <= laplace_half_width(scale=scale, level=high)
    assert gaussian_half_width(scale=scale, level=low) <= gaussian_half_width(scale=scale, level=high)


@given(scales, st.integers(10**6, 999 * 10**6).map(lambda units: Fraction(units, 10**9)))
def test_laplace_reach_is_that_of_the_formula(scale: Fraction, level: Fraction) -> None:
    t = laplace_half_width(scale=scale, level=level)
    rate = float(1 / scale)

    def missing(reach: int) -> float:
        return 2 * math.exp(-rate * (reach + 1)) / (1 + math.exp(-rate))

    assert missing(t) <= float(1 - level) * (1 + 1e-9)
    assert t == 0 or missing(t - 1) >= float(1 - level) * (1 - 1e-9)
