"""Asking again: only what costs nothing twice, after growing pauses, and for so long as somebody has patience.

What only reads is asked again as it is, and what spends under the id that it had. Asked again is after a connection
failed, and where the server says that it is too busy (429) or not well (502, 503, 504).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from discreet.client.exchanges import PROBLEM, Call, Exchange, ExchangeFailed, Reply
from discreet.client.told_errors import charged_perhaps, not_understood, rebuild, unreachable
from discreet.client.told_values import read_json
from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DiscreetError,
    EngineUnavailable,
    QueryRefused,
    RequestConflict,
    UsageError,
)

__all__ = ["PatientServer"]

_AGAIN: Final = frozenset({429, 502, 503, 504})
_SETTLED: Final = (ChargedNotAnswered, EngineUnavailable)
"""Told with a 503, and the same if it were asked again soon."""

_TOLD_OF_THE_QUESTION: Final = (ChargedNotAnswered, BudgetExceeded, RequestConflict, QueryRefused, UsageError)
"""What a server says of a question itself: then it was looked for on the ledger, or can never have been charged."""

_DONE: Final = frozenset({200, 202})
_FIRST: Final = 0.25
_LONGEST: Final = 15.0
_JITTER: Final = random.SystemRandom()


@dataclass
class _Tries:
    """What is known of a call so far. `lost`: it may have arrived, and nobody told what became of it."""

    until: float
    pause: float = _FIRST
    lost: bool = False
    told: DiscreetError | None = None

    def next_pause(self, asked: float | None) -> float:
        """How long to wait: as the server asks, else longer each time, and never as long as everybody else."""
        pause, self.pause = self.pause, min(2 * self.pause, _LONGEST)
        return _JITTER.uniform(pause / 2, pause) if asked is None else max(asked, _FIRST)


class PatientServer:
    """A server that is asked with patience: `patience` are the seconds after which it is given up."""

    def __init__(
        self,
        exchange: Exchange,
        *,
        patience: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._exchange = exchange
        self._patience = patience
        self.clock = clock
        self.sleep = sleep

    @property
    def host(self) -> str:
        return self._exchange.address.host

    @property
    def address(self) -> str:
        """What people know the server by."""
        return self._exchange.address.shown

    def close(self) -> None:
        """Let go of every connection."""
        self._exchange.close()

    def ask(self, call: Call) -> Reply:
        """The answer of a call that was understood and done; else the error that the server tells of, or that none
        came. What spends and met an unknown end is told to be charged, with its id."""
        tries = _Tries(until=self.clock() + self._patience, lost=call.begun)
        while True:
            try:
                reply = self._exchange.send(call)
            except ExchangeFailed as failed:
                if failed.odd:
                    raise self._not_understood(call, status=0) from None
                tries.lost |= failed.sent
                tries.told, asked = None, None
            else:
                tries.told, asked = self._read_problem(reply), reply.pause
                tries.lost |= reply.status == 500  # something went wrong there, before a charge or after it
                if reply.status not in _AGAIN or isinstance(tries.told, _SETTLED):
                    return self._settle(call, reply, tries)
                tries.lost |= tries.told is None and reply.status != 429
            pause = tries.next_pause(asked)
            if self.clock() + pause > tries.until:
                raise self._give_up(call, tries)
            self.sleep(pause)

    def _settle(self, call: Call, reply: Reply, tries: _Tries) -> Reply:
        if reply.status in _DONE:
            return reply
        if tries.told is None:
            raise self._not_understood(call, status=reply.status)
        raise self._as_known(call, tries, tries.told)

    def _as_known(self, call: Call, tries: _Tries, told: DiscreetError) -> DiscreetError:
        """A refusal, unless an earlier try may have been charged and this one never came to look for it."""
        if call.request_id is not None and tries.lost and not isinstance(told, _TOLD_OF_THE_QUESTION):
            return charged_perhaps(self.host, call.request_id)
        return told

    def _read_problem(self, reply: Reply) -> DiscreetError | None:
        """What the server refuses and why; None where it is no document of a problem."""
        if reply.media != PROBLEM:
            return None
        try:
            return rebuild(read_json(reply.body))
        except ValueError:
            return None

    def _give_up(self, call: Call, tries: _Tries) -> DiscreetError:
        if tries.told is not None:
            return self._as_known(call, tries, tries.told)
        if call.request_id is not None and tries.lost:
            return charged_perhaps(self.host, call.request_id)
        return not_understood(self.host) if tries.lost else unreachable(self.host)

    def _not_understood(self, call: Call, *, status: int) -> DiscreetError:
        if call.request_id is not None:
            return charged_perhaps(self.host, call.request_id)
        return not_understood(self.host, status=status)
