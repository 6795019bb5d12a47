"""The words and numbers around a table's figures, in both languages: marks, intervals, small print, what is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from discreet.data.columns import Labels
from discreet.pages.lettering import begin, borne_decimals, clean, tell_compactly, tell_number
from discreet.tables.factwords import NOISE_ONLY, tell_basis, tell_guarantee, tell_level, tell_neighbours
from discreet.tables.panels import View
from discreet.tables.table import Entry, Quality, Table

__all__ = [
    "MARKS",
    "MEANINGS",
    "Writing",
    "name_keys",
    "small_print",
    "tell_left_out",
    "tell_marks",
    "tell_owner",
]

# E is what Statistics Canada prints beside such estimates, in both languages. F stands there in place of a figure; here
# the figure stays, because its interval says how little it is worth.
MARKS: Final = {Quality.CAUTION: "E", Quality.UNRELIABLE: "F", Quality.SUPPRESSED: "–", Quality.TOO_SMALL: "–"}
MEANINGS: Final = {
    Quality.GOOD: Labels("good", "bonne"),
    Quality.CAUTION: Labels("use with caution", "à utiliser avec prudence"),
    Quality.UNRELIABLE: Labels("unreliable", "peu fiable"),
    Quality.SUPPRESSED: Labels("suppressed", "supprimé"),
    Quality.TOO_SMALL: Labels("group too small for a mean", "groupe trop petit pour une moyenne"),
    Quality.NOT_RATED: Labels("not rated", "non évaluée"),
    Quality.PUBLIC: Labels("public total", "total public"),
}
_LEFT_OUT: Final = {
    "panels": Labels("the first {shown} of {of} panels", "les {shown} premiers panneaux sur {of}"),
    "lines": Labels("the first {shown} of {of} lines", "les {shown} premières lignes sur {of}"),
    "columns": Labels("the first {shown} of {of} columns", "les {shown} premières colonnes sur {of}"),
}
_LONG: Final = 10**12


@dataclass(frozen=True, slots=True)
class Writing:
    """How figures of a table are written: language, decimals, and, if compact, long numbers as powers.

    Decimals are those of the table's step; means, which have none, get as many as their narrowest interval bears.
    """

    language: str
    decimals: int
    compact: bool

    @classmethod
    def of(cls, table: Table, language: str, *, compact: bool = False) -> Writing:
        if table.step is not None:
            exponent = Decimal(table.step).as_tuple().exponent
            return cls(language, max(0, -exponent) if isinstance(exponent, int) else 0, compact)
        ends = ((entry.low, entry.high) for entry in table.entries())
        widths = (high - low for low, high in ends if low is not None and high is not None)
        return cls(language, borne_decimals(widths), compact)

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


def tell_marks(table: Table, language: str) -> str:
    """The marks that occur and what they mean; empty where there are none."""
    present = {entry.quality for entry in table.entries()}
    return "; ".join(
        f"{mark} {MEANINGS[quality].text(language)}" for quality, mark in MARKS.items() if quality in present
    )


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


def tell_owner(table: Table, language: str) -> str:
    """Whose interval it is that stands beside a figure: that of its raw estimate, or after calibration its own."""
    if table.calibration is None:
        return "de l’estimation brute" if language == "fr" else "raw estimate"
    return "du chiffre calé" if language == "fr" else "calibrated figure"


def small_print(table: Table, language: str) -> str:
    """The line under every picture: guarantee with epsilon (Gaussian noise has rho), neighbours, what is counted."""
    french = language == "fr"
    said = [f"{begin(clean(tell_guarantee(table, language)))}."]
    if neighbours := clean(tell_neighbours(table, language)):
        said.append(f"Voisins : {neighbours}." if french else f"Neighbours: {neighbours}.")
    if level := tell_level(table, language):
        only = NOISE_ONLY.text(language)
        said.append(f"Intervalles à {level} : {only}." if french else f"{level} intervals: {only}.")
    if table.calibration is not None:
        said.append(
            "Calé sur des totaux publics : chaque chiffre estime x·T/Σx."
            if french
            else "Calibrated to public totals: each figure estimates x·T/Σx."
        )
    if any(entry.quality is not Quality.NOT_RATED for entry in table.entries()):
        basis = tell_basis(table, language)
        said.append(f"Qualité : {basis}." if french else f"Quality: {basis}.")
    return " ".join(said)
