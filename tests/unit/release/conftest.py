"""A house with two small datasets of one population, and statements asked of it the way a session asks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cards.card import Card
from discreet.engines.engine import Engine, Measured
from discreet.engines.engine_choice import engine_for
from discreet.guarantees.numbers import ExactLike, exact
from discreet.release.ask import Ask
from discreet.release.ask_reader import read_ask
from discreet.release.pipeline import OpenEngine
from discreet.release.question import answer
from discreet.release.stored_answer import Answer, interval_level
from discreet.session import Session, default_analyst
from discreet.sql.algebra import Plan, scans
from discreet.sql.reader.questions import read_statement
from discreet.workspace.folder import Dataset
from discreet.workspace.public_tables import PublicTable
from tests.releases import render_text
from tests.workspaces import fill

CARD = """
dataset: t
population: people
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100}
columns:
  pid: {kind: id, type: integer}
  group: {kind: category, categories: {1: One, 2: '=Two'}}
  age: {kind: integer, bounds: [0, 120]}
  height: {kind: number, bounds: [1.0, 2.5], step: 0.01}
  town: {kind: text}
"""

VISITS = """
dataset: visits
population: people
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 100}
columns:
  pid: {kind: id, type: integer}
  cost: {kind: integer, bounds: [0, 10]}
  note: {kind: integer, bounds: [0, 9], provenance: from_rows}
"""

UNITS = 50


@dataclass(frozen=True)
class Given:
    """An answer as it leaves, and what was stored behind it."""

    answer: Answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.answer.release if hasattr(self.answer.release, name) else self.answer, name)

    def to_csv(self) -> str:
        return render_text(self.answer.release, "csv", "en")


def ask_session(session: Session, sql: str, *, epsilon: ExactLike = 1, **options: Any) -> Given:
    """What a session would answer, with what was stored behind it."""
    asked = read_ask(sql, session.workspace, session.ledger, analyst=default_analyst(), epsilon=epsilon, **options)
    return Given(answer(asked, session.ledger, lambda datasets: engine_for(datasets, salt=session.workspace.salt)))


@dataclass(frozen=True)
class House:
    """A session, and questions to it."""

    session: Session

    def question(
        self,
        sql: str,
        *,
        epsilon: ExactLike = 1,
        delta: ExactLike = 0,
        request_id: str = "one",
        level: ExactLike = "0.95",
        fresh: bool = False,
        analyst: str = "ana",
    ) -> Ask:
        statement, cards = read_statement(sql, self)
        datasets = {name: self.session.workspace.dataset(name) for name in cards}
        assert {scan.dataset for scan in scans(statement.plan.source)} == set(datasets)
        return Ask(
            statement=statement,
            datasets=datasets,
            analyst=analyst,
            request_id=request_id,
            epsilon=exact(epsilon, parameter="epsilon"),
            delta=exact(delta, parameter="delta", zero=True),
            level=interval_level(level),
            fresh=fresh,
        )

    def ask(self, sql: str, *, engine: Engine | None = None, **options: object) -> Given:
        asked = self.question(sql, **options)  # type: ignore[arg-type]
        return Given(answer(asked, self.session.ledger, self.opening(engine)))

    def opening(self, engine: Engine | None = None) -> OpenEngine:
        """Gives this engine, or one that reads the datasets."""
        salt = self.session.workspace.salt
        return lambda datasets: engine_for(datasets, salt=salt) if engine is None else engine

    def find(self, name: str) -> Dataset | PublicTable:
        return self.session.workspace.dataset(name)

    @property
    def spent(self) -> Decimal:
        return self.session.budget("people").population.epsilon_spent

    @property
    def charges(self) -> int:
        return self.session.budget("people").population.charges


@dataclass
class Fixed:
    """An engine that gives what it was told, or raises it."""

    measured: Measured | BaseException
    calls: int = 0

    def prepare(self, plan: Plan) -> None:
        """Ready for anything."""

    def measure(self, plan: Plan) -> Measured:
        self.calls += 1
        if isinstance(self.measured, BaseException):
            raise self.measured
        return self.measured

    def close(self) -> None:
        """Nothing is open."""


def give(*columns: Sequence[int], keys: Sequence[tuple[int | str | None, ...]] | None = None) -> Fixed:
    return Fixed(Measured(columns, None if keys is None else tuple(keys)))


def make_house(folder: Path, cards: Mapping[str, tuple[str, str]]) -> Session:
    """A workspace with a dataset for every (rows, card), by name."""

    def make(folder: Path) -> None:
        with Session.create(folder / "w") as session:
            for name, (rows, card) in cards.items():
                (folder / f"{name}.csv").write_text(rows, encoding="utf-8")
                (folder / f"{name}.yaml").write_text(card, encoding="utf-8")
                session.add(folder / f"{name}.csv", confirm=lambda _: True)

    return discreet.open(fill(folder, repr(cards), make))


def people(count: int = UNITS) -> str:
    rows = [f"{i},{1 + i % 2},{20 + i % 40},{1.5 + (i % 10) / 100:.2f},{'ABC'[i % 3]}" for i in range(count)]
    return "\n".join(["pid,group,age,height,town", *rows, ""])


def stays(count: int = UNITS) -> str:
    return "\n".join(["pid,cost,note", *(f"{i % count},{i % 11},{i % 10}" for i in range(2 * count)), ""])


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with make_house(tmp_path, {"t": (people(), CARD), "visits": (stays(), VISITS)}) as session:
        yield House(session)


def card_of(session: Session, name: str) -> Card:
    return session.workspace.dataset(name).card
