"""Terms to begin with, fit for the files of `discreet sample linked`."""

from __future__ import annotations

from typing import Final

from discreet.cards import draft_file
from discreet.catalogue import say
from discreet.linkage.agreements.agreement_schema import AGREEMENT

__all__ = ["agreement_template"]

_PROPERTIES: Final = """
  francophone:
    label: {en: French and not English, fr: Français et non anglais}
    where: french = 'yes' AND english = 'no'
# {accounts}
# first_official:
#   label: {en: First official language, fr: Première langue officielle}
#   values:
#     french: {label: {en: French, fr: Français}, where: first_official = 'French'}
#     english: {label: {en: English, fr: Anglais}, where: first_official = 'English'}
#     other: {label: {en: Both or neither, fr: Les deux ou aucune}, where: "first_official IN ('both', 'neither')"}"""

_SAID: Final = {
    "study": "francophones",
    "title": "{en: Care of Francophones, fr: Soins aux francophones}",
    "holder": "{dataset: health, id: health_number}",
    "registry": "{dataset: people, id: person}",
    "ids": "integer",
    "unit": "person",
    "people": "100000",
    "policy": "{belief: 0.8, prior: 0.5}",
    "scales": "[10, 20, 30, 50, 100, 300]",
    "kinds": "[count, count-and-size, histogram, groups]",
    "quota": "10000",
    "largest_sample": "1000000",
    "closing": "{share: 0.05, epsilon: 0.1}",
    "expires": "2027-12-31",
    "slots": "true",
}


def agreement_template(file: str) -> str:
    """Every key with its meaning, and values to change."""
    use = say(
        "Change it, then: discreet linked agree {file} RESEARCHER HOLDER REGISTRY --out agreement.json", file=file
    )
    accounts = say("Each property has accounts of its own, and is paid for by itself.")
    said = {**_SAID, "properties": _PROPERTIES.replace("{accounts}", accounts)}
    return draft_file(AGREEMENT, said, use=use)
