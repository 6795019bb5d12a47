"""The embedded figures: complete, consistent, and those that were published."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import pytest

from discreet.samples.published_figures import Label, PublishedCategory, load_figures
from discreet.samples.survey import FULL
from tests.places import SHARED

PROVINCES = ("NL", "PE", "NS", "NB", "QC", "ON", "MB", "SK", "AB", "BC", "YT", "NT", "NU")

needs_shared = pytest.mark.skipif(
    not (SHARED / "cchs_pumf_marginals.csv").is_file(),
    reason="the code-book counts are not beside the checkout (shared/data)",
)


def test_survey_has_as_many_rows_as_the_figures() -> None:
    assert load_figures().rows == FULL


def test_variables_come_in_file_order() -> None:
    assert tuple(load_figures().variables) == (
        "province",
        "health_region",
        "sex",
        "marital_status",
        "age_group",
        "perceived_health",
        "mental_health",
        "life_stress",
        "work_stress",
        "smoking",
        "smoked_daily_30d",
        "smoked_100",
        "ever_daily",
    )


def test_regions_add_up_to_their_provinces() -> None:
    figures = load_figures()
    people: dict[int, int] = defaultdict(int)
    weights: dict[int, float] = defaultdict(float)
    regions = figures.variables["health_region"].categories
    for region, province in zip(regions, figures.region_provinces, strict=True):
        people[province] += region.count
        weights[province] += region.weighted
    for rank, category in enumerate(figures.variables["province"].categories):
        assert people[rank] == category.count
        assert weights[rank] == pytest.approx(category.weighted, rel=1e-6)


@pytest.mark.parametrize("name", [variable.name for variable in load_figures().by_province])
def test_provincial_totals_add_up_both_ways(name: str) -> None:
    figures = load_figures()
    categories = figures.variables[name].categories
    for category in categories:
        assert sum(category.by_province) == pytest.approx(category.weighted, rel=5e-6)
    for rank, province in enumerate(figures.variables["province"].categories):
        assert sum(c.by_province[rank] for c in categories) == pytest.approx(province.weighted, rel=1e-5)


def test_labels_are_whole() -> None:
    for variable in load_figures().variables.values():
        for label in (variable.label, *(category.label for category in variable.categories)):
            assert label.en.strip()
            assert label.fr.strip()
            assert not set("?�") & set(label.en + label.fr)


def test_a_code_that_does_not_occur_is_refused() -> None:
    with pytest.raises(ValueError, match="occur"):
        PublishedCategory(6, Label("Valid skip", "Enchaînement valide"), 0, 0.0, ())


def test_counts_that_do_not_add_up_are_refused() -> None:
    figures = load_figures()
    with pytest.raises(ValueError, match="add up"):
        replace(figures, rows=figures.rows + 1)


def _published() -> Iterator[tuple[str, str, dict[str, str]]]:
    with (SHARED / "cchs_pumf_marginals.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["cycle"] == "2017-2018" and row["n"] != "0":
                yield row["variable"], row["code"], row


@needs_shared
def test_figures_are_the_code_books() -> None:
    published = {(variable, code): row for variable, code, row in _published()}
    for variable in load_figures().variables.values():
        codes = [code for name, code in published if name == variable.pumf]
        assert codes == [str(code) for code in variable.codes]
        for category in variable.categories:
            row = published[variable.pumf, str(category.code)]
            assert category.count == int(row["n"])
            assert category.weighted == float(row["weighted_n"])
            if not row["label"].startswith("Group"):
                assert _without_accents(category.label.en) == _without_accents(row["label"])


@needs_shared
def test_measures_are_the_code_books() -> None:
    with (SHARED / "cchs_pumf_summaries.csv").open(encoding="utf-8") as stream:
        published = {
            (row["variable"], row["statistic"], row["weighted"]): float(row["value"])
            for row in csv.DictReader(stream)
            if row["cycle"] == "2017-2018"
        }
    for measure in load_figures().measures.values():
        assert measure.minimum == published[measure.pumf, "min", "False"]
        assert measure.maximum == published[measure.pumf, "max", "False"]
        assert measure.mean == published[measure.pumf, "mean", "False"]
        assert measure.deviation == published[measure.pumf, "stdev", "False"]
        assert measure.not_stated_count == published[measure.pumf, "invd", "False"]
        if measure.not_stated is not None:
            assert measure.weighted_mean == published[measure.pumf, "mean", "True"]
            assert measure.not_stated_weighted == published[measure.pumf, "invd", "True"]


@needs_shared
def test_provincial_totals_are_the_result_tables() -> None:
    totals: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(SHARED / "phac_results.csv.gz", "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["statistic"] == "sum" and row["original"]:
                totals[row["column"]][row["code"]][row["province"]] = float(row["original"])
    figures = load_figures()
    for variable in figures.by_province:
        tables = [tuple(t.get(p, 0.0) for p in PROVINCES) for t in totals[variable.pumf].values()]
        assert sorted(category.by_province for category in variable.categories) == sorted(tables)
    for name in ("height", "body_weight"):
        measure = figures.measures[name]
        assert measure.sum_with_codes_by_province == tuple(totals[measure.pumf][""][p] for p in PROVINCES)


def _without_accents(label: str) -> str:
    """The code book's distribution lost accents and apostrophes to question marks, and shouts some names."""
    kept = (c if c.isascii() and c not in "?'" else "" for c in label.lower())
    return "".join(kept)
