"""What studies say of sums, Gaussian noise and answers in clear, held against what is drawn.

Entropy is fresh (the label of the streams is shown on failure) and nothing is rerun. A mean of 3,000 absolute Laplace
errors has a relative standard error of 1.9%, of Gaussian ones of 1.4%: 12% is more than six of them away, and so is a
theory that is 30% off (below 2e-9 for each of six comparisons). Intervals that cover 95% or more (discrete noise, and
the corners of a mean) hold 92% of 3,000 with a chance of missing below 1e-12. The bias of 300 collections is held
against six of its own standard errors (1e-8, twice), their 1,200 intervals against 90% (below 1e-10).
"""

from __future__ import annotations

import os
from decimal import Decimal

import numpy as np
import pytest

from discreet.cards.card import parse_card
from discreet.guarantees.types import Neighbours
from discreet.lab.study.execution.outcomes import Streams, StudyQuery
from discreet.lab.study.frame import AnswerColumn, StudyFrame
from discreet.lab.study.inquiry import Inquiry
from discreet.lab.study.models.central_model import CentralModel
from discreet.lab.study.models.hybrid_model import HybridModel
from discreet.lab.study.models.local_model import LocalModel
from discreet.lab.study.study_file.study_config import Selection
from tests.unit.lab.study.conftest import WEIGHTED

pytestmark = [pytest.mark.statistical, pytest.mark.long]

RUNS, COLLECTIONS, DEVIATIONS = 1500, 300, 6
YES = StudyQuery("count", "answer", "y", "Yes")
TOTAL = StudyQuery("sum", "size", None, "Sum of Size")


def make_people(size: int) -> StudyFrame:
    card = parse_card(WEIGHTED, file="people.yaml")
    rng = np.random.default_rng(1)
    columns = {
        "region": rng.integers(0, 2, size),
        "answer": rng.integers(0, 3, size),
        "size": rng.integers(0, 201, size),
    }
    answers = {name: AnswerColumn(card.column(name), values, name == "region") for name, values in columns.items()}
    weights, inquiry = rng.integers(1, 6, size), Inquiry(card, ("region",), ((0,), (1,)), ("region",))
    return StudyFrame(inquiry, answers, ("Alpha", "Beta"), columns["region"], weights, 1.0, np.array([5, 5]))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_central_errors_are_those_expected(noise: str) -> None:
    frame, label = make_people(300), os.urandom(8).hex()
    model = CentralModel(
        neighbours=Neighbours.ADD_REMOVE, level=Decimal("0.95"), epsilon_is="total", noise=noise,
        delta=Decimal("0.000001") if noise == "gaussian" else Decimal(0),
    )  # fmt: skip
    queries = [YES, TOTAL]
    runs = [model.run(frame, queries, epsilon=Decimal(1), streams=Streams(f"{label}{run}")) for run in range(RUNS)]
    for place, expected in enumerate(model.expect(frame, queries, epsilon=Decimal(1))):
        found = [run.answered[place] for run in runs]
        error = np.mean([np.abs(one.estimate - one.truth) for one in found]) / expected.error.mean()
        assert abs(error - 1) < 0.12, (noise, label, expected.query.name)
        assert abs(error * 1.3 - 1) > 0.12, "the test would not see a theory that is 30% off"
        held = np.mean([(one.low <= one.truth) & (one.truth <= one.high) for one in found])
        assert held > 0.92, (noise, label, expected.query.name)


@pytest.mark.parametrize(("relation", "biased"), [("strata", False), ("samples", True)])
def test_only_pooled_samples_are_biased_by_self_selection(relation: str, biased: bool) -> None:
    frame, label = make_people(1500), os.urandom(8).hex()
    selection = Selection("answer", Decimal("0.25"), codes=("y",))
    model = HybridModel(LocalModel(epsilon_is="total"), Decimal("0.4"), selection, relation)
    queries, off, held = [YES, TOTAL], [], []
    for run in range(COLLECTIONS):
        found = model.run(frame, queries, epsilon=Decimal(3), streams=Streams(f"{label}{run}")).answered
        off.append(found[0].estimate.sum() - found[0].truth.sum())
        held.append([(one.low <= one.truth) & (one.truth <= one.high) for one in found])
    bias = np.mean(off) / (np.std(off) / np.sqrt(COLLECTIONS))
    assert (bias < -DEVIATIONS) if biased else (abs(bias) < DEVIATIONS), label
    if not biased:
        assert np.mean(held) > 0.9, label
