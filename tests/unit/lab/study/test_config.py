"""A study's file is read strictly: defaults, variants, every problem with its line, nothing passed over."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from discreet.cards.schema import walk_keys
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES
from discreet.collect.randomisers.number_choice import NUMBER_RANDOMISERS as NUMBERS
from discreet.errors import ParameterInvalid, PathInvalid, StudyInvalid
from discreet.guarantees.types import Neighbours
from discreet.lab.study.study_file.study_config import (
    CATEGORY_RANDOMISERS,
    DEFAULT_MODELS,
    DEFAULT_SHARES,
    METRICS,
    NUMBER_RANDOMISERS,
    FileData,
    ModelChoice,
    SampleData,
    StudyConfig,
    WorkspaceData,
)
from discreet.lab.study.study_file.study_reader import parse_study, read_study
from discreet.lab.study.study_file.study_schema import STUDY
from discreet.lab.study.study_file.template import sample_template

LEAST = "study: s\nsample: {}\nepsilon: [1]\nepsilon_is: total\n"


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(StudyInvalid) as refused:
        parse_study(text, file="s.yaml")
    return refused.value.problems


def test_defaults() -> None:
    config = parse_study(LEAST, file="s.yaml")
    assert config.title == "s"
    assert config.data == SampleData(113_290, 1)
    assert config.models == DEFAULT_MODELS
    assert (config.runs, config.seed, config.level, config.delta) == (5, 1, Decimal("0.95"), Decimal("0.000001"))
    assert config.neighbours is Neighbours.ADD_REMOVE
    assert config.metrics == METRICS
    assert config.columns is None
    assert config.queries.categories
    assert config.queries.means


def test_the_data_is_named_in_one_of_three_ways() -> None:
    file = LEAST.replace("sample: {}", "dataset: {card: c.yaml, file: f.csv}")
    assert parse_study(file, file="s.yaml").data == FileData("c.yaml", "f.csv")
    kept = LEAST.replace("sample: {}", "dataset: {workspace: w, name: n}")
    assert parse_study(kept, file="s.yaml").data == WorkspaceData("w", "n")
    for wrong in ("", "sample: {}\ndataset: {card: c, file: f}\n", "dataset: {card: c, name: n}\n"):
        assert problems(LEAST.replace("sample: {}\n", wrong))
    assert parse_study(LEAST.replace("{}", "{seed: 0}"), file="s.yaml").data == SampleData(113_290, 0)


def test_lists_make_variants() -> None:
    text = LEAST + (
        "models:\n- {model: local, numbers: [duchi, piecewise], missing: [public, category]}\n"
        "- {model: shuffle, mechanism: [single-message, vector-sum]}\n- naive\n"
    )
    models = parse_study(text, file="s.yaml").models
    assert [(one.numbers, one.missing) for one in models[:4]] == [
        ("duchi", "public"),
        ("duchi", "category"),
        ("piecewise", "public"),
        ("piecewise", "category"),
    ]
    assert [one.mechanism for one in models[4:]] == ["single-message", "vector-sum", "central", "local", "shuffle"]
    tables = parse_study(
        LEAST + "noise: [laplace, gaussian]\nmodels: [{model: table, calibrate: [none, card]}]\n", file="s"
    )
    assert [(one.mechanism, one.calibrate) for one in tables.models] == [
        ("laplace", "none"),
        ("gaussian", "none"),
        ("laplace", "card"),
        ("gaussian", "card"),
    ]
    assert models[0].categories == "automatic"
    assert models[4].categories is None


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("epslion: 3\n", 5, "unknown key 'epslion' in the study; did you mean 'epsilon'?"),
        ("queries: {mean: all}\n", 5, "unknown key 'mean' in queries; did you mean 'means'?"),
        ("models:\n- central\n- shufle\n", 7, "did you mean 'shuffle'?"),
        ("models: [{model: local, numbers: duchy}]\n", 5, "did you mean 'duchi'?"),
        ("models: [{model: central, numbers: duchi}]\n", 5, "'numbers' does not go with model central"),
        ("models: [central, central]\n", 5, "listed twice"),
        ("models: []\n", 5, "models must be a list"),
        ("models: [{model: local, numbers: []}]\n", 5, "must not be empty"),
        ("runs: 0\n", 5, "whole number from 1"),
        ("runs: 1.5\n", 5, "whole number from 1"),
        ("level: 1\n", 5, "must be below 1"),
        ("delta: 0\n", 5, "must be positive"),
        ("seed: -1\n", 5, "whole number from 0"),
        ("seed: DECIDE\n", 5, "still to be decided"),
        ("neighbours: swap\n", 5, "add-remove or replace-one"),
        ("metrics: [coverge]\n", 5, "did you mean 'coverage'?"),
        ("strata: province\n", 5, "strata must be a list"),
        ("static: [a, a]\n", 5, "must name nothing twice"),
        ("weights: {multiplier: 0}\n", 5, "must be positive"),
        ("queries:\n  named:\n  - {column: a}\n", 7, "{column, category} or {mean: column} or {sum: column}"),
        ("queries:\n  custom:\n  - {name: a b, where: {c: [1]}}\n", 7, "letters, digits and _"),
        ("queries:\n  custom:\n  - {name: a, where: {}}\n", 7, "where must be a mapping"),
        ("queries:\n  custom:\n  - {name: a, where: {b: []}}\n", 7, "at least one code"),
        ("queries:\n  custom:\n  - {name: a}\n", 7, "key 'where' is missing"),
        ("queries:\n  custom:\n  - {name: a, where: {b: [1]}, mean: c, sum: c}\n", 7, "a mean or a sum, not both"),
        ("queries: {sums: some}\n", 5, "sums must be all or none"),
        ("noise: [laplase]\n", 5, "did you mean 'laplace'?"),
        ("noise: gaussian\nmodels: [local]\n", 6, "noise is for models central and table"),
        ("models: [{model: central, noise: laplace, mechanism: laplace}]\n", 5, "are the same thing"),
        ("models: [{model: local, noise: laplace}]\n", 5, "'noise' does not go with model local"),
        ("models: [{model: table, calibrate: totals}]\n", 5, "calibrate of table must be none or card"),
        ("models: [{model: central, calibrate: card}]\n", 5, "'calibrate' does not go with model central"),
        ("models: [{model: hybrid, share: 1}]\n", 5, "must be below 1"),
        ("models: [{model: hybrid, share: [0.1, 0.10]}]\n", 5, "different numbers"),
        ("models: [{model: hybrid, selection: some}]\n", 5, "selection must be none"),
        ("models: [{model: hybrid, selection: {column: a, times: 2}}]\n", 5, "{column, codes, times} or"),
        ("models: [{model: hybrid, selection: {column: a, codes: [1], times: 0}}]\n", 5, "must be positive"),
        ("models: [{model: hybrid, missing: category}]\n", 5, "'missing' does not go with model hybrid"),
        ("rows: []\n", 5, "different numbers of respondents"),
        ("rows: [100, 100]\n", 5, "different numbers of respondents"),
        ("rows: [0.5]\n", 5, "rows must be a whole number"),
    ],
)
def test_problems_are_told_with_their_lines(more: str, line: int, words: str) -> None:
    found = problems(LEAST + more)
    assert found[0].startswith(f"s.yaml:{line}: ")
    assert words in found[0]


@pytest.mark.parametrize("epsilon", ["[]", "[1, 1.0]", "[0]", "[-1]", "[nan]", "[1e-10]", "[51]"])
def test_epsilons_are_exact_positive_and_different(epsilon: str) -> None:
    assert problems(LEAST.replace("[1]", epsilon))[0].startswith("s.yaml:3: ")


def test_all_problems_are_told_at_once() -> None:
    found = problems("study: s\nsample: {rows: 10}\nepsilon: [x]\nepsilon_is: both\nwhat: 1\n")
    assert [text.split(":")[1] for text in found] == ["2", "3", "4", "5"]


def test_a_study_says_what_is_missing() -> None:
    words = " ".join(problems("title: t\nsample: {}\n"))
    assert all(f"key '{key}' is missing" in words for key in ("study", "epsilon", "epsilon_is"))


def test_built_in_python_it_is_checked_too() -> None:
    given = {"study": "s", "title": "s", "data": SampleData(), "epsilon_is": "total"}
    with pytest.raises(ParameterInvalid):
        StudyConfig(**given, epsilon=())  # type: ignore[arg-type]
    with pytest.raises(ParameterInvalid):
        StudyConfig(**given, epsilon=(Decimal(1),), runs=0)  # type: ignore[arg-type]
    with pytest.raises(ParameterInvalid):
        StudyConfig(**given, epsilon=(Decimal(1),), models=())  # type: ignore[arg-type]
    with pytest.raises(ParameterInvalid):
        ModelChoice("trusted")


def test_files(tmp_path: Path) -> None:
    with pytest.raises(PathInvalid):
        read_study(tmp_path / "absent.yaml")
    (tmp_path / "s.yaml").write_bytes(b"study: \xff")
    with pytest.raises(StudyInvalid, match="UTF-8"):
        read_study(tmp_path / "s.yaml")
    (tmp_path / "s.yaml").write_text("study: &a s", encoding="utf-8")
    with pytest.raises(StudyInvalid, match="anchors"):
        read_study(tmp_path / "s.yaml")


def test_the_hash_knows_settings_and_data_but_not_comments() -> None:
    one = parse_study(LEAST, file="s.yaml")
    assert one.hash("") == parse_study(f"# a comment\n{LEAST}runs: 5\n", file="t.yaml").hash("")
    assert one.hash("") != parse_study(f"{LEAST}runs: 4\n", file="s.yaml").hash("")
    assert one.hash("") != one.hash("other rows")


def test_a_study_without_later_keys_keeps_its_hash() -> None:
    """So that a folder finished by an earlier version is still complete, and one begun is gone on with."""
    text = LEAST + "models: [central, local, naive, {model: shuffle, mechanism: [single-message, multi-message]}]\n"
    text += (
        "queries:\n  named: [{mean: a}, {column: b, category: 1}]\n  custom: [{name: c, where: {b: [1]}, mean: a}]\n"
    )
    assert parse_study(text, file="s.yaml").hash("").startswith("bfe906bcb770befd")


def test_noise_hybrids_and_sums_make_variants() -> None:
    text = LEAST + (
        "noise: [laplace, gaussian]\nrows: [500, 200]\n"
        "models: [central, hybrid, {model: hybrid, share: 0, selection: [none, {column: a, above: 2.5, times: 3}]}]\n"
        "queries: {sums: all, named: [{sum: a}], custom: [{name: c, where: {b: [1]}, sum: a}]}\n"
    )
    config = parse_study(text, file="s.yaml")
    assert [one.mechanism for one in config.models[:2]] == ["laplace", "gaussian"]
    assert [one.share for one in config.models[2:]] == [*DEFAULT_SHARES, Decimal(0), Decimal(0)]
    assert [one.selection and one.selection.words for one in config.models[5:]] == [None, "a > 2.5, 3 times as often"]
    assert {one.relation for one in config.models[2:]} == {"samples"}
    assert config.rows == (200, 500)
    assert config.queries.sums
    assert (config.queries.named[0].statistic, config.queries.custom[0].statistic) == ("sum", "sum")
    assert parse_study(LEAST + "noise: gaussian\n", file="s.yaml").models[0].mechanism == "gaussian"
    assert config.hash("") != parse_study(text.replace("500", "600"), file="s.yaml").hash("")


def test_the_template_shows_every_key() -> None:
    text = sample_template("study.yaml")
    for path, key in walk_keys(STUDY.fields):
        assert key.name in text, path
    config = parse_study(text, file="study.yaml")
    assert (config.runs, config.epsilon_is, config.rows) == (3, "total", ())
    shown = text.replace("# noise:", "noise:").replace("# rows:", "rows:")
    more = parse_study(shown, file="study.yaml")
    assert [one.mechanism for one in more.models[:2]] == ["laplace", "gaussian"]
    assert more.rows == (2000, 10_000, 50_000)


def test_the_randomisers_are_those_that_there_are() -> None:
    assert set(CATEGORY_RANDOMISERS) == set(FREQUENCY_ORACLES)
    assert set(NUMBER_RANDOMISERS) == set(NUMBERS)
