"""What is hashed, charged or stored has the same bytes whatever language is spoken; what people read has not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.catalogue import ENGLISH, FRENCH, LANGUAGES, speaking
from discreet.errors import ChargedNotAnswered
from discreet.ledger import describe_event
from discreet.release import explain_ask, plan_workload, run_workload
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from tests.unit.release.conftest import CARD, VISITS, Fixed, House, make_house, people, stays

QUESTIONS = {
    "count": 'SELECT "group", COUNT(*) AS n, SUM(age) AS s FROM t WHERE height > 1.52 GROUP BY "group"',
    "mean": "SELECT AVG(height) AS h, STDDEV(age) AS d FROM t",
    "rank": "SELECT MEDIAN(age) AS m, MAX(age) AS top FROM t",
    "open keys": "SELECT town, COUNT(*) AS n FROM t GROUP BY town",
    "private bounds": "SELECT AVG(income) AS i FROM t",
    "from rows": "SELECT AVG(note) AS n FROM visits",
    "joined": "SELECT COUNT(*) AS n FROM t JOIN visits ON t.pid = visits.pid",
}


def open_house(folder: Path) -> House:
    budget = ("{epsilon: 100}", "{epsilon: 100, delta: 1e-5}")
    card = (CARD + "  income: {kind: integer, bounds: private}\n").replace(*budget)
    head, *rows = people(2000).splitlines()
    listed = "\n".join([f"{head},income", *(f"{row},{index % 90}" for index, row in enumerate(rows)), ""])
    return House(make_house(folder, {"t": (listed, card), "visits": (stays(), VISITS.replace(*budget))}))


def ask(house: House, sql: str) -> None:
    delta = "1e-6" if "town" in sql else 0
    house.ask(sql, delta=delta)


def records(house: House) -> list[Any]:
    """Every event but for its time and what follows from noise."""
    return [[event.kind, event.population, _without_noise(event.payload)] for event in house.session.ledger.log()]


def _without_noise(payload: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in payload.items() if name not in {"sha256", "workspace"}})


@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_is_the_same_on_the_ledger_in_every_language(sql: str, tmp_path: Path) -> None:
    hashes, events = [], []
    for language in LANGUAGES:
        house = open_house(tmp_path / language)
        with house.session, speaking(language):
            hashes.append(house.question(sql).hashes)
            ask(house, sql)
            events.append(records(house))
    assert hashes[0] == hashes[1]
    assert events[0] == events[1]


def test_a_table_is_the_same_on_the_ledger_in_every_language(tmp_path: Path) -> None:
    events = []
    for language in LANGUAGES:
        house = open_house(tmp_path / language)
        with house.session, speaking(language):
            edges = {"age": [0, 30, 120]}
            house.session.table("t", by="group,age", edges=edges, epsilon=1, request_id="count")
            house.session.table("t", by="group", value="height", mean=True, epsilon=1, request_id="mean")
            events.append(records(house))
    assert events[0] == events[1]


def test_a_workload_is_the_same_on_the_ledger_in_every_language(tmp_path: Path) -> None:
    events = []
    for language in LANGUAGES:
        house = open_house(tmp_path / language)
        session = house.session
        with session, speaking(language):
            asked = [WorkloadQuestion(name, QUESTIONS[name]) for name in ("count", "mean", "from rows")]
            plan = plan_workload(
                Workload(tuple(asked), epsilon=Decimal(3)), session.workspace, session.ledger, analyst="ana"
            )
            run_workload(plan, session.ledger, request_id="one", open_engine=house.opening())
            events.append(records(house))
    assert events[0] == events[1]


def test_an_answer_stored_in_one_language_is_given_again_in_the_other(tmp_path: Path) -> None:
    house = open_house(tmp_path)
    with house.session:
        for sql in (QUESTIONS["mean"], QUESTIONS["private bounds"], QUESTIONS["from rows"]):
            with speaking(FRENCH):
                first = house.ask(sql, request_id=f"{hash(sql)}-fr")
            with speaking(ENGLISH):
                again = house.ask(sql, request_id=f"{hash(sql)}-en")
            assert again.settlement.replayed
            assert again.noisy.to_bytes() == first.noisy.to_bytes()


def test_a_reason_is_stored_in_english_and_told_in_the_language_of_the_reader(tmp_path: Path) -> None:
    house = open_house(tmp_path)
    with house.session, speaking(FRENCH):
        given = house.ask(QUESTIONS["from rows"])
        assert given.noisy.unproven.startswith("the categories or bounds of note were read")
        assert "ont été lues dans les lignes" in given.claim.guarantee.reason
        with pytest.raises(ChargedNotAnswered):
            house.ask(QUESTIONS["count"], engine=Fixed(OSError()), request_id="two")
        events = list(house.session.ledger.log())
    stored = [event.payload["reason"] for event in events if "reason" in event.payload]
    assert stored == ["the engine or the mechanism failed after a charge"]
    with speaking(FRENCH):
        told = [describe_event(event, reasons=True).what for event in events]
    assert any("ont été lues dans les lignes" in what for what in told)
    assert any("a échoué après un débit" in what for what in told)


def test_a_statement_read_in_one_language_is_explained_in_the_other(tmp_path: Path) -> None:
    """Statements are kept as they were read, so none may hold words of the language that was spoken then."""
    house = open_house(tmp_path)
    with house.session as session:
        with speaking(FRENCH):
            asked = house.question(QUESTIONS["private bounds"])
            french = explain_ask(asked, session.ledger).to_text()
        english = explain_ask(asked, session.ledger).to_text()
    assert "SUM(income − le milieu de ses bornes)" in french
    assert "SUM(income − the middle of its bounds)" in english


def test_facts_of_a_refusal_for_machines_are_the_same_in_every_language() -> None:
    from discreet.errors import BudgetExceeded
    from discreet.guarantees import PureDP
    from discreet.ledger import cost_of

    def refuse() -> BudgetExceeded:
        cost = cost_of(PureDP(epsilon="0.5"))
        return BudgetExceeded(cost=cost, remaining=cost, limit="analyst", holder="ana")

    with speaking("fr"):
        french = refuse()
    assert "epsilon 0,5" in french.message
    assert french.fields == refuse().fields
    assert french.fields["cost"] == "epsilon 0.5"
