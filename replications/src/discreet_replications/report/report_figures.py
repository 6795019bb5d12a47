"""Figures of the reproduction: mean height by province, and errors against ε as printed, repeated and corrected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.study.findings.study_findings import Series
from discreet.lab.study.outcomes import StudyQuery
from discreet.lab.study.report.palette import GREY, INK, look_of
from discreet.lab.study.report.study_figures import Drawing, format_axis, new_figure, shorten
from discreet_replications.report.agreement import short_label
from discreet_replications.report.printed_comparison import MODELS, ErrorLine, PrintedComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Heights", "read_heights", "reproduction_drawings"]

_EPSILON: Final = 1.0
_RECIPE: Final = look_of(Series("naive", ""), [Series("naive", "")]).colour
_RIGHT: Final = {model: look_of(Series(model, ""), [Series(model, "")]).colour for model in MODELS}
_UNITS: Final = {"height": "m", "body_weight": "kg"}


@dataclass(frozen=True, slots=True)
class Heights:
    """One run at ε = 1, by province: the true mean, the mean with codes among the values, and what each recipe says."""

    provinces: tuple[str, ...]
    truth: tuple[float, ...]
    theirs: tuple[float, ...]
    recipe: tuple[float, ...]
    local: tuple[tuple[float, float, float], ...]


def read_heights(folder: Path, comparison: PrintedComparison) -> Heights:
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
        provinces=comparison.provinces,
        truth=tuple(local[name]["truth"] for name in comparison.provinces),
        theirs=tuple(recipe[name]["truth"] + (off[name] or np.nan) for name in comparison.provinces),
        recipe=tuple(recipe[name]["estimate"] for name in comparison.provinces),
        local=tuple(tuple(local[name][side] for side in ("estimate", "low", "high")) for name in comparison.provinces),
    )


def reproduction_drawings(comparison: PrintedComparison, heights: Heights) -> Iterator[Drawing]:
    words = (
        "Mean height by province at ε = 1 under the local model, one run. Left, from zero: the report's figure, its "
        "recipe repeated here, and the truth. Right, the same provinces around the truth alone: the correct local "
        "estimate with its 95% interval."
    )
    yield Drawing("heights", words, partial(_draw_heights, heights))
    for model in MODELS:
        words = (
            f"The six statistics of the report's appendix under the {model} model: mean absolute error over provinces "
            "against ε, on logarithmic axes, as the report gives it, as its recipe gives it here, and as correct "
            "mechanisms give it (points measured, lines expected)."
        )
        yield Drawing(f"errors-{model}", words, partial(_draw_errors, comparison, model))


def _draw_heights(heights: Heights) -> Figure:
    width, height = 9.6, 4.6
    figure = new_figure(width, height, "Mean height by province, local model, ε = 1")
    rows = np.arange(len(heights.provinces), dtype=float)
    size = (height - 1.3) / height
    absurd = figure.add_axes((2.1 / width, 0.62 / height, 3.4 / width, size))
    close = figure.add_axes((5.75 / width, 0.62 / height, 3.7 / width, size))
    estimate, low, high = (np.array([item[index] for item in heights.local]) for index in range(3))
    for axes in (absurd, close):
        axes.vlines(heights.truth, rows - 0.38, rows + 0.38, color="#9aa3ad", linewidth=2.4, label="true mean")
        axes.hlines(rows, low, high, color=_RIGHT["local"], linewidth=1.2)
        axes.plot(
            estimate, rows, "o", color=_RIGHT["local"], markersize=4, label="correct local estimate, 95% interval"
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(rows)
        axes.grid(axis="x", color="#e5e7eb", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_xlabel("metres")
    absurd.plot(heights.theirs, rows - 0.16, "D", color=INK, markersize=4, label="the report")
    absurd.plot(heights.recipe, rows + 0.16, "o", color=_RECIPE, markersize=4.5, label="its recipe, here")
    absurd.set_xlim(left=0)
    absurd.set_yticklabels(heights.provinces)
    close.set_yticklabels([])
    handles, labels = absurd.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.0, 1 - 0.3 / height), ncols=4, frameon=False)
    return figure


def _draw_errors(comparison: PrintedComparison, model: str) -> Figure:
    width, height = 9.6, 5.3
    figure = new_figure(width, height, f"{model.capitalize()} model: error against ε")
    step, tall = (width - 0.2) / 3, (height - 0.7) / 2
    for index, query in enumerate(comparison.queries):
        left, bottom = 0.68 + step * (index % 3), 0.52 + tall * (1 - index // 3)
        axes = figure.add_axes((left / width, bottom / height, (step - 0.75) / width, (tall - 0.65) / height))
        _draw_panel(axes, comparison, query, model)
        if index == 0:
            handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.0, 1 - 0.25 / height), ncols=5, frameon=False)
    words = "Mean absolute error over provinces; axes logarithmic; more privacy to the left"
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY, va="bottom")
    return figure


def _draw_panel(axes: Any, comparison: PrintedComparison, query: StudyQuery, model: str) -> None:
    mechanisms = MODELS[model] or (None,)
    first = comparison.pick(query=query, model=model)
    epsilons = [float(line.epsilon) for line in first]
    known = [line for line in first if line.theirs is not None]
    axes.plot([float(line.epsilon) for line in known], [line.theirs for line in known], "D", color=INK, markersize=4.5,
              fillstyle="none", zorder=4, label="the report")  # fmt: skip
    axes.plot(epsilons, [line.naive for line in first], "o:", color=_RECIPE, markersize=3.5, label="its recipe, here")
    for index, mechanism in enumerate(mechanisms):
        lines = comparison.pick(query=query, model=model, mechanism=mechanism)
        _draw_correct(axes, lines, model, name=mechanism if len(mechanisms) > 1 else None, filled=index == 0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sorted(epsilons), [f"{epsilon:g}" for epsilon in sorted(epsilons)])
    axes.minorticks_off()
    format_axis(axes.yaxis)
    axes.grid(color="#e5e7eb", linewidth=0.5)
    unit = f" ({_UNITS[query.column]})" if query.column in _UNITS else ""
    axes.set_title(f"{shorten(short_label(query).capitalize(), 42)}{unit}", loc="left", fontsize=8)


def _draw_correct(axes: Any, lines: tuple[ErrorLine, ...], model: str, *, name: str | None, filled: bool) -> None:
    epsilons, colour = [float(line.epsilon) for line in lines], _RIGHT[model]
    axes.plot(epsilons, [line.theory for line in lines], color=colour, linewidth=1.2 if filled else 0.8)
    axes.plot(epsilons, [line.correct for line in lines], "s" if filled else "^", color=colour, markersize=4,
              fillstyle="full" if filled else "none", label=f"correct, {name}" if name else "correct")  # fmt: skip
