"""What a study says about numbers of respondents and about answers in clear: words and tables for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.catalogue import language, localise, numeral, say, say_list
from discreet.lab.study.findings.advice import GOOD, panels_at, percent
from discreet.lab.study.findings.series_names import mechanism_of, tell_selection
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series
from discreet.lab.study.report.report_numbers import NONE, tell_amount
from discreet.present import Markup, table

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "HybridSweep",
    "hybrid_lines",
    "hybrid_table",
    "sizes_of",
    "sizes_table",
    "tell_hybrid",
    "tell_needed",
    "tell_sizes",
]

Sizes = Mapping[int, Asked]


# --- numbers of respondents -----------------------------------------------------------------------------------------


def sizes_of(findings: Findings, asked: Asked) -> dict[int, Asked]:
    """The query at every number of respondents, all of them last."""
    result = {item.respondents: each for item in findings.sizes for each in item.asked if each.name == asked.name}
    everyone = findings.info.get("rows")
    if result and isinstance(everyone, int):
        result[everyone] = asked
    return result


def tell_sizes(sizes: Sizes, epsilon: float) -> str:
    """The typical error of each model at each number of respondents."""
    parts = []
    for name in _names(sizes, epsilon):
        errors = [percent(_typical(asked, name, epsilon)) for asked in sizes.values()]
        parts.append(say("{errors} under {model}", errors=say_list(errors), model=name))
    return say(
        "With {numbers} respondents the typical group's figure is off by {models} (ε = {epsilon:g}).",
        numbers=say_list([numeral(size) for size in sizes]),
        models=say("; ").join(parts),
        epsilon=epsilon,
    )


def tell_needed(findings: Findings, epsilon: float) -> str:
    """For each model the smallest number of respondents studied that shows every figure well enough."""
    every = [sizes for asked in findings.asked if (sizes := sizes_of(findings, asked))]
    if not every:
        return ""
    needed: dict[str, int | None] = {}
    for name in dict.fromkeys(name for sizes in every for name in _names(sizes, epsilon)):
        numbers = [_smallest(sizes, name, epsilon) for sizes in every]
        needed[name] = None if None in numbers else max(number for number in numbers if number is not None)
    lines = [
        say("{model} none of those studied", model=name)
        if n is None
        else say("{model} {respondents:,}", model=name, respondents=n)
        for name, n in needed.items()
    ]
    return say(
        "Smallest number of respondents studied that keeps the typical error of every figure within {goal:.0%} at ε = "
        "{epsilon:g}: {models}.",
        goal=GOOD,
        epsilon=epsilon,
        models=", ".join(lines),
    )


def _smallest(sizes: Sizes, name: str, epsilon: float) -> int | None:
    """The smallest number from which on every larger one is enough."""
    result = None
    for size, asked in sorted(sizes.items(), reverse=True):
        if not _typical(asked, name, epsilon) <= GOOD:
            break
        result = size
    return result


def sizes_table(findings: Findings, asked: Asked, sizes: Sizes, epsilon: float) -> Markup:
    """Mean absolute error over groups by model and number of respondents; what drawing them costs stands last."""
    rows = [
        [name, *(tell_amount(_average(_panel(item, name, epsilon))) for item in sizes.values())]
        for name in _names(sizes, epsilon)
    ]
    drawn = {item.respondents: item.drawn.get(asked.name, math.nan) for item in findings.sizes}
    own = say("the sample itself, without protection")
    rows.append([own, *(tell_amount(drawn.get(size, math.nan)) for size in sizes)])
    head = [say("Model"), *(say("{respondents:,} respondents", respondents=size) for size in sizes)]
    caption = say(
        "Mean absolute error over groups at ε = {epsilon:g}, expected by theory where there is one", epsilon=epsilon
    )
    return table(head, rows, caption=caption)


def _names(sizes: Sizes, epsilon: float) -> list[str]:
    return list(dict.fromkeys(asked.label_of(s) for asked in sizes.values() for s, _ in panels_at(asked, epsilon)))


def _panel(asked: Asked, name: str, epsilon: float) -> QueryPanel | None:
    return next((panel for series, panel in panels_at(asked, epsilon) if asked.label_of(series) == name), None)


def _typical(asked: Asked, name: str, epsilon: float) -> float:
    panel = _panel(asked, name, epsilon)
    return panel.typical() if panel is not None else math.nan


def _average(panel: QueryPanel | None) -> float:
    errors = panel.error() if panel is not None else np.zeros(0)
    known = errors[np.isfinite(errors)]
    return float(known.mean()) if known.size else math.nan


# --- answers in clear -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HybridSweep:
    """Hybrids that differ only in how many answer in clear: the shares, the mean error over groups, and the bias.

    The bias is that of all groups together, as a share of their true value: runs average noise away, not bias. Its
    spread is the standard error of that average; nan for a single run.
    """

    name: str
    shares: tuple[float, ...]
    errors: tuple[float, ...]
    biases: tuple[float, ...]
    spreads: tuple[float, ...]
    coverage: tuple[float, ...]
    runs: int


def hybrid_lines(findings: Findings, asked: Asked, epsilon: float) -> list[HybridSweep]:
    """One line for each selection and relation, in the order of the study."""
    lines: dict[str, list[tuple[float, QueryPanel]]] = {}
    for item in findings.info.get("variants") or []:
        if item.get("model") != "hybrid":
            continue
        panel = asked.panels.get((Series("hybrid", mechanism_of(str(item["variant"]))), epsilon))
        if panel is not None:
            chosen = tell_selection(item["selection"]) if item.get("selection") else say("all alike")
            strata = item.get("relation") == "strata"
            name = say("{who} (as strata)", who=chosen) if strata else chosen
            lines.setdefault(name, []).append((float(item["share"]), panel))
    return [_line(name, sorted(points, key=lambda point: point[0])) for name, points in lines.items()]


def _line(name: str, points: Sequence[tuple[float, QueryPanel]]) -> HybridSweep:
    panels = [panel for _, panel in points]
    return HybridSweep(
        name,
        tuple(share for share, _ in points),
        tuple(_average(panel) for panel in panels),
        tuple(float(_off(panel).mean()) for panel in panels),
        tuple(_standard_error(_off(panel)) for panel in panels),
        tuple(_held(panel) for panel in panels),
        panels[0].estimates.shape[1],
    )


def _off(panel: QueryPanel) -> NDArray[float64]:
    """By run, how far all groups together lie from the truth, as a share of it."""
    known = np.isfinite(panel.truth) & np.isfinite(panel.estimates).all(axis=1)
    whole = float(np.abs(panel.truth[known]).sum()) or math.nan
    off: NDArray[float64] = (panel.estimates[known] - panel.truth[known, None]).sum(axis=0) / whole
    return off


def _standard_error(values: NDArray[float64]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan


def _held(panel: QueryPanel) -> float:
    held, number = panel.covered()
    return held / number if number else math.nan


def tell_hybrid(asked: Asked, lines: Sequence[HybridSweep], epsilon: float) -> str:
    """What self-selection does, where most answer in clear."""
    parts = [
        say(
            "{bias} where {share:.0%} answer in clear, {who}",
            bias=f"{_signed(line.biases[-1])}{_around(line.spreads[-1])}",
            share=line.shares[-1],
            who=line.name,
        )
        for line in lines
    ]
    return say(
        "At ε = {epsilon:g}, over all groups together, the estimates are off by {models} (mean of {runs} runs).",
        epsilon=epsilon,
        models=say("; ").join(parts),
        runs=lines[0].runs,
    )


def hybrid_table(asked: Asked, lines: Sequence[HybridSweep], epsilon: float) -> Markup:
    """Error and bias by share."""
    shares = sorted({share for line in lines for share in line.shares})
    rows = []
    for line in lines:
        biased = [f"{_signed(bias)}{_around(own)}" for bias, own in zip(line.biases, line.spreads, strict=True)]
        biases = dict(zip(line.shares, biased, strict=True))
        errors, held = (dict(zip(line.shares, values, strict=True)) for values in (line.errors, line.coverage))
        rows.append([line.name, say("error"), *(tell_amount(errors.get(share, math.nan)) for share in shares)])
        rows.append(["", say("bias"), *(biases.get(share, NONE) for share in shares)])
        rows.append(["", say("interval coverage"), *(_share(held.get(share, math.nan)) for share in shares)])
    head = [say("Who answers in clear"), "", *(say("{share:.0%} in clear", share=share) for share in shares)]
    caption = say(
        "{figure}: mean absolute error over groups, and bias of all groups together ± its standard error, at "
        "ε = {epsilon:g}",
        figure=asked.label,
        epsilon=epsilon,
    )
    return table(head, rows, caption=caption)


def _around(spread: float) -> str:
    return f" ± {numeral(100 * spread, '.1f')}" if math.isfinite(spread) else ""


def _share(share: float) -> str:
    return numeral(share, ".0%") if math.isfinite(share) else NONE


def _signed(share: float) -> str:
    if not math.isfinite(share):
        return NONE
    return localise(f"{100 * share:+.1f}%", language()).replace("-", "−")
