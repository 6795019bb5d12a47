"""Figures of a query: the estimates of every group at each ε, and the error against ε with theory's line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import Phrase, language, numeral, say
from discreet.lab.study.findings.advice import tell_epsilons
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series
from discreet.lab.study.report.palette import STROKE, TRUTH, look_of
from discreet.lab.study.report.report_numbers import tell_amount
from discreet.lab.study.report.study_figures import SMALL_PRINT, anchors, facet
from discreet.present import (
    BandMark,
    BlockMarks,
    Chart,
    ChartAxis,
    ChartKey,
    EndLabel,
    KeySample,
    LineMark,
    Look,
    PanelMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    SpanMarks,
    borne_decimals,
    log_axis,
    name_axis,
    number_axis,
    root_axis,
    tell_number,
)

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "MeasuredErrors",
    "draw_errors",
    "draw_estimates",
    "error_rows",
    "estimate_charts",
    "measure_errors",
    "title_errors",
]

_MOST_GROUPS: Final = 20
_MOST_PANELS: Final = 6
_ROW: Final = 38.0
_MARK: Final = 8.5
_HIGH: Final = 250.0
_ASIDE: Final = 0.01
# Where the largest group is so many times the smallest, a plain scale hides the small ones.
_UNEVEN: Final = 25
_WEIGHTED: Final = {
    "count": Phrase("Weighted count"),
    "mean": Phrase("Weighted mean"),
    "sum": Phrase("Weighted sum"),
}


def estimate_charts(findings: Findings) -> Iterator[Chart]:
    """Two charts for each query that gets figures."""
    names = anchors(findings)
    for asked in findings.asked:
        yield draw_estimates(asked, findings.level, f"estimates-{names[asked.name]}")
        yield draw_errors(asked, f"errors-{names[asked.name]}")


# --- estimates --------------------------------------------------------------------------------------------------------


def draw_estimates(asked: Asked, level: float, name: str) -> Chart:
    """Small multiples by ε: the truth of each group, and beside it one run's estimate and interval of every series."""
    order, epsilons = _order(asked), _spread(asked.epsilons)
    rows = []
    rooted = False
    for title, series in facet(asked.series):
        axis = _fit_axis(asked, order, epsilons, series)
        rooted = rooted or axis.kind == "root"
        panels = tuple(
            _panel(asked, order, epsilon, series, axis, bare=index > 0) for index, epsilon in enumerate(epsilons)
        )
        # One group still needs room for as many marks as there are series.
        height = max(_ROW, _MARK * len(series) + 4) * max(len(order), 2)
        rows.append(PanelRow(panels, height, title, _legend(asked, series)))
    notes = [say("Estimates of one run; whiskers: {level:.0%} intervals, with an arrow where they go on.", level=level)]
    notes += [say("Square-root scale, so that small groups can be seen.")] if rooted else []
    notes += [say("Each row of panels has a scale of its own.")] if len(rows) > 1 else []
    return Chart(
        name,
        say("{figure}: estimates at ε\u00a0=\u00a0{epsilons}", figure=asked.label, epsilons=tell_epsilons(epsilons)),
        say(
            "{figure}: the true figure of each group as a grey bar or line, and one run's estimate under each model "
            "with its interval, one panel for each ε.",
            figure=asked.label,
        ),
        tuple(rows),
        subtitle=_tell_shown(asked, len(order)),
        notes=" ".join(notes),
        small_print=str(SMALL_PRINT),
    )


def _tell_shown(asked: Asked, number: int) -> str:
    what = str(_WEIGHTED[asked.statistic])
    if number < len(asked.groups):
        return say("{what}, the {number} largest groups", what=what, number=number)
    return say("{what}, by group", what=what)


