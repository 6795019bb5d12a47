"""What an office may see of a study, as facts; `office_pages` says them. This is what all three see.

What depends on rows or samples (how many were drawn, how full accounts are) is a custodian's view, and logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.guarantees import text
from discreet.ledger import Balance
from discreet.linkage.agreements.agreement import Agreement, AgreementTerms
from discreet.linkage.envelopes import OfficeRole
from discreet.linkage.offices.office_studies import Study, moment

__all__ = ["GroupFacts", "OfficeStatus", "common_facts", "list_budget", "list_groups", "read_groups"]

GroupFacts = tuple[tuple[str, str | None, str], ...]
"""For each group of a request its name, condition and rate."""


@dataclass(frozen=True)
class OfficeStatus:
    """What all three see: the agreement, whether it has ended, and how much of the quota is used."""

    agreement: Agreement
    ended: bool
    spent: int

    @property
    def terms(self) -> AgreementTerms:
        return self.agreement.terms

    def to_dict(self) -> dict[str, Any]:
        terms = self.terms
        return {
            "study": terms.study,
            "agreement": self.agreement.digest,
            "offices": {role.value: self.agreement.offices[role].name for role in OfficeRole},
            "expires": terms.expires.isoformat(),
            "ended": self.ended,
            "epsilon": text(terms.tariff.epsilon),
            "account": terms.tariff.cap,
            "parts": terms.tariff.parts,
            "quota": {"parts": terms.quota, "spent": self.spent, "left": max(0, terms.quota - self.spent)},
        }


def common_facts(study: Study, spent: int) -> dict[str, Any]:
    return {"agreement": study.agreement, "ended": moment() >= study.agreement.terms.ends, "spent": spent}


def read_groups(noted: dict[str, Any]) -> GroupFacts:
    return tuple((group["name"], group["where"], group["rate"]) for group in noted["groups"])


def list_groups(groups: GroupFacts) -> list[dict[str, str | None]]:
    return [{"name": name, "where": where, "rate": rate} for name, where, rate in groups]


def list_budget(balance: Balance) -> dict[str, str]:
    return {
        "epsilon": text(balance.epsilon_cap),
        "spent": text(balance.epsilon_spent),
        "left": text(balance.epsilon_remaining),
    }
