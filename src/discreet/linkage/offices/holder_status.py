"""What a holder sees of a study: its reservation, what was asked, and exactly what was or would be sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import DiscreetError
from discreet.guarantees import ceil_to_grid, text
from discreet.ledger import Balance
from discreet.linkage.envelopes import EnvelopeKind
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.offices.holder_desk import HolderDesk, PendingDraw, holder_loss, ids_of, reservation_of
from discreet.linkage.offices.office_status import OfficeStatus, common_facts, list_budget, list_groups, read_groups
from discreet.linkage.offices.office_studies import Study
from discreet.session import default_analyst

__all__ = ["DrawnRequest", "HolderStatus", "SentSample", "WaitingRequest", "look_at_holder"]


@dataclass(frozen=True, slots=True)
class SentSample:
    """What leaves the holder for a request: so many ids, in these groups, and so many bytes to either office."""

    ids: int
    groups: tuple[tuple[str, int], ...]
    registry_bytes: int
    researcher_bytes: int

    @classmethod
    def of(cls, noted: dict[str, Any]) -> SentSample:
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
    sent: SentSample | None

    def to_dict(self) -> dict[str, Any]:
        return {"drawn": self.when, **_look(self.look), "same_draw_as": self.same_as, "sent": _sent_dict(self.sent)}


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """An envelope that waits to be approved: what it asks and would send, or why it cannot be drawn for."""

    request: str
    look: PendingDraw | None
    sent: SentSample | None
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        look = {} if self.look is None else _look(self.look)
        return {"request": self.request, **look, "would_send": _sent_dict(self.sent), "problem": self.problem}


@dataclass(frozen=True)
class HolderStatus(OfficeStatus):
    """What is reserved for records, what was drawn, and what waits. Sizes are there for a custodian alone."""

    population: str
    budget: Balance
    each: Decimal
    ids: int
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
            "reserved": {
                "each_property": text(self.each),
                "ids": self.ids,
                "together": text(self.reserved),
                "closed": self.closed,
            },
            "drawn": [request.to_dict() for request in self.drawn],
            "waiting": [request.to_dict() for request in self.waiting],
        }


def look_at_holder(desk: HolderDesk, *, custodian: bool = False) -> HolderStatus:
    """A study as its holder sees it; for the custodian with sizes, which is logged."""
    study, ledger = desk.study, desk.session.ledger
    terms = study.agreement.terms
    card = desk.session.workspace.dataset(terms.holder.dataset).card
    population, mailbox = card.population, Mailbox(study)
    reservation = ledger.reservation(population, reservation_of(study.agreement))
    if custodian:
        ledger.record_view(f"samples of study {study.name}", who=default_analyst())
    return HolderStatus(
        **common_facts(study, study.charged),
        population=population,
        budget=desk.session.budget(population).population,
        each=ceil_to_grid(2 * Fraction(terms.tariff.epsilon) + Fraction(terms.closing_epsilon)),
        ids=ids_of(terms, card),
        reserved=holder_loss(terms, card).epsilon,
        closed=reservation is None or reservation.closed,
        drawn=tuple(_drawn(study, custodian)),
        waiting=tuple(_wait(desk, mailbox, request, custodian) for request in mailbox.waiting(EnvelopeKind.REQUEST)),
        custodian=custodian,
    )


def _drawn(study: Study, custodian: bool) -> Iterator[DrawnRequest]:
    first: dict[str, str] = {}
    notes = [(request, study.noted(request) or {}) for request in study.requests()]
    for request, noted in sorted(notes, key=lambda item: str(item[1]["drawn"])):
        look = PendingDraw(request, noted["where"], read_groups(noted), noted["scale"], noted["charge"])
        earlier = first.setdefault(noted["draw"], request)
        sent = SentSample.of(noted["sent"]) if custodian and "sent" in noted else None
        yield DrawnRequest(noted["drawn"], look, noted["draw"], None if earlier == request else earlier, sent)


def _wait(desk: HolderDesk, mailbox: Mailbox, request: str, custodian: bool) -> WaitingRequest:
    try:
        data = mailbox.take(EnvelopeKind.REQUEST, request).data
        look = desk.look(data)
        return WaitingRequest(request, look, SentSample.of(desk.preview(data).to_dict()) if custodian else None)
    except DiscreetError as error:
        return WaitingRequest(request, None, None, error.message)


def _look(look: PendingDraw) -> dict[str, Any]:
    return {
        "request": look.request,
        "where": look.where,
        "groups": list_groups(look.groups),
        "scale": look.scale,
        "charge": look.charge,
    }


def _sent_dict(sent: SentSample | None) -> dict[str, Any] | None:
    return None if sent is None else sent.to_dict()
