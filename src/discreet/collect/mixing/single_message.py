"""One message from each respondent: the class of her weight and a randomised answer, shuffled within her group.

Guarantee: (ε, δ)-DP of the shuffled messages of the group, replace-one; each report ε0-local DP by itself.
Requires:  public weights and groups; an honest shuffler that opens a batch only when it is complete.
Proof:     docs/proofs/shuffle-amplification.md
Refs:      [FMT21], [BBGN19].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
from discreet.collect.estimates.estimators.frequencies import expected_absolute_error
from discreet.collect.estimates.estimators.sums import sum_cells, sum_terms
from discreet.collect.mixing.allowance import rung_below
from discreet.collect.mixing.batch_question import CategoryQuestion, NumberQuestion
from discreet.collect.mixing.permutation import draw_permutation
from discreet.collect.mixing.weight_classes import BLUR_PRICE, WeightClass, WeightClasses, choose_classes
from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.collect.randomisers.randomiser import NumberRandomiser, Randomiser
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, ShuffleDP, exact
from discreet.noise import SystemEntropy

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["Batch", "MessageTheory", "SingleCategory", "SingleMessage", "SingleNumber", "single_message"]

R = TypeVar("R", bound=Randomiser)

_CORRELATION: Final = 0.05  # of numbers and weights within a class: intervals allow for that much


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The reports of one class, in any order; `weights` only where the class is open."""

    reports: NDArray[Any]
    weights: NDArray[int64] | None

    def shuffle(self) -> Batch:
        """The same in a fresh uniform order, each report beside its weight where weights travel: what leaves."""
        order = draw_permutation(SystemEntropy(), len(self.reports))
        return Batch(self.reports[order], None if self.weights is None else self.weights[order])


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The true answers of one class; `weights` only where the class is open."""

    answers: NDArray[Any]
    weights: NDArray[int64] | None


@dataclass(frozen=True, slots=True, eq=False)
class MessageTheory:
    """What theory says of an estimate, given the true answers: for studies."""

    bias: NDArray[float64]
    variance: NDArray[float64]

    @property
    def absolute_error(self) -> NDArray[float64]:
        """The mean of |error|, normal law."""
        return expected_absolute_error(self.bias, self.variance)


class SingleMessage(ABC, Generic[R]):
    """The protocol for one question and one group: fixed before anybody answers."""

    __slots__ = ()
    epsilon: Decimal
    delta: Decimal
    classes: WeightClasses
    randomisers: tuple[R, ...]

    @property
    def local_epsilons(self) -> tuple[Decimal, ...]:
        """The ε0 of each class."""
        return tuple(randomiser.epsilon for randomiser in self.randomisers)

    def guarantee(self) -> ShuffleDP:
        """For the group as a whole: the smallest anonymity set and the largest ε0 of its classes."""
        return ShuffleDP(
            epsilon=self.epsilon,
            delta=self.delta,
            local_epsilon=max(self.local_epsilons),
            anonymity=min(item.anonymity for item in self.classes.classes),
        )

    def place(self, answers: NDArray[Any], weights: NDArray[int64]) -> list[Placed]:
        """The respondents by class; ParameterInvalid unless the weights are those the classes were made for."""
        members = self._members(answers, weights)
        return [
            Placed(np.asarray(answers)[those], weights[those] if item.open else None)
            for item, those in zip(self.classes.classes, members, strict=True)
        ]

    def encode(self, entropy: Entropy, answers: NDArray[Any], weights: NDArray[int64]) -> list[Batch]:
        """One report for each respondent, class by class; `Batch.shuffle` stands between them and the analyst."""
        return self.encode_placed(entropy, self.place(answers, weights))

    def encode_placed(self, entropy: Entropy, placed: Sequence[Placed]) -> list[Batch]:
        """The same where the respondents stand in their classes already: for studies, which repeat it."""
        return [
            Batch(randomiser.randomise(entropy, item.answers), item.weights)
            for randomiser, item in zip(self.randomisers, placed, strict=True)
        ]

    @abstractmethod
    def estimate(self, batches: Sequence[Batch], *, level: float = 0.95) -> EstimatedArray:
        """Unbiased but for the blur of the weights; variances hold it, at its price, beside the privacy noise."""

    @abstractmethod
    def expected(self, answers: NDArray[Any], weights: NDArray[int64]) -> MessageTheory:
        """The bias that the blur of the weights leaves in this group, and the variance of the privacy noise."""

    def _members(self, answers: NDArray[Any], weights: NDArray[int64]) -> list[NDArray[int64]]:
        if len(answers) != len(weights):
            raise ValueError("every answer needs its weight")
        class_of = self.classes.assign(weights).astype(np.int16)  # there are few classes, and short keys sort fast
        order = np.argsort(class_of, kind="stable")
        ends = np.cumsum([item.people for item in self.classes.classes])[:-1]
        return list(np.split(order, ends))

    def _complete(self, batches: Sequence[Batch]) -> list[tuple[WeightClass, R, Batch]]:
        """The batches beside their classes; ParameterInvalid unless everybody's report is there."""
        for item, batch in zip(self.classes.classes, batches, strict=True):
            if len(batch.reports) != item.people or item.open is (batch.weights is None):
                rule = say("must hold a report of every member of its class: a smaller batch hides less")
                raise ParameterInvalid(
                    parameter=Phrase("a batch"),
                    rule=rule,
                    given=say("{part} of {whole}", part=len(batch.reports), whole=item.people),
                )
        return list(zip(self.classes.classes, self.randomisers, batches, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Laws:
    """What the reports of each class are worth, as columns with one row for each class."""

    p: NDArray[float64]
    q: NDArray[float64]
    other: NDArray[float64]
    own: NDArray[float64]
    scale: NDArray[float64]
    scale_squares: NDArray[float64]
    blur: NDArray[float64]

    @classmethod
    def of(cls, classes: Sequence[WeightClass], oracles: Sequence[CategoryOracle]) -> _Laws:
        """The channels, variances of a report by whether it is of the category, weights of a report, and blurs."""
        rows = []
        for item, oracle in zip(classes, oracles, strict=True):
            channel, scale = oracle.channel(), 1.0 if item.open else item.mean
            noises = oracle.expected_variance(), oracle.expected_variance(share=1.0)
            rows.append((channel.p, channel.q, *noises, scale, scale**2, item.blur))
        return cls(*np.array(rows).T[:, :, None])

    def noise(self, weight_squares: NDArray[Any], category_squares: NDArray[Any]) -> NDArray[float64]:
        """The variance of each count, from the sums of w² over all reports of a class and over each category."""
        noise: NDArray[float64] = np.maximum(
            self.other * weight_squares + (self.own - self.other) * category_squares, 0.0
        )
        return noise


@dataclass(frozen=True, slots=True)
class SingleCategory(SingleMessage[CategoryOracle]):
    """Weighted counts of all categories, in steps of the weights."""

    question: CategoryQuestion
    epsilon: Decimal
    delta: Decimal
    classes: WeightClasses
    randomisers: tuple[CategoryOracle, ...]
    _laws: _Laws = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_laws", _Laws.of(self.classes.classes, self.randomisers))

    def estimate(self, batches: Sequence[Batch], *, level: float = 0.95) -> EstimatedArray:
        """The weighted count of each category."""
        tallies = [_tally(*part) for part in self._complete(batches)]
        # one row for each class, in every array
        support, support_squares, weights, weight_squares = (np.array(rows) for rows in zip(*tallies, strict=True))
        contrast = self._laws.p - self._laws.q
        counts = (support - self._laws.q * weights) / contrast
        squares = np.clip((support_squares - self._laws.q * weight_squares) / contrast, 0.0, weight_squares)
        shares = np.clip(counts / np.maximum(weights, 1), 0.0, 1.0)
        noise = self._laws.noise(weight_squares, squares)
        variances = self._laws.scale_squares * noise + BLUR_PRICE * shares * (1 - shares) * self._laws.blur
        return EstimatedArray((self._laws.scale * counts).sum(axis=0), variances.sum(axis=0), level)

    def expected(self, answers: NDArray[Any], weights: NDArray[int64]) -> MessageTheory:
        """One value for each category."""
        number = self.question.categories
        bias, rows = np.zeros(number), []
        for item, members in zip(self.classes.classes, self._members(answers, weights), strict=True):
            given, own = np.asarray(answers)[members], weights[members].astype(np.float64)
            used = own if item.open else np.full(item.people, item.mean)
            bias += sum_cells(used - own, given, number)
            rows.append(sum_cells(used**2, given, number))
        squares = np.stack(rows)
        return MessageTheory(bias, self._laws.noise(squares.sum(axis=1, keepdims=True), squares).sum(axis=0))


@dataclass(frozen=True, slots=True)
class SingleNumber(SingleMessage[NumberRandomiser]):
    """The weighted mean of a number, in positions of its grid."""

    question: NumberQuestion
    epsilon: Decimal
    delta: Decimal
    classes: WeightClasses
    randomisers: tuple[NumberRandomiser, ...]

    def estimate(self, batches: Sequence[Batch], *, level: float = 0.95) -> EstimatedArray:
        """The weighted mean, as an array of one; nan, and nothing said of it, where all weights are zero."""
        total, variance = 0.0, 0.0
        for item, randomiser, batch in self._complete(batches):
            values, noises = randomiser.values(batch.reports), randomiser.variances(batch.reports)
            used = np.full(item.people, item.mean) if batch.weights is None else batch.weights.astype(np.float64)
            total += sum_terms(used * values)
            variance += max(0.0, sum_terms(used**2 * noises))
            centre = sum_terms(values) / item.people
            spread = max(0.0, (sum_terms((values - centre) ** 2) - sum_terms(noises)) / item.people)
            # a bias of at most correlation · √(people · spread · blur), by Cauchy's inequality, class by class
            variance += spread * item.blur * (1 + item.people * _CORRELATION**2)
        divisor = float(self.classes.total)
        if not divisor:
            return EstimatedArray(estimates=np.array([np.nan]), variances=np.array([np.inf]), level=level)
        return EstimatedArray(
            estimates=np.array([total / divisor]), variances=np.array([variance / divisor**2]), level=level
        )

    def expected(self, answers: NDArray[Any], weights: NDArray[int64]) -> MessageTheory:
        """An array of one; nan where all weights are zero."""
        bias, variance = 0.0, 0.0
        placed = self._members(answers, weights)
        for item, randomiser, members in zip(self.classes.classes, self.randomisers, placed, strict=True):
            given, own = np.asarray(answers)[members].astype(np.float64), weights[members].astype(np.float64)
            used = own if item.open else np.full(item.people, item.mean)
            bias += sum_terms((used - own) * given)
            variance += sum_terms(used**2 * randomiser.variance(given))
        divisor = float(self.classes.total) or np.nan
        return MessageTheory(np.array([bias / divisor]), np.array([variance / divisor**2]))


def single_message(
    weights: NDArray[Any], *, question: CategoryQuestion | NumberQuestion, epsilon: ExactLike, delta: ExactLike
) -> SingleCategory | SingleNumber:
    """The protocol for the people with these public weights, with the classes that err least in expectation."""
    target = exact(epsilon, parameter="epsilon")
    share = exact(delta, parameter="delta", zero=True, below=1)
    classes = choose_classes(weights, question=question, epsilon=target, delta=share)
    sizes = [rung_below(item.anonymity) for item in classes.classes]
    if isinstance(question, CategoryQuestion):
        oracles = tuple(question.randomiser(epsilon=target, delta=share, people=size) for size in sizes)
        return SingleCategory(question, target, share, classes, oracles)
    numbers = tuple(question.randomiser(epsilon=target, delta=share, people=size) for size in sizes)
    return SingleNumber(question, target, share, classes, numbers)


def _tally(item: WeightClass, oracle: CategoryOracle, batch: Batch) -> tuple[NDArray[int64], ...]:
    """Sums of w and w² over the reports that support each category, and over all of them."""
    if batch.weights is None:
        counts, people = oracle.count(batch.reports), np.array([item.people])
        return counts, counts, people, people
    tally = oracle.tally(batch.reports, cells=np.zeros(item.people, dtype=np.int64), weights=batch.weights, number=1)
    return tally.support[0], tally.support_squares[0], tally.weights, tally.weight_squares
