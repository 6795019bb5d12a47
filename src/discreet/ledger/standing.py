"""Where every population stands after an event: the fold that spending and verification share.

The standing is kept beside the head of the chain under the ledger's key, so that a spend reads a few
kilobytes instead of every event; `discreet ledger verify` folds the whole chain anew and compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from discreet.guarantees import ORDERS, PopulationTerms
from discreet.ledger.accounting import Balance, ChargeTotals, admits, caps, how_many, use_up, weigh
from discreet.ledger.events import (
    Event,
    EventKind,
    canonical_json,
    decode_guarantee,
    decode_terms,
    encode_terms,
    require_payload,
)
from discreet.ledger.holds import Hold, OpenHolds, Reservation, balance_beside

__all__ = [
    "DatasetEntry",
    "PopulationStanding",
    "Standing",
    "StandingUnknown",
    "decode_totals",
    "encode_before",
    "encode_totals",
    "fold",
    "is_free_replay",
]

_LOSSES: Final = "losses"


_KNOWN: Final = frozenset({"analysts", "datasets", "populations", "suspended"})
_KNOWN_OF_POPULATIONS: Final = frozenset(
    {"analysts", "holds", "lost_markers", "markers", "reservations", "terms", "totals"}
)


class StandingUnknown(ValueError):
    """A standing with a part that this version does not know: a newer one wrote it."""


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A dataset's population and its newest version."""

    population: str
    version: int


@dataclass(frozen=True, slots=True)
class PopulationStanding:
    """One population.

    Its terms, what has been spent, by whom, what is held and reserved, and how many releases were not
    differentially private, `lost_markers` of them in events that a restored ledger lacks. Open holds are found by the
    sequence number of their event, reservations by name.
    """

    terms: PopulationTerms
    totals: ChargeTotals = field(default_factory=ChargeTotals)
    analysts: Mapping[str, ChargeTotals] = field(default_factory=dict)
    markers: int = 0
    holds: OpenHolds = field(default_factory=OpenHolds)
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    lost_markers: int = 0

    def analyst(self, name: str) -> ChargeTotals:
        return self.analysts.get(name, ChargeTotals())

    def held(self, analyst: str | None = None) -> ChargeTotals:
        """What open holds set aside: of the population, or of one analyst's cap."""
        return self.holds.total(analyst)

    def hold_for(self, analyst: str, request_id: str) -> Hold | None:
        """The open hold of a request."""
        return next((hold for hold in self.holds.values() if hold.is_for(analyst, request_id)), None)

    def without(self, hold: Hold | None) -> PopulationStanding:
        """As if `hold` had been released."""
        if hold is None:
            return self
        kept = {number: item for number, item in self.holds.items() if number != hold.sequence}
        return replace(self, holds=OpenHolds(kept))

    def balance(self) -> Balance:
        """What the population has spent, and what remains beside what is held."""
        return balance_beside(caps(self.terms.budget)[0], self.totals, self.held())

    def analyst_balance(self, name: str) -> Balance:
        """The same for an analyst's cap."""
        return balance_beside(caps(self.terms.budget)[1], self.analyst(name), self.held(name))

    def room(self, analyst: str, cost: ChargeTotals) -> int:
        """How many more charges of this weight the analyst could make, one after the other."""
        whole, share = caps(self.terms.budget)
        return min(
            how_many(whole, self.totals + self.held(), cost),
            how_many(share, self.analyst(analyst) + self.held(analyst), cost),
        )

    def debit(self, analyst: str, cost: ChargeTotals, *, population: bool) -> PopulationStanding:
        """After a charge; a replay debits the analyst alone."""
        return replace(
            self,
            totals=self.totals + cost if population else self.totals,
            analysts={**self.analysts, analyst: self.analyst(analyst) + cost},
        )

    def overspent(self, analyst: str, *, population: bool) -> str | None:
        """Which cap does not hold: 'population' (where it is debited), 'analyst' or None."""
        whole, share = caps(self.terms.budget)
        if population and not admits(whole, self.totals + self.held()):
            return "population"
        return None if admits(share, self.analyst(analyst) + self.held(analyst)) else "analyst"


