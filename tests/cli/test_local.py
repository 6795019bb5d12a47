"""A collection from card to estimates, as its survey manager runs it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from discreet.collect.reporting.manifest_reader import read_manifest
from discreet.collect.reporting.signing import create_keys, sign_manifest
from tests.cli.clinic import CARD, ROWS, Run

MANIFEST = """\
survey: clinic
version: 1
title: {en: Clinic, fr: Clinique}
epsilon: 4
mode: split
groups:
  town: {categories: {N: North, S: South}}
questions:
  smokes: {kind: category, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}}
  age: {kind: integer, bounds: [0, 110], missing: public}
"""
WEIGHED = CARD.replace(
    "columns:\n", "weight: {column: weight, cap: 50}\ncolumns:\n  weight: {kind: number, bounds: [0, 50]}\n"
)


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A folder with a signed manifest and answers."""
    (tmp_path / "m.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "answers.csv").write_text(ROWS, encoding="utf-8")
    create_keys(tmp_path / "survey.key")
    text = sign_manifest(read_manifest(tmp_path / "m.yaml"), key=tmp_path / "survey.key")
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_draft_from_a_card_can_be_signed(tmp_path: Path, run: Run) -> None:
    (tmp_path / "card.yaml").write_text(CARD, encoding="utf-8")
    run("local", "init", "card.yaml", "--epsilon", "2", "--groups", "town", "--out", "m.yaml")
    run("local", "keys", "--out", "k")
    shown = run("local", "sign", "m.yaml", "--out", "m.json", "--key", "k", "--format", "json").json()
    assert [question["name"] for question in shown["questions"]] == ["smokes", "age"]
    assert shown["guarantee"] == "local DP, epsilon = 2 per respondent"
    assert "survey: clinic" in run("local", "init", "card.yaml", "--epsilon", "2", "--columns", "age").out
    assert shown.get("weight") is None
    (tmp_path / "a b").mkdir()
    told = run("local", "init", "card.yaml", "--epsilon", "2", "--out", "a b/m.yaml").err
    assert "discreet local sign 'a b/m.yaml' --out 'a b/m.json'" in told
    (tmp_path / "weighed.yaml").write_text(WEIGHED, encoding="utf-8")
    run("local", "init", "weighed.yaml", "--epsilon", "2", "--out", "w.yaml")
    weighed = run("local", "sign", "w.yaml", "--out", "w.json", "--key", "k", "--format", "json").json()
    assert (weighed["weight"]["cap"], weighed["weight"]["classes"]) == ("50", 8)
    assert "in 8 classes below each cap" in run("local", "show", "w.json").out
    assert "cannot be a group" in run("local", "init", "card.yaml", "--epsilon", "2", "--groups", "smokes", code=2).err


def test_what_was_signed_is_not_written_over(signed: Path, run: Run) -> None:
    before = (signed / "m.json").read_bytes()
    (signed / "m.yaml").write_text(MANIFEST.replace("epsilon: 4", "epsilon: 40"), encoding="utf-8")
    assert "'m.json' exists" in run("local", "sign", "m.yaml", "--out", "m.json", code=2).err
    assert (signed / "m.json").read_bytes() == before


def test_no_label_or_group_of_an_estimate_is_a_formula(signed: Path, run: Run) -> None:
    text = MANIFEST.replace("{N: North", '{"=N": North').replace('en: "yes"', 'en: "=1+1"')
    (signed / "f.yaml").write_text(text, encoding="utf-8")
    run("local", "sign", "f.yaml", "--out", "f.json")
    (signed / "f.csv").write_text("town,smokes,age\n=N,1,30\nS,2,40\n", encoding="utf-8")
    run("local", "encode", "f.json", "f.csv")
    told = run("local", "estimate", "f.json", "reports.jsonl", "--by", "town", "--format", "csv").out
    cells = [cell for row in csv.reader(io.StringIO(told)) for cell in row]
    assert {"'=N", "'=1+1"} <= set(cells)
    assert not [cell for cell in cells if cell.startswith("=")]


def test_show_says_what_was_verified(signed: Path, run: Run) -> None:
    assert "whose key that is was not verified" in run("local", "show", "m.json").err
    trusted = run("local", "show", "m.json", "--trust", "survey.key.pub")
    assert "holds under the trusted key" in trusted.out
    assert not trusted.err
    run("local", "keys", "--out", "other.key")
    assert "not with the key" in run("local", "show", "m.json", "--trust", "other.key.pub", code=1).err


def test_encode_and_estimate(signed: Path, run: Run) -> None:
    told = run("local", "encode", "m.json", "answers.csv", "--trust", "survey.key.pub").out
    assert told.startswith("Wrote 3,000 reports to 'reports.jsonl': local DP, epsilon = 4 per respondent.")
    words = ("local", "estimate", "m.json", "reports.jsonl", "--by", "town")
    table = run(*words, "--lang", "fr").out
    for word in ("garantie", "locale, epsilon = 4 par répondant", "oui", "intervalle à 95\u00a0%", "Empoisonnement"):
        assert word in table
    found = run(*words, "--format", "json").json()
    assert (found["accepted"], found["refused"], found["survey"], found["version"]) == (3000, 0, "clinic", 1)
    assert len(found["estimates"]) == 2 * 3 + 2
    mean = next(each for each in found["estimates"] if each["statistic"] == "mean")
    assert mean["low"] < mean["estimate"] < mean["high"]
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").out)))
    assert len(rows) == 8
    assert {row["guarantee"] for row in rows} == {"local DP, epsilon = 4 per respondent"}
    assert {row["manifest"] for row in rows} == {found["manifest"]}


def test_answers_are_encoded_once_and_only_under_a_signature(signed: Path, run: Run) -> None:
    assert "discreet local sign m.yaml" in run("local", "encode", "m.yaml", "answers.csv", code=1).err
    run("local", "encode", "m.json", "answers.csv")
    assert "encoded before" in run("local", "encode", "m.json", "answers.csv", "--out", "b.jsonl", code=1).err
    assert not (signed / "b.jsonl").exists()


def test_an_altered_manifest_collects_nothing(signed: Path, run: Run) -> None:
    file = signed / "m.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    found["manifest"]["epsilon"] = "40"
    file.write_text(json.dumps(found), encoding="utf-8")
    assert "altered after it was signed" in run("local", "encode", "m.json", "answers.csv", code=1).err
    assert not (signed / "reports.jsonl").exists()


def test_refused_lines_are_counted_by_reason(signed: Path, run: Run) -> None:
    run("local", "encode", "m.json", "answers.csv")
    file = signed / "reports.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + text.splitlines()[0] + "\nnonsense\n", encoding="utf-8")
    found = run("local", "estimate", "m.json", "reports.jsonl", "--format", "json").json()
    assert found["refused_by_reason"] == {"not JSON": 1, "copy of a line already taken": 1}
    assert (found["accepted"], found["refused"]) == (3000, 2)
    assert "refused: not JSON" in run("local", "estimate", "m.json", "reports.jsonl").out


@pytest.mark.parametrize("text", ["", "\n\n", "survey,version\n"])
def test_a_file_without_reports_is_refused_with_the_next_step(text: str, signed: Path, run: Run) -> None:
    (signed / "reports.jsonl").write_text(text, encoding="utf-8")
    refused = run("local", "estimate", "m.json", "reports.jsonl", "--by", "town", code=1)
    assert "FileRefused: 'reports.jsonl' holds no reports" in refused.err
    assert "discreet local encode" in refused.err
    assert not refused.out


def test_a_group_without_reports_is_shown_without_figures(signed: Path, run: Run) -> None:
    (signed / "north.csv").write_text("town,smokes,age\nN,1,\n", encoding="utf-8")
    run("local", "encode", "m.json", "north.csv")
    words = ("local", "estimate", "m.json", "reports.jsonl", "--by", "town")
    assert "one false report may move a mean by any amount" in run(*words).out
    found = run(*words, "--format", "json")
    told = json.loads(found.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert told["poisoning"][1]["one_false_report_moves_at_most"] is None
    south = [each for each in told["estimates"] if each["groups"] == {"town": "S"}]
    assert {(each["estimate"], each["low"], each["high"], each["adjusted_high"]) for each in south} == {(None,) * 4}


def test_sampled_questions_have_two_estimates_and_one_is_recommended(signed: Path, run: Run) -> None:
    (signed / "s.yaml").write_text(MANIFEST.replace("split", "sampling"), encoding="utf-8")
    run("local", "sign", "s.yaml", "--out", "s.json")
    run("local", "encode", "s.json", "answers.csv")
    found = run("local", "estimate", "s.json", "reports.jsonl", "--format", "json").json()
    assert found["recommended"] == "ratio_count"
    assert set(found["estimators"]) == {"estimate", "ratio_count", "adjusted"}
    counts = [each for each in found["estimates"] if each["statistic"] == "count"]
    for each in counts:
        for name in ("share", "ratio_count", "adjusted", "adjusted_share"):
            assert each[f"{name}_low"] <= each[name] <= each[f"{name}_high"]
            assert each[f"{name}_low"] < each[f"{name}_high"]
        assert each["low"] < each["estimate"] < each["high"]
        assert each["adjusted_low"] >= 0
        assert each["adjusted_high"] <= 3000
        assert 0 <= each["adjusted_share_low"] <= each["adjusted_share_high"] <= 1
        assert each["adjusted_share"] == pytest.approx(each["adjusted"] / 3000)
    assert sum(each["ratio_count"] for each in counts) == pytest.approx(3000)
    table = run("local", "estimate", "s.json", "reports.jsonl").out
    for words in ("ratio estimator, Hájek); recommended", "share %", "adjusted", "as totals"):
        assert words in table
    rows = list(csv.DictReader(io.StringIO(run("local", "estimate", "s.json", "reports.jsonl", "--format", "csv").out)))
    assert float(rows[0]["ratio_count_high"]) == counts[0]["ratio_count_high"]
    assert "as totals" not in run("local", "estimate", "m.json", "reports.jsonl", code=None).out


def test_show_foretells_before_anybody_is_asked(signed: Path, run: Run) -> None:
    (signed / "answers.csv").unlink()
    told = run("local", "show", "m.json", "--respondents", "500", "--format", "json").json()["outlook"]
    assert (told["respondents"], told["level"], told["design_effect"]) == (500, 0.95, 1.0)
    assert {(each["question"], each["groups"].get("town")) for each in told["expected"]} == {
        (question, town) for question in ("smokes", "age") for town in (None, "N", "S")
    }
    assert all(0 < each["half_width"] <= each["worst_half_width"] for each in told["expected"])
    assert {each["asked"] for each in told["expected"]} == {500, 250}
    table = run("local", "show", "m.json", "--respondents", "500", "--share", "town=N:0.9", "--level", "0.9").out
    for words in (
        "Expected ± of 90% intervals with 500 respondents",
        "as declared",
        "North",
        "450",
        "percentage points",
    ):
        assert words in table
    french = run("local", "show", "m.json", "--respondents", "500", "--lang", "fr").out
    assert "questions par répondant" in french
    assert "each respondent is asked" not in french
    for words in ("± attendu", "nombre égal dans chaque catégorie", "points de pourcentage", "tous"):
        assert words in french
    assert "outlook" not in run("local", "show", "m.json", "--format", "json").json()
    assert "give that number too" in run("local", "show", "m.json", "--share", "town=N:0.9", code=2).err
    assert "respondents" in run("local", "show", "m.json", "--respondents", "0", code=2).err


def test_files_that_are_not_there_are_named(signed: Path, run: Run) -> None:
    run("local", "encode", "m.json", "answers.csv")
    (signed / "folder.csv").mkdir()
    for name in ("absent.csv", "folder.csv"):
        refused = run("local", "encode", "m.json", name, "--out", "other.jsonl", code=2)
        assert f"'{name}' does not exist or is not a file" in refused.err
    clear = run("local", "estimate", "m.json", "reports.jsonl", "--clear", "absent.csv", code=2)
    assert "'absent.csv' does not exist or is not a file" in clear.err


def test_answers_may_be_in_another_encoding_than_unicode(signed: Path, run: Run) -> None:
    text = MANIFEST.replace("  age:", "  eats: {kind: category, categories: [Pâté, Thé]}\n  age:")
    (signed / "f.yaml").write_text(text, encoding="utf-8")
    run("local", "sign", "f.yaml", "--out", "f.json")
    (signed / "fr.csv").write_bytes("town;smokes;eats;age\nN;1;Pâté;30\nS;2;Thé;40\n".encode("latin-1"))
    refused = run("local", "encode", "f.json", "fr.csv", code=1)
    assert "is not UTF-8; try --encoding latin-1" in refused.err
    assert "Wrote 2 reports" in run("local", "encode", "f.json", "fr.csv", "--encoding", "latin-1").out


def test_clear_answers_are_combined_with_a_warning(signed: Path, run: Run) -> None:
    run("local", "encode", "m.json", "answers.csv")
    (signed / "clear.csv").write_text("\n".join(ROWS.splitlines()[:200]), encoding="utf-8")
    done = run("local", "estimate", "m.json", "reports.jsonl", "--clear", "clear.csv")
    assert "Answers given in clear are not protected" in done.err
    assert "none for 199 who answered in clear" in done.out
    assert "privacy and design" in done.out


def test_there_is_no_seed(signed: Path, run: Run) -> None:
    assert "No such option" in run("local", "encode", "m.json", "answers.csv", "--seed", "1", code=2).err
