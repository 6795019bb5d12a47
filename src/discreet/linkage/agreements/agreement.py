"""An agreement: its terms and its three offices. Its SHA-256 is the study's name in every envelope."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from discreet.cards import CardFault
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, UnknownName
from discreet.guarantees import text
from discreet.ledger import canonical_json
from discreet.linkage.agreements.agreement_schema import GROUPS, MOST_ANSWERED
from discreet.linkage.agreements.office_keys import PublicOffice
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.tariff import LinkedKind, Tariff
from discreet.results import Labels

__all__ = ["Agreement", "AgreementTerms", "IdType", "LinkedProperty", "LinkedSide", "LinkedWeight", "PropertyValue"]

AGREEMENT_FORMAT: Final = "discreet-linked-agreement-1"
_LEAST_CLOSING: Final = 40
"""Share × people × epsilon of the closing rule. It closes by its noise alone once in exp(a quarter of it) counts."""


class IdType(StrEnum):
    """How ids are compared."""

    INTEGER = "integer"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class LinkedSide:
    """The dataset of an office, and its column of ids."""

    dataset: str
    id: str


@dataclass(frozen=True, slots=True)
class LinkedWeight:
    """The registry's weight of a property: its column, where it is cut, and the grid it is rounded to."""

    column: str
    most: Decimal
    step: Decimal

    @property
    def most_steps(self) -> int:
        return int(self.most / self.step)


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """One value: whom it is true of."""

    name: str
    title: Labels
    where: str


@dataclass(frozen=True, slots=True)
class LinkedProperty:
    """A property: one condition, or several values of which a person has at most `answers`."""

    name: str
    title: Labels
    values: tuple[PropertyValue, ...]
    answers: int = 1
    weight: LinkedWeight | None = None

    @property
    def single(self) -> bool:
        """Whether it is true or not, and no histogram."""
        return len(self.values) == 1

    @property
    def largest(self) -> int:
        """How much one person adds to a cell at most, in whole steps."""
        return 1 if self.weight is None else self.weight.most_steps

    def to_content(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "name": self.name,
            "title": _label(self.title),
            "answers": self.answers,
            "values": [
                {"name": value.name, "title": _label(value.title), "where": value.where} for value in self.values
            ],
        }
        if self.weight is not None:
            weight = self.weight
            content["weight"] = {"column": weight.column, "most": text(weight.most), "step": text(weight.step)}
        return content


