"""Asking again over a wire that breaks: under the same key and no other, charged once, given up with the key named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DiscreetError,
    EngineUnavailable,
    LedgerUnavailable,
    NotAllowed,
    NotSignedIn,
    QueryRefused,
    Refused,
    RequestConflict,
    TooManyRequests,
    UnknownName,
)
from tests.unit.client.hostile import Watch, answer, hostile, problem
from tests.unit.client.offices import COUNT, Office
from tests.unit.client.weak_wire import (
    ARRIVES,
    HALF,
    LOST_ANSWER,
    LOST_QUESTION,
    bodies_of,
    keys_of,
    paths_of,
    weak_wire,
)

BUSY = problem(429, "TooManyRequests", Retry_After="7")
UNWELL = problem(503, "LedgerUnavailable")
GATEWAY = answer(502, b"<html>bad gateway</html>", "text/html")
LATE = answer(504, b"", "text/html")
DOWN = answer(503, b"<html>back soon</html>", "text/html", Retry_After="3")

BROKEN: dict[str, list[str | bytes]] = {
    "the question is lost": [LOST_QUESTION],
    "the answer is lost": [LOST_ANSWER],
    "half of it arrives": [HALF],
    "a gateway is bad": [GATEWAY],
    "a gateway is late": [LATE],
    "a proxy is down": [DOWN],
    "the office is not well": [UNWELL],
    "it is busy": [BUSY],
    "one after the other": [LOST_QUESTION, GATEWAY, LOST_ANSWER, BUSY, HALF, DOWN],
}

ASKED: dict[str, Callable[[Any, Path], Any]] = {
    "query": lambda one, folder: one.query(COUNT, epsilon="0.1", fresh=True),
    "table": lambda one, folder: one.table("clinic", by="town", epsilon="0.1", fresh=True),
    "workload": lambda one, folder: one.run(write(folder)),
}


def write(folder: Path) -> Path:
    (folder / "w.yaml").write_text(f"questions:\n  - name: all\n    sql: {COUNT}\nepsilon: 0.1\n", encoding="utf-8")
    return folder / "w.yaml"


# --- what spends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("sort", ASKED)
def test_it_is_asked_again_under_its_key_and_charged_once(
    office: Office, tmp_path: Path, sort: str, steps: list[str | bytes]
) -> None:
    before = office.charges()
    with weak_wire(office, *steps, ARRIVES) as wire:
        found = ASKED[sort](office.patient(wire.url, Watch()), tmp_path)
    keys, bodies = keys_of(wire.heard), bodies_of(wire.heard)
    assert len(wire.heard) == len(keys) == len(steps) + 1
    assert len(set(keys)) == 1
    assert all(body == bodies[0] for body in bodies)
    assert office.charges() == before + 1
    assert office.charges(request_id=keys[0]) == 1
    [asked] = [one for one in office.home.history(analyst="ada") if one.request_id == keys[0]]
    stored = office.home.recall(asked.number, analyst="ada")
    assert rows_of(found) == rows_of(stored)


def rows_of(release: Any) -> Any:
    return {name: part.rows for name, part in release.parts.items()} or release.rows


@pytest.mark.parametrize("sort", ASKED)
def test_every_question_has_a_key_of_its_own(office: Office, tmp_path: Path, sort: str) -> None:
    with weak_wire(office, ARRIVES) as wire:
        away = office.patient(wire.url, Watch())
        for _ in range(2):
            ASKED[sort](away, tmp_path)
    assert len(set(keys_of(wire.heard))) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}", key) for key in keys_of(wire.heard))


def test_a_key_that_was_chosen_is_the_one_that_is_sent(office: Office) -> None:
    with weak_wire(office, LOST_ANSWER, ARRIVES) as wire:
        away = office.patient(wire.url, Watch())
        away.query(COUNT, epsilon="0.1", request_id="chosen-1", fresh=True)
    assert keys_of(wire.heard) == ["chosen-1", "chosen-1"]


def test_given_up_it_names_the_key_under_which_it_costs_nothing_more(office: Office) -> None:
    before, watch = office.charges(), Watch()
    with weak_wire(office, LOST_ANSWER) as wire, pytest.raises(ChargedNotAnswered) as caught:
        office.patient(wire.url, watch, patience=30).query(COUNT, epsilon="0.13", fresh=True)
    [key] = set(keys_of(wire.heard))
    assert caught.value.fields == {"host": "127.0.0.1", "request_id": key}
    assert f"--request-id {key}" in caught.value.message
    assert caught.value.exit_code == 3
    assert len(wire.heard) == len(watch.pauses) + 1 > 3
    assert 15 < sum(watch.pauses) <= 30  # the next would have been of 15 at most
    assert office.charges() == before + 1
    again = office.there().query(COUNT, epsilon="0.13", fresh=True, request_id=key)
    assert again.charge["epsilon"] == "0"
    assert office.charges() == before + 1


def test_what_never_arrived_may_have_for_all_that_is_known(office: Office) -> None:
    before = office.charges()
    with weak_wire(office, LOST_QUESTION) as wire, pytest.raises(ChargedNotAnswered) as caught:
        office.patient(wire.url, Watch()).query(COUNT, epsilon="0.14", fresh=True)
    assert caught.value.fields["request_id"] == keys_of(wire.heard)[0]
    assert office.charges() == before


def test_pauses_grow_and_are_not_everybodys(office: Office) -> None:
    watches = [Watch(), Watch()]
    for watch in watches:
        with weak_wire(office, LOST_QUESTION) as wire, pytest.raises(ChargedNotAnswered):
            office.patient(wire.url, watch, patience=120).query(COUNT, epsilon="0.14", fresh=True)
    for watch in watches:
        assert 0.125 <= watch.pauses[0] <= 0.25
        assert all(late >= early / 2 for early, late in zip(watch.pauses, watch.pauses[1:], strict=False))
        assert 7.5 <= max(watch.pauses) <= 15
    assert watches[0].pauses != watches[1].pauses


def test_it_waits_as_long_as_it_is_told(office: Office) -> None:
    watch = Watch()
    with weak_wire(office, BUSY, DOWN, ARRIVES) as wire:
        assert office.patient(wire.url, watch).query(COUNT, epsilon="0.15", fresh=True).rows
    assert watch.pauses == [7, 3]


@pytest.mark.parametrize("given", ["soon", "-5", "Wed, 21 Oct 2026 07:28:00 GMT", "9" * 40, "1e3", "0"])
def test_a_pause_that_is_none_is_not_waited_for(office: Office, given: str) -> None:
    watch = Watch()
    with weak_wire(office, problem(429, "TooManyRequests", Retry_After=given), ARRIVES) as wire:
        office.patient(wire.url, watch).datasets()
    assert len(watch.pauses) == 1
    assert 0.1 < watch.pauses[0] <= 0.25


def test_a_pause_beyond_patience_is_not_begun(office: Office) -> None:
    watch = Watch()
    refused = problem(429, "TooManyRequests", Retry_After="999")
    with weak_wire(office, refused) as wire, pytest.raises(TooManyRequests):
        office.patient(wire.url, watch).query(COUNT, epsilon="0.15")
    assert (len(wire.heard), watch.pauses) == (1, [])


def test_an_office_that_stays_busy_charged_nothing(office: Office) -> None:
    """Every try was refused before anything was read: then it is told as refused, and not as charged."""
    for said, sort in ((BUSY, TooManyRequests), (UNWELL, LedgerUnavailable)):
        with weak_wire(office, said) as wire, pytest.raises(sort) as caught:
            office.patient(wire.url, Watch()).query(COUNT, epsilon="0.15")
        assert type(caught.value) is sort
        assert len(wire.heard) > 2


# --- what became of it is found out ---------------------------------------------------------------------------------


def test_what_the_ledger_refuses_is_told_although_a_try_was_lost(office: Office) -> None:
    """The second try looked for the charge of the first: there is none."""
    with weak_wire(office, LOST_QUESTION, ARRIVES) as wire:
        away = office.patient(wire.url, Watch())
        with pytest.raises(BudgetExceeded):
            away.query(COUNT, epsilon="501")
        with pytest.raises(QueryRefused):
            away.query("SELECT * FROM clinic", epsilon="1")
    office.there().query(COUNT, epsilon="0.16", request_id="taken", fresh=True)
    with weak_wire(office, LOST_ANSWER, ARRIVES) as wire, pytest.raises(RequestConflict):
        office.patient(wire.url, Watch()).query(COUNT, epsilon="0.17", request_id="taken", fresh=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, "NotSignedIn"),
        (403, "NotAllowed"),
        (404, "UnknownName"),
        (423, "DatasetSuspended"),
        (500, "DiscreetError"),
    ],
)
def test_a_refusal_that_never_looked_says_nothing_of_a_try_that_was_lost(
    office: Office, status: int, error: str
) -> None:
    """Whoever asks may have been charged by the first try: the token was taken away before the second."""
    with weak_wire(office, LOST_ANSWER, problem(status, error)) as wire, pytest.raises(ChargedNotAnswered) as caught:
        office.patient(wire.url, Watch()).query(COUNT, epsilon="0.18", fresh=True)
    [key] = set(keys_of(wire.heard))
    assert caught.value.fields["request_id"] == key
    assert office.charges(request_id=key) == 1


def test_after_a_lost_try_even_a_busy_office_is_told_as_charged(office: Office) -> None:
    with weak_wire(office, LOST_ANSWER, BUSY) as wire, pytest.raises(ChargedNotAnswered):
        office.patient(wire.url, Watch()).query(COUNT, epsilon="0.18", fresh=True)


# --- what is settled is not asked again -----------------------------------------------------------------------------

SETTLED: dict[str, tuple[bytes, type[DiscreetError]]] = {
    "400": (problem(400, "ParameterInvalid"), DiscreetError),
    "401": (problem(401, "NotSignedIn"), NotSignedIn),
    "403": (problem(403, "NotAllowed"), NotAllowed),
    "404": (problem(404, "UnknownName"), UnknownName),
    "405": (problem(405, "RequestInvalid"), DiscreetError),
    "408": (problem(408, "RequestInvalid"), DiscreetError),
    "409": (problem(409, "BudgetExceeded"), BudgetExceeded),
    "413": (problem(413, "RequestInvalid"), DiscreetError),
    "415": (problem(415, "RequestInvalid"), DiscreetError),
    "422": (problem(422, "QueryRefused"), QueryRefused),
    "423": (problem(423, "DatasetSuspended"), DiscreetError),
    "431": (problem(431, "RequestInvalid"), DiscreetError),
    "501": (problem(501, "ExtraMissing"), DiscreetError),
    "charged": (problem(503, "ChargedNotAnswered", charged=True), ChargedNotAnswered),
    "no engine": (problem(503, "EngineUnavailable"), EngineUnavailable),
}


@pytest.mark.parametrize(("said", "sort"), SETTLED.values(), ids=SETTLED)
def test_a_refusal_is_final(office: Office, said: bytes, sort: type[DiscreetError]) -> None:
    asks: list[Callable[[Any], Any]] = [lambda one: one.query(COUNT, epsilon="0.1"), lambda one: one.budget("patients")]
    for ask in asks:
        watch = Watch()
        with hostile(said) as wire, pytest.raises(sort):
            ask(office.patient(wire.url, watch))
        assert (len(wire.heard), watch.pauses) == (1, [])


# --- what only reads ------------------------------------------------------------------------------------------------

READ: dict[str, Callable[[Any], Any]] = {
    "who": lambda one: one.who,
    "datasets": lambda one: one.datasets(),
    "describe": lambda one: one.describe("clinic"),
    "budget": lambda one: one.budget("patients").rows,
    "populations": lambda one: one.populations(),
    "history": lambda one: [item.number for item in one.history(limit=1)],
    "recall": lambda one: one.recall(1).rows,
    "explain": lambda one: one.explain(COUNT, epsilon="0.1").plan_hash,
    "table": lambda one: (
        one.tables.explain(one.read_table({"dataset": "clinic", "by": "town", "epsilon": 1})).plan_hash
    ),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_what_only_reads_is_asked_again_as_it_is(office: Office, read: Callable[[Any], Any]) -> None:
    office.there().query(COUNT, epsilon="0.1", request_id="first")
    expected, head = read(office.there()), office.home.ledger.head()
    steps = BROKEN["one after the other"]
    with weak_wire(office, *steps, ARRIVES) as wire:
        assert read(office.patient(wire.url, Watch())) == expected
    assert len(wire.heard) == len(steps) + 1
    assert len(set(paths_of(wire.heard))) == 1
    assert keys_of(wire.heard) == []
    assert office.home.ledger.head() == head


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_what_only_reads_was_never_charged(office: Office, read: Callable[[Any], Any]) -> None:
    with weak_wire(office, LOST_ANSWER) as wire, pytest.raises(Refused, match="did not answer in time"):
        read(office.patient(wire.url, Watch()))
    with weak_wire(office, GATEWAY) as wire, pytest.raises(Refused, match="its last word was 502"):
        read(office.patient(wire.url, Watch()))
    assert len(wire.heard) > 3
