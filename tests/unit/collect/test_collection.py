"""Collections: untrusted lines refused and counted, estimates that hit the truth, bounds on false reports."""

from __future__ import annotations

import gzip
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.collect.estimates.collection import Collection, Estimate, collect_estimates
from discreet.collect.estimates.poisoning import count_reach, mean_reach
from discreet.collect.estimates.published_collection import publish_collection
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.randomiser import Channel
from discreet.collect.reporting.answers import mark_of_token
from discreet.collect.reporting.encoding import encode_file
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.collect.reporting.reports import LINE_LIMIT, REASONS, Refusal, read_collected
from discreet.collect.reporting.signing import SignedManifest
from discreet.errors import FileRefused, ParameterInvalid, UnknownName, UsageError
from discreet.present.words import tell_guarantee

TEXT = """\
survey: health
version: 2
epsilon: 8
mode: split
respondent: {token: code}
weight: {column: weight, cap: 50, step: 0.5}
groups:
  province: {categories: {10: East, 24: West}}
questions:
  smoking: {kind: category, randomiser: grr, categories: {1: Daily, 2: Never, 3: Seldom}, missing: public}
  height: {kind: number, bounds: [1, 2], step: 0.01, missing: public}
"""
CHANNEL = GeneralisedResponse(epsilon=8, categories=3).channel()
LINE: dict[str, Any] = {
    "survey": "health",
    "version": 2,
    "manifest": "ab" * 16,
    "respondent": "0" * 32,
    "groups": {"province": "10"},
    "weight": 4,
    "reports": {"smoking": 1, "height": 50},
}


def signed(text: str = TEXT) -> SignedManifest:
    return SignedManifest(parse_manifest(text, file="m.yaml"), "ab" * 32, "00" * 32, trusted=True)


def put(tmp_path: Path, *lines: bytes | dict[str, Any]) -> Path:
    file = tmp_path / "reports.jsonl"
    file.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return file


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"more": 1}, Refusal.WRONG_FIELDS),
        ({"survey": "other"}, Refusal.OTHER_SURVEY),
        ({"survey": ["health"]}, Refusal.OTHER_SURVEY),
        ({"version": 1}, Refusal.OTHER_VERSION),
        ({"version": 2.0}, Refusal.OTHER_VERSION),
        ({"manifest": "cd" * 16}, Refusal.OTHER_MANIFEST),
        ({"respondent": "0" * 31}, Refusal.BAD_MARK),
        ({"respondent": 7}, Refusal.BAD_MARK),
        ({"groups": {"province": "11"}}, Refusal.BAD_GROUP),
        ({"groups": {"province": ["10"]}}, Refusal.BAD_GROUP),
        ({"groups": {}}, Refusal.BAD_GROUP),
        ({"groups": None}, Refusal.BAD_GROUP),
        ({"weight": 101}, Refusal.BAD_WEIGHT),
        ({"weight": -1}, Refusal.BAD_WEIGHT),
        ({"weight": 4.0}, Refusal.BAD_WEIGHT),
        ({"weight": True}, Refusal.BAD_WEIGHT),
        ({"reports": {"smoking": 1, "age": 50}}, Refusal.UNKNOWN_QUESTION),
        ({"reports": [1]}, Refusal.UNKNOWN_QUESTION),
        ({"reports": {"smoking": 1}}, Refusal.WRONG_NUMBER),
        ({"reports": {"smoking": 3, "height": 50}}, Refusal.OUT_OF_DOMAIN),
        ({"reports": {"smoking": True, "height": 50}}, Refusal.OUT_OF_DOMAIN),
        ({"reports": {"smoking": "1", "height": 50}}, Refusal.OUT_OF_DOMAIN),
        ({"reports": {"smoking": 1, "height": 10**30}}, Refusal.OUT_OF_DOMAIN),
        ({"reports": {"smoking": 1, "height": math.nan}}, Refusal.OUT_OF_DOMAIN),
    ],
)
def test_a_wrong_line_is_refused_and_the_others_stay(change: dict[str, Any], reason: Refusal, tmp_path: Path) -> None:
    good = {**LINE, "respondent": "1" * 32}
    found = read_collected(put(tmp_path, {**LINE, **change}, good), signed())
    assert (found.respondents, found.refused) == (1, {reason: 1})
    assert found.marks == ("1" * 32,)


