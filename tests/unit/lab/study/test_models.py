"""The central and local models and the report's recipe, on a small sample survey."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.cards.card import Card, parse_card, read_card
from discreet.errors import Refused
from discreet.guarantees.types import Neighbours
from discreet.lab.study.execution.outcomes import Streams, StudyModel, StudyQuery
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame, load_frame
from discreet.lab.study.models.central_model import CentralModel
from discreet.lab.study.models.local_model import LocalModel
from discreet.lab.study.models.naive_model import NaiveModel, claimed_keep, real_epsilon, shuffle_coin
from discreet.lab.study.models.released_figures import price_laplace
from discreet.lab.study.models.shuffle_model import ShuffleModel
from discreet.lab.study.models.truth import counted, mean_values, multiply, sum_by
from discreet.lab.study.raw_rows import RawRows, load_raw_rows
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.samples.survey import write_survey
from discreet.sources.source import open_source
from discreet.workspace.preparation import prepare
from tests.unit.lab.study.honest import CARD

SMOKING = StudyQuery("count", "smoking", "1", "daily smokers")
HEIGHT = StudyQuery("mean", "height", None, "height")
QUERIES = (SMOKING, StudyQuery("count", "smoking", "3", "not at all"), HEIGHT)
COLUMNS = ("smoking", "height")
ROWS = 6_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("survey")
    file, _ = write_survey(place, rows=ROWS, seed=3)
    (place / "work").mkdir()
    card = read_card(place / "survey.yaml")
    prepare(open_source(file), card, salt="0" * 32, data=place / "rows.parquet", work=place / "work")
    return place


@pytest.fixture(scope="module")
def card(folder: Path) -> Card:
    return read_card(folder / "survey.yaml")


@pytest.fixture(scope="module")
def frame(folder: Path, card: Card) -> StudyFrame:
    return load(folder, card)


@pytest.fixture(scope="module")
def raw(folder: Path, card: Card) -> RawRows:
    return load_raw_rows(folder / "survey.parquet", card, columns=COLUMNS, multiplier=1.0)


def load(folder: Path, card: Card, *, strata: tuple[str, ...] = ("province",), multiplier: int = 1) -> StudyFrame:
    return load_frame(
        folder / "rows.parquet", card, strata=strata, static=("sex",), columns=COLUMNS, multiplier=Fraction(multiplier)
    )


def streams(run: int = 0) -> Streams:
    return Streams.of_run(seed=1, variant="test", epsilon=Decimal(1), run=run)


def central(neighbours: Neighbours = Neighbours.ADD_REMOVE, epsilon_is: str = "per-column") -> CentralModel:
    return CentralModel(neighbours=neighbours, level=Decimal("0.95"), epsilon_is=epsilon_is)


# --- the frame ------------------------------------------------------------------------------------------------------


def test_a_frame_counts_what_the_engine_counts(folder: Path, card: Card, frame: StudyFrame, tmp_path: Path) -> None:
    import duckdb

    rows = duckdb.execute(
        f"SELECT province, sum(weight) FROM '{folder / 'rows.parquet'}' WHERE smoking = 0 GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert counted(frame, frame.column("smoking"))[:, 0].tolist() == [int(total) for _, total in rows]


def test_groups_of_two_strata_are_the_combinations_that_occur(folder: Path, card: Card) -> None:
    crossed = load(folder, card, strata=("province", "sex"))
    assert len(crossed.groups) == 26
    assert crossed.groups[0].count(" · ") == 1
    assert np.bincount(crossed.cells).sum() == ROWS
    assert crossed.caps.tolist()[:2] == [150_000, 150_000]


def test_without_the_column_of_caps_the_largest_holds(folder: Path, card: Card) -> None:
    assert load(folder, card, strata=("sex",)).caps.tolist() == [440_000, 440_000]
    assert load(folder, card, strata=()).groups == ("All",)


def test_a_multiplier_scales_weights_and_errors_alike(folder: Path, card: Card, frame: StudyFrame) -> None:
    doubled = load(folder, card, multiplier=2)
    once, twice = (central().run(f, QUERIES, epsilon=Decimal(1), streams=streams()).answered for f in (frame, doubled))
    assert np.allclose(twice[0].estimate, 2 * once[0].estimate)
    assert np.allclose(twice[0].truth, 2 * once[0].truth)
    assert np.array_equal(twice[2].estimate, once[2].estimate, equal_nan=True)


def test_a_card_with_several_rows_per_unit_is_refused(folder: Path, card: Card) -> None:
    several = replace(card, unit=replace(card.unit, rows=3))
    with pytest.raises(discreet.errors.Refused, match="one row per person_id"):
        load(folder, several)


def test_rows_are_sorted_by_unit_however_they_are_stored(
    folder: Path, card: Card, frame: StudyFrame, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    stored = pq.read_table(folder / "rows.parquet")
    pq.write_table(stored.take(np.random.default_rng(2).permutation(stored.num_rows)), tmp_path / "rows.parquet")
    again = load(tmp_path, card)
    assert np.array_equal(again.weights, frame.weights)
    assert np.array_equal(again.column("height").positions, frame.column("height").positions)


def test_whole_sums_are_exact_beyond_a_floats_integers() -> None:
    amounts = np.array([2**60, 1, -(2**60), 2**53 + 1], dtype=np.int64)
    assert sum_by(np.array([0, 0, 1, 1]), amounts, 2).tolist() == [2**60 + 1, -(2**60) + 2**53 + 1]
    small = np.array([5, -7, 2**31, 3], dtype=np.int64)
    assert sum_by(np.array([0, 0, 1, 1]), small, 3).tolist() == [-2, 2**31 + 3, 0]


def test_sums_that_do_not_fit_are_refused_rather_than_wrong() -> None:
    with pytest.raises(Refused, match="larger step"):
        sum_by(np.array([0, 0]), np.array([2**62, 2**62], dtype=np.int64), 1)
    with pytest.raises(Refused, match="larger step"):
        multiply(np.array([2**40], dtype=np.int64), np.array([2**30], dtype=np.int64))


def test_huge_weights_are_refused_in_a_study(frame: StudyFrame) -> None:
    huge = replace(frame, weights=frame.weights * 2**34)
    with pytest.raises(Refused, match="larger step"):
        central().run(huge, QUERIES, epsilon=Decimal(1), streams=streams())


# --- central --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_both_totals_of_a_mean_cost_its_epsilon_together(frame: StudyFrame, neighbours: Neighbours) -> None:
    """Three quarters and a quarter, as a release shares them; what is drawn costs no more."""
    question = frame.inquiry.question("height", "mean", neighbours=neighbours)
    total, size = price_laplace(question, Decimal("0.5")).measures
    assert (total.epsilon, size.epsilon) == (Decimal("0.375"), Decimal("0.125"))
    for priced in (total, size):
        for mechanism, moved in zip(priced.mechanisms, priced.sensitivities.each, strict=True):
            assert isinstance(mechanism, DiscreteLaplace)
            assert mechanism.guarantee(sensitivity=moved.l1).epsilon == priced.epsilon


def test_changing_an_answer_costs_twice_as_much_in_a_histogram(frame: StudyFrame) -> None:
    joins, changes = (central(n).expect(frame, QUERIES, epsilon=Decimal(1)) for n in Neighbours)
    assert np.allclose(changes[0].error, 2 * joins[0].error)
    assert np.all(changes[2].error > joins[2].error)


def test_a_total_is_shared_by_the_columns(frame: StudyFrame) -> None:
    whole = central(epsilon_is="total").expect(frame, QUERIES, epsilon=Decimal(2))
    each = central().expect(frame, QUERIES, epsilon=Decimal(1))
    assert all(np.allclose(one.error, two.error) for one, two in zip(whole, each, strict=True))


def test_central_means_are_clamped_and_shown_where_a_release_shows_them(frame: StudyFrame) -> None:
    """At so small an ε only the size of the largest provinces can be told from nobody's."""
    (height,) = central().run(frame, [HEIGHT], epsilon=Decimal("0.5"), streams=streams()).answered
    shown = np.isfinite(height.estimate)
    assert 0 < shown.sum() < len(frame.groups)
    assert np.array_equal(shown, np.isfinite(height.low) & np.isfinite(height.high))
    assert shown[frame.groups.index("Ontario")]
    assert np.all((height.estimate[shown] >= 1.2) & (height.estimate[shown] <= 2.1))
    for answer in central().run(frame, QUERIES, epsilon=Decimal(1), streams=streams()).answered:
        shown = np.isfinite(answer.estimate)
        assert np.all((answer.low <= answer.estimate)[shown] & (answer.estimate <= answer.high)[shown])


