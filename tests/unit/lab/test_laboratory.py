"""The laboratory: wrong arguments are refused in our words, and leave neither a marker nor a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import DiscreetError
from discreet.lab.laboratory import Laboratory
from discreet.tables.request import TableRequest
from tests.unit.tables.office import Office

NOT_TEXT = [5, 2.5, True, b"bytes", ["list"], {"a": 1}, object()]
NOT_A_NUMBER = [True, "", "x", "nan", float("nan"), -1, "1e999", [], {}, b"1"]
NOT_A_NAME = [*NOT_TEXT, "", " ", "a b", "\x1b[31m", "-dash"]
WRONG: dict[str, dict[str, list[object]]] = {
    "ask_unproven": {
        "sql": [None, *NOT_TEXT],
        "strategy": [None, *NOT_TEXT, "", "magic"],
        "epsilon": [None, *NOT_A_NUMBER],
        "model": [*NOT_TEXT, ""],
        "sample_size": [0, -1, 2.5, True, "7"],
        "analyst": NOT_A_NAME,
        "request_id": NOT_A_NAME,
    },
    "bootstrap": {
        "epsilon": [None, *NOT_A_NUMBER],
        "method": [*NOT_TEXT, "iv"],
        "membership_public": [None, 0, "no"],
        "pool": [5, [], b"file"],
        "pool_kind": [*NOT_TEXT, "friends"],
        "analyst": NOT_A_NAME,
    },
    "examine": {"custodian": [None, False, 0, "no"], "gamma": [None, *NOT_A_NUMBER, 1], "epsilon": [0]},
    "compare": {"custodian": [None, False, 1, "no"], "epsilons": [5, [], [0]], "trials": [0, "7", True]},
}
RIGHT: dict[str, dict[str, Any]] = {
    "ask_unproven": {"strategy": "local", "epsilon": "1"},
    "bootstrap": {"epsilon": "1"},
    "examine": {"custodian": True},
    "compare": {"custodian": True, "epsilons": ["1"]},
}


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, names in WRONG.items() for name in names])
def test_a_wrong_argument_is_refused_and_leaves_nothing(office: Office, method: str, name: str) -> None:
    call: Callable[..., object] = getattr(Laboratory(office.session), method)
    subject: object = TableRequest("people", ("region",))
    first = {"sql": "SELECT COUNT(*) FROM people"} if method == "ask_unproven" else {"request": subject}
    before = office.session.ledger.head()
    for value in WRONG[method][name]:
        with pytest.raises(DiscreetError) as refused:
            call(**{**first, **RIGHT[method], name: value})
        assert len(refused.value.message) > 15, value
    assert office.session.ledger.head() == before
