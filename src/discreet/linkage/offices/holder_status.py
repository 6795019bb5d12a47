"""What a holder sees of a study: its reservation, what was asked, and exactly what was or would be sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.guarantees import ceil_to_grid, text
from discreet.ledger import Balance
from discreet.linkage.offices.holder_desk import HolderDesk, PendingDraw, holder_loss, reservation_of
from discreet.linkage.offices.office_status import OfficeStatus, common_facts, list_budget, list_groups, read_groups
from discreet.linkage.offices.study_folder import Study
from discreet.paths import read_regular
from discreet.session import default_analyst

__all__ = ["DrawnRequest", "HolderStatus", "SentEnvelopes", "WaitingRequest", "look_at_holder"]


@dataclass(frozen=True, slots=True)
class SentEnvelopes:
    """What leaves the holder for a request: so many ids, in these groups, and so many bytes to either office."""

    ids: int
    groups: tuple[tuple[str, int], ...]
    registry_bytes: int
    researcher_bytes: int

    @classmethod
    def of(cls, noted: dict[str, Any]) -> SentEnvelopes:
        return cls(noted["ids"], tuple(noted["groups"].items()), noted["registry_bytes"], noted["researcher_bytes"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "ids": self.ids,
            "groups": dict(self.groups),
            "registry_bytes": self.registry_bytes,
            "researcher_bytes": self.researcher_bytes,
        }


@dataclass(frozen=True, slots=True)
class DrawnRequest:
    """A request that was drawn for. `same_as` is the first request with the same draw, where there is another."""

    when: str
    look: PendingDraw
    draw: str
    same_as: str | None
    sent: SentEnvelopes | None

    def to_dict(self) -> dict[str, Any]:
        return {"drawn": self.when, **_look(self.look), "same_draw_as": self.same_as, "sent": _sent_dict(self.sent)}


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """An envelope that waits to be approved: what it asks and would send, or why it cannot be drawn for."""

    file: str
    look: PendingDraw | None
    sent: SentEnvelopes | None
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        look = {} if self.look is None else _look(self.look)
        return {"file": self.file, **look, "would_send": _sent_dict(self.sent), "problem": self.problem}


@dataclass(frozen=True)
class HolderStatus(OfficeStatus):
    """What is reserved for records, what was drawn, and what waits. Sizes are there for a custodian alone."""

    population: str
    budget: Balance
    each: Decimal
    reserved: Decimal
    closed: bool
    drawn: tuple[DrawnRequest, ...]
    waiting: tuple[WaitingRequest, ...]
    custodian: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            **OfficeStatus.to_dict(self),
            "population": self.population,
            "budget": list_budget(self.budget),
            "reserved": {"each_property": text(self.each), "together": text(self.reserved), "closed": self.closed},
            "drawn": [request.to_dict() for request in self.drawn],
            "waiting": [request.to_dict() for request in self.waiting],
        }


def look_at_holder(desk: HolderDesk, *, custodian: bool = False) -> HolderStatus:
    """A study as its holder sees it; for the custodian with sizes, which is logged."""
    study, ledger = desk.study, desk.session.ledger
    terms = study.agreement.terms
    population = desk.session.workspace.dataset(terms.holder.dataset).card.population
    reservation = ledger.reservation(population, reservation_of(study.agreement))
    if custodian:
        ledger.record_view(f"samples of study {study.name}", who=default_analyst())
    return HolderStatus(
        **common_facts(study, study.charged),
        population=population,
        budget=desk.session.budget(population).population,
        each=ceil_to_grid(2 * Fraction(terms.tariff.epsilon) + Fraction(terms.closing_epsilon)),
        reserved=holder_loss(terms).epsilon,
        closed=reservation is None or reservation.closed,
        drawn=tuple(_drawn(study, custodian)),
        waiting=tuple(_wait(desk, file, custodian) for file in study.pending()),
        custodian=custodian,
    )


def _drawn(study: Study, custodian: bool) -> Iterator[DrawnRequest]:
    first: dict[str, str] = {}
    for request in study.requests():
        noted = study.noted(request) or {}
        look = PendingDraw(request, noted["where"], read_groups(noted), noted["scale"], noted["charge"])
        earlier = first.setdefault(noted["draw"], request)
        sent = SentEnvelopes.of(noted["sent"]) if custodian and "sent" in noted else None
        yield DrawnRequest(noted["drawn"], look, noted["draw"], None if earlier == request else earlier, sent)


def _wait(desk: HolderDesk, file: Path, custodian: bool) -> WaitingRequest:
    try:
        data = read_regular(file)
        look = desk.look(data)
        return WaitingRequest(file.name, look, SentEnvelopes.of(desk.preview(data).to_dict()) if custodian else None)
    except DiscreetError as error:
        return WaitingRequest(file.name, None, None, error.message)
    except OSError:
        return WaitingRequest(file.name, None, None, "the file cannot be read.")


def _look(look: PendingDraw) -> dict[str, Any]:
    return {
        "request": look.request,
        "where": look.where,
        "groups": list_groups(look.groups),
        "scale": look.scale,
        "charge": look.charge,
    }


def _sent_dict(sent: SentEnvelopes | None) -> dict[str, Any] | None:
    return None if sent is None else sent.to_dict()
