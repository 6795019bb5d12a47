"""A workload as one event: one durable charge for all questions, then all noise, one stored answer, and it leaves.

A retry under the same request id meets the charge again and gets the same answers; the answers of a workload are not
found by single questions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.data.workspace import Dataset
from discreet.engines.base import Engine
from discreet.errors import ChargedNotAnswered, QueryRefused, Refused, RequestConflict
from discreet.guarantees.numbers import text
from discreet.guarantees.types import CentralGuarantee
from discreet.ledger import Ledger, Receipt, SpendRequest
from discreet.release.answers import Answer, Remaining
from discreet.release.apportionment import Apportionment, Part
from discreet.release.asking import (
    Question,
    check_suspension,
    check_terms,
    describe_charge,
    describe_debits,
    draw_noisy,
    dress,
    open_for,
    remaining_after,
    spend,
)
from discreet.release.describing import ledger_mechanisms
from discreet.release.noising import Noisy

__all__ = ["WorkloadAnswer", "run_workload"]

OpenEngine = Callable[[Mapping[str, Dataset]], Engine]


@dataclass(frozen=True, slots=True)
class WorkloadAnswer:
    """The answers of a workload by the names of its questions, and the one charge that paid for them."""

    answers: Mapping[str, Answer]
    charge: Mapping[str, str]
    debited: Mapping[str, Mapping[str, str]]
    guarantee: CentralGuarantee
    remaining: Remaining
    replayed: bool
    request_id: str
    plan_hash: str
    warnings: tuple[str, ...]

    def to_dict(self, language: str = "en") -> dict[str, object]:
        """`charge` is what all answers cost together; under each answer stands its part."""
        return {
            "answers": {name: answer.to_dict(language) for name, answer in self.answers.items()},
            "charge": dict(self.charge),
            "debited": {holder: dict(paid) for holder, paid in self.debited.items()},
            "guarantee": str(self.guarantee),
            "remaining": self.remaining.to_dict(),
            "replayed": self.replayed,
            "request_id": self.request_id,
            "plan_hash": self.plan_hash,
            "warnings": list(self.warnings),
        }


def run_workload(plan: Apportionment, ledger: Ledger, *, request_id: str, open_engine: OpenEngine) -> WorkloadAnswer:
    """Charge once and answer every question, or raise; what fails after the charge is told in fixed sentences.

    `open_engine` is called once for each question and may give one engine several times; whoever opens engines closes
    them.
    """
    if plan.shortfall is not None:
        raise QueryRefused(f"{plan.shortfall} Nothing was released or charged.")
    analyst = plan.outlook.analyst_name
    questions = [_question(part, plan, analyst, request_id, open_engine) for part in plan.parts]
    for question in questions:
        check_terms(list(question.cards.values()), ledger)
    check_suspension(questions, ledger)
    engines = [open_for(one, part.pricing) for one, part in zip(questions, plan.parts, strict=True)]
    receipt = _spend(plan, ledger, analyst, request_id)
    try:
        stored = receipt.answer
        if stored is None:
            drawn = [
                draw_noisy(question, ledger, part.pricing, engine)
                for question, part, engine in zip(questions, plan.parts, engines, strict=True)
            ]
            stored = ledger.commit_answer(receipt, _to_bytes(drawn))
        return _dressed(plan, questions, receipt, ledger, _from_bytes(stored))
    except (Refused, KeyboardInterrupt):
        first = questions[0].dataset.name
        raise ChargedNotAnswered(dataset=first, request_id=request_id, suspended=False) from None


def _question(part: Part, plan: Apportionment, analyst: str, request_id: str, open_engine: OpenEngine) -> Question:
    return Question(
        statement=part.reading.statement,
        datasets=part.reading.datasets,
        open_engine=lambda: open_engine(part.reading.datasets),
        analyst=analyst,
        request_id=request_id,
        epsilon=part.epsilon,
        level=plan.level,
        delta=part.delta,
    )


def _spend(plan: Apportionment, ledger: Ledger, analyst: str, request_id: str) -> Receipt:
    """Charge the way that leaves most.

    A retry finds other balances and may prefer the other way: it then meets its charge under that one, or under what
    an earlier release knew the workload by. An id that holds a charge never makes a second.
    """
    requests = [_request(plan, outlook.guarantee, analyst, request_id) for outlook in plan.outlooks]
    *others, last = [*requests, *(replace(request, plan_hash=plan.first_hash) for request in requests)]
    for request in others:
        try:
            return spend(request, ledger)
        except RequestConflict:
            continue
    return spend(last, ledger)


def _request(plan: Apportionment, guarantee: CentralGuarantee, analyst: str, request_id: str) -> SpendRequest:
    first = plan.parts[0].reading.dataset
    used = [entry for part in plan.parts for entry in ledger_mechanisms(part.reading.statement, part.pricing)]
    return SpendRequest(
        population=first.card.population,
        dataset=first.name,
        version=first.version,
        analyst=analyst,
        request_id=request_id,
        plan_hash=plan.plan_hash,
        mechanisms=tuple(used),
        guarantee=guarantee,
    )


def _to_bytes(drawn: Sequence[Noisy]) -> bytes:
    """A JSON list of what single questions store."""
    return b"[" + b",".join(noisy.to_bytes() for noisy in drawn) + b"]"


def _from_bytes(stored: bytes) -> list[Noisy]:
    return [Noisy.from_bytes(json.dumps(one).encode()) for one in json.loads(stored)]


def _dressed(
    plan: Apportionment, questions: Sequence[Question], receipt: Receipt, ledger: Ledger, drawn: Sequence[Noisy]
) -> WorkloadAnswer:
    answers: dict[str, Answer] = {}
    for part, question, noisy in zip(plan.parts, questions, drawn, strict=True):
        paid = {"epsilon": part.epsilon, "delta": part.delta}
        own = {name: "0" if receipt.replayed else text(amount) for name, amount in paid.items()}
        dressed = dress(question, ledger, receipt, noisy)
        left = replace(dressed.remaining, more=None)
        answers[part.reading.task.name] = replace(dressed, charge=own, debited={}, cost={}, remaining=left)
    return WorkloadAnswer(
        answers=answers,
        charge=describe_charge(receipt),
        guarantee=receipt.charge,
        debited=describe_debits(receipt),
        remaining=remaining_after(receipt),
        replayed=receipt.replayed,
        request_id=questions[0].request_id,
        plan_hash=plan.plan_hash,
        warnings=ledger.state(questions[0].population).warnings(),
    )
