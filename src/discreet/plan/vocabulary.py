"""Columns of cards and of public tables as a statement may use them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from discreet.data.card import Card, Column, Kind
from discreet.data.publictables import PublicColumn
from discreet.plan.algebra import Field
from discreet.plan.calculus import Span
from discreet.plan.scopes import Table
from discreet.plan.typed import Domain, Sort, Typed

__all__ = ["UNIT", "card_column", "card_table", "domain_of", "is_unit", "public_column", "stored_key"]

UNIT: Final = "unit"


def is_unit(typed: Typed) -> bool:
    """Whether a column holds the ids of the protected units, rather than other ids."""
    return typed.sort is Sort.UNIT and typed.name == UNIT


def card_table(card: Card, shown: str) -> Table:
    """A dataset as a table, under the name by which the statement calls it."""
    columns = {column.name.lower(): card_column(card, column) for column in card.columns}
    weights = (columns[card.weight.column.lower()],) if card.weight is not None else ()
    return Table(shown, columns, weights)


def card_column(card: Card, column: Column) -> Typed:
    """A column of a card. Every one can be NULL."""
    value, name = Field(column.name), column.name
    if column.kind is Kind.ID:
        return Typed(value, Sort.UNIT, name, name=UNIT if name == card.unit.column else None)
    if column.kind is Kind.TEXT:
        return Typed(value, Sort.TEXT, name, name=name)
    if column.kind is Kind.CATEGORY:
        return Typed(
            value,
            Sort.CATEGORY,
            name,
            codes=tuple(category.code for category in column.categories),
            labels=tuple(category.label for category in column.categories),
            domain=Domain(0, len(column.categories) - 1, nullable=True),
            name=name,
        )
    domain = Domain(column.low_units, column.high_units, nullable=True) if column.bounds is not None else None
    fine = column.kind is Kind.NUMBER
    return Typed(value, Sort.NUMBER, name, step=Fraction(column.step or 1), domain=domain, name=name, fine=fine)


def public_column(column: PublicColumn, shown: str) -> Typed:
    """A column of a public table."""
    value = Field(f"{shown}.{column.name}")
    domain = Domain(column.low_units, column.high_units, nullable=column.absent)
    if column.kind is Kind.CATEGORY:
        return Typed(value, Sort.CATEGORY, column.name, codes=column.categories, domain=domain, name=column.name)
    fine = column.kind is Kind.NUMBER
    step = Fraction(column.step or 1)
    return Typed(value, Sort.NUMBER, column.name, step=step, domain=domain, name=column.name, fine=fine)


def stored_key(ours: Typed, column: PublicColumn, key: int | None) -> int | None:
    """A key of the public table as our side stores it; None when our side cannot have it."""
    if key is None:
        return None
    if ours.sort is Sort.CATEGORY:
        return ours.position(column.text(key))
    if column.kind is not Kind.INTEGER:
        return None
    steps = Fraction(key) / ours.step
    return int(steps) if steps.denominator == 1 else None


def domain_of(span: Span) -> Domain | None:
    """The values that a bounded number can take, as keys."""
    if span.low is None or span.high is None or not span.bounded:
        return None
    return Domain(span.low, span.high, span.nullable)
