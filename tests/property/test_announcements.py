"""What an explanation announces is what happens: for every kind of question, in any order, under both sorts of budget.

Sequences are drawn with a seed; the noise in them is fresh and does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BudgetExceeded
from discreet.guarantees.types import PureDP
from discreet.release.forecast.outlook import foresee
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from discreet.session import Session
from tests.unit.tables.office import CARD, POPULATION, open_office

pytestmark = pytest.mark.slow

STEPS = 24
SEEDS = (1, pytest.param(2, marks=pytest.mark.long))
BUDGETS = {
    "pure": "{epsilon: 3, per_analyst: 2}",
    "with delta": "{epsilon: 3, delta: 1e-6, per_analyst: 2, per_analyst_delta: 1e-6}",
    "in rho": "{epsilon: 3, delta: 1e-6, per_analyst: 2, per_analyst_delta: 1e-6}\naccounting: rho",
}
EPSILONS = ("0.05", "0.1", "0.25", "0.4", "0.7")
TABLES = ("region,smokes", "region,smokes,age,grade", "age")
Told = dict[str, Any]


@pytest.fixture(params=BUDGETS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Session]]:
    card = CARD.replace("{epsilon: 100000, per_analyst: 60000}", BUDGETS[request.param])
    with open_office(tmp_path, card) as office:
        office.session.add_analyst("ana")
        office.session.add_analyst("ben")
        yield request.param, office.session


class Asking:
    """Questions drawn one after the other, each explained and then asked."""

    def __init__(self, session: Session, budget: str, seed: int) -> None:
        self.session, self.budget, self.draw = session, budget, random.Random(seed)

    def step(self) -> str:
        kind = self.draw.choice(["query", "open keys", "table", "table", "workload"])
        analyst, epsilon = self.draw.choice(["ana", "ben"]), self.draw.choice(EPSILONS)
        fresh = self.draw.random() < 0.2
        if kind == "workload":
            return self.workload(analyst, epsilon)
        if kind == "table":
            return self.table(analyst, epsilon, fresh)
        delta = "1e-7" if kind == "open keys" and self.budget != "pure" else "0"
        age = self.draw.choice([10, 20])
        sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {age}"
        if delta != "0":
            sql = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
        options: Any = {"epsilon": epsilon, "delta": delta, "analyst": analyst, "fresh": fresh}
        told = self.session.explain(sql, **options).to_dict()
        return self.hold(told, lambda: self.session.query(sql, **options).to_dict())

    def table(self, analyst: str, epsilon: str, fresh: bool) -> str:
        from discreet.tables.request import table_request

        noise = "laplace" if self.budget == "pure" else self.draw.choice(["auto", "auto", "laplace", "gaussian"])
        desk = self.session.tables
        asked = desk.read(
            table_request("people", self.draw.choice(TABLES)), epsilon=epsilon, analyst=analyst, noise=noise
        )
        standing = self.session.ledger.standing(POPULATION)
        pure = foresee(PureDP(epsilon=epsilon), standing, analyst)
        told = desk.explain(asked, fresh=fresh).to_dict()
        if noise == "auto" and self.budget != "in rho" and not told["replayed"] and pure.refusal is None:
            after: Any = told["remaining_after"]
            assert Decimal(after["largest_question"]["epsilon"]) >= pure.epsilon_left, "auto leaves what Laplace would"
        return self.hold(told, lambda: desk.release(asked, fresh=fresh).to_dict())

    def workload(self, analyst: str, epsilon: str) -> str:
        tasks = tuple(
            WorkloadQuestion(f"q{age}", f"SELECT COUNT(*) AS n FROM people WHERE age > {age}") for age in (1, 2, 3)
        )
        workload = Workload(tasks, epsilon=Decimal(epsilon))
        told = self.session.plan(workload, analyst=analyst).to_dict()
        return self.hold(told, lambda: self.session.run(workload, analyst=analyst).to_dict())

    def hold(self, told: Told, ask: Any) -> str:
        """Ask, and hold the answer and the ledger against what was announced."""
        before = self.session.budget(POPULATION)
        if told["remaining_after"] is None:
            with pytest.raises(BudgetExceeded):
                ask()
            assert self.session.budget(POPULATION) == before
            return "refused"
        answer = ask()
        assert told["charge"].items() <= answer["charge"].items()
        assert told["debited"] == answer["debited"]
        assert told["replayed"] == answer["replayed"]
        assert told["remaining_after"].items() <= answer["remaining"].items()
        left = self.session.budget(POPULATION).population
        assert told["remaining_after"]["population"]["epsilon"] == str(left.to_dict()["epsilon_remaining"])
        if not told["replayed"]:
            return "charged"
        return "given again" if set(told["debited"]["analyst"].values()) == {"0"} else "given to another"


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_announced_is_what_is_charged_and_what_remains(house: tuple[str, Session], seed: int) -> None:
    budget, session = house
    asking = Asking(session, budget, seed)
    seen = {asking.step() for _ in range(STEPS)}
    assert seen == {"charged", "given again", "given to another", "refused"}, "a sequence that tries everything"
    session.verify()
