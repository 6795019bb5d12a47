"""Selection over runs: places, ties at a boundary, and sizes no list could hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.noise import ByteTape, Choice, Run, SystemEntropy, select
from discreet.noise.response import keep_digits


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
    digits = keep_digits(epsilon=Fraction(1), categories=2, bits=256)  # the boundary 1 / (1 + 1/e)
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
