"""What was asked: one line for each charge and replay, with the words by which it can be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.ledger.book import Book
from discreet.ledger.committed_answers import leased_charge
from discreet.ledger.event_log import describe_event
from discreet.ledger.events import Event, EventKind
from discreet.ledger.receipts import AS_CHARGED

__all__ = ["PastQuestion", "number_questions", "read_question"]


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


def number_questions(book: Book, events: Iterable[Event]) -> Iterator[tuple[Event, int]]:
    """Charges and replays, the newest first and none left out, with their places among their analysts' own."""
    places: dict[str, int] = {}
    for event in events:
        analyst = event.payload["analyst"]
        place = places[analyst] if analyst in places else book.transaction.place_asked(event)
        places[analyst] = place - 1
        yield event, place


def read_question(book: Book, event: Event, place: int | None = None) -> PastQuestion | None:
    """What a charge or a replay answered; None for other events. Its place is looked up where it is not known."""
    if event.kind not in {EventKind.CHARGE, EventKind.REPLAY}:
        return None
    payload, entry = event.payload, describe_event(event, reasons=False)
    charge = leased_charge(book.transaction, event)
    answered = book.transaction.find_answered(charge=charge.sequence)
    asked = payload.get("asked")
    return PastQuestion(
        number=event.sequence,
        ordinal=book.transaction.place_asked(event) if place is None else place,
        when=event.when,
        analyst=payload["analyst"],
        population=event.population,
        dataset=payload["dataset"],
        version=payload["version"],
        request_id=payload["request_id"],
        plan_hash=payload["plan_hash"],
        cost=entry.cost,
        cost_text=entry.cost_text,
        words=charge.payload.get("asked") if asked == AS_CHARGED else asked,
        charged=charge.when,
        committed=answered.when if answered is not None and book.transaction.has_answer(charge.sequence) else None,
    )
