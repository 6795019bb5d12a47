"""What a registry sees of a study: reservations, accounts and requests. Criteria are not known to it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np

from discreet.errors import Refused
from discreet.guarantees import text
from discreet.ledger import WRITE_OFF, Balance, LinkedUse
from discreet.linkage.accounts import Accounts
from discreet.linkage.agreements.agreement import LinkedProperty
from discreet.linkage.envelopes import EnvelopeKind
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.offices.envelope_contents import NoisyAnswer
from discreet.linkage.offices.office_status import OfficeStatus, common_facts, list_budget
from discreet.linkage.offices.office_studies import Study, list_studies
from discreet.linkage.offices.registry_desk import AccountPool, RegistryDesk, registry_loss
from discreet.linkage.tariff import LinkedKind
from discreet.session import default_analyst

__all__ = [
    "BANDS",
    "AccountsView",
    "CountedRequest",
    "PropertyStatus",
    "RegistryStatus",
    "list_sharers",
    "look_at_registry",
]

BANDS: Final = 10
"""Into so many bands an account is divided; those of nothing used stand apart."""
_QUANTILES: Final = (0.5, 0.9, 0.99, 1.0)
_TOP: Final = 100


@dataclass(frozen=True)
class AccountsView:
    """How full accounts are: for the custodian alone. It depends on samples, and on no property.

    `bands` counts the units that have used nothing, then those in each tenth of an account. `quantiles` are (share of
    the units, parts that they have used at most). `borne` is the share of all charges that the most charged hundredth
    of the units bears, `even` what it would be if all units that ever paid had paid alike: samples that met show in the
    difference. `near` units have used nine tenths; `no_room` have none left for a count at the largest scale, and with
    about `threshold` of those the service closes.
    """

    units: int
    bands: tuple[int, ...]
    quantiles: tuple[tuple[float, int], ...]
    borne: float | None
    even: float | None
    near: int
    no_room: int
    threshold: int

    @classmethod
    def of(cls, accounts: Accounts, *, least: int, threshold: int) -> AccountsView:
        counters, cap = accounts.counters.astype(np.int64), accounts.cap
        # The tenth that a counter is in, counted from 1; 0 for nothing used.
        tenth = -(-BANDS * counters // cap)
        bands = np.bincount(tenth, minlength=BANDS + 1)
        ordered = np.sort(counters)
        total, most = int(ordered.sum()), -(-len(ordered) // _TOP)
        return cls(
            len(counters),
            tuple(map(int, bands)),
            tuple((share, int(ordered[ceil(share * len(ordered)) - 1])) for share in _QUANTILES if len(ordered)),
            int(ordered[len(ordered) - most :].sum()) / total if total else None,
            min(1.0, most / int(np.count_nonzero(ordered))) if total else None,
            int(bands[-1]),
            accounts.exhausted(least),
            threshold,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "units": self.units,
            "nothing_used": self.bands[0],
            "tenths": list(self.bands[1:]),
            "quantiles": [{"share": share, "parts": parts} for share, parts in self.quantiles],
            "borne_by_most_charged_hundredth": self.borne,
            "if_spread_evenly": self.even,
            "used_nine_tenths": self.near,
            "no_room": self.no_room,
            "closes_at_about": self.threshold,
        }


@dataclass(frozen=True)
class PropertyStatus:
    """The accounts of a property: what is reserved, whether they are the ledger's (else their `fault`), what they bore.

    `charges` is the sum of what requests cost one member, over all studies that draw on these accounts; `shared` names
    the others. `unanswered` requests were charged and not answered. `view` is the custodian's.
    """

    name: str
    reserved: Decimal
    closed: bool
    fault: str | None
    uses: int
    charges: int
    written_off: int
    unanswered: tuple[str, ...]
    shared: tuple[str, ...]
    view: AccountsView | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "property": self.name,
            "reserved": text(self.reserved),
            "closed": self.closed,
            "accounts": "sound" if self.fault is None else self.fault,
            "requests": self.uses,
            "charges": self.charges,
            "written_off": self.written_off,
            "unanswered": list(self.unanswered),
            "shared_with": list(self.shared),
            "view": None if self.view is None else self.view.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """A request that was charged at the registry. What it counts is known once it is answered."""

    request: str
    when: str
    property: str
    charge: int
    kind: LinkedKind | None
    scale: int | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "request": self.request,
            "charged": self.when,
            "property": self.property,
            "charge": self.charge,
            "kind": None if self.kind is None else self.kind.value,
            "scale": self.scale,
            "answered": self.kind is not None,
        }


@dataclass(frozen=True)
class RegistryStatus(OfficeStatus):
    """Reservations, accounts and requests; never criteria. `again` were answered by an earlier answer."""

    population: str
    budget: Balance
    properties: tuple[PropertyStatus, ...]
    counted: tuple[CountedRequest, ...]
    again: int
    waiting: int
    custodian: bool

    @property
    def reserved(self) -> Decimal:
        return sum((item.reserved for item in self.properties), Decimal(0))

    def to_dict(self) -> dict[str, Any]:
        return {
            **OfficeStatus.to_dict(self),
            "population": self.population,
            "budget": list_budget(self.budget),
            "properties": [item.to_dict() for item in self.properties],
            "requests": [request.to_dict() for request in self.counted],
            "answered_again": self.again,
            "waiting": self.waiting,
        }


def look_at_registry(desk: RegistryDesk, *, custodian: bool = False) -> RegistryStatus:
    """A study as its registry sees it; for the custodian with how full accounts are, which is logged."""
    study, session = desk.study, desk.session
    terms = study.agreement.terms
    population = session.workspace.dataset(terms.registry.dataset).card.population
    if custodian:
        session.ledger.record_view(f"accounts of study {study.name}", who=default_analyst())
    properties, counted = [], []
    for asked in terms.properties:
        found, uses = _status(desk, asked, custodian=custodian)
        properties.append(found)
        counted += [_counted(asked, use) for use in uses if use.agreement == study.agreement.digest]
    known = {request.request for request in counted}
    return RegistryStatus(
        **common_facts(study, desk.spent),
        population=population,
        budget=session.budget(population).population,
        properties=tuple(properties),
        counted=tuple(sorted(counted, key=lambda request: request.when)),
        again=len([request for request in study.requests() if request not in known]),
        waiting=len(Mailbox(study).waiting(EnvelopeKind.SAMPLE)),
        custodian=custodian,
    )


def _status(
    desk: RegistryDesk, asked: LinkedProperty, *, custodian: bool = False
) -> tuple[PropertyStatus, tuple[LinkedUse, ...]]:
    """The accounts of a property as they stand, and every use of them."""
    terms, ledger = desk.study.agreement.terms, desk.session.ledger
    fault: str | None = None
    view, unanswered = None, tuple[str, ...]()
    uses: tuple[LinkedUse, ...] = ()
    shared: tuple[str, ...] = ()
    known = None
    try:
        pool = desk.pool(asked)
        known = ledger.reservation(pool.population, pool.reservation)
        shared = tuple(study.name for study in list_sharers(desk, pool))
        every = ledger.list_uses(pool.reservation)
        uses = tuple(use for use in every if use.question != WRITE_OFF)
        off = len(every) - len(uses)
        with desk.hold(pool) as book:
            unanswered = book.pending
            if custodian:
                threshold = int(Fraction(terms.closing_share) * terms.people)
                view = AccountsView.of(book.accounts, least=pool.least, threshold=threshold)
    except Refused as refused:
        fault = str(refused.fields.get("fault", "other"))
        off = 0
    reserved = registry_loss(terms).epsilon if known is None else known.guarantee.epsilon
    closed = known is not None and known.closed
    charges = sum(use.charge for use in uses)
    found = PropertyStatus(asked.name, reserved, closed, fault, len(uses), charges, off, unanswered, shared, view)
    return found, uses


def list_sharers(desk: RegistryDesk, pool: AccountPool) -> list[Study]:
    """Other studies in this office that draw on the same accounts."""
    found = []
    for study in list_studies(desk.study.office):
        other = RegistryDesk(study, desk.session)
        if study.agreement.digest != desk.study.agreement.digest and pool.name in other.pools().values():
            found.append(study)
    return found


def _counted(asked: LinkedProperty, use: LinkedUse) -> CountedRequest:
    answer = None if use.answer is None else NoisyAnswer.from_bytes(use.answer)
    kind, scale = (None, None) if answer is None else (answer.kind, answer.scale)
    return CountedRequest(use.request, use.when, asked.name, use.charge, kind, scale)
