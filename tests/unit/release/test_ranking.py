"""Choices by rank: the runs stand for every candidate, each with the score that the rows give it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.engine import Histogram, HistogramArrays
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.noise.selection import Choice, Run, RunArrays
from discreet.release.measurement.ranking import choose, depth
from discreet.sql.algebra import Extreme, Quantile
from tests.algebra.columns import field

pytestmark = pytest.mark.slow

X = field("x")
MECHANISM = NoisyMax(rate=Fraction(1, 4))
LOW, HIGH = -3, 9


class Recorder(NoisyMax):
    """Keeps the runs it is given, with their rate, and chooses the candidate it is told."""

    runs: ClassVar[list[Run]] = []
    rates: ClassVar[list[Fraction]] = []
    chosen: ClassVar[int] = 0

    def release(self, runs: Sequence[Run] | RunArrays) -> Choice:
        if isinstance(runs, RunArrays):
            runs = list(zip(runs.scores.tolist(), runs.multiplicities.tolist(), strict=True))
        type(self).runs, type(self).rates = list(runs), [self.rate]
        place = type(self).chosen
        for number, (_, length) in enumerate(runs):
            if place < length:
                return Choice(number, place)
            place -= length
        raise AssertionError("fewer candidates than there should be")


def recording(chosen: int) -> Recorder:
    Recorder.chosen = chosen
    return Recorder(rate=MECHANISM.rate)


def score(measure: Quantile | Extreme, rows: list[int], point: int) -> Fraction:
    """The score as it is defined, point by point."""
    below, above, total = sum(x < point for x in rows), sum(x > point for x in rows), len(rows)
    if isinstance(measure, Quantile):
        q = measure.rank
        return -max(Fraction(0), below - q * total, above - (1 - q) * total)
    aim = depth(MECHANISM, candidates=(LOW, HIGH))
    return -Fraction(abs((above if measure.largest else below) - aim))


MEASURES: list[Quantile | Extreme] = [
    Quantile(X, Fraction(1, 2)),
    Quantile(X, Fraction(1, 10)),
    Quantile(X, Fraction(0)),
    Quantile(X, Fraction(1)),
    Extreme(X, largest=True),
    Extreme(X, largest=False),
]


@settings(deadline=None)
@given(measure=st.sampled_from(MEASURES), rows=st.lists(st.integers(LOW, HIGH), max_size=30), arrays=st.booleans())
def test_every_candidate_has_its_score_and_is_found_again(
    measure: Quantile | Extreme, rows: list[int], arrays: bool
) -> None:
    histogram: Histogram = sorted(Counter(rows).items())
    if arrays:
        histogram = in_arrays(histogram)
    for place, point in enumerate(range(LOW, HIGH + 1)):
        recorder = recording(place)
        assert choose(measure, histogram, recorder, candidates=(LOW, HIGH)) == point
        exponents = [recorder.rates[0] * found for found, length in recorder.runs for _ in range(length)]
        assert exponents == [MECHANISM.rate * score(measure, rows, candidate) for candidate in range(LOW, HIGH + 1)]


def in_arrays(histogram: Histogram) -> HistogramArrays:
    values, counts = np.array(list(histogram), dtype=np.int64).reshape(-1, 2).T
    return HistogramArrays(values, counts)


@pytest.mark.parametrize("form", [list, in_arrays])
def test_a_wide_column_costs_runs_not_points(form: Callable[[Histogram], Histogram]) -> None:
    recorder = recording(0)
    choose(MEASURES[0], form([(0, 5), (10**15, 5)]), recorder, candidates=(-(10**17), 10**17))
    assert len(recorder.runs) == 5
    assert sum(length for _, length in recorder.runs) == 2 * 10**17 + 1


@pytest.mark.parametrize(("count", "end"), [(10**18, 10**9), (5, 2**62)])
def test_what_arrays_cannot_hold_is_chosen_all_the_same(count: int, end: int) -> None:
    """Scores in tenths of so many rows, and candidates so far apart, leave 64 bits."""
    histogram = in_arrays([(3, count), (4, count)])
    assert choose(MEASURES[1], histogram, NoisyMax(rate=Fraction(100)), candidates=(-end, end)) == 3


def test_a_column_of_equal_rows_has_one_best_value() -> None:
    assert choose(MEASURES[0], [(4, 10**6)], NoisyMax(rate=Fraction(1)), candidates=(LOW, HIGH)) == 4


@pytest.mark.parametrize(("largest", "end"), [(True, 1000), (False, 0)])
def test_extremes_stay_among_the_rows(largest: bool, end: int) -> None:
    """One choice lies beyond the rows with a chance of at most .05 (docs/proofs/quantiles.md); 21 of 60 do so with a
    chance below 1e-12. A score without depth is flat beyond the rows and would lie there nearly always.
    """
    rows = [(value, 3) for value in range(1001)]
    mechanism = NoisyMax(rate=Fraction(1))
    found = [choose(Extreme(X, largest), rows, mechanism, candidates=(-(10**6), 10**6)) for _ in range(60)]
    assert sum(abs(chosen - end) >= 40 for chosen in found) <= 20


@settings(deadline=None)
@given(rows=st.lists(st.integers(LOW, HIGH), max_size=8), changes=st.data())
def test_one_row_moves_every_score_by_no_more_than_is_paid_for(rows: list[int], changes: st.DataObject) -> None:
    came = changes.draw(st.integers(LOW, HIGH))
    left = changes.draw(st.integers(LOW, HIGH))
    for measure in MEASURES:
        step = max(measure.rank, 1 - measure.rank) if isinstance(measure, Quantile) else Fraction(1)
        for point in range(LOW, HIGH + 1):
            before = score(measure, rows, point)
            assert abs(score(measure, [*rows, came], point) - before) <= step
            assert abs(score(measure, [*rows, came], point) - score(measure, [*rows, left], point)) <= 1


def test_depth_is_what_the_mechanism_needs_for_its_candidates() -> None:
    # 13 candidates * exp(-t/4) <= 0.05 from t = 4 * ln(260) = 22.2 on
    assert depth(MECHANISM, candidates=(LOW, HIGH)) == 23
