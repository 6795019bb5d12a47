"""Encoding: one draw per respondent, nothing but reports in the output, all or nothing."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.collect.reporting.answers import ABSENT, GivenAnswers, read_answers
from discreet.collect.reporting.encoding import encode_answers, encode_file, record_of
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.collect.reporting.signing import SignedManifest
from discreet.errors import FileRefused, PathInvalid, Refused

TEXT = """\
survey: health
version: 1
epsilon: 3
mode: split
weight: {column: weight, cap: {by: province, values: {10: 20, 24: 50}}, step: 0.5}
groups:
  province: {categories: {10: East, 24: West}}
questions:
  smoking: {kind: category, categories: {1: Daily, 2: Never}, missing_codes: [9]}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.01, missing: public, missing_codes: [9.9]}
"""
ROWS = "province,weight,smoking,height,name\n10,3.26,1,1.504,Ann\n24.0,49,9,,Bob\n10,900,,9.90,Cid\n24,0.1,2,2.1,Dee\n"


def signed(text: str = TEXT) -> SignedManifest:
    return SignedManifest(parse_manifest(text, file="m.yaml"), "ab" * 32, "00" * 32, trusted=True)


def written(tmp_path: Path, rows: str) -> Path:
    file = tmp_path / "answers.csv"
    file.write_text(rows, encoding="utf-8")
    return file


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_answers_become_positions(tmp_path: Path) -> None:
    found = read_answers(written(tmp_path, ROWS), signed().manifest)
    assert found.positions["smoking"].tolist() == [0, 2, 2, 1]
    assert found.positions["height"].tolist() == [30, ABSENT, ABSENT, 90]
    assert found.groups["province"].tolist() == [0, 1, 0, 1]
    assert found.weights.tolist() == [7, 98, 40, 1]


def test_faults_are_told_by_line_and_never_by_value(tmp_path: Path) -> None:
    rows = "province,weight,smoking,height\n10,1,SECRET,1.5\n10,1,1,7.77\n99,1,1,1.5\n10,-4,1,1.5\n10,1,1,1.5\n"
    with pytest.raises(FileRefused) as caught:
        encode_file(signed(), written(tmp_path, rows), out=tmp_path / "reports.jsonl")
    told = caught.value.message
    assert "question 'smoking': the answer is outside its categories (line 2)" in told
    assert "question 'height': the answer is outside its bounds (line 3)" in told
    assert "group 'province': the label is not one of its categories (line 4)" in told
    assert "weight 'weight': it is not a number from 0 upwards (line 5)" in told
    assert not any(value in told for value in ("SECRET", "7.77", "99", "-4"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv"]


def test_reports_hold_what_the_manifest_says_and_no_more(tmp_path: Path) -> None:
    out = tmp_path / "reports.jsonl"
    assert encode_file(signed(), written(tmp_path, ROWS), out=out).respondents == 4
    found = lines(out)
    assert all(
        list(line) == ["survey", "version", "manifest", "respondent", "groups", "weight", "reports"] for line in found
    )
    assert {line["manifest"] for line in found} == {"ab" * 16}
    assert len({line["respondent"] for line in found}) == 4
    assert sorted((line["groups"]["province"], line["weight"]) for line in found) == [
        ("10", 7), ("10", 40), ("24", 1), ("24", 98),
    ]  # fmt: skip
    assert sum(line["reports"]["height"] is None for line in found) == 2
    assert all(line["reports"]["smoking"] in {0, 1, 2} for line in found)
    assert "Ann" not in out.read_text(encoding="utf-8")


def test_answers_are_drawn_once(tmp_path: Path) -> None:
    answers, out = written(tmp_path, ROWS), tmp_path / "reports.jsonl"
    encode_file(signed(), answers, out=out)
    first = out.read_bytes()
    with pytest.raises(Refused, match="encoded before"):
        encode_file(signed(), answers, out=tmp_path / "again.jsonl")
    assert not (tmp_path / "again.jsonl").exists()
    record_of(answers).unlink()
    with pytest.raises(PathInvalid, match="never overwritten"):
        encode_file(signed(), answers, out=out)
    assert out.read_bytes() == first
    kept = record_of(answers)
    assert not kept.exists()


def test_the_record_tells_nothing_of_the_answers(tmp_path: Path) -> None:
    answers = written(tmp_path, ROWS)
    encode_file(signed(), answers, out=tmp_path / "reports.jsonl")
    told = json.loads(record_of(answers).read_text(encoding="utf-8"))
    assert told == {"survey": "health", "version": 1, "manifest": "ab" * 32, "reports": "reports.jsonl"}


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    answers = written(tmp_path, ROWS)
    with pytest.raises(PathInvalid, match="cannot be written"):
        encode_file(signed(), answers, out=tmp_path / "absent" / "reports.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_answers_are_locked_before_they_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops the machine in the middle of a draw cannot have another; whoever only stops the command can."""
    answers = written(tmp_path, ROWS)
    locked: list[bool] = []

    def stop(*_: object) -> Iterator[bytes]:
        locked.append(record_of(answers).exists())
        yield b"{}"
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.collect.reporting.encoding.encode_answers", stop)
    with pytest.raises(KeyboardInterrupt):
        encode_file(signed(), answers, out=tmp_path / "reports.jsonl")
    assert locked == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_the_lock_is_on_the_disk_before_the_first_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that only the cache holds is gone with the power, and the answers are drawn a second time."""
    answers, out = written(tmp_path, ROWS), tmp_path / "reports.jsonl"
    synced: list[int] = []
    sync, draw = os.fsync, encode_answers

    def watch(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    def look(manifest: SignedManifest, read: GivenAnswers) -> Iterator[bytes]:
        assert synced == [record_of(answers).stat().st_ino, tmp_path.stat().st_ino]
        return draw(manifest, read)

    monkeypatch.setattr("os.fsync", watch)
    monkeypatch.setattr("discreet.collect.reporting.encoding.encode_answers", look)
    encode_file(signed(), answers, out=out)
    assert len(synced) == 4


def test_lines_hold_reports_on_those_asked_and_null_where_missing_is_public(tmp_path: Path) -> None:
    """Three of five questions each; 'b' is always missing in public, and reports differ in length."""
    text = "survey: s\nversion: 1\nepsilon: 3\nasked: 3\nquestions:\n"
    text += "".join(f"  {name}: {{kind: integer, bounds: [0, 1000], missing: public}}\n" for name in "abc")
    text += "  d: {kind: category, categories: [x, y, z], randomiser: oue}\n"
    text += "  e: {kind: category, categories: [x, y, z], randomiser: hadamard}\n"
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), written(tmp_path, "a,b,c,d,e\n" + "5,,1000,x,\n" * 700), out=out)
    kinds = {"a": {int}, "b": {type(None)}, "c": {int}, "d": {str}, "e": {list}}
    found: dict[str, set[type]] = {}
    for line in lines(out):
        assert len(line["reports"]) == 3
        for name, value in line["reports"].items():
            found.setdefault(name, set()).add(type(value))
    assert found == kinds


def test_who_has_no_number_is_not_told_where_that_is_protected(tmp_path: Path) -> None:
    text = "survey: s\nversion: 1\nepsilon: 2\nquestions:\n"
    text += "  income: {kind: integer, bounds: [0, 200], missing: category}\n"
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), written(tmp_path, "income\n" + '""\n7\n' * 20), out=out)
    found = lines(out)
    assert len(found) == 40
    assert all(line["reports"]["income"] is not None for line in found)


def test_random_marks_tell_nothing_of_the_file(tmp_path: Path) -> None:
    """Two files of one survey share no mark: what stands on a line of a file does not decide it."""
    answers = read_answers(written(tmp_path, ROWS), signed().manifest)
    both = b"".join([*encode_answers(signed(), answers), *encode_answers(signed(), answers)])
    assert len({json.loads(line)["respondent"] for line in both.splitlines()}) == 8


TOKENS = TEXT.replace("mode: split", "mode: split\nrespondent: {token: code}")


def test_tokens_are_hashed_and_never_repeated(tmp_path: Path) -> None:
    head, *rest = ROWS.splitlines()
    rows = "\n".join([f"{head},code", *(f"{row},ABCD-EFGH-{place:04}" for place, row in enumerate(rest))])
    out = tmp_path / "reports.jsonl"
    encode_file(signed(TOKENS), written(tmp_path, rows), out=out)
    marks = {line["respondent"] for line in lines(out)}
    assert len(marks) == 4
    assert "ABCD" not in out.read_text(encoding="utf-8")
    again = tmp_path / "other"
    again.mkdir()
    out = again / "reports.jsonl"
    encode_file(signed(TOKENS), written(again, rows), out=out)
    assert {line["respondent"] for line in lines(out)} == marks
    twice = tmp_path / "twice"
    twice.mkdir()
    with pytest.raises(FileRefused, match=r"a respondent draws once \(line 3\)"):
        encode_file(signed(TOKENS), written(twice, rows.replace("0001", "0000")), out=twice / "r")
    short = tmp_path / "short"
    short.mkdir()
    with pytest.raises(FileRefused, match="12 to 64 letters"):
        encode_file(signed(TOKENS), written(short, rows.replace("ABCD-EFGH-", "")), out=short / "r")


def test_sampling_asks_each_respondent_as_many_questions_as_planned(tmp_path: Path) -> None:
    """Each question is asked of about half: 2,000 fair coins miss 1,000 by 112 with chance below 1e-6."""
    text = TEXT.replace("mode: split", "mode: sampling")
    rows = "province,weight,smoking,height\n" + "10,1,1,1.5\n" * 2_000
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), written(tmp_path, rows), out=out)
    found = lines(out)
    assert {len(line["reports"]) for line in found} == {1}
    assert abs(sum("smoking" in line["reports"] for line in found) - 1_000) < 112


ONE = "survey: s\nversion: 1\nepsilon: 1\nquestions:\n  q: {kind: category, missing: public, categories: [a, b, c]}\n"


@pytest.mark.statistical
def test_lines_stand_in_a_random_order_and_answers_are_randomised(tmp_path: Path) -> None:
    """4,000 people said a, then 4,000 b: the reports keep neither the order nor the answers.

    The chance of reporting a truth is e/(e + 2) = .576. Each of the two counts is within 5.1 standard deviations of
    its mean except with a chance below 1e-6. A file in its old order, or without noise, lies 20 or more away.
    """
    rows = "q\n" + "a\n" * 4_000 + "b\n" * 4_000
    answers = read_answers(written(tmp_path, rows), signed(ONE).manifest)
    text = b"".join(encode_answers(signed(ONE), answers))
    reports = np.array([json.loads(line)["reports"]["q"] for line in text.splitlines()])
    share = math.e / (math.e + 2)
    mean = 4_000 * share + 4_000 * (1 - share) / 2
    limit = 5.1 * math.sqrt(8_000 * share * (1 - share))
    assert abs((reports == 0).sum() - mean) < limit
    assert 4_000 - mean > 2 * limit
    first = (reports[:4_000] == 0).sum()
    assert abs(first - mean / 2) < limit
    assert abs(4_000 * share - mean / 2) > 2 * limit


@pytest.mark.parametrize("name", ["grr", "subset", "oue", "olh", "hadamard", "rappor"])
def test_every_randomiser_writes_lines_that_read_back(name: str, tmp_path: Path) -> None:
    from discreet.collect.reporting.reports import read_collected

    text = ONE.replace("missing: public", f"missing: public, randomiser: {name}")
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), written(tmp_path, "q\n" + "a\nb\nc\n" * 50), out=out)
    found = read_collected(out, signed(text))
    assert (found.respondents, found.refused) == (150, {})


@pytest.mark.parametrize("name", ["duchi", "laplace", "piecewise", "hybrid", "bounded-laplace", "piecewise-wide"])
def test_every_number_writes_lines_that_read_back(name: str, tmp_path: Path) -> None:
    from discreet.collect.reporting.reports import read_collected

    text = "survey: s\nversion: 1\nepsilon: 1\nquestions:\n  q: {kind: integer, bounds: [0, 90], missing: public, "
    text += f"randomiser: {name}}}\n"
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), written(tmp_path, "q\n" + "5\n88\n30\n" * 50), out=out)
    found = read_collected(out, signed(text))
    assert (found.respondents, found.refused) == (150, {})
