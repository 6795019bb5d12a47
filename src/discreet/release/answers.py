"""What leaves the house: noisy values, intervals, the charge, and the sentences that say what they mean.

An `Answer` dresses the stored `Noisy` for one reader: names, labels, order, interval level, what was charged now and
what remains. Everything but the noisy values follows from the question, the cards and the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeVar

from discreet.data.card import Card
from discreet.engines.base import Cell
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.ledger import Balance
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.plan.algebra import Plan
from discreet.plan.outputs import KeyShown, Mean, Output, measures_used
from discreet.plan.serialisation import plan_hash
from discreet.plan.statement import Statement
from discreet.release.columns import Margin, show_intervals, show_values
from discreet.release.describing import (
    describe_bounds,
    describe_mechanisms,
    interval_meaning,
    tell_weights,
    word_unfound,
)
from discreet.release.evaluation import joint_level, measures_with_noise, reach
from discreet.release.listing import Listing
from discreet.release.noising import Noisy, NoisyMeasure, slices_of
from discreet.release.outlook import left, tell_plan
from discreet.release.presence import describe_absent, find_thin, presence_level, sizes_in
from discreet.release.presenting import arrange
from discreet.release.pricing import candidates_of

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from discreet.release.manycells import ManyCells

__all__ = ["Answer", "Remaining", "interval_level"]

T = TypeVar("T")

Shown = int | float | str | None
Number = int | float | None

MANY_CELLS: Final = 5_000
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
        return f"<Answer: {names}; {len(self._places)} row(s); {self.noisy.guarantee}>"

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
        columns = {column.name: self._column(column.shows) for column in self.statement.presentation.columns}
        return Listing(columns, len(self._places))

    @cached_property
    def listed_intervals(self) -> Listing[list[Number]]:
        """The intervals as columns."""
        columns = {
            column.name: self._intervals(column.shows)
            for column in self.statement.presentation.columns
            if not isinstance(column.shows, KeyShown)
        }
        return Listing(columns, len(self._places))

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
        return describe_absent(self.statement, self._floors)

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
            "mechanisms": describe_mechanisms(self.statement, self.cards, self._measures, self.level),
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

    # --- reading the stored measures --------------------------------------------------------------------------------

    @cached_property
    def _measures(self) -> tuple[NoisyMeasure, ...]:
        return self.noisy.in_order_of(self.statement)

    @cached_property
    def _cells(self) -> Sequence[Cell]:
        if self.noisy.keys is not None:
            return self.noisy.keys
        return list(product(*(key.cells or () for key in self.plan.keys)))

    @cached_property
    def _count(self) -> int:
        return self.plan.cell_count if self.noisy.keys is None else len(self.noisy.keys)

    @cached_property
    def _columns(self) -> list[tuple[int, ...]]:
        """The noisy values of every measure, each by cell."""
        return [measure.values for measure in self._measures]

    @cached_property
    def _many(self) -> ManyCells | None:
        """The same as arrays, where there are so many cells that loading what they need takes less time."""
        if self._count <= MANY_CELLS or self.noisy.keys is not None:
            return None
        from discreet.release.manycells import ManyCells

        return ManyCells.of(self.statement, self._columns, self._floors)

    @cached_property
    def _places(self) -> Sequence[int]:
        found = None if self._many is None else self._many.arrange()
        if found is not None:
            return found
        return arrange(self.statement.presentation, self._cells, self._columns, self._thin)

    @cached_property
    def _floors(self) -> dict[int, Margin]:
        """What the size of a group must exceed for a mean of it to be shown."""
        sizes = sizes_in(self.statement.presentation)
        level = presence_level(self._count * len(sizes))
        return {size: self._margin(size, lambda mechanism: mechanism.half_width(level)) for size in sizes}

    @cached_property
    def _thin(self) -> dict[int, list[bool]]:
        return find_thin(self._floors, self._columns)

    def _column(self, shows: KeyShown | Output) -> Sequence[Shown]:
        found = None if self._many is None else self._many.column(shows, self._places)
        if found is not None:
            return found
        if isinstance(shows, KeyShown):
            face = self.statement.keys[shows.key]
            return [face.shown(self._cells[place][shows.key]) for place in self._places]
        return show_values(shows, self._columns, self._places, self._thin)

    def _intervals(self, output: Output) -> Sequence[list[Number]]:
        if isinstance(output, Mean):
            return self._mean_intervals(output)
        margins = self._margins(sorted(measures_used(output)))
        if margins is None:
            return [[None, None] for _ in self._places]
        found = None if self._many is None else self._many.intervals(output, self._places, margins)
        return show_intervals(output, self._columns, self._places, margins, self._thin) if found is None else found

    def _mean_intervals(self, mean: Mean) -> Sequence[list[Number]]:
        from discreet.release.meanintervals import mean_intervals

        total, size = (self._measures[place] for place in (mean.total, mean.size))
        slices = [None if one.key is None else slices_of(self.plan, one.key, self.noisy.keys) for one in (total, size)]
        thin = None if self._many is None else self._many.thin[mean.size]
        gone = self._thin[mean.size] if thin is None else thin
        return mean_intervals(mean, (total, size), slices, self._places, gone, self.level)

    def _margins(self, used: Sequence[int]) -> dict[int, Margin] | None:
        """How far the measures of an output may be off, all at once; None when no interval is wide enough."""
        noisy = measures_with_noise(used, [measure.mechanisms for measure in self._measures])
        level = joint_level(self.level, len(noisy))
        return None if level is None else {place: self._margin(place, partial(reach, level=level)) for place in used}

    def _margin(self, place: int, half: Callable[[DiscreteLaplace | DiscreteGaussian], int]) -> Margin:
        measure = self._measures[place]
        ends = candidates_of(self.plan.measures[place])
        halves = tuple(
            half(one) if isinstance(one, DiscreteLaplace | DiscreteGaussian) else 0 for one in measure.mechanisms
        )
        slices = None if measure.key is None else slices_of(self.plan, measure.key, self.noisy.keys)
        return Margin(halves, slices, ends)


def _as_list(rows: Listing[T]) -> Sequence[dict[str, T]]:
    """Plain objects, unless they would take more memory than a reader expects."""
    return list(rows) if len(rows) <= _MOST_OBJECTS else rows
