"""How a workload's budget is shared: the least that meets every target, and what is left to the others by weight.

One charge pays for all questions. It is the sum of their epsilons (and deltas); under an (epsilon, delta) budget it may
instead be the sum of epsilon²/2 over all measures as zCDP, whichever leaves more. Both bound the same answers: every
measure is drawn independently with its own share (docs/proofs/composition.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import ZCDP, ApproxDP, CentralGuarantee, PureDP, ceil_to_grid, from_units, text, to_units
from discreet.ledger import PopulationStanding
from discreet.release.forecast.accuracy import assume
from discreet.release.forecast.accuracy_targets import Targets
from discreet.release.forecast.explainer import figure_outputs
from discreet.release.forecast.explanation import OutputFigures, about
from discreet.release.forecast.outlook import Outlook, foresee
from discreet.release.measurement.pricing import Pricing, price
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from discreet.sql import Statement, digest, first_hash, plan_hash
from discreet.workspace import Dataset

__all__ = ["Apportionment", "PricedQuestion", "Reading", "apportion"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A task whose statement was read: what it measures, and the datasets it is about."""

    task: WorkloadQuestion
    statement: Statement
    datasets: Mapping[str, Dataset]

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def dataset(self) -> Dataset:
        return self.datasets[self.statement.plan.dataset]


@dataclass(frozen=True, slots=True)
class PricedQuestion:
    """One question with its price and what it will reach."""

    reading: Reading
    pricing: Pricing
    outputs: tuple[OutputFigures, ...]

    @property
    def epsilon(self) -> Decimal:
        guarantee = self.pricing.guarantee
        assert not isinstance(guarantee, ZCDP), "questions of a workload are priced in epsilon"
        return guarantee.epsilon

    @property
    def delta(self) -> Decimal:
        return Decimal(0) if isinstance(self.pricing.guarantee, PureDP) else self.pricing.guarantee.delta

    def to_dict(self) -> dict[str, object]:
        return {
            "question": self.reading.task.name,
            "epsilon": text(self.epsilon),
            "delta": text(self.delta),
            "shares": [text(measure.epsilon) for measure in self.pricing.measures],
            "outputs": [output.to_dict() for output in self.outputs],
            "plan_hash": plan_hash(self.reading.statement.plan),
        }


@dataclass(frozen=True, slots=True)
class Apportionment:
    """The split of a workload, what it reaches and what it leaves.

    `shortfall` says what is impossible; the parts then show what the total would reach instead, and nothing may run.
    """

    parts: tuple[PricedQuestion, ...]
    level: Decimal
    outlooks: tuple[Outlook, ...]
    shortfall: str | None = None
    words: Mapping[str, object] | None = None

    @property
    def outlook(self) -> Outlook:
        """The charge that is made: of those that hold, the one that leaves most."""
        return self.outlooks[0]

    @property
    def epsilon(self) -> Decimal:
        return sum((part.epsilon for part in self.parts), Decimal(0))

    @property
    def rows(self) -> list[dict[str, str]]:
        """Every output of every question, with the share of its question and how close it will be."""
        return [
            {
                "question": part.reading.task.name,
                "epsilon": text(part.epsilon),
                "output": output.name,
                "accuracy": output.told(self.level),
            }
            for part in self.parts
            for output in part.outputs
        ]

    @property
    def plan_hash(self) -> str:
        """Identifies questions, datasets and shares; names and wording do not enter."""
        return self._hash(lambda statement: plan_hash(statement.plan))

    @property
    def first_hash(self) -> str:
        """What the first version of stored answers knew the workload by."""
        return self._hash(first_hash)

    def _hash(self, known_by: Callable[[Statement], str]) -> str:
        content = [
            [
                known_by(part.reading.statement),
                part.reading.dataset.name,
                part.reading.dataset.version,
                [text(measure.epsilon) for measure in part.pricing.measures],
                text(part.epsilon),
                text(part.delta),
            ]
            for part in self.parts
        ]
        return digest(["workload", content])

    def to_dict(self) -> dict[str, object]:
        return {
            "possible": self.shortfall is None,
            "shortfall": self.shortfall,
            "questions": [part.to_dict() for part in self.parts],
            "level": text(self.level),
            "total": {"epsilon": text(self.epsilon), "delta": text(sum((p.delta for p in self.parts), Decimal(0)))},
            "charge": self.outlook.cost(),
            "guarantee": str(self.outlook.guarantee),
            **self.outlook.to_dict(),
            "note": self.outlook.refusal,
            "plan_hash": self.plan_hash,
        }


def apportion(
    workload: Workload, readings: Sequence[Reading], *, standing: PopulationStanding, analyst: str
) -> Apportionment:
    """The split that meets the targets with least budget, or says what is impossible."""
    _require_one_population(readings)
    deltas = _deltas(workload.delta, readings)
    needed = {reading.task.name: _least(reading, workload.level) for reading in readings if reading.task.within}
    others = [reading for reading in readings if not reading.task.within]
    need = sum((sum(shares, Decimal(0)) for shares in needed.values()), Decimal(0))
    _require_total(workload, others)
    if workload.epsilon is not None and (need > workload.epsilon or (others and need == workload.epsilon)):
        return _fall_short(workload, readings, needed, need, deltas, standing, analyst)
    rest = {} if workload.epsilon is None else _by_weight(workload.epsilon - need, others)
    parts = tuple(
        _part(reading, workload.level, deltas[number], shares=needed.get(name), epsilon=rest.get(name))
        for number, reading in enumerate(readings)
        for name in [reading.task.name]
    )
    return Apportionment(parts, workload.level, _outlooks(parts, standing, analyst))


