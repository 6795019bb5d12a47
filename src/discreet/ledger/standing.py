"""Where every population stands after an event: the fold that spending and verification share.

The standing is kept beside the head of the chain under the ledger's key, so that a spend reads a few
kilobytes instead of every event; `discreet ledger verify` folds the whole chain anew and compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from discreet.guarantees.budget import PopulationTerms
from discreet.ledger.accounting import Totals, admits, caps, weigh
from discreet.ledger.events import Event, Kind, canonical_json, decode_guarantee, decode_terms, encode_terms

__all__ = [
    "DatasetEntry",
    "PopulationStanding",
    "Standing",
    "decode_totals",
    "encode_before",
    "encode_totals",
    "fold",
]


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A dataset's population and its newest version."""

    population: str
    version: int


@dataclass(frozen=True, slots=True)
class PopulationStanding:
    """One population.

    Its terms, what has been spent, by whom, and how many releases were not differentially private.
    """

    terms: PopulationTerms
    totals: Totals = field(default_factory=Totals)
    analysts: Mapping[str, Totals] = field(default_factory=dict)
    markers: int = 0

    def analyst(self, name: str) -> Totals:
        return self.analysts.get(name, Totals())

    def debit(self, analyst: str, cost: Totals, *, population: bool) -> PopulationStanding:
        """After a charge; a replay debits the analyst alone."""
        return replace(
            self,
            totals=self.totals + cost if population else self.totals,
            analysts={**self.analysts, analyst: self.analyst(analyst) + cost},
        )

    def overspent(self, analyst: str, *, population: bool) -> str | None:
        """Which cap does not hold: 'population' (where it is debited), 'analyst' or None."""
        whole, share = caps(self.terms.budget)
        if population and not admits(whole, self.totals):
            return "population"
        return None if admits(share, self.analyst(analyst)) else "analyst"


@dataclass(frozen=True, slots=True)
class Standing:
    """All that the next event is checked against."""

    populations: Mapping[str, PopulationStanding] = field(default_factory=dict)
    analysts: tuple[str, ...] = ()
    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    suspended: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Canonical JSON; whole numbers of units as text."""
        return canonical_json(
            {
                "analysts": list(self.analysts),
                "datasets": {name: asdict(entry) for name, entry in self.datasets.items()},
                "populations": {name: _encode(standing) for name, standing in self.populations.items()},
                "suspended": list(self.suspended),
            }
        )

    @classmethod
    def from_text(cls, text: str) -> Self:
        fields = json.loads(text)
        return cls(
            populations={name: _decode(standing) for name, standing in fields["populations"].items()},
            analysts=tuple(fields["analysts"]),
            datasets={name: DatasetEntry(**entry) for name, entry in fields["datasets"].items()},
            suspended=tuple(fields["suspended"]),
        )


def fold(standing: Standing, event: Event) -> Standing:
    """The standing after `event`. ValueError when the event could not have been admitted."""
    payload = event.payload
    match event.kind:
        case Kind.POPULATION:
            if event.population in standing.populations:
                raise ValueError("a population is registered once")
            return _with(standing, event.population, PopulationStanding(terms=decode_terms(payload["terms"])))
        case Kind.CHANGED:
            before = standing.populations[event.population]
            return _with(standing, event.population, replace(before, terms=decode_terms(payload["terms"])))
        case Kind.ANALYST:
            return replace(standing, analysts=tuple(sorted({*standing.analysts, payload["analyst"]})))
        case Kind.DATASET:
            entry = DatasetEntry(population=event.population, version=payload["version"])
            return replace(standing, datasets={**standing.datasets, payload["dataset"]: entry})
        case Kind.CHARGE | Kind.REPLAY:
            return _debited(standing, event)
        case Kind.MARKER:
            before = standing.populations[event.population]
            return _with(standing, event.population, replace(before, markers=before.markers + 1))
        case Kind.SUSPENDED:
            return replace(standing, suspended=tuple(sorted({*standing.suspended, payload["dataset"]})))
        case Kind.RESUMED:
            return replace(standing, suspended=tuple(n for n in standing.suspended if n != payload["dataset"]))
        case _:
            return standing


def _debited(standing: Standing, event: Event) -> Standing:
    analyst = event.payload["analyst"]
    cost = weigh(decode_guarantee(event.payload["guarantee"]))
    before = standing.populations[event.population]
    if event.payload["before"] != encode_before(before, analyst):
        raise ValueError("it names other totals than those before it")
    charged = event.kind is Kind.CHARGE
    after = before.debit(analyst, cost, population=charged)
    if (limit := after.overspent(analyst, population=charged)) is not None:
        raise ValueError(f"the {limit}'s cap does not hold")
    return _with(standing, event.population, after)


def _with(standing: Standing, name: str, population: PopulationStanding) -> Standing:
    return replace(standing, populations={**standing.populations, name: population})


def _encode(standing: PopulationStanding) -> dict[str, object]:
    return {
        "analysts": {name: encode_totals(totals) for name, totals in standing.analysts.items()},
        "markers": standing.markers,
        "terms": encode_terms(standing.terms),
        "totals": encode_totals(standing.totals),
    }


def _decode(fields: Mapping[str, Any]) -> PopulationStanding:
    return PopulationStanding(
        terms=decode_terms(fields["terms"]),
        totals=decode_totals(fields["totals"]),
        analysts={name: decode_totals(totals) for name, totals in fields["analysts"].items()},
        markers=fields["markers"],
    )


def encode_before(standing: PopulationStanding, analyst: str) -> dict[str, object]:
    """What the population and the analyst had spent when an event was appended."""
    return {"analyst": encode_totals(standing.analyst(analyst)), "population": encode_totals(standing.totals)}


def encode_totals(totals: Totals) -> dict[str, object]:
    """Whole numbers of units as text: they outgrow what other readers of JSON keep exact."""
    return {
        "additive": totals.additive,
        "charges": totals.charges,
        "delta": str(totals.delta),
        "epsilon": str(totals.epsilon),
        "rho": str(totals.rho),
    }


def decode_totals(fields: Mapping[str, Any]) -> Totals:
    return Totals(
        charges=fields["charges"],
        additive=fields["additive"] if "additive" in fields else fields["pure"],  # its name in earlier ledgers
        epsilon=int(fields["epsilon"]),
        rho=int(fields["rho"]),
        delta=int(fields["delta"]),
    )
