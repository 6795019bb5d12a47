"""Which model to choose at an ε: the one that asks for least trust among those that a command runs and that fit.

A model fits where its typical error is within a tenth and, for means, below the spread between groups; where the
study's own attack does not find too much from its reports (`risks`); and where a respondent loses no more than ε = 10
in total. A figure that no model shows well enough cannot tell them apart: it is left out of the choice, and named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from discreet.catalogue import Phrase, language, localise, numeral, say, say_count, say_list
from discreet.lab.study.findings.risks import Risk, find_risks, find_untried
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series

__all__ = [
    "GOOD",
    "LARGEST_TOTAL",
    "RUN_BY",
    "AdviceSetting",
    "Recommendation",
    "choose",
    "list_figures",
    "list_judged",
    "name_kind",
    "panels_at",
    "percent",
    "setting_of",
    "tell_choices",
    "tell_epsilon",
    "tell_epsilons",
    "tell_spent",
    "title_kind",
]

GOOD: Final = 0.10
# docs/which-epsilon.md: beyond it even a hunch of one in a thousand may become near certainty.
LARGEST_TOTAL: Final = 10
_NAMED: Final = 3
# What a command can release or collect, from the model that asks for least trust to the one that asks for most. No
# command runs a protocol of the shuffle, and who answers in clear (hybrid) has no ε: those are compared, not advised.
RUN_BY: Final = {"local": "discreet local", "central": "discreet query", "table": "discreet table"}
_TITLES: Final = {"counts": Phrase("Counts"), "means": Phrase("Means"), "sums": Phrase("Sums")}
_KINDS: Final = {"counts": Phrase("counts"), "means": Phrase("means"), "sums": Phrase("sums")}


def percent(share: float) -> str:
    """A share in words of per cent, with two figures where they matter."""
    if not math.isfinite(share):
        return say("unknown")
    value = 100 * share
    if value < 0.1:
        return say("less than {share:.1%}", share=0.001)
    return localise(f"{value:,.0f}%" if value >= 10 else f"{value:.2g}%", language())


def tell_epsilons(epsilons: Sequence[float]) -> str:
    """'0.5, 1 and 3'."""
    return say_list([numeral(epsilon, "g") for epsilon in epsilons])


def name_kind(kind: str) -> str:
    """Counts, means or sums, as they stand in a sentence."""
    return str(_KINDS[kind])


def title_kind(kind: str) -> str:
    """The same as a heading."""
    return str(_TITLES[kind])


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
    """Which model to take at one ε, and why; `series` is its name, None when none is advised.

    `kind` is what it is for, where a study asks for several kinds of figures. Without a `why` there is nothing to say.
    `left_out` are the figures that it is not for.
    """

    epsilon: float
    series: str | None
    label: str
    why: str
    kind: str = ""
    left_out: tuple[str, ...] = ()


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
    merged: dict[Recommendation, list[float]] = {}
    for choice in choices:
        if choice.why:
            merged.setdefault(replace(choice, epsilon=0), []).append(choice.epsilon)
    return [_tell_choice(choice, tell_spent(epsilons, setting)) for choice, epsilons in merged.items()]


def _tell_choice(choice: Recommendation, spent: str) -> str:
    if choice.series is None:
        if not choice.kind:
            return say("At {spent} choose none of them: {why}.", spent=spent, why=choice.why)
        kind = name_kind(choice.kind)
        return say("At {spent} choose none of them for {kind}: {why}.", spent=spent, kind=kind, why=choice.why)
    if not choice.kind:
        return say("At {spent} choose {model}: {why}.", spent=spent, model=choice.label, why=choice.why)
    return say(
        "At {spent} choose {model} for {kind}: {why}.",
        spent=spent,
        model=choice.label,
        kind=name_kind(choice.kind),
        why=choice.why,
    )


def tell_epsilon(epsilon: float, setting: AdviceSetting) -> str:
    """One ε in a heading, with what a respondent loses in total where that is more."""
    if setting.columns < 2:
        return say("ε = {epsilon:g}", epsilon=epsilon)
    return say("ε = {epsilon:g} ({total:g} in total)", epsilon=epsilon, total=setting.total(epsilon))


def tell_spent(epsilons: Sequence[float], setting: AdviceSetting) -> str:
    """The ε of a choice, with what a respondent loses in total where that is more."""
    if setting.columns < 2:
        return say("ε = {epsilons}", epsilons=tell_epsilons(epsilons))
    return say(
        "ε = {epsilons} for each of {columns} columns, {totals} in total for a respondent,",
        epsilons=tell_epsilons(epsilons),
        columns=setting.columns,
        totals=tell_epsilons([setting.total(epsilon) for epsilon in epsilons]),
    )


def choose(
    asked: Sequence[Asked], *, epsilon: float, kind: str = "", setting: AdviceSetting | None = None
) -> Recommendation:
    """The model that asks for least trust among those that fit every query which some model can show."""
    setting = setting or AdviceSetting()
    labels = {item.name_of(series): item.label_of(series) for item in asked for series in item.series}

    def advise(name: str | None, why: str, left_out: Sequence[str] = ()) -> Recommendation:
        return Recommendation(epsilon, name, "" if name is None else labels[name], why, kind, tuple(left_out))

    scored = [(item.label, scores) for item in asked if (scores := _score(item, epsilon))]
    if not scored:
        compared = any(panels_at(item, epsilon) for item in asked)
        return advise(None, say("no command runs a model of this study") if compared else "")
    if setting.total(epsilon) > LARGEST_TOTAL:
        return advise(
            None,
            say(
                "a respondent would lose more than ε = {largest} in total, beyond which the promise is empty; protect "
                "fewer columns, or spend less on each",
                largest=LARGEST_TOTAL,
            ),
        )
    shown = [scores for _, scores in scored if any(score.fits for score in scores.values())]
    some = [scores for _, scores in scored if any(math.isfinite(score.error) for score in scores.values())]
    worst = _worst(shown or some or [scores for _, scores in scored])
    left_out = [label for label, scores in scored if scores not in shown]
    refused: list[str] = []
    for model in RUN_BY if shown else ():
        fitting = {name: score.error for (its, name), score in worst.items() if its == model and score.fits}
        for name in sorted(fitting, key=lambda item: (fitting[item], item)):
            tried = setting.risks.get((name, epsilon))
            risk = setting.untried.get(epsilon) if tried is None and model == "local" else tried
            if risk is None or not risk.excessive:
                why = _tell_reason(model, worst, refused, attacked=tried is not None)
                return advise(name, _tell_left_out(why, left_out), left_out)
            refused.append(say("{model} is accurate enough, but {risk}", model=labels[name], risk=risk.tell()))
    return advise(None, say("; ").join(refused) if refused else _tell_shortfall(worst, labels))


def list_judged(asked: Sequence[Asked], epsilon: float) -> list[Asked]:
    """The figures that a choice at one ε is for: those that some model shows well enough, or all where none does."""
    fitting = [item for item in asked if any(score.fits for score in _score(item, epsilon).values())]
    return fitting or list(asked)


def _score(asked: Asked, epsilon: float) -> _Scores:
    means = asked.statistic == "mean"
    return {
        (series.family, asked.name_of(series)): _Score(
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
        if attacked:
            return say("it is accurate enough, and respondents need not trust anybody")
        return say(
            "it is accurate enough, and respondents need not trust anybody; the study tried no linkage attack on it"
        )
    if refused:
        return say(
            "it is accurate enough, and it needs an office that may hold the true answers; {refused}",
            refused=say("; ").join(refused),
        )
    alone = any(its == "local" for its, _ in worst) and not any(
        score.fits for (its, _), score in worst.items() if its not in {"local", model}
    )
    if alone:
        return say("it alone is accurate enough; it needs an office that may hold the true answers")
    return say("it is accurate enough; it needs an office that may hold the true answers")


def _tell_left_out(why: str, labels: Sequence[str]) -> str:
    if not labels:
        return why
    return say(
        "{why}. Left out, because no model shows it well enough at this ε: {figures}",
        why=why,
        figures=list_figures(labels),
    )


def list_figures(labels: Sequence[str]) -> str:
    """The first few of them by name, in a sentence."""
    named = [say("“{label}”", label=label) for label in labels[:_NAMED]]
    rest = len(labels) - _NAMED
    named += [say_count("{count} more", "{count} more", rest)] if rest > 0 else []
    return say_list(named)


def _tell_shortfall(worst: _Scores, labels: Mapping[str, str]) -> str:
    best = min(worst, key=lambda key: (worst[key].error, key))
    if math.isinf(worst[best].error):
        return say("no group has a true value to compare with, or an answer")
    facts = {"model": labels[best[1]], "error": percent(worst[best].error)}
    if worst[best].error <= GOOD and worst[best].blurred:
        return say(
            "the groups lie closer together than the noise. For a group by itself the best, {model}, is off by {error} "
            "in the typical group of its worst figure",
            **facts,
        )
    return say(
        "the best, {model}, is off by {error} in the typical group of its worst figure; ask for larger groups, fewer "
        "figures or a larger ε",
        **facts,
    )
