"""A collection from card to estimates, as its survey manager runs it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from discreet.data.cardkeys import walk_keys
from discreet.local.manifestreader import MANIFEST_KEYS, parse_manifest, read_manifest
from discreet.local.signing import create_keys, sign_manifest
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
    for word in ("guarantee", "local DP, epsilon = 4", "privacy noise only", "oui", "95% interval", "Poisoning"):
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


def test_a_collection_that_is_still_empty_can_be_shown(signed: Path, run: Run) -> None:
    (signed / "reports.jsonl").write_text("", encoding="utf-8")
    shown = run("local", "estimate", "m.json", "reports.jsonl", "--by", "town")
    assert "one false report may move a mean by any amount" in shown.out
    found = run("local", "estimate", "m.json", "reports.jsonl", "--format", "json")
    told = json.loads(found.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert told["poisoning"][1]["one_false_report_moves_at_most"] is None


def test_files_that_are_not_there_are_named(signed: Path, run: Run) -> None:
    run("local", "encode", "m.json", "answers.csv")
    (signed / "folder.csv").mkdir()
    for name in ("absent.csv", "folder.csv"):
        refused = run("local", "encode", "m.json", name, "--out", "other.jsonl", code=2)
        assert f"'{name}' is not a file" in refused.err
    clear = run("local", "estimate", "m.json", "reports.jsonl", "--clear", "absent.csv", code=2)
    assert "'absent.csv' is not a file" in clear.err


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


def test_the_page_for_survey_managers_runs(run: Run) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "local.md").read_text(encoding="utf-8")
    commands = [
        shlex.split(line) for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]
    assert len(commands) == 7
    for words in commands[:-1]:
        run(*words[1:])
    table = run(*commands[-1][1:]).out
    assert "accepted           113290" in table


def test_the_page_names_every_key_of_the_manifest() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "local.md").read_text(encoding="utf-8")
    for path, _ in walk_keys(MANIFEST_KEYS):
        assert path.rsplit(".", 1)[-1] in page
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert parse_manifest(example[1], file="local.md").asked == 1
