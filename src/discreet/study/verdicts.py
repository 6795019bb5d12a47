"""What the findings mean, in plain sentences, each of them computed: other data, another sentence.

The error to reckon with is the one that theory expects, and the measured one for recipes without a theory. The chance
that the largest groups keep their order comes from 2,000 simulated releases with normal errors of that size, drawn
from a fixed seed; for recipes without a theory it is the share of the study's own runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.study.findings import Asked, Findings, Panel, Series

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["DROWNED", "Choice", "choose", "order_chance", "percent", "query_verdict", "reference_epsilon", "summarise"]

DROWNED: Final = 0.25
_GOALS: Final = (0.10, 0.05)
_GOOD: Final = 0.10
_DRAWS: Final = 2000
_SEED: Final = 20_170_101
_LEADERS: Final = 5
_NAMED: Final = 4
_NEAR: Final = 0.005
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


def reference_epsilon(epsilons: Sequence[float]) -> float:
    """The ε of which the short verdicts speak: the one nearest to 1, counted in factors."""
    return min(epsilons, key=lambda epsilon: (abs(math.log(epsilon)), epsilon))


def order_chance(panel: Panel, *, leaders: int = _LEADERS) -> float:
    """The chance that the groups with the largest true values come out largest, in their order; nan below two."""
    known = np.flatnonzero(np.isfinite(panel.truth))
    number = min(leaders, known.size)
    if known.size < 2:
        return math.nan
    truth = panel.truth[known]
    if panel.expected is None:
        return _share_in_order(truth, panel.estimates[known].T, number)
    # A normal error of mean absolute size a has standard deviation a·√(π/2).
    spread = np.nan_to_num(panel.expected[known]) * math.sqrt(math.pi / 2)
    draws = np.random.Generator(np.random.PCG64(_SEED)).standard_normal((_DRAWS, known.size))
    return _share_in_order(truth, truth + draws * spread, number)


def runs_in_order(panel: Panel, *, leaders: int = _LEADERS) -> tuple[int, int]:
    """In how many of the study's own runs the largest groups kept their order, and the number of runs."""
    known = np.flatnonzero(np.isfinite(panel.truth))
    runs = panel.estimates.shape[1]
    share = _share_in_order(panel.truth[known], panel.estimates[known].T, min(leaders, known.size))
    return round(share * runs), runs


def _share_in_order(truth: NDArray[float64], estimates: NDArray[float64], number: int) -> float:
    wanted = np.argsort(-truth, kind="stable")[:number]
    found = np.argsort(-np.nan_to_num(estimates, nan=-np.inf), axis=1, kind="stable")[:, :number]
    return float((found == wanted).all(axis=1).mean())


@dataclass(frozen=True, slots=True)
class Choice:
    """Which model to take at one ε, and why; `series` is None when none is accurate enough."""

    epsilon: float
    series: str | None
    sentence: str


def query_verdict(asked: Asked, *, epsilon: float, level: float) -> list[str]:
    """What one query's panels say at ε, and from which ε on each model serves."""
    return [
        sentence
        for sentence in (
            _tell_errors(asked, epsilon),
            _tell_order(asked, epsilon),
            _tell_drowned(asked, epsilon),
            _tell_separation(asked, epsilon),
            _tell_goals(asked),
            _tell_coverage(asked, level),
            choose([asked], epsilon=epsilon).sentence,
        )
        if sentence
    ]


def _at(asked: Asked, epsilon: float, *, compared: bool = False) -> list[tuple[Series, Panel]]:
    """The panels at one ε, without the recipes kept for comparison unless those are `compared`."""
    return [
        (series, asked.panels[series, epsilon])
        for series in asked.series
        if (series, epsilon) in asked.panels and (compared or not series.compared_only)
    ]


def _tell_errors(asked: Asked, epsilon: float) -> str:
    parts = [f"{percent(p.typical())} under {asked.label_of(s)}" for s, p in _at(asked, epsilon, compared=True)]
    return f"At ε = {epsilon:g} the typical group's figure is off by {_join(parts)}." if parts else ""


def _tell_order(asked: Asked, epsilon: float) -> str:
    known = np.flatnonzero(np.isfinite(asked.truth))
    number = min(_LEADERS, known.size)
    if known.size < 2:
        return ""
    leaders = [asked.groups[known[place]] for place in np.argsort(-asked.truth[known], kind="stable")[:number]]
    parts = []
    for series, panel in _at(asked, epsilon, compared=True):
        kept, runs = runs_in_order(panel)
        said = f"{kept} of {runs} runs"
        chance = "" if panel.expected is None else f"probability {_chance(order_chance(panel))}, "
        parts.append(f"{asked.label_of(series)}: {chance}{said}")
    what = f"The top {_count(number)} groups" if known.size > number else f"All {_count(number)} groups"
    return f"{what} ({', '.join(leaders)}) stay in order at ε = {epsilon:g} — {'; '.join(parts)}."


