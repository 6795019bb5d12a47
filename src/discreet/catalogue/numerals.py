"""Numbers as a language writes them: 99,165 and 95% in English, 99 165 and 95 % in French."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.catalogue.languages import FRENCH, language

__all__ = ["Numeral", "localise", "numeral", "write_facts"]

THIN: Final = "\u202f"  # between thousands
FIXED: Final = "\u00a0"  # before a per cent sign
_NUMBERS: Final = (int, float, Decimal, Fraction)


class Numeral(str):
    """A number that was written in English already, and may be said in another language."""

    __slots__ = ()


def localise(digits: str, chosen: str) -> str:
    """A number that English wrote ("1,234.5", "95%") as the language writes it."""
    if chosen != FRENCH:
        return digits
    return digits.replace(",", THIN).replace(".", ",").replace("%", f"{FIXED}%")


def numeral(value: float | Decimal | Fraction, form: str = ",") -> str:
    """A number in the language of this moment, by a format of Python's: `numeral(share, ".1%")`."""
    return localise(format(value, form), language())


def write_facts(facts: dict[str, object], chosen: str) -> dict[str, object]:
    """Facts such that `str.format` writes their numbers as the language does."""
    if chosen != FRENCH:
        return facts
    return {name: _French(fact) if _is_number(fact) else fact for name, fact in facts.items()}


def _is_number(fact: object) -> bool:
    return isinstance(fact, (*_NUMBERS, Numeral)) and not isinstance(fact, bool)


class _French:
    __slots__ = ("fact",)

    def __init__(self, fact: object) -> None:
        self.fact = fact

    def __format__(self, form: str) -> str:
        return localise(format(self.fact, form), FRENCH)

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return repr(self.fact)