@pytest.mark.parametrize(("province", "largest"), [("10", 20), ("24", 100)])
def test_a_weight_is_held_to_the_cap_of_its_own_group(province: str, largest: int, tmp_path: Path) -> None:
    text = TEXT.replace("cap: 50", "cap: {by: province, values: {10: 10, 24: 50}}")
    own = {**LINE, "groups": {"province": province}}
    found = read_collected(
        put(tmp_path, {**own, "weight": largest}, {**own, "weight": largest + 1, "respondent": "1" * 32}), signed(text)
    )
    assert (found.weights.tolist(), found.refused) == ([largest], {Refusal.BAD_WEIGHT: 1})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", Refusal.NOT_JSON),
        (b"\xff\xfe\x00", Refusal.NOT_JSON),
        (b"[" * 100_000, Refusal.NOT_JSON),
        (b"9" * 5_000, Refusal.NOT_JSON),
        (json.dumps(LINE).encode() + b"{}", Refusal.NOT_JSON),
        (b"null", Refusal.WRONG_FIELDS),
        (b"[]", Refusal.WRONG_FIELDS),
        (b'{"a": "' + b"x" * (3 * LINE_LIMIT) + b'"}', Refusal.TOO_LONG),
    ],
)
def test_no_line_stops_the_reading(line: bytes, reason: Refusal, tmp_path: Path) -> None:
    found = read_collected(put(tmp_path, line, b"", LINE), signed())
    assert (found.respondents, found.refused) == (1, {reason: 1})


def test_a_missing_answer_is_taken_only_where_it_is_public(tmp_path: Path) -> None:
    line = {**LINE, "reports": {"smoking": None, "height": 50}}
    found = read_collected(put(tmp_path, line), signed())
    assert found.questions["smoking"].absent.tolist() == [0]
    protected = TEXT.replace("3: Seldom}, missing: public", "3: Seldom}")
    good = {**LINE, "respondent": "1" * 32}
    assert read_collected(put(tmp_path, line, good), signed(protected)).refused == {Refusal.OUT_OF_DOMAIN: 1}


def test_copies_count_once_and_conflicts_not_at_all(tmp_path: Path) -> None:
    other = {**LINE, "respondent": "1" * 32}
    different = {**other, "weight": 5}
    broken = {**LINE, "weight": 1000}
    found = read_collected(
        put(tmp_path, LINE, LINE, broken, other, different, {**LINE, "respondent": "2" * 32}), signed()
    )
    assert found.refused == {Refusal.BAD_WEIGHT: 1, Refusal.COPY: 1, Refusal.CONFLICT: 2}
    assert found.marks == ("0" * 32, "2" * 32)
    assert found.questions["smoking"].rows.tolist() == [0, 1]


