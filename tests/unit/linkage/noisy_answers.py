"""Answers made by hand, with an agreement whose offices have no keys: what tests of reading begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from discreet.linkage import (
    Agreement,
    LinkedKind,
    LinkedProperty,
    NoisyAnswer,
    OfficeRole,
    PublicOffice,
    ReadAnswer,
    parse_terms,
)
from tests.unit.linkage.three_offices import terms_text

__all__ = ["RECEIPT", "REQUEST", "make_agreement", "make_answer"]

REQUEST = "0123456789abcdef" * 2
RECEIPT = "c0ffee00" * 8


def make_agreement(*properties: LinkedProperty, **changed: str) -> Agreement:
    """The terms of the three offices, with other properties, or some lines in place of others."""
    terms = parse_terms(terms_text(**changed), file="agreement.yaml", folder=Path())
    terms = replace(terms, properties=properties or terms.properties)
    return Agreement(terms, {role: PublicOffice(role, role.value, "0" * 64, "1" * 64) for role in OfficeRole})


def make_answer(
    agreement: Agreement,
    cells: Sequence[Sequence[int]],
    *,
    kind: LinkedKind = LinkedKind.COUNT_AND_SIZE,
    property: str = "francophone",
    scale: int = 30,
    groups: Sequence[str] = ("all",),
    rates: Sequence[str] = (),
) -> ReadAnswer:
    """What a researcher reads under these cells."""
    asked = agreement.terms.property(property)
    charge = agreement.terms.charge(asked, kind, scale)
    answer = NoisyAnswer(REQUEST, property, kind, scale, charge, tuple(map(tuple, cells)), RECEIPT)
    drawn = tuple(map(Decimal, rates or ["1"] * len(groups)))
    return ReadAnswer(answer, asked, tuple(groups), drawn, "age >= 65")
