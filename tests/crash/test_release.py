"""kill -9 in the middle of a whole release: one charge, one answer, whatever point was reached."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet

CARD = """
dataset: t
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 3}
allow: [generated, bootstrap]
columns:
  pid: {kind: id, type: integer}
  group: {kind: category, categories: [1, 2, 3]}
"""

SQL = 'SELECT "group", COUNT(*) AS n FROM t GROUP BY "group"'

# Asks once, after replacing a function by one that kills the process before or after it did its work.
ASK = """
import json, os, signal, sys
from importlib import import_module
import discreet
workspace, sql, what, place, name, when = sys.argv[1:]
if place:
    module, _, attribute = place.partition(":")
    owner = import_module(module)
    for part in [part for part in attribute.split(".") if part]:
        owner = getattr(owner, part)
    original = getattr(owner, name)
    def patched(*arguments, **options):
        if when == "after":
            original(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, patched)
from discreet.lab.laboratory import Laboratory
from discreet.tables.request import table_request
house = discreet.open(workspace)
own = {"epsilon": "0.5", "request_id": "one"}
if what == "query":
    told = house.query(sql, **own, fresh=True).to_dict()
elif what == "workload":
    told = house.run(house.workspace.path.parent / "workload.yaml", request_id="one").to_dict()
elif what == "table":
    told = house.table("t", by=["group"], **own, fresh=True).to_dict()
elif what == "unproven":
    told = Laboratory(house).ask_unproven("SELECT COUNT(*) AS n FROM t", strategy="local", **own).to_dict()
else:
    told = Laboratory(house).bootstrap(table_request("t", ["group"]), **own).to_dict()
released = told.get("answers") or told.get("cells") or told["rows"]
if what == "workload":
    released = {name: answer["rows"] for name, answer in released.items()}
print(json.dumps([released, told["charge"]["epsilon"]]))
"""

WORKLOAD = """
epsilon: 0.5
questions:
  - {name: all, sql: SELECT COUNT(*) AS n FROM t}
  - {name: groups, sql: 'SELECT "group", COUNT(*) AS n FROM t GROUP BY "group"'}
"""

POINTS = [
    ("discreet.ledger.workspace_ledger:Ledger", "spend", "after"),
    ("discreet.engines.embedded:EmbeddedEngine", "measure", "before"),
    ("discreet.mechanisms.discrete_laplace:DiscreteLaplace", "release", "before"),
    ("discreet.mechanisms.discrete_laplace:DiscreteLaplace", "release", "after"),
    ("discreet.ledger.workspace_ledger:Ledger", "commit_answer", "before"),
    ("discreet.ledger.workspace_ledger:Ledger", "commit_answer", "after"),
]
# The steps of the pipeline after which something stands.
STEPS = ("before", "after")
CHARGED = [("discreet.release.pipeline:Charge", name, when) for name in ("settle", "commit") for when in STEPS]
MARKED = [("discreet.release.pipeline:Mark", name, when) for name in ("settle", "commit") for when in STEPS]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    from discreet.session import Session

    (tmp_path / "t.csv").write_text("pid,group\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(300)), encoding="utf-8")
    (tmp_path / "t.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "workload.yaml").write_text(WORKLOAD, encoding="utf-8")
    session = Session.create(tmp_path / "w")
    session.add(tmp_path / "t.csv", confirm=lambda _: True)
    session.ledger.close()
    return tmp_path / "w"


def ask(workspace: Path, place: str = "", name: str = "", when: str = "", *, what: str = "query") -> tuple[int, Any]:
    words = [sys.executable, "-c", ASK, str(workspace), SQL, what, place, name, when]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.parametrize(("place", "name", "when"), POINTS)
def test_a_killed_release_is_charged_once_and_answered_once(workspace: Path, place: str, name: str, when: str) -> None:
    code, _ = ask(workspace, place, name, when)
    assert code == -signal.SIGKILL
    code, (rows, charged) = ask(workspace)
    assert code == 0
    assert charged == "0", "the charge of the killed process is met, not made again"
    house = discreet.open(workspace)
    assert house.query(SQL, epsilon="0.5", request_id="one", fresh=True).rows == rows
    found = house.verify()
    assert (found.charges, found.answers) == (1, 1)
    assert str(house.budget("t").population.epsilon_spent) == "0.5"
    house.ledger.close()


@pytest.mark.long
@pytest.mark.parametrize(("place", "name", "when"), CHARGED)
@pytest.mark.parametrize("what", ["query", "workload", "table"])
def test_every_charged_release_is_charged_once_and_answered_once(
    workspace: Path, what: str, place: str, name: str, when: str
) -> None:
    code, _ = ask(workspace, place, name, when, what=what)
    assert code == -signal.SIGKILL
    _, (released, charged) = ask(workspace, what=what)
    stood = (name, when) != ("settle", "before")
    assert charged == ("0" if stood else "0.5")
    assert ask(workspace, what=what) == (0, [released, "0"])
    house = discreet.open(workspace)
    found = house.verify()
    assert (found.charges, found.answers) == (1, 1)
    assert str(house.budget("t").population.epsilon_spent) == "0.5"
    house.close()


@pytest.mark.long
@pytest.mark.parametrize(("place", "name", "when"), MARKED)
@pytest.mark.parametrize("what", ["unproven", "bootstrap"])
def test_what_is_not_private_never_leaves_without_its_marker(
    workspace: Path, what: str, place: str, name: str, when: str
) -> None:
    """A marker may stand for what never left; what left always has one, and is the same whenever it is asked for."""
    code, _ = ask(workspace, place, name, when, what=what)
    assert code == -signal.SIGKILL
    house = discreet.open(workspace)
    assert len(house.budget("t").markers) == (0 if (name, when) == ("settle", "before") else 1)
    _, (released, charged) = ask(workspace, what=what)
    assert charged == "0"
    kept = (name, when) == ("commit", "after")
    before = (name, when) == ("settle", "before")
    assert len(house.budget("t").markers) == (1 if kept or before else 2)
    assert ask(workspace, what=what) == (0, [released, "0"])
    house.close()
