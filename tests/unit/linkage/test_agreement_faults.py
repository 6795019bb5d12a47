"""Agreements of every bad kind: one clear sentence with its line; altered ones; maps and crosswalks that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import AgreementInvalid, DiscreetError, FileRefused, ParameterInvalid, Refused, SignatureInvalid
from discreet.linkage import (
    Agreement,
    Office,
    OfficeRole,
    SignedAgreement,
    create_office,
    open_office,
    open_registry,
    open_researcher,
    parse_terms,
    read_agreement,
    read_public_office,
    read_terms,
    write_agreement,
)
from discreet.linkage.agreements.agreement_reader import require_writable
from discreet.session import Session
from tests.unit.linkage.forged import write
from tests.unit.linkage.three_offices import HEALTH_CARD, PEOPLE_CARD, make_workspace, people_rows, sign_all, terms_text

FRANCOPHONE = """francophone: {where: "french = 'yes' AND english = 'no'"}"""


def said(text: str, folder: Path = Path()) -> str:
    with pytest.raises(AgreementInvalid) as caught:
        parse_terms(text, file="a.yaml", folder=folder)
    told = str(caught.value)
    assert told.isprintable() or "\n" in told
    assert all(re.match(r"a\.yaml:\d+: ", line) for line in told.splitlines())
    return told


def with_property(text: str) -> str:
    return terms_text().replace(FRANCOPHONE, text)


TONGUE = "  tongue:\n"

WRONG = {
    "": "a.yaml:1: the file is empty",
    "- a\n": "the agreement must be a mapping",
    "\tstudy: a": "this is not YAML",
    "study: a\0b": "control character U+0000 is not allowed",
    "study: " + "[" * 2000: "nesting is deeper",
    "a: &a [x]\nb: [*a, *a]\n": "anchors (&name) are not allowed",
    terms_text().replace("study: ", "study: !!python/name:os.system "): "a.yaml:1: tags (!name) are not allowed",
    terms_text() + "study: again\n": "key 'study' appears twice (first on line 1)",
    terms_text() + "colour: red\n": "unknown key 'colour' in the agreement",
    terms_text(holder=""): "key 'holder' is missing in the agreement",
    terms_text(study="study: ../x"): "study '../x' must be lower-case letters",
    terms_text(study="study: Tongues"): "study 'Tongues' must be lower-case letters",
    terms_text(study='study: "a\\e[2Jb"'): "control character U+001B is not allowed",
    terms_text(study='study: "a\\u202eb"'): "control character U+202E is not allowed",
    terms_text(holder='holder: {dataset: "h\\x07", id: number}'): "control character U+0007 is not allowed",
    terms_text(ids="ids: float"): "type of the ids must be integer or text; received 'float'",
    terms_text(ids="ids: [integer]"): "type of the ids must be one word or text",
    terms_text(people="people: 0"): "people must be a whole number from 1",
    terms_text(people="people: many"): "people must be a plain decimal number; received 'many'",
    terms_text(policy="policy: {belief: 1}"): "belief must be below 1",
    terms_text(policy="policy: {belief: 0.4}"): "belief must be above the prior",
    terms_text(policy="policy: {belief: .nan}"): "belief must be a plain finite decimal number",
    terms_text(policy="policy: high"): "policy must be a mapping with the keys belief, prior",
    terms_text(scales="scales: []"): "scales must be a list",
    terms_text(scales="scales: [10, 10]"): "scales must each be named once",
    terms_text(scales="scales: [-1]"): "scale must be a whole number from 1 to 65,535",
    terms_text(scales="scales: [7, 11, 13, 17, 19, 23]"): "choose a smaller common multiple",
    terms_text(kinds="kinds: [groups]"): "at least one kind beside groups",
    terms_text(kinds="kinds: [sum]"): "received 'sum'",
    with_property("francophone: {}"): "has either `where` or `values`",
    with_property("francophone: {where: ''}"): "where of property 'francophone' has no value",
    with_property("francophone: {where: DROP TABLE x}"): "where of 'francophone' is not a single condition",
    with_property('francophone: {where: "a = 1; b = 2"}'): "where of 'francophone' is not a single condition",
    with_property('"fr\\x07": {where: a = 1}'): "control character U+0007 is not allowed",
    terms_text().replace(TONGUE, f"{TONGUE}    answers: 9\n"): "has 3 values, fewer than answers",
    terms_text().replace(TONGUE, f"{TONGUE}    weight: {{column: weight, most: 1, step: 0.3}}\n"): "whole steps",
    terms_text().replace(TONGUE, f"{TONGUE}    weight: {{column: weight, most: 0}}\n"): "weight must be positive",
    terms_text(quota="quota: -1"): "quota must be a whole number",
    terms_text(largest_sample="largest_sample: 5"): "nothing may depend on its size",
    terms_text(expires="expires: 2099-02-30"): "expires '2099-02-30' is not a day",
    terms_text(expires="expires: tomorrow"): "expires 'tomorrow' must be day",
    terms_text(expires="expires: 9999-12-31"): "has no day after it",
    terms_text(unit="unit: village"): "unit must be person, household",
    terms_text(unit="unit: {map: nothing.csv, members: 4}"): "map 'nothing.csv' is not there or cannot be read",
    terms_text(unit="unit: {map: ., members: 4}"): "map '.' is not there or cannot be read",
    terms_text(unit='unit: {map: "a\\0b", members: 4}'): "control character U+0000 is not allowed",
    terms_text(unit="unit: {map: m.csv, members: 0}"): "members of the unit must be a whole number",
    terms_text(linked_share="linked_share: 1.5"): "linked_share must be below 1",
    terms_text(closing="closing: {share: 2}"): "share of the closing rule must be below 1",
    terms_text(closing="closing: {epsilon: 0}"): "epsilon of the closing rule must be positive",
    terms_text(closing=""): "with so few people the closing rule would close by its noise alone",
    terms_text(slots="slots: maybe"): "slots must be true or false",
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.items(), ids=map(str, range(len(WRONG))))
def test_what_is_wrong_with_an_agreement_is_said_with_its_line(text: str, sentence: str) -> None:
    assert sentence in said(text)


def test_every_problem_is_said_at_once() -> None:
    told = said(terms_text(people="people: 0", quota="quota: 0", ids="ids: float"))
    assert len(told.splitlines()) == 3


def test_files_that_are_none(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.yaml"):
        with pytest.raises(DiscreetError):
            read_terms(path)
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DiscreetError):
        read_terms(tmp_path / "a.yaml")


# --- offices and signatures -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[Office]:
    folder = tmp_path_factory.mktemp("offices")
    return [create_office(folder / role.value, role=role, name=role.value.title()) for role in OfficeRole]


@pytest.mark.parametrize("name", ["", "  ", "a\x1b[2J", "a\nb", "a\u202eb", "a" * 81, "\0"])
def test_an_office_has_a_name_that_can_be_shown(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterInvalid) as caught:
        create_office(tmp_path / "o", role=OfficeRole.HOLDER, name=name)
    assert str(caught.value).isprintable()
    assert not (tmp_path / "o").exists()
    create_office(tmp_path / "p", role=OfficeRole.HOLDER, name="Santé publique")
    file = tmp_path / "p" / "office.json"
    content = json.loads(file.read_text())
    content["office"]["name"] = name
    file.write_text(json.dumps(content))
    with pytest.raises(Refused, match="does not describe an office"):
        read_public_office(tmp_path / "p")


def test_keys_of_another_office_are_refused(three: list[Office], tmp_path: Path) -> None:
    for file in ("sign.key", "seal.key"):
        kept = (three[0].folder / file).read_bytes()
        for wrong in (b"", b"junk", (three[1].folder / file).read_bytes()):
            (three[0].folder / file).write_bytes(wrong)
            with pytest.raises(Refused, match="is missing, or is not the key"):
                open_office(three[0].folder)
        (three[0].folder / file).write_bytes(kept)
    assert open_office(three[0].folder).public == three[0].public


def test_signatures_that_are_missing_are_named(three: list[Office], tmp_path: Path) -> None:
    whole = sign_all(terms_text(), three, tmp_path)
    for role in OfficeRole:
        some = SignedAgreement(whole.agreement, {key: value for key, value in whole.signatures.items() if key != role})
        write_agreement(some, tmp_path / "some.json")
        with pytest.raises(Refused, match=f"lacks the signature of the {role}"):
            open_researcher(three[0], read_agreement(tmp_path / "some.json"))
    with pytest.raises(Refused, match="of the researcher, the holder and the registry"):
        SignedAgreement(whole.agreement, {}).require_signed()


def test_an_office_that_is_not_named_neither_signs_nor_opens(three: list[Office], tmp_path: Path) -> None:
    whole = sign_all(terms_text(), three, tmp_path)
    other = create_office(tmp_path / "other", role=OfficeRole.RESEARCHER, name="Researcher")
    with pytest.raises(Refused, match="names another researcher"):
        whole.sign(other)
    with pytest.raises(Refused, match="names another researcher"):
        open_researcher(other, whole)


ALTERED: list[tuple[str, Any]] = [
    ("people", 10**9),
    ("quota", 10**9),
    ("expires", "2199-12-31"),
    ("study", "others"),
    ("policy", {"belief": "0.99", "prior": "0.5"}),
    ("slots", True),
    ("study", "\x1b[2J"),
    ("study", 5),
    ("study", None),
    ("people", "1000"),
    ("people", 1000.0),
    ("people", True),
    ("quota", -1),
    ("scales", []),
    ("scales", ["10"]),
    ("scales", [10, 10]),
    ("kinds", ["sum"]),
    ("ids", "float"),
    ("expires", "9999-12-31"),
    ("expires", "never"),
    ("closing", {"share": "0.9", "epsilon": "0"}),
    ("closing", {"share": "NaN", "epsilon": "0.1"}),
    ("policy", {"belief": "0.8", "prior": "-1"}),
    ("unit", {"is": "village", "map": None, "members": 1}),
    ("unit", {"is": "person", "map": "../x", "members": 1}),
    ("unit", {"is": "household", "map": None, "members": 7}),
    ("title", {"en": "a\u202e", "fr": "b"}),
    ("title", {"en": "a"}),
    ("holder", {"dataset": "../../etc", "id": "number"}),
    ("properties", []),
    ("linked_share", "2"),
]


@pytest.mark.parametrize(("key", "value"), ALTERED)
def test_an_altered_agreement_is_found(three: list[Office], tmp_path: Path, key: str, value: Any) -> None:
    file = tmp_path / "a.json"
    write_agreement(sign_all(terms_text(), three, tmp_path), file)
    content = json.loads(file.read_text())
    content["agreement"]["terms"][key] = value
    file.write_text(json.dumps(content))
    with pytest.raises(SignatureInvalid, match="altered") as caught:
        read_agreement(file)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("key", "value"), ALTERED[6:])
def test_terms_that_no_file_could_give_are_refused_though_all_have_signed(
    three: list[Office], tmp_path: Path, key: str, value: Any
) -> None:
    """One who writes the file that others sign chooses its bytes: names are shown, and numbers counted with."""
    file = tmp_path / "a.json"
    whole = sign_all(terms_text(), three, tmp_path)
    content = {"agreement": whole.agreement.to_content(), "signatures": {}}
    content["agreement"]["terms"][key] = value
    file.write_text(json.dumps(content))
    with pytest.raises(SignatureInvalid, match="is not an agreement"):
        read_agreement(file)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"agreement": {}, "signatures": {}}', b" " * 4_000_001],
)
def test_files_that_are_no_agreements(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(SignatureInvalid, match="is not an agreement"):
        read_agreement(tmp_path / "a.json")


def test_signatures_of_another_agreement_or_office_do_not_hold(three: list[Office], tmp_path: Path) -> None:
    one = sign_all(terms_text(), three, tmp_path)
    other = sign_all(terms_text(study="study: other"), three, tmp_path)
    swapped = {OfficeRole.HOLDER: one.signatures[OfficeRole.REGISTRY]}
    for signatures in (other.signatures, swapped):
        write_agreement(SignedAgreement(one.agreement, signatures), tmp_path / "a.json")
        with pytest.raises(SignatureInvalid, match="does not hold"):
            read_agreement(tmp_path / "a.json")
    twice = Agreement(one.agreement.terms, {**one.agreement.offices, OfficeRole.HOLDER: three[0].public})
    write_agreement(SignedAgreement(twice, {}), tmp_path / "a.json")
    with pytest.raises(SignatureInvalid, match="is not an agreement"):
        read_agreement(tmp_path / "a.json")


def test_what_a_file_says_can_be_written_and_read_again(tmp_path: Path) -> None:
    write(tmp_path / "m.csv", ["id,unit", "1,a"])
    weight = '    label: {en: \'T: #1\', fr: "L\\"é"}\n    answers: 2\n    weight: {column: w, most: 2.5, step: 0.5}\n'
    for text in (
        terms_text(),
        terms_text(unit="unit: household", linked_share="linked_share: 0.55", slots=""),
        terms_text(unit="unit: {map: m.csv, members: 4}", title="title: {en: 'yes', fr: '0.5'}"),
        terms_text().replace(TONGUE, TONGUE + weight),
    ):
        require_writable(parse_terms(text, file="a.yaml", folder=tmp_path))


# --- maps and crosswalks ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Office], Path, Session]]:
    folder = tmp_path_factory.mktemp("offices")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path_factory.mktemp("keys")))
        card = PEOPLE_CARD.replace("column: person, rows: 1", "column: household, rows: 4")
        session = make_workspace(folder / "workspace", card, people_rows()[1])
    yield [create_office(folder / role.value, role=role, name=role.value) for role in OfficeRole], folder, session
    session.close()


def open_mapped(registry: tuple[list[Office], Path, Session], path: Path, **given: Any) -> None:
    three, folder, _ = registry
    signed = sign_all(terms_text(unit=f"unit: {{map: {path.name}, members: 4}}"), three, path.parent)
    open_registry(three[2], signed, workspace=folder / "workspace", **{"unit_map": path, **given})


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["id,unit", "1,H0", "2,H0", "1,H1"], "gives an id two units"),
        (["id,unit", "1,H0", "01,H1"], "gives an id two units"),
        (["id,unit", "1,H0", "1,H0"], "gives an id two units"),
        (["id,unit", *(f"{n},H0" for n in range(5))], "gives a unit more than 4 ids"),
        (["id,unit", "1,"], "is empty or not of the agreed type"),
        (["id,unit", ",H0"], "is empty or not of the agreed type"),
        (["id,unit", "one,H0"], "is empty or not of the agreed type"),
        (["id,unit", "1.5,H0"], "is empty or not of the agreed type"),
        (["id,unit", "1e3,H0"], "is empty or not of the agreed type"),
        (["id,unit", f"{10**20},H0"], "is empty or not of the agreed type"),
        (["id;unit", "1;H0"], "is not a CSV file with the columns id and unit"),
        (["unit", "H0"], "is not a CSV file with the columns id and unit"),
        (["id,id,unit", "1,2,H0"], "is not a CSV file with the columns id and unit"),
        (["id,unit", "1,H0,more"], "is not a CSV file with the columns id and unit"),
        (["\0\0\0"], "is not a CSV file with the columns id and unit"),
    ],
)
def test_a_map_that_is_none_is_refused(
    registry: tuple[list[Office], Path, Session], tmp_path: Path, lines: list[str], sentence: str
) -> None:
    with pytest.raises(FileRefused, match=sentence):
        open_mapped(registry, write(tmp_path / "m.csv", lines))
    assert not list((registry[1] / "registry" / "studies").iterdir()), "nothing is left of it"


def test_a_map_must_be_the_one_agreed_on(registry: tuple[list[Office], Path, Session], tmp_path: Path) -> None:
    agreed = write(tmp_path / "m.csv", ["id,unit", "1,H0"])
    other = write(tmp_path / "n.csv", ["id,unit", "1,H1"])
    with pytest.raises(FileRefused, match="is not the map that was agreed on: its digest differs"):
        open_mapped(registry, agreed, unit_map=other)
    with pytest.raises(FileRefused, match="is not there or cannot be read"):
        open_mapped(registry, agreed, unit_map=tmp_path / "nothing.csv")
    with pytest.raises(FileRefused, match="is not there or cannot be read"):
        open_mapped(registry, agreed, unit_map=tmp_path)
    with pytest.raises(Refused, match="Give the file with --map"):
        open_mapped(registry, agreed, unit_map=None)


def test_the_card_s_unit_is_whom_accounts_protect(registry: tuple[list[Office], Path, Session], tmp_path: Path) -> None:
    three, folder, _ = registry

    def try_terms(text: str) -> None:
        open_registry(three[2], sign_all(text, three, tmp_path), workspace=folder / "workspace")

    with pytest.raises(Refused, match="the unit of 'people' is 'household', and the agreement links by 'person'"):
        try_terms(terms_text())
    with pytest.raises(Refused, match="compares them as integer"):
        try_terms(terms_text(registry="registry: {dataset: people, id: household}"))
    with pytest.raises(DiscreetError, match="'french' of 'people' is not of kind id"):
        try_terms(terms_text(registry="registry: {dataset: people, id: french}"))
    with pytest.raises(DiscreetError, match="nobody"):
        try_terms(terms_text(registry="registry: {dataset: nobody, id: person}"))
    household = {
        "registry": "registry: {dataset: people, id: household}",
        "ids": "ids: text",
        "unit": "unit: household",
    }
    for where, word in (("frnech = 'yes'", "frnech"), ("household = 'H1'", "household"), ("first = 'X'", "X")):
        with pytest.raises(DiscreetError, match=word):
            try_terms(terms_text(**household).replace(FRANCOPHONE, f'francophone: {{where: "{where}"}}'))
    assert not list((folder / "registry" / "studies").iterdir())


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["id,key", "A1,x"], "is empty or not of the agreed type"),
        (["id,key", "A1,"], "is empty or not of the agreed type"),
        (["id,key", "\u00a0,1"], "is empty or not of the agreed type"),
        (["key", "1"], "is not a CSV file with the columns id and key"),
    ],
)
def test_a_crosswalk_that_is_none_is_refused(tmp_path: Path, lines: list[str], sentence: str) -> None:
    three = [create_office(tmp_path / role.value, role=role, name=role.value) for role in OfficeRole]
    make_workspace(tmp_path / "r" / "workspace", PEOPLE_CARD, people_rows()[1]).close()
    signed = sign_all(terms_text(ids="ids: text"), three, tmp_path)
    with pytest.raises(FileRefused, match=sentence):
        open_registry(
            three[2], signed, workspace=tmp_path / "r" / "workspace", crosswalk=write(tmp_path / "c.csv", lines)
        )


def test_a_link_key_of_another_study_is_refused(tmp_path: Path) -> None:
    from discreet.linkage import open_holder

    three = [create_office(tmp_path / role.value, role=role, name=role.value) for role in OfficeRole]
    health, people, _ = people_rows()
    make_workspace(tmp_path / "r" / "workspace", PEOPLE_CARD, people).close()
    make_workspace(tmp_path / "h" / "workspace", HEALTH_CARD, health).close()
    keys = []
    for name in ("one", "two"):
        signed = sign_all(terms_text(study=f"study: {name}"), three, tmp_path)
        keys.append(open_registry(three[2], signed, workspace=tmp_path / "r" / "workspace")[1])
    for wrong in (keys[0], keys[1][:-1], b""):
        with pytest.raises(SignatureInvalid):
            open_holder(three[1], signed, workspace=tmp_path / "h" / "workspace", link_key=wrong)
    open_holder(three[1], signed, workspace=tmp_path / "h" / "workspace", link_key=keys[1])
    with pytest.raises(Refused, match="is open here already"):
        open_holder(three[1], signed, workspace=tmp_path / "h" / "workspace", link_key=keys[1])
