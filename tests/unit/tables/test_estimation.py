"""Cells from margins: worked examples, what is refused, and large tables."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.engines.cell_order import take_margin
from discreet.sql.algebra import Field, Identity, Key, Marginal, Plan, Residual, Rows, Scan
from discreet.tables.linear.estimation import LinearEstimator, Term
from discreet.tables.linear.layout import Layout, Observation, every_margin
from discreet.tables.table_reading import LOST


def lay_out(*sizes: int, slicing: int | None = None) -> Layout:
    return Layout(sizes, slicing, tuple(every_margin(len(sizes))))


def listed(terms: list[Term]) -> list[tuple[int, int, float, int]]:
    return [(one.observation, one.slice_place, round(one.coefficient, 9), one.count) for one in terms]


def test_cells_alone_are_what_was_observed() -> None:
    layout = lay_out(3, 4)
    values = np.arange(12).reshape(3, 4) * 1_000_000_007 + 1
    estimator = LinearEstimator(layout, [Observation((0, 1), False, (2.0,))])
    np.testing.assert_array_equal(estimator.estimate([values.reshape(-1)]), values)
    np.testing.assert_allclose(estimator.variances(()), [24.0])
    assert listed(estimator.terms((0,))) == [(0, 0, 1.0, 4)]


def test_a_total_is_shared_equally_among_cells() -> None:
    # two cells and their sum, all with variance 1: the sum is off by 3, and each of the three numbers gives way by 1
    estimator = LinearEstimator(lay_out(2), [Observation((0,), False, (1.0,)), Observation((), False, (1.0,))])
    np.testing.assert_allclose(estimator.estimate([[10, 20], 33]), [11, 21])
    np.testing.assert_allclose(estimator.variances(()), [2 / 3])
    np.testing.assert_allclose(estimator.variances((0,)), [2 / 3])
    assert listed(estimator.terms((0,))) == [
        (0, 0, round(-1 / 3, 9), 1),
        (0, 0, round(2 / 3, 9), 1),
        (1, 0, round(1 / 3, 9), 1),
    ]


def test_slices_share_by_their_variances() -> None:
    # slices with variances 1 and 3 and an exact-looking total: the noisier slice takes most of the correction
    layout = lay_out(2, slicing=0)
    estimator = LinearEstimator(layout, [Observation((0,), False, (1.0, 3.0)), Observation((), False, (4.0,))])
    np.testing.assert_allclose(estimator.estimate([[0, 0], [8]]), [1, 3])
    np.testing.assert_allclose(estimator.variances((0,)), [1 - 1 / 8, 3 - 9 / 8])
    np.testing.assert_allclose(estimator.variances(()), [2.0])


def test_slices_with_the_same_noise_are_taken_together() -> None:
    layout = lay_out(3, slicing=0)
    estimator = LinearEstimator(layout, [Observation((0,), False, (1.0, 1.0, 1.0)), Observation((), False, (1.0,))])
    assert listed(estimator.terms((0,), 2)) == [
        (0, 0, -0.25, 2),
        (0, 0, 0.75, 1),
        (1, 0, 0.25, 1),
    ]


def test_residuals_of_every_margin_determine_the_cells() -> None:
    layout = lay_out(2, 3)
    cells = np.array([[5, 1, 7], [2, 2, 9]])
    lines = 2 * cells - cells.sum(axis=0)
    both = 3 * lines - lines.sum(axis=1, keepdims=True)
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    values = [both, 2 * rows - rows.sum(), 3 * columns - columns.sum(), cells.sum()]
    observations = [Observation(kept, True, (1.0,)) for kept in every_margin(2)]
    np.testing.assert_allclose(LinearEstimator(layout, observations).estimate(values), cells)


@pytest.mark.parametrize(
    ("slicing", "observations", "fault"),
    [
        (None, [Observation((0,), False, (1.0,)), Observation((1,), False, (1.0,))], "do not determine"),
        (None, [Observation((0, 1), True, (1.0,))], "do not determine"),
        (0, [Observation((1,), False, (1.0,))], "do not determine"),
        (0, [Observation((0, 1), False, (1.0,))], "has 2 variances"),
        (0, [Observation((0, 1), False, (1.0, 1.0)), Observation((1,), False, (1.0, 1.0))], "has 1 variances"),
        (None, [Observation((0, 1), False, (0.0,))], "positive"),
        (None, [Observation((0, 1), False, (float("nan"),))], "positive"),
        (None, [], "do not determine"),
    ],
)
def test_what_does_not_determine_the_cells_is_refused(
    slicing: int | None, observations: list[Observation], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        LinearEstimator(lay_out(2, 3, slicing=slicing), observations)


def test_values_and_slices_that_do_not_belong_are_refused() -> None:
    estimator = LinearEstimator(lay_out(2, 3, slicing=0), [Observation((0, 1), False, (1.0, 2.0))])
    with pytest.raises(ValueError, match="received values for 0"):
        estimator.estimate([])
    with pytest.raises(ValueError, match="no such slice"):
        estimator.terms((0, 1), 2)
    with pytest.raises(ValueError, match="no such slice"):
        estimator.terms((1,), 1)


def test_a_table_of_a_hundred_thousand_cells_stays_consistent_with_its_variances() -> None:
    layout = lay_out(13, 13, 20, 30, slicing=0)
    random = np.random.default_rng(7)
    caps = np.linspace(1, 30, 13)
    observations = [
        Observation(kept, False, tuple(caps) if 0 in kept else (30.0,)) for kept in every_margin(4) if len(kept) != 2
    ]
    cells = random.integers(0, 50, size=layout.sizes)
    values = []
    for one in observations:
        summed = cells.sum(axis=tuple(place for place in range(4) if place not in one.kept))
        spread = np.sqrt(caps).reshape(-1, *[1] * (len(one.kept) - 1)) if 0 in one.kept else np.sqrt(30.0)
        values.append(summed + random.normal(size=summed.shape) * spread)
    estimator = LinearEstimator(layout, observations)
    errors = (estimator.estimate(values) - cells) ** 2
    realised = errors.mean(axis=(1, 2, 3))
    np.testing.assert_allclose(realised, estimator.variances(layout.cells), rtol=0.1)
    assert np.all(estimator.variances(layout.cells) < caps)


@pytest.mark.parametrize("size", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("residual", [False, True])
def test_small_cells_beside_large_ones_lose_little_to_rounding(size: int, residual: bool) -> None:
    layout = Layout((13, 5, 16), None, tuple(every_margin(3)))
    truth = np.random.default_rng().integers(0, size, layout.sizes)
    truth[0] %= 50
    observations = [Observation(kept, residual, (1.5 + len(kept),)) for kept in layout.margins]
    keys = tuple(Key(Field(Identity(place)), tuple(range(cells))) for place, cells in enumerate(layout.sizes))
    plan = Plan(Scan("t", 1, tuple((key.field.column, f"k{key.field.column}") for key in keys)), keys, (Rows(None),))
    values = [
        take_margin(plan, (Residual if residual else Marginal)(Rows(None), kept), truth.ravel().tolist())
        for kept in layout.margins
    ]
    found = LinearEstimator(layout, observations).estimate(values)
    for margin in layout.margins:
        over = tuple(place for place in layout.cells if place not in margin)
        assert np.abs(found.sum(axis=over) - truth.sum(axis=over)).max() < LOST * truth.sum()
