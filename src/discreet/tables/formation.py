"""From a request to a plan: the statement of the cells, the faces of its keys, and what a figure of it is.

Everything follows from the request, the card and public tables; no row is looked at.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from discreet.cards import Card, Column, ColumnKind
from discreet.catalogue import ENGLISH, FRENCH, LANGUAGES, Phrase, say, say_list, speaking
from discreet.errors import QueryRefused
from discreet.guarantees import text
from discreet.results import Heading, Labels
from discreet.sql import (
    Case,
    Condition,
    Domain,
    Filter,
    From,
    Grouping,
    Identities,
    IsNull,
    KeyShown,
    Mean,
    Not,
    Noted,
    Nothing,
    Or,
    Output,
    Plan,
    Presentation,
    Rows,
    Scope,
    Statement,
    Total,
    Typed,
    ValueSort,
    Whole,
    all_of,
    among,
    card_table,
    compare_numbers,
    constant,
    facts_of,
    multiply,
    parse_condition,
    read_conditions,
    read_mended,
    require_number,
    span_of,
)
from discreet.sql import ShownColumn as OutputColumn
from discreet.tables.linear.layout import Layout
from discreet.tables.request import Band, CellAggregate, TableRequest
from discreet.workspace import Dataset, Workspace

__all__ = ["Formed", "form_dataset", "form_table", "may_be_negative", "plan_table", "tell_left_out"]


@dataclass(frozen=True)
class Formed:
    """A table as planned. `statement` measures the cells: one count or total, or a centred total and a size for means.

    `step` is the grid on which figures are published: that of the value, and whole people for weighted counts; None
    for means.
    """

    request: TableRequest
    statement: Statement
    datasets: Mapping[str, Dataset]
    headings: tuple[Heading, ...]
    title: Labels
    statistic: Labels
    step: Fraction | None

    @property
    def plan(self) -> Plan:
        return self.statement.plan

    @property
    def dataset(self) -> Dataset:
        return self.datasets[self.plan.dataset]

    @property
    def card(self) -> Card:
        return self.dataset.card

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def output(self) -> Output:
        """What a cell shows of the measures."""
        shown = self.statement.presentation.columns[len(self.request.by)].shows
        assert not isinstance(shown, KeyShown)
        return shown

    @property
    def mean(self) -> Mean | None:
        """How a cell's mean is made of its two measures, for tables of means."""
        return self.output if isinstance(self.output, Mean) else None

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(key.cells or ()) for key in self.plan.keys)

    @property
    def widened(self) -> Formed:
        """The table with every cell of the domains: as it was released before conditions took cells away."""
        return replace(self, statement=self.statement.widened)

    @property
    def fold(self) -> int:
        """How many whole steps of the measure one published step holds, for counts and totals."""
        assert self.step is not None
        return int(self.step / self.statement.measures[0].step)

    def layout(self, slicing: int | None = None) -> Layout:
        """The shape of the table, for a measure whose sensitivity the key at `slicing` decides."""
        return Layout(self.sizes, slicing, self.request.kept())


def form_table(request: TableRequest, workspace: Workspace) -> Formed:
    """The plan of a table, or a refusal that names the next step; nothing is charged and no row is looked at."""
    return form_dataset(request, _dataset(request.dataset, workspace))


def form_dataset(request: TableRequest, dataset: Dataset) -> Formed:
    """The same for a dataset that was found."""
    card = dataset.card
    statement = plan_table(request, card)
    return Formed(
        request=request,
        statement=statement,
        datasets={card.dataset: dataset},
        headings=tuple(Heading(face.name, card.column(face.name).label, face) for face in statement.keys),
        title=_title(request, card),
        statistic=_statistic(request, card),
        step=_step(statement, request),
    )


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan_table(request: TableRequest, card: Card) -> Statement:
    """The statement of a table's cells: the one that the request's SQL is read as, keys and columns named apart.

    Only the condition is text, and is parsed once; all else is built of the card's columns.
    """
    for name in request.by:
        _require_key(card.column(name), request)
    request.kept()
    if request.where is None:
        return _plan(request, card, None)
    return read_mended(request.where, lambda where: _plan(request, card, where))


def _plan(request: TableRequest, card: Card, where: str | None) -> Statement:
    parsed = None if where is None else parse_condition(where)
    identities = Identities()
    scan, table = card_table(card, card.dataset, version=0, identities=identities)
    scope = Scope([table])
    columns = [card.column(name) for name in request.by]
    keys = [_key(scope.find(column.name), request.bands(column)) for column in columns]
    kept = [part for column, key in zip(columns, keys, strict=True) for part in _kept(request, column, key)]
    aggregates = request.aggregates(card)
    if parsed is not None:
        kept = [*read_conditions(parsed, scope), *kept]
    source = From(Filter(scan, all_of(kept)) if kept else scan, (table,))
    grouping = Grouping(source, {card.dataset: card}, identities)
    for key in keys:
        grouping.group_by(key)
    shown = [*map(KeyShown, range(len(keys))), *(_measured(item, grouping) for item in aggregates)]
    names = [*request.by, *(f"figure {index}" for index in range(1, len(aggregates) + 1))]
    statement = grouping.plan(Presentation(tuple(map(OutputColumn, names, shown))))
    if statement.plan.open:
        raise QueryRefused(say("a table needs keys whose values the card lists."), part="by")
    return statement


