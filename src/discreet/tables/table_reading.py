"""A table from the answer that the ledger holds: figures with intervals and quality, and the notes beside them.

The answer was charged and drawn by `release.pipeline`, like any other; what happens here is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees import text
from discreet.release import Answer, Noisy, NoisyMeasure
from discreet.results import (
    Basis,
    Calibration,
    CalibrationTarget,
    Figures,
    Number,
    Quality,
    Release,
    ReleaseKind,
    Shown,
    Statistic,
)
from discreet.results import Margin as Columns
from discreet.tables.calibrated_figures import CalibratedTable, calibrate_table
from discreet.tables.calibration import Target
from discreet.tables.formation import Formed, may_be_negative
from discreet.tables.linear.layout import Margin, keep_keys
from discreet.tables.mean_figures import mean_figures
from discreet.tables.quality import leave_out, suppress_many
from discreet.tables.table_design import Design, as_drawn
from discreet.tables.table_figures import EstimatedMeasure, MarginFigures
from discreet.tables.table_notes import describe_design, notes_of

__all__ = [
    "calibrate_estimated",
    "estimate_drawn",
    "estimate_measures",
    "figure_drawn",
    "figure_margins",
    "read_table",
]


def read_table(
    design: Design,
    answer: Answer,
    *,
    level: Decimal,
    suppress_above: Decimal | None = None,
    targets: Sequence[Target] = (),
) -> Release:
    """The table of a stored answer. With `suppress_above`, figures whose relative error is larger are left out.

    With `targets`, what is published meets them, and every figure's interval is for that.
    """
    drawn = answer.noisy.in_order_of(design.statement)
    design, formed = as_drawn(design, drawn), design.formed
    estimated = _estimated(design, drawn)
    figures = _figures(formed, estimated, level)
    calibrated = calibrate_estimated(formed, estimated[0], targets) if targets else None
    if calibrated is not None:
        figures = {margin: _fit_to(calibrated, margin, item, level) for margin, item in figures.items()}
    every_key = tuple(range(len(formed.sizes)))
    ordered = {every_key: figures.pop(every_key), **figures}
    step = _step(formed, calibrated)
    statistic = Statistic(
        name="value",
        title=formed.statistic,
        figures=Figures(
            sum(len(item.values) for item in ordered.values()),
            lambda: [_columns(formed, margin, item, suppress_above) for margin, item in ordered.items()],
        ),
        step=step,
        whole=step is not None and "." not in step,
    )
    sampling = formed.request.sampling is not None
    return Release(
        kind=ReleaseKind.TABLE,
        title=formed.title,
        claim=answer.claim,
        settlement=answer.settlement,
        source=answer.source,
        headings=formed.headings,
        statistics=(statistic,),
        level=level,
        notes=(*notes_of(design, suppress_above=suppress_above, targets=targets), *answer.warnings),
        mechanisms=answer.mechanisms,
        calibration=None if calibrated is None else _describe(formed, targets, calibrated),
        basis=Basis.NOISE_AND_SAMPLING if sampling else Basis.NOISE,
        asked={**describe_design(design, suppress_above), "method": "dp", "sql": formed.request.to_sql(formed.card)},
    )


def _step(formed: Formed, calibrated: CalibratedTable | None) -> str | None:
    step = formed.step if calibrated is None else calibrated.step
    return None if step is None else _decimal(step)


def figure_margins(
    design: Design, noisy: Noisy, *, level: Decimal, targets: Sequence[Target] = ()
) -> dict[Margin, MarginFigures]:
    """Every figure of a stored answer by margin, before any is left out."""
    return figure_drawn(design, noisy.in_order_of(design.statement), level=level, targets=targets)


def figure_drawn(
    design: Design, drawn: Sequence[NoisyMeasure], *, level: Decimal, targets: Sequence[Target] = ()
) -> dict[Margin, MarginFigures]:
    """The same of noisy measures in the order of the design's statement."""
    estimated = estimate_drawn(design, drawn)
    figures = _figures(design.formed, estimated, level)
    if not targets:
        return figures
    calibrated = calibrate_estimated(design.formed, estimated[0], targets)
    return {margin: _fit_to(calibrated, margin, item, level) for margin, item in figures.items()}


def estimate_measures(design: Design, noisy: Noisy) -> list[EstimatedMeasure]:
    """The measures of a table, each estimated from what was stored of it."""
    return estimate_drawn(design, noisy.in_order_of(design.statement))


