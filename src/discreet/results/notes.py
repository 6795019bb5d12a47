"""What must be said beside figures: a small type for each fact, which `present.words` says in both languages.

A note holds what varies, never a sentence. Its `code` is what machines know it by.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Final, Literal

from discreet.guarantees import text
from discreet.results.labels import Labels

__all__ = [
    "BeliefRise",
    "BeliefTable",
    "BootstrapCaution",
    "BootstrapGuarantee",
    "BootstrapMethod",
    "BootstrapNeighbours",
    "BoundsUsed",
    "Calibrated",
    "CappedWeights",
    "Coverage",
    "DrawnAtRate",
    "Estimator",
    "FalseReports",
    "FewReports",
    "GradedMeans",
    "KeysChosen",
    "KnownPopulation",
    "LeftOut",
    "Linearised",
    "LinkedInPart",
    "LinkedProtection",
    "MarginsAddUp",
    "MarginsAreMeans",
    "MarginsAreSums",
    "MeansNotShown",
    "MeasuredMargin",
    "ModelAge",
    "NotGraded",
    "NotInTable",
    "NotInTotals",
    "NotNegative",
    "NotProtected",
    "Note",
    "RatiosNotShown",
    "RegistryReceipt",
    "Size",
    "SizeTooSmall",
    "StrategyUsed",
    "Unbounded",
    "UnderAccount",
    "UnprovenCaution",
    "Variance",
]


@dataclass(frozen=True, slots=True)
class Note:
    """One fact to be told. `warns` of something that a reader may not pass over."""

    code: ClassVar[str] = ""
    warns: ClassVar[bool] = False

    def to_dict(self) -> dict[str, object]:
        """The code and what varies, in plain values."""
        return {"code": self.code, **{item.name: _plain(getattr(self, item.name)) for item in fields(self)}}


def _plain(value: object) -> object:
    match value:
        case StrEnum() | None | bool() | int() | float() | str():
            return str(value) if isinstance(value, StrEnum) else value
        case Decimal():
            return text(value)
        case Fraction():
            return float(value)
        case Labels():
            return {"en": value.en, "fr": value.fr}
        case tuple():
            return [_plain(item) for item in value]
    return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}  # type: ignore[arg-type]


# --- of every release -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coverage(Note):
    """What an interval holds: the figure of the prepared data, by cell, raw or calibrated; a linked count; or nothing.

    `ranks`: for quantiles and extremes the ends of the range. `selected`: before HAVING or LIMIT chose cells. `least`:
    only keys with at least so many units are shown.
    """

    of: Literal["cell", "raw", "calibrated", "linked", "nothing"]
    ranks: bool = False
    selected: bool = False
    least: int | None = None
    code: ClassVar[str] = "coverage"


@dataclass(frozen=True, slots=True)
class CappedWeights(Note):
    """Weights are cut at their cap; calibration puts back what is cut from a whole group."""

    calibrated: bool = False
    code: ClassVar[str] = "capped-weights"


@dataclass(frozen=True, slots=True)
class Unbounded(Note):
    """So many releases without a proof were made about the population: its epsilon does not bound everything."""

    population: str
    markers: int
    code: ClassVar[str] = "unbounded"
    warns: ClassVar[bool] = True


# --- of questions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Size:
    """A measure that something is averaged over, and between which ends the bound lies that it must exceed."""

    measure: str
    low: int | float
    high: int | float


@dataclass(frozen=True, slots=True)
class SizeTooSmall(Note):
    """An output is absent where the noisy sizes that it is over do not exceed their bounds."""

    output: str
    sizes: tuple[Size, ...]
    code: ClassVar[str] = "size-too-small"

    def __post_init__(self) -> None:
        if not self.sizes:
            raise ValueError("an output is over a size")


@dataclass(frozen=True, slots=True)
class BoundsUsed(Note):
    """Bounds that a search found for a column, or did not find, in its own units, and what the search cost."""

    column: str
    low: int | float
    high: int | float
    found: bool
    epsilon: Decimal
    code: ClassVar[str] = "bounds"

    @property
    def warns(self) -> bool:  # type: ignore[override]
        return not self.found


@dataclass(frozen=True, slots=True)
class KeysChosen(Note):
    """Open keys are shown from so many noisy units on; a unit may have so many of them; what that costs in delta."""

    least: int
    keys: int
    delta: Decimal
    code: ClassVar[str] = "threshold"


# --- of tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeasuredMargin:
    """A margin that was measured, by the names of its keys; or what it adds to those below it (`residual`)."""

    keeps: tuple[str, ...]
    residual: bool
    share: Fraction

    def __post_init__(self) -> None:
        if not all(name.strip() for name in self.keeps):
            raise ValueError("a key has a name")


@dataclass(frozen=True, slots=True)
class StrategyUsed(Note):
    """Which noise was put on what. Where two measures make a figure, each is named with its part of the budget."""

    noise: Literal["laplace", "gaussian"]
    measured: tuple[MeasuredMargin, ...]
    measure: str | None = None
    part: Fraction | None = None
    code: ClassVar[str] = "strategy"

    def __post_init__(self) -> None:
        if not self.measured:
            raise ValueError("noise is put on something")


@dataclass(frozen=True, slots=True)
class MarginsAddUp(Note):
    """Every margin is the sum of the published cells."""

    code: ClassVar[str] = "margins-add-up"


@dataclass(frozen=True, slots=True)
class MarginsAreMeans(Note):
    """The mean of a margin is that of all its people."""

    code: ClassVar[str] = "margins-are-means"


@dataclass(frozen=True, slots=True)
class MeansNotShown(Note):
    """A mean is shown only where its group is told from nobody."""

    code: ClassVar[str] = "means-not-shown"


@dataclass(frozen=True, slots=True)
class GradedMeans(Note):
    """What grades of means go by: the `precision` of the card, the relative error, or a part of the range.

    `good` and `usable` are the limits, as parts of the range. `third`: how many good ones may be far off is known.
    """

    by: Literal["precision", "relative", "range"]
    precision: Decimal | None
    good: float
    usable: float
    third: bool
    code: ClassVar[str] = "graded-means"


@dataclass(frozen=True, slots=True)
class NotNegative(Note):
    """Published figures are not negative, so sums of many small ones are too large."""

    code: ClassVar[str] = "not-negative"


@dataclass(frozen=True, slots=True)
class NotInTable(Note):
    """Who is counted in no figure."""

    without: Labels
    code: ClassVar[str] = "not-in-table"


@dataclass(frozen=True, slots=True)
class Calibrated(Note):
    """Figures meet public totals."""

    code: ClassVar[str] = "calibrated"


@dataclass(frozen=True, slots=True)
class Linearised(Note):
    """Several totals were met together; intervals follow from a linear approximation."""

    code: ClassVar[str] = "linearised"


@dataclass(frozen=True, slots=True)
class NotInTotals(Note):
    """Cells without a value of this key have no place in the totals."""

    title: Labels
    code: ClassVar[str] = "not-in-totals"


@dataclass(frozen=True, slots=True)
class LeftOut(Note):
    """Figures whose relative error is above this are left out."""

    above: Decimal
    code: ClassVar[str] = "left-out"


# --- of what is not differentially private --------------------------------------------------------------------------

POOLS: Final = frozenset({"", "sub-population", "synthetic"})
_METHODS: Final = frozenset({"i", "ii", "iii", "pair"})


@dataclass(frozen=True, slots=True)
class BootstrapGuarantee(Note):
    """Not differentially private: a nominal epsilon over neighbours drawn from rows."""

    epsilon: Decimal
    code: ClassVar[str] = "bootstrap"


@dataclass(frozen=True, slots=True)
class BootstrapNeighbours(Note):
    """From which rows neighbours are drawn: the observed ones, or those and a pool of this kind."""

    pool: str
    code: ClassVar[str] = "bootstrap-neighbours"

    def __post_init__(self) -> None:
        if self.pool not in POOLS:
            raise ValueError("a pool is one of those that there are")


@dataclass(frozen=True, slots=True)
class BootstrapMethod(Note):
    """How epsilon is split over the cells."""

    method: str
    code: ClassVar[str] = "bootstrap-method"

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            raise ValueError("a method is one of those that there are")


@dataclass(frozen=True, slots=True)
class MarginsAreSums(Note):
    """Margins are sums of the published cells, and no more is said of them."""

    code: ClassVar[str] = "margins-are-sums"


@dataclass(frozen=True, slots=True)
class NotGraded(Note):
    """No figure is graded: a grade would tell the noise."""

    code: ClassVar[str] = "not-graded"


@dataclass(frozen=True, slots=True)
class BootstrapCaution(Note):
    """Who is not protected; what the noise follows from; what the nominal epsilon is not."""

    about: Literal["outsiders", "noise", "budget"]
    code: ClassVar[str] = "bootstrap-caution"
    warns: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class UnprovenCaution(Note):
    """That nothing bounds what a value tells; that its nominal epsilon bounds nothing."""

    about: Literal["value", "budget"]
    code: ClassVar[str] = "unproven-caution"
    warns: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ModelAge(Note):
    """A model was trained on another version of the dataset than the one that was asked about."""

    model: str
    trained: int
    dataset: str
    current: int
    code: ClassVar[str] = "model-age"
    warns: ClassVar[bool] = True


# --- of collections -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimator(Note):
    """How counts were estimated; `sampled` where respondents were asked some of the questions only."""

    sampled: bool
    code: ClassVar[str] = "estimator"


@dataclass(frozen=True, slots=True)
class Variance(Note):
    """What intervals count: privacy noise; the draw of questions too; or privacy and the design of the survey."""

    counts: Literal["noise", "questions", "design"]
    code: ClassVar[str] = "variance"


@dataclass(frozen=True, slots=True)
class FalseReports(Note):
    """How far one false report moves a statistic of a question; m of them m times as far, where `proportional`."""

    question: str
    statistic: str
    reach: float | None
    proportional: bool
    code: ClassVar[str] = "false-reports"


@dataclass(frozen=True, slots=True)
class FewReports(Note):
    """A question, or a part of it, of which the reports tell little; the estimator's own words."""

    question: str
    said: str
    code: ClassVar[str] = "few-reports"
    warns: ClassVar[bool] = True


