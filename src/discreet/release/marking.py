"""What every release without differential privacy goes through: a nominal epsilon, and the marker that stays for good.

Nothing is charged for such a release, so the budget alone would stop neither an epsilon at which no noise is left nor a
reader who takes the ledger's figures for all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from discreet.data.card import Card
from discreet.engines.base import Engine, Prepared
from discreet.errors import DiscreetError, ParameterInvalid, Refused, RequestConflict
from discreet.guarantees.numbers import text
from discreet.ledger import Ledger
from discreet.plan.algebra import Plan
from discreet.release.answers import Remaining
from discreet.release.journal import Entry, Journal

__all__ = [
    "check_nominal_epsilon",
    "check_request_id",
    "make_ready",
    "remaining_for",
    "require_permission",
    "suspend",
]


def require_permission(card: Card, *, release: str, sort: str) -> None:
    """Refuse a dataset whose card does not permit releases of this sort."""
    if sort not in card.allow:
        raise Refused(
            f"'{card.dataset}' does not permit {release} releases, which are not differentially private. The custodian "
            f"permits them with `allow: [{sort}]` in the card and adds the dataset again with --replace. Nothing was "
            "released, charged or marked.",
            dataset=card.dataset,
        )


def check_nominal_epsilon(epsilon: Decimal, *, population: str, ledger: Ledger, release: str) -> None:
    """Refuse more than one analyst may spend on the population."""
    budget = ledger.terms(population).budget
    most = min(budget.epsilon, budget.per_analyst)
    if epsilon > most:
        rule = f"of {release} must be at most {text(most)}, what one analyst may spend on '{population}'"
        raise ParameterInvalid(parameter="epsilon", rule=rule, came=text(epsilon))


def check_request_id(
    journal: Journal[Entry], *, questions: Sequence[tuple[object, ...]], who: str, request_id: str, release: str
) -> None:
    """Refuse an id under which something else was released to the same analyst."""
    held = journal.find_request(who=who, request_id=request_id)
    if held is not None and held.question not in questions:
        raise RequestConflict(
            f"request id {request_id} was used for another {release}. Choose a new one; nothing was released.",
            request_id=request_id,
        )


def make_ready(engine: Engine, plan: Plan, *, dataset: str) -> None:
    """Open the engine before the marker; what fails here leaves nothing behind."""
    if not isinstance(engine, Prepared):
        return
    try:
        engine.prepare(plan)
    except DiscreetError:
        raise
    except Exception:
        raise Refused(
            f"the engine that holds the rows of '{dataset}' cannot be reached. Nothing was released or marked; ask "
            "again later, or ask the custodian.",
            dataset=dataset,
        ) from None


def suspend(ledger: Ledger, *, dataset: str, population: str, release: str, made: str) -> Refused:
    """Suspend a dataset whose release failed after the marker, and the fixed words that tell it.

    The cause may follow from the rows, so neither it nor its traceback is shown or chained.
    """
    ledger.suspend(
        dataset,
        population=population,
        reason=f"the engine or the mechanism failed during {release}",
        who="discreet",
    )
    return Refused(
        f"{made} could not be made, and '{dataset}' is suspended. Its marker stays; nothing was released or charged. "
        "Ask the custodian; nothing more can be said here.",
        dataset=dataset,
    )


def remaining_for(ledger: Ledger, *, population: str, analyst: str) -> Remaining:
    """What is left of the budget, which such a release does not touch."""
    standing = ledger.standing(population)
    return Remaining(population=standing.balance(), analyst=standing.analyst_balance(analyst))
