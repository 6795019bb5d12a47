"""Whether the report's recipe, run here, lands where the report did; and what is wrong with it, in figures.

Every sentence is computed from a comparison: other data, another sentence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from discreet.catalogue import Phrase, language, localise, numeral, say, say_list
from discreet.lab.study.execution.outcomes import StudyQuery
from discreet.lab.study.findings.series_names import tell_mechanism, tell_model
from discreet.lab.study.models.naive_model import real_epsilon
from discreet_replications.report.printed_comparison import (
    EVERYWHERE,
    MODELS,
    ErrorLine,
    PrintedComparison,
    correlate_ranks,
)

__all__ = [
    "NEAR",
    "RANKED",
    "Agreement",
    "Ranked",
    "agree",
    "short_label",
    "tell_agreement",
    "tell_amount",
    "tell_faults",
    "tell_gain",
]

NEAR: Final = 0.05
RANKED: Final = 0.95
_PROVINCE: Final = "Ontario"
_HEIGHT: Final = "mean of height"
_SMOKERS: Final = "smoking=1"
_REFERENCE: Final = Decimal(1)
_HEADLINES: Final = {_HEIGHT: Phrase("{amount} m"), _SMOKERS: Phrase("{amount} people")}
_NONE: Final = "—"
# The appendix's six statistics, as the file of printed tables calls them.
_LABELS: Final = {
    phrase.template: phrase
    for phrase in (
        Phrase("mean height"),
        Phrase("mean body weight"),
        Phrase("daily smokers"),
        Phrase("people in fair health"),
        Phrase("people who find work a bit stressful"),
        Phrase("people who find work not at all stressful"),
    )
}
# The heaviest weight of the survey's public use file (docs/errata.md).
_HEAVIEST: Final = 13_894


@dataclass(frozen=True, slots=True)
class Ranked:
    """Spearman's correlation over provinces between their errors and the recipe's, of one count at one ε."""

    query: StudyQuery
    epsilon: Decimal
    correlation: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near the recipe lands: Ontario's mean height, and the ranks of local count errors over provinces.

    `pooled` takes all counts and ε together; errors differ between ε more than between provinces, which helps it.
    """

    heights: tuple[ErrorLine, ...]
    ranks: tuple[Ranked, ...]
    pooled: float

    @property
    def heights_near(self) -> bool:
        """Whether every height that the report gives is met within 5%."""
        known = [line for line in self.heights if line.theirs is not None]
        return bool(known) and all(abs(line.naive - line.theirs) <= NEAR * line.theirs for line in known if line.theirs)

    @property
    def lowest(self) -> Ranked:
        return min(self.ranks, key=lambda ranked: ranked.correlation)

    def of(self, query: StudyQuery) -> tuple[Ranked, ...]:
        return tuple(ranked for ranked in self.ranks if ranked.query == query)

    def to_dict(self) -> dict[str, Any]:
        return {
            "ontario_height": [
                {"epsilon": float(line.epsilon), "theirs": line.theirs, "naive": line.naive} for line in self.heights
            ],
            "ontario_height_within_5_percent": self.heights_near,
            "rank_correlations": [
                {"query": item.query.name, "epsilon": float(item.epsilon), "spearman": item.correlation}
                for item in self.ranks
            ],
            "rank_correlation_pooled": self.pooled,
        }


def agree(comparison: PrintedComparison) -> Agreement:
    """Hold the recipe's errors against theirs wherever theirs are known."""
    height = next(query for query in comparison.queries if query.name == _HEIGHT)
    ranks, ours, theirs = [], list[float](), list[float]()
    for query in (query for query in comparison.queries if query.statistic == "count"):
        for epsilon in comparison.epsilons:
            lines = comparison.by_province(query=query, model="local", epsilon=epsilon)
            known = [(line.naive, line.theirs) for line in lines if line.theirs is not None]
            if len(known) == len(lines):
                here, there = zip(*known, strict=True)
                ranks.append(Ranked(query, epsilon, correlate_ranks(here, there)))
                ours += here
                theirs += there
    heights = comparison.pick(query=height, model="local", group=_PROVINCE)
    return Agreement(heights, tuple(ranks), correlate_ranks(ours, theirs))


