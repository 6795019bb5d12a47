"""Figures of the data's shape: correlations and column shapes, original beside protected."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.study.findings.study_findings import Findings, Row, Series, tell_variant
from discreet.lab.study.report.palette import DIVERGING, GREY, TRUTH, look_of
from discreet.lab.study.report.study_figures import (
    Drawing,
    chosen_epsilons,
    fill_bars,
    format_axis,
    leave_unlabelled,
    new_figure,
    shorten,
    slug,
    title_axes,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["draw_correlations", "draw_shapes", "quality_drawings"]

_MOST_MAPS: Final = 6
_SIDE, _CELL, _WIDEST, _LABEL = 2.6, 0.19, 11.0, 38  # inches of a map and of its cells at least, of all maps; letters
_MODELS: Final = ("shuffle", "central", "table", "local")  # that can be without correlations
_MOST_SHAPES: Final = 12
_MOST_BARS: Final = 14
_ENDS: Final = ("below", "above")


def quality_drawings(findings: Findings) -> Iterator[Drawing]:
    """Correlations and shapes at the highest, the middle and the lowest ε."""
    models = {one["model"] for one in findings.info.get("variants") or []}
    for epsilon in chosen_epsilons(findings):
        rows = [row for row in findings.correlations if row["epsilon"] == epsilon]
        if rows:
            unlinked = [model for model in _MODELS if model in models and model not in {row["model"] for row in rows}]
            words = f"Correlations between columns at ε = {epsilon:g}: original, and as each model shows them."
            draw = partial(draw_correlations, rows, epsilon, findings.labels, unlinked)
            yield Drawing(f"correlations-{slug(f'{epsilon:g}')}", words, draw)
    for epsilon in chosen_epsilons(findings):
        rows = [row for row in findings.shapes if row["epsilon"] == epsilon]
        if rows:
            words = f"Share of each answer at ε = {epsilon:g}: original as grey bars, protected as coloured marks."
            scores = _scores(findings, epsilon)
            yield Drawing(f"shapes-{slug(f'{epsilon:g}')}", words, partial(draw_shapes, rows, scores, epsilon))


def draw_correlations(
    rows: Sequence[Row], epsilon: float, labels: Mapping[str, str], unlinked: Sequence[str] = ()
) -> Figure:
    """Heat maps side by side, columns by label; cells without a value are hatched.

    The `unlinked` models, of which nothing links two answers of a person, share a map without values.
    """
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    maps = _list_maps(rows, names, unlinked)
    side = max(_SIDE, _CELL * len(names))
    across = min(len(maps), 2 if len(maps) == 4 else 3, max(1, int(_WIDEST / side)))
    down = -(-len(maps) // across)
    told = [f"{shorten(labels.get(name, name), _LABEL)}  {place}" for place, name in enumerate(names, start=1)]
    left, gap, tall = 0.25 + 0.064 * max(map(len, told)), 0.25, side + 0.55
    width, height = left + across * (side + gap) + 0.55, 0.5 + tall * down + 0.15
    figure = new_figure(width, height, f"Correlations between columns at ε = {epsilon:g}")
    for place, (title, matrix) in enumerate(maps):
        row, column = divmod(place, across)
        bottom = height - 0.55 - side - row * tall
        spot = ((left + column * (side + gap)) / width, bottom / height, side / width, side / height)
        axes = figure.add_axes(spot)
        image = _draw_map(axes, title, matrix)
        _name_axes(axes, told if column == 0 else [])
    bar = figure.add_axes(((width - 0.6) / width, (height - 0.55 - side) / height, 0.12 / width, side / height))
    figure.colorbar(image, cax=bar, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.tick_params(labelsize=7.5)
    words = "Hatched: no value can be given (suppressed, undefined, or no two answers of a person are linked)"
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY, va="bottom")
    return figure


def _list_maps(
    rows: Sequence[Row], names: Sequence[str], unlinked: Sequence[str]
) -> list[tuple[str, NDArray[float64]]]:
    """Titles and values: the original, every model, and last the recipes that are there to compare."""
    sorts = list(dict.fromkeys((row["model"], row["mechanism"], row["basis"]) for row in rows))
    sorts.sort(key=lambda one: (Series(one[0], one[1]).order, one[2] != "reports"))
    maps = [("original", _matrix(rows, names, "original"))]
    if unlinked:
        maps.append((f"{', '.join(unlinked)}: none", _matrix([], names, "protected")))
    for sort in sorts[: _MOST_MAPS - len(maps)]:
        its = [row for row in rows if (row["model"], row["mechanism"], row["basis"]) == sort]
        rivals = len({mechanism for model, mechanism, _ in sorts if model == sort[0]})
        maps.append((_map_title(*sort, alone=rivals == 1), _matrix(its, names, "protected")))
    return maps


def _matrix(rows: Sequence[Row], names: Sequence[str], side: str) -> NDArray[float64]:
    places = {name: place for place, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(matrix, 1.0)
    for row in rows:
        i, j = places[row["first"]], places[row["second"]]
        value = row[side]
        matrix[i, j] = matrix[j, i] = math.nan if value is None else value
    return matrix


def _map_title(model: str, mechanism: str, basis: str, *, alone: bool) -> str:
    name = model if alone else tell_variant(mechanism) if mechanism.startswith(model) else f"{model} {mechanism}"
    return f"{shorten(name, 28)}, {basis}"


def _draw_map(axes: Any, title: str, matrix: NDArray[float64]) -> Any:
    axes.patch.set(facecolor="white", edgecolor="#9aa3ad", hatch="////")  # what has no value lets it through
    image = axes.imshow(matrix, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="none", aspect="auto")
    title_axes(axes, title, pad=3)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return image


def _name_axes(axes: Any, labels: Sequence[str]) -> None:
    """Numbers under every map; labels, each with its number, at the left of a row of maps."""
    numbers = range(axes.images[0].get_size()[0])
    axes.set_yticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_xticks(numbers, [str(number + 1) for number in numbers], fontsize=7.5)
    axes.tick_params(left=False, bottom=False, pad=2)


def _scores(findings: Findings, epsilon: float) -> dict[tuple[str, Series], float]:
    """KSComplement of each column under each series, averaged over the runs."""
    its = [row for row in findings.quality if row["metric"] == "ks-complement" and row["epsilon"] == epsilon]
    found: dict[tuple[str, Series], list[float]] = {}
    for row in _best_known(row for row in its if not row["static"]):
        found.setdefault((row["column"], Series(row["model"], row["mechanism"])), []).append(row["value"])
    return {key: float(np.mean(values)) for key, values in found.items()}


def _best_known(rows: Iterable[Row]) -> list[Row]:
    """What a receiver would show of a column: the estimate where there is one, else the reports themselves."""
    every = list(rows)
    estimated = {(row["column"], row["model"], row["mechanism"]) for row in every if row["basis"] == "estimate"}
    return [
        row
        for row in every
        if row["basis"] == "estimate" or (row["column"], row["model"], row["mechanism"]) not in estimated
    ]


def draw_shapes(rows: Sequence[Row], scores: Mapping[tuple[str, Series], float], epsilon: float) -> Figure:
    """One small panel for each column: grey bars are the original, marks what each model shows."""
    rows = _best_known(rows)
    columns = list(dict.fromkeys(row["column"] for row in rows))[:_MOST_SHAPES]
    across = min(4, len(columns))
    down = -(-len(columns) // across)
    cell, tall = 2.95, 2.05
    width, height = across * cell + 0.2, down * tall + 0.6
    figure = new_figure(width, height, f"Shapes of columns at ε = {epsilon:g}")
    families: dict[str, str] = {}
    for place, column in enumerate(columns):
        its = [row for row in rows if row["column"] == column]
        series = sorted({Series(row["model"], row["mechanism"]) for row in its}, key=lambda one: one.order)
        families |= {one.family: look_of(one, series).colour for one in series}
        numeric = _is_number(its)
        row, position = divmod(place, across)
        inset = 0.42 if numeric else 1.2
        bottom = height - 0.62 - row * tall - 1.35
        spot = ((position * cell + inset) / width, bottom / height, (cell - inset - 0.15) / width, 1.35 / height)
        axes = figure.add_axes(spot)
        leave_unlabelled(axes)
        (_draw_number if numeric else _draw_categories)(axes, its, series)
        _title_shape(figure, column, series, scores, ((position * cell + 0.1) / width, (bottom + 1.36) / height), width)
    for place, (family, colour) in enumerate(families.items()):
        figure.text((2.9 + place * 0.85) / width, 1 - 0.1 / height, f"● {family}", color=colour, va="top", fontsize=8.5)
    words = (
        "Grey: original; marks: what is estimated from protected answers (naive: reports counted as they are); lines: "
        "reports of numbers as they arrive; ◂ ▸: share that left the range. Coloured numbers: KSComplement, 1 is best"
    )
    figure.text(0.1 / width, 0.05 / height, words, fontsize=6.5, color=GREY)
    return figure


def _is_number(rows: Sequence[Row]) -> bool:
    """Bins of numbers are named by where they start."""
    names = {row["label"] for row in rows} - set(_ENDS)
    return len(names) > 1 and all(name.replace(",", "").replace(".", "").lstrip("-").isdigit() for name in names)


def _by_series(rows: Sequence[Row], series: Series) -> list[Row]:
    its = [row for row in rows if (row["model"], row["mechanism"]) == (series.model, series.mechanism)]
    return sorted(its, key=lambda row: int(row["bin"]))


def _draw_categories(axes: Any, rows: Sequence[Row], series: Sequence[Series]) -> None:
    longest = max((_by_series(rows, one) for one in series), key=len)[:_MOST_BARS]
    labels = {row["bin"]: row["label"] for row in longest}
    places = {bin_: place for place, bin_ in enumerate(labels)}
    fill_bars(axes, [(0.0, at - 0.4, row["original"], at + 0.4) for at, row in enumerate(longest)], TRUTH)
    for order, one in enumerate(series):
        look = look_of(one, series)
        its = [row for row in _by_series(rows, one) if row["bin"] in places]
        offset = ((order + 0.5) / len(series) - 0.5) * 0.7
        at = [places[row["bin"]] + offset for row in its]
        shares = [max(0.0, row["protected"]) for row in its]
        axes.plot(
            shares, at, linestyle="none", marker=look.marker, markersize=3.6, color=look.colour,
            markerfacecolor=look.face, markeredgewidth=0.8,
        )  # fmt: skip
    axes.set_yticks(range(len(longest)), [shorten(row["label"], 19) for row in longest], fontsize=6.5)
    axes.set_ylim(len(longest) - 0.4, -0.6)
    axes.set_xlim(0, None)
    _percents(axes.xaxis)


def _draw_number(axes: Any, rows: Sequence[Row], series: Sequence[Series]) -> None:
    """Steps over the bins; the share of reports that left the range stands at either end."""
    for place, one in enumerate(series):
        its = [row for row in _by_series(rows, one) if row["label"] not in _ENDS]
        starts = np.array([float(row["label"].replace(",", "")) for row in its])
        step = starts[1] - starts[0] if starts.size > 1 else 1.0
        if not place:
            tops = zip(starts.tolist(), its, strict=True)
            fill_bars(axes, [(start, 0.0, start + step, row["original"]) for start, row in tops], TRUTH)
        look = look_of(one, series)
        style = "--" if look.dashed else "-"
        edges = np.append(starts, starts[-1] + step)
        axes.stairs([row["protected"] for row in its], edges, color=look.colour, linewidth=1.1, linestyle=style)
        for row in (row for row in _by_series(rows, one) if row["label"] in _ENDS):
            below = row["label"] == "below"
            words = f"◂ {row['protected']:.0%}" if below else f"{row['protected']:.0%} ▸"
            axes.annotate(
                words, (0.01 if below else 0.99, 0.92 - 0.11 * place), xycoords="axes fraction", fontsize=6.5,
                color=look.colour, ha="left" if below else "right",
            )  # fmt: skip
    axes.set_ylim(0, axes.get_ylim()[1] * 1.25)
    axes.locator_params(axis="x", nbins=5)
    format_axis(axes.xaxis)
    _percents(axes.yaxis)


def _percents(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axis.set_major_locator(MaxNLocator(3))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axis.set_tick_params(labelsize=6.5)


def _title_shape(
    figure: Figure,
    column: str,
    series: Sequence[Series],
    scores: Mapping[tuple[str, Series], float],
    spot: tuple[float, float],
    width: float,
) -> None:
    """The column's name and, in each model's colour, its KSComplement."""
    figure.text(spot[0], spot[1] + 0.012, shorten(column, 22), fontsize=8.5, fontweight="bold", va="bottom")
    told = [(one, scores[column, one]) for one in series if (column, one) in scores]
    for place, (one, score) in enumerate(told[:5]):
        at = spot[0] + (1.38 + 0.31 * place) / width
        figure.text(at, spot[1] + 0.012, f"{score:.2f}", fontsize=7, color=look_of(one, series).colour, va="bottom")