def _tell_drowned(asked: Asked, epsilon: float) -> str:
    parts = []
    for series, panel in _at(asked, epsilon):
        relative = np.nan_to_num(panel.relative())
        lost = [asked.groups[place] for place in np.argsort(-relative, kind="stable") if relative[place] > DROWNED]
        if lost:
            parts.append(f"under {asked.label_of(series)} {len(lost)} of {len(asked.groups)} ({_shorten(lost)})")
    if not parts:
        return f"No group drowns in noise at ε = {epsilon:g}: every error stays within a quarter of the group's value."
    return f"Groups that drown in noise at ε = {epsilon:g}, with errors above a quarter of their value: {_join(parts)}."


def _tell_separation(asked: Asked, epsilon: float) -> str:
    """Means of groups lie close together, so a small relative error can still hide every difference."""
    known = asked.truth[np.isfinite(asked.truth)]
    if asked.statistic != "mean" or known.size < 2:
        return ""
    hidden = [asked.label_of(series) for series, panel in _at(asked, epsilon) if not panel.separates()]
    spread = percent(float(np.std(known) / abs(np.mean(known)))) if np.mean(known) else "unknown"
    if not hidden:
        return f"The groups differ by about {spread} (standard deviation), which is more than the error of every model."
    return f"The groups differ by about {spread} (standard deviation); the error under {_join(hidden)} hides that."


def _tell_goals(asked: Asked) -> str:
    """From which ε on the typical error is below each goal, model by model."""
    told = []
    for goal in _GOALS:
        parts = []
        for series in (one for one in asked.series if not one.compared_only):
            found = _smallest(asked, series, goal)
            need = "no ε studied is enough" if found is None else f"ε = {found:g}"
            parts.append(f"{asked.label_of(series)} {need}")
        told.append(f"below {goal:.0%}: {', '.join(parts)}")
    return f"Smallest ε studied that keeps the typical error {'; '.join(told)}." if asked.series else ""


def _smallest(asked: Asked, series: Series, goal: float) -> float | None:
    """The smallest ε from which on every larger one studied meets the goal too."""
    found = None
    for epsilon in asked.epsilons:
        panel = asked.panels.get((series, epsilon))
        if panel is None or not panel.typical() < goal:
            break
        found = epsilon
    return found


def _tell_coverage(asked: Asked, level: float) -> str:
    parts = []
    for series in asked.series:
        pairs = [panel.covered() for (one, _), panel in asked.panels.items() if one == series]
        held, number = (sum(pair[side] for pair in pairs) for side in (0, 1))
        if number:
            parts.append(f"{asked.label_of(series)} {held / number:.1%} ({judge_coverage(held, number, level)})")
    if not parts:
        return ""
    return f"Intervals that promise {level:.0%} hold the true figure in: {'; '.join(parts)}."


def judge_coverage(held: int, number: int, level: float) -> str:
    """Whether so many hits can come from intervals that keep their promise, counted as if they were independent.

    A shortfall of up to three standard errors is within chance: so few intervals cannot tell.
    """
    share = held / number
    if share >= level - _NEAR:
        return "as promised"
    if share >= level - 3 * math.sqrt(level * (1 - level) / number):
        return "within chance"
    return "too seldom"


def choose(asked: Sequence[Asked], *, epsilon: float, purpose: str = "") -> Choice:
    """The model that asks for least trust among those accurate enough for every query.

    That is: the typical error stays within a tenth, and below the spread between groups where those are means.
    """
    worst: dict[tuple[str, str], float] = {}
    for one in asked:
        for series, panel in _at(one, epsilon):
            label = one.label_of(series)
            typical = panel.typical()
            blurred = math.isnan(typical) or (one.statistic == "mean" and not panel.separates())
            key = (series.family, label)
            worst[key] = max(worst.get(key, 0.0), math.inf if blurred else typical)
    for model in _TRUST:
        fitting = {label: error for (its, label), error in worst.items() if its == model and error <= _GOOD}
        if fitting:
            label = min(fitting, key=lambda one: (fitting[one], one))
            why = f"{_REASONS[model]}{_tell_alternative(model, fitting[label], worst)}"
            return Choice(epsilon, label, f"At ε = {epsilon:g} choose {label}{purpose}: {why}.")
    if not worst:
        return Choice(epsilon, None, "")
    advice = "ask for larger groups, fewer figures or a larger ε"
    return Choice(
        epsilon, None, f"At ε = {epsilon:g} choose none of them{purpose}: {_tell_shortfall(worst)}; {advice}."
    )


