"""How far estimates are expected to stray, from the manifest and a number of respondents: before anybody is asked.

Guarantee: reads the manifest alone; nothing here knows an answer, a weight or a report.
Requires:  assumptions, each of which is said beside the result.
Proof:     docs/proofs/local-estimates.md
Refs:      [Kis65] for the effect of unequal weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.cards import Column, unknown_code
from discreet.catalogue import Phrase, say
from discreet.collect.estimates.estimators.estimated_arrays import normal_quantile
from discreet.collect.estimates.estimators.frequencies import Moments
from discreet.collect.estimates.estimators.sums import LARGEST_ROWS
from discreet.collect.randomisers.missing_numbers import NumberOrMissing
from discreet.collect.randomisers.number_choice import middle_half
from discreet.collect.randomisers.randomiser import FrequencyOracle, NumberRandomiser
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest import Manifest, SurveyQuestion
from discreet.errors import ParameterInvalid, UsageError

__all__ = ["ASSUMED_MISSING", "CollectionOutlook", "ExpectedWidth", "expect_precision", "read_group_shares"]

ASSUMED_MISSING: Final = 0.05
_ASSUMED_CLASSES: Final = 8  # for weights that are sent as they are: as uneven as drafted classes would be
_PART: Final = re.compile(r"0(\.\d{1,9})?|\.\d{1,9}|1(\.0{1,9})?", re.ASCII)
_FEWEST: Final = 2.0  # respondents' worth of weight, below which nothing is foretold

GroupShares = Mapping[str, Mapping[str, Fraction]]


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """The half-width of an interval to expect for one question, overall or in one category of a group.

    A share is told as a part of 1. `half_width` is for answers that are equally common, or numbers in the middle half
    of their bounds; `worst` for the share or the numbers that stray most. None where too few would be asked.
    """

    question: str
    statistic: str
    group: str | None
    category: str | None
    respondents: float
    asked: float
    half_width: float | None
    worst: float | None


@dataclass(frozen=True, slots=True)
class CollectionOutlook:
    """What a collection of so many respondents would tell, and what was assumed."""

    respondents: int
    level: float
    design_effect: float
    assumptions: tuple[Phrase, ...]
    expected: tuple[ExpectedWidth, ...]


def expect_precision(
    manifest: Manifest,
    *,
    respondents: int,
    level: float = 0.95,
    group_shares: GroupShares | None = None,
    design_effect: float | None = None,
) -> CollectionOutlook:
    """The intervals to expect of the recommended estimators: ratio for shares, weighted means for numbers.

    `group_shares` declares which part of the respondents each category of a group has; what is left is shared equally.
    """
    if not 1 <= respondents <= LARGEST_ROWS:
        rule = say("must be a whole number from 1 to {most:,}", most=LARGEST_ROWS)
        raise ParameterInvalid(parameter="respondents", rule=rule, given=str(respondents))
    if design_effect is not None and not 1 <= design_effect < math.inf:
        raise ParameterInvalid(
            parameter=Phrase("design effect"), rule=say("must be at least 1"), given=str(design_effect)
        )
    declared = {name: dict(parts) for name, parts in (group_shares or {}).items()}
    shares = {group.name: _complete(group, declared.get(group.name, {})) for group in manifest.groups}
    quantile = normal_quantile(level)
    within = _within(manifest) if design_effect is None else design_effect
    overall = within if design_effect is not None else within * _between(manifest, shares)
    expected = []
    for question in manifest.questions:
        typical, worst = _variances(question, manifest)
        for group, code, part in _parts(manifest, shares):
            capped = manifest.weight is not None and group is not None and manifest.weight.rule.by == group
            people = respondents * float(part)
            asked = people * float(manifest.inclusion)
            size = asked / (within if capped else overall)
            lines = [None if size < _FEWEST else quantile * math.sqrt(each / size) for each in (typical, worst)]
            statistic = "mean" if question.numeric else "share"
            expected.append(ExpectedWidth(question.name, statistic, group, code, people, asked, *lines))
    return CollectionOutlook(
        respondents,
        level,
        overall,
        tuple(_assumptions(manifest, declared, (within, overall), design_effect)),
        tuple(expected),
    )


def read_group_shares(texts: list[str], manifest: Manifest) -> dict[str, dict[str, Fraction]]:
    """Declared parts of groups, each written GROUP=CODE:PART,CODE:PART."""
    result: dict[str, dict[str, Fraction]] = {}
    for text in texts:
        name, _, parts = text.partition("=")
        group = manifest.group(name.strip())
        codes = [category.code for category in group.categories]
        own = result.setdefault(group.name, {})
        for part in filter(None, (each.strip() for each in parts.split(","))):
            code, _, number = (each.strip() for each in part.rpartition(":"))
            if code and code not in codes:
                labels = [category.label for category in group.categories]
                raise unknown_code(code, codes, labels, where=say("the categories of '{name}'", name=group.name))
            if not code or not _PART.fullmatch(number):
                raise UsageError(
                    say(
                        "--share {text}: a part is a number from 0 to 1; use a point: write {name}={code}:0.25.",
                        text=text,
                        name=group.name,
                        code=codes[0],
                    )
                )
            own[code] = Fraction(number)
        if not own:
            raise UsageError(
                say(
                    "--share '{text}' declares nothing; write {name}={code}:0.25.",
                    text=text,
                    name=group.name,
                    code=codes[0],
                )
            )
    return result


def _complete(group: Column, declared: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """A part for every category; what is left after the declared ones is shared equally by the others."""
    others = [category.code for category in group.categories if category.code not in declared]
    left = 1 - sum(declared.values(), Fraction(0))
    if left < 0 or (not others and left > Fraction(1, 100)):
        raise UsageError(
            say(
                "--share {name}: the parts add up to {total:g}; together they must make 1.",
                name=group.name,
                total=float(1 - left),
            )
        )
    return {**declared, **{code: left / len(others) for code in others}}


def _parts(
    manifest: Manifest, shares: Mapping[str, Mapping[str, Fraction]]
) -> Iterator[tuple[str | None, str | None, Fraction]]:
    yield None, None, Fraction(1)
    for group in manifest.groups:
        for category in group.categories:
            yield group.name, category.code, shares[group.name][category.code]


# --- variances of one report ----------------------------------------------------------------------------------------


def _variances(question: SurveyQuestion, manifest: Manifest) -> tuple[float, float]:
    """The variance of a share or a mean times the number asked, weights being equal: to expect, and at the worst."""
    randomiser = randomiser_for(question)
    rounding = 0.0 if manifest.weight is None else manifest.weight.rounding
    left_out = 1 - float(manifest.inclusion) * (1 - rounding)
    if isinstance(randomiser, FrequencyOracle):
        moments = Moments.of(randomiser.channel())

        def at(share: float) -> float:
            return moments.other + (moments.own - 1) * share + left_out * share * (1 - share)

        return at(1 / randomiser.categories), max(at(index / 100) for index in range(101))
    assert question.column.step is not None
    grid, unit = question.grid, float(question.column.step) ** 2
    everywhere = np.unique(np.rint(np.linspace(0, grid, 65)))
    if isinstance(randomiser, NumberOrMissing):
        noises = [
            randomiser.mean_variance(indices, missing=ASSUMED_MISSING) for indices in (middle_half(grid), everywhere)
        ]
        left_out /= 1 - ASSUMED_MISSING
    else:
        assert isinstance(randomiser, NumberRandomiser)
        noises = [randomiser.variance(indices) for indices in (middle_half(grid), everywhere)]
    typical = float(noises[0].mean()) + left_out * grid**2 / 48  # spread evenly over the middle half
    return unit * typical, unit * (float(noises[1].max()) + left_out * grid**2 / 4)


def _within(manifest: Manifest) -> float:
    """1 + the squared coefficient of variation of weights that are spread evenly over the classes below one cap."""
    if manifest.weight is None:
        return 1.0
    weights = [2.0**-index for index in range(manifest.weight.classes or _ASSUMED_CLASSES)]
    return _kish([(1 / len(weights), weight) for weight in weights])


def _between(manifest: Manifest, shares: Mapping[str, Mapping[str, Fraction]]) -> float:
    """The same for the caps of a group."""
    if manifest.weight is None or manifest.weight.rule.by is None:
        return 1.0
    own = shares[manifest.weight.rule.by]
    return _kish([(float(own[code]), float(cap)) for code, cap in manifest.weight.rule.caps])


def _kish(weights: list[tuple[float, float]]) -> float:
    mean = sum(part * weight for part, weight in weights)
    return sum(part * weight**2 for part, weight in weights) / mean**2 if mean else 1.0


# --- words ----------------------------------------------------------------------------------------------------------


def _assumptions(
    manifest: Manifest, declared: Mapping[str, object], effects: tuple[float, float], design_effect: float | None
) -> Iterator[Phrase]:
    for group in manifest.groups:
        if group.name in declared:
            yield Phrase(
                "respondents by {name}: as declared; the other categories share the rest equally",
                name=group.name,
            )
        else:
            yield Phrase(
                "respondents by {name}: the same number in every category (declare others with --share)",
                name=group.name,
            )
    if design_effect is not None:
        yield Phrase("unequal weights multiply variances by {effect:g}, as declared", effect=design_effect)
    elif manifest.weight is not None:
        yield Phrase(
            "weights spread evenly over the classes of their cap: variances {within:.2f} times those of equal weights "
            "below one cap, {overall:.2f} times over all (declare another with --design-effect)",
            within=effects[0],
            overall=effects[1],
        )
    if any(not question.numeric for question in manifest.questions):
        yield Phrase("answers of a question equally common")
    if any(question.numeric for question in manifest.questions):
        yield Phrase(
            "numbers spread evenly over the middle half of their bounds, {missing:.0%} missing where that is protected",
            missing=ASSUMED_MISSING,
        )