# --- local ----------------------------------------------------------------------------------------------------------


LOCAL = (
    LocalModel(),
    LocalModel(categories="oue", numbers="hybrid"),
    LocalModel(missing="category"),
    LocalModel(epsilon_is="total"),
    LocalModel(epsilon_is="total", allocation="split"),
    LocalModel(numbers="clip"),
)


@pytest.mark.parametrize("model", LOCAL, ids=lambda model: model.variant)
def test_local_runs_are_repeatable_and_answer_every_query(model: LocalModel, frame: StudyFrame) -> None:
    one, two = (model.run(frame, QUERIES, epsilon=Decimal(3), streams=streams()) for _ in range(2))
    assert [answer.query for answer in one.answered] == list(QUERIES)
    for first, second in zip(one.answered, two.answered, strict=True):
        assert np.array_equal(first.estimate, second.estimate, equal_nan=True)
    other = model.run(frame, QUERIES, epsilon=Decimal(3), streams=streams(1))
    assert not np.array_equal(one.answered[0].estimate, other.answered[0].estimate)


def shuffled(frame: StudyFrame, order: np.ndarray) -> StudyFrame:
    columns = {name: AnswerColumn(a.column, a.positions[order], a.static) for name, a in frame.columns.items()}
    return replace(frame, columns=columns, cells=frame.cells[order], weights=frame.weights[order])


