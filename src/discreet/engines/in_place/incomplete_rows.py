"""How many rows lack what their card calls complete, counted where the rows are: exact, for the custodian alone."""

from __future__ import annotations

from typing import cast

from discreet.cards import Card
from discreet.engines.engine import Engine
from discreet.sql import Case, Field, Identity, IsNull, Nothing, Plan, Rows, Scan, Whole

__all__ = ["count_incomplete"]


def count_incomplete(card: Card, engine: Engine) -> dict[str, int]:
    """For every complete column, the rows that count and lack it."""
    names = [column.name for column in card.columns if column.complete]
    fields = {name: Field(Identity(index)) for index, name in enumerate(names)}
    scan = Scan(card.dataset, card.unit.rows, tuple((field.column, name) for name, field in fields.items()))
    lacking = tuple(Rows(Case(((IsNull(field), Whole(1)),), Nothing())) for field in fields.values())
    if not names:
        return {}
    columns = engine.measure(Plan(scan, (), lacking)).columns
    return {name: cast(int, column[0]) for name, column in zip(names, columns, strict=True)}