def _key(column: Typed, bands: Sequence[Band]) -> Typed:
    """The column as it is, or which of its bands a value lies in; what has no value lies in none."""
    if not bands:
        return column
    below = [compare_numbers(column, "<", constant(Fraction(band.high), "")) for band in bands[:-1]]
    branches = zip((*below, Not(IsNull(column.value))), map(Whole, range(len(bands))), strict=True)
    return Typed(
        Case(tuple(branches), Nothing()),
        ValueSort.CATEGORY,
        column.text,
        codes=tuple(band.code for band in bands),
        labels=tuple(band.label for band in bands),
        domain=Domain(0, len(bands) - 1, nullable=True),
    )


def _kept(request: TableRequest, column: Column, key: Typed) -> Iterator[Condition]:
    """That a key is there, and what it is not."""
    absent = IsNull(key.value)
    if request.no_missing:
        yield Not(absent)
    if left := request.left_out(column):
        others = Not(among(key, [code.constant for code in left]))
        yield others if request.no_missing else Or((others, absent))


def _measured(aggregate: CellAggregate, grouping: Grouping) -> Output:
    factors = [grouping.scope.find(name) for name in aggregate.factors]
    if not factors:
        return grouping.aggregates.count(Rows(None), str(aggregate))
    value = factors[0]
    for factor in factors[1:]:
        value = multiply(require_number(value, "*"), require_number(factor, "*"), aggregate.product)
    return grouping.aggregates.take(aggregate.function, value, str(aggregate))


def _require_key(column: Column, request: TableRequest) -> None:
    """A key has values that are listed before any row is looked at."""
    if column.kind is ColumnKind.TEXT:
        raise QueryRefused(
            say(
                "a table needs keys whose values are listed, and '{name}' is open text. Ask with `discreet "
                "query`, whose keys may come from the rows, or let the custodian list its categories in the card.",
                name=column.name,
            ),
            part="by",
        )
    if column.kind is ColumnKind.NUMBER and not request.bands(column):
        ends = (say("LOW"), say("HIGH")) if column.bounds is None else tuple(map(text, column.bounds))
        example = ",…,".join(ends)
        raise QueryRefused(
            say(
                "'{name}' is a measured number, too fine to be a key. Cut it into bands with --edges "
                "{name}={example}, or let the custodian give it `edges` in the card.",
                name=column.name,
                example=example,
            ),
            part="by",
        )


def _dataset(name: str, workspace: Workspace) -> Dataset:
    if name in workspace.public_names():
        raise QueryRefused(
            say("'{name}' is a public table: it holds nothing confidential and needs no protection.", name=name),
            part="dataset",
        )
    return workspace.dataset(name)


# --- its words --------------------------------------------------------------------------------------------------------


def _step(statement: Statement, request: TableRequest) -> Fraction | None:
    shown = statement.presentation.columns[len(request.by)].shows
    if not isinstance(shown, Noted):
        return None
    return Fraction(1) if request.value is None and 1 % shown.step == 0 else shown.step


def _title(request: TableRequest, card: Card) -> Labels:
    """What, by what: "Weighted count by province and smoking"."""
    statistic = _statistic(request, card)
    names = [card.column(name).label for name in request.by]
    # A table of some rows that did not say so would be taken for one of all.
    where = "" if request.where is None else textwrap.shorten(request.where, 160, placeholder=" …")
    without = tell_left_out(request, card)
    title = Phrase("{statistic} by {keys}", statistic=statistic, keys=_listed([_within(name) for name in names]))
    if where:
        title = Phrase("{title}, where {where}", title=title, where=where)
    return title if without is None else Phrase("{title}, without {left_out}", title=title, left_out=without)


def tell_left_out(request: TableRequest, card: Card) -> Labels | None:
    """Whom a table leaves out by its keys: "missing values or province: Yukon, Nunavut"; None where it is nobody."""
    lines = [Phrase("missing values")] if request.no_missing else []
    for column in map(card.column, request.by):
        codes = [code.label for code in request.left_out(column)]
        if codes:
            listed = Labels(", ".join(code.en for code in codes), ", ".join(code.fr for code in codes))
            lines.append(Phrase("{column}: {codes}", column=_within(column.label), codes=listed))
    if not lines:
        return None
    return reduce(lambda one, other: Phrase("{one} or {other}", one=one, other=other), lines)


def _within(label: Labels) -> Labels:
    """A name inside a sentence: its first letter small, unless it is an abbreviation."""
    en, fr = (name if name[1:2].isupper() else name[:1].lower() + name[1:] for name in (label.en, label.fr))
    return Labels(en, fr)


def _listed(labels: Sequence[Labels]) -> Labels:
    """ "province, sex and smoking", in both languages."""
    listed = {}
    for lang in LANGUAGES:
        with speaking(lang):
            listed[lang] = say_list([label.text(lang) for label in labels])
    return Labels(listed[ENGLISH], listed[FRENCH])


def _statistic(request: TableRequest, card: Card) -> Labels:
    if request.value is None:
        one_row = card.unit.rows == 1
        if request.weighted:
            return Phrase("Weighted count")
        return Phrase("Count") if one_row else Phrase("Count of rows")
    label = card.column(request.value).label
    if request.mean and request.weighted:
        return Phrase("Mean of {value}, weighted", value=label)
    if request.weighted:
        return Phrase("Total of {value}, weighted", value=label)
    return Phrase("Mean of {value}", value=label) if request.mean else Phrase("Total of {value}", value=label)


def may_be_negative(formed: Formed) -> bool:
    """Whether the exact figure of a cell could lie below 0: for totals of values that can be negative."""
    measure = formed.plan.measures[0]
    if not isinstance(measure, Total):
        return False
    low = span_of(measure.value, facts_of(formed.plan.source, formed.cards)).low
    return low is not None and low < 0
