"""The researcher: asks the holder for a sample and the registry for a count of it, and reads the noisy answer."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused, RequestConflict
from discreet.guarantees import text
from discreet.linkage.agreements.agreement import LinkedProperty
from discreet.linkage.agreements.agreement_schema import GROUPS, MOST_ANSWERED
from discreet.linkage.agreements.office_keys import Office
from discreet.linkage.agreements.signed_agreement import SignedAgreement
from discreet.linkage.envelopes import EnvelopeKind, refuse_envelope
from discreet.linkage.offices.envelope_contents import (
    LONGEST_NAME,
    MOST_GROUPS,
    AskedGroup,
    CountRequest,
    GroupLabels,
    NoisyAnswer,
    Ticket,
)
from discreet.linkage.offices.office_studies import Study, create_study, moment
from discreet.linkage.tariff import LinkedKind
from discreet.sql import parse_condition

__all__ = ["AskedCount", "ReadAnswer", "ResearcherDesk", "open_researcher"]


@dataclass(frozen=True, slots=True)
class AskedCount:
    """A request ready to be sent: its envelope, what it costs each member of a unit, and its noise."""

    request: str
    envelope: bytes
    charge: int
    scale: int
    cells: int


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer with what was asked: cells stand by the groups of the request, in its order, each drawn at its rate."""

    answer: NoisyAnswer
    asked: LinkedProperty
    groups: tuple[str, ...]
    rates: tuple[Decimal, ...]
    where: str | None


def open_researcher(office: Office, signed: SignedAgreement) -> Study:
    """Take part in a study: nothing is reserved, because a researcher holds no rows."""
    with create_study(office, signed, None) as study:
        pass
    return study.settled


