"""Private bounds: a question that first pays to find how far its columns reach, then clamps them and is answered.

Guarantee: epsilon in all: the search's part, shared equally by the columns searched, and what remains for the answer.
Requires:  the charge stands before the first draw; the bounds are used as found, and stored with the answer.
Proof:     docs/proofs/private-bounds.md
Refs:      [WZLDG20].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees import CentralGuarantee, PureDP, from_units, text, to_units
from discreet.mechanisms import DiscreteLaplace
from discreet.release.measurement.noisy_measures import Noisy, SearchedBounds, draw
from discreet.release.measurement.pricing import Pricing, price, require_drawable
from discreet.release.measurement.private_bounds import REACH, calibrate_search, find_bounds, search_plan, split
from discreet.sql import (
    Field,
    Identity,
    Plan,
    Sensitivities,
    Serialisation,
    WrittenAggregate,
    WrittenCount,
    bound_statement,
    sensitivities,
)

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.engines import Engine
    from discreet.sql import Found, Statement

__all__ = ["Search", "Searching", "answer_bounded", "ends_of", "price_searching"]


@dataclass(frozen=True, slots=True)
class Search:
    """The search for the bounds of one column: its share of epsilon, what is measured, how far a unit moves it."""

    column: Identity
    name: str
    epsilon: Decimal
    plan: Plan
    moved: Sensitivities
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True)
class Searching:
    """What a question with private bounds costs: the searches, and what is left for the answer.

    No bound is found further from 0 than `widest`; `pricing` is that of the answer if all bounds were (`farthest`):
    what is found may be narrower, and its noise smaller.
    """

    guarantee: CentralGuarantee
    searches: tuple[Search, ...]
    remaining: Decimal
    widest: int
    farthest: Statement
    pricing: Pricing

    def ledger_mechanisms(self) -> tuple[dict[str, str], ...]:
        """The parameters of the charge as text; the scales of the answer follow from bounds not yet found."""
        searched = [
            {
                "measure": f"bounds of {search.name}",
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


def price_searching(statement: Statement, cards: Mapping[str, Card], *, epsilon: Decimal) -> Searching:
    """The charge of a statement whose private bounds are searched for; refused as the answer itself would be.

    Everything that could stand against an answer is met here: within no bounds that are found can it be refused.
    """
    if statement.plan.open:
        raise QueryRefused(
            say(
                "the bounds of {columns} are private, and a question that finds bounds cannot also find its keys. "
                "Group by columns whose categories the card lists, or write CLAMP(column, low, high).",
                columns=_named(statement),
            )
        )
    search, remaining = split(epsilon)
    widest, farthest = _farthest(statement, cards, remaining)
    shares = _shares(search, len(statement.searched))
    searches = [_search(statement, item, share, cards) for item, share in zip(statement.searched, shares, strict=True)]
    pricing = price(farthest, cards, epsilon=remaining)
    return Searching(PureDP(epsilon=epsilon), tuple(searches), remaining, widest, farthest, pricing)


def _farthest(statement: Statement, cards: Mapping[str, Card], remaining: Decimal) -> tuple[int, Statement]:
    """The widest bounds, a power of two, within which noise can be drawn whatever is found, and the statement there.

    A sum and the total of a mean are one measure where the middle of the bounds is 0 and two elsewhere, so a measure
    may get half of what it would get here; less, where the statement clamps a column to these very bounds itself.
    """
    widest, apart = REACH, _count_apart(statement)
    while True:
        farthest = bound_statement(statement, cards, dict.fromkeys(statement.searched, (-widest, widest)))
        most = max(2 * len(farthest.plan.measures), apart)
        share = to_units(remaining) // most
        if not share:
            raise QueryRefused(
                say(
                    "epsilon {epsilon} for answering within bounds is shared by {count} measures, and a share is at "
                    "least 1e-9. Ask with a larger epsilon.",
                    epsilon=text(remaining),
                    count=most,
                ),
                part="epsilon",
            )
        try:
            require_drawable(farthest, cards, share=from_units(share))
            return widest, farthest
        except ParameterInvalid as refusal:
            if refusal.fields["parameter"] != "scale" or widest == 1:
                raise
        widest //= 2


def _count_apart(statement: Statement) -> int:
    """How many measures there are if no two aggregates share one; within no bounds are there more."""
    counts = {item.counted for item in statement.readings if isinstance(item, WrittenCount)}
    of_numbers = {
        (item.aggregate, item.value.value, item.share, item.weight): len(parts)
        for item, parts in statement.readings.items()
        if isinstance(item, WrittenAggregate)
    }
    return len(counts) + sum(of_numbers.values())


def _search(statement: Statement, column: Identity, share: Decimal, cards: Mapping[str, Card]) -> Search:
    plan = search_plan(statement.plan.source, Field(column))
    moved = sensitivities(plan, plan.measures[0], cards)
    return Search(column, statement.called(column), share, plan, moved, calibrate_search(moved, epsilon=share))


def _shares(search: Decimal, columns: int) -> list[Decimal]:
    part, rest = divmod(to_units(search), columns)
    if not part:
        raise QueryRefused(
            say(
                "epsilon {epsilon} for finding bounds is shared by {count} columns, and a share is at least 1e-9. Ask "
                "with a larger epsilon.",
                epsilon=text(search),
                count=columns,
            ),
            part="epsilon",
        )
    return [from_units(part + (rest if index == columns - 1 else 0)) for index in range(columns)]


def answer_bounded(cards: Mapping[str, Card], searching: Searching, engine: Engine) -> Noisy:
    """Search, clamp, answer: once the charge stands. The bounds found are part of what is stored."""
    found: dict[Identity, SearchedBounds] = {}
    for search in searching.searches:
        [counts] = engine.measure(search.plan).columns
        bounds = find_bounds(cast("Sequence[int]", counts), mechanism=search.mechanism, widest=searching.widest)
        found[search.column] = SearchedBounds(bounds.low, bounds.high, bounds.found, search.epsilon)
    clamped = bound_statement(searching.farthest, cards, ends_of(found))
    pricing = price(clamped, cards, epsilon=searching.remaining)
    noisy = draw(clamped.plan, pricing, engine.measure(clamped.plan))
    form = Serialisation.of(clamped.plan)
    stored = {form.column_key(column): bounds for column, bounds in found.items()}
    return replace(noisy, charged=searching.guarantee, bounds=stored)


def ends_of(bounds: Mapping[Identity, SearchedBounds]) -> Found:
    """The bounds as a statement is clamped to them."""
    return {column: (item.low, item.high) for column, item in bounds.items()}


def _named(statement: Statement) -> str:
    return ", ".join(say("'{name}'", name=statement.called(column)) for column in statement.searched)