@pytest.mark.parametrize("text", [b"", b"\n", b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_reports_is_an_error(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="holds no reports") as raised:
        read_collected(put(tmp_path, text), signed())
    assert "discreet local encode" in str(raised.value)


def test_a_file_in_which_no_line_is_a_report_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="another survey: 1; weight outside its range: 1"):
        read_collected(put(tmp_path, {**LINE, "survey": "other"}, {**LINE, "weight": -1}), signed())
    with pytest.raises(FileRefused, match="not JSON: 1"):
        read_collected(put(tmp_path, b"survey,version,manifest,respondent"), signed())
    with pytest.raises(FileRefused, match="unpack it first"):
        read_collected(put(tmp_path, gzip.compress(json.dumps(LINE).encode())), signed())


def test_every_reason_has_words() -> None:
    assert {reason: words.en for reason, words in REASONS.items()} == {reason: reason.value for reason in Refusal}


def test_a_group_without_reports_says_nothing(tmp_path: Path) -> None:
    found = collect_estimates(signed(), put(tmp_path, LINE), by=["province"])
    west = [each for each in found.estimates if each.groups == ("24",)]
    assert {(each.estimate, each.low, each.high, each.adjusted) for each in west} == {(None,) * 4}
    east = find(found, "smoking", "10", "1")
    assert east.adjusted_low is not None
    assert east.adjusted_high is not None
    assert east.adjusted_low < east.adjusted_high


# --- estimates ------------------------------------------------------------------------------------------------------


def survey(tmp_path: Path, number: int, *, name: str = "answers.csv", first: int = 0, seed: int = 1) -> Path:
    """Answers whose truth the test knows: heights 1.3 in the East and 1.7 in the West; half smoke daily in the East."""
    draw = random.Random(seed)
    rows = ["code,weight,province,smoking,height"]
    for place in range(first, first + number):
        east = place % 2 == 0
        smoking = (1 if draw.random() < 0.5 else 2) if east else 3
        rows.append(f"TOKEN-{place:08},{1 + place % 4},{10 if east else 24},{smoking},{1.3 if east else 1.7}")
    file = tmp_path / name
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


def collect(tmp_path: Path, number: int, text: str = TEXT, **options: Any) -> Collection:
    out = tmp_path / "reports.jsonl"
    encode_file(signed(text), survey(tmp_path, number), out=out)
    return collect_estimates(signed(text), out, **options)


def find(found: Collection, question: str, group: str = "", category: str | None = None) -> Estimate:
    wanted = (question, (group,) if group else (), category)
    return next(each for each in found.estimates if (each.question, each.groups, each.category) == wanted)


@pytest.mark.statistical
@pytest.mark.parametrize("mode", ["split", "sampling\nasked: 1"])
def test_intervals_hold_the_truth_of_every_group(mode: str, tmp_path: Path) -> None:
    """A wrong group's mean is far outside.

    Six intervals at level 1 - 1e-9. The rarest counts rest on some 35 chance supporters, whose upper tail beyond 6.1
    standard deviations is near 1e-7 rather than 1e-9: below 1e-6 in all.
    """
    found = collect(tmp_path, 4_000, TEXT.replace("split", mode), by=["province"], level=1 - 1e-9)
    assert (found.accepted, found.refused) == (4_000, {})
    truth = {("10", "3"): 0, ("24", "1"): 0, ("24", "2"): 0, ("24", "3"): 2_000 * 3}
    for (group, category), count in truth.items():
        each = find(found, "smoking", group, category)
        assert each.low is not None
        assert each.high is not None
        assert each.low <= count <= each.high
        assert each.adjusted is not None
        assert each.adjusted >= 0
    for group, mean in (("10", 1.3), ("24", 1.7)):
        each = find(found, "height", group)
        assert each.low is not None
        assert each.high is not None
        assert each.low <= mean <= each.high
        assert not each.low <= 3 - mean <= each.high
    adjusted = [find(found, "smoking", "10", code).adjusted for code in ("1", "2", "3")]
    if mode == "split":
        assert sum(number for number in adjusted if number is not None) == pytest.approx(2_000 * 2)


def test_sampled_questions_have_shares_and_counts_by_ratio(tmp_path: Path) -> None:
    """Weights of the West are 2 and 4, of the East 1 and 3: everybody's are public, so counts add up to 2,000 · 5/2."""
    found = collect(tmp_path, 2_000, TEXT.replace("split", "sampling\nasked: 1"))
    assert found.sampled
    own = [find(found, "smoking", category=code) for code in ("1", "2", "3")]
    ratios, shares = [each.ratio.estimate for each in own], [each.share.estimate for each in own]
    assert sum(number or 0 for number in ratios) == pytest.approx(5_000)
    assert [number and 5_000 * number for number in shares] == pytest.approx(ratios)
    assert sum(each.adjusted or 0 for each in own) == pytest.approx(5_000)
    west = own[2]
    widths = [
        figure.high - figure.low for figure in (west.ratio, west) if figure.high is not None and figure.low is not None
    ]
    assert widths[0] < 0.8 * widths[1]


def test_estimates_do_not_depend_on_the_order_of_lines(tmp_path: Path) -> None:
    found = collect(tmp_path, 300, by=["province"])
    file = tmp_path / "reports.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    random.Random(3).shuffle(lines)
    file.write_text("\n".join(lines), encoding="utf-8")
    assert collect_estimates(signed(), file, by=["province"]).estimates == found.estimates


def test_everything_that_must_be_said_is_said(tmp_path: Path) -> None:
    found = collect(tmp_path, 50)
    assert tell_guarantee(publish_collection(found), "en") == "local DP, epsilon = 8 per respondent"
    assert found.variance == "noise"
    text = TEXT.replace("split", "sampling\nasked: 1")
    again = tmp_path / "again"
    again.mkdir()
    assert collect(again, 50, text).variance == "questions"


@pytest.mark.statistical
@pytest.mark.parametrize("mode", ["split", "sampling\nasked: 1"])
def test_numbers_with_protected_absence_are_estimated(mode: str, tmp_path: Path) -> None:
    text = TEXT.replace("step: 0.01, missing: public", "step: 0.01").replace("split", mode)
    found = collect(tmp_path, 4_000, text, level=1 - 1e-7)
    each = find(found, "height")
    assert each.low is not None
    assert each.high is not None
    # weights: (1 + 3) / 2 = 2 on average in the East, 3 in the West
    assert each.low <= (2 * 1.3 + 3 * 1.7) / 5 <= each.high
    assert not found.poisoning[1].proportional


@pytest.mark.parametrize("relation", ["samples", "strata"])
def test_clear_answers_join_and_are_warned_of(relation: Any, tmp_path: Path) -> None:
    out = tmp_path / "reports.jsonl"
    encode_file(signed(), survey(tmp_path, 2_000), out=out)
    clear = survey(tmp_path, 1_001, name="clear.csv", first=1_999, seed=2)
    found = collect_estimates(signed(), out, clear=clear, relation=relation, level=1 - 1e-7)
    assert found.refused == {Refusal.CLEAR: 1}
    assert (found.accepted, found.clear) == (1_999, 1_001)
    assert "none for 1,001 who answered in clear" in tell_guarantee(publish_collection(found), "en")
    assert any("not protected" in warning.en for _, warning in found.warnings)
    each = find(found, "smoking", category="3")
    assert each.low is not None
    assert each.high is not None
    assert each.low <= 1_500 * 3 <= each.high
    assert each.high - each.low < 3_000
    height = find(found, "height")
    assert height.estimate == pytest.approx(1.54, abs=0.05)


def test_groups_without_clear_answers_keep_their_sampling_of_people(tmp_path: Path) -> None:
    """At epsilon 20 each reports are nearly exact; heights are 1 or 2, so the sampling of 200 people gives ±.069."""
    text = TEXT.replace("epsilon: 8", "epsilon: 40")
    head, out = "code,weight,province,smoking,height\n", tmp_path / "reports.jsonl"
    answers, clear = tmp_path / "answers.csv", tmp_path / "clear.csv"
    rows = [f"TOKEN-{place:08},1,{10 + 14 * (place % 2)},1,{1 + place // 2 % 2}\n" for place in range(400)]
    answers.write_text(head + "".join(rows), encoding="utf-8")
    clear.write_text(head + "".join(f"CLEAR-{place:08},1,10,1,{1 + place % 2}\n" for place in range(50)), "utf-8")
    encode_file(signed(text), answers, out=out)
    found = collect_estimates(signed(text), out, by=["province"], clear=clear)
    west = find(found, "height", "24")
    assert west.high is not None
    assert west.low is not None
    assert west.high - west.low == pytest.approx(2 * 0.0695, rel=0.05)


def test_strata_weigh_a_mean_by_those_who_have_a_number(tmp_path: Path) -> None:
    """3,000 protected, of whom a third have the number 1.2; 1,000 in clear, all 1.8. By all people it would be 1.35.

    At epsilon 4 the estimate strays from 1.5 by .007, so .05 is seven deviations: a chance below 1e-6.
    """
    text = TEXT.replace("step: 0.01, missing: public", "step: 0.01").replace("code", "token")
    head = "token,weight,province,smoking,height\n"
    answers, clear = tmp_path / "answers.csv", tmp_path / "clear.csv"
    protected = [f"TOKEN-{place:08},1,10,1,{'' if place % 3 else 1.2}\n" for place in range(3_000)]
    answers.write_text(head + "".join(protected), encoding="utf-8")
    clear.write_text(head + "".join(f"CLEAR-{place:08},1,10,1,1.8\n" for place in range(1_000)), encoding="utf-8")
    encode_file(signed(text), answers, out=tmp_path / "reports.jsonl")
    found = collect_estimates(signed(text), tmp_path / "reports.jsonl", clear=clear, relation="strata")
    assert find(found, "height").estimate == pytest.approx(1.5, abs=0.05)


def test_replicate_weights_add_the_design(tmp_path: Path) -> None:
    out = tmp_path / "reports.jsonl"
    encode_file(signed(), survey(tmp_path, 400), out=out)
    draws = np.random.default_rng(5).poisson(1, size=(400, 40))
    rows = [",".join(["code", *(f"b{place}" for place in range(40))])]
    rows += [f"TOKEN-{place:08}," + ",".join(str((1 + place % 4) * n) for n in draws[place]) for place in range(400)]
    file = tmp_path / "replicates.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    plain = find(collect_estimates(signed(), out), "smoking", category="1")
    found = collect_estimates(signed(), out, replicates=file)
    wide = find(found, "smoking", category="1")
    assert found.variance == "design"
    assert wide.estimate == plain.estimate
    assert wide.high is not None
    assert wide.low is not None
    assert plain.high is not None
    assert plain.low is not None
    # 400 people of weights 1 to 4, about a quarter of them daily smokers: the design dominates at epsilon 4
    assert wide.high - wide.low > 1.3 * (plain.high - plain.low)
    file.write_text("\n".join(rows[:-1]), encoding="utf-8")
    with pytest.raises(FileRefused, match="1 have none"):
        collect_estimates(signed(), out, replicates=file)


def test_a_replicate_without_anybody_leaves_a_mean_without_ends(tmp_path: Path) -> None:
    """The East has one respondent, whom the second replicate leaves out: what it would have said cannot be known."""
    lines = [{**LINE, "respondent": mark_of_token("ab" * 32, "TOKEN-00000000")}]
    for place in range(1, 9):
        mark = mark_of_token("ab" * 32, f"TOKEN-{place:08}")
        lines.append({**LINE, "respondent": mark, "groups": {"province": "24"}})
    file = tmp_path / "replicates.csv"
    rows = ["code,b1,b2,b3", "TOKEN-00000000,2,0,3", *(f"TOKEN-{place:08},1,{place % 3},2" for place in range(1, 9))]
    file.write_text("\n".join(rows), encoding="utf-8")
    found = collect_estimates(signed(), put(tmp_path, *lines), by=["province"], replicates=file)
    east, west = find(found, "height", "10"), find(found, "height", "24")
    assert east.estimate is not None
    assert (east.low, east.high) == (None, None)
    assert west.low is not None


def test_replicates_are_those_of_the_people_who_answered(tmp_path: Path) -> None:
    """Whoever gave no answer changes no count and no mean, whatever their replicate weights are: only shares."""
    marks = [mark_of_token("ab" * 32, f"TOKEN-{place:08}") for place in range(7)]
    silent = {**LINE, "respondent": marks[0], "reports": {"smoking": None, "height": None}}
    others = [
        {**LINE, "respondent": mark, "reports": {"smoking": place % 3, "height": 10 * place}}
        for place, mark in enumerate(marks[1:])
    ]
    file = tmp_path / "replicates.csv"
    rows = ["code,b1,b2", "TOKEN-00000000,40,0", *(f"TOKEN-{place:08},{place},{7 - place}" for place in range(1, 7))]
    file.write_text("\n".join(rows), encoding="utf-8")
    found = [
        collect_estimates(signed(), put(tmp_path, *lines), replicates=file).estimates
        for lines in ([silent, *others], others)
    ]
    for one, other in zip(*found, strict=True):
        assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))
    assert found[0][0].share != found[1][0].share


