"""The tables of the report: setting, errors, coverage, quality, linkage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import language, localise, numeral, say
from discreet.lab.study.findings.advice import (
    Recommendation,
    choose,
    percent,
    setting_of,
    tell_epsilon,
    tell_epsilons,
    title_kind,
)
from discreet.lab.study.findings.metrics import AVERAGE
from discreet.lab.study.findings.series_names import tell_basis, tell_pair, tell_variant
from discreet.lab.study.findings.study_findings import TOLD_BY_MECHANISM, Asked, Findings, Row, Series
from discreet.lab.study.findings.verdicts import by_kind, judge_coverage, reference_epsilon, tell_judgement
from discreet.lab.study.report.report_numbers import NONE, tell_amount
from discreet.lab.study.report.study_figures import chosen_epsilons
from discreet.present import Markup, element, table

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "choice_table",
    "coverage_table",
    "error_table",
    "linkage_table",
    "quality_by_column",
    "quality_by_epsilon",
    "setting_table",
    "tell_linkage",
]

_METRICS: Final = {"ks-complement": "KSComplement", "correlation-similarity": "CorrelationSimilarity"}


def setting_table(findings: Findings) -> Markup:
    """What was studied, in a few lines."""
    setting = setting_of(findings)
    facts = {
        "epsilons": tell_epsilons(findings.epsilons),
        "totals": tell_epsilons([setting.total(item) for item in findings.epsilons]),
    }
    spent = (
        say("{epsilons}, for each column; {totals} in total for a respondent", **facts)
        if setting.columns > 1
        else say("{epsilons}, in total for a respondent", **facts)
    )
    delta = findings.fact("delta")
    rows = [
        (say("Data"), _tell_data(findings)),
        (say("Groups"), _tell_groups(findings)),
        (say("Protected columns"), _list(findings.fact("columns")) or NONE),
        (say("Static columns"), _list(findings.fact("static")) or NONE),
        ("ε", spent),
        (say("δ (chance that the bound may fail)"), localise(str(delta), language()) if delta else NONE),
        (say("What is hidden"), _tell_neighbours(findings)),
        (say("Runs at each ε"), str(findings.runs)),
        (say("Intervals"), numeral(findings.level, ".0%")),
        (say("Models"), _tell_models(findings) or NONE),
    ]
    body = [element("tr", element("th", name, scope="row"), element("td", value)) for name, value in rows]
    return element("table", element("tbody", *body), class_="setting")


def _tell_models(findings: Findings) -> str:
    """Hybrids, which are many, as a number: they have a section of their own."""
    variants = [item for item in findings.info.get("variants") or [] if item.get("model") != "hybrid"]
    hybrids = len(findings.info.get("variants") or []) - len(variants)
    lines = [tell_variant(str(item.get("variant"))) for item in variants]
    return _list([*lines, *([say("hybrid ({number} in all)", number=hybrids)] if hybrids else [])])


def _tell_groups(findings: Findings) -> str:
    number, strata = len(findings.info.get("groups") or []), _list(findings.fact("strata"))
    return say("{number}, by {strata}", number=number, strata=strata) if strata else say("one: everybody")


def _tell_neighbours(findings: Findings) -> str:
    neighbours = str(findings.fact("neighbours") or "add-remove")
    tables = any(item.get("model") == "table" for item in findings.info.get("variants") or [])
    whose = say("central, table and multi-message") if tables else say("central and multi-message")
    if neighbours == "add-remove":
        return say(
            "under {models} whether a person took part (add-remove); under the others what a person answered "
            "(replace-one)",
            models=whose,
        )
    return say("under {models} what a person answered ({neighbours})", models=whose, neighbours=neighbours)


def choice_table(findings: Findings) -> Markup:
    """What to choose at each ε, at a glance."""
    setting = setting_of(findings)
    rows = [
        [title_kind(kind), *(_tell_chosen(choose(those, epsilon=e, setting=setting)) for e in findings.epsilons)]
        for kind, those in by_kind(findings).items()
    ]
    head = [say("What to choose"), *(tell_epsilon(epsilon, setting) for epsilon in findings.epsilons)]
    return table(head, rows) if rows else Markup("")


def _tell_chosen(choice: Recommendation) -> str:
    return say("none") if choice.series is None else choice.label


def _tell_data(findings: Findings) -> str:
    rows = findings.info.get("rows")
    if not isinstance(rows, int):
        return ""
    source: Any = findings.config.get("data") or findings.config
    if isinstance(source, Mapping) and "sample" in source:
        return say("{rows:,} respondents, of the synthetic sample survey", rows=rows)
    return say("{rows:,} respondents", rows=rows)


def _head(epsilons: Iterable[float]) -> list[str]:
    return [say("ε = {epsilon:g}", epsilon=epsilon) for epsilon in epsilons]


def error_table(asked: Asked) -> Markup:
    """Mean absolute error over groups by model and ε: what theory expects, what the runs measured; coverage."""
    head = [say("Model"), say("Error"), *_head(asked.epsilons), say("Interval coverage")]
    rows = []
    for series in asked.series:
        panels = [asked.panels.get((series, epsilon)) for epsilon in asked.epsilons]
        pairs = [panel.covered() for panel in panels if panel is not None]
        held, number = (sum(pair[side] for pair in pairs) for side in (0, 1))
        coverage = say("{share:.1%} of {number:,}", share=held / number, number=number) if number else NONE
        expected = [None if panel is None else panel.expected for panel in panels]
        measured = [None if panel is None else panel.measured() for panel in panels]
        label = asked.label_of(series)
        if any(item is not None for item in expected):
            rows.append([label, say("expected"), *(_average(item) for item in expected), coverage])
            rows.append(["", say("measured"), *(_average(item) for item in measured), ""])
        else:
            rows.append([label, say("measured"), *(_average(item) for item in measured), coverage])
    caption = say("Mean absolute error over groups: expected by theory, and measured over the runs")
    return table(head, rows, caption=caption)


def coverage_table(findings: Findings) -> Markup:
    """How often intervals hold the truth at each ε, over every query of the study."""
    rows = []
    for series in sorted({series for series, _ in findings.coverage}, key=lambda item: item.order):
        counts = [findings.coverage.get((series, epsilon), (0, 0)) for epsilon in findings.epsilons]
        held, number = (sum(pair[side] for pair in counts) for side in (0, 1))
        if number:
            cells = [numeral(hits / every, ".1%") if every else NONE for hits, every in counts]
            judged = tell_judgement(judge_coverage(held, number, findings.level))
            rows.append([series.label, *cells, numeral(number), judged])
    if not rows:
        return element("p", say("No model gave intervals."))
    head = [say("Model"), *_head(findings.epsilons), say("Intervals"), say("Promise")]
    caption = say("Share of {level:.0%} intervals that hold the truth, over all queries", level=findings.level)
    return table(head, rows, caption=caption)


def quality_by_epsilon(findings: Findings) -> Markup:
    """The averages of each metric by model and ε, static columns apart."""
    cells = _means(row for row in findings.quality if row["column"] == AVERAGE and not row["static"])
    keys = list(dict.fromkeys(key[:3] for key in cells))
    rows = [
        [
            f"{_METRICS.get(metric, metric)}, {name}",
            tell_basis(basis),
            *(_score(cells.get((metric, name, basis, epsilon))) for epsilon in findings.epsilons),
        ]
        for metric, name, basis in sorted(keys)
    ]
    head = [say("Average over protected columns"), say("From"), *_head(findings.epsilons)]
    static = sorted({row["column"] for row in findings.quality if row["static"]} - {AVERAGE})
    caption = [say("Averages over protected columns.")]
    caption += (
        [say("Static columns ({columns}) are unchanged: {score:.3f}.", columns=", ".join(static), score=1.0)]
        if static
        else []
    )
    return table(head, rows, caption=" ".join(caption))


def _means(rows: Iterable[Row]) -> dict[tuple[str, str, str, float], float]:
    """By metric, model with variant, basis and ε: the mean over the runs."""
    gathered: dict[tuple[str, str, str, float], list[float]] = {}
    for row in rows:
        key = (row["metric"], _name(row["model"], row["mechanism"]), row["basis"], row["epsilon"])
        if row["value"] is not None and math.isfinite(row["value"]):
            gathered.setdefault(key, []).append(row["value"])
    return {key: float(np.mean(values)) for key, values in gathered.items()}


def quality_by_column(findings: Findings) -> Markup:
    """KSComplement and CorrelationSimilarity of every protected column at the ε nearest to 1."""
    if not findings.epsilons:
        return element("p", "")
    epsilon = reference_epsilon(findings.epsilons)
    its = [
        row
        for row in findings.quality
        if row["epsilon"] == epsilon and row["column"] != AVERAGE and not row["static"] and row["value"] is not None
    ]
    gathered: dict[tuple[str, tuple[str, _Family, str]], list[float]] = {}
    for row in its:
        sort = (_METRICS.get(str(row["metric"]), str(row["metric"])), _family(row), str(row["basis"]))
        gathered.setdefault((row["column"], sort), []).append(row["value"])
    sorts = sorted(
        {sort for _, sort in gathered}, key=lambda item: (item[0] != "KSComplement", Series(*item[1]).order, item[2])
    )
    columns = list(dict.fromkeys(column for column, _ in gathered))
    rows = [[column, *(_score(_mean(gathered.get((column, sort)))) for sort in sorts)] for column in columns]
    head = [
        say("Column"),
        *(
            say("{metric}: {model}, {basis}", metric=metric, model=_tell_family(name), basis=tell_basis(basis))
            for metric, name, basis in sorts
        ),
    ]
    return element(
        "details",
        element("summary", say("Column by column at ε = {epsilon:g}", epsilon=epsilon)),
        table(head, rows),
        open="",
    )


def tell_linkage(findings: Findings) -> list[str]:
    """What static columns give away, before and after."""
    if not findings.linkage:
        return [say("The study tried no linkage attack.")]
    row = findings.linkage[0]
    linked, respondents = row["linked"], row["respondents"]
    sentences = [
        say(
            "An attacker who knows {static} of a person looks for the one row that fits. {linked:,} of {respondents:,} "
            "respondents ({share}) are alone with their combination; {two:,} share it with one other at most, {five:,} "
            "with four at most.",
            static=_list(findings.fact("static")) or say("the static columns"),
            linked=linked,
            respondents=respondents,
            share=percent(linked / max(respondents, 1)),
            two=row["within_2"],
            five=row["within_5"],
        )
    ]
    if findings.hybrids:
        sentences.append(
            say(
                "Hybrids were not attacked: the answers of those who answer in clear can be read off as without "
                "protection."
            )
        )
    if not linked:
        return [*sentences, say("Nobody is alone, so no answer can be read off with certainty.")]
    return [
        *sentences,
        say(
            "Without protection the answers of those who are alone are read off with certainty. With protection they "
            "are still found, because static columns stay in clear, but what is found there is a randomised report "
            "(local), or nothing of their own (shuffle: only the group's mix; central: no rows). The table says how "
            "often the best guess is right, made by an attacker who even knows the true distribution of each group. A "
            "number counts as guessed when the guess lies in the right tenth of its range."
        ),
    ]


def linkage_table(findings: Findings) -> Markup:
    """Success of the best guess on the linked respondents, by column; models that add nothing stand together."""
    epsilons = chosen_epsilons(findings)
    families: dict[_Family, dict[tuple[str, float], float]] = {}
    baseline: dict[str, float] = {}
    for row in findings.linkage:
        baseline[row["column"]] = row["baseline"]
        families.setdefault(_family(row), {})[row["column"], row["epsilon"]] = row["success_after"]
    telling = [name for name, cells in families.items() if any(v != baseline[c] for (c, _), v in cells.items())]
    silent = [name for name in families if name not in telling]
    head = [say("Column"), say("Before"), say("Without a report")]
    head += [
        say("{model}, ε = {epsilon:g}", model=_tell_family(name), epsilon=epsilon)
        for name in telling
        for epsilon in epsilons
    ]
    rows = [
        [
            column,
            _share(1.0),
            _share(guess),
            *(_share(families[name].get((column, epsilon))) for name in telling for epsilon in epsilons),
        ]
        for column, guess in baseline.items()
    ]
    caption = [say("How often the answer of a linked respondent is guessed.")]
    if silent:
        models = _list(map(_tell_family, silent))
        caption.append(say("Under {models} the guess is the same as without a report.", models=models))
    if findings.linkage[0]["linked"] and any(
        math.isnan(value) for name in telling for value in families[name].values()
    ):
        caption.append(
            say(
                "–: not tried, because a report of that mechanism is not one answer; the guess is right at least "
                "as often as without it."
            )
        )
    return table(head, rows, caption=" ".join(caption))


_Family = tuple[str, str]


def _family(row: Row) -> _Family:
    """Mechanisms differ by column in one model, except where they are what tells variants apart."""
    return str(row["model"]), str(row["mechanism"]) if row["model"] in TOLD_BY_MECHANISM else ""


def _tell_family(family: _Family) -> str:
    return _name(*family)


def _name(model: str, variant: str) -> str:
    return tell_variant(variant) if variant.startswith(model) else tell_pair(model, variant)


def _average(errors: NDArray[float64] | None) -> str:
    """Over the groups that have an error."""
    known = errors[np.isfinite(errors)] if errors is not None else ()
    return tell_amount(float(np.mean(known))) if len(known) else NONE


def _mean(values: list[float] | None) -> float | None:
    known = [value for value in values or [] if math.isfinite(value)]
    return float(np.mean(known)) if known else None


def _score(value: float | None) -> str:
    return NONE if value is None or not math.isfinite(value) else numeral(value, ".3f")


def _share(value: float | None) -> str:
    return NONE if value is None or not math.isfinite(value) else numeral(value, ".0%")


def _list(names: Any) -> str:
    return ", ".join(str(name) for name in names or [])
