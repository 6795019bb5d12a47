"""The words and numbers around a table's figures, in both languages: marks, intervals, small print, what is shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import chain
from typing import Final

from discreet.catalogue import Phrase, say, say_list, speaking
from discreet.present.charts.chart_panels import View
from discreet.present.charts.lettering import begin, borne_decimals, clean, isolate, tell_compactly, tell_number
from discreet.present.protection import tell_protection, tell_strength
from discreet.present.words import NOISE_ONLY, say_clauses, tell_basis, tell_guarantee, tell_level, tell_neighbours
from discreet.results import Figure, Quality, Release, ReleaseKind, Statistic

__all__ = [
    "MARKS",
    "MEANINGS",
    "Owner",
    "Writing",
    "name_keys",
    "small_print",
    "tell_left_out",
    "tell_marks",
    "tell_place",
    "tell_source",
]

# E is what Statistics Canada prints beside such estimates, in both languages. F stands there in place of a figure; here
# the figure stays, because its interval says how little it is worth.
MARKS: Final = {Quality.CAUTION: "E", Quality.UNRELIABLE: "F", Quality.SUPPRESSED: "–", Quality.TOO_SMALL: "–"}
MEANINGS: Final = {
    Quality.GOOD: Phrase("good"),
    Quality.CAUTION: Phrase("use with caution"),
    Quality.UNRELIABLE: Phrase("unreliable"),
    Quality.SUPPRESSED: Phrase("suppressed"),
    Quality.TOO_SMALL: Phrase("group too small for a mean"),
    Quality.NOT_RATED: Phrase("not rated"),
    Quality.PUBLIC: Phrase("public total"),
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
        return Phrase("{low} to {high}", low=low, high=high).text(self.language)


def tell_place(names: Iterable[str], figure: Figure, writing: Writing) -> str:
    """A figure with its interval, and what it is the figure of."""
    where = ", ".join(isolate(clean(name)) for name in names if name)
    value, interval = writing.marked(figure), writing.interval(figure)
    if not interval:
        return Phrase("{where}: {value}", where=where, value=value).text(writing.language)
    return Phrase("{where}: {value} ({interval})", where=where, value=value, interval=interval).text(writing.language)


def tell_marks(release: Release, language: str) -> str:
    """The marks that occur and what they mean; empty where there are none."""
    margins = chain.from_iterable(item.figures.margins for item in release.statistics)
    present = {quality for margin in margins for quality in margin.quality or ()}
    told = [f"{mark} {MEANINGS[quality].text(language)}" for quality, mark in MARKS.items() if quality in present]
    with speaking(language):
        return say_clauses(told) if told else ""


# --- sentences --------------------------------------------------------------------------------------------------------


def name_keys(release: Release, indices: tuple[int, ...], language: str) -> str:
    """The titles of keys: "province, smoking and sex"."""
    with speaking(language):
        return say_list([clean(release.headings[index].title.text(language)) for index in indices])


def tell_left_out(view: View, language: str) -> str:
    """What of the table the picture leaves out; empty where it shows every cell."""
    lines = []
    release = view.release
    dropped = tuple(index for index in range(len(release.headings)) if index not in view.kept)
    with speaking(language):
        if dropped:
            lines.append(say("the margin, summed over {keys}", keys=name_keys(release, dropped, language)))
        lines += [_say_cut(what, shown, of) for what, shown, of in view.left_out]
        if not lines:
            return ""
        return say("The table is too large for one picture, which shows {shown}.", shown=", ".join(lines))


def _say_cut(what: str, shown: int, of: int) -> str:
    match what:
        case "panels":
            return say("the first {shown:,} of {of:,} panels", shown=shown, of=of)
        case "lines":
            return say("the first {shown:,} of {of:,} lines", shown=shown, of=of)
    return say("the first {shown:,} of {of:,} columns", shown=shown, of=of)


class Owner(StrEnum):
    """Whose interval it is that stands beside a figure: the figure's own, or in a table that of its raw estimate."""

    FIGURE = "figure"
    RAW = "raw estimate"
    CALIBRATED = "calibrated figure"

    @classmethod
    def of(cls, release: Release) -> Owner:
        if release.kind not in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP):
            return cls.FIGURE
        return cls.RAW if release.calibration is None else cls.CALIBRATED


def tell_source(release: Release, language: str) -> str:
    """Where the figures come from and when they were released."""
    source = release.source
    day = source.created.partition("T")[0]
    if not source.dataset:
        return ""
    if not source.version or not day:
        return Phrase("Source: {dataset}.", dataset=source.dataset).text(language)
    return Phrase(
        "Source: {dataset}, version {version}. Released on {day}.",
        dataset=source.dataset,
        version=str(source.version),
        day=day,
    ).text(language)


def small_print(release: Release, language: str) -> str:
    """The lines under every picture: whom the release protects and how strongly, and what is counted."""
    with speaking(language):
        said = [*_say_promise(release, language)]
        level, basis = tell_level(release, language), tell_basis(release, language) if release.graded else ""
        together = bool(level) and basis == NOISE_ONLY.text(language)
        if together:
            said.append(say("{level} intervals and quality: {cover}.", level=level, cover=NOISE_ONLY))
        elif level:
            said.append(say("{level} intervals: {cover}.", level=level, cover=NOISE_ONLY))
        if release.calibration is not None:
            said.append(say("Calibrated to public totals: each figure estimates x·T/Σx."))
        if basis and not together:
            said.append(say("Quality: {basis}.", basis=basis))
        return " ".join(said)


def _say_promise(release: Release, language: str) -> Iterator[str]:
    if protection := tell_protection(release, language):
        yield protection
        yield say("Differential privacy, {strength}.", strength=tell_strength(release, language))
        return
    yield f"{begin(clean(tell_guarantee(release, language)))}."
    if neighbours := clean(tell_neighbours(release, language)):
        yield say("Neighbours: {neighbours}.", neighbours=neighbours)
