"""Answers by strategies without a proof: what they need, what they leave behind, and what they never show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine import Measured
from discreet.errors import (
    DatasetSuspended,
    ExtraMissing,
    ParameterInvalid,
    QueryRefused,
    Refused,
    RequestConflict,
    UnknownName,
    UsageError,
)
from discreet.guarantees.types import ZCDP, Guarantee, Unproven
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.shelf import Shelved, shelve
from discreet.lab.strategies.unproven_question import UnprovenStrategy, ask_unproven
from discreet.release.journals.unproven_journal import JOURNAL_FILE, UnprovenJournal, describe_marker
from discreet.session import Session
from discreet.sql.algebra import Plan
from tests.releases import render_text
from tests.unit.release.conftest import make_house
from tests.unit.tables.office import CARD, PEOPLE, POPULATION, write_people

pytestmark = pytest.mark.slow

ALLOWED = CARD.replace("weight: {column", "allow: [generated]\nweight: {column").replace(
    "{epsilon: 100000, per_analyst: 60000}", "{epsilon: 5, per_analyst: 3}"
)
SQL = "SELECT AVG(age) AS mean FROM people WHERE smokes = '1'"
COUNT = "SELECT COUNT(*) FROM people"
JOINED = "SELECT SUM(cost) FROM people JOIN visits USING (pid)"
VISITS = """
dataset: visits
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 5, per_analyst: 3}
columns:
  pid: {kind: id, type: integer}
  cost: {kind: integer, bounds: [0, 9]}
