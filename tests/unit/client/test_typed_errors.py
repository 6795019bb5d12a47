"""A refusal of a server is the error that the workspace would have raised: its class, facts, words and exit code."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import errors
from discreet.catalogue import language, speaking
from discreet.client.told_errors import KINDS
from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    DiscreetError,
    LedgerUnavailable,
    NotAllowed,
    NotSignedIn,
    ParameterInvalid,
    PathInvalid,
    QueryRefused,
    Refused,
    RequestConflict,
    RequestInvalid,
    TooManyRequests,
    UnknownName,
    UsageError,
    WorkloadInvalid,
)
from discreet.ledger import Ledger
from discreet.people import People
from discreet.people.tokens import Tokens
from tests.unit.client.hostile import Watch
from tests.unit.client.offices import COUNT, Office, told, working
from tests.unit.server.serving import problem

Ask = Callable[[Any], object]

SAME: dict[str, tuple[type[DiscreetError], Ask]] = {
    "more than the share": (BudgetExceeded, lambda one: one.query(COUNT, epsilon="501")),
    "a table of more": (BudgetExceeded, lambda one: one.table("clinic", by="town", epsilon="501")),
    "single rows": (QueryRefused, lambda one: one.query("SELECT * FROM clinic", epsilon="1")),
    "no SQL": (QueryRefused, lambda one: one.explain("SELEKT é\n'\"", epsilon="1")),
    "a width of nothing": (QueryRefused, lambda one: one.query(COUNT, within={"people": 0})),
    "a condition of no table": (QueryRefused, lambda one: one.table("clinic", by="town", epsilon=1, where="x >")),
    "no such dataset": (UnknownName, lambda one: one.query("SELECT COUNT(*) AS n FROM clinics", epsilon="1")),
    "not granted": (UnknownName, lambda one: one.query("SELECT COUNT(*) AS n FROM ward", epsilon="1")),
    "no such column": (UnknownName, lambda one: one.query("SELECT SUM(ages) AS n FROM clinic", epsilon="1")),
    "no such code": (UnknownName, lambda one: one.query(f"{COUNT} WHERE town = 'NN'", epsilon="1")),
    "no such key": (UnknownName, lambda one: one.tables.explain(one.read_table(table(by=["towns"])))),
    "no such population": (UnknownName, lambda one: one.budget("patient")),
    "a population of others": (UnknownName, lambda one: one.budget("inpatients")),
    "no such face": (UnknownName, lambda one: one.describe("clinix", language())),
    "a code to leave out": (UnknownName, lambda one: one.table(**table(leave_out={"town": ["Q"]}))),
    "neither cost nor width": (UsageError, lambda one: one.query(COUNT)),
    "cost and width": (UsageError, lambda one: one.query(COUNT, epsilon="1", within={"people": 3})),
    "a negative epsilon": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=-1)),
    "an epsilon of commas": (ParameterInvalid, lambda one: one.query(COUNT, epsilon="0,5")),
    "no number": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=True)),
    "no delta": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=1, delta=2)),
    "a level of two": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=1, level=2)),
    "no key": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=1, request_id="a b")),
    "no text": (ParameterInvalid, lambda one: one.query(5, epsilon=1)),
    "no widths": (ParameterInvalid, lambda one: one.query(COUNT, within="people")),
    "nobody": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=1, analyst="")),
    "no truth": (ParameterInvalid, lambda one: one.query(COUNT, epsilon=1, fresh="yes")),
    "a table without a price": (ParameterInvalid, lambda one: one.table("clinic", by="town", epsilon=None)),
    "a table by nothing": (ParameterInvalid, lambda one: one.table("clinic", by=[], epsilon=1)),
    "edges that do not fit": (ParameterInvalid, lambda one: one.table(**table(by="age", edges={"age": [0, 50.5]}))),
    "edges of nothing": (ParameterInvalid, lambda one: one.table(**table(edges=5))),
    "words of no table": (ParameterInvalid, lambda one: one.read_table({"dataset": "clinic"})),
    "margins that are none": (ParameterInvalid, lambda one: one.table(**table(margins="all"))),
    "no language": (ParameterInvalid, lambda one: one.describe("clinic", "de")),
    "no number of an answer": (ParameterInvalid, lambda one: one.recall("5")),
    "a history of nothing": (ParameterInvalid, lambda one: one.history(limit=0)),
    "no file": (PathInvalid, lambda one: one.run("nowhere.yaml")),
}
"""What is asked in vain on either side."""


def table(**more: Any) -> dict[str, Any]:
    return {"dataset": "clinic", "by": ["town"], "epsilon": "1", **more}


def both(office: Office, ask: Ask, sort: type[DiscreetError]) -> dict[str, object]:
    """What is raised on a workspace, which is what is raised on a server."""
    found = []
    for session in (office.here(), office.there()):
        with pytest.raises(sort) as caught:
            ask(session)
        if sort is ChargedNotAnswered and office.home.ledger.suspended("clinic"):
            office.home.resume("clinic", custodian=True)
        assert type(caught.value) is sort
        found.append(told(caught))
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("spoken", ["en", "fr"])
@pytest.mark.parametrize(("sort", "ask"), SAME.values(), ids=SAME)
def test_it_is_the_same_error(office: Office, sort: type[DiscreetError], ask: Ask, spoken: str) -> None:
    before = office.home.ledger.head()
    with speaking(spoken):
        both(office, ask, sort)
    assert office.home.ledger.head() == before, "nothing was charged"


def test_a_name_that_is_near_is_told(office: Office) -> None:
    found = both(office, SAME["no such dataset"][1], UnknownName)
    assert found["fields"] == {"sort": "Dataset", "unknown": "clinics", "nearest": "clinic"}
    assert "Did you mean 'clinic'?" in str(found["message"])
    with speaking("fr"):
        said = both(office, SAME["no such code"][1], UnknownName)
    assert "« N » (Nord)" in str(said["message"]).replace("\xa0", " ")


def test_what_was_not_granted_is_told_as_what_never_was(office: Office) -> None:
    def ask(name: str) -> str:
        with pytest.raises(UnknownName) as caught:
            office.there().query(f"SELECT COUNT(*) AS n FROM {name}", epsilon="1")
        return caught.value.message.replace(name, "X")

    assert ask("ward") == ask("moon")


def test_a_budget_that_is_exceeded_tells_its_amounts(office: Office) -> None:
    found = both(office, SAME["more than the share"][1], BudgetExceeded)
    assert isinstance(found["fields"], dict)
    assert found["fields"]["cost"] == "epsilon 501"
    assert (found["fields"]["limit"], found["fields"]["holder"], found["exit"]) == ("analyst", "ada", 1)


def test_a_key_that_stands_for_another_question(office: Office) -> None:
    office.there().query(COUNT, epsilon="0.2", request_id="conflict", fresh=True)
    before = office.charges()
    for spoken in ("en", "fr"):
        with speaking(spoken):
            both(office, lambda one: one.query(COUNT, epsilon="0.3", request_id="conflict"), RequestConflict)
            both(office, lambda one: one.table("clinic", by="town", epsilon=1, request_id="conflict"), RequestConflict)
    assert office.charges() == before


def test_a_dataset_that_is_suspended(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.server.office.last_minute", lambda: "9999")  # a minute has passed
    office.home.ledger.suspend("clinic", population="patients", reason="a test", who="ana")
    try:
        assert office.there().datasets()[0].suspended
        assert office.there().describe("clinic")["suspended"] is True
        for spoken in ("en", "fr"):
            with speaking(spoken):
                found = both(office, lambda one: one.query(COUNT, epsilon="0.4", fresh=True), DatasetSuspended)
        assert found["fields"] == {"dataset": "clinic"}
    finally:
        office.home.resume("clinic", custodian=True)


def test_what_was_charged_and_failed_is_told_so(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.charges()
    monkeypatch.setattr("discreet.release.question.draw", lambda *_, **__: 1 / 0)
    for place, spoken in enumerate(("en", "fr")):
        ask = asking("0.41", f"failed-{place}")
        with speaking(spoken):
            found = both(office, ask, ChargedNotAnswered)
        assert found["exit"] == 3
        assert found["fields"] == {"dataset": "clinic", "request_id": f"failed-{place}"}
    assert office.charges() == before + 2
    monkeypatch.undo()
    assert office.there().query(COUNT, epsilon="0.41", request_id="failed-0", fresh=True).charge["epsilon"] == "0"


def asking(epsilon: str, request_id: str) -> Ask:
    return lambda one: one.query(COUNT, epsilon=epsilon, request_id=request_id, fresh=True)


def test_a_ledger_that_fails_after_the_charge_is_told_with_the_key(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise LedgerUnavailable("the disk is full.")

    before = office.charges()
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "commit_answer", fail)
        for spoken in ("en", "fr"):
            with speaking(spoken):
                found = both(office, asking("0.42", "unstored"), ChargedNotAnswered)
            assert "--request-id unstored" in str(found["message"])
    assert office.charges() == before + 1
    assert office.there().query(COUNT, epsilon="0.42", request_id="unstored", fresh=True).charge["epsilon"] == "0"


def test_the_office_that_is_not_well_tells_the_key_and_nothing_of_itself(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LedgerUnavailable("secret-host is full.")

    watch = Watch()
    away = office.patient(office.url, watch)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "spend", fail)
        with pytest.raises(LedgerUnavailable) as caught:
            away.query(COUNT, epsilon="0.43", request_id="unwell", fresh=True)
    assert "secret-host" not in caught.value.message
    assert watch.pauses, "it was asked again, for as long as there was patience"
    assert office.charges(request_id="unwell") == 0


def test_the_word_charged_says_what_the_class_says(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(key: str) -> tuple[bool, str]:
        body = {"sql": COUNT, "epsilon": "0.44", "fresh": True}
        document = problem(office.ask("ada", "POST", "/v1/queries", body, key=key))
        return document["charged"], document["error"]

    monkeypatch.setattr("discreet.release.question.draw", lambda *_, **__: 1 / 0)
    assert ask("word-1") == (True, "ChargedNotAnswered")
    assert ask("word-2") == (False, "DatasetSuspended")
    with pytest.raises(DatasetSuspended):
        asking("0.44", "word-3")(office.there())
    office.home.resume("clinic", custodian=True)
    with pytest.raises(ChargedNotAnswered):
        asking("0.44", "word-1")(office.there())
    office.home.resume("clinic", custodian=True)
    assert [office.charges(request_id=f"word-{number}") for number in (1, 2, 3)] == [1, 0, 0]


# --- what only a server says ----------------------------------------------------------------------------------------


def in_both(ask: Callable[[], object], sort: type[DiscreetError]) -> list[DiscreetError]:
    found = []
    for spoken in ("en", "fr"):
        with speaking(spoken), pytest.raises(sort) as caught:
            ask()
        assert type(caught.value) is sort
        found.append(caught.value)
    assert found[0].message != found[1].message
    assert found[0].fields.keys() == found[1].fields.keys()
    return found


def test_who_has_no_role_that_may_ask(office: Office) -> None:
    for who in ("rita", "carl", "aud"):
        away = office.there(who)
        [said, _] = in_both(lambda away=away: away.query(COUNT, epsilon="1"), NotAllowed)  # type: ignore[misc]
        assert "analyst" in said.message
        assert away.who == who


def test_nobody_asks_as_somebody_else(office: Office) -> None:
    away = office.there()
    for ask in (
        lambda: away.query(COUNT, epsilon="1", analyst="bob"),
        lambda: away.explain(COUNT, epsilon="1", analyst="bob"),
        lambda: away.table("clinic", by="town", epsilon="1", analyst="bob"),
        lambda: away.run("nowhere.yaml", analyst="bob"),
        lambda: away.history(analyst="bob"),
        lambda: away.recall(1, analyst="bob"),
        lambda: away.read_table(table(), analyst="bob"),
    ):
        [said, _] = in_both(ask, NotAllowed)
        assert said.fields == {"analyst": "bob"}
    assert away.query(COUNT, epsilon="0.1", analyst="ada").rows


@pytest.mark.parametrize("token", ["0" * 16 + "." + "a" * 43, "nobody", "a.b"])
def test_a_token_that_is_none(office: Office, token: str) -> None:
    with discreet.connect(office.url, token) as away:
        for ask in (lambda: away.query(COUNT, epsilon="1"), away.datasets, lambda: away.who):
            [said, _] = in_both(ask, NotSignedIn)
            assert token not in str(said.to_dict())


def test_a_token_that_was_revoked_or_is_over(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    people = People(office.home.workspace, office.home.ledger)
    made, secret = people.tokens.make("ada", days=30, who="ada")
    with discreet.connect(office.url, secret) as away:
        assert away.who == "ada"
        people.tokens.revoke(made.id, who="ada")
        in_both(away.datasets, NotSignedIn)
    _, brief = people.tokens.make("ada", days=1, who="ada")
    late = datetime.now(UTC) + timedelta(days=3)
    with discreet.connect(office.url, brief) as away:
        assert away.who == "ada"
        monkeypatch.setattr(Tokens, "_today", lambda _: late.date())
        in_both(away.datasets, NotSignedIn)
    people.close()


def test_what_a_server_does_not_take(office: Office) -> None:
    long = "SELECT COUNT(*) AS n FROM clinic WHERE " + " OR ".join(["age = 5"] * 2_500)
    [said, _] = in_both(lambda: office.there().query(long, epsilon="1"), RequestInvalid)
    assert said.exit_code == 2
    assert "'sql'" in said.message


def test_what_is_wrong_with_a_workload_is_told_line_by_line(office: Office, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("questions:\n  - name: a\n  - sql: SELECT\nepsilon: x\n", encoding="utf-8")
    with pytest.raises(WorkloadInvalid) as here:
        office.here().plan(tmp_path / "t.yaml")
    with pytest.raises(WorkloadInvalid) as there:
        office.there().plan(tmp_path / "t.yaml")
    assert here.value.problems
    assert [line.partition(":")[2] for line in here.value.problems] == [
        line.partition(":")[2] for line in there.value.problems
    ]
    assert there.value.fields["problems"] == len(there.value.problems)


def test_too_often_says_when_it_may_be_tried_again(tmp_path: Path) -> None:
    with working(tmp_path, per_person=2) as office:
        away = office.there(patience=0.1)
        assert (away.who, away.populations()) == ("ada", ("patients",))
        for ask in (away.datasets, lambda: away.query(COUNT, epsilon="0.1", request_id="often")):
            [said, _] = in_both(ask, TooManyRequests)
            assert isinstance(said.fields["seconds"], int)
            assert 1 <= said.fields["seconds"] <= 60
            assert said.exit_code == 1
        assert office.charges() == 0


def test_an_answer_that_never_was_or_is_another_s(office: Office) -> None:
    office.there("bob").query(COUNT, epsilon="0.1", request_id="of-bob")
    office.there("bob").query(COUNT, epsilon="0.1", request_id="of-bob-too")
    most = max(asked.number for asked in office.home.history())
    for number in (0, -1, most, most + 7):
        with pytest.raises(UnknownName) as caught:
            office.there().recall(number)
        assert caught.value.fields == {"sort": "Answer", "unknown": str(number), "nearest": None}


# --- the classes ----------------------------------------------------------------------------------------------------


def test_every_class_of_the_tree_can_come_back() -> None:
    tree, left = set[type[DiscreetError]](), [DiscreetError]
    while left:
        left += [one for one in left.pop().__subclasses__() if one.__module__ == errors.__name__]
        tree |= {*left}
    assert {DiscreetError, *tree} == set(KINDS.values())


def test_an_error_that_came_back_may_be_sent_on(office: Office) -> None:
    """To another process, as programs that ask in parallel do."""
    with pytest.raises(QueryRefused) as caught:
        office.there().query("SELECT * FROM clinic", epsilon="1")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.message, again.fields) == (QueryRefused, caught.value.message, caught.value.fields)
    assert isinstance(again, Refused)
