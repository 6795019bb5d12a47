"""How figures look: one colour per model throughout, a marker per mechanism, and nothing that colour alone tells.

The colours are those of Okabe and Ito, told apart in every common form of colour blindness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.lab.study.findings.study_findings import Series

__all__ = ["DIVERGING", "GREY", "INK", "SETTINGS", "TRUTH", "Look", "look_of"]

TRUTH: Final = "#d5d8dc"
GREY: Final = "#6b7280"
INK: Final = "#1f2933"
DIVERGING: Final = "PuOr_r"
_COLOURS: Final = {
    "central": "#0072b2",
    "table": "#56b4e9",
    "shuffle": "#009e73",
    "local": "#d55e00",
    "hybrid": "#e69f00",
    "naive": "#cc79a7",
}
_OTHERS: Final = ("#f0e442", "#000000")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")

# Settings of matplotlib while figures are drawn; text stays text, and files do not depend on the day.
SETTINGS: Final[dict[str, object]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.labelsize": 8.5,
    "axes.edgecolor": "#9aa3ad",
    "axes.linewidth": 0.6,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "text.color": INK,
    "text.parse_math": False,
    "text.hinting": "no_hinting",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0,
    "figure.facecolor": "white",
    "hatch.linewidth": 0.6,
}


@dataclass(frozen=True, slots=True)
class Look:
    """How one series is drawn; the second mechanism of a model has open markers, so shape and filling both tell."""

    colour: str
    marker: str
    filled: bool
    dashed: bool

    @property
    def face(self) -> str:
        return self.colour if self.filled else "white"


def look_of(series: Series, among: Sequence[Series]) -> Look:
    """The look of a series beside the others of its model."""
    siblings = [one for one in among if (one.family, one.biased) == (series.family, series.biased)]
    place = siblings.index(series)
    strangers = sorted({one.family for one in among if one.family not in _COLOURS})
    colour = (
        _COLOURS.get("naive" if series.biased else series.family)
        or _OTHERS[strangers.index(series.family) % len(_OTHERS)]
    )
    return Look(colour, _MARKERS[place % len(_MARKERS)], place % 2 == 0, place % 2 == 1)
