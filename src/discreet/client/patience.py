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

from discreet.catalogue import Phrase, say
from discreet.client.exchanges import PROBLEM, AnswerNotTaken, Call, Exchange, ExchangeFailed, Reply
from discreet.client.told_errors import charged_perhaps, gave_up, no_server, not_understood, rebuild, unreachable
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

__all__ = ["Notes", "PatientServer"]

Notes = Callable[[str], None]
"""Hears sentences for whoever waits."""

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
    """What is known of a call so far. `lost`: it may have arrived, and nobody told what became of it. `status` is the
    last word of the server.
    """

    until: float
    pause: float = _FIRST
    lost: bool = False
    told: DiscreetError | None = None
    status: int | None = None

    def next_pause(self, asked: float | None) -> float:
        """How long to wait: as the server asks, else longer each time, and never as long as everybody else."""
        pause, self.pause = self.pause, min(2 * self.pause, _LONGEST)
        return _JITTER.uniform(pause / 2, pause) if asked is None else max(asked, _FIRST)


class PatientServer:
    """A server that is asked with patience: `patience` are the seconds after which it is given up. `notes` hear of the
    first try that failed, and no more.
    """

    def __init__(
        self,
        exchange: Exchange,
        *,
        patience: float,
        notes: Notes | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._exchange = exchange
        self._patience = patience
        self._notes = notes
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
            except AnswerNotTaken as odd:
                raise self._not_understood(call, tries, odd.status, reason=odd.reason) from None
            except ExchangeFailed as failed:
                tries.lost |= failed.sent
                tries.told, asked = None, None
            else:
                tries.told, asked, tries.status = self._read_problem(call, reply), reply.pause, reply.status
                tries.lost |= reply.status == 500  # something went wrong there, before a charge or after it
                if reply.status not in _AGAIN or isinstance(tries.told, _SETTLED):
                    return self._settle(call, reply, tries)
                tries.lost |= tries.told is None and reply.status != 429
            pause = tries.next_pause(asked)
            if self.clock() + pause > tries.until:
                raise self._give_up(call, tries)
            self._note_once()
            self.sleep(pause)

    def _note_once(self) -> None:
        if self._notes is not None:
            self._notes(
                say(
                    "The server at '{host}' does not answer yet. It is asked again for {seconds:,} seconds.",
                    host=self.host,
                    seconds=round(self._patience),
                )
            )
            self._notes = None

    def _settle(self, call: Call, reply: Reply, tries: _Tries) -> Reply:
        if reply.status in _DONE:
            return reply
        if tries.told is None:
            raise self._not_understood(call, tries, reply.status, foreign=reply.media != PROBLEM)
        raise self._as_known(call, tries, tries.told)

    def _as_known(self, call: Call, tries: _Tries, told: DiscreetError) -> DiscreetError:
        """A refusal, unless an earlier try may have been charged and this one never came to look for it."""
        if call.request_id is not None and tries.lost and not isinstance(told, _TOLD_OF_THE_QUESTION):
            return charged_perhaps(self.host, call.request_id)
        return told

    def _read_problem(self, call: Call, reply: Reply) -> DiscreetError | None:
        """What the server refuses and why; None where it is no document of a problem, or of another question's."""
        if reply.media != PROBLEM:
            return None
        try:
            return rebuild(read_json(reply.body), request_id=call.request_id)
        except ValueError:
            return None

    def _give_up(self, call: Call, tries: _Tries) -> DiscreetError:
        if tries.told is not None:
            return self._as_known(call, tries, tries.told)
        if call.request_id is not None and tries.lost:
            return charged_perhaps(self.host, call.request_id)
        if tries.lost or tries.status is not None:
            return gave_up(self.host, status=tries.status)
        return unreachable(self.host)

    def _not_understood(
        self, call: Call, tries: _Tries, status: int, *, reason: Phrase | None = None, foreign: bool = True
    ) -> DiscreetError:
        """`foreign`: no server of ours answers like this, so whatever is there did not charge."""
        if call.request_id is None:
            return not_understood(self.host, status=status, reason=reason)
        if foreign and 300 <= status < 500 and not tries.lost:
            return no_server(self.host, status=status)
        return charged_perhaps(self.host, call.request_id, reason=reason)
