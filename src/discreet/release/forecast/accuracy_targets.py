"""The least epsilon that reaches an accuracy: half-widths asked of some outputs, solved for the shares that meet them.

A guess is worked out in floats, where a half-width has a closed form; what is returned was then found with the exact
half-widths that the answer will show, and always meets the targets. Widths shrink as shares grow, so a search by
halving finds the least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.cards import Card
from discreet.catalogue import Phrase, say, say_list
from discreet.errors import QueryRefused, UnknownName
from discreet.guarantees import LARGEST, from_units, text
from discreet.mechanisms import DiscreteLaplace
from discreet.release.cells.evaluation import joint_level, reach
from discreet.release.forecast.accuracy import Amounts, Assumptions, Depends, ExpectedNoise, assume, is_ranked, reach_of
from discreet.release.forecast.explainer import figure_outputs
from discreet.release.forecast.explanation import about
from discreet.release.measurement.pricing import price, split_units
from discreet.sql import KeyShown, Output, Sensitivities, Statement, measures_used, sensitivities, word_number

__all__ = ["Targets", "epsilon_within"]

_MOST: Final = LARGEST * 10**9
_FACTORS: Final = (2.0, 1.4, 1.15, 1.05)

Moved = Mapping[int, Fraction]
HalfWidth = Callable[[Fraction, int, Decimal], int]


@dataclass(frozen=True, slots=True)
class _Aim:
    """One output and its width; `moved` holds the sensitivities of its measures in the slices that can be widest."""

    name: str
    output: Output
    width: Fraction
    level: Decimal
    moved: tuple[Moved, ...]


def epsilon_within(
    statement: Statement,
    cards: Mapping[str, Card],
    widths: Amounts,
    *,
    delta: Decimal = Decimal(0),
    level: Decimal,
    assumed: Amounts | None = None,
    most: Decimal,
) -> Decimal:
    """The least epsilon, split as that of any statement, at which outputs reach these half-widths in every cell.

    Refused when it is more than `most`, which is what remains: then it says what all of that would reach.
    """
    assumptions = assume(statement, assumed or {})
    targets = Targets(statement, cards, widths, level=level, assumptions=assumptions)
    epsilon = targets.least_epsilon()
    if epsilon <= most:
        return epsilon
    reached = []
    if most:
        pricing = price(statement, cards, epsilon=most, delta=delta)
        figures = figure_outputs(statement, pricing, level=level, assumptions=assumptions)
        reached = [f"{item.name} ± {about(item.widest)}" for item in figures if item.name in widths and item.widest]
    raise QueryRefused(_tell_short(targets, epsilon, most, reached), part="within")


def _tell_short(targets: Targets, epsilon: Decimal, most: Decimal, reached: Sequence[str]) -> str:
    if not most:
        return say(
            "{targets} needs epsilon {epsilon}; no epsilon remains. Nothing was released or charged.",
            targets=targets.told(),
            epsilon=text(epsilon),
        )
    if not reached:
        return say(
            "{targets} needs epsilon {epsilon}; epsilon {remaining} remains. Nothing was released or charged.",
            targets=targets.told(),
            epsilon=text(epsilon),
            remaining=text(most),
        )
    return say(
        "{targets} needs epsilon {epsilon}; epsilon {remaining} remains, which reaches {reached}. Nothing was released "
        "or charged.",
        targets=targets.told(),
        epsilon=text(epsilon),
        remaining=text(most),
        reached=", ".join(reached),
    )


class Targets:
    """Half-widths that some outputs of a statement must reach in every cell."""

    def __init__(
        self,
        statement: Statement,
        cards: Mapping[str, Card],
        widths: Amounts,
        *,
        level: Decimal,
        assumptions: Assumptions,
    ) -> None:
        self._statement = statement
        self._assumptions = assumptions
        self._found = [sensitivities(statement.plan, measure, cards) for measure in statement.plan.measures]
        self._noisy = [index for index, found in enumerate(self._found) if found.largest.l1]
        self._aims = [self._aim(name, width, level) for name, width in widths.items()]
        if not self.met(self._parted(_MOST)):
            raise QueryRefused(
                say("{targets} cannot be reached at any epsilon. Widen it.", targets=self.told()), part="within"
            )

    def met(self, units: Sequence[int]) -> bool:
        """Whether these shares (in 1e-9, in the order of the measures) reach every width, exactly."""
        return self._holds(units, _exact_half_width)

    def least_epsilon(self) -> Decimal:
        """The least epsilon that meets the targets when it is split as that of any statement."""
        guess = _smallest(lambda units: self._holds(self._parted(units), _quick_half_width), len(self._noisy))
        found = _smallest(lambda units: self.met(self._parted(units)), guess)
        # The remainder of the split goes to the last measure, so epsilons just below can do as well.
        below = range(max(1, found - 2 * len(self._noisy)), found)
        return from_units(next((units for units in below if self.met(self._parted(units))), found))

    def least_shares(self) -> tuple[Decimal, ...]:
        """Shares of the measures, unequal where that costs less; the least that meet the targets, one by one.

        A measure that no target reads gets the smallest share of those that are read.
        """
        read = sorted({index for aim in self._aims for index in aim.moved[0]})
        weights = self._balance(read)
        guess = self._least_units(read, weights, _quick_half_width, 1000)
        units = self._spread(read, weights, self._least_units(read, weights, _exact_half_width, guess))
        for index in read:
            units = self._trimmed(units, index)
        least = min(units[index] for index in read)
        return tuple(
            from_units(units[index] if index in read else least if index in self._noisy else 0)
            for index in range(len(self._found))
        )

    def told(self) -> str:
        aims = [say("{name} within {width}", name=aim.name, width=word_number(aim.width)) for aim in self._aims]
        return say_list(aims)

    # --- what is asked ----------------------------------------------------------------------------------------------

    def _aim(self, name: str, width: Fraction, level: Decimal) -> _Aim:
        outputs = {
            column.name: column.shows
            for column in self._statement.presentation.columns
            if not isinstance(column.shows, KeyShown)
        }
        if name not in outputs:
            raise UnknownName(sort=Phrase("output"), name=name, where=say("the statement"), known=outputs)
        if width <= 0:
            raise QueryRefused(
                say(
                    "the width asked of {name} must be above 0; received {width}.",
                    name=name,
                    width=word_number(width),
                ),
                part="within",
            )
        output = outputs[name]
        if is_ranked(output, self._statement):
            raise QueryRefused(
                say(
                    "the accuracy of {name} is stated in ranks, because how far apart ranks lie is confidential; "
                    "--within takes counts, sums and what is made of them. See --explain for the ranks.",
                    name=name,
                ),
                part="within",
            )
        used = sorted(index for index in measures_used(output) if index in self._noisy)
        if not used:
            raise QueryRefused(
                say("{name} is exact whatever epsilon is; ask for it without a target.", name=name), part="within"
            )
        joint = joint_level(level, len(used))
        if joint is None:
            raise QueryRefused(
                say("{name} reads too many measures for an interval at this level.", name=name), part="within"
            )
        aim = _Aim(name, output, width, joint, self._widest(used))
        try:
            self._aim_holds(aim, self._parted(_MOST), _quick_half_width)
        except Depends as missing:
            raise QueryRefused(
                say("the width of {name} {depends}", name=name, depends=missing), part="assume"
            ) from None
        return aim

    def _widest(self, used: Sequence[int]) -> tuple[Moved, ...]:
        """The slices that no other slice exceeds in every measure: elsewhere the widths are no larger."""
        slices = max(len(self._found[index].each) for index in used)
        rows = {tuple(_in_slice(self._found[index], number) for index in used) for number in range(slices)}
        kept = [
            row
            for row in sorted(rows)
            if not any(other != row and all(a >= b for a, b in zip(other, row, strict=True)) for other in rows)
        ]
        return tuple(dict(zip(used, row, strict=True)) for row in kept)

    # --- whether it is met ------------------------------------------------------------------------------------------

    def _holds(self, units: Sequence[int], half_width: HalfWidth) -> bool:
        return all(self._aim_holds(aim, units, half_width) for aim in self._aims)

    def _aim_holds(self, aim: _Aim, units: Sequence[int], half_width: HalfWidth) -> bool:
        still = dict.fromkeys(measures_used(aim.output), ExpectedNoise(0, 0.0))
        for moved in aim.moved:
            if any(units[index] < 1 for index in moved):
                return False
            noise = {index: ExpectedNoise(half_width(l1, units[index], aim.level), 0.0) for index, l1 in moved.items()}
            found = reach_of(aim.output, {**still, **noise}, self._statement, self._assumptions, name=aim.name)
            if found.half_width is None or found.half_width > aim.width:
                return False
        return True

    # --- shares -----------------------------------------------------------------------------------------------------

    def _parted(self, units: int) -> list[int]:
        return split_units(self._statement, self._noisy, units)

    def _spread(self, read: Sequence[int], weights: Sequence[float], units: int) -> list[int]:
        shares = [1] * len(self._found)
        for index, weight in zip(read, weights, strict=True):
            shares[index] = min(_MOST, max(1, math.ceil(units * weight)))
        return shares

    def _least_units(self, read: Sequence[int], weights: Sequence[float], half_width: HalfWidth, guess: int) -> int:
        return _smallest(lambda units: self._holds(self._spread(read, weights, units), half_width), guess)

    def _roughly_least(self, read: Sequence[int], weights: Sequence[float], guess: int) -> int:
        """The same to five digits, for comparing weights."""

        def holds(units: int) -> bool:
            return self._holds(self._spread(read, weights, units), _quick_half_width)

        low, high = guess, guess
        while holds(low) and low > 1:
            high, low = low, low // 2
        while not holds(high) and high < _MOST:
            low, high = high, 2 * high
        while high - low > max(1, high // 100_000):
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high

    def _trimmed(self, units: list[int], index: int) -> list[int]:
        """The least share of one measure that still meets the targets beside the others."""
        least = _smallest(lambda part: self.met(_replaced(units, index, part)), units[index])
        return _replaced(units, index, least)

    def _balance(self, read: Sequence[int]) -> list[float]:
        """Relative shares with the least sum, found by trying larger and smaller ones in turn."""
        weights = [1.0] * len(read)
        if all(len(aim.moved[0]) == 1 for aim in self._aims):
            return weights  # each measure is then brought down to its own need alone
        guess = self._roughly_least(read, weights, 1000)
        best = guess * sum(weights)
        for factor in _FACTORS:
            moved = True
            while moved:
                moved = False
                for index in range(len(read)):
                    for change in (factor, 1 / factor):
                        tried = [*weights[:index], weights[index] * change, *weights[index + 1 :]]
                        units = self._roughly_least(read, tried, guess)
                        if units * sum(tried) < best * 0.9999:
                            weights, best, guess, moved = tried, units * sum(tried), units, True
        return weights


def _in_slice(found: Sensitivities, number: int) -> Fraction:
    return found.each[number if len(found.each) > 1 else 0].l1


def _replaced(units: Sequence[int], index: int, part: int) -> list[int]:
    return [*units[:index], part, *units[index + 1 :]]


def _exact_half_width(l1: Fraction, units: int, level: Decimal) -> int:
    return reach(DiscreteLaplace.calibrate(sensitivity=l1, epsilon=from_units(units)), level) if l1 else 0


def _quick_half_width(l1: Fraction, units: int, level: Decimal) -> int:
    """The least t with 2·exp(−(t+1)/scale) ≤ (1 − level)·(1 + exp(−1/scale)), in floats."""
    if not l1:
        return 0
    rate = units / 1e9 / float(l1)
    far = math.log(2 / (float(1 - level) * (1 + math.exp(-rate)))) / rate
    return max(1, math.ceil(far) - 1)


def _smallest(holds: Callable[[int], bool], guess: int) -> int:
    """The least whole number from 1 on for which a monotone condition holds, searched outwards from a guess."""
    low, high, step = 0, guess, 1
    if holds(guess):
        while high - step > 0 and holds(high - step):
            high, step = high - step, 2 * step
        low = max(0, high - step)
    else:
        while high < _MOST and not holds(high):
            low, high, step = high, min(high + step, _MOST), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
