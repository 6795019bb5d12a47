"""Explanations: what they say, what they never look at, and that they refuse as questions do."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import DatasetSuspended, PopulationConflict, QueryRefused, UnknownName, UsageError
from discreet.release.measurement.pricing import price
from discreet.session import Session
from discreet.sql.serialisation import plan_hash
from tests.unit.release.conftest import CARD, House, make_house, people

BY_GROUP = "SELECT group, COUNT(*) AS n, AVG(height) AS h FROM t WHERE age >= 30 GROUP BY group"


def test_what_an_explanation_says(house: House) -> None:
    told = house.session.explain(BY_GROUP, epsilon="0.6", assume="n=25")
    assert told.plan == (
        "rows of t, at most 1 of each pid",
        "where age >= 30",
        "group by group (3 values, NULL last): 3 cells",
        "measure COUNT(*)",
        "measure SUM(height − 1.75)",
        "measure COUNT(height)",
    )
    assert told.unit == "pid, at most 1 row each"
    found: dict[str, Any] = told.to_dict()
    assert found["charge"] == {"epsilon": "0.6", "delta": "0"}
    assert found["assumed"] == ["n = 25"]
    counted, summed, _ = found["measures"]
    assert counted["epsilon"] == summed["epsilon"] == "0.2"
    assert summed["slices"][0]["sensitivity"] == 0.75
    assert summed["slices"][0]["sensitivity_in_steps"] == 75
    assert "adding or removing it moves 75" in summed["slices"][0]["derivation"]
    assert summed["slices"][0]["scale_in_units"] == pytest.approx(3.75)
    remaining = found["remaining_after"]
    assert remaining["analyst"]["epsilon"] == "99.4"
    text = told.to_text()
    for words in ("sensitivity 0.75", "scale 3.75", "95% interval ± 15", "cost epsilon 0.6", told.plan_hash):
        assert words in text


def test_the_charge_and_the_shares_are_those_of_the_answer(house: House) -> None:
    told = house.session.explain(BY_GROUP, epsilon="0.6")
    answer = house.ask(BY_GROUP, epsilon="0.6")
    assert told.plan_hash == plan_hash(answer.plan)
    shares = [measure.epsilon for measure in told.measures]
    assert sorted(shares) == sorted(measure.epsilon for measure in answer.noisy.measures)
    assert sum(shares) == Decimal("0.6")


def test_a_stored_answer_is_announced_with_what_it_debits(house: House) -> None:
    house.session.add_analyst("ben")
    house.ask(BY_GROUP, epsilon="0.6", request_id="first")
    for analyst, epsilon, debited in (("ana", "0.6", "0"), ("ana", "0.5", "0"), ("ben", "0.5", "0.6")):
        told: dict[str, Any] = house.session.explain(BY_GROUP, epsilon=epsilon, analyst=analyst).to_dict()
        assert told["replayed"]
        assert told["charge"] == {"epsilon": "0", "delta": "0"}
        assert told["debited"]["population"]["epsilon"] == "0"
        assert told["debited"]["analyst"]["epsilon"] == debited
    assert not house.session.explain(BY_GROUP, epsilon="0.7", analyst="ana").outlook.replayed, "a better one is drawn"
    anew = house.session.explain(BY_GROUP, epsilon="0.5", analyst="ben", fresh=True)
    assert anew.outlook.cost() == {"epsilon": "0.5", "delta": "0"}


def test_what_is_stored_is_announced_of_a_suspended_dataset_too(house: House) -> None:
    answer = house.ask(BY_GROUP, epsilon="0.6", request_id="first")
    house.session.ledger.suspend("t", population="people", reason="a look", who="ana")
    assert house.session.explain(BY_GROUP, epsilon="0.6", analyst="ana").outlook.replayed
    assert house.ask(BY_GROUP, epsilon="0.6", request_id="second").rows == answer.rows
    for options in ({"epsilon": "0.7"}, {"epsilon": "0.6", "fresh": True}):
        with pytest.raises(DatasetSuspended):
            house.session.explain(BY_GROUP, analyst="ana", **options)


def test_the_data_are_never_opened(tmp_path: Path) -> None:
    questions = [BY_GROUP, "SELECT MEDIAN(age) AS m FROM t", "SELECT VAR(age) AS v, SUM(age) FROM t"]
    with make_house(tmp_path, {"t": (people(), CARD)}) as session:

        def told() -> list[str]:
            found = [session.explain(sql, epsilon=1, assume="n=10") for sql in questions]
            return [text for one in found for text in (one.to_text(), json.dumps(one.to_dict()))]

        before = told()
        for file in (tmp_path / "w" / "datasets").rglob("*.parquet"):
            file.unlink()
        assert told() == before
        with pytest.raises(Exception, match="charged"):
            session.query(BY_GROUP, epsilon=1)


def test_the_budget_is_told_and_never_refuses(house: House) -> None:
    told = house.session.explain("SELECT COUNT(*) FROM t", epsilon=101)
    assert told.outlook.refusal is not None
    assert "would be refused" in told.to_text()
    assert told.to_dict()["remaining_after"] is None
    assert told.outlook.refusal in told.to_dict()["notes"]  # type: ignore[operator]
    assert house.charges == 0


def test_open_keys_need_a_delta_that_the_budget_has(house: House, tmp_path: Path) -> None:
    sql = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
    with pytest.raises(QueryRefused, match="--delta"):
        house.session.explain(sql, epsilon=1)
    with pytest.raises(QueryRefused, match="pure budget"):
        house.session.explain(sql, epsilon=1, delta="1e-6")
    card = CARD.replace("epsilon: 100", "epsilon: 100, delta: 1e-5")
    (tmp_path / "other").mkdir()
    with make_house(tmp_path / "other", {"t": (people(), card)}) as session:
        told = session.explain(sql, epsilon=1, delta="1e-6")
        assert told.threshold is not None
        assert "units are shown" in told.threshold
        charge = told.to_dict()["charge"]
        assert charge == {"epsilon": "1", "delta": "0.000001", "rho": "0.5"}


def test_refusals_are_those_of_the_question(house: House) -> None:
    session: Session = house.session
    with pytest.raises(UnknownName, match="nobody"):
        session.explain("SELECT COUNT(*) FROM t", epsilon=1, analyst="nobody")
    with pytest.raises(UnknownName):
        session.explain("SELECT COUNT(*) FROM nowhere", epsilon=1)
    with pytest.raises(UsageError):
        session.explain("SELECT COUNT(*) FROM t")
    with pytest.raises(UsageError):
        session.explain("SELECT COUNT(*) AS n FROM t", epsilon=1, within="n=3")
    session.ledger.suspend("t", population="people", reason="a test", who="test")
    with pytest.raises(DatasetSuspended):
        session.explain("SELECT COUNT(*) FROM t", epsilon=1)


def test_changed_terms_refuse(tmp_path: Path) -> None:
    with make_house(tmp_path, {"t": (people(), CARD)}) as session:
        changed = tmp_path / "changed.yaml"
        changed.write_text(CARD.replace("add-remove", "replace-one"), encoding="utf-8")
        session.change_population(changed, custodian=True)
        with pytest.raises(PopulationConflict):
            session.explain("SELECT COUNT(*) FROM t", epsilon=1)


def test_what_was_read_from_the_rows_is_noted(house: House) -> None:
    told = house.session.explain("SELECT SUM(note) FROM visits", epsilon=1)
    assert "not be differentially private" in told.notes[0]
    assert house.session.explain("SELECT SUM(cost) FROM visits", epsilon=1).notes == ()


def test_within_solves_for_epsilon_and_an_answer_has_that_width(house: House) -> None:
    sql = "SELECT group, COUNT(*) AS n FROM t GROUP BY group"
    told = house.session.explain(sql, within={"n": 12})
    answer = house.session.query(sql, within="n=12")
    assert answer.charge["epsilon"] == told.to_dict()["charge"]["epsilon"]  # type: ignore[index]
    for row in answer.intervals:
        low, high = row["n"]
        assert low is not None
        assert high is not None
        assert high - low == 24
    again = house.session.query(sql, within="n=12")
    assert again.replayed
    question = house.question(sql)
    assert (
        price(question.statement, question.cards, epsilon=told.measures[0].epsilon).guarantee == told.outlook.guarantee
    )


def test_a_width_out_of_reach_says_what_remains_would_reach(tmp_path: Path) -> None:
    card = CARD.replace("epsilon: 100", "epsilon: 1")
    with make_house(tmp_path, {"t": (people(), card)}) as session:
        with pytest.raises(QueryRefused, match=r"n within 1 needs epsilon .* epsilon 1 remains, which reaches n ± 3"):
            session.query("SELECT COUNT(*) AS n FROM t", within="n=1")
        session.query("SELECT COUNT(*) AS n FROM t", within="n=4")
        replayed = session.query("SELECT COUNT(*) AS n FROM t", within="n=4")
        assert replayed.replayed
        with pytest.raises(QueryRefused, match="which reaches total"):
            session.query("SELECT SUM(age) AS total FROM t", within="total=400")
        assert session.budget("people").population.charges == 1


def test_what_remains_is_the_analysts_own_where_that_is_less(tmp_path: Path) -> None:
    card = CARD.replace("epsilon: 100", "epsilon: 9, per_analyst: 1")
    with (
        make_house(tmp_path, {"t": (people(), card)}) as session,
        pytest.raises(QueryRefused, match="epsilon 1 remains, which reaches n ± 3"),
    ):
        session.query("SELECT COUNT(*) AS n FROM t", within="n=1")
