"""KSComplement and CorrelationSimilarity are SDMetrics' own, computed from counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.lab.generator.similarity import correlate
from discreet.lab.study.execution.outcomes import Correlations, Outcome, Protected
from discreet.lab.study.findings.metrics import (
    AVERAGE,
    CORRELATION_SIMILARITY,
    KS_COMPLEMENT,
    measure,
)
from discreet.lab.study.frame import StudyFrame

MakeFrame = Callable[..., StudyFrame]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240501)


def _frame(make_frame: MakeFrame, rng: np.random.Generator, rows: int = 4000) -> StudyFrame:
    region = rng.integers(0, 2, rows)
    answer = np.where(rng.random(rows) < 0.1, -1, rng.choice(3, rows, p=[0.6, 0.3, 0.1]))
    size = np.where(rng.random(rows) < 0.05, -1, np.clip(rng.normal(80, 20, rows), 0, 200).astype(int))
    weights = rng.integers(1, 50, rows)
    return make_frame({"region": region, "answer": answer, "size": size}, weights)


def _values(measured: Any, metric: str, basis: str | None = None) -> dict[str, float]:
    rows = [row for row in measured.quality if row.metric == metric and basis in (None, row.basis)]
    return {row.column: row.value for row in rows if not row.static}


@pytest.mark.slow
def test_reports_are_compared_as_sdmetrics_would(make_frame: MakeFrame, rng: np.random.Generator) -> None:
    from sdmetrics.single_column import KSComplement

    frame = _frame(make_frame, rng)
    answers, sizes = frame.column("answer"), frame.column("size")
    rows = np.flatnonzero(answers.present())
    reports = rng.integers(0, 3, rows.size)
    numbers = sizes.positions[sizes.present()] + rng.laplace(0, 150, int(sizes.present().sum()))
    outcome = Outcome(
        answered=(),
        protected=(
            Protected("answer", "grr", "reports", values=reports, rows=rows),
            Protected("size", "laplace", "reports", values=numbers, rows=np.flatnonzero(sizes.present())),
        ),
    )
    measured = measure(frame, outcome, detailed=True, variant="local")
    found = _values(measured, KS_COMPLEMENT)
    truth = answers.positions[answers.present()]
    assert found["answer"] == pytest.approx(KSComplement.compute(truth, reports), abs=1e-9)
    truth = sizes.positions[sizes.present()]
    assert found["size"] == pytest.approx(KSComplement.compute(truth, numbers), abs=1e-9)
    assert found[AVERAGE] == pytest.approx((found["answer"] + found["size"]) / 2)
    static = [row for row in measured.quality if row.static]
    assert {row.column: row.value for row in static} == {"region": 1.0, AVERAGE: 1.0}


def test_shapes_add_up_and_show_numbers_that_left_the_grid(make_frame: MakeFrame, rng: np.random.Generator) -> None:
    frame = _frame(make_frame, rng)
    sizes = frame.column("size")
    numbers = sizes.positions[sizes.present()] + rng.laplace(0, 150, int(sizes.present().sum()))
    outcome = Outcome((), (Protected("size", "laplace", "reports", values=numbers, rows=None),))
    shapes = measure(frame, outcome, detailed=True).shapes
    assert sum(row.original for row in shapes) == pytest.approx(1)
    assert sum(row.protected for row in shapes) == pytest.approx(1)
    assert shapes[0].bin == -1
    assert shapes[0].label == "below"
    assert shapes[0].protected == pytest.approx((numbers < -0.5).mean())
    assert shapes[-1].label == "above"
    assert 25 <= len(shapes) <= 34


def test_estimated_shares_are_compared_with_the_weighted_answers(
    make_frame: MakeFrame, rng: np.random.Generator
) -> None:
    frame = _frame(make_frame, rng)
    answers = frame.column("answer")
    there = answers.present()
    weighted = np.bincount(answers.positions[there], weights=frame.weights[there])
    shares = weighted / weighted.sum()
    same = Outcome((), (Protected("answer", "laplace", "estimate", shares=shares),))
    assert _values(measure(frame, same, detailed=False), KS_COMPLEMENT)["answer"] == pytest.approx(1)
    moved = shares + np.array([0.05, -0.05, 0])
    other = Outcome((), (Protected("answer", "laplace", "estimate", shares=moved),))
    assert _values(measure(frame, other, detailed=False), KS_COMPLEMENT)["answer"] == pytest.approx(0.95)


def test_correlation_rows_leave_pairs_of_static_columns_out_of_the_average(
    make_frame: MakeFrame, rng: np.random.Generator
) -> None:
    frame = _frame(make_frame, rng)
    columns = ("region", "answer", "size")
    values = [np.where(frame.column(n).present(), frame.column(n).positions, np.nan) for n in columns]
    original = correlate(values)
    changed = original.copy()
    changed[1, 2] = changed[2, 1] = original[1, 2] + 0.5
    changed[0, 2] = changed[2, 0] = np.nan
    outcome = Outcome((), (), (Correlations(columns, changed, "corrected"),))
    measured = measure(frame, outcome, detailed=True, variant="local grr")
    found = _values(measured, CORRELATION_SIMILARITY)
    assert found["answer"] == pytest.approx((1 + 0.75) / 2)
    assert found["size"] == pytest.approx(0.75)
    assert found[AVERAGE] == pytest.approx((1 + 0.75) / 2)
    assert {row.mechanism for row in measured.correlations} == {"local grr"}
    assert sum(math.isnan(row.protected) for row in measured.correlations) == 1


def test_details_are_left_out_unless_asked_for(make_frame: MakeFrame, rng: np.random.Generator) -> None:
    outcome = Outcome((), (Protected("answer", "grr", "reports", values=np.array([0, 1, 2]), rows=None),))
    measured = measure(_frame(make_frame, rng), outcome, detailed=False)
    assert measured.shapes == ()
    assert measured.correlations == ()


def test_a_column_of_which_nothing_is_seen_has_no_quality(make_frame: MakeFrame, rng: np.random.Generator) -> None:
    outcome = Outcome((), (Protected("answer", "ternary", "none"),))
    measured = measure(_frame(make_frame, rng), outcome, detailed=True)
    assert {row.column for row in measured.quality} == {"region", AVERAGE}
    assert measured.shapes == ()
