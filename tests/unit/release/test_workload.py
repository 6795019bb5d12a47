"""Workloads: the file, the split, and the one event that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.engines.engine import Measured
from discreet.errors import (
    BudgetExceeded,
    ChargedNotAnswered,
    DatasetSuspended,
    ParameterInvalid,
    QueryRefused,
    RequestConflict,
    WorkloadInvalid,
)
from discreet.guarantees.numbers import to_units
from discreet.guarantees.types import ZCDP, ApproxDP, PureDP
from discreet.release.workloads.workload import Workload, WorkloadQuestion, parse_workload
from discreet.release.workloads.workload_run import run_workload
from discreet.session import Session
from discreet.sql.algebra import Plan
from tests.unit.release.conftest import CARD, VISITS, House, make_house, people, stays

pytestmark = pytest.mark.slow

COUNTS = WorkloadQuestion("counts", "SELECT group, COUNT(*) AS n FROM t GROUP BY group", within={"n": Fraction(12)})
TOTAL = WorkloadQuestion("total", "SELECT SUM(cost) AS c FROM visits", within={"c": Fraction(80)})
MEAN = WorkloadQuestion("mean", "SELECT AVG(age) AS m FROM t", within={"m": Fraction(20)}, assume={"n": Fraction(50)})

# --- the file -------------------------------------------------------------------------------------------------------

FILE = """
analyst: ana
level: 0.9
epsilon: 2
questions:
  - name: counts
    sql: SELECT group, COUNT(*) AS n FROM t GROUP BY group
    within: {n: 12.5}
  - name: ages
    sql: |
      SELECT AVG(age) AS m
      FROM t
    share: 2
    assume: {n: 50}
