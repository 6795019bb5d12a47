"""Sensitivity guessed with the help of generated rows: the thesis' listing, line by line.

Guarantee: none (Unproven). Three answers in four use the real maximum, and the others are spread around it.
Requires:  one column of one dataset, a generator trained on it; COUNT, SUM or AVG.
Proof:     none; the audit finds a loss far above the epsilon it claims
Refs:      [T] Listing 1, Sections 4.3 and 4.4

    lines 1 to 3    real and generated: CalcSens of the rows and of a sample of the generator
    line 5          difference = |real - generated|
    line 6          estimated = generated + (Z + 3) * difference, Z standard normal
    lines 8 to 11   used = real with probability .75, else estimated
    line 13         used grows by U * generated, U uniform between .015 and .06

Where the thesis leaves a choice, its printed figures decide. The text once says .015 to .6; the code says .06. An AVG
divides by the rows of the real data less one, with missing values counted, on generated data too: Table 22 has a mean
of 3.1026 for SUM(number_emergency) and of 3.0488e-5 for AVG(number_emergency), and their ratio is 101,765: one less
than the 101,766 rows of the data, and not the 100,000 of the sample. Lines 2 and 3 look at all rows, whatever the
question's WHERE. A maximum is that of absolute values; the data of the thesis have no negative ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Self, cast
from weakref import WeakKeyDictionary

from discreet.catalogue import Phrase, say
from discreet.engines import EmbeddedEngine
from discreet.errors import QueryRefused
from discreet.guarantees import ExactLike, Unproven, exact
from discreet.lab.strategies.scaled_laplace import add_laplace, answer_of, settle
from discreet.lab.strategies.subject import AggregateKind, HeldValues, StrategyAnswer, Subject, hold
from discreet.sql import Clamp, Field, Filter, Plan, Relation, Rows, Scan, Total, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

    from discreet.engines import Engine

__all__ = ["Generated", "ListingRun", "calculate_sensitivity", "estimate", "sensitivity_of", "unfiltered"]

REASON: Final = Phrase(
    "noise was scaled to a sensitivity guessed from the real and from generated rows, which tells about both"
).en  # as the ledger keeps it

_ANSWERED: Final = {AggregateKind.COUNT, AggregateKind.SUM, AggregateKind.AVG}


@dataclass(frozen=True, slots=True)
class ListingRun:
    """Every value of one run of the listing, in the order of its lines."""

    real: float
    generated: float
    difference: float
    estimated: float
    coin: bool
    margin: float
    used: float


def estimate(real: float, generated: float, rng: Generator) -> ListingRun:
    """Lines 5 to 13. What is used may be 0 or less, as when 1 was generated and 100 is real; see `Generated`."""
    difference = abs(real - generated)
    estimated = generated + (rng.normal() + 3) * difference
    coin = bool(rng.binomial(1, 0.75) == 1)
    used = real if coin else estimated
    margin = rng.uniform(0.015, 0.06) * generated
    return ListingRun(real, generated, difference, estimated, coin, margin, used + margin)


def calculate_sensitivity(aggregate: AggregateKind, maximum: Fraction, rows: int) -> Fraction:
    """CalcSens of lines 2 and 3, in the units of `maximum`: of a column's maximum and the rows of the real data."""
    if aggregate is AggregateKind.COUNT:
        return Fraction(1)
    # One row, or none, divides by 1: an error would tell how few there are.
    return maximum if aggregate is AggregateKind.SUM else maximum / max(rows - 1, 1)


def sensitivity_of(subject: Subject, whole: HeldValues) -> Fraction:
    """Line 2: realSensitivity, from the rows without the question's filter."""
    return calculate_sensitivity(subject.aggregate, farthest(whole) * subject.step, whole.rows)


def farthest(held: HeldValues) -> int:
    """The greatest absolute value in steps, 0 where there is none."""
    return max(abs(held.least), abs(held.greatest)) if held.present else 0