def estimate_drawn(design: Design, drawn: Sequence[NoisyMeasure]) -> list[EstimatedMeasure]:
    """The same from noisy measures in the order of the design's statement."""
    return _estimated(as_drawn(design, drawn), drawn)


def _figures(formed: Formed, estimated: Sequence[EstimatedMeasure], level: Decimal) -> dict[Margin, MarginFigures]:
    if formed.mean is not None:
        return mean_figures(formed, estimated[0], estimated[1], level)
    return dict(_totals(formed, estimated, level))


def _estimated(design: Design, drawn: Sequence[NoisyMeasure]) -> list[EstimatedMeasure]:
    """What was stored for each measure of the table, ready to be estimated from."""
    stored = iter(drawn)
    return [
        EstimatedMeasure(component.layout, component.chosen.measured, [next(stored) for _ in component.chosen.measured])
        for component in design.components
    ]


# --- counts and totals ----------------------------------------------------------------------------------------------


def _totals(
    formed: Formed, estimated: Sequence[EstimatedMeasure], level: Decimal
) -> Iterator[tuple[Margin, MarginFigures]]:
    item, step, fold = estimated[0], formed.step, formed.fold
    assert step is not None
    nonnegative = not may_be_negative(formed)
    published = item.published(nonnegative=nonnegative, fold=fold)
    lost = LOST * float(np.abs(item.raw).sum())
    for margin in formed.request.kept():
        raw, reach = (
            keep_keys(item.raw, margin).ravel(),
            item.half_widths(margin, level).ravel() * (1 + _ROUNDING) + lost,
        )
        # where the truth is not negative, an estimate below 0 is no reason to end the interval sooner
        above = np.maximum(raw, 0) if nonnegative else raw
        low, high = _within(raw - reach, above + reach, fold)
        if nonnegative:
            low = np.maximum(low, 0)
        yield (
            margin,
            MarginFigures(
                values=_in_units(keep_keys(published, margin).ravel().tolist(), step),
                raw=_estimates(raw / fold, step),
                low=_in_units(_whole(low), step),
                high=_in_units(_whole(high), step),
                errors=item.standard_errors(margin).ravel() / fold * float(step),
                sampling=_sampling(formed, estimated, margin),
            ),
        )


def _sampling(formed: Formed, estimated: Sequence[EstimatedMeasure], margin: Margin) -> NDArray[np.float64] | None:
    """The variance that sampling adds to the figures of a margin, as measured; not below 0."""
    if formed.request.sampling is None:
        return None
    step = float(formed.statement.measures[1].step)
    return np.maximum(keep_keys(estimated[1].raw, margin).ravel() * step, 0)


def _in_units(steps: Sequence[int], step: Fraction) -> list[Number]:
    """Whole steps as published: whole numbers where the step is one, else the nearest floats."""
    numerator, denominator = step.numerator, step.denominator
    if step == 1:
        return list(steps)
    if denominator == 1:
        return [value * numerator for value in steps]
    return [value * numerator / denominator for value in steps]


def _whole(floats: NDArray[np.float64]) -> list[int]:
    """Whole floats as integers, of any size."""
    if np.abs(floats).max(initial=0) < _INT64:
        return floats.astype(np.int64).tolist()  # type: ignore[no-any-return]
    return [int(value) for value in floats.tolist()]


def _estimates(raw: NDArray[np.float64], step: Fraction) -> list[Number]:
    """Estimates as they are; whole where they happen to be, as those of cells that were measured alone."""
    scaled = raw * step.numerator / step.denominator
    result: list[Number] = scaled.tolist()
    if step.denominator == 1:
        for index in np.flatnonzero(scaled == np.floor(scaled)).tolist():
            result[index] = int(result[index])
    return result


