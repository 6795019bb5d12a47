"""The nouns of what leaves: `Release`, its figures, what it claims, what it cost, and the notes beside it.

Facts are types here and no sentence is built; `present` says them. Figures are columns until somebody asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.results.claims import Amount, Charged, Claim, Collected, Left, Marked, Settlement, Source
    from discreet.results.figures import Figure, Figures, Later, Margin, Number, Quality, Statistic
    from discreet.results.headings import ALL, NOTHING, Heading, KeyFace, Shown
    from discreet.results.labels import Labels
    from discreet.results.noise_facts import MeasureNoise, Noise, RankAim
    from discreet.results.notes import (
        BootstrapCaution,
        BootstrapGuarantee,
        BootstrapMethod,
        BootstrapNeighbours,
        BoundsUsed,
        Calibrated,
        CappedWeights,
        Coverage,
        Estimator,
        FalseReports,
        FewReports,
        GradedMeans,
        KeysChosen,
        LeftOut,
        Linearised,
        MarginsAddUp,
        MarginsAreMeans,
        MarginsAreSums,
        MeansNotShown,
        MeasuredMargin,
        ModelAge,
        Note,
        NotGraded,
        NotInTable,
        NotInTotals,
        NotNegative,
        Size,
        SizeTooSmall,
        StrategyUsed,
        Unbounded,
        UnprovenCaution,
        Variance,
    )
    from discreet.results.published_release import Basis, Calibration, CalibrationTarget, Release, ReleaseKind
    from discreet.results.row_listing import Chosen, PairedColumns, ends_of, parts_of
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "ALL",
    "NOTHING",
    "Amount",
    "Basis",
    "BootstrapCaution",
    "BootstrapGuarantee",
    "BootstrapMethod",
    "BootstrapNeighbours",
    "BoundsUsed",
    "Calibrated",
    "Calibration",
    "CalibrationTarget",
    "CappedWeights",
    "Charged",
    "Chosen",
    "Claim",
    "Collected",
    "Coverage",
    "Estimator",
    "FalseReports",
    "FewReports",
    "Figure",
    "Figures",
    "GradedMeans",
    "Heading",
    "KeyFace",
    "KeysChosen",
    "Labels",
    "Later",
    "Left",
    "LeftOut",
    "Linearised",
    "Margin",
    "MarginsAddUp",
    "MarginsAreMeans",
    "MarginsAreSums",
    "Marked",
    "MeansNotShown",
    "MeasureNoise",
    "MeasuredMargin",
    "ModelAge",
    "Noise",
    "NotGraded",
    "NotInTable",
    "NotInTotals",
    "NotNegative",
    "Note",
    "Number",
    "PairedColumns",
    "Quality",
    "RankAim",
    "Release",
    "ReleaseKind",
    "Settlement",
    "Shown",
    "Size",
    "SizeTooSmall",
    "Source",
    "Statistic",
    "StrategyUsed",
    "Unbounded",
    "UnprovenCaution",
    "Variance",
    "ends_of",
    "parts_of",
]
