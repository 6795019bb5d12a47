"""The shuffle model: reports lose their sender among the people of the same group.

Guarantee: shuffle DP, (epsilon, delta) per column (or for all columns together), per respondent.
Requires:  strata, weights and who has an answer are public; an honest shuffler that opens complete batches only.
Proof:     docs/proofs/shuffle-amplification.md, docs/proofs/multi-message.md, docs/proofs/vector-sum.md

Every column of every group is a batch of its own, so nothing links the answers of a person: there are no correlations.
A study draws the noise of a multi-message total at once, which has the same law as the sum of all shares of it. A
group with fewer people than that protocol needs is filled up by others, who send zeros: noise and promise are the same.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.collect import (
    FEWEST_SENDERS,
    CategoryQuestion,
    MultiMessageSum,
    NumberQuestion,
    Placed,
    SingleCategory,
    SingleNumber,
    VectorSum,
    expected_absolute_error,
    norm_sub,
    single_message,
)
from discreet.errors import ParameterInvalid
from discreet.guarantees import Neighbours, floor_to_grid
from discreet.lab.study.execution.outcomes import Answered, Outcome, Protected, Streams, StudyQuery, TheoryError
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame
from discreet.lab.study.inquiry import StudyQuestion
from discreet.lab.study.models.central_model import answer_figures, ask, shape_of
from discreet.lab.study.models.released_figures import draw, expect, measure, price_laplace, read
from discreet.lab.study.models.truth import (
    by_column,
    by_statistic,
    category_place,
    present_weight,
    reporting,
    true_values,
)
from discreet.noise import Entropy, uniform_array_below
from discreet.release import NoisyMeasure, Pricing, UsedMechanism
from discreet.sql import Facts, Measure, Total, ends_of, facts_of, span_of

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["SHUFFLE_MECHANISMS", "ShuffleModel"]

_LARGEST_GRID: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class _Terms:
    """What one column may cost, and the level of its intervals."""

    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours
    level: Decimal


@dataclass(frozen=True, slots=True, eq=False)
class _Estimates:
    """Estimates with their ends, groups × categories, in the unit of the question; nan where a protocol cannot run."""

    middle: NDArray[float64]
    low: NDArray[float64]
    high: NDArray[float64]

    @classmethod
    def unknown(cls, shape: tuple[int, ...]) -> _Estimates:
        return cls(np.full(shape, np.nan), np.full(shape, -np.inf), np.full(shape, np.inf))


class _Protocol(ABC):
    """How the people of a group answer one column."""

    __slots__ = ()

    @abstractmethod
    def estimate(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms, entropy: Entropy) -> _Estimates:
        """One run: weighted counts of all categories, or the weighted mean as a column of one."""

    @abstractmethod
    def expect(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms) -> NDArray[float64]:
        """The mean absolute error, of the same shape."""


# --- one message ----------------------------------------------------------------------------------------------------


_Key = tuple[bytes, bool, int, Decimal, Decimal]
_made: dict[_Key, SingleCategory | SingleNumber] = {}


def _single_of(answers: AnswerColumn, weights: NDArray[int64], terms: _Terms) -> SingleCategory | SingleNumber:
    """The protocol of a batch: public, and the same wherever the same weights answer the same question."""
    digest = hashlib.blake2b(weights.tobytes(), digest_size=16).digest()
    key = (digest, answers.categorical, answers.size, terms.epsilon, terms.delta)
    if key not in _made:
        question = CategoryQuestion(answers.size) if answers.categorical else NumberQuestion(answers.size)
        _made[key] = single_message(weights, question=question, epsilon=terms.epsilon, delta=terms.delta)
    return _made[key]


def _place_all(
    frame: StudyFrame, answers: AnswerColumn, terms: _Terms
) -> list[tuple[int, SingleCategory | SingleNumber, list[Placed]]]:
    """By group its protocol, and its people in their classes: the same in every run."""

    def place() -> Iterator[tuple[int, SingleCategory | SingleNumber, list[Placed]]]:
        for group, rows in _batches(frame, answers):
            weights = frame.weights[rows]
            protocol = _single_of(answers, weights, terms)
            yield group, protocol, protocol.place(answers.positions[rows], weights)

    return frame.once((answers, terms), lambda: list(place()))


class _SingleMessage(_Protocol):
    """A randomised answer and the class of one's weight."""

    __slots__ = ()

    def estimate(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms, entropy: Entropy) -> _Estimates:
        result = _Estimates.unknown(_shape(frame, answers))
        for group, protocol, placed in _place_all(frame, answers, terms):
            estimated = protocol.estimate(protocol.encode_placed(entropy, placed), level=float(terms.level))
            for side, values in zip(
                (result.middle, result.low, result.high),
                (estimated.estimates, estimated.low, estimated.high),
                strict=True,
            ):
                side[group] = _in_unit(frame, answers, values)
        return result

    def expect(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms) -> NDArray[float64]:
        errors = np.full(_shape(frame, answers), np.nan)
        placed = zip(_place_all(frame, answers, terms), _batches(frame, answers), strict=True)
        for (group, protocol, _), (_, rows) in placed:
            expected = protocol.expected(answers.positions[rows], frame.weights[rows])
            errors[group] = expected.absolute_error * (frame.weight_step if answers.categorical else answers.step)
        return errors


