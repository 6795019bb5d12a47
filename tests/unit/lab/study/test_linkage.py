"""The linkage attack: what static columns give away, and what a report adds to the best guess."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.lab.study.execution.outcomes import Outcome, Protected
from discreet.lab.study.findings import linking_attack
from discreet.lab.study.findings.linking_attack import count_cells, linkage_attack
from discreet.lab.study.frame import StudyFrame

MakeFrame = Callable[..., StudyFrame]


@pytest.fixture
def frame(make_frame: MakeFrame) -> StudyFrame:
    """2,000 respondents; `size` serves as a static column on which about a tenth are unique."""
    rng = np.random.default_rng(5)
    size = np.concatenate([rng.permutation(np.arange(100)), rng.integers(100, 201, 1900)])
    return make_frame(
        {"region": rng.integers(0, 2, 2000), "answer": rng.choice(3, 2000, p=[0.5, 0.3, 0.2]), "size": size}
    )


def _reports(frame: StudyFrame, truthful: float) -> Outcome:
    rng = np.random.default_rng(6)
    answers = frame.column("answer").positions
    lies = (answers + rng.integers(1, 3, answers.size)) % 3
    values = np.where(rng.random(answers.size) < truthful, answers, lies)
    return Outcome((), (Protected("answer", "grr", "reports", values=values, rows=np.arange(answers.size)),))


def test_cells_are_counted_over_all_static_columns(make_frame: MakeFrame) -> None:
    frame = make_frame({"region": [0, 0, 1, 1, 1], "answer": [0, 0, 1, 1, -1], "size": [1, 1, 1, 1, 1]})
    assert count_cells(frame, ["region", "answer"]).tolist() == [2, 2, 2, 2, 1]
    assert count_cells(frame, ["region"]).tolist() == [2, 2, 3, 3, 3]
    assert count_cells(frame, []).tolist() == [5] * 5


def test_honest_reports_are_read_off_and_pure_noise_is_worth_the_baseline(frame: StudyFrame) -> None:
    (clear,) = linkage_attack(frame, _reports(frame, 1.0), static=["region", "size"], columns=["answer"])
    assert clear.linked >= 100
    assert clear.linked <= clear.within_2 <= clear.within_5 <= clear.respondents == 2000
    assert clear.success_before == clear.success_after == 1.0
    (noise,) = linkage_attack(frame, _reports(frame, 1 / 3), static=["region", "size"], columns=["answer"])
    assert noise.success_after == pytest.approx(noise.baseline, abs=0.1)
    assert noise.baseline == pytest.approx(0.5, abs=0.15)


def test_a_report_helps_the_guess_more_the_more_truthful_it_is(frame: StudyFrame) -> None:
    successes = [
        linkage_attack(frame, _reports(frame, share), static=["region", "size"], columns=["answer"])[0].success_after
        for share in (0.4, 0.7, 0.95)
    ]
    assert successes == sorted(successes)
    assert successes[2] == pytest.approx(0.95, abs=0.06)


def test_shuffled_reports_and_estimates_leave_the_guess_of_the_group(frame: StudyFrame) -> None:
    outcome = _reports(frame, 0.95)
    (row,) = linkage_attack(frame, outcome, static=["region", "size"], columns=["answer"], shuffled=True)
    assert row.success_after == row.baseline
    shares = Outcome((), (Protected("answer", "laplace", "estimate", shares=np.array([0.5, 0.3, 0.2])),))
    (row,) = linkage_attack(frame, shares, static=["region", "size"], columns=["answer"])
    assert row.success_after == row.baseline
    assert row.success_before == 1.0


def test_linked_reports_that_the_outcome_does_not_hold_are_not_said_to_be_harmless(frame: StudyFrame) -> None:
    shares = np.array([0.5, 0.3, 0.2])
    for mechanism in ("subset", "oue split"):
        outcome = Outcome((), (Protected("answer", mechanism, "estimate", shares=shares),))
        (row,) = linkage_attack(frame, outcome, static=["region", "size"], columns=["answer"])
        assert math.isnan(row.success_after)
        (mixed,) = linkage_attack(frame, outcome, static=["region", "size"], columns=["answer"], shuffled=True)
        assert mixed.success_after == mixed.baseline


def test_numbers_are_guessed_to_a_tenth_of_their_range(make_frame: MakeFrame) -> None:
    rng = np.random.default_rng(7)
    drawn = {"region": rng.integers(0, 2, 3000), "answer": rng.integers(0, 3, 3000), "size": rng.integers(0, 201, 3000)}
    frame = make_frame(drawn)
    sizes = frame.column("size").positions
    values = sizes + rng.laplace(0, 2, sizes.size)
    outcome = Outcome((), (Protected("size", "laplace", "reports", values=values, rows=np.arange(sizes.size)),))
    (row,) = linkage_attack(frame, outcome, static=["region", "answer", "size"], columns=["size"])
    assert row.success_after > 0.7
    assert row.baseline < 0.3


def test_where_nobody_is_alone_there_is_no_chance_to_tell(frame: StudyFrame) -> None:
    (row,) = linkage_attack(frame, _reports(frame, 0.9), static=["region"], columns=["answer"])
    assert row.linked == 0
    assert math.isnan(row.success_before)
    assert math.isnan(row.success_after)


@pytest.mark.parametrize("values", [np.array([3, -1, 3, 7, 0]), np.array([10**9, 5, 5]), np.array([0.5, 0.25, 0.5])])
def test_reports_are_numbered_in_rising_order(values: NDArray[Any]) -> None:
    distinct, places = np.unique(values, return_inverse=True)
    found, number = linking_attack._number(values)
    assert (found.tolist(), number) == (places.tolist(), distinct.size)
