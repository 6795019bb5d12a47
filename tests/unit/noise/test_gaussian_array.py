"""Discrete Gaussian vectors: the law of every decision, bounds of the coins, and the ways a coin is settled."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import ByteTape, SystemEntropy, TapeExhausted, gaussian_array
from discreet.noise.chance import Chance
from discreet.noise.gaussian_array import (
    LARGEST_VARIANCE,
    bound_loss,
    discrete_gaussian_array,
    draw_from,
    find_shift,
)
from discreet.noise.gaussian_table import ChanceTable, make_table


def word(value: int) -> bytes:
    return value.to_bytes(8, "big")


@pytest.mark.parametrize("count", [1, 10**7])
@pytest.mark.parametrize("variance", [Fraction(128**2), Fraction(10**5), Fraction(10**13, 3), Fraction(2**104)])
def test_a_standard_deviation_spans_eight_to_sixteen_blocks(variance: Fraction, count: int) -> None:
    shift = find_shift(variance, count=count)
    assert shift > 0
    assert 64 <= variance / 4**shift < 256


def test_small_scales_and_long_vectors_have_a_table_of_every_integer() -> None:
    assert find_shift(Fraction(256) - Fraction(1, 10**6), count=1) == 0
    assert find_shift(Fraction(1, 10**9), count=1) == 0
    for scale in (16, 100, 127):
        assert find_shift(Fraction(scale**2), count=128 * scale) == 0
        assert 64 <= Fraction(scale**2) / 4 ** find_shift(Fraction(scale**2), count=128 * scale - 1) < 256


def first_failing(holds: Callable[[int], bool], *, bits: int) -> int:
    """The least number of so many bits for which this no longer holds, where it holds for all that are smaller."""
    low, high = 0, 1 << bits
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def draw_one(variance: Fraction, words: list[int]) -> int | None:
    """The draw of these words; None where they are not enough, because the draw was rejected or tied."""
    try:
        return int(discrete_gaussian_array(ByteTape(b"".join(map(word, words))), variance=variance, count=1)[0])
    except TapeExhausted:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("variance", [Fraction(300), Fraction(2600, 3)])
def test_the_law_is_exact_to_the_last_bit_of_every_word(variance: Fraction) -> None:
    """Where each decision turns is found in the code itself, by bisection over the words it reads.

    Every threshold is then a count of words out of 2**64, so their products are the law of the code, but for ties.
    """
    shift = find_shift(variance, count=1)
    blocks = math.isqrt(math.ceil(40 * variance)) >> shift
    ends = [
        first_failing(lambda bits, k=k: abs(draw_one(variance, [bits << 1, 0, 0]) or 0) >> shift <= k, bits=63)  # type: ignore[misc]
        for k in range(blocks)
    ]
    law: dict[int, Fraction] = {}
    for block, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for offset in range(1 << shift):
            middle = (start + end) // 2 << 1
            for sign in (0, 1):
                words = [middle | sign, offset << 64 - shift]
                kept = first_failing(lambda coin, words=words: draw_one(variance, [*words, coin]) is not None, bits=64)  # type: ignore[misc]
                magnitude = (block << shift) + offset
                value = -magnitude if sign else magnitude
                assert draw_one(variance, [*words, 0]) == (value if kept else None)
                law[value] = law.get(value, Fraction(0)) + Fraction(end - start, 1 << 63) * kept / (1 << 64)
    total = sum(law.values())
    with localcontext() as context:
        context.prec = 60
        exact = {z: (-Decimal(z * z * variance.denominator) / (2 * variance.numerator)).exp() for z in law}
        whole = sum(exact.values())
    assert max(law) == -min(law) > 6 * math.isqrt(int(variance))
    for z, chance in law.items():
        assert abs(chance / total - Fraction(exact[z] / whole)) < Fraction(1, 1 << 60), z


def exact_loss(variance: Fraction, block: int, offset: int, shift: int) -> Decimal:
    x = Fraction(offset, 1 << shift)
    gamma = x * (2 * block + x) / (2 * variance)
    return (1 - (-Decimal(gamma.numerator) / gamma.denominator).exp()) * 2**31


@pytest.mark.parametrize("shift", [1, 6, 24, 25, 49])
@pytest.mark.parametrize(
    "variance", [Fraction(64), Fraction(10**6, 64**2), Fraction(2**60 - 1, 2**52), Fraction(2**75 + 1, 2**68 + 99)]
)
def test_the_bounds_of_a_coin_hold_and_are_narrow(variance: Fraction, shift: int) -> None:
    last = math.isqrt(math.ceil(90 * variance)) + 1
    blocks = np.array([*range(0, last, 1 + last // 150), last] * 4)
    words = np.frombuffer(SystemEntropy().read(8 * blocks.size), dtype=np.uint64)
    offsets = (words >> np.uint64(64 - shift)).astype(np.int64)
    offsets[:3] = 0, 1, (1 << shift) - 1
    low, high = bound_loss(variance, blocks, offsets, shift=shift)
    with localcontext() as context:
        context.prec = 50
        for block, offset, least, most in zip(
            *(column.tolist() for column in (blocks, offsets, low, high)), strict=True
        ):
            loss = exact_loss(variance, block, offset, shift)
            assert least <= loss <= most
            slope = (2 * block + 2) / (2 * float(variance))
            if slope < 1:  # the third term of the series, and what rounding the place and the rate may add
                assert most - least <= slope**3 / 6 * 2**31 + slope * 2**8 + 2 * block + 20


@pytest.mark.parametrize(("variance", "block", "offset"), [(Fraction(10**6), 9, 63), (Fraction(2**80), 7, 12345 << 19)])
def test_a_coin_that_ties_reads_another_word(variance: Fraction, block: int, offset: int) -> None:
    shift = find_shift(variance, count=1)
    table = make_table(variance / 4**shift, fold=1)
    first = word(int(table.low[block]) - 1 << 1) + word(offset << 64 - shift)
    gamma = Fraction(offset * ((block << shift + 1) + offset)) / (2 * variance)
    coin = Chance(gamma, plus=0).leading(2)
    for step, kept in ((-1, True), (1, False)):
        tape = ByteTape(first + (coin + step).to_bytes(16, "big") + bytes(24))
        assert discrete_gaussian_array(tape, variance=variance, count=1)[0] == ((block << shift) + offset) * kept
        assert tape.used == 32 + 24 * (not kept)


def test_coins_that_tie_read_on_in_their_order_and_rejected_draws_come_last() -> None:
    variance, shift = Fraction(10**6), 6
    gamma = Fraction(63 * 63, 2 * 10**6)
    tie, rest = divmod(Chance(gamma, plus=0).leading(2), 1 << 64)
    tape = ByteTape(
        bytes(24)  # block 0 for all three
        + word(63 << 64 - shift) * 3
        + word(tie) + word(0) + word(tie)  # the first and the last tie
        + word(rest + 1) + word(rest - 1)  # the first is rejected, the last is kept
        + word(1) + word(5 << 64 - shift) + bytes(8)
    )  # fmt: skip
    assert discrete_gaussian_array(tape, variance=variance, count=3).tolist() == [-5, 63, 63]
    assert tape.used == 24 * 3 + 16 + 24


def test_minus_zero_is_drawn_anew() -> None:
    tape = ByteTape(word(1) + bytes(16) + word(1) + word(7 << 58) + bytes(8))
    assert discrete_gaussian_array(tape, variance=Fraction(10**6), count=1).tolist() == [-7]
    plus = ByteTape(bytes(24))
    assert discrete_gaussian_array(plus, variance=Fraction(10**6), count=1).tolist() == [0]


@pytest.mark.parametrize("scale", [17, 10**3, 10**7, 2**40, 2**52])
def test_coins_are_settled_with_the_same_bits_whatever_the_bounds(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no bounds at all every coin is settled exactly, from the words that the bounds would have looked at."""
    data, variance = SystemEntropy().read(24 * 600), Fraction(scale) ** 2
    quick = discrete_gaussian_array(ByteTape(data), variance=variance, count=400)

    def open_bounds(_: Fraction, blocks: object, __: object, *, shift: int) -> tuple[int, int]:
        return -1, 1 << 31

    monkeypatch.setattr(gaussian_array, "bound_loss", open_bounds)
    assert discrete_gaussian_array(ByteTape(data), variance=variance, count=400).tolist() == quick.tolist()