def test_truth_and_theory_do_not_depend_on_the_order_of_rows(frame: StudyFrame) -> None:
    moved = shuffled(frame, np.random.default_rng(5).permutation(frame.size))
    assert np.array_equal(counted(moved, moved.column("smoking")), counted(frame, frame.column("smoking")))
    assert np.array_equal(mean_values(moved, moved.column("height")), mean_values(frame, frame.column("height")))
    for model in (central(), LocalModel(), LocalModel(missing="category")):
        pairs = zip(*(model.expect(f, QUERIES, epsilon=Decimal(1)) for f in (frame, moved)), strict=True)
        assert all(np.array_equal(one.error, two.error) for one, two in pairs)


def test_protected_absence_reports_for_everyone(frame: StudyFrame) -> None:
    public, hidden = (
        LocalModel(missing=m).run(frame, QUERIES, epsilon=Decimal(3), streams=streams()) for m in ("public", "category")
    )
    height = frame.column("height")
    assert (height.positions == ABSENT).any()
    by_name = {shape.column: shape for shape in public.protected}
    assert by_name["height"].rows is not None
    assert by_name["height"].rows.size == int(height.present().sum())
    assert hidden.answered[2].mechanism in {"ternary", "split"}


def test_absence_is_no_category_of_the_column(frame: StudyFrame) -> None:
    """At a vast epsilon reports are answers: whoever has none is counted nowhere."""
    smoking = frame.column("smoking")
    thinned = np.where(np.arange(frame.size) % 2 == 0, ABSENT, smoking.positions)
    half = replace(frame, columns={**frame.columns, "smoking": AnswerColumn(smoking.column, thinned, False)})
    for missing in ("public", "category"):
        answered = LocalModel(missing=missing).run(half, QUERIES[:2], epsilon=Decimal(40), streams=streams()).answered
        for answer in answered:
            assert np.allclose(answer.estimate, answer.truth)


