"""The message of every note, in both languages: a heading and a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import Final

from discreet.catalogue import FRENCH, Numeral, Phrase, say, translate
from discreet.guarantees import text
from discreet.present.linked_messages import say_of_linked
from discreet.results import (
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
    Labels,
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

__all__ = [
    "CAPPED",
    "ESTIMATES",
    "ESTIMATORS",
    "POOLS",
    "TOO_SMALL",
    "VARIANCES",
    "cover_of",
    "say_accuracy",
    "say_message",
    "say_strategy",
]

ESTIMATES: Final = Phrase(
    "x·T/Σx: the figure x of the prepared data, times the public total T of its group over the group's own sum Σx"
)
CAPPED: Final = Phrase("weight above its cap is missing from the figures, a bias outside the intervals")
TOO_SMALL: Final = Phrase(
    "a mean or a variance is shown only where the noisy size of its group is so large that, with a probability of "
    "95%, no empty group shows one"
)
ESTIMATORS: Final = {
    "ratio_count": Phrase(
        "share among those who were asked, times the weight of all respondents (ratio estimator, Hájek)"
    ),
    "estimate": Phrase("sum of the reports over the chance of being asked (total, Horvitz–Thompson)"),
    "adjusted": Phrase("ratio counts made not negative and adding up (Norm-Sub); biased"),
}
POOLS: Final = {
    "": Phrase("rows of the observed data"),
    "sub-population": Phrase("rows of the observed data and of a declared sub-population"),
    "synthetic": Phrase("rows of the observed data and of synthetic individuals"),
}
VARIANCES: Final = {
    "noise": Phrase("privacy noise only"),
    "questions": Phrase("privacy noise and the draw of questions"),
    "design": Phrase("privacy and design"),
}

_STATISTICS: Final = {"count": Phrase("count"), "mean": Phrase("mean")}
_METHODS: Final = {
    "i": Phrase("one noise for the whole table"),
    "ii": Phrase("epsilon split over the cells"),
    "iii": Phrase("cell by cell, cell membership being public"),
    "pair": Phrase("half of epsilon for each cell"),
}
_NOISES: Final = {"laplace": Phrase("Laplace noise"), "gaussian": Phrase("Gaussian noise")}
_PREPARED: Final = Phrase("what the prepared data give (values clamped, weights capped, rows bounded per unit)")
_ON_TOP: Final = Phrase("sampling and measurement error come on top")
_COVERS: Final = {
    "cell": Phrase(
        "privacy noise only: each interval holds, with at least the stated probability, {prepared}, cell by cell",
        prepared=_PREPARED,
    ),
    "raw": Phrase(
        "privacy noise only: each interval belongs to the raw estimate and holds, with at least the stated "
        "probability, {prepared}, figure by figure",
        prepared=_PREPARED,
    ),
    "linked": Phrase(
        "privacy noise only: each interval holds, with at least the stated probability, what the "
        "registry counted, figure by figure; that of a ratio follows from intervals of both its parts, "
        "which hold together"
    ),
    "calibrated": Phrase(
        "privacy noise only: each interval belongs to the calibrated figure and holds, with about the "
        "stated probability, x·T/Σx of the prepared data (values clamped, weights capped, rows bounded "
        "per unit), figure by figure"
    ),
}
_NO_INTERVAL: Final = Phrase("none: an interval would reveal the noise, and the noise reveals single rows")
_CAUTIONS: Final = {
    "outsiders": Phrase(
        "Nobody outside the rows from which neighbours are drawn is protected, and nobody who joins the data later."
    ),
    "noise": Phrase("The amount of noise follows from single rows, so neither it nor an interval is shown."),
    "budget": Phrase("Its nominal epsilon is not part of the budget and does not add up with it."),
}
_UNPROVEN: Final = {
    "value": Phrase(
        "This value is not differentially private: nothing bounds what it reveals about a person in the data."
    ),
    "budget": Phrase("Its nominal epsilon, if it has one, is not part of the budget and bounds nothing."),
}
_FIXED: Final = {
    MarginsAddUp: (
        Phrase("Margins"),
        Phrase("Every margin is exactly the sum of the published cells. The raw estimates are unbiased."),
    ),
    MarginsAreMeans: (
        Phrase("Margins"),
        Phrase("The mean of a margin is that of all its people, not the mean of its cells."),
    ),
    MarginsAreSums: (
        Phrase("Margins"),
        Phrase("Sums of the published cells."),
    ),
    MeansNotShown: (
        Phrase("Means not shown"),
        Phrase(
            "A mean is shown only where the noisy size of its group is so large that with a probability of 95% no "
            "empty group shows one; elsewhere – is shown (too small). Intervals hold for all groups, before any is "
            "left out: of tiny groups few are shown, those whose noise was large."
        ),
    ),
    NotNegative: (
        Phrase("Small figures"),
        Phrase(
            "Published figures are not negative, which makes sums of many small ones too large on average; "
            "for such sums take the raw estimates."
        ),
    ),
    Calibrated: (
        Phrase("Calibration"),
        Phrase(
            "Figures meet public totals exactly. Each estimates {estimates}; its interval and its quality refer to "
            "that. Raw estimates are not calibrated. A figure that is a public total has no interval.",
            estimates=ESTIMATES,
        ),
    ),
    Linearised: (
        Phrase("Several totals"),
        Phrase("Several totals were met together by raking; intervals follow from a linear approximation."),
    ),
    NotGraded: (
        Phrase("Quality counts"),
        Phrase("nothing: a bootstrap release does not show its noise"),
    ),
}

Message = tuple[Labels, Labels]


def say_message(note: Note, titles: Mapping[str, Labels] | None = None) -> Message:
    """The heading and the sentence of a note; keys are named by their titles where these are given."""
    if (fixed := _FIXED.get(type(note))) is not None:
        return fixed
    match note:
        case Coverage():
            return Phrase("What an interval covers"), _say_coverage(note)
        case CappedWeights():
            return Phrase("Weights"), _say_weights(note)
        case Unbounded():
            return _WARNING, _say_unbounded(note)
        case SizeTooSmall() | BoundsUsed() | KeysChosen():
            return _say_of_question(note)
        case StrategyUsed():
            return Phrase("Strategy"), _say_strategy(note, titles or {})
        case GradedMeans():
            return Phrase("Quality of means"), _say_grades(note)
        case NotInTable() | NotInTotals() | LeftOut():
            return _say_missing(note)
        case BootstrapGuarantee() | BootstrapNeighbours() | BootstrapMethod() | BootstrapCaution():
            return _say_of_bootstrap(note)
        case UnprovenCaution():
            return _CAUTION, _UNPROVEN[note.about]
        case ModelAge():
            return _CAUTION, Phrase(
                "model '{model}' was trained on version {trained} of '{dataset}'; version {current} is current.",
                model=note.model,
                trained=note.trained,
                dataset=note.dataset,
                current=note.current,
            )
        case Estimator() | Variance() | FalseReports() | FewReports():
            return _say_of_collection(note)
        case _ if (linked := say_of_linked(note)) is not None:
            return linked
    raise AssertionError(f"note {note.code} has no message")


_WARNING: Final = Phrase("Warning")
_CAUTION: Final = Phrase("Caution")


def cover_of(notes: Iterable[Note], language: str) -> str:
    """What an interval covers, as the notes have it; empty where they do not say."""
    return next((_say_coverage(note).text(language) for note in notes if isinstance(note, Coverage)), "")


def _say_coverage(note: Coverage) -> Labels:
    if note.of == "nothing":
        return _NO_INTERVAL
    parts: list[Labels] = [_COVERS[note.of]]
    if note.ranks:
        parts.append(Phrase("for quantiles, MIN and MAX the ends of the range, and the rank is given under mechanisms"))
    if note.selected:
        parts.append(Phrase("before HAVING or LIMIT chose which cells are shown"))
    if note.least is not None:
        parts.append(_say_threshold(note.least))
    return _join_clauses([*parts, _ON_TOP])


def _say_threshold(least: int) -> Labels:
    return Phrase("only keys whose noisy count of units is at least {least:,} are shown", least=least)


def _join_clauses(clauses: Sequence[Labels]) -> Labels:
    return reduce(lambda before, after: Phrase("{before}; {after}", before=before, after=after), clauses)


def _say_weights(note: CappedWeights) -> Labels:
    if note.calibrated:
        return Phrase(
            "Weights are cut at their cap. Calibration puts back what is cut from a group as a whole; what "
            "is cut from some of it more than from others stays a bias outside the intervals."
        )
    return Phrase(
        "Weights are cut at their cap; what is cut off is missing from the figures and outside the intervals."
    )


def _say_unbounded(note: Unbounded) -> Labels:
    return Phrase(
        "Releases without a proof were made about '{population}' ({markers} so far): its epsilon no "
        "longer bounds everything disclosed.",
        population=note.population,
        markers=note.markers,
    )


# --- of questions ---------------------------------------------------------------------------------------------------


def _say_of_question(note: SizeTooSmall | BoundsUsed | KeysChosen) -> Message:
    match note:
        case SizeTooSmall():
            limits = reduce(
                lambda before, after: Phrase("{before} and {after}", before=before, after=after),
                [_say_range(item) for item in note.sizes],
            )
            return Phrase("Not shown"), Phrase(
                "{output} is shown as – where the noisy size is not above {limits}: {reason}",
                output=note.output,
                limits=limits,
                reason=TOO_SMALL,
            )
        case BoundsUsed(found=True):
            return Phrase("Bounds"), Phrase(
                "bounds of {column}, looked for with epsilon {epsilon} of the charge: {low} to {high}; values outside "
                "were moved",
                column=note.column,
                epsilon=text(note.epsilon),
                low=note.low,
                high=note.high,
            )
        case BoundsUsed():
            return Phrase("No bounds"), Phrase(
                "No bounds stood out for {column}, looked for with epsilon {epsilon} of the charge: values were moved "
                "into {low} to {high}, so the answer says next to nothing. Ask with a larger epsilon, or write bounds "
                "that are known without the rows.",
                column=note.column,
                epsilon=text(note.epsilon),
                low=note.low,
                high=note.high,
            )
    return Phrase("Keys"), _say_threshold(note.least)


def _say_range(size: Size) -> Labels:
    if size.low == size.high:
        return Phrase("{size:,}", size=size.low)
    return Phrase("{low:,} to {high:,}", low=size.low, high=size.high)


# --- of tables ------------------------------------------------------------------------------------------------------


def say_strategy(note: StrategyUsed, titles: Mapping[str, Labels] | None = None) -> Labels:
    """Which noise was put on what, in one sentence; keys by their titles where these are given."""
    measured, noise = note.measured, _NOISES[note.noise]
    if len(measured) == 1 and not measured[0].residual:
        return Phrase("{noise} on the cells alone; margins are sums of cells", noise=noise)
    if any(item.residual for item in measured):
        return Phrase(
            "{noise} on what each of {count} margins adds to those below it; cells and margins follow from all",
            noise=noise,
            count=len(measured),
        )
    shares = reduce(
        lambda before, after: Phrase("{before}, {after}", before=before, after=after),
        [_say_share(item, titles or {}) for item in measured],
    )
    return Phrase("{noise} on {shares}; every figure follows from all of them", noise=noise, shares=shares)


def _say_share(margin: MeasuredMargin, titles: Mapping[str, Labels]) -> Labels:
    keys = reduce(
        lambda before, after: Phrase("{before} × {after}", before=before, after=after),
        [titles.get(name, Labels(name, name)) for name in margin.keeps] or [Phrase("total")],
    )
    return Phrase("{keys} ({share:.1%})", keys=keys, share=float(margin.share))


def _say_strategy(note: StrategyUsed, titles: Mapping[str, Labels]) -> Labels:
    strategy = say_strategy(note, titles)
    if note.measure is None or note.part is None:
        return strategy
    return Phrase(
        "{measure}, {part:.1%} of the budget: {strategy}",
        measure=note.measure,
        part=float(note.part),
        strategy=strategy,
    )


def _say_grades(note: GradedMeans) -> Labels:
    if note.precision is not None:
        graded = Phrase(
            "by the half-width of the 95% interval: good up to {need}, the precision of the card, caution up to twice "
            "that",
            need=text(note.precision),
        )
    elif note.by == "relative":
        graded = Phrase("by the relative error, the standard error over the low end of the 95% interval")
    else:
        graded = Phrase(
            "by the half-width of the 95% interval: good up to {good:.0%} of the range of the column, caution up to "
            "{usable:.0%}",
            good=note.good,
            usable=note.usable,
        )
    if note.third:
        graded = Phrase(
            "{graded}; at most one in twenty of the good ones is expected to be wrong by more than a third",
            graded=graded,
        )
    return Phrase(
        "Graded {graded}. Bounds of the column do not enter: an interval that they cut looks narrower than it is.",
        graded=graded,
    )


def _say_missing(note: NotInTable | NotInTotals | LeftOut) -> Message:
    match note:
        case NotInTable(without):
            return Phrase("Not in the table"), Phrase(
                "Nobody with {without} is counted, not in margins either.", without=without
            )
        case NotInTotals(title):
            return Phrase("Not in the totals"), Phrase(
                "Cells without a value of '{title}' are left out: everybody in the totals has one.", title=title
            )
    return Phrase("Left out"), Phrase(
        "Figures whose relative error is above {above:.1%} are left out because they are unreliable, judged by noisy "
        "values alone.",
        above=float(note.above),
    )


# --- of what is not differentially private --------------------------------------------------------------------------


def _say_of_bootstrap(
    note: BootstrapGuarantee | BootstrapNeighbours | BootstrapMethod | BootstrapCaution,
) -> Message:
    match note:
        case BootstrapGuarantee(epsilon):
            return Phrase("Guarantee"), Phrase(
                "Not differentially private. Bootstrap differential privacy, nominal epsilon {epsilon}.",
                epsilon=text(epsilon),
            )
        case BootstrapNeighbours(pool):
            return Phrase("Neighbours"), Phrase("One row replaced by another of the {pool}.", pool=POOLS[pool])
        case BootstrapMethod(method):
            return Phrase("Method"), Phrase(
                "Discrete Laplace noise, method ({method}): {how}.", method=method, how=_METHODS[method]
            )
    return _CAUTION, _CAUTIONS[note.about]


# --- of collections -------------------------------------------------------------------------------------------------


def _say_of_collection(note: Estimator | Variance | FalseReports | FewReports) -> Message:
    match note:
        case Estimator(sampled):
            if not sampled:
                return Phrase("share, count"), ESTIMATORS["estimate"]
            return Phrase("share, count"), Phrase("{estimator}; recommended", estimator=ESTIMATORS["ratio_count"])
        case Variance(counts):
            return Phrase("variance"), VARIANCES[counts]
        case FalseReports():
            return Phrase("Poisoning"), _say_false_reports(note)
    said = Labels(note.said, translate(note.said, FRENCH))
    return _WARNING, Phrase("{question}: {said}", question=note.question, said=said) if note.question else said


def _say_false_reports(note: FalseReports) -> Labels:
    if note.reach is None:
        return Phrase(
            "too few reports for a bound: one false report may move a {statistic} by any amount",
            statistic=_STATISTICS.get(note.statistic, note.statistic),
        )
    far = Numeral(f"{math.ceil(note.reach):,}" if note.reach >= 1_000 else f"{note.reach:.4g}")
    if note.proportional:
        return Phrase(
            "one false report moves a {statistic} by at most {far}; m of them by at most m times that",
            statistic=_STATISTICS.get(note.statistic, note.statistic),
            far=far,
        )
    return Phrase(
        "one false report moves a {statistic} by at most {far}; m of them by about m times that, while m is small "
        "against the number of respondents",
        statistic=_STATISTICS.get(note.statistic, note.statistic),
        far=far,
    )


def say_accuracy(*, level: Decimal, rows: int, depth: int | None, side: str | None) -> str:
    """How near the rank of a quantile or an extreme comes to the one aimed at."""
    if depth is None:
        return say(
            "with probability at least {level} at most {rows:,} rows too many lie on either side of it",
            level=text(level),
            rows=rows,
        )
    if side == "above":
        return say(
            "aims at a value with {depth:,} rows above it, so as not to lie beyond the rows; with probability at least "
            "{level} its rank is at most {rows:,} rows farther from that than the nearest value's",
            depth=depth,
            level=text(level),
            rows=rows,
        )
    return say(
        "aims at a value with {depth:,} rows below it, so as not to lie beyond the rows; with probability at least "
        "{level} its rank is at most {rows:,} rows farther from that than the nearest value's",
        depth=depth,
        level=text(level),
        rows=rows,
    )
