"""The people of the sample survey: where they live, who they are, whether they smoke, how they feel.

Answers are drawn one after another, each given a few of those before it, and each fitted to its published
counts (`raking.draw`). While drawing, answers are ranks among a variable's categories; the columns that come
out hold the code book's codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.samples import tendencies
from discreet.samples.body import draw_body, draw_stated
from discreet.samples.published_figures import PublishedFigures, load_figures
from discreet.samples.published_totals import cross, national, provincial
from discreet.samples.raking import Floats, Integers, deal, draw, round_rows
from discreet.samples.smoking import QUESTIONS, lean_profiles, rank_answers, rank_kinds
from discreet.samples.survey_weights import draw_weights

__all__ = ["Columns", "draw_people"]

Columns = Mapping[str, NDArray[Any]]

_PROVINCES, _AGES, _SEXES = 13, 16, 2


def draw_people(*, rows: int, seed: int) -> Columns:
    """The survey's columns in file order. The same rows and seed give the same people."""
    figures = load_figures()
    rng = np.random.default_rng([seed, 1])
    ranks = _draw_homes(rng, figures, rows)
    _draw_persons(rng, figures, ranks)
    _draw_smoking(rng, figures, ranks)
    _draw_health(rng, figures, ranks)
    _draw_stress(rng, figures, ranks)
    stated = draw_stated(rng, figures, ranks)
    height, body_weight = draw_body(rng, figures, ranks, stated)
    weight = draw_weights(rng, figures, ranks, stated)
    columns: dict[str, NDArray[Any]] = {"person_id": np.arange(1, rows + 1, dtype=np.int64)}
    for name, variable in figures.variables.items():
        smallest = np.int8 if max(variable.codes) < 128 else np.int32
        columns[name] = np.array(variable.codes, dtype=smallest)[ranks[name]]
    return columns | {"height": height, "body_weight": body_weight, "weight": weight}


def _draw_homes(rng: np.random.Generator, figures: PublishedFigures, rows: int) -> dict[str, Integers]:
    """Region and province, in random order of people, so that a person_id says nothing."""
    regions = np.array([figures.variables["health_region"].counts]) * (rows / figures.rows)
    region = deal(rng, np.zeros(rows, dtype=np.int16), round_rows(regions))
    return {"province": np.array(figures.region_provinces, dtype=np.int8)[region], "health_region": region}


