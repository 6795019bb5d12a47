"""Samplers: the bytes they read, worked by hand, and their exact laws, walked branch by branch."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from discreet.noise import (
    ByteTape,
    Entropy,
    bernoulli,
    bernoulli_exp_minus,
    discrete_gaussian,
    discrete_laplace,
    gaussian_tail,
    geometric,
    polya,
    uniform,
    uniform_array_below,
    uniform_below,
)

pytestmark = pytest.mark.slow

Walk = Callable[[Callable[[Entropy], int]], tuple[dict[int, Fraction], Fraction]]


@pytest.mark.parametrize("n", [2, 3, 13, 200, 256])
def test_uniform_is_exactly_uniform_over_all_bytes(n: int) -> None:
    bits = (n - 1).bit_length()
    drawn = Counter(byte & ((1 << bits) - 1) for byte in range(256))
    kept = {value: count for value, count in drawn.items() if value < n}
    assert set(kept) == set(range(n))
    assert len(set(kept.values())) == 1
    for byte in range(256):
        if byte & ((1 << bits) - 1) < n:
            assert uniform_below(ByteTape(bytes([byte])), n) == byte & ((1 << bits) - 1)


@pytest.mark.parametrize(
    ("n", "tape", "value", "used"),
    [
        (1, "", 0, 0),
        (13, "0d0fff1c", 12, 4),
        (257, "ff010100", 256, 4),
        (256, "ff", 255, 1),
        (300, "fe01", 1, 2),
    ],
)
def test_uniform_reads_whole_bytes_and_rejects(n: int, tape: str, value: int, used: int) -> None:
    entropy = ByteTape(bytes.fromhex(tape))
    assert (uniform_below(entropy, n), entropy.used) == (value, used)


def test_uniform_arrays_reject_in_rounds_and_keep_their_places() -> None:
    entropy = ByteTape(bytes.fromhex("0c 01 0f 0d 0b 02"))
    assert uniform_array_below(entropy, 12, count=3).tolist() == [2, 1, 11]
    assert entropy.used == 6
    assert uniform_array_below(ByteTape(b""), 1, count=3).tolist() == [0, 0, 0]
    wide = ByteTape(bytes.fromhex("fffffffe00000001"))
    assert uniform_array_below(wide, 1 << 32, count=2).tolist() == [2**32 - 2, 1]


def test_two_rounds_of_the_array_are_what_the_scalar_would_draw() -> None:
    for pair in product(range(16), repeat=2):
        data = bytes([*pair, 3, 4])
        drawn = uniform_array_below(ByteTape(data), 12, count=1).tolist()
        assert drawn == [uniform_below(ByteTape(data), 12)]


@pytest.mark.parametrize("n", [3, 129, 257, (1 << 24) + 1])
def test_the_last_rounds_draw_the_same_with_and_without_arrays(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = os.urandom(1 << 16)
    drawn, used = [], set()
    for few in (0, 7, 1 << 20):
        monkeypatch.setattr(uniform, "_FEW", few)
        entropy = ByteTape(tape)
        drawn.append(uniform_array_below(entropy, n, count=1000).tolist())
        used.add(entropy.used)
    assert drawn[0] == drawn[1] == drawn[2]
    assert max(drawn[0]) < n
    assert len(used) == 1


def test_certain_coins_read_nothing() -> None:
    empty = ByteTape(b"")
    assert bernoulli(empty, Fraction(1))
    assert not bernoulli(empty, Fraction(0))
    assert bernoulli_exp_minus(empty, Fraction(0))


def test_minus_zero_is_drawn_again() -> None:
    entropy = ByteTape(bytes.fromhex("01010001"))
    assert (discrete_laplace(entropy, scale=Fraction(1)), entropy.used) == (0, 4)


def assert_law(law: tuple[dict[int, Fraction], Fraction], pmf: Callable[[int], float]) -> None:
    masses, cut = law
    assert sum(masses.values()) + cut == 1
    assert cut < Fraction(1, 8)
    for outcome, mass in masses.items():
        assert float(mass) <= pmf(outcome) * (1 + 1e-12)
        assert pmf(outcome) <= float(mass + cut) * (1 + 1e-12)


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(1), Fraction(2, 3), Fraction(3, 2)])
def test_exp_coin_has_its_law(walk: Walk, gamma: Fraction) -> None:
    law = walk(lambda entropy: int(bernoulli_exp_minus(entropy, gamma)))
    assert_law(law, lambda outcome: math.exp(-gamma) if outcome else 1 - math.exp(-gamma))


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2), Fraction(2)])
def test_geometric_has_its_law(walk: Walk, scale: Fraction) -> None:
    rate = 1 / float(scale)
    law = walk(lambda entropy: geometric(entropy, scale=scale))
    assert_law(law, lambda x: -math.expm1(-rate) * math.exp(-rate * x))


def test_discrete_laplace_has_its_law(walk: Walk) -> None:
    law = walk(lambda entropy: discrete_laplace(entropy, scale=Fraction(1, 2)))
    assert_law(law, lambda z: math.tanh(1) * math.exp(-2 * abs(z)))


@pytest.mark.parametrize("start", [1, 2, 3])
def test_a_gaussian_tail_has_its_law(walk: Walk, start: int) -> None:
    law = walk(lambda entropy: gaussian_tail(entropy, variance=Fraction(1), start=start))
    total = sum(math.exp(-z * z / 2) for z in range(start, 40))
    assert_law(law, lambda z: math.exp(-z * z / 2) / total if z >= start else 0.0)


def test_polya_has_its_law(walk: Walk) -> None:
    shape, ratio = 0.5, math.exp(-2)
    law = walk(lambda entropy: polya(entropy, shape=Fraction(1, 2), scale=Fraction(1, 2)))

    def pmf(x: int) -> float:
        choose = math.gamma(x + shape) / (math.factorial(x) * math.gamma(shape))
        return float(choose * ratio**x * (1 - ratio) ** shape)

    assert_law(law, pmf)


def test_a_shifted_law_would_be_found(walk: Walk) -> None:
    law = walk(lambda entropy: 1 + geometric(entropy, scale=Fraction(1)))
    with pytest.raises(AssertionError):
        assert_law(law, lambda x: -math.expm1(-1) * math.exp(-x))


@pytest.mark.parametrize(
    "call",
    [
        lambda tape: uniform_below(tape, 0),
        lambda tape: uniform_array_below(tape, 0, count=1),
        lambda tape: bernoulli(tape, Fraction(3, 2)),
        lambda tape: bernoulli_exp_minus(tape, Fraction(-1)),
        lambda tape: geometric(tape, scale=Fraction(0)),
        lambda tape: discrete_laplace(tape, scale=Fraction(-1)),
        lambda tape: discrete_gaussian(tape, variance=Fraction(0)),
        lambda tape: gaussian_tail(tape, variance=Fraction(0), start=1),
        lambda tape: gaussian_tail(tape, variance=Fraction(1), start=0),
        lambda tape: polya(tape, shape=Fraction(0), scale=Fraction(1)),
    ],
)
def test_parameters_outside_the_law_are_refused(call: Callable[[Entropy], object]) -> None:
    with pytest.raises(ValueError, match=r"needs|must|lies"):
        call(ByteTape(bytes(100)))
