"""Commands that need no data."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.clinic import Run


def test_belief_solves_for_queries(run: Run) -> None:
    found = run("belief", "--scale", "30", "--belief", "0.8", "--format", "json").json()
    assert found["queries"] == 41
    assert "41" in run("belief", "--scale", "30", "--belief", "0.8").out


def test_belief_rounds_against_the_optimist(run: Run) -> None:
    found = run("belief", "--scale", "30", "--queries", "50", "--format", "json").json()
    assert 0.8411 < float(found["belief"]) < 0.8412


def test_belief_refuses_nonsense(run: Run) -> None:
    run("belief", "--scale", "30", "--belief", "0.4", code=2)
    run("belief", "--scale", "-1", "--belief", "0.8", code=2)


def test_noise_vectors(tmp_path: Path, run: Run) -> None:
    run("noise", "vectors", "--out", "v.json")
    written = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert written == run("noise", "vectors").json()


def test_sample_add_query_end_to_end(tmp_path: Path, run: Run) -> None:
    run("sample", "survey", "data", "--rows", "5000", "--seed", "3")
    run("sample", "visits", "data", "--rows", "5000", "--seed", "3")
    run("sample", "survey", "data", "--rows", "5000", code=2)
    run("init", "w")
    run("add", "-w", "w", "data/survey.parquet")
    run("add", "-w", "w", "data/visits.parquet")
    sql = "SELECT province, COUNT(*) AS n FROM survey GROUP BY province"
    answer = run("query", "-w", "w", sql, "--epsilon", "0.5", "--format", "json").json()
    assert len(answer["rows"]) == 13
    for sample in ("survey", "visits"):
        broken = run("show", sample, "-w", "w", "--custodian", "--format", "json").json()["incomplete"]
        assert broken
        assert not any(broken.values())
    assert abs(sum(row["n"] for row in answer["rows"]) - 5000) < 400
    spent = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert [state["population"]["epsilon_spent"] for state in spent] == ["0.5"]


def test_version_and_help(run: Run) -> None:
    assert run("--version").out.startswith("discreet ")
    for command in ("init", "add", "show", "query", "budget", "belief", "doctor"):
        assert "Example:" in run(command, "--help").out
    run("quary", code=2)
