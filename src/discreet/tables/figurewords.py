"""The words and numbers around a table's figures, in both languages: marks, intervals, guarantees, what is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final

from discreet.data.columns import Labels
from discreet.guarantees.types import ZCDP, ApproxDP, BootstrapDP, LocalDP, PureDP, ShuffleDP, Unproven
from discreet.pages.lettering import clean, tell_compactly, tell_number
from discreet.tables.panels import View
from discreet.tables.table import Entry, Quality, Table

__all__ = [
    "MARKS",
    "MEANINGS",
    "NOT_PRIVATE",
    "Writing",
    "name_keys",
    "small_print",
    "tell_basis",
    "tell_guarantee",
    "tell_left_out",
]

# The letters that Statistics Canada's surveys print beside estimates, the same in both languages.
MARKS: Final = {Quality.CAUTION: "E", Quality.UNRELIABLE: "F", Quality.SUPPRESSED: "–"}
MEANINGS: Final = {
    Quality.CAUTION: Labels("use with caution", "à utiliser avec prudence"),
    Quality.UNRELIABLE: Labels("unreliable", "peu fiable"),
    Quality.SUPPRESSED: Labels("suppressed", "supprimé"),
}
NOT_PRIVATE: Final = Labels("Not differentially private.", "Sans confidentialité différentielle.")
_BASES: Final = {
    "privacy noise": Labels("privacy noise only", "bruit de confidentialité seul"),
    "privacy noise and sampling": Labels("privacy noise and sampling", "bruit de confidentialité et échantillonnage"),
}
_LEFT_OUT: Final = {
    "panels": Labels("the first {shown} of {of} panels", "les {shown} premiers panneaux sur {of}"),
    "lines": Labels("the first {shown} of {of} lines", "les {shown} premières lignes sur {of}"),
    "columns": Labels("the first {shown} of {of} columns", "les {shown} premières colonnes sur {of}"),
}
_SAMPLED: Final = 10_000
_LONG: Final = 10**12


@dataclass(frozen=True, slots=True)
class Writing:
    """How figures of a table are written: language, decimals by its step, and, if compact, long numbers as powers."""

    language: str
    decimals: int
    compact: bool

    @classmethod
    def of(cls, table: Table, language: str, *, compact: bool = False) -> Writing:
        if table.step is not None:
            exponent = Decimal(table.step).as_tuple().exponent
            return cls(language, max(0, -exponent) if isinstance(exponent, int) else 0, compact)
        values = (entry.value for entry in islice(table.entries(), _SAMPLED))
        largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0)
        return cls(language, min(max(3 - math.floor(math.log10(largest)), 0), 6) if largest else 2, compact)

    def value(self, entry: Entry | None) -> str:
        """The published figure; a dash where it is suppressed, nothing where it is not published."""
        if entry is None:
            return ""
        if entry.value is None:
            return "–"
        if self.compact and abs(entry.value) >= _LONG:
            return tell_compactly(entry.value, self.language)
        return tell_number(entry.value, self.language, decimals=self.decimals)

    def marked(self, entry: Entry | None) -> str:
        """The figure and the letter of its quality."""
        mark = "" if entry is None or entry.value is None else MARKS.get(entry.quality, "")
        return f"{self.value(entry)}\u00a0{mark}" if mark else self.value(entry)

    def interval(self, entry: Entry) -> str:
        """From low to high, rounded outwards; an end that is missing has no bound. Empty without an interval."""
        if entry.low is None and entry.high is None:
            return ""
        ends = (-math.inf if entry.low is None else entry.low, math.inf if entry.high is None else entry.high)
        low, high = (
            tell_number(end, self.language, decimals=self.decimals, toward=toward)
            for end, toward in zip(ends, (-1, 1), strict=True)
        )
        return f"{low} {'à' if self.language == 'fr' else 'to'} {high}"


# --- sentences --------------------------------------------------------------------------------------------------------


def name_keys(table: Table, places: tuple[int, ...], language: str) -> str:
    """The titles of keys: "province, smoking and sex"."""
    names = [clean(table.headings[place].title.text(language)) for place in places]
    word = " et " if language == "fr" else " and "
    return word.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def tell_left_out(view: View, language: str) -> str:
    """What of the table the picture leaves out; empty where it shows every cell."""
    told = []
    table = view.table
    dropped = tuple(place for place in range(len(table.headings)) if place not in view.kept)
    if dropped:
        over = name_keys(table, dropped, language)
        told.append(f"la marge, somme sur {over}" if language == "fr" else f"the margin, summed over {over}")
    for what, shown, of in view.left_out:
        numbers = {"shown": tell_number(shown, language), "of": tell_number(of, language)}
        told.append(_LEFT_OUT[what].text(language).format(**numbers))
    if not told:
        return ""
    if language == "fr":
        return f"Le tableau est trop grand pour une image; elle montre {', '.join(told)}."
    return f"The table is too large for one picture, which shows {', '.join(told)}."


def tell_basis(table: Table, language: str) -> str:
    """What the quality marks count."""
    known = _BASES.get(table.quality_basis)
    return table.quality_basis if known is None else known.text(language)


def tell_guarantee(table: Table, language: str) -> str:
    """What is promised, in the reader's language; why nothing is proved stays in the words it was given."""
    if language != "fr":
        return str(table.guarantee)
    match table.guarantee:
        case PureDP(epsilon=epsilon):
            return f"confidentialité différentielle pure, epsilon = {_comma(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"confidentialité différentielle approchée, epsilon = {_comma(epsilon)}, delta = {_comma(delta)}"
        case ZCDP(rho=rho, delta=delta):
            return f"zCDP, rho = {_comma(rho)}" + (f", delta = {_comma(delta)}" if delta else "")
        case LocalDP(epsilon=epsilon):
            return f"confidentialité différentielle locale, epsilon = {_comma(epsilon)} par répondant"
        case ShuffleDP(epsilon=epsilon, delta=delta, anonymity=anonymity):
            return (
                f"confidentialité différentielle par mélange, epsilon = {_comma(epsilon)}, delta = {_comma(delta)} "
                f"parmi {tell_number(anonymity, 'fr')} personnes"
            )
        case BootstrapDP(epsilon=epsilon):
            return f"sans confidentialité différentielle : « bootstrap DP », epsilon nominal = {_comma(epsilon)}"
        case Unproven(reason=reason):
            return f"sans confidentialité différentielle : {reason}"


def small_print(table: Table, language: str) -> str:
    """The line under every picture: guarantee and epsilon (Gaussian noise has rho), what intervals and marks count."""
    guarantee = clean(tell_guarantee(table, language))
    said = f"{guarantee[:1].upper()}{guarantee[1:]}."
    if any(entry.low is not None or entry.high is not None for entry in table.entries()):
        level, only = _percent(table.level, language), _BASES["privacy noise"].text(language)
        said += f" Intervalles à {level} : {only}." if language == "fr" else f" {level} intervals: {only}."
    if any(entry.quality is not Quality.NOT_RATED for entry in table.entries()):
        basis = tell_basis(table, language)
        said += f" Qualité : {basis}." if language == "fr" else f" Quality: {basis}."
    return said


def _percent(level: str, language: str) -> str:
    percent = (Decimal(level) * 100).normalize()
    return f"{_comma(percent)}\u00a0%" if language == "fr" else f"{percent:f}%"


def _comma(number: Decimal) -> str:
    return f"{number.normalize():f}".replace(".", ",")
