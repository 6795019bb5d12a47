"""From YAML nodes to a card: what was read by its schema is built, and rules between keys are checked."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from discreet.cards.card import (
    Card,
    membership_problems,
    presence_problems,
    size_problems,
    totals_problems,
    unit_problems,
    weight_problems,
)
from discreet.cards.card_schema import CARD, call_missing_codes
from discreet.cards.columns import CardFault, Category, Column, ColumnKind, Labels, PublicTotals, WeightRule
from discreet.cards.schema import NumberType
from discreet.cards.schema_reader import Entry, Record, SchemaReader, one_line
from discreet.cards.yaml_text import SequenceNode, parse_yaml, read_yaml_text
from discreet.catalogue import say
from discreet.errors import CardInvalid, CardUndecided, ParameterInvalid
from discreet.guarantees import Budget, Unit

__all__ = ["build_categories", "build_weight", "parse_card_text", "read_card_file"]


def read_card_file(path: Path) -> Card:
    """The card in a file."""
    return parse_card_text(read_yaml_text(path, sort="card"), file=path.name)


@lru_cache(maxsize=32)
def parse_card_text(text: str, *, file: str) -> Card:
    """The card in a text, or CardInvalid with all problems; CardUndecided when only decisions are open.

    Kept by the whole text: every question reads its cards, and a card changes by becoming another text.
    """
    root = parse_yaml(text, file=file)
    reader = SchemaReader()
    card = _build_card(reader, reader.read_file(CARD, root), file=file, text=text)
    reader.settle(file=file, invalid=CardInvalid if reader.problems else CardUndecided)
    assert card is not None
    return card


def _build_card(reader: SchemaReader, found: Record, *, file: str, text: str) -> Card | None:
    columns = _build_columns(reader, found["columns"] or ())
    unit = _build_unit(found["unit"])
    weight = None if found["weight"] is None else build_weight(reader, found["weight"])
    totals = [(record.node.line, _build_totals(reader, record)) for record in found["totals"] or ()]
    known = [(line, total) for line, total in totals if total is not None]
    budget = None if found["budget"] is None else _build_budget(reader, found["budget"])
    if weight is not None and columns:
        _supply_weight(weight, columns)
        reader.note_at(found.node, weight_problems(weight, columns))
    if unit is not None and columns:
        reader.note_at(found.node, unit_problems(unit, columns))
    if columns and ("weight" not in found or weight is not None):
        for index, problem in totals_problems([total for _, total in known], weight, columns):
            reader.note(known[index][0], problem)
    size = found["size"]
    if size is not None:
        reader.note_at(found.node, presence_problems(size, columns))
    if size is not None and found["neighbours"] is not None:
        reader.note_at(found.node, size_problems(size, found["neighbours"]))
    if size is not None and found["membership"] is not None:
        reader.note_at(found.node, membership_problems(found["membership"], size))
    if not reader.is_clean() or unit is None or budget is None:
        return None
    dataset: str = found["dataset"]
    return Card(
        dataset=dataset,
        title=found["title"] or Labels(dataset, dataset),
        description=found["description"],
        population=found["population"] or dataset,
        unit=unit,
        neighbours=found["neighbours"],
        size=size,
        rows_at_most=found["rows_at_most"],
        membership=found["membership"],
        weight=weight,
        totals=tuple(total for _, total in known),
        budget=budget,
        accounting=found["accounting"],
        allow=frozenset(found["allow"] or ()),
        exact_public=found["exact_public"],
        columns=tuple(column for column in columns.values() if column is not None),
        file=file,
        text=text,
    )


def _build_unit(found: Record | None) -> Unit | None:
    return Unit(column=found["column"], rows=found["rows"]) if found is not None and found.whole else None


def _build_budget(reader: SchemaReader, found: Record) -> Budget | None:
    if not found.whole:
        return None
    try:
        return Budget(**found.values)
    except ParameterInvalid as error:
        reader.note(found.node.line, say("budget: {message}", message=error.message))
        return None


def build_weight(reader: SchemaReader, found: Record) -> WeightRule | None:
    """The weight's column with its cap, or with its caps by a column."""
    column, cap = found["column"], found["cap"]
    if column is None or cap is None:
        return None
    if not isinstance(cap, Record):
        return reader.built(found.nodes["cap"], lambda: WeightRule(column, cap=cap))
    if not cap.whole:
        return None
    caps = tuple((entry.name, entry.value) for entry in cap["values"])
    return reader.built(cap.node, lambda: WeightRule(column, by=cap["by"], caps=caps))


