"""Which ids of a dataset meet which conditions, exactly and for that office alone.

Conditions are Discreet's SQL over the card. Rows beyond a unit's bound do not count, as everywhere; an id meets a
condition if any of its kept rows does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.cards import Card, ColumnKind
from discreet.catalogue import say
from discreet.engines import Tabulating
from discreet.errors import QueryRefused
from discreet.linkage.agreements.agreement import IdType
from discreet.sql import (
    Case,
    Condition,
    Field,
    Filter,
    Identities,
    Key,
    Plan,
    Scope,
    Total,
    Value,
    Whole,
    all_of,
    card_table,
    facts_of,
    parse_condition,
    read_conditions,
    read_mended,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.session import Session
    from discreet.workspace import Dataset

__all__ = ["MarkedIds", "id_type", "mark_ids", "plan_marks"]


@dataclass(frozen=True)
class MarkedIds:
    """Canonical ids, ascending, as an Arrow column; for each condition how many of the id's rows meet it, or weigh.

    With `units`, an id stands there once for each unit that it has rows in.
    """

    ids: Any
    marks: tuple[NDArray[np.int64], ...]
    units: Any = None


def id_type(card: Card, column: str) -> IdType:
    """The type of a card's column of ids, or a refusal of a column that is none."""
    found = card.column(column)
    if found.kind is not ColumnKind.ID:
        raise QueryRefused(
            say(
                "'{column}' of '{dataset}' is not of kind id, and rows are linked by ids. Say so in the card.",
                column=column,
                dataset=card.dataset,
            ),
            part="id",
        )
    return IdType(str(found.type))


def plan_marks(
    card: Card,
    column: str,
    conditions: Sequence[str | None],
    *,
    where: str | None = None,
    weight: str | None = None,
    by_unit: bool = False,
) -> Plan:
    """For every id of the rows that meet `where`: the rows that meet each condition, or what they weigh.

    None is a condition that every row meets. What is refused is refused in the words of any question.
    """
    id_type(card, column)
    identities = Identities()
    scan, table = card_table(card, card.dataset, version=0, identities=identities)
    scope = Scope([table])
    keys = [(identities.new(name), name) for name in (column, *([card.unit.column] if by_unit else []))]
    rows = replace(scan, columns=(*scan.columns, *keys))

    def read(text: str) -> Condition:
        return read_mended(text, lambda given: all_of(read_conditions(parse_condition(given), scope)))

    chosen = None if where is None else read(where)
    amount: Value = Whole(1) if weight is None else scope.find(weight).value
    met = [None if text is None else read(text) for text in conditions]
    for condition in (chosen, *met):
        facts_of(scan if condition is None else Filter(scan, condition), {card.dataset: card})
    source = rows if chosen is None else Filter(rows, chosen)
    measures = tuple(Total(amount if item is None else Case(((item, amount),), Whole(0))) for item in met)
    return Plan(source, tuple(Key(Field(identity), None) for identity, _ in keys), measures)


def mark_ids(session: Session, dataset: Dataset, plan: Plan) -> MarkedIds:
    """What a plan of `plan_marks` finds in a version of a dataset. Rows without an id are passed over."""
    import pyarrow as pa
    from pyarrow import compute as pc

    engine = session.open_engine({dataset.name: dataset})
    assert isinstance(engine, Tabulating), "every engine of a workspace is"
    width = len(plan.keys)
    columns = engine.tabulate(plan).columns
    names = [f"k{place}" for place in range(width)] + [f"m{place}" for place in range(len(plan.measures))]
    table = pa.table(dict(zip(names, columns, strict=True)))
    if table["k0"].null_count:
        table = table.filter(pc.is_valid(table["k0"]))
    table = table.take(pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names[:width]]))
    keys = [table[name].combine_chunks() for name in names[:width]]
    marks = [pc.cast(table[name], pa.int64()).to_numpy() for name in names[width:]]
    return MarkedIds(keys[0], tuple(marks), *keys[1:])
