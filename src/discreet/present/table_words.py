"""The words and numbers around a table's figures, in both languages: marks, intervals, small print, what is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Final

from discreet.present.charts.chart_panels import View
from discreet.present.charts.lettering import begin, borne_decimals, clean, tell_compactly, tell_number
from discreet.present.words import NOISE_ONLY, tell_basis, tell_guarantee, tell_level, tell_neighbours
from discreet.results import Figure, Labels, Quality, Release, ReleaseKind, Statistic

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
    def of(cls, statistic: Statistic, language: str, *, compact: bool = False) -> Writing:
        if statistic.step is not None:
            exponent = Decimal(statistic.step).as_tuple().exponent
            return cls(language, max(0, -exponent) if isinstance(exponent, int) else 0, compact)
        columns = ((margin.low, margin.high) for margin in statistic.figures.margins)
        ends = chain.from_iterable(
            zip(low, high, strict=True) for low, high in columns if low is not None and high is not None
        )
        widths = (high - low for low, high in ends if low is not None and high is not None)
        return cls(language, borne_decimals(widths), compact)

    def value(self, figure: Figure | None) -> str:
        """The published figure; a dash where it is suppressed, nothing where it is not published."""
        if figure is None:
            return ""
        if figure.value is None:
            return "–"
        if self.compact and abs(figure.value) >= _LONG:
            return tell_compactly(figure.value, self.language)
        return tell_number(figure.value, self.language, decimals=self.decimals)

    def marked(self, figure: Figure | None) -> str:
        """The figure and the letter of its quality."""
        mark = "" if figure is None or figure.value is None else MARKS.get(figure.quality, "")
        return f"{self.value(figure)}\u00a0{mark}" if mark else self.value(figure)

    def interval(self, figure: Figure) -> str:
        """From low to high, rounded outwards; an end that is missing has no bound. Empty without an interval."""
        if figure.low is None and figure.high is None:
            return ""
        ends = (-math.inf if figure.low is None else figure.low, math.inf if figure.high is None else figure.high)
        low, high = (
            tell_number(end, self.language, decimals=self.decimals, toward=toward)
            for end, toward in zip(ends, (-1, 1), strict=True)
        )
        return f"{low} {'à' if self.language == 'fr' else 'to'} {high}"


def tell_marks(release: Release, language: str) -> str:
    """The marks that occur and what they mean; empty where there are none."""
    margins = chain.from_iterable(item.figures.margins for item in release.statistics)
    present = {quality for margin in margins for quality in margin.quality or ()}
    return "; ".join(
        f"{mark} {MEANINGS[quality].text(language)}" for quality, mark in MARKS.items() if quality in present
    )


# --- sentences --------------------------------------------------------------------------------------------------------


def name_keys(release: Release, indices: tuple[int, ...], language: str) -> str:
    """The titles of keys: "province, smoking and sex"."""
    names = [clean(release.headings[index].title.text(language)) for index in indices]
    word = " et " if language == "fr" else " and "
    return word.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def tell_left_out(view: View, language: str) -> str:
    """What of the table the picture leaves out; empty where it shows every cell."""
    lines = []
    release = view.release
    dropped = tuple(index for index in range(len(release.headings)) if index not in view.kept)
    if dropped:
        over = name_keys(release, dropped, language)
        lines.append(f"la marge, somme sur {over}" if language == "fr" else f"the margin, summed over {over}")
    for what, shown, of in view.left_out:
        numbers = {"shown": tell_number(shown, language), "of": tell_number(of, language)}
        lines.append(_LEFT_OUT[what].text(language).format(**numbers))
    if not lines:
        return ""
    if language == "fr":
        return f"Le tableau est trop grand pour une image; elle montre {', '.join(lines)}."
    return f"The table is too large for one picture, which shows {', '.join(lines)}."


def tell_owner(release: Release, language: str) -> str:
    """Whose interval it is that stands beside a figure: the figure's own, or in a table that of its raw estimate."""
    if release.kind not in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP):
        return "du chiffre" if language == "fr" else "figure"
    if release.calibration is None:
        return "de l’estimation brute" if language == "fr" else "raw estimate"
    return "du chiffre calé" if language == "fr" else "calibrated figure"


def small_print(release: Release, language: str) -> str:
    """The line under every picture: guarantee with epsilon (Gaussian noise has rho), neighbours, what is counted."""
    french = language == "fr"
    said = [f"{begin(clean(tell_guarantee(release, language)))}."]
    if neighbours := clean(tell_neighbours(release, language)):
        said.append(f"Voisins : {neighbours}." if french else f"Neighbours: {neighbours}.")
    if level := tell_level(release, language):
        only = NOISE_ONLY.text(language)
        said.append(f"Intervalles à {level} : {only}." if french else f"{level} intervals: {only}.")
    if release.calibration is not None:
        said.append(
            "Calé sur des totaux publics : chaque chiffre estime x·T/Σx."
            if french
            else "Calibrated to public totals: each figure estimates x·T/Σx."
        )
    if release.graded:
        basis = tell_basis(release, language)
        said.append(f"Qualité : {basis}." if french else f"Quality: {basis}.")
    return " ".join(said)
