"""What was asked: one line for each charge and replay, with the words by which it can be asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.ledger.book import Book
from discreet.ledger.committed_answers import leased_charge
from discreet.ledger.event_log import describe_event
from discreet.ledger.events import Event, EventKind

__all__ = ["PastQuestion", "read_question"]


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question that was charged or replayed; `number` is its event, `ordinal` its place among its analyst's own.

    `words` are None where an earlier release did not keep them. `charged` and `committed` say when the charge and the
    answer that it stands for were written; without the second there is no answer that can be had again for nothing.
    """

    number: int
    ordinal: int
    when: str
    analyst: str
    population: str
    dataset: str
    version: int
    request_id: str
    plan_hash: str
    cost: Mapping[str, str] | None
    cost_text: str
    words: Mapping[str, Any] | None
    charged: str
    committed: str | None

    @property
    def answered(self) -> bool:
        return self.committed is not None

    @property
    def versions(self) -> Mapping[str, int]:
        """Of every dataset, the version that was asked about."""
        return {self.dataset: self.version, **((self.words or {}).get("versions") or {})}

    def to_dict(self) -> dict[str, object]:
        return {
            "answer": self.number,
            "when": self.when,
            "analyst": self.analyst,
            "population": self.population,
            "dataset": self.dataset,
            "version": self.version,
            "key": self.request_id,
            "plan_hash": self.plan_hash,
            "cost": None if self.cost is None else dict(self.cost),
            "cost_text": self.cost_text,
            "question": None if self.words is None else dict(self.words),
            "answered": self.answered,
        }


def read_question(book: Book, event: Event) -> PastQuestion | None:
    """What a charge or a replay answered; None for other events, and for charges that no analyst asked for."""
    if event.kind not in {EventKind.CHARGE, EventKind.REPLAY}:
        return None
    payload, entry = event.payload, describe_event(event, reasons=False)
    charge = leased_charge(book.transaction, event)
    answered = book.transaction.find_answered(charge=charge.sequence)
    return PastQuestion(
        number=event.sequence,
        ordinal=book.transaction.place_asked(event),
        when=event.when,
        analyst=payload["analyst"],
        population=event.population,
        dataset=payload["dataset"],
        version=payload["version"],
        request_id=payload["request_id"],
        plan_hash=payload["plan_hash"],
        cost=entry.cost,
        cost_text=entry.cost_text,
        words=payload.get("asked"),
        charged=charge.when,
        committed=None if answered is None or book.transaction.answer(charge.sequence) is None else answered.when,
    )
