"""Numbers that may be missing: real epsilon, pairs whose means are the truth, and the better of two ways."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.collect.randomisers.missing_numbers import (
    MISSING,
    NumberOrMissing,
    SplitNumber,
    TernaryNumber,
    choose_with_missing,
)
from discreet.errors import ParameterInvalid
from discreet.guarantees.types import LocalDP
from discreet.noise import SystemEntropy
from tests.randomisers.numbers import law

ENTROPY = SystemEntropy()
Pair = tuple[int, ...]


def joint_law(randomiser: NumberOrMissing, x: int) -> dict[Pair, float]:
    """The chance of each report, written as a tuple."""
    if isinstance(randomiser, TernaryNumber):
        odds, share = math.exp(float(randomiser.epsilon)), x / randomiser.grid
        rounded = [0.0, 0.0, 1.0] if x == MISSING else [1 - share, share, 0.0]
        return {(report,): (rounded[report] * (odds - 1) + 1) / (odds + 2) for report in range(3)}
    assert isinstance(randomiser, SplitNumber)
    odds = math.exp(float(randomiser.missing_epsilon))
    present = [1 / (odds + 1), odds / (odds + 1)][:: 1 if x != MISSING else -1]
    number = law(randomiser.number, randomiser.grid // 2 if x == MISSING else x)
    return {(told, report): present[told] * chance for told in (0, 1) for report, chance in number.items()}


def as_reports(pairs: list[Pair]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    array = np.array(pairs, dtype=np.int64)
    return array[:, 0] if array.shape[1] == 1 else array


def randomisers(epsilon: float, grid: int) -> list[NumberOrMissing]:
    return [
        TernaryNumber(epsilon=epsilon, grid=grid),
        *(
            SplitNumber(epsilon=epsilon, grid=grid, missing_epsilon=round(epsilon * 0.3, 9), randomiser=name)
            for name in ("duchi", "piecewise-wide", "laplace")
        ),
        SplitNumber(epsilon=epsilon, grid=grid, missing_epsilon=round(epsilon * 0.3, 9)),
    ]


@pytest.mark.parametrize("epsilon", [0.4, 1, 3])
@pytest.mark.parametrize("grid", [1, 4, 9])
def test_the_real_epsilon_covers_being_missing(epsilon: float, grid: int) -> None:
    for randomiser in randomisers(epsilon, grid):
        laws = [joint_law(randomiser, x) for x in range(-1, grid + 1)]
        columns = [[one[report] for one in laws] for report in laws[0] if all(report in one for one in laws)]
        real = max(math.log(max(column) / min(column)) for column in columns if min(column) > 1e-20)
        assert real <= epsilon + 1e-9
        assert randomiser.guarantee() == LocalDP(epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.4, 1, 3])
@pytest.mark.parametrize("grid", [1, 4, 9])
def test_pairs_are_unbiased_with_honest_variances(epsilon: float, grid: int) -> None:
    for randomiser in randomisers(epsilon, grid):
        for x in range(-1, grid + 1):
            chances = joint_law(randomiser, x)
            pairs = randomiser.pairs(as_reports(list(chances)))
            weights = np.array(list(chances.values()))
            above, below = float(weights @ pairs.above), float(weights @ pairs.below)
            assert above == pytest.approx(max(x, 0), abs=1e-8 * grid)
            assert below == pytest.approx(float(x != MISSING), abs=1e-9)
            spread = float(weights @ (pairs.above - above) ** 2)
            assert float(weights @ pairs.above_variances) >= spread * (1 - 1e-9)
            assert weights @ pairs.below_variances == pytest.approx(weights @ (pairs.below - below) ** 2)
            together = weights @ ((pairs.above - above) * (pairs.below - below))
            assert weights @ pairs.covariances == pytest.approx(together)


@pytest.mark.parametrize("missing", [0.0, 0.05, 0.4])
def test_the_stated_variance_is_that_of_the_linearised_mean(missing: float) -> None:
    grid = 8
    for randomiser in randomisers(1, grid):
        for x in range(grid + 1):
            expected = 0.0
            for answer, share in ((x, 1 - missing), (MISSING, missing)):
                chances = joint_law(randomiser, answer)
                pairs = randomiser.pairs(as_reports(list(chances)))
                weights = np.array(list(chances.values()))
                residual = pairs.above - x * pairs.below
                expected += share * float(weights @ (residual - weights @ residual) ** 2)
            got = randomiser.mean_variance(np.array([float(x)]), missing=missing)[0]
            assert got == pytest.approx(expected / (1 - missing) ** 2, rel=1e-9)


def test_a_tally_counts_low_high_and_missing() -> None:
    assert TernaryNumber(epsilon=1, grid=900).channel().p == pytest.approx(math.e / (math.e + 2))
    ternary = TernaryNumber(epsilon=50, grid=4)
    reports = ternary.randomise(ENTROPY, np.array([0, 4, 4, MISSING]))
    ones = np.ones(4, dtype=np.int64)
    tally = ternary.tally(reports, cells=np.zeros(4, dtype=np.int64), weights=ones, number=1)
    assert tally.support.tolist() == [[1, 2, 1]]


def test_reports_survive_json_and_nothing_else_does() -> None:
    answers = np.array([MISSING, 0, 5, 9])
    for randomiser in randomisers(1, 9):
        reports = randomiser.randomise(ENTROPY, answers)
        read, taken = randomiser.read_reports(randomiser.write_reports(reports))
        assert taken.all()
        assert (read == reports).all()
    odd: list[object] = [
        None,
        "0",
        3,
        -1,
        True,
        [],
        [1],
        [1, 2, 3],
        [2, 0],
        [0, None],
        [True, 0],
        [0, 10**30],
        {"a": 1},
    ]
    ternary, split = randomisers(1, 9)[:2]
    assert not ternary.read_reports(odd)[1].any()
    assert not split.read_reports(odd)[1].any()


def test_the_better_of_the_two_ways_is_chosen() -> None:
    assert isinstance(choose_with_missing(epsilon=1, grid=900), TernaryNumber)
    chosen = choose_with_missing(epsilon="5.99", grid=900)
    assert isinstance(chosen, SplitNumber)
    assert chosen.missing_epsilon + chosen.number.epsilon == chosen.epsilon
    place = np.array([300.0])
    best = choose_with_missing(epsilon=3, grid=900, position=300).mean_variance(place, missing=0.05)[0]
    for randomiser in (TernaryNumber(epsilon=3, grid=900), SplitNumber(epsilon=3, grid=900, missing_epsilon="0.75")):
        assert best <= randomiser.mean_variance(place, missing=0.05)[0] * (1 + 1e-9)


def test_what_has_no_sense_is_refused() -> None:
    with pytest.raises(ParameterInvalid, match="grid"):
        TernaryNumber(epsilon=1, grid=0)
    assert TernaryNumber.objection(epsilon=TernaryNumber(epsilon=1, grid=1).epsilon, grid=0)
    with pytest.raises(ParameterInvalid, match="missing_epsilon"):
        SplitNumber(epsilon=1, grid=9, missing_epsilon=1)
    with pytest.raises(ParameterInvalid, match="unbiased"):
        SplitNumber(epsilon=1, grid=9, missing_epsilon="0.5", randomiser="clip")
    with pytest.raises(ParameterInvalid, match="missing"):
        choose_with_missing(epsilon=1, grid=9, missing=1)
    with pytest.raises(ValueError, match="grid"):
        TernaryNumber(epsilon=1, grid=9).randomise(ENTROPY, np.array([-2]))
