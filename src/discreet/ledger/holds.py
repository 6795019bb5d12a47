"""Budget set aside before anything runs: holds for approved requests, reservations for whole services.

A hold counts like a charge wherever something is admitted, and comes back when it is released or has expired; the
charge it was made for takes its place in one transaction. A reservation is spent when it is made. Holds are kept one by
one and added up anew, because what a filter adds up cannot be taken away again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

from discreet.guarantees import CentralGuarantee, PureDP
from discreet.ledger.accounting import Balance, Cap, ChargeTotals, balance, weigh
from discreet.ledger.events import decode_guarantee, encode_guarantee

__all__ = ["Hold", "OpenHolds", "Reservation", "add_up", "balance_beside", "read_time"]

PURPOSES: Final = frozenset({"linked", "survey"})


@dataclass(frozen=True, slots=True)
class Hold:
    """What is set aside for one request, under the caps of its population and of the analyst who will ask.

    `sequence` is its event; the charge must agree with all the rest. `expires` is the time from which it may expire.
    """

    sequence: int
    analyst: str
    dataset: str
    version: int
    request_id: str
    plan_hash: str
    guarantee: CentralGuarantee
    expires: str | None = None

    @property
    def cost(self) -> ChargeTotals:
        return weigh(self.guarantee)

    def is_for(self, analyst: str, request_id: str) -> bool:
        return (self.analyst, self.request_id) == (analyst, request_id)

    def to_fields(self) -> dict[str, object]:
        """The payload of its event, and its place in the standing."""
        fields: dict[str, object] = {name: getattr(self, name) for name in _BOUND if name != "guarantee"}
        fields["guarantee"] = encode_guarantee(self.guarantee)
        return fields if self.expires is None else {**fields, "expires": self.expires}

    def to_dict(self) -> dict[str, object]:
        """Plain values for people and machines."""
        return {"hold": self.sequence, "expires": None, **self.to_fields()}

    @classmethod
    def from_fields(cls, sequence: int, fields: Mapping[str, Any]) -> Self:
        """ValueError when these are not the fields of a hold."""
        expires = fields.get("expires")
        if expires is not None and read_time(datetime.fromisoformat(expires)) != expires:
            raise ValueError("a hold expires at a time in UTC with microseconds")
        bound = {name: fields[name] for name in _BOUND}
        return cls(sequence=sequence, expires=expires, **{**bound, "guarantee": decode_guarantee(bound["guarantee"])})

    def agrees(self, charge: Mapping[str, Any]) -> bool:
        """Whether the payload of a charge is what this was set aside for."""
        fields = self.to_fields()
        return all(charge[name] == fields[name] for name in _BOUND)


_BOUND: Final = ("analyst", "dataset", "version", "request_id", "plan_hash", "guarantee")


@dataclass(frozen=True, slots=True)
class Reservation:
    """Budget spent at once for a service that keeps accounts of its own: linked counts, or a survey that is collected.

    `agreement` is the digest of what was agreed, for a survey of its manifest.
    """

    purpose: str
    agreement: str
    guarantee: PureDP
    closed: bool = False

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Self:
        """ValueError when these are not the fields of a reservation."""
        guarantee = decode_guarantee(fields["guarantee"])
        if fields["purpose"] not in PURPOSES or not isinstance(guarantee, PureDP):
            raise ValueError("a reservation is pure, and for linked counts or a survey")
        return cls(fields["purpose"], fields["agreement"], guarantee, fields.get("closed", False))

    def to_fields(self) -> dict[str, object]:
        guarantee = encode_guarantee(self.guarantee)
        closed = {"closed": True} if self.closed else {}
        return {"agreement": self.agreement, "purpose": self.purpose, "guarantee": guarantee, **closed}

    def close(self) -> Self:
        if self.closed:
            raise ValueError("a reservation is closed once")
        return replace(self, closed=True)


class OpenHolds(dict[int, Hold]):
    """Open holds by the sequence number of their event, never changed.

    Standings share them until one is placed or ends, and they are added up once, not at every event between.
    """

    __slots__ = ("_totals",)

    def __init__(self, holds: Mapping[int, Hold] | None = None) -> None:
        super().__init__(holds or {})
        self._totals: dict[str | None, ChargeTotals] = {}

    def total(self, analyst: str | None) -> ChargeTotals:
        """What they set aside: of the population, or of one analyst's cap."""
        if analyst not in self._totals:
            self._totals[analyst] = add_up(hold for hold in self.values() if analyst in {None, hold.analyst})
        return self._totals[analyst]


def add_up(holds: Iterable[Hold]) -> ChargeTotals:
    """What is held, in every currency in which charges add up."""
    return sum((hold.cost for hold in holds), ChargeTotals())


def balance_beside(cap: Cap, totals: ChargeTotals, held: ChargeTotals) -> Balance:
    """What was spent, and what remains beside what is held."""
    spent = balance(cap, totals)
    if held == ChargeTotals():
        return spent
    return replace(
        balance(cap, totals + held),
        charges=spent.charges,
        epsilon_spent=spent.epsilon_spent,
        rho_spent=spent.rho_spent,
        delta_spent=spent.delta_spent,
    )


def read_time(moment: datetime) -> str:
    """A time as events have it: UTC, ISO 8601 with microseconds. ValueError where its zone is not said."""
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
