"""What leaves the house: noisy values, intervals, the charge, and the sentences that say what they mean.

`Noisy` is the part drawn once and stored; an `Answer` dresses it for one reader: names, labels, interval level, what
was charged now and what remains. Everything but the values follows from the question, the card and the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product

from discreet.data.card import Card, Kind
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.guarantees.types import CentralGuarantee, Guarantee, PureDP, Unproven
from discreet.ledger import Balance
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.plan.nodes import CountPlan
from discreet.plan.sensitivity import count_sensitivity

__all__ = ["INTERVAL_MEANING", "Answer", "Noisy", "Remaining", "interval_level"]

INTERVAL_MEANING = (
    "privacy noise only: covers the exact count of the prepared data (rows bounded per unit) with at least the stated "
    "probability, cell by cell; sampling and measurement error come on top"
)

Key = str | int | None


def interval_level(level: ExactLike) -> Decimal:
    """A coverage strictly between 0 and 1."""
    value = exact(level, parameter="level", below=1)
    if value > Decimal("0.999999"):
        raise ParameterInvalid(parameter="level", rule="must be at most 0.999999", came=text(value))
    return value


@dataclass(frozen=True, slots=True)
class Noisy:
    """The values as drawn, with what was charged for them. Stored once, replayed bit for bit."""

    values: tuple[int, ...]
    mechanism: DiscreteLaplace | None
    charged: CentralGuarantee
    unproven: str | None

    @property
    def guarantee(self) -> Guarantee:
        return Unproven(self.unproven) if self.unproven is not None else self.charged

    def to_bytes(self) -> bytes:
        assert isinstance(self.charged, PureDP)
        stored = {
            "schema": 1,
            "values": list(self.values),
            "scale": str(self.mechanism.scale) if self.mechanism is not None else None,
            "epsilon": text(self.charged.epsilon),
            "unproven": self.unproven,
        }
        return json.dumps(stored, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Noisy:
        from fractions import Fraction

        stored = json.loads(data)
        scale = stored["scale"]
        return cls(
            values=tuple(stored["values"]),
            mechanism=DiscreteLaplace(scale=Fraction(scale)) if scale is not None else None,
            charged=PureDP(epsilon=stored["epsilon"]),
            unproven=stored["unproven"],
        )


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left after this answer, exactly: for the population and for the analyst."""

    population: Balance
    analyst: Balance

    def to_dict(self) -> dict[str, object]:
        """The least of the two first: what this analyst can still spend; then each."""
        least = min(self.population, self.analyst, key=lambda balance: balance.epsilon_remaining)
        return {**_left(least), "population": _left(self.population), "analyst": _left(self.analyst)}


def _left(balance: Balance) -> dict[str, str]:
    left = {"epsilon": text(balance.epsilon_remaining), "delta": text(balance.delta_remaining or Decimal(0))}
    if balance.rho_remaining is not None:
        left["rho"] = text(balance.rho_remaining)
    return left


@dataclass(frozen=True)
class Answer:
    """One answered question."""

    plan: CountPlan
    card: Card
    version: int
    noisy: Noisy
    level: Decimal
    charge: Mapping[str, str]
    remaining: Remaining
    replayed: bool
    request_id: str
    warnings: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> list[dict[str, Key]]:
        """One object per cell; categories as codes, the NULL key as None."""
        return [
            {name: keys[source] if source is not None else value for source, name in self.plan.outputs}
            for keys, value in self._cells()
        ]

    @cached_property
    def intervals(self) -> list[dict[str, list[int]]]:
        """The same shape as rows, for the noisy columns."""
        half = self.noisy.mechanism.half_width(self.level) if self.noisy.mechanism is not None else 0
        names = [name for source, name in self.plan.outputs if source is None]
        return [{name: [value - half, value + half] for name in names} for value in self.noisy.values]

    def labels(self, language: str) -> dict[str, dict[str, str]]:
        """Code to label for every category column of the answer."""
        found: dict[str, dict[str, str]] = {}
        for source, name in self.plan.outputs:
            column = self.card.column(source) if source is not None else None
            if column is not None and column.kind is Kind.CATEGORY:
                found[name] = {category.code: category.label.text(language) for category in column.categories}
        return found

    def to_dict(self, language: str = "en") -> dict[str, object]:
        mechanism = self.noisy.mechanism
        derived = count_sensitivity(self.plan, self.card)
        used = {"name": "exact-public"} if mechanism is None else {"name": mechanism.name, **mechanism.parameters()}
        return {
            "rows": self.rows,
            "labels": self.labels(language),
            "intervals": self.intervals,
            "level": text(self.level),
            "interval_meaning": INTERVAL_MEANING,
            "charge": dict(self.charge),
            "remaining": self.remaining.to_dict(),
            "guarantee": str(self.noisy.guarantee),
            "differentially_private": self.noisy.guarantee.differentially_private,
            "unit": str(self.card.unit),
            "neighbours": str(self.card.neighbours),
            "population": self.card.population,
            "mechanisms": [{**used, "sensitivity": str(derived.l1), "derivation": derived.derivation}],
            "dataset": self.card.dataset,
            "version": self.version,
            "plan_hash": self.plan.hash,
            "request_id": self.request_id,
            "replayed": self.replayed,
            "warnings": list(self.warnings),
        }

    def _cells(self) -> Iterator[tuple[dict[str, Key], int]]:
        domains = [[_shown(self.card, key.column, stored) for stored in key.cells] for key in self.plan.keys]
        names = [key.column for key in self.plan.keys]
        for cell, value in zip(product(*domains), self.noisy.values, strict=True):
            yield dict(zip(names, cell, strict=True)), value


def _shown(card: Card, name: str, stored: int | None) -> Key:
    if stored is None:
        return None
    column = card.column(name)
    return column.categories[stored].code if column.kind is Kind.CATEGORY else stored
