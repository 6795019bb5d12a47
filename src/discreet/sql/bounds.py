"""Bounds that were found for a statement's private columns: the same question, clamped to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import cast

from discreet.cards import Card
from discreet.sql.calculus import facts_of
from discreet.sql.outputs import Mean, Noted, Output, Presentation, Spread
from discreet.sql.reader.measures import Found, Measures
from discreet.sql.statement import Statement

__all__ = ["bound_statement"]


def bound_statement(statement: Statement, cards: Mapping[str, Card], found: Found) -> Statement:
    """The statement with its private columns clamped to what was found for them, the others to all a search looks at.

    Its aggregates are taken again: measures, and what is shown of them, follow the bounds, also where two that were one
    no longer are. Rows, keys and the order of the answer stay.
    """
    measures = Measures(facts_of(statement.plan.source, cards), dict(statement.private), found)
    outputs = [measures.take(item) for item in statement.readings]
    listed, faces = measures.listed(open_keys=statement.plan.open)
    return replace(
        statement,
        plan=replace(statement.plan, measures=listed),
        presentation=cast(Presentation, _show(statement.presentation, outputs)),
        measures=faces,
        searched=measures.searched,
        readings=measures.readings,
    )


def _show(node: object, outputs: Sequence[Output]) -> object:
    """The same, each aggregate as it is now."""
    match node:
        case Noted() | Mean() | Spread():
            return outputs[node.reading]
        case tuple():
            return tuple(_show(part, outputs) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(node, **{part.name: _show(getattr(node, part.name), outputs) for part in fields(node)})
    return node