def test_wrong_words_are_refused(tmp_path: Path) -> None:
    file = put(tmp_path, LINE)
    with pytest.raises(UnknownName, match="Did you mean 'province'"):
        collect_estimates(signed(), file, by=["provinse"])
    with pytest.raises(UsageError, match="twice"):
        collect_estimates(signed(), file, by=["province", "province"])
    with pytest.raises(UsageError, match="give that file"):
        collect_estimates(signed(), file, relation="strata")
    many = ", ".join(str(code) for code in range(710))
    text = TEXT.replace("groups:\n", f"groups:\n  town: {{categories: [{many}]}}\n  block: {{categories: [{many}]}}\n")
    with pytest.raises(UsageError, match="makes 504,100 groups"):
        collect_estimates(signed(text), file, by=["town", "block"])
    with pytest.raises(ParameterInvalid, match="level"):
        collect_estimates(signed(), file, level=1.0)


# --- false reports --------------------------------------------------------------------------------------------------


def test_false_reports_reach_their_bound_and_not_beyond(tmp_path: Path) -> None:
    before = collect(tmp_path, 500)
    file = tmp_path / "reports.jsonl"
    fakes = [
        json.dumps({**LINE, "weight": 100, "respondent": f"{place:032x}", "reports": {"smoking": 0, "height": 10**3}})
        for place in range(10)
    ]
    grid = before.signed.manifest.question("height")
    from discreet.collect.randomisers.grid import GridRandomiser
    from discreet.collect.reporting.assignment import randomiser_for

    randomiser = randomiser_for(grid)
    assert isinstance(randomiser, GridRandomiser)
    fakes = [fake.replace("1000}", f"{randomiser.report_range()[1]}}}") for fake in fakes]
    file.write_text(file.read_text(encoding="utf-8") + "\n".join(fakes), encoding="utf-8")
    after = collect_estimates(signed(), file)
    assert after.accepted == 510
    count, mean = before.poisoning
    moved = _moved(before, after, "smoking", "1")
    assert moved == pytest.approx(10 * count.reach)
    for category in ("2", "3"):
        assert abs(_moved(before, after, "smoking", category)) <= 10 * count.reach
    assert 0 < _moved(before, after, "height", None) <= 10 * mean.reach


