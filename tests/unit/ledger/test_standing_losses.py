"""Events of earlier ledgers, which know no losses, fold into the same standing as ever."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.guarantees.budget import Budget, PopulationTerms
from discreet.guarantees.types import ZCDP, CentralGuarantee, Neighbours, PureDP
from discreet.ledger.accounting import weigh
from discreet.ledger.events import GENESIS, Event, EventKind, encode_guarantee, encode_terms
from discreet.ledger.standing import Standing, encode_before, fold

TERMS = PopulationTerms("people", Budget(epsilon=3, delta="1e-6"), Neighbours.ADD_REMOVE, "id", "integer")


def event(kind: EventKind, payload: dict[str, Any]) -> Event:
    return Event(1, kind, "2026-01-01T00:00:00.000000+00:00", "ana", "people", payload, GENESIS)


def charge(standing: Standing, guarantee: CentralGuarantee, *, analyst: str = "ana", earlier: bool = False) -> Event:
    before: dict[str, Any] = encode_before(standing.populations["people"], analyst)
    if earlier:
        before = {holder: {k: v for k, v in one.items() if k != "losses"} for holder, one in before.items()}
    asked = {"analyst": analyst, "dataset": "visits", "mechanisms": [], "plan_hash": "a" * 64, "request_id": "one"}
    return event(EventKind.CHARGE, {**asked, "guarantee": encode_guarantee(guarantee), "before": before, "version": 1})


@pytest.fixture
def fresh() -> Standing:
    return fold(Standing(), event(EventKind.POPULATION, {"terms": encode_terms(TERMS)}))


def test_losses_are_summed_from_the_first_charge(fresh: Standing) -> None:
    after = fold(fresh, charge(fresh, PureDP(epsilon="0.6")))
    after = fold(after, charge(after, ZCDP(rho="0.02")))
    assert after.populations["people"].totals == weigh(PureDP(epsilon="0.6")) + weigh(ZCDP(rho="0.02"))
    assert Standing.from_text(after.text) == after
    fold(after, charge(after, PureDP(epsilon="1.4")))


def test_a_population_charged_by_an_earlier_release_keeps_its_rule(fresh: Standing) -> None:
    old = fold(fresh, charge(fresh, ZCDP(rho="0.175"), earlier=True))
    population = old.populations["people"]
    assert population.totals.losses is None
    assert "losses" not in old.text, "its standing is written as it was"
    assert Standing.from_text(old.text) == old
    with pytest.raises(ValueError, match="population's cap"):
        fold(old, charge(old, PureDP(epsilon="0.1")))
    small = fold(old, charge(old, ZCDP(rho="0.0007"), analyst="ben"))
    assert small.populations["people"].totals.losses is None
    assert small.populations["people"].analyst("ben") == weigh(ZCDP(rho="0.0007")), "ben's own cap begins anew"


def test_an_earlier_release_may_still_write_beside_this_one(fresh: Standing) -> None:
    after = fold(fresh, charge(fresh, PureDP(epsilon=1)))
    mixed = fold(after, charge(after, PureDP(epsilon=1), earlier=True))
    assert mixed.populations["people"].totals.losses is None
    fold(mixed, charge(mixed, PureDP(epsilon=1)))


def test_other_losses_than_those_before_are_found(fresh: Standing) -> None:
    after = fold(fresh, charge(fresh, PureDP(epsilon=1)))
    told = charge(after, PureDP(epsilon=1))
    told.payload["before"]["population"]["losses"]["24"] = "0"
    with pytest.raises(ValueError, match="other totals"):
        fold(after, told)
