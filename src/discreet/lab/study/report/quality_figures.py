"""Figures of the data's shape: correlations and column shapes, original beside protected."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from discreet.catalogue import numeral, say
from discreet.lab.study.findings.series_names import tell_basis, tell_model, tell_pair, tell_variant
from discreet.lab.study.findings.study_findings import TOLD_BY_MECHANISM, Findings, Row, Series
from discreet.lab.study.report.palette import TRUTH, look_of
from discreet.lab.study.report.study_figures import SMALL_PRINT, chosen_epsilons, slug
from discreet.present import (
    BlockMarks,
    Chart,
    ChartKey,
    KeySample,
    LineMark,
    Look,
    MatrixMark,
    PanelMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    diverge,
    name_axis,
    number_axis,
    percent_axis,
)

__all__ = ["draw_correlations", "draw_shapes", "quality_charts"]

_MOST_MAPS: Final = 6
_MANY: Final = 12  # columns, of which three maps side by side would be too small
_SIDES: Final = {1: 400.0, 2: 320.0, 3: 208.0}  # how high maps are, by how many stand side by side
_MODELS: Final = ("shuffle", "central", "table", "local")  # that can be without correlations
_MOST_SHAPES: Final = 12
_MOST_BARS: Final = 14
_MOST_SERIES: Final = 5
_ACROSS: Final = 2
_BINS: Final = 150.0
_LONG: Final = 14  # letters of a label that needs two lines
_ENDS: Final = ("below", "above")

NameBin = Callable[[Row], str]
Matrix = tuple[tuple[float | None, ...], ...]


def quality_charts(findings: Findings) -> Iterator[Chart]:
    """Correlations and shapes at the highest, the middle and the lowest ε."""
    models = {item["model"] for item in findings.info.get("variants") or []}
    for epsilon in chosen_epsilons(findings):
        rows = [row for row in findings.correlations if row["epsilon"] == epsilon]
        if rows:
            unlinked = [model for model in _MODELS if model in models and model not in {row["model"] for row in rows}]
            yield draw_correlations(rows, epsilon, findings.labels, unlinked)
    for epsilon in chosen_epsilons(findings):
        rows = [row for row in findings.shapes if row["epsilon"] == epsilon]
        if rows:
            known = {item for asked in findings.asked for item in asked.series if item.model in TOLD_BY_MECHANISM}
            name = partial(_name_bin, findings)
            yield draw_shapes(rows, _scores(findings, epsilon), epsilon, known, name, findings.labels)


# --- correlations -----------------------------------------------------------------------------------------------------


def draw_correlations(
    rows: Sequence[Row], epsilon: float, labels: Mapping[str, str], unlinked: Sequence[str] = ()
) -> Chart:
    """Heat maps side by side, columns by label; cells without a value are hatched.

    The `unlinked` models, of which nothing links two answers of a person, share a map without values.
    """
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    lines = [labels.get(name, name) for name in names]
    maps = _list_maps(rows, names, unlinked)
    across = min(len(maps), 2 if len(names) > _MANY or len(maps) == 4 else 3)
    numbers = name_axis([str(index) for index in range(1, len(names) + 1)])
    panels = [
        PlotPanel(numbers, numbers, (MatrixMark(matrix, tuple(lines)),), title, bare=index % across > 0)
        for index, (title, matrix) in enumerate(maps)
    ]
    keys = [ChartKey(numeral(value, "g").replace("-", "−"), Look(diverge(value)), KeySample.BLOCK) for value in _TOLD]
    return Chart(
        f"correlations-{slug(f'{epsilon:g}')}",
        say("Correlations between columns at ε = {epsilon:g}", epsilon=epsilon),
        say(
            "Correlations between columns at ε = {epsilon:g}: original, and as each model shows them.", epsilon=epsilon
        ),
        tuple(PanelRow(tuple(panels[at : at + across]), _SIDES[across]) for at in range(0, len(panels), across)),
        legend=(*keys, ChartKey(say("no value"), Look(TRUTH), KeySample.HATCHED)),
        listed=tuple(f"{index}  {label}" for index, label in enumerate(lines, start=1)),
        notes=say(
            "A stroke marks what is below −{limit}. Hatched: no value can be given (suppressed, undefined, or no two "
            "answers of a person are linked).",
            limit=0.1,
        ),
        small_print=str(SMALL_PRINT),
    )


_TOLD: Final = (-1.0, -0.5, 0.0, 0.5, 1.0)


def _list_maps(rows: Sequence[Row], names: Sequence[str], unlinked: Sequence[str]) -> list[tuple[str, Matrix]]:
    """Titles and values: the original, every model, and last the recipes that are there to compare."""
    sorts = list(dict.fromkeys((row["model"], row["mechanism"], row["basis"]) for row in rows))
    sorts.sort(key=lambda item: (Series(item[0], item[1]).order, item[2] != "reports"))
    maps = [(say("original"), _matrix(rows, names, "original"))]
    if unlinked:
        models = ", ".join(map(tell_model, unlinked))
        maps.append((say("{models}: none", models=models), _matrix([], names, "protected")))
    for sort in sorts[: _MOST_MAPS - len(maps)]:
        its = [row for row in rows if (row["model"], row["mechanism"], row["basis"]) == sort]
        rivals = len({mechanism for model, mechanism, _ in sorts if model == sort[0]})
        maps.append((_map_title(*sort, alone=rivals == 1), _matrix(its, names, "protected")))
    return maps


def _matrix(rows: Sequence[Row], names: Sequence[str], side: str) -> Matrix:
    indices = {name: index for index, name in enumerate(names)}
    matrix: list[list[float | None]] = [[1.0 if i == j else None for j in range(len(names))] for i in range(len(names))]
    for row in rows:
        i, j = indices[row["first"]], indices[row["second"]]
        value = row[side]
        matrix[i][j] = matrix[j][i] = None if value is None or math.isnan(value) else value
    return tuple(map(tuple, matrix))


def _map_title(model: str, mechanism: str, basis: str, *, alone: bool) -> str:
    if alone:
        name = tell_model(model)
    else:
        name = tell_variant(mechanism) if mechanism.startswith(model) else tell_pair(model, mechanism)
    return f"{name}, {tell_basis(basis)}"


# --- shapes -----------------------------------------------------------------------------------------------------------


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


def _name_bin(findings: Findings, row: Row) -> str:
    return findings.tell_bin(row["column"], int(row["bin"]), row["label"])


def _as_stored(row: Row) -> str:
    return str(row["label"])


def draw_shapes(
    rows: Sequence[Row],
    scores: Mapping[tuple[str, Series], float],
    epsilon: float,
    known: Collection[Series] = (),
    name: NameBin = _as_stored,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Chart:
    """One small panel for each column: grey bars are the original, marks what each model shows.

    `known` are series of other figures, which look alike here; `name` says what a bin is called, `labels` a column.
    """
    rows = _best_known(rows)
    columns = list(dict.fromkeys(row["column"] for row in rows))[:_MOST_SHAPES]
    keys: dict[ChartKey, None] = {}
    drawn: list[tuple[PlotPanel, float]] = []
    for column in columns:
        its = [row for row in rows if row["column"] == column]
        every = sorted({Series(row["model"], row["mechanism"]) for row in its}, key=lambda item: item.order)
        among = sorted({*every, *known}, key=lambda item: item.order)
        series = _one_each(every)
        shown = [_Shown(item, _name(item, among), look_of(item, among), _by_series(its, item)) for item in series]
        keys |= dict.fromkeys(ChartKey(item.name, item.look) for item in shown)
        text = {item: scores[column, item] for item in series if (column, item) in scores}
        drawn.append(
            (_draw_numbers if _is_number(its) else _draw_categories)(labels.get(column, column), shown, text, name)
        )
    panels = [drawn[at : at + _ACROSS] for at in range(0, len(drawn), _ACROSS)]
    return Chart(
        f"shapes-{slug(f'{epsilon:g}')}",
        say("Shapes of columns at ε = {epsilon:g}", epsilon=epsilon),
        say(
            "Share of each answer at ε = {epsilon:g}: original as grey bars, protected as coloured marks.",
            epsilon=epsilon,
        ),
        tuple(PanelRow(tuple(item for item, _ in row), max(height for _, height in row)) for row in panels),
        legend=(ChartKey(say("original"), Look(TRUTH), KeySample.BLOCK), *keys),
        notes=say(
            "Marks: what is estimated from protected answers (naive: reports counted as they are). Lines: reports of "
            "numbers as they arrive, and which share of them left the range. Numbers above a panel: KSComplement, 1 is "
            "best."
        ),
        small_print=str(SMALL_PRINT),
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """What one series shows of a column, bin by bin."""

    series: Series
    name: str
    look: Look
    rows: Sequence[Row]

    @property
    def inside(self) -> list[Row]:
        return [row for row in self.rows if row["label"] not in _ENDS]

    def key(self, scores: Mapping[Series, float], more: str = "") -> ChartKey:
        text = numeral(scores[self.series], ".2f") if self.series in scores else ""
        return ChartKey(say("; ").join(part for part in (text, more) if part), self.look)


def _name(series: Series, among: Sequence[Series]) -> str:
    rivals = sum(other.model == series.model for other in among)
    return series.label if rivals > 1 else tell_model(series.model)


def _one_each(series: Sequence[Series]) -> list[Series]:
    """The first variant of each model, then others: as many as an eye can tell apart. The tables have all of them."""
    first = {item.model: item for item in reversed(series)}
    chosen = [item for item in series if item in first.values()]
    chosen += [item for item in series if item not in chosen]
    return sorted(chosen[:_MOST_SERIES], key=lambda item: item.order)


def _is_number(rows: Sequence[Row]) -> bool:
    """Bins of numbers are named by where they start."""
    names = {row["label"] for row in rows} - set(_ENDS)
    return len(names) > 1 and all(name.replace(",", "").replace(".", "").lstrip("-").isdigit() for name in names)


def _by_series(rows: Sequence[Row], series: Series) -> list[Row]:
    its = [row for row in rows if (row["model"], row["mechanism"]) == (series.model, series.mechanism)]
    return sorted(its, key=lambda row: int(row["bin"]))


def _draw_categories(
    column: str, shown: Sequence[_Shown], scores: Mapping[Series, float], name: NameBin
) -> tuple[PlotPanel, float]:
    longest = max((item.rows for item in shown), key=len)[:_MOST_BARS]
    indices = {row["bin"]: index for index, row in enumerate(longest)}
    bars = BlockMarks(tuple(((0.0, at - 0.42), (row["original"], at + 0.42)) for at, row in enumerate(longest)), TRUTH)
    marks: list[PanelMark] = [bars]
    top = max(row["original"] for row in longest)
    for order, item in enumerate(shown):
        its = [row for row in item.rows if row["bin"] in indices]
        offset = ((order + 0.5) / len(shown) - 0.5) * 0.8
        shares = [(max(0.0, row["protected"]), indices[row["bin"]] + offset) for row in its]
        lines = [
            say("{answer}, {model}: {share:.1%}", answer=name(row), model=item.name, share=row["protected"])
            for row in its
        ]
        top = max([top, *(share for share, _ in shares)])
        marks.append(PointMarks(tuple(shares), item.look, 3.4, tuple(lines)))
    keys = tuple(item.key(scores) for item in shown if item.series in scores)
    up = name_axis([name(row) for row in longest])
    panel = PlotPanel(percent_axis(1.03 * top or 1.0), up, tuple(marks), column, keys)
    line = 40.0 if max(len(name(row)) for row in longest) > _LONG else 20.0
    return panel, max(line, 4.6 * len(shown) + 3) * len(longest)


def _draw_numbers(
    column: str, shown: Sequence[_Shown], scores: Mapping[Series, float], name: NameBin
) -> tuple[PlotPanel, float]:
    """Steps over the bins; the share of reports that left the range is told above."""
    marks: list[PanelMark] = []
    keys, ends, tops = [], [], [0.0]
    for index, item in enumerate(shown):
        its = item.inside
        starts = [float(row["label"].replace(",", "")) for row in its]
        step = starts[1] - starts[0] if len(starts) > 1 else 1.0
        bins = list(zip(pairwise([*starts, starts[-1] + step]), its, strict=True))
        if not index:
            marks.append(BlockMarks(tuple(((a, 0.0), (b, row["original"])) for (a, b), row in bins), TRUTH))
        steps = tuple((edge, row["protected"]) for edges, row in bins for edge in edges)
        marks.append(LineMark(steps, item.look.colour, 2.0, item.look.dashes))
        ends += [edge for edge, _ in steps]
        tops += [row[side] for row in its for side in ("original", "protected")]
        gone = [f"{numeral(row['protected'], '.0%')} {name(row)}" for row in item.rows if row["label"] in _ENDS]
        keys.append(item.key(scores, ", ".join(gone)))
    across, up = number_axis(min(ends), max(ends), most=7), percent_axis(1.05 * max(tops) or 1.0)
    return PlotPanel(across, up, tuple(marks), column, tuple(keys)), _BINS
