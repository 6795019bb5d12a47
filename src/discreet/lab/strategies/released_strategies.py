"""The two strategies that release a query for real, drawn many times: bounds from the card, and bounds found by DP.

They run the very path of a release (price, measure, draw, show) without its charge, because nothing leaves the
custodian's machine. The other strategies come ready from `sensitivity`; `contest` sets all of them side by side.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from math import nan
from typing import TYPE_CHECKING

from discreet.cards import Card, Column
from discreet.guarantees import Guarantee
from discreet.lab.strategies.public_strategy import Public, public_bound
from discreet.lab.strategies.subject import HeldValues, StrategyAnswer
from discreet.release import Noisy, answer_bounded, draw, ends_of, price, price_searching, show_values
from discreet.sql import KeyShown, bound_statement, read_statement
from discreet.workspace import Dataset, PublicTable

if TYPE_CHECKING:
    from discreet.engines import Engine, Measured
    from discreet.sql import Catalogue, Plan, Statement

__all__ = ["PrivateBounds", "PrivateCatalogue", "RememberingEngine", "public_strategy"]


class RememberingEngine:
    """Runs each plan once and keeps how long it took: drawing again must not read the rows again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: dict[Plan, tuple[Measured, float]] = {}
        self.saved = 0.0

    def measure(self, plan: Plan) -> Measured:
        """As the engine; what a repetition would have taken is added to `saved`."""
        if plan in self._seen:
            measured, took = self._seen[plan]
            self.saved += took
            return measured
        start = time.perf_counter()
        measured = self._engine.measure(plan)
        self._seen[plan] = measured, time.perf_counter() - start
        return measured

    def close(self) -> None:
        """Whoever opened the engine closes it."""


class PrivateCatalogue:
    """Datasets whose cards keep the bounds of some columns private: what would hold if nobody knew them."""

    def __init__(self, catalogue: Catalogue, columns: frozenset[tuple[str, str]]) -> None:
        self._catalogue = catalogue
        self._columns = columns

    def find(self, name: str) -> Dataset | PublicTable:
        result = self._catalogue.find(name)
        if isinstance(result, PublicTable):
            return result
        columns = tuple(self._kept(result.card, column) for column in result.card.columns)
        return replace(result, card=replace(result.card, columns=columns))

    def _kept(self, card: Card, column: Column) -> Column:
        if (card.dataset, column.name) not in self._columns or column.bounds is None:
            return column
        return replace(column, bounds=None, edges=(), typical=None, from_rows=False, private_bounds=True)


def public_strategy(
    statement: Statement, cards: Mapping[str, Card], engine: Engine, held: HeldValues, *, epsilon: Decimal
) -> Public:
    """Bounds from the card: every draw is a release of the statement, without its charge."""
    pricing, plan = price(statement, cards, epsilon=epsilon), statement.plan
    return Public(
        public_bound(statement, cards),
        epsilon,
        answers=lambda: _shown(statement, draw(plan, pricing, engine.measure(plan))),
        values=held.present,
    )


class PrivateBounds:
    """A part of epsilon finds the bounds, the rest answers; `catalogue` keeps them private."""

    name = "private-bounds"

    def __init__(self, sql: str, catalogue: Catalogue, engine: Engine, held: HeldValues, *, epsilon: Decimal) -> None:
        self._engine = engine
        self._held = held
        statement, self._cards = read_statement(sql, catalogue)
        self._searching = price_searching(statement, self._cards, epsilon=epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return self._searching.guarantee

    def draw(self) -> StrategyAnswer:
        noisy, farthest = answer_bounded(self._cards, self._searching, self._engine), self._searching.farthest
        clamped = bound_statement(farthest, self._cards, ends_of(noisy.bounds_of(farthest)))
        moved = public_bound(clamped, self._cards).of_answer(self._held.present)
        found = all(item.found for item in noisy.bounds.values())
        return StrategyAnswer(_shown(clamped, noisy), nan if moved is None else float(moved), found)


def _shown(statement: Statement, noisy: Noisy) -> float:
    """The one value of a statement without groups."""
    [column] = statement.presentation.columns
    assert not isinstance(column.shows, KeyShown)
    values = [measure.values for measure in noisy.in_order_of(statement)]
    [shown] = show_values(column.shows, values, [0])
    return float(shown or 0)
