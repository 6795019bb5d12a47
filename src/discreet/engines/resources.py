"""How much memory and disk the embedded engine may take: what the environment says, else what the machine has."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import Numeral, Phrase, say
from discreet.errors import ParameterInvalid

__all__ = ["EngineResources", "read_resources", "size_words"]

_SIZE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?([MGT])(i?)B", re.ASCII | re.IGNORECASE)
_POWERS: Final = {"M": 2, "G": 3, "T": 4}
_LEAST_MEMORY: Final = 64 * 10**6
_USUAL_SPILL: Final = 100 * 10**9
_USUAL_MEMORY: Final = 4 * 10**9


@dataclass(frozen=True, slots=True)
class EngineResources:
    """Bytes that an open engine may hold in memory, and those it may write to its private folder; 0 writes nothing."""

    memory: int
    spill: int


def read_resources() -> EngineResources:
    """What DISCREET_MEMORY and DISCREET_SPILL say; ParameterInvalid where that is no size."""
    memory = _size("DISCREET_MEMORY", _half_of_memory())
    if memory < _LEAST_MEMORY:
        raise _invalid("DISCREET_MEMORY", say("must be at least {size}", size=size_words(_LEAST_MEMORY)))
    return EngineResources(memory=memory, spill=_size("DISCREET_SPILL", _USUAL_SPILL, zero=True))


def size_words(size: int) -> str:
    """A number of bytes as people write it."""
    for unit, power in ((Phrase("TB"), 12), (Phrase("GB"), 9)):
        if size >= 10**power:
            amount = Numeral(f"{size / 10**power:,.1f}".removesuffix(".0"))
            return say("{amount} {unit}", amount=amount, unit=unit)
    return say("{amount:,} MB", amount=-(-size // 10**6))


def _size(variable: str, usual: int, *, zero: bool = False) -> int:
    written = os.environ.get(variable, "").strip()
    if not written:
        return usual
    if zero and written == "0":
        return 0
    found = _SIZE.fullmatch(written)
    if found is None:
        rule = say("must be a size such as 4GB or 500MB, or 0") if zero else say("must be a size such as 4GB or 500MB")
        raise _invalid(variable, rule)
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _POWERS[found[2].upper()])


def _invalid(variable: str, rule: str) -> ParameterInvalid:
    return ParameterInvalid(parameter=variable, rule=rule, given=f"'{os.environ.get(variable, '')[:40]}'")


def _half_of_memory() -> int:
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _USUAL_MEMORY
    return max(_LEAST_MEMORY, whole // 2)
