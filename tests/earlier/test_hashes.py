"""Statements are known to the first form of plans by the hashes that main 88c9f79 stored answers under.

`hashes.json` was written by that commit: statements over the cards beside it, with the hash of the question, of its
plan and of each measure, and what its columns with private bounds were called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from discreet.sql.algebra import Identity, walk
from discreet.sql.bounds import bound_statement
from discreet.sql.first_form import first_hash, make_first_form
from discreet.sql.reader.questions import read_statement
from discreet.sql.serialisation import Serialisation, plan_hash
from discreet.sql.statement import Statement
from tests.earlier.shelf import HOME, Shelf

GOLDEN: Final[list[dict[str, Any]]] = json.loads((HOME / "hashes.json").read_text("utf-8"))
SHELF: Final = Shelf()


def read(entry: Mapping[str, Any]) -> Statement:
    """The statement; bounds that were found are given by the names that the columns had."""
    admit = frozenset(entry.get("admit", ()))
    statement, cards = read_statement(entry["sql"], SHELF, admit=admit)
    if "found" not in entry:
        return statement
    names = make_first_form(statement.plan, statement.names).names
    found: dict[Identity, tuple[int, int]] = {
        column: tuple(entry["found"][names[column]]) for column in statement.searched if names[column] in entry["found"]
    }
    return bound_statement(statement, cards, found)


@pytest.mark.parametrize("entry", GOLDEN, ids=lambda entry: entry["sql"][:60])
def test_the_first_form_has_the_hashes_of_then(entry: Mapping[str, Any]) -> None:
    statement = read(entry)
    form = make_first_form(statement.plan, statement.names)
    assert form.plan_hash == entry["plan_hash"]
    assert first_hash(statement) == entry["hash"]
    assert [form.measure_id(measure) for measure in statement.plan.measures] == entry["measures"]
    assert [form.column_key(column) for column in statement.searched] == entry["searched"]
    assert [[form.column_key(column), str(step)] for column, step in statement.private] == entry["private"]


def test_questions_that_were_one_are_one_still() -> None:
    """Hashes tell apart what the first form told apart, but for names: those no longer count."""
    now: dict[str, set[str]] = {}
    for entry in GOLDEN:
        now.setdefault(entry["hash"], set()).add(read(entry).hash)
    assert all(len(hashes) == 1 for hashes in now.values())


def test_a_renamed_class_changes_no_hash() -> None:
    statement = read(GOLDEN[-1])
    before = plan_hash(statement.plan), first_hash(statement)
    classes = [type(node) for entry in GOLDEN for node in walk(read(entry).plan)]
    names = {one: one.__name__ for one in classes}
    try:
        for one, name in names.items():
            one.__name__ = f"Other{name}"
        assert (plan_hash(statement.plan), first_hash(statement)) == before
    finally:
        for one, name in names.items():
            one.__name__ = name


def test_every_statement_has_columns_of_its_own_number() -> None:
    for entry in GOLDEN:
        plan = read(entry).plan
        numbers = Serialisation.of(plan).numbers
        assert sorted(numbers.values()) == list(range(len(numbers)))
