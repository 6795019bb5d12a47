"""How figures look: a colour and a shape per model throughout, filled or open by mechanism: colour alone never tells.

The colours are those of Okabe and Ito, told apart in every common form of colour blindness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from discreet.lab.study.findings.study_findings import Series
from discreet.present import SHAPES, Look

__all__ = ["GREY", "STROKE", "TRUTH", "look_of", "numbered_look"]

TRUTH: Final = "#d5d8dc"
STROKE: Final = "#9aa3ad"
GREY: Final = "#6b7280"
_COLOURS: Final = {
    "central": "#0072b2",
    "table": "#56b4e9",
    "shuffle": "#009e73",
    "local": "#d55e00",
    "hybrid": "#e69f00",
    "naive": "#cc79a7",
}
_OTHERS: Final = ("#f0e442", "#000000")
_HUES: Final = ("#e69f00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#000000")
_DASHES: Final = "9 5"


def look_of(series: Series, among: Sequence[Series]) -> Look:
    """The look of a series beside the others of its model: every second one has open markers and a broken line."""
    siblings = [item for item in among if (item.family, item.biased) == (series.family, series.biased)]
    strangers = sorted({item.family for item in among if item.family not in _COLOURS})
    family = "naive" if series.biased else series.family
    colours = {**_COLOURS, **dict(zip(strangers, _OTHERS * len(strangers), strict=False))}
    pair, second = divmod(siblings.index(series), 2)
    shape = SHAPES[(list(colours).index(family) + pair) % len(SHAPES)]
    return Look(colours[family], shape, not second, _DASHES if second else "")


def numbered_look(index: int) -> Look:
    """The look of one of several lines that are no models, by its place: a hue each, with a shape of its own."""
    again, hue = divmod(index, len(_HUES))
    return Look(_HUES[hue], SHAPES[hue % len(SHAPES)], again % 2 == 0, _DASHES if again % 2 else "")
