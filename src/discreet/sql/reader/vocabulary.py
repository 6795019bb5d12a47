"""Columns of cards and of public tables as a statement may use them; the identity of every column of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.cards import Card, Column, ColumnKind
from discreet.sql.algebra import Field, Identity, Nothing, Scan
from discreet.sql.calculus import Span
from discreet.sql.reader.scopes import ScopedTable
from discreet.sql.reader.typed_values import Domain, Typed, ValueSort
from discreet.workspace import PublicColumn

__all__ = ["Identities", "card_table", "domain_of", "public_column", "stored_key"]


class Identities:
    """Gives every column of a statement an identity, and keeps what people call it: for words, never for reading."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def new(self, name: str) -> Identity:
        """An identity that no other column of the statement has, whatever it is called."""
        self._names.append(name)
        return Identity(len(self._names) - 1)

    @property
    def names(self) -> Mapping[Identity, str]:
        return {Identity(number): name for number, name in enumerate(self._names)}


def card_table(card: Card, shown: str, *, version: int, identities: Identities) -> tuple[Scan, ScopedTable]:
    """A dataset as a relation, and as a table under the name by which the statement calls it."""
    listed = [column for column in card.columns if column.kind is not ColumnKind.ID]
    known = {column.name: identities.new(column.name) for column in listed}
    columns = {column.name.lower(): _card_column(card, column, known) for column in card.columns}
    weights = (columns[card.weight.column.lower()],) if card.weight is not None else ()
    scan = Scan(card.dataset, card.unit.rows, tuple((known[item.name], item.name) for item in listed), version)
    return scan, ScopedTable(shown, columns, weights)


def _card_column(card: Card, column: Column, known: Mapping[str, Identity]) -> Typed:
    """A column of a card. Every one can be NULL. Ids are no values: they join and count, and are never looked at."""
    name = column.name
    if column.kind is ColumnKind.ID:
        return Typed(Nothing(), ValueSort.UNIT if name == card.unit.column else ValueSort.ID, name)
    value = Field(known[name])
    if column.kind is ColumnKind.TEXT:
        return Typed(value, ValueSort.TEXT, name)
    if column.kind is ColumnKind.CATEGORY:
        return Typed(
            value,
            ValueSort.CATEGORY,
            name,
            codes=tuple(category.code for category in column.categories),
            labels=tuple(category.label for category in column.categories),
            domain=Domain(0, len(column.categories) - 1, nullable=True),
        )
    domain = Domain(column.low_units, column.high_units, nullable=True) if column.bounds is not None else None
    return Typed(
        value,
        ValueSort.NUMBER,
        name,
        step=Fraction(column.step or 1),
        domain=domain,
        fine=column.kind is ColumnKind.NUMBER,
    )


def public_column(column: PublicColumn, identity: Identity) -> Typed:
    """A column of a public table."""
    value = Field(identity)
    domain = Domain(column.low_units, column.high_units, nullable=column.absent)
    if column.kind is ColumnKind.CATEGORY:
        return Typed(value, ValueSort.CATEGORY, column.name, codes=column.categories, domain=domain)
    fine = column.kind is ColumnKind.NUMBER
    return Typed(value, ValueSort.NUMBER, column.name, step=Fraction(column.step or 1), domain=domain, fine=fine)


def stored_key(ours: Typed, column: PublicColumn, key: int | None) -> int | None:
    """A key of the public table as our side stores it; None when our side cannot have it."""
    if key is None:
        return None
    if ours.sort is ValueSort.CATEGORY:
        return ours.position(column.text(key))
    if column.kind is not ColumnKind.INTEGER:
        return None
    steps = Fraction(key) / ours.step
    return int(steps) if steps.denominator == 1 else None


def domain_of(span: Span) -> Domain | None:
    """The values that a bounded number can take, as keys."""
    if span.low is None or span.high is None or not span.bounded:
        return None
    return Domain(span.low, span.high, span.nullable)
