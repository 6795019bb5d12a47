"""What the findings mean, in plain sentences, each of them computed: other data, another sentence.

The error to reckon with is the one that theory expects, and the measured one for recipes without a theory. The chance
that the largest groups keep their order comes from 2,000 simulated releases with normal errors of that size, drawn
from a fixed seed; for recipes without a theory it is the share of the study's own runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import Phrase, numeral, say, say_count, say_list
from discreet.lab.study.findings.advice import (
    GOOD,
    RUN_BY,
    AdviceSetting,
    choose,
    list_figures,
    list_judged,
    name_kind,
    panels_at,
    percent,
    setting_of,
    tell_choices,
    tell_epsilon,
)
from discreet.lab.study.findings.series_names import tell_model
from discreet.lab.study.findings.study_findings import Asked, Findings, QueryPanel, Series
from discreet.lab.study.findings.sweeps import tell_needed

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "DROWNED",
    "by_kind",
    "judge_coverage",
    "order_chance",
    "query_verdict",
    "reference_epsilon",
    "suggest",
    "summarise",
    "tell_judgement",
    "typical_errors",
]

DROWNED: Final = 0.25
_GOALS: Final = (GOOD, 0.05)
_DRAWS: Final = 2000
_SEED: Final = 20_170_101
_LEADERS: Final = 5
_NAMED: Final = 4
_NEAR: Final = 0.005
_RARE: Final = 0.001
_PROMISED, _CHANCE, _SELDOM = "as promised", "within chance", "too seldom"
_JUDGEMENTS: Final = {
    _PROMISED: Phrase("as promised"),
    _CHANCE: Phrase("within chance"),
    _SELDOM: Phrase("too seldom"),
}
_NUMBERS: Final = {2: Phrase("two"), 3: Phrase("three"), 4: Phrase("four"), 5: Phrase("five")}


def reference_epsilon(epsilons: Sequence[float]) -> float:
    """The ε of which the short verdicts speak: the one nearest to 1, counted in factors."""
    return min(epsilons, key=lambda epsilon: (abs(math.log(epsilon)), epsilon))


def order_chance(panel: QueryPanel, *, leaders: int = _LEADERS) -> float:
    """The chance that the groups with the largest true values come out largest, in their order; nan below two."""
    known = np.flatnonzero(np.isfinite(panel.truth))
    number = min(leaders, known.size)
    if known.size < 2:
        return math.nan
    truth = panel.truth[known]
    if panel.expected is None:
        return _share_in_order(truth, panel.estimates[known].T, number)
    # A normal error of mean absolute size a has standard deviation a·√(π/2). Groups without an answer come last.
    spread = panel.expected[known] * math.sqrt(math.pi / 2)
    draws = np.random.Generator(np.random.PCG64(_SEED)).standard_normal((_DRAWS, known.size))
    return _share_in_order(truth, truth + draws * spread, number)


def runs_in_order(panel: QueryPanel, *, leaders: int = _LEADERS) -> tuple[int, int]:
    """In how many of the study's own runs the largest groups kept their order, and the number of runs."""
    known = np.flatnonzero(np.isfinite(panel.truth))
    runs = panel.estimates.shape[1]
    share = _share_in_order(panel.truth[known], panel.estimates[known].T, min(leaders, known.size))
    return round(share * runs), runs


def _share_in_order(truth: NDArray[float64], estimates: NDArray[float64], number: int) -> float:
    wanted = np.argsort(-truth, kind="stable")[:number]
    found = np.argsort(-np.nan_to_num(estimates, nan=-np.inf), axis=1, kind="stable")[:, :number]
    return float((found == wanted).all(axis=1).mean())


def query_verdict(asked: Asked, *, epsilon: float, level: float, setting: AdviceSetting | None = None) -> list[str]:
    """What one query's panels say at ε, and from which ε on each model serves."""
    setting = setting or AdviceSetting()
    return [
        sentence
        for sentence in (
            _tell_errors(asked, epsilon),
            _tell_order(asked, epsilon),
            _tell_drowned(asked, epsilon),
            _tell_separation(asked, epsilon),
            _tell_goals(asked),
            _tell_coverage(asked, level),
            *tell_choices([choose([asked], epsilon=epsilon, setting=setting)], setting),
        )
        if sentence
    ]


