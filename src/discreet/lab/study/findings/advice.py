"""Which model to choose at an ε: the one that asks for least trust among those that a command runs and that fit.

A model fits where its typical error is within a tenth and, for means, below the spread between groups; where the
study's own attack does not find too much from its reports (`risks`); and where a respondent loses no more than ε = 10
in total. A figure that no model shows well enough cannot tell them apart: it is left out of the choice, and named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from discreet.lab.study.findings.risks import Risk, find_risks, find_untried
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series

__all__ = [
    "GOOD",
    "LARGEST_TOTAL",
    "RUN_BY",
    "AdviceSetting",
    "Recommendation",
    "choose",
    "join_words",
    "panels_at",
    "percent",
    "setting_of",
    "tell_choices",
]

GOOD: Final = 0.10
# docs/which-epsilon.md: beyond it even a hunch of one in a thousand may become near certainty.
LARGEST_TOTAL: Final = 10
_NAMED: Final = 3
# What a command can release or collect, from the model that asks for least trust to the one that asks for most. No
# command runs a protocol of the shuffle, and who answers in clear (hybrid) has no ε: those are compared, not advised.
RUN_BY: Final = {"local": "discreet local", "central": "discreet query", "table": "discreet table"}


def percent(share: float) -> str:
    """A share in words of per cent, with two figures where they matter."""
    if not math.isfinite(share):
        return "unknown"
    value = 100 * share
    if value < 0.1:
        return "less than 0.1%"
    return f"{value:,.0f}%" if value >= 10 else f"{value:.2g}%"


def join_words(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def panels_at(asked: Asked, epsilon: float, *, compared: bool = False) -> list[tuple[Series, QueryPanel]]:
    """The panels at one ε, without the recipes kept for comparison unless those are `compared`."""
    return [
        (series, asked.panels[series, epsilon])
        for series in asked.series
        if (series, epsilon) in asked.panels and (compared or not series.compared_only)
    ]


@dataclass(frozen=True, slots=True)
class AdviceSetting:
    """What advice weighs beside errors: over how many columns ε is spent anew, and what the attack found.

    `untried` is what a local report allows at an ε where no attack was tried on it.
    """

    columns: int = 1
    risks: Mapping[tuple[str, float], Risk] = field(default_factory=dict)
    untried: Mapping[float, Risk] = field(default_factory=dict)

    def total(self, epsilon: float) -> float:
        """What a respondent loses over all columns."""
        return self.columns * epsilon


def setting_of(findings: Findings) -> AdviceSetting:
    """The setting of a finished study."""
    anew = findings.fact("epsilon_is") != "total"
    columns = max(len(findings.fact("columns") or []), 1) if anew else 1
    return AdviceSetting(columns, find_risks(findings), find_untried(findings))


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which model to take at one ε, and why; `series` is None when none is advised. `advice` follows 'choose'."""

    epsilon: float
    series: str | None
    advice: str


@dataclass(frozen=True, slots=True)
class _Score:
    """The typical error, and whether it hides the differences between groups."""

    error: float
    blurred: bool

    @property
    def fits(self) -> bool:
        return self.error <= GOOD and not self.blurred


# By family and name.
_Scores = Mapping[tuple[str, str], _Score]


def tell_choices(choices: Sequence[Recommendation], setting: AdviceSetting) -> list[str]:
    """The advice in sentences; what differs in ε alone is said once: 'At ε = 1 and 3 choose …'."""
    merged: dict[str, list[float]] = {}
    for choice in choices:
        if choice.advice:
            merged.setdefault(choice.advice, []).append(choice.epsilon)
    return [f"At {_tell_spent(epsilons, setting)} choose {advice}." for advice, epsilons in merged.items()]


def _tell_spent(epsilons: Sequence[float], setting: AdviceSetting) -> str:
    each = f"ε = {join_words([f'{epsilon:g}' for epsilon in epsilons])}"
    if setting.columns < 2:
        return each
    totals = join_words([f"{setting.total(epsilon):g}" for epsilon in epsilons])
    return f"{each} for each of {setting.columns} columns, {totals} in total for a respondent,"