@dataclass(frozen=True)
class AgreementTerms:
    """All that the three agree on beside who they are. Nothing in it may come from anybody's rows."""

    study: str
    title: Labels
    holder: LinkedSide
    registry: LinkedSide
    ids: IdType
    unit: str
    map_digest: str | None
    members: int
    people: int
    belief: Decimal
    prior: Decimal
    scales: tuple[int, ...]
    kinds: tuple[str, ...]
    properties: tuple[LinkedProperty, ...]
    quota: int
    largest_sample: int
    closing_share: Decimal
    closing_epsilon: Decimal
    expires: date
    linked_share: Decimal | None = None
    slots: bool = True

    def __post_init__(self) -> None:
        if problems := list(_problems(self)):
            raise CardFault(problems)

    @cached_property
    def tariff(self) -> Tariff:
        return Tariff.of(scales=self.scales, prior=self.prior, belief=self.belief)

    @property
    def mapped(self) -> bool:
        """Whether a public map says which ids are one unit."""
        return self.map_digest is not None

    @property
    def ends(self) -> datetime:
        """The moment from which it holds no more."""
        return datetime.combine(self.expires + timedelta(days=1), time(), tzinfo=UTC)

    def property(self, name: str) -> LinkedProperty:
        """A property by its name, or UnknownName with the nearest one."""
        for found in self.properties:
            if found.name == name:
                return found
        raise UnknownName(
            sort=Phrase("Property"),
            name=name,
            where=say("the agreement"),
            known=[item.name for item in self.properties],
        )

    def charge(self, asked: LinkedProperty, kind: LinkedKind, scale: int) -> int:
        """What one member of a unit pays for a request, or a refusal of what was not agreed on."""
        if kind not in self.kinds:
            kinds = ", ".join(item for item in self.kinds if item != GROUPS)
            raise ParameterInvalid(
                parameter="kind", rule=say("must be one that was agreed on: {kinds}", kinds=kinds), given=kind
            )
        if (kind is LinkedKind.HISTOGRAM) == asked.single:
            rule = (
                say("must have values for a histogram")
                if asked.single
                else say("has several values: ask for a histogram")
            )
            raise ParameterInvalid(parameter="property", rule=rule, given=asked.name)
        return self.tariff.charge(kind, scale, cells=len(asked.values), answers=asked.answers)

    def cells(self, asked: LinkedProperty, kind: LinkedKind) -> int:
        """How many cells an answer has for each group.

        With the size they are: those with the property, those without, and ids that the registry does not have.
        """
        if kind is LinkedKind.COUNT_AND_SIZE:
            return 3 if self.mapped else 2
        return len(asked.values)

    def to_content(self) -> dict[str, Any]:
        """For JSON: whole numbers and text only."""
        return {
            "study": self.study,
            "title": _label(self.title),
            "holder": {"dataset": self.holder.dataset, "id": self.holder.id},
            "registry": {"dataset": self.registry.dataset, "id": self.registry.id},
            "ids": self.ids.value,
            "unit": {"is": self.unit, "map": self.map_digest, "members": self.members},
            "people": self.people,
            "policy": {"belief": text(self.belief), "prior": text(self.prior)},
            "scales": list(self.scales),
            "kinds": list(self.kinds),
            "properties": [item.to_content() for item in self.properties],
            "quota": self.quota,
            "largest_sample": self.largest_sample,
            "closing": {"share": text(self.closing_share), "epsilon": text(self.closing_epsilon)},
            "expires": self.expires.isoformat(),
            "linked_share": None if self.linked_share is None else text(self.linked_share),
            "slots": self.slots,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> AgreementTerms:
        """What `to_content` gave. ValueError, KeyError, TypeError, CardFault or ArithmeticError for anything else."""
        found = cls(
            study=content["study"],
            title=Labels(**content["title"]),
            holder=LinkedSide(**content["holder"]),
            registry=LinkedSide(**content["registry"]),
            ids=IdType(content["ids"]),
            unit=content["unit"]["is"],
            map_digest=content["unit"]["map"],
            members=content["unit"]["members"],
            people=content["people"],
            belief=Decimal(content["policy"]["belief"]),
            prior=Decimal(content["policy"]["prior"]),
            scales=tuple(content["scales"]),
            kinds=tuple(content["kinds"]),
            properties=tuple(_property(item) for item in content["properties"]),
            quota=content["quota"],
            largest_sample=content["largest_sample"],
            closing_share=Decimal(content["closing"]["share"]),
            closing_epsilon=Decimal(content["closing"]["epsilon"]),
            expires=date.fromisoformat(content["expires"]),
            linked_share=None if content["linked_share"] is None else Decimal(content["linked_share"]),
            slots=content["slots"],
        )
        if found.to_content() != content:
            raise ValueError("an agreement is written in one way")
        return found


@dataclass(frozen=True)
class Agreement:
    """Terms and offices together. `digest` names it; signatures are over its bytes."""

    terms: AgreementTerms
    offices: Mapping[OfficeRole, PublicOffice]

    def to_content(self) -> dict[str, Any]:
        return {
            "format": AGREEMENT_FORMAT,
            "terms": self.terms.to_content(),
            "offices": {role.value: self.offices[role].to_content() for role in OfficeRole},
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Agreement:
        """ValueError and its like for what is none."""
        if content.keys() != {"format", "terms", "offices"} or content["format"] != AGREEMENT_FORMAT:
            raise ValueError("not an agreement")
        offices = {OfficeRole(role): PublicOffice.from_content(item) for role, item in content["offices"].items()}
        if offices.keys() != set(OfficeRole) or any(office.role is not role for role, office in offices.items()):
            raise ValueError("an agreement has one office of each role")
        return cls(AgreementTerms.from_content(content["terms"]), offices)

    @cached_property
    def data(self) -> bytes:
        """Its canonical bytes."""
        return canonical_json(self.to_content()).encode("ascii")

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def short(self) -> str:
        """What folders and reservations are called by."""
        return self.digest[:16]


def _property(content: Mapping[str, Any]) -> LinkedProperty:
    weight = content.get("weight")
    return LinkedProperty(
        content["name"],
        Labels(**content["title"]),
        tuple(PropertyValue(item["name"], Labels(**item["title"]), item["where"]) for item in content["values"]),
        content["answers"],
        None if weight is None else LinkedWeight(weight["column"], Decimal(weight["most"]), Decimal(weight["step"])),
    )


def _problems(terms: AgreementTerms) -> Iterator[tuple[str, str]]:
    """What is wrong with terms beyond the shape of each key."""
    yield from _price_problems(terms)
    for item in terms.properties:
        where = f"properties.{item.name}"
        if len({value.name for value in item.values}) < len(item.values):
            yield where, say("values of property '{name}' have different names", name=item.name)
        if item.answers > len(item.values):
            yield (
                f"{where}.answers",
                say("property '{name}' has {count} values, fewer than answers", name=item.name, count=len(item.values)),
            )
        weight = item.weight
        if weight is not None and (weight.most % weight.step or not 1 <= weight.most_steps <= 10**6):
            yield (
                f"{where}.weight",
                say("the largest weight of property '{name}' is 1 to 1,000,000 whole steps", name=item.name),
            )
        if len(item.values) > MOST_ANSWERED:
            yield (
                where,
                say("property '{name}' has more than {most} values", name=item.name, most=MOST_ANSWERED),
            )
    if terms.unit not in ("person", "household"):
        yield "unit", say("the unit is a person or a household")
    if terms.largest_sample < terms.people * terms.members:
        yield "largest_sample", say("a sample may hold every id that there can be: nothing may depend on its size")
    if terms.closing_share * terms.people * terms.closing_epsilon < _LEAST_CLOSING:
        rule = say(
            "with so few people the closing rule would close by its noise alone: its share × people × its epsilon is "
            "at least {least}",
            least=_LEAST_CLOSING,
        )
        yield "closing", rule
    if terms.expires == date.max:
        yield "expires", say("expires '{day}' has no day after it", day=date.max)


def _price_problems(terms: AgreementTerms) -> Iterator[tuple[str, str]]:
    if not any(kind != GROUPS for kind in terms.kinds):
        yield "kinds", say("at least one kind beside groups may be asked")
    if terms.belief <= terms.prior:
        yield "policy", say("belief must be above the prior")
        return
    try:
        tariff = terms.tariff
    except ParameterInvalid as error:
        yield "scales", error.message
        return
    if tariff.charge(LinkedKind.COUNT, max(terms.scales)) > tariff.cap:
        yield "scales", say("at the largest scale an account must have room for one count at least")


def _label(labels: Labels) -> dict[str, str]:
    return {"en": labels.en, "fr": labels.fr}
