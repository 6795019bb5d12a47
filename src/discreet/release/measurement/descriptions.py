"""What is said beside the numbers: what was measured and how, and what the intervals hold.

All of it follows from the statement, the cards and the stored mechanisms; none of it from the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from discreet.cards import Card
from discreet.guarantees import text
from discreet.mechanisms import DiscreteGaussian, NoisyMax
from discreet.release.measurement.noisy_measures import NoisyMeasure, SearchedBounds
from discreet.release.measurement.pricing import (
    MeasurePrice,
    Pricing,
    Threshold,
    UsedMechanism,
    candidates_of,
    moves_of,
)
from discreet.release.measurement.ranking import depth
from discreet.results import BoundsUsed, Coverage, MeasureNoise, Noise, RankAim
from discreet.sql import (
    Extreme,
    Identity,
    Marginal,
    Measure,
    Quantile,
    Residual,
    Sensitivity,
    Statement,
    Total,
    facts_of,
    move_bounds,
    reduced,
    span_of,
    walk,
)

__all__ = ["cover", "describe_mechanisms", "has_capped_weights", "ledger_mechanisms", "note_bounds"]

EXACT: Final = "exact-public"


def cover(statement: Statement, threshold: Threshold | None) -> Coverage:
    """What an interval of this answer holds."""
    shown = statement.presentation
    return Coverage(
        "cell",
        ranks=any(isinstance(measure, Quantile | Extreme) for measure in statement.plan.measures),
        selected=shown.having is not None or shown.limit is not None or bool(shown.offset),
        least=None if threshold is None else threshold.least,
    )


def has_capped_weights(statement: Statement, cards: Mapping[str, Card]) -> bool:
    """Whether an answer adds up capped weights."""
    capped = {(card.dataset, card.weight.column) for card in cards.values() if card.weight is not None}
    totals = [node for node in walk(statement.plan.measures) if isinstance(node, Total)]
    if not capped or not totals:
        return False
    facts = facts_of(statement.plan.source, cards)
    return any(capped & span_of(total.value, facts).lineage for total in totals)


def describe_mechanisms(
    statement: Statement, cards: Mapping[str, Card], measures: Sequence[NoisyMeasure], level: Decimal
) -> list[MeasureNoise]:
    """One entry for each measure: what it is, how it was protected, and why that much noise suffices."""
    return [_described(statement, cards, index, measures[index], level) for index in range(len(statement.measures))]


def note_bounds(
    bounds: Mapping[Identity, SearchedBounds], statement: Statement, cards: Mapping[str, Card]
) -> tuple[BoundsUsed, ...]:
    """Bounds as they were used, in the units of their columns, and what they cost."""
    steps, spans = dict(statement.private), facts_of(statement.plan.source, cards).spans
    found = []
    for column, item in bounds.items():
        ends = [end * steps[column] for end in move_bounds((item.low, item.high), spans[column])]
        low, high = (int(end) if end.denominator == 1 else float(end) for end in ends)
        found.append(BoundsUsed(statement.called(column), low, high, item.found, item.epsilon))
    return tuple(found)


def _share(measure: NoisyMeasure | MeasurePrice) -> dict[str, str]:
    return {"rho": text(measure.rho)} if measure.rho else {"epsilon": text(measure.epsilon)}


def _described(
    statement: Statement, cards: Mapping[str, Card], index: int, noisy: NoisyMeasure, level: Decimal
) -> MeasureNoise:
    plan, face = statement.plan, statement.measures[index]
    measure = plan.measures[index]
    found, ends = moves_of(statement, measure, cards), candidates_of(measure)
    share, step = _share(noisy), str(face.step)
    if noisy.key is None:
        noise = _entry(noisy.mechanisms[0], found.largest, measure, ends, level)
        return MeasureNoise(face.told, (noise,), share, step)
    place_of_key = measure.kept[noisy.key] if isinstance(measure, Marginal | Residual) else noisy.key
    key, cells = statement.keys[place_of_key], plan.keys[place_of_key].cells or ()
    each = found.each if found.key is not None else found.each * len(cells)
    slices = [
        replace(_entry(mechanism, moved, measure, ends, level), cell=key.shown(cell))
        for cell, mechanism, moved in zip(cells, noisy.mechanisms, each, strict=True)
    ]
    name = next((item.name for item in noisy.mechanisms if item is not None), EXACT)
    return MeasureNoise(face.told, slices, share, step, by=key.name, name=name)


def _entry(
    mechanism: UsedMechanism | None,
    moved: Sensitivity,
    measure: Measure,
    ends: tuple[int, int] | None,
    level: Decimal,
) -> Noise:
    aim = None
    if isinstance(mechanism, NoisyMax) and ends is not None:
        aim = _aim(mechanism, measure, ends, level)
    if mechanism is None:
        return Noise(EXACT, bound=_bound(mechanism, moved), derivation=moved.derivation)
    return Noise(mechanism.name, mechanism.parameters(), _bound(mechanism, moved), moved.derivation, aim)


def _bound(mechanism: UsedMechanism | None, moved: Sensitivity) -> dict[str, str]:
    """The bound that the noise was calibrated to."""
    if isinstance(mechanism, DiscreteGaussian):
        return {"squared_sensitivity": str(moved.squared_l2)}
    return {"sensitivity": str(moved.l1)}


def _aim(mechanism: NoisyMax, measure: Measure, ends: tuple[int, int], level: Decimal) -> RankAim:
    candidates = ends[1] - ends[0] + 1
    rows = mechanism.half_width(level, candidates=candidates)
    if not isinstance(measure, Extreme):
        return RankAim(candidates, rows, level)
    deep = depth(mechanism, candidates=ends)
    return RankAim(candidates, rows, level, deep, "above" if measure.largest else "below")


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
    used = [(moved, item) for moved, item in zip(priced.sensitivities.each, priced.mechanisms, strict=True) if item]
    if not used:
        yield "name", EXACT
        return
    used.sort(key=lambda pair: pair[0].l1)
    (least, first), (most, last) = used[0], used[-1]
    yield "name", last.name
    if len(priced.mechanisms) == 1:
        yield from last.parameters().items()
        yield from _bound(last, most).items()
        return
    yield "slices", str(len(priced.mechanisms))
    for word, moved, item in (("smallest", least, first), ("largest", most, last)):
        yield from ((f"{name}_{word}", value) for name, value in _bound(item, moved).items())
        yield from ((f"{name}_{word}", value) for name, value in item.parameters().items())
