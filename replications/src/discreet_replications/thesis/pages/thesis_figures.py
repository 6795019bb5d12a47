"""Figures of the benchmark: each quantity by query, on logarithmic axes, one panel for each epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.present import Drawn
from discreet.present.charts.dots import DotMark, DotPanel, DotSeries, draw_dots
from discreet.present.charts.drawing import INK
from discreet_replications.thesis.data.thesis_queries import ThesisQuery
from discreet_replications.thesis.methods import ThesisMethod
from discreet_replications.thesis.run_records import Record, Records
from discreet_replications.wording import tell_epsilon

__all__ = ["draw_figures"]

_COLOURS: Final = {"public": "#0072b2", "private-bounds": "#009e73", "local": "#56b4e9", "replace": "#8a6d3b"}
_GENERATED: Final = ("#d55e00", "#cc79a7", "#e69f00")
_PRINTED: Final = Phrase("generated 100,000, printed in the thesis")
_REFERENCES: Final = {
    "result": Phrase("exact answer"),
    "sensitivity": Phrase("sensitivity of the rows by the thesis' rule"),
}
_UNITS: Final = {
    "result": Phrase("median of the runs, from the least to the most; answers at or below 0 are at the foot"),
    "error": Phrase("mean distance from the exact answer, from the least to the most, in the query's own units"),
    "relative_error": Phrase("mean distance over the exact answer, from the least to the most"),
    "sensitivity": Phrase("mean over the runs, from the least to the most, in the query's own units"),
    "relative_sensitivity_error": Phrase("|used − real| / real: mean over the runs, from the least to the most"),
}
_TITLES: Final = {
    "result": Phrase("Results"),
    "error": Phrase("Errors"),
    "relative_error": Phrase("Relative errors"),
    "sensitivity": Phrase("Sensitivities used"),
    "relative_sensitivity_error": Phrase("Relative errors of the sensitivity used"),
}


def draw_figures(records: Records) -> Iterator[Drawn]:
    """One figure for each quantity; add-remove and global-type stay in the tables, to keep the figures readable."""
    shown = [item for item in records.methods if item.name in _COLOURS or item.strategy == "generated"]
    queries = records.queries
    groups: dict[str, int] = {}
    for query in queries:
        groups[query.dataset] = groups.get(query.dataset, 0) + 1
    for quantity, title in _TITLES.items():
        panels = [_panel(records, quantity, epsilon, shown) for epsilon in records.epsilons]
        if not any(panel.series for panel in panels):
            continue
        named = ", ".join(dict.fromkeys(item.label for panel in panels for item in panel.series))
        yield draw_dots(
            name=quantity.replace("_", "-"),
            words=say(
                "{title} of {count} queries on a logarithmic axis, a panel for each ε: {named}. Marks are {unit}. The "
                "figures are those of the tables below.",
                title=title,
                count=len(queries),
                named=named,
                unit=_UNITS[quantity],
            ),
            title=str(title),
            unit=str(_UNITS[quantity]),
            columns=[(str(query.number), query.name) for query in queries],
            groups=list(groups.items()),
            panels=panels,
            reference_words=str(_REFERENCES.get(quantity, "")),
        )


def _panel(records: Records, quantity: str, epsilon: str, shown: list[ThesisMethod]) -> DotPanel:
    queries = records.queries
    series = []
    generated = [item for item in shown if item.strategy == "generated"]
    for method in shown:
        marks = _marks(records.pick(method, epsilon), quantity, queries)
        index = generated.index(method) if method in generated else 0
        colour = _COLOURS.get(method.name) or _GENERATED[index % len(_GENERATED)]
        if any(marks):
            series.append(DotSeries(method.label, marks, colour))
    if quantity == "relative_error" and epsilon == "0.01":
        printed = tuple(DotMark(item.generated_error, item.generated_error, item.generated_error) for item in queries)
        series.append(DotSeries(str(_PRINTED), printed, INK))
    return DotPanel(tell_epsilon(epsilon), tuple(series), _references(records, quantity, queries))


def _marks(found: tuple[Record, ...], quantity: str, queries: tuple[ThesisQuery, ...]) -> tuple[DotMark | None, ...]:
    marks = {record.query.number: _mark(record, quantity) for record in found}
    return tuple(marks.get(query.number) for query in queries)


def _mark(record: Record, quantity: str) -> DotMark | None:
    series = record.series(quantity)
    if quantity == "relative_sensitivity_error":
        series = tuple(map(abs, series))
    if not series:
        return None
    ordered = sorted(series)
    middle = ordered[len(ordered) // 2] if quantity == "result" else sum(ordered) / len(ordered)
    return DotMark(middle, ordered[0], ordered[-1])


def _references(records: Records, quantity: str, queries: tuple[ThesisQuery, ...]) -> tuple[float | None, ...]:
    if quantity not in _REFERENCES:
        return ()
    truths = {record.query.number: record.truth for record in records.found}
    if quantity == "result":
        return tuple(float(truths[query.number].result) for query in queries)
    return tuple(float(truths[query.number].thesis_sensitivity) for query in queries)
