"""Weight classes: how much of a respondent's design weight may travel with her report.

A weight to the cent names its owner, so a report carries the class of her weight, and hides among the reports of that
class. Few classes hide well and blur the weights; many do the opposite. Classes are chosen from the weights alone,
which are public, for the smallest expected variance. Where blurring costs more than hiding gains, a class is *open*:
its people send their own weights, under local privacy. So the whole is never worse, in expectation, than local.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say, say_count
from discreet.collect.mixing.allowance import rung_below, searched_sizes
from discreet.collect.mixing.batch_question import BatchQuestion
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, exact

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["BLUR_PRICE", "WeightClass", "WeightClasses", "choose_classes"]

_CUTS: Final = 64
BLUR_PRICE: Final = 2.0
_LARGEST_WEIGHT: Final = 1 << 26  # so that a square, and the sum of a hundred million of them in halves, fit 64 bits


@dataclass(frozen=True, slots=True)
class WeightClass:
    """The people of one class; `anonymity` is how many hide together, 1 where the class is open."""

    low: int
    high: int
    people: int
    total: int
    squares: int
    anonymity: int

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high or self.people < 1 or self.anonymity not in {1, self.people}:
            raise ValueError("a class has people, ordered limits, and hides all of them or none")

    @property
    def open(self) -> bool:
        """Whether its people send their own weights, under local privacy."""
        return self.anonymity == 1

    @property
    def mean(self) -> float:
        """The weight that every report of the class gets in an estimate, unless it is open."""
        return self.total / self.people

    @property
    def blur(self) -> float:
        """Σ(w − mean)²: what the class forgets of its weights; 0 when it is open."""
        return 0.0 if self.open else max(0.0, (self.squares * self.people - self.total**2) / self.people)


@dataclass(frozen=True, slots=True)
class WeightClasses:
    """Classes of rising weights that share a group; everything about them is public."""

    classes: tuple[WeightClass, ...]
    variance: float

    def __post_init__(self) -> None:
        if not self.classes or any(item.high >= next_.low for item, next_ in pairwise(self.classes)):
            raise ValueError("classes follow one another and do not overlap")

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(item.total for item in self.classes)

    def assign(self, weights: NDArray[int64]) -> NDArray[int64]:
        """The class of each weight, once it is known that the weights are those the classes were made for."""
        lows = np.array([item.low for item in self.classes], dtype=np.int64)
        result = np.searchsorted(lows, weights, side="right") - 1
        counts = np.bincount(np.maximum(result, 0), minlength=len(lows))
        if result.min(initial=0) < 0 or counts.tolist() != [item.people for item in self.classes]:
            rule = say("must be those the classes were made for: a smaller batch would hide less")
            raise ParameterInvalid(
                parameter="weights", rule=rule, given=say_count("{count} weight", "{count} weights", len(weights))
            )
        return result


def choose_classes(
    weights: NDArray[Any], *, question: BatchQuestion, epsilon: ExactLike, delta: ExactLike
) -> WeightClasses:
    """The classes with the smallest expected variance of a weighted count (or of a mean times the total weight).

    The best partition of the ordered weights at 64 equal counts, found by dynamic programming: a class costs
    mean²·people·(variance of a report at the ε0 of so many people) + price·Σ(w − mean)², an open one Σw²·(variance of a
    report at ε). The price of blur is twice the assumed spread of answers: once as chance has it, and once more for
    answers that go with the weights, whose bias chance does not know.

    The partition is laid out for the power of four nearest to ε, and each of its classes is then closed or open as ε
    itself wants it. So nearby ε share their partition, and with the same blur a larger ε errs less.
    """
    target = exact(epsilon, parameter="epsilon")
    share = exact(delta, parameter="delta", zero=True, below=1)
    ordered = np.sort(_checked(weights))
    blur_price = BLUR_PRICE * question.spread()
    layout = _Costs.of(_Noises(question, _reference(target), share), len(ordered), blur_price)
    noises = _Noises(question, target, share)
    ends = _best_ends(ordered, _cuts(ordered), layout)
    priced = [_settle(ordered[a:b], noises, blur_price) for a, b in pairwise(ends)]
    classes = _join_open([item for item, _ in priced])
    return WeightClasses(classes=classes, variance=math.fsum(cost for _, cost in priced))


def _reference(epsilon: Decimal) -> Decimal:
    """The power of four nearest to ε, between 1/256 and 16."""
    power = round(math.log(float(epsilon), 4))
    return Decimal(4) ** min(max(power, -4), 2)


@dataclass(frozen=True, slots=True)
class _Noises:
    """The assumed variance of a report, by the number of people who hide together."""

    question: BatchQuestion
    epsilon: Decimal
    delta: Decimal

    def of(self, people: int) -> float:
        return self.question.noise(epsilon=self.epsilon, delta=self.delta, people=people)


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """Variances of reports for sizes along the ladder, interpolated: they steer the choice, the chosen are priced."""

    sizes: NDArray[float64]
    noises: NDArray[float64]
    local: float
    blur_price: float

    @classmethod
    def of(cls, noises: _Noises, people: int, blur_price: float) -> _Costs:
        sizes = searched_sizes(people)
        return cls(np.log(sizes), np.log([noises.of(size) for size in sizes]), noises.of(1), blur_price)

    def price(self, people: NDArray[Any], total: NDArray[Any], squares: NDArray[Any]) -> NDArray[float64]:
        """What a class costs, closed or open, whichever is less."""
        size = np.maximum(people, 1)
        noise = np.exp(np.interp(np.log(size), self.sizes, self.noises))
        closed = total**2 / size * noise + self.blur_price * np.maximum(squares - total**2 / size, 0.0)
        cheaper: NDArray[float64] = np.minimum(closed, squares * self.local)
        return cheaper


def _checked(weights: NDArray[Any]) -> NDArray[int64]:
    array = np.asarray(weights)
    whole = array.dtype.kind in "iu" and array.ndim == 1 and array.size > 0
    if not whole or array.min() < 0 or array.max() > _LARGEST_WEIGHT:
        rule = say(
            "must be a list of whole numbers of steps, from 0 to {most}; coarser steps make them smaller",
            most=_LARGEST_WEIGHT,
        )
        raise ParameterInvalid(
            parameter="weights", rule=rule, given=say("a weight outside") if whole else say("something else")
        )
    return array.astype(np.int64)


def _cuts(ordered: NDArray[int64]) -> NDArray[int64]:
    """Where a class may begin or end: about equal counts, never between two equal weights."""
    wanted = np.unique(np.linspace(0, len(ordered), _CUTS + 1).astype(np.int64))
    moved = np.searchsorted(ordered, ordered[np.minimum(wanted, len(ordered) - 1)], side="left")
    return np.unique(np.append(moved[wanted < len(ordered)], [0, len(ordered)])).astype(np.int64)


def _best_ends(ordered: NDArray[int64], cuts: NDArray[int64], costs: _Costs) -> list[int]:
    values = ordered.astype(np.float64)
    sums = np.append(0.0, np.cumsum(values))[cuts]
    squares = np.append(0.0, np.cumsum(values**2))[cuts]
    prices = costs.price(*(np.subtract.outer(part, part) for part in (cuts, sums, squares)))
    least, back = np.zeros(len(cuts)), np.zeros(len(cuts), dtype=np.int64)
    for end in range(1, len(cuts)):
        whole = least[:end] + prices[end, :end]
        back[end] = int(np.argmin(whole))
        least[end] = whole[back[end]]
    ends = [len(cuts) - 1]
    while ends[-1] > 0:
        ends.append(int(back[ends[-1]]))
    return [int(cuts[end]) for end in reversed(ends)]


def _settle(ordered: NDArray[int64], noises: _Noises, blur_price: float) -> tuple[WeightClass, float]:
    """A class of these weights, closed or open, with the verified allowance of its own size."""
    people = len(ordered)
    total, squares = int(ordered.sum()), _sum_of_squares(ordered)
    limits = {"low": int(ordered[0]), "high": int(ordered[-1]), "total": total, "squares": squares}
    closed = WeightClass(people=people, anonymity=people, **limits)
    cost = closed.mean**2 * people * noises.of(rung_below(people)) + blur_price * closed.blur
    local = squares * noises.of(1)
    if people > 1 and cost <= local:
        return closed, cost
    return WeightClass(people=people, anonymity=1, **limits), local


def _sum_of_squares(weights: NDArray[int64]) -> int:
    """Exact: high and low halves of the squares are summed apart, for their sum may pass 64 bits."""
    squares = weights * weights
    return (int((squares >> 32).sum()) << 32) + int((squares & 0xFFFFFFFF).sum())


def _join_open(classes: list[WeightClass]) -> tuple[WeightClass, ...]:
    """Neighbouring open classes are one: nothing is shared in them that a limit could cut."""
    joined: list[WeightClass] = []
    for item in classes:
        if joined and joined[-1].open and item.open:
            last = joined.pop()
            item = WeightClass(  # noqa: PLW2901
                low=last.low,
                high=item.high,
                people=last.people + item.people,
                total=last.total + item.total,
                squares=last.squares + item.squares,
                anonymity=1,
            )
        joined.append(item)
    return tuple(joined)
