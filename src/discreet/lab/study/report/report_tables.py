"""The tables of the report: setting, errors, coverage, quality, linkage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.lab.study.findings.advice import AdviceSetting, choose, percent, setting_of
from discreet.lab.study.findings.metrics import AVERAGE
from discreet.lab.study.findings.study_findings import TOLD_BY_MECHANISM, Asked, Findings, Row, Series, tell_variant
from discreet.lab.study.findings.verdicts import by_kind, judge_coverage, reference_epsilon
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
    totals = ", ".join(f"{setting.total(item):g}" for item in findings.epsilons)
    spent = (
        f"for each column; {totals} in total for a respondent" if setting.columns > 1 else "in total for a respondent"
    )
    rows = [
        ("Data", _tell_data(findings)),
        ("Groups", _tell_groups(findings)),
        ("Protected columns", _list(findings.fact("columns")) or NONE),
        ("Static columns", _list(findings.fact("static")) or "none"),
        ("ε", f"{', '.join(f'{item:g}' for item in findings.epsilons)}, {spent}"),
        ("δ (chance that the bound may fail)", str(findings.fact("delta") or NONE)),
        ("What is hidden", _tell_neighbours(findings)),
        ("Runs at each ε", str(findings.runs)),
        ("Intervals", f"{findings.level:.0%}"),
        (
            "Models",
            _tell_models(findings) or NONE,
        ),
    ]
    body = [element("tr", element("th", name, scope="row"), element("td", value)) for name, value in rows]
    return element("table", element("tbody", *body), class_="setting")


def _tell_models(findings: Findings) -> str:
    """Hybrids, which are many, as a number: they have a section of their own."""
    variants = [item for item in findings.info.get("variants") or [] if item.get("model") != "hybrid"]
    hybrids = len(findings.info.get("variants") or []) - len(variants)
    lines = [tell_variant(str(item.get("variant"))) for item in variants]
    return _list([*lines, *([f"hybrid ({hybrids} in all)"] if hybrids else [])])


def _tell_groups(findings: Findings) -> str:
    number, strata = len(findings.info.get("groups") or []), _list(findings.fact("strata"))
    return f"{number}, by {strata}" if strata else "one: everybody"


def _tell_neighbours(findings: Findings) -> str:
    neighbours = str(findings.fact("neighbours") or "add-remove")
    taken = "whether a person took part" if neighbours == "add-remove" else "what a person answered"
    others = "; under the others what a person answered (replace-one)" if neighbours == "add-remove" else ""
    tables = any(item.get("model") == "table" for item in findings.info.get("variants") or [])
    return f"under central{', table' if tables else ''} and multi-message {taken} ({neighbours}){others}"


def choice_table(findings: Findings) -> Markup:
    """What to choose at each ε, at a glance."""
    setting = setting_of(findings)
    rows = [
        [kind.capitalize(), *(choose(those, epsilon=e, setting=setting).series or "none" for e in findings.epsilons)]
        for kind, those in by_kind(findings).items()
    ]
    head = ["What to choose", *(_tell_epsilon(epsilon, setting) for epsilon in findings.epsilons)]
    return table(head, rows) if rows else Markup("")


def _tell_epsilon(epsilon: float, setting: AdviceSetting) -> str:
    """With what a respondent loses in total, where that is more."""
    return f"ε = {epsilon:g}" + (f" ({setting.total(epsilon):g} in total)" if setting.columns > 1 else "")


def _tell_data(findings: Findings) -> str:
    rows = findings.info.get("rows")
    size = f"{rows:,} respondents" if isinstance(rows, int) else ""
    source: Any = findings.config.get("data") or findings.config
    sampled = isinstance(source, Mapping) and "sample" in source
    return f"{size}, of the synthetic sample survey" if sampled else size


def error_table(asked: Asked) -> Markup:
    """Mean absolute error over groups by model and ε: what theory expects, what the runs measured; coverage."""
    head = ["Model", "Error", *(f"ε = {epsilon:g}" for epsilon in asked.epsilons), "Intervals that hold"]
    rows = []
    for series in asked.series:
        panels = [asked.panels.get((series, epsilon)) for epsilon in asked.epsilons]
        pairs = [panel.covered() for panel in panels if panel is not None]
        held, number = (sum(pair[side] for pair in pairs) for side in (0, 1))
        coverage = f"{held / number:.1%} of {number:,}" if number else NONE
        expected = [None if panel is None else panel.expected for panel in panels]
        measured = [None if panel is None else panel.measured() for panel in panels]
        label = asked.label_of(series)
        if any(item is not None for item in expected):
            rows.append([label, "expected", *(_average(item) for item in expected), coverage])
            rows.append(["", "measured", *(_average(item) for item in measured), ""])
        else:
            rows.append([label, "measured", *(_average(item) for item in measured), coverage])
    return table(head, rows, caption="Mean absolute error over groups: expected by theory, and measured over the runs")


def coverage_table(findings: Findings) -> Markup:
    """How often intervals hold the truth at each ε, over every query of the study."""
    rows = []
    for series in sorted({series for series, _ in findings.coverage}, key=lambda item: item.order):
        counts = [findings.coverage.get((series, epsilon), (0, 0)) for epsilon in findings.epsilons]
        held, number = (sum(pair[side] for pair in counts) for side in (0, 1))
        if number:
            cells = [f"{hits / every:.1%}" if every else NONE for hits, every in counts]
            rows.append([series.label, *cells, f"{number:,}", judge_coverage(held, number, findings.level)])
    if not rows:
        return element("p", "No model gave intervals.")
    head = ["Model", *(f"ε = {epsilon:g}" for epsilon in findings.epsilons), "Intervals", "Promise"]
    return table(head, rows, caption=f"Share of {findings.level:.0%} intervals that hold the truth, over all queries")


def quality_by_epsilon(findings: Findings) -> Markup:
    """The averages of each metric by model and ε, static columns apart."""
    cells = _means(row for row in findings.quality if row["column"] == AVERAGE and not row["static"])
    keys = list(dict.fromkeys(key[:3] for key in cells))
    rows = [
        [
            f"{_METRICS.get(metric, metric)}, {name}",
            basis,
            *(_score(cells.get((metric, name, basis, epsilon))) for epsilon in findings.epsilons),
        ]
        for metric, name, basis in sorted(keys)
    ]
    head = ["Average over protected columns", "From", *(f"ε = {epsilon:g}" for epsilon in findings.epsilons)]
    static = sorted({row["column"] for row in findings.quality if row["static"]} - {AVERAGE})
    note = f" Static columns ({', '.join(static)}) are unchanged: 1.000." if static else ""
    return table(head, rows, caption=f"Averages over protected columns.{note}")


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
    gathered: dict[tuple[str, tuple[str, str, str]], list[float]] = {}
    for row in its:
        sort = (_METRICS.get(str(row["metric"]), str(row["metric"])), _family(row), str(row["basis"]))
        gathered.setdefault((row["column"], sort), []).append(row["value"])
    sorts = sorted(
        {sort for _, sort in gathered}, key=lambda item: (item[0] != "KSComplement", Series(item[1], "").order, item[2])
    )
    columns = list(dict.fromkeys(column for column, _ in gathered))
    rows = [[column, *(_score(_mean(gathered.get((column, sort)))) for sort in sorts)] for column in columns]
    head = ["Column", *(f"{metric}: {name}, {basis}" for metric, name, basis in sorts)]
    return element(
        "details",
        element("summary", f"Column by column at ε = {epsilon:g}"),
        table(head, rows),
        open="",
    )


def tell_linkage(findings: Findings) -> list[str]:
    """What static columns give away, before and after."""
    if not findings.linkage:
        return ["The study tried no linkage attack."]
    row = findings.linkage[0]
    linked, respondents = row["linked"], row["respondents"]
    static = _list(findings.fact("static")) or "the static columns"
    sentences = [
        f"An attacker who knows {static} of a person looks for the one row that fits. {linked:,} of {respondents:,} "
        f"respondents ({percent(linked / max(respondents, 1))}) are alone with their combination; {row['within_2']:,} "
        f"share it with one other at most, {row['within_5']:,} with four at most."
    ]
    if findings.hybrids:
        sentences.append("Hybrids were not attacked: who answers in clear is read off as without protection.")
    if not linked:
        return [*sentences, "Nobody is alone, so no answer can be read off with certainty."]
    return [
        *sentences,
        "Without protection the answers of those who are alone are read off with certainty. With protection they are "
        "still found, because static columns stay in clear, but what is found there is a randomised report (local), or "
        "nothing of their own (shuffle: only the group's mix; central: no rows). The table says how often the best "
        "guess is right, made by an attacker who even knows the true distribution of each group. Numbers count as "
        "guessed when the right tenth of their range is.",
    ]


def linkage_table(findings: Findings) -> Markup:
    """Success of the best guess on the linked respondents, by column; models that add nothing stand together."""
    epsilons = chosen_epsilons(findings)
    families: dict[str, dict[tuple[str, float], float]] = {}
    baseline: dict[str, float] = {}
    for row in findings.linkage:
        baseline[row["column"]] = row["baseline"]
        families.setdefault(_family(row), {})[row["column"], row["epsilon"]] = row["success_after"]
    telling = [name for name, cells in families.items() if any(v != baseline[c] for (c, _), v in cells.items())]
    silent = [name for name in families if name not in telling]
    head = ["Column", "Before", "Without a report", *(f"{name}, ε = {e:g}" for name in telling for e in epsilons)]
    rows = [
        [
            column,
            "100%",
            _share(guess),
            *(_share(families[name].get((column, epsilon))) for name in telling for epsilon in epsilons),
        ]
        for column, guess in baseline.items()
    ]
    rest = f" Under {_list(silent)} the guess is that without a report." if silent else ""
    if findings.linkage[0]["linked"] and any(
        math.isnan(value) for name in telling for value in families[name].values()
    ):
        rest += " –: not tried, because a report of that mechanism is not one answer; at least the guess without it."
    return table(head, rows, caption=f"How often the answer of a linked respondent is guessed.{rest}")


def _family(row: Row) -> str:
    """Mechanisms differ by column in one model, except where they are what tells variants apart."""
    text = row["model"] in TOLD_BY_MECHANISM
    return _name(row["model"], row["mechanism"]) if text else str(row["model"])


def _name(model: str, variant: str) -> str:
    return tell_variant(variant) if variant.startswith(model) else f"{model} {variant}".strip()


def _average(errors: NDArray[float64] | None) -> str:
    """Over the groups that have an error."""
    known = errors[np.isfinite(errors)] if errors is not None else ()
    return tell_amount(float(np.mean(known))) if len(known) else NONE


def _mean(values: list[float] | None) -> float | None:
    known = [value for value in values or [] if math.isfinite(value)]
    return float(np.mean(known)) if known else None


def _score(value: float | None) -> str:
    return NONE if value is None or not math.isfinite(value) else f"{value:.3f}"


def _share(value: float | None) -> str:
    return NONE if value is None or not math.isfinite(value) else f"{value:.0%}"


def _list(names: Any) -> str:
    return ", ".join(str(name) for name in names or [])
