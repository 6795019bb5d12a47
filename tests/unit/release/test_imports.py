"""Whatever the noise needs is loaded before the charge: after it nothing can be missing that was there before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.errors import Refused
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.session import Session

CARD = """
dataset: people
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100000, delta: 1e-6}
allow: [bootstrap, generated]
columns:
  pid: {kind: id, type: integer}
  town: {kind: category, public: true, categories: [1, 2, 3]}
  age: {kind: integer, bounds: [0, 100]}
  place: {kind: integer, bounds: [0, 29998]}
  income: {kind: number, step: 1}
  wealth: {kind: number, step: 1, bounds: private}
  note: {kind: text}
"""
WORK = """
epsilon: 1
questions:
  - {name: one, sql: SELECT COUNT(*) FROM people}
  - {name: two, sql: "SELECT town, MEDIAN(age) FROM people GROUP BY town"}
"""
BY_TOWN = "TableRequest('people', ('town',))"
ASKED = {
    "counts": "house.query('SELECT COUNT(*) FROM people', epsilon='1')",
    "means": "house.query('SELECT town, AVG(age), SUM(age) / COUNT(*) FROM people GROUP BY town', epsilon='1')",
    "choices": "house.query('SELECT MEDIAN(age), MAX(age) FROM people', epsilon='1')",
    "very many cells": "house.query('SELECT place, COUNT(*), SUM(age) FROM people GROUP BY place', epsilon='1')",
    "many choices": "house.query('SELECT place, MAX(age) FROM people WHERE place < 6000 GROUP BY place', epsilon='1')",
    "a choice among many": "house.query('SELECT MEDIAN(place) FROM people', epsilon='1')",
    "open keys": "house.query('SELECT note, COUNT(*) FROM people GROUP BY note', epsilon='1', delta='1e-7')",
    "private bounds": "house.query('SELECT AVG(wealth) FROM people', epsilon='1')",
    "a clamped sum": "house.query('SELECT SUM(CLAMP(income, 0, 100)) FROM people', epsilon='1')",
    "totals per unit": "house.query('SELECT AVG(t) FROM (SELECT pid, SUM(age) AS t FROM people GROUP BY pid)', "
    "epsilon='1')",
    "a workload": "house.run(Path('work.yaml'))",
    "a table": "house.table('people', by=['town', 'age'], edges={'age': [0, 50, 100]}, epsilon='1')",
    "a Gaussian table": f"house.tables.release(house.tables.read({BY_TOWN}, epsilon='1', noise='gaussian'))",
    "a large Gaussian table": "house.tables.release(house.tables.read(TableRequest('people', ('place',)), epsilon='5', "
    "noise='gaussian'))",
    "a bootstrap table": f"Laboratory(house).bootstrap({BY_TOWN}, epsilon='1')",
    "an unproven answer": "Laboratory(house).ask_unproven('SELECT COUNT(*) FROM people', strategy='local', "
    "epsilon='1')",
}
QUICK = ["means", "a choice among many", "open keys", "a large Gaussian table", "an unproven answer"]
SCRIPT = """
import json, os, sys
from pathlib import Path
import discreet.session
from discreet.ledger import Ledger
from discreet.lab.laboratory import Laboratory
from discreet.tables.request import TableRequest

class Refusing:
    def find_spec(self, name, path=None, target=None):
        missed.append(name)
        raise ImportError(f"{name} is asked for after the charge", name=name)

missed = []

def before(name):
    inner = getattr(Ledger, name)
    def call(self, *words, **named):
        found = inner(self, *words, **named)
        sys.meta_path.insert(0, Refusing())
        return found
    setattr(Ledger, name, call)

def after(name):
    inner = getattr(Ledger, name)
    def call(self, *words, **named):
        found = inner(self, *words, **named)
        sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, Refusing)]
        return found
    setattr(Ledger, name, call)

before("spend"), before("mark"), after("commit_answer")
for what, code in json.loads(sys.argv[1]).items():
    child = os.fork()
    if not child:
        try:
            with discreet.open("w") as house:
                eval(code)
            assert not missed, missed
            os._exit(0)
        except BaseException as fault:
            print(f"{what}: {type(fault).__name__}: {fault}; {missed}", flush=True)
            os._exit(1)
    os.waitpid(child, 0)
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    rows = "".join(f"{pid},{1 + pid % 3},{pid % 90},{pid % 7},{pid % 50},{pid % 60},n{pid % 2}\n" for pid in range(400))
    (tmp_path / "people.csv").write_text("pid,town,age,place,income,wealth,note\n" + rows, encoding="utf-8")
    (tmp_path / "people.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "work.yaml").write_text(WORK, encoding="utf-8")
    with Session.create(tmp_path / "w") as made:
        made.add(tmp_path / "people.csv", confirm=lambda _: True)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [QUICK, pytest.param([name for name in ASKED if name not in QUICK], marks=pytest.mark.long)]
)
def test_nothing_is_imported_between_charge_and_answer(house: Path, asked: list[str]) -> None:
    """Each question in a process that has loaded nothing yet but what opening a workspace takes."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps({name: ASKED[name] for name in asked})],
        cwd=house,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_noise_that_cannot_be_loaded_costs_nothing(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: DiscreteGaussian, count: int | None = None) -> None:
        raise ImportError("no such module", name="numpy")

    monkeypatch.setattr(DiscreteGaussian, "load", missing)
    with Session.create(house / "other") as session:
        session.add(house / "people.csv", confirm=lambda _: True)
        from discreet.tables.request import TableRequest

        asked = session.tables.read(TableRequest("people", ("town",)), epsilon="1", noise="gaussian")
        with pytest.raises(Refused, match=r"numpy cannot be loaded\. Nothing was charged"):
            session.tables.release(asked)
        assert session.budget("all").population.charges == 0
        assert session.describe("people")["suspended"] is False
