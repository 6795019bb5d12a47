"""What a charge would leave: balances before and after it, worked out by the ledger's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from discreet.guarantees import ZCDP, CentralGuarantee, PureDP, text
from discreet.ledger import Balance, PopulationStanding, StoredAnswer, caps, cost_of, require_priceable, weigh
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
        holders = (
            (f"analyst '{self.analyst_name}'", self.analyst, self.analyst_after),
            (f"population '{self.population_name}'", self.population, self.population_after),
        )
        lines = [self._charged()]
        for holder, now, after in holders:
            then = f", epsilon {text(after.epsilon_remaining)} after it" if self.refusal is None else ""
            lines.append(f"for {holder} epsilon {text(now.epsilon_remaining)} remains{then}")
        if self.refusal is None:
            return [*lines, f"after it: {say_left(left_for(self.population_after, self.analyst_after, self.more))}"]
        return [*lines, self.refusal]

    @property
    def _rho(self) -> bool:
        return self.population.rho_remaining is not None

    def _charged(self) -> str:
        if not self.replayed:
            cost = ", ".join(f"{name} {amount}" for name, amount in self.cost().items() if amount != "0")
            return f"cost {cost} ({self.guarantee})"
        anew = f"--fresh draws anew for {cost_of(self.asked)}"
        if not self.debits_analyst:
            return f"cost nothing: {STORED}; {anew}"
        return (
            f"cost {cost_of(self.guarantee)} for analyst '{self.analyst_name}', nothing for the population: {STORED}, "
            f"which was drawn with that; {anew}"
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
        refusal = (
            f"This costs {cost_of(charged)}; {short.describe(cost=charged)} remains for {limit} '{holder}': "
            "asked now, it would be refused."
        )
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
