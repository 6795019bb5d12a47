"""A small statistics office whose true figures the tests know, and what its ledger says before and after a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import discreet
from discreet.release.measurement.noisy_measures import Noisy, draw
from discreet.results import Release
from discreet.session import Session
from discreet.sql.algebra import Plan
from discreet.tables.asked_table import AskedTable
from discreet.tables.request import TableRequest, table_request
from discreet.tables.table_design import Design
from tests.workspaces import fill

CARD = """
dataset: people
title: {en: People, fr: Personnes}
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100000, per_analyst: 60000}
weight: {column: weight, cap: {by: region, values: {N: 5, S: 20}}}
columns:
  pid: {kind: id, type: integer}
  region:
    kind: category
    label: {en: Region, fr: Région}
    public: true
    categories: {N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}
  smokes:
    kind: category
    label: {en: Smokes, fr: Fume}
    categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}
  age: {kind: integer, label: {en: Age, fr: Âge}, bounds: [0, 99], edges: [0, 18, 65, 99]}
  grade: {kind: integer, public: true, bounds: [1, 3]}
  height: {kind: number, label: {en: Height, fr: Taille}, bounds: [1.0, 2.5], step: 0.01}
  change: {kind: integer, bounds: [-50, 50]}
  serial: {kind: integer, bounds: [0, 999999]}
  wide: {kind: integer}
  town: {kind: text}
  guessed: {kind: category, categories: [a, b], provenance: from_rows}
  weight: {kind: integer, bounds: [0, 20]}
"""
HEADER = "pid,region,smokes,age,grade,height,change,serial,wide,town,guessed,weight"
POPULATION = "everyone"

SPARING = CARD.replace("{epsilon: 100000, per_analyst: 60000}", "{epsilon: 10, delta: 1e-6}")
WITH_DELTA = f"{SPARING}accounting: rho\n"


def person(pid: int) -> dict[str, Any]:
    """People of all sorts: some do not say whether they smoke, some have no region, height or age."""
    return {
        "pid": pid,
        "region": None if pid % 17 == 0 else "NS"[pid % 2],
        "smokes": (None, 1, 2, 2)[pid % 4],
        "age": None if pid % 13 == 0 else pid * 7 % 100,
        "grade": 1 + pid % 3,
        "height": None if pid % 11 == 0 else round(1.5 + pid % 40 / 100, 2),
        "change": pid % 61 - 40,
        "serial": pid,
        "wide": pid,
        "town": "AB"[pid % 2],
        "guessed": "ab"[pid % 2],
        "weight": 1 + pid % 20,
    }


PEOPLE = [person(pid) for pid in range(1, 241)]


def write_people(people: Sequence[dict[str, Any]]) -> str:
    rows = [",".join("" if one[name] is None else str(one[name]) for name in HEADER.split(",")) for one in people]
    return "\n".join([HEADER, *rows, ""])


REGIONS = "region,people,name,homes\nN,500,Nord,200\nS,700,Sud,300\n"


@contextmanager
def open_office(folder: Path, card: str = CARD, people: Sequence[dict[str, Any]] = PEOPLE) -> Iterator[Office]:
    """A workspace with the dataset 'people' and the public tables 'regions' and 'towns'."""
    rows = write_people(people)

    def make(folder: Path) -> None:
        (folder / "people.csv").write_text(rows, encoding="utf-8")
        (folder / "people.yaml").write_text(card, encoding="utf-8")
        (folder / "regions.csv").write_text(REGIONS, encoding="utf-8")
        (folder / "towns.csv").write_text("town,people\nA,500\nB,700\n", encoding="utf-8")
        with Session.create(folder / "w") as session:
            session.add(folder / "people.csv", confirm=lambda _: True)
            session.add_public_table(folder / "regions.csv", key="region")
            session.add_public_table(folder / "towns.csv", key="town")

    with discreet.open(fill(folder, card + rows, make)) as session:
        yield Office(session)


@dataclass(frozen=True)
class Office:
    """A session, and tables asked of it."""

    session: Session

    def request(self, by: str, **options: Any) -> TableRequest:
        return table_request("people", by, **options)

    def read(self, by: str, *, epsilon: object = 1, noise: str = "auto", **options: Any) -> AskedTable:
        return self.session.tables.read(self.request(by, **options), epsilon=epsilon, noise=noise)  # type: ignore[arg-type]

    def design(self, by: str, **options: Any) -> Design:
        return self.read(by, **options).design

    def table(self, by: str, *, epsilon: object = 1, **options: Any) -> Release:
        return self.session.table("people", by=by, epsilon=epsilon, **options)  # type: ignore[arg-type]

    def draw(self, design: Design) -> Noisy:
        """One more draw from the rows, past the ledger."""
        return draw(design.statement.plan, design.price(), self.measure(design.statement.plan, design))

    def measure(self, plan: Plan, design: Design) -> Any:
        return self.session.open_engine(design.formed.datasets).measure(plan)

    @property
    def head(self) -> tuple[int, str]:
        """The last event of the ledger."""
        return self.session.ledger.head()

    @property
    def spent(self) -> Decimal:
        return self.session.budget(POPULATION).population.epsilon_spent
