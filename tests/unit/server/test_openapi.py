"""The description of the API: a golden file, whole, with examples that are true."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from discreet.server.api_examples import EXAMPLES
from discreet.server.assembly import IN_PERSON, PUBLIC, describe_api
from tests.golden.openapi.write import GOLDEN, describe
from tests.unit.server.serving import COUNT, Asker

SPENDING = ("/v1/queries", "/v1/tables", "/v1/workloads")
WORKLOAD = {"workload": f"questions:\n  - name: n\n    sql: {COUNT}\nepsilon: 0.1\n"}
TABLE = {"dataset": "clinic", "by": ["town"], "epsilon": "0.1"}
ASKED: dict[tuple[str, str], tuple[str | None, str, Any]] = {
    ("get", "/v1/health"): (None, "", None),
    ("get", "/v1/ready"): (None, "", None),
    ("get", "/v1/me"): ("ada", "", None),
    ("post", "/v1/belief"): (None, "", {"epsilon": "1"}),
    ("delete", "/v1/session"): (None, "", None),
    ("get", "/v1/datasets"): ("ada", "", None),
    ("get", "/v1/datasets/{dataset}"): ("ada", "clinic", None),
    ("get", "/v1/populations/{population}/budget"): ("ada", "patients", None),
    ("post", "/v1/explanations"): ("ada", "", {"sql": COUNT, "epsilon": "0.1"}),
    ("post", "/v1/targets"): ("ada", "", {"sql": COUNT, "within": {"people": "50"}}),
    ("post", "/v1/tables/plan"): ("ada", "", TABLE),
    ("post", "/v1/workloads/plan"): ("ada", "", WORKLOAD),
    ("post", "/v1/queries"): ("ada", "", {"sql": COUNT, "epsilon": "0.1"}),
    ("post", "/v1/workloads"): ("ada", "", WORKLOAD),
    ("post", "/v1/tables"): ("ada", "", TABLE),
    ("get", "/v1/history"): ("ada", "", None),
    ("get", "/v1/ledger/head"): (None, "", None),
    ("post", "/v1/ledger/verify"): ("aud", "", {}),
    ("get", "/v1/people"): ("carl", "", None),
    ("get", "/v1/people/{name}"): ("carl", "ada", None),
    ("get", "/v1/grants"): ("carl", "", None),
    ("get", "/v1/tokens"): ("ada", "", None),
    ("post", "/v1/tokens"): ("ada", "", {"days": 3}),
}


def test_the_description_is_the_golden_one() -> None:
    """Where it is meant to change: python -m tests.golden.openapi.write"""
    assert describe() == GOLDEN.read_text(encoding="utf-8")


def test_every_operation_says_what_it_does_who_may_and_how_it_refuses() -> None:
    for path, methods in describe_api()["paths"].items():
        for method, operation in methods.items():
            place = (method, path)
            assert operation["summary"].endswith("."), place
            assert (operation["security"] == []) == (place in PUBLIC), place
            assert ({"token": []} in operation["security"]) == (place not in PUBLIC | IN_PERSON), place
            assert "application/problem+json" in operation["responses"]["default"]["content"], place
            assert not operation["responses"].keys() - {"200", "201", "202", "409", "default"}, place


def test_what_spends_needs_a_key_and_no_get_spends() -> None:
    for path, methods in describe_api()["paths"].items():
        for method, operation in methods.items():
            keyed = any(one["name"] == "Idempotency-Key" and one["required"] for one in operation.get("parameters", ()))
            assert keyed == (path in SPENDING), (method, path)
            assert not keyed or method == "post"


def test_every_body_refuses_what_it_does_not_name() -> None:
    bodies = {name: schema for name, schema in describe_api()["components"]["schemas"].items() if name != "Problem"}
    assert all(schema["additionalProperties"] is False for name, schema in bodies.items()), bodies.keys()


@pytest.mark.parametrize("place", sorted(ASKED), ids=" ".join)
def test_an_example_is_what_a_server_answers(ask: Asker, place: tuple[str, str]) -> None:
    who, name, body = ASKED[place]
    path = place[1].partition("{")[0] + name + ("/budget" if place[1].endswith("/budget") else "")
    own = ask.own("ada") if place == ("post", "/v1/tokens") else {}
    answer = ask(None if own else who, place[0].upper(), path, body, key=uuid.uuid4().hex, **own)
    assert answer.status_code in (200, 201), answer.text
    require_shape(EXAMPLES[place], answer.json(), place)


def require_shape(shown: Any, found: Any, place: object) -> None:
    """Everything that is shown is there, and of the same sort."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in found, (place, name)
            require_shape(value, found[name], (place, name))
    elif isinstance(shown, list) and shown and found:
        require_shape(shown[0], found[0], place)
    else:
        assert found is None or shown is None or isinstance(found, type(shown)), place
