"""Who may do what, and never what: the table of docs/service.md, row by row, against the real server."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from discreet.server.assembly import describe_api
from tests.unit.server.serving import COUNT, Asker, problem

PUBLIC = {
    ("get", "/v1/health"),
    ("get", "/v1/ready"),
    ("post", "/v1/belief"),
    ("get", "/v1/ledger/head"),
    ("post", "/v1/session"),
    ("delete", "/v1/session"),
}
ANYBODY = {
    ("get", "/v1/openapi.json"),
    ("get", "/v1/me"),
    ("put", "/v1/me/password"),
    ("get", "/v1/datasets"),
    ("get", "/v1/datasets/{dataset}"),
    ("get", "/v1/datasets/{dataset}/card.yaml"),
    ("get", "/v1/populations/{population}/budget"),
    ("get", "/v1/tokens"),
    ("post", "/v1/tokens"),
    ("delete", "/v1/tokens/{id}"),
}
ANALYSTS = {
    ("post", "/v1/explanations"),
    ("post", "/v1/targets"),
    ("post", "/v1/queries"),
    ("post", "/v1/workloads"),
    ("post", "/v1/workloads/plan"),
    ("post", "/v1/tables"),
    ("post", "/v1/tables/plan"),
    ("get", "/v1/jobs"),
    ("get", "/v1/jobs/{job}"),
    ("delete", "/v1/jobs/{job}"),
    ("get", "/v1/answers/{number}"),
    ("get", "/v1/history"),
}
AUDITORS = {("get", "/v1/ledger/events"), ("post", "/v1/ledger/verify")}
OVERSEERS = {("get", "/v1/people"), ("get", "/v1/people/{name}"), ("get", "/v1/grants")}
CUSTODIANS = {
    ("post", "/v1/datasets/{dataset}/resume"),
    ("post", "/v1/people"),
    ("post", "/v1/people/{name}/roles"),
    ("delete", "/v1/people/{name}/roles/{role}"),
    ("post", "/v1/people/{name}/suspend"),
    ("post", "/v1/people/{name}/restore"),
    ("post", "/v1/people/{name}/link"),
    ("get", "/v1/proposals"),
    ("post", "/v1/proposals/{number}/confirm"),
    ("post", "/v1/proposals/{number}/decline"),
    ("post", "/v1/grants"),
    ("delete", "/v1/grants/{person}/{dataset}"),
}
IN_PERSON = {("put", "/v1/me/password"), ("post", "/v1/tokens"), ("post", "/v1/people/{name}/link")}
"""What lets somebody in, and would outlast a token."""
FOR = {"ada": ANALYSTS, "rita": set(), "carl": CUSTODIANS | OVERSEERS, "aud": AUDITORS | OVERSEERS}
SOME = {"number": "999999", "dataset": "nothing", "job": "0" * 32}
TABLE = {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"}
WORKLOAD = {"workload": f"questions:\n  - name: n\n    sql: {COUNT}\nepsilon: 0.1\n"}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/v1/session"): {"name": "ada", "password": "not hers, surely"},
    ("put", "/v1/me/password"): {"password": "a password of some length"},
    ("post", "/v1/tokens"): {"days": 1},
    ("post", "/v1/explanations"): {"sql": COUNT, "epsilon": "0.1"},
    ("post", "/v1/targets"): {"sql": COUNT, "within": {"people": "100"}},
    ("post", "/v1/queries"): {"sql": COUNT, "epsilon": "0.1"},
    ("post", "/v1/workloads"): WORKLOAD,
    ("post", "/v1/workloads/plan"): WORKLOAD,
    ("post", "/v1/tables"): TABLE,
    ("post", "/v1/tables/plan"): TABLE,
    ("post", "/v1/belief"): {"epsilon": "1"},
    ("post", "/v1/ledger/verify"): {},
    ("post", "/v1/people"): {"name": "new-one", "roles": ["analyst"]},
    ("post", "/v1/people/{name}/roles"): {"role": "analyst"},
    ("post", "/v1/grants"): {"person": "nobody-here", "dataset": "clinic"},
}


def everything() -> Iterator[tuple[str, str]]:
    for path, methods in describe_api()["paths"].items():
        yield from ((method, path) for method in methods)


def call(ask: Asker, who: str | None, method: str, path: str) -> Any:
    place = re.sub(r"\{(\w+)\}", lambda found: SOME.get(found[1], "nobody-here"), path)
    said = (method.upper(), place, BODIES.get((method, path)))
    if who is not None and (method, path) in IN_PERSON:
        return ask.in_person(who, *said)
    return ask(who, *said, key=uuid.uuid4().hex)


def test_every_path_is_somebodys() -> None:
    assert set(everything()) == PUBLIC | ANYBODY | ANALYSTS | AUDITORS | OVERSEERS | CUSTODIANS


@pytest.mark.parametrize(("method", "path"), sorted(everything()))
def test_who_is_not_signed_in_reaches_what_is_public_and_nothing_else(ask: Asker, method: str, path: str) -> None:
    answer = call(ask, None, method, path)
    if path == "/v1/session":
        return  # signing in has tests of its own
    assert (answer.status_code == 401) == ((method, path) not in PUBLIC)


@pytest.mark.parametrize("who", FOR)
@pytest.mark.parametrize(("method", "path"), sorted(everything()))
def test_a_role_reaches_what_it_may_and_nothing_else(ask: Asker, who: str, method: str, path: str) -> None:
    if path == "/v1/session":
        return  # that would change who is signed in
    answer = call(ask, who, method, path)
    may = (method, path) in PUBLIC | ANYBODY | FOR[who]
    assert answer.status_code not in (401, 500), answer.text
    assert (answer.status_code != 403) == may, answer.text
    if not may:
        assert problem(answer)["error"] == "NotAllowed"


@pytest.mark.parametrize("who", FOR)
@pytest.mark.parametrize(("method", "path"), sorted(IN_PERSON))
def test_a_token_makes_nothing_that_would_outlast_it(ask: Asker, who: str, method: str, path: str) -> None:
    refused = ask(who, method.upper(), path.format(name="bob"), BODIES.get((method, path)))
    told = problem(refused)
    assert (refused.status_code, told["error"]) == (403, "NotAllowed")
    if (method, path) in ANYBODY | FOR[who]:
        assert told["message"].startswith("a token cannot make this: what it made would outlast it.")
    both = ask(who, method.upper(), path.format(name="bob"), BODIES.get((method, path)), **ask.own(who))
    assert both.status_code == 403, "a request that shows a token is judged by it alone"


# --- an analyst ---------------------------------------------------------------------------------------------------


def test_an_analyst_asks_within_what_was_granted(ask: Asker) -> None:
    answer = ask.query("ada")
    assert answer.status_code == 200
    assert [row["people"] for row in answer.json()["rows"]]
    refused, unknown = (ask.query("ada", f"SELECT COUNT(*) FROM {name}") for name in ("ward", "wird"))
    assert refused.status_code == unknown.status_code == 404
    assert refused.text.replace("ward", "X") == unknown.text.replace("wird", "X")


def test_an_analyst_never_sees_what_others_asked(ask: Asker) -> None:
    answer = ask.query("bob", epsilon="0.07")
    assert ask("bob", "GET", answer.headers["location"]).status_code == 200
    # Numbers are places among one's own: the first question of somebody is 1, however many others asked.
    assert [item["answer"] for item in ask("bob", "GET", "/v1/history").json()["history"]][-1] == 1
    count = len(ask("ada", "GET", "/v1/history?limit=1000").json()["history"])
    for number in (count + 1, count + 2, 999_999, 0, -1, 10**30):
        assert ask("ada", "GET", f"/v1/answers/{number}").status_code == 404
    assert "0.07" not in ask("ada", "GET", "/v1/history").text
    assert "0.07" in ask("bob", "GET", "/v1/history").text
    assert "bob" not in ask("ada", "GET", "/v1/populations/patients/budget").text


def test_an_analyst_sees_datasets_that_were_granted_and_no_others(ask: Asker) -> None:
    assert [item["name"] for item in ask("ada", "GET", "/v1/datasets").json()["datasets"]] == ["clinic"]
    for kind, name, absent in (
        ("datasets/{}", "ward", "wird"),
        ("datasets/{}/card.yaml", "ward", "wird"),
        ("populations/{}/budget", "inpatients", "impatients"),
    ):
        hidden, none = (ask("ada", "GET", f"/v1/{kind.format(one)}") for one in (name, absent))
        assert hidden.status_code == none.status_code == 404
        assert hidden.text.replace(name, "X") == none.text.replace(absent, "X")


# --- a reviewer ---------------------------------------------------------------------------------------------------


def test_a_reviewer_sees_no_values(ask: Asker) -> None:
    number = ask.query("ada").headers["location"].rpartition("/")[2]
    assert ask("rita", "GET", f"/v1/answers/{number}").status_code == 403
    assert ask("rita", "GET", "/v1/history").status_code == 403
    assert ask("rita", "GET", "/v1/datasets").json() == {"datasets": []}


# --- a custodian --------------------------------------------------------------------------------------------------


def test_a_custodian_never_asks_as_somebody_else(ask: Asker) -> None:
    assert problem(ask.query("carl"))["error"] == "NotAllowed"
    for named in ({"analyst": "ada"}, {"who": "ada"}, {"person": "ada"}):
        body = {"sql": COUNT, "epsilon": "0.1", **named}
        assert problem(ask("ada", "POST", "/v1/queries", body, key=uuid.uuid4().hex))["status"] == 400
    for headers in ({"x_user": "ada"}, {"remote_user": "ada"}, {"x_forwarded_user": "ada"}, {"user_name": "ada"}):
        assert ask("carl", "POST", "/v1/queries", BODIES["post", "/v1/queries"], key="k", **headers).status_code == 403
        assert ask(None, "GET", "/v1/me", **headers).status_code == 401
    assert problem(ask.in_person("carl", "POST", "/v1/tokens", {"days": 1, "person": "ada"}))["status"] == 400


def test_a_workload_that_names_an_analyst_is_asked_by_whoever_asks(ask: Asker) -> None:
    body = {"workload": f"analyst: bob\n{WORKLOAD['workload']}"}
    key = uuid.uuid4().hex
    assert ask("ada", "POST", "/v1/workloads", body, key=key).status_code == 200
    assert key in ask("ada", "GET", "/v1/history").text
    assert key not in ask("bob", "GET", "/v1/history").text


def test_a_custodian_is_made_by_two(ask: Asker) -> None:
    made = ask("carl", "POST", "/v1/people", {"name": "dora", "roles": ["analyst"]})
    assert made.status_code == 201
    proposed = ask("carl", "POST", "/v1/people/dora/roles", {"role": "custodian"})
    assert proposed.status_code == 202
    number = proposed.json()["proposal"]["number"]
    assert "custodian" not in ask("carl", "GET", "/v1/people/dora").json()["roles"]
    assert ask("carl", "POST", f"/v1/proposals/{number}/confirm").status_code in (403, 422)
    assert "custodian" not in ask("carl", "GET", "/v1/people/dora").json()["roles"]
    assert ask("cora", "POST", f"/v1/proposals/{number}/confirm").status_code == 200
    assert "custodian" in ask("carl", "GET", "/v1/people/dora").json()["roles"]
    taken = ask("cora", "DELETE", "/v1/people/dora/roles/custodian")
    ask("carl", "POST", f"/v1/proposals/{taken.json()['proposal']['number']}/confirm")
    assert "custodian" not in ask("carl", "GET", "/v1/people/dora").json()["roles"]


def test_acts_have_authors(ask: Asker) -> None:
    ask("cora", "POST", "/v1/people", {"name": "emil", "roles": ["analyst"]})
    ask("cora", "POST", "/v1/grants", {"person": "emil", "dataset": "ward"})
    ask("carl", "DELETE", "/v1/grants/emil/ward")
    lines = [line for line in ask("aud", "GET", "/v1/ledger/events?limit=10000").text.splitlines() if "emil" in line]
    assert any('"cora"' in line and "grant" in line for line in lines)
    assert any('"carl"' in line and "grant" in line for line in lines)
    assert not any('"ana"' in line for line in lines)


# --- an auditor ---------------------------------------------------------------------------------------------------


def test_an_auditor_reads_the_whole_ledger_and_changes_nothing(ask: Asker) -> None:
    lines = ask("aud", "GET", "/v1/ledger/events?limit=10000").text.splitlines()
    verified = ask("aud", "POST", "/v1/ledger/verify", {})
    assert verified.status_code == 200
    assert verified.json()["events"] == len(lines)
    assert ask("aud", "GET", "/v1/populations/inpatients/budget").status_code == 200
    assert ask("aud", "POST", "/v1/ledger/verify", {}).json() == verified.json()
