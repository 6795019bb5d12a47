"""How far an answer may lie from the exact one, known before it is drawn.

Counts, sums and linear combinations of them have one width whatever the data hold. Means, ratios and variances depend
on what is divided by; for them an analyst says what to assume (`n=1000`), and everything stated holds for that
assumption alone. Quantiles and extremes are stated in ranks, since how far apart ranks lie is confidential.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, UnknownName, tell_point
from discreet.guarantees import as_given, shown
from discreet.sql import (
    Arithmetic,
    Constant,
    Extreme,
    KeyShown,
    Magnitude,
    Mean,
    Measure,
    MeasureFace,
    Noted,
    Output,
    Pick,
    Quantile,
    Spread,
    Statement,
    Total,
    measures_used,
    walk,
    word_number,
)

__all__ = [
    "Amounts",
    "Assumptions",
    "Depends",
    "ExpectedNoise",
    "Reach",
    "assume",
    "is_ranked",
    "reach_of",
    "read_amounts",
]

Amounts = Mapping[str, Fraction]

COUNTED: Final = "n"
WEIGHED: Final = "weights"
_AMOUNT: Final = re.compile(
    r"\s*([^\s,=].*?)\s*=\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)\s*(?:,|$)", re.ASCII
)
_AMOUNT_ALONE: Final = re.compile(
    r"\s*[+-]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60}|\d{1,60}/0*[1-9]\d{0,59})(?:[eE][+-]?\d{1,2})?\s*", re.ASCII
)
_LONGEST: Final = 2_000


class Depends(Exception):
    """A width that follows from something not yet assumed; the text names it and the option that says it."""


def read_amounts(given: str | int | Mapping[str, object] | None, *, option: str) -> Amounts:
    """'n=1000, weights=25000' or the same as a mapping; a bare number means n. Sizes are positive."""
    result = _read(given, option)
    for name in (COUNTED, WEIGHED):
        if name in result and option == "assume":
            _require_positive(name, result[name])
    return result


def _read(given: str | int | Mapping[str, object] | None, option: str) -> dict[str, Fraction]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): _amount(value, option) for name, value in given.items()}
    if isinstance(given, int):
        return {COUNTED: _amount(given, option)}
    if not isinstance(given, str):
        raise ParameterInvalid(parameter=option, rule=say("reads NAME=NUMBER[,NAME=NUMBER]"), given=as_given(given))
    if re.fullmatch(r"\s*[+-]?\d{1,60}\s*", given, re.ASCII):
        return {COUNTED: _amount(given, option)}
    result: dict[str, Fraction] = {}
    index = 0
    while index < len(given):
        match = _AMOUNT.match(given, index) if len(given) <= _LONGEST else None
        if match is None:
            comma = re.search(r"=\s*(\d{1,30},\d{1,30})", given[:_LONGEST], re.ASCII)
            rule = say("reads NAME=NUMBER[,NAME=NUMBER]")
            if comma:
                rule = say("reads NAME=NUMBER[,NAME=NUMBER]: {point}", point=tell_point(comma[1]))
            raise ParameterInvalid(parameter=option, rule=rule, given=shown(given))
        result[match[1]] = Fraction(match[2])
        index = match.end()
    return result


def _amount(value: object, option: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise ParameterInvalid(parameter=option, rule=say("takes numbers"), given=type(value).__name__)
    written = _AMOUNT_ALONE.fullmatch(shown(value).strip("'"))  # a huge one is told in words, and has no digits
    if written is None:
        point = tell_point(value) if isinstance(value, str) else ""
        rule = say("takes finite numbers: {point}", point=point) if point else say("takes finite numbers")
        raise ParameterInvalid(parameter=option, rule=rule, given=shown(value))
    return Fraction(written[0])


def _require_positive(name: str, amount: Fraction) -> None:
    if amount <= 0:
        rule = say("takes sizes above 0, as in {name}=1000", name=name)
        raise ParameterInvalid(parameter="assume", rule=rule, given=f"{name}={word_number(amount)}")


# --- what is assumed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assumptions:
    """True values that an analyst takes for granted in every cell: measures in whole steps, outputs by name."""

    measures: Mapping[int, Fraction] = field(default_factory=dict)
    outputs: Mapping[str, Fraction] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def assume(statement: Statement, amounts: Amounts) -> Assumptions:
    """What the amounts say about a statement. A name is an output, the text of a measure, `n` or `weights`.

    An output or a measure named outright goes before `n`, which stands for every count, and before `weights`, which
    stands for every sum that something is averaged by.
    """
    columns = {column.name: column.shows for column in statement.presentation.columns}
    measures: dict[int, Fraction] = {}
    outputs: dict[str, Fraction] = {}
    for name, amount in amounts.items():
        named = _measures_named(name, statement, columns.get(name))
        if not named and isinstance(columns.get(name, KeyShown(0)), KeyShown):
            if name in {COUNTED, WEIGHED}:
                continue
            known = [*(n for n, shows in columns.items() if not isinstance(shows, KeyShown)), COUNTED, WEIGHED]
            raise UnknownName(sort=Phrase("assumed quantity"), name=name, where=say("the statement"), known=known)
        if any(not _carries_values(statement.plan.measures[index]) for index in named):
            _require_positive(name, amount)
        if name in columns:
            outputs[name] = amount
        measures.update({index: amount / statement.measures[index].step for index in named})
    for generic, indices in ((COUNTED, _counts(statement)), (WEIGHED, _weighers(statement))):
        if generic in amounts:
            filled = {index: amounts[generic] / statement.measures[index].step for index in indices}
            measures = {**filled, **measures}
    said = tuple(say("{name} = {amount}", name=name, amount=word_number(value)) for name, value in amounts.items())
    return Assumptions(measures, outputs, said)


def _measures_named(name: str, statement: Statement, shows: KeyShown | Output | None) -> list[int]:
    if isinstance(shows, Noted):
        return [shows.measure]
    if shows is not None and not isinstance(shows, KeyShown):
        return []
    wanted = _closed_up(name)
    return [index for index, face in enumerate(statement.measures) if wanted in map(_closed_up, _texts_of(face))]


def _texts_of(face: MeasureFace) -> tuple[str, ...]:
    """How a measure is called in the language of the moment, and in English."""
    return face.text, face.told


def _closed_up(text: str) -> str:
    return "".join(text.split()).lower()


def _counts(statement: Statement) -> list[int]:
    return [index for index, measure in enumerate(statement.plan.measures) if not _carries_values(measure)]


def _carries_values(measure: Measure) -> bool:
    return isinstance(measure, Total | Quantile | Extreme)


def _weighers(statement: Statement) -> list[int]:
    sizes = {
        node.size
        for column in statement.presentation.columns
        for node in walk(column.shows)
        if isinstance(node, Mean | Spread)
    }
    return sorted(index for index in sizes if isinstance(statement.plan.measures[index], Total))


# --- how far --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExpectedNoise:
    """The noise of one measure in one slice, in whole steps: half-width at the joint level, mean of its size."""

    half_width: int
    expected: float


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an output lies from its exact value: `half_width` None when nothing bounds it.

    `expected` bounds the mean distance, and is it where `exact` holds; beyond sums it is right to first order.
    """

    value: Fraction | None
    half_width: Fraction | None
    expected: float
    exact: bool = False


