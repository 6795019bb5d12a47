"""The table of the discrete Gaussian: bounds that hold, words read as stated, and every way a draw is settled."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.noise import ByteTape, SystemEntropy, gaussiantable
from discreet.noise.gaussiantable import LARGEST_VARIANCE, Table, discrete_gaussian_array, draw_from, make_table

VARIANCES = [Fraction(1, 36), Fraction(1, 9), Fraction(1), Fraction(50, 9), Fraction(10**4)]


def chances(variance: Fraction) -> list[Decimal]:
    """P(|Z| <= k) to 100 digits, summed term by term from the definition."""
    with localcontext() as context:
        context.prec = 120
        reach = 40 * (isqrt(int(variance)) + 1)
        weights = [(-Decimal(k * k * variance.denominator) / (2 * variance.numerator)).exp() for k in range(reach)]
        doubled = [weights[0], *(2 * weight for weight in weights[1:])]
        total, sums, running = sum(doubled), [], Decimal(0)
        for weight in doubled:
            running += weight
            sums.append(running / total)
        return sums


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_bounds_hold_and_are_tight(variance: Fraction) -> None:
    table, exact = make_table(variance), chances(variance)
    assert len(table.low) == len(table.high) == isqrt(-(-90 * variance.numerator // variance.denominator)) + 2
    with localcontext() as context:
        context.prec = 100
        for low, high, chance in zip(table.low.tolist(), table.high.tolist(), exact, strict=False):
            assert Decimal(low) <= chance * 2**63 < high + 1
            assert high - low <= 1


@pytest.mark.parametrize("variance", VARIANCES)
def test_a_word_is_a_sign_and_the_place_of_a_uniform_number(variance: Fraction) -> None:
    words = [0, 1, 2**64 - 2**40, 2**64 - 2**40 + 1, *range(3, 2**64, 2**57 + 12345)]
    exact = chances(variance)
    tape = ByteTape(b"".join(word.to_bytes(8, "big") for word in words))
    drawn = discrete_gaussian_array(tape, variance=variance, count=len(words))
    assert tape.used == 8 * len(words)
    for word, z in zip(words, drawn.tolist(), strict=True):
        magnitude = next(k for k, chance in enumerate(exact) if Decimal(word >> 1) < chance * 2**63)
        assert z == (-magnitude if word & 1 else magnitude)


def test_an_undecided_word_reads_another() -> None:
    """The real number P(Z = 0) goes on after 63 bits; a word below its next 64 bits gives 0, one above gives 1."""
    variance = Fraction(50, 9)
    with localcontext() as context:
        context.prec = 100
        digits = int(chances(variance)[0] * 2**127)
    first, second = digits >> 64, digits & (2**64 - 1)
    assert first == make_table(variance).low[0]
    for step, magnitude in ((-1, 0), (1, 1)):
        for sign in (0, 1):
            tape = ByteTape(((first << 1) | sign).to_bytes(8, "big") + (second + step).to_bytes(8, "big"))
            assert discrete_gaussian_array(tape, variance=variance, count=1).tolist() == [(-1) ** sign * magnitude]
            assert tape.used == 16


def test_wide_bounds_change_nothing_but_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds far apart most draws are settled by their second word, and each comes out the same."""
    variance, count = Fraction(50, 9), 400
    exact = make_table(variance)
    slack = np.int64(2**57)
    wide = Table(variance, exact.low - slack, np.minimum(exact.high + slack, 2**63 - 1))
    settled: list[int] = []
    plain = gaussiantable._settle

    def settle(*args: object) -> int:
        settled.append(plain(*args))  # type: ignore[arg-type]
        return settled[-1]

    monkeypatch.setattr(gaussiantable, "_settle", settle)
    words = SystemEntropy().read(8 * count)
    surplus = bytes(8 * count)
    assert (
        draw_from(wide, ByteTape(words + surplus), count=count).tolist()
        == draw_from(exact, ByteTape(words + surplus), count=count).tolist()
    )
    assert settled


def test_what_lies_beyond_the_table_is_drawn_from_the_tail() -> None:
    """No 63 bits lie beyond a full table: 2**-64 is too small for them. A table cut short shows the way."""
    variance = Fraction(25)
    drawn = gaussiantable._settle(variance, ByteTape(b"\xff" * 8 * 40 + SystemEntropy().read(4000)), 2**63 - 1)
    assert drawn > len(make_table(variance).high) - 1


def test_long_vectors_of_the_mechanism_come_from_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> list[int]:
        raise AssertionError("OpenDP was asked")

    monkeypatch.setattr("discreet.mechanisms.measurement.draw_noise", fail)
    made = DiscreteGaussian(scale=Fraction(3))
    values = list(range(10**30, 10**30 + 3000))
    noise = [noisy - value for noisy, value in zip(made.release(values), values, strict=True)]
    assert all(type(z) is int for z in noise)
    assert 10 < len(set(noise)) < 60
    with pytest.raises(AssertionError, match="OpenDP"):
        made.release([0] * 10)


def test_no_draws_read_nothing() -> None:
    assert discrete_gaussian_array(ByteTape(b""), variance=Fraction(3), count=0).size == 0


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(LARGEST_VARIANCE + 1)])
def test_variances_have_limits(variance: Fraction) -> None:
    with pytest.raises(ValueError, match="variance"):
        discrete_gaussian_array(SystemEntropy(), variance=variance, count=1)
