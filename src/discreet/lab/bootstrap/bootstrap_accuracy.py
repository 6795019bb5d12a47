"""How accurate a bootstrap release is, what it gains over public bounds, and which method suits which cell.

Refs: [P] Theorem 4 and Result 12, with the corrected statement: with probability at least 1 - gamma no value is off
by more than ln(k/gamma) * sensitivity / epsilon in absolute value. The sensitivities behind these figures come from the
rows, so all of it is for the custodian alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from discreet.catalogue import numeral, say, say_count
from discreet.guarantees import ExactLike, exact
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    noise_scales,
    released_scales,
    table_sensitivity,
)

__all__ = [
    "Advice",
    "ScaleComparison",
    "compare_methods",
    "error_bound",
    "gain_ratio",
    "gamma_accuracy",
    "noisier_cells",
    "recommend",
]

CellName = TypeVar("CellName")

_TINY = 3
"""Cells of fewer rows are better left out: the paper leaves out one of two."""


def error_bound(*, sensitivity: int | Fraction, epsilon: ExactLike, values: int, gamma: ExactLike) -> float:
    """With probability at least 1 - gamma, none of so many values is off by more than this.

    For continuous Laplace noise as it stands; for discrete noise once rounded up to a whole number of steps.
    """
    if values < 1 or sensitivity < 0:
        raise ValueError("at least one value, and a sensitivity that is not negative")
    chance = exact(gamma, parameter="gamma", below=1)
    return math.log(values / float(chance)) * float(sensitivity) / float(exact(epsilon, parameter="epsilon"))


def gamma_accuracy(*, sensitivity: int | Fraction, epsilon: ExactLike, values: int, gamma: ExactLike) -> float:
    """The paper's measure of utility: one over the error bound; infinite where nothing is noised."""
    bound = error_bound(sensitivity=sensitivity, epsilon=epsilon, values=values, gamma=gamma)
    return 1 / bound if bound else math.inf


def gain_ratio(*, public: int, bootstrap: int) -> Fraction | None:
    """How many times more accurate the bootstrap is than public bounds; None where it would release exactly."""
    return Fraction(public, bootstrap) if bootstrap else None


@dataclass(frozen=True, slots=True)
class ScaleComparison(Generic[CellName]):
    """The scales of every method at epsilon 1, cell by cell, and their mean over the table."""

    scales: Mapping[ScaleMethod, Mapping[CellName, int]]

    def mean(self, method: ScaleMethod) -> float:
        found = self.scales[method].values()
        return sum(found) / len(found)

    def least_noisy(self, cell: CellName) -> tuple[ScaleMethod, ...]:
        """The methods that give this cell the least noise; several where they agree."""
        least = min(scales[cell] for scales in self.scales.values())
        return tuple(method for method, scales in self.scales.items() if scales[cell] == least)

    def best(self) -> ScaleMethod:
        """The method with the least mean scale; of equals, the first."""
        return min(self.scales, key=self.mean)


def compare_methods(
    summaries: Mapping[CellName, CellSummary],
    *,
    statistic: TableKind,
    public: PublicBounds,
    outside: bool = False,
    membership_public: bool = False,
) -> ScaleComparison[CellName]:
    """Every method that may be used, as it is released: (iii) only for totals whose cell membership is public."""
    methods = [ScaleMethod.MAXIMUM, ScaleMethod.SPLIT, ScaleMethod.PAIR]
    methods += [ScaleMethod.MEMBERSHIP] if membership_public and statistic is TableKind.TOTAL else []
    return ScaleComparison(
        {
            method: released_scales(summaries, method=method, statistic=statistic, public=public, outside=outside)
            for method in methods
        }
    )


def noisier_cells(
    summaries: Mapping[CellName, CellSummary],
    *,
    statistic: TableKind,
    printed: bool = False,
    outside: bool = False,
) -> list[CellName]:
    """The cells that have more noise under (i) than under (ii)."""
    scales = {
        method: noise_scales(summaries, method=method, statistic=statistic, printed=printed, outside=outside)
        for method in (ScaleMethod.MAXIMUM, ScaleMethod.SPLIT)
    }
    return [cell for cell in summaries if scales[ScaleMethod.MAXIMUM][cell] > scales[ScaleMethod.SPLIT][cell]]


# --- advice ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Advice(Generic[CellName]):
    """What suits the table and each of its cells, in sentences for the custodian.

    `helps` says whether the best method beats differential privacy with public bounds; `leave_out` are cells of fewer
    than three rows.
    """

    method: ScaleMethod
    helps: bool
    leave_out: tuple[CellName, ...]
    table: tuple[str, ...]
    cells: Mapping[CellName, str]


