"""The figure that a study's report begins with: how far figures lie off under each model, and what is advised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from discreet.catalogue import say
from discreet.lab.study.findings.advice import (
    GOOD,
    choose,
    list_figures,
    list_judged,
    percent,
    setting_of,
    tell_epsilons,
    title_kind,
)
from discreet.lab.study.findings.study_findings import Asked, Findings, Series
from discreet.lab.study.findings.verdicts import by_kind, typical_errors
from discreet.lab.study.report.palette import GREY, STROKE, look_of
from discreet.lab.study.report.study_figures import SMALL_PRINT, chosen_epsilons
from discreet.present import (
    BandMark,
    BlockMarks,
    Chart,
    ChartAxis,
    ChartKey,
    KeySample,
    Look,
    PanelMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    SpanMarks,
    name_axis,
    percent_axis,
)

__all__ = ["OVERVIEW", "overview_chart"]

OVERVIEW: Final = "overview"
_ENOUGH: Final = "#e3f1e8"
_LEAST, _MOST = 1.6 * GOOD, 3.4 * GOOD  # errors that the scale shows at least, and at most
_ROW: Final = 38.0  # room for two lines of a name


def overview_chart(findings: Findings) -> Chart | None:
    """Bars of the typical error, a row of panels for each kind of figure and a panel for each ε; None without any."""
    kinds = by_kind(findings)
    rows = [
        _row(findings, kind, those, models, titled=len(kinds) > 1)
        for kind, those in kinds.items()
        if (models := _list_models(those))
    ]
    if not rows:
        return None
    return Chart(
        OVERVIEW,
        say("How far figures lie from the truth"),
        say(
            "The typical error of every model at each ε, as bars: in colour what the study advises, in grey the "
            "others; shaded what is accurate enough."
        ),
        tuple(rows),
        subtitle=say("Typical error of the worst figure, in per cent. The smaller ε, the stronger the protection."),
        legend=(
            ChartKey(say("accurate enough: within {goal:.0%}", goal=GOOD), Look(_ENOUGH), KeySample.BLOCK),
            ChartKey(say("not advised"), Look(STROKE), KeySample.BLOCK),
        ),
        notes=" ".join(
            [
                say(
                    "In colour: the model that the study advises at that ε. Grey although accurate enough: the reason "
                    "is given below. Arrows: errors beyond the scale."
                ),
                *_tell_left_out(findings, kinds),
            ]
        ),
        small_print=str(SMALL_PRINT),
    )


def _tell_left_out(findings: Findings, kinds: Mapping[str, Sequence[Asked]]) -> Iterator[str]:
    """Which figures are in no bar, and at which ε."""
    left: dict[tuple[str, ...], list[float]] = {}
    for epsilon in chosen_epsilons(findings):
        judged = {item.name for those in kinds.values() for item in list_judged(those, epsilon)}
        labels = tuple(item.label for those in kinds.values() for item in those if item.name not in judged)
        if labels:
            left.setdefault(labels, []).append(epsilon)
    for labels, epsilons in left.items():
        yield say(
            "Left out at ε = {epsilons}, because no model shows it well enough there: {figures}.",
            epsilons=tell_epsilons(epsilons),
            figures=list_figures(labels),
        )


def _list_models(those: Sequence[Asked]) -> dict[str, tuple[Series, Look]]:
    """By the name that is shown, in the order of other figures: models to choose from, as they look there."""
    found = {
        asked.label_of(series): (series, look_of(series, asked.series))
        for asked in those
        for series in asked.series
        if not series.compared_only
    }
    return dict(sorted(found.items(), key=lambda item: item[1][0].order))


def _row(
    findings: Findings,
    kind: str,
    those: Sequence[Asked],
    models: Mapping[str, tuple[Series, Look]],
    *,
    titled: bool,
) -> PanelRow:
    epsilons, setting = chosen_epsilons(findings), setting_of(findings)
    errors = {epsilon: _errors(those, kind, epsilon) for epsilon in epsilons}
    known = [error for found in errors.values() for error in found.values() if math.isfinite(error)]
    axis = percent_axis(min(max([_LEAST, *(1.05 * error for error in known)]), _MOST))
    panels = []
    for index, epsilon in enumerate(epsilons):
        advised = choose(those, epsilon=epsilon, setting=setting).label
        title = say("ε = {epsilon:g}", epsilon=epsilon)
        marks = _marks(models, errors[epsilon], advised, axis, epsilon)
        panels.append(PlotPanel(axis, name_axis(list(models)), marks, title=title, bare=index > 0))
    return PanelRow(tuple(panels), _ROW * max(len(models), 2), title_kind(kind) if titled else "")


def _errors(those: Sequence[Asked], kind: str, epsilon: float) -> dict[str, float]:
    return {label: kinds[kind] for label, kinds in typical_errors(those, epsilon).items()}


def _marks(
    models: Mapping[str, tuple[Series, Look]],
    errors: Mapping[str, float],
    advised: str,
    axis: ChartAxis,
    epsilon: float,
) -> tuple[PanelMark, ...]:
    edges = (-0.5, max(len(models), 1) - 0.5)
    marks: list[PanelMark] = [BandMark(((0, edges[0]), (GOOD, edges[0]), (GOOD, edges[1]), (0, edges[1])), _ENOUGH)]
    for place, (label, (_, own)) in enumerate(models.items()):
        error = errors.get(label, math.nan)
        if math.isnan(error):
            continue
        end, beyond = min(error, axis.high), error > axis.high
        # What is advised has its point too, so that it is seen where its bar is short, and in print without colour.
        look, size = (own, 6.0) if label == advised else (Look(STROKE), 2.0)
        marks.append(BlockMarks((((0.0, place - 0.28), (end, place + 0.28)),), look.colour))
        if beyond:
            marks.append(SpanMarks((((0.97 * end, place), (2 * end, place)),), GREY))
        told = say("{model}, ε = {epsilon:g}: {error}", model=label, epsilon=epsilon, error=percent(error))
        marks.append(PointMarks(((0.9 * end if beyond else end, place),), look, size, (told,)))
    return tuple(marks)
