"""Figures of a query: the estimates of every group at each ε, and the error against ε with theory's line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series
from discreet.lab.study.report.palette import GREY, TRUTH, Look, look_of
from discreet.lab.study.report.study_figures import (
    Drawing,
    anchors,
    fill_bars,
    format_axis,
    format_log_axis,
    new_figure,
    shorten,
    tell_number,
    title_axes,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["draw_errors", "draw_estimates", "draw_line", "estimate_drawings", "label_ends"]

_MOST_GROUPS: Final = 20
_MOST_PANELS: Final = 6
_ROW: Final = 0.42
_MARK: Final = 0.06
_LINE: Final = 0.17
_LONGEST: Final = 27
_LEGEND: Final = 34
# About what fits into one line of the legend: a mark counts as much as some letters.
_LETTERS: Final = 230
_KEY: Final = 7
# Where the largest group is so many times the smallest, a plain scale hides the small ones.
_UNEVEN: Final = 25


def estimate_drawings(findings: Findings) -> Iterator[Drawing]:
    """Two drawings for each query that gets figures."""
    names = anchors(findings)
    for asked in findings.asked:
        name = names[asked.name]
        words = (
            f"{asked.label}: the true figure of each group as a grey bar or line, and one run's estimate under each "
            "model with its interval, one panel for each ε."
        )
        yield Drawing(f"estimates-{name}", words, partial(draw_estimates, asked, findings.level))
        words = f"{asked.label}: mean absolute error against ε on logarithmic axes; points measured, lines expected."
        yield Drawing(f"errors-{name}", words, partial(draw_errors, asked))


def draw_estimates(asked: Asked, level: float) -> Figure:
    """Small multiples by ε: the truth of each group, and beside it one run's estimate and interval of every series."""
    order, epsilons = _order(asked), _spread(asked.epsilons)
    across = _legend_columns(asked)
    top = 0.83 + _LINE * (-(-(len(asked.series) + 1) // across) - 1)
    # One group still needs room for as many marks as there are series.
    room = max(_ROW * len(order), _MARK * len(asked.series) * len(order))
    height, width = max(2.6, room + 0.45 + top), 11.5
    left, gap = 1.95, 0.14
    figure = new_figure(width, height, f"{shorten(asked.label, 80)}: estimates at ε = {_list(epsilons)}")
    panel_width = (width - left - 0.15 - gap * (len(epsilons) - 1)) / len(epsilons)
    scale = _fit_scale(asked, order)
    for place, epsilon in enumerate(epsilons):
        start = (left + place * (panel_width + gap)) / width
        axes = figure.add_axes((start, 0.45 / height, panel_width / width, (height - 0.45 - top) / height))
        _draw_panel(axes, asked, order, epsilon, scale)
        labels = [] if place else [shorten(asked.groups[group], _LONGEST) for group in order]
        axes.set_yticks(range(len(labels)), labels)
    unit = f"Weighted {asked.statistic}"
    rooted = " (square-root scale, so that small groups can be seen)" if scale.rooted else ""
    which = f"the {len(order)} largest groups" if len(order) < len(asked.groups) else "by group"
    about = (
        f"{unit}, {which}{rooted}. Estimates of one run, whiskers are {level:.0%} intervals; arrows: beyond the scale"
    )
    figure.text(0.1 / width, 0.05 / height, about, fontsize=6.5, color=GREY, va="bottom")
    _draw_legend(figure, asked, height, across)
    return figure


def _spread(epsilons: Sequence[float]) -> list[float]:
    """At most so many ε, the first and the last among them."""
    number = min(len(epsilons), _MOST_PANELS)
    return [epsilons[place * (len(epsilons) - 1) // max(number - 1, 1)] for place in range(number)]


def _order(asked: Asked) -> list[int]:
    """The groups by true value, largest first, at most so many."""
    known = [place for place in range(len(asked.groups)) if math.isfinite(asked.truth[place])]
    return sorted(known, key=lambda place: (-asked.truth[place], place))[:_MOST_GROUPS]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The axis that all panels of a query share."""

    low: float
    high: float
    rooted: bool

    def place(self, values: Any) -> Any:
        """Where values stand on the axis, cut at its ends."""
        inside = np.clip(values, self.low, self.high)
        return np.sign(inside) * np.sqrt(np.abs(inside)) if self.rooted else inside

    def apply(self, axes: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        if self.rooted:
            axes.set_xticks(self.place(self.ticks()), [tell_number(tick) for tick in self.ticks()])
        else:
            axes.xaxis.set_major_locator(MaxNLocator(3, min_n_ticks=2))
            format_axis(axes.xaxis)
        axes.set_xlim(*self.place([self.low, self.high]))

    def ticks(self) -> list[float]:
        """Round values, one a quarter of the other, which lie evenly under a square root."""
        power = 10.0 ** math.floor(math.log10(self.high))
        top = max((step * power for step in (0.64, 1.6, 4.0, 6.4) if step * power <= self.high), default=self.high)
        return [0.0, top / 4, top]


def _fit_scale(asked: Asked, order: Sequence[int]) -> _Scale:
    """A scale that shows the truth and every honest estimate; what is kept for comparison does not stretch it."""
    truth = asked.truth[list(order)]
    honest = [p.estimates[list(order), 0] for (s, _), p in asked.panels.items() if not s.compared_only]
    values = np.concatenate([truth, *honest])
    values = values[np.isfinite(values)]
    if not values.size:
        return _Scale(0.0, 1.0, rooted=False)
    low, high = float(values.min()), float(values.max())
    if asked.statistic == "mean":
        room = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
        return _Scale(low - room, high + room, rooted=False)
    uneven = truth.size > 1 and truth.max() > _UNEVEN * max(truth.min(), 1e-9)
    return _Scale(min(0.0, low * 1.05), max(high * 1.05, 1e-9), rooted=bool(uneven))


def _draw_panel(axes: Any, asked: Asked, order: Sequence[int], epsilon: float, scale: _Scale) -> None:
    rows = np.arange(len(order), dtype=float)
    truth = asked.truth[list(order)]
    if asked.statistic == "mean":
        axes.vlines(scale.place(truth), rows - 0.42, rows + 0.42, color="#9aa3ad", linewidth=2.2)
    else:
        ends = zip(rows.tolist(), scale.place(truth).tolist(), strict=True)
        fill_bars(axes, [(0.0, row - 0.42, end, row + 0.42) for row, end in ends], TRUTH)
    series = [one for one in asked.series if (one, epsilon) in asked.panels]
    beyond = []
    for place, one in enumerate(series):
        at = rows + ((place + 0.5) / len(series) - 0.5) * 0.8
        look = look_of(one, asked.series)
        beyond += _draw_series(axes, asked.panels[one, epsilon], order, at, look, scale)
    scale.apply(axes)
    if beyond:
        _tell_farthest(axes, max(beyond, key=lambda one: abs(one.value - truth.mean())), scale)
    axes.set_ylim(len(order) - 0.45, -0.55)
    title_axes(axes, f"ε = {epsilon:g}", pad=4)
    axes.tick_params(axis="y", length=0, left=False)
    axes.grid(axis="x", color="#e5e7eb", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)


@dataclass(frozen=True, slots=True)
class _Beyond:
    """An estimate that the scale does not reach."""

    value: float
    row: float
    colour: str


def _draw_series(
    axes: Any, panel: QueryPanel, order: Sequence[int], rows: NDArray[float64], look: Look, scale: _Scale
) -> list[_Beyond]:
    """Dots with whiskers; an estimate beyond the scale is an arrow at its edge."""
    chosen, values = list(order), panel.estimates[list(order), 0]
    low, high = (scale.place(side[chosen, 0]) for side in (panel.low, panel.high))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        axes.hlines(rows[known], low[known], high[known], color=look.colour, linewidth=0.9, alpha=0.75)
    inside = (values >= scale.low) & (values <= scale.high)
    dots = {"linestyle": "none", "color": look.colour, "markeredgewidth": 0.8, "zorder": 3}
    axes.plot(
        scale.place(values[inside]), rows[inside], marker=look.marker, markersize=3.4, markerfacecolor=look.face, **dots
    )
    for outside, marker, edge in ((values > scale.high, ">", scale.high), (values < scale.low, "<", scale.low)):
        if outside.any():
            at = np.full(outside.sum(), scale.place(edge))
            axes.plot(at, rows[outside], marker=marker, markersize=3.4, clip_on=False, **dots)
    out = np.flatnonzero(~inside & np.isfinite(values))
    return [_Beyond(float(values[place]), float(rows[place]), look.colour) for place in out]


def _tell_farthest(axes: Any, farthest: _Beyond, scale: _Scale) -> None:
    """The value of the estimate farthest beyond the scale, in figures, beside its arrow."""
    right = farthest.value > scale.high
    axes.annotate(
        tell_number(farthest.value), (scale.place(farthest.value), farthest.row),
        xytext=(-5 if right else 5, 0), textcoords="offset points", ha="right" if right else "left", va="center",
        fontsize=7, color=farthest.colour, zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
    )  # fmt: skip


def _legend_columns(asked: Asked) -> int:
    """How many entries stand side by side: all of them where they fit."""
    number = len(asked.series) + 1
    letters = sum(min(len(asked.label_of(series)), _LEGEND) + _KEY for series in asked.series) + 25
    return number if letters <= _LETTERS else max(1, -(-number // -(-letters // _LETTERS)))


def _draw_legend(figure: Figure, asked: Asked, height: float, across: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=TRUTH, label="none (true figure)")]
    for series in asked.series:
        look = look_of(series, asked.series)
        handles.append(
            Line2D(
                [],
                [],
                color=look.colour,
                marker=look.marker,
                markersize=4.5,
                markerfacecolor=look.face,
                linewidth=0.9,
                label=shorten(asked.label_of(series), _LEGEND),
            )
        )
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.0, 1 - 0.27 / height), ncols=across, frameon=False,
        fontsize=7.5, handlelength=1.6, columnspacing=1.2,
    )  # fmt: skip


def draw_errors(asked: Asked) -> Figure:
    """Mean absolute error over groups against ε: points with the spread of runs, theory's line, direct labels."""
    width, height = 7.4, 4.3
    figure = new_figure(width, height, f"{shorten(asked.label, 52)}: error against ε")
    axes = figure.add_axes((0.82 / width, 0.62 / height, 4.5 / width, (height - 1.1) / height))
    ends = []
    for place, series in enumerate(asked.series):
        epsilons = sorted(epsilon for one, epsilon in asked.panels if one == series)
        panels = [asked.panels[series, epsilon] for epsilon in epsilons]
        last = draw_line(axes, epsilons, panels, look_of(series, asked.series), width=1.4 if place else 3.6)
        if last > 0:
            ends.append((last, series))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sorted(asked.epsilons), [f"{epsilon:g}" for epsilon in sorted(asked.epsilons)])
    axes.minorticks_off()
    format_log_axis(axes.yaxis)
    axes.grid(color="#e5e7eb", linewidth=0.5)
    axes.set_xlabel("ε (more privacy to the left)")
    unit = "people" if asked.statistic == "count" else "in the column's unit"
    axes.set_ylabel(f"Mean absolute error over groups, {unit}")
    label_ends(axes, ends, asked)
    words = "Points: mean of the runs, bars: spread of runs; lines: theory"
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY, va="bottom")
    return figure


def draw_line(axes: Any, epsilons: Sequence[float], panels: Sequence[QueryPanel], look: Look, *, width: float) -> float:
    """The first line is thick, so that one that runs along it hides nothing.

    Returns where the line ends at the largest ε, or 0 when nothing can be shown on a logarithmic axis.
    """
    by_run = [_means(np.abs(p.estimates - p.truth[:, None])) for p in panels]
    means = np.array([float(np.mean(one)) for one in by_run])
    sides = [means - [one.min() for one in by_run], np.array([one.max() for one in by_run]) - means]
    shown = means > 0
    if not shown.any():
        return 0.0
    at = np.array(epsilons)
    axes.errorbar(
        at[shown], means[shown], yerr=[side[shown] for side in sides], fmt=look.marker, markersize=4.5,
        color=look.colour, markerfacecolor=look.face, elinewidth=0.9, capsize=0, zorder=3,
    )  # fmt: skip
    if all(panel.expected is not None for panel in panels):
        theory = np.array([float(_means(panel.error()[:, None])[0]) for panel in panels])
        axes.plot(at, theory, color=look.colour, linewidth=width)
        return float(theory[-1]) if math.isfinite(theory[-1]) else 0.0
    axes.plot(at[shown], means[shown], color=look.colour, linewidth=0.8, linestyle=":")
    return float(means[shown][-1])


def _means(values: NDArray[float64]) -> NDArray[float64]:
    """Of each column, over what is known; nan where nothing is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means: NDArray[float64] = np.where(known, values, 0).sum(axis=0) / known.sum(axis=0)
    return means


def label_ends(axes: Any, ends: Sequence[tuple[float, Series]], asked: Asked) -> None:
    """Each line's name and mark at its right end, moved apart where two would touch."""
    low, high = axes.get_ylim()
    reach = math.log(high / low)
    placed: list[tuple[float, Series]] = []
    floor = -math.inf
    for value, series in sorted(ends, key=lambda end: (end[0], end[1].order)):
        floor = max(math.log(value / low) / reach, floor + 0.055)
        placed.append((floor, series))
    excess = max(0.0, floor - 1.0)
    for height, series in placed:
        look = look_of(series, asked.series)
        axes.plot(
            1.025, height - excess, marker=look.marker, markersize=4.5, color=look.colour, markerfacecolor=look.face,
            transform=axes.transAxes, clip_on=False,
        )  # fmt: skip
        axes.annotate(
            shorten(asked.label_of(series), 30), (1.045, height - excess), xycoords="axes fraction", fontsize=8,
            color=look.colour, va="center", annotation_clip=False,
        )  # fmt: skip


def _list(epsilons: Sequence[float]) -> str:
    return ", ".join(f"{epsilon:g}" for epsilon in epsilons)
