"""A table from the answer that the ledger holds: figures with intervals and quality, and the words beside them.

The answer was charged and drawn by `release.asking`, like any other; what happens here is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product, repeat, starmap
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.guarantees.numbers import text
from discreet.plan.outputs import Mean
from discreet.release.answers import Answer
from discreet.release.evaluation import enclose, joint_level, round_out
from discreet.release.noising import NoisyMeasure
from discreet.tables.calibrated import CalibratedTable, calibrate_table
from discreet.tables.calibration import Target
from discreet.tables.figures import Estimated
from discreet.tables.forming import Formed, may_be_negative
from discreet.tables.layout import Margin, keep_keys
from discreet.tables.measuring import Design, as_drawn
from discreet.tables.quality import basis, leave_out, rate_many, suppress_many
from discreet.tables.table import Entry, Figures, Number, Quality, Shown, Table
from discreet.tables.wording import ESTIMATES, describe_design, facts_of_table, notes_of

__all__ = ["read_table"]


@dataclass(frozen=True)
class _Figures:
    """The figures of one margin, flat: what is published, what it was estimated from, its ends and standard errors.

    `sampling` are variances that sampling adds, where they were measured. After calibration, `positions` are those of
    the margin's figures that are left, and `before` what would have been published of them without.
    """

    values: Sequence[Number]
    raw: Sequence[Number]
    low: Sequence[Number | None]
    high: Sequence[Number | None]
    errors: NDArray[np.float64]
    sampling: NDArray[np.float64] | None = None
    positions: Sequence[int] | None = None
    before: Sequence[Number | None] | None = None


def read_table(
    design: Design,
    answer: Answer,
    *,
    level: Decimal,
    suppress_above: Decimal | None = None,
    targets: Sequence[Target] = (),
) -> Table:
    """The table of a stored answer. With `suppress_above`, figures whose relative error is larger are left out.

    With `targets`, what is published meets them, and every figure's interval is for that.
    """
    drawn = answer.noisy.in_order_of(design.statement)
    design, formed = as_drawn(design, drawn), design.formed
    estimated = _estimated(design, drawn)
    if formed.mean is not None:
        figures = dict(_means(formed, estimated[0], estimated[1], level))
    else:
        figures = dict(_totals(formed, estimated, level))
    calibrated = _calibrated(formed, estimated[0], targets) if targets else None
    if calibrated is not None:
        figures = {margin: _fit_to(calibrated, margin, one, level) for margin, one in figures.items()}
    every_key = tuple(range(len(formed.sizes)))
    cells = {every_key: figures.pop(every_key)}

    def entries(found: Mapping[Margin, _Figures]) -> Figures:
        return Figures(
            sum(len(one.values) for one in found.values()),
            lambda: [entry for margin, one in found.items() for entry in _entries(formed, margin, one, suppress_above)],
        )

    said = basis(sampling=formed.request.sampling is not None)
    table = Table(
        dataset=formed.card.dataset,
        title=formed.title,
        statistic=formed.statistic,
        headings=formed.headings,
        cells=entries(cells),
        margins=entries(figures),
        step=_step(formed, calibrated),
        level=text(level),
        guarantee=answer.noisy.guarantee,
        quality_basis=said,
        release=facts_of_table(formed, answer, calibrated=bool(targets)),
        notes=notes_of(design, suppress_above=suppress_above, targets=targets),
        created=datetime.now(UTC).date().isoformat(),
        description=describe_design(design, suppress_above),
    )
    return table if calibrated is None else replace(table, calibration=_describe(formed, targets, calibrated))


def _step(formed: Formed, calibrated: CalibratedTable | None) -> str | None:
    step = formed.step if calibrated is None else calibrated.step
    return None if step is None else _decimal(step)


def _estimated(design: Design, drawn: Sequence[NoisyMeasure]) -> list[Estimated]:
    """What was stored for each measure of the table, ready to be estimated from."""
    stored = iter(drawn)
    return [
        Estimated(component.layout, component.chosen.measured, [next(stored) for _ in component.chosen.measured])
        for component in design.components
    ]


# --- counts and totals ----------------------------------------------------------------------------------------------


def _totals(formed: Formed, estimated: Sequence[Estimated], level: Decimal) -> Iterator[tuple[Margin, _Figures]]:
    one, step, fold = estimated[0], formed.step, formed.fold
    assert step is not None
    nonnegative = not may_be_negative(formed)
    published = one.published(nonnegative=nonnegative, fold=fold)
    lost = LOST * float(np.abs(one.raw).sum())
    for margin in formed.request.kept():
        raw, reach = keep_keys(one.raw, margin).ravel(), one.half_widths(margin, level).ravel() * (1 + _ROUNDING) + lost
        low, high = _within(raw - reach, raw + reach, fold)
        if nonnegative:
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        yield (
            margin,
            _Figures(
                values=_in_units(keep_keys(published, margin).ravel().tolist(), step),
                raw=_estimates(raw / fold, step),
                low=_in_units(_whole(low), step),
                high=_in_units(_whole(high), step),
                errors=one.standard_errors(margin).ravel() / fold * float(step),
                sampling=_sampling(formed, estimated, margin),
            ),
        )


def _sampling(formed: Formed, estimated: Sequence[Estimated], margin: Margin) -> NDArray[np.float64] | None:
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
    found: list[Number] = scaled.tolist()
    if step.denominator == 1:
        for place in np.flatnonzero(scaled == np.floor(scaled)).tolist():
            found[place] = int(found[place])
    return found


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


# --- means ----------------------------------------------------------------------------------------------------------


def _means(formed: Formed, total: Estimated, size: Estimated, level: Decimal) -> Iterator[tuple[Margin, _Figures]]:
    """A mean of every figure from its own total and size, and what it takes inside the box of both intervals."""
    mean, joint = formed.mean, joint_level(level, 2)
    assert mean is not None
    for margin in formed.request.kept():
        totals, sizes = keep_keys(total.raw, margin).ravel(), keep_keys(size.raw, margin).ravel()
        values = [_mean(mean, t, n) for t, n in zip(totals.tolist(), sizes.tolist(), strict=True)]
        if joint is None:
            ends = [(float(mean.low), float(mean.high))] * len(values)
        else:
            reach = (total.half_widths(margin, joint).ravel(), size.half_widths(margin, joint).ravel())
            boxes = zip(*_box(totals, reach[0]), *_box(sizes, reach[1]), strict=True)
            ends = [_mean_ends(mean, box) for box in boxes]
        low, high = zip(*ends, strict=True)
        yield margin, _Figures(values, values, low, high, _mean_errors(mean, np.array(low), np.array(high), level))


def _mean_errors(
    mean: Mean, low: NDArray[np.float64], high: NDArray[np.float64], level: Decimal
) -> NDArray[np.float64]:
    """Standard errors by the width of the intervals; infinite where an interval is the whole range and says nothing.

    As for a normal law at the level: a flag should not follow the level that somebody asks for.
    """
    nothing = (low <= float(mean.low)) & (high >= float(mean.high))
    return np.where(nothing, np.inf, (high - low) / (2 * NormalDist().inv_cdf((1 + float(level)) / 2)))


def _box(centres: NDArray[np.float64], reach: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    low, high = np.floor(centres - reach).tolist(), np.ceil(centres + reach).tolist()
    return [int(value) for value in low], [int(value) for value in high]


def _mean(mean: Mean, total: float, size: float) -> float:
    value = float(mean.centre) + total * float(mean.total_step) / max(size * float(mean.size_step), float(mean.floor))
    return min(max(value, float(mean.low)), float(mean.high))


def _mean_ends(mean: Mean, box: tuple[int, int, int, int]) -> tuple[float, float]:
    low, high = enclose(mean, {mean.total: (box[0], box[1]), mean.size: (box[2], box[3])})
    assert low is not None
    assert high is not None
    return (
        float(round_out(low.numerator, low.denominator, up=False)),
        float(round_out(high.numerator, high.denominator, up=True)),
    )


# --- entries --------------------------------------------------------------------------------------------------------


def _entries(formed: Formed, margin: Margin, found: _Figures, suppress_above: Decimal | None) -> list[Entry]:
    over = tuple(place for place in range(len(formed.sizes)) if place not in margin)
    qualities = rate_many(found.values, found.errors, found.sampling)
    count = len(found.values)
    before: Iterable[Number | None] = repeat(None, count) if found.before is None else found.before
    codes: Iterable[tuple[Shown, ...]] = _codes(formed, margin)
    if found.positions is not None:
        every = list(codes)
        codes = [every[position] for position in found.positions]
        qualities = [Quality.PUBLIC if low is None else one for low, one in zip(found.low, qualities, strict=True)]
    columns = (found.values, found.raw, found.low, found.high, qualities, before)
    entries = list(starmap(Entry, zip(codes, repeat(over, count), *columns, strict=True)))
    if suppress_above is not None:
        hidden = suppress_many(found.values, found.errors, found.sampling, above=suppress_above)
        for place in np.flatnonzero(hidden).tolist():
            entries[place] = leave_out(entries[place])
    return entries


def _codes(formed: Formed, margin: Margin) -> Iterator[tuple[Shown, ...]]:
    """The codes of a margin's figures, the last key varying fastest; None for what is summed over."""
    shown: list[list[Shown]] = []
    for place, (heading, key) in enumerate(zip(formed.headings, formed.plan.keys, strict=True)):
        cells = key.cells or ()
        shown.append([heading.code(cell) for cell in cells] if place in margin else [None])
    return product(*shown)


