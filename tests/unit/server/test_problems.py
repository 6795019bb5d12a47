"""Every refusal in one shape, whatever it is about."""

from __future__ import annotations

import inspect
import json

import pytest

from discreet import errors
from discreet.errors import (
    ChargedNotAnswered,
    DiscreetError,
    LedgerUnavailable,
    QueryRefused,
    RecordsUnavailable,
)
from discreet.server.connections.refusals import REFUSALS
from discreet.server.problems import STATUS, problem_of, refusal, status_of

CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, DiscreetError)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_of_its_own_or_is_one_sort_of_another(kind: type[DiscreetError]) -> None:
    assert any(parent in STATUS for parent in kind.__mro__[:2])
    assert 400 <= status_of(kind.__new__(kind)) <= 503


def test_a_problem_is_what_the_error_says_and_whether_it_was_charged() -> None:
    error = QueryRefused("no such thing")
    found = json.loads(problem_of(error, tell=lambda _: None).to_bytes())
    assert found == {
        "type": "urn:discreet:error:QueryRefused",
        "status": 422,
        "error": "QueryRefused",
        "message": "no such thing",
        "fields": {},
        "charged": False,
    }


def test_charged_is_said_where_a_charge_may_stand() -> None:
    charged = ChargedNotAnswered(dataset="survey", request_id="r", suspended=True)
    assert problem_of(charged, tell=lambda _: None).document["charged"] is True
    assert problem_of(charged, tell=lambda _: None).status == 503


@pytest.mark.parametrize(
    "error",
    [RecordsUnavailable("disk /srv/secret is full"), LedgerUnavailable.__new__(LedgerUnavailable)],
    ids=["records", "ledger"],
)
def test_what_is_wrong_inside_is_told_to_the_office_alone(error: DiscreetError) -> None:
    if not error.args:
        DiscreetError.__init__(error, "the ledger in /srv/secret is locked", path="/srv/secret")
    told: list[str] = []
    found = problem_of(error, tell=told.append)
    assert "secret" not in found.to_bytes().decode()
    assert "secret" in told[0]
    assert found.status == 503


def test_a_ledger_whose_end_is_unknown_counts_as_charged_where_a_request_was_on_its_way() -> None:
    error = LedgerUnavailable.__new__(LedgerUnavailable)
    DiscreetError.__init__(error, "gone", request_id="r1")
    found = problem_of(error, tell=lambda _: None).document
    assert found["charged"] is True
    assert found["fields"] == {"request_id": "r1"}


@pytest.mark.parametrize(("code", "status"), REFUSALS.items())
def test_what_the_guard_refuses_has_the_same_shape(code: str, status: int) -> None:
    found = json.loads(refusal(status, code).to_bytes())
    assert found["status"] == status
    assert found["fields"] == {"code": code}
    assert found["charged"] is False
    assert found["message"]
