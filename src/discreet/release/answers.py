"""What leaves the house: noisy values, intervals, the charge, and the sentences that say what they mean.

An `Answer` dresses the stored `Noisy` for one reader: names, labels, order, interval level, what was charged now and
what remains. Everything but the noisy values follows from the question, the cards and the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from discreet.data.card import Card
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.ledger import Balance
from discreet.plan.algebra import Plan
from discreet.plan.outputs import KeyShown
from discreet.plan.serialisation import plan_hash
from discreet.plan.statement import Statement
from discreet.release.columns import Number
from discreet.release.describing import (
    describe_bounds,
    describe_mechanisms,
    interval_meaning,
    tell_weights,
    word_unfound,
)
from discreet.release.listing import Listing
from discreet.release.noising import Noisy
from discreet.release.noisycells import NoisyCells, Shown
from discreet.release.outlook import left, tell_plan
from discreet.release.presence import describe_absent

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Answer", "Remaining", "interval_level"]

T = TypeVar("T")

_MOST_OBJECTS: Final = 100_000


def interval_level(level: ExactLike) -> Decimal:
    """A coverage strictly between 0 and 1."""
    value = exact(level, parameter="level", below=1)
    if value > Decimal("0.999999"):
        raise ParameterInvalid(parameter="level", rule="must be at most 0.999999", came=text(value))
    return value


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left after this answer, exactly: for the population and for the analyst.

    `more` is how many further charges like this one fit; None where nothing was charged, or a part only.
    """

    population: Balance
    analyst: Balance
    more: int | None = None

    @property
    def largest(self) -> Decimal:
        """The largest single pure question that both would admit."""
        return min(self.population.epsilon_remaining, self.analyst.epsilon_remaining)

    def to_dict(self) -> dict[str, object]:
        """The least of the two first: what this analyst can still spend; then each."""
        least = min(self.population, self.analyst, key=lambda balance: balance.epsilon_remaining)
        return {
            **left(least),
            "population": left(self.population),
            "analyst": left(self.analyst),
            "largest_question": {"epsilon": text(self.largest)},
            **({} if self.more is None else {"more_like_this": self.more}),
        }

    def __str__(self) -> str:
        return tell_plan(self.largest, self.more)