# --- vector sums ----------------------------------------------------------------------------------------------------


class _VectorSum(_Protocol):
    """One coordinate of weight × answer, rounded to a few levels (Scott, Cormode and Maple)."""

    __slots__ = ()

    def estimate(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms, entropy: Entropy) -> _Estimates:
        result = _Estimates.unknown(_shape(frame, answers))
        for group, rows in _batches(frame, answers):
            protocol = _vector_protocol(frame, answers, group, len(rows), terms)
            if protocol is None:
                continue
            products, unit = _contributions(frame, answers, rows, protocol)
            # Rounded at random where a unit holds several steps, so that totals keep their mean.
            up = uniform_array_below(entropy, unit, count=products.size).reshape(products.shape)
            totals = protocol.analyse(protocol.randomise(entropy, (products + up) // unit))
            low, high = totals.intervals(level=terms.level)
            weight = int(frame.weights[rows].sum())
            if not weight and not answers.categorical:
                continue
            for side, values in ((result.middle, totals.estimates), (result.low, low), (result.high, high)):
                scaled = values * unit
                side[group] = _in_unit(frame, answers, scaled if answers.categorical else scaled / weight)
        return result

    def expect(self, frame: StudyFrame, answers: AnswerColumn, terms: _Terms) -> NDArray[float64]:
        errors = np.full(_shape(frame, answers), np.nan)
        for group, rows in _batches(frame, answers):
            protocol = _vector_protocol(frame, answers, group, len(rows), terms)
            if protocol is None:
                continue
            products, unit = _contributions(frame, answers, rows, protocol)
            variances = np.array([protocol.variance(column) for column in (products // unit).T])
            weight = int(frame.weights[rows].sum()) or np.nan
            scale = frame.weight_step if answers.categorical else answers.step / weight
            errors[group] = expected_absolute_error(0.0, variances) * unit * scale
        return errors


def _vector_protocol(
    frame: StudyFrame, answers: AnswerColumn, group: int, people: int, terms: _Terms
) -> VectorSum | None:
    """The protocol of a group, or None where it is too small for one."""
    coordinates, reach = answers.size if answers.categorical else 1, _reach(frame, answers, group)
    return _vector(terms.epsilon, terms.delta, people, coordinates, min(reach, _LARGEST_GRID))


@lru_cache(maxsize=4096)
def _vector(epsilon: Decimal, delta: Decimal, people: int, coordinates: int, grid: int) -> VectorSum | None:
    try:
        return VectorSum(epsilon=epsilon, delta=delta, clients=people, coordinates=coordinates, grid=grid)
    except ParameterInvalid:
        return None


def _contributions(
    frame: StudyFrame, answers: AnswerColumn, rows: NDArray[int64], protocol: VectorSum
) -> tuple[NDArray[int64], int]:
    """What each person would send, respondents × coordinates, in steps, and how many of them the grid takes as one."""
    weights, positions = frame.weights[rows], answers.positions[rows]
    unit = -(-_reach(frame, answers, int(frame.cells[rows[0]])) // protocol.grid)
    if answers.categorical:
        return weights[:, None] * (positions[:, None] == np.arange(answers.size)), unit
    return (weights * positions)[:, None], unit


def _reach(frame: StudyFrame, answers: AnswerColumn, group: int) -> int:
    """The largest weight × answer of a group, in steps."""
    return int(frame.caps[group]) * (1 if answers.categorical else answers.size)


# --- several messages -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Messages:
    """Totals under the noise that the shares of all senders add up to.

    It is that of a central release of the same question, so pricing and evaluation are a release's; the protocol of
    each total is made, so that what it cannot do is refused, and draws the noise.
    """

    question: StudyQuestion
    pricing: Pricing
    protocols: Mapping[UsedMechanism, MultiMessageSum]

    def draw(self, frame: StudyFrame, entropy: Entropy) -> list[NoisyMeasure]:
        def sample(mechanism: UsedMechanism, count: int) -> Sequence[int]:
            return self.protocols[mechanism].draw_total_noise(entropy, count)

        return draw(self.question.plan, self.pricing, measure(frame, self.question), sample)


@lru_cache(maxsize=1024)
def _messages(question: StudyQuestion, epsilon: Decimal, delta: Decimal, people: int) -> _Messages:
    """The protocols of a question, one for each noise; the parts of a mean share δ evenly."""
    pricing, protocols = price_laplace(question, epsilon), dict[UsedMechanism, MultiMessageSum]()
    facts = facts_of(question.plan.source, question.cards)
    for asked, priced in zip(question.plan.measures, pricing.measures, strict=True):
        for number, mechanism in enumerate(priced.mechanisms):
            if mechanism is not None and mechanism not in protocols:
                low, high = _added(question, asked, priced.sensitivities.key, number, facts)
                protocols[mechanism] = MultiMessageSum(
                    epsilon=priced.epsilon,
                    delta=floor_to_grid(Fraction(delta) / len(pricing.measures)),
                    clients=max(people, FEWEST_SENDERS),
                    largest=max(high, 0),
                    lowest=min(low, 0),
                    cells=len(question.plan.keys[-1].cells or ()) if question.histogram else 1,
                    neighbours=question.cards[question.plan.dataset].neighbours,
                )
    return _Messages(question, pricing, protocols)


def _added(question: StudyQuestion, asked: Measure, key: int | None, number: int, facts: Facts) -> tuple[int, int]:
    """What one person can add to a cell of a measure, in one slice of its key: the least and the most."""
    if not isinstance(asked, Total):
        return 0, 1
    if key is not None:
        slicing = question.plan.keys[key]
        facts = facts.given(slicing.field.column, _category((slicing.cells or ())[number]))
    return ends_of(span_of(asked.value, facts))


def _category(cell: int | str | None) -> int | None:
    assert not isinstance(cell, str), "keys of a study are categories"
    return cell


SHUFFLE_MECHANISMS: Final = ("single-message", "multi-message", "vector-sum")
_PROTOCOLS: Final[dict[str, _Protocol]] = {"single-message": _SingleMessage(), "vector-sum": _VectorSum()}


@dataclass(frozen=True, slots=True)
class ShuffleModel:
    """A shuffler is trusted to mix, and nobody to see an answer."""

    mechanism: str
    delta: Decimal
    neighbours: Neighbours
    level: Decimal
    epsilon_is: str
    name: str = "shuffle"

    def __post_init__(self) -> None:
        if self.mechanism not in SHUFFLE_MECHANISMS:
            raise ValueError(f"the shuffle has {', '.join(SHUFFLE_MECHANISMS)}")

    @property
    def variant(self) -> str:
        return f"shuffle {self.mechanism}"

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        answered: list[Answered] = []
        protected: list[Protected] = []
        asked = by_column(queries)
        terms = self._terms(epsilon, len(asked))
        for name, wanted in asked.items():
            answers, entropy = frame.column(name), streams.stream(name)
            if self.mechanism == "multi-message":
                for question, parts, messages in self._ask(frame, name, wanted, terms):
                    figures = read(frame, question, messages.draw(frame, entropy), self.level)
                    answered += answer_figures(frame, parts, figures, self.mechanism)
                    protected += shape_of(answers, question, figures.values, self.mechanism)
            else:
                estimates = _PROTOCOLS[self.mechanism].estimate(frame, answers, terms, entropy)
                answered += self._read(frame, answers, wanted, estimates)
                protected += self._shape_of(answers, estimates)
        notes = {"epsilon of a column": f"{terms.epsilon:f}", "delta of a column": f"{terms.delta:f}"}
        return Outcome(tuple(answered), tuple(protected), notes=notes)

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        asked = by_column(queries)
        terms = self._terms(epsilon, len(asked))
        expected: list[TheoryError] = []
        for name, wanted in asked.items():
            answers = frame.column(name)
            if self.mechanism == "multi-message":
                for question, parts, messages in self._ask(frame, name, wanted, terms):
                    error = expect(frame, question, messages.pricing, self.level)
                    expected += [TheoryError(query, self.mechanism, error) for query in parts]
            else:
                errors = _PROTOCOLS[self.mechanism].expect(frame, answers, terms)
                found = [errors[:, _place(answers, q)] * _times(frame, answers, q) for q in wanted]
                expected += [
                    TheoryError(query, self.mechanism, error) for query, error in zip(wanted, found, strict=True)
                ]
        return tuple(expected)

    def _terms(self, epsilon: Decimal, columns: int) -> _Terms:
        share = Fraction(1, columns if self.epsilon_is == "total" else 1)
        each, delta = (floor_to_grid(Fraction(amount) * share) for amount in (epsilon, self.delta))
        return _Terms(each, delta, self.neighbours, self.level)

    def _ask(
        self, frame: StudyFrame, column: str, queries: Sequence[StudyQuery], terms: _Terms
    ) -> Iterator[tuple[StudyQuestion, list[StudyQuery], _Messages]]:
        """The questions of a column with their protocols; mean and sum, where both are asked, share δ as they do ε."""
        delta = floor_to_grid(Fraction(terms.delta) / len(by_statistic(queries)))
        people = frame.once(
            "largest group", lambda: int(np.bincount(frame.cells[frame.cells != ABSENT]).max(initial=0))
        )
        for question, parts, share in ask(frame, column, queries, terms.epsilon, self.neighbours):
            yield question, parts, _messages(question, share, delta, people)

    def _read(
        self, frame: StudyFrame, answers: AnswerColumn, queries: Sequence[StudyQuery], estimates: _Estimates
    ) -> list[Answered]:
        answered = []
        for query in queries:
            index, times = _place(answers, query), _times(frame, answers, query)
            sides = (side[:, index] * times for side in (estimates.middle, estimates.low, estimates.high))
            answered.append(Answered(query, self.mechanism, true_values(frame, query), *sides))
        return answered

    def _shape_of(self, answers: AnswerColumn, estimates: _Estimates) -> list[Protected]:
        if not answers.categorical:
            return []
        whole = np.nansum(estimates.middle, axis=0, keepdims=True)
        shares = norm_sub(whole, np.maximum(whole.sum(axis=1), 0.0))[0]
        return [Protected(answers.name, self.mechanism, "estimate", shares=shares / max(float(shares.sum()), 1e-300))]


def _times(frame: StudyFrame, answers: AnswerColumn, query: StudyQuery) -> NDArray[float64]:
    """What makes a mean a sum: the weight of those who have an answer, which is public here."""
    if query.statistic != "sum":
        return np.ones(len(frame.groups))
    weight = present_weight(frame, answers)
    return np.where(weight > 0, weight, np.nan)


def _place(answers: AnswerColumn, query: StudyQuery) -> int:
    return category_place(answers, query) if answers.categorical else 0


def _shape(frame: StudyFrame, answers: AnswerColumn) -> tuple[int, int]:
    return len(frame.groups), answers.size if answers.categorical else 1


def _batches(frame: StudyFrame, answers: AnswerColumn) -> list[tuple[int, NDArray[int64]]]:
    """The people of each group who have an answer, as row numbers; groups without one are left out."""
    return frame.once(("batches", answers), lambda: _divide(frame, answers))


def _divide(frame: StudyFrame, answers: AnswerColumn) -> list[tuple[int, NDArray[int64]]]:
    rows = np.flatnonzero(reporting(frame, answers))
    cells = frame.cells[rows].astype(np.int16 if len(frame.groups) < 1 << 15 else np.int64)  # short keys sort fast
    order = rows[np.argsort(cells, kind="stable")]
    sizes = np.bincount(cells, minlength=len(frame.groups))
    parts = np.split(order, np.cumsum(sizes)[:-1])
    return [(group, part) for group, part in enumerate(parts) if part.size]


def _in_unit(frame: StudyFrame, answers: AnswerColumn, values: NDArray[float64]) -> NDArray[float64]:
    """Counts from weight steps, means from positions."""
    if answers.categorical:
        return values * frame.weight_step
    return answers.low + values * answers.step
