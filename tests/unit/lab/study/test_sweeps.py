"""Sums, Gaussian noise, numbers of respondents and answers in clear: what each adds to a study."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card, parse_card
from discreet.errors import ParameterInvalid, Refused, StudyInvalid
from discreet.guarantees.types import Neighbours
from discreet.lab.study.bench import StudyBench, set_up
from discreet.lab.study.execution.outcomes import Streams, StudyModel, StudyQuery
from discreet.lab.study.execution.parts import StudyTask
from discreet.lab.study.execution.runner import list_tasks, run_study
from discreet.lab.study.execution.worker import Assignment
from discreet.lab.study.findings.study_findings import read_findings
from discreet.lab.study.findings.sweeps import hybrid_lines, sizes_of, tell_needed
from discreet.lab.study.findings.tidy_tables import SIZES
from discreet.lab.study.findings.verdicts import summarise
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.inquiry import Inquiry
from discreet.lab.study.models.central_model import CentralModel, normal_weight
from discreet.lab.study.models.hybrid_model import HybridModel, chances_in_clear
from discreet.lab.study.models.local_model import LocalModel
from discreet.lab.study.models.released_figures import price_laplace, price_normal
from discreet.lab.study.models.shuffle_model import ShuffleModel
from discreet.lab.study.models.table_model import TableModel
from discreet.lab.study.models.truth import sum_values
from discreet.lab.study.report.study_report import write_report
from discreet.lab.study.study_file.queries import design_study
from discreet.lab.study.study_file.study_config import Selection
from discreet.lab.study.study_file.study_reader import parse_study, read_study
from discreet.lab.study.study_file.variants import build_models
from discreet.lab.study.study_rows import prepare_rows
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.release.measurement.pricing import MeasurePrice
from tests.unit.lab.study.conftest import WEIGHTED
from tests.unit.lab.study.honest import CARD, PEOPLE, STUDY, write

LEVEL, DELTA = Decimal("0.95"), Decimal("0.000001")
SIZE = StudyQuery("mean", "size", None, "Mean of Size")
TOTAL = StudyQuery("sum", "size", None, "Sum of Size")
FOUR = """\
study: clinic
dataset: {card: clinic.yaml, file: clinic.csv}
strata: [town]
static: [sex]
models:
- {model: central, noise: [laplace, gaussian]}
- local
- {model: shuffle, mechanism: multi-message}
- table
- {model: hybrid, share: [0.1, 0.5], relation: [samples, strata], selection: {column: smokes, codes: [1], times: 0.3}}
epsilon: [4]
epsilon_is: total
runs: 2
rows: [150, 300]
queries: {sums: all, named: [{column: smokes, category: 1}, {sum: age}]}
metrics: [coverage, linkage]
seed: 7
"""


@pytest.fixture
def frame(make_frame: Callable[..., StudyFrame]) -> StudyFrame:
    """400 people of two regions; sizes from 1 to 3 in steps of 0.01, a tenth without one."""
    rng = np.random.default_rng(3)
    size = np.where(rng.random(400) < 0.1, -1, rng.integers(0, 201, 400))
    answer = rng.integers(0, 3, 400)
    return make_frame({"region": rng.integers(0, 2, 400), "answer": answer, "size": size}, rng.integers(1, 6, 400))


def streams(run: int = 0) -> Streams:
    return Streams.of_run(seed=1, variant="test", epsilon=Decimal(1), run=run)


def bench_of(folder: Path, text: str) -> StudyBench:
    config = read_study(write(folder, text))
    (folder / "rows").mkdir()
    rows = prepare_rows(config, folder, folder / "rows")
    assigned = Assignment(config.text, config.file, rows.card.text, str(rows.data), str(rows.raw), str(folder), "")
    return set_up(assigned, build_models)


# --- sums -----------------------------------------------------------------------------------------------------------


MODELS: list[StudyModel] = [
    CentralModel(neighbours=Neighbours.ADD_REMOVE, level=LEVEL, epsilon_is="total"),
    CentralModel(neighbours=Neighbours.ADD_REMOVE, level=LEVEL, epsilon_is="total", noise="gaussian", delta=DELTA),
    TableModel(Neighbours.ADD_REMOVE, LEVEL, "total"),
    TableModel(Neighbours.REPLACE_ONE, LEVEL, "total", noise="gaussian", delta=DELTA),
    LocalModel(epsilon_is="total"),
    LocalModel(epsilon_is="total", missing="category"),
    HybridModel(LocalModel(epsilon_is="total"), Decimal("0.2"), None, "strata"),
    *(
        ShuffleModel(
            mechanism=mechanism, delta=DELTA, neighbours=Neighbours.ADD_REMOVE, level=LEVEL, epsilon_is="total"
        )
        for mechanism in ("single-message", "multi-message", "vector-sum")
    ),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_every_model_answers_a_sum_with_its_truth_and_an_interval(model: StudyModel, frame: StudyFrame) -> None:
    found = model.run(frame, [SIZE, TOTAL], epsilon=Decimal(20), streams=streams()).answered
    mean, total = (next(one for one in found if one.query is query) for query in (SIZE, TOTAL))
    there = frame.column("size").present()
    values = 1 + 0.01 * frame.column("size").positions
    truth = [float((frame.weights * values)[there & (frame.cells == group)].sum()) for group in (0, 1)]
    assert np.allclose(total.truth, truth)
    assert np.all((total.low <= total.estimate) & (total.estimate <= total.high))
    assert np.all(np.abs(total.estimate - total.truth) < 0.15 * total.truth)  # at so large an ε
    assert not np.array_equal(mean.estimate, total.estimate)
    expected = {one.query: one.error for one in model.expect(frame, [SIZE, TOTAL], epsilon=Decimal(20))}
    if TOTAL in expected:
        assert np.all((expected[TOTAL] > 0) & (expected[TOTAL] < 0.1 * total.truth))


def test_a_sum_alone_has_the_whole_epsilon_of_its_column(frame: StudyFrame) -> None:
    model = MODELS[0]
    alone, both = (model.expect(frame, asked, epsilon=Decimal(1))[-1].error for asked in ([TOTAL], [SIZE, TOTAL]))
    assert np.allclose(both, 2 * alone)


@pytest.mark.parametrize(
    ("bounds", "add_remove", "replace_one"), [("[1, 3]", 300, 300), ("[-1, 3]", 300, 400), ("[-3, -1]", 300, 300)]
)
def test_the_reach_of_a_sum_is_that_of_one_respondent(bounds: str, add_remove: int, replace_one: int) -> None:
    """Steps of 0.01 times a cap of 5; who changes the answer may also have had none."""
    card = parse_card(WEIGHTED.replace("[1, 3]", bounds), file="p.yaml")
    for neighbours, reach in ((Neighbours.ADD_REMOVE, add_remove), (Neighbours.REPLACE_ONE, replace_one)):
        question = Inquiry(card, ("region",), ((0,), (1,))).question("size", "sum", neighbours=neighbours)
        (priced,) = price_laplace(question, Decimal("0.5")).measures
        assert [one.l1 for one in priced.sensitivities.each] == [5 * reach]


def test_custom_sums_take_static_conditions(card: Card) -> None:
    text = STUDY + "queries: {custom: [{name: years, sum: age, where: {sex: [2]}, label: Years of women}]}\n"
    design = design_study(parse_study(text, file="s.yaml"), parse_card(CARD, file="clinic.yaml"))
    asked = next(query for query in design.queries if query.column == "years")
    assert (asked.statistic, asked.name, asked.label) == ("sum", "sum of years", "Years of women")
    with pytest.raises(StudyInvalid, match="a sum goes with conditions on static columns only"):
        design_study(parse_study(text.replace("{sex: [2]}", "{smokes: [1]}"), file="s.yaml"), design_card())


def design_card() -> Card:
    return parse_card(CARD, file="clinic.yaml")


# --- counts by ratio ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["public", "category"])
def test_counts_by_ratio_err_as_expected_and_less_where_columns_are_sampled(
    missing: str, make_frame: Callable[..., StudyFrame]
) -> None:
    """Eight in ten say yes, one column of two is asked, at so large an ε that who is asked matters most."""
    rng = np.random.default_rng(9)
    answers = {name: rng.choice([-1, 0, 1, 2], 4000, p=[0.1, 0.8, 0.05, 0.05]) for name in ("answer",)}
    frame = make_frame(
        {"region": rng.integers(0, 2, 4000), **answers, "size": rng.integers(0, 201, 4000)}, rng.integers(1, 6, 4000)
    )
    asked = [StudyQuery("count", "answer", "y", "Yes"), SIZE]
    errors = {}
    for counts in ("total", "ratio"):
        model = LocalModel(epsilon_is="total", counts=counts, missing=missing)
        runs = [model.run(frame, asked, epsilon=Decimal(4), streams=streams(run)).answered[0] for run in range(25)]
        off = np.array([one.estimate - one.truth for one in runs])
        held = np.mean([(one.low <= one.truth) & (one.truth <= one.high) for one in runs])
        expected = model.expect(frame, asked, epsilon=Decimal(4))[0].error
        errors[counts] = np.abs(off).mean()
        assert np.abs(off).mean() == pytest.approx(expected.mean(), rel=0.25)
        assert held > 0.85
    assert errors["ratio"] < 0.75 * errors["total"]


# --- Gaussian noise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "budget"), [("0.5", "3"), ("1", "1"), ("0.02", "3")])
def test_gaussian_noise_costs_no_more_than_laplace_noise_however_it_is_accounted(epsilon: str, budget: str) -> None:
    rho = Fraction(normal_weight(Decimal(epsilon), budget=Decimal(budget), delta=DELTA))
    whole = Fraction(normal_weight(Decimal(budget), budget=Decimal(budget), delta=DELTA))
    assert 0 < rho <= Fraction(epsilon) ** 2 / 2
    assert rho <= whole * Fraction(epsilon) / Fraction(budget) + Fraction(1, 10**9)


def test_gaussian_scales_follow_from_rho_and_squared_reaches(frame: StudyFrame) -> None:
    rho = Decimal("0.01")
    for neighbours, moved in ((Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE_ONE, 2)):
        asked = frame.inquiry.question("answer", "count", neighbours=neighbours)
        (counts,) = price_normal(asked, rho).measures
        (scale,) = _scales(counts)
        assert scale == pytest.approx(5 * (moved / (2 * 0.01)) ** 0.5)
        total, size = price_normal(frame.inquiry.question("size", "mean", neighbours=neighbours), rho).measures
        spent = (moved * 5 * 100) ** 2 / (2 * _scales(total)[0] ** 2) + 25 / (2 * _scales(size)[0] ** 2)
        assert spent == pytest.approx(0.01)
        assert (total.rho, size.rho) == (Decimal("0.0075"), Decimal("0.0025"))


def _scales(priced: MeasurePrice) -> list[float]:
    return [float(one.scale) for one in priced.mechanisms if isinstance(one, DiscreteGaussian)]


def test_gaussian_noise_needs_some_of_the_budget() -> None:
    with pytest.raises(ParameterInvalid, match="epsilon must be at least"):
        normal_weight(Decimal("0.000001"), budget=Decimal("0.000001"), delta=DELTA)


def test_gaussian_errs_less_where_many_columns_share_the_budget() -> None:
    """The reason to have it: at 40 columns its noise grows with their root, not with their number."""
    few, many = (
        (float(normal_weight(Decimal(3) / columns, budget=Decimal(3), delta=DELTA)), 3 / columns) for columns in (1, 40)
    )
    gaussian = [(1 / (2 * rho)) ** 0.5 for rho, _ in (few, many)]
    laplace = [2**0.5 / epsilon for _, epsilon in (few, many)]
    assert gaussian[0] > laplace[0]
    assert gaussian[1] < laplace[1]


# --- numbers of respondents -----------------------------------------------------------------------------------------


def test_fewer_respondents_stand_for_everyone(frame: StudyFrame) -> None:
    rows = np.arange(0, 400, 4)
    fewer = frame.sample(rows)
    assert fewer.size == 100
    assert fewer.weight_step == 4 * frame.weight_step
    assert np.array_equal(fewer.column("size").positions, frame.column("size").positions[rows])
    assert np.allclose(sum_values(fewer, fewer.column("size")), sum_values(frame, frame.column("size")), rtol=0.4)


@pytest.mark.slow
def test_the_same_people_are_drawn_for_every_model_and_others_in_every_run(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, FOUR)

    def truth(place: int, epsilon: str, run: int) -> list[float]:
        rows = bench.run(StudyTask(place, Decimal(epsilon), run, 150))[SIZES].to_pylist()
        assert {row["respondents"] for row in rows} == {150}
        return [row["truth"] for row in rows if row["column"] == "smokes"]

    assert truth(0, "4", 0) == truth(2, "4", 0)
    assert truth(0, "4", 0) != truth(0, "4", 1)
    again = [bench.run(StudyTask(2, Decimal(4), 1, 150))[SIZES].to_pylist() for _ in range(2)]
    assert again[0] == again[1]
    assert again[0][0]["whole"] != again[0][0]["truth"]
    tasks = list_tasks(bench.config)
    assert {task.place for task in tasks if task.rows} == {0, 1, 2, 3, 4}  # hybrids are varied by their share
    assert len({task.file for task in tasks}) == len(tasks)


@pytest.mark.slow
def test_more_respondents_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=f"rows: 900 respondents are more than the {PEOPLE} that the study has"):
        bench_of(tmp_path, FOUR.replace("[150, 300]", "[150, 900]"))


# --- answers in clear -----------------------------------------------------------------------------------------------


def _selection(times: str) -> Selection:
    return Selection("answer", Decimal(times), codes=("y",))


@pytest.mark.parametrize("times", ["0.25", "1", "3"])
def test_the_share_in_clear_is_kept_whoever_chooses(times: str, frame: StudyFrame) -> None:
    chances = chances_in_clear(frame, Decimal("0.2"), _selection(times))
    chosen = frame.column("answer").positions == 0
    assert chances.mean() == pytest.approx(0.2)
    assert np.allclose(chances[chosen], float(times) * chances[~chosen][0])
    assert np.all(chances_in_clear(frame, Decimal("0.2"), None) == 0.2)


def test_nobody_is_more_than_sure_to_answer_in_clear(frame: StudyFrame) -> None:
    chances = chances_in_clear(frame, Decimal("0.7"), _selection("50"))
    assert chances.max() == 1.0
    assert chances.mean() == pytest.approx(0.7)
    above = Selection("size", Decimal(2), above=Decimal(2))
    numbers = 1 + 0.01 * frame.column("size").positions
    chances = chances_in_clear(frame, Decimal("0.3"), above)
    assert set(np.flatnonzero(chances == chances.max())) == set(np.flatnonzero(numbers > 2))


@pytest.fixture
def crowd(make_frame: Callable[..., StudyFrame]) -> StudyFrame:
    """20,000 people, a third of whom answer yes."""
    rng = np.random.default_rng(5)
    return make_frame({"region": rng.integers(0, 2, 20_000), "answer": rng.integers(0, 3, 20_000)})


@pytest.mark.parametrize(
    ("times", "relation", "biased"),
    [("0.25", "samples", True), ("0.25", "strata", False), ("1", "samples", False), ("1", "strata", False)],
)
def test_self_selection_biases_pooled_samples_and_not_strata(
    times: str, relation: str, biased: bool, crowd: StudyFrame
) -> None:
    query = StudyQuery("count", "answer", "y", "Yes")
    model = HybridModel(LocalModel(epsilon_is="total"), Decimal("0.3"), _selection(times), relation)
    runs = [model.run(crowd, [query], epsilon=Decimal(3), streams=streams(run)).answered[0] for run in range(5)]
    off = np.mean([one.estimate.sum() / one.truth.sum() - 1 for one in runs])
    assert (off < -0.2) if biased else (abs(off) < 0.05)
    held = np.mean([(one.low <= one.truth) & (one.truth <= one.high) for one in runs])
    assert (held < 0.5) if biased else (held > 0.5)


def test_the_selection_is_checked_against_the_card() -> None:
    text = STUDY.replace("models: [central", "models: [{model: hybrid, selection: SELECTION}, central")
    for selection, words in (
        (
            "{column: smoke, codes: [1], times: 2}",
            "selection by 'smoke': it must be a static column or a protected one",
        ),
        ("{column: smokes, above: 1, times: 2}", "selection by 'smokes', of kind category, takes codes"),
        ("{column: age, codes: [1], times: 2}", "selection by 'age', of kind integer, takes above"),
        ("{column: smokes, codes: [7], times: 2}", "code '7' is not in the categories of 'smokes'"),
    ):
        with pytest.raises(StudyInvalid, match=words):
            design_study(parse_study(text.replace("SELECTION", selection), file="s.yaml"), design_card())


# --- all four together ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_study_with_all_four_from_file_to_report(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run_study(read_study(write(tmp_path, FOUR)), folder, base=tmp_path, jobs=1)
    assert done.tasks == 9 * 2 + 5 * 2 * 2
    findings = read_findings(folder)
    assert {query["name"] for query in json.loads((folder / "study.json").read_text())["queries"]} > {"sum of age"}
    assert {series.label for asked in findings.asked for series in asked.series} >= {
        "central (laplace)",
        "central (gaussian)",
        "table (laplace)",
    }
    assert [list(sizes_of(findings, asked)) for asked in findings.asked] == [[150, 300, PEOPLE]] * 2
    smokes = findings.asked[0]
    by_size = [one.panels[smokes.series[0], 4.0].error().mean() for one in sizes_of(findings, smokes).values()]
    assert by_size[0] == pytest.approx(4 * by_size[2])  # the noise stands for four times as many
    lines = {line.name: line for line in hybrid_lines(findings, findings.hybrids[0], 4.0)}
    assert lines["smokes = 1, 0.3 times as often"].biases[-1] < -0.2
    assert abs(lines["smokes = 1, 0.3 times as often (as strata)"].biases[-1]) < 0.2
    told = summarise(findings)
    assert not any("choose shuffle" in one or "choose hybrid" in one for one in told)
    assert tell_needed(findings, 4.0) in told
    with (folder / "tables" / "sizes.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["respondents"], row["statistic"]) for row in rows} == {
        (size, statistic) for size in ("150", "300") for statistic in ("count", "mean", "sum")
    }
    with (folder / "tables" / "hybrid.csv").open(encoding="utf-8") as stream:
        clear = [row for row in csv.DictReader(stream) if row["column"] == "smokes" and row["category"] == "1"]
    assert {(row["share"], row["relation"]) for row in clear} == {
        (share, relation) for share in ("0.1", "0.5") for relation in ("samples", "strata")
    }
    assert all(float(row["bias"]) < 0 for row in clear if row["relation"] == "samples" and row["share"] == "0.5")
    page = write_report(folder).read_text(encoding="utf-8")
    for part in ('id="sizes"', 'id="hybrid"', "Sum of", "in clear", "Weighted sum", ">nan<", "central (gaussian)"):
        assert (part in page) is (part != ">nan<"), part
    assert (folder / "figures" / "sizes-smokes-1.svg").is_file()
    assert (folder / "figures" / "hybrid-sum-of-age.svg").is_file()
    assert pq.read_metadata(folder / f"{SIZES}.parquet").num_rows == 5 * 2 * 2 * 4 * 2
