"""What was stored for a question, dressed for one reader: names, labels, order, interval level, charge, what remains.

Everything but the noisy values follows from the question, the cards and the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, partial

from discreet.cards import Card
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, Unproven, exact, text
from discreet.ledger import Ledger, tell_stored
from discreet.release.ask import headings_of
from discreet.release.cells.evaluation import is_whole
from discreet.release.cells.noisy_cells import NoisyCells
from discreet.release.cells.presence import note_absent
from discreet.release.measurement.descriptions import cover, describe_mechanisms, has_capped_weights, note_bounds
from discreet.release.measurement.noisy_measures import Noisy
from discreet.results import (
    BoundsUsed,
    CappedWeights,
    Charged,
    Claim,
    Figures,
    KeysChosen,
    Labels,
    Later,
    Margin,
    MeasureNoise,
    Note,
    Release,
    ReleaseKind,
    Shown,
    Source,
    Statistic,
    Unbounded,
    ends_of,
)
from discreet.sql import Extreme, KeyShown, Noted, Output, Plan, Quantile, ShownColumn, Statement, plan_hash

__all__ = ["Answer", "interval_level", "warn_of"]


def interval_level(level: ExactLike) -> Decimal:
    """A coverage strictly between 0 and 1."""
    value = exact(level, parameter="level", below=1)
    if value > Decimal("0.999999"):
        raise ParameterInvalid(parameter="level", rule=say("must be at most 0.999999"), given=text(value))
    return value


def warn_of(population: str, ledger: Ledger) -> tuple[Unbounded, ...]:
    """What every release about a population must say, where releases without a proof were made about it."""
    markers = ledger.standing(population).markers
    return (Unbounded(population, markers),) if markers else ()


@dataclass(frozen=True)
class Answer:
    """One answered question. `cards` and `versions` are those of its datasets, by name.

    `asked_hash` identifies the question on the ledger where the plan that was run holds more: bounds that were found.
    """

    statement: Statement
    cards: Mapping[str, Card]
    versions: Mapping[str, int]
    noisy: Noisy
    level: Decimal
    settlement: Charged
    request_id: str
    warnings: tuple[Unbounded, ...] = ()
    asked_hash: str | None = None

    @property
    def plan(self) -> Plan:
        return self.statement.plan

    @property
    def card(self) -> Card:
        """The card of the first dataset: the one on the ledger."""
        return self.cards[self.plan.dataset]

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def claim(self) -> Claim:
        card, guarantee = self.card, self.noisy.guarantee
        if isinstance(guarantee, Unproven):
            guarantee = Unproven(tell_stored(guarantee.reason))
        return Claim(guarantee, card.population, card.unit, card.neighbours)

    @property
    def source(self) -> Source:
        return Source(
            dataset=self.card.dataset,
            version=self.versions[self.plan.dataset],
            datasets=dict(self.versions),
            plan_hash=self.asked_hash or plan_hash(self.plan),
            request_id=self.request_id,
            created=datetime.now(UTC).date().isoformat(),
        )

    @property
    def mechanisms(self) -> Later[Sequence[MeasureNoise]]:
        """How each measure was protected; worked out when somebody asks."""
        measures = self.noisy.in_order_of(self.statement)
        return Later(partial(describe_mechanisms, self.statement, self.cards, measures, self.level))

    @property
    def bounds(self) -> tuple[BoundsUsed, ...]:
        """What was found for columns whose card keeps their bounds private, in the column's own units."""
        if not self.noisy.bounds:
            return ()
        return note_bounds(self.noisy.bounds_of(self.statement), self.statement, self.cards)

    @property
    def notes(self) -> tuple[Note, ...]:
        threshold = self.noisy.threshold
        chosen = () if threshold is None else (KeysChosen(threshold.least, threshold.keys, threshold.delta),)
        weights = (CappedWeights(),) if has_capped_weights(self.statement, self.cards) else ()
        return (
            cover(self.statement, threshold),
            *weights,
            *self.bounds,
            *chosen,
            *note_absent(self.statement, self._cells.floors),
            *self.warnings,
        )

    # --- figures ----------------------------------------------------------------------------------------------------

    @cached_property
    def release(self) -> Release:
        """The answer as it leaves."""
        keys = [column for column in self._shown if isinstance(column.shows, KeyShown)]
        outputs = [column for column in self._shown if not isinstance(column.shows, KeyShown)]
        return Release(
            kind=ReleaseKind.QUERY,
            title=_title(outputs, keys),
            claim=self.claim,
            settlement=self.settlement,
            source=self.source,
            headings=headings_of(self.statement),
            statistics=tuple(self._statistic(column) for column in outputs),
            order=tuple(column.name for column in self._shown),
            level=self.level,
            notes=self.notes,
            mechanisms=self.mechanisms,
            bare=None if outputs else Margin((), self._codes, [None] * len(self._cells.places)),
        )

    @property
    def _shown(self) -> tuple[ShownColumn, ...]:
        return self.statement.presentation.columns

    @cached_property
    def _codes(self) -> tuple[Sequence[Shown], ...]:
        """The codes of every key that is shown."""
        return tuple(self._cells.column(item.shows) for item in self._shown if isinstance(item.shows, KeyShown))

    def _statistic(self, column: ShownColumn) -> Statistic:
        output = column.shows
        assert not isinstance(output, KeyShown)
        return Statistic(
            name=column.name,
            title=Labels(column.name, column.name),
            figures=Figures(len(self._cells.places), partial(self._figures, output)),
            step=self._step(output),
            whole=is_whole(output),
        )

    def _figures(self, output: Output) -> list[Margin]:
        low, high = ends_of(self._cells.intervals(output))
        values = self._cells.column(output)
        return [Margin((), self._codes, values, low=low, high=high)]  # type: ignore[arg-type]

    def _step(self, output: Output) -> str | None:
        """The step of whole counts, and of what is chosen from a grid: its interval says nothing about decimals."""
        if not isinstance(output, Noted):
            return None
        chosen = isinstance(self.plan.measures[output.measure], Quantile | Extreme)
        if output.step.denominator != 1 and not chosen:
            return None
        places = 0
        while (output.step * 10**places).denominator != 1 and places < 9:
            places += 1
        return "1" if places == 0 else f"{Decimal(1).scaleb(-places):f}"

    @cached_property
    def _cells(self) -> NoisyCells:
        return NoisyCells(self.statement, self.noisy.in_order_of(self.statement), self.level, self.noisy.keys)


def _title(outputs: Sequence[ShownColumn], keys: Sequence[ShownColumn]) -> Labels:
    """What is shown, by what: the names that the statement gives."""
    shown = ", ".join(column.name for column in outputs) or "–"
    by = ", ".join(column.name for column in keys)
    return Phrase("{shown} by {by}", shown=shown, by=by) if by else Labels(shown, shown)