def _tell_errors(asked: Asked, epsilon: float) -> str:
    parts = [
        say("{error} under {model}", error=percent(panel.typical()), model=asked.label_of(series))
        for series, panel in panels_at(asked, epsilon, compared=True)
    ]
    if not parts:
        return ""
    return say(
        "At ε = {epsilon:g} the typical group's figure is off by {errors}.", epsilon=epsilon, errors=say_list(parts)
    )


def _tell_order(asked: Asked, epsilon: float) -> str:
    known = np.flatnonzero(np.isfinite(asked.truth))
    number = min(_LEADERS, known.size)
    if known.size < 2:
        return ""
    leaders = [asked.groups[known[index]] for index in np.argsort(-asked.truth[known], kind="stable")[:number]]
    parts = [_tell_kept_order(asked.label_of(series), panel) for series, panel in panels_at(asked, epsilon)]
    if not parts:
        return ""
    facts = {
        "number": str(_NUMBERS[number]),
        "leaders": ", ".join(leaders),
        "epsilon": epsilon,
        "models": say("; ").join(parts),
    }
    if known.size > number:
        return say("The top {number} groups ({leaders}) stay in order at ε = {epsilon:g} — {models}.", **facts)
    return say("All {number} groups ({leaders}) stay in order at ε = {epsilon:g} — {models}.", **facts)


def _tell_kept_order(model: str, panel: QueryPanel) -> str:
    kept, runs = runs_in_order(panel)
    held = say_count("{count} of {runs} runs", "{count} of {runs} runs", kept, runs=runs)
    if panel.expected is None:
        return say("{model}: {runs}", model=model, runs=held)
    chance = _tell_chance(order_chance(panel))
    return say("{model}: probability {chance}, {runs}", model=model, chance=chance, runs=held)


def _tell_drowned(asked: Asked, epsilon: float) -> str:
    parts = []
    for series, panel in panels_at(asked, epsilon):
        relative = np.nan_to_num(panel.relative())
        lost = [asked.groups[index] for index in np.argsort(-relative, kind="stable") if relative[index] > DROWNED]
        if lost:
            parts.append(
                say(
                    "under {model} {lost} of {groups} ({names})",
                    model=asked.label_of(series),
                    lost=len(lost),
                    groups=len(asked.groups),
                    names=_shorten(lost),
                )
            )
    if not parts:
        return say(
            "No group drowns in noise at ε = {epsilon:g}: every error stays within a quarter of the group's value.",
            epsilon=epsilon,
        )
    return say(
        "Groups that drown in noise at ε = {epsilon:g}, with errors above a quarter of their value: {models}.",
        epsilon=epsilon,
        models=say_list(parts),
    )


def _tell_separation(asked: Asked, epsilon: float) -> str:
    """Means of groups lie close together, so a small relative error can still hide every difference."""
    known = asked.truth[np.isfinite(asked.truth)]
    if asked.statistic != "mean" or known.size < 2:
        return ""
    hidden = [asked.label_of(series) for series, panel in panels_at(asked, epsilon) if not panel.separates()]
    spread = percent(float(np.std(known) / abs(np.mean(known)))) if np.mean(known) else say("unknown")
    if not hidden:
        return say(
            "The groups differ by about {spread} (standard deviation), which is more than the error of every model.",
            spread=spread,
        )
    return say(
        "The groups differ by about {spread} (standard deviation); the error under {models} hides that.",
        spread=spread,
        models=say_list(hidden),
    )