def test_the_bound_of_a_mean_holds_in_the_smallest_group(tmp_path: Path) -> None:
    """Ten people in the East, one in the West: one false report moves the West's mean far more than that of all."""
    people = [{**LINE, "respondent": f"{place:032x}"} for place in range(10)]
    west = {**LINE, "groups": {"province": "24"}, "respondent": "a" * 32}
    false = {**west, "weight": 100, "respondent": "b" * 32, "reports": {"smoking": 0, "height": 100}}
    before = collect_estimates(signed(), put(tmp_path, *people, west), by=["province"])
    after = collect_estimates(signed(), put(tmp_path, *people, west, false), by=["province"])
    moved = [find(found, "height", "24").estimate for found in (before, after)]
    assert moved[0] is not None
    assert moved[1] is not None
    alone = collect_estimates(signed(), put(tmp_path, *people, west)).poisoning[1].reach
    assert alone < abs(moved[1] - moved[0]) <= before.poisoning[1].reach


def test_the_bound_of_a_group_takes_its_own_cap(tmp_path: Path) -> None:
    text = TEXT.replace("cap: 50", "cap: {by: province, values: {10: 50, 24: 5}}")
    lines = [{**LINE, "respondent": f"{place:032x}", "weight": 90} for place in range(9)]
    file = put(tmp_path, *lines, {**LINE, "groups": {"province": "24"}, "weight": 9, "respondent": "a" * 32})
    west = collect_estimates(signed(text), file, by=["province"]).poisoning[1].reach
    uncapped = collect_estimates(signed(), file, by=["province"]).poisoning[1].reach
    assert west < 0.7 * uncapped