"""


@dataclass
class Stand:
    """In place of a trained model: the real rows again and again, as many as are asked for."""

    rows: GeneratorRows
    guarantee: Guarantee = field(default_factory=lambda: Unproven("a stand-in for a model"))
    asked: list[int] = field(default_factory=list)
    words: str = "first"

    @property
    def shapes(self) -> Any:
        return self.rows.shapes

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text(json.dumps(self.words))

    def sample(self, count: int) -> GeneratorRows:
        self.asked.append(count)
        places = np.arange(count) % len(self.rows)
        return GeneratorRows(self.rows.shapes, {name: values[places] for name, values in self.rows.values.items()})


@dataclass
class House:
    """A session whose card permits such answers, with a model of its dataset."""

    session: Session
    stand: Stand

    def ask(self, sql: str = SQL, *, strategy: str = "local", **options: Any) -> Any:
        asked = {"epsilon": "1", "analyst": "ana", "open_engine": self.session.open_engine, **options}
        return ask_unproven(sql, self.session.workspace, self.session.ledger, strategy=strategy, **asked)

    def shelve(self, stand: Stand | None = None, **options: Any) -> Shelved:
        dataset = self.session.workspace.dataset("people")
        return shelve(self.session.workspace, dataset, stand or self.stand, **options)  # type: ignore[arg-type]

    @property
    def markers(self) -> int:
        return len(self.session.ledger.state(POPULATION).markers)


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., House]]:
    with ExitStack() as opened:

        def make(card: str = ALLOWED) -> House:
            session = opened.enter_context(make_house(tmp_path, {"people": (write_people(PEOPLE), card)}))
            stand = Stand(read_rows(session.workspace.dataset("people")))
            monkeypatch.setattr(Shelved, "load", lambda _: stand)
            house = House(session, stand)
            house.shelve()
            return house

        yield make


@pytest.fixture
def house(build: Callable[..., House]) -> House:
    return build()


@pytest.mark.parametrize("strategy", list(UnprovenStrategy))
def test_an_answer_is_marked_and_says_what_it_is(house: House, strategy: str) -> None:
    answer = house.ask(strategy=strategy, request_id="first")
    [marker] = house.session.ledger.state(POPULATION).markers
    assert (marker.analyst, marker.dataset, marker.sequence) == ("ana", "people", answer.settlement.marker)
    told = answer.to_dict()
    assert told["differentially_private"] is False
    assert str(told["guarantee"]).startswith("not differentially private: ")
    assert told["charge"] == {"epsilon": "0", "delta": "0"}
    assert told["rows"] == [{"mean": answer.value}]
    assert told["intervals"] == [{"mean": [None, None]}]
    assert any("no longer bounds everything" in warning for warning in answer.warnings)
    assert any("not differentially private" in warning for warning in answer.warnings)
    header, line = render_text(answer, "csv", "en").splitlines()
    assert header == "mean,guarantee"
    assert "not differentially private" in line
    assert house.session.ledger.state(POPULATION).population.epsilon_spent == 0


def test_neither_noise_nor_sensitivity_nor_time_is_shown_or_kept(house: House) -> None:
    answers = [house.ask(strategy=strategy).to_dict() for strategy in UnprovenStrategy]
    kept = [json.loads(line) for line in (house.session.workspace.path / JOURNAL_FILE).read_text().splitlines()]
    assert len(kept) == 3
    telling = ("sensitivity", "scale", "time", "seconds", "variance", "half_width", "expected")
    names = set(_keys([*answers, *kept]))
    assert not [name for name in names if any(word in name for word in telling)]


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_replacement_answers_as_the_model_does(house: House) -> None:
    """The stand-in gives the 240 real rows back, so the answer is that of the rows."""
    answer = house.ask(COUNT, strategy="replace", epsilon=None)
    assert (answer.value, house.stand.asked) == (240, [240])
    assert answer.to_dict()["unproven"] == {
        "strategy": "replace",
        "nominal_epsilon": None,
        "model": "default",
        "sample_size": None,
        "marker": answer.settlement.marker,
    }
    again = house.ask(COUNT, strategy="replace", epsilon="2")
    assert again.replayed  # it has no epsilon to differ in


def test_a_generated_column_is_sampled_once(house: House) -> None:
    house.ask(strategy="generated", sample_size=500)
    house.ask("SELECT SUM(height) FROM people", strategy="generated", sample_size=500)
    assert house.stand.asked == [500]
    house.ask(strategy="generated")
    assert house.stand.asked == [500, 100_000]
    house.ask(COUNT, strategy="generated", sample_size=7)
    assert house.stand.asked == [500, 100_000]


def test_values_stand_on_a_grid_of_the_card(house: House) -> None:
    assert isinstance(house.ask(COUNT).value, int)
    total = house.ask("SELECT SUM(height) FROM people")
    assert (float(total.value) * 100) == pytest.approx(round(float(total.value) * 100))
    mean = float(house.ask().value)
    assert round(mean, 6) == mean


def test_the_same_question_returns_the_stored_answer(house: House) -> None:
    first = house.ask(strategy="generated")
    house.session.add_analyst("bob")
    again = house.ask(strategy="generated", analyst="bob")
    assert (again.value, again.replayed, first.replayed) == (first.value, True, False)
    assert house.markers == 1
    for other in (
        {"strategy": "local"},
        {"strategy": "generated", "epsilon": "2"},
        {"strategy": "generated", "sample_size": 10_000},
    ):
        assert not house.ask(**other).replayed
    assert house.markers == 4
    house.shelve(replace(house.stand, words="second"))
    assert not house.ask(strategy="generated").replayed
    assert house.markers == 5


def test_what_has_one_plan_has_one_answer_in_the_units_of_each_statement(house: House) -> None:
    metres = house.ask("SELECT SUM(height) AS total FROM people").value
    centimetres = house.ask("SELECT SUM(100 * height) AS total FROM people")
    assert (centimetres.replayed, centimetres.value) == (True, round(100 * metres))
    mean = house.ask("SELECT AVG(height) AS mean FROM people").value
    assert house.ask("SELECT AVG(100 * height) AS mean FROM people").value == pytest.approx(100 * mean, abs=1e-9)
    chosen = "CASE WHEN smokes = '1' THEN 10 ELSE 0 END"
    plain, moved = (house.ask(f"SELECT AVG({value}) AS mean FROM people") for value in (chosen, f"{chosen} + 3"))
    assert moved.replayed
    assert moved.value == pytest.approx(plain.value + 3, abs=1e-9)


def test_a_request_id_belongs_to_one_question(house: House) -> None:
    first = house.ask(request_id="one")
    assert house.ask(request_id="one").value == first.value
    with pytest.raises(RequestConflict, match="another unproven answer"):
        house.ask(request_id="one", epsilon="2")
    assert house.markers == 1


def test_a_marker_is_told_in_words(house: House) -> None:
    answer = house.ask()
    workspace = house.session.workspace
    told = describe_marker(workspace, population=POPULATION, marker=answer.settlement.marker)
    assert told == "an unproven answer by strategy local, nominal epsilon 1,"
    assert describe_marker(workspace, population=POPULATION, marker=answer.settlement.marker + 1) is None
    (workspace.path / JOURNAL_FILE).write_text("damaged\n")
    assert describe_marker(workspace, population=POPULATION, marker=answer.settlement.marker) is None
    with pytest.raises(Refused, match=r"line 1 of 'unproven\.jsonl'"):
        house.ask()


def test_a_new_version_is_asked_anew(house: House, tmp_path: Path) -> None:
    house.ask()
    house.session.add(tmp_path / "people.csv", replace=True)
    again = house.ask()
    assert (again.replayed, again.source.version, house.markers) == (False, 2, 2)


def test_a_model_of_another_version_is_said(house: House, tmp_path: Path) -> None:
    house.session.add(tmp_path / "people.csv", replace=True)
    answer = house.ask(strategy="replace")
    assert any("was trained on version 1" in warning for warning in answer.warnings)


def test_a_model_trained_with_privacy_is_not_blamed(house: House) -> None:
    house.stand.guarantee = ZCDP(rho="0.5")
    house.shelve(name="open")
    answer = house.ask(strategy="replace", model="open")
    assert "as many rows were generated as the data have" in str(answer.guarantee)


# --- refusals: nothing is marked ------------------------------------------------------------------------------------


def test_without_the_cards_permission_nothing_is_answered(build: Callable[..., House]) -> None:
    house = build(CARD)
    for strategy in UnprovenStrategy:
        with pytest.raises(Refused, match=r"allow: \[generated\]"):
            house.ask(strategy=strategy)
    assert house.markers == 0
    assert not (house.session.workspace.path / JOURNAL_FILE).exists()


def add_visits(house: House, folder: Path, *, allow: str = "") -> None:
    """A second dataset about the same people."""
    (folder / "visits.csv").write_text("pid,cost\n1,7\n2,5\n", encoding="utf-8")
    (folder / "visits.yaml").write_text(VISITS + allow, encoding="utf-8")
    house.session.add(folder / "visits.csv")


def test_a_join_needs_the_permission_of_every_card(house: House, tmp_path: Path) -> None:
    add_visits(house, tmp_path)
    with pytest.raises(Refused, match="'visits' does not permit unproven releases"):
        house.ask(JOINED)
    assert house.markers == 0


REFUSED: tuple[tuple[dict[str, Any], type[Exception], str], ...] = (
    ({"strategy": "guess"}, ParameterInvalid, "must be public, local, generated, replace"),
    ({"epsilon": None}, UsageError, "nominal --epsilon"),
    ({"epsilon": "3.5"}, ParameterInvalid, "must be at most 3"),
    ({"epsilon": "-1"}, ParameterInvalid, "epsilon"),
    ({"model": "default"}, UsageError, "uses no model"),
    ({"sample_size": 10}, UsageError, "--sample-size"),
    ({"strategy": "replace", "sample_size": 10}, UsageError, "--sample-size"),
    ({"strategy": "generated", "sample_size": 0}, ParameterInvalid, "sample size"),
    ({"strategy": "generated", "model": "defult"}, UnknownName, "Did you mean 'default'"),
    ({"analyst": "nobody"}, UnknownName, "nobody"),
    ({"sql": "SELECT region, COUNT(*) FROM people GROUP BY region"}, QueryRefused, "one aggregate"),
    ({"sql": "SELECT MAX(age) FROM people", "strategy": "generated"}, QueryRefused, "COUNT, SUM or AVG"),
    ({"sql": "SELECT SUM(age) FROM people WHERE town = 'A'", "strategy": "replace"}, QueryRefused, "town"),
)


def test_what_is_refused_leaves_nothing_behind(house: House) -> None:
    for options, error, words in REFUSED:
        with pytest.raises(error, match=words):
            house.ask(**options)
    assert house.markers == 0
    assert UnprovenJournal(house.session.workspace.path).entries() == []


def test_a_model_that_cannot_be_loaded_leaves_no_marker(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Shelved) -> Any:
        raise ExtraMissing(needed_for="the tabular generator", extra="gan")

    def broken(_: Shelved) -> Any:
        raise RuntimeError("row 31 holds 9000")

    for load, error in ((missing, ExtraMissing), (broken, Refused)):
        monkeypatch.setattr(Shelved, "load", load)
        for strategy in ("generated", "replace"):
            with pytest.raises(error) as caught:
                house.ask(strategy=strategy)
            assert "9000" not in str(caught.value)
    assert house.markers == 0


def test_a_suspended_dataset_is_refused_but_stored_answers_stay(house: House) -> None:
    first = house.ask()
    house.session.ledger.suspend("people", population=POPULATION, reason="a look", who="ana")
    assert house.ask().value == first.value
    with pytest.raises(DatasetSuspended):
        house.ask(epsilon="2")
    assert house.markers == 1


class Broken:
    """An engine that fails on the rows."""

    def measure(self, plan: Plan) -> Measured:
        raise RuntimeError("row 31 holds 9000")

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("strategy", list(UnprovenStrategy))
def test_a_failure_after_the_marker_is_told_in_fixed_words(house: House, strategy: str) -> None:
    with pytest.raises(Refused, match="'people' is suspended") as caught:
        house.ask(strategy=strategy, open_engine=lambda _: Broken())
    assert caught.value.__cause__ is None
    assert "9000" not in str(caught.value)
    assert house.markers == 1
    assert house.session.ledger.suspended("people")
    assert UnprovenJournal(house.session.workspace.path).entries() == []


def test_a_join_that_fails_suspends_all_its_datasets(house: House, tmp_path: Path) -> None:
    add_visits(house, tmp_path, allow="allow: [generated]\n")
    with pytest.raises(Refused, match="is suspended"):
        house.ask(JOINED, open_engine=lambda _: Broken())
    assert all(house.session.ledger.suspended(name) for name in ("people", "visits"))


def test_an_engine_that_was_lent_stays_open(house: House) -> None:
    house.ask()
    shelf = house.session._engines
    assert shelf is not None
    [engine] = shelf._engines.values()
    assert isinstance(engine, EmbeddedEngine)
    assert engine._database is not None


def test_texts_are_counted_like_anything_else(house: House) -> None:
    """They have no histogram: a question for one must not suspend the dataset."""
    for strategy in ("local", "generated"):
        value = house.ask("SELECT COUNT(town) FROM people", strategy=strategy).value
        assert abs(value - 240) < 60  # e^-60: noise of scale 1
    assert not house.session.ledger.suspended("people")


def test_an_empty_selection_is_answered_like_any_other(house: House) -> None:
    """Nobody is 99 years old and smokes; whether there is an answer must not tell."""
    nobody = "SELECT AVG(age) FROM people WHERE age >= 99 AND smokes = '1' AND grade = 3 AND change > 49"
    for strategy in UnprovenStrategy:
        assert isinstance(house.ask(nobody, strategy=strategy).value, float)
    assert not house.session.ledger.suspended("people")
