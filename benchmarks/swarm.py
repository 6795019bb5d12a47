"""Many who ask at once, and what must hold of it: the budget to the last step, every answer the same again.

What does not hold is told as a fault, in words; nothing here raises for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from benchmarks.http_asker import HttpAsker, HttpReply, NotReached
from benchmarks.served_house import ANALYSTS, ServedHouse, Serving

__all__ = ["CLIENTS", "COST", "SwarmRound", "Witness", "at_once", "count_of", "swarm"]

CLIENTS: Final = 64
COST: Final = Decimal("0.05")
_SECONDS: Final = 60.0


def count_of(dataset: str) -> str:
    return f'SELECT COUNT(*) AS people FROM "{dataset}"'


@dataclass
class Witness:
    """What clients were told under their keys, over all their tries. Threads share it."""

    answers: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def hear(self, key: str, reply: HttpReply) -> None:
        """An answer, which must be the one that anybody was told before under this key; else a fault."""
        with self._turn:
            if reply.status != 200:
                self.faults.append(f"{reply.status} {reply.error} for {key}")
            elif self.answers.setdefault(key, reply.figures) != reply.figures:
                self.faults.append(f"two answers under {key}")

    def fault(self, told: str) -> None:
        with self._turn:
            self.faults.append(told)


@dataclass(frozen=True, slots=True)
class SwarmRound:
    """How one swarm went: how many were answered, the longest that anybody waited, and what was wrong."""

    answered: int
    slowest: float
    faults: Sequence[str]


def at_once(work: Sequence[Callable[[], None]]) -> None:
    """Do all of it, each in a thread, from the moment when all are there."""
    barrier = threading.Barrier(len(work))

    def begin(one: Callable[[], None]) -> None:
        barrier.wait(60)
        one()

    threads = [threading.Thread(target=begin, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def swarm(
    serving: Serving, house: ServedHouse, dataset: str, *, expected: int, clients: int = CLIENTS
) -> Iterator[SwarmRound]:
    """Two swarms under the same keys: the first is answered `expected` times, the second alike and for nothing."""
    witness, before = Witness(), _spent(house, dataset)
    for turn in ("first", "again"):
        seen = _Seen()
        at_once([_client(serving, house, dataset, number, witness, seen) for number in range(clients)])
        faults = [f"{dataset}, {turn}: {told}" for told in witness.faults]
        witness.faults.clear()
        if len(witness.answers) != expected or seen.answered != expected:
            faults.append(f"{dataset}, {turn}: {seen.answered} of {len(witness.answers)} answered, not {expected}")
        spent = _spent(house, dataset) - before
        if spent != expected * COST:
            faults.append(f"{dataset}, {turn}: {spent} was spent on {expected} answers of {COST}")
        yield SwarmRound(seen.answered, max(seen.waited, default=0.0), tuple(faults))


@dataclass
class _Seen:
    """What the clients of one swarm saw."""

    answered: int = 0
    waited: list[float] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)


def _client(
    serving: Serving, house: ServedHouse, dataset: str, number: int, witness: Witness, seen: _Seen
) -> Callable[[], None]:
    """One question under a key of its own: answered, or refused because the budget is spent."""
    key, token = f"{dataset}-{number}", house.tokens[ANALYSTS[number % len(ANALYSTS)]]

    def ask() -> None:
        try:
            with serving.asker(token, seconds=_SECONDS) as asker:
                reply = asker.query(count_of(dataset), epsilon=str(COST), key=key)
        except NotReached as failure:
            witness.fault(f"{failure} for {key}")
            return
        with seen.turn:
            seen.waited.append(reply.seconds)
            seen.answered += reply.status == 200
        if (reply.status, reply.error) != (409, "BudgetExceeded"):
            witness.hear(key, reply)

    return ask


def _spent(house: ServedHouse, dataset: str) -> Decimal:
    with house.open() as session:
        return Decimal(session.ledger.state(dataset).population.epsilon_spent)


def ask_all(askers: Sequence[HttpAsker], questions: Sequence[Callable[[HttpAsker], None]]) -> None:
    """Ask every question, by as many clients as there are; their connections are closed then."""
    left, turn = list(reversed(questions)), threading.Lock()

    def go(asker: HttpAsker) -> None:
        with asker:
            while True:
                with turn:
                    if not left:
                        return
                    question = left.pop()
                question(asker)

    at_once([lambda asker=asker: go(asker) for asker in askers])  # type: ignore[misc]
