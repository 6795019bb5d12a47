"""Private bounds: a question that first pays to find how far its columns reach, then clamps them and is answered.

Guarantee: epsilon in all: the search's part, shared equally by the columns searched, and what remains for the answer.
Requires:  the charge stands before the first draw; the bounds are used as found, and stored with the answer.
Proof:     docs/proofs/private-bounds.md
Refs:      [WZLDG20].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from discreet.errors import QueryRefused
from discreet.guarantees.numbers import from_units, text, to_units
from discreet.guarantees.types import ApproxDP, CentralGuarantee, PureDP
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.plan.algebra import Field, Plan
from discreet.plan.calculus import facts_of
from discreet.plan.sensitivity import Sensitivities, sensitivities
from discreet.release.noising import Noisy, SearchedBounds, draw
from discreet.release.pricing import Pricing, price
from discreet.sensitivity.privatebounds import calibrate_search, find_bounds, search_plan, split, widest_bound

if TYPE_CHECKING:
    from discreet.data.card import Card
    from discreet.engines.base import Engine
    from discreet.plan.statement import Statement

__all__ = ["Bounded", "Found", "Search", "Searching", "answer_bounded", "ends_of", "price_searching"]

Found = Mapping[str, tuple[int, int]]
"""The bounds found for each column, in whole steps."""

Bounded = Callable[[Found], "Statement"]
"""Reads the statement again, its private columns clamped to what was found."""


@dataclass(frozen=True, slots=True)
class Search:
    """The search for the bounds of one column: its share of epsilon, what is measured, how far a unit moves it."""

    column: str
    epsilon: Decimal
    plan: Plan
    moved: Sensitivities
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True)
class Searching:
    """What a question with private bounds costs: the searches, and what is left for the answer.

    `pricing` is that of the answer before anything is known of the bounds: its shares hold, its scales do not.
    """

    guarantee: CentralGuarantee
    searches: tuple[Search, ...]
    remaining: Decimal
    pricing: Pricing

    def ledger_mechanisms(self) -> tuple[dict[str, str], ...]:
        """The parameters of the charge as text; the scales of the answer follow from bounds not yet found."""
        searched = [
            {
                "measure": f"bounds of {search.column}",
                "epsilon": text(search.epsilon),
                "cells": str(search.plan.cell_count),
                "name": search.mechanism.name,
                **search.mechanism.parameters(),
                "sensitivity": str(search.moved.largest.l1),
            }
            for search in self.searches
        ]
        answered = [
            {"measure": "answer within the bounds", "epsilon": text(priced.epsilon), "name": named.name}
            for priced in self.pricing.measures
            for named in priced.mechanisms[:1]
            if named is not None
        ]
        return (*searched, *answered)


def price_searching(
    statement: Statement, cards: Mapping[str, Card], bounded: Bounded, *, epsilon: Decimal, delta: Decimal = Decimal(0)
) -> Searching:
    """The charge of a statement whose private bounds are searched for; refused as the answer itself would be.

    It is priced within the widest bounds that a search may give, so no bounds found later can be refused.
    """
    if statement.plan.open:
        raise QueryRefused(
            f"the bounds of {_named(statement)} are private, and a question that finds bounds cannot also find its "
            "keys. Group by columns whose categories the card lists, or write CLAMP(column, low, high)."
        )
    search, remaining = split(epsilon)
    widest = widest_bound(remaining=remaining, unit_rows=facts_of(statement.plan.source, cards).rows)
    farthest = bounded(dict.fromkeys(statement.searched, (-widest, widest)))
    pricing = price(farthest, cards, epsilon=remaining, delta=delta)
    shares = _shares(search, len(statement.searched))
    searches = [_search(statement, name, share, cards) for name, share in zip(statement.searched, shares, strict=True)]
    charged = pricing.guarantee
    whole = ApproxDP(epsilon=epsilon, delta=charged.delta) if isinstance(charged, ApproxDP) else PureDP(epsilon=epsilon)
    return Searching(whole, tuple(searches), remaining, pricing)


def _search(statement: Statement, name: str, share: Decimal, cards: Mapping[str, Card]) -> Search:
    plan = search_plan(statement.plan.source, Field(name))
    moved = sensitivities(plan, plan.measures[0], cards)
    return Search(name, share, plan, moved, calibrate_search(moved, epsilon=share))


def _shares(search: Decimal, columns: int) -> list[Decimal]:
    part, rest = divmod(to_units(search), columns)
    if not part:
        raise QueryRefused(
            f"epsilon {text(search)} for finding bounds is shared by {columns} columns, and a share is at least 1e-9. "
            "Ask with a larger epsilon.",
            part="epsilon",
        )
    return [from_units(part + (rest if place == columns - 1 else 0)) for place in range(columns)]


def answer_bounded(
    statement: Statement, cards: Mapping[str, Card], searching: Searching, bounded: Bounded, engine: Engine
) -> Noisy:
    """Search, clamp, answer: once the charge stands. The bounds found are part of what is stored."""
    unit_rows = facts_of(statement.plan.source, cards).rows
    found: dict[str, SearchedBounds] = {}
    for search in searching.searches:
        [counts] = engine.measure(search.plan).columns
        bounds = find_bounds(
            cast("Sequence[int]", counts),
            mechanism=search.mechanism,
            remaining=searching.remaining,
            unit_rows=unit_rows,
        )
        found[search.column] = SearchedBounds(bounds.low, bounds.high, bounds.found, search.epsilon)
    clamped = bounded(ends_of(found))
    pricing = price(clamped, cards, epsilon=searching.remaining, delta=_delta(searching.guarantee))
    noisy = draw(clamped.plan, pricing, engine.measure(clamped.plan))
    return replace(noisy, charged=searching.guarantee, bounds=found)


def ends_of(bounds: Mapping[str, SearchedBounds]) -> Found:
    """The bounds as a statement is read with them."""
    return {name: (one.low, one.high) for name, one in bounds.items()}


def _delta(guarantee: CentralGuarantee) -> Decimal:
    return guarantee.delta if isinstance(guarantee, ApproxDP) else Decimal(0)


def _named(statement: Statement) -> str:
    return ", ".join(f"'{name}'" for name in statement.searched)