def _supply_weight(weight: WeightRule, columns: dict[str, Column | None]) -> None:
    """A weight that is not listed among the columns is a number between 0 and its largest cap."""
    if weight.column.lower() in {name.lower() for name in columns}:
        return
    decimals = max(2, *(-int(cap.normalize().as_tuple().exponent) for cap in weight.every_cap))
    with suppress(CardFault):  # a name that cannot be a column is reported as one that is not there
        columns[weight.column] = Column(
            name=weight.column,
            kind=ColumnKind.NUMBER,
            label=Labels(weight.column, weight.column),
            bounds=(Decimal(0), weight.largest),
            step=Decimal(1).scaleb(-decimals),
        )


def _build_totals(reader: SchemaReader, found: Record) -> PublicTotals | None:
    """One grand total without `by`, else a number for each category."""
    values, by, source = found["values"], found["by"], found["source"]
    if values is None or source is None or ("by" in found and by is None):
        return None
    if by is None:
        if not isinstance(values, Decimal):
            line = found.nodes["values"].line
            reader.note(line, say("the grand total (without `by`) must be one number, not a list or mapping"))
            return None
        return reader.built(found.node, lambda: PublicTotals(source, whole=values))
    if isinstance(values, Decimal):
        reader.note(found.nodes["values"].line, say("totals must be a mapping from code to number"))
        return None
    known = tuple((entry.name, entry.value) for entry in values)
    return reader.built(found.node, lambda: PublicTotals(source, by=by, values=known))


def _build_columns(reader: SchemaReader, entries: tuple[Entry, ...]) -> dict[str, Column | None]:
    """The columns by name; one that could not be read is None, and known by its name all the same."""
    columns: dict[str, Column | None] = {}
    lower: dict[str, str] = {}
    for entry in entries:
        twin = lower.setdefault(entry.name.lower(), entry.name)
        if twin != entry.name:
            names = {"one": twin, "other": entry.name}
            reader.note(entry.line, say("columns '{one}' and '{other}' differ by case only", **names))
        columns[entry.name] = _build_column(reader, entry)
    return columns


def _build_column(reader: SchemaReader, entry: Entry) -> Column | None:
    found: Record = entry.value
    if not found.whole or not _has_numbers(reader, entry):
        return None
    private = found["bounds"] == "private"
    dataset, _, column = (found["references"] or "").partition(".")
    return reader.built(
        found.node,
        lambda: Column(
            name=entry.name,
            kind=found["kind"],
            label=found["label"] or Labels(entry.name, entry.name),
            source=found["source"] or entry.name,
            type=found["type"],
            public=bool(found["public"]),
            categories=build_categories(found["categories"]),
            bounds=None if private else found["bounds"],
            step=found["step"],
            missing=found["missing"] or (),
            from_rows=found["provenance"] is not None,
            edges=found["edges"] or (),
            private_bounds=private,
            public_presence=found["presence"] is not None,
            complete=bool(found["complete"]),
            references=(dataset, column) if dataset else None,
            typical=found["typical"],
            precision=found["precision"],
        ),
        line=entry.line,
    )


def _has_numbers(reader: SchemaReader, entry: Entry) -> bool:
    """Whether the missing codes of a number are numbers."""
    node = entry.value.nodes.get("missing")
    if not isinstance(node, SequenceNode) or entry.value["kind"] not in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return True
    what = call_missing_codes("missing", say("column '{name}'", name=entry.name), "")
    return None not in [reader.read(NumberType(), item, what) for item in node.items]


def build_categories(found: tuple[Entry, ...] | tuple[str, ...] | None) -> tuple[Category, ...]:
    """Codes with their labels; a code that was given none is its own label, on one line."""
    return tuple(
        Category(item.name, item.value)
        if isinstance(item, Entry)
        else Category(item, Labels(one_line(item), one_line(item)))
        for item in found or ()
    )
