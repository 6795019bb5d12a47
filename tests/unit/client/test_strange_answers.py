"""Answers that are whole and still not what was asked for: nothing large is parsed, and words say what happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import discreet
from discreet.client import told_values
from discreet.client.exchanges import ANSWER, Call
from discreet.client.remote_session import RemoteSession
from discreet.client.told_values import read_json, read_sent
from discreet.errors import ChargedNotAnswered, DiscreetError, ParameterInvalid, Refused, TooManyRequests
from discreet.results import write_release
from discreet.results.sent_release import MOST_PARTS
from tests.releases import make_table
from tests.unit.client.hostile import Askers, Step, Watch, answer, hostile, problem, said

ME = Call("GET", ("me",))
QUERY = ("queries",)


def release(request_id: str) -> bytes:
    made = make_table({"a": 2}, lambda places: places[0])
    return write_release(replace(made, source=replace(made.source, request_id=request_id)))


def spend(askers: Askers, *steps: Step, watch: Watch | None = None, **terms: Any) -> Any:
    with hostile(*steps) as server:
        return askers.desk(server.url, watch, **terms).spend(QUERY, {}, request_id="mine")


# --- sizes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [b'"\\u0000"', b'"x"'])
@pytest.mark.parametrize(
    ("read", "parts"), [(read_sent, MOST_PARTS), (read_json, told_values._MOST_PARTS)], ids=["release", "facts"]
)
def test_what_has_too_many_parts_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[bytes], object], parts: int, odd: bytes
) -> None:
    def parse(*_: object, **__: object) -> object:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(json, "loads", parse)
    with pytest.raises(ValueError, match="too long"):
        read(b'{"a":' + odd + b',"b":[' + b"{}," * parts + b"{}]}")


def test_a_release_whose_words_steer_is_cleaned_and_read() -> None:
    found = read_sent(release("mine").replace(b"A table", b"A \\u001b[2Jtable"))
    assert found.title.en == "A \\x1b[2Jtable"


# --- whose answer it is ---------------------------------------------------------------------------------------------

JOB = {"id": "j1", "request_id": "mine", "asked": "2026-01-01T00:00:00+00:00", "state": "running"}
OTHERS: dict[str, list[bytes]] = {
    "a release": [answer(200, release("other"), ANSWER)],
    "a job": [said({"job": {**JOB, "request_id": "other"}}, 202)],
    "a job later": [said({"job": JOB}, 202), said({**JOB, "request_id": "other"})],
    "a problem": [answer(503, _other := json.dumps(
        {"error": "ChargedNotAnswered", "message": "Ask with other", "fields": {"request_id": "other"}}
    ).encode(), "application/problem+json")],
    "a refusal": [answer(409, _other, "application/problem+json")],
    "the problem of a job": [said({"job": {**JOB, "state": "failed", "problem": json.loads(_other)}}, 202)],
}  # fmt: skip


@pytest.mark.parametrize("steps", OTHERS.values(), ids=OTHERS)
def test_an_answer_to_another_question_is_none(askers: Askers, steps: list[bytes]) -> None:
    with pytest.raises(ChargedNotAnswered, match=r"gave no answer that can be read; .* --request-id mine") as caught:
        spend(askers, *steps)
    assert caught.value.fields["request_id"] == "mine"


def test_an_answer_to_the_question_is_taken(askers: Askers) -> None:
    assert spend(askers, answer(200, release("mine"), ANSWER)).request_id == "mine"
    done = said({"job": {**JOB, "state": "done", "answer": 7}}, 202)
    assert spend(askers, done, answer(200, release("mine"), ANSWER)).request_id == "mine"


def test_what_was_charged_is_told_with_the_key_that_was_sent(askers: Askers) -> None:
    with pytest.raises(ChargedNotAnswered, match=r"^gone$") as caught:
        spend(askers, problem(503, "ChargedNotAnswered", "gone", charged=True))
    assert caught.value.fields["request_id"] == "mine"


# --- another version ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([answer(200, b'{"format":2}', ANSWER, Location="/v1/answers/12")], "12"),
        ([answer(200, b'{"format":2}', ANSWER)], "NUMBER"),
        ([answer(200, b'{"format":2}', ANSWER, Location="https://evil.example/v1/answers/1")], "NUMBER"),
        ([said({"job": {**JOB, "state": "done", "answer": 7}}, 202), answer(200, b'{"format":2}', ANSWER)], "7"),
    ],
)
def test_a_release_of_another_version_is_told_with_another_way_to_it(
    askers: Askers, steps: list[bytes], number: str
) -> None:
    with pytest.raises(ChargedNotAnswered) as caught:
        spend(askers, *steps)
    words = caught.value.message
    assert f"/v1/answers/{number}?format=csv" in words
    assert "different versions" in words
    assert "--request-id mine" in words
    assert "evil" not in words


# --- no server of ours ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404, 413])
def test_a_page_did_not_charge(askers: Askers, status: int) -> None:
    page = answer(status, b"<html>", "text/html")
    with pytest.raises(Refused, match=rf"\({status}\) is not how a Discreet server answers.*Nothing was charged"):
        spend(askers, page)
    with pytest.raises(ChargedNotAnswered):
        spend(askers, lambda wire: None, page)


@pytest.mark.parametrize("status", [200, 500])
def test_a_page_that_may_stand_for_an_answer_is_told_as_charged(askers: Askers, status: int) -> None:
    with pytest.raises(ChargedNotAnswered):
        spend(askers, answer(status, b"<html>", "text/html"))


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (answer(200, b"{}", Content_Encoding="gzip"), r"\(200\) cannot be read: it is compressed"),
        (
            answer(200, b"{}", Content_Length="99999999999"),
            r"\(200\) cannot be read: it is longer than 10",
        ),
    ],
)
def test_what_is_not_taken_says_why(askers: Askers, step: bytes, says: str) -> None:
    with hostile(step) as server, pytest.raises(Refused, match=says):
        askers.desk(server.url).find(ME, dict)
    with pytest.raises(ChargedNotAnswered, match=r"cannot be read: it is .* --request-id mine"):
        spend(askers, step)


def test_giving_up_tells_the_last_word(askers: Askers) -> None:
    for status in (429, 502):
        page = answer(status, b"<html>", "text/html")
        with (
            hostile(page) as server,
            pytest.raises(Refused, match=rf"its last word was {status}\. Nothing was charged"),
        ):
            askers.desk(server.url).find(ME, dict)
    with pytest.raises(Refused, match=r"its last word was 429\. Nothing was charged") as caught:
        spend(askers, answer(429, b"<html>", "text/html"))
    assert not isinstance(caught.value, TooManyRequests)
    with pytest.raises(ChargedNotAnswered):
        spend(askers, answer(502, b"<html>", "text/html"))


# --- whoever waits --------------------------------------------------------------------------------------------------


def test_whoever_waits_hears_once_that_no_answer_came_yet(askers: Askers) -> None:
    heard: list[str] = []
    with hostile(problem(503, "LedgerUnavailable"), problem(503, "LedgerUnavailable"), said({"name": "ada"})) as server:
        desk = askers.desk(server.url, notes=heard.append)
        assert desk.find(ME, dict) == {"name": "ada"}
        desk.find(ME, dict)
    assert heard == ["The server at '127.0.0.1' does not answer yet. It is asked again for 60 seconds."]


def test_whoever_leaves_is_told_the_key(askers: Askers) -> None:
    class Impatient(Watch):
        def sleep(self, seconds: float) -> None:
            raise KeyboardInterrupt

    for step in (said({"job": JOB}, 202), answer(502, b"", "text/html")):
        heard: list[str] = []
        with pytest.raises(KeyboardInterrupt) as left:
            spend(askers, step, watch=Impatient(), notes=heard.append)
        assert any("--request-id mine" in note for note in left.value.__notes__)
        assert [line for line in heard if "--request-id mine" in line] == left.value.__notes__


def test_a_timeout_that_no_clock_has_is_refused() -> None:
    for timeout in (1e10, 10**30):
        with pytest.raises(ParameterInvalid, match="timeout must be at most"):
            discreet.connect("http://127.0.0.1:1", "a.b", timeout=timeout)
    discreet.connect("http://127.0.0.1:1", "a.b", timeout=10**8).close()


# --- faces ----------------------------------------------------------------------------------------------------------

FACE: dict[str, Any] = {
    "dataset": "clinic",
    "version": 1,
    "title": "Clinic",
    "population": "patients",
    "unit": {"column": "patient", "rows": 1},
    "neighbours": "add-remove",
    "size": "public",
    "weight": None,
    "suspended": False,
    "columns": [{"name": "town", "kind": "category", "label": "Town", "public": True, "categories": {"N": "North"}}],
}
BROKEN: dict[str, dict[str, Any]] = {
    **{f"no {name}": {name: None} for name in FACE if name != "weight"},
    "a path": {"population": "../x"},
    "a number": {"population": 5},
    "a column that is none": {"columns": [5]},
    "a column without a name": {"columns": [{}]},
    "one bound": {"columns": [{**FACE["columns"][0], "bounds": ["1"]}]},
    "a weight of nothing": {"weight": {}},
    "totals that are none": {"totals": [{}]},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_face_that_nobody_can_show_is_refused(askers: Askers, change: dict[str, Any]) -> None:
    with hostile(said({**FACE, **change}), said(FACE)) as server:
        away = RemoteSession(askers.desk(server.url))
        with pytest.raises(Refused, match="cannot be read") as caught:
            away.describe("clinic")
        assert away.describe("clinic") == FACE
    assert isinstance(caught.value, DiscreetError)