@dataclass(frozen=True, repr=False)
class Answer:
    """One answered question. `cards` and `versions` are those of its datasets, by name.

    `charge` is what this answer cost the population now, `debited` what it cost each holder, and `cost` what was
    charged when it was drawn. `asked_hash` identifies the question on the ledger where the plan that was run holds
    more: bounds that were found.
    """

    statement: Statement
    cards: Mapping[str, Card]
    versions: Mapping[str, int]
    noisy: Noisy
    level: Decimal
    charge: Mapping[str, str]
    remaining: Remaining
    replayed: bool
    request_id: str
    warnings: tuple[str, ...] = ()
    asked_hash: str | None = None
    debited: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cost: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.statement.presentation.columns)
        return f"<Answer: {names}; {len(self._cells.places)} row(s); {self.noisy.guarantee}>"

    @property
    def plan(self) -> Plan:
        return self.statement.plan

    @property
    def card(self) -> Card:
        """The card of the first dataset: the one on the ledger."""
        return self.cards[self.plan.dataset]

    @property
    def version(self) -> int:
        return self.versions[self.plan.dataset]

    @cached_property
    def rows(self) -> Sequence[dict[str, Shown]]:
        """One object per cell shown; categories as codes, the NULL key as None. Of very many, made when looked at."""
        return _as_list(self.listed_rows)

    @cached_property
    def intervals(self) -> Sequence[dict[str, list[Number]]]:
        """The same shape as rows, for the noisy columns: [low, high], None where there is no bound."""
        return _as_list(self.listed_intervals)

    @cached_property
    def listed_rows(self) -> Listing[Shown]:
        """The rows as columns, for whoever writes them out one after another."""
        columns = {column.name: self._cells.column(column.shows) for column in self.statement.presentation.columns}
        return Listing(columns, len(self._cells.places))

    @cached_property
    def listed_intervals(self) -> Listing[list[Number]]:
        """The intervals as columns."""
        columns = {
            column.name: self._cells.intervals(column.shows)
            for column in self.statement.presentation.columns
            if not isinstance(column.shows, KeyShown)
        }
        return Listing(columns, len(self._cells.places))

    def labels(self, language: str) -> dict[str, dict[str, str]]:
        """Code to label for every category column of the answer."""
        found: dict[str, dict[str, str]] = {}
        for column in self.statement.presentation.columns:
            if isinstance(column.shows, KeyShown) and (face := self.statement.keys[column.shows.key]).labels:
                pairs = zip(face.codes, face.labels, strict=True)
                found[column.name] = {code: label.text(language) for code, label in pairs}
        return found

    def to_dict(self, language: str = "en") -> dict[str, object]:
        """Every field of the JSON answer; docs/answers.md says what each means."""
        return {**self.fields(language), "rows": list(self.rows), "intervals": list(self.intervals)}

    def fields(self, language: str = "en") -> dict[str, object]:
        """The same, with rows and intervals as they are kept: for whoever writes them out one after another."""
        absent = self.absent
        return {
            **({"notice": self.notice} if self.notice else {}),
            "rows": self.listed_rows,
            "labels": self.labels(language),
            "intervals": self.listed_intervals,
            **({"absent": absent} if absent else {}),
            **self.facts(),
        }

    @cached_property
    def absent(self) -> list[dict[str, Any]]:
        """The outputs that are NULL where sizes are too small for a mean or a variance, and what sizes must exceed."""
        return describe_absent(self.statement, self._cells.floors)

    def facts(self) -> dict[str, object]:
        """What is said of any release: level, charge, guarantee, mechanisms, dataset, and what must be warned of."""
        threshold, weights = self.noisy.threshold, tell_weights(self.statement, self.cards)
        described: dict[str, object] = {
            "level": text(self.level),
            "interval_meaning": interval_meaning(self.statement, threshold),
            **({} if weights is None else {"weights": weights}),
            "charge": dict(self.charge),
            **({"debited": {holder: dict(paid) for holder, paid in self.debited.items()}} if self.debited else {}),
            **({"cost": dict(self.cost)} if self.cost else {}),
            "remaining": self.remaining.to_dict(),
            "guarantee": str(self.noisy.guarantee),
            "differentially_private": self.noisy.guarantee.differentially_private,
            "unit": str(self.card.unit),
            "neighbours": str(self.card.neighbours),
            "population": self.card.population,
            "mechanisms": describe_mechanisms(self.statement, self.cards, self._cells.measures, self.level),
        }
        if self.noisy.bounds:
            described["bounds"] = self.bounds
        if threshold is not None:
            delta = text(threshold.delta)
            described["threshold"] = {"least_units": threshold.least, "keys": threshold.keys, "delta": delta}
        return {
            **described,
            "dataset": self.card.dataset,
            "version": self.version,
            "datasets": dict(self.versions),
            "plan_hash": self.asked_hash or plan_hash(self.plan),
            "request_id": self.request_id,
            "replayed": self.replayed,
            "warnings": [*([self.notice] if self.notice else []), *self.warnings],
        }

    @property
    def bounds(self) -> dict[str, dict[str, int | float | str | bool]]:
        """What was found for columns whose card keeps their bounds private, in the column's own units."""
        return describe_bounds(self.noisy.bounds_of(self.statement), self.statement, self.cards)

    @property
    def notice(self) -> str:
        """What is said before the answer: that a search for private bounds found none; else nothing."""
        return " ".join(word_unfound(self.bounds)) if self.noisy.bounds else ""

    def to_arrow(self) -> pyarrow.Table:
        """A table of keys and values with `NAME_low` and `NAME_high`; what it promises is in its metadata."""
        from discreet.release.exports import to_arrow

        return to_arrow(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame; needs the extra 'pandas'."""
        from discreet.release.exports import to_pandas

        return to_pandas(self)

    @cached_property
    def _cells(self) -> NoisyCells:
        """The stored measures, read at this answer's level."""
        return NoisyCells(self.statement, self.noisy.in_order_of(self.statement), self.level, self.noisy.keys)


def _as_list(rows: Listing[T]) -> Sequence[dict[str, T]]:
    """Plain objects, unless they would take more memory than a reader expects."""
    return list(rows) if len(rows) <= _MOST_OBJECTS else rows
