"""Fitting, rounding, dealing and raking: totals hold, zeros stay, nobody is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.samples.raking import TableMargin, WeightMargin, deal, draw, fit, rake, round_rows


def test_fit_reaches_agreeing_margins_and_keeps_zeros() -> None:
    seed = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [1.0, 1.0, 5.0]])
    sizes = np.array([10.0, 20.0, 30.0])
    columns = TableMargin(np.zeros(3, dtype=int), np.arange(3), np.array([[25.0, 15.0, 20.0]]))
    table = fit(seed, sizes, [columns])
    assert table.sum(axis=1) == pytest.approx(sizes)
    assert table.sum(axis=0) == pytest.approx([25, 15, 20], rel=1e-3)
    assert table[0, 2] == 0


def test_fit_keeps_row_sums_when_margins_disagree() -> None:
    sizes = np.array([10.0, 20.0])
    columns = TableMargin(np.zeros(2, dtype=int), np.arange(2), np.array([[50.0, 50.0]]))
    assert fit(np.ones((2, 2)), sizes, [columns]).sum(axis=1) == pytest.approx(sizes)


@pytest.mark.parametrize(("rows", "columns"), [([0, 5], [0, 1]), ([0, 0], [0, 7])])
def test_margin_without_a_total_for_a_label_is_refused(rows: list[int], columns: list[int]) -> None:
    with pytest.raises(ValueError, match="a margin needs"):
        TableMargin(np.array(rows), np.array(columns), np.ones((1, 2)))


@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=60),
    columns=st.integers(2, 7),
    entropy=st.integers(0, 2**32),
)
def test_rounding_keeps_rows_and_hardly_moves_columns(sizes: list[int], columns: int, entropy: int) -> None:
    shares = np.random.default_rng(entropy).dirichlet(np.ones(columns), size=len(sizes))
    expected = shares * np.array(sizes)[:, None]
    counts = round_rows(expected)
    assert (counts >= 0).all()
    assert counts.sum(axis=1).tolist() == sizes
    drift = np.abs(np.cumsum(counts - expected, axis=0))
    assert drift.max(initial=0) < columns


def test_rounding_gives_a_rare_answer_its_one_person() -> None:
    expected = np.tile([9.98, 0.02], (50, 1))
    assert round_rows(expected).sum(axis=0).tolist() == [499, 1]


def test_rounding_respects_zeros() -> None:
    expected = np.array([[0.5, 0.5, 1.0], [0.0, 2.0, 0.0], [1.5, 0.0, 1.5]])
    assert (round_rows(expected)[expected == 0] == 0).all()


def test_deal_gives_every_group_its_counts() -> None:
    rng = np.random.default_rng(7)
    counts = np.array([[3, 0, 2], [0, 4, 0], [0, 0, 0], [1, 1, 1]])
    groups = rng.permutation(np.repeat(np.arange(4), counts.sum(axis=1)))
    dealt = deal(rng, groups, counts)
    for group in range(4):
        assert np.bincount(dealt[groups == group], minlength=3).tolist() == counts[group].tolist()


def test_draw_follows_the_seed_within_the_margin() -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat([0, 1], 500)
    seed = np.array([[0.9, 0.1], [0.5, 0.5]])
    margin = TableMargin(np.zeros(2, dtype=int), np.arange(2), np.array([[600.0, 400.0]]))
    answers = draw(rng, groups, seed, [margin])
    assert np.bincount(answers).tolist() == [600, 400]
    assert answers[groups == 0].mean() < answers[groups == 1].mean()


def test_rake_reaches_totals_within_limits_and_keeps_the_pinned() -> None:
    rng = np.random.default_rng(7)
    weights = rng.lognormal(3, 0.5, 2_000)
    weights[5] = 200.0
    one, two = rng.integers(0, 4, 2_000), rng.integers(0, 3, 2_000)
    totals = [10_000.0, 12_000.0, 14_000.0, 9_000.0], [20_000.0, 15_000.0, 10_000.0]
    margins = [WeightMargin(codes, np.array(t)) for codes, t in zip((one, two), totals, strict=True)]
    raked = rake(weights, margins, least=2.0, most=200.0, pinned=np.array([5]))
    assert np.bincount(one, weights=raked) == pytest.approx(totals[0], rel=1e-3)
    assert np.bincount(two, weights=raked) == pytest.approx(totals[1], rel=1e-3)
    assert raked[5] == 200.0
    assert raked.min() >= 2.0
    assert raked.max() <= 200.0
