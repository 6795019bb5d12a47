"""What every release without differential privacy goes through: a nominal epsilon, and the marker that stays for good.

Nothing is charged for such a release, so the budget alone would stop neither an epsilon at which no noise is left nor a
reader who takes the ledger's figures for all there is.
"""

from __future__ import annotations

from decimal import Decimal

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused
from discreet.guarantees import text
from discreet.ledger import Ledger
from discreet.release.forecast.outlook import left_for
from discreet.results import Left

__all__ = ["check_nominal_epsilon", "left_for_analyst", "require_permission"]


def require_permission(card: Card, *, release: str, sort: str) -> None:
    """Refuse a dataset whose card does not permit releases of this sort."""
    if sort not in card.allow:
        raise Refused(
            say(
                "'{dataset}' does not permit {release} releases, which are not differentially private. The "
                "custodian permits them with `allow: [{sort}]` in the card and adds the dataset again with "
                "--replace. Nothing was released, charged or marked.",
                dataset=card.dataset,
                release=release,
                sort=sort,
            ),
            dataset=card.dataset,
        )


def check_nominal_epsilon(epsilon: Decimal, *, population: str, ledger: Ledger, release: str) -> None:
    """Refuse more than one analyst may spend on the population."""
    budget = ledger.terms(population).budget
    most = min(budget.epsilon, budget.per_analyst)
    if epsilon > most:
        rule = say(
            "of {release} must be at most {most}, what one analyst may spend on '{population}'",
            release=release,
            most=text(most),
            population=population,
        )
        raise ParameterInvalid(parameter="epsilon", rule=rule, given=text(epsilon))


def left_for_analyst(ledger: Ledger, *, population: str, analyst: str) -> Left:
    """What is left of the budget, which such a release does not touch."""
    standing = ledger.standing(population)
    return left_for(standing.balance(), standing.analyst_balance(analyst))
