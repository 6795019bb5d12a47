"""Whatever is held, released and charged in whatever order: caps hold for all of it, and a hold can always be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantees.budget import Budget, PopulationTerms
from discreet.guarantees.types import ZCDP, ApproxDP, CentralGuarantee, Neighbours, PureDP
from discreet.ledger.accounting import ChargeTotals, admits, caps, weigh
from discreet.ledger.events import GENESIS, Event, EventKind, encode_guarantee, encode_terms
from discreet.ledger.standing import PopulationStanding, Standing, encode_before, fold

BUDGETS = (
    Budget(epsilon="1", per_analyst="0.7"),
    Budget(epsilon="3", delta="1e-6", per_analyst="2", per_analyst_delta="1e-6"),
)
COSTS: tuple[CentralGuarantee, ...] = (
    PureDP(epsilon="0.1"),
    PureDP(epsilon="0.35"),
    PureDP(epsilon="0.9"),
    ZCDP(rho="0.01"),
    ZCDP(rho="0.05", delta="1e-7"),
    ApproxDP(epsilon="0.2", delta="2e-7"),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["hold", "charge", "use", "release"]),
        st.sampled_from(["ada", "ben"]),
        st.sampled_from(COSTS),
        st.integers(0, 9),
    ),
    max_size=25,
)


@dataclass
class Office:
    """A fold, and beside it the plain lists of what was charged and is held."""

    budget: Budget
    standing: Standing = field(default_factory=Standing)
    charged: list[tuple[str, CentralGuarantee]] = field(default_factory=list)
    held: dict[int, tuple[str, CentralGuarantee]] = field(default_factory=dict)
    events: int = 0

    def __post_init__(self) -> None:
        terms = PopulationTerms(
            population="cchs",
            budget=self.budget,
            neighbours=Neighbours.ADD_REMOVE,
            unit_column="person_id",
            unit_type="integer",
        )
        assert self.write(EventKind.POPULATION, {"terms": encode_terms(terms)})

    @property
    def population(self) -> PopulationStanding:
        return self.standing.populations["cchs"]

    def write(self, kind: EventKind, payload: dict[str, Any]) -> int | None:
        """Its sequence number, or None where the fold does not admit it."""
        event = Event(
            sequence=self.events + 1,
            kind=kind,
            when="2026-11-17T09:00:00.000000+00:00",
            who="rita",
            population="cchs",
            payload=payload,
            previous=GENESIS,
        )
        try:
            self.standing = fold(self.standing, event)
        except ValueError:
            return None
        self.events += 1
        return event.sequence

    def charge(self, analyst: str, cost: CentralGuarantee, *, hold: int | None = None) -> int | None:
        used = None if hold is None else self.population.holds[hold]
        name = f"r{self.events}" if used is None else used.request_id
        before = encode_before(self.population.without(used), analyst)
        payload = asked(analyst, cost, name) | {"mechanisms": [], "before": before}
        return self.write(EventKind.CHARGE, payload if hold is None else payload | {"hold": hold})

    def fits(self, analyst: str, cost: CentralGuarantee) -> bool:
        """By the lists alone."""
        everything = [*self.charged, *self.held.values(), (analyst, cost)]
        whole, share = caps(self.budget)
        return admits(whole, add(everything)) and admits(share, add(one for one in everything if one[0] == analyst))


def asked(analyst: str, cost: CentralGuarantee, name: str) -> dict[str, Any]:
    guarantee = encode_guarantee(cost)
    where = {"analyst": analyst, "dataset": "survey", "version": 1, "plan_hash": "a" * 64}
    return {**where, "request_id": name, "guarantee": guarantee}


def add(charges: Any) -> ChargeTotals:
    return sum((weigh(cost) for _, cost in charges), ChargeTotals())


@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "approximate"])
@given(steps=STEPS)
def test_caps_hold_for_all_that_is_charged_and_held(budget: Budget, steps: list[tuple[str, str, Any, int]]) -> None:
    office = Office(budget)
    for act, analyst, cost, choice in steps:
        if act in {"hold", "charge"}:
            fits = office.fits(analyst, cost)
            if act == "hold":
                made = office.write(EventKind.HOLD, asked(analyst, cost, f"r{office.events}"))
                office.held |= {} if made is None else {made: (analyst, cost)}
            else:
                made = office.charge(analyst, cost)
                office.charged += [] if made is None else [(analyst, cost)]
            assert (made is not None) is fits
        elif office.held:
            chosen = sorted(office.held)[choice % len(office.held)]
            if act == "use":
                assert office.charge(*office.held[chosen], hold=chosen) is not None, "what is held can be used"
                office.charged.append(office.held[chosen])
            else:
                assert office.write(EventKind.HOLD_RELEASED, {"hold": chosen}) is not None
            del office.held[chosen]
            assert office.write(EventKind.HOLD_RELEASED, {"hold": chosen}) is None
        standing = office.population
        assert (standing.totals, standing.held()) == (add(office.charged), add(office.held.values()))
        assert admits(caps(budget)[0], standing.totals)
        assert Standing.from_text(office.standing.text) == office.standing