def is_ranked(output: Output, statement: Statement) -> bool:
    """Whether an output reads a quantile or an extreme."""
    return any(isinstance(statement.plan.measures[index], Quantile | Extreme) for index in measures_used(output))


def reach_of(
    output: Output,
    noise: Mapping[int, ExpectedNoise],
    statement: Statement,
    assumptions: Assumptions,
    *,
    name: str | None,
) -> Reach:
    """The reach of an output under the noise of its measures, or `Depends` on something not assumed.

    `name` is that of the output's column, whose value may be assumed too.
    """
    return _Gauge(noise, statement, assumptions).reach(output, name)


class _Gauge:
    def __init__(self, noise: Mapping[int, ExpectedNoise], statement: Statement, assumptions: Assumptions) -> None:
        self._noise = noise
        self._statement = statement
        self._assumed = assumptions

    def reach(self, output: Output, name: str | None = None) -> Reach:
        match output:
            case Noted(measure, step):
                noise, known = self._noise[measure], self._assumed.measures.get(measure)
                value = None if known is None else known * step
                return Reach(value, noise.half_width * step, noise.expected * float(step), exact=True)
            case Constant(value):
                return Reach(value, Fraction(0), 0.0, exact=True)
            case Arithmetic(sign, left, right):
                return self._arithmetic(sign, left, right)
            case Magnitude(inner):
                below = self.reach(inner)
                return Reach(None if below.value is None else abs(below.value), below.half_width, below.expected)
            case Pick(least, values):
                return self._pick(least, [self.reach(value) for value in values])
            case Mean():
                return self._mean(output, self._assumed.outputs.get(name or ""))
            case Spread():
                return self._spread(output, self._assumed.outputs.get(name or ""))

    def _arithmetic(self, sign: str, left: Output, right: Output) -> Reach:
        one, two = self.reach(left), self.reach(right)
        if sign in "+-":
            values = None if one.value is None or two.value is None else (one.value, two.value)
            total = None if values is None else values[0] + values[1] if sign == "+" else values[0] - values[1]
            width = None if one.half_width is None or two.half_width is None else one.half_width + two.half_width
            still = one.half_width == 0 or two.half_width == 0
            return Reach(total, width, one.expected + two.expected, exact=one.exact and two.exact and still)
        if sign == "*":
            if one.half_width == 0 and one.value is not None:
                return _scaled(two, one.value)
            if two.half_width == 0 and two.value is not None:
                return _scaled(one, two.value)
            return _product(one, two, self._known(left, one), self._known(right, two))
        if two.half_width == 0 and two.value:
            return _scaled(one, 1 / two.value)
        return _quotient(one, two, self._known(left, one), self._known(right, two))

    def _known(self, output: Output, reach: Reach) -> Fraction:
        if reach.value is not None:
            return reach.value
        for node in walk(output):
            if isinstance(node, Noted) and node.measure not in self._assumed.measures:
                raise self._depends(node.measure)
        raise Depends(say("depends on the value of a mean or variance inside an expression: ask for it as an output"))

    def _pick(self, least: bool, parts: Sequence[Reach]) -> Reach:
        values = [part.value for part in parts if part.value is not None]
        widths = [part.half_width for part in parts if part.half_width is not None]
        chosen = (min(values) if least else max(values)) if len(values) == len(parts) else None
        width = max(widths) if len(widths) == len(parts) else None
        return Reach(chosen, width, sum(part.expected for part in parts))

    def _mean(self, mean: Mean, value: Fraction | None) -> Reach:
        """Total and size off by t and s move a mean over n by at most (t + s·|mean − centre|) ÷ (n − s)."""
        size = max(self._size(mean.size) * mean.size_step, mean.floor)
        total, weighed = self._noise[mean.total], self._noise[mean.size]
        far = max(mean.high - mean.centre, mean.centre - mean.low) if value is None else abs(value - mean.centre)
        off = weighed.half_width * mean.size_step
        left = max(size - off, mean.floor)
        width = (total.half_width * mean.total_step + (size - left) * far) / left
        expected = _together(total.expected * float(mean.total_step), weighed.expected * float(mean.size_step * far))
        widest = mean.high - mean.low
        return Reach(value, min(width, widest), min(expected / float(size), float(widest)))

    def _spread(self, spread: Spread, value: Fraction | None) -> Reach:
        """For a mean in the middle of the bounds, and the widest spread they allow unless another is assumed."""
        n = max(self._size(spread.size), Fraction(2))
        variance = spread.high / 2 if value is None else value**2 if spread.root else value
        noise = [self._noise[index] for index in (spread.total, spread.squares, spread.size)]
        upper, lower = (_variance(spread, variance, n, [item.half_width for item in noise], side) for side in (1, -1))
        width, expected = max(upper - variance, variance - lower), _variance_error(spread, variance, n, noise)
        if not spread.root:
            return Reach(value, min(width, spread.high), min(expected, float(spread.high)))
        deviation = math.sqrt(variance)
        width_of_root = max(math.sqrt(upper) - deviation, deviation - math.sqrt(lower))
        return Reach(value, Fraction(width_of_root), expected / (2 * deviation) if deviation else math.sqrt(expected))

    def _size(self, index: int) -> Fraction:
        known = self._assumed.measures.get(index)
        if known is None:
            raise self._depends(index)
        return known

    def _depends(self, index: int) -> Depends:
        if index in _counts(self._statement):
            return Depends(say("depends on a count: add --assume n=…"))
        if index in _weighers(self._statement):
            return Depends(say("depends on a sum of weights: add --assume weights=…"))
        columns = self._statement.presentation.columns
        text = self._statement.measures[index].told
        named = (c.name for c in columns if isinstance(c.shows, Noted) and c.shows.measure == index)
        return Depends(say('depends on {measure}: add --assume "{name}=…"', measure=text, name=next(named, text)))


