"""What a charge would leave: balances before and after it, worked out by the ledger's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from discreet.guarantees.numbers import text
from discreet.guarantees.types import ZCDP, CentralGuarantee, PureDP
from discreet.ledger.accounting import Balance, caps, cost_of, require_priceable, weigh
from discreet.ledger.standing import PopulationStanding

__all__ = ["Outlook", "foresee", "left"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """A charge and where it leads. `refusal` is what the ledger would say when it does not fit."""

    guarantee: CentralGuarantee
    population_name: str
    analyst_name: str
    population: Balance
    analyst: Balance
    population_after: Balance
    analyst_after: Balance
    refusal: str | None

    @property
    def epsilon_left(self) -> Decimal:
        """The largest pure charge that would still fit afterwards."""
        return min(self.population_after.epsilon_remaining, self.analyst_after.epsilon_remaining)

    def cost(self) -> dict[str, str]:
        """What is charged, exactly: epsilon and delta; under an (epsilon, delta) budget rho as well."""
        charged: dict[str, str] = {}
        if not isinstance(self.guarantee, ZCDP):
            charged["epsilon"] = text(self.guarantee.epsilon)
        charged["delta"] = "0" if isinstance(self.guarantee, PureDP) else text(self.guarantee.delta)
        if self.population.rho_remaining is not None:
            charged["rho"] = text(Decimal(f"{weigh(self.guarantee).rho}E-19"))
        return charged

    def to_dict(self) -> dict[str, object]:
        """Remaining budgets; `after` is null when the charge would be refused."""
        fits = self.refusal is None
        return {
            "remaining": {"population": left(self.population), "analyst": left(self.analyst)},
            "remaining_after": (
                {"population": left(self.population_after), "analyst": left(self.analyst_after)} if fits else None
            ),
        }

    def lines(self) -> list[str]:
        """The same for people."""
        cost = ", ".join(f"{name} {amount}" for name, amount in self.cost().items() if amount != "0")
        holders = (
            (f"analyst '{self.analyst_name}'", self.analyst, self.analyst_after),
            (f"population '{self.population_name}'", self.population, self.population_after),
        )
        lines = [f"cost {cost} ({self.guarantee})"]
        for holder, now, after in holders:
            then = f", epsilon {text(after.epsilon_remaining)} after it" if self.refusal is None else ""
            lines.append(f"for {holder} epsilon {text(now.epsilon_remaining)} remains{then}")
        return lines if self.refusal is None else [*lines, self.refusal]


def foresee(guarantee: CentralGuarantee, standing: PopulationStanding, analyst: str) -> Outlook:
    """Where a charge would lead. Refused only when no budget of this sort could ever pay for it."""
    name = standing.terms.population
    require_priceable(caps(standing.terms.budget)[0], guarantee, population=name)
    after = standing.debit(analyst, weigh(guarantee), population=True)
    limit = after.overspent(analyst, population=True)
    population, share = standing.balance(), standing.analyst_balance(analyst)
    refusal = None
    if limit is not None:
        holder, short = (name, population) if limit == "population" else (analyst, share)
        refusal = (
            f"This costs {cost_of(guarantee)}; {short.describe(cost=guarantee)} remains for {limit} '{holder}': "
            "asked now, it would be refused."
        )
    return Outlook(
        guarantee=guarantee,
        population_name=name,
        analyst_name=analyst,
        population=population,
        analyst=share,
        population_after=after.balance(),
        analyst_after=after.analyst_balance(analyst),
        refusal=refusal,
    )


def left(holder: Balance) -> dict[str, str]:
    """What one holder may still spend, as exact text."""
    shown = {"epsilon": text(holder.epsilon_remaining), "delta": text(holder.delta_remaining or Decimal(0))}
    return shown if holder.rho_remaining is None else {**shown, "rho": text(holder.rho_remaining)}
