"""What the rows lose: pairs of data sets that differ in one row, the exact loss, and what samples alone can show.

The paper promises epsilon 1 to the rows of D. Each trial is a table before and after one row is replaced, under noise
of stated scales: the loss of Laplace noise is the sum of change over scale. The bound from samples knows no formula: an
event is chosen on one half of them and measured on the other, by Clopper and Pearson's limits [CP34].

The noise is repeatable and in floating point: a study, and never a release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase
from discreet.lab.audit import audit_loss
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    cell_sensitivities,
    count_summary,
    noise_scales,
    printed_table_sensitivity,
    table_sensitivity,
)
from discreet_replications.farms.rice_farms import CELLS, Cell, Farms, name_cell

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "CONFIDENCE",
    "OUTSIDER",
    "PUBLIC_BOUND",
    "SAMPLES",
    "LossFinding",
    "RowAudit",
    "Trial",
    "audit_farms",
    "audit_rows",
    "bound_loss",
    "list_trials",
]

OUTSIDER: Final = 50_000
PUBLIC_BOUND: Final = 20_000
SAMPLES: Final = 200_000
CONFIDENCE: Final = 0.999
_SEED: Final = 5_004
_CELL_PRINTED: Final = Phrase("{cell} alone, as printed: {scale:,}")
_CELL_RIGHT: Final = Phrase("{cell} alone, corrected: {scale:,}")
_TABLE_RIGHT: Final = Phrase("whole table (i), corrected: {scale:,}")


@dataclass(frozen=True, slots=True)
class Trial:
    """Two data sets that differ in one row: how far each touched cell moves, and the noise it has before and after.

    `farm` says what moves, `noise` how the noise was chosen; `group` is 'inside' for the paper's own neighbours and
    'outside' for a row that is not in the data.
    """

    group: str
    farm: Phrase
    noise: Phrase
    changes: tuple[int, ...]
    scales: tuple[int, ...]
    scales_after: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.changes) == len(self.scales) == len(self.scales_after) or min(self.scales) < 1:
            raise ValueError("every touched cell has a change and a positive scale, before and after")

    @property
    def loss(self) -> Fraction | None:
        """The largest log-likelihood ratio; None where there is none, because tails of two scales have no bound."""
        if self.scales != self.scales_after:
            return None
        return sum((Fraction(abs(by), scale) for by, scale in zip(self.changes, self.scales, strict=True)), Fraction())


@dataclass(frozen=True, slots=True)
class LossFinding:
    """A trial and the loss that samples alone show, at the confidence of the audit."""

    trial: Trial
    at_least: float

    @property
    def kept(self) -> bool:
        """Whether the loss stays within the epsilon of 1 that the paper promises."""
        return self.trial.loss is not None and self.trial.loss <= 1

    def to_dict(self) -> dict[str, Any]:
        loss = self.trial.loss
        return {
            "group": self.trial.group,
            "farm": self.trial.farm.en,
            "noise": self.trial.noise.en,
            "changes": list(self.trial.changes),
            "scales": list(self.trial.scales),
            "scales_after": list(self.trial.scales_after),
            "loss": None if loss is None else float(loss),
            "unbounded": loss is None,
            "at_least": self.at_least,
            "within_epsilon": self.kept,
        }


@dataclass(frozen=True, slots=True)
class RowAudit:
    """What the rows themselves say.

    `largest_change` is found among all pairs of rows; `beyond` of them lose more than epsilon under the paper's
    method (i) when they are replaced; `outsiders` would have lost more, had they been outside while the others set the
    noise of their cell, and for `unbounded` of them there would have been no noise at all.
    """

    rows: int
    largest_change: int
    beyond: int
    outsiders: int
    unbounded: int

    def to_dict(self) -> dict[str, int]:
        return {
            "rows": self.rows,
            "largest_change": self.largest_change,
            "beyond_epsilon_under_i": self.beyond,
            "outsiders_beyond_epsilon": self.outsiders,
            "outsiders_without_bound": self.unbounded,
        }


def audit_farms(farms: Farms, *, samples: int = SAMPLES) -> list[LossFinding]:
    """Every trial with its loss, and what so many samples of each side show."""
    generator = np.random.default_rng(_SEED)
    return [LossFinding(trial, bound_loss(trial, generator, samples=samples)) for trial in list_trials(farms)]


# --- trials ---------------------------------------------------------------------------------------------------------


def list_trials(farms: Farms) -> list[Trial]:
    """The row that moves most, within the paper's own neighbours and from outside, under each choice of noise."""
    return [*_count_trials(farms), *_inside_trials(farms), *_outside_trials(farms)]