def tell_agreement(comparison: PrintedComparison, agreement: Agreement) -> list[str]:
    """The verdict in a few lines."""
    smokers = next(query for query in comparison.queries if query.name == _SMOKERS)
    lowest, own = agreement.lowest, agreement.of(smokers)
    least = min(own, key=lambda ranked: ranked.correlation)
    heights = agreement.heights
    ranked = min(least.correlation, agreement.pooled) >= RANKED
    landed = [say("The recipe, repeated here, lands where the report did.")] if agreement.heights_near else []
    alike = [say("The same provinces are off most in the local counts.")] if ranked else []
    near = say(
        "Ontario's mean height under the local model, at ε = {epsilons}, is off by {theirs} m in the report and by "
        "{ours} m here. Within {near:.0%}: {held}.",
        epsilons=_slashed([numeral(line.epsilon, "f") for line in heights]),
        theirs=_slashed([tell_amount(line.theirs) for line in heights]),
        ours=_slashed([tell_amount(line.naive) for line in heights]),
        near=NEAR,
        held=_yes(agreement.heights_near),
    )
    order = say(
        "Rank correlation (Spearman; 1 is the same order) over {provinces} provinces: {figure} at least {least:.3f} "
        "(ε = {at:f}); all counts and ε together {pooled:.3f}; the lowest of all {all} is {lowest:.3f} ({other}, "
        "ε = {there:f}). At least {wanted:.2f} for {figure} and together: {held}.",
        provinces=len(comparison.provinces),
        figure=short_label(smokers),
        least=least.correlation,
        at=least.epsilon,
        pooled=agreement.pooled,
        all=len(agreement.ranks),
        lowest=lowest.correlation,
        other=short_label(lowest.query),
        there=lowest.epsilon,
        wanted=RANKED,
        held=_yes(ranked),
    )
    return [" ".join([*landed, near]), " ".join([*alike, order])]


def tell_faults(*, categories: Sequence[tuple[str, int]], columns: int) -> list[str]:
    """Why nobody may use the recipe; `categories` gives the number of them by column label."""
    costs = [
        say("{cost:.2f} for {number} ({label})", cost=real_epsilon(1.0, number), number=number, label=label)
        for label, number in categories
    ]
    return [
        say(
            "The recipe is not differentially private. Its response keeps the truth with the chance for two "
            "categories, whatever their number k, so its real ε is ε + ln(k − 1): at a nominal 1 it is {costs}.",
            costs=", ".join(costs),
        ),
        say(
            "Central noise of scale 1/ε on weighted counts ignores that a person counts with a weight of up to "
            "{heaviest:,}: for that person the loss is so many times ε. Ranges of numbers are read from the rows.",
            heaviest=_HEAVIEST,
        ),
        say(
            "ε is spent anew on every column: with {columns} columns a person loses {columns} times as much.",
            columns=columns,
        ),
    ]


def tell_gain(comparison: PrintedComparison) -> list[str]:
    """What doing it rightly changes at ε = 1, for the two headline statistics."""
    parts = []
    for query in (query for query in comparison.queries if query.name in _HEADLINES):
        lines = [line for line in comparison.lines if (line.query, line.group) == (query, EVERYWHERE)]
        at = [line for line in lines if line.epsilon == _REFERENCE]
        unit = _HEADLINES[query.name]
        theirs = {line.model: unit.about(amount=tell_amount(line.theirs)) for line in at if line.model != "central"}
        right = [f"{unit.about(amount=tell_amount(line.correct))} ({_tell_way(line)})" for line in at]
        if at:
            parts.append(
                say(
                    "{figure} at ε = 1, mean over provinces: the report was off by {theirs}. Done rightly, it is off "
                    "by {right}.",
                    figure=short_label(query).capitalize(),
                    theirs=say_list([f"{error} ({tell_model(model)})" for model, error in theirs.items()]),
                    right=", ".join(right),
                )
            )
    return parts


def _tell_way(line: ErrorLine) -> str:
    model = tell_model(line.model)
    return f"{model}, {tell_mechanism(line.correct_mechanism)}" if len(MODELS[line.model]) > 1 else model


def tell_amount(value: float | None) -> str:
    """Three figures; thousands separated."""
    if value is None or not math.isfinite(value):
        return _NONE
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{Decimal(f'{value:.3g}'):f}"
    return localise(text, language())


def short_label(query: StudyQuery) -> str:
    """The label without what the report called it by mistake."""
    plain = query.label.partition(" (")[0]
    return str(_LABELS.get(plain, plain))


def _slashed(parts: Sequence[str]) -> str:
    return " / ".join(parts)


def _yes(held: bool) -> str:
    return say("yes") if held else say("no")
