"""Whether what an office keeps for a study is whole: its ledger, its reservation, its accounts, its keys and notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from discreet.errors import Refused
from discreet.guarantees import PureDP, text
from discreet.ledger import WRITE_OFF, LinkedUse
from discreet.linkage.agreements.agreement import LinkedProperty
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.offices.account_book import AccountBook, WrittenOff
from discreet.linkage.offices.holder_desk import holder_loss, reservation_of
from discreet.linkage.offices.office_studies import Study
from discreet.linkage.offices.registry_desk import AccountPool, RegistryDesk, registry_loss
from discreet.linkage.offices.registry_index import RegistryIndex, load_array
from discreet.session import Session, default_analyst

__all__ = ["OfficeFinding", "check_office", "write_off_accounts"]

_ARRAYS: Final = ("cells.npy", "rest.npy")


@dataclass(frozen=True, slots=True)
class OfficeFinding:
    """One thing that was looked at: `what` it is, of which study and property, and its fault, if it has one.

    `figures` are numbers and names behind it, which the words for it show.
    """

    what: str
    study: str = ""
    asked: str = ""
    fault: str | None = None
    figures: tuple[tuple[str, int | str], ...] = ()

    @property
    def sound(self) -> bool:
        return self.fault is None

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "study": self.study or None,
            "property": self.asked or None,
            "sound": self.sound,
            "fault": self.fault,
            **dict(self.figures),
        }


def check_office(study: Study, session: Session | None) -> Iterator[OfficeFinding]:
    """All that can be checked of a study. LedgerDamaged where the ledger's chain itself does not hold."""
    if session is None:
        yield _notes(study)
        return
    chain = session.verify()
    yield OfficeFinding("chain", figures=(("events", chain.events), ("answers", chain.answers)))
    if study.role is OfficeRole.HOLDER:
        card = session.workspace.dataset(study.agreement.terms.holder.dataset).card
        loss = holder_loss(study.agreement.terms, card)
        yield _reservation(study, session, card.population, reservation_of(study.agreement), loss)
        yield _key(study, "draw")
        yield _key(study, "link")
        yield _notes(study)
        return
    desk = RegistryDesk(study, session)
    yield _key(study, "link")
    yield _index(study)
    uses: list[LinkedUse] = []
    for asked in study.agreement.terms.properties:
        yield from _property(desk, asked, uses)
    yield _quota(desk, [use for use in uses if use.agreement == study.agreement.digest])


def write_off_accounts(desk: RegistryDesk, asked: LinkedProperty) -> WrittenOff | None:
    """Put accounts in the place of a property's lost ones: a custodian's act. None where nothing is lost."""
    pool = desk.pool(asked)
    return AccountBook.write_off(
        pool.folder,
        desk.session.ledger,
        population=pool.population,
        reservation=pool.reservation,
        units=pool.units,
        members=pool.members,
        cap=pool.cap,
        who=default_analyst(),
    )


# --- steps ------------------------------------------------------------------------------------------------------------


def _property(desk: RegistryDesk, asked: LinkedProperty, uses: list[LinkedUse]) -> Iterator[OfficeFinding]:
    study, ledger, named = desk.study, desk.session.ledger, (desk.study.name, asked.name)
    try:
        pool = desk.pool(asked)
    except Refused as refused:
        yield OfficeFinding("accounts", *named, str(refused.fields.get("fault", "other")))
        return
    loss = registry_loss(study.agreement.terms)
    yield _reservation(study, desk.session, pool.population, pool.reservation, loss, asked.name)
    every = ledger.list_uses(pool.reservation)
    uses += [use for use in every if use.question != WRITE_OFF]
    yield _accounts(desk, asked, pool, every)
    yield _found("files", *named, fault="files", look=lambda: _read_pool_files(pool))


def _accounts(
    desk: RegistryDesk, asked: LinkedProperty, pool: AccountPool, uses: tuple[LinkedUse, ...]
) -> OfficeFinding:
    """The digest that the ledger names, and no account above what its uses can have cost."""
    named = "accounts", desk.study.name, asked.name
    try:
        with desk.hold(pool) as book:
            counters = book.accounts.counters
            unanswered = len(book.pending)
    except Refused as refused:
        return OfficeFinding(*named, str(refused.fields.get("fault", "other")))
    fullest = int(counters.max(initial=0))
    last = max((place for place, use in enumerate(uses) if use.question == WRITE_OFF), default=-1)
    most = uses[last].charge if last >= 0 else 0
    most += sum(use.charge for use in uses[last + 1 :]) * pool.members
    fault = "sums" if len(counters) != pool.units or fullest > min(most, pool.cap) else None
    counts = len([use for use in uses if use.question != WRITE_OFF])
    figures = (("uses", counts), ("written_off", len(uses) - counts), ("unanswered", unanswered))
    return OfficeFinding(*named, fault, figures)


def _reservation(
    study: Study, session: Session, population: str, name: str, loss: PureDP, asked: str = ""
) -> OfficeFinding:
    known = session.ledger.reservation(population, name)
    fault = "missing" if known is None else None
    if known is not None and known.guarantee.epsilon < loss.epsilon:
        fault = "less"
    closed = known is not None and known.closed
    figures = (("epsilon", text(loss.epsilon)), ("population", population), ("closed", closed))
    return OfficeFinding("reservation", study.name, asked, fault, figures)


def _quota(desk: RegistryDesk, uses: list[LinkedUse]) -> OfficeFinding:
    """The quota counts at least what the ledger does: it is taken first, and a crash may lie between."""
    charged = sum(use.charge for use in uses)
    try:
        spent = desk.spent
    except (OSError, ValueError, TypeError):
        return OfficeFinding("quota", desk.study.name, fault="files")
    figures = (("spent", spent), ("charged", charged), ("requests", len(uses)))
    return OfficeFinding("quota", desk.study.name, fault="lower" if spent < charged else None, figures=figures)


def _index(study: Study) -> OfficeFinding:
    return _found("index", study.name, fault="files", look=lambda: RegistryIndex.load(study.folder))


def _key(study: Study, name: str) -> OfficeFinding:
    return _found(f"{name}-key", study.name, fault="files", look=lambda: study.secret(name))


def _notes(study: Study) -> OfficeFinding:
    requests = study.requests()

    def look() -> None:
        for request in requests:
            study.noted(request)

    found = _found("notes", study.name, fault="files", look=look)
    return OfficeFinding(found.what, found.study, fault=found.fault, figures=(("requests", len(requests)),))


def _found(what: str, study: str, asked: str = "", *, fault: str, look: Callable[[], object]) -> OfficeFinding:
    try:
        look()
    except (Refused, OSError, ValueError, KeyError, TypeError):
        return OfficeFinding(what, study, asked, fault)
    return OfficeFinding(what, study, asked)


def _read_pool_files(pool: AccountPool) -> None:
    for name in _ARRAYS:
        load_array(pool.folder / name)
    int(json.loads((pool.folder / "closing.json").read_text())["threshold"])
