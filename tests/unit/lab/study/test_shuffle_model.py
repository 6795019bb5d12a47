"""The shuffle model of studies: groups at the edge of what its protocols can do, and totals that keep their mean."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.cards.card import read_card
from discreet.guarantees.types import Neighbours
from discreet.lab.study.execution.outcomes import Outcome, Streams, StudyQuery
from discreet.lab.study.frame import ABSENT, StudyFrame, load_frame
from discreet.lab.study.models import shuffle_model as shuffle
from discreet.lab.study.models.shuffle_model import SHUFFLE_MECHANISMS, ShuffleModel
from discreet.samples.survey import write_survey
from discreet.sources.source import open_source
from discreet.workspace.preparation import prepare

SMOKING = StudyQuery("count", "smoking", "1", "daily smokers")
HEIGHT = StudyQuery("mean", "height", None, "height")
LARGEST = 5  # Ontario


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> StudyFrame:
    place = tmp_path_factory.mktemp("survey")
    file, _ = write_survey(place, rows=2_000, seed=3)
    (place / "work").mkdir()
    card = read_card(place / "survey.yaml")
    prepare(open_source(file), card, salt="0" * 32, data=place / "rows.parquet", work=place / "work")
    return load_frame(
        place / "rows.parquet",
        card,
        strata=("province",),
        static=(),
        columns=("smoking", "height"),
        multiplier=Fraction(1),
    )


def model(mechanism: str, *, delta: str = "1e-6") -> ShuffleModel:
    return ShuffleModel(
        mechanism=mechanism,
        delta=Decimal(delta),
        neighbours=Neighbours.REPLACE_ONE,
        level=Decimal("0.95"),
        epsilon_is="per-column",
    )


def run(frame: StudyFrame, mechanism: str, *, epsilon: str = "1", seed: int = 0) -> Outcome:
    streams = Streams.of_run(seed=seed, variant="test", epsilon=Decimal(epsilon), run=0)
    return model(mechanism).run(frame, (SMOKING, HEIGHT), epsilon=Decimal(epsilon), streams=streams)


@pytest.mark.slow
def test_a_smaller_epsilon_or_delta_is_paid_with_a_larger_error(frame: StudyFrame) -> None:
    """Asked for in turn: what is kept for one is not used for another."""
    first, second, third = (
        model("single-message", delta=delta).expect(frame, (SMOKING,), epsilon=Decimal(epsilon))[0].error.sum()
        for epsilon, delta in (("1", "1e-3"), ("1", "1e-6"), ("0.5", "1e-6"))
    )
    assert first < second < third


@pytest.mark.parametrize("mechanism", SHUFFLE_MECHANISMS)
def test_a_group_without_weight_stops_nothing(frame: StudyFrame, mechanism: str) -> None:
    """Of its mean nothing is said, or that it lies within the bounds of the card; the others have their counts."""
    weights = np.where(frame.cells == 0, 0, frame.weights)
    weightless = replace(frame, weights=weights)
    counts, mean = run(weightless, mechanism).answered
    _, expected = model(mechanism).expect(weightless, (SMOKING, HEIGHT), epsilon=Decimal(1))
    assert np.isnan(expected.error[0])
    assert np.isnan(mean.estimate[0]) or (mean.low[0] <= 1.2 and mean.high[0] >= 2.1)
    assert np.isfinite(counts.estimate[1:]).all()
    assert np.isfinite(mean.estimate[LARGEST])


@pytest.mark.parametrize("mechanism", SHUFFLE_MECHANISMS)
def test_a_group_of_one_person(frame: StudyFrame, mechanism: str) -> None:
    """Nothing is sure of her; where a protocol needs a crowd, or a mean a size, nothing is said at all."""
    others = np.flatnonzero(frame.cells == 0)[1:]
    cells, province = frame.cells.copy(), frame.column("province")
    cells[others] = ABSENT
    moved = replace(province, positions=np.where(cells == ABSENT, ABSENT, province.positions))
    alone = replace(frame, cells=cells, columns={**frame.columns, "province": moved})
    for answered in run(alone, mechanism).answered:
        said = not np.isnan(answered.estimate[0])
        assert not said or answered.low[0] < answered.high[0]
        assert said == (mechanism == "single-message" or (mechanism, answered.query) == ("multi-message", SMOKING))
        assert np.isfinite(answered.estimate[LARGEST])


def test_totals_on_a_coarse_grid_keep_their_mean(frame: StudyFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off instead of rounded, most people would send zero, and the mean would lie at the lower bound."""
    monkeypatch.setattr(shuffle, "_LARGEST_GRID", 4)
    group = int(np.bincount(frame.cells).argmax())
    errors = []
    for seed in range(10):
        mean = run(frame, "vector-sum", epsilon="40", seed=seed).answered[1]
        errors.append(mean.estimate[group] - mean.truth[group])
    assert abs(np.mean(errors)) < 0.05
