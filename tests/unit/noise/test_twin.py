"""A second implementation, written from docs/noise.md alone, reads the same bytes and draws the same.

It is kept plain on purpose: real numbers come from 400-digit decimals, arrays are lists, and nothing is
shared with the package but the vectors.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import ceil, isqrt
from typing import Any

import pytest

from discreet.noise.vectors import make_vectors


class Tape:
    def __init__(self, text: str) -> None:
        self.data, self.used = bytes.fromhex(text), 0

    def number(self, size: int) -> int:
        self.used += size
        assert self.used <= len(self.data)
        return int.from_bytes(self.data[self.used - size : self.used], "big")


def exp_minus(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 400
        return Fraction((-Decimal(x.numerator) / x.denominator).exp())


def uniform(tape: Tape, n: int) -> int:
    bits = len(f"{n - 1:b}") if n > 1 else 0
    while True:
        drawn = tape.number(-(-bits // 8)) % (1 << bits)
        if drawn < n:
            return drawn


def uniform_array(tape: Tape, n: int, count: int) -> list[int]:
    bits = len(f"{n - 1:b}") if n > 1 else 0
    settled: dict[int, int] = {}
    while len(settled) < count:
        for place in [place for place in range(count) if place not in settled]:
            drawn = tape.number(-(-bits // 8)) % (1 << bits)
            if drawn < n:
                settled[place] = drawn
    return [settled[place] for place in range(count)]


def coin(tape: Tape, p: Fraction) -> bool:
    return uniform(tape, p.denominator) < p.numerator


def exp_coin(tape: Tape, gamma: Fraction) -> bool:
    def step(r: int, b: int) -> bool:
        k = 1
        while uniform(tape, b * k) < r:
            k += 1
        return k % 2 == 1

    if not all(step(1, 1) for _ in range(gamma.numerator // gamma.denominator)):
        return False
    return step(gamma.numerator % gamma.denominator, gamma.denominator)


def geometric(tape: Tape, scale: Fraction) -> int:
    t, s = scale.numerator, scale.denominator
    while True:
        u = uniform(tape, t)
        if exp_coin(tape, Fraction(u, t)):
            break
    v = 0
    while exp_coin(tape, Fraction(1)):
        v += 1
    return (u + t * v) // s


def laplace(tape: Tape, scale: Fraction) -> int:
    while True:
        negative = uniform(tape, 2) == 1
        m = geometric(tape, scale)
        if m > 0 or not negative:
            return -m if negative else m


def column(tape: Tape, p: Fraction, count: int) -> list[bool]:
    drawn = [0] * count
    below: dict[int, bool] = {}
    j = 0
    while len(below) < count:
        j += 1
        digits = int(p * 256**j)
        for place in [place for place in range(count) if place not in below]:
            drawn[place] = drawn[place] * 256 + tape.number(1)
            if drawn[place] != digits:
                below[place] = drawn[place] < digits
    return [below[place] for place in range(count)]


def laplace_many(tape: Tape, scale: Fraction, count: int) -> list[int]:
    assert count <= 65_536
    m = 0
    while 2**m < 45 * scale:
        m += 1
    negative = [tape.number(1) % 2 == 1 for _ in range(count)]
    e = exp_minus(1 / scale)
    nonzero = column(tape, 2 * e / (1 + e), count)
    sizes = [1] * count
    for i in range(m):
        e = exp_minus(2**i / scale)
        for place, holds in enumerate(column(tape, e / (1 + e), count)):
            sizes[place] += holds * 2**i
    going = list(range(count))
    while going:
        held = column(tape, exp_minus(2**m / scale), len(going))
        going = [place for place, holds in zip(going, held, strict=True) if holds]
        for place in going:
            sizes[place] += 2**m
    signed = [-size if minus else size for size, minus in zip(sizes, negative, strict=True)]
    return [size if present else 0 for size, present in zip(signed, nonzero, strict=True)]


def gaussian(tape: Tape, variance: Fraction) -> int:
    t = isqrt(int(variance)) + 1
    while True:
        y = laplace(tape, Fraction(t))
        if exp_coin(tape, (abs(y) - variance / t) ** 2 / (2 * variance)):
            return y


def gaussian_tail(tape: Tape, variance: Fraction, start: int) -> int:
    while True:
        g = geometric(tape, variance / start)
        if exp_coin(tape, g**2 / (2 * variance)):
            return start + g


@cache
def cumulated(variance: Fraction, fold: int) -> list[Fraction]:
    """C_k for k = 0 ... K, from a sum that goes on until its terms are below 2**-300."""
    last = isqrt(ceil(90 * variance)) + 1
    far = isqrt(int(2 * 210 * variance)) + 2
    weights = [(fold if k else 1) * exp_minus(k * k / (2 * variance)) for k in range(far)]
    scaled = [int(weight * 2**1200) for weight in weights]
    total = sum(scaled)
    return [Fraction(part, total) for part in accumulate(scaled[: last + 1])]


def find_block(tape: Tape, ends: list[Fraction], d: int) -> int:
    b = 63
    while True:
        digits = [(end.numerator << b) // end.denominator for end in ends]
        if d not in digits:
            return next(k for k, digit in enumerate(digits) if d < digit)
        d, b = d * 2**64 + tape.number(8), b + 64


def coin_holds(tape: Tape, word: int, p: Fraction) -> bool:
    j = 1
    while word == int(p * 2 ** (64 * j)):
        word, j = word * 2**64 + tape.number(8), j + 1
    return word < int(p * 2 ** (64 * j))


def gaussian_array(tape: Tape, variance: Fraction, count: int) -> list[int]:
    root = isqrt(int(variance))
    a = 0 if root < 16 or (root < 128 and count >= 128 * root) else len(f"{root:b}") - 4
    ends = cumulated(variance / 4**a, 1 if a else 2)
    settled: dict[int, int] = {}
    while len(settled) < count:
        pending = [cell for cell in range(count) if cell not in settled]
        words = [tape.number(8) for _ in pending]
        blocks = [find_block(tape, ends, word // 2) for word in words]
        offsets = [tape.number(8) // 2 ** (64 - a) for _ in pending] if a else [0] * len(pending)
        coins = [tape.number(8) for _ in pending] if a else [0] * len(pending)
        for cell, word, block, offset, coin in zip(pending, words, blocks, offsets, coins, strict=True):
            m, minus = block * 2**a + offset, word % 2 == 1
            p = exp_minus(Fraction(m * m - (block * 2**a) ** 2) / (2 * variance))
            if coin_holds(tape, coin, p) and not (a and m == 0 and minus):
                settled[cell] = -m if minus else m
    return [settled[cell] for cell in range(count)]


def polya(tape: Tape, shape: Fraction, scale: Fraction) -> int:
    total = sum(geometric(tape, scale) for _ in range(int(shape)))
    f = shape - int(shape)
    left = geometric(tape, scale) if f else 0
    while left > 0:
        c = 1 + uniform(tape, left)
        total += c if coin(tape, f) else 0
        left -= c
    return total


def respond(tape: Tape, answers: list[int], epsilon: Fraction, k: int) -> list[int]:
    others = (k - 1) * exp_minus(epsilon)
    changed = column(tape, others / (1 + others), len(answers))
    drawn = iter(uniform_array(tape, k - 1, sum(changed)))
    reports = []
    for answer, changes in zip(answers, changed, strict=True):
        other = next(drawn) if changes else answer
        reports.append(other + 1 if changes and other >= answer else other)
    return reports


def select(tape: Tape, runs: list[tuple[Fraction, int]], rate: Fraction) -> list[int]:
    best = max(score for score, m in runs if m)
    gammas = {i: rate * (best - score) for i, (score, m) in enumerate(runs) if m}
    wholes = sorted({int(gamma) for gamma in gammas.values()})
    pools = [[i for i in gammas if int(gammas[i]) == whole] for whole in wholes]
    weights = [sum(runs[i][1] for i in pool) * exp_minus(Fraction(j)) for j, pool in zip(wholes, pools, strict=True)]
    ends = [sum(weights[: i + 1], Fraction(0)) / sum(weights) for i in range(len(pools) - 1)]
    while True:
        d, b = 0, 0
        while ends:
            d, b = d * 2**64 + tape.number(8), b + 64
            if not any(Fraction(d, 2**b) < end <= Fraction(d + 1, 2**b) for end in ends):
                break
        pool = pools[sum(end <= Fraction(d, 2**b) for end in ends)]
        members = [(i, offset) for i in pool for offset in range(runs[i][1])]
        i, offset = members[uniform(tape, len(members))]
        if exp_coin(tape, gammas[i] - int(gammas[i])):
            return [i, offset]


def draw(vector: dict[str, Any], tape: Tape) -> object:
    given = vector["input"]
    exact = {name: Fraction(text) for name, text in vector["parameters"].items()}
    match vector["mechanism"]:
        case "uniform_below":
            return uniform(tape, int(exact["n"]))
        case "uniform_array_below":
            return uniform_array(tape, int(exact["n"]), int(exact["count"]))
        case "bernoulli":
            return coin(tape, exact["probability"])
        case "bernoulli_exp_minus":
            return exp_coin(tape, exact["gamma"])
        case "geometric":
            return geometric(tape, exact["scale"])
        case "discrete_laplace":
            return laplace(tape, exact["scale"])
        case "discrete_laplace_many":
            return laplace_many(tape, exact["scale"], int(exact["count"]))
        case "gaussian_tail":
            return gaussian_tail(tape, exact["variance"], int(exact["start"]))
        case "discrete_gaussian":
            return gaussian(tape, exact["variance"])
        case "polya":
            return polya(tape, exact["shape"], exact["scale"])
        case "discrete_gaussian_array":
            return gaussian_array(tape, exact["variance"], int(exact["count"]))
        case "randomised_response":
            return respond(tape, given["answers"], exact["epsilon"], int(exact["categories"]))
        case "select":
            runs = [(Fraction(score), int(multiplicity)) for score, multiplicity in given["runs"]]
            return select(tape, runs, exact["rate"])
    raise AssertionError(f"the twin does not know {vector['mechanism']}")


VECTORS: Any = make_vectors()["vectors"]


@pytest.mark.parametrize("mechanism", sorted({vector["mechanism"] for vector in VECTORS}))
def test_the_twin_agrees_byte_for_byte(mechanism: str) -> None:
    for vector in VECTORS:
        if vector["mechanism"] == mechanism:
            tape = Tape(vector["bytes"])
            assert (draw(vector, tape), tape.used) == (vector["output"], vector["bytes_used"]), vector
