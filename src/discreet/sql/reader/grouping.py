"""Keys and aggregates over one relation, to a plan: where every reader of questions ends, however they were written.

Refusals are decided from the question, the cards and public tables alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Derive,
    Field,
    Filter,
    Join,
    Key,
    Lookup,
    Measure,
    PerUnit,
    Plan,
    Relation,
    Trimmed,
    fields_in,
)
from discreet.sql.calculus import facts_of, private_spans, span_of
from discreet.sql.key_cells import close_keys
from discreet.sql.outputs import Presentation
from discreet.sql.reader.aggregates import Aggregates
from discreet.sql.reader.centres import usual_values
from discreet.sql.reader.from_clause import From
from discreet.sql.reader.measures import Measures
from discreet.sql.reader.scopes import Scope
from discreet.sql.reader.typed_values import Typed, ValueSort
from discreet.sql.reader.vocabulary import Identities, domain_of
from discreet.sql.sensitivity import sensitivities
from discreet.sql.statement import KeyFace, Statement

__all__ = ["MOST_CELLS", "Grouping"]

MOST_CELLS: Final = 1_000_000


class Grouping:
    """One relation, the keys of its cells, and the aggregates that are measured in each cell.

    Columns with private bounds are clamped to all that a search looks at. Means are taken nearer to what a card calls
    typical where `typical` says so.
    """

    def __init__(
        self,
        source: From,
        cards: Mapping[str, Card],
        identities: Identities,
        *,
        admit: frozenset[str] = frozenset(),
        typical: bool = True,
    ) -> None:
        self.scope = Scope(source.tables)
        self.keys: list[Typed] = []
        self._relation = source.relation
        self._cards = cards
        self._identities = identities
        self._facts = facts_of(source.relation, cards)
        private = private_spans(self._facts, cards)
        columns = [typed for table in source.tables for typed in table.columns.values()]
        steps = {item.value.column: item.step for item in columns if isinstance(item.value, Field)}
        self.measures = Measures(self._facts, {column: steps[column] for column in private if column in steps})
        usual = usual_values(source.relation, cards) if typical else {}
        self.aggregates = Aggregates(self.scope, self.measures, admit=admit, usual=usual)

    def group_by(self, typed: Typed, name: str | None = None) -> None:
        """One more key, under a name of its own where it has one; or a refusal of what no cell may be known by."""
        if typed.identifies:
            raise QueryRefused(
                say(
                    "'{column}' identifies the protected unit; single units are never shown. Group by it inside a "
                    "derived table and ask about all of them.",
                    column=typed.text,
                )
                if typed.sort is ValueSort.UNIT
                else say("'{column}' identifies people; it cannot be asked about.", column=typed.text)
            )
        if typed.fine:
            raise QueryRefused(
                say(
                    "GROUP BY needs a column whose values are listed in the card; '{column}' is a measured number. Cut "
                    "it into bands, as in CASE WHEN x < 10 THEN 'low' ELSE 'high' END.",
                    column=typed.text,
                )
            )
        if typed.sort is ValueSort.NOTHING or typed.fixed is not None:
            raise QueryRefused(say("GROUP BY needs a column."))
        if typed.value in [key.value for key in self.keys]:
            raise QueryRefused(say("a column stands twice in GROUP BY."))
        if typed.sort is ValueSort.NUMBER and not isinstance(typed.value, Field):
            typed = replace(typed, domain=domain_of(span_of(typed.value, self._facts)))
        self.keys.append(typed if name is None else replace(typed, text=name))

    def plan(self, presentation: Presentation) -> Statement:
        """The statement that shows this of the measures, or a refusal for its size or for want of bounds."""
        relation, keys = self._key_fields()
        measures, faces = self.measures.listed(open_keys=any(key.cells is None for key in keys))
        plan = Plan(_pruned(relation, keys, measures), keys, measures)
        _check_size(plan)
        facts = facts_of(plan.source, self._cards)
        for measure in measures:
            if not isinstance(measure, Trimmed):  # what has no bounds is refused before anything is charged
                sensitivities(plan, measure, self._cards, facts=facts)
        shown = [
            KeyFace(typed.text, typed.codes, typed.labels, typed.step if typed.sort is ValueSort.NUMBER else None)
            for typed in self.keys
        ]
        return Statement(
            plan,
            presentation,
            tuple(shown),
            faces,
            self._identities.names,
            self.measures.searched,
            self.measures.private_columns,
            self.measures.readings,
        )

    def _key_fields(self) -> tuple[Relation, tuple[Key, ...]]:
        """The keys as columns of the relation, with the cells that can hold rows; computed keys are derived first."""
        computed = [key for key in self.keys if not isinstance(key.value, Field)]
        relation, values = self._relation, [key.value for key in self.keys]
        if computed:
            spans = self._facts.spans
            used = set(fields_in((tuple(values), self.measures.listed(open_keys=False)[0])))
            used |= {span.caps.by for column, span in spans.items() if column in used and span.caps is not None}
            kept = [(column, Field(column)) for column in spans if column in used]
            made = {
                index: self._identities.new(f"key {index}")
                for index, value in enumerate(values)
                if not isinstance(value, Field)
            }
            relation = Derive(relation, (*kept, *((column, values[index]) for index, column in made.items())))
            values = [Field(made[index]) if index in made else value for index, value in enumerate(values)]
        whole = []
        for typed, value in zip(self.keys, values, strict=True):
            domain = typed.domain
            cells: tuple[int | None, ...] | None = None
            if domain is not None:
                if domain.high - domain.low >= MOST_CELLS:
                    raise QueryRefused(
                        say(
                            "'{column}' can take more than {most:,} values; group by a coarser one.",
                            column=typed.text,
                            most=MOST_CELLS,
                        )
                    )
                cells = (*range(domain.low, domain.high + 1), *((None,) if domain.nullable else ()))
            whole.append(Key(cast(Field, value), cells))
        relation, keys = close_keys(relation, whole, self._cards)
        for typed, key in zip(self.keys, keys, strict=True):
            if key.cells == ():
                raise QueryRefused(
                    say(
                        "the conditions leave no value of '{column}', so the answer would have no row. Change WHERE, "
                        "or leave the column out of GROUP BY.",
                        column=typed.text,
                    ),
                    part="WHERE",
                )
        return relation, keys


def _pruned(relation: Relation, keys: tuple[Key, ...], measures: tuple[Measure, ...]) -> Relation:
    """Public tables reduced to the columns that the plan reads."""
    used = set(fields_in((relation, keys, measures)))

    def prune(below: Relation) -> Relation:
        match below:
            case Lookup():
                kept = [index for index, column in enumerate(below.columns, start=1) if column in used]
                return replace(
                    below,
                    source=prune(below.source),
                    columns=tuple(below.columns[index - 1] for index in kept),
                    entries=tuple((entry[0], *(entry[index] for index in kept)) for entry in below.entries),
                )
            case Join(left, right):
                return Join(prune(left), prune(right))
            case Filter() | Derive() | PerUnit():
                return replace(below, source=prune(below.source))
        return below

    return prune(relation)


def _check_size(plan: Plan) -> None:
    if not plan.open and plan.cell_count > MOST_CELLS:
        raise QueryRefused(
            say(
                "the answer would have {cells:,} cells; at most {most:,} are answered at once. Group by fewer columns.",
                cells=plan.cell_count,
                most=MOST_CELLS,
            ),
            cells=plan.cell_count,
        )
