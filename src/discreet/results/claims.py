"""What is promised of a release, what it cost, and where it comes from: facts as types, without a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from discreet.guarantees import Guarantee, Neighbours, Unit, ceil_to_grid, text

__all__ = ["Accounted", "Amount", "Charged", "Claim", "Collected", "Left", "Marked", "Settlement", "Source"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised, of whom, against which neighbours, within which population.

    The unit of a collection or of a linked count has no column: `each` says who it is. `neighbours_from` names the rows
    from which a bootstrap draws its neighbours; for `in_clear` respondents nothing is promised.
    """

    guarantee: Guarantee
    population: str
    unit: Unit | None = None
    neighbours: Neighbours | None = None
    neighbours_from: str | None = None
    in_clear: int = 0
    each: Literal["respondent", "person", "household"] = "respondent"


@dataclass(frozen=True, slots=True)
class Amount:
    """A charge or a balance in every currency of its budget. Gaussian noise has no epsilon of its own, only rho."""

    epsilon: Decimal | None = Decimal(0)
    delta: Decimal = Decimal(0)
    rho: Decimal | None = None

    def to_dict(self) -> dict[str, str]:
        """Exact decimal text; what there is none of is left out."""
        shown = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {name: text(amount) for name, amount in shown.items() if amount is not None}


@dataclass(frozen=True, slots=True)
class Left:
    """What remains, exactly: for the population and for the analyst.

    `largest` is the largest single pure question that both would admit; `more` is how many further charges like this
    one fit, None where nothing was charged, or a part only.
    """

    population: Amount
    analyst: Amount
    largest: Decimal
    more: int | None = None

    def to_dict(self) -> dict[str, object]:
        """The least of the two first: what this analyst can still spend; then each."""
        least = min(self.population, self.analyst, key=lambda amount: amount.epsilon or Decimal(0))
        return {
            **least.to_dict(),
            "population": self.population.to_dict(),
            "analyst": self.analyst.to_dict(),
            "largest_question": {"epsilon": text(self.largest)},
            **({} if self.more is None else {"more_like_this": self.more}),
        }


@dataclass(frozen=True, slots=True)
class Charged:
    """Paid from the budget: what the population was charged by this answer, and what was charged when it was drawn.

    A part of a workload knows its own charge alone. Under an (epsilon, delta) budget `before` and `after` are the
    population's epsilon.
    """

    charge: Amount
    left: Left
    replayed: bool
    cost: Amount | None = None
    population: Amount | None = None
    analyst: Amount | None = None
    before: Decimal | None = None
    after: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """Not differentially private: nothing was charged, and the ledger's event of this number says so for good."""

    marker: int
    left: Left
    replayed: bool
    nominal_epsilon: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Collected:
    """Paid by each respondent's own noise: reports accepted, refused by reason, and answers given in clear."""

    accepted: int
    refused: Mapping[str, int] = field(default_factory=dict)
    in_clear: int = 0


@dataclass(frozen=True, slots=True)
class Accounted:
    """Paid from the account of every unit that was counted: `charge` for each of its members, of `cap` that it holds.

    All are parts of epsilon, `parts` of which are one. A unit has at most so many `members`.
    """

    charge: int
    parts: int
    cap: int
    members: int = 1

    @property
    def epsilon(self) -> Decimal:
        """What one member paid."""
        return ceil_to_grid(Fraction(self.charge, self.parts))


Settlement = Charged | Marked | Collected | Accounted


@dataclass(frozen=True, slots=True)
class Source:
    """Where a release comes from. In place of a plan, a collection has a manifest and a linked count an agreement.

    A study of linked counts is its dataset, and has no version.
    """

    dataset: str
    version: int
    datasets: Mapping[str, int] = field(default_factory=dict)
    plan_hash: str = ""
    request_id: str = ""
    created: str = ""
    manifest: str = ""
    agreement: str = ""