def _tell_alternative(model: str, error: float, worst: Mapping[tuple[str, str], float]) -> str:
    """Central is simpler than a mixing service, and worth naming where it is no less accurate."""
    central = min((found for (its, _), found in worst.items() if its == "central"), default=math.inf)
    if model != "shuffle" or central > error:
        return ""
    return "; where an office may hold the true answers, central is simpler and no less accurate"


def _tell_shortfall(worst: Mapping[tuple[str, str], float]) -> str:
    best = min(worst, key=lambda key: (worst[key], key))
    if math.isinf(worst[best]):
        return "every one blurs the differences between groups in at least one figure"
    return f"the best, {best[1]}, is off by {100 * worst[best]:.3g}% in the typical group of its worst figure"


def summarise(findings: Findings) -> list[str]:
    """The verdict in short: what each model keeps near ε = 1, what to choose there and at the other ε, and coverage."""
    if not findings.asked:
        return ["The study asked nothing that gets a figure."]
    epsilon = reference_epsilon(findings.epsilons)
    sentences = [_tell_kept(findings.asked, epsilon)]
    kinds = {kind: [one for one in findings.asked if _kind(one) == kind] for kind in ("counts", "means")}
    for kind, those in kinds.items():
        purpose = f" for {kind}" if all(kinds.values()) else ""
        sentences += [choose(those, epsilon=one, purpose=purpose).sentence for one in sorted(findings.epsilons)]
    sentences += [_tell_promises(findings), _tell_naive(findings.asked, epsilon)]
    return [sentence for sentence in _merge_choices(sentences) if sentence]


def _merge_choices(sentences: Sequence[str]) -> list[str]:
    """Advice that differs in ε alone is given once: 'At ε = 1, 3 choose …'."""
    merged: dict[str, list[str]] = {}
    for sentence in sentences:
        head, _, tail = sentence.partition(" choose ")
        if tail and head.startswith("At ε = "):
            merged.setdefault(tail, []).append(head.removeprefix("At ε = "))
        else:
            merged.setdefault(sentence, [])
    return [f"At ε = {_join(heads)} choose {tail}" if heads else tail for tail, heads in merged.items()]


def _tell_kept(asked: Sequence[Asked], epsilon: float) -> str:
    """For each model the typical error of counts and of means, each over all queries that get a figure."""
    sorts: dict[str, dict[str, list[float]]] = {}
    for one in asked:
        kind = _kind(one)
        for series, panel in _at(one, epsilon):
            sorts.setdefault(one.label_of(series), {}).setdefault(kind, []).append(panel.typical())
    parts = []
    for label, kinds in sorts.items():
        kept = [f"{kind} to within {percent(float(np.median(errors)))}" for kind, errors in sorted(kinds.items())]
        parts.append(f"{label} keeps {_join(kept)}")
    return f"At ε = {epsilon:g}, in the typical group: {'; '.join(parts)}." if parts else ""


def _kind(asked: Asked) -> str:
    return "means" if asked.statistic == "mean" else "counts"


def _tell_promises(findings: Findings) -> str:
    """Coverage over all queries, series by series; where one ε falls short, it is named."""
    parts = []
    for series in sorted({series for series, _ in findings.coverage}, key=lambda one: one.order):
        if series.compared_only:
            continue
        counts = {epsilon: pair for (one, epsilon), pair in findings.coverage.items() if one == series}
        held, number = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
        judged = judge_coverage(held, number, findings.level)
        short = {
            epsilon: pair[0] / pair[1]
            for epsilon, pair in counts.items()
            if judge_coverage(*pair, findings.level) == "too seldom"
        }
        if short:
            worst = min(short, key=lambda epsilon: (short[epsilon], epsilon))
            judged += f", {short[worst]:.1%} at ε = {worst:g}"
        parts.append(f"{series.label} {held / number:.1%} ({judged})")
    return f"Over all queries, {findings.level:.0%} intervals hold the truth in: {'; '.join(parts)}." if parts else ""


def _tell_naive(asked: Sequence[Asked], epsilon: float) -> str:
    errors: dict[str, list[float]] = {}
    for one in asked:
        for series, panel in _at(one, epsilon, compared=True):
            if series.compared_only:
                errors.setdefault(one.label_of(series), []).append(panel.typical())
    parts = [f"{label} {percent(float(np.median(values)))}" for label, values in errors.items()]
    if not parts:
        return ""
    return (
        f"Recipes shown for comparison only are off by: {_join(parts)}. Do not use them: the ε they state is not "
        "proved, and some exceed it."
    )


def _chance(share: float) -> str:
    """Not more exact than so many draws allow."""
    if share >= 0.995:
        return "above 99%"
    return "below 1%" if share < 0.01 else f"{share:.0%}"


def _count(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five")
    return words[number] if number < len(words) else str(number)


def _shorten(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:_NAMED])} and {rest} more"


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
