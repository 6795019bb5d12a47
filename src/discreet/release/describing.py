"""What a reader is told beside the numbers: what was measured and how, and what the intervals hold.

All of it follows from the statement, the cards and the stored mechanisms; none of it from the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from discreet.data.card import Card
from discreet.guarantees.numbers import text
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.plan.algebra import Extreme, Identity, Marginal, Measure, Quantile, Residual, Total, reduced, walk
from discreet.plan.calculus import facts_of, move_bounds, span_of
from discreet.plan.sensitivity import Sensitivity
from discreet.plan.statement import Statement
from discreet.release.noising import NoisyMeasure, SearchedBounds
from discreet.release.pricing import MeasurePrice, Pricing, Threshold, UsedMechanism, candidates_of, moves_of
from discreet.release.ranking import depth

__all__ = [
    "describe_bounds",
    "describe_mechanisms",
    "interval_meaning",
    "ledger_mechanisms",
    "tell_weights",
    "word_bounds",
    "word_unfound",
]

Described = Mapping[str, Mapping[str, int | float | str | bool]]


def interval_meaning(statement: Statement, threshold: Threshold | None) -> str:
    """What an interval of this answer holds, in one sentence."""
    parts = [
        "privacy noise only: each interval holds, with at least the stated probability, what the prepared data give "
        "(values clamped, weights capped, rows bounded per unit), cell by cell"
    ]
    if any(isinstance(measure, Quantile | Extreme) for measure in statement.plan.measures):
        parts.append("for quantiles, MIN and MAX the ends of the range, and the rank is told under mechanisms")
    shown = statement.presentation
    if shown.having is not None or shown.limit is not None or shown.offset:
        parts.append("before HAVING or LIMIT chose which cells are shown")
    if threshold is not None:
        parts.append(f"only keys whose noisy count of units is at least {threshold.least:,} are shown")
    return "; ".join([*parts, "sampling and measurement error come on top"])


def tell_weights(statement: Statement, cards: Mapping[str, Card]) -> str | None:
    """What is said of an answer that adds up capped weights; None for others."""
    capped = {(card.dataset, card.weight.column) for card in cards.values() if card.weight is not None}
    if not capped:
        return None
    facts = facts_of(statement.plan.source, cards)
    totals = (node for node in walk(statement.plan.measures) if isinstance(node, Total))
    used = any(capped & span_of(total.value, facts).lineage for total in totals)
    return "weight above its cap is missing from the figures, a bias outside the intervals" if used else None


def describe_mechanisms(
    statement: Statement, cards: Mapping[str, Card], measures: Sequence[NoisyMeasure], level: Decimal
) -> list[dict[str, object]]:
    """One entry for each measure: what it is, how it was protected, and why that much noise suffices."""
    return [
        {
            "measure": face.text,
            **_described(statement, cards, place, measures[place], level),
            **_share(measures[place]),
            "step": str(face.step),
        }
        for place, face in enumerate(statement.measures)
    ]


def describe_bounds(
    bounds: Mapping[Identity, SearchedBounds], statement: Statement, cards: Mapping[str, Card]
) -> dict[str, dict[str, int | float | str | bool]]:
    """Bounds as they were used, in the units of their columns, and what they cost."""
    steps, spans = dict(statement.private), facts_of(statement.plan.source, cards).spans
    shown: dict[str, dict[str, int | float | str | bool]] = {}
    for column, one in bounds.items():
        ends = [end * steps[column] for end in move_bounds((one.low, one.high), spans[column])]
        low, high = (int(end) if end.denominator == 1 else float(end) for end in ends)
        shown[statement.called(column)] = {"low": low, "high": high, "found": one.found, "epsilon": text(one.epsilon)}
    return shown


def word_bounds(bounds: Described) -> list[str]:
    """Bounds that were found, for people, a line for each column."""
    return [
        f"bounds of {_searched(name, one)}: {one['low']} to {one['high']}; values outside were moved"
        for name, one in bounds.items()
        if one["found"]
    ]


def word_unfound(bounds: Described) -> list[str]:
    """A line for each column where nothing stood out; it comes before the answer, which is worth next to nothing."""
    return [
        f"No bounds stood out for {_searched(name, one)}: values were moved into {one['low']} to {one['high']}, so the "
        "answer says next to nothing. Ask with a larger epsilon, or write bounds that are known without the rows."
        for name, one in bounds.items()
        if not one["found"]
    ]


def _searched(name: str, one: Mapping[str, int | float | str | bool]) -> str:
    return f"{name}, looked for with epsilon {one['epsilon']} of the charge"


def _share(measure: NoisyMeasure | MeasurePrice) -> dict[str, str]:
    return {"rho": text(measure.rho)} if measure.rho else {"epsilon": text(measure.epsilon)}


def _described(
    statement: Statement, cards: Mapping[str, Card], place: int, noisy: NoisyMeasure, level: Decimal
) -> dict[str, object]:
    plan = statement.plan
    measure = plan.measures[place]
    found = moves_of(statement, measure, cards)
    ends = candidates_of(measure)
    if noisy.key is None:
        return _entry(noisy.mechanisms[0], found.largest, measure, ends, level)
    place_of_key = measure.kept[noisy.key] if isinstance(measure, Marginal | Residual) else noisy.key
    face, cells = statement.keys[place_of_key], plan.keys[place_of_key].cells or ()
    each = found.each if found.key is not None else found.each * len(cells)
    slices = [
        {"cell": face.shown(cell), **_entry(mechanism, moved, measure, ends, level)}
        for cell, mechanism, moved in zip(cells, noisy.mechanisms, each, strict=True)
    ]
    name = next((one.name for one in noisy.mechanisms if one is not None), "exact-public")
    return {"name": name, "by": face.name, "slices": slices}


def _entry(
    mechanism: UsedMechanism | None,
    moved: Sensitivity,
    measure: Measure,
    ends: tuple[int, int] | None,
    level: Decimal,
) -> dict[str, object]:
    entry: dict[str, object] = {"name": "exact-public"} if mechanism is None else _named(mechanism)
    if isinstance(mechanism, NoisyMax) and ends is not None:
        entry |= _rank_accuracy(mechanism, measure, ends, level)
    return {**entry, **_bound(mechanism, moved), "derivation": moved.derivation}


def _bound(mechanism: UsedMechanism | None, moved: Sensitivity) -> dict[str, str]:
    """The bound that the noise was calibrated to."""
    if isinstance(mechanism, DiscreteGaussian):
        return {"squared_sensitivity": str(moved.squared_l2)}
    return {"sensitivity": str(moved.l1)}


def _rank_accuracy(mechanism: NoisyMax, measure: Measure, ends: tuple[int, int], level: Decimal) -> dict[str, object]:
    candidates = ends[1] - ends[0] + 1
    rows = mechanism.half_width(level, candidates=candidates)
    surely = f"with probability at least {text(level)}"
    if not isinstance(measure, Extreme):
        off = f"{surely} at most {rows:,} rows too many lie on either side of it"
        return {"candidates": str(candidates), "accuracy": off}
    deep, side = depth(mechanism, candidates=ends), "above" if measure.largest else "below"
    aim = f"aims at a value with {deep:,} rows {side} it, so as not to lie beyond the rows"
    off = f"{surely} its rank is at most {rows:,} rows farther from that than the nearest value's"
    return {"candidates": str(candidates), "depth": str(deep), "accuracy": f"{aim}; {off}"}


def _named(mechanism: UsedMechanism) -> dict[str, object]:
    return {"name": mechanism.name, **mechanism.parameters()}


def ledger_mechanisms(statement: Statement, pricing: Pricing) -> tuple[dict[str, str], ...]:
    """The exact parameters of a charge as text, short however many cells there are."""
    threshold = pricing.threshold
    plan = statement.plan
    found = [
        {
            "measure": type(measure).__name__.lower(),
            **_share(priced),
            "cells": "open" if plan.open else str(reduced(plan, measure).cell_count),
            **dict(_parameters(priced)),
        }
        for measure, priced in zip(plan.measures, pricing.measures, strict=True)
    ]
    if threshold is not None:
        kept = {"least": str(threshold.least), "keys": str(threshold.keys), "delta": text(threshold.delta)}
        found.append({"measure": "keys", "name": "threshold", **kept})
    return tuple(found)


def _parameters(priced: MeasurePrice) -> Iterator[tuple[str, str]]:
    """One mechanism as it is; of many, the one with the least noise and the one with the most."""
    used = [(moved, one) for moved, one in zip(priced.sensitivities.each, priced.mechanisms, strict=True) if one]
    if not used:
        yield "name", "exact-public"
        return
    used.sort(key=lambda pair: pair[0].l1)
    (least, first), (most, last) = used[0], used[-1]
    yield "name", last.name
    if len(priced.mechanisms) == 1:
        yield from last.parameters().items()
        yield from _bound(last, most).items()
        return
    yield "slices", str(len(priced.mechanisms))
    for word, moved, one in (("smallest", least, first), ("largest", most, last)):
        yield from ((f"{name}_{word}", value) for name, value in _bound(one, moved).items())
        yield from ((f"{name}_{word}", value) for name, value in one.parameters().items())
