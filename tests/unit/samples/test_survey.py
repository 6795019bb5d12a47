"""The sample survey against the published figures, and its people against common sense."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.samples.published_figures import load_figures
from discreet.samples.sample_people import Columns, draw_people

pytestmark = pytest.mark.slow

FIGURES = load_figures()
SHARP = ("smoking", "perceived_health", "work_stress", "mental_health", "life_stress", "smoked_100")


@pytest.fixture(scope="module", params=[1, 20_172_018])
def survey(request: pytest.FixtureRequest) -> Columns:
    return draw_people(rows=FIGURES.rows, seed=request.param)


def _totals(survey: Columns, name: str, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Counts, or sums of weights, in the order of the variable's categories."""
    codes = FIGURES.variables[name].codes
    ranks = np.searchsorted(codes, survey[name])
    totals = np.bincount(ranks, weights=weights, minlength=len(codes))
    return totals.astype(np.float64)


def _share(answers: NDArray[np.integer], *codes: int) -> float:
    return float(np.isin(answers, codes).mean())


def test_columns_are_complete(survey: Columns) -> None:
    assert list(survey) == ["person_id", *FIGURES.variables, "height", "body_weight", "weight"]
    assert {len(values) for values in survey.values()} == {FIGURES.rows}
    assert survey["person_id"].tolist() == list(range(1, FIGURES.rows + 1))


@pytest.mark.parametrize("name", FIGURES.variables)
def test_codes_are_those_that_occur(survey: Columns, name: str) -> None:
    assert set(survey[name].tolist()) <= set(FIGURES.variables[name].codes)
    assert np.issubdtype(survey[name].dtype, np.integer)


@pytest.mark.parametrize("name", FIGURES.variables)
def test_shares_are_the_published_ones(survey: Columns, name: str) -> None:
    published = np.array(FIGURES.variables[name].counts)
    assert np.abs(_totals(survey, name) - published).max() / FIGURES.rows < 0.0005


def test_every_code_occurs(survey: Columns) -> None:
    seldom = {("ever_daily", 8), ("smoked_daily_30d", 7)}
    for name, variable in FIGURES.variables.items():
        missing = set(variable.codes) - set(survey[name].tolist())
        assert {(name, code) for code in missing} <= seldom


@pytest.mark.parametrize("name", ["province", "health_region", "age_group", "sex", "marital_status"])
def test_weighted_totals_are_the_published_ones(survey: Columns, name: str) -> None:
    reached = _totals(survey, name, survey["weight"])
    assert reached == pytest.approx(FIGURES.variables[name].weighted, rel=0.001)


@pytest.mark.parametrize("name", [variable.name for variable in FIGURES.by_province])
def test_weighted_provincial_totals_are_the_published_ones(survey: Columns, name: str) -> None:
    tolerance = 0.01 if name in SHARP else 0.03
    checked = 0
    for rank, province in enumerate(FIGURES.variables["province"].codes):
        here = survey["province"] == province
        for category in FIGURES.variables[name].categories:
            published = category.by_province[rank]
            reached = survey["weight"][here & (survey[name] == category.code)].sum()
            if published > 20_000:
                checked += 1
                assert reached == pytest.approx(published, rel=tolerance), (province, category.code)
            if published == 0:
                assert reached == 0, (province, category.code)
    assert checked > 20


def test_weights_spread_as_published(survey: Columns) -> None:
    weight, published = survey["weight"], FIGURES.measures["weight"]
    assert weight.min() == published.minimum
    assert weight.max() == published.maximum
    assert weight.mean() == pytest.approx(published.mean, rel=0.001)
    assert weight.std() == pytest.approx(published.deviation, rel=0.06)
    assert (weight == np.round(weight, 2)).all()


@pytest.mark.parametrize("name", ["height", "body_weight"])
def test_measures_are_the_published_ones(survey: Columns, name: str) -> None:
    measure, values = FIGURES.measures[name], survey[name]
    given = values != measure.not_stated
    assert (~given).sum() == pytest.approx(measure.not_stated_count, abs=3)
    assert survey["weight"][~given].sum() == pytest.approx(measure.not_stated_weighted, rel=0.01)
    assert values[given].min() == measure.minimum
    assert values[given].max() == measure.maximum
    assert values[given].mean() == pytest.approx(measure.mean, rel=0.001)
    assert values[given].std() == pytest.approx(measure.deviation, rel=0.005)
    weighted_mean = np.average(values[given], weights=survey["weight"][given])
    assert weighted_mean == pytest.approx(measure.weighted_mean, rel=0.01)


def test_measures_lie_on_the_reported_steps(survey: Columns) -> None:
    height = survey["height"][survey["height"] < 9]
    assert np.isin(height, np.round(np.arange(50, 78) * 0.0254, 3)).all()
    pounds = survey["body_weight"][survey["body_weight"] < 900] / 0.45
    assert np.abs(pounds - np.rint(pounds)).max() < 1e-6


@pytest.mark.parametrize("name", ["height", "body_weight"])
def test_codes_left_in_sums_mislead_as_they_did(survey: Columns, name: str) -> None:
    for rank, province in enumerate(FIGURES.variables["province"].codes):
        here = survey["province"] == province
        total = (survey["weight"] * survey[name])[here].sum()
        assert total == pytest.approx(FIGURES.measures[name].sum_with_codes_by_province[rank], rel=0.04)


