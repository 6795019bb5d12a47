"""The end of a study in an office: its reservations are closed for good, and what they reserved stays spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, UsageError
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.offices.holder_desk import holder_loss, reservation_of
from discreet.linkage.offices.office_studies import Study
from discreet.linkage.offices.registry_desk import RegistryDesk, registry_loss
from discreet.linkage.offices.registry_status import list_sharers
from discreet.session import Session, default_analyst

__all__ = ["OfficeReservation", "close_study", "list_reservations"]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class OfficeReservation:
    """A reservation of a study: its population and name on the ledger. `shared` studies draw on it too."""

    title: str
    population: str
    name: str
    epsilon: Decimal
    shared: tuple[str, ...] = ()


def list_reservations(study: Study, session: Session | None) -> tuple[OfficeReservation, ...]:
    """What an office has reserved for a study."""
    if session is None:
        raise UsageError(
            say("a researcher reserves nothing and closes nothing. The registry or the holder closes a study.")
        )
    terms = study.agreement.terms
    if study.role is OfficeRole.HOLDER:
        card = session.workspace.dataset(terms.holder.dataset).card
        reserved = holder_loss(terms, card).epsilon
        return (OfficeReservation(study.name, card.population, reservation_of(study.agreement), reserved),)
    desk, found = RegistryDesk(study, session), []
    for asked in terms.properties:
        pool = desk.pool(asked)
        shared = tuple(other.name for other in list_sharers(desk, pool))
        found.append(
            OfficeReservation(asked.name, pool.population, pool.reservation, registry_loss(terms).epsilon, shared)
        )
    return tuple(found)


def close_study(session: Session | None, reserved: Sequence[OfficeReservation], *, reason: str) -> bool:
    """Close all of them; False where every one was closed before."""
    assert session is not None, "who reserves has a workspace"
    if len(reason) > _LONGEST or not (reason or " ").isprintable():
        raise ParameterInvalid(
            parameter="reason",
            rule=say("must be one line of at most {longest} characters", longest=_LONGEST),
            given=ascii(reason[:40]),
        )
    closed = [
        session.ledger.close_reservation(
            item.population, item.name, reason=reason or "custodian", who=default_analyst()
        )
        for item in reserved
    ]
    return any(closed)
