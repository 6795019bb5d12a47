"""The way of an answer: its order, its replays, and what holds when something fails on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.engine import Measured
from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    LedgerUnavailable,
    PopulationConflict,
    QueryRefused,
    Refused,
    RequestConflict,
)
from discreet.ledger import Ledger
from discreet.ledger.trust.anchor import Anchor, HeldAnchor
from discreet.release.measurement.noisy_measures import Noisy
from discreet.release.question import answer
from discreet.sql import Plan
from tests.unit.release.conftest import CARD, VISITS, Fixed, House, give, make_house, people, stays

SQL = "SELECT COUNT(*) AS n FROM t"
GROUPS = 'SELECT "group", COUNT(*) AS n, SUM(age) AS s FROM t GROUP BY "group"'
TOWNS = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
BOTH = "SELECT COUNT(*) AS n FROM t JOIN visits ON t.pid = visits.pid"
SECRET = "the row of Ms Nemo"


def refuse(*_: object, **__: object) -> Any:
    raise LedgerUnavailable("The anchor cannot be used.")


@pytest.fixture
def generous(tmp_path: Path) -> Iterator[House]:
    """The same people, under a budget with a delta."""
    cards = {"t": (people(2000), CARD), "visits": (stays(), VISITS)}
    with_delta = {name: (rows, card.replace("100", "100, delta: 1e-5")) for name, (rows, card) in cards.items()}
    with make_house(tmp_path, with_delta) as session:
        yield House(session)


# --- what is charged and answered -----------------------------------------------------------------------------------


def test_the_charge_is_epsilon_exactly_however_many_measures_share_it(house: House) -> None:
    answer = house.ask(GROUPS, epsilon="0.1")
    assert dict(answer.charge) == {"epsilon": "0.1", "delta": "0"}
    assert str(house.spent) == "0.1"
    assert [str(one.epsilon) for one in answer.noisy.in_order_of(answer.statement)] == ["0.05", "0.05"]
    assert [row["group"] for row in answer.rows] == ["1", "2", None]


def test_the_ledger_keeps_the_parameters_of_every_measure(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    spend = Ledger.spend

    def noted(self: Ledger, request: Any, **named: Any) -> Any:
        seen.append(request)
        return spend(self, request, **named)

    monkeypatch.setattr(Ledger, "spend", noted)
    house.ask(GROUPS)
    common = {"epsilon": "0.5", "cells": "3", "name": "discrete-laplace"}
    assert [dict(one) for one in seen[0].mechanisms] == [
        {**common, "measure": "rows", "scale": "2", "sensitivity": "1"},
        {**common, "measure": "total", "scale": "240", "sensitivity": "120"},
    ]


def test_delta_is_charged_for_open_keys_alone(generous: House) -> None:
    closed = generous.ask(GROUPS, delta="1e-6")
    assert closed.charge["delta"] == "0"
    answer = generous.ask(TOWNS, delta="1e-6", request_id="two")
    assert (answer.charge["epsilon"], answer.charge["delta"]) == ("1", "0.000001")
    assert [row["town"] for row in answer.rows] == ["A", "B", "C"]
    assert answer.to_dict()["guarantee"] == "approximate DP, epsilon = 1, delta = 0.000001"


def test_open_keys_under_a_pure_budget_are_refused_before_anything(house: House) -> None:
    with pytest.raises(QueryRefused, match="--delta"):
        house.ask(TOWNS)
    with pytest.raises(QueryRefused, match="pure budget"):
        house.ask(TOWNS, delta="1e-6")
    assert house.charges == 0


def test_too_much_is_refused_and_nothing_is_measured(house: House) -> None:
    engine = give([1])
    with pytest.raises(BudgetExceeded):
        house.ask(SQL, epsilon=101, engine=engine)
    assert engine.calls == 0


# --- replay ---------------------------------------------------------------------------------------------------------


def test_the_same_question_is_answered_with_the_same_bits_for_nothing(house: House) -> None:
    first = house.ask(GROUPS, epsilon=2)
    again = house.ask(
        'SELECT SUM(age) AS other, COUNT(*) AS n, "group" FROM t GROUP BY "group" ORDER BY n DESC',
        epsilon=1,
        request_id="two",
        level="0.5",
    )
    assert again.replayed
    assert again.charge["epsilon"] == "0"
    assert again.noisy.to_bytes() == first.noisy.to_bytes()
    assert {row["group"]: (row["n"], row["other"]) for row in again.rows} == {
        row["group"]: (row["n"], row["s"]) for row in first.rows
    }
    assert house.charges == 1


def test_better_or_fresh_answers_are_paid_for(house: House) -> None:
    house.ask(SQL, epsilon=1)
    assert house.ask(SQL, epsilon=1, request_id="two", fresh=True).charge["epsilon"] == "1"
    assert house.ask(SQL, epsilon=3, request_id="three").charge["epsilon"] == "3"
    assert str(house.spent) == "5"


def test_a_stored_answer_with_open_keys_comes_back(generous: House) -> None:
    first = generous.ask(TOWNS, epsilon=2, delta="1e-6")
    again = generous.ask(TOWNS, epsilon=1, delta="1e-7", request_id="two")
    assert again.replayed
    assert (again.rows, again.noisy.threshold) == (first.rows, first.noisy.threshold)


def test_one_id_stands_for_one_question(house: House) -> None:
    house.ask(SQL)
    with pytest.raises(RequestConflict):
        house.ask(GROUPS)


# --- failures before the charge -------------------------------------------------------------------------------------


def test_an_engine_that_cannot_be_opened_costs_nothing_and_tells_nothing(house: House) -> None:
    def fail(_: object) -> Any:
        raise OSError(SECRET)

    with pytest.raises(Refused, match="cannot be reached") as caught:
        answer(house.question(SQL), house.session.ledger, fail)
    assert SECRET not in str(caught.value.to_dict())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert house.charges == 0


def test_a_server_that_does_not_answer_is_met_before_the_charge(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ConnectionError(SECRET)

    monkeypatch.setattr(Fixed, "prepare", fail)
    engine = give([1])
    with pytest.raises(Refused, match="cannot be reached"):
        house.ask(SQL, engine=engine)
    assert (house.charges, engine.calls) == (0, 0)
    assert not house.session.ledger.suspended("t")


def test_an_engine_that_refuses_is_heard(house: House) -> None:
    def fail(_: object) -> Any:
        raise QueryRefused("two places")

    with pytest.raises(QueryRefused, match="two places"):
        answer(house.question(SQL), house.session.ledger, fail)
    assert house.charges == 0


def test_a_suspended_dataset_is_not_asked_wherever_it_stands(house: House) -> None:
    house.session.ledger.suspend("visits", population="people", reason="a look", who="ana")
    with pytest.raises(DatasetSuspended, match="visits"):
        house.ask(BOTH)
    house.ask(SQL)
    house.session.ledger.suspend("t", population="people", reason="a look", who="ana")
    with pytest.raises(DatasetSuspended, match="'t'"):
        house.ask(SQL, fresh=True, request_id="two")
    assert house.ask(SQL, request_id="three").replayed


def test_a_refused_charge_tells_the_request_id_and_charges_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "hold", refuse)
        with pytest.raises(LedgerUnavailable, match="The request id was one"):
            house.ask(SQL)
    assert house.charges == 0


def test_a_card_that_no_longer_agrees_is_not_asked(house: House, tmp_path: Path) -> None:
    later = tmp_path / "later.yaml"
    later.write_text(CARD.replace("add-remove", "replace-one"), encoding="utf-8")
    house.session.change_population(later, custodian=True)
    for sql in (SQL, BOTH):
        with pytest.raises(PopulationConflict, match="--replace"):
            house.ask(sql)
    house.session.add(tmp_path / "t.csv", card=later, replace=True)
    assert house.ask(SQL).card.neighbours == "replace-one"
    with pytest.raises(PopulationConflict, match="'visits'"):
        house.ask(BOTH, request_id="two")


# --- failures after the charge --------------------------------------------------------------------------------------


def test_a_charge_whose_anchor_fails_is_told_as_charged_and_healed_by_its_id(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(HeldAnchor, "cover", refuse)
        with pytest.raises(ChargedNotAnswered) as caught:
            house.ask(SQL)
    assert house.charges == 1
    answer = house.ask(SQL, request_id=str(caught.value.fields["request_id"]))
    assert answer.charge["epsilon"] == "0"
    assert house.charges == 1


@pytest.mark.parametrize("step", ["commit_answer", "standing"])
def test_a_ledger_that_fails_after_the_charge_is_told_as_charged(
    house: House, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, step, refuse)
        with pytest.raises(ChargedNotAnswered) as caught:
            house.ask(SQL)
    assert "--request-id one" in caught.value.message
    assert not house.session.ledger.suspended("t")
    assert house.ask(SQL).rows
    assert house.charges == 1


FAULTS = [
    Fixed(ValueError(SECRET)),
    Fixed(QueryRefused(SECRET)),
    Fixed(MemoryError(SECRET)),
    Fixed(Measured(([1, 2],))),
    Fixed(Measured((["seven"],))),  # type: ignore[arg-type]
]


def test_an_engine_lets_go_of_what_nobody_came_to_use(house: House) -> None:
    """A spent budget would otherwise leave a connection open in every thread that asked."""

    class Connected(Fixed):
        open = 0

        def prepare(self, plan: Plan) -> None:
            self.open += 1

        def measure(self, plan: Plan) -> Measured:
            self.open -= 1
            return super().measure(plan)

        def let_go(self) -> None:
            self.open = 0

    engine = Connected(Measured(([7],)))
    with pytest.raises(BudgetExceeded):
        house.ask(SQL, engine=engine, epsilon="99999")
    assert (engine.open, engine.calls) == (0, 0)
    house.ask(SQL, engine=engine, request_id="two")
    assert (engine.open, engine.calls) == (0, 1)


def test_who_asks_again_for_what_is_suspended_is_told_that_it_was_charged(house: House) -> None:
    for _ in range(2):
        with pytest.raises(ChargedNotAnswered, match="suspended"):
            house.ask(BOTH, engine=Fixed(ValueError(SECRET)))
    with pytest.raises(DatasetSuspended):
        house.ask(BOTH, request_id="two")
    assert house.charges == 1


@pytest.mark.parametrize("engine", FAULTS, ids=["raises", "refuses", "full", "cells", "text"])
def test_an_engine_that_fails_is_never_quoted_and_all_its_datasets_rest(house: House, engine: Fixed) -> None:
    with pytest.raises(ChargedNotAnswered) as caught:
        house.ask(BOTH, engine=engine)
    assert SECRET not in str(caught.value.to_dict())
    assert caught.value.__suppress_context__
    assert "is suspended" in caught.value.message
    assert house.charges == 1
    assert house.session.ledger.suspended("t")
    assert house.session.ledger.suspended("visits")
    for name in ("t", "visits"):
        house.session.resume(name, custodian=True)
    answer = house.ask(BOTH)
    assert answer.charge["epsilon"] == "0"
    assert house.charges == 1


def test_noise_that_fails_suspends_too(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.release.question.draw", lambda *_, **__: 1 / 0)
    with pytest.raises(ChargedNotAnswered, match="suspended"):
        house.ask(SQL)


def test_an_interrupt_after_the_charge_tells_the_request_id(house: House) -> None:
    with pytest.raises(ChargedNotAnswered, match="--request-id one"):
        house.ask(SQL, engine=Fixed(KeyboardInterrupt()))
    assert not house.session.ledger.suspended("t")
    assert house.ask(SQL).charge["epsilon"] == "0"


def test_the_first_committed_answer_is_the_one_that_leaves(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Ledger.commit_answer
    first: list[bytes] = []

    def slow(self: Ledger, receipt: Any, answer: bytes) -> bytes:
        """Another process commits in between."""
        stored = Noisy.from_bytes(answer)
        from dataclasses import replace

        other = replace(stored, measures=(replace(stored.measures[0], values=(4711,)),))
        first.append(commit(self, receipt, other.to_bytes()))
        return commit(self, receipt, answer)

    monkeypatch.setattr(Ledger, "commit_answer", slow)
    assert house.ask(SQL).rows == [{"n": 4711}]


# --- what is not proven ---------------------------------------------------------------------------------------------


def test_bounds_read_from_the_rows_make_a_release_unproven_for_good(house: House) -> None:
    answer = house.ask("SELECT SUM(note) AS s FROM visits")
    told = answer.to_dict()
    assert told["differentially_private"] is False
    assert "note" in str(told["guarantee"])
    assert answer.warnings
    assert len(house.session.budget("people").markers) == 1
    assert house.ask("SELECT SUM(note) AS s FROM visits", request_id="two").to_dict()["guarantee"] == told["guarantee"]
    assert len(house.session.budget("people").markers) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM visits WHERE note = 3",
        "SELECT COUNT(*) AS n FROM t JOIN (SELECT pid, MAX(note) AS m FROM visits GROUP BY pid) v ON t.pid = v.pid "
        "WHERE m > 2",
        "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    ],
)
def test_such_bounds_are_found_wherever_they_are_used(house: House, sql: str) -> None:
    assert not house.ask(sql).noisy.guarantee.differentially_private


def test_such_bounds_do_no_harm_where_they_are_not_used(house: House) -> None:
    assert house.ask("SELECT SUM(cost) AS s FROM visits").noisy.guarantee.differentially_private
