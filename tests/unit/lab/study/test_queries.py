"""A study fits its card: what is protected, what is asked, what custom queries mean, and what does not fit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.cards.card import parse_card
from discreet.errors import PathInvalid, Refused, StudyInvalid
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.models.truth import counted, mean_values
from discreet.lab.study.study_file.queries import StudyDesign, design_study
from discreet.lab.study.study_file.study_reader import parse_study, read_study
from discreet.lab.study.study_file.template import sample_template, template_for
from discreet.lab.study.study_rows import digest_data, make_frame, make_raw_rows, prepare_rows, study_card
from tests.places import DOCS
from tests.unit.lab.study.honest import CARD, PEOPLE, STUDY, rows, write

CUSTOM = """\
queries:
  categories: none
  means: none
  named: [{column: smokes, category: 1}, {mean: age}]
  custom:
  - {name: north_smokers, label: Smokers of the north, where: {smokes: [1], town: [N]}}
  - {name: age_of_women, mean: age, where: {sex: [2]}}
"""


def design(more: str = "", text: str = STUDY) -> StudyDesign:
    return design_study(parse_study(text + more, file="s.yaml"), parse_card(CARD, file="clinic.yaml"))


def frame_of(folder: Path, study: str, data: str | None = None) -> StudyFrame:
    config = read_study(write(folder, study, data))
    scratch = folder / "scratch"
    scratch.mkdir()
    prepared = prepare_rows(config, folder, scratch)
    return make_frame(prepared, config, design_study(config, prepared.card))


def test_all_that_can_be_asked_is_asked() -> None:
    found = design()
    assert found.columns == ("smokes", "age")
    assert found.every_static == ("town", "sex")
    assert [query.name for query in found.queries] == ["smokes=1", "smokes=2", "mean of age"]
    assert found.queries[0].label == "smokes: yes"
    assert found.figures == ("smokes=1", "smokes=2", "mean of age")


def test_columns_may_be_named_and_need_a_query() -> None:
    assert design("columns: [age]\n").columns == ("age",)
    assert design("columns: [age, smokes]\nqueries: {categories: none}\n").columns == ("age",)
    with pytest.raises(StudyInvalid, match="asks nothing"):
        design("columns: [smokes]\nqueries: {categories: none}\n")


def test_custom_queries_are_questions_of_their_own() -> None:
    found = design(CUSTOM)
    assert found.columns == ("smokes", "age", "north_smokers", "age_of_women")
    assert [query.statistic for query in found.queries] == ["count", "mean", "count", "mean"]
    assert found.figures == ("smokes=1", "mean of age", "north_smokers=yes", "mean of age_of_women")
    assert found.queries[2].label == "Smokers of the north"
    assert design(CUSTOM + "figures: [north_smokers, smokes=1]\n").figures == ("north_smokers=yes", "smokes=1")


def test_custom_queries_mean_what_they_say(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, STUDY.replace("strata: [town]", "strata: []").replace("[sex]", "[sex, town]") + CUSTOM)
    smokers = sum(5 + p % 7 for p in range(1, PEOPLE + 1) if p % 2 == 0 and p % 3)
    assert counted(frame, frame.column("north_smokers"))[0, 0] * frame.weight_step == pytest.approx(smokers)
    women = [(5 + p % 7, 20 + p % 50) for p in range(1, PEOPLE + 1) if p // 2 % 2 == 1 and p % 10]
    mean = sum(weight * age for weight, age in women) / sum(weight for weight, _ in women)
    assert mean_values(frame, frame.column("age_of_women"))[0] == pytest.approx(mean)
    assert set(frame.columns) == {"sex", "town", "smokes", "age", "north_smokers", "age_of_women"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("columns: [smoks]\n", "did you mean 'smokes'?"),
        ("columns: [note]\n", "must be a category, or a number with bounds"),
        ("columns: [weight]\n", "not the weight"),
        ("columns: [patient]\n", "must be"),
        ("columns: [sex]\n", "cannot be both protected and left as it is"),
        ("queries: {named: [{column: sex, category: 1}]}\n", "'sex' is not protected"),
        (
            "queries: {named: [{column: smokes, category: 9}]}\n",
            "code '9' is not in the categories of 'smokes'",
        ),
        ("queries: {named: [{mean: smokes}]}\n", "asked for a category"),
        ("queries: {named: [{column: age, category: 9}]}\n", "asked for a mean"),
        ("queries: {custom: [{name: age, where: {sex: [1]}}]}\n", "'age' is taken"),
        ("queries: {custom: [{name: x, where: {age: [1]}}]}\n", "must be a category column"),
        ("queries: {custom: [{name: x, mean: age, where: {smokes: [1]}}]}\n", "'smokes' is not static"),
        ("queries: {custom: [{name: x, mean: smokes, where: {sex: [1]}}]}\n", "needs a number with bounds"),
        ("figures: [smokes=3]\n", "did you mean 'smokes="),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(more: str, words: str) -> None:
    with pytest.raises(StudyInvalid) as refused:
        design(more)
    assert refused.value.problems[0].startswith("s.yaml:10: ")
    assert words in refused.value.problems[0]


def test_strata_are_categories() -> None:
    with pytest.raises(StudyInvalid, match=r"s.yaml:3: column 'age' must be a category column"):
        design(text=STUDY.replace("strata: [town]", "strata: [age]"))


def test_the_frame_does_not_depend_on_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    shuffled = [int(p) for p in np.random.default_rng(3).permutation(np.arange(1, PEOPLE + 1))]
    one = frame_of(tmp_path / "a", STUDY)
    other = frame_of(tmp_path / "b", STUDY, rows(shuffled))
    assert one.size == PEOPLE
    for name, answers in one.columns.items():
        assert np.array_equal(answers.positions, other.column(name).positions)
    assert np.array_equal(one.weights, other.weights)


def test_the_multiplier_scales_counts(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, STUDY + "weights: {multiplier: 2.5}\n")
    assert frame.weight_step == float(Fraction(5, 2) * Fraction("0.01"))


def test_the_digest_follows_file_and_card(tmp_path: Path) -> None:
    config = read_study(write(tmp_path))
    first = digest_data(config, tmp_path)
    assert first == digest_data(config, tmp_path)
    (tmp_path / "clinic.csv").write_text(rows(range(1, 100)), encoding="utf-8")
    assert digest_data(config, tmp_path) != first
    (tmp_path / "clinic.csv").unlink()
    with pytest.raises(PathInvalid):
        digest_data(config, tmp_path)


def test_prepared_rows_of_a_workspace_have_no_file(tmp_path: Path) -> None:
    from discreet.session import Session

    write(tmp_path)
    with Session.create(tmp_path / "w") as session:
        session.add(tmp_path / "clinic.csv", card=tmp_path / "clinic.yaml", confirm=lambda _: True)
    text = STUDY.replace("{card: clinic.yaml, file: clinic.csv}", "{workspace: w, name: clinic}")
    config = read_study(write(tmp_path, text))
    (tmp_path / "scratch").mkdir()
    prepared = prepare_rows(config, tmp_path, tmp_path / "scratch")
    found = design_study(config, prepared.card)
    assert make_frame(prepared, config, found).size == PEOPLE
    assert digest_data(config, tmp_path)
    with pytest.raises(Refused, match="Name the file"):
        make_raw_rows(prepared, config, found)


def test_the_example_of_the_guide_fits_the_sample() -> None:
    page = (DOCS / "study.md").read_text(encoding="utf-8")
    config = parse_study(page.split("```yaml\n")[1].split("```")[0], file="study.md")
    found = design_study(config, study_card(config, Path()))
    assert found.figures == ("smoking=1", "mean of height", "sum of height", "smokers_in_poor_health=yes")


def test_templates_fit_their_data() -> None:
    sample = parse_study(sample_template("s.yaml"), file="s.yaml")
    assert len(design_study(sample, study_card(sample, Path())).columns) == 6
    card = parse_card(CARD, file="clinic.yaml")
    text = template_for(card, data="{card: clinic.yaml, file: clinic.csv}", file="s.yaml")
    found = design_study(parse_study(text, file="s.yaml"), card)
    assert found.strata == ("town",)
    assert found.columns == ("sex", "smokes", "age")


_MONO = CARD.replace("  note: {kind: text}\n", "  note: {kind: category, categories: {n: {en: N, fr: N}}}\n")


def test_a_column_of_one_value_is_not_protected(tmp_path: Path) -> None:
    card = parse_card(_MONO, file="clinic.yaml")
    assert design_study(parse_study(STUDY, file="s.yaml"), card).columns == ("smokes", "age")
    with pytest.raises(StudyInvalid, match="'note' can take one value only"):
        design_study(parse_study(STUDY + "columns: [note, age]\n", file="s.yaml"), card)
    text = template_for(card, data="{card: c, file: f}", file="s.yaml")
    assert "note" not in design_study(parse_study(text, file="s.yaml"), card).columns


def test_groups_with_one_label_are_told_apart_by_their_codes(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "clinic.yaml").write_text(CARD.replace("en: South", "en: North"), encoding="utf-8")
    config = read_study(tmp_path / "study.yaml")
    (tmp_path / "scratch").mkdir()
    prepared = prepare_rows(config, tmp_path, tmp_path / "scratch")
    frame = make_frame(prepared, config, design_study(config, prepared.card))
    assert frame.groups == ("North (N)", "North (S)")
