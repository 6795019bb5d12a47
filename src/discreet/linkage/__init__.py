"""Linked counts between agencies: a holder draws a sample, a registry counts a property, a researcher gets the answer.

`agreements` is what the three sign, `offices` what each of them does; an account for every person bounds what all
answers together tell. The core imports nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.linkage.accounts import Accounts
    from discreet.linkage.agreements.agreement import (
        Agreement,
        AgreementTerms,
        IdType,
        LinkedProperty,
        LinkedSide,
        LinkedWeight,
        PropertyValue,
    )
    from discreet.linkage.agreements.agreement_reader import parse_terms, read_terms
    from discreet.linkage.agreements.agreement_schema import AGREEMENT
    from discreet.linkage.agreements.office_keys import (
        Office,
        PublicOffice,
        create_office,
        open_office,
        read_public_office,
    )
    from discreet.linkage.agreements.signed_agreement import SignedAgreement, read_agreement, write_agreement
    from discreet.linkage.attack_audit import AttackAudit, AuditedAttack, audit_attack
    from discreet.linkage.envelopes import EnvelopeHeader, EnvelopeKind, OfficeRole, open_envelope, seal_envelope
    from discreet.linkage.exhaustion import Exhaustion, forecast_exhaustion
    from discreet.linkage.linked_release import publish_answer
    from discreet.linkage.office_network.couriers import fetch_answer, send_envelope
    from discreet.linkage.office_network.mailbox import Mailbox
    from discreet.linkage.office_network.office_posts import draw_waiting, received_answer
    from discreet.linkage.offices.envelope_contents import (
        AskedGroup,
        CountRequest,
        DrawnSample,
        GroupLabels,
        NoisyAnswer,
        Ticket,
    )
    from discreet.linkage.offices.holder_desk import DrawOutcome, HolderDesk, PendingDraw, open_holder
    from discreet.linkage.offices.office_studies import Study, find_study, list_studies
    from discreet.linkage.offices.registry_desk import CountOutcome, RegistryDesk, open_registry
    from discreet.linkage.offices.researcher_desk import AskedCount, ReadAnswer, ResearcherDesk, open_researcher
    from discreet.linkage.repeated_requests import DifferencingAttack, attack_once_more
    from discreet.linkage.tariff import LinkedKind, Tariff
    from discreet.linkage.tradeoff import Tradeoff, weigh
    from discreet.linkage.tradeoff_figures import draw_tradeoff
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "AGREEMENT",
    "Accounts",
    "Agreement",
    "AgreementTerms",
    "AskedCount",
    "AskedGroup",
    "AttackAudit",
    "AuditedAttack",
    "CountOutcome",
    "CountRequest",
    "DifferencingAttack",
    "DrawOutcome",
    "DrawnSample",
    "EnvelopeHeader",
    "EnvelopeKind",
    "Exhaustion",
    "GroupLabels",
    "HolderDesk",
    "IdType",
    "LinkedKind",
    "LinkedProperty",
    "LinkedSide",
    "LinkedWeight",
    "Mailbox",
    "NoisyAnswer",
    "Office",
    "OfficeRole",
    "PendingDraw",
    "PropertyValue",
    "PublicOffice",
    "ReadAnswer",
    "RegistryDesk",
    "ResearcherDesk",
    "SignedAgreement",
    "Study",
    "Tariff",
    "Ticket",
    "Tradeoff",
    "attack_once_more",
    "audit_attack",
    "create_office",
    "draw_tradeoff",
    "draw_waiting",
    "fetch_answer",
    "find_study",
    "forecast_exhaustion",
    "list_studies",
    "open_envelope",
    "open_holder",
    "open_office",
    "open_registry",
    "open_researcher",
    "parse_terms",
    "publish_answer",
    "read_agreement",
    "read_public_office",
    "read_terms",
    "received_answer",
    "seal_envelope",
    "send_envelope",
    "weigh",
    "write_agreement",
]
