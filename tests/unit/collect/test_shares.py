"""Shares by ratio: values by hand, the hull of the score interval, intervals that are never of zero width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect.estimates.estimators.estimated_arrays import WithEnds, normal_quantile
from discreet.collect.estimates.estimators.frequencies import estimate_frequencies
from discreet.collect.estimates.estimators.shares import Counts, PublicSums, _Curve, clip_ends, estimate_shares
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.randomiser import Channel

CLEAR = Channel(p=1.0, q=0.0)


def made(
    reports: list[int],
    weights: list[int],
    *,
    inclusion: float,
    channel: Channel = CLEAR,
    everybody: list[int],
    silent: list[int],
) -> Counts:
    """One cell with two categories; everybody's weights, and those of people who gave no answer in public."""
    tally = GeneralisedResponse(epsilon=1, categories=2).tally(
        np.array(reports, dtype=np.int64),
        cells=np.zeros(len(reports), dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
        number=1,
    )
    sums = [
        np.array([float(sum(weight**power for weight in part))]) for part in (everybody, silent) for power in (1, 2)
    ]
    return estimate_shares(estimate_frequencies(tally, channel, inclusion=inclusion), PublicSums(*sums))


def test_a_share_is_of_those_who_were_asked_and_a_count_of_everybody() -> None:
    counts = made([0, 1, 1], [3, 1, 2], inclusion=0.5, everybody=[3, 1, 2, 4, 2], silent=[])
    assert counts.share.estimates.tolist() == [[0.5, 0.5]]
    assert counts.ratio.estimates.tolist() == [[6, 6]]
    assert counts.total.estimates.tolist() == [[6, 6]]
    assert counts.ratio.low == pytest.approx(12 * counts.share.low)


def test_people_who_are_silent_in_public_count_below_the_line() -> None:
    counts = made([0, 1, 1], [3, 1, 2], inclusion=0.5, everybody=[3, 1, 2, 4, 2], silent=[4])
    assert counts.share.estimates.tolist() == [[0.3, 0.3]]
    assert counts.ratio.estimates == pytest.approx(np.array([[3.6, 3.6]]))


def test_without_sampling_both_counts_are_one() -> None:
    channel = Channel(p=0.7, q=0.3)
    counts = made([0, 1, 1], [3, 1, 2], inclusion=1.0, channel=channel, everybody=[3, 1, 2, 4], silent=[4])
    for one, other in ((counts.total, counts.ratio), (counts.ratio, counts.total)):
        assert one.estimates == pytest.approx(other.estimates)
        assert one.low == pytest.approx(other.low)
        assert one.high == pytest.approx(other.high)


def test_an_interval_ends_where_the_variance_there_allows_it() -> None:
    """Wilson's interval: (share − s)² = z²·(1 − π)·s(1 − s)/n for equal weights and no noise."""
    counts = made([0] * 3 + [1] * 7, [1] * 10, inclusion=0.25, everybody=[1] * 40, silent=[])
    for end in (counts.share.low[0, 0], counts.share.high[0, 0]):
        assert (0.3 - end) ** 2 == pytest.approx(normal_quantile(0.95) ** 2 * 0.75 * end * (1 - end) / 10)
    nobody = made([1] * 10, [1] * 10, inclusion=0.25, everybody=[1] * 40, silent=[])
    assert (nobody.share.low[0, 0], nobody.ratio.estimates[0, 0]) == (0, 0)
    assert nobody.share.high[0, 0] > 0.2


def test_an_answer_of_heavy_people_has_a_wider_interval() -> None:
    """Without noise a total of share s has 3·s·Σw²; of those asked, 3/4 of the squares give an answer of share 1/2."""
    everybody = [3, 3, *[1] * 42]
    heavy = made([0, 0] + [1] * 6, [3, 3] + [1] * 6, inclusion=0.25, everybody=everybody, silent=[])
    light = made([1, 1] + [0] * 6, [3, 3] + [1] * 6, inclusion=0.25, everybody=everybody, silent=[])
    assert heavy.total.estimates[0, 0] == light.total.estimates[0, 0] == 24
    assert light.total.variances[0, 0] == pytest.approx(3 * 0.5 * 60)
    assert heavy.total.variances[0, 0] == pytest.approx(3 * (0.5 + 0.25) * 60)
    assert heavy.total.high[0, 0] > light.total.high[0, 0]


def test_where_nobody_was_asked_nothing_is_said() -> None:
    counts = made([], [], inclusion=0.5, everybody=[3, 4], silent=[])
    assert np.isnan(counts.share.estimates).all()
    assert np.isnan(counts.ratio.estimates).all()
    for found in (counts.total, counts.share, counts.ratio):
        assert np.isneginf(found.low).all()
        assert np.isposinf(found.high).all()


@given(
    st.floats(0.05, 1),
    st.floats(0, 0.9),
    st.floats(0.05, 1),
    st.floats(-5, 6),
    st.floats(1e-4, 10),
)
def test_the_ends_are_the_hull_of_the_set(p: float, part: float, chance: float, share: float, scale: float) -> None:
    q = p * part
    flat, own = q * (1 - q) / (p - q) ** 2, (1 - 2 * q) / (p - q)
    curve = _Curve(np.array([flat]), own - chance, 1 - chance)
    low, high = (float(end[0]) for end in curve.ends(np.array([share]), np.array([scale])))
    assert low <= share <= high
    grid = np.linspace(min(low, 0) - 1, max(high, 1) + 1, 4_001)
    inside = grid[(share - grid) ** 2 <= scale * curve.at(grid) * (1 - 1e-9)]
    assert not inside.size or (low <= inside[0] + 1e-9 and inside[-1] - 1e-9 <= high)
    for end in (low, high):
        assert (share - end) ** 2 == pytest.approx(scale * float(curve.at(np.array([end]))[0]), rel=1e-6, abs=1e-9)


@given(
    st.floats(-1e6, 2e6),
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e6),
    st.floats(1, 1e6),
    st.floats(0, 1),
)
def test_intervals_of_adjusted_counts_have_a_width_and_hold_the_truth_when_the_raw_ones_do(
    raw: float, below: float, above: float, largest: float, truth: float
) -> None:
    found = WithEnds(np.array([raw]), np.array([1.0]), 0.95, (np.array([raw - below]), np.array([raw + above])))
    figure = np.clip(np.array([raw]), 0, largest)
    low, high = (float(end[0]) for end in clip_ends(found, figure, np.array([largest])))
    assert 0 <= low < high <= largest
    assert low <= figure[0] <= high
    if raw - below <= truth * largest <= raw + above:
        assert low <= truth * largest * (1 + 1e-12) + 1e-9
        assert truth * largest <= high * (1 + 1e-12) + 1e-9


def test_intervals_of_adjusted_counts_by_hand() -> None:
    found = WithEnds(
        np.array([-3.0, 4.0, 12.0]), np.ones(3), 0.95, (np.array([-5.0, 2.0, 10.0]), np.array([-1.0, 6.0, 14.0]))
    )
    low, high = clip_ends(found, np.array([0.0, 3.0, 10.0]), np.array([10.0] * 3))
    assert low.tolist() == [0, 2, 8]
    assert high.tolist() == [2, 6, 10]
    # a figure that adding up moved out of the raw interval stays within its own
    assert clip_ends(found, np.array([0.0, 1.0, 7.0]), np.array([10.0] * 3))[0].tolist() == [0, 1, 7]
