"""What is promised, and to whom, in the reader's language: also from the English in which models keep it."""

from __future__ import annotations

import re
from typing import Final

from discreet.catalogue import Numeral, Phrase, say, say_count
from discreet.guarantees import Neighbours, Unproven
from discreet.lab.generator.training_settings import UNPROTECTED

__all__ = ["say_kept_guarantee", "say_neighbours", "say_unit"]

_UNIT: Final = re.compile(r"(.+) \(at most (\d+) rows? each\)")
_ZCDP: Final = re.compile(r"zCDP, rho = ([\d.]+)(?:, delta = ([\d.]+))?")
_NEIGHBOURS: Final = {
    Neighbours.ADD_REMOVE: Phrase("add-remove"),
    Neighbours.REPLACE_ONE: Phrase("replace-one"),
}


def say_unit(unit: str) -> str:
    """A unit from its own words."""
    found = _UNIT.fullmatch(unit)
    if found is None:
        return unit
    return say_count(
        "{column} (at most {count} row each)", "{column} (at most {count} rows each)", int(found[2]), column=found[1]
    )


def say_neighbours(code: str) -> str:
    return str(_NEIGHBOURS[Neighbours(code)]) if code in _NEIGHBOURS else code


def say_kept_guarantee(guarantee: str) -> str:
    """A guarantee as a model keeps it. What was kept in other words stays in those."""
    if guarantee == str(Unproven(UNPROTECTED.en)):
        return say("not differentially private: {reason}", reason=UNPROTECTED)
    found = _ZCDP.fullmatch(guarantee)
    if found is None:
        return guarantee
    rho, delta = Numeral(found[1]), Numeral(found[2] or "")
    if delta:
        return say("zCDP, rho = {rho}, delta = {delta}", rho=rho, delta=delta)
    return say("zCDP, rho = {rho}", rho=rho)
