"""Workloads and explanations from the command line, as a user runs them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.clinic import Run

WORK = """\
questions:
  - name: towns
    sql: SELECT town, COUNT(*) AS people FROM clinic GROUP BY town
    within: {people: 30}
  - name: ages
    sql: SELECT AVG(age) AS mean FROM clinic
    within: {mean: 2}
    assume: {n: 3000}
"""


def test_plan_run_and_run_again(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "work.yaml").write_text(WORK, encoding="utf-8")
    table = run("plan", "-w", "w", "work.yaml").out
    for word in ("towns", "people", "ages", "mean", "interval", "total epsilon", "remains"):
        assert word in table
    planned = run("plan", "-w", "w", "work.yaml", "--format", "json").json()
    assert planned["possible"] is True
    assert planned["total"]["epsilon"] == planned["charge"]["epsilon"]
    assert planned["questions"][0]["outputs"][0]["slices"][0]["half_width"] == 30
    words = ("plan", "-w", "w", "work.yaml", "--run", "--request-id", "r1", "--format", "json")
    first, again = run(*words).json(), run(*words).json()
    assert first["charge"]["epsilon"] == planned["total"]["epsilon"]
    assert first["plan_hash"] == planned["plan_hash"]
    assert [row["town"] for row in first["answers"]["towns"]["rows"]] == ["N", "S", None]
    assert again["replayed"] is True
    assert again["answers"]["ages"]["rows"] == first["answers"]["ages"]["rows"]
    budget = run("budget", "-w", "w", "--format", "json").json()["populations"][0]["population"]
    assert budget["charges"] == 1
    assert budget["epsilon_spent"] == planned["total"]["epsilon"]
    shown = run("plan", "-w", "w", "work.yaml", "--run", "--request-id", "r1").out
    assert "North" in shown
    assert "the same as before" in shown


def test_a_total_that_cannot_reach_the_targets_exits_1(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "work.yaml").write_text(WORK, encoding="utf-8")
    refused = run("plan", "-w", "w", "work.yaml", "--epsilon", "0.1", "--format", "json", code=1)
    assert refused.json()["possible"] is False
    assert "which reaches towns: people ± " in refused.err
    run("plan", "-w", "w", "work.yaml", "--epsilon", "0.1", "--run", code=1)
    assert run("ledger", "verify", "-w", "w", "--format", "json").json()["charges"] == 0


def test_wrong_files_are_told_with_their_lines(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "work.yaml").write_text(WORK.replace("within: {mean", "witihn: {mean"), encoding="utf-8")
    wrong = run("plan", "-w", "w", "work.yaml", code=1)
    assert wrong.err.startswith("WorkloadInvalid: work.yaml:7: unknown key 'witihn'")
    assert run("plan", "-w", "w", "nowhere.yaml", code=2).err.startswith("PathInvalid")


def test_explain_and_plan_are_byte_identical_without_the_rows(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "work.yaml").write_text(WORK, encoding="utf-8")
    sql = "SELECT town, AVG(age) AS mean, MEDIAN(age) AS middle FROM clinic WHERE smokes = 1 GROUP BY town"
    calls = [
        ("query", "-w", "w", sql, "--epsilon", "0.3", "--explain", "--assume", "n=500"),
        ("query", "-w", "w", sql, "--epsilon", "0.3", "--explain", "--format", "json"),
        ("query", "-w", "w", sql, "--within", "mean=6", "--assume", "n=500", "--explain"),
        ("plan", "-w", "w", "work.yaml"),
    ]
    before = [run(*words).out for words in calls]
    (clinic / "datasets" / "clinic" / "v1" / "data.parquet").unlink()
    assert [run(*words).out for words in calls] == before
    assert "depends" not in before[0]
    assert "add --assume n=" in before[1]


def test_a_draft_is_planned_and_run_as_it_is(run: Run, tmp_path: Path) -> None:
    run("sample", "survey", "data", "--rows", "2000")
    run("init", "w")
    run("add", "-w", "w", "data/survey.parquet")
    run("plan", "init", "tables.yaml")
    assert "exists" in run("plan", "init", "tables.yaml", code=2).err
    run("plan", "init", "tables.yaml", "--overwrite")
    assert "total epsilon" in run("plan", "-w", "w", "tables.yaml").out
    assert set(run("plan", "-w", "w", "tables.yaml", "--run", "--format", "json").json()["answers"]) == {
        "smokers",
        "height",
    }
