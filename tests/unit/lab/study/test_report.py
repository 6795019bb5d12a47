"""The report: one file, nothing fetched, everything escaped, made from a study's tables alone."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from discreet_replications.report.report_reproduction import reproduce_report

from discreet.catalogue import speaking
from discreet.errors import ExtraMissing, PathInvalid
from discreet.lab.study.findings.study_findings import Series, read_findings
from discreet.lab.study.report.palette import look_of, numbered_look
from discreet.lab.study.report.quality_figures import quality_charts
from discreet.lab.study.report.report_numbers import tell_amount
from discreet.lab.study.report.study_figures import anchors, facet, slug, write_charts
from discreet.lab.study.report.study_report import verdict_lines, write_report
from discreet.present.pages.markup import Markup, element, table
from tests.drawings import beyond_edges

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert('x')</script> & Co"
GROUPS = ["Alpha", "Beta", HOSTILE]
EPSILONS = [2.0, 1.0]
TRUTHS = {"count": [900.0, 300.0, 20.0], "mean": [1.70, 1.65, 1.80]}
VARIANTS = [("central", "laplace", 2.0), ("local", "grr", 40.0), ("naive", "local", None)]
TABLES = {
    "results": "model mechanism epsilon delta run group column category statistic truth estimate error low high",
    "theory": "model mechanism epsilon delta group column category statistic expected_error",
    "quality": "model mechanism epsilon run column static metric basis value",
    "shapes": "model mechanism epsilon column bin label original protected basis",
    "correlations": "model mechanism epsilon first second original protected basis",
    "linkage": "model mechanism epsilon column respondents linked within_2 within_5 success_before success_after "
    "baseline",
}


def _rows() -> dict[str, list[tuple[Any, ...]]]:
    rng = np.random.default_rng(1)
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    for (model, mechanism, size), epsilon in ((one, e) for one in VARIANTS for e in EPSILONS):
        for statistic, column, category in (("count", "smoking", "1"), ("mean", "height", None)):
            for group, truth in zip(GROUPS, TRUTHS[statistic], strict=True):
                error = (size or 500.0) / epsilon * (0.001 if statistic == "mean" else 1)
                for run in range(2):
                    value = truth + (rng.laplace(0, error) if size else error)
                    ends = (value - 3 * error, value + 3 * error) if size else (np.nan, np.nan)
                    asked = (group, column, category, statistic)
                    rows["results"].append(
                        (model, mechanism, epsilon, 0.0, run, *asked, truth, value, abs(value - truth), *ends)
                    )
                if size:
                    rows["theory"].append((model, mechanism, epsilon, 0.0, *asked, error))
        head = (model, mechanism, epsilon)
        rows["quality"] += [
            (*head, 0, "smoking", False, "ks-complement", "reports", 0.8),
            (*head, 0, "region", True, "ks-complement", "unchanged", 1.0),
            (model, f"{model} {mechanism}", epsilon, 0, "(average)", False, "ks-complement", "reports", 0.8),
            (model, f"{model} {mechanism}", epsilon, 0, "smoking", False, "correlation-similarity", "reports", None),
        ]
        rows["shapes"] += [(*head, "smoking", place, label, 0.5, 0.4, "reports") for place, label in enumerate(GROUPS)]
        rows["shapes"] += [
            (*head, "height", place - 1, label, 0.25, 0.3, "reports")
            for place, label in enumerate(("below", "1.2", "1.4", "1.6", "above"))
        ]
        rows["correlations"].append((*head, "smoking", "height", 0.4, np.nan, "corrected"))
        rows["linkage"].append((*head, "smoking", 1000, 12, 30, 90, 1.0, 0.5 if model == "local" else 0.4, 0.4))
    return rows


def _write_study(folder: Path) -> None:
    """A small study's folder, as the runner leaves it."""
    for name, rows in _rows().items():
        names = TABLES[name].split()
        columns = {field: [row[place] for row in rows] for place, field in enumerate(names)}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    info = {
        "schema": 1,
        "config": {
            "title": f"Smoking {HOSTILE}", "epsilon_is": "per-column", "level": "0.95", "runs": 2, "seed": 7,
            "neighbours": "add-remove", "columns": None,
        },
        "columns": ["smoking", "height"],
        "static": ["region"],
        "strata": ["region"],
        "versions": {"discreet": "0.1.0"},
        "rows": 1000,
        "groups": GROUPS,
        "queries": [
            {"name": "smoking=1", "statistic": "count", "column": "smoking", "category": "1", "label": HOSTILE},
            {"name": "mean of height", "statistic": "mean", "column": "height", "category": None, "label": "Height"},
        ],
        "variants": [{"model": model, "variant": f"{model} {mechanism}"} for model, mechanism, _ in VARIANTS],
    }  # fmt: skip
    (folder / "study.json").write_text(json.dumps(info), encoding="utf-8")
    (folder / "study.yaml").write_text(f"study: smoking\ntitle: {HOSTILE}\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _write_study(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class _Reported:
    folder: Path
    progress: list[str]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> _Reported:
    """A study with its report, drawn once for all tests that only read it."""
    folder, told = tmp_path_factory.mktemp("study"), list[str]()
    _write_study(folder)
    write_report(folder, progress=told.append)
    return _Reported(folder, told)


class _Outline(HTMLParser):
    """Which elements a page has, whether they are closed, and what its attributes say."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in {"meta", "br", "hr"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def page(reported: _Reported) -> str:
    return (reported.folder / "report.html").read_text(encoding="utf-8")


def test_the_page_is_whole_and_fetches_nothing(page: str) -> None:
    outline = _Outline()
    outline.feed(page)
    assert outline.open == []
    tags = [tag for tag, _ in outline.seen]
    assert "script" not in tags
    assert not {"link", "iframe", "img", "object"} & set(tags)
    fetched = [
        value for _, attrs in outline.seen for key, value in attrs.items() if key in {"src", "href", "xlink:href"}
    ]
    assert all(value is not None and value.startswith("#") for value in fetched)
    assert not re.search(r"url\((?!#)", page)
    policy = next(attrs for tag, attrs in outline.seen if attrs.get("http-equiv"))
    assert (policy["content"] or "").startswith("default-src 'none'")
    assert ("html", {"lang": "en"}) in outline.seen
    assert len(page.encode()) < 3_000_000


def test_labels_cannot_break_out(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(" in page


def test_every_figure_is_named_and_its_references_hold(page: str) -> None:
    outline = _Outline()
    outline.feed(page)
    drawings = [attrs for tag, attrs in outline.seen if tag == "svg"]
    assert len(drawings) == 9
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in drawings)
    names = [attrs["id"] for _, attrs in outline.seen if attrs.get("id")]
    anchors = {value for _, attrs in outline.seen for key, value in attrs.items() if key == "href"}
    assert {str(anchor).removeprefix("#") for anchor in anchors} <= set(names)
    assert len(names) == len(set(names))


def test_the_page_says_what_it_is_and_what_is_protected(page: str) -> None:
    assert page.count("not a release") >= 9
    for words in (
        "In short",
        "At ε = 1, in the typical group",
        "2 columns at ε = 1 each cost a respondent 2 in total",
        "Static columns (region) stay in clear",
        "12 of 1,000 respondents",
        "Seed: 7",
        "study: smoking",
        "Under central, naive local the guess is the same as without a report",
    ):
        assert words in page, words


def test_the_report_begins_with_a_choice_and_its_figure(page: str) -> None:
    short = page[page.index('id="short"') :]
    assert short.index("Suggested choice: ") < short.index("<svg") < short.index("What to choose")
    assert short[: short.index("What to choose")].count("<svg") == 1


ENGLISH_WORDS = re.compile(
    r"\b(the|of|and|with|under|from|to|is|are|by|each|error|true|people|groups?|reports?|runs?|model|columns?|none|"
    r"shuffle|table|naive|expected|measured|original|Alpha|smoking habit)\b"
)
NOT_SAID = re.compile(
    r"<style.*?</style>|<pre.*?</pre>|discreet (?:local|query|table)(?: estimate --clear)?|tables/|[a-z]+\.parquet",
    re.DOTALL,
)


def test_a_french_report_is_french_throughout(folder: Path) -> None:
    """Sentences, figures and their words, tables and numbers; names that a card or a study gives stay as they are."""
    about = json.loads((folder / "study.json").read_text("utf-8"))
    about["labels"] = {"smoking": "smoking habit", "height": "Height"}
    about["queries"][0]["label"] = "smoking habit: daily"
    about["french"] = {
        "groups": {"Alpha": "Alfa"},
        "labels": {"smoking": "Tabagisme", "height": "Taille"},
        "categories": {"smoking": {"1": "Tous les jours"}},
    }
    about["config"]["title"] = "Étude"
    (folder / "study.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "study.yaml").write_text("study: x\n", encoding="utf-8")
    with speaking("fr"):
        page = write_report(folder).read_text(encoding="utf-8")
    assert '<html lang="fr">' in page
    text = re.sub(r"<[^>]*>", " ", NOT_SAID.sub(" ", page)) + " ".join(re.findall('aria-label="([^"]*)"', page))
    assert set(ENGLISH_WORDS.findall(text)) == set()
    assert not re.search(r"\d\.\d+[^.\d]", re.sub(r"Versions[^<]*", "", text))
    for words in ("Choix suggéré", "En bref", "Tabagisme", "Tous les jours", "Alfa", "Taille", "pas une diffusion"):
        assert words in text, words
    english = write_report(folder).read_text(encoding="utf-8")
    assert "smoking habit" in english
    assert "Alfa" not in english


def test_figures_are_written_as_svg_and_are_repeatable(reported: _Reported) -> None:
    folder = reported.folder
    files = sorted((folder / "figures").iterdir())
    assert {file.suffix for file in files} == {".svg"}
    assert len(files) == 9
    before = {file.name: file.read_bytes() for file in files}
    report = (folder / "report.html").read_bytes()
    write_report(folder)
    assert {file.name: file.read_bytes() for file in files} == before
    assert (folder / "report.html").read_bytes() == report
    for file in files:
        text = "".join(ElementTree.parse(file).getroot().itertext())
        assert "not a release" in text
        assert "ε" in text


def test_the_words_of_every_figure_stay_on_it(reported: _Reported) -> None:
    for file in (reported.folder / "figures").iterdir():
        assert list(beyond_edges(file.read_text(encoding="utf-8"))) == []


@pytest.mark.usefixtures("a_font")
def test_png_files_are_written_on_request(folder: Path) -> None:
    write_report(folder, png=True)
    files = {file.name: file.read_bytes() for file in (folder / "figures").iterdir()}
    assert len(files) == 18
    drawings = [content for name, content in files.items() if name.endswith(".png")]
    assert len(drawings) == 9
    assert all(content.startswith(b"\x89PNG") for content in drawings)
    write_report(folder, png=True)
    assert {file.name: file.read_bytes() for file in (folder / "figures").iterdir()} == files


def test_models_and_recipes_stand_in_rows_of_their_own(reported: _Reported) -> None:
    for name in ("estimates-smoking-1", "errors-smoking-1"):
        assert {"Models", "Recipes kept for comparison"} <= _words(reported.folder / "figures" / f"{name}.svg")


def test_a_row_of_panels_has_few_series() -> None:
    series = [Series("local", f"m{place}") for place in range(7)]
    assert [(title, len(its)) for title, its in facet(series)] == [("Models, 1 of 2", 3), ("Models, 2 of 2", 4)]
    assert facet(series[:5]) == [("", series[:5])]
    naive = Series("naive", "local")
    assert facet([*series[:2], naive]) == [("Models", series[:2]), ("Recipes kept for comparison", [naive])]


def test_no_two_series_differ_in_colour_alone() -> None:
    """Five models with two mechanisms each, three recipes, a biased randomiser, and a model that nobody knows."""
    models = ("central", "table", "shuffle", "local", "hybrid", "new")
    series = [Series(model, mechanism) for model in models for mechanism in ("a", "b")]
    series += [Series("naive", mechanism) for mechanism in ("central", "local", "shuffle")]
    honest = [look_of(one, series) for one in series[:10]]
    assert len({(look.shape, look.filled) for look in honest}) == 10
    looks = [look_of(one, [*series, Series("local", "clip")]) for one in (*series, Series("local", "clip"))]
    assert looks[-1].colour == looks[-2].colour
    assert len(set(looks[:-1])) == len(looks) - 1
    assert len({numbered_look(place) for place in range(12)}) == 12


def test_correlations_name_columns_by_label_and_models_without_any(reported: _Reported, folder: Path) -> None:
    """Nothing links two answers that were shuffled; studies of earlier versions know columns by name only."""
    about = json.loads((folder / "study.json").read_text("utf-8"))
    about["labels"] = {"smoking": "Type of smoker", "height": HOSTILE}
    about["variants"] += [{"model": "shuffle", "variant": "shuffle single-message"}]
    (folder / "study.json").write_text(json.dumps(about), encoding="utf-8")
    chosen = [one for one in quality_charts(read_findings(folder)) if one.name.startswith("correlations")]
    write_charts(chosen, folder / "figures")
    for one in chosen:
        words = _words(folder / "figures" / f"{one.name}.svg")
        assert {"1 Type of smoker", "shuffle: none", "local, corrected"} <= words
        assert "1 smoking" in _words(reported.folder / "figures" / f"{one.name}.svg")


def _words(figure: Path) -> set[str]:
    return {text.strip() for text in ElementTree.parse(figure).getroot().itertext()}


def test_progress_names_each_figure(reported: _Reported) -> None:
    assert reported.progress[:2] == ["overview", "estimates-smoking-1"]
    assert len(reported.progress) == 9


def test_other_data_another_verdict(folder: Path) -> None:
    before = verdict_lines(folder)
    file = folder / "theory.parquet"
    theory = pq.read_table(file)
    larger = pa.array(theory["expected_error"].to_numpy() * 200)
    place = theory.column_names.index("expected_error")
    pq.write_table(theory.set_column(place, "expected_error", larger), file)
    after = verdict_lines(folder)
    assert before != after
    assert any("choose none of them" in line for line in after)


def test_a_study_without_quality_or_linkage_still_has_a_report(folder: Path) -> None:
    for name in ("quality", "shapes", "correlations", "linkage", "theory"):
        (folder / f"{name}.parquet").unlink()
    page = write_report(folder).read_text(encoding="utf-8")
    assert "The study measured no quality." in page
    assert "The study tried no linkage attack." in page


def test_a_folder_without_a_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathInvalid, match="holds no finished study"):
        write_report(tmp_path)


def test_a_png_without_its_extra_is_refused_before_anything_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ExtraMissing, match=r"discreet\[png\]"):
        write_report(folder, png=True)
    with pytest.raises(ExtraMissing):
        reproduce_report(folder / "new", png=True)
    assert not (folder / "new").exists()
    assert write_report(folder).is_file()


def test_a_recipe_keeps_its_own_truth_and_turns_of_mechanisms_are_one_series(folder: Path) -> None:
    file = folder / "results.parquet"
    rows = pq.read_table(file).to_pylist()
    for row in rows:
        if row["model"] == "naive":
            row["truth"] *= 2
        if row["model"] == "local" and row["epsilon"] == 2.0:
            row["mechanism"] = "subset"
    pq.write_table(pa.Table.from_pylist(rows), file)
    asked = read_findings(folder).asked[0]
    assert asked.truth.tolist() == TRUTHS["count"]
    assert asked.panels[Series("naive", "local"), 1.0].truth.tolist() == [2 * value for value in TRUTHS["count"]]
    local = Series("local", "grr or subset")
    assert local in asked.series
    assert asked.label_of(local) == "local"


def test_markup_escapes_all_but_its_own() -> None:
    assert element("p", "<b>", element("i", "&"), title='"') == '<p title="&quot;">&lt;b&gt;<i>&amp;</i></p>'
    assert "&lt;x&gt;" in table(["<x>"], [["a", "b"]])
    assert isinstance(element("p"), Markup)


def test_small_tools_of_figures() -> None:
    assert slug("mean of height") == "mean-of-height"
    told = [tell_amount(value) for value in (25_000, -25_000, 0.00001, -3.5, math.nan)]
    assert told == ["25,000", "−25,000", "0.00001", "−3.5", "–"]


def test_variants_that_take_turns_are_one_series_each_and_are_covered_apart(folder: Path) -> None:
    """An automatic choice beside a fixed one, and a biased recipe that must not spoil the coverage of the others."""
    file = folder / "results.parquet"
    rows = pq.read_table(file).to_pylist()
    local = [row for row in rows if row["model"] == "local"]
    for row in local:
        row["mechanism"] = f"{'grr' if row['epsilon'] == 2.0 else 'subset'} (automatic)"
    clipped = [{**row, "mechanism": "clip", "low": row["truth"] + 1, "high": row["truth"] + 2} for row in local]
    pq.write_table(pa.Table.from_pylist([*rows, *clipped]), file)
    about = json.loads((folder / "study.json").read_text("utf-8"))
    about["config"]["models"] = [{"model": "local"}, {"model": "local"}]
    (folder / "study.json").write_text(json.dumps(about), encoding="utf-8")
    findings = read_findings(folder)
    automatic = Series("local", "grr or subset (automatic)")
    assert {one for one in findings.asked[0].series if one.family == "local"} == {automatic, Series("local", "clip")}
    assert findings.asked[0].label_of(automatic) == "local (automatic)"
    assert findings.coverage[Series("local", "clip"), 1.0][0] == 0
    held, number = findings.coverage[Series("local", "automatic"), 1.0]
    assert 0 < held <= number


def test_queries_with_names_alike_have_files_of_their_own(folder: Path) -> None:
    findings = read_findings(folder)
    first = findings.asked[0]
    alike = [replace(first, name=name) for name in ("town=é", "town=à", "town=1", "town=-1")]
    names = anchors(replace(findings, asked=tuple(alike)))
    assert list(names.values()) == ["town", "town-2", "town-1", "town-1-2"]


def test_groups_without_an_answer_are_drawn_without_a_warning(folder: Path) -> None:
    """A protocol that is too small for every group gives no estimate at all."""
    for name, columns in (("results", ("estimate", "low", "high")), ("theory", ("expected_error",))):
        rows = pq.read_table(folder / f"{name}.parquet").to_pylist()
        for row in rows:
            if row["model"] == "local":
                row.update(dict.fromkeys(columns, math.nan))
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    assert write_report(folder).is_file()
