"""A table asked for: the same ledger, release and replay as any question; what is refused leaves no trace."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.engines.cell_order import take_margin
from discreet.engines.engine import Measured
from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    DiscreetError,
    ParameterInvalid,
    QueryRefused,
    Refused,
    RequestConflict,
    UnknownName,
    UsageError,
)
from discreet.guarantees.types import PureDP
from discreet.results import Release
from discreet.session import Session
from discreet.sql.algebra import Marginal, Plan, Residual, Rows
from discreet.tables.asked_table import ask_table
from discreet.tables.linear.layout import Margin, every_margin
from tests.unit.tables.office import CARD, PEOPLE, POPULATION, SPARING, WITH_DELTA, Office, open_office

pytestmark = pytest.mark.slow

SQL = "SELECT region, smokes, COUNT(*) AS n FROM people GROUP BY region, smokes"


def figures(table: Release) -> list[Any]:
    return [(entry.codes, entry.value, entry.raw, entry.low, entry.high) for entry in table.entries()]


# --- refused before anything is charged -------------------------------------------------------------------------------

REFUSED: dict[str, tuple[type[DiscreetError], dict[str, Any]]] = {
    "unknown dataset": (UnknownName, {"dataset": "poeple"}),
    "unknown key": (UnknownName, {"by": "regoin"}),
    "unknown value": (UnknownName, {"value": "hieght"}),
    "unknown margin": (UnknownName, {"margins": ["smokes"]}),
    "unknown edges": (ParameterInvalid, {"edges": {"aeg": [0, 99]}}),
    "edges that miss the bounds": (ParameterInvalid, {"by": "age", "edges": {"age": [0, 50]}}),
    "edges off the grid": (ParameterInvalid, {"by": "height", "edges": {"height": ["1", "1.001", "2.5"]}}),
    "edges that are no numbers": (ParameterInvalid, {"by": "age", "edges": {"age": ["low", "high"]}}),
    "a value without bounds": (QueryRefused, {"value": "wide"}),
    "the mean of a value without bounds": (QueryRefused, {"value": "wide", "mean": True}),
    "a category added up": (QueryRefused, {"value": "smokes"}),
    "a mean of nothing": (ParameterInvalid, {"mean": True}),
    "too many cells": (QueryRefused, {"by": "serial,smokes"}),
    "too many keys": (ParameterInvalid, {"by": "a,b,c,d,e,f,g"}),
    "open text": (QueryRefused, {"by": "town"}),
    "a condition that closes its bracket": (QueryRefused, {"where": "age > 3) OR (age < 2"}),
    "epsilon 0": (ParameterInvalid, {"epsilon": 0}),
    "a negative epsilon": (ParameterInvalid, {"epsilon": "-1"}),
    "an enormous epsilon": (ParameterInvalid, {"epsilon": "1e30"}),
    "an epsilon that is no number": (ParameterInvalid, {"epsilon": float("nan")}),
    "an epsilon beyond the budget": (BudgetExceeded, {"epsilon": "999999"}),
    "a level of 1": (ParameterInvalid, {"level": 1}),
    "an unknown analyst": (UnknownName, {"analyst": "nobody"}),
}


@pytest.fixture(scope="module")
def untouched(reading_room: Office) -> Office:
    return reading_room


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_costs_nothing_and_leaves_no_event(untouched: Office, case: str) -> None:
    error, options = REFUSED[case]
    asked: dict[str, Any] = {"dataset": "people", "by": "region", "epsilon": 1, **options}
    before = untouched.head
    with pytest.raises(error) as refused:
        untouched.session.table(asked.pop("dataset"), **asked)
    assert untouched.head == before
    assert untouched.spent == 0
    assert refused.value.exit_code == (2 if issubclass(error, UsageError) else 1)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ParameterInvalid, "regions"),
        (ParameterInvalid, ".people"),
        (UnknownName, "provinces.people"),
        (DiscreetError, "regions.poeple"),
        (ParameterInvalid, "regions.name"),
        (ParameterInvalid, "towns.people"),
    ],
)
def test_public_totals_that_do_not_fit_are_refused(untouched: Office, error: type[DiscreetError], name: str) -> None:
    before = untouched.head
    with pytest.raises(error):
        untouched.session.tables.read(untouched.request("region,smokes"), epsilon=1, calibrate=[name])
    assert untouched.head == before


def test_public_totals_that_contradict_each_other_are_refused_before_the_charge(untouched: Office) -> None:
    totals = ["regions.people", "regions.homes"]
    with pytest.raises(ParameterInvalid, match="same totals"):
        untouched.session.tables.read(untouched.request("region,smokes"), epsilon=1, calibrate=totals)


@pytest.mark.parametrize("options", [{"value": "height", "mean": True}, {"value": "change"}])
def test_what_cannot_be_raked_is_not_calibrated(untouched: Office, options: dict[str, Any]) -> None:
    with pytest.raises(QueryRefused, match="calibrated"):
        untouched.session.tables.read(untouched.request("region", **options), epsilon=1, calibrate=["regions.people"])


def test_weights_need_a_weight_in_the_card(tmp_path: Path) -> None:
    bare = "\n".join(line for line in CARD.splitlines() if not line.startswith("weight:"))
    with open_office(tmp_path, bare) as office:
        before = office.head
        with pytest.raises(QueryRefused, match="no weight"):
            office.table("region", weighted=True)
        assert office.head == before


def test_a_no_costs_nothing(office: Office) -> None:
    before = office.head
    with pytest.raises(Refused, match="Not asked"):
        office.session.tables.release(office.read("region"), confirm=lambda told: told.design.rho is not None)
    assert office.head == before


# --- one plan, one ledger ---------------------------------------------------------------------------------------------


def test_the_same_table_again_is_free_and_the_same(office: Office) -> None:
    first = office.table("region,smokes,age", weighted=True, epsilon="0.5")
    head = office.head
    second = office.table("region,smokes,age", weighted=True, epsilon="0.5")
    assert figures(first) == figures(second)
    assert (first.replayed, second.replayed) == (False, True)
    assert second.charge == {"epsilon": "0", "delta": "0"}
    assert str(office.spent) == "0.5"
    assert office.head[0] == head[0] + 1  # the replay
    assert figures(office.table("region,smokes,age", weighted=True, epsilon="0.4")) == figures(first)
    anew = office.table("region,smokes,age", weighted=True, epsilon="0.5", fresh=True)
    assert not anew.replayed
    assert str(office.spent) == "1"


def test_cells_and_the_question_in_sql_replay_each_other(office: Office) -> None:
    answer = office.session.query(SQL, epsilon=1)
    table = office.table("region,smokes", margins=False, epsilon=1)
    assert table.replayed
    assert table.source.plan_hash == answer.source.plan_hash
    assert [entry.raw for entry in table.cells] == [row["n"] for row in answer.rows]
    other = office.table("smokes", margins=False, epsilon=1)
    again = office.session.query("SELECT smokes, COUNT(*) AS n FROM people GROUP BY smokes", epsilon=1)
    assert again.replayed
    assert [row["n"] for row in again.rows] == [entry.raw for entry in other.cells]
    assert str(office.spent) == "2"


def test_intervals_of_cells_are_those_of_the_question_in_sql(office: Office) -> None:
    answer = office.session.query(SQL, epsilon="0.1")
    table = office.table("region,smokes", margins=False, epsilon="0.1")
    for entry, row in zip(table.cells, answer.intervals, strict=True):
        low, high = row["n"]
        assert low is not None
        assert high is not None
        half = (high - low) / 2
        assert (entry.low, entry.high) == (max(low, 0), max(low + half, 0) + half)


def test_one_request_id_is_one_charge(office: Office) -> None:
    first = office.table("region", request_id="mine", fresh=True)
    second = office.table("region", request_id="mine", fresh=True)
    assert figures(first) == figures(second)
    assert str(office.spent) == "1"
    head = office.head
    with pytest.raises(RequestConflict):
        office.table("smokes", request_id="mine")
    assert office.head == head


def test_a_replay_debits_another_analysts_cap_and_not_the_population(office: Office) -> None:
    office.session.add_analyst("ben")
    first = office.table("region,smokes", epsilon=2)
    second = office.table("region,smokes", epsilon=2, analyst="ben")
    assert figures(first) == figures(second)
    assert str(office.spent) == "2"
    remaining = second.to_dict()["remaining"]
    assert remaining["analyst"]["epsilon"] == "59998"
    assert remaining["population"]["epsilon"] == "99998"


# --- when something fails ---------------------------------------------------------------------------------------------


class Broken:
    """An engine that cannot be prepared, or that fails when it measures."""

    def __init__(self, session: Session, *, early: bool) -> None:
        self.session, self.early, self.spent = session, early, ""

    def prepare(self, plan: Plan) -> None:
        if self.early:
            raise OSError("the row of Ms Nemo")

    def measure(self, plan: Plan) -> Measured:
        self.spent = str(self.session.budget(POPULATION).population.epsilon_spent)
        raise ValueError("the row of Ms Nemo")

    def close(self) -> None:
        """Nothing is open."""


def test_the_charge_stands_before_any_row_is_looked_at(office: Office) -> None:
    broken = Broken(office.session, early=False)
    with pytest.raises(ChargedNotAnswered) as failed:
        ask_table(
            office.read("region,smokes,age"), office.session.ledger, open_engine=lambda _: broken, request_id="one"
        )
    assert "Nemo" not in str(failed.value)
    assert broken.spent == "1"
    assert str(office.spent) == "1"
    head = office.head
    with pytest.raises(DatasetSuspended):
        office.table("smokes")
    with pytest.raises(DatasetSuspended):
        office.session.tables.explain(office.read("smokes"))
    assert office.head == head
    office.session.resume("people", custodian=True)
    again = office.table("region,smokes,age", request_id="one")
    assert str(office.spent) == "1"
    assert again.margins[-1].raw is not None


def test_an_engine_that_cannot_be_reached_costs_nothing(office: Office) -> None:
    before = office.head
    with pytest.raises(Refused, match="cannot be reached"):
        ask_table(
            office.read("region"),
            office.session.ledger,
            open_engine=lambda _: Broken(office.session, early=True),
            request_id="one",
        )
    assert office.head == before


# --- what is not proved, and what is not private ----------------------------------------------------------------------


def test_categories_from_the_rows_make_a_table_unproven_and_mark_the_ledger(office: Office) -> None:
    table = office.table("guessed,region")
    assert table.guarantee.differentially_private is False
    assert table.to_dict()["differentially_private"] is False
    assert "guessed" in table.to_dict()["guarantee"]
    later = office.table("region")
    assert later.guarantee.differentially_private
    assert len(later.warnings) == 1
    assert office.session.budget(POPULATION).markers


def test_a_value_from_the_rows_does_so_too(tmp_path: Path) -> None:
    guessed = CARD.replace("bounds: [-50, 50]", "bounds: [-50, 50], provenance: from_rows")
    with open_office(tmp_path, guessed) as office:
        assert office.table("region", value="change").guarantee.differentially_private is False
        assert office.table("region").guarantee.differentially_private is True


# --- budgets with a delta ---------------------------------------------------------------------------------------------


def test_gaussian_tables_are_charged_in_rho_and_replayed(generous: Office) -> None:
    first = generous.table("region,smokes,age", epsilon="0.1")
    charge = first.charge
    assert (charge["rho"], charge["delta"]) == ("0.005", "0")
    assert "epsilon" not in charge
    assert str(first.guarantee) == "zCDP, rho = 0.005"
    state = generous.session.budget(POPULATION).population
    assert state.rho_spent == Decimal("0.005")
    second = generous.table("region,smokes,age", epsilon="0.1")
    assert second.replayed
    assert figures(first) == figures(second)
    assert generous.session.budget(POPULATION).population == state
    mechanisms = first.to_dict()["mechanisms"]
    assert {one["name"] for one in mechanisms} == {"discrete-gaussian"}
    assert sum(float(one["rho"]) for one in mechanisms) == pytest.approx(0.005)


def test_laplace_and_gaussian_answers_do_not_replay_each_other(generous: Office) -> None:
    for noise, name in (("laplace", "pure DP"), ("gaussian", "zCDP")):
        asked = generous.read("region,smokes", epsilon="0.1", noise=noise, margins=False)
        table = generous.session.tables.release(asked)
        assert not table.replayed
        assert str(table.guarantee).startswith(name)


def test_epsilon_that_is_left_when_no_rho_is_pays_for_laplace_noise(generous: Office) -> None:
    generous.session.query("SELECT COUNT(*) AS n FROM people", epsilon="9.8")
    told = generous.session.tables.explain(generous.read("region,age", epsilon="0.1"))
    assert told.design.rho is None
    table = generous.table("region,age", epsilon="0.1", request_id="mine")
    assert str(table.guarantee) == "pure DP, epsilon = 0.1"
    assert figures(generous.table("region,age", epsilon="0.1", request_id="mine")) == figures(table)
    with pytest.raises(BudgetExceeded):
        generous.session.tables.release(generous.read("region,age", epsilon="0.1", noise="gaussian"))


def test_auto_leaves_what_laplace_noise_would_unless_the_card_says_rho(tmp_path: Path) -> None:
    with open_office(tmp_path, SPARING) as office:
        asked = office.read("region,smokes,age", epsilon="0.1")
        assert asked.design.rho is None
        assert [one.rho for one in asked.others] == [Decimal("0.005")]
        told = office.session.tables.explain(asked)
        assert told.outlook.epsilon_left == Decimal("9.9")
        assert "Gaussian noise would err less" in told.to_text()
        table = office.session.tables.release(asked)
        assert str(table.guarantee) == "pure DP, epsilon = 0.1"
        assert office.session.budget(POPULATION).population.epsilon_remaining == Decimal("9.9")


def test_a_table_answered_under_another_accounting_is_given_again_to_its_payer(tmp_path: Path) -> None:
    with open_office(tmp_path, SPARING) as office:
        office.session.add_analyst("ben")
        gaussian = office.session.tables.release(office.read("region,smokes,age", epsilon="0.1", noise="gaussian"))
        again = office.table("region,smokes,age", epsilon="0.1")
        assert figures(again) == figures(gaussian)
        assert office.session.tables.explain(office.read("region,smokes,age", epsilon="0.1")).outlook.replayed
        assert office.session.budget(POPULATION).charges == 1
        other = office.table("region,smokes,age", epsilon="0.1", analyst="ben")
        assert str(other.guarantee) == "pure DP, epsilon = 0.1", "what ben asked for, not a debit in rho"


def test_a_replay_debits_another_analyst_by_what_the_table_was_drawn_with(office: Office) -> None:
    office.session.add_analyst("ben")
    office.table("region,smokes", epsilon=2)
    asked = office.session.tables.read(office.request("region,smokes"), epsilon="0.5", analyst="ben")
    told = office.session.tables.explain(asked)
    assert "cost epsilon 2 for analyst 'ben', nothing for the population" in told.to_text()
    assert "--fresh draws anew for epsilon 0.5" in told.to_text()
    given = office.session.tables.release(asked).to_dict()
    assert given["debited"] == {"population": {"epsilon": "0", "delta": "0"}, "analyst": {"epsilon": "2", "delta": "0"}}
    assert given["cost"] == {"epsilon": "2", "delta": "0"}
    assert office.session.tables.explain(asked, fresh=True).outlook.guarantee == PureDP(epsilon="0.5")
    assert "cost nothing: a stored answer" in office.session.tables.explain(asked).to_text()


def test_a_gaussian_table_that_was_paid_for_is_given_again_when_nothing_is_left(generous: Office) -> None:
    first = generous.table("region,age", epsilon="0.1")
    generous.session.query("SELECT COUNT(*) AS n FROM people", epsilon="1.6")
    again = generous.table("region,age", epsilon="0.1")
    assert again.replayed
    assert figures(first) == figures(again)


def test_both_parts_of_a_mean_are_gaussian(generous: Office) -> None:
    table = generous.table("region,smokes", value="height", mean=True, weighted=True, epsilon="0.2")
    mechanisms = table.to_dict()["mechanisms"]
    names = {one.get("name") for one in mechanisms}
    assert names == {"discrete-gaussian"}


# --- neighbours that move a person between cells ----------------------------------------------------------------------

TABLES: dict[str, dict[str, Any]] = {
    "counts": {"by": "region,smokes"},
    "counts of three keys": {"by": "smokes,age,grade"},
    "weighted": {"by": "region,smokes", "weighted": True},
    "signed totals": {"by": "smokes,age", "value": "change"},
    "means": {"by": "smokes,region", "value": "change", "mean": True, "weighted": True},
}


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same office before and after its heaviest person became another in all that is not public."""
    card = WITH_DELTA.replace("neighbours: add-remove", "neighbours: replace-one")
    here = {**PEOPLE[0], "region": "S", "smokes": 1, "age": 10, "change": 50, "weight": 20, "grade": 1}
    there = {**here, "smokes": 2, "age": 80, "change": -50}
    folder = tmp_path_factory.mktemp("neighbours")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with (
            open_office(folder / "a", card, [here, *PEOPLE[1:40]]) as one,
            open_office(folder / "b", card, [there, *PEOPLE[1:40]]) as other,
        ):
            yield one, other


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("case", TABLES)
def test_a_person_who_moves_costs_no_more_than_is_charged(
    neighbours: tuple[Office, Office], case: str, noise: str
) -> None:
    options = dict(TABLES[case])
    design = neighbours[0].design(options.pop("by"), noise=noise, epsilon="0.5", **options)
    plan, pricing = design.statement.plan, design.price()
    seen = [office.measure(plan, office.design(TABLES[case]["by"], **options)) for office in neighbours]
    loss = 0.0
    for priced, before, after in zip(pricing.measures, seen[0].columns, seen[1].columns, strict=True):
        moves = [abs(a - b) for a, b in zip(before, after, strict=True)]
        widest = priced.sensitivities.largest
        assert sum(moves) <= widest.l1
        assert sum(move**2 for move in moves) <= widest.squared_l2
        scale = max(float(one.scale) for one in priced.mechanisms if one is not None and hasattr(one, "scale"))
        loss += sum(move**2 for move in moves) / (2 * scale**2) if design.rho else sum(moves) / scale
    charged = float(design.rho or design.epsilon)
    # the person moves as far as anyone may, in the cells at least: an eighth of the charge is used up
    assert charged / 8 < loss <= charged * (1 + 1e-9)


# --- margins from cells -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", list(every_margin(3)))
def test_margins_and_residuals_are_exact_beyond_64_bits(reading_room: Office, kept: Margin) -> None:
    plan = reading_room.design("smokes,grade,region").formed.plan
    cells = [(-1) ** place * (2**62 + place**3) for place in range(plan.cell_count)]
    table = np.array(cells, dtype=object).reshape([len(key.cells or ()) for key in plan.keys])
    margin = table.sum(axis=tuple(place for place in range(3) if place not in kept))
    assert take_margin(plan, Marginal(Rows(None), kept), cells) == np.ravel(margin).tolist()
    residual = take_margin(plan, Residual(Rows(None), kept), cells)
    for axis in range(len(kept)):
        # along every kept key a residual adds up to 0
        assert not np.any(np.array(residual, dtype=object).reshape(margin.shape).sum(axis=axis))
    assert take_margin(plan, Residual(Rows(None), kept, kept), cells) == np.ravel(margin).tolist()