# --- of linked counts -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnderAccount(Note):
    """Who is counted: those whose account has room. `sized` where the answer tells how many they are."""

    counted: Literal["people", "households"]
    sized: bool
    code: ClassVar[str] = "under-account"


@dataclass(frozen=True, slots=True)
class RatiosNotShown(Note):
    """A ratio is absent where its denominator is not told from nobody."""

    code: ClassVar[str] = "ratios-not-shown"


@dataclass(frozen=True, slots=True)
class DrawnAtRate(Note):
    """The share of the people that was drawn, for each group. What is over groups or a population is divided by it."""

    groups: tuple[str, ...]
    rates: tuple[Decimal, ...]
    code: ClassVar[str] = "drawn-at-rate"

    def __post_init__(self) -> None:
        if not self.groups or len(self.groups) != len(self.rates):
            raise ValueError("every group has its rate")


@dataclass(frozen=True, slots=True)
class LinkedInPart(Note):
    """The public share of the holder's people whom the registry knows. Counts are scaled by it."""

    share: Decimal
    code: ClassVar[str] = "linked-in-part"


@dataclass(frozen=True, slots=True)
class KnownPopulation(Note):
    """What a reader gave: the share of the population that has the property, and how many people it has."""

    share: Decimal
    people: int | None
    code: ClassVar[str] = "known-population"