def test_region_lies_in_its_province(survey: Columns) -> None:
    assert (survey["health_region"] // 1000 == survey["province"]).all()


def test_who_does_not_smoke_is_not_asked_about_the_last_month(survey: Columns) -> None:
    assert _share(survey["smoked_daily_30d"][survey["smoking"] == 3], 6) == 1
    smokers = survey["smoked_daily_30d"][np.isin(survey["smoking"], (1, 2))]
    assert _share(smokers, 1, 2) > 0.99
    assert _share(survey["smoked_daily_30d"][survey["smoking"] == 1], 6) == 0


def test_smokers_smoked_a_hundred(survey: Columns) -> None:
    assert _share(survey["smoked_100"][survey["smoking"] == 1], 1) > 0.99
    assert _share(survey["smoked_100"][survey["smoking"] == 2], 1) > 0.8


def test_ever_daily_is_asked_of_occasional_and_former_smokers(survey: Columns) -> None:
    smoking, hundred, ever = survey["smoking"], survey["smoked_100"], survey["ever_daily"]
    assert _share(ever[smoking == 1], 6) == 1
    assert _share(ever[(smoking == 3) & (hundred == 2)], 6) == 1
    assert _share(ever[(smoking == 3) & (hundred == 1)], 1, 2, 7, 8) == 1
    lately = survey["smoked_daily_30d"] == 1
    assert _share(ever[(smoking == 2) & lately], 6) == 1
    assert _share(ever[(smoking == 2) & ~lately], 6) == 0


def test_work_stress_is_asked_of_workers(survey: Columns) -> None:
    age, stress = survey["age_group"], survey["work_stress"]
    assert _share(stress[np.isin(age, (1, 15, 16))], 6) == 1
    assert 0.5 < _share(stress[np.isin(age, (13, 14))], 6) < 1
    assert _share(stress[np.isin(age, range(5, 11))], 6) < 0.25
    assert (survey["mental_health"][stress == 9] == 9).all()


def test_marital_status_goes_with_age(survey: Columns) -> None:
    age, sex, status = survey["age_group"], survey["sex"], survey["marital_status"]
    assert _share(status[age == 1], 4, 9) == 1
    assert _share(status[age == 2], 4, 9) > 0.98
    alone = [_share(status[age == group], 3) for group in range(4, 17)]
    assert alone == sorted(alone)
    oldest = age == 16
    assert _share(status[oldest & (sex == 2)], 3) > _share(status[oldest & (sex == 1)], 3) + 0.1


def test_health_worsens_with_age_and_smoking(survey: Columns) -> None:
    health = survey["perceived_health"]
    poor = [_share(health[np.isin(survey["age_group"], ages)], 4, 5) for ages in ((1, 2), (5, 6), (11, 12), (15, 16))]
    assert poor == sorted(poor)
    assert poor[-1] > 4 * poor[0]
    daily, never = survey["smoking"] == 1, survey["smoked_100"] == 2
    assert _share(health[daily], 4, 5) > 1.4 * _share(health[never], 4, 5)
    mental = survey["mental_health"]
    assert _share(mental[health == 5], 4, 5) > 5 * _share(mental[health == 2], 4, 5)
    assert _share(survey["life_stress"][mental == 4], 4, 5) > 2 * _share(survey["life_stress"][mental == 1], 4, 5)


def test_smokers_are_of_middle_age_and_rather_men(survey: Columns) -> None:
    daily = survey["smoking"] == 1
    middle = np.isin(survey["age_group"], range(5, 13))
    assert daily[middle].mean() > 1.5 * daily[~middle].mean()
    assert daily[survey["sex"] == 1].mean() > 1.1 * daily[survey["sex"] == 2].mean()


def test_men_are_taller_and_heavier_and_children_smaller(survey: Columns) -> None:
    given = (survey["height"] < 9) & (survey["body_weight"] < 900)
    height, heavy = survey["height"], survey["body_weight"]
    men, women = given & (survey["sex"] == 1), given & (survey["sex"] == 2)
    adult, child = survey["age_group"] >= 4, survey["age_group"] == 1
    assert height[men & adult].mean() == pytest.approx(1.77, abs=0.02)
    assert height[women & adult].mean() == pytest.approx(1.63, abs=0.02)
    assert heavy[men & adult].mean() > heavy[women & adult].mean() + 10
    assert height[given & child].mean() < height[given & adult].mean() - 0.05
    assert heavy[given & child].mean() < heavy[given & adult].mean() - 15
    assert np.corrcoef(height[given & adult], heavy[given & adult])[0, 1] > 0.3


@pytest.mark.parametrize("rows", [1_000, 1_001, 20_000])
def test_other_sizes_scale(rows: int) -> None:
    survey = draw_people(rows=rows, seed=5)
    for name, variable in FIGURES.variables.items():
        published = np.array(variable.counts) * rows / FIGURES.rows
        assert np.abs(_totals(survey, name) - published).max() < 4 + 0.001 * rows
    provinces = np.array(FIGURES.variables["province"].weighted) * rows / FIGURES.rows
    assert _totals(survey, "province", survey["weight"]) == pytest.approx(provinces, rel=0.02)
    limits = FIGURES.measures["weight"]
    assert survey["weight"].min() >= limits.minimum
    assert survey["weight"].max() <= limits.maximum


def test_person_ids_say_nothing_about_place(survey: Columns) -> None:
    correlation = np.corrcoef(survey["person_id"], survey["province"])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(FIGURES.rows)