def _together(one: float, two: float) -> float:
    """The mean size of two independent noises together, from that of each: exact for the continuous Laplace law.

    Of normal noises it is at most 6% too much.
    """
    return one + two - one * two / (one + two) if one and two else one + two


def _scaled(reach: Reach, factor: Fraction) -> Reach:
    return Reach(
        None if reach.value is None else reach.value * factor,
        None if reach.half_width is None else reach.half_width * abs(factor),
        reach.expected * abs(float(factor)),
        reach.exact,
    )


def _product(one: Reach, two: Reach, left: Fraction, right: Fraction) -> Reach:
    width = None
    if one.half_width is not None and two.half_width is not None:
        width = abs(left) * two.half_width + abs(right) * one.half_width + one.half_width * two.half_width
    expected = abs(float(left)) * two.expected + abs(float(right)) * one.expected + one.expected * two.expected
    return Reach(left * right, width, expected)


def _quotient(one: Reach, two: Reach, left: Fraction, right: Fraction) -> Reach:
    """The farthest corner of the box; nothing bounds a quotient whose divisor may be 0."""
    over, under = abs(left), abs(right)
    if under == 0 or one.half_width is None or two.half_width is None or two.half_width >= under:
        return Reach(left / right if under else None, None, math.inf)
    width = (over * two.half_width + under * one.half_width) / (under * (under - two.half_width))
    return Reach(left / right, width, (one.expected + float(over / under) * two.expected) / float(under))


def _variance(spread: Spread, variance: Fraction, n: Fraction, off: Sequence[int], side: int) -> Fraction:
    """The variance read off a corner of the box around a centred sum of 0."""
    total, squares, size = off
    count = max(n - side * size, Fraction(2))
    unit = spread.step**2
    above = variance * (n - 1) + side * squares * unit
    if side < 0:
        above -= total**2 * unit / max(n - size, Fraction(2))
    return min(max(above / (count - 1), Fraction(0)), spread.high)


def _variance_error(spread: Spread, variance: Fraction, n: Fraction, noise: Sequence[ExpectedNoise]) -> float:
    total, squares, size = noise
    unit = float(spread.step**2)
    # E(noise²) is twice the squared mean of |noise| for the Laplace law.
    moved = squares.expected * unit + 2 * total.expected**2 * unit / float(n) + size.expected * float(variance)
    return moved / max(float(n) - 1, 1.0)
