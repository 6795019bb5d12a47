"""Figures of what a study varies beside ε: the number of respondents, and the share who answer in clear."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from discreet.catalogue import numeral, say
from discreet.lab.study.findings.study_findings import Asked, Findings
from discreet.lab.study.findings.sweeps import HybridSweep, hybrid_lines, sizes_of
from discreet.lab.study.findings.verdicts import reference_epsilon
from discreet.lab.study.report.estimate_figures import error_rows, measure_errors, title_errors
from discreet.lab.study.report.palette import GREY, numbered_look
from discreet.lab.study.report.study_figures import SMALL_PRINT, anchors
from discreet.present import (
    Chart,
    ChartKey,
    KeySample,
    LineMark,
    Look,
    PanelMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    SpanMarks,
    log_axis,
    number_axis,
)

__all__ = ["draw_hybrid", "draw_sizes", "sweep_charts"]

_HIGH: Final = 260.0


def sweep_charts(findings: Findings) -> Iterator[Chart]:
    """For each query: error against respondents, and error and bias against the share in clear, where studied."""
    names = anchors(findings)
    for asked in findings.asked:
        epsilon = reference_epsilon(asked.epsilons)
        if sizes := sizes_of(findings, asked):
            drawn = {item.respondents: item.drawn.get(asked.name, math.nan) for item in findings.sizes}
            yield draw_sizes(asked, sizes, drawn, epsilon, f"sizes-{names[asked.name]}")
    for asked in findings.hybrids:
        epsilon = reference_epsilon(asked.epsilons)
        if lines := hybrid_lines(findings, asked, epsilon):
            yield draw_hybrid(asked, lines, epsilon, f"hybrid-{names[asked.name]}")


def draw_sizes(
    asked: Asked, sizes: Mapping[int, Asked], drawn: Mapping[int, float], epsilon: float, name: str
) -> Chart:
    """Both axes logarithmic; points are means over groups and runs, bars the spread of runs."""
    across = log_axis(sizes, at=[(size, numeral(size)) for size in sizes], label=say("Respondents"))
    lines = {}
    for series in asked.series:
        panels = {float(size): found for size, item in sizes.items() if (found := item.panels.get((series, epsilon)))}
        if panels and not series.compared_only:
            lines[series] = measure_errors(panels)
    known = tuple((float(size), error) for size, error in drawn.items() if error > 0)
    own = LineMark(known, GREY, 2.0, "9 5")
    key = ChartKey(say("the sample itself, without protection"), Look(GREY, dashes="9 5"), KeySample.LINE)
    return Chart(
        name,
        say("{figure}: error against respondents, ε = {epsilon:g}", figure=asked.label, epsilon=epsilon),
        say(
            "{figure}: mean absolute error against the number of respondents at ε = {epsilon:g}, one line for each "
            "model; dashed how far the sample itself lies from all.",
            figure=asked.label,
            epsilon=epsilon,
        ),
        error_rows(asked, lines, across, behind=own if known else None),
        subtitle=title_errors(asked),
        legend=(key,) if known else (),
        notes=say("Points: mean of the runs; bars: their spread; lines: theory, dotted where there is none."),
        small_print=str(SMALL_PRINT),
    )


def draw_hybrid(asked: Asked, lines: Sequence[HybridSweep], epsilon: float, name: str) -> Chart:
    """Left the mean absolute error over groups, right the bias of all groups together, which no run averages away."""
    shares = [100 * share for line in lines for share in line.shares]
    room = 0.05 * (max(shares) - min(shares)) or 5.0
    across = number_axis(min(shares) - room, max(shares) + room, most=7, label=say("Share who answer in clear, %"))
    errors: list[PanelMark] = []
    biases: list[PanelMark] = [LineMark(((across.low, 0.0), (across.high, 0.0)), GREY, 1.2)]
    reach, most = 0.0, 0.0
    for index, line in enumerate(lines):
        look = numbered_look(index)
        at = [100 * share for share in line.shares]
        errors += _line(list(zip(at, line.errors, strict=True)), look)
        middle = [100 * bias for bias in line.biases]
        bars = [0.0 if math.isnan(spread) else 200 * spread for spread in line.spreads]
        ends = [((x, y - bar), (x, y + bar)) for x, y, bar in zip(at, middle, bars, strict=True) if math.isfinite(y)]
        biases.append(SpanMarks(tuple(ends), look.colour, 1.8))
        biases += _line(list(zip(at, middle, strict=True)), look)
        reach = max([reach, *(abs(y) for pair in ends for _, y in pair)])
        most = max([most, *(error for error in line.errors if math.isfinite(error))])
    reach, most = 1.05 * reach or 1.0, 1.05 * most or 1.0
    title = title_errors(asked)
    panels = (
        PlotPanel(across, number_axis(0.0, most, most=7), tuple(errors), title),
        PlotPanel(across, number_axis(-reach, reach, most=7), tuple(biases), say("Bias over all groups, %")),
    )
    keys = tuple(ChartKey(line.name, numbered_look(index), KeySample.WHISKER) for index, line in enumerate(lines))
    return Chart(
        name,
        say("{figure}: answers in clear at ε = {epsilon:g}", figure=asked.label, epsilon=epsilon),
        say("{figure}: error and bias against the share of respondents who answer in clear.", figure=asked.label),
        (PanelRow(panels, _HIGH, say("Who answers in clear"), keys),),
        notes=say(
            "Mean of {runs} runs; bars: two standard errors of that mean. Whoever answers in clear is not protected.",
            runs=lines[0].runs,
        ),
        small_print=str(SMALL_PRINT),
    )


def _line(points: Sequence[tuple[float, float]], look: Look) -> list[PanelMark]:
    known = tuple(point for point in points if math.isfinite(point[1]))
    return [LineMark(known, look.colour, 2.2, look.dashes), PointMarks(known, look)]