def _count_trials(farms: Farms) -> list[Trial]:
    counts = {cell: count_summary(summary.n) for cell, summary in farms.cells.items()}
    printed, right = printed_table_sensitivity(counts, statistic=TableKind.COUNT), table_sensitivity(counts)
    farm = Phrase("any row changes its cell")
    before = Phrase("table of counts, as printed: {scale}", scale=printed)
    after = Phrase("table of counts, corrected: {scale}", scale=right)
    return [_trial("inside", farm, before, (-1, 1), printed), _trial("inside", farm, after, (-1, 1), right)]


def _inside_trials(farms: Farms) -> list[Trial]:
    cells = farms.cells
    leaves, enters = sorted(CELLS, key=lambda cell: cells[cell].reach, reverse=True)[:2]
    moved = _moves(cells, leaves, enters)
    changes = (-cells[leaves].high, cells[enters].high)
    printed, right = printed_table_sensitivity(cells, statistic=TableKind.TOTAL), table_sensitivity(cells)
    small = _smallest(cells)
    gone = Phrase(
        "the row of {output:,} kg in {cell} becomes one of another cell",
        output=cells[small].high,
        cell=name_cell(small),
    )
    own, fitting = cells[small].spread, cell_sensitivities(cells)[small]
    return [
        _trial("inside", gone, _CELL_PRINTED.about(cell=name_cell(small), scale=own), (-cells[small].high,), own),
        _trial("inside", gone, _CELL_RIGHT.about(cell=name_cell(small), scale=fitting), (-cells[small].high,), fitting),
        _trial("inside", moved, Phrase("whole table (i), as printed: {scale:,}", scale=printed), changes, printed),
        _trial("inside", moved, _TABLE_RIGHT.about(scale=right), changes, right),
        _split_trial(cells),
    ]


def _split_trial(cells: Mapping[Cell, CellSummary]) -> Trial:
    """Method (ii) as printed: each cell's epsilon/9 is exceeded, and the table is saved by touching two cells only."""
    scales = noise_scales(cells, method=ScaleMethod.SPLIT, statistic=TableKind.TOTAL, printed=True)
    first, second = sorted(CELLS, key=lambda cell: Fraction(cells[cell].high, scales[cell]), reverse=True)[:2]
    pair = (scales[first], scales[second])
    changes = (-cells[first].high, cells[second].high)
    noise = Phrase("whole table (ii), as printed: 9·V")
    return Trial("inside", _moves(cells, first, second), noise, changes, pair, pair)


def _outside_trials(farms: Farms) -> list[Trial]:
    cells, kilograms = farms.cells, max(OUTSIDER, 2 * max(summary.high for summary in farms.cells.values()))
    small, top = _smallest(cells), max(CELLS, key=lambda cell: cells[cell].high)
    low, high, name = cells[small].low, cells[small].high, name_cell(small)
    own, fitting = cells[small].spread, cell_sensitivities(cells)[small]
    cell = Phrase(
        "an outsider of {joins:,} kg joins {cell} in place of its row of {output:,} kg",
        joins=kilograms,
        cell=name,
        output=high,
    )
    table = Phrase(
        "an outsider of {joins:,} kg joins {cell} in place of the row of {output:,} kg in {other}",
        joins=kilograms,
        cell=name,
        output=cells[top].high,
        other=name_cell(top),
    )
    change = kilograms - high
    right, public = table_sensitivity(cells), PublicBounds(low=0, high=PUBLIC_BOUND)
    clamped = min(kilograms, PUBLIC_BOUND)
    across = (-min(cells[top].high, PUBLIC_BOUND), clamped)
    anew = Phrase("{cell} alone, computed anew with it", cell=name)
    bounded = Phrase(
        "{cell} alone, public bounds 0 to {bound:,}: {scale:,}", cell=name, bound=PUBLIC_BOUND, scale=public.cell
    )
    whole = Phrase("whole table, public bounds 0 to {bound:,}: {scale:,}", bound=PUBLIC_BOUND, scale=public.table(9))
    return [
        _trial("outside", cell, _CELL_PRINTED.about(cell=name, scale=own), (change,), own),
        Trial("outside", cell, anew, (change,), (own,), (kilograms - low,)),
        _trial("outside", cell, _CELL_RIGHT.about(cell=name, scale=fitting), (change,), fitting),
        _trial("outside", table, _TABLE_RIGHT.about(scale=right), (-cells[top].high, kilograms), right),
        _trial("outside", cell, bounded, (clamped - min(high, clamped),), public.cell),
        _trial("outside", table, whole, across, public.table(9)),
    ]