def _within(
    low: NDArray[np.float64], high: NDArray[np.float64], fold: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals with ends on published steps. What is estimated is a whole step of the measure: where that is the
    published one, no end between two of them is needed; else, or where rounding leaves none, they are rounded outwards.
    """
    if fold > 1:
        return np.floor(low / fold), np.ceil(high / fold)
    first, last = np.ceil(low), np.floor(high)
    narrow = first > last
    return np.where(narrow, np.floor(low), first), np.where(narrow, np.ceil(high), last)


_INT64: Final = 2.0**63

LOST: Final = 1e-15
"""More than floating point takes from an estimate, as a part of the whole table: it must not cost an end a step."""

_ROUNDING: Final = 1e-10
"""The same for a half-width, as a part of itself: its coefficients are known to ten digits."""


# --- entries --------------------------------------------------------------------------------------------------------


def _columns(formed: Formed, margin: Margin, found: MarginFigures, suppress_above: Decimal | None) -> Columns:
    over = tuple(index for index in range(len(formed.sizes)) if index not in margin)
    codes, qualities = _codes(formed, margin), found.grades()
    if found.positions is not None:
        codes = tuple([column[position] for position in found.positions] for column in codes)
        qualities = [Quality.PUBLIC if low is None else item for low, item in zip(found.low, qualities, strict=True)]
    columns = Columns(over, codes, found.values, found.raw, found.low, found.high, qualities, found.before)
    if suppress_above is not None:
        judged = found.values if found.judged is None else found.judged
        hidden = suppress_many(judged, found.errors, found.sampling, above=suppress_above)
        columns = leave_out(columns, np.flatnonzero(hidden).tolist())
    if found.too_small is not None:
        columns = leave_out(columns, np.flatnonzero(found.too_small).tolist(), Quality.TOO_SMALL)
    return columns


def _codes(formed: Formed, margin: Margin) -> tuple[Sequence[Shown], ...]:
    """The codes of a margin's figures, by key, the last key varying fastest; None for what is summed over."""
    sizes = [len(key.cells or ()) if index in margin else 1 for index, key in enumerate(formed.plan.keys)]
    found: list[Sequence[Shown]] = []
    for index, (heading, key) in enumerate(zip(formed.headings, formed.plan.keys, strict=True)):
        outer, inner = prod(sizes[:index]), prod(sizes[index + 1 :])
        if index not in margin:
            found.append([None] * (outer * inner))
            continue
        run = [code for cell in key.cells or () for code in repeat(heading.code(cell), inner)]
        found.append(run * outer)
    return tuple(found)


# --- calibration ----------------------------------------------------------------------------------------------------


def calibrate_estimated(formed: Formed, estimated: EstimatedMeasure, targets: Sequence[Target]) -> CalibratedTable:
    """The published cells of counts or totals, brought to public totals."""
    step = formed.step
    assert step is not None, "means are not calibrated"
    published: NDArray[Any] = estimated.published(nonnegative=not may_be_negative(formed), fold=formed.fold)
    return calibrate_table(estimated, published, targets, fold=formed.fold, unit=float(step / formed.fold))


def _fit_to(calibrated: CalibratedTable, margin: Margin, found: MarginFigures, level: Decimal) -> MarginFigures:
    """The figures of a margin after calibration; those that are public totals have no interval and no error."""
    made, step = calibrated.figures(margin, level), calibrated.step
    indices = made.positions.tolist()
    public = made.public.tolist()
    low, high = (_in_units(_whole(ends), step) for ends in (made.low, made.high))
    sampling = None if found.sampling is None else found.sampling[made.positions] * made.factors**2
    return MarginFigures(
        values=_in_units([int(value) for value in made.values.tolist()], step),
        raw=[found.raw[index] for index in indices],
        low=[None if known else end for known, end in zip(public, low, strict=True)],
        high=[None if known else end for known, end in zip(public, high, strict=True)],
        errors=np.where(made.public, 0.0, made.errors),
        sampling=None if sampling is None else np.where(made.public, 0.0, sampling),
        positions=indices,
        before=[found.values[index] for index in indices],
    )


def _describe(formed: Formed, targets: Sequence[Target], calibrated: CalibratedTable) -> Calibration:
    """What was met, and what was done where the table alone could not say."""
    by, raked = formed.request.by, calibrated.raked
    cells = [
        [heading.code(cell) for cell in key.cells or ()]
        for heading, key in zip(formed.headings, formed.plan.keys, strict=True)
    ]
    return Calibration(
        targets=tuple(
            CalibrationTarget(target.name, tuple(by[index] for index in target.kept), target.source)
            for target in targets
        ),
        left_out=tuple(
            {by[index]: cells[index][at]}
            for index, size in enumerate(formed.sizes)
            for at in range(size)
            if at not in calibrated.present[index]
        ),
        shared_out=tuple(
            (
                targets[index].name,
                {
                    by[key]: cells[key][calibrated.present[key][position]]
                    for key, position in zip(targets[index].kept, at, strict=True)
                },
            )
            for index, at in raked.unmatched
        ),
    )


def _decimal(step: Fraction) -> str:
    return text(Decimal(step.numerator) / Decimal(step.denominator))
