"""The allowance of a population, what its holders have left of it, and the terms its first card fixes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.guarantees.types import ApproxDP, CentralGuarantee, Neighbours, PureDP

__all__ = ["Balance", "Budget", "PopulationTerms"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on a population over its whole life, and by each analyst.

    `delta` is 0 for a pure budget. `per_analyst` rations; it never enlarges the population's budget. Analyst
    caps have a delta of their own, which is the population's unless the card says otherwise.
    """

    epsilon: Decimal
    delta: Decimal
    per_analyst: Decimal
    per_analyst_delta: Decimal

    def __init__(
        self,
        *,
        epsilon: ExactLike,
        delta: ExactLike = 0,
        per_analyst: ExactLike | None = None,
        per_analyst_delta: ExactLike | None = None,
    ) -> None:
        exact_delta = exact(delta, parameter="budget delta", zero=True, below=1)
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="budget epsilon"))
        object.__setattr__(self, "delta", exact_delta)
        share = self.epsilon if per_analyst is None else exact(per_analyst, parameter="per_analyst")
        object.__setattr__(self, "per_analyst", share)
        own = exact_delta if per_analyst_delta is None else per_analyst_delta
        object.__setattr__(self, "per_analyst_delta", exact(own, parameter="per_analyst_delta", zero=True, below=1))
        if bool(self.delta) != bool(self.per_analyst_delta):
            raise ParameterInvalid(
                parameter="per_analyst_delta",
                rule=say("must be positive when the population has a delta, and 0 when it has none"),
                given=text(self.per_analyst_delta),
            )

    @property
    def pure(self) -> bool:
        return self.delta == 0

    def tell(self) -> str:
        """The same as text in the reader's language."""
        epsilon, share = text(self.epsilon), text(self.per_analyst)
        if not self.delta:
            return say("epsilon {epsilon}; per analyst epsilon {share}", epsilon=epsilon, share=share)
        return say(
            "epsilon {epsilon}, delta {delta}; per analyst epsilon {share}",
            epsilon=epsilon,
            delta=text(self.delta),
            share=share,
        )

    def __str__(self) -> str:
        # Written down beside the key of a workspace: the same in every language.
        delta = f", delta {text(self.delta)}" if self.delta else ""
        return f"epsilon {text(self.epsilon)}{delta}; per analyst epsilon {text(self.per_analyst)}"


@dataclass(frozen=True, slots=True)
class Balance:
    """What one holder may spend, has spent, and could still spend, as exact decimals.

    `epsilon_spent` is the sum for a pure cap, otherwise the least epsilon that bounds everything so far by one of
    the ways to admit, rounded up. `epsilon_remaining` is the largest single pure charge that would still be admitted,
    and `rho_remaining` the largest single zCDP charge, rounded down. `rho_spent` and `rho_cap` are those of the zCDP
    filter. The rho and delta figures are None for a pure cap. `questions_left` is how many pure questions of one size
    would be admitted one after the other, for a few sizes.
    """

    charges: int
    epsilon_cap: Decimal
    delta_cap: Decimal
    epsilon_spent: Decimal
    epsilon_remaining: Decimal
    rho_cap: Decimal | None
    rho_spent: Decimal | None
    rho_remaining: Decimal | None
    delta_spent: Decimal | None
    delta_remaining: Decimal | None
    questions_left: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain values with exact decimal text."""
        names = ("epsilon_cap", "delta_cap", "epsilon_spent", "epsilon_remaining")
        filtered = ("rho_cap", "rho_spent", "rho_remaining", "delta_spent", "delta_remaining")
        shown: dict[str, object] = {"charges": self.charges, "questions_left": dict(self.questions_left)}
        for name in (*names, *filtered):
            value: Decimal | None = getattr(self, name)
            shown[name] = None if value is None else text(value)
        return shown

    def describe(self, *, cost: CentralGuarantee) -> Phrase:
        """What remains, in the currency of `cost`."""
        if isinstance(cost, PureDP) or self.rho_remaining is None or self.delta_remaining is None:
            return Phrase("epsilon {epsilon}", epsilon=text(self.epsilon_remaining))
        delta = text(self.delta_remaining)
        if isinstance(cost, ApproxDP):
            return Phrase("epsilon {epsilon} and delta {delta}", epsilon=text(self.epsilon_remaining), delta=delta)
        return Phrase("rho {rho} and delta {delta}", rho=text(self.rho_remaining), delta=delta)


@dataclass(frozen=True, slots=True)
class PopulationTerms:
    """What the first card of a population fixes and later cards must repeat."""

    population: str
    budget: Budget
    neighbours: Neighbours
    unit_column: str
    unit_type: str

    def __post_init__(self) -> None:
        if not self.population or not self.unit_column:
            raise ValueError("a population and its unit column have names")
        if self.unit_type not in ("integer", "text", "row"):
            raise ValueError("a unit's id is an integer or text, or the unit is the row")

    def protects_as(self, other: PopulationTerms) -> bool:
        """Whether both promise the same to the same people: equal neighbours and unit, whatever the budget."""
        return (self.neighbours, self.unit_column, self.unit_type) == (
            other.neighbours,
            other.unit_column,
            other.unit_type,
        )