@pytest.mark.parametrize("missing", ["public", "category"])
def test_no_bound_is_told_where_nobody_reported(missing: str, tmp_path: Path) -> None:
    """One respondent, who was asked the other question."""
    text = TEXT.replace("step: 0.01, missing: public", f"step: 0.01, missing: {missing}")
    text = text.replace("mode: split", "mode: sampling\nasked: 1")
    bound = collect_estimates(signed(text), put(tmp_path, {**LINE, "reports": {"smoking": 1}})).poisoning[1]
    assert bound.reach == math.inf
    assert not math.isfinite(bound.reach)


def _moved(before: Collection, after: Collection, question: str, category: str | None) -> float:
    pair = [find(found, question, category=category).estimate for found in (before, after)]
    assert pair[0] is not None
    assert pair[1] is not None
    return pair[1] - pair[0]


def test_the_bound_holds_for_counts_by_ratio_where_few_were_asked(tmp_path: Path) -> None:
    """Nine of ten in the West were asked about their height: one false report there speaks for all of them."""
    text = TEXT.replace("mode: split", "mode: sampling\nasked: 1")
    people = [
        {**LINE, "respondent": f"{place:032x}", "reports": {"height": 50} if place % 10 else {"smoking": place % 3}}
        for place in range(40)
    ]
    false = {**LINE, "weight": 100, "respondent": "b" * 32, "reports": {"smoking": 0}}
    before = collect_estimates(signed(text), put(tmp_path, *people))
    after = collect_estimates(signed(text), put(tmp_path, *people, false))
    moved = [find(found, "smoking", category="1").ratio.estimate for found in (before, after)]
    assert moved[0] is not None
    assert moved[1] is not None
    assert abs(moved[1] - moved[0]) <= before.poisoning[0].reach
    heavy = [{**line, "weight": 100} for line in people]
    light = {**false, "weight": 100}
    before = collect_estimates(signed(text), put(tmp_path, *heavy))
    after = collect_estimates(signed(text), put(tmp_path, *heavy, light))
    moved = [find(found, "smoking", category="1").ratio.estimate for found in (before, after)]
    assert moved[0] is not None
    assert moved[1] is not None
    assert count_reach(CHANNEL, weight=50, inclusion=0.5) < abs(moved[1] - moved[0]) <= before.poisoning[0].reach


def test_the_bound_grows_as_epsilon_falls() -> None:
    reaches = []
    for epsilon in (4.0, 1.0, 0.5):
        total = math.exp(epsilon) + 12
        channel = Channel(p=math.exp(epsilon) / total, q=1 / total)
        reaches.append(count_reach(channel, weight=1, inclusion=1))
    assert reaches == sorted(reaches)
    assert reaches[1] == pytest.approx((math.e + 11) / (math.e - 1))
    assert count_reach(Channel(p=0.75, q=0.5), weight=2, inclusion=0.5) == 8
    assert mean_reach((-2.0, 5.0), mean=1.0, weight=2, total=98) == 0.08


def test_marks_depend_on_survey_and_token() -> None:
    assert mark_of_token("a", "token") != mark_of_token("b", "token") != mark_of_token("b", "other")