@pytest.mark.parametrize(("variance", "shift"), [(Fraction(100), 0), (Fraction(10**6), 6)])
def test_a_table_that_is_cut_short_draws_the_same(variance: Fraction, shift: int) -> None:
    """What lies beyond its end is settled one by one: first the block, then its coin."""
    whole = make_table(variance / 4**shift, fold=1 if shift else 2)
    cut = ChanceTable(whole.variance, whole.fold, whole.low[:7], whole.high[:7])
    data = SystemEntropy().read(24 * 600)
    drawn = draw_from(whole, ByteTape(data), shift=shift, count=400).tolist()
    assert draw_from(cut, ByteTape(data), shift=shift, count=400).tolist() == drawn
    assert max(map(abs, drawn)) >> shift > 7


def test_a_draw_that_does_not_fit_is_refused_and_none_wraps_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chance is below exp(-2**17)."""
    for far in (1 << 13, 1 << 40, 1 << 62):
        monkeypatch.setattr(ChanceTable, "find", lambda self, entropy, bits, far=far: np.full(bits.size, far))
        with pytest.raises(OverflowError, match="64 bits"):
            discrete_gaussian_array(SystemEntropy(), variance=Fraction(2**104), count=5)


@pytest.mark.parametrize(("variance", "shift"), [(Fraction(127**2), 0), (Fraction(10**6), 6)])
def test_long_vectors_are_drawn_in_batches(variance: Fraction, shift: int) -> None:
    count = (1 << 18) + 5
    data = SystemEntropy().read(24 * (count + 30_000))
    table, tape = make_table(variance / 4**shift, fold=1 if shift else 2), ByteTape(data)
    parts = [draw_from(table, tape, shift=shift, count=size).tolist() for size in (1 << 18, 5)]
    assert discrete_gaussian_array(ByteTape(data), variance=variance, count=count).tolist() == parts[0] + parts[1]


def test_no_draws_read_nothing() -> None:
    for variance in (Fraction(3), Fraction(10**6)):
        assert discrete_gaussian_array(ByteTape(b""), variance=variance, count=0).size == 0


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(LARGEST_VARIANCE + 1)])
def test_variances_have_limits(variance: Fraction) -> None:
    with pytest.raises(ValueError, match="variance"):
        discrete_gaussian_array(SystemEntropy(), variance=variance, count=1)
