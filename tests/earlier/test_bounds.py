"""Within bounds that were found, statements are those that main 3e5cdd9 made by reading their SQL again with them.

`bounds.json` was written by that commit: statements over the cards beside it, the bounds found for each column with
private ones (null where there has been no search yet), and all that then followed from both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Final

import pytest

from discreet.sql.bounds import bound_statement
from discreet.sql.first_form import first_hash
from discreet.sql.reader.questions import read_statement
from discreet.sql.serialisation import Serialisation
from discreet.sql.statement import Statement
from tests.earlier.shelf import HOME, Shelf

GOLDEN: Final[list[dict[str, Any]]] = json.loads((HOME / "bounds.json").read_text("utf-8"))
SHELF: Final = Shelf()


def plain(node: object) -> object:
    """Nodes by their parts, whatever their classes are called."""
    if isinstance(node, tuple):
        return [plain(part) for part in node]
    if is_dataclass(node):
        return [plain(getattr(node, part.name)) for part in fields(node) if part.compare]
    return str(node) if isinstance(node, Fraction) else node


def told(statement: Statement) -> dict[str, object]:
    form = Serialisation.of(statement.plan)
    return {
        "hash": statement.hash,
        "first_hash": first_hash(statement),
        "plan_hash": form.plan(statement.plan),
        "measures": [form.measure(one) for one in statement.plan.measures],
        "presentation": plain(statement.presentation),
        "keys": [one.name for one in statement.keys],
        "faces": plain(statement.measures),
        "searched": [form.numbers[column] for column in statement.searched],
        "private": [[form.numbers[column], str(step)] for column, step in statement.private],
    }


@pytest.mark.parametrize("entry", GOLDEN, ids=lambda entry: entry["sql"][:60])
def test_bounds_make_of_a_statement_what_they_made_then(entry: Mapping[str, Any]) -> None:
    statement, cards = read_statement(entry["sql"], SHELF)
    columns = [column for column, _ in statement.private]
    found = {column: tuple(ends) for column, ends in zip(columns, entry["found"], strict=True) if ends is not None}
    wanted = {name: value for name, value in entry.items() if name not in {"sql", "found"}}
    assert json.loads(json.dumps(told(bound_statement(statement, cards, found)))) == wanted
