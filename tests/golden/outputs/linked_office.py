"""A researcher's office with answers that were read before: its keys and noisy cells are fixed, and so is its study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from discreet.linkage import Agreement, OfficeRole, SignedAgreement, create_office, open_researcher, parse_terms

__all__ = ["BANDS", "HISTOGRAM", "RATE", "keep_answers"]

RATE: Final = "1" * 32
BANDS: Final = "2" * 32
HISTOGRAM: Final = "3" * 32

TERMS: Final = """\
study: care
title: {en: Care of Francophones, fr: Soins des francophones}
holder: {dataset: health, id: number}
registry: {dataset: people, id: person}
ids: integer
people: 1000000
policy: {belief: 0.8}
scales: [10, 20, 30, 50, 100, 300]
kinds: [count, count-and-size, histogram, groups]
properties:
  francophone:
    label: {en: French and not English, fr: Français et non anglais}
    where: "french = 'yes' AND english = 'no'"
  tongue:
    label: {en: First official language, fr: Première langue officielle}
    values:
      french: {label: {en: French, fr: Français}, where: "first = 'F'"}
      english: {label: {en: English, fr: Anglais}, where: "first = 'E'"}
quota: 100000
largest_sample: 1000000
linked_share: 0.9
expires: 2099-12-31
"""


def keep_answers(folder: Path) -> None:
    """One study, and three answers in it."""
    numbers = iter(range(1, 100))
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Ed25519PrivateKey, X25519PrivateKey):
            make = kind.from_private_bytes
            patch.setattr(kind, "generate", lambda make=make: make(bytes([next(numbers)]) * 32))
        offices = {role: create_office(folder / role.value, role=role, name=role.value.title()) for role in OfficeRole}
    terms = parse_terms(TERMS, file="agreement.yaml", folder=folder)
    signed = SignedAgreement(Agreement(terms, {role: office.public for role, office in offices.items()}), {})
    for office in offices.values():
        signed = signed.sign(office)
    study = open_researcher(offices[OfficeRole.RESEARCHER], signed)
    angioplasty, seniors = "angioplasty = 'yes'", "age >= 65 AND diabetes = 'type 2'"
    days = {"no days": "0.5", "1 to 7 days": "1", "8 days and more": "1"}
    study.note(RATE, _noted("francophone", "count-and-size", 20, angioplasty, {"all": "1"}, [[1212, 20344]]))
    cells = [[402, 8123], [188, 3011], [97, 12]]
    study.note(BANDS, _noted("francophone", "count-and-size", 20, seniors, days, cells))
    study.note(HISTOGRAM, _noted("tongue", "histogram", 20, None, {"all": "1"}, [[640, 11_903]]))
    (folder / "no.env").write_text(json.dumps("not an envelope"))


def _noted(
    property: str, kind: str, charge: int, where: str | None, groups: dict[str, str], cells: list[list[int]]
) -> dict[str, Any]:
    return {
        "asked": "2026-03-01T12:00:00+00:00",
        "property": property,
        "kind": kind,
        "scale": 30,
        "charge": charge,
        "where": where,
        "groups": [{"name": name, "where": None, "rate": rate} for name, rate in groups.items()],
        "answer": cells,
        "receipt": "c0ffee00" * 8,
    }
