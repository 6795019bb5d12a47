"""A study measures the product: it expects what `--explain` says, and counts what an engine counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from discreet_replications.report.report_reproduction import report_study

from discreet.engines.embedded import EmbeddedEngine
from discreet.guarantees.types import Neighbours
from discreet.lab.study.execution.outcomes import Streams, StudyModel, StudyQuery, TheoryError
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.models.released_figures import measure
from discreet.lab.study.models.table_model import TableModel
from discreet.lab.study.models.truth import by_column, mean_values, true_values
from discreet.lab.study.study_file.queries import StudyDesign, design_study
from discreet.lab.study.study_file.study_config import ModelChoice, StudyConfig
from discreet.lab.study.study_file.study_reader import parse_study
from discreet.lab.study.study_file.variants import build_models
from discreet.lab.study.study_rows import StudyRows, make_frame, prepare_rows
from discreet.release.forecast.explanation import OutputFigures
from discreet.samples.survey import write_survey
from discreet.session import Session
from discreet.tables.request import table_request

pytestmark = pytest.mark.slow

ROWS = 1_500
RELATIONS = list(Neighbours)
SMOKING = StudyQuery("count", "smoking", "1", "Daily smokers")
HEIGHT = StudyQuery("mean", "height", None, "Mean of height")
BUDGET = "budget: {epsilon: 1, delta: 1e-6}"  # that of a study at ε = 1


@pytest.fixture(scope="module")
def config() -> StudyConfig:
    return report_study(rows=ROWS)


@pytest.fixture(scope="module")
def rows(config: StudyConfig, tmp_path_factory: pytest.TempPathFactory) -> StudyRows:
    folder = tmp_path_factory.mktemp("rows")
    return prepare_rows(config, folder, folder)


@pytest.fixture(scope="module")
def design(config: StudyConfig, rows: StudyRows) -> StudyDesign:
    return design_study(config, rows.card)


@pytest.fixture(scope="module")
def frame(config: StudyConfig, rows: StudyRows, design: StudyDesign) -> StudyFrame:
    return make_frame(rows, config, design)


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Neighbours, Session]]:
    """The same survey in two workspaces, under each neighbour relation."""
    folder, found = tmp_path_factory.mktemp("houses"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        for relation in RELATIONS:
            place = folder / relation.value
            file, card = write_survey(place, rows=ROWS, seed=1)
            text = card.read_text(encoding="utf-8")
            text = text.replace("neighbours: add-remove", f"neighbours: {relation.value}")
            card.write_text(text.replace("budget: {epsilon: 3, per_analyst: 1}", BUDGET), encoding="utf-8")
            found[relation] = Session.create(place / "house")
            found[relation].add(file, card=card, confirm=lambda _: True)
        yield found
        for house in found.values():
            house.close()


def build(config: StudyConfig, *choices: ModelChoice, neighbours: Neighbours) -> tuple[StudyModel, ...]:
    def none() -> None:
        raise AssertionError("only the recipe reads rows as written")

    return build_models(replace(config, models=choices, neighbours=neighbours), none)  # type: ignore[arg-type]


def told_errors(house: Session, sql: str, epsilon: Decimal, assume: Mapping[str, float] | None = None) -> OutputFigures:
    (told,) = house.explain(sql, epsilon=epsilon, assume=assume).outputs
    assert told.depends is None
    return told


def explained(house: Session, frame: StudyFrame, query: StudyQuery, epsilon: Decimal) -> list[float]:
    """What the explanation says of the query in every province that the frame has, the size and the mean assumed."""
    answers = frame.column(query.column)
    codes = [frame.column("province").column.categories[place].code for (place,) in frame.inquiry.groups]
    if answers.categorical:
        sql = f"SELECT province, {query.column}, SUM(weight) AS figure FROM survey GROUP BY province, {query.column}"
        told = told_errors(house, sql, epsilon)
        return [told.expected[told.cells.index(f"province {code}")] for code in codes]
    sql, errors = f"SELECT province, WAVG({query.column}) AS figure FROM survey GROUP BY province", []
    there = answers.present()
    for group, mean in enumerate(mean_values(frame, answers).tolist()):
        weight = int(frame.weights[there & (frame.cells == group)].sum()) * frame.weight_step
        told = told_errors(house, sql, epsilon, {"weights": round(weight, 2), "figure": mean})
        errors.append(told.expected[told.cells.index(f"province {codes[group]}")])
    return errors


def lines_of(
    models: tuple[StudyModel, ...], frame: StudyFrame, design: StudyDesign, epsilon: Decimal
) -> list[TheoryError]:
    return [line for model in models for line in model.expect(frame, design.queries, epsilon=epsilon)]


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_theory_of_every_central_query_is_what_an_explanation_says(
    relation: Neighbours, config: StudyConfig, frame: StudyFrame, design: StudyDesign, houses: dict[Neighbours, Session]
) -> None:
    models = build(config, ModelChoice("central"), neighbours=relation)
    assert len(design.queries) > 50
    for epsilon in config.epsilon[::2]:
        told: dict[str, list[float]] = {}
        for line in lines_of(models, frame, design, epsilon):
            query = line.query
            if query.column not in told:
                told[query.column] = explained(houses[relation], frame, query, epsilon)
            assert line.error.tolist() == pytest.approx(told[query.column], rel=1e-9), (query.name, epsilon)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_theory_of_a_sum_is_what_an_explanation_says(
    relation: Neighbours, config: StudyConfig, frame: StudyFrame, houses: dict[Neighbours, Session]
) -> None:
    (model,) = build(config, ModelChoice("central"), neighbours=relation)
    (line,) = model.expect(frame, [StudyQuery("sum", "height", None, "Sum of height")], epsilon=Decimal(1))
    told = told_errors(
        houses[relation], "SELECT province, SUM(weight * height) AS figure FROM survey GROUP BY province", Decimal(1)
    )
    assert line.error.tolist() == pytest.approx(told.expected, rel=1e-9)


# --- tables ---------------------------------------------------------------------------------------------------------


def explained_table(house: Session, frame: StudyFrame, query: StudyQuery, epsilon: Decimal, noise: str) -> list[float]:
    """What the explanation of the column's table says of every province."""
    answers = frame.column(query.column)
    asked = (
        table_request("survey", ["province", query.column], weighted=True)
        if answers.categorical
        else table_request("survey", ["province"], value=query.column, mean=True, weighted=True)
    )
    told = house.tables.explain(house.tables.read(asked, epsilon=epsilon, noise=noise, calibrate=["none"]))
    cells = (0, 1) if answers.categorical else (0,)
    each = [
        [one * float(component.face.step) for one in errors[cells]]
        for component, errors in zip(told.design.components, told.errors, strict=True)
    ]
    places = [place for (place,) in frame.inquiry.groups]
    if answers.categorical:
        return [each[0][place] for place in places]
    mean, there = told.design.formed.mean, answers.present()
    assert mean is not None
    errors = []
    for group, (place, value) in enumerate(zip(places, mean_values(frame, answers).tolist(), strict=True)):
        weight = int(frame.weights[there & (frame.cells == group)].sum()) * frame.weight_step
        total, size = each[mean.total][place], each[mean.size][place] * abs(value - float(mean.centre))
        errors.append(min((total + size - total * size / (total + size)) / weight, float(mean.high - mean.low)))
    return errors


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_theory_of_every_table_query_is_what_an_explanation_says(
    relation: Neighbours,
    noise: str,
    config: StudyConfig,
    frame: StudyFrame,
    design: StudyDesign,
    houses: dict[Neighbours, Session],
) -> None:
    models = build(config, ModelChoice("table", mechanism=noise), neighbours=relation)
    for epsilon in config.epsilon[::2] if noise == "laplace" else (Decimal(1),):
        told: dict[str, list[float]] = {}
        lines = lines_of(models, frame, design, epsilon)
        assert len(lines) == len(design.queries)
        for line in lines:
            query = line.query
            if query.column not in told:
                told[query.column] = explained_table(houses[relation], frame, query, epsilon, noise)
            assert line.error.tolist() == pytest.approx(told[query.column], rel=1e-6), (query.name, epsilon)


