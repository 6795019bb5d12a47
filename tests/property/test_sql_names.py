"""The collisions of names that once let a statement mean two things, planted again: the fuzz of SQL text finds each.

Every plant gives columns identities by what they are called, as names once did, in one place; nodes then no longer
refuse inputs that share an identity, and tables and derived columns may be called anything. Without a plant, names that
may be anything change nothing: that they are ordinary ones is no part of the proof. All this looks at the fuzz, not at
the product, and takes long; the fuzz itself is in every run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from discreet.cards.card import SizeRule
from discreet.engines import rendering as statements
from discreet.sql import algebra, calculus, sensitivity
from discreet.sql.algebra import Derive, Field, Identity, Key, Relation, columns_of
from discreet.sql.calculus import Facts
from discreet.sql.reader import from_clause as tables
from discreet.sql.reader import parsing
from discreet.sql.reader.from_clause import From, FromTables
from discreet.sql.reader.scopes import ScopedTable
from discreet.sql.reader.typed_values import Typed
from discreet.sql.reader.vocabulary import Identities
from tests.sql_text.fuzz import embedded, run
from tests.sql_text.populations import Population, populations
from tests.sql_text.statements import random_question

pytestmark = pytest.mark.long

QUICK: Final = 3_000


@pytest.fixture
def any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """FromTables and derived columns may be called anything, as once they could."""
    monkeypatch.setattr(tables, "derived_name", lambda node: parsing.identifier(node).lower())


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes are built whatever their inputs share."""
    for name in ("_require_different", "_require_apart", "_require_known"):
        monkeypatch.setattr(algebra, name, lambda *_: None)


def share_names(monkeypatch: pytest.MonkeyPatch, pattern: str) -> dict[str, Identity]:
    """Columns whose name fits the pattern have one identity for each name; what the planner calls its own, too."""
    known: dict[str, Identity] = {}
    fresh = Identities.new

    def new(self: Identities, name: str) -> Identity:
        if not self.names:
            known.clear()
        if not re.fullmatch(pattern, name):
            return fresh(self, name)
        if name not in known:
            known[name] = fresh(self, name)
        return known[name]

    monkeypatch.setattr(Identities, "new", new)
    return known


def rename_right_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of a join's right side that the left side has a namesake for are called x:1, as once they were."""

    def called(found: From) -> set[str]:
        return {name for table in found.tables for name in table.columns}

    def apart(self: FromTables, left: From, right: From, number: int) -> From:
        names = {typed.value: name for table in right.tables for name, typed in table.columns.items()}
        made = {
            column: self.identities.new(f"{names[Field(column)]}:{number}")
            for column in columns_of(right.relation)
            if names.get(Field(column)) in called(left)
        }
        kept = [(made.get(column, column), Field(column)) for column in columns_of(right.relation)]

        def moved(typed: Typed) -> Typed:
            new = made.get(typed.value.column) if isinstance(typed.value, Field) else None
            return typed if new is None else replace(typed, value=Field(new))

        shown = tuple(
            ScopedTable(
                table.name,
                {name: moved(typed) for name, typed in table.columns.items()},
                tuple(map(moved, table.weights)),
            )
            for table in right.tables
        )
        return From(Derive(right.relation, tuple(kept)), shown)

    def number_of(left: Relation) -> int:
        number = 1
        while isinstance(left, algebra.Join | algebra.Lookup):
            left, number = left.left if isinstance(left, algebra.Join) else left.source, number + 1
        return number

    join = FromTables._join

    def renamed(self: FromTables, left: From, node: Any, named: Any) -> From:
        joined = join(self, left, node, named)
        if not isinstance(joined.relation, algebra.Join):
            return joined
        right = apart(
            self, left, From(joined.relation.right, joined.tables[len(left.tables) :]), number_of(left.relation)
        )
        return From(algebra.Join(joined.relation.left, right.relation), (*left.tables, *right.tables))

    monkeypatch.setattr(FromTables, "_join", renamed)


quick_question = cache(random_question)


def found(folder: Path, pattern: str, *, among: tuple[Population, ...] = populations()) -> bool:
    """Whether the quick run meets a violation among its statements that fit the pattern."""
    numbers = {people.number for people in among}
    fitting = (question for question in map(quick_question, range(QUICK)) if question.population in numbers)
    seeds = (question.seed for question in fitting if re.search(pattern, question.sql))
    return bool(run(seeds, embedded(folder), until=1).violations)


@pytest.mark.usefixtures("any_name")
def test_names_may_be_anything_where_columns_have_identities(tmp_path: Path) -> None:
    result = run(range(300), embedded(tmp_path), wild=0.8)
    assert not result.violations, str(result)


@pytest.mark.usefixtures("any_name", "unchecked")
class TestPlanted:
    """Each collision of then."""

    def test_the_right_side_of_a_join(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rename_right_sides(monkeypatch)
        share_names(monkeypatch, r".*:\d")
        assert found(tmp_path, r"\w:\d")

    def test_what_is_ranked_of_a_join(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rename_right_sides(monkeypatch)
        share_names(monkeypatch, r".*:\d")
        assert found(tmp_path, r"(MEDIAN|QUANTILE|MIN|MAX)[^\0]*\w:\d")

    def test_a_computed_key(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        share_names(monkeypatch, r"key \d")
        assert found(tmp_path, '"key ')

    def test_a_column_of_a_public_table(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        share_names(monkeypatch, r".*\..*")
        assert found(tmp_path, r'"\w+\.\w+"')

    def test_the_value_that_is_ranked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        known = share_names(monkeypatch, "_discreet_value")

        def taken(source: Relation) -> Identity:
            value = known.get("_discreet_value")
            return value if value in columns_of(source) and value is not None else algebra.next_identity(source)

        monkeypatch.setattr(statements, "next_identity", taken)
        assert found(tmp_path, "(?i)_discreet_value")


@pytest.mark.parametrize(
    "sort", [r"CASE(?s:.)*GROUP BY", r"JOIN (t|n)\b(?s:.)*GROUP BY"], ids=["computed", "looked up"]
)
def test_a_key_that_is_taken_for_what_decides_a_cap_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    """The cap of another cell: once a key could be called as the column that decides it."""

    def first_listed(keys: tuple[Key, ...], facts: Facts) -> int | None:
        capped = any(span.caps is not None for span in facts.spans.values())
        return next((place for place, key in enumerate(keys) if capped and key.cells is not None), None)

    def taken(self: Facts, key: Identity, cell: int | None) -> Facts:
        deciding = {span.caps.by for span in self.spans.values() if span.caps is not None}
        return replace(self, possible={**self.possible, **dict.fromkeys([key, *deciding], frozenset({cell}))})

    monkeypatch.setattr(sensitivity, "_slicing_key", first_listed)
    monkeypatch.setattr(Facts, "given", taken)
    assert found(tmp_path, sort)


def test_a_join_whose_members_are_taken_for_public_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = calculus._join
    monkeypatch.setattr(calculus, "_join", lambda left, right, *, known: derived(left, right, known=True))
    sizes = [(people, {card.size for card in people.cards.values()}) for people in populations()]
    assert found(tmp_path, "JOIN", among=tuple(people for people, known in sizes if known == {SizeRule.PUBLIC}))
