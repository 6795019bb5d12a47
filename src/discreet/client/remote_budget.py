"""Where a population stands, as a server tells it: with the names that a budget of a workspace has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from discreet.client.told_values import number_of, take, take_texts
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    Balance,
    Budget,
    CentralGuarantee,
    Neighbours,
    PopulationTerms,
    PureDP,
)
from discreet.present import ListedBudget

__all__ = ["RemoteBudget", "RemoteHold", "RemoteMarker"]


@dataclass(frozen=True, slots=True)
class RemoteMarker:
    """A release that was not differentially private. Whose it was is told to nobody else: `analyst` is then empty."""

    sequence: int
    when: str
    analyst: str
    dataset: str
    version: int
    plan_hash: str
    guarantee: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RemoteHold:
    """What is set aside for a request of one's own."""

    sequence: int
    analyst: str
    dataset: str
    version: int
    request_id: str
    plan_hash: str
    guarantee: CentralGuarantee
    expires: str | None


@dataclass(frozen=True, slots=True, repr=False)
class RemoteBudget(ListedBudget):
    """What was spent on a population and what remains; of the shares of analysts, one's own."""

    terms: PopulationTerms
    population: Balance
    analysts: Mapping[str, Balance]
    markers: tuple[RemoteMarker, ...]
    holds: tuple[RemoteHold, ...]
    bounds_everything: bool
    told: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The budget that these facts are. ValueError and the like where they are none."""
        return cls(
            terms=_terms(take(told, "terms", dict)),
            population=_balance(take(told, "population", dict)),
            analysts={name: _balance(share) for name, share in take(told, "analysts", dict).items()},
            markers=tuple(map(_marker, take(told, "markers", list))),
            holds=tuple(map(_hold, take(told, "holds", list))),
            bounds_everything=take(told, "bounds_everything", bool),
            told={**told, "warnings": list(take_texts(told, "warnings"))},
        )

    def warnings(self) -> tuple[str, ...]:
        """What every view of the budget must say."""
        return tuple(self.told["warnings"])

    def to_dict(self) -> dict[str, object]:
        """Plain values with exact decimal text."""
        return dict(self.told)


def _terms(told: Mapping[str, Any]) -> PopulationTerms:
    return PopulationTerms(
        population=take(told, "population", str),
        budget=Budget(
            epsilon=_amount(told, "epsilon"),
            delta=_amount(told, "delta"),
            per_analyst=_amount(told, "per_analyst"),
            per_analyst_delta=_amount(told, "per_analyst_delta"),
        ),
        neighbours=Neighbours(take(told, "neighbours", str)),
        unit_column=take(told, "unit_column", str),
        unit_type=take(told, "unit_type", str),
    )


def _balance(told: Mapping[str, Any]) -> Balance:
    left = take(told, "questions_left", dict)
    return Balance(
        charges=take(told, "charges", int),
        epsilon_cap=_amount(told, "epsilon_cap"),
        delta_cap=_amount(told, "delta_cap"),
        epsilon_spent=_amount(told, "epsilon_spent"),
        epsilon_remaining=_amount(told, "epsilon_remaining"),
        rho_cap=number_of(told, "rho_cap"),
        rho_spent=number_of(told, "rho_spent"),
        rho_remaining=number_of(told, "rho_remaining"),
        delta_spent=number_of(told, "delta_spent"),
        delta_remaining=number_of(told, "delta_remaining"),
        questions_left=tuple((size, take(left, size, int)) for size in left),
    )


def _amount(told: Mapping[str, Any], name: str) -> Decimal:
    found = number_of(told, name)
    if found is None:
        raise ValueError(f"{name} is missing")
    return found


def _marker(told: Mapping[str, Any]) -> RemoteMarker:
    guarantee = take(told, "guarantee", dict)
    return RemoteMarker(
        sequence=take(told, "sequence", int),
        when=take(told, "when", str),
        analyst=take(told, "analyst", str),
        dataset=take(told, "dataset", str),
        version=take(told, "version", int),
        plan_hash=take(told, "plan_hash", str),
        guarantee={name: take(guarantee, name, str) for name in guarantee},
    )


def _hold(told: Mapping[str, Any]) -> RemoteHold:
    expires = told["expires"]
    return RemoteHold(
        sequence=take(told, "hold", int),
        analyst=take(told, "analyst", str),
        dataset=take(told, "dataset", str),
        version=take(told, "version", int),
        request_id=take(told, "request_id", str),
        plan_hash=take(told, "plan_hash", str),
        guarantee=_guarantee(take(told, "guarantee", dict)),
        expires=None if expires is None else take(told, "expires", str),
    )


def _guarantee(told: Mapping[str, Any]) -> CentralGuarantee:
    match take(told, "type", str):
        case "PureDP":
            return PureDP(epsilon=_amount(told, "epsilon"))
        case "ZCDP":
            return ZCDP(rho=_amount(told, "rho"), delta=_amount(told, "delta"))
        case "ApproxDP":
            return ApproxDP(epsilon=_amount(told, "epsilon"), delta=_amount(told, "delta"))
    raise ValueError("what is held is PureDP, ZCDP or ApproxDP")