def test_a_table_measures_the_margins_that_the_engine_measures(rows: StudyRows, frame: StudyFrame) -> None:
    engine = EmbeddedEngine({rows.card.dataset: (rows.data, rows.card)})
    model = TableModel(Neighbours.REPLACE_ONE, Decimal("0.95"), "total", noise="gaussian", delta=Decimal("0.000001"))
    for query in (SMOKING, HEIGHT):
        ((table, _),) = model._tables(frame, query.column, [query], Decimal(1), Decimal(1))
        plan = table.design.statement.plan
        assert len(plan.measures) > 1
        exact, found = measure(frame, table.question, plan).columns, engine.measure(plan).columns
        assert [list(one) for one in exact] == [list(one) for one in found]
    engine.close()


@pytest.mark.parametrize("calibrate", ["none", "card"])
def test_published_cells_are_whole_and_meet_the_totals_where_they_are_calibrated(
    frame: StudyFrame, calibrate: str
) -> None:
    model = TableModel(Neighbours.ADD_REMOVE, Decimal("0.95"), "per-column", calibrate=calibrate)
    queries = [replace(SMOKING, category=one.code) for one in frame.column("smoking").column.categories]
    answered = model.run(frame, queries, epsilon=Decimal(1), streams=Streams("table")).answered
    estimates, truths = (np.array([getattr(one, side) for one in answered]) for side in ("estimate", "truth"))
    assert np.array_equal(estimates, np.rint(estimates))
    assert estimates.min() >= 0
    known = {code: float(total) for code, total in frame.inquiry.card.totals[0].values}
    codes = [frame.column("province").column.categories[place].code for (place,) in frame.inquiry.groups]
    totals = np.array([known[code] for code in codes])
    assert np.allclose(estimates.sum(axis=0), totals) is (calibrate == "card")
    assert np.allclose(truths.sum(axis=0), totals) is (calibrate == "card")
    assert all((one.low <= one.estimate).all() and (one.estimate <= one.high).all() for one in answered)