class ResearcherDesk:
    """What a researcher does in one study."""

    def __init__(self, study: Study) -> None:
        self.study = study

    def ask(
        self,
        *,
        property: str,
        kind: LinkedKind,
        scale: int,
        where: str | None,
        groups: Sequence[AskedGroup] = (),
        rate: Decimal = Decimal(1),
        now: datetime | None = None,
    ) -> AskedCount:
        """A request for a count of the people who meet criteria, in groups where some are named."""
        self.study.require_current(now)
        terms = self.study.agreement.terms
        asked = terms.property(property)
        charge = terms.charge(asked, kind, scale)
        if groups and GROUPS not in terms.kinds:
            raise ParameterInvalid(
                parameter="group", rule=say("must be among the kinds agreed on"), given=groups[0].name
            )
        if groups and (len(groups) > MOST_GROUPS or len({group.name for group in groups}) < len(groups)):
            raise ParameterInvalid(
                parameter="group",
                rule=say("must be at most {most}, with different names", most=MOST_GROUPS),
                given="",
            )
        wanted = tuple(groups) or (AskedGroup("all", None, rate),)
        cells = terms.cells(asked, kind) * len(wanted)
        if cells > MOST_ANSWERED:
            raise ParameterInvalid(
                parameter="group",
                rule=say("must have at most {most} cells in all", most=MOST_ANSWERED),
                given=str(cells),
            )
        for condition in (where, *(group.where for group in wanted)):
            if condition is not None:
                parse_condition(condition)
        for group in wanted:
            _check_group(group)
        self._check_quota(charge)
        request = secrets.token_hex(16)
        ticket = Ticket(request, property, kind, scale, len(wanted))
        sealed = self.study.seal(EnvelopeKind.TICKET, ticket.to_bytes(), request=request, now=now)
        body = CountRequest(request, where, wanted, scale, charge, sealed)
        envelope = self.study.seal(EnvelopeKind.REQUEST, body.to_bytes(), request=request, now=now)
        self.study.note(
            request,
            {
                "asked": (now or moment()).isoformat(timespec="seconds"),
                "property": property,
                "kind": kind.value,
                "scale": scale,
                "charge": charge,
                "where": where,
                "groups": [{"name": item.name, "where": item.where, "rate": text(item.rate)} for item in wanted],
            },
        )
        return AskedCount(request, envelope, charge, scale, cells)

    def read(self, answer: bytes, labels: bytes | None = None, *, now: datetime | None = None) -> ReadAnswer:
        """The answer to one of this office's requests; with several groups, with the holder's labels."""
        opened = self.study.unseal(answer, EnvelopeKind.ANSWER, now=now)
        found = NoisyAnswer.from_bytes(opened.body)
        noted = self.study.noted(opened.header.request)
        if noted is None or found.request != opened.header.request or not _fits(found, noted):
            raise refuse_envelope()
        terms = self.study.agreement.terms
        asked = terms.property(found.property)
        names = tuple(group["name"] for group in noted["groups"])
        if found.cells is None:
            raise Refused(
                say("the registry has closed the study, and the request was not counted. Nothing was charged for it.")
            )
        width = terms.cells(asked, found.kind)
        if len(found.cells) != len(names) or any(len(group) != width for group in found.cells):
            raise refuse_envelope()
        order = self._order(labels, noted, found.request, now)
        cells = tuple(found.cells[order.index(place)] for place in range(len(names)))
        kept = {"answer": [list(group) for group in cells], "receipt": found.receipt}
        if any(noted.get(part, value) != value for part, value in kept.items()):
            raise RequestConflict(
                say("another answer came to this request before, and one of them is not the registry's.")
            )
        self.study.note(found.request, {**noted, **kept})
        placed = NoisyAnswer(found.request, found.property, found.kind, found.scale, found.charge, cells, found.receipt)
        return ReadAnswer(placed, asked, names, _rates(noted), noted["where"])

    def kept(self, request: str) -> ReadAnswer | None:
        """An answer that was read before."""
        noted = self.study.noted(request)
        if noted is None or "answer" not in noted:
            return None
        answer = NoisyAnswer(
            request,
            noted["property"],
            LinkedKind(noted["kind"]),
            noted["scale"],
            noted["charge"],
            tuple(tuple(group) for group in noted["answer"]),
            noted["receipt"],
        )
        names = tuple(group["name"] for group in noted["groups"])
        asked = self.study.agreement.terms.property(noted["property"])
        return ReadAnswer(answer, asked, names, _rates(noted), noted["where"])

    def _order(self, labels: bytes | None, noted: dict[str, Any], request: str, now: datetime | None) -> list[int]:
        """For each group of the registry which of the request's it is."""
        count = len(noted["groups"])
        if count == 1:
            return [0]
        if labels is None and "order" not in noted:
            raise Refused(
                say(
                    "the answer has groups, and only the holder can say which is which. Give its labels.env with "
                    "--labels."
                )
            )
        if labels is None:
            return list(noted["order"])
        opened = self.study.unseal(labels, EnvelopeKind.LABELS, now=now)
        found = GroupLabels.from_bytes(opened.body)
        if found.request != request or opened.header.request != request or len(found.order) != count:
            raise refuse_envelope()
        noted["order"] = list(found.order)
        return list(found.order)

    def _check_quota(self, charge: int) -> None:
        """Before sending: the registry refuses it too."""
        spent, quota = self.study.charged, self.study.agreement.terms.quota
        if spent + charge > quota:
            raise Refused(
                say(
                    "the study's quota is {quota:,} parts; {spent:,} were asked for, and this request costs "
                    "{charge:,} more. Nothing was asked.",
                    quota=quota,
                    spent=spent,
                    charge=charge,
                )
            )


def _check_group(group: AskedGroup) -> None:
    """What the holder would refuse."""
    if not 1 <= len(group.name) <= LONGEST_NAME or not group.name.isprintable():
        rule = say("must have a printable name of 1 to {longest} characters", longest=LONGEST_NAME)
        raise ParameterInvalid(parameter="group", rule=rule, given=ascii(group.name[:40]))
    rate = group.rate
    if not rate.is_finite() or not 0 < rate <= 1 or rate != rate.quantize(Decimal("1e-9")):
        rule = say("must be above 0 and at most 1, in at most 9 decimals")
        raise ParameterInvalid(parameter="rate", rule=rule, given=str(rate))


def _rates(noted: dict[str, Any]) -> tuple[Decimal, ...]:
    return tuple(Decimal(group["rate"]) for group in noted["groups"])


def _fits(found: NoisyAnswer, noted: dict[str, Any]) -> bool:
    """Whether an answer is to what was asked: an altered scale or property is found."""
    asked = noted["property"], noted["kind"], noted["scale"], noted["charge"]
    return (found.property, found.kind.value, found.scale, found.charge) == asked
