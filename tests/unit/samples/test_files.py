"""The files of the samples: their bytes, their cards, and what is refused."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card, ColumnKind
from discreet.cards.card_reader import read_card_file
from discreet.errors import PathInvalid, UsageError
from discreet.samples import write_survey, write_visits
from discreet.samples.published_figures import load_figures
from discreet.samples.sample_cards import CAPS
from discreet.samples.sample_people import draw_people

pytestmark = pytest.mark.slow

FIGURES = load_figures()


def _digests(*paths: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_survey(tmp_path_factory.mktemp("survey"), rows=3_000, seed=4)


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_visits(tmp_path_factory.mktemp("visits"), people=3_000, seed=4)


@pytest.fixture(scope="module")
def survey_card(survey: tuple[Path, Path]) -> Card:
    return read_card_file(survey[1])


@pytest.fixture(scope="module")
def visits_card(visits: tuple[Path, Path]) -> Card:
    return read_card_file(visits[1])


@pytest.mark.parametrize("rows", [2_000, pytest.param(113_290, marks=pytest.mark.long)])
def test_a_survey_is_the_same_bytes_for_a_seed(tmp_path: Path, rows: int) -> None:
    first = write_survey(tmp_path / "first", rows=rows)
    second = write_survey(tmp_path / "second", rows=rows)
    other = write_survey(tmp_path / "other", rows=rows, seed=2)
    assert [path.name for path in first] == ["survey.parquet", "survey.yaml"]
    assert _digests(*first) == _digests(*second)
    assert _digests(first[0]) != _digests(other[0])
    assert pq.read_metadata(first[0]).num_rows == rows


def test_visits_are_the_same_bytes_for_a_seed(tmp_path: Path, visits: tuple[Path, Path]) -> None:
    again = write_visits(tmp_path / "again", people=3_000, seed=4)
    other = write_visits(tmp_path / "other", people=3_000, seed=5)
    assert _digests(*again) == _digests(*visits)
    assert _digests(other[0]) != _digests(visits[0])


@pytest.mark.parametrize("rows", [0, 999, 10_000_001, -5, True])
def test_sizes_out_of_range_are_refused(tmp_path: Path, rows: int) -> None:
    with pytest.raises(UsageError, match="from 1,000 to 10,000,000"):
        write_survey(tmp_path / "none", rows=rows)
    with pytest.raises(UsageError, match="from 1,000 to 10,000,000"):
        write_visits(tmp_path / "none", people=rows)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("seed", [-1, 2**63, True])
def test_seeds_out_of_range_are_refused(tmp_path: Path, seed: int) -> None:
    with pytest.raises(UsageError, match="seed must be"):
        write_survey(tmp_path, rows=1_000, seed=seed)


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    kept = tmp_path / "survey.yaml"
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(PathInvalid, match=r"survey\.yaml exists, .* --overwrite \(in Python: overwrite=True\)"):
        write_survey(tmp_path, rows=1_000)
    assert [path.name for path in tmp_path.iterdir()] == ["survey.yaml"]
    assert kept.read_text(encoding="utf-8") == "mine"
    write_survey(tmp_path, rows=1_000, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.parquet", "survey.yaml"]
    assert read_card_file(kept).dataset == "survey"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(PathInvalid, match="must be a folder"):
        write_survey(tmp_path / "taken", rows=1_000)


def test_survey_file_holds_the_cards_columns_and_codes(survey: tuple[Path, Path], survey_card: Card) -> None:
    table = pq.read_table(survey[0])
    assert table.column_names == list(dict.fromkeys(column.source for column in survey_card.columns))
    for column in survey_card.columns:
        if column.kind is ColumnKind.CATEGORY:
            codes = {category.code for category in column.categories}
            assert {str(value) for value in table[column.name].to_pylist()} <= codes


def test_survey_card_says_what_the_code_book_says(survey_card: Card) -> None:
    for name, variable in FIGURES.variables.items():
        column = survey_card.column(name)
        assert column.kind is ColumnKind.CATEGORY
        assert column.public == (name == "province")
        assert (column.label.en, column.label.fr) == (variable.label.en, variable.label.fr)
        for stated, published in zip(column.categories, variable.categories, strict=True):
            assert stated.code == str(published.code)
            assert (stated.label.en, stated.label.fr) == (published.label.en, published.label.fr)


def test_survey_card_bounds_and_missing_codes(survey_card: Card) -> None:
    height, body, weight = (survey_card.column(name) for name in ("height", "body_weight", "weight"))
    assert height.bounds == (Decimal("1.2"), Decimal("2.1"))
    assert height.step == Decimal("0.001")
    assert {str(code) for code in height.missing} == {"9.996", "9.997", "9.998", "9.999"}
    assert body.bounds == (Decimal(30), Decimal(140))
    assert {str(code) for code in body.missing} == {"999.96", "999.97", "999.98", "999.99"}
    assert weight.bounds == (Decimal(0), Decimal(15000))


def test_cards_share_a_population_and_its_terms(survey_card: Card, visits_card: Card) -> None:
    assert survey_card.terms() == visits_card.terms()
    assert (survey_card.unit.rows, visits_card.unit.rows) == (1, 20)


def test_caps_cut_little_weight() -> None:
    people = draw_people(rows=FIGURES.rows, seed=11)
    assert tuple(CAPS) == FIGURES.variables["province"].codes
    for province, cap in CAPS.items():
        weight = people["weight"][people["province"] == province]
        assert np.maximum(weight - cap, 0).sum() < 0.04 * weight.sum()
    caps = np.array(list(CAPS.values()))[np.searchsorted(list(CAPS), people["province"])]
    assert np.maximum(people["weight"] - caps, 0).sum() < 0.02 * people["weight"].sum()


def test_visits_belong_to_the_surveys_people(visits: tuple[Path, Path], survey: tuple[Path, Path]) -> None:
    table = pq.read_table(visits[0])
    people, count = np.unique(table["person_id"].to_numpy(), return_counts=True)
    assert people.tolist() == pq.read_table(survey[0])["person_id"].to_pylist()
    assert count.min() == 1
    assert count.max() <= 40
    assert np.median(count) < count.mean()
    age = pq.read_table(survey[0])["age_group"].to_numpy()
    assert count[age >= 13].mean() > 1.5 * count[age <= 4].mean()


def test_visits_are_numbered_by_day(visits: tuple[Path, Path], visits_card: Card) -> None:
    table = pq.read_table(visits[0])
    assert table.column_names == [column.name for column in visits_card.columns]
    person, visit, day = (table[name].to_numpy().astype(int) for name in ("person_id", "visit", "day"))
    same = person[1:] == person[:-1]
    assert (visit[1:][same] == visit[:-1][same] + 1).all()
    assert (visit[1:][~same] == 1).all()
    assert (day[1:][same] >= day[:-1][same]).all()
    assert day.min() >= 1
    assert day.max() <= 730


def test_visits_cost_money_and_a_few_pass_the_bound(visits: tuple[Path, Path], visits_card: Card) -> None:
    table = pq.read_table(visits[0])
    cost = table["cost"].to_numpy()
    assert cost.min() > 0
    assert 0 < (cost > 2000).mean() < 0.01
    assert set(table["clinic"].to_pylist()) == {int(c.code) for c in visits_card.column("clinic").categories}


def test_asking_for_a_sample_is_light_until_it_is_written() -> None:
    code = "import sys, discreet.samples; sys.exit(bool({'numpy', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.long
def test_a_million_people_keep_the_shares(tmp_path: Path) -> None:
    rows = 1_000_000
    parquet, _ = write_survey(tmp_path, rows=rows, seed=3)
    table = pq.read_table(parquet, columns=list(FIGURES.variables))
    for name, variable in FIGURES.variables.items():
        counts = np.bincount(np.searchsorted(variable.codes, table[name].to_numpy()), minlength=len(variable.codes))
        assert np.abs(counts / rows - np.array(variable.counts) / FIGURES.rows).max() < 0.0005