def _fall_short(
    workload: Workload,
    readings: Sequence[Reading],
    needed: Mapping[str, Sequence[Decimal]],
    need: Decimal,
    deltas: Sequence[Decimal],
    standing: PopulationStanding,
    analyst: str,
) -> Apportionment:
    """What the total reaches when the targets alone cost more: every share smaller in the same proportion."""
    assert workload.epsilon is not None, "without a total nothing falls short"
    factor = Fraction(workload.epsilon) / Fraction(need)
    parts = tuple(
        _part(reading, workload.level, deltas[number], shares=_shrunk(needed[reading.task.name], factor))
        for number, reading in enumerate(readings)
        if reading.task.name in needed
    )
    left_out = [reading.task.name for reading in readings if reading.task.name not in needed]
    reached = [
        say(
            "{question}: {output} ± {width}",
            question=part.reading.task.name,
            output=output.name,
            width=about(output.widest),
        )
        for part in parts
        for output in part.outputs
        if output.name in part.reading.task.within and output.widest is not None
    ]
    if left_out:
        shortfall = say(
            "the targets need epsilon {need} and leave nothing for {left_out}; the total is {total}, which reaches "
            "{reached}. Widen the targets or raise the total.",
            need=text(need),
            left_out=", ".join(left_out),
            total=text(workload.epsilon),
            reached=say("; ").join(reached),
        )
    else:
        shortfall = say(
            "the targets need epsilon {need}; the total is {total}, which reaches {reached}. Widen the targets or "
            "raise the total.",
            need=text(need),
            total=text(workload.epsilon),
            reached=say("; ").join(reached),
        )
    return Apportionment(parts, workload.level, _outlooks(parts, standing, analyst), shortfall)


def _part(
    reading: Reading,
    level: Decimal,
    delta: Decimal,
    *,
    shares: Sequence[Decimal] | None = None,
    epsilon: Decimal | None = None,
) -> PricedQuestion:
    total = epsilon if epsilon is not None else sum(shares or (), Decimal(0))
    pricing = price(reading.statement, reading.cards, epsilon=total, delta=delta, shares=shares)
    assumptions = assume(reading.statement, reading.task.assume)
    return PricedQuestion(
        reading, pricing, figure_outputs(reading.statement, pricing, level=level, assumptions=assumptions)
    )


def _least(reading: Reading, level: Decimal) -> tuple[Decimal, ...]:
    try:
        assumptions = assume(reading.statement, reading.task.assume)
        targets = Targets(reading.statement, reading.cards, reading.task.within, level=level, assumptions=assumptions)
        return targets.least_shares()
    except QueryRefused as error:
        told = say("question '{name}': {message}", name=reading.task.name, message=error.message)
        raise QueryRefused(told, **error.fields) from None


def _shrunk(shares: Sequence[Decimal], factor: Fraction) -> tuple[Decimal, ...]:
    return tuple(from_units(max(1, int(to_units(share) * factor))) if share else share for share in shares)


def _by_weight(epsilon: Decimal, others: Sequence[Reading]) -> dict[str, Decimal]:
    """Parts on the grid in proportion to the weights; the remainder goes to the last."""
    if not others:
        return {}
    weights = [Fraction(reading.task.share or 1) for reading in others]
    units = [int(to_units(epsilon) * weight / sum(weights)) for weight in weights]
    units[-1] += to_units(epsilon) - sum(units)
    if not all(units):
        raise QueryRefused(say("what the targets leave of the total is too little to share. Raise the total."))
    return {reading.task.name: from_units(part) for reading, part in zip(others, units, strict=True)}


def _deltas(delta: Decimal, readings: Sequence[Reading]) -> list[Decimal]:
    """Delta pays for thresholds alone: equal parts for the questions whose keys come from the rows."""
    opened = [reading.statement.plan.open for reading in readings]
    part = from_units(to_units(delta) // max(1, sum(opened)))
    return [part if item else Decimal(0) for item in opened]


def _require_one_population(readings: Sequence[Reading]) -> None:
    populations = sorted({reading.dataset.card.population for reading in readings})
    if len(populations) > 1:
        raise QueryRefused(
            say(
                "a workload is one charge on one population; these questions are about {populations}. Write a "
                "workload for each.",
                populations=", ".join(populations),
            )
        )


def _require_total(workload: Workload, others: Sequence[Reading]) -> None:
    if others and workload.epsilon is None:
        raise QueryRefused(
            say(
                "question '{name}' has no target, so the workload needs a total to share: give `epsilon`, or a "
                "target with `within`.",
                name=others[0].task.name,
            )
        )


def _outlooks(parts: Sequence[PricedQuestion], standing: PopulationStanding, analyst: str) -> tuple[Outlook, ...]:
    """The charges that hold for all parts together; the one that leaves most first."""
    epsilon = sum((part.epsilon for part in parts), Decimal(0))
    delta = sum((part.delta for part in parts), Decimal(0))
    choices: list[CentralGuarantee] = [ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)]
    if not standing.terms.budget.pure:
        squares = sum(Fraction(measure.epsilon) ** 2 for part in parts for measure in part.pricing.measures)
        choices.append(ZCDP(rho=ceil_to_grid(Fraction(squares) / 2), delta=delta))
    outlooks = [foresee(guarantee, standing, analyst) for guarantee in choices]
    return tuple(sorted(outlooks, key=lambda item: (item.refusal is None, item.epsilon_left), reverse=True))
