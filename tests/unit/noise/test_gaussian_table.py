"""The table of the discrete Gaussian: bounds that hold, words read as stated, and every way a number is settled."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from discreet.noise import ByteTape, SystemEntropy
from discreet.noise.gaussian_table import LARGEST_TABLE, ChanceTable, make_table

VARIANCES = [Fraction(1, 36), Fraction(1, 9), Fraction(1), Fraction(50, 9), Fraction(10**4)]
LAWS = [(variance, fold) for variance in VARIANCES for fold in (1, 2)]


def chances(variance: Fraction, fold: int) -> list[Decimal]:
    """P(K <= k) to 100 digits, summed term by term from the definition."""
    with localcontext() as context:
        context.prec = 120
        reach = 40 * (isqrt(int(variance)) + 1)
        weights = [(-Decimal(k * k * variance.denominator) / (2 * variance.numerator)).exp() for k in range(reach)]
        folded = [weights[0], *(fold * weight for weight in weights[1:])]
        total, sums, running = sum(folded), [], Decimal(0)
        for weight in folded:
            running += weight
            sums.append(running / total)
        return sums


@pytest.mark.parametrize(("variance", "fold"), LAWS)
def test_the_bounds_hold_and_are_tight(variance: Fraction, fold: int) -> None:
    table, exact = make_table(variance, fold=fold), chances(variance, fold)
    assert len(table.low) == len(table.high) == isqrt(-(-90 * variance.numerator // variance.denominator)) + 2
    with localcontext() as context:
        context.prec = 100
        for low, high, chance in zip(table.low.tolist(), table.high.tolist(), exact, strict=False):
            assert Decimal(low) <= chance * 2**63 < high + 1
            assert high - low <= 1


@pytest.mark.parametrize(("variance", "fold"), LAWS)
def test_a_number_is_where_a_uniform_real_falls(variance: Fraction, fold: int) -> None:
    bits = [0, 1, 2**63 - 2**40, *range(3, 2**63, 2**56 + 12345)]
    exact = chances(variance, fold)
    found = make_table(variance, fold=fold).find(ByteTape(b""), np.array(bits))
    for drawn, number in zip(bits, found.tolist(), strict=True):
        assert number == next(k for k, chance in enumerate(exact) if Decimal(drawn) < chance * 2**63)


def test_an_undecided_word_reads_another() -> None:
    """The real number P(K = 0) goes on after 63 bits; a word below its next 64 bits gives 0, one above gives 1."""
    variance = Fraction(50, 9)
    with localcontext() as context:
        context.prec = 100
        digits = int(chances(variance, 2)[0] * 2**127)
    first, second = digits >> 64, digits & (2**64 - 1)
    table = make_table(variance, fold=2)
    assert first == table.low[0]
    for step, number in ((-1, 0), (1, 1)):
        tape = ByteTape((second + step).to_bytes(8, "big"))
        assert table.find(tape, np.array([first])).tolist() == [number]
        assert tape.used == 8


def test_several_undecided_words_read_on_in_their_order() -> None:
    table = make_table(Fraction(50, 9), fold=2)
    bits = np.array([int(table.low[2]), 5, int(table.low[1])])
    assert table.find(ByteTape(bytes(8) + b"\xff" * 8), bits).tolist() == [2, 0, 2]
    assert table.find(ByteTape(b"\xff" * 8 + bytes(8)), bits).tolist() == [3, 0, 1]


def test_wide_bounds_change_nothing() -> None:
    """With bounds far apart many words are settled one by one, and each comes out the same, from the same bytes."""
    exact = make_table(Fraction(50, 9), fold=2)
    slack = np.int64(2**57)
    wide = ChanceTable(exact.variance, 2, exact.low - slack, np.minimum(exact.high, 2**63 - 1 - slack) + slack)
    bits = np.frombuffer(SystemEntropy().read(8 * 400), dtype=">i8") & (2**63 - 1)
    undecided = bits >= wide.low.take(np.searchsorted(wide.high, bits), mode="clip")
    assert undecided.sum() > 10
    assert wide.find(ByteTape(b""), bits).tolist() == exact.find(ByteTape(b""), bits).tolist()


@pytest.mark.parametrize("fold", [1, 2])
def test_what_lies_beyond_the_table_is_drawn_from_the_tail(fold: int) -> None:
    """No 63 bits lie beyond a table, whose rest of 2**-64 is too small for them: more bits must say so."""
    table = make_table(Fraction(25), fold=fold)
    tape = ByteTape(b"\xff" * 8 * 40 + SystemEntropy().read(4000))
    assert table.find(tape, np.array([2**63 - 1]))[0] >= len(table.high)


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(LARGEST_TABLE + 1)])
def test_variances_have_limits(variance: Fraction) -> None:
    with pytest.raises(ValueError, match="variance"):
        make_table(variance, fold=1)