@dataclass(frozen=True)
class Standing:
    """All that the next event is checked against; never changed, so that its texts are written once."""

    populations: Mapping[str, PopulationStanding] = field(default_factory=dict)
    analysts: tuple[str, ...] = ()
    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    suspended: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """Canonical JSON; whole numbers of units as text."""
        analysts, suspended = canonical_json(self.analysts), canonical_json(self.suspended)
        datasets = canonical_json({name: asdict(entry) for name, entry in self.datasets.items()})
        return f'{{"analysts":{analysts},"datasets":{datasets},"populations":{self.spent},"suspended":{suspended}}}'

    @cached_property
    def spent(self) -> str:
        """What an anchor remembers beside a head: terms, totals and markers of every population, in canonical JSON."""
        return canonical_json({name: _encode(standing) for name, standing in self.populations.items()})

    @staticmethod
    def from_text(text: str) -> Standing:
        """StandingUnknown where it tells of something this version does not: it would be lost with the next event."""
        return _read(text)


@lru_cache(maxsize=8)
def _read(text: str) -> Standing:
    """Kept for a few texts: every transaction of a question reads what the one before it has left."""
    fields = json.loads(text)
    _refuse_unknown(fields, _KNOWN)
    return Standing(
        populations={name: _decode(standing) for name, standing in fields["populations"].items()},
        analysts=tuple(fields["analysts"]),
        datasets={name: DatasetEntry(**entry) for name, entry in fields["datasets"].items()},
        suspended=tuple(fields["suspended"]),
    )


def fold(standing: Standing, event: Event) -> Standing:
    """The standing after `event`. ValueError when the event could not have been admitted."""
    payload = event.payload
    require_payload(event.kind, payload)
    match event.kind:
        case EventKind.POPULATION:
            if event.population in standing.populations:
                raise ValueError("a population is registered once")
            return _with(standing, event.population, PopulationStanding(terms=decode_terms(payload["terms"])))
        case EventKind.CHANGED:
            before = standing.populations[event.population]
            return _with(standing, event.population, _change(before, decode_terms(payload["terms"])))
        case EventKind.ANALYST:
            return replace(standing, analysts=tuple(sorted({*standing.analysts, payload["analyst"]})))
        case EventKind.DATASET:
            entry = DatasetEntry(population=event.population, version=payload["version"])
            return replace(standing, datasets={**standing.datasets, payload["dataset"]: entry})
        case EventKind.CHARGE | EventKind.REPLAY:
            return _debited(standing, event)
        case EventKind.MARKER:
            before = standing.populations[event.population]
            return _with(standing, event.population, replace(before, markers=before.markers + 1))
        case EventKind.HOLD:
            return _with(standing, event.population, _hold(standing.populations[event.population], event))
        case EventKind.HOLD_RELEASED | EventKind.HOLD_EXPIRED:
            before = standing.populations[event.population]
            if (hold := before.holds.get(payload["hold"])) is None:
                raise ValueError("no such hold is open")
            return _with(standing, event.population, before.without(hold))
        case EventKind.RESERVED | EventKind.RESERVATION_CLOSED | EventKind.LINKED:
            return _with(standing, event.population, _reserve(standing.populations[event.population], event))
        case EventKind.REQUESTED | EventKind.DECIDED | EventKind.PUBLISHED | EventKind.WITHDRAWN:
            _check_record(standing, event)
            return standing
        case EventKind.RESTORED:
            return _restored(standing, payload["spent"])
        case EventKind.SUSPENDED:
            return replace(standing, suspended=tuple(sorted({*standing.suspended, payload["dataset"]})))
        case EventKind.RESUMED:
            return replace(standing, suspended=tuple(n for n in standing.suspended if n != payload["dataset"]))
        case _:
            return standing


def _debited(standing: Standing, event: Event) -> Standing:
    analyst = event.payload["analyst"]
    cost = weigh(decode_guarantee(event.payload["guarantee"]))
    if not any(_LOSSES in totals for totals in event.payload["before"].values()):
        cost = replace(cost, losses=None)  # charged before losses were recorded, or under that rule since
    charged = event.kind is EventKind.CHARGE
    before = standing.populations[event.population]
    if charged:
        before = before.without(_held_for(before, event.payload))
    _check_before(event, encode_before(before, analyst))
    if not charged and is_free_replay(event):
        return standing
    after = before.debit(analyst, cost, population=charged)
    if (limit := after.overspent(analyst, population=charged)) is not None:
        raise ValueError(f"the {limit}'s cap does not hold")
    return _with(standing, event.population, after)


