"""Bootstrap tables from the command line: asked, refused, seen in the budget, examined by the custodian."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cards.card import Card
from discreet.sql.statement import Statement
from discreet.tables import formation as forming
from discreet.tables.request import TableRequest
from tests.cli.clinic import Run

CARD = """
dataset: farms
unit: {column: farm, rows: 1}
neighbours: replace-one
budget: {epsilon: 3, per_analyst: 2}
weight: {column: weight, cap: 4}
allow: [bootstrap]
columns:
  farm: {kind: id, type: integer}
  status: {kind: category, categories: [owner, share]}
  output: {kind: integer, bounds: [0, 1000]}
  weight: {kind: number, bounds: [0, 4], step: 0.01}
"""
ROWS = "farm,status,output,weight\n" + "".join(
    f"{farm},{'owner' if farm < 30 else 'share'},{farm},2.5\n" for farm in range(1, 41)
)
FARMS = ("-w", "w", "farms", "--by", "status", "--value", "output")
BOOTSTRAP = ("lab", "bootstrap", *FARMS)
EXAMINE = ("lab", "examine", *FARMS)


@pytest.fixture
def farms(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "farms.yaml").write_text(CARD)
    (tmp_path / "farms.csv").write_text(ROWS)
    run("init", "w")
    run("add", "-w", "w", "farms.csv")
    return tmp_path / "w"


def test_a_release_stands_in_the_budget_for_good(run: Run, farms: Path) -> None:
    shown = run(*BOOTSTRAP, "--epsilon", "1").out
    assert "not differentially private" in shown
    assert shown.count("nobody who joins the data later") == 1
    again = run(*BOOTSTRAP, "--epsilon", "1.0", "--format", "json").json()
    assert again["replayed"] is True
    told = run("budget", "-w", "w").out
    assert "a bootstrap release, method (i), nominal epsilon 1, of farms" in told
    assert "nominal epsilon 1 in all" in told
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    (release,) = state["bootstrap"]["releases"]
    assert release["marker"] == state["markers"][0]["sequence"]
    assert "values" not in release
    log = farms / "bootstrap.jsonl"
    log.write_text("nonsense\n" + log.read_text())
    damaged = run("budget", "-w", "w").out
    assert "line 1 of 'bootstrap.jsonl' cannot be read" in damaged
    assert "an unproven release of farms" in damaged


@pytest.mark.parametrize("command", [("table", *FARMS), BOOTSTRAP])
def test_a_request_is_planned_once(
    run: Run, farms: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    planned: list[TableRequest] = []
    plan = forming.plan_table

    def note(request: TableRequest, card: Card) -> Statement:
        planned.append(request)
        return plan(request, card)

    monkeypatch.setattr(forming, "plan_table", note)
    run(*command, "--epsilon", "1", "--out", "table.csv")
    assert len(planned) == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((*BOOTSTRAP, "--epsilon", "1", "--explain"), 2, "No such option: --explain"),
        ((*BOOTSTRAP, "--epsilon", "1", "--fresh"), 2, "No such option: --fresh"),
        ((*BOOTSTRAP, "--epsilon", "1", "--suppress-above", "0.3"), 2, "No such option: --suppress-above"),
        (("table", *FARMS, "--epsilon", "1", "--bootstrap-method", "pair"), 2, "does not go with --method dp"),
        ((*BOOTSTRAP, "--epsilon", "1000000"), 2, "must be at most 2"),
        ((*BOOTSTRAP, "--epsilon", "-1"), 2, "must be positive"),
        ((*BOOTSTRAP, "--epsilon", "1", "--request-id", "a b"), 2, "request id must be letters"),
        ((*BOOTSTRAP, "--epsilon", "1", "--mean"), 1, "a mean is two tables"),
        ((*BOOTSTRAP, "--epsilon", "1", "--pool", "none.csv"), 2, "none.csv"),
        (EXAMINE, 1, "CustodianOnly"),
        ((*EXAMINE, "--custodian", "--gamma", "1"), 2, "gamma must be below 1"),
    ],
)
def test_what_is_refused_leaves_no_mark(run: Run, farms: Path, words: tuple[str, ...], code: int, told: str) -> None:
    assert told in run(*words, code=code).err
    (state,) = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert (state["markers"], state["charges"], state["bootstrap"]["releases"]) == ([], 0, [])


def test_an_examination_for_the_custodian(run: Run, farms: Path) -> None:
    seen = run(*EXAMINE, "--custodian", "--gamma", "0.1")
    assert "CUSTODIAN VIEW" in seen.err
    assert "sensitivity 28 as printed, 69 as it is, 2,000 by public bounds" in seen.out
    assert "with probability at least 0.9 no figure" in seen.out
    found = run(*EXAMINE, "--custodian", "--format", "json").json()
    assert found["custodian_only"] is True
    assert found["table"]["sensitivity"] == 69
    assert "[against] Is the sensitivity beyond calculation?" in seen.out
    assert "[decide] Is it fixed who is in the data" in seen.out
    assert [item["speaks"] for item in found["checklist"]].count("decide") >= 3
    assert len(found["checklist"]) == 11


def test_weighted_counts_are_in_people(run: Run, farms: Path) -> None:
    """29 owners of weight 2.5 with noise of scale 2.5: farther off than 70 with chance below 1e-12."""
    words = ("table", "-w", "w", "farms", "--by", "status", "--weighted", "--method", "bootstrap", "--epsilon", "2")
    found = run(*words, "--format", "json").json()
    assert abs(found["cells"][0]["value"] - 72.5) < 70
