"""Weights in classes: which there are, who is sent as what, and what manifests without them say."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from discreet.cards.columns import CardFault, WeightRule
from discreet.collect.reporting.encoding import encode_file
from discreet.collect.reporting.manifest import WeightScale
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.collect.reporting.reports import Refusal, read_collected
from discreet.collect.reporting.signing import SignedManifest
from discreet.collect.reporting.weight_steps import draw_classes
from discreet.errors import ManifestInvalid
from discreet.noise.entropy import SystemEntropy

TEXT = """\
survey: classes
version: 1
epsilon: 2
weight: {column: weight, cap: {by: town, values: {N: 80, S: 8}}, step: 1, classes: 4}
groups:
  town: {categories: [N, S]}
questions:
  smokes: {kind: category, categories: [a, b]}
"""


def test_classes_halve_the_cap() -> None:
    scale = WeightScale(WeightRule("w", cap=Decimal(4400)), Decimal("0.01"), 8)
    assert scale.class_steps(440_000) == (3438, 6875, 13750, 27500, 55000, 110_000, 220_000, 440_000)
    assert scale.rounding == pytest.approx(1 / 9, rel=1e-3)
    assert WeightScale(WeightRule("w", cap=Decimal(3)), Decimal(1), 8).class_steps(3) == (1, 2, 3)
    exact = WeightScale(WeightRule("w", cap=Decimal(4400)), Decimal("0.01"))
    assert (exact.class_steps(440_000), exact.rounding) == ((), 0.0)
    for classes in (1, 17):
        with pytest.raises(CardFault, match="from 2 to 16"):
            WeightScale(WeightRule("w", cap=Decimal(4400)), Decimal("0.01"), classes)


def test_a_weight_is_sent_as_one_of_the_two_classes_next_to_it() -> None:
    manifest = parse_manifest(TEXT, file="m.yaml")
    weights = np.array([80, 79, 41, 40, 11, 10, 3, 0, 8, 5, 1, 0], dtype=np.int64)
    groups = {"town": np.repeat(np.array([0, 1]), (8, 4))}
    near = [{80}, {40, 80}, {40, 80}, {40}, {10, 20}, {10}, {10}, {0}, {8}, {4, 8}, {1}, {0}]
    for _ in range(20):
        drawn = draw_classes(SystemEntropy(), weights, manifest=manifest, groups=groups)
        assert all(weight in classes for weight, classes in zip(drawn.tolist(), near, strict=True))


def test_without_classes_weights_stay_as_they_are() -> None:
    """And a manifest that was signed without them says what it said."""
    manifest = parse_manifest(TEXT.replace(", classes: 4", ""), file="m.yaml")
    weights = np.array([79, 3], dtype=np.int64)
    drawn = draw_classes(SystemEntropy(), weights, manifest=manifest, groups={"town": np.array([0, 1])})
    assert drawn.tolist() == [79, 3]
    written = manifest.to_content()["weight"]
    assert isinstance(written, dict)
    assert set(written) == {"column", "cap", "step"}
    with pytest.raises(ManifestInvalid, match="classes of the weight"):
        parse_manifest(TEXT.replace("classes: 4", "classes: 40"), file="m.yaml")


def test_only_classes_are_written_and_only_they_are_read(tmp_path: Path) -> None:
    signed = SignedManifest(parse_manifest(TEXT, file="m.yaml"), "ab" * 32, "00" * 32, trusted=True)
    answers, out = tmp_path / "answers.csv", tmp_path / "reports.jsonl"
    rows = [f"{'NS'[place % 2]},{1 + place % 80},a" for place in range(400)]
    answers.write_text("\n".join(["town,weight,smokes", *rows]), encoding="utf-8")
    encode_file(signed, answers, out=out)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    sent = {town: {line["weight"] for line in lines if line["groups"]["town"] == town} for town in "NS"}
    assert sent == {"N": {10, 20, 40, 80}, "S": {2, 4, 8}}
    assert read_collected(out, signed).respondents == 400
    next(line for line in lines if line["weight"] == 10)["weight"] = 11
    out.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read_collected(out, signed).refused == {Refusal.BAD_WEIGHT: 1}