SHUFFLED = ("single-message", "multi-message", "vector-sum")


def shuffle(mechanism: str, *, delta: str = "1e-6", epsilon_is: str = "per-column") -> ShuffleModel:
    return ShuffleModel(
        mechanism=mechanism,
        delta=Decimal(delta),
        neighbours=Neighbours.ADD_REMOVE,
        level=Decimal("0.95"),
        epsilon_is=epsilon_is,
    )


@pytest.mark.parametrize("mechanism", SHUFFLED)
def test_a_total_of_the_shuffle_is_shared_by_the_columns(mechanism: str, frame: StudyFrame) -> None:
    whole = shuffle(mechanism, delta="2e-6", epsilon_is="total").expect(frame, QUERIES, epsilon=Decimal(2))
    each = shuffle(mechanism).expect(frame, QUERIES, epsilon=Decimal(1))
    assert all(np.allclose(one.error, two.error) for one, two in zip(whole, each, strict=True))


@pytest.mark.parametrize("mechanism", SHUFFLED)
def test_shuffled_runs_are_repeatable_and_do_not_depend_on_other_columns(mechanism: str, frame: StudyFrame) -> None:
    one = shuffle(mechanism).run(frame, QUERIES, epsilon=Decimal(1), streams=streams()).answered
    alone = shuffle(mechanism).run(frame, [SMOKING], epsilon=Decimal(1), streams=streams()).answered
    assert np.array_equal(one[0].estimate, alone[0].estimate, equal_nan=True)
    other = shuffle(mechanism).run(frame, [SMOKING], epsilon=Decimal(1), streams=streams(1)).answered
    assert not np.array_equal(one[0].estimate, other[0].estimate, equal_nan=True)


def test_a_column_is_shown_as_reports_and_as_what_they_say(frame: StudyFrame) -> None:
    outcome = LocalModel(categories="grr").run(frame, QUERIES, epsilon=Decimal("0.5"), streams=streams())
    shown = {one.basis: one for one in outcome.protected if one.column == "smoking"}
    assert set(shown) == {"reports", "estimate"}
    values, shares, smoking = shown["reports"].values, shown["estimate"].shares, frame.column("smoking")
    assert values is not None
    assert shares is not None
    truth = counted(frame, smoking).sum(axis=0) / counted(frame, smoking).sum()
    reported = np.bincount(values, minlength=smoking.size) / values.size
    assert np.abs(shares - truth).sum() < np.abs(reported - truth).sum() / 2


def test_only_what_the_same_people_answered_can_be_correlated(frame: StudyFrame) -> None:
    both = LocalModel().run(frame, QUERIES, epsilon=Decimal(3), streams=streams())
    assert {found.basis for found in both.correlations} == {"reports", "corrected"}
    assert not LocalModel(epsilon_is="total").run(frame, QUERIES, epsilon=Decimal(3), streams=streams()).correlations


def test_errors_fall_as_epsilon_grows_on_theory_lines(frame: StudyFrame) -> None:
    models: tuple[StudyModel, ...] = (central(), LocalModel())
    for model in models:
        lines = [model.expect(frame, QUERIES, epsilon=Decimal(e)) for e in ("0.6", "0.8", "1", "3", "5.99")]
        for place in range(len(QUERIES)):
            means = [line[place].error.mean() for line in lines]
            assert means == sorted(means, reverse=True)


# --- the report's recipe --------------------------------------------------------------------------------------------


def test_the_recipes_real_cost_grows_with_the_categories() -> None:
    assert real_epsilon(1, 5) == pytest.approx(2.386, abs=5e-4)
    keep = claimed_keep(1.0)
    assert math.log(keep / ((1 - keep) / 4)) == pytest.approx(real_epsilon(1, 5))


def test_the_recipe_keeps_codes_and_weights_as_written(frame: StudyFrame, raw: RawRows) -> None:
    answered = NaiveModel("local", raw).run(frame, QUERIES, epsilon=Decimal(3), streams=streams()).answered
    assert np.all(answered[2].truth > mean_values(frame, frame.column("height")))
    assert raw.numbers["height"].max() == pytest.approx(9.999)
    assert raw.weights.max() > frame.weights.max() * frame.weight_step
    assert np.all(np.isnan(answered[0].low))