def choose(
    asked: Sequence[Asked], *, epsilon: float, purpose: str = "", setting: AdviceSetting | None = None
) -> Recommendation:
    """The model that asks for least trust among those that fit every query which some model can show."""
    setting = setting or AdviceSetting()
    scored = [(item.label, scores) for item in asked if (scores := _score(item, epsilon))]
    if not scored:
        compared = any(panels_at(item, epsilon) for item in asked)
        return Recommendation(
            epsilon, None, f"none of them{purpose}: no command runs a model of this study" if compared else ""
        )
    if setting.total(epsilon) > LARGEST_TOTAL:
        return Recommendation(
            epsilon,
            None,
            f"none of them{purpose}: a respondent would lose more than ε = {LARGEST_TOTAL} in total, beyond which the "
            "promise is empty; protect fewer columns, or spend less on each",
        )
    shown = [scores for _, scores in scored if any(score.fits for score in scores.values())]
    some = [scores for _, scores in scored if any(math.isfinite(score.error) for score in scores.values())]
    worst = _worst(shown or some or [scores for _, scores in scored])
    rest = _tell_left_out([label for label, scores in scored if scores not in shown])
    refused: list[str] = []
    for model in RUN_BY if shown else ():
        fitting = {name: score.error for (its, name), score in worst.items() if its == model and score.fits}
        for name in sorted(fitting, key=lambda item: (fitting[item], item)):
            tried = setting.risks.get((name, epsilon))
            risk = setting.untried.get(epsilon) if tried is None and model == "local" else tried
            if risk is None or not risk.excessive:
                why = _tell_reason(model, worst, refused, attacked=tried is not None)
                return Recommendation(epsilon, name, f"{name}{purpose}: {why}{rest}")
            refused.append(f"{name} is accurate enough, but {risk.tell()}")
    why = "; ".join(refused) if refused else _tell_shortfall(worst)
    return Recommendation(epsilon, None, f"none of them{purpose}: {why}")


def _score(asked: Asked, epsilon: float) -> _Scores:
    means = asked.statistic == "mean"
    return {
        (series.family, asked.label_of(series)): _Score(
            math.inf if math.isnan(panel.typical()) else panel.typical(), means and not panel.separates()
        )
        for series, panel in panels_at(asked, epsilon)
        if series.family in RUN_BY
    }


def _worst(every: Sequence[_Scores]) -> dict[tuple[str, str], _Score]:
    """The worst of each model over these queries; one that does not answer them all is no choice for them."""
    keys = dict.fromkeys(key for scores in every for key in scores)
    missing = _Score(math.inf, blurred=False)
    found = {key: [scores.get(key, missing) for scores in every] for key in keys}
    return {
        key: _Score(max(score.error for score in scores), any(score.blurred for score in scores))
        for key, scores in found.items()
    }


def _tell_reason(model: str, worst: _Scores, refused: Sequence[str], *, attacked: bool) -> str:
    if model == "local":
        untried = "" if attacked else "; the study tried no linkage attack on it"
        return f"it is accurate enough, and respondents need trust nobody{untried}"
    office = "it needs an office that may hold the true answers"
    if refused:
        return f"it is accurate enough, and {office}; {'; '.join(refused)}"
    alone = any(its == "local" for its, _ in worst) and not any(
        score.fits for (its, _), score in worst.items() if its not in {"local", model}
    )
    return f"it {'alone ' if alone else ''}is accurate enough; {office}"


def _tell_left_out(labels: Sequence[str]) -> str:
    if not labels:
        return ""
    named = [f"“{label}”" for label in labels[:_NAMED]]
    named += [f"{len(labels) - _NAMED} more"] if len(labels) > _NAMED else []
    return f". Left out, because no model shows it well enough at this ε: {join_words(named)}"


def _tell_shortfall(worst: _Scores) -> str:
    best = min(worst, key=lambda key: (worst[key].error, key))
    if math.isinf(worst[best].error):
        return "no group has a true value to be held against, or an answer"
    off = f"{best[1]}, is off by {percent(worst[best].error)} in the typical group of its worst figure"
    if worst[best].error <= GOOD and worst[best].blurred:
        return f"the groups lie closer together than the noise. For a group by itself the best, {off}"
    return f"the best, {off}; ask for larger groups, fewer figures or a larger ε"
