"""Tables are planned as main d2cfed0 planned them, which wrote each request as SQL and read that.

`tables.json` was written by that commit: requests over the cards beside it, with the hash of the question, of its plan,
of the plan over every cell of the domains, of the first form, and what its measures were called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from discreet.sql.first_form import first_hash
from discreet.sql.serialisation import plan_hash
from discreet.tables.formation import plan_table
from discreet.tables.request import table_request
from discreet.workspace.folder import Dataset
from tests.earlier.shelf import HOME, Shelf

GOLDEN: Final[list[dict[str, Any]]] = json.loads((HOME / "tables.json").read_text("utf-8"))
SHELF: Final = Shelf()


@pytest.mark.parametrize("entry", GOLDEN, ids=lambda entry: ",".join(entry["request"]["by"]))
def test_a_request_has_the_plan_of_then(entry: Mapping[str, Any]) -> None:
    request = table_request(**entry["request"])
    dataset = SHELF.find(request.dataset)
    assert isinstance(dataset, Dataset)
    statement = plan_table(request, dataset.card)
    assert statement.hash == entry["hash"]
    assert plan_hash(statement.plan) == entry["plan_hash"]
    assert statement.widened.hash == entry["widened"]
    assert first_hash(statement) == entry["first"]
    assert [face.text for face in statement.measures] == entry["measures"]