def test_the_inverted_coin_makes_every_epsilon_alike(frame: StudyFrame, raw: RawRows) -> None:
    coins = [shuffle_coin(epsilon=e, columns=10, respondents=113_290) for e in (0.6, 1, 3, 5.99)]
    assert max(coins) < 0.01
    errors = [
        np.abs(a.estimate - a.truth).mean()
        for e in ("5.99", "0.6")
        for a in NaiveModel("shuffle", raw).run(frame, [SMOKING], epsilon=Decimal(e), streams=streams()).answered
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.1)


def test_rows_as_written_stand_in_the_order_of_the_frame(frame: StudyFrame, raw: RawRows) -> None:
    assert np.array_equal(raw.categories["smoking"], frame.column("smoking").positions)


_BLANKS = """\
patient,town,sex,smokes,age,note,weight
3,N,1,2,,x,5
1,N,2,1,40,x,
2,S,1,,n/a,x,7
4,S,2,9,20,x,2
"""


def test_the_recipe_takes_blanks_for_absent(tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text(_BLANKS, encoding="utf-8")
    card = parse_card(CARD, file="clinic.yaml")
    raw = load_raw_rows(tmp_path / "clinic.csv", card, columns=("smokes", "age"), multiplier=2.0)
    assert raw.numbers["age"].tolist() == pytest.approx([40.0, math.nan, math.nan, 20.0], nan_ok=True)
    assert raw.categories["smokes"].tolist() == [0, -1, 1, -1]
    assert raw.weights.tolist() == [0.0, 14.0, 10.0, 4.0]
    (tmp_path / "work").mkdir()
    prepare(open_source(tmp_path / "clinic.csv"), card, salt="0" * 32, data=tmp_path / "rows", work=tmp_path / "work")
    frame = load_frame(
        tmp_path / "rows", card, strata=("town",), static=(), columns=("smokes", "age"), multiplier=Fraction(2)
    )
    age, smokes = StudyQuery("mean", "age", None, "age"), StudyQuery("count", "smokes", "2", "no")
    for mechanism in ("central", "local", "shuffle"):
        outcome = NaiveModel(mechanism, raw).run(frame, [age, smokes], epsilon=Decimal(1), streams=streams())
        # In the north only weight 0 has an age; in the south one person of two.
        assert outcome.answered[0].truth.tolist() == pytest.approx([math.nan, 20.0], nan_ok=True)
        assert outcome.answered[1].truth.tolist() == [10.0, 0.0]
        assert np.isfinite(outcome.answered[0].estimate[1])
        for shown in outcome.protected:
            assert shown.values is not None
            assert np.all(np.isfinite(shown.values))


def test_the_recipe_can_do_nothing_to_a_single_category(frame: StudyFrame, raw: RawRows) -> None:
    one = replace(frame.column("smoking"), positions=np.zeros(frame.size, dtype=np.int64))
    one = replace(one, column=replace(one.column, categories=one.column.categories[:1]))
    alone = replace(frame, columns={"smoking": one})
    written = RawRows({}, {"smoking": one.positions}, raw.weights)
    query = StudyQuery("count", "smoking", one.column.categories[0].code, "everyone")
    for mechanism in ("local", "shuffle"):
        (found,) = NaiveModel(mechanism, written).run(alone, [query], epsilon=Decimal(1), streams=streams()).answered
        assert found.estimate.tolist() == found.truth.tolist()


def test_ids_that_are_none_are_told_and_not_met_by_surprise(tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text(_BLANKS.replace("\n3,", "\nthree,"), encoding="utf-8")
    with pytest.raises(Refused, match="Leave model naive out"):
        load_raw_rows(tmp_path / "clinic.csv", parse_card(CARD, file="c"), columns=("age",), multiplier=1.0)
