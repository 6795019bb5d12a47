"""What all offices' views have in common: their shape, one language at a time, and the terms that were agreed on.

A view is sections of sentences, facts, tables and figures. The terminal and the page show the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.guarantees import text
from discreet.ledger import Balance
from discreet.linkage.agreements.agreement import AgreementTerms
from discreet.linkage.agreements.agreement_schema import GROUPS
from discreet.linkage.envelopes import Role
from discreet.linkage.offices.office_status import OfficeStatus
from discreet.linkage.tariff import LinkedKind
from discreet.present import Drawn, tell_number

__all__ = [
    "SHORT",
    "OfficeReport",
    "OfficeSection",
    "OfficeTable",
    "OfficeWords",
    "tell_budget",
    "tell_criteria",
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


class OfficeWords:
    """One language: how it says what all three pages say, and writes numbers."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.apart, self.colon = self("; ", " ; "), self(": ", " : ")
        self.lead_researcher = self(
            "What may be asked, what it costs, and what was answered.",
            "Ce qui peut être demandé, ce que cela coûte et ce qui a été répondu.",
        )
        self.lead_holder = self(
            "What is reserved for your records, what was asked, and exactly what leaves this office.",
            "Ce qui est réservé pour vos enregistrements, ce qui a été demandé et exactement ce qui quitte ce bureau.",
        )
        self.lead_registry = self(
            "What is reserved, what was counted, and how full the accounts are. Criteria are not known here.",
            "Ce qui est réservé, ce qui a été compté et l'état des comptes. Les critères ne sont pas connus ici.",
        )
        self.custodian = self(
            "Custodian's view: it depends on samples. Not for release. This view is logged.",
            "Vue du dépositaire : elle dépend des échantillons. Ne pas diffuser. Cette vue est consignée.",
        )

    def __call__(self, en: str, fr: str) -> str:
        return fr if self.language == "fr" else en

    def number(self, value: float | Decimal, decimals: int | None = None) -> str:
        if decimals is None:
            decimals = len(text(value).partition(".")[2]) if isinstance(value, Decimal) else 0
        return tell_number(value, self.language, decimals=decimals)

    def decimal(self, exact: str) -> str:
        """A decimal as the language writes it, all of it."""
        return self.number(Decimal(exact))

    def epsilon(self, value: Decimal) -> str:
        """To four decimals, rounded up."""
        return "ε = " + tell_number(value, self.language, decimals=4, toward=1)

    def left(self, value: Decimal) -> str:
        return "ε = " + tell_number(value, self.language, decimals=4, toward=-1)

    def percent(self, share: float | Fraction | Decimal, decimals: int = 1) -> str:
        value = Decimal(100) * (
            Decimal(share.numerator) / share.denominator if isinstance(share, Fraction) else Decimal(share)
        )
        return tell_number(value, self.language, decimals=decimals) + self("%", "\u00a0%")

    def share(self, share: Decimal) -> str:
        """An exact share, with the digits it has."""
        return self.percent(share, max(0, len(text(share).partition(".")[2]) - 2))

    def role(self, role: Role) -> str:
        names = {
            Role.RESEARCHER: ("researcher", "chercheur"),
            Role.HOLDER: ("holder", "détenteur"),
            Role.REGISTRY: ("registry", "registre"),
        }
        return self(*names[role])

    def kind(self, kind: str) -> str:
        names = {
            LinkedKind.COUNT.value: ("count", "compte"),
            LinkedKind.COUNT_AND_SIZE.value: ("count and size", "compte et taille"),
            LinkedKind.HISTOGRAM.value: ("histogram", "histogramme"),
            GROUPS: ("masked groups", "groupes masqués"),
        }
        return self(*names[kind])

    def when(self, moment: str) -> str:
        return moment[:16].replace("T", " ")

    def list(self, items: Sequence[str]) -> str:
        if len(items) < 2:
            return "".join(items)
        return ", ".join(items[:-1]) + self(" and ", " et ") + items[-1]

    def fault(self, fault: str) -> str:
        """What is wrong with accounts."""
        words = {
            "pool": (
                "what they are accounts of is lost: restore the office's folder, or close the study",
                "ce dont ils sont les comptes est perdu : restaurez le dossier du bureau, ou fermez l'étude",
            ),
            "key": ("the key of their digests is lost", "la clé de leurs empreintes est perdue"),
            "file": ("the counters are lost or cut", "les compteurs sont perdus ou tronqués"),
            "older": (
                "an older copy was put back: the ledger knows later requests",
                "une copie plus ancienne a été remise : le grand livre connaît des demandes plus récentes",
            ),
            "other": (
                "they are not the ones that the ledger names",
                "ce ne sont pas ceux que nomme le grand livre",
            ),
            "ledger": (
                "an older ledger was put back, and requests may be missing in it",
                "un grand livre plus ancien a été remis, et des demandes peuvent y manquer",
            ),
            "sums": (
                "an account holds more than its requests can have cost",
                "un compte contient plus que ses demandes n'ont pu coûter",
            ),
        }
        return self(*words.get(fault, words["other"]))


