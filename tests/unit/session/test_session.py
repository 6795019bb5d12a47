"""An open session: engines that stay open, versions that change under it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

import discreet
from discreet.errors import CustodianOnly, QueryRefused, Refused, UsageError
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from discreet.session import Session

CARD = """
dataset: people
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100000}
columns:
  pid: {kind: id, type: integer}
  age: {kind: integer, bounds: [0, 100]}
"""
COUNT = "SELECT COUNT(*) AS n, AVG(age) AS age FROM people"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    (tmp_path / "people.yaml").write_text(CARD, encoding="utf-8")
    write_people(tmp_path, 50)
    with Session.create(tmp_path / "house") as made:
        made.add(tmp_path / "people.csv", confirm=lambda _: True)
    return tmp_path / "house"


def write_people(folder: Path, count: int) -> None:
    rows = "".join(f"{pid},{pid % 7}\n" for pid in range(count))
    (folder / "people.csv").write_text("pid,age\n" + rows, encoding="utf-8")


def test_a_new_version_is_asked_by_sessions_that_are_open(house: Path) -> None:
    with discreet.open(house) as session:
        before = session.query(COUNT, epsilon="1000")
        assert before.rows[0]["n"] == pytest.approx(50, abs=3)
        write_people(house.parent, 900)
        session.add(house.parent / "people.csv", replace=True)
        after = session.query(COUNT, epsilon="1000")
        assert after.replayed is False
        assert after.rows[0]["n"] == pytest.approx(900, abs=3)
        assert session.query(COUNT, epsilon="1000").rows == after.rows


def test_a_version_that_was_given_and_never_used_is_missed_by_nobody(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with discreet.open(house) as session:
        before = session.query(COUNT, epsilon="1000")
        write_people(house.parent, 900)
        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", _killed)
            with pytest.raises(KeyboardInterrupt):
                session.add(house.parent / "people.csv", replace=True)
        assert session.datasets()[0].version == 1
        assert session.query(COUNT, epsilon="1000").rows == before.rows
        assert session.query(COUNT, epsilon="1000", fresh=True).replayed is False
        assert session.add(house.parent / "people.csv", replace=True).version == 3
        assert session.query(COUNT, epsilon="1000").rows[0]["n"] == pytest.approx(900, abs=3)
        session.verify()


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_file_that_is_refused_leaves_no_trace_on_the_ledger(house: Path) -> None:
    folder = house.parent
    (folder / "others.yaml").write_text(CARD.replace("people", "others").replace("all", "more"), encoding="utf-8")
    (folder / "others.csv").write_text("nobody\n1\n", encoding="utf-8")
    (folder / "people.csv").write_text("nobody\n1\n", encoding="utf-8")
    with discreet.open(house) as session:
        head = session.ledger.head()
        for name, again in (("people", True), ("others", False)):
            with pytest.raises(Refused, match="column"):
                session.add(folder / f"{name}.csv", replace=again, confirm=lambda _: True)
        assert session.ledger.head() == head


def test_python_may_look_before_it_spends(house: Path) -> None:
    with discreet.open(house) as session:
        told = session.explain(COUNT, epsilon="1", assume={"n": 50})
        assert told.to_dict()["charge"] == {"epsilon": "1", "delta": "0"}
        assert str(told) == told.to_text()
        with pytest.raises(Refused, match="Not asked"):
            session.query(COUNT, epsilon="1", confirm=lambda shown: shown.plan_hash != told.plan_hash)
        assert session.budget("all").population.charges == 0
        answer = session.query("SELECT COUNT(*) AS n FROM people", within={"n": 10})
        low, high = answer.intervals[0]["n"]
        assert (low, high) == (answer.rows[0]["n"] - 10, answer.rows[0]["n"] + 10)  # type: ignore[operator]


def test_a_question_may_be_held_and_is_charged_in_that_place(house: Path) -> None:
    sql = "SELECT COUNT(*) AS n FROM people"
    with discreet.open(house) as session:
        with pytest.raises(CustodianOnly):
            session.hold(sql, epsilon="0.5", request_id="later", custodian=False)
        [population] = session.populations()
        held = session.hold(sql, epsilon="0.5", request_id="later", custodian=True)
        assert session.budget(population).holds == (held,)
        assert session.budget(population).charges == 0
        answer = session.query(sql, epsilon="0.5", request_id="later")
        assert (answer.charge["epsilon"], session.budget(population).holds) == ("0.5", ())
        with pytest.raises(QueryRefused):
            session.hold("SELECT age FROM people", epsilon="0.5", request_id="never", custodian=True)


def test_a_workload_runs_only_when_its_plan_is_confirmed(house: Path) -> None:
    workload = Workload((WorkloadQuestion("n", "SELECT COUNT(*) AS n FROM people"),), epsilon=Decimal(1))
    with discreet.open(house) as session:
        with pytest.raises(Refused, match="Not asked"):
            session.run(workload, confirm=lambda planned: planned.epsilon > 1)
        assert session.budget("all").charges == 0
        session.run(workload, confirm=lambda planned: planned.epsilon == 1)
        assert session.budget("all").charges == 1


def test_a_workload_is_charged_to_whoever_runs_it(house: Path) -> None:
    """The file may name an analyst; whoever is named in the call goes before."""
    workload = Workload((WorkloadQuestion("n", "SELECT COUNT(*) AS n FROM people"),), epsilon=Decimal(1), analyst="bob")
    with discreet.open(house) as session:
        for name in ("bob", "eve"):
            session.add_analyst(name)
        session.run(workload)
        session.run(workload, analyst="eve")
        assert {name: share.charges for name, share in session.budget("all").analysts.items()} == {"bob": 1, "eve": 1}


def test_an_answer_becomes_a_table_of_arrow_or_pandas(house: Path) -> None:
    with discreet.open(house) as session:
        answer = session.query("SELECT age, COUNT(*) AS n FROM people GROUP BY age", epsilon="1")
    assert repr(answer) == "<Release of a query: age, n; 102 row(s); pure DP, epsilon = 1>"
    frame = answer.to_pandas()
    assert list(frame.columns) == ["age", "n", "n_low", "n_high"]
    assert answer.to_arrow().num_rows == len(answer.rows) == 102


def test_cost_or_accuracy_is_said_but_not_both(house: Path) -> None:
    with discreet.open(house) as session:
        with pytest.raises(UsageError):
            session.query(COUNT)
        with pytest.raises(UsageError):
            session.query(COUNT, epsilon="1", within={"n": 3})
        with pytest.raises(QueryRefused):
            session.query("SELECT pid FROM people", epsilon="1")
