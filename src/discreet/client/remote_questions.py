"""One's own earlier questions, as a server lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from discreet.client.told_values import take

__all__ = ["RemoteQuestion"]


@dataclass(frozen=True, slots=True)
class RemoteQuestion:
    """A question that was charged or replayed; `recall` gives its answer again by `number`.

    `words` are None where an earlier version did not keep them. `answered` says that the answer can be had again.
    """

    number: int
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
    answered: bool

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The question that these facts are. ValueError where they are none."""
        cost = None if told["cost"] is None else take(told, "cost", dict)
        return cls(
            number=take(told, "answer", int),
            when=take(told, "when", str),
            analyst=take(told, "analyst", str),
            population=take(told, "population", str),
            dataset=take(told, "dataset", str),
            version=take(told, "version", int),
            request_id=take(told, "key", str),
            plan_hash=take(told, "plan_hash", str),
            cost=None if cost is None else {name: take(cost, name, str) for name in cost},
            cost_text=take(told, "cost_text", str),
            words=None if told["question"] is None else take(told, "question", dict),
            answered=take(told, "answered", bool),
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values, as a workspace gives them."""
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