def tell_terms(words: OfficeWords, status: OfficeStatus) -> OfficeSection:
    terms, offices = status.terms, status.agreement.offices
    tariff = terms.tariff
    titles = [item.title.text(words.language) for item in terms.properties]
    until = terms.expires.isoformat()
    pairs = (
        (words("who asks", "qui demande"), offices[Role.RESEARCHER].name),
        (words("who draws", "qui tire"), offices[Role.HOLDER].name),
        (words("who counts", "qui compte"), offices[Role.REGISTRY].name),
        (words("what may be counted", "ce qui peut être compté"), words.apart.join(titles)),
        (words("in which way", "de quelle façon"), words.list([words.kind(kind) for kind in terms.kinds])),
        (words("scales of noise", "échelles du bruit"), ", ".join(words.number(scale) for scale in terms.scales)),
        (words("whom accounts protect", "qui les comptes protègent"), _unit(words, terms)),
        (
            words("an account holds", "un compte contient"),
            words(
                f"{words.number(tariff.cap)} parts of ε/{words.number(tariff.parts)}, together "
                f"{words.epsilon(tariff.epsilon)}",
                f"{words.number(tariff.cap)} parts de ε/{words.number(tariff.parts)}, ensemble "
                f"{words.epsilon(tariff.epsilon)}",
            ).replace("ε/", "1/"),
        ),
        (
            words("belief at most", "conviction au plus"),
            words(
                f"{words.share(terms.belief)} from {words.share(terms.prior)}",
                f"{words.share(terms.belief)} à partir de {words.share(terms.prior)}",
            ),
        ),
        (
            words("until", "jusqu'au"),
            words(f"{until}, and has ended", f"{until}, et a pris fin") if status.ended else until,
        ),
        (words("quota", "quota"), _quota(words, status)),
    )
    return OfficeSection(words("What was agreed on", "Ce qui a été convenu"), pairs=pairs)


def _unit(words: OfficeWords, terms: AgreementTerms) -> str:
    if terms.mapped:
        return words(
            f"households of at most {terms.members} ids", f"les ménages d'au plus {terms.members} identifiants"
        )
    return words("persons", "les personnes") if terms.unit == "person" else words("households", "les ménages")


def _quota(words: OfficeWords, status: OfficeStatus) -> str:
    spent, quota = words.number(status.spent), words.number(status.terms.quota)
    left = words.number(max(0, status.terms.quota - status.spent))
    return words(f"{spent} of {quota} parts spent, {left} left", f"{spent} parts sur {quota} dépensées, reste {left}")


def tell_budget(words: OfficeWords, balance: Balance, population: str) -> tuple[tuple[str, str], ...]:
    return (
        (
            words(f"budget of '{population}'", f"budget de « {population} »"),
            f"ε = {words.number(balance.epsilon_cap)}",
        ),
        (words("spent, with this study", "dépensé, avec cette étude"), words.epsilon(balance.epsilon_spent)),
        (words("left", "reste"), words.left(balance.epsilon_remaining)),
    )


def tell_criteria(words: OfficeWords, where: str | None, groups: Sequence[tuple[str, str | None, str]]) -> str:
    """Whom a request draws, and at which rates."""
    lines = [] if where is None else [where]
    for name, condition, rate in groups:
        named = (
            "" if len(groups) == 1 and condition is None else f"{name}{words.colon}{condition or words('all', 'tous')}"
        )
        share = "" if Decimal(rate) == 1 else words.share(Decimal(rate))
        lines += [", ".join(item for item in (named, share) if item)] if named or share else []
    return words.apart.join(lines) or words("everybody", "tout le monde")
