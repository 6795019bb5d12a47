"""kill -9 of processes that answer, at random and under load: what a client was told stands, and nothing else does."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any, Final

from benchmarks.http_asker import HttpAsker, HttpReply, NotReached
from benchmarks.served_house import ANALYSTS, ServedHouse, Serving, kill
from benchmarks.swarm import Witness, ask_all, at_once, count_of
from discreet.ledger import EventKind, LogFilter
from discreet.session import Session

__all__ = ["Killing", "kill_workers"]

COST: Final = Decimal("0.001")
_PATIENCE: Final = 60.0
_WAITS: Final = (0.3, 1.5)


@dataclass(frozen=True, slots=True)
class Killing:
    """How many died, what was answered and asked again, the longest wait for an answer, and what was wrong."""

    kills: int
    answered: int
    retried: int
    slowest: float
    faults: Sequence[str]


def kill_workers(serving: Serving, house: ServedHouse, dataset: str, *, kills: int, clients: int = 12) -> Killing:
    """Ask without pause, each question under a key of its own until it is answered, while workers are killed.

    The budget must hold all of it. At the end exactly what is left of it is asked for, and nothing is left.
    """
    witness, load = Witness(), _Load()
    loaders = [partial(_ask_on, serving, house, dataset, number, witness, load) for number in range(clients)]
    killer = partial(_kill, serving, kills, load)
    at_once([*loaders, killer])
    if serving.alive:
        _ask_again(serving, house, dataset, witness, load, clients)
    faults = list(witness.faults)
    if not serving.alive:
        faults.append(f"the server is gone: {serving.said[-300:]}")
    else:
        faults += _check_ledger(serving, house, dataset, witness)
    return Killing(load.killed, len(load.asked), load.retried, max(load.waited, default=0.0), faults)


class _Load:
    """What clients and killer know of each other."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.turn = threading.Lock()
        self.asked: dict[str, str] = {}
        self.waited: list[float] = []
        self.retried = 0
        self.killed = 0


def _ask_on(serving: Serving, house: ServedHouse, dataset: str, number: int, witness: Witness, load: _Load) -> None:
    """Question after question until the killing is over; each until it is answered."""
    analyst = ANALYSTS[number % len(ANALYSTS)]
    with serving.asker(house.tokens[analyst], seconds=_PATIENCE) as asker:
        for step in count():
            if load.over.is_set() or not serving.alive:
                return
            key = f"k{number}-{step}"
            with load.turn:
                load.asked[key] = analyst
            reply = _insist(serving, asker, dataset, key, witness, load)
            if reply is not None:
                witness.hear(key, reply)


def _insist(
    serving: Serving, asker: HttpAsker, dataset: str, key: str, witness: Witness, load: _Load
) -> HttpReply | None:
    begun, tries = time.perf_counter(), 0
    while serving.alive and time.perf_counter() - begun < _PATIENCE:
        try:
            reply = asker.query(count_of(dataset), epsilon=str(COST), key=key)
        except NotReached:
            pass
        else:
            if reply.status not in (502, 503, 504):
                with load.turn:
                    load.retried += tries > 0
                    load.waited.append(time.perf_counter() - begun)
                return reply
        tries += 1
        time.sleep(0.05)
    witness.fault(f"no answer under {key} in {time.perf_counter() - begun:.0f} s")
    return None


def _kill(serving: Serving, kills: int, load: _Load) -> None:
    try:
        while load.killed < kills and serving.alive:
            time.sleep(random.uniform(*_WAITS))
            workers = serving.workers()
            if serving.process.pid not in workers:
                load.killed += kill(random.choice(workers))
    finally:
        load.over.set()


def _ask_again(serving: Serving, house: ServedHouse, dataset: str, witness: Witness, load: _Load, clients: int) -> None:
    """Every key once more: each is answered as before."""

    def again(key: str, asker: HttpAsker) -> None:
        reply = _insist(serving, asker, dataset, key, witness, load)
        if reply is not None:
            witness.hear(key, reply)

    for analyst in ANALYSTS:
        keys = [key for key, name in load.asked.items() if name == analyst]
        askers = [serving.asker(house.tokens[analyst], seconds=_PATIENCE) for _ in range(clients // 2)]
        ask_all(askers, [partial(again, key) for key in keys])


def _check_ledger(serving: Serving, house: ServedHouse, dataset: str, witness: Witness) -> list[str]:
    """One charge for each answer, the chain whole, and exactly the rest of the budget left."""
    faults = []
    with house.open() as session:
        session.verify()
        charged = [payload["request_id"] for payload in _payloads(session, dataset, EventKind.CHARGE)]
        if sorted(charged) != sorted(witness.answers):
            faults.append(f"{len(charged)} charges for {len(witness.answers)} answers")
        answered = Counter(payload["charge"] for payload in _payloads(session, dataset, EventKind.ANSWER))
        if len(answered) != len(charged) or max(answered.values(), default=1) > 1:
            faults.append(f"{answered.total()} committed answers for {len(charged)} charges")
        state = session.ledger.state(dataset)
        if state.population.epsilon_spent != len(witness.answers) * COST:
            faults.append(f"{state.population.epsilon_spent} was spent on {len(witness.answers)} answers of {COST}")
        left = min(state.population.epsilon_remaining, state.analysts[ANALYSTS[0]].epsilon_remaining)
    with serving.asker(house.tokens[ANALYSTS[0]]) as asker:
        for key, cost, status in (("over", left + COST, 409), ("rest", left, 200), ("more", COST, 409)):
            reply = asker.query(count_of(dataset), epsilon=str(cost), key=key)
            if reply.status != status:
                faults.append(f"{reply.status} {reply.error} for '{key}', with {left} left")
    return faults


def _payloads(session: Session, dataset: str, kind: EventKind) -> list[Mapping[str, Any]]:
    return [event.payload for event in session.ledger.log(LogFilter(population=dataset, kinds=frozenset({kind})))]
