"""Test vectors: stated bytes in, stated integer out, for every sampler.

The vectors are the same on every machine and in every release of one `version`. Each `bytes` field holds a
few bytes more than the sampler reads, so that a twin which reads too far is found by `bytes_used`. All
integers stay below 2**53.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.noise.bits import discrete_laplace_many, expand
from discreet.noise.chance import Chance
from discreet.noise.coin import bernoulli, bernoulli_exp_minus
from discreet.noise.entropy import ByteTape, Entropy
from discreet.noise.gaussian import discrete_gaussian, gaussian_tail
from discreet.noise.gaussian_array import discrete_gaussian_array
from discreet.noise.gaussian_table import make_table
from discreet.noise.laplace import discrete_laplace, geometric
from discreet.noise.negative_binomial import polya
from discreet.noise.response import respond_array
from discreet.noise.selection import Run, select
from discreet.noise.uniform import uniform_array_below, uniform_below

__all__ = ["VERSION", "make_vectors"]

VERSION: Final = 3
_DRAWS: Final = 6
_SURPLUS: Final = 4
_TAPE_LENGTH: Final = 1 << 16

Output = int | bool | list[int]
Draw = Callable[[Entropy], Output]
Vector = dict[str, object]


def make_vectors() -> dict[str, object]:
    """All vectors, ready for JSON."""
    vectors = [
        *_uniform(),
        *_bernoulli(),
        *_geometric(),
        *_laplace_many(),
        *_gaussian(),
        *_gaussian_array(),
        *_polya(),
        *_response(),
        *_selection(),
    ]
    return {"version": VERSION, "vectors": vectors}


def _uniform() -> Iterator[Vector]:
    for n in (1, 2, 6, 13, 256, 257, 10**6, 2**40 + 1):
        yield from _drawn("uniform_below", {"n": str(n)}, _uniform_draw(n))
    yield _given("uniform_below", {"n": "13"}, _uniform_draw(13), "0d ff 1c")  # 13 and 15 rejected, then 12
    for n in (1, 12, 256, 300):
        yield from _drawn("uniform_array_below", {"n": str(n), "count": "5"}, _uniform_array_draw(n, 5))
    yield _given("uniform_array_below", {"n": "12", "count": "2"}, _uniform_array_draw(12, 2), "0c 01 0f 0b")


def _uniform_draw(n: int) -> Draw:
    return lambda entropy: uniform_below(entropy, n)


def _uniform_array_draw(n: int, count: int) -> Draw:
    return lambda entropy: [int(value) for value in uniform_array_below(entropy, n, count=count)]


def _bernoulli() -> Iterator[Vector]:
    for probability in (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(999, 1000)):
        draw = _bound(bernoulli, probability)
        yield from _drawn("bernoulli", {"probability": str(probability)}, draw)
    for gamma in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1, 10**6)):
        draw = _bound(bernoulli_exp_minus, gamma)
        yield from _drawn("bernoulli_exp_minus", {"gamma": str(gamma)}, draw)


def _bound(coin: Callable[[Entropy, Fraction], bool], parameter: Fraction) -> Draw:
    return lambda entropy: coin(entropy, parameter)


def _geometric() -> Iterator[Vector]:
    for scale in (
        Fraction(1, 3),
        Fraction(1),
        Fraction(10, 3),
        Fraction(1000),
        Fraction(7505999378950827, 2**51),
    ):
        yield from _drawn("geometric", {"scale": str(scale)}, _scaled(geometric, scale))
        yield from _drawn("discrete_laplace", {"scale": str(scale)}, _scaled(discrete_laplace, scale))
    # Minus zero is drawn, rejected, and zero is drawn.
    negative_zero = "01 01 00 01"
    yield _given("discrete_laplace", {"scale": "1"}, _scaled(discrete_laplace, Fraction(1)), negative_zero)


def _scaled(sampler: Callable[..., int], scale: Fraction) -> Draw:
    return lambda entropy: sampler(entropy, scale=scale)


def _laplace_many() -> Iterator[Vector]:
    for scale, count in (
        (Fraction(1, 50), 4),  # no binary digit at all: what lies beyond them is everything
        (Fraction(1, 3), 5),
        (Fraction(10, 3), 5),
        (Fraction(7505999378950827, 2**51), 3),
        (Fraction(10**6), 8),
    ):
        yield from _drawn("discrete_laplace_many", _cells(scale, count), _many_draw(scale, count))
    # Six digits do not hold; then the coin of exp(-64) ties in eleven bytes, holds in the twelfth, and fails.
    beyond = "00 00" + "ff" * 6 + "00" * 12 + "ff"
    yield _given("discrete_laplace_many", _cells(Fraction(1), 1), _many_draw(Fraction(1), 1), beyond)
    # The first and third cell tie in the coin of not being 0, the third once more.
    digit = expand(Fraction(1)).nonzero.digit
    tied = bytes([0, 1, 0, digit(0), 0, digit(0), digit(1) - 1, digit(1), digit(2) + 1])
    yield _given("discrete_laplace_many", _cells(Fraction(1), 3), _many_draw(Fraction(1), 3), tied.hex())


def _cells(scale: Fraction, count: int) -> dict[str, str]:
    return {"scale": str(scale), "count": str(count)}


def _many_draw(scale: Fraction, count: int) -> Draw:
    return lambda entropy: discrete_laplace_many(entropy, scale=scale, count=count)


def _gaussian() -> Iterator[Vector]:
    for variance in (Fraction(1, 4), Fraction(1), Fraction(50, 9), Fraction(10**6)):
        yield from _drawn("discrete_gaussian", {"variance": str(variance)}, _gaussian_draw(variance))
        for start in (1, 40):
            parameters = {"variance": str(variance), "start": str(start)}
            yield from _drawn("gaussian_tail", parameters, _tail_draw(variance, start))


def _gaussian_draw(variance: Fraction) -> Draw:
    return lambda entropy: discrete_gaussian(entropy, variance=variance)


def _tail_draw(variance: Fraction, start: int) -> Draw:
    return lambda entropy: gaussian_tail(entropy, variance=variance, start=start)


def _polya() -> Iterator[Vector]:
    for shape, scale in (
        (Fraction(1, 2), Fraction(20)),
        (Fraction(1, 100), Fraction(1000)),
        (Fraction(5, 2), Fraction(3)),
    ):
        yield from _drawn("polya", {"shape": str(shape), "scale": str(scale)}, _polya_draw(shape, scale))


def _polya_draw(shape: Fraction, scale: Fraction) -> Draw:
    return lambda entropy: polya(entropy, shape=shape, scale=scale)


def _gaussian_array() -> Iterator[Vector]:
    for variance, count in (
        (Fraction(1, 4), 5),
        (Fraction(50, 9), 5),
        (Fraction(300), 6),  # blocks of two integers
        (Fraction(10**6), 6),
        (Fraction(10**12, 7), 6),
        (Fraction(7505999378950827, 2**12) ** 2, 6),  # blocks of 2**37
    ):
        yield from _drawn("discrete_gaussian_array", _normals(variance, count), _gaussian_array_draw(variance, count))
    for variance, tape in _gaussian_corners():
        yield _given("discrete_gaussian_array", _normals(variance, 1), _gaussian_array_draw(variance, 1), tape.hex())


def _gaussian_corners() -> Iterator[tuple[Fraction, bytes]]:
    """Words that tie with the table and with a coin, on both sides, and a minus zero."""
    variance = Fraction(10**6)  # in blocks of 64
    block, offset = bytes(8), (63 << 58).to_bytes(8, "big")
    coin = Chance(Fraction(63 * 63, 2 * 10**6), plus=0).leading(2)
    for step in (-1, 1):
        yield variance, block + offset + (coin + step).to_bytes(16, "big")
    minus_zero = (1).to_bytes(8, "big") + bytes(16)
    yield variance, minus_zero
    for whole, table in (
        (Fraction(50, 9), make_table(Fraction(50, 9), fold=2)),
        (variance, make_table(variance / 64**2, fold=1)),
    ):
        tied = (int(table.low[3]) << 1).to_bytes(8, "big")
        yield whole, tied + bytes(8)
        yield whole, tied + b"\xff" * 8


def _normals(variance: Fraction, count: int) -> dict[str, str]:
    return {"variance": str(variance), "count": str(count)}


def _gaussian_array_draw(variance: Fraction, count: int) -> Draw:
    return lambda entropy: discrete_gaussian_array(entropy, variance=variance, count=count).tolist()


def _response() -> Iterator[Vector]:
    answers = [0, 1, 1, 0, 1, 0, 0, 1]
    for epsilon, categories in ((Fraction(1), 2), (Fraction(1, 2), 13), (Fraction(3), 300)):
        given = [answer * (categories - 1) for answer in answers]
        parameters = {"epsilon": str(epsilon), "categories": str(categories)}
        draw = _response_draw(given, epsilon, categories)
        yield from _drawn("randomised_response", parameters, draw, answers=given)
        yield from _drawn("randomised_response", parameters, _response_draw([1], epsilon, categories), answers=[1])
        # The second and the fourth coin tie. In the next byte one holds and the other ties again and fails.
        others = categories - 1
        digit = Chance(epsilon, times=others, plus=others).digit
        coins = bytes([255, digit(0), 255, digit(0), 255, 255, 255, 255, digit(1) - 1, digit(1), digit(2) + 1])
        yield _given("randomised_response", parameters, draw, coins.hex(), answers=given)


def _response_draw(answers: list[int], epsilon: Fraction, categories: int) -> Draw:
    return lambda entropy: respond_array(entropy, np.array(answers), epsilon=epsilon, categories=categories).tolist()


def _selection() -> Iterator[Vector]:
    cases: list[tuple[Fraction, list[Run]]] = [
        (Fraction(1), [(0, 5), (1, 1), (Fraction(3, 2), 1)]),
        (Fraction(1, 4), [(-8, 100), (-3, 2), (0, 1), (-1, 7)]),
        (Fraction(2), [(4, 3)]),
    ]
    for rate, runs in cases:
        yield from _drawn("select", {"rate": str(rate)}, _select_draw(runs, rate), runs=_shown(runs))
    # Weights 1 and 1/e: the boundary is 1 less e/(1 + e), with e = exp(-1). The first word agrees with it.
    two: list[Run] = [(1, 1), (0, 1)]
    boundary = (1 << 128) - 1 - Chance(Fraction(1)).leading(2)
    for step in (-1, 1):
        words = (boundary + step).to_bytes(16, "big")
        yield _given("select", {"rate": "1"}, _select_draw(two, Fraction(1)), words.hex(), runs=_shown(two))


def _select_draw(runs: list[Run], rate: Fraction) -> Draw:
    return lambda entropy: list(select(entropy, runs, rate=rate))


def _shown(runs: list[Run]) -> list[list[str]]:
    return [[str(score), str(multiplicity)] for score, multiplicity in runs]


def _drawn(mechanism: str, parameters: Mapping[str, str], draw: Draw, **given: object) -> Iterator[Vector]:
    """A few vectors from bytes that depend on what is drawn and on nothing else."""
    for index in range(_DRAWS):
        label = f"{mechanism} {sorted(parameters.items())} {sorted(given.items())} {index}"
        yield _vector(mechanism, parameters, draw, _tape(label, _TAPE_LENGTH), given)


def _given(mechanism: str, parameters: Mapping[str, str], draw: Draw, text: str, **given: object) -> Vector:
    """One vector whose first bytes are chosen by hand, for a tie or a rejection."""
    data = bytes.fromhex(text)
    return _vector(mechanism, parameters, draw, data + _tape(f"{mechanism} {text}", _TAPE_LENGTH), given)


def _vector(
    mechanism: str, parameters: Mapping[str, str], draw: Draw, data: bytes, given: Mapping[str, object]
) -> Vector:
    tape = ByteTape(data)
    output = draw(tape)
    return {
        "mechanism": mechanism,
        "parameters": dict(parameters),
        "input": dict(given),
        "bytes": data[: tape.used + _SURPLUS].hex(),
        "output": output,
        "bytes_used": tape.used,
    }


def _tape(label: str, length: int) -> bytes:
    return hashlib.shake_256(f"discreet noise vectors {VERSION}: {label}".encode()).digest(length)
