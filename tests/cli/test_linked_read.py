"""Answers of linked counts as a researcher reads them: two questions from two files to a rate, and what may be wrong.

The questions are those of the paper: angioplasty among Francophones and others, and days in hospital of people of 65
and over with type-2 diabetes. Intervals of a level of 1 - 1e-7 must hold the truth, which the test can see.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import parquet

from discreet.linkage import EnvelopeKind, find_study
from discreet.linkage.office_network.office_posts import ResearcherPost
from tests.cli.clinic import Run
from tests.cli.in_process import call_here

PEOPLE = 40_000
SURE = "0.9999999"
BANDS = {
    "no days": "hospital_days = 0",
    "1 to 7 days": "hospital_days BETWEEN 1 AND 7",
    "8 days and more": "hospital_days >= 8",
}
TERMS = f"""\
study: care
title: {{en: Care of Francophones, fr: Soins des francophones}}
holder: {{dataset: health, id: health_number}}
registry: {{dataset: people, id: person}}
ids: integer
people: {PEOPLE}
policy: {{belief: 0.8}}
scales: [10, 30, 300]
kinds: [count, count-and-size, histogram, groups]
properties:
  francophone:
    label: {{en: French is the first official language, fr: Le français est la première langue officielle}}
    where: "first_official = 'French'"
quota: 10000
largest_sample: 1000000
expires: 2099-12-31
"""

Answer = Callable[..., Path]


def make_offices(folder: Path) -> None:
    """Three offices by the commands that their people would give."""
    (folder / "terms.yaml").write_text(TERMS)
    for line in f"""\