def _moves(cells: Mapping[Cell, CellSummary], leaves: Cell, enters: Cell) -> Phrase:
    return Phrase(
        "the row of {output:,} kg in {cell} becomes one of {becomes:,} kg in {other}",
        output=cells[leaves].high,
        cell=name_cell(leaves),
        becomes=cells[enters].high,
        other=name_cell(enters),
    )


def _trial(group: str, farm: Phrase, noise: Phrase, changes: tuple[int, ...], scale: int) -> Trial:
    scales = (scale,) * len(changes)
    return Trial(group, farm, noise, changes, scales, scales)


def _smallest(cells: Mapping[Cell, CellSummary]) -> Cell:
    return min(CELLS, key=lambda cell: cells[cell].spread)


# --- samples --------------------------------------------------------------------------------------------------------


def bound_loss(trial: Trial, generator: np.random.Generator, *, samples: int = SAMPLES) -> float:
    """A lower bound of the loss, right with the stated confidence: no more is assumed than that samples are fair.

    It cannot exceed about ln(samples/15), however large the loss is; 0 when nothing was found.
    """
    before, after = (_log_ratio(trial, values) for values in _draw(trial, generator, samples))
    return audit_loss(before, after, claimed=1, alpha=1 - CONFIDENCE).lower_bound


def _draw(trial: Trial, generator: np.random.Generator, samples: int) -> tuple[NDArray[float64], NDArray[float64]]:
    """The touched cells, counted from their totals before: noise alone, and the change with its noise."""
    shape = (samples, len(trial.changes))
    before = generator.laplace(size=shape) * np.array(trial.scales, dtype=float)
    after = generator.laplace(size=shape) * np.array(trial.scales_after, dtype=float) + np.array(trial.changes)
    return before, after


def _log_ratio(trial: Trial, values: NDArray[float64]) -> NDArray[float64]:
    """How much likelier each value is before than after; it only picks the event, so its rounding does no harm."""
    before, after = np.array(trial.scales, dtype=float), np.array(trial.scales_after, dtype=float)
    ratios = np.abs(values - np.array(trial.changes)) / after - np.abs(values) / before + np.log(after / before)
    # The ratio has atoms at its extremes; rounding keeps each of them one value.
    return np.asarray(ratios.sum(axis=1).round(9))


# --- rows -----------------------------------------------------------------------------------------------------------


def audit_rows(farms: Farms) -> RowAudit | None:
    """All pairs of rows, and each row in turn as the outsider; None without rows."""
    if farms.rows is None:
        return None
    worst = _worst_changes(farms.rows)
    printed = printed_table_sensitivity(farms.cells, statistic=TableKind.TOTAL)
    beyond, unbounded = _count_outsiders(farms.rows)
    return RowAudit(
        rows=worst.size,
        largest_change=int(worst.max()),
        beyond=int((worst > printed).sum()),
        outsiders=beyond,
        unbounded=unbounded,
    )


def _worst_changes(rows: Mapping[Cell, Sequence[int]]) -> NDArray[Any]:
    """For each row, how far the table moves when the worst other row takes its place."""
    values = np.concatenate([np.array(rows[cell], dtype=np.int64) for cell in CELLS])
    places = np.repeat(np.arange(len(CELLS)), [len(rows[cell]) for cell in CELLS])
    return np.array(
        [
            np.where(places == index, np.abs(values - value), values + value).max()
            for value, index in zip(values, places, strict=True)
        ]
    )


def _count_outsiders(rows: Mapping[Cell, Sequence[int]]) -> tuple[int, int]:
    """Farms that lie outside the range of the others in their cell, and those whose cell would have had no noise."""
    outside = unbounded = 0
    for values in rows.values():
        ordered = sorted(values)
        for index, value in enumerate(ordered):
            rest = ordered[:index] + ordered[index + 1 :]
            if value < rest[0] or value > rest[-1]:
                outside += 1
                unbounded += rest[0] == rest[-1]
    return outside, unbounded
