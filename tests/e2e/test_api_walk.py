"""Every operation that the API describes, walked as every role, with what its description allows and what it does not.

Schemathesis makes the requests from the description that the office serves. Its choices are the same in every run.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from discreet.server.assembly import describe_api
from tests.e2e.attacked import Office, attacked
from tests.unit.server.serving import COUNT

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("the walk")]

EXAMPLES: Final = 16
SPENDING: Final = ("/v1/queries", "/v1/tables", "/v1/workloads")
IN_PERSON: Final = ("/v1/tokens", "/v1/me/password", "/v1/people/{name}/link")
"""What a token may not make: it is asked for in a session, as on the page."""
OPERATIONS: Final = [(method, path) for path, methods in describe_api()["paths"].items() for method in methods]
WHO: Final = ("nobody", "ada", "rita", "aud", "carl")
"""carl is last: what a custodian does is felt by others."""

KNOWN: Final[dict[str, Any]] = {
    **{"dataset": "clinic", "population": "patients", "name": "emil", "person": "emil", "role": "reviewer"},
    **{"job": "0" * 32, "id": "0" * 16, "number": 1},
}
WORKLOAD: Final = f"questions:\n  - name: n\n    sql: {COUNT}\nepsilon: 0.1\n"
QUERY: Final = {"sql": COUNT, "epsilon": "0.1"}
TABLE: Final = {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"}
SAID: Final[dict[str, Any]] = {
    **{"/v1/queries": QUERY, "/v1/explanations": QUERY},
    **{"/v1/tables": TABLE, "/v1/tables/plan": TABLE},
    **{"/v1/workloads": {"workload": WORKLOAD}, "/v1/workloads/plan": {"workload": WORKLOAD}},
    "/v1/targets": {"sql": COUNT, "within": {"people": "100"}},
    "/v1/belief": {"epsilon": "1"},
    "/v1/session": {"link": "0" * 16 + ".no"},
    "/v1/people": {"name": "emil", "roles": ["analyst"]},
    "/v1/people/{name}/roles": {"role": "auditor"},
    "/v1/grants": {"person": "emil", "dataset": "clinic"},
    "/v1/tokens": {"days": 1},
    "/v1/ledger/verify": {},
    "/v1/me/password": {"password": "four words that are enough"},
}
MET: Final[dict[tuple[str, str], set[int]]] = defaultdict(set)
"""Which statuses each operation gave to anybody."""

OURS: Final = re.compile(
    r"'(?:[A-Za-z_-]+|the body)' is not what GET /v1/openapi\.json describes\.|'(?:[a-z_]+|the body)' is missing\."
    r"|a field is not known here\. What there is: GET /v1/openapi\.json|the body is not JSON\."
    r"|this is not a request that this server reads\.|there is nothing here\. The list of what there is: .*"
    r"|the body is too long\.|the body must be JSON.*|this cannot be done here: .*"
    r"|either 'name' and 'password', or 'link', .*"
)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with attacked(tmp_path_factory.mktemp("walk"), "--no-slots", "--requests", "1000000") as found:
        assert found.ask("carl", "POST", "/v1/people", SAID["/v1/people"]).status_code == 201
        yield found


@pytest.fixture(scope="module")
def described(office: Office) -> Any:
    return schemathesis.openapi.from_dict(office.ask("ada", "GET", "/v1/openapi.json").json())


@pytest.fixture(scope="module")
def line() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


def requests_of(described: Any, method: str, path: str) -> st.SearchStrategy[Case[Any]]:
    """What the description allows, at random and with names that there are, and what it does not."""
    operation = described[path][method.upper()]
    allowed = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    named = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in path}
    said = {"body": SAID[path], "media_type": "application/json"} if path in SAID and operation.body else {}
    known: st.SearchStrategy[Case[Any]] = operation.as_strategy(path_parameters=named, **said)
    if not (operation.body or len(operation.path_parameters) + len(operation.query) + len(operation.headers)):
        return known
    return st.one_of(allowed, known, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
@pytest.mark.parametrize("who", WHO)
def test_every_operation_is_walked_as_every_role(
    office: Office, described: Any, line: requests.Session, who: str, method: str, path: str
) -> None:
    mark = office.mark()
    sent = {"User-Agent": mark, "X-Mark": mark, "Referer": f"http://office/{mark}"}
    sent["origin"] = f"http://127.0.0.1:{office.port}"  # sessions are made up too, and a cookie comes from a page
    if who != "nobody" and path in IN_PERSON:
        sent |= office.ask.own(who)
    elif who != "nobody":
        sent["Authorization"] = f"Bearer {office.ask.tokens[who]}"

    before = newest(office)

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=requests_of(described, method, path), fresh=st.booleans())
    def walk(case: Case[Any], fresh: bool) -> None:
        key = {"Idempotency-Key": uuid.uuid4().hex} if path in SPENDING and fresh else {}
        answer = case.call(f"http://127.0.0.1:{office.port}", session=line, headers={**sent, **key})
        judge(office, who, case, answer)

    walk()
    if method == "get":
        assert newest(office) == before, "reading changes nothing"


def judge(office: Office, who: str, case: Case[Any], answer: Any) -> None:
    told = answer.content.decode("utf-8", errors="replace")
    MET[case.operation.method, case.operation.path].add(answer.status_code)
    case.validate_response(
        answer, checks=[status_code_conformance, content_type_conformance, response_schema_conformance]
    )
    assert not [mark for mark in office.marks if mark in f"{answer.headers}{told}"]
    assert "Traceback" not in told
    assert answer.headers["cache-control"] == ["no-store"]
    if answer.status_code >= 400:
        judge_refusal(case, answer.status_code, json.loads(told))
    elif answer.status_code == 200 and case.operation.path in SPENDING and not json.loads(told)["replayed"]:
        office.answered[who, json.loads(told)["request_id"]] = 1


def judge_refusal(case: Case[Any], status: int, found: dict[str, Any]) -> None:
    assert {"type", "status", "error", "message", "fields", "charged"} <= found.keys() <= {*found, "problems"}
    assert (found["status"], found["type"]) == (status, f"urn:discreet:error:{found['error']}")
    assert found["charged"] is False
    if status >= 500:  # a head that was noted down and is not in the chain: what an auditor asks for
        assert (status, found["error"], case.operation.path) == (503, "LedgerDamaged", "/v1/ledger/verify")
    if found["error"] == "RequestInvalid":
        assert all(map(OURS.fullmatch, found["message"].splitlines())), found


def newest(office: Office) -> tuple[int, str]:
    with office.open() as session:
        return session.ledger.head()


def test_at_the_end_every_charge_has_one_answer_and_nothing_was_told(office: Office) -> None:
    assert office.answered, "somebody asked something"
    told = Counter(office.said.removeprefix(office.begun).splitlines())
    assert all(line.startswith("LedgerDamaged: ") for line in told), told
    office.begun = office.said
    office.require_unharmed()