def _tell_goals(asked: Asked) -> str:
    """From which ε on the typical error is below each goal, model by model."""
    lines = []
    for goal in _GOALS:
        parts = []
        for series in (item for item in asked.series if not item.compared_only):
            found, model = _smallest(asked, series, goal), asked.label_of(series)
            if found is None:
                parts.append(say("{model} no ε studied is enough", model=model))
            else:
                parts.append(say("{model} ε = {epsilon:g}", model=model, epsilon=found))
        lines.append(say("below {goal:.0%}: {models}", goal=goal, models=", ".join(parts)))
    return (
        say("Smallest ε studied that keeps the typical error {goals}.", goals=say("; ").join(lines))
        if asked.series
        else ""
    )


def _smallest(asked: Asked, series: Series, goal: float) -> float | None:
    """The smallest ε from which on every larger one studied meets the goal too."""
    result = None
    for epsilon in asked.epsilons:
        panel = asked.panels.get((series, epsilon))
        if panel is None or not panel.typical() < goal:
            break
        result = epsilon
    return result


def _tell_coverage(asked: Asked, level: float) -> str:
    parts = []
    for series in asked.series:
        pairs = [panel.covered() for (item, _), panel in asked.panels.items() if item == series]
        held, number = (sum(pair[side] for pair in pairs) for side in (0, 1))
        if number:
            judged = tell_judgement(judge_coverage(held, number, level))
            parts.append(_tell_held(asked.label_of(series), held / number, judged))
    if not parts:
        return ""
    return say(
        "Intervals that promise {level:.0%} hold the true figure in: {models}.",
        level=level,
        models=say("; ").join(parts),
    )


def _tell_held(model: str, share: float, judged: str) -> str:
    return say("{model} {share:.1%} ({judged})", model=model, share=share, judged=judged)


def judge_coverage(held: int, number: int, level: float) -> str:
    """Whether so many hits can come from intervals that keep their promise, counted as if they were independent.

    A shortfall that such intervals would show once in a thousand studies is within chance: so few cannot tell.
    """
    if held / number >= level - _NEAR:
        return _PROMISED
    return _CHANCE if _tail(held, number, level) >= _RARE else _SELDOM


def tell_judgement(judged: str) -> str:
    """What `judge_coverage` found, in the reader's language."""
    return str(_JUDGEMENTS[judged])


def _tail(held: int, number: int, level: float) -> float:
    """The chance of so few hits or fewer: the lower tail of a binomial law, summed from its end."""
    odds = (1 - level) / level
    log_term = math.lgamma(number + 1) - math.lgamma(held + 1) - math.lgamma(number - held + 1)
    log_term += held * math.log(level) + (number - held) * math.log1p(-level)
    term, total = 1.0, 0.0
    for hits in range(held, -1, -1):
        total += term
        term *= hits / (number - hits + 1) * odds
        if term < 1e-12 * total:
            break
    return math.exp(log_term) * total


def summarise(findings: Findings) -> list[str]:
    """The verdict in short: what each model keeps near ε = 1, what to choose there and at the other ε, and coverage."""
    if not findings.asked:
        return [_tell_commands(findings) or say("The study asked nothing that gets a figure.")]
    epsilon, setting = reference_epsilon(findings.epsilons), setting_of(findings)
    sentences = [_tell_kept(findings.asked, epsilon)]
    kinds = by_kind(findings)
    for kind, those in kinds.items():
        sort = kind if len(kinds) > 1 else ""
        choices = [choose(those, epsilon=e, kind=sort, setting=setting) for e in sorted(findings.epsilons)]
        sentences += tell_choices(choices, setting)
    sentences += [
        tell_needed(findings, epsilon),
        _tell_commands(findings),
        _tell_strength(findings, setting),
        _tell_link(setting),
    ]
    sentences += [_tell_promises(findings), _tell_compared(findings.asked, epsilon)]
    return [sentence for sentence in sentences if sentence]