"""


def test_a_file_is_read() -> None:
    found = parse_workload(FILE, file="w.yaml")
    assert found.analyst == "ana"
    assert found.level == Decimal("0.9")
    assert found.epsilon == 2
    assert found.delta == 0
    counts, ages = found.tasks
    assert counts.within == {"n": Fraction(25, 2)}
    assert ages.share == 2
    assert ages.assume == {"n": 50}
    assert ages.sql.startswith("SELECT AVG(age)")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("epsilon: 2", "epsylon: 2", "w.yaml:4: unknown key 'epsylon' in the workload; did you mean 'epsilon'?"),
        (
            "within: {n: 12.5}",
            "withn: {n: 12.5}",
            "w.yaml:8: unknown key 'withn' in a question; did you mean 'within'?",
        ),
        ("within: {n: 12.5}", "within: 12.5", "within must be a mapping"),
        ("within: {n: 12.5}", "within: {n: wide}", "must be a plain decimal number"),
        ("share: 2", "share: 2\n    within: {m: 3}", "a target (within) or a share, not both"),
        ("name: ages", "name: counts", "two questions are named 'counts'"),
        ("name: ages", "name: my ages", "must be letters"),
        ("level: 0.9", "level: 1", "level must be below 1"),
        ("epsilon: 2", "epsilon: 0", "epsilon must be positive"),
        ("epsilon: 2", "epsilon: &a 2", "anchors"),
        ("    sql: SELECT group, COUNT(*) AS n FROM t GROUP BY group\n", "", "key 'sql' is missing"),
    ],
)
def test_problems_are_told_with_their_line(old: str, new: str, told: str) -> None:
    assert old in FILE
    with pytest.raises(WorkloadInvalid) as caught:
        parse_workload(FILE.replace(old, new), file="w.yaml")
    assert told in caught.value.message
    assert caught.value.message.startswith("w.yaml:")


def test_questions_are_needed_and_named_once() -> None:
    with pytest.raises(WorkloadInvalid, match="questions"):
        parse_workload("epsilon: 1\n", file="w.yaml")
    with pytest.raises(WorkloadInvalid, match="1 to 1,000"):
        parse_workload("questions: []\n", file="w.yaml")
    with pytest.raises(ParameterInvalid):
        Workload((COUNTS, COUNTS))
    with pytest.raises(ParameterInvalid):
        replace(COUNTS, share=Decimal(1))


# --- the split ------------------------------------------------------------------------------------------------------


def test_targets_alone_cost_the_least_that_meets_them(house: House) -> None:
    planned = house.session.plan(Workload((COUNTS, TOTAL, MEAN)))
    assert planned.shortfall is None
    for part in planned.parts:
        for name, width in part.reading.task.within.items():
            widest = {output.name: output.widest for output in part.outputs}[name]
            assert widest is not None
            assert widest <= width
    alone = house.session.explain(COUNTS.sql, within={"n": 12})
    assert planned.parts[0].epsilon == alone.measures[0].epsilon
    assert planned.outlook.guarantee == PureDP(epsilon=planned.epsilon)
    assert house.charges == 0


def test_what_targets_leave_is_shared_by_weight(house: House) -> None:
    one = WorkloadQuestion("one", "SELECT COUNT(*) AS n FROM t", share=Decimal(3))
    two = WorkloadQuestion("two", "SELECT COUNT(*) AS n FROM visits")
    planned = house.session.plan(Workload((COUNTS, one, two), epsilon=Decimal(2)))
    targeted, first, second = (part.epsilon for part in planned.parts)
    assert targeted + first + second == 2
    assert to_units(first) == (to_units(Decimal(2)) - to_units(targeted)) * 3 // 4
    assert second > 0


def test_a_total_above_the_targets_is_not_spent(house: House) -> None:
    planned = house.session.plan(Workload((COUNTS,), epsilon=Decimal(50)))
    assert planned.epsilon == house.session.plan(Workload((COUNTS,))).epsilon < 1


def test_a_total_below_the_targets_says_what_it_reaches(house: House) -> None:
    planned = house.session.plan(Workload((COUNTS, TOTAL)), epsilon="0.1")
    assert planned.shortfall is not None
    assert "the total is 0.1, which reaches counts: n ± " in planned.shortfall
    assert planned.epsilon <= Decimal("0.1")
    for part in planned.parts:
        for output in part.outputs:
            assert output.widest is not None
            assert output.widest > part.reading.task.within[output.name]
    with pytest.raises(QueryRefused, match="Nothing was released or charged"):
        house.session.run(Workload((COUNTS, TOTAL)), epsilon="0.1")
    assert house.charges == 0


def test_without_target_or_total_there_is_nothing_to_go_by(house: House) -> None:
    with pytest.raises(QueryRefused, match="needs a total"):
        house.session.plan(Workload((WorkloadQuestion("one", "SELECT COUNT(*) AS n FROM t"),)))
    with pytest.raises(QueryRefused, match="question 'mean': the width of m depends on a count"):
        house.session.plan(Workload((replace(MEAN, assume={}),)))


def test_a_workload_is_about_one_population(tmp_path: Path) -> None:
    strangers = VISITS.replace("population: people", "population: strangers")
    with (
        make_house(tmp_path, {"t": (people(), CARD), "visits": (stays(), strangers)}) as session,
        pytest.raises(QueryRefused, match="one population"),
    ):
        session.plan(Workload((COUNTS, TOTAL)))


# --- the run --------------------------------------------------------------------------------------------------------


def test_one_charge_pays_for_all_and_a_retry_gets_the_same(house: House) -> None:
    workload = Workload((COUNTS, TOTAL, MEAN))
    planned = house.session.plan(workload)
    first = house.session.run(workload, request_id="w1")
    assert house.charges == 1
    assert house.spent == planned.epsilon
    assert first.charge["epsilon"] == str(planned.epsilon)
    assert not first.replayed
    assert len(first.answers["counts"].rows) == 3
    assert sum(Decimal(answer.charge["epsilon"]) for answer in first.answers.values()) == planned.epsilon
    again = house.session.run(workload, request_id="w1")
    assert again.replayed
    assert again.charge["epsilon"] == "0"
    assert {name: answer.rows for name, answer in again.answers.items()} == {
        name: answer.rows for name, answer in first.answers.items()
    }
    assert house.charges == 1
    with pytest.raises(RequestConflict):
        house.session.run(Workload((COUNTS, TOTAL)), request_id="w1")
    assert not house.ask(COUNTS.sql, epsilon="0.1").replayed
    assert house.session.verify().charges == 2


def test_widths_told_are_the_widths_of_the_answers(house: House) -> None:
    workload = Workload((COUNTS, TOTAL))
    answered = house.session.run(workload)
    for task in workload.tasks:
        for name, width in task.within.items():
            low, high = answered.answers[task.name].intervals[0][name]
            assert low is not None
            assert high is not None
            assert high - low == 2 * width


def test_a_budget_too_small_refuses_before_the_charge(tmp_path: Path) -> None:
    with make_house(tmp_path, {"t": (people(), CARD.replace("epsilon: 100", "epsilon: 0.1"))}) as session:
        planned = session.plan(Workload((COUNTS,)))
        assert planned.outlook.refusal is not None
        assert planned.to_dict()["remaining_after"] is None
        with pytest.raises(BudgetExceeded):
            session.run(Workload((COUNTS,)))
        assert session.budget("people").charges == 0


class Broken:
    """An engine that fails, once."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def measure(self, plan: Plan) -> Measured:
        raise self.error

    def close(self) -> None:
        """Nothing is open."""


