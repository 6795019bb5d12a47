"""Jobs of a server as whoever asked may follow them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from discreet.client.told_errors import rebuild
from discreet.client.told_values import take
from discreet.errors import DiscreetError

__all__ = ["RemoteJob"]

_STATES: Final = frozenset({"running", "done", "failed", "cancelled"})
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A question that takes longer than a request: `state` is running, done, failed or cancelled.

    `answer` is the number of its answer in the history, and `problem` what kept it from one; both once it has ended.
    """

    id: str
    request_id: str
    asked: str
    state: str
    answer: int | None = None
    problem: DiscreetError | None = field(default=None, repr=False)

    @property
    def ended(self) -> bool:
        """Whether nothing more will become of it."""
        return self.state != "running"

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The job that a server tells of. ValueError where it is none."""
        state, answer, problem = take(told, "state", str), told.get("answer"), told.get("problem")
        request_id = take(told, "request_id", str)
        found = cls(
            id=take(told, "id", str),
            request_id=request_id,
            asked=take(told, "asked", str),
            state=state,
            answer=None if answer is None else take(told, "answer", int),
            problem=None if problem is None else rebuild(take(told, "problem", dict), request_id=request_id),
        )
        whole = {"done": found.answer is not None, "failed": found.problem is not None}.get(state, True)
        if state not in _STATES or not whole or not _ID.fullmatch(found.id):
            raise ValueError("no job")
        return found
