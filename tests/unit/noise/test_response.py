"""Randomised response: exact digits of p, ties refined, scalar and array alike."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import ByteTape, SystemEntropy, respond, respond_array
from discreet.noise.response import keep_digits

CASES = [
    (Fraction(1), 2),
    (Fraction(1, 2), 13),
    (Fraction(3), 300),
    (Fraction(1, 10**9), 7),
    (Fraction(20), 2),
]


@pytest.mark.parametrize(("epsilon", "categories"), CASES)
@pytest.mark.parametrize("bits", [1, 64, 128, 320])
def test_digits_of_p(epsilon: Fraction, categories: int, bits: int) -> None:
    with localcontext() as context:
        context.prec = 250
        odds = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        p = Fraction(odds / (odds + categories - 1))
    assert keep_digits(epsilon=epsilon, categories=categories, bits=bits) == int(p * 2**bits)


def test_a_vast_epsilon_never_makes_p_one() -> None:
    assert keep_digits(epsilon=Fraction(10**6), categories=5, bits=64) == 2**64 - 1


@pytest.mark.parametrize(("epsilon", "categories"), CASES)
def test_ties_are_settled_by_the_next_word(epsilon: Fraction, categories: int) -> None:
    digits = keep_digits(epsilon=epsilon, categories=categories, bits=192)
    for step, kept in ((-1, True), (1, False)):
        tape = ByteTape((digits + step).to_bytes(24, "big") + bytes(8))
        report = respond(tape, 1, epsilon=epsilon, categories=categories)
        assert (report == 1) is kept
        assert tape.used == 24 + (0 if kept or categories == 2 else ((categories - 2).bit_length() + 7) // 8)


def test_ties_in_an_array_are_read_after_all_first_words_in_order() -> None:
    epsilon, categories = Fraction(1), 4
    digits = keep_digits(epsilon=epsilon, categories=categories, bits=128)
    first, second = divmod(digits, 2**64)
    words = [0, first, 2**64 - 1, first, second + 1, second - 1]
    tape = ByteTape(b"".join(word.to_bytes(8, "big") for word in words) + bytes([0x02, 0x03, 0x01]))
    reports = respond_array(tape, np.array([3, 3, 0, 2]), epsilon=epsilon, categories=categories)
    # Answers 1 and 2 change: 2 is below 3 and stays 2; 3 is rejected; 1 is not below 0 and becomes 2.
    assert reports.tolist() == [3, 2, 2, 2]
    assert tape.used == 51


def test_one_answer_reads_alike_by_both_ways() -> None:
    for _ in range(300):
        data = SystemEntropy().read(64)
        scalar, array = ByteTape(data), ByteTape(data)
        report = respond(scalar, 5, epsilon=Fraction(1, 2), categories=13)
        assert respond_array(array, np.array([5]), epsilon=Fraction(1, 2), categories=13).tolist() == [report]
        assert scalar.used == array.used


@pytest.mark.parametrize("answers", [[-1], [13], [0, 13], [2**40]])
def test_answers_outside_the_categories_are_refused(answers: list[int]) -> None:
    with pytest.raises(ValueError, match="categories"):
        respond_array(ByteTape(b""), np.array(answers), epsilon=Fraction(1), categories=13)
    with pytest.raises(ValueError, match="categories"):
        respond(ByteTape(b""), answers[-1], epsilon=Fraction(1), categories=13)


def test_fractions_are_not_answers() -> None:
    with pytest.raises(TypeError, match="integers"):
        respond_array(ByteTape(b""), np.array([0.5]), epsilon=Fraction(1), categories=13)


@pytest.mark.parametrize(("epsilon", "categories"), [(Fraction(0), 3), (Fraction(-1), 3), (Fraction(1), 1)])
def test_parameters_outside_the_law_are_refused(epsilon: Fraction, categories: int) -> None:
    with pytest.raises(ValueError, match="randomised response needs"):
        respond(ByteTape(bytes(99)), 0, epsilon=epsilon, categories=categories)


def test_no_answers_read_nothing() -> None:
    empty = np.array([], dtype=np.int64)
    assert respond_array(ByteTape(b""), empty, epsilon=Fraction(1), categories=3).tolist() == []
