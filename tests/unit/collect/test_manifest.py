"""Manifests: read strictly, settled from public facts, signed, and refused when altered."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from discreet.cards.card import parse_card
from discreet.catalogue import speaking
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest import Manifest, Missing, Mode
from discreet.collect.reporting.manifest_draft import draft_manifest
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.collect.reporting.signing import create_keys, read_signed, sign_manifest
from discreet.errors import ManifestInvalid, PathInvalid, SignatureInvalid, UsageError

TEXT = """\
survey: health
version: 3
title: {en: Health, fr: Santé}
epsilon: 6
weight: {column: weight, cap: {by: province, values: {10: 20, 24: 50}}}
groups:
  province: {categories: {10: Terre-Neuve, 24: Québec 😀}}
questions:
  smoking: {kind: category, categories: {2: Daily, 1: Never}, missing_codes: [9]}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.001, missing: public}
  income: {kind: integer, bounds: [0, 200]}
"""


def read(text: str) -> Manifest:
    return parse_manifest(text, file="m.yaml")


def problems(text: str) -> str:
    with pytest.raises(ManifestInvalid) as caught:
        read(text)
    return caught.value.message


@pytest.fixture
def key(tmp_path: Path) -> Path:
    create_keys(tmp_path / "survey.key")
    return tmp_path / "survey.key"


def test_what_is_left_automatic_is_settled() -> None:
    manifest = read(TEXT)
    assert (manifest.mode, manifest.asked, manifest.inclusion) == (Mode.SAMPLING, 2, Fraction(2, 3))
    assert [question.epsilon for question in manifest.questions] == [Decimal(3)] * 3
    assert [question.missing for question in manifest.questions] == [Missing.CATEGORY, Missing.PUBLIC, Missing.CATEGORY]
    assert manifest.question("smoking").randomiser == "grr"
    assert [answer.code for answer in manifest.question("smoking").answers] == ["2", "1", ""]
    assert manifest.question("height").grid == 900
    assert str(manifest.guarantee()) == "local DP, epsilon = 6 per respondent"


def test_a_split_shares_epsilon_and_rounds_down() -> None:
    manifest = read(TEXT.replace("epsilon: 6", "epsilon: 1\nmode: split"))
    assert manifest.asked == 3
    assert {question.epsilon for question in manifest.questions} == {Decimal("0.333333333")}
    assert manifest.spent <= 1


def test_the_questions_of_one_respondent_stay_within_the_total() -> None:
    stated = TEXT.replace("kind: integer,", "kind: integer, epsilon: 3.1,")
    assert "m.yaml:4: the questions of one respondent cost more than the total epsilon 6" in problems(stated)
    assert read(stated.replace("epsilon: 6", "epsilon: 7")).spent == 7


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("epsilon: 6", "epsilom: 6", "unknown key 'epsilom' in the manifest; did you mean 'epsilon'?"),
        ("missing: public", "misssing: public", "m.yaml:10: unknown key 'misssing' in question 'height'"),
        ("epsilon: 6", "epsilon: -1", "m.yaml:4: epsilon must be positive"),
        ("epsilon: 6", "epsilon: DECIDE", "epsilon is still to be decided"),
        ("version: 3", "version: 1.5", "version must be a whole number"),
        ("kind: integer, bounds: [0, 200]", "kind: integer", "needs bounds"),
        ("kind: integer, bounds: [0, 200]", "kind: text", "must be category, integer or number; received 'text'"),
        ("missing: public", "missing: public, randomiser: clip", "randomiser 'clip' is not one for"),
        ("missing: public", "missing: public, randomiser: duchy", "did you mean 'duchi'?"),
        ("missing_codes: [9]", "randomiser: grr, epsilon: 60", "epsilon of 'grr' must be above 0 and at most 50"),
        ("{2: Daily, 1: Never}", "{2: Daily, 2.0: Never}", "are the same code"),
        ("  income:", "  weight:", "'weight' names two things"),
        ("values: {10: 20, 24: 50}", "values: {10: 20}", "one number for every category of 'province'"),
        ("by: province", "by: town", "cap column 'town' is not among the groups"),
        ("24: 50}", "24: 500000}", "cap 500000 is more than 16,777,216 steps; take a coarser step"),
        ("epsilon: 6", "epsilon: 6\nasked: 4", "asked must lie between 1 and the number of questions"),
        ("epsilon: 6", "epsilon: 6\nmode: split\nasked: 2", "mode: split asks every question"),
        ("epsilon: 6", "epsilon: 6\nrespondent: id", "respondent must be random, or {token: column}"),
    ],
)
def test_faults_are_told_with_their_line(old: str, new: str, told: str) -> None:
    assert old in TEXT
    assert told in problems(TEXT.replace(old, new))


def test_all_problems_are_told_at_once() -> None:
    found = problems(TEXT.replace("version: 3", "version: no").replace("kind: number", "kind: numbr"))
    assert "m.yaml:2: version" in found
    assert "m.yaml:10: kind of question 'height'" in found


def test_keys_are_private_and_never_overwritten(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert b"PRIVATE" not in key.with_name("survey.key.pub").read_bytes()
    with pytest.raises(PathInvalid, match="never overwritten"):
        create_keys(key)


def test_a_signed_manifest_reads_back_whole(key: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(sign_manifest(read(TEXT), key=key), encoding="utf-8")
    signed = read_signed(file, trust=key.with_name("survey.key.pub"))
    assert signed.manifest == read(TEXT)
    assert signed.trusted
    stated = json.loads(file.read_text(encoding="utf-8"))
    assert stated["digest"] == signed.digest
    assert [question["name"] for question in stated["manifest"]["questions"]] == ["smoking", "height", "income"]
    assert all(question["parameters"]["epsilon"] == "3" for question in stated["manifest"]["questions"])
    untrusted = read_signed(file)
    assert not untrusted.trusted
    odd = TEXT.replace("{2: Daily, 1: Never}", r'["two\nlines", "a  b", "=1+1", "＝1", "a\"b"]')
    (tmp_path / "odd.json").write_text(sign_manifest(read(odd), key=key), encoding="utf-8")
    assert read_signed(tmp_path / "odd.json").manifest == read(odd)
    assert "was not verified" in untrusted.verification


def test_the_signed_manifest_builds_the_same_randomisers(key: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    manifest = read(TEXT)
    file.write_text(sign_manifest(manifest, key=key), encoding="utf-8")
    for here, there in zip(manifest.questions, read_signed(file).manifest.questions, strict=True):
        assert randomiser_for(here) == randomiser_for(there)


def test_what_is_signed_does_not_depend_on_the_language(key: Path, tmp_path: Path) -> None:
    english = sign_manifest(read(TEXT), key=key)
    with speaking("fr"):
        assert sign_manifest(read(TEXT), key=key) == english
        (tmp_path / "m.json").write_text(english, encoding="utf-8")
        signed = read_signed(tmp_path / "m.json")
        assert signed.verification.startswith("la signature est valide")
    assert signed.digest == json.loads(english)["digest"]
    assert signed.verification.startswith("the signature holds")


def test_a_signature_names_its_purpose_and_its_form(key: Path) -> None:
    """Verified without our code, as software in other languages does; manifests handed out long ago must still hold."""
    stated = json.loads(sign_manifest(read(TEXT), key=key))
    form = json.dumps(stated["manifest"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert stated["digest"] == hashlib.sha256(form).hexdigest()
    signature = stated["signature"]
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
    public.verify(bytes.fromhex(signature["value"]), b"discreet-survey-manifest-1\n" + form)


def _set_epsilon(signed: dict[str, Any]) -> None:
    signed["manifest"]["epsilon"] = "60"


def _swap_categories(signed: dict[str, Any]) -> None:
    signed["manifest"]["questions"][0]["categories"].reverse()


def _set_digest(signed: dict[str, Any]) -> None:
    signed["digest"] = "0" * 64


def _set_signature(signed: dict[str, Any]) -> None:
    signed["signature"]["value"] = "0" * 128


def _add_key(signed: dict[str, Any]) -> None:
    signed["more"] = 1


def _set_shape(signed: dict[str, Any]) -> None:
    signed["manifest"] = []


@pytest.mark.parametrize("alter", [_set_epsilon, _swap_categories, _set_digest, _set_signature, _add_key, _set_shape])
def test_an_altered_manifest_is_refused(alter: Callable[[dict[str, Any]], None], key: Path, tmp_path: Path) -> None:
    signed = json.loads(sign_manifest(read(TEXT), key=key))
    alter(signed)
    file = tmp_path / "m.json"
    file.write_text(json.dumps(signed), encoding="utf-8")
    with pytest.raises(SignatureInvalid):
        read_signed(file)


def test_a_manifest_altered_and_digested_anew_fails_its_signature(key: Path, tmp_path: Path) -> None:
    other = json.loads(sign_manifest(read(TEXT.replace("epsilon: 6", "epsilon: 60")), key=key))
    signed = json.loads(sign_manifest(read(TEXT), key=key))
    signed["manifest"], signed["digest"] = other["manifest"], other["digest"]
    file = tmp_path / "m.json"
    file.write_text(json.dumps(signed), encoding="utf-8")
    with pytest.raises(SignatureInvalid, match="signature"):
        read_signed(file)


def test_another_key_is_not_the_trusted_one(key: Path, tmp_path: Path) -> None:
    create_keys(tmp_path / "other.key")
    file = tmp_path / "m.json"
    file.write_text(sign_manifest(read(TEXT), key=tmp_path / "other.key"), encoding="utf-8")
    read_signed(file)
    with pytest.raises(SignatureInvalid, match="not with the key"):
        read_signed(file, trust=key.with_name("survey.key.pub"))


def test_a_signature_over_rules_that_do_not_hold_is_no_help(key: Path, tmp_path: Path) -> None:
    """Signed by the right key, but with a claim that the software does not derive: refused, not believed."""
    from discreet.collect.reporting import signing

    content = signing._content(read(TEXT))
    content["questions"][0]["parameters"]["epsilon"] = "1"
    data = signing._canonical(content)
    signed = json.loads(sign_manifest(read(TEXT), key=key))
    private = signing._read_private(key)
    signed["manifest"], signed["digest"] = content, __import__("hashlib").sha256(data).hexdigest()
    signed["signature"]["value"] = private.sign(signing._message(data)).hex()
    file = tmp_path / "m.json"
    file.write_text(json.dumps(signed), encoding="utf-8")
    with pytest.raises(ManifestInvalid, match="as the version that signed it did"):
        read_signed(file)


def test_a_key_that_others_may_read_is_refused(key: Path) -> None:
    os.chmod(key, 0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        sign_manifest(read(TEXT), key=key)


CARD = """\
dataset: clinic
population: patients
unit: {column: patient, rows: 1}
neighbours: add-remove
budget: {epsilon: 3}
weight: {column: weight, cap: {by: town, values: {N: 20, S: 30}}}
columns:
  patient: {kind: id, type: integer}
  town: {kind: category, public: true, categories: {N: North, S: South}}
  smokes: {kind: category, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}, missing: [9]}
  age: {kind: integer, bounds: [0, 110]}
  note: {kind: text}
"""


def test_a_draft_is_the_same_manifest_in_both_languages() -> None:
    card = parse_card(CARD, file="card.yaml")
    english = draft_manifest(card, epsilon="2", groups=["town"])
    with speaking("fr"):
        french = draft_manifest(card, epsilon="2", groups=["town"])
    assert "# Une ébauche." in french
    assert read(french) == read(english)


def test_a_draft_from_a_card_reads_as_a_manifest() -> None:
    card = parse_card(CARD, file="card.yaml")
    manifest = read(draft_manifest(card, epsilon="2", groups=["town"]))
    assert [question.name for question in manifest.questions] == ["smokes", "age"]
    assert [group.name for group in manifest.groups] == ["town"]
    assert manifest.weight is not None
    assert manifest.weight.cap_steps("S") == 3000
    assert manifest.question("smokes").column.missing == ("9",)
    few = read(draft_manifest(card, epsilon="2", columns=["age"]))
    assert ([question.name for question in few.questions], few.groups) == (["age"], ())
    for wrong in ({"groups": ["smokes"]}, {"columns": ["note"]}):
        with pytest.raises(UsageError):
            draft_manifest(card, epsilon="2", **wrong)
