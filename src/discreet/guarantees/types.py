"""What a release may claim, as frozen types.

A release cannot be built without one of these. `PureDP`, `ZCDP` and `ApproxDP` are what the ledger of a
population adds up; `LocalDP` and `ShuffleDP` hold for reports that left the respondent protected;
`BootstrapDP` and `Unproven` are not differentially private and never pass the ledger as if they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from discreet.guarantees.numbers import ExactLike, exact, text

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BootstrapDP",
    "CentralGuarantee",
    "Guarantee",
    "LocalDP",
    "Neighbours",
    "PureDP",
    "ShuffleDP",
    "Unit",
    "Unproven",
]


class Neighbours(StrEnum):
    """Which two data sets an observer must not be able to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True, slots=True)
class Unit:
    """Whom the guarantee protects: all rows that carry one id, of which at most `rows` count."""

    column: str
    rows: int

    def __post_init__(self) -> None:
        if not self.column:
            raise ValueError("a unit names its column")
        if not _whole(self.rows) or not 1 <= self.rows <= 10**6:
            raise ValueError("rows per unit lie between 1 and 1,000,000")

    def __str__(self) -> str:
        return f"{self.column} (at most {self.rows} row{'s' if self.rows > 1 else ''} each)"


@dataclass(frozen=True, slots=True)
class PureDP:
    """ε-differential privacy: no output is more than e^ε times likelier under one neighbour than another."""

    epsilon: Decimal
    differentially_private: ClassVar[bool] = True

    def __init__(self, *, epsilon: ExactLike) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))

    def __str__(self) -> str:
        return f"pure DP, epsilon = {text(self.epsilon)}"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """δ-approximate ρ-zero-concentrated differential privacy; δ = 0 is plain ρ-zCDP."""

    rho: Decimal
    delta: Decimal = field(default=Decimal(0))
    differentially_private: ClassVar[bool] = True

    def __init__(self, *, rho: ExactLike, delta: ExactLike = 0) -> None:
        object.__setattr__(self, "rho", exact(rho, parameter="rho"))
        object.__setattr__(self, "delta", exact(delta, parameter="delta", zero=True, below=1))

    def __str__(self) -> str:
        approximate = f", delta = {text(self.delta)}" if self.delta else ""
        return f"zCDP, rho = {text(self.rho)}{approximate}"


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(ε, δ)-differential privacy."""

    epsilon: Decimal
    delta: Decimal
    differentially_private: ClassVar[bool] = True

    def __init__(self, *, epsilon: ExactLike, delta: ExactLike) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))
        object.__setattr__(self, "delta", exact(delta, parameter="delta", zero=True, below=1))

    def __str__(self) -> str:
        return f"approximate DP, epsilon = {text(self.epsilon)}, delta = {text(self.delta)}"


@dataclass(frozen=True, slots=True)
class LocalDP:
    """ε-local DP: the respondent's own report hides the answer; no receiver needs to be trusted."""

    epsilon: Decimal
    differentially_private: ClassVar[bool] = True

    def __init__(self, *, epsilon: ExactLike) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))

    def __str__(self) -> str:
        return f"local DP, epsilon = {text(self.epsilon)} per respondent"


@dataclass(frozen=True, slots=True)
class ShuffleDP:
    """(ε, δ)-DP of the shuffled reports of `anonymity` people; each report is ε0-local DP by itself.

    A `local_epsilon` of None says that a report by itself promises nothing: all rests on the shuffler.
    """

    epsilon: Decimal
    delta: Decimal
    local_epsilon: Decimal | None
    anonymity: int
    differentially_private: ClassVar[bool] = True

    def __init__(
        self, *, epsilon: ExactLike, delta: ExactLike, local_epsilon: ExactLike | None, anonymity: int
    ) -> None:
        if not _whole(anonymity) or anonymity < 1:
            raise ValueError("the anonymity set holds at least one person")
        local = None if local_epsilon is None else exact(local_epsilon, parameter="local epsilon")
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))
        object.__setattr__(self, "delta", exact(delta, parameter="delta", zero=True, below=1))
        object.__setattr__(self, "local_epsilon", local)
        object.__setattr__(self, "anonymity", anonymity)

    def __str__(self) -> str:
        alone = "nothing" if self.local_epsilon is None else f"local epsilon = {text(self.local_epsilon)}"
        return (
            f"shuffle DP, epsilon = {text(self.epsilon)}, delta = {text(self.delta)} "
            f"among {self.anonymity} people; {alone} if the shuffler is not honest"
        )


@dataclass(frozen=True, slots=True)
class BootstrapDP:
    """ε over neighbours drawn from the observed data only. Not differentially private."""

    epsilon: Decimal
    differentially_private: ClassVar[bool] = False

    def __init__(self, *, epsilon: ExactLike) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))

    def __str__(self) -> str:
        return f"not differentially private: bootstrap DP, nominal epsilon = {text(self.epsilon)}"


@dataclass(frozen=True, slots=True)
class Unproven:
    """Noise without a proof. Not differentially private; says why."""

    reason: str
    differentially_private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("an unproven release says why")

    def __str__(self) -> str:
        return f"not differentially private: {self.reason}"


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


CentralGuarantee = PureDP | ZCDP | ApproxDP
Guarantee = PureDP | ZCDP | ApproxDP | LocalDP | ShuffleDP | BootstrapDP | Unproven