def suggest(findings: Findings) -> str:
    """The choice in a sentence or two: for each kind of figure the smallest ε at which a model is advised."""
    setting, kinds = setting_of(findings), by_kind(findings)
    found: dict[tuple[str, float] | None, list[str]] = {}
    left_out: list[str] = []
    for kind, those in kinds.items():
        choices = (choose(those, epsilon=epsilon, setting=setting) for epsilon in sorted(findings.epsilons))
        first = next((choice for choice in choices if choice.series is not None), None)
        found.setdefault(None if first is None else (first.label, first.epsilon), []).append(name_kind(kind))
        left_out += [] if first is None else first.left_out
    if not any(found):
        return say("No choice can be suggested: no model is fit to be advised at any ε studied.") if kinds else ""
    parts = [
        say("none for {kinds}", kinds=say_list(names))
        if choice is None
        else say("{model} at {epsilon}", model=choice[0], epsilon=tell_epsilon(choice[1], setting))
        if len(found) == 1
        else say(
            "{model} at {epsilon} for {kinds}",
            model=choice[0],
            epsilon=tell_epsilon(choice[1], setting),
            kinds=say_list(names),
        )
        for choice, names in sorted(found.items(), key=lambda item: item[0] is None)
    ]
    suggested = say(
        "Suggested choice: {choices}. This is the strongest protection studied with which figures stay accurate "
        "enough, within {goal:.0%} of the truth in the typical group.",
        choices=say("; ").join(parts),
        goal=GOOD,
    )
    if not left_out:
        return suggested
    return say("{suggested} It is not for {figures}.", suggested=suggested, figures=list_figures(left_out))


def by_kind(findings: Findings) -> dict[str, list[Asked]]:
    """Counts, means and sums that get figures, where there are any: what suits the one need not suit the other."""
    kinds = {kind: [item for item in findings.asked if _kind(item) == kind] for kind in ("counts", "means", "sums")}
    return {kind: those for kind, those in kinds.items() if those}


def _tell_commands(findings: Findings) -> str:
    """Which command runs what the study advises, and what is there to be compared with only."""
    every = {series for asked in findings.asked for series in asked.series}
    families = {series.family for series in every}
    lines = [
        say("{command} for {model}", command=command, model=tell_model(model))
        for model, command in RUN_BY.items()
        if model in families
    ]
    if any(series.mechanism.startswith("gaussian") for series in every):
        lines.append(say("discreet table --noise gaussian, under a budget with δ, for Gaussian noise"))
    sentences = [say("What to run: {commands}.", commands=say_list(lines))] if lines else []
    if "shuffle" in families:
        sentences.append(
            say("No command runs a protocol of the shuffle: it is shown for comparison and never advised.")
        )
    if findings.hybrids:
        sentences.append(
            say(
                "Hybrid collections (discreet local estimate --clear) are shown for comparison: whoever answers in "
                "clear is not protected."
            )
        )
    return " ".join(sentences)


def _tell_kept(asked: Sequence[Asked], epsilon: float) -> str:
    """For each model the typical error of counts, means and sums, each of the worst figure that is not left out."""
    parts = []
    for label, kinds in typical_errors(asked, epsilon).items():
        kept = [_tell_within(kind, error) for kind, error in sorted(kinds.items())]
        parts.append(say("{model} gives {kinds}", model=label, kinds=say_list(kept)))
    if not parts:
        return ""
    return say("At ε = {epsilon:g}, in the typical group: {models}.", epsilon=epsilon, models=say("; ").join(parts))


def _tell_within(kind: str, error: float) -> str:
    if math.isinf(error):
        return say("no usable {kind}", kind=name_kind(kind))
    return say("{kind} to within {error}", kind=name_kind(kind), error=percent(error))


def typical_errors(asked: Sequence[Asked], epsilon: float) -> dict[str, dict[str, float]]:
    """By model as it is shown, and by kind of figure: the typical error of the worst figure that a choice is for."""
    found: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(map(_kind, asked)):
        for item in list_judged([item for item in asked if _kind(item) == kind], epsilon):
            for series, panel in panels_at(item, epsilon):
                kinds = found.setdefault(item.label_of(series), {})
                # A query that nobody belongs to has no error.
                kinds[kind] = float(np.fmax(kinds.get(kind, math.nan), panel.typical()))
    return found


def _middle(errors: Sequence[float]) -> float:
    """Over the queries that have an error; one that nobody belongs to has none."""
    known = [error for error in errors if not math.isnan(error)]
    return float(np.median(known)) if known else math.nan


