"""The bytes of an event, and what a name may be."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from discreet.guarantees.budget import Budget, PopulationTerms
from discreet.guarantees.types import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    CentralGuarantee,
    Neighbours,
    PureDP,
    Unproven,
)
from discreet.ledger.events import (
    GENESIS,
    Event,
    EventKind,
    KindUnknown,
    canonical_json,
    decode_guarantee,
    decode_terms,
    encode_guarantee,
    encode_terms,
)

EVENT = Event(
    sequence=1,
    kind=EventKind.VIEW,
    when="2026-01-02T03:04:05.000006+00:00",
    who="Zoé",
    population="",
    payload={"what": "report"},
    previous=GENESIS,
)


def test_the_bytes_are_as_documented() -> None:
    expected = (
        '{"kind":"view","payload":{"what":"report"},"population":"","previous":"' + "0" * 64 + '","sequence":1,'
        '"when":"2026-01-02T03:04:05.000006+00:00","who":"Zo\\u00e9"}'
    )
    assert EVENT.body == expected
    assert EVENT.hash == hashlib.sha256(expected.encode("ascii")).hexdigest()
    assert Event.from_body(expected) == EVENT


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        '{"kind":"view"}',
        EVENT.body + " ",
        EVENT.body.replace("view", "feast"),
        EVENT.body.replace('"view"', "[1]"),
        EVENT.body.replace('"view"', "null"),
        EVENT.body[:-1] + ',"x":1}',
    ],
)
def test_other_bytes_are_no_event(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the contract
        Event.from_body(body)


def test_a_kind_of_a_later_version_is_known_for_one() -> None:
    with pytest.raises(KindUnknown):
        Event.from_body(EVENT.body.replace("view", "feast"))


def test_floats_never_enter_the_chain() -> None:
    with pytest.raises(TypeError, match="no floats"):
        canonical_json({"a": [{"b": 0.1}]})


def test_key_order_does_not_matter() -> None:
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1}) == '{"a":2,"b":1}'


@pytest.mark.parametrize("who", ["", "a\nb", "x" * 201, "\x00"])
def test_names_are_short_printable_text(who: str) -> None:
    with pytest.raises(ValueError, match="printable text"):
        replace(EVENT, who=who)


@pytest.mark.parametrize(
    "guarantee",
    [
        PureDP(epsilon="0.1"),
        ZCDP(rho="0.5"),
        ZCDP(rho="0.5", delta="1e-9"),
        ApproxDP(epsilon=1, delta="1e-6"),
    ],
)
def test_guarantees_survive_as_exact_text(guarantee: CentralGuarantee) -> None:
    encoded = encode_guarantee(guarantee)
    assert all(isinstance(value, str) for value in encoded.values())
    assert decode_guarantee(json.loads(json.dumps(encoded))) == guarantee


@pytest.mark.parametrize("guarantee", [BootstrapDP(epsilon=1), Unproven("no proof")])
def test_what_is_not_dp_is_never_read_as_a_charge(guarantee: BootstrapDP | Unproven) -> None:
    with pytest.raises(ValueError, match="PureDP, ZCDP or ApproxDP"):
        decode_guarantee(encode_guarantee(guarantee))


def test_terms_survive() -> None:
    terms = PopulationTerms(
        population="cchs",
        budget=Budget(epsilon=3, delta="1e-6", per_analyst=1, per_analyst_delta="1e-7"),
        neighbours=Neighbours.REPLACE_ONE,
        unit_column="person_id",
        unit_type="integer",
    )
    assert decode_terms(encode_terms(terms)) == terms


def test_an_event_that_was_read_has_the_bytes_of_its_fields() -> None:
    read = Event.from_body(EVENT.body)
    assert read.body == EVENT.body == canonical_json(json.loads(EVENT.body))
    assert read.hash == EVENT.hash
    other = replace(read, who="Zoë")
    assert other.body != read.body
    assert other.hash == hashlib.sha256(other.body.encode("ascii")).hexdigest()