def is_free_replay(event: Event) -> bool:
    """Whether a replay went to an analyst who had the answer already: it leases its request id and debits nobody."""
    free = event.payload.get("free", False)
    if free is not False and free is not True:
        raise ValueError("a replay is free or it is not")
    return event.kind is EventKind.REPLAY and bool(free)


def _check_before(event: Event, before: Mapping[str, object]) -> None:
    if event.payload["before"] != _as_told(before, event.payload["before"]):
        raise ValueError("it names other totals than those before it")


def _as_told(before: Mapping[str, object], text: Mapping[str, Any]) -> dict[str, object]:
    """The same as an earlier release wrote it, wherever an event says nothing of losses."""
    return {
        name: _as_told(value, text.get(name, {})) if isinstance(value, Mapping) and name != _LOSSES else value
        for name, value in before.items()
        if name != _LOSSES or name in text
    }


def _restored(standing: Standing, spent: Mapping[str, Any] | None) -> Standing:
    """What an anchor knew to be spent when an older ledger was put in place; where it knew nothing, all there was."""
    if spent is None:
        used = {name: _used_up(item, standing.analysts) for name, item in standing.populations.items()}
        return replace(standing, populations=used)
    lines = {name: _decode(fields) for name, fields in spent.items()}
    written = {name: _written_off(standing.populations.get(name), item) for name, item in lines.items()}
    return replace(standing, populations={**standing.populations, **written})


def _used_up(standing: PopulationStanding, analysts: Iterable[str]) -> PopulationStanding:
    whole, share = caps(standing.terms.budget)
    return replace(
        standing,
        totals=use_up(whole, standing.totals),
        analysts={name: use_up(share, standing.analyst(name)) for name in {*analysts, *standing.analysts}},
        markers=standing.markers + 1,  # one may be among what was lost, and nobody can claim the contrary
        lost_markers=standing.lost_markers + 1,
    )


def _written_off(known: PopulationStanding | None, text: PopulationStanding) -> PopulationStanding:
    """What was told stands in the place of what is known, but for open holds, whose events the ledger has."""
    if known is None:
        return replace(text, holds=OpenHolds(), lost_markers=text.markers)
    lost = text.markers - (known.markers - known.lost_markers)
    if lost < known.lost_markers or not _covers(text.totals, known.totals):
        raise ValueError("less was written off than had been spent")
    return replace(
        text,
        analysts={**known.analysts, **text.analysts},
        holds=known.holds,
        reservations={**known.reservations, **text.reservations},
        lost_markers=lost,
    )


def _covers(later: ChargeTotals, earlier: ChargeTotals) -> bool:
    return all(getattr(later, name) >= getattr(earlier, name) for name in ("charges", "epsilon", "rho", "delta"))


def _held_for(standing: PopulationStanding, charge: Mapping[str, Any]) -> Hold | None:
    """The hold whose place a charge takes: the one of its request, if there is one, and no other."""
    hold = standing.hold_for(charge["analyst"], charge["request_id"])
    if charge.get("hold") != (None if hold is None else hold.sequence):
        raise ValueError("it takes the place of a hold that is not open or not its own")
    if hold is not None and not hold.agrees(charge):
        raise ValueError("it is not what was held for")
    return hold


def _hold(standing: PopulationStanding, event: Event) -> PopulationStanding:
    hold = Hold.from_fields(event.sequence, event.payload)
    if standing.hold_for(hold.analyst, hold.request_id) is not None:
        raise ValueError("a request has one hold at a time")
    after = replace(standing, holds=OpenHolds({**standing.holds, hold.sequence: hold}))
    if (limit := after.overspent(hold.analyst, population=True)) is not None:
        raise ValueError(f"the {limit}'s cap does not hold")
    return after


def _change(standing: PopulationStanding, terms: PopulationTerms) -> PopulationStanding:
    if standing.reservations and not terms.budget.pure:
        raise ValueError("a reservation stands under a pure budget")
    return replace(standing, terms=terms)


