"""The nouns of what leaves: `Release`, its figures, what it claims, what it cost, and the notes beside it.

Facts are types here and no sentence is built; `present` says them. Figures are columns until somebody asks for one.
"""

from discreet.results.claims import Amount, Charged, Claim, Collected, Left, Marked, Settlement, Source
from discreet.results.figures import Figure, Figures, Later, Margin, Number, Quality, Statistic
from discreet.results.headings import ALL, NOTHING, Heading, KeyFace, Shown
from discreet.results.labels import Labels
from discreet.results.mechanisms import MeasureNoise, Noise, RankAim
from discreet.results.notes import Note
from discreet.results.release import Basis, Calibration, CalibrationTarget, Kind, Release

__all__ = [
    "ALL",
    "NOTHING",
    "Amount",
    "Basis",
    "Calibration",
    "CalibrationTarget",
    "Charged",
    "Claim",
    "Collected",
    "Figure",
    "Figures",
    "Heading",
    "KeyFace",
    "Kind",
    "Labels",
    "Later",
    "Left",
    "Margin",
    "Marked",
    "MeasureNoise",
    "Noise",
    "Note",
    "Number",
    "Quality",
    "RankAim",
    "Release",
    "Settlement",
    "Shown",
    "Source",
    "Statistic",
]