def _kind(asked: Asked) -> str:
    return f"{asked.statistic}s"


def _tell_promises(findings: Findings) -> str:
    """Coverage over all queries, series by series; where one ε falls short, it is named."""
    parts = []
    for series in sorted({series for series, _ in findings.coverage}, key=lambda item: item.order):
        if series.compared_only or series.family == "hybrid":
            continue
        counts = {epsilon: pair for (item, epsilon), pair in findings.coverage.items() if item == series}
        held, number = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
        judged = tell_judgement(judge_coverage(held, number, findings.level))
        short = {
            epsilon: pair[0] / pair[1]
            for epsilon, pair in counts.items()
            if judge_coverage(*pair, findings.level) == _SELDOM
        }
        if short:
            worst = min(short, key=lambda epsilon: (short[epsilon], epsilon))
            judged = say("{judged}, {share:.1%} at ε = {epsilon:g}", judged=judged, share=short[worst], epsilon=worst)
        parts.append(_tell_held(series.label, held / number, judged))
    if not parts:
        return ""
    return say(
        "Over all queries, {level:.0%} intervals hold the truth in: {models}.",
        level=findings.level,
        models=say("; ").join(parts),
    )


def _tell_strength(findings: Findings, setting: AdviceSetting) -> str:
    """What each ε bounds, so that nobody takes a large one for protection because it is accurate."""
    low, high = min(findings.epsilons), max(findings.epsilons)
    shown = [_tell_factor(setting.total(epsilon), setting.columns) for epsilon in dict.fromkeys((low, high))]
    return say(
        "The price: the odds of any guess about a person can change by a factor of up to {factors}.",
        factors=say_list(shown),
    )


def _tell_factor(total: float, columns: int) -> str:
    if total > math.log(1e9):
        factor = say("more than a billion")
    else:
        factor = numeral(math.exp(total), ",.2g" if total < math.log(10) else ",.0f")
    if columns < 2:
        return say("{factor} at ε = {total:g} in total", factor=factor, total=total)
    return say("{factor} at ε = {total:g} in total ({columns} columns)", factor=factor, total=total, columns=columns)


def _tell_link(setting: AdviceSetting) -> str:
    """How often linked respondents' answers are guessed from local reports, where that is too much and worst."""
    found = {key: risk for key, risk in setting.risks.items() if risk.excessive}
    if not found:
        return ""
    name, epsilon = max(found, key=lambda key: (found[key].success - found[key].baseline, key[1]))
    return say(
        "Anyone recognised by the static columns has little protection from reports of {model} at ε = {epsilon:g}: "
        "{risk}.",
        model=Series.called(name).label,
        epsilon=epsilon,
        risk=found[name, epsilon].tell(),
    )


def _tell_compared(asked: Sequence[Asked], epsilon: float) -> str:
    errors: dict[str, list[float]] = {}
    biased: dict[str, bool] = {}
    for item in asked:
        for series, panel in panels_at(item, epsilon, compared=True):
            if series.compared_only:
                errors.setdefault(item.label_of(series), []).append(panel.typical())
                biased[item.label_of(series)] = series.biased
    if not errors:
        return ""
    parts = [say("{model} {error}", model=name, error=percent(_middle(values))) for name, values in errors.items()]
    why = [] if all(biased.values()) else [say("the ε that the naive ones state is not proved, and some exceed it")]
    why += [say("clip, modulo and abs are biased, however many people answer")] if any(biased.values()) else []
    return say(
        "Recipes shown for comparison only are off by: {models}. Do not use them: {why}.",
        models=say_list(parts),
        why=say_list(why),
    )


def _tell_chance(share: float) -> str:
    """Not more exact than so many draws allow."""
    if share >= 0.995:
        return say("above {share:.0%}", share=0.99)
    return say("below {share:.0%}", share=0.01) if share < 0.01 else numeral(share, ".0%")


def _shorten(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    if rest <= 1:
        return ", ".join(names)
    return say("{names} and {rest} more", names=", ".join(names[:_NAMED]), rest=rest)
