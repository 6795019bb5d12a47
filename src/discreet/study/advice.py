"""Which model to choose at an ε: the one that asks for least trust among those accurate enough.

Accurate enough is a typical error within a tenth and, for means, below the spread between groups. A figure that no
model shows so well cannot tell them apart: it is left out of the choice, and named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from discreet.study.findings import Asked, Panel, Series

__all__ = ["GOOD", "Choice", "choose", "join_words", "panels_at", "percent"]

GOOD: Final = 0.10
_NAMED: Final = 3
# From the model that asks for least trust to the one that asks for most.
_TRUST: Final = ("local", "shuffle", "central")
_REASONS: Final = {
    "local": "it is accurate enough, and respondents need trust nobody",
    "shuffle": "it is accurate enough, and nobody but the mixing service must be trusted",
    "central": "it alone is accurate enough; it needs an office that may hold the true answers",
}


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


def panels_at(asked: Asked, epsilon: float, *, compared: bool = False) -> list[tuple[Series, Panel]]:
    """The panels at one ε, without the recipes kept for comparison unless those are `compared`."""
    return [
        (series, asked.panels[series, epsilon])
        for series in asked.series
        if (series, epsilon) in asked.panels and (compared or not series.compared_only)
    ]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which model to take at one ε, and why; `series` is None when none is accurate enough."""

    epsilon: float
    series: str | None
    sentence: str


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


def choose(asked: Sequence[Asked], *, epsilon: float, purpose: str = "") -> Choice:
    """The model that asks for least trust among those accurate enough for every query that some model can show."""
    scored = [(one.label, scores) for one in asked if (scores := _score(one, epsilon))]
    if not scored:
        return Choice(epsilon, None, "")
    shown = [scores for _, scores in scored if any(score.fits for score in scores.values())]
    some = [scores for _, scores in scored if any(math.isfinite(score.error) for score in scores.values())]
    worst = _worst(shown or some or [scores for _, scores in scored])
    rest = _tell_left_out([label for label, scores in scored if scores not in shown])
    for model in _TRUST if shown else ():
        fitting = {name: score.error for (its, name), score in worst.items() if its == model and score.fits}
        if fitting:
            name = min(fitting, key=lambda one: (fitting[one], one))
            why = f"{_REASONS[model]}{_tell_alternative(model, fitting[name], worst)}{rest}"
            return Choice(epsilon, name, f"At ε = {epsilon:g} choose {name}{purpose}: {why}.")
    return Choice(epsilon, None, f"At ε = {epsilon:g} choose none of them{purpose}: {_tell_shortfall(worst)}.")


def _score(asked: Asked, epsilon: float) -> _Scores:
    means = asked.statistic == "mean"
    return {
        (series.family, asked.label_of(series)): _Score(
            math.inf if math.isnan(panel.typical()) else panel.typical(), means and not panel.separates()
        )
        for series, panel in panels_at(asked, epsilon)
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


def _tell_alternative(model: str, error: float, worst: _Scores) -> str:
    """Central is simpler than a mixing service, and worth naming where it is no less accurate."""
    central = min((score.error for (its, _), score in worst.items() if its == "central"), default=math.inf)
    if model != "shuffle" or central > error:
        return ""
    return "; where an office may hold the true answers, central is simpler and no less accurate"


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
