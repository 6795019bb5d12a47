"""Many Laplace draws at once: digits against decimals, every branch against the law, the bytes worked by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import count as counting
from itertools import product

import pytest

from discreet.lab.study import SeededEntropy
from discreet.noise import ByteTape, Entropy, SystemEntropy, bits, discrete_laplace_many
from discreet.noise.bits import BATCH, Digits, draw_batch, expand
from discreet.noise.chance import Chance, toss

CHANCES = [
    Chance(Fraction(1)),
    Chance(Fraction(3), times=2),
    Chance(Fraction(1, 2**52), times=2),
    Chance(Fraction(1, 10**30), times=2),
    Chance(Fraction(64), plus=0),
    Chance(Fraction(1000)),
]


def real(chance: Chance) -> Fraction:
    with localcontext() as context:
        context.prec = 600
        e = Fraction((-Decimal(chance.exponent.numerator) / chance.exponent.denominator).exp())
    return chance.times * e / (1 + chance.plus * e)


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_digits_are_those_of_the_real_number(chance: Chance) -> None:
    p = real(chance)
    assert [chance.digit(place) for place in range(180)] == list(int(p * 256**180).to_bytes(180, "big"))


@pytest.mark.parametrize(
    ("exponent", "times", "plus"),
    [(Fraction(0), 1, 1), (Fraction(-1), 1, 1), (Fraction(1), 0, 1), (Fraction(1), 2, 0), (Fraction(1), 1, -1)],
)
def test_what_is_no_chance_is_refused(exponent: Fraction, times: int, plus: int) -> None:
    with pytest.raises(ValueError, match="a chance needs"):
        Chance(exponent, times=times, plus=plus)


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_a_coin_holds_below_its_digits_however_long_they_tie(chance: Chance) -> None:
    digits = [chance.digit(place) for place in range(180)]
    for ties in (0, 1, 7, 8, 9, 178):
        for byte in range(256):
            if byte != digits[ties]:
                tape = ByteTape(bytes([*digits[:ties], byte]))
                assert toss(tape, chance, count=1) == bytes([byte < digits[ties]])
                assert tape.used == ties + 1


def test_ties_are_read_on_after_the_column_and_in_its_order() -> None:
    chance = Chance(Fraction(1))
    first, second, third = (chance.digit(place) for place in range(3))
    column = [first, 0, first, 255, first]
    rounds = [second + 1, second, second - 1, third - 1]
    tape = ByteTape(bytes([*column, *rounds]))
    assert list(toss(tape, chance, count=5)) == [0, 1, 1, 0, 1]
    assert tape.used == 9
    assert toss(ByteTape(b""), chance, count=0) == b""


def test_the_digits_reach_45_scales() -> None:
    for scale in (Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(64, 45), Fraction(10**9), Fraction(2**200)):
        digits = expand(scale)
        m = len(digits.places)
        assert 2**m >= 45 * scale
        assert m == 0 or 2 ** (m - 1) < 45 * scale
        assert digits.beyond == Chance(2**m / scale, plus=0)
        assert digits.places == tuple(Chance(2**i / scale) for i in range(m))
        assert digits.nonzero == Chance(1 / scale, times=2)
    assert math.exp(-45) < 2**-64


class Coins:
    """Stands in for `toss`: coins as scripted, and the probability that they fall so."""

    def __init__(self, script: tuple[bool, ...]) -> None:
        self.script, self.weight = iter(script), 1.0

    def __call__(self, entropy: Entropy, chance: Chance, *, count: int) -> bytearray:
        assert count == 1
        p = chance.times * math.exp(-chance.exponent) / (1 + chance.plus * math.exp(-chance.exponent))
        coin = next(self.script)
        self.weight *= p if coin else 1 - p
        return bytearray([coin])


def branches(digits: Digits, rounds: int) -> Iterator[tuple[bool, ...]]:
    """Every way the coins can fall, with at most this many rounds beyond the digits."""
    for low in product((False, True), repeat=1 + len(digits.places)):
        for held in range(rounds):
            yield (*low, *([True] * held), False)


def walked(digits: Digits, monkeypatch: pytest.MonkeyPatch, *, rounds: int) -> dict[int, float]:
    law: dict[int, float] = {}
    for script, sign in product(branches(digits, rounds), (0, 1)):
        coins = Coins(script)
        monkeypatch.setattr(bits, "toss", coins)
        [drawn] = draw_batch(ByteTape(bytes([sign])), digits, count=1)
        law[drawn] = law.get(drawn, 0.0) + coins.weight / 2
    return law


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("reach", [0, 1, 3, 45])
def test_every_branch_together_is_the_law(reach: int, scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    digits = expand(scale, reach=reach)
    rounds = next(k for k in counting(1) if (2 ** len(digits.places) * k) / scale > 40)
    law = walked(digits, monkeypatch, rounds=rounds)
    tanh = math.tanh(1 / (2 * float(scale)))
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    for z in range(-int(30 * scale), int(30 * scale) + 1):
        assert law[z] == pytest.approx(tanh * math.exp(-abs(z) / scale), rel=1e-11)


@pytest.mark.parametrize(
    "wrong",
    [
        Digits(Chance(Fraction(1)), expand(Fraction(1)).places, expand(Fraction(1)).beyond),
        Digits(expand(Fraction(1)).nonzero, expand(Fraction(1)).places[1:], expand(Fraction(1)).beyond),
        Digits(expand(Fraction(1)).nonzero, expand(Fraction(1)).places[:2], Chance(Fraction(5), plus=0)),
    ],
    ids=["zero too often", "a digit missing", "wrong beyond"],
)
def test_the_same_walk_finds_faults(wrong: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    law = walked(wrong, monkeypatch, rounds=9)
    tanh = math.tanh(1 / 2)
    assert any(abs(law[z] / (tanh * math.exp(-abs(z))) - 1) > 1e-3 for z in range(-20, 21))


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 58, 63, 64, 65, 128, 200])
def test_columns_become_integers_of_any_length(columns: int) -> None:
    cells = 21
    drawn = [bytearray(byte & 1 for byte in SystemEntropy().read(cells)) for _ in range(columns)]
    expected = [sum(column[cell] << i for i, column in enumerate(drawn)) for cell in range(cells)]
    assert bits._assemble(drawn, cells) == expected


def test_batches_follow_each_other() -> None:
    scale = Fraction(9, 4)
    entropy = SeededEntropy(1971)
    expected = [
        *draw_batch(entropy, expand(scale), count=BATCH),
        *draw_batch(entropy, expand(scale), count=BATCH),
        *draw_batch(entropy, expand(scale), count=3),
    ]
    assert discrete_laplace_many(SeededEntropy(1971), scale=scale, count=2 * BATCH + 3) == expected
    assert discrete_laplace_many(ByteTape(b""), scale=scale, count=0) == []


def test_what_lies_beyond_may_be_of_any_size() -> None:
    """300 rounds beyond 58 digits: an integer of 67 bits."""
    scale = Fraction(2**52)
    m = len(expand(scale).places)
    holds = [expand(scale).beyond.digit(place) for place in range(16)]
    settled = next(place for place, digit in enumerate(holds) if digit)
    once = bytes(settled + 1)
    tape = ByteTape(bytes([1, 0]) + b"\xff" * m + once * 300 + b"\xff")
    assert discrete_laplace_many(tape, scale=scale, count=1) == [-1 - 300 * 2**m]


@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("sign", [0, 1])
def test_how_much_is_read_does_not_tell_what_was_drawn(sign: int, holds: bool) -> None:
    """But for ties every draw reads one byte for its sign and one for each coin."""
    digits = expand(Fraction(10))
    chances = (digits.nonzero, *digits.places, digits.beyond)
    coins = bytes(0 if holds and chance.digit(0) else 255 for chance in chances)
    tape = ByteTape(bytes([sign]) + coins)
    [drawn] = draw_batch(tape, digits, count=1)
    assert abs(drawn) == (64 if holds else 0)  # the digits up to 32; those above tie before they can hold
    assert tape.used == 1 + len(chances)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1, 3)])
def test_a_scale_is_positive(scale: Fraction) -> None:
    with pytest.raises(ValueError, match="scale must be positive"):
        discrete_laplace_many(ByteTape(b""), scale=scale, count=1)
