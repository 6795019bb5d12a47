"""A workload as one event: one durable charge for all questions, then all noise, one stored answer, and it leaves.

A retry under the same request id meets the charge again and gets the same answers; the answers of a workload are not
found by single questions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused
from discreet.ledger import Ledger, Receipt
from discreet.release.ask import Ask
from discreet.release.forecast.apportionment import Apportionment
from discreet.release.measurement.descriptions import ledger_mechanisms
from discreet.release.measurement.noisy_measures import Noisy
from discreet.release.pipeline import Charge, OpenEngine, Passage, Request, check_terms, release, require_active
from discreet.release.question import dress, open_for, settled
from discreet.results import Amount, Charged, Claim, Release, ReleaseKind, Source

__all__ = ["run_workload"]


def run_workload(
    plan: Apportionment, ledger: Ledger, *, request_id: str, open_engine: OpenEngine, who: str | None = None
) -> Release:
    """Charge once and answer every question, or raise. `who` acts, where it is not the analyst.

    `open_engine` is called once for each question and may give one engine several times.
    """
    return release(_Workload(plan, request_id, open_engine, who), ledger)


@dataclass(frozen=True)
class _Workload(Passage[Receipt, list[Noisy], bytes, Release]):
    """All questions of a workload on their way through, as one."""

    plan: Apportionment
    request_id: str
    open_engine: OpenEngine
    who: str | None = None

    @cached_property
    def asks(self) -> list[Ask]:
        plan = self.plan
        return [
            Ask(
                statement=part.reading.statement,
                datasets=part.reading.datasets,
                analyst=plan.outlook.analyst_name,
                request_id=self.request_id,
                epsilon=part.epsilon,
                level=plan.level,
                delta=part.delta,
                who=self.who,
            )
            for part in plan.parts
        ]

    def check(self, ledger: Ledger) -> None:
        if self.plan.shortfall is not None:
            raise QueryRefused(say("{shortfall} Nothing was released or charged.", shortfall=self.plan.shortfall))
        for asked in self.asks:
            check_terms(list(asked.cards.values()), ledger)

    def account(self) -> Charge[list[Noisy]]:
        """Charged the way that leaves most.

        A retry finds other balances and may prefer the other way: it then meets its charge under that one, or under
        what an earlier release knew the workload by. An id that holds a charge never makes a second.
        """
        first = self.asks[0]
        request = Request(
            datasets={name: item for asked in self.asks for name, item in asked.datasets.items()},
            first=first.dataset.name,
            analyst=first.analyst,
            request_id=self.request_id,
            plan_hash=self.plan.plan_hash,
            words=self.plan.words,
            who=self.who,
        )
        used = [entry for part in self.plan.parts for entry in ledger_mechanisms(part.reading.statement, part.pricing)]
        ways = [request.charge(outlook.guarantee, used) for outlook in self.plan.outlooks]
        return Charge(
            request=request,
            ways=[*ways, *(replace(way, plan_hash=self.plan.first_hash) for way in ways)],
            keep=lambda ledger, receipt, drawn: ledger.commit_answer(receipt, _to_bytes(drawn)),
            unproven=[mark for asked in self.asks for mark in asked.marks],
        )

    def prepare(self, ledger: Ledger) -> Callable[[], list[Noisy]]:
        for asked in self.asks:
            require_active(asked.datasets, ledger, beside=self.asks[0].dataset.name)
        draws = [
            open_for(asked, part.pricing, self.open_engine)
            for asked, part in zip(self.asks, self.plan.parts, strict=True)
        ]
        return lambda: [draw() for draw in draws]

    def leave(self, ledger: Ledger, paid: Receipt, stored: bytes) -> Release:
        return _dressed(self.plan, self.asks, paid, ledger, _from_bytes(stored))


def _to_bytes(drawn: Sequence[Noisy]) -> bytes:
    """A JSON list of what single questions store."""
    return b"[" + b",".join(noisy.to_bytes() for noisy in drawn) + b"]"


def _from_bytes(stored: bytes) -> list[Noisy]:
    return [Noisy.from_bytes(json.dumps(item).encode()) for item in json.loads(stored)]


def _dressed(
    plan: Apportionment, asks: Sequence[Ask], receipt: Receipt, ledger: Ledger, drawn: Sequence[Noisy]
) -> Release:
    """All answers under the one charge that paid for them; under each stands its part."""
    whole, parts = settled(receipt), dict[str, Release]()
    for part, asked, noisy in zip(plan.parts, asks, drawn, strict=True):
        own = Amount() if receipt.replayed else Amount(part.epsilon, part.delta)
        paid = Charged(own, replace(whole.left, more=None), receipt.replayed)
        answered = dress(asked, ledger, receipt, noisy)
        parts[part.reading.task.name] = replace(answered, settlement=paid).release
    first, names = asks[0], ", ".join(parts)
    return Release(
        kind=ReleaseKind.WORKLOAD,
        title=Phrase("Workload: {names}", names=names),
        claim=Claim(receipt.charge, first.population, first.dataset.card.unit, first.dataset.card.neighbours),
        settlement=whole,
        source=Source(
            dataset=first.dataset.name,
            version=first.dataset.version,
            datasets={name: version for part in parts.values() for name, version in part.source.datasets.items()},
            plan_hash=plan.plan_hash,
            request_id=first.request_id,
        ),
        level=plan.level,
        # What is said of several parts is said once.
        notes=tuple(dict.fromkeys(note for part in parts.values() for note in part.notes)),
        parts=parts,
    )