def test_calibrated_tables_err_as_expected_and_their_intervals_hold(frame: StudyFrame) -> None:
    """Seeded: 40 runs of the figures that stay clear of 0, where they are cut. A theory a third off would be found."""
    model = TableModel(Neighbours.ADD_REMOVE, Decimal("0.95"), "per-column", calibrate="card")
    queries = [replace(SMOKING, category=one.code) for one in frame.column("smoking").column.categories]
    expected = np.array([one.error for one in model.expect(frame, queries, epsilon=Decimal(40))])
    runs = [model.run(frame, queries, epsilon=Decimal(40), streams=Streams(f"run {run}")).answered for run in range(40)]
    off = np.array([[np.abs(one.estimate - one.truth) for one in run] for run in runs])
    held = np.mean([[(one.low <= one.truth) & (one.truth <= one.high) for one in run] for run in runs])
    clear = np.array([one.truth for one in runs[0]]) > 8 * expected
    assert clear.sum() > 30
    assert np.mean((off.mean(axis=0) / expected)[clear]) == pytest.approx(1, abs=0.12)
    assert held > 0.92


def test_a_table_needs_a_key(rows: StudyRows) -> None:
    asked = parse_study(CUSTOM.replace("strata: [province]\nstatic: [sex]", "static: [sex, province]"), file="c.yaml")
    whole = make_frame(rows, asked, design_study(asked, rows.card))
    model = TableModel(Neighbours.ADD_REMOVE, Decimal("0.95"), "per-column")
    answered = model.run(whole, [SMOKING, HEIGHT], epsilon=Decimal(1), streams=Streams("x")).answered
    assert [one.query for one in answered] == [SMOKING]


# --- exact answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_the_frame_measures_is_what_the_engine_measures(
    relation: Neighbours, rows: StudyRows, frame: StudyFrame, design: StudyDesign
) -> None:
    engine = EmbeddedEngine({rows.card.dataset: (rows.data, rows.card)})
    asked = [(one.column, one.statistic) for one in design.queries]
    asked += [(name, "sum") for name in by_column(design.queries) if not frame.column(name).categorical]
    for column, statistic in dict.fromkeys(asked):
        question = frame.inquiry.question(column, statistic, neighbours=relation)
        found = engine.measure(question.plan).columns
        assert [list(one) for one in measure(frame, question).columns] == [list(one) for one in found], column
    engine.close()


CUSTOM = """\
study: custom
sample: {rows: 1500, seed: 1}
strata: [province]
static: [sex]
epsilon: [1]
epsilon_is: per-column
queries:
  custom:
    - {name: poor, where: {smoking: [1], perceived_health: [4, 5]}}
    - {name: tall, mean: height, where: {sex: [2]}}
    - {name: metres, sum: height, where: {province: [35, 24]}}
"""


def test_questions_with_conditions_are_measured_as_the_engine_does(rows: StudyRows) -> None:
    asked = parse_study(CUSTOM, file="custom.yaml")
    design = design_study(asked, rows.card)
    frame = make_frame(rows, asked, design)
    engine = EmbeddedEngine({rows.card.dataset: (rows.data, rows.card)})
    for column, statistic in (("poor", "count"), ("tall", "mean"), ("metres", "sum")):
        question = frame.inquiry.question(column, statistic, neighbours=Neighbours.ADD_REMOVE)
        found = engine.measure(question.plan).columns
        exact = measure(frame, question).columns
        assert [list(one) for one in exact] == [list(one) for one in found], column
    # a condition on the stratum leaves two groups; the others hold nobody, which is no secret
    (model,) = build(asked, ModelChoice("central"), neighbours=Neighbours.ADD_REMOVE)
    metres = next(query for query in design.queries if query.column == "metres")
    (line,) = model.expect(frame, [metres], epsilon=Decimal(1))
    assert np.count_nonzero(line.error) == 2
    assert np.count_nonzero(true_values(frame, metres)) == 2
    engine.close()