def _reserve(standing: PopulationStanding, event: Event) -> PopulationStanding:
    """A reservation made, used or closed. Made, it is spent by the population and by no analyst."""
    payload, name = event.payload, event.payload["reservation"]
    known = standing.reservations.get(name)
    if event.kind is not EventKind.RESERVED:
        if known is None or known.closed:
            raise ValueError("no such reservation is open")
        after = known.close() if event.kind is EventKind.RESERVATION_CLOSED else known
        return replace(standing, reservations={**standing.reservations, name: after})
    if known is not None or not standing.terms.budget.pure:
        raise ValueError("a reservation has a name of its own and stands under a pure budget")
    _check_before(event, {"population": encode_totals(standing.totals)})
    made = Reservation.from_fields(payload)
    spent = replace(standing, totals=standing.totals + weigh(made.guarantee))
    if not admits(caps(spent.terms.budget)[0], spent.totals + spent.held()):
        raise ValueError("the population's cap does not hold")
    return replace(spent, reservations={**standing.reservations, name: made})


def _check_record(standing: Standing, event: Event) -> None:
    """Requests, decisions, publications and withdrawals spend nothing: what they name must be there."""
    if event.population not in standing.populations:
        raise ValueError("it is about a population")
    if event.kind is EventKind.WITHDRAWN and not {"request", "release"} & event.payload.keys():
        raise ValueError("a request or a release is withdrawn")


def _with(standing: Standing, name: str, population: PopulationStanding) -> Standing:
    return replace(standing, populations={**standing.populations, name: population})


def _encode(standing: PopulationStanding) -> dict[str, object]:
    """What holds nothing and reserves nothing has the bytes it had before there were holds."""
    aside: dict[str, object] = {}
    if standing.holds:
        aside["holds"] = {str(number): hold.to_fields() for number, hold in standing.holds.items()}
    if standing.reservations:
        aside["reservations"] = {name: item.to_fields() for name, item in standing.reservations.items()}
    if standing.lost_markers:
        aside["lost_markers"] = standing.lost_markers
    return aside | {
        "analysts": {name: encode_totals(totals) for name, totals in standing.analysts.items()},
        "markers": standing.markers,
        "terms": encode_terms(standing.terms),
        "totals": encode_totals(standing.totals),
    }


def _refuse_unknown(fields: Mapping[str, Any], known: frozenset[str]) -> None:
    if fields.keys() - known:
        raise StandingUnknown("not a standing of this version")


def _decode(fields: Mapping[str, Any]) -> PopulationStanding:
    _refuse_unknown(fields, _KNOWN_OF_POPULATIONS)
    held = fields.get("holds", {})
    return PopulationStanding(
        terms=decode_terms(fields["terms"]),
        totals=decode_totals(fields["totals"]),
        analysts={name: decode_totals(totals) for name, totals in fields["analysts"].items()},
        markers=fields["markers"],
        holds=OpenHolds({int(number): Hold.from_fields(int(number), item) for number, item in held.items()}),
        reservations={name: Reservation.from_fields(item) for name, item in fields.get("reservations", {}).items()},
        lost_markers=fields.get("lost_markers", 0),
    )


def encode_before(standing: PopulationStanding, analyst: str) -> dict[str, object]:
    """What the population and the analyst had spent when an event was appended, and what was held beside it."""
    spent = {"analyst": encode_totals(standing.analyst(analyst)), "population": encode_totals(standing.totals)}
    if not standing.holds:
        return {**spent}
    held = {"analyst": encode_totals(standing.held(analyst)), "population": encode_totals(standing.held())}
    return {**spent, "held": held}


def encode_totals(totals: ChargeTotals) -> dict[str, object]:
    """Whole numbers of units as text: they outgrow what other readers of JSON keep exact."""
    fields: dict[str, object] = {
        "additive": totals.additive,
        "charges": totals.charges,
        "delta": str(totals.delta),
        "epsilon": str(totals.epsilon),
        "rho": str(totals.rho),
    }
    if totals.losses is None:
        return fields
    return {**fields, _LOSSES: {str(order): str(loss) for order, loss in zip(ORDERS, totals.losses, strict=True)}}


def decode_totals(fields: Mapping[str, Any]) -> ChargeTotals:
    losses = fields.get(_LOSSES)
    return ChargeTotals(
        charges=fields["charges"],
        additive=fields["additive"] if "additive" in fields else fields["pure"],  # its name in earlier ledgers
        epsilon=int(fields["epsilon"]),
        rho=int(fields["rho"]),
        delta=int(fields["delta"]),
        losses=None if losses is None else tuple(int(losses[str(order)]) for order in ORDERS),
    )