def _draw_persons(rng: np.random.Generator, figures: PublishedFigures, ranks: dict[str, Integers]) -> None:
    """Age and sex together, then marital status by age, sex and province."""
    people = len(ranks["province"])
    age, sex, marital = (figures.variables[name] for name in ("age_group", "sex", "marital_status"))
    women = np.stack([np.ones(_AGES), tendencies.WOMEN_BY_AGE], axis=1)
    seed = np.tile((women * np.array(age.counts)[:, None]).ravel(), (_PROVINCES, 1))
    both = np.arange(_AGES * _SEXES)
    margins = [
        national(figures, age, people=people, groups=_PROVINCES, columns=both // _SEXES),
        national(figures, sex, people=people, groups=_PROVINCES, columns=both % _SEXES),
    ]
    drawn = draw(rng, ranks["province"], seed, margins)
    ranks["age_group"], ranks["sex"] = drawn // np.int8(_SEXES), drawn % np.int8(_SEXES)

    shape = (_PROVINCES, _AGES, _SEXES)
    status = np.broadcast_to(tendencies.MARITAL_BY_AGE[None, :, None, :], (*shape, 5)).copy()
    status[:, :, 1, 2] *= tendencies.WIDOWED_BY_AGE_OF_WOMEN
    status[..., 1] *= tendencies.COMMON_LAW_BY_PROVINCE[:, None, None]
    groups = cross(ranks, ("province", "age_group", "sex"), shape)
    margin = national(figures, marital, people=people, groups=416, columns=np.arange(5))
    ranks["marital_status"] = draw(rng, groups, status.reshape(-1, 5), [margin])


def _draw_smoking(rng: np.random.Generator, figures: PublishedFigures, ranks: dict[str, Integers]) -> None:
    """The four smoking answers as one profile, by province, age and sex; also the kind of smoker."""
    leaning = lean_profiles()
    seed = np.tile(leaning.reshape(_AGES * _SEXES, -1), (_PROVINCES, 1))
    groups = cross(ranks, ("province", "age_group", "sex"), (_PROVINCES, _AGES, _SEXES))
    answers = {name: rank_answers(figures.variables[name]) for name in QUESTIONS}
    margins = [
        provincial(figures, figures.variables[name], ranks, groups=len(seed), columns=columns)
        for name, columns in reversed(answers.items())
    ]
    profile = draw(rng, groups, seed, margins)
    for name, columns in answers.items():
        ranks[name] = columns[profile]
    ranks["smoker"] = rank_kinds()[profile]


def _draw_health(rng: np.random.Generator, figures: PublishedFigures, ranks: dict[str, Integers]) -> None:
    """Perceived health worsens with age and smoking; mental health follows it, and is better with age."""
    ages = np.arange(_AGES)
    score = 0.075 * (ages[:, None] - 8) + tendencies.HEALTH_BY_SMOKER[None, :]
    _draw_ordered(rng, figures, ranks, "perceived_health", given=("age_group", "smoker"), score=score)

    health = _levels(figures, "perceived_health")
    score = 0.75 * (health[:, None, None] - 2) - 0.03 * (ages[None, :, None] - 8) + np.array([0.0, 0.12])
    proxy = np.broadcast_to(tendencies.PROXY_BY_AGE[None, :, None], score.shape)
    given = ("perceived_health", "age_group", "sex")
    _draw_ordered(rng, figures, ranks, "mental_health", given=given, score=score, not_stated=proxy)


def _draw_stress(rng: np.random.Generator, figures: PublishedFigures, ranks: dict[str, Integers]) -> None:
    """Stress follows poor mental health and peaks in mid-life; workers' stress at work follows it."""
    mental = _levels(figures, "mental_health")
    score = 0.5 * (mental[:, None] - 1.5) + tendencies.STRESS_BY_AGE[None, :]
    _draw_ordered(rng, figures, ranks, "life_stress", given=("mental_health", "age_group"), score=score)

    ranks["proxy"] = (ranks["mental_health"] == figures.variables["mental_health"].rank(9)).astype(np.int8)
    life = _levels(figures, "life_stress")
    score = np.broadcast_to(1.1 * (life[None, :, None] - 2), (_AGES, len(life), 2))
    skip = np.broadcast_to(tendencies.NOT_WORKING_BY_AGE[:, None, None], score.shape)
    only_proxy = np.broadcast_to(np.array([0.0, np.inf]), score.shape)
    given = ("age_group", "life_stress", "proxy")
    _draw_ordered(rng, figures, ranks, "work_stress", given=given, score=score, skip=skip, not_stated=only_proxy)


def _levels(figures: PublishedFigures, name: str) -> Floats:
    """The five ordered levels of a variable from 0, with those who gave none in the middle."""
    return np.array([code - 1.0 if code <= 5 else 2.0 for code in figures.variables[name].codes])


def _draw_ordered(
    rng: np.random.Generator,
    figures: PublishedFigures,
    ranks: dict[str, Integers],
    name: str,
    *,
    given: tuple[str, ...],
    score: Floats,
    skip: Floats | None = None,
    not_stated: Floats | None = None,
) -> None:
    """An answer on five ordered levels, which leans to the worse end as the score rises; by province.

    The score is an array over the answers `given`. `skip` is the share who are not asked, and `not_stated`
    how many times the usual share of "not stated" applies; infinity means whoever is asked does not state.
    """
    variable = figures.variables[name]
    share = np.array(variable.counts) / figures.rows
    seed = np.broadcast_to(share, (*score.shape, len(share))).copy()
    seed[..., :5] *= tendencies.lean(score, 5)
    if not_stated is not None:
        silent = np.isinf(not_stated)
        seed[..., variable.rank(9)] *= np.where(silent, 1.0, not_stated)
        seed[silent] *= np.array([code in (6, 9) for code in variable.codes])
    if skip is not None:
        asked = np.array([code != 6 for code in variable.codes])
        seed[..., asked] *= ((1 - skip) / seed[..., asked].sum(axis=-1))[..., None]
        seed[..., ~asked] = skip[..., None]
    groups = cross(ranks, ("province", *given), (_PROVINCES, *score.shape))
    table = np.tile(seed.reshape(-1, len(share)), (_PROVINCES, 1))
    margin = provincial(figures, variable, ranks, groups=len(table), columns=np.arange(len(share)))
    ranks[name] = draw(rng, groups, table, [margin])
