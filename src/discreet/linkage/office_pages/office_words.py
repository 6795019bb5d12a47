"""What all offices' views have in common: their shape, how they write numbers, and the terms that were agreed on.

A view is sections of sentences, facts, tables and figures. The terminal and the page show the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.catalogue import Phrase, language, say, say_list
from discreet.guarantees import text
from discreet.ledger import Balance
from discreet.linkage.agreements.agreement import AgreementTerms
from discreet.linkage.agreements.agreement_schema import GROUPS
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.offices.office_status import OfficeStatus
from discreet.linkage.tariff import LinkedKind
from discreet.present import Drawn, tell_number

__all__ = [
    "SHORT",
    "OfficeReport",
    "OfficeSection",
    "OfficeTable",
    "tell_amount",
    "tell_budget",
    "tell_criteria",
    "tell_epsilon",
    "tell_fault",
    "tell_kind",
    "tell_moment",
    "tell_percent",
    "tell_share",
    "tell_terms",
]

SHORT: Final = 8
"""A request is told by so many digits."""


@dataclass(frozen=True)
class OfficeTable:
    """Columns are (heading, 'left' or 'right'). Tables of `words` wrap their cells."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    words: bool = False


@dataclass(frozen=True)
class OfficeSection:
    """A heading, and what stands below it."""

    heading: str
    sentences: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    tables: tuple[OfficeTable, ...] = ()
    figures: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class OfficeReport:
    """All sections. `notice` is what must be known before anything is read: who may see it."""

    title: str
    lead: str
    notice: str
    sections: tuple[OfficeSection, ...]
    language: str


_KINDS: Final = {
    LinkedKind.COUNT.value: Phrase("count"),
    LinkedKind.COUNT_AND_SIZE.value: Phrase("count and size"),
    LinkedKind.HISTOGRAM.value: Phrase("histogram"),
    GROUPS: Phrase("masked groups"),
}
_FAULTS: Final = {
    "pool": Phrase("what they are accounts of is lost: restore the office's folder, or close the study"),
    "key": Phrase("the key of their digests is lost"),
    "file": Phrase("the counters are lost or cut"),
    "older": Phrase("an older copy was put back: the ledger knows later requests"),
    "other": Phrase("they are not the ones that the ledger names"),
    "ledger": Phrase("an older ledger was put back, and requests may be missing in it"),
    "sums": Phrase("an account holds more than its requests can have cost"),
}


def tell_amount(value: float | Decimal, decimals: int | None = None) -> str:
    """A number as the language writes it; a decimal with all its digits."""
    if decimals is None:
        decimals = len(text(value).partition(".")[2]) if isinstance(value, Decimal) else 0
    return tell_number(value, language(), decimals=decimals)


def tell_epsilon(value: Decimal) -> str:
    """To four decimals, rounded up."""
    return "ε = " + tell_number(value, language(), decimals=4, toward=1)


def tell_percent(share: float | Fraction | Decimal, decimals: int = 1) -> str:
    value = Decimal(100) * (
        Decimal(share.numerator) / share.denominator if isinstance(share, Fraction) else Decimal(share)
    )
    return say("{percentage}%", percentage=tell_amount(value, decimals))


def tell_share(share: Decimal) -> str:
    """An exact share, with the digits it has."""
    return tell_percent(share, max(0, len(text(share).partition(".")[2]) - 2))


def tell_kind(kind: str) -> str:
    return str(_KINDS[kind])


def tell_moment(moment: str) -> str:
    return moment[:16].replace("T", " ")


def tell_fault(fault: str) -> str:
    """What is wrong with accounts."""
    return str(_FAULTS.get(fault, _FAULTS["other"]))


def tell_terms(status: OfficeStatus) -> OfficeSection:
    terms, offices = status.terms, status.agreement.offices
    tariff = terms.tariff
    titles = [item.title.text(language()) for item in terms.properties]
    until = terms.expires.isoformat()
    pairs = (
        (say("who asks"), offices[OfficeRole.RESEARCHER].name),
        (say("who draws"), offices[OfficeRole.HOLDER].name),
        (say("who counts"), offices[OfficeRole.REGISTRY].name),
        (say("what may be counted"), say("; ").join(titles)),
        (say("in which way"), say_list([tell_kind(kind) for kind in terms.kinds])),
        (say("scales of noise"), ", ".join(tell_amount(scale) for scale in terms.scales)),
        (say("whom accounts protect"), _unit(terms)),
        (
            say("an account holds"),
            say(
                "{cap:,} parts of 1/{parts:,}, together {epsilon}",
                cap=tariff.cap,
                parts=tariff.parts,
                epsilon=tell_epsilon(tariff.epsilon),
            ),
        ),
        (
            say("belief at most"),
            say("{belief} from {prior}", belief=tell_share(terms.belief), prior=tell_share(terms.prior)),
        ),
        (
            say("until"),
            say("{until}, and has ended", until=until) if status.ended else until,
        ),
        (say("quota"), _quota(status)),
    )
    return OfficeSection(say("What was agreed on"), pairs=pairs)


def _unit(terms: AgreementTerms) -> str:
    if terms.mapped:
        return say("households of at most {members} ids", members=terms.members)
    return say("persons") if terms.unit == "person" else say("households")


def _quota(status: OfficeStatus) -> str:
    spent, quota = status.spent, status.terms.quota
    left = max(0, quota - spent)
    return say("{spent:,} of {quota:,} parts spent, {left:,} left", spent=spent, quota=quota, left=left)


def tell_budget(balance: Balance, population: str) -> tuple[tuple[str, str], ...]:
    return (
        (
            say("budget of '{population}'", population=population),
            f"ε = {tell_amount(balance.epsilon_cap)}",
        ),
        (say("spent, with this study"), tell_epsilon(balance.epsilon_spent)),
        (say("left"), "ε = " + tell_number(balance.epsilon_remaining, language(), decimals=4, toward=-1)),
    )


def tell_criteria(where: str | None, groups: Sequence[tuple[str, str | None, str]]) -> str:
    """Whom a request draws, and at which rates."""
    lines = [] if where is None else [where]
    for name, condition, rate in groups:
        alone = len(groups) == 1 and condition is None
        named = "" if alone else say("{name}: {told}", name=name, told=condition or say("all"))
        share = "" if Decimal(rate) == 1 else tell_share(Decimal(rate))
        lines += [", ".join(item for item in (named, share) if item)] if named or share else []
    return say("; ").join(lines) or say("everybody")
