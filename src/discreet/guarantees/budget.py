"""The allowance of a population, and the terms its first card fixes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees.numbers import ExactLike, exact, text
from discreet.guarantees.types import Neighbours

__all__ = ["Budget", "PopulationTerms"]


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
