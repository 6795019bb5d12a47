"""A small catalogue to plan against: a survey, visits of the same people, others, and a public table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from discreet.cards.card import Card, ColumnKind, parse_card
from discreet.errors import UnknownName
from discreet.sql.algebra import Field, scans
from discreet.sql.reader.questions import read_statement
from discreet.sql.statement import Statement
from discreet.workspace.folder import Dataset
from discreet.workspace.public_tables import PublicColumn, PublicTable
from discreet.workspace.row_source import RowSource

SURVEY = """
dataset: survey
population: people
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
weight: {column: weight, cap: {by: region, values: {10: 100, 11: 200, ON: 50, 010: 20}}}
columns:
  pid: {kind: id, type: integer}
  region: {kind: category, public: true, categories: {10: East, 11: West, ON: Ontario, 010: Odd}}
  smokes: {kind: category, categories: {1: yes, 2: no, 9: unknown}}
  age: {kind: integer, bounds: [0, 4]}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.001}
  weight: {kind: number, bounds: [0, 300], step: 0.01}
  diagnosis: {kind: text}
  free: {kind: integer}
"""
VISITS = """
dataset: visits
population: people
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
columns:
  pid: {kind: id, type: integer}
  other_id: {kind: id, type: text}
  region: {kind: category, public: true, categories: [10, 11]}
  cost: {kind: number, bounds: [0, 2000], step: 0.01}
  day: {kind: integer, bounds: [1, 730]}
"""
OTHERS = SURVEY.replace("dataset: survey", "dataset: others").replace("population: people", "population: strangers")
ZONES = PublicTable(
    name="zones",
    version=1,
    key="code",
    columns=(
        PublicColumn("code", ColumnKind.CATEGORY, None, ("10", "11", "QC"), 0, 2),
        PublicColumn("zone", ColumnKind.CATEGORY, None, ("coast", "inland"), 0, 1),
        PublicColumn("people", ColumnKind.NUMBER, Decimal("0.5"), (), 3, 9, absent=True),
    ),
    rows=((0, 0, 3), (1, 1, None), (2, 1, 9)),
)


@dataclass
class Shelf:
    """Finds datasets by name and remembers what was asked for."""

    cards: dict[str, Card] = field(default_factory=dict)
    public: dict[str, PublicTable] = field(default_factory=lambda: {"zones": ZONES})

    def find(self, name: str) -> Dataset | PublicTable:
        if name in self.public:
            return self.public[name]
        if name not in self.cards:
            raise UnknownName(sort="dataset", name=name, where="this workspace", known=[*self.cards, *self.public])
        nowhere = Path("nowhere.parquet")
        source = RowSource("duckdb", path=nowhere)
        return Dataset(name=name, version=7, card=self.cards[name], data=nowhere, report=nowhere, source=source)


def shelf(*texts: str) -> Shelf:
    cards = [parse_card(text, file="card.yaml") for text in texts or (SURVEY, VISITS, OTHERS)]
    return Shelf({card.dataset: card for card in cards})


def read(sql: str, *texts: str) -> Statement:
    return read_statement(sql, shelf(*texts))[0]


def columns(statement: Statement, dataset: str) -> dict[str, Field]:
    """The columns that a dataset of a statement has, by the names in its card."""
    scan = next(scan for scan in scans(statement.plan.source) if scan.dataset == dataset)
    return {name: Field(column) for column, name in scan.columns}


def called(statement: Statement, fields: Iterable[Field]) -> list[str]:
    """What a statement calls columns."""
    return [statement.names[field.column] for field in fields]