# --- calibration ----------------------------------------------------------------------------------------------------


def _calibrated(formed: Formed, estimated: Estimated, targets: Sequence[Target]) -> CalibratedTable:
    step = formed.step
    assert step is not None, "means are not calibrated"
    published: NDArray[Any] = estimated.published(nonnegative=not may_be_negative(formed), fold=formed.fold)
    return calibrate_table(estimated, published, targets, fold=formed.fold, unit=float(step / formed.fold))


def _fit_to(calibrated: CalibratedTable, margin: Margin, found: _Figures, level: Decimal) -> _Figures:
    """The figures of a margin after calibration; those that are public totals have no interval and no error."""
    made, step = calibrated.figures(margin, level), calibrated.step
    places = made.positions.tolist()
    public = made.public.tolist()
    low, high = (_in_units(_whole(ends), step) for ends in (made.low, made.high))
    sampling = None if found.sampling is None else found.sampling[made.positions] * made.factors**2
    return _Figures(
        values=_in_units([int(value) for value in made.values.tolist()], step),
        raw=[found.raw[place] for place in places],
        low=[None if known else end for known, end in zip(public, low, strict=True)],
        high=[None if known else end for known, end in zip(public, high, strict=True)],
        errors=np.where(made.public, 0.0, made.errors),
        sampling=None if sampling is None else np.where(made.public, 0.0, sampling),
        positions=places,
        before=[found.values[place] for place in places],
    )