@dataclass(frozen=True, slots=True)
class LinkedProtection(Note):
    """Whom all answers about a property protect together, and how far.

    `epsilon` is for the property, against everybody outside the registry together; `record` for a record of the holder,
    against the researcher; `closing` comes once on top of either.
    """

    unit: Literal["person", "household"]
    epsilon: Decimal
    record: Decimal
    closing: Decimal
    code: ClassVar[str] = "linked-protection"


@dataclass(frozen=True, slots=True)
class NotProtected(Note):
    """What rests on the agreement alone: registry and researcher together, and the honesty of the noise."""

    code: ClassVar[str] = "not-protected"


@dataclass(frozen=True, slots=True)
class BeliefRise:
    """The highest belief after all answers, from a prior."""

    prior: Decimal
    belief: Decimal

    def __post_init__(self) -> None:
        if not 0 <= self.prior <= self.belief <= 1:
            raise ValueError("beliefs rise, between 0 and 1")


@dataclass(frozen=True, slots=True)
class BeliefTable(Note):
    """How far all answers about a property may move what somebody believes about one unit."""

    unit: Literal["person", "household"]
    rises: tuple[BeliefRise, ...]
    code: ClassVar[str] = "belief-table"

    def __post_init__(self) -> None:
        if not self.rises:
            raise ValueError("a belief table has rows")


@dataclass(frozen=True, slots=True)
class RegistryReceipt(Note):
    """The event of the registry's ledger under which the request was charged."""

    receipt: str
    code: ClassVar[str] = "receipt"
