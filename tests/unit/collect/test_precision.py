"""What is foretold of a collection: by hand, with declared groups and weights, and what cannot be foretold."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.collect.estimates.precision import CollectionOutlook, expect_precision, read_group_shares
from discreet.collect.randomisers.randomiser import FrequencyOracle
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.errors import ParameterInvalid, UnknownName, UsageError

TEXT = """\
survey: plain
version: 1
epsilon: 2
groups:
  town: {categories: [N, S, E, W]}
questions:
  smokes: {kind: category, categories: [a, b, c], missing: public}
  age: {kind: integer, bounds: [0, 120]}
"""
WEIGHT = "weight: {column: w, cap: {by: town, values: {N: 10, S: 10, E: 10, W: 70}}, step: 1, classes: 2}\n"


def reach(found: CollectionOutlook, question: str, category: str | None = None) -> float:
    own = next(each for each in found.expected if (each.question, each.category) == (question, category))
    assert own.half_width is not None
    return own.half_width


def test_a_share_by_hand() -> None:
    manifest = parse_manifest(TEXT, file="m.yaml")
    oracle = randomiser_for(manifest.question("smokes"))
    assert isinstance(oracle, FrequencyOracle)
    p, q = oracle.channel().p, oracle.channel().q
    noise = (q * (1 - q) + (p - q) * (1 - p - q) / 3) / (p - q) ** 2
    by_hand = 1.959964 * math.sqrt((noise + 0.5 * 2 / 9) / 500)
    found = expect_precision(manifest, respondents=1_000)
    assert reach(found, "smokes") == pytest.approx(by_hand, rel=1e-6)
    assert reach(found, "smokes", "N") == pytest.approx(2 * by_hand, rel=1e-6)
    narrower = expect_precision(manifest, respondents=1_000, level=0.68)
    assert reach(narrower, "smokes") == pytest.approx(by_hand * 0.994458 / 1.959964, rel=1e-5)
    assert [(each.group, each.category) for each in found.expected[:5]] == [
        (None, None),
        *(("town", code) for code in "NSEW"),
    ]
    assert all(each.worst is not None and each.worst >= (each.half_width or 0) for each in found.expected)


def test_groups_may_be_declared() -> None:
    manifest = parse_manifest(TEXT, file="m.yaml")
    shares = read_group_shares(["town=N:0.7,S:0.1"], manifest)
    found = expect_precision(manifest, respondents=1_000, group_shares=shares)
    people = {each.category: each.respondents for each in found.expected if each.question == "age"}
    assert people == {None: 1_000, "N": 700, "S": 100, "E": 100, "W": 100}
    assert "as declared" in found.assumptions[0].en
    assert "the same number" in expect_precision(manifest, respondents=1_000).assumptions[0].en


def test_unequal_weights_widen() -> None:
    """Half of the weights are half of the others: 1 + 1/9. Caps 10, 10, 10, 70 add (3·100 + 4900)/4 over 25²."""
    plain = expect_precision(parse_manifest(TEXT, file="m.yaml"), respondents=4_000)
    weighed = parse_manifest(TEXT.replace("groups:", f"{WEIGHT}groups:"), file="m.yaml")
    found = expect_precision(weighed, respondents=4_000)
    assert found.design_effect == pytest.approx(10 / 9 * 1300 / 625)
    assert reach(found, "smokes", "N") > reach(plain, "smokes", "N") * math.sqrt(10 / 9)
    assert any("spread evenly over the classes" in labels.en for labels in found.assumptions)
    stated = expect_precision(weighed, respondents=4_000, design_effect=4)
    assert reach(stated, "age") == pytest.approx(
        2 * reach(expect_precision(weighed, respondents=4_000, design_effect=1), "age")
    )


def test_nothing_is_foretold_of_hardly_anybody() -> None:
    found = expect_precision(parse_manifest(TEXT, file="m.yaml"), respondents=6)
    told = {each.category: each.half_width for each in found.expected if each.question == "smokes"}
    assert told[None] is not None
    assert told["N"] is None


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("region=N:0.5", UnknownName, "region"),
        ("town=X:0.5", UnknownName, "X"),
        ("town=N:0,5", UsageError, "use a point"),
        ("town=NN:0.5", UnknownName, "Did you mean 'N'"),
        ("town=N:2", UsageError, "from 0 to 1"),
        ("town=N:1e-5", UsageError, "from 0 to 1"),
        ("town", UsageError, "declares nothing"),
        ("town=N:0.8,S:0.3", UsageError, "together they must make 1"),
        ("town=N:0.1,S:0.1,E:0.1,W:0.1", UsageError, "add up to 0.4"),
    ],
)
def test_wrong_declarations_are_refused(text: str, error: type[Exception], words: str) -> None:
    manifest = parse_manifest(TEXT, file="m.yaml")
    with pytest.raises(error, match=words):
        expect_precision(manifest, respondents=10, group_shares=read_group_shares([text], manifest))


def test_numbers_out_of_range_are_refused() -> None:
    manifest = parse_manifest(TEXT, file="m.yaml")
    for respondents in (0, 10**12):
        with pytest.raises(ParameterInvalid, match="respondents"):
            expect_precision(manifest, respondents=respondents)
    with pytest.raises(ParameterInvalid, match="design effect"):
        expect_precision(manifest, respondents=10, design_effect=0.5)
    with pytest.raises(ParameterInvalid, match="level"):
        expect_precision(manifest, respondents=10, level=95)
    declared = {"town": {"N": Fraction(1)}}
    assert expect_precision(manifest, respondents=10, group_shares=declared).expected[2].respondents == 0