def _describe(formed: Formed, targets: Sequence[Target], calibrated: CalibratedTable) -> Mapping[str, object]:
    """What was met, what a figure estimates, and what was done where the table alone could not say."""
    by, raked = formed.request.by, calibrated.raked
    cells = [
        [heading.code(cell) for cell in key.cells or ()]
        for heading, key in zip(formed.headings, formed.plan.keys, strict=True)
    ]
    return {
        "to": [
            {
                "totals": target.name,
                "by": [by[place] for place in target.kept],
                **({} if target.source is None else {"source": {"en": target.source.en, "fr": target.source.fr}}),
            }
            for target in targets
        ],
        "estimates": ESTIMATES,
        "intervals": "linearised" if len(targets) > 1 else "of the quotient",
        "left_out": [
            {by[place]: cells[place][at]}
            for place, size in enumerate(formed.sizes)
            for at in range(size)
            if at not in calibrated.present[place]
        ],
        "met": True,
        "shared_out": [
            {
                "totals": targets[place].name,
                "keys": {
                    by[key]: cells[key][calibrated.present[key][position]]
                    for key, position in zip(targets[place].kept, at, strict=True)
                },
            }
            for place, at in raked.unmatched
        ],
    }


def _decimal(step: Fraction) -> str:
    return text(Decimal(step.numerator) / Decimal(step.denominator))
