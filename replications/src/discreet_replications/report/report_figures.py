"""Figures of the reproduction: mean height by province, and errors against ε as printed, repeated and corrected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, numeral, say
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.findings.series_names import tell_mechanism, tell_model
from discreet.lab.study.findings.study_findings import Series
from discreet.lab.study.report.palette import STROKE, look_of
from discreet.lab.study.report.study_figures import SMALL_PRINT
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
    name_axis,
    number_axis,
)
from discreet_replications.report.agreement import short_label
from discreet_replications.report.printed_comparison import MODELS, PrintedComparison

__all__ = ["Heights", "read_heights", "reproduction_charts"]

_EPSILON: Final = 1.0
_DOTS: Final = "2 5"
_THEIRS: Final = Look("#1f2933", "diamond", filled=False)
_RECIPE: Final = look_of(Series("naive", ""), [Series("naive", "")])
_RIGHT: Final = {model: look_of(Series(model, ""), [Series(model, "")]) for model in MODELS}
_UNITS: Final = {"height": "m", "body_weight": "kg"}
_TITLES: Final = {
    "central": Phrase("Central model: error against ε"),
    "local": Phrase("Local model: error against ε"),
    "shuffle": Phrase("Shuffle model: error against ε"),
}


@dataclass(frozen=True, slots=True)
class Heights:
    """One run at ε = 1, by province: the true mean, the mean with codes among the values, and what each recipe says.

    `provinces` are called as readers call them.
    """

    provinces: tuple[str, ...]
    truth: tuple[float, ...]
    theirs: tuple[float, ...]
    recipe: tuple[float, ...]
    local: tuple[tuple[float, float, float], ...]


def read_heights(folder: Path, comparison: PrintedComparison, *, names: Sequence[str]) -> Heights:
    """From the first run of a finished study. Theirs is the mean that the recipe starts from, plus their error."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.ParquetFile(folder / "results.parquet").read()
    wanted = pc.and_(pc.equal(table["column"], "height"), pc.equal(table["run"], 0))
    rows = table.filter(pc.and_(wanted, pc.equal(table["epsilon"], _EPSILON))).to_pylist()
    local = {row["group"]: row for row in rows if row["model"] == "local"}
    recipe = {row["group"]: row for row in rows if (row["model"], row["mechanism"]) == ("naive", "local")}
    query = next(query for query in comparison.queries if query.column == "height")
    off = {
        line.group: line.theirs
        for province in comparison.provinces
        for line in comparison.pick(query=query, model="local", group=province)
        if float(line.epsilon) == _EPSILON
    }
    return Heights(
        provinces=tuple(names),
        truth=tuple(local[name]["truth"] for name in comparison.provinces),
        theirs=tuple(recipe[name]["truth"] + (off[name] or math.nan) for name in comparison.provinces),
        recipe=tuple(recipe[name]["estimate"] for name in comparison.provinces),
        local=tuple(tuple(local[name][side] for side in ("estimate", "low", "high")) for name in comparison.provinces),
    )


def reproduction_charts(comparison: PrintedComparison, heights: Heights) -> Iterator[Chart]:
    yield _draw_heights(heights)
    for model in MODELS:
        yield _draw_errors(comparison, model)


def _draw_heights(heights: Heights) -> Chart:
    indices = range(len(heights.provinces))
    strokes = tuple(
        ((value, row - 0.38), (value, row + 0.38)) for row, value in zip(indices, heights.truth, strict=True)
    )
    whiskers = tuple(((low, row), (high, row)) for row, (_, low, high) in zip(indices, heights.local, strict=True))
    estimates = tuple((value, row) for row, (value, _, _) in zip(indices, heights.local, strict=True))
    right: tuple[PanelMark, ...] = (
        SpanMarks(strokes, STROKE, 5.0),
        SpanMarks(whiskers, _RIGHT["local"].colour),
        PointMarks(estimates, _RIGHT["local"]),
    )
    theirs = [(value, row - 0.16) for row, value in enumerate(heights.theirs) if math.isfinite(value)]
    recipe = [(value, row + 0.16) for row, value in enumerate(heights.recipe)]
    wrong = (PointMarks(tuple(theirs), _THEIRS), PointMarks(tuple(recipe), _RECIPE))
    far = 1.05 * max(value for value, _ in (*theirs, *recipe))
    least = min([*heights.truth, *(low for _, low, _ in heights.local)])
    most = max([*heights.truth, *(high for _, _, high in heights.local)])
    room = 0.05 * (most - least)
    up = name_axis(heights.provinces)
    panels = (
        PlotPanel(number_axis(0.0, far, most=7, label=say("metres")), up, (*right, *wrong), say("From zero")),
        PlotPanel(
            number_axis(least - room, most + room, most=7, label=say("metres")),
            up,
            right,
            say("Around the truth"),
            bare=True,
        ),
    )
    return Chart(
        "heights",
        say("Mean height by province, local model, ε = 1"),
        say(
            "Mean height by province at ε = 1 under the local model, one run. Left, from zero: the report's figure, "
            "its recipe repeated here, and the truth. Right, the same provinces around the truth alone: the correct "
            "local estimate with its 95% interval."
        ),
        (PanelRow(panels, 37.0 * len(heights.provinces)),),
        legend=(
            ChartKey(say("true mean"), Look(STROKE), KeySample.BLOCK),
            ChartKey(say("correct local estimate, 95% interval"), _RIGHT["local"], KeySample.WHISKER),
            ChartKey(say("the report"), _THEIRS),
            ChartKey(say("its recipe, here"), _RECIPE),
        ),
        small_print=str(SMALL_PRINT),
    )


