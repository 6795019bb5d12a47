"""What goes in: a statement read against one version of each of its datasets, with all that decides its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from discreet.cards import Card
from discreet.ledger import word_from_rows
from discreet.release.pipeline import Request
from discreet.results import Heading, Labels
from discreet.sql import KeyShown, Statement, first_hash, lineage_of
from discreet.workspace import Dataset

if TYPE_CHECKING:
    from discreet.release.forecast.accuracy import Amounts

__all__ = ["Ask", "headings_of", "unproven_reason"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A statement, who asks it, under which id, at which epsilon. It is read once; explaining and asking take the same.

    `datasets` holds every dataset of the plan by name. `shares` say how epsilon is split over the measures, when not
    evenly; with `rho` instead, noise is Gaussian and they split that. `widths` are what epsilon was solved for, when it
    was not given; `assumed` are counts taken for granted where an expected error needs them. `words` are what was
    asked, for those who ask it again; `who` acts, where it is not the analyst.
    """

    statement: Statement
    datasets: Mapping[str, Dataset]
    analyst: str
    request_id: str
    epsilon: Decimal
    level: Decimal
    delta: Decimal = Decimal(0)
    fresh: bool = False
    shares: tuple[Decimal, ...] | None = None
    rho: Decimal | None = None
    assumed: Amounts = field(default_factory=dict)
    widths: Amounts | None = None
    words: Mapping[str, object] | None = None
    who: str | None = None

    @property
    def dataset(self) -> Dataset:
        """The first dataset: the one whose name and version stand on the ledger."""
        return self.datasets[self.statement.plan.dataset]

    @property
    def cards(self) -> dict[str, Card]:
        return {name: dataset.card for name, dataset in self.datasets.items()}

    @property
    def population(self) -> str:
        return self.dataset.card.population

    @property
    def request(self) -> Request:
        return Request(
            datasets=self.datasets,
            first=self.dataset.name,
            analyst=self.analyst,
            request_id=self.request_id,
            plan_hash=self.statement.hash,
            words=self.words,
            who=self.who,
        )

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The keys that an answer shows."""
        return headings_of(self.statement)

    @property
    def hashes(self) -> tuple[str, str]:
        """What the ledger may know the question by: now, and as an earlier release called it."""
        return self.statement.hash, first_hash(self.statement)

    @property
    def unproven(self) -> str | None:
        """Why an answer is not proven to be private, where it is not."""
        return unproven_reason(self.statement, self.cards)

    @property
    def marks(self) -> tuple[tuple[Request, str], ...]:
        """The marker that such an answer leaves."""
        return () if (reason := self.unproven) is None else ((self.request, reason),)


def headings_of(statement: Statement) -> tuple[Heading, ...]:
    """The keys that a statement shows, under the names that it gives them."""
    return tuple(
        Heading(column.name, Labels(column.name, column.name), statement.keys[column.shows.key])
        for column in statement.presentation.columns
        if isinstance(column.shows, KeyShown)
    )


def unproven_reason(statement: Statement, cards: Mapping[str, Card]) -> str | None:
    """Keys, bounds or categories that were read from the rows make the release unproven.

    It is kept with the answer and on the ledger, in English; `tell_reason` says it in the reader's language.
    """
    if not any(column.from_rows for card in cards.values() for column in card.columns):
        return None
    read = sorted(
        name if len(cards) == 1 else f"{dataset}.{name}"
        for dataset, name in lineage_of(statement.plan, cards)
        if cards[dataset].column(name).from_rows
    )
    if not read:
        return None
    return word_from_rows(", ".join(read)).en
