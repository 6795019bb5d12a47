"""Selection over runs: places, ties at a boundary, and sizes no list could hold."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import ByteTape, Choice, Run, RunArrays, SystemEntropy, select
from discreet.noise.chance import Chance


def test_a_single_candidate_reads_nothing() -> None:
    assert select(ByteTape(b""), [(-5, 1)], rate=Fraction(1)) == Choice(0, 0)


def test_empty_runs_are_never_chosen_and_do_not_set_the_best_score() -> None:
    runs: list[Run] = [(100, 0), (0, 1), (7, 0)]
    assert select(ByteTape(b""), runs, rate=Fraction(1)) == Choice(1, 0)


def test_a_place_inside_a_pool_finds_its_run() -> None:
    runs: list[Run] = [(0, 3), (-9, 4), (0, 5)]  # one pool of 8 with fraction 0, and one far below
    rate = Fraction(1)
    for place in range(8):
        tape = ByteTape(bytes(8) + bytes([place]))
        expected = Choice(0, place) if place < 3 else Choice(2, place - 3)
        assert select(tape, runs, rate=rate) == expected


@pytest.mark.parametrize(("step", "run"), [(-1, 0), (1, 1)])
def test_a_word_across_the_boundary_asks_for_another(step: int, run: int) -> None:
    digits = (1 << 256) - 1 - Chance(Fraction(1)).leading(4)  # the boundary 1 / (1 + 1/e)
    tape = ByteTape((digits + step).to_bytes(32, "big"))
    assert select(tape, [(1, 1), (0, 1)], rate=Fraction(1)) == Choice(run, 0)
    assert tape.used == 32


def test_the_two_ends_of_the_line() -> None:
    runs: list[Run] = [(0, 1), (-3, 1)]
    assert select(ByteTape(bytes(8)), runs, rate=Fraction(1)).run == 0
    assert select(ByteTape(b"\xff" * 8 + bytes(8)), runs, rate=Fraction(1)).run == 1


def test_vast_runs_and_far_scores_cost_little() -> None:
    runs: list[Run] = [(-(10**15), 10**18), (0, 1), (-5, 10**30)]
    choice = select(SystemEntropy(), runs, rate=Fraction(1, 10))
    assert choice.run == 2
    assert 0 <= choice.offset < 10**30


@given(
    runs=st.lists(
        st.tuples(st.sampled_from([0, -1, -2, -7, -129, -131, -140, -300]), st.sampled_from([0, 1, 2, 50, 10**9])),
        min_size=1,
        max_size=8,
    ).filter(lambda runs: any(multiplicity for _, multiplicity in runs)),
    rate=st.sampled_from([Fraction(1), Fraction(7, 2), Fraction(1, 3)]),
    ones=st.integers(0, 80),
    seed=st.integers(0, 2**64),
)
def test_arrays_are_chosen_from_as_lists_are(runs: list[Run], rate: Fraction, ones: int, seed: int) -> None:
    """The same bytes give the same candidate, also where a long row of ones leads among those left out at first."""
    tape = b"\xff" * 8 * ones + Random(seed).randbytes(4000)
    arrays = RunArrays(*(np.array(column, dtype=np.int64) for column in zip(*runs, strict=True)))
    one, other = ByteTape(tape), ByteTape(tape)
    assert select(one, runs, rate=rate) == select(other, arrays, rate=rate)
    assert one.used == other.used


@pytest.mark.parametrize(("behind", "words"), [(130, 3), (300, 7), (4000, 91)])
def test_a_candidate_far_behind_is_chosen_as_rarely_as_it_must(behind: int, words: int) -> None:
    """It lies at the end of the line, exp(-behind) long: so many words of ones reach it, and one fewer does not."""
    assert 64 * (words - 1) < behind / math.log(2) < 64 * words
    runs: list[Run] = [(0, 1), (-behind, 1)]
    assert select(ByteTape(b"\xff" * 8 * words + bytes(8)), runs, rate=Fraction(1)) == Choice(1, 0)
    assert select(ByteTape(b"\xff" * 8 * (words - 1) + bytes(8)), runs, rate=Fraction(1)) == Choice(0, 0)


@pytest.mark.parametrize(("scores", "sizes"), [([0, -(2**62)], [1, 1]), ([0, 0], [2**61, 2**61])])
def test_arrays_that_could_leave_64_bits_are_refused(scores: list[int], sizes: list[int]) -> None:
    with pytest.raises(ValueError, match=r"2\*\*62"):
        select(ByteTape(b""), RunArrays(np.array(scores), np.array(sizes)), rate=Fraction(1))


def test_scores_may_be_fractions() -> None:
    runs: list[Run] = [(Fraction(-1, 3), 1), (Fraction(-1, 7), 1), (0, 1)]
    assert {select(SystemEntropy(), runs, rate=Fraction(1, 2)).run for _ in range(400)} == {0, 1, 2}


@pytest.mark.parametrize(
    ("runs", "rate"),
    [([], Fraction(1)), ([(1, 0)], Fraction(1)), ([(1, -1), (1, 2)], Fraction(1)), ([(1, 1)], Fraction(0))],
)
def test_what_cannot_be_chosen_from_is_refused(runs: list[Run], rate: Fraction) -> None:
    with pytest.raises(ValueError, match=r"must|needed"):
        select(ByteTape(b""), runs, rate=rate)