def _draw_errors(comparison: PrintedComparison, model: str) -> Chart:
    panels = [_draw_panel(comparison, query, model) for query in comparison.queries]
    names = MODELS[model] or (None,)
    looks = [_correct_look(model, index) for index in range(len(names))]
    lines = [
        say("correct, {mechanism}", mechanism=tell_mechanism(name)) if name and len(names) > 1 else say("correct")
        for name in names
    ]
    return Chart(
        f"errors-{model}",
        str(_TITLES[model]),
        say(
            "The six statistics of the report's appendix under the {model} model: mean absolute error over provinces "
            "against ε, on logarithmic axes, as the report gives it, as its recipe gives it here, and as correct "
            "mechanisms give it (points measured, lines expected).",
            model=tell_model(model),
        ),
        tuple(PanelRow(tuple(panels[at : at + 2]), 165.0) for at in range(0, len(panels), 2)),
        subtitle=say("Mean absolute error over provinces; more privacy to the left"),
        legend=(
            ChartKey(say("the report"), _THEIRS),
            ChartKey(say("its recipe, here"), replace(_RECIPE, dashes=_DOTS), KeySample.WHISKER),
            *(ChartKey(text, look, KeySample.WHISKER) for text, look in zip(lines, looks, strict=True)),
        ),
        notes=say("Both axes are logarithmic. Points: measured; lines: expected; dotted: between the recipe's points."),
        small_print=str(SMALL_PRINT),
    )


def _draw_panel(comparison: PrintedComparison, query: StudyQuery, model: str) -> PlotPanel:
    first = comparison.pick(query=query, model=model)
    epsilons = sorted(float(line.epsilon) for line in first)
    naive = tuple((float(line.epsilon), line.naive) for line in first if line.naive > 0)
    theirs = tuple((float(line.epsilon), line.theirs) for line in first if line.theirs)
    # The report's points are large and lie below, so that the recipe's can be seen within them.
    marks: list[PanelMark] = [
        LineMark(naive, _RECIPE.colour, 2.0, _DOTS),
        PointMarks(theirs, _THEIRS, 7.0),
        PointMarks(naive, _RECIPE, 4.5),
    ]
    values = [value for _, value in (*naive, *theirs)]
    for index, mechanism in enumerate(MODELS[model] or (None,)):
        lines = comparison.pick(query=query, model=model, mechanism=mechanism)
        look = _correct_look(model, index)
        expected, measured = (
            tuple((float(line.epsilon), value) for line in lines if (value := getattr(line, side)) > 0)
            for side in ("theory", "correct")
        )
        marks += [LineMark(expected, look.colour, 2.2), PointMarks(measured, look, 4.5)]
        values += [value for _, value in (*expected, *measured)]
    unit = f" ({_UNITS[query.column]})" if query.column in _UNITS else ""
    across = log_axis(epsilons, at=[(epsilon, numeral(epsilon, "g")) for epsilon in epsilons], label="ε")
    return PlotPanel(across, log_axis(values), tuple(marks), f"{short_label(query).capitalize()}{unit}")


def _correct_look(model: str, index: int) -> Look:
    """The second mechanism of a model has open points of another shape."""
    return _RIGHT[model] if index == 0 else replace(_RIGHT[model], shape="up", filled=False)