def test_a_failure_after_the_charge_is_told_in_fixed_words(house: House) -> None:
    workload = Workload((TOTAL, COUNTS))
    planned = house.session.plan(workload)
    with pytest.raises(ChargedNotAnswered) as caught:
        run_workload(
            planned, house.session.ledger, request_id="w", open_engine=lambda _: Broken(ValueError("row 88 is 412000"))
        )
    assert "412000" not in str(caught.value)
    assert house.charges == 1
    with pytest.raises(DatasetSuspended):
        house.session.plan(workload)


def test_an_interrupt_after_the_charge_is_healed_by_its_id(house: House) -> None:
    workload = Workload((COUNTS, TOTAL))
    with pytest.raises(ChargedNotAnswered, match="--request-id w7"):
        run_workload(
            house.session.plan(workload),
            house.session.ledger,
            request_id="w7",
            open_engine=lambda _: Broken(KeyboardInterrupt()),
        )
    healed = house.session.run(workload, request_id="w7")
    assert healed.answers["counts"].rows
    assert house.charges == 1


def test_a_suspended_dataset_of_any_question_stops_the_run(house: House) -> None:
    planned = house.session.plan(Workload((COUNTS, TOTAL)))
    house.session.ledger.suspend("visits", population="people", reason="a test", who="test")
    with pytest.raises(DatasetSuspended):
        run_workload(planned, house.session.ledger, request_id="w", open_engine=lambda _: Broken(ValueError()))
    assert house.charges == 0


# --- (epsilon, delta) budgets ---------------------------------------------------------------------------------------


@pytest.fixture
def delta_house(tmp_path: Path) -> Iterator[Session]:
    card = CARD.replace("epsilon: 100", "epsilon: 3, delta: 1e-6")
    with make_house(tmp_path, {"t": (people(), card)}) as session:
        yield session


def many(count: int, epsilon: str) -> Workload:
    tasks = tuple(WorkloadQuestion(f"q{age}", f"SELECT COUNT(*) AS n FROM t WHERE age > {age}") for age in range(count))
    return Workload(tasks, epsilon=Decimal(epsilon))


def test_many_small_questions_are_charged_as_zcdp_and_few_large_ones_as_pure(delta_house: Session) -> None:
    few = delta_house.plan(many(1, "2.9"))
    assert few.outlook.guarantee == PureDP(epsilon="2.9")
    small = delta_house.plan(many(100, "2.9"))
    assert isinstance(small.outlook.guarantee, ZCDP)
    assert small.outlook.guarantee.rho == Decimal("0.04205")  # 100 · 0.029²/2
    assert small.outlook.epsilon_left > few.outlook.epsilon_left


def test_the_zcdp_of_all_measures_is_never_rounded_down(delta_house: Session) -> None:
    planned = delta_house.plan(many(3, "0.1"))
    [rho] = [Fraction(one.guarantee.rho) for one in planned.outlooks if isinstance(one.guarantee, ZCDP)]
    exact = sum(Fraction(measure.epsilon) ** 2 for part in planned.parts for measure in part.pricing.measures) / 2
    assert exact < rho < exact + Fraction(1, 10**9)


def test_a_retry_that_would_charge_otherwise_meets_its_charge(delta_house: Session) -> None:
    workload = many(10, "0.3")
    first = delta_house.run(workload, request_id="w")
    delta_house.run(many(100, "2.9"), request_id="others")
    assert delta_house.plan(workload).outlook.guarantee != first.guarantee  # what remains makes the other way better
    again = delta_house.run(workload, request_id="w")
    assert again.replayed
    assert again.guarantee == first.guarantee
    assert {name: answer.rows for name, answer in again.answers.items()} == {
        name: answer.rows for name, answer in first.answers.items()
    }
    assert delta_house.budget("people").charges == 2


def test_open_keys_share_the_delta(delta_house: Session) -> None:
    opened = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
    tasks = (
        WorkloadQuestion("one", opened),
        WorkloadQuestion("two", opened + " HAVING COUNT(*) > 3"),
        WorkloadQuestion("three", COUNTS.sql),
    )
    workload = Workload(tasks, epsilon=Decimal(1), delta=Decimal("2e-7"))
    planned = delta_house.plan(workload)
    assert [part.delta for part in planned.parts] == [Decimal("1e-7"), Decimal("1e-7"), 0]
    kinds = {type(outlook.guarantee): outlook.guarantee for outlook in planned.outlooks}
    assert kinds[ApproxDP] == ApproxDP(epsilon=1, delta="2e-7")
    assert kinds[ZCDP].delta == Decimal("2e-7")  # type: ignore[union-attr]
    answered = delta_house.run(workload)
    assert answered.charge["delta"] == "0.0000002"
    assert set(answered.answers) == {"one", "two", "three"}
