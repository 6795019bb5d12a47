"""What a charge would leave: balances before and after it, worked out by the ledger's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from discreet.catalogue import Numeral, say
from discreet.guarantees import ZCDP, CentralGuarantee, PureDP, text
from discreet.ledger import (
    Balance,
    PopulationStanding,
    StoredAnswer,
    caps,
    cost_of,
    promise_of,
    require_priceable,
    weigh,
)
from discreet.present import STORED, say_left
from discreet.results import Amount, Left

__all__ = ["Outlook", "amount_of", "foresee", "left_for"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """A charge and where it leads. `refusal` is what the ledger would say when it does not fit.

    A replay charges the population nothing, and debits an analyst who did not have the answer yet by its `guarantee`,
    which is what it was drawn with; `asked` is what a new draw would be charged. `more` are further charges like it.
    """

    guarantee: CentralGuarantee
    asked: CentralGuarantee
    population_name: str
    analyst_name: str
    population: Balance
    analyst: Balance
    population_after: Balance
    analyst_after: Balance
    more: int
    refusal: str | None
    debits_population: bool = True
    debits_analyst: bool = True

    @property
    def epsilon_left(self) -> Decimal:
        """The largest pure charge that would still fit afterwards."""
        return min(self.population_after.epsilon_remaining, self.analyst_after.epsilon_remaining)

    @property
    def replayed(self) -> bool:
        """Whether a stored answer would be given again."""
        return not self.debits_population

    def cost(self) -> dict[str, str]:
        """What the population is charged, exactly: epsilon and delta; under an (epsilon, delta) budget rho as well."""
        return amount_of(None if self.replayed else self.guarantee, rho=self._rho).to_dict()

    def to_dict(self) -> dict[str, object]:
        """Remaining budgets; `after` is null when the charge would be refused."""
        fits = self.refusal is None
        after = {
            "population": left(self.population_after).to_dict(),
            "analyst": left(self.analyst_after).to_dict(),
            "largest_question": {"epsilon": text(self.epsilon_left)},
            "more_like_this": self.more,
        }
        return {
            "replayed": self.replayed,
            "debited": {
                holder: amount_of(self.guarantee if paid else None, rho=self._rho).to_dict()
                for holder, paid in (("population", self.debits_population), ("analyst", self.debits_analyst))
            },
            "remaining": {"population": left(self.population).to_dict(), "analyst": left(self.analyst).to_dict()},
            "remaining_after": after if fits else None,
        }

    def lines(self) -> list[str]:
        """The same for people."""
        now = [
            ("analyst", self.analyst_name, self.analyst, self.analyst_after),
            ("population", self.population_name, self.population, self.population_after),
        ]
        if self.refusal is not None:
            return [self._charged(), *(_tell_remaining(*item[:3]) for item in now), self.refusal]
        left = say_left(left_for(self.population_after, self.analyst_after, self.more))
        return [self._charged(), *(_tell_remaining(*item) for item in now), say("after it: {left}", left=left)]

    @property
    def _rho(self) -> bool:
        return self.population.rho_remaining is not None

    def _charged(self) -> str:
        if not self.replayed:
            paid = [
                say("{name} {amount}", name=name, amount=Numeral(amount))
                for name, amount in self.cost().items()
                if amount != "0"
            ]
            return say("cost {cost} ({guarantee})", cost=", ".join(paid), guarantee=promise_of(self.guarantee))
        anew = cost_of(self.asked)
        if not self.debits_analyst:
            return say("cost nothing: {stored}; --fresh draws anew for {anew}", stored=STORED, anew=anew)
        return say(
            "cost {cost} for analyst '{analyst}', nothing for the population: {stored}, which was drawn with that; "
            "--fresh draws anew for {anew}",
            cost=cost_of(self.guarantee),
            analyst=self.analyst_name,
            stored=STORED,
            anew=anew,
        )


def _tell_remaining(limit: str, name: str, now: Balance, after: Balance | None = None) -> str:
    """What a holder has now, and after the charge where it would be made."""
    remaining = text(now.epsilon_remaining)
    if after is None:
        if limit == "analyst":
            return say("for analyst '{name}' epsilon {remaining} remains", name=name, remaining=remaining)
        return say("for population '{name}' epsilon {remaining} remains", name=name, remaining=remaining)
    then = text(after.epsilon_remaining)
    if limit == "analyst":
        return say(
            "for analyst '{name}' epsilon {remaining} remains, epsilon {then} after it",
            name=name,
            remaining=remaining,
            then=then,
        )
    return say(
        "for population '{name}' epsilon {remaining} remains, epsilon {then} after it",
        name=name,
        remaining=remaining,
        then=then,
    )


def foresee(
    guarantee: CentralGuarantee, standing: PopulationStanding, analyst: str, stored: StoredAnswer | None = None
) -> Outlook:
    """Where a charge would lead, or the replay of a stored answer in its place.

    Refused only when no budget of this sort could ever pay for it.
    """
    name = standing.terms.population
    require_priceable(caps(standing.terms.budget)[0], guarantee, population=name)
    charged = guarantee if stored is None else stored.charge
    debited = stored is None or not stored.free
    cost = weigh(charged)
    after = standing.debit(analyst, cost, population=stored is None) if debited else standing
    limit = after.overspent(analyst, population=stored is None) if debited else None
    population, share = standing.balance(), standing.analyst_balance(analyst)
    refusal = None
    if limit is not None:
        holder, short = (name, population) if limit == "population" else (analyst, share)
        refusal = _tell_refusal(limit, holder, cost=str(cost_of(charged)), remaining=str(short.describe(cost=charged)))
    return Outlook(
        guarantee=charged,
        asked=guarantee,
        population_name=name,
        analyst_name=analyst,
        population=population,
        analyst=share,
        population_after=after.balance(),
        analyst_after=after.analyst_balance(analyst),
        more=after.room(analyst, cost),
        refusal=refusal,
        debits_population=stored is None,
        debits_analyst=debited,
    )


def _tell_refusal(limit: str, holder: str, *, cost: str, remaining: str) -> str:
    if limit == "population":
        return say(
            "This costs {cost}; {remaining} remains for population '{holder}': asked now, it would be refused.",
            cost=cost,
            remaining=remaining,
            holder=holder,
        )
    return say(
        "This costs {cost}; {remaining} remains for analyst '{holder}': asked now, it would be refused.",
        cost=cost,
        remaining=remaining,
        holder=holder,
    )


def left(holder: Balance) -> Amount:
    """What one holder may still spend."""
    return Amount(holder.epsilon_remaining, holder.delta_remaining or Decimal(0), holder.rho_remaining)


def left_for(population: Balance, analyst: Balance, more: int | None = None) -> Left:
    """What remains for both; `largest` is the largest pure question that both would admit."""
    largest = min(population.epsilon_remaining, analyst.epsilon_remaining)
    return Left(left(population), left(analyst), largest, more)


def amount_of(guarantee: CentralGuarantee | None, *, rho: bool) -> Amount:
    """A charge in every currency of the budget, or nothing: Gaussian noise has no epsilon of its own, only rho."""
    if guarantee is None:
        return Amount(rho=Decimal(0) if rho else None)
    return Amount(
        epsilon=None if isinstance(guarantee, ZCDP) else guarantee.epsilon,
        delta=Decimal(0) if isinstance(guarantee, PureDP) else guarantee.delta,
        rho=Decimal(f"{weigh(guarantee).rho}E-19") if rho else None,
    )
