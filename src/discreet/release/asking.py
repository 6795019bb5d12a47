"""One way through: lease and durable charge, exact cells, noise, stored answer, and only then the answer leaves.

What can go wrong before the charge depends on the text, the card and the ledger alone. What goes wrong after it is
told in a fixed sentence, and the charge stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from discreet.data.card import Card
from discreet.engines.embedded import count_cells
from discreet.errors import (
    ChargedNotAnswered,
    LedgerUnanchored,
    LedgerUnavailable,
    PopulationConflict,
    QueryRefused,
    Refused,
)
from discreet.guarantees.numbers import text
from discreet.guarantees.types import PureDP, Unproven
from discreet.ledger import Ledger, Receipt, SpendRequest
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.plan.nodes import CountPlan
from discreet.plan.sensitivity import count_sensitivity
from discreet.release.answers import Answer, Noisy, Remaining

__all__ = ["Question", "ask"]


@dataclass(frozen=True, slots=True)
class Question:
    """A plan with everything that decides its price: who asks, under which id, at which epsilon."""

    plan: CountPlan
    card: Card
    version: int
    data: Path
    analyst: str
    request_id: str
    epsilon: Decimal
    level: Decimal
    fresh: bool = False


def ask(question: Question, ledger: Ledger) -> Answer:
    """Answer within the budget, or raise; never both charge and stay silent about it."""
    _check_terms(question, ledger)
    mechanism, sensitivity = _mechanism(question)
    charged = PureDP(epsilon=question.epsilon)
    receipt = _replay(question, ledger, charged)
    if receipt is None:
        receipt = _spend(_request(question, mechanism, sensitivity, charged), ledger)
    try:
        stored = receipt.answer
        if stored is None:
            noisy = _draw(question, ledger, mechanism, charged)
            stored = ledger.commit_answer(receipt, noisy.to_bytes())
        return _answer(question, ledger, receipt, Noisy.from_bytes(stored))
    except (Refused, KeyboardInterrupt):
        raise _unanswered(question, suspended=False) from None


def _check_terms(question: Question, ledger: Ledger) -> None:
    """A card added before its population's terms changed would price for other neighbours than it is charged for."""
    if not ledger.terms(question.card.population).protects_as(question.card.terms()):
        raise PopulationConflict(
            f"The terms of population '{question.card.population}' have changed since '{question.card.dataset}' was "
            "added. The custodian adds it again, with a card that agrees and --replace.",
            population=question.card.population,
            dataset=question.card.dataset,
        )


def _spend(request: SpendRequest, ledger: Ledger) -> Receipt:
    try:
        return ledger.spend(request)
    except LedgerUnanchored:
        raise ChargedNotAnswered(dataset=request.dataset, request_id=request.request_id, suspended=False) from None
    except LedgerUnavailable as error:
        # A connection lost while committing may have charged: the id makes asking again safe either way.
        told = f"{error.message} The request id was {request.request_id}."
        raise LedgerUnavailable(told, **{**error.fields, "request_id": request.request_id}) from None


def _mechanism(question: Question) -> tuple[DiscreteLaplace | None, int]:
    sensitivity = count_sensitivity(question.plan, question.card).l1
    if sensitivity == 0:
        if not question.card.exact_public:
            raise QueryRefused(
                "this count is fixed by what is public, so noise would protect nobody and an exact answer is not "
                "given. If it may be published exactly, the card says `exact_public: true`."
            )
        return None, 0
    return DiscreteLaplace.calibrate(sensitivity=sensitivity, epsilon=question.epsilon), sensitivity


def _replay(question: Question, ledger: Ledger, charged: PureDP) -> Receipt | None:
    if question.fresh:
        return None
    found = ledger.find_answer(
        population=question.card.population,
        dataset=question.card.dataset,
        version=question.version,
        plan_hash=question.plan.hash,
        at_least=charged,
        analyst=question.analyst,
    )
    if found is None:
        return None
    return ledger.replay(found, analyst=question.analyst, request_id=question.request_id)


def _request(question: Question, mechanism: DiscreteLaplace | None, sensitivity: int, charged: PureDP) -> SpendRequest:
    used = {"name": "exact-public"} if mechanism is None else {"name": mechanism.name, **mechanism.parameters()}
    return SpendRequest(
        population=question.card.population,
        dataset=question.card.dataset,
        version=question.version,
        analyst=question.analyst,
        request_id=question.request_id,
        plan_hash=question.plan.hash,
        mechanisms=({**used, "sensitivity": str(sensitivity), "cells": str(question.plan.cell_count)},),
        guarantee=charged,
    )


def _draw(question: Question, ledger: Ledger, mechanism: DiscreteLaplace | None, charged: PureDP) -> Noisy:
    unproven = _unproven(question)
    try:
        if unproven is not None:
            _mark(question, ledger, unproven)
        exact_cells = count_cells(question.plan, question.data)
        values = mechanism.release(exact_cells) if mechanism is not None else exact_cells
    except Refused:
        raise
    except Exception:
        # The cause may follow from the rows, so neither it nor its traceback is shown or chained.
        ledger.suspend(
            question.card.dataset,
            population=question.card.population,
            reason="the engine or the mechanism failed after a charge",
            who="discreet",
        )
        raise _unanswered(question, suspended=True) from None
    return Noisy(tuple(values), mechanism, charged, unproven)


def _unproven(question: Question) -> str | None:
    """Keys, bounds or categories that were read from the rows make the release unproven."""
    read = sorted(question.plan.columns_used() & set(question.card.from_rows))
    if not read:
        return None
    return f"the categories or bounds of {', '.join(read)} were read from the rows (provenance: from_rows)"


def _mark(question: Question, ledger: Ledger, reason: str) -> None:
    ledger.mark(
        question.card.population,
        guarantee=Unproven(reason),
        analyst=question.analyst,
        plan_hash=question.plan.hash,
        dataset=question.card.dataset,
        version=question.version,
    )


def _unanswered(question: Question, *, suspended: bool) -> ChargedNotAnswered:
    return ChargedNotAnswered(dataset=question.card.dataset, request_id=question.request_id, suspended=suspended)


def _answer(question: Question, ledger: Ledger, receipt: Receipt, noisy: Noisy) -> Answer:
    return Answer(
        plan=question.plan,
        card=question.card,
        version=question.version,
        noisy=noisy,
        level=question.level,
        charge=_charge(receipt, question.epsilon),
        remaining=Remaining(population=receipt.population_after, analyst=receipt.analyst_after),
        replayed=receipt.replayed,
        request_id=question.request_id,
        warnings=ledger.state(question.card.population).warnings(),
    )


def _charge(receipt: Receipt, epsilon: Decimal) -> dict[str, str]:
    """What this answer cost the population, exactly: epsilon; under an (epsilon, delta) budget rho as well."""
    charge = {"epsilon": "0" if receipt.replayed else text(epsilon), "delta": "0"}
    before, after = receipt.population_before, receipt.population_after
    if before.rho_spent is None or after.rho_spent is None:
        return charge
    spent = Decimal(0) if receipt.replayed else after.rho_spent - before.rho_spent
    return {
        **charge,
        "rho": text(spent),
        "epsilon_before": text((after if receipt.replayed else before).epsilon_spent),
        "epsilon_after": text(after.epsilon_spent),
    }
