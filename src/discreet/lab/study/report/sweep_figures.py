"""Figures of what a study varies beside ε: the number of respondents, and the share who answer in clear."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.study.findings.study_findings import Asked, Findings, Series
from discreet.lab.study.findings.sweeps import HybridSweep, hybrid_lines, sizes_of
from discreet.lab.study.findings.verdicts import reference_epsilon
from discreet.lab.study.report.estimate_figures import draw_line, label_ends
from discreet.lab.study.report.palette import GREY, look_of
from discreet.lab.study.report.study_figures import Drawing, anchors, format_axis, format_log_axis, new_figure, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_hybrid", "draw_sizes", "sweep_drawings"]

_HUES: Final = ("#e69f00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#000000")
_MARKS: Final = ("o", "s", "^", "D", "v", "P")


def sweep_drawings(findings: Findings) -> Iterator[Drawing]:
    """For each query: error against respondents, and error and bias against the share in clear, where studied."""
    names = anchors(findings)
    for asked in findings.asked:
        epsilon, name = reference_epsilon(asked.epsilons), names[asked.name]
        if sizes := sizes_of(findings, asked):
            drawn = {one.respondents: one.drawn.get(asked.name, math.nan) for one in findings.sizes}
            words = (
                f"{asked.label}: mean absolute error against the number of respondents at ε = {epsilon:g}, one line "
                "for each model; dashed what the sample itself errs."
            )
            yield Drawing(f"sizes-{name}", words, partial(draw_sizes, asked, sizes, drawn, epsilon))
    for asked in findings.hybrids:
        epsilon, name = reference_epsilon(asked.epsilons), names[asked.name]
        if lines := hybrid_lines(findings, asked, epsilon):
            words = f"{asked.label}: error and bias against the share of respondents who answer in clear."
            yield Drawing(f"hybrid-{name}", words, partial(draw_hybrid, asked, lines, epsilon))


def draw_sizes(asked: Asked, sizes: Mapping[int, Asked], drawn: Mapping[int, float], epsilon: float) -> Figure:
    """Both axes logarithmic; points are means over groups and runs, bars the spread of runs."""
    width, height = 7.4, 4.3
    figure = new_figure(width, height, f"{shorten(asked.label, 40)}: error against respondents, ε = {epsilon:g}")
    axes = figure.add_axes((0.82 / width, 0.62 / height, 4.5 / width, (height - 1.1) / height))
    every = [one for one in asked.series if not one.compared_only]
    ends: list[tuple[float, Series]] = []
    for series in every:
        panels = {size: found for size, one in sizes.items() if (found := one.panels.get((series, epsilon)))}
        if panels:
            look = look_of(series, asked.series)
            last = draw_line(axes, list(panels), list(panels.values()), look, width=1.4 if ends else 3.6)
            ends += [(last, series)] if last > 0 else []
    known = {size: error for size, error in drawn.items() if error > 0}
    if known:
        axes.plot(list(known), list(known.values()), color=GREY, linewidth=1.1, linestyle="--")
        axes.annotate(
            "the sample itself", (min(known), known[min(known)]), xytext=(3, 4), textcoords="offset points",
            fontsize=7, color=GREY,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    format_log_axis(axes.yaxis)
    axes.grid(color="#e5e7eb", linewidth=0.5)
    axes.set_xlabel("Respondents")
    unit = "people" if asked.statistic == "count" else "in the column's unit"
    axes.set_ylabel(f"Mean absolute error over groups, {unit}")
    label_ends(axes, ends, asked)
    words = (
        "Points: mean of the runs, bars: their spread; lines: theory; dashed: what a sample of that size errs by itself"
    )
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY, va="bottom")
    return figure


def draw_hybrid(asked: Asked, lines: Sequence[HybridSweep], epsilon: float) -> Figure:
    """Left the mean absolute error over groups, right the bias of all groups together, which no run averages away."""
    width, height = 9.4, 4.05 + 0.17 * len(lines)
    figure = new_figure(width, height, f"{shorten(asked.label, 60)}: answers in clear at ε = {epsilon:g}")
    below = (0.9 + 0.17 * len(lines)) / height
    panels = [figure.add_axes((left / width, below, 3.7 / width, 1 - below - 0.62 / height)) for left in (0.85, 5.45)]
    unit = "people" if asked.statistic == "count" else "in the column's unit"
    for axes, title in zip(
        panels, (f"Mean absolute error over groups, {unit}", "Bias over all groups, %"), strict=True
    ):
        axes.set_title(title, loc="left", pad=5)
        axes.grid(color="#e5e7eb", linewidth=0.5)
        axes.set_xlabel("Share who answer in clear, %")
    for place, line in enumerate(lines):
        look: dict[str, Any] = {
            "color": _HUES[place % len(_HUES)],
            "marker": _MARKS[place % len(_MARKS)],
            "markersize": 4.5,
            "linewidth": 1.3,
        }
        shares = 100 * np.array(line.shares)
        panels[0].plot(shares, line.errors, label=shorten(line.name, 70), **look)
        bars = np.nan_to_num(200 * np.array(line.spreads))
        panels[1].errorbar(shares, 100 * np.array(line.biases), yerr=bars, elinewidth=0.9, capsize=0, **look)
    panels[0].set_ylim(bottom=0)
    panels[1].axhline(0, color=GREY, linewidth=0.8)
    reach = max(abs(end) for end in panels[1].get_ylim())
    panels[1].set_ylim(-reach, reach)
    format_axis(panels[0].yaxis)
    format_axis(panels[1].yaxis)
    figure.legend(
        loc="lower left", bbox_to_anchor=(0.0, 0.16 / height), ncols=1, frameon=False, fontsize=7.5, handlelength=1.8,
        title="Who answers in clear", title_fontsize=7.5, alignment="left",
    )  # fmt: skip
    words = f"Mean of {lines[0].runs} runs; bars: two standard errors of it. Who answers in clear is not protected"
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY, va="bottom")
    return figure
