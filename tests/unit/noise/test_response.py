"""Randomised response: which bytes are read, what ties do, and who reports what."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import ByteTape, SystemEntropy, respond_array
from discreet.noise.chance import Chance


def test_a_byte_for_each_coin_then_one_for_each_change() -> None:
    # changed with chance 3/(e + 3) = 0.5246...: bytes up to 133 change, 134 ties and reads on
    digit = Chance(Fraction(1), times=3, plus=3).digit(0)
    assert digit == math.floor(256 * 3 / (math.e + 3)) == 134
    tape = ByteTape(bytes([0, 255, digit, 133]) + b"\xff" + bytes([0, 3, 2]))
    assert respond_array(tape, np.array([0, 1, 2, 2]), epsilon=Fraction(1), categories=4).tolist() == [1, 1, 2, 3]
    assert tape.used == 8


def test_ties_are_read_after_all_first_bytes_in_order() -> None:
    digit = Chance(Fraction(1), times=3, plus=3).digit
    coins = bytes([digit(0), 255, digit(0), digit(1), digit(1) - 1, digit(2) + 1])
    tape = ByteTape(coins + bytes([2]))
    # The first coin ties twice and fails; the third ties once and holds.
    assert respond_array(tape, np.array([3, 3, 0]), epsilon=Fraction(1), categories=4).tolist() == [3, 3, 3]
    assert tape.used == 7


def test_two_categories_read_nothing_to_choose_the_other() -> None:
    tape = ByteTape(bytes(3))
    assert respond_array(tape, np.array([0, 1, 0]), epsilon=Fraction(1), categories=2).tolist() == [1, 0, 1]
    assert tape.used == 3


def test_an_answer_never_changes_into_itself_and_every_other_comes() -> None:
    changes = bytes([0, 0, 0, 0]) + bytes([0, 1, 2, 2])
    for answer, reports in ((0, [1, 2, 3, 3]), (1, [0, 2, 3, 3]), (2, [0, 1, 3, 3]), (3, [0, 1, 2, 2])):
        drawn = respond_array(ByteTape(changes), np.full(4, answer), epsilon=Fraction(1), categories=4)
        assert drawn.tolist() == reports


def test_the_answers_are_left_as_they_are() -> None:
    answers = np.arange(1000) % 7
    respond_array(SystemEntropy(), answers, epsilon=Fraction(1, 10), categories=7)
    assert answers.tolist() == [value % 7 for value in range(1000)]


@pytest.mark.parametrize(("epsilon", "categories"), [(Fraction(0), 3), (Fraction(-1), 3), (Fraction(1), 1)])
def test_parameters_outside_the_law_are_refused(epsilon: Fraction, categories: int) -> None:
    with pytest.raises(ValueError, match="chance needs"):
        respond_array(ByteTape(bytes(99)), np.array([0]), epsilon=epsilon, categories=categories)


def test_no_answers_read_nothing() -> None:
    empty = np.array([], dtype=np.int64)
    assert respond_array(ByteTape(b""), empty, epsilon=Fraction(1), categories=3).tolist() == []
