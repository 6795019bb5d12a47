"""The noisy measures: drawn once from exact aggregates, stored as bytes, read again bit for bit.

`draw` is the only place where exact aggregates meet noise. What it gives, `Noisy`, holds no exact value (but those
that nobody can move) and everything needed to read it: the mechanism behind every value, the shares, the keys shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import prod
from operator import index
from typing import Any, Final, cast

from discreet.engines import Cell, Histogram, Measured, in_order
from discreet.guarantees import ZCDP, ApproxDP, CentralGuarantee, Guarantee, PureDP, Unproven, text
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, NoisyMax
from discreet.release.measurement.pricing import MeasurePrice, Pricing, Threshold, UsedMechanism
from discreet.release.measurement.ranking import choose
from discreet.sql import (
    Extreme,
    FirstForm,
    Identity,
    Measure,
    Plan,
    Quantile,
    Serialisation,
    Statement,
    Units,
    make_first_form,
    reduced,
)

__all__ = ["Noisy", "NoisyMeasure", "SearchedBounds", "draw", "load_noise", "slices_of"]

SCHEMA: Final = 3
_FIRST_FORMS: Final = 2
"""Up to this schema measures and columns are called as in the first form of plans."""


@dataclass(frozen=True, slots=True)
class NoisyMeasure:
    """One measure as drawn: a whole number per cell, and the mechanism behind it.

    With `key`, the cell of that key decides which of the mechanisms was used; without, there is one for all cells.
    """

    id: str
    epsilon: Decimal
    key: int | None
    mechanisms: tuple[UsedMechanism | None, ...]
    values: tuple[int, ...]
    rho: Decimal = Decimal(0)

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "epsilon": text(self.epsilon),
            **({"rho": text(self.rho)} if self.rho else {}),
            "key": self.key,
            "mechanisms": [
                None if item is None else {"name": item.name, **item.parameters()} for item in self.mechanisms
            ],
            "values": list(self.values),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> NoisyMeasure:
        return cls(
            id=stored["id"],
            epsilon=Decimal(stored["epsilon"]),
            key=stored["key"],
            mechanisms=tuple(None if item is None else _mechanism(item) for item in stored["mechanisms"]),
            values=tuple(stored["values"]),
            rho=Decimal(stored.get("rho", 0)),
        )


@dataclass(frozen=True, slots=True)
class SearchedBounds:
    """Bounds that a question found for a column, in steps, and what it spent on it. Not `found`: nothing stood out."""

    low: int
    high: int
    found: bool
    epsilon: Decimal

    def to_list(self) -> list[object]:
        return [self.low, self.high, self.found, text(self.epsilon)]

    @classmethod
    def from_list(cls, stored: Sequence[Any]) -> SearchedBounds:
        low, high, found, epsilon = stored
        return cls(low, high, found, Decimal(epsilon))


@dataclass(frozen=True, slots=True)
class Noisy:
    """The measures as drawn, with what was charged for them. Stored once, replayed bit for bit.

    `bounds` are those found for columns whose card keeps them private: the values were clamped to them. Measures and
    columns are called by what the plan's serialisation calls them, under the `schema` of then.
    """

    measures: tuple[NoisyMeasure, ...]
    charged: CentralGuarantee
    unproven: str | None = None
    keys: tuple[Cell, ...] | None = None
    threshold: Threshold | None = None
    bounds: Mapping[str, SearchedBounds] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def guarantee(self) -> Guarantee:
        return Unproven(self.unproven) if self.unproven is not None else self.charged

    def in_order_of(self, statement: Statement) -> tuple[NoisyMeasure, ...]:
        """The measures as the plan lists them; a stored answer may come from one that lists them otherwise."""
        form = self._form(statement)
        left = list(self.measures)
        found = []
        for measure in statement.plan.measures:
            wanted = form.measure_id(measure)
            found.append(next(item for item in left if item.id == wanted))
            left.remove(found[-1])
        return tuple(found)

    def widened(self, statement: Statement) -> bool:
        """Whether every cell of the domains was drawn, also those that conditions exclude: as it was done once."""
        plan = statement.plan
        if all(key.whole is None for key in plan.keys):
            return False
        for measure, drawn in zip(plan.measures, self.in_order_of(statement), strict=True):
            own = reduced(plan, measure)
            if self.keys is None and len(drawn.values) != own.cell_count:
                return True
            if drawn.key is not None and len(drawn.mechanisms) != len(own.keys[drawn.key].cells or ()):
                return True
        return False

    def bounds_of(self, statement: Statement) -> dict[Identity, SearchedBounds]:
        """The bounds that were found, by the statement's columns."""
        form = self._form(statement)
        return {column: self.bounds[form.column_key(column)] for column, _ in statement.private}

    def _form(self, statement: Statement) -> Serialisation | FirstForm:
        if self.schema <= _FIRST_FORMS:
            return make_first_form(statement.plan, statement.names)
        return Serialisation.of(statement.plan)

    def to_bytes(self) -> bytes:
        """Canonical JSON: the same draw always has the same bytes."""
        stored = {
            "schema": self.schema,
            "charged": _stored_charge(self.charged),
            "unproven": self.unproven,
            "measures": [item.to_dict() for item in sorted(self.measures, key=lambda item: item.id)],
            "keys": self.keys,
            "threshold": None if self.threshold is None else _stored_threshold(self.threshold),
            **({"bounds": {name: item.to_list() for name, item in self.bounds.items()}} if self.bounds else {}),
        }
        return json.dumps(stored, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Noisy:
        stored = json.loads(data)
        keys, threshold = stored["keys"], stored["threshold"]
        return cls(
            measures=tuple(NoisyMeasure.from_dict(item) for item in stored["measures"]),
            charged=_charge(stored["charged"]),
            unproven=stored["unproven"],
            keys=None if keys is None else tuple(tuple(cell) for cell in keys),
            threshold=None if threshold is None else Threshold(**{**threshold, "delta": Decimal(threshold["delta"])}),
            bounds={name: SearchedBounds.from_list(item) for name, item in stored.get("bounds", {}).items()},
            schema=stored["schema"],
        )


def _stored_charge(charged: CentralGuarantee) -> dict[str, str | None]:
    if isinstance(charged, ZCDP):
        return {"rho": text(charged.rho), "delta": text(charged.delta)}
    return {"epsilon": text(charged.epsilon), "delta": None if isinstance(charged, PureDP) else text(charged.delta)}


def _charge(stored: Mapping[str, str | None]) -> CentralGuarantee:
    delta = stored["delta"]
    if (rho := stored.get("rho")) is not None:
        return ZCDP(rho=rho, delta=delta or "0")
    epsilon = stored["epsilon"]
    assert epsilon is not None
    return PureDP(epsilon=epsilon) if delta is None else ApproxDP(epsilon=epsilon, delta=delta)


def _stored_threshold(threshold: Threshold) -> dict[str, object]:
    return {"least": threshold.least, "keys": threshold.keys, "delta": text(threshold.delta)}


def _mechanism(stored: Mapping[str, str]) -> UsedMechanism:
    if stored["name"] == NoisyMax.name:
        return NoisyMax(rate=Fraction(stored["rate"]), monotone=stored["monotone"] == "true")
    if stored["name"] == DiscreteGaussian.name:
        return DiscreteGaussian(scale=Fraction(stored["scale"]))
    return DiscreteLaplace(scale=Fraction(stored["scale"]))


# --- drawing --------------------------------------------------------------------------------------------------------


def load_noise(plan: Plan, pricing: Pricing) -> None:
    """Import whatever `draw` will need: how many draws there are is known, but for open keys."""
    for measure, priced in zip(plan.measures, pricing.measures, strict=True):
        slices = len(priced.mechanisms)
        count = None if plan.open else reduced(plan, measure).cell_count // slices
        for mechanism in {item for item in priced.mechanisms if item is not None}:
            mechanism.load(count)


def draw(plan: Plan, pricing: Pricing, measured: Measured, *, unproven: str | None = None) -> Noisy:
    """Noise for every measure and cell. Only what is shown is drawn: with open keys, the keys that pass first."""
    _require_cells(plan, measured)
    form = Serialisation.of(plan)
    if not plan.open:
        columns = enumerate(measured.columns)
        drawn = [_draw_measure(plan, position, pricing, column, None, form) for position, column in columns]
        return Noisy(tuple(drawn), pricing.guarantee, unproven)
    return _draw_open(plan, pricing, measured, unproven, form)


def _draw_open(plan: Plan, pricing: Pricing, measured: Measured, unproven: str | None, form: Serialisation) -> Noisy:
    """The count of units decides which keys are shown; the other measures are drawn for those alone."""
    keys, threshold, units = list(measured.keys or ()), pricing.threshold, plan.measures.index(Units())
    counted = _draw_measure(plan, units, pricing, measured.columns[units], keys, form)
    passing = [
        position for position, count in enumerate(counted.values) if threshold is None or count >= threshold.least
    ]
    passing = [passing[place] for place in in_order([keys[position] for position in passing])]
    shown = [keys[position] for position in passing]
    drawn = []
    for number, column in enumerate(measured.columns):
        if number == units:
            drawn.append(replace(counted, values=tuple(counted.values[position] for position in passing)))
        else:
            kept = cast("Sequence[int] | Sequence[Histogram]", [column[position] for position in passing])
            drawn.append(_draw_measure(plan, number, pricing, kept, shown, form))
    return Noisy(tuple(drawn), pricing.guarantee, unproven, tuple(shown), threshold)


def _draw_measure(
    plan: Plan,
    position: int,
    pricing: Pricing,
    column: Sequence[int] | Sequence[Histogram],
    keys: Sequence[Cell] | None,
    form: Serialisation,
) -> NoisyMeasure:
    measure, priced = plan.measures[position], pricing.measures[position]
    key = priced.sensitivities.key
    if key is None:
        values = _noise(measure, priced, priced.mechanisms[0], column)
    else:
        values = [0] * len(column)
        members: list[list[int]] = [[] for _ in priced.mechanisms]
        for cell, number in enumerate(slices_of(reduced(plan, measure), key, keys)):
            members[number].append(cell)
        for cells, mechanism in zip(members, priced.mechanisms, strict=True):
            part = cast("Sequence[int] | Sequence[Histogram]", [column[cell] for cell in cells])
            for cell, value in zip(cells, _noise(measure, priced, mechanism, part), strict=True):
                values[cell] = value
    return NoisyMeasure(form.measure_id(measure), priced.epsilon, key, priced.mechanisms, tuple(values), priced.rho)


def _noise(
    measure: Measure,
    priced: MeasurePrice,
    mechanism: UsedMechanism | None,
    column: Sequence[int] | Sequence[Histogram],
) -> list[int]:
    if isinstance(measure, Quantile | Extreme):
        assert isinstance(mechanism, NoisyMax)
        assert priced.candidates is not None
        histograms = cast("Sequence[Histogram]", column)
        return [choose(measure, item, mechanism, candidates=priced.candidates) for item in histograms]
    exact = cast("Sequence[int]", column)
    if mechanism is None:
        return list(map(index, exact))
    assert not isinstance(mechanism, NoisyMax)
    return mechanism.release(exact)


def slices_of(plan: Plan, key: int, keys: Sequence[Cell] | None) -> list[int]:
    """For every cell of the answer, which cell of the key at this place it lies in."""
    cells = plan.keys[key].cells
    assert cells is not None
    if keys is not None:
        where: dict[int | str | None, int] = {cell: number for number, cell in enumerate(cells)}
        return [where[cell[key]] for cell in keys]
    inner = prod(len(later.cells or ()) for later in plan.keys[key + 1 :])
    return [position // inner % len(cells) for position in range(plan.cell_count)]


def _require_cells(plan: Plan, measured: Measured) -> None:
    """An engine that leaves out a cell or a measure is at fault, whatever the rows are."""
    if plan.open != (measured.keys is not None) or len(measured.columns) != len(plan.measures):
        raise ValueError("the engine measured something else")
    for measure, column in zip(plan.measures, measured.columns, strict=True):
        count = reduced(plan, measure).cell_count if measured.keys is None else len(measured.keys)
        if len(column) != count:
            raise ValueError("the engine gave another number of cells")