sample linked d --people {PEOPLE} --seed 3
init w
add -w w d/health.parquet
init r
add -w r d/registry.parquet --card d/registry-people.yaml
linked keys researcher --role researcher --name University
linked keys holder --role holder --name Health
linked keys registry --role registry --name Census
linked agree terms.yaml researcher holder registry --out agreement.json
linked sign agreement.json --office researcher
linked sign agreement.json --office holder
linked sign agreement.json --office registry
linked open agreement.json --office registry -w r --out key.env
linked open agreement.json --office holder -w w --link-key key.env
linked open agreement.json --office researcher""".splitlines():
        done = call_here(folder, line.split())
        assert done.code == 0, (line, done)


@pytest.fixture
def answer(tmp_path: Path, run: Run) -> Answer:
    """The answer to a request, by way of all three; labels stand beside it."""
    make_offices(tmp_path)

    def ask(*words: str, name: str = "a") -> Path:
        run("linked", "ask", "--office", "researcher", "--out", f"{name}-request.env", *words)
        labels = ("--labels", f"{name}-labels.env") if "--group" in words else ()
        run("linked", "draw", f"{name}-request.env", "--office", "holder", "--out", f"{name}-sample.env", *labels)
        run("linked", "count", f"{name}-sample.env", "--office", "registry", "--out", f"{name}.env")
        return tmp_path / f"{name}.env"

    return ask


def sampled(folder: Path, **criteria: str) -> dict[str, tuple[int, int]]:
    """Francophones and others among the insured whom the registry knows, by each criterion."""
    health = parquet.read_table(folder / "d" / "health.parquet")
    known = parquet.read_table(folder / "d" / "registry.parquet", columns=["person", "first_official"])
    both = health.join(known, "health_number", "person", join_type="inner").to_pandas()
    found = {}
    for name, criterion in criteria.items():
        french = both.query(criterion)["first_official"] == "French"
        found[name] = int(french.sum()), int((~french).sum())
    return found


def holds(interval: list[float | None], truth: float) -> bool:
    low, high = interval
    return low is None or high is None or low <= truth <= high


def test_both_questions_of_the_paper(answer: Answer, run: Run, tmp_path: Path) -> None:
    answer("--property", "francophone", "--kind", "count-and-size", "--scale", "10", "--where", "angioplasty = 'yes'")
    words = ("--office", "researcher", "--level", SURE, "--population-share", "0.045", "--population", f"{PEOPLE}")
    found = run("linked", "read", "a.env", *words, "--format", "json").json()
    [(french, others)] = sampled(tmp_path, all="angioplasty == 'yes'").values()
    [interval] = found["intervals"]
    assert min(french, others) > 20
    assert holds(interval["count"], french)
    assert holds(interval["size"], french + others)
    assert holds(interval["share"], french / (french + others))
    assert holds(interval["rate_ratio"], french / others / (0.045 / 0.955))
    assert holds(interval["rate_with"], french / (0.045 * PEOPLE))
    assert holds(interval["rate_without"], others / (0.955 * PEOPLE))

    where = ("--where", "age >= 65 AND diabetes = 'type 2'")
    groups = [word for name, criterion in BANDS.items() for word in ("--group", f"{name}: {criterion}")]
    answer("--property", "francophone", "--kind", "count-and-size", "--scale", "10", *where, *groups, name="b")
    found = run("linked", "read", "b.env", "--labels", "b-labels.env", *words[:4], "--format", "json").json()
    old = "age >= 65 and diabetes == 'type 2' and hospital_days"
    truths = sampled(tmp_path, none=f"{old} == 0", few=f"{old} >= 1 and hospital_days <= 7", many=f"{old} >= 8")
    assert [row["group"] for row in found["rows"]] == list(BANDS)
    french, others = (sum(pair[place] for pair in truths.values()) for place in (0, 1))
    for interval, (own, other) in zip(found["intervals"], truths.values(), strict=True):
        assert holds(interval["count"], own)
        assert holds(interval["size"], own + other)
        assert holds(interval["distribution_with"], own / french)
        assert holds(interval["distribution_without"], other / others)


def test_an_answer_is_read_again_and_by_its_request(answer: Answer, run: Run, tmp_path: Path) -> None:
    asked = ("--property", "francophone", "--kind", "count-and-size", "--where", "age >= 65")
    groups = ("--group", "men: sex = 'male'", "--group", "women: sex = 'female'")
    answer(*asked, *groups)
    office = ("--office", "researcher")
    refused = run("linked", "read", "a.env", *office, code=1)
    assert "--labels" in refused.err
    first = run("linked", "read", "a.env", "--labels", "a-labels.env", *office, "--format", "json")
    request = first.json()["request_id"]
    again = run("linked", "read", "a.env", *office, "--format", "json")
    kept = run("linked", "read", request, *office, "--format", "json")
    assert first.out == again.out == kept.out
    french = run("linked", "read", request, *office, "--lang", "fr").out
    assert french.startswith("Soins des francophones\u00a0: Le français est la première langue officielle\n")
    written = run("linked", "read", request, *office, "--out", "t.xlsx").out
    assert "charged 20 of the 415 parts of an account" in written
    assert (tmp_path / "t.xlsx").stat().st_size > 1_000

    unknown = run("linked", "read", "0" * 32, *office, code=None)
    assert unknown.code
    assert "is not in the requests of this office" in unknown.err
    assert run("linked", "read", "a.env", "--office", "holder", code=None).err.startswith("UsageError")
    assert "is not there" in run("linked", "read", "b.env", *office, code=None).err
    for wrong in (("--level", "1"), ("--population", "5"), ("--population-share", "1.5"), ("--out", "t.doc")):
        done = run("linked", "read", request, *office, *wrong, code=None)
        assert done.code
        assert done.err.startswith("ParameterInvalid")


def test_what_came_by_network_is_read_by_its_request(answer: Answer, run: Run, tmp_path: Path) -> None:
    groups = ("--group", "men: sex = 'male'", "--group", "women: sex = 'female'")
    sealed = answer("--property", "francophone", *groups).read_bytes()
    study = find_study(tmp_path / "researcher")
    [request] = study.requests()
    run("linked", "read", request, "--office", "researcher", code=1)
    post = ResearcherPost(study, print)
    post.accept(EnvelopeKind.ANSWER, sealed)
    post.accept(EnvelopeKind.LABELS, (tmp_path / "a-labels.env").read_bytes())
    read = run("linked", "read", request, "--office", "researcher", "--format", "csv").out
    assert [line.split(",")[0] for line in read.splitlines()] == ["group", "men", "women"]


def test_a_sample_is_no_answer(answer: Answer, run: Run) -> None:
    answer("--property", "francophone")
    refused = run("linked", "read", "a-sample.env", "--office", "researcher", code=None)
    assert refused.code
    assert "refused" in refused.err