def unfiltered(subject: Subject) -> Subject:
    """The same aggregate over all rows of the dataset, or QueryRefused where the listing says nothing of it."""
    source = _below(subject.source)
    plain = subject.value.value if isinstance(subject.value, Clamp) else subject.value
    scanned = dict(source.columns) if isinstance(source, Scan) else {}
    named = plain is None or (isinstance(plain, Field) and scanned.get(plain.column) == subject.column)
    if subject.aggregate not in _ANSWERED or not isinstance(source, Scan) or not named:
        raise QueryRefused(
            say(
                "a sensitivity is generated for COUNT, SUM or AVG of one column of one dataset, as in SELECT "
                "AVG(height) FROM survey WHERE age >= 18. Ask that, or choose another strategy."
            ),
            strategy="generated",
        )
    return replace(subject, source=source)


def _below(source: Relation) -> Relation:
    while isinstance(source, Filter):
        source = source.source
    return source


# --- what is read of the rows ---------------------------------------------------------------------------------------

_reached: WeakKeyDictionary[Engine, dict[tuple[Relation, Value | None], tuple[int, int]]] = WeakKeyDictionary()


def measure_answer(subject: Subject, engine: Engine) -> Fraction:
    """The exact answer to a COUNT, SUM or AVG, from a count and a total: no histogram of a column's many values."""
    if subject.value is None or subject.aggregate is AggregateKind.COUNT:
        return answer_of(subject, hold(subject, engine))
    measured = engine.measure(Plan(subject.source, (), (Total(subject.value), Rows(subject.value))))
    [total], [count] = cast("tuple[Sequence[int], ...]", measured.columns)
    if subject.aggregate is AggregateKind.SUM:
        return total * subject.step
    return settle(subject, Fraction(total, count) * subject.step if count else None)


def measure_reach(subject: Subject, engine: Engine) -> tuple[int, int]:
    """How many rows there are and how far from 0 their values reach, in steps.

    Prepared files never change while an engine is open, so theirs is read once: `subject` has no filter.
    """
    known = _reached.setdefault(engine, {}) if isinstance(engine, EmbeddedEngine) else {}
    asked = subject.source, subject.value
    if asked not in known:
        held = hold(subject, engine)
        known[asked] = held.rows, farthest(held)
    return known[asked]


# --- the strategy ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generated:
    """Laplace noise of scale used sensitivity / epsilon; every draw runs the listing anew.

    `least` stands in for a used sensitivity that is not above it: what the listing gives for a column whose maximum is
    one step. Noise without a scale cannot be drawn, and a refusal would tell the rows.
    """

    answer: Fraction
    real: Fraction
    generated: Fraction
    least: Fraction
    epsilon: Decimal
    rng: Generator

    @classmethod
    def calibrate(
        cls,
        subject: Subject,
        held: HeldValues,
        generated_sensitivity: Fraction,
        *,
        epsilon: ExactLike,
        rng: Generator,
        whole: HeldValues | None = None,
    ) -> Self:
        """Ready to draw. `held` answers the question; `whole`, what `unfiltered(subject)` holds, where that differs.

        `generated_sensitivity` is `calculate_sensitivity` of the generated column's maximum and the real rows.
        """
        data = held if whole is None else whole
        return cls(
            answer=answer_of(subject, held),
            real=sensitivity_of(subject, data),
            generated=generated_sensitivity,
            least=calculate_sensitivity(subject.aggregate, subject.step, data.rows),
            epsilon=exact(epsilon, parameter="epsilon"),
            rng=rng,
        )

    @classmethod
    def measure(
        cls, subject: Subject, engine: Engine, maximum: Fraction, *, epsilon: ExactLike, rng: Generator
    ) -> Self:
        """As `calibrate`, without a histogram for each question; `maximum` is that of the generated column."""
        counted = subject.aggregate is AggregateKind.COUNT
        rows, reached = (0, 0) if counted else measure_reach(unfiltered(subject), engine)
        real, generated, least = (
            calculate_sensitivity(subject.aggregate, most, rows)
            for most in (reached * subject.step, maximum, subject.step)
        )
        answer = measure_answer(subject, engine)
        return cls(answer, real, generated, least, exact(epsilon, parameter="epsilon"), rng)

    @property
    def name(self) -> str:
        return "generated"

    @property
    def guarantee(self) -> Unproven:
        return Unproven(REASON)

    def listing(self) -> ListingRun:
        """One run of the listing."""
        return estimate(float(self.real), float(self.generated), self.rng)

    def draw(self) -> StrategyAnswer:
        used = max(Fraction(self.listing().used), self.least)
        return StrategyAnswer(add_laplace(self.answer, sensitivity=used, epsilon=self.epsilon), float(used))