def recommend(
    summaries: Mapping[CellName, CellSummary],
    *,
    statistic: TableKind,
    public: PublicBounds,
    name: Callable[[CellName], str] = str,
    outside: bool = False,
    membership_public: bool = False,
) -> Advice[CellName]:
    """The method with the least mean noise, whether it is worth its promise, and what to do about single cells."""
    comparison = compare_methods(
        summaries, statistic=statistic, public=public, outside=outside, membership_public=membership_public
    )
    best = comparison.best()
    tiny = tuple(cell for cell, summary in summaries.items() if 0 < summary.n < _TINY)
    against = public.table(len(summaries))
    helps = comparison.mean(best) < against
    own = noise_scales(summaries, method=best, statistic=statistic, outside=outside)
    return Advice(
        method=best,
        helps=helps,
        leave_out=tiny,
        table=(
            _choice(comparison, best),
            _worth(comparison.mean(best), against, helps=helps, statistic=statistic),
            *_split_words(comparison, summaries, name),
            *_tiny_words(tiny, summaries, name, outside=outside),
        ),
        cells={cell: _cell_words(comparison, best, cell, still=not own[cell]) for cell in summaries},
    )


def _choice(comparison: ScaleComparison[CellName], best: ScaleMethod) -> str:
    means = ", ".join(f"({method}) {_number(comparison.mean(method))}" for method in comparison.scales)
    return say(
        "Method ({best}) adds the least noise over the table. Mean scales at epsilon 1: {means}.",
        best=best,
        means=means,
    )


def _worth(mean: float, against: int, *, helps: bool, statistic: TableKind) -> str:
    if statistic is TableKind.COUNT:
        return say(
            "For counts differential privacy needs no more noise than this: release the table with --method dp, which "
            "protects everybody and may state its noise."
        )
    if not helps:
        return say(
            "Differential privacy with the card's bounds has scale {scale} at epsilon 1, no more than this on average: "
            "bootstrap gains nothing here. Use --method dp.",
            scale=_number(against),
        )
    return say(
        "Differential privacy with the card's bounds has scale {scale} at epsilon 1; bootstrap is {times:.3g} times "
        "less noisy on average, but promises nothing to people outside the data. Tighter bounds in the card may give "
        "the same and keep the proof.",
        scale=_number(against),
        times=against / mean,
    )


def _split_words(
    comparison: ScaleComparison[CellName], summaries: Mapping[CellName, CellSummary], name: Callable[[CellName], str]
) -> list[str]:
    maximum, split = comparison.scales[ScaleMethod.MAXIMUM], comparison.scales[ScaleMethod.SPLIT]
    noisier = [cell for cell in summaries if maximum[cell] > split[cell]]
    if not noisier:
        return [say("No cell has more noise under (i) than under (ii).")]
    cells = _listed([name(cell) for cell in noisier])
    return [say("More noise under (i) than under (ii): {cells}.", cells=cells)]


def _tiny_words(
    tiny: Sequence[CellName],
    summaries: Mapping[CellName, CellSummary],
    name: Callable[[CellName], str],
    *,
    outside: bool,
) -> list[str]:
    if not tiny:
        return []
    without = {cell: summary for cell, summary in summaries.items() if cell not in tiny}
    rest = _number(table_sensitivity(without, outside=True)) if without else "0"
    whole = _number(table_sensitivity(summaries, outside=outside))
    return [
        say(
            "Fewer than {least} rows: {cells}. Join such a cell with another, or leave it out; without them the scale "
            "of (i) at epsilon 1 is {rest} instead of {whole}. Which cells are left out tells that they are small.",
            least=_TINY,
            cells=_listed([name(cell) for cell in tiny]),
            rest=rest,
            whole=whole,
        )
    ]


def _cell_words(comparison: ScaleComparison[CellName], best: ScaleMethod, cell: CellName, *, still: bool) -> str:
    least = comparison.least_noisy(cell)
    scales = ", ".join(f"({method}) {_number(scales[cell])}" for method, scales in comparison.scales.items())
    if still:
        return say(
            "Scales at epsilon 1: {scales}. No row of the data moves this cell: it has no less noise than any other.",
            scales=scales,
        )
    if best in least:
        return say(
            "Scales at epsilon 1: {scales}. Method ({best}) is also the least noisy here.", scales=scales, best=best
        )
    return say(
        "Scales at epsilon 1: {scales}. Method ({least}) would be less noisy here than ({best}).",
        scales=scales,
        least=least[0],
        best=best,
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = "; ".join(names[:most])
    if len(names) <= most:
        return shown
    return say_count("{shown}; and {count} more", "{shown}; and {count} more", len(names) - most, shown=shown)


def _number(value: float) -> str:
    return numeral(value, ",.0f" if float(value).is_integer() or abs(value) >= 100 else ",.3g")
