"""Joins on a key that a card declares: one count over all pairs of rows with equal keys, and nothing else.

What one unit adds to such a join depends on how many rows others have, so the calculus does not bound it. It is read
only where the strategy `elastic` is admitted; every condition goes to the side whose columns it uses, so that each side
is a relation of its own, over which units are bounded as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from discreet.cards import Card
from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    And,
    Condition,
    Derive,
    Field,
    Filter,
    IsNull,
    Join,
    KeyJoin,
    Lookup,
    Not,
    Relation,
    Scan,
    all_of,
    columns_of,
    fields_in,
)
from discreet.sql.calculus import facts_of
from discreet.sql.reader.parsing import only
from discreet.sql.reader.scopes import Scope
from discreet.sql.reader.typed_values import Typed, ValueSort

__all__ = ["ELASTIC", "join_on_key", "keep", "restrict_count"]

ELASTIC: Final = "elastic"
"""What a reader of statements must admit before it reads such a join."""

_ONE_COUNT: Final = Phrase(
    "over a join on a key one COUNT(*) or COUNT(column) is asked, without groups, as in SELECT COUNT(*) FROM visits "
    "JOIN clinics ON visits.clinic_id = clinics.clinic_id WHERE clinics.beds > 10."
)


def join_on_key(left: Relation, right: Relation, ours: Typed, theirs: Typed, cards: Mapping[str, Card]) -> KeyJoin:
    """The join of two relations on columns of which one references the other in its card."""
    for key in (ours, theirs):
        if (
            not isinstance(key.value, Field)
            or key.sort not in {ValueSort.CATEGORY, ValueSort.NUMBER, ValueSort.TEXT}
            or key.fine
        ):
            raise QueryRefused(
                say(
                    "a join on a key equates categories, integers or texts; '{column}' is none of these. Units are "
                    "joined with units.",
                    column=key.text,
                ),
                part="JOIN",
            )
    assert isinstance(ours.value, Field)
    assert isinstance(theirs.value, Field)
    _check_reference(_origin(left, ours.value), _origin(right, theirs.value), cards)
    if (ours.sort, ours.codes, ours.step) != (theirs.sort, theirs.codes, theirs.step):
        raise QueryRefused(
            say(
                "'{left}' and '{right}' are not written alike. Give both the same kind in their cards, and the "
                "same categories in the same order, or the same step.",
                left=ours.text,
                right=theirs.text,
            ),
            part="JOIN",
        )
    return KeyJoin(left, right, ours.value, theirs.value)


def _origin(relation: Relation, key: Field) -> tuple[str, str]:
    """Dataset and column that a key is, as it is: a reference is declared of columns, not of what is made of them."""
    match relation:
        case Scan(dataset):
            return dataset, relation.name_of(key.column)
        case Filter(source):
            return _origin(source, key)
        case Derive(source, columns):
            value = dict(columns)[key.column]
            if isinstance(value, Field):
                return _origin(source, value)
        case Join(left, right):
            return _origin(left if key.column in columns_of(left) else right, key)
        case Lookup(source, _, columns) if key.column not in columns:
            return _origin(source, key)
    raise QueryRefused(
        say("a join on a key equates two columns of cards as they are, not what was computed or looked up from them."),
        part="JOIN",
    )


def _check_reference(ours: tuple[str, str], theirs: tuple[str, str], cards: Mapping[str, Card]) -> None:
    def references(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return cards[one[0]].column(one[1]).references == other

    if not references(ours, theirs) and not references(theirs, ours):
        raise QueryRefused(
            say(
                "no card says that '{ours}' points at '{theirs}'. If it does, write `references: {theirs}` at "
                "column '{column}' in the card of '{dataset}'.",
                ours=".".join(ours),
                theirs=".".join(theirs),
                column=ours[1],
                dataset=ours[0],
            ),
            part="JOIN",
        )


def keep(join: KeyJoin, condition: Condition, cards: Mapping[str, Card]) -> KeyJoin:
    """The join of the rows for which a condition is true, each part of it asked of the side it speaks of."""
    parts = condition.operands if isinstance(condition, And) else (condition,)
    columns = [set(columns_of(side)) for side in (join.left, join.right)]
    sides: tuple[list[Condition], list[Condition]] = ([], [])
    for part in parts:
        used = set(fields_in(part))
        index = next((index for index, known in enumerate(columns) if used <= known), None)
        if index is None:
            raise QueryRefused(
                say(
                    "a condition over a join on a key speaks of one side at a time; one here mixes columns of both. "
                    "Join conditions on single sides with AND."
                ),
                part="WHERE",
            )
        sides[index].append(part)
    kept = replace(join, left=_filtered(join.left, sides[0]), right=_filtered(join.right, sides[1]))
    for side in (kept.left, kept.right):
        facts_of(side, cards)  # refuses conditions whose arithmetic could leave 64 bits
    return kept


def _filtered(side: Relation, conditions: Sequence[Condition]) -> Relation:
    return Filter(side, all_of(conditions)) if conditions else side


def restrict_count(select: exp.Select, scope: Scope, join: KeyJoin, cards: Mapping[str, Card]) -> KeyJoin:
    """The join of exactly the pairs that the one count of a statement counts."""
    clauses = ("group", "having", "order", "limit", "offset")
    outputs = [node.this if isinstance(node, exp.Alias) else node for node in select.expressions]
    if any(select.args.get(clause) for clause in clauses) or len(outputs) != 1 or not isinstance(outputs[0], exp.Count):
        raise QueryRefused(str(_ONE_COUNT))
    only(outputs[0], "this", "big_int")
    inner = outputs[0].this
    if isinstance(inner, exp.Distinct):
        raise QueryRefused(str(_ONE_COUNT), part="DISTINCT")
    counted = None if isinstance(inner, exp.Star) else scope.counted(inner)
    return join if counted is None else keep(join, Not(IsNull(counted)), cards)