def _spread(epsilons: Sequence[float]) -> list[float]:
    """At most so many ε, the first and the last among them."""
    number = min(len(epsilons), _MOST_PANELS)
    return [epsilons[index * (len(epsilons) - 1) // max(number - 1, 1)] for index in range(number)]


def _order(asked: Asked) -> list[int]:
    """The groups by true value, largest first, at most so many."""
    known = [index for index in range(len(asked.groups)) if math.isfinite(asked.truth[index])]
    return sorted(known, key=lambda index: (-asked.truth[index], index))[:_MOST_GROUPS]


def _fit_axis(asked: Asked, order: Sequence[int], epsilons: Sequence[float], series: Sequence[Series]) -> ChartAxis:
    """An axis that shows the truth and every estimate of the row; intervals may run beyond it."""
    truth = asked.truth[list(order)]
    panels = [asked.panels[item, epsilon] for item in series for epsilon in epsilons if (item, epsilon) in asked.panels]
    values = np.concatenate([truth, *(panel.estimates[list(order), 0] for panel in panels)])
    values = values[np.isfinite(values)]
    if not values.size:
        return number_axis(0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if asked.statistic == "mean":
        room = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
        return number_axis(low - room, high + room)
    low, high = min(0.0, low * 1.05), max(high * 1.05, 1e-9)
    uneven = truth.size > 1 and truth.max() > _UNEVEN * max(truth.min(), 1e-9)
    return root_axis(low, high) if uneven else number_axis(low, high)


def _panel(
    asked: Asked, order: Sequence[int], epsilon: float, series: Sequence[Series], axis: ChartAxis, *, bare: bool
) -> PlotPanel:
    names = [asked.groups[group] for group in order]
    marks: list[PanelMark] = [_truth(asked, order)]
    shown = [item for item in series if (item, epsilon) in asked.panels]
    for index, item in enumerate(shown):
        heights = [row + ((index + 0.5) / len(shown) - 0.5) * 0.8 for row in range(len(order))]
        label = asked.label_of(item)
        lines = [say("{group}, {model}, ε = {epsilon:g}", group=name, model=label, epsilon=epsilon) for name in names]
        marks += _estimates(asked.panels[item, epsilon], order, heights, lines, look_of(item, asked.series))
    return PlotPanel(axis, name_axis(names), tuple(marks), title=say("ε = {epsilon:g}", epsilon=epsilon), bare=bare)


def _truth(asked: Asked, order: Sequence[int]) -> PanelMark:
    """Bars from 0; of means, which may lie far from it, a stroke each."""
    values = [(row, float(asked.truth[group])) for row, group in enumerate(order)]
    if asked.statistic == "mean":
        return SpanMarks(tuple(((value, row - 0.42), (value, row + 0.42)) for row, value in values), STROKE, 5.0)
    return BlockMarks(tuple(((0.0, row - 0.42), (value, row + 0.42)) for row, value in values), TRUTH)


def _estimates(
    panel: QueryPanel, order: Sequence[int], heights: Sequence[float], text: Sequence[str], look: Look
) -> list[PanelMark]:
    """Points with whiskers, each told in figures when it is pointed at."""
    whiskers, points, words = [], [], []
    for group, height, name in zip(order, heights, text, strict=True):
        value, low, high = (float(side[group, 0]) for side in (panel.estimates, panel.low, panel.high))
        if not math.isfinite(value):
            continue
        points.append((value, height))
        if math.isfinite(low) and math.isfinite(high):
            whiskers.append(((low, height), (high, height)))
            decimals = borne_decimals([high - low])
            middle, least, most = (tell_number(item, language(), decimals=decimals) for item in (value, low, high))
            words.append(
                say("{place}: {middle} ({least} to {most})", place=name, middle=middle, least=least, most=most)
            )
        else:
            words.append(say("{place}: {middle}", place=name, middle=tell_amount(value)))
    return [SpanMarks(tuple(whiskers), look.colour, 1.6), PointMarks(tuple(points), look, 4.0, tuple(words))]


def _legend(asked: Asked, series: Sequence[Series]) -> tuple[ChartKey, ...]:
    truth = ChartKey(say("true figure"), Look(STROKE if asked.statistic == "mean" else TRUTH), KeySample.BLOCK)
    looks = {item: replace(look_of(item, asked.series), dashes="") for item in series}
    return (truth, *(ChartKey(asked.label_of(item), look, KeySample.WHISKER) for item, look in looks.items()))


# --- errors -----------------------------------------------------------------------------------------------------------


def draw_errors(asked: Asked, name: str) -> Chart:
    """Mean absolute error over groups against ε: points with the spread of runs, theory's line, direct labels."""
    at = sorted(asked.epsilons)
    across = log_axis(
        at, at=[(epsilon, numeral(epsilon, "g")) for epsilon in at], label=say("ε (more privacy to the left)")
    )
    lines = {
        series: measure_errors({e: asked.panels[series, e] for e in at if (series, e) in asked.panels})
        for series in asked.series
    }
    return Chart(
        name,
        say("{figure}: error against ε", figure=asked.label),
        say(
            "{figure}: mean absolute error against ε on logarithmic axes; points measured, lines expected.",
            figure=asked.label,
        ),
        error_rows(asked, lines, across),
        subtitle=title_errors(asked),
        notes=say("Points: mean of the runs; bars: spread of runs; lines: theory, dotted where there is none."),
        small_print=str(SMALL_PRINT),
    )


def title_errors(asked: Asked) -> str:
    """What an axis of errors counts, and in which unit."""
    if asked.statistic == "count":
        return say("Mean absolute error over groups, people")
    return say("Mean absolute error over groups, in the column's unit")


@dataclass(frozen=True, slots=True)
class MeasuredErrors:
    """The errors of a series along an axis: by place the mean of the runs, their least and most, and theory's."""

    means: Mapping[float, float]
    spreads: Mapping[float, tuple[float, float]]
    theory: Mapping[float, float]

    @property
    def last(self) -> tuple[float, float] | None:
        """Where the line ends; None when nothing can be shown on a logarithmic axis."""
        return max((self.theory or self.means).items(), default=None)

    def values(self) -> list[float]:
        return [*self.means.values(), *self.theory.values(), *(end for ends in self.spreads.values() for end in ends)]


def measure_errors(panels: Mapping[float, QueryPanel]) -> MeasuredErrors:
    """What is above 0, and so has a place on a logarithmic axis."""
    by_run = {at: _means(np.abs(panel.estimates - panel.truth[:, None])) for at, panel in panels.items()}
    means = {at: float(np.mean(errors)) for at, errors in by_run.items()}
    shown = {at: mean for at, mean in means.items() if mean > 0}
    spreads = {at: (float(by_run[at].min()), float(by_run[at].max())) for at in shown}
    theory = {}
    if shown and all(panel.expected is not None for panel in panels.values()):
        expected = {at: float(_means(panel.error()[:, None])[0]) for at, panel in panels.items()}
        theory = {at: value for at, value in expected.items() if 0 < value < math.inf}
    return MeasuredErrors(shown, spreads, theory)


def error_rows(
    asked: Asked, lines: Mapping[Series, MeasuredErrors], across: ChartAxis, *, behind: LineMark | None = None
) -> tuple[PanelRow, ...]:
    """A row for each few series, over a line that all are held against, if there is one.

    Behind recipes a band shows where the models of the study lie.
    """
    models = [line for series, line in lines.items() if not series.compared_only]
    rows = []
    for title, series in facet([item for item in asked.series if item in lines]):
        band = _band(models) if series[0].compared_only else None
        shown = [*(lines[item] for item in series), *(models if band else [])]
        values = [value for line in shown for value in line.values()]
        marks: list[PanelMark] = [mark for mark in (band, behind) if mark is not None]
        values += [value for _, value in behind.places] if behind is not None else []
        ends = []
        for index, item in enumerate(series):
            look = look_of(item, asked.series)
            # The first line is thick, so that one that runs along it hides nothing.
            thickness = 2.4 if index else 5.5
            # Points are moved apart by some units of the drawing, so that none hides another.
            aside = (across.high / across.low) ** (_ASIDE * (index - (len(series) - 1) / 2))
            marks += _error_marks(lines[item], look, thickness=thickness, aside=aside)
            if (last := lines[item].last) is not None:
                ends.append(EndLabel(last, asked.label_of(item), look))
        panel = PlotPanel(across, log_axis(values), tuple(marks), ends=tuple(ends))
        legend = (ChartKey(say("where the models lie"), Look(TRUTH), KeySample.BLOCK),) if band else ()
        rows.append(PanelRow((panel,), _HIGH, title, legend))
    return tuple(rows)


def _band(lines: Sequence[MeasuredErrors]) -> BandMark | None:
    """From the least to the largest error of these, where two places or more are known."""
    known: dict[float, list[float]] = {}
    for line in lines:
        for at, value in (line.theory or line.means).items():
            known.setdefault(at, []).append(value)
    if len(known) < 2:
        return None
    indices = sorted(known)
    upper, lower = ([(at, side(known[at])) for at in indices] for side in (max, min))
    return BandMark((*upper, *reversed(lower)), TRUTH)


def _error_marks(line: MeasuredErrors, look: Look, *, thickness: float, aside: float) -> list[PanelMark]:
    through = LineMark(tuple(line.theory.items()), look.colour, thickness)
    if not line.theory:
        through = LineMark(tuple(line.means.items()), look.colour, 1.6, "2 5")
    ends = tuple(((at * aside, low), (at * aside, high)) for at, (low, high) in line.spreads.items())
    points = tuple((at * aside, mean) for at, mean in line.means.items())
    return [through, SpanMarks(ends, look.colour, 1.8), PointMarks(points, look)]


def _means(values: NDArray[float64]) -> NDArray[float64]:
    """Of each column, over what is known; nan where nothing is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means: NDArray[float64] = np.where(known, values, 0).sum(axis=0) / known.sum(axis=0)
    return means
