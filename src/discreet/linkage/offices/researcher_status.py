"""What a researcher sees of a study: prices before asking, what was asked and answered, how far belief may go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from discreet.guarantees import solve, text
from discreet.linkage.agreements.agreement import AgreementTerms, LinkedProperty
from discreet.linkage.offices.office_status import GroupFacts, OfficeStatus, common_facts, list_groups, read_groups
from discreet.linkage.offices.office_studies import Study
from discreet.linkage.tariff import LinkedKind
from discreet.noise import laplace_half_width

__all__ = ["LinkedPrice", "ResearcherStatus", "SentRequest", "look_at_researcher"]

_PRIORS: Final = tuple(map(Decimal, ("0.05", "0.25", "0.5", "0.75", "0.95")))
_LEVEL: Final = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class LinkedPrice:
    """What one kind of request costs at one scale, for these properties. `times`: how often one person can be counted.

    `half_width` is that of the 95% interval of each number, in people or weights.
    """

    kind: LinkedKind
    properties: tuple[str, ...]
    scale: int
    charge: int
    share: Fraction
    times: int
    half_width: Decimal

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "properties": list(self.properties),
            "scale": self.scale,
            "charge": self.charge,
            "share_of_account": float(self.share),
            "times": self.times,
            "half_width": text(self.half_width),
        }


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A researcher's request: what was asked, and the noisy numbers by group, once they were read."""

    request: str
    when: str
    property: str
    kind: LinkedKind
    scale: int
    charge: int
    where: str | None
    groups: GroupFacts
    half_width: Decimal
    answer: tuple[tuple[Decimal, ...], ...] | None

    def to_dict(self) -> dict[str, Any]:
        answer = None if self.answer is None else [[text(value) for value in group] for group in self.answer]
        return {
            "request": self.request,
            "asked": self.when,
            "property": self.property,
            "kind": self.kind.value,
            "scale": self.scale,
            "charge": self.charge,
            "where": self.where,
            "groups": list_groups(self.groups),
            "half_width": text(self.half_width),
            "answer": answer,
        }


@dataclass(frozen=True)
class ResearcherStatus(OfficeStatus):
    """Prices before asking, and what was asked and answered. `beliefs` are (prior, highest belief)."""

    prices: tuple[LinkedPrice, ...]
    requests: tuple[SentRequest, ...]
    beliefs: tuple[tuple[Decimal, Decimal], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            **OfficeStatus.to_dict(self),
            "prices": [price.to_dict() for price in self.prices],
            "requests": [request.to_dict() for request in self.requests],
            "beliefs": [{"prior": text(prior), "belief": text(belief)} for prior, belief in self.beliefs],
        }


def look_at_researcher(study: Study) -> ResearcherStatus:
    """A study as its researcher sees it."""
    terms = study.agreement.terms
    epsilon = terms.tariff.epsilon
    sent = [_sent(terms, request, study.noted(request) or {}) for request in study.requests()]
    return ResearcherStatus(
        **common_facts(study, study.charged),
        prices=tuple(_prices(terms)),
        requests=tuple(sorted(sent, key=lambda request: request.when)),
        beliefs=tuple((prior, solve(epsilon=epsilon, prior=prior).belief) for prior in _PRIORS),
    )


def _prices(terms: AgreementTerms) -> Iterator[LinkedPrice]:
    """Kind by kind; properties that cost the same stand together."""
    for kind in LinkedKind:
        found: dict[tuple[tuple[int, int, Decimal], ...], list[str]] = {}
        for asked in terms.properties:
            if kind in terms.kinds and (kind is LinkedKind.HISTOGRAM) != asked.single:
                lines = [(scale, terms.charge(asked, kind, scale), _half_width(asked, scale)) for scale in terms.scales]
                found.setdefault(tuple(lines), []).append(asked.name)
        cap = terms.tariff.cap
        for priced, names in found.items():
            for scale, charge, wide in priced:
                yield LinkedPrice(kind, tuple(names), scale, charge, Fraction(charge, cap), cap // charge, wide)


def _half_width(asked: LinkedProperty, scale: int) -> Decimal:
    return laplace_half_width(scale=Fraction(scale * asked.largest), level=_LEVEL) * _step(asked)


def _step(asked: LinkedProperty) -> Decimal:
    return Decimal(1) if asked.weight is None else asked.weight.step


def _sent(terms: AgreementTerms, request: str, noted: dict[str, Any]) -> SentRequest:
    asked = terms.property(noted["property"])
    answer = noted.get("answer")
    return SentRequest(
        request,
        noted["asked"],
        asked.name,
        LinkedKind(noted["kind"]),
        noted["scale"],
        noted["charge"],
        noted["where"],
        read_groups(noted),
        _half_width(asked, noted["scale"]),
        None if answer is None else tuple(tuple(value * _step(asked) for value in group) for group in answer),
    )
