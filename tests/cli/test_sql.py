"""SQL from the command line: explanations, targets, confirmation on a terminal, open keys, more than one table."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.clinic import CARD, ROWS, Run

MEANS = "SELECT town, AVG(age) AS age, SUM(age) AS years, COUNT(*) AS n FROM clinic GROUP BY town"


def test_one_statement_costs_its_epsilon_exactly(clinic: Path, run: Run) -> None:
    answer = run("query", "-w", "w", MEANS, "--epsilon", "1", "--format", "json").json()
    assert answer["charge"]["epsilon"] == "1"
    shares = [mechanism["epsilon"] for mechanism in answer["mechanisms"]]
    assert shares == ["0.25", "0.25", "0.25", "0.25"]
    third = run(
        "query", "-w", "w", "SELECT AVG(age), COUNT(*) FROM clinic", "--epsilon", "1", "--explain", "--format", "json"
    )
    assert [measure["epsilon"] for measure in third.json()["measures"]] == ["0.333333333", "0.333333333", "0.333333334"]


def test_explain_never_opens_the_data(clinic: Path, run: Run) -> None:
    words = ("query", "-w", "w", MEANS, "--epsilon", "0.5", "--explain", "--assume", "n=500")
    before = run(*words).out, run(*words, "--format", "json").out
    data = clinic / "datasets" / "clinic" / "v1" / "data.parquet"
    data.unlink()
    (clinic / "datasets" / "clinic" / "v1" / "report.json").unlink()
    assert (run(*words).out, run(*words, "--format", "json").out) == before
    assert "± " in before[0]
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["charges"] == 0


def test_explain_says_what_depends_on_a_count(clinic: Path, run: Run) -> None:
    told = run("query", "-w", "w", MEANS, "--epsilon", "0.5", "--explain", "--format", "json").json()
    by_name = {output["output"]: output for output in told["outputs"]}
    assert "--assume" in str(by_name["age"])
    assert "--assume" not in str(by_name["years"])
    assert told["charge"]["epsilon"] == "0.5"
    assert len(told["plan_hash"]) == 64


def test_within_asks_with_the_least_epsilon_that_reaches_it(clinic: Path, run: Run) -> None:
    sql = "SELECT COUNT(*) AS n FROM clinic"
    answer = run("query", "-w", "w", sql, "--within", "n=40", "--format", "json").json()
    low, high = answer["intervals"][0]["n"]
    assert high - low == 80
    epsilon = answer["charge"]["epsilon"]
    assert 0 < float(epsilon) < 1
    less = f"{float(epsilon) - 1e-9:.9f}"
    wider = run("query", "-w", "w", sql, "--epsilon", less, "--fresh", "--format", "json").json()
    low, high = wider["intervals"][0]["n"]
    assert high - low > 80
    impossible = run("query", "-w", "w", sql, "--within", "n=1", code=1)
    assert "needs epsilon" in impossible.err
    run("query", "-w", "w", sql, "--within", "n=5", "--epsilon", "1", code=2)
    run("query", "-w", "w", sql, code=2)
    run("query", "-w", "w", sql, "--within", "m=5", code=1)


def answer_on_terminal(words: list[str], folder: Path, reply: str) -> tuple[int, str]:
    """Run a command on a terminal of its own and type a reply when it asks."""
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words], cwd=folder, stdin=other, stdout=other, stderr=other, close_fds=True
    )
    os.close(other)
    seen, typed, until = b"", False, time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([main], [], [], 0.2)[0]:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
        if b"[y/N]" in seen and not typed:
            os.write(main, reply.encode())
            typed = True
    os.close(main)
    return process.wait(timeout=60), seen.decode()


def test_a_terminal_is_asked_before_spending(clinic: Path, run: Run, tmp_path: Path) -> None:
    words = ["query", "-w", "w", "SELECT COUNT(*) AS n FROM clinic", "--epsilon", "0.5"]
    code, seen = answer_on_terminal(words, tmp_path, "n\n")
    assert code == 1
    assert "cost epsilon 0.5" in seen
    assert "expected error" in seen
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["charges"] == 0
    code, seen = answer_on_terminal(words, tmp_path, "y\n")
    assert code == 0
    assert "charged epsilon 0.5" in seen
    code, seen = answer_on_terminal([*words, "--fresh", "--yes"], tmp_path, "")
    assert code == 0
    assert "[y/N]" not in seen


def test_having_order_and_limit_work_on_the_stored_answer(clinic: Path, run: Run) -> None:
    sql = "SELECT smokes, COUNT(*) AS n FROM clinic GROUP BY smokes"
    first = run("query", "-w", "w", sql, "--epsilon", "0.5", "--format", "json").json()
    chosen = run(
        "query",
        "-w",
        "w",
        f"{sql} HAVING COUNT(*) > 500 ORDER BY n DESC LIMIT 1",
        "--epsilon",
        "0.5",
        "--format",
        "json",
    ).json()
    assert chosen["replayed"] is True
    assert chosen["rows"] == sorted(first["rows"], key=lambda row: -row["n"])[:1]
    assert len(chosen["intervals"]) == 1
    assert "HAVING or LIMIT" in chosen["interval_meaning"]


def test_open_keys_need_a_delta_and_show_common_ones_only(tmp_path: Path, run: Run) -> None:
    sql = "SELECT note, COUNT(*) AS n FROM clinic GROUP BY note"
    rare = "9000,N,1,30,rare-note\n"
    (tmp_path / "clinic.csv").write_text(ROWS + rare, encoding="utf-8")
    (tmp_path / "clinic.yaml").write_text(
        CARD.replace("{epsilon: 3, per_analyst: 1}", "{epsilon: 3, delta: 1e-6}"), encoding="utf-8"
    )
    run("init", "w")
    run("add", "-w", "w", "clinic.csv")
    refused = run("query", "-w", "w", sql, "--epsilon", "1", code=1)
    assert "--delta" in refused.err
    answer = run("query", "-w", "w", sql, "--epsilon", "1", "--delta", "1e-7", "--format", "json").json()
    assert [row["note"] for row in answer["rows"]] == [f"n{number}" for number in range(7)]
    assert answer["charge"]["delta"] == "0.0000001"
    assert answer["guarantee"].startswith("approximate DP")
    assert "threshold" in answer


def test_a_pure_budget_has_no_open_keys(clinic: Path, run: Run) -> None:
    sql = "SELECT note, COUNT(*) AS n FROM clinic GROUP BY note"
    refused = run("query", "-w", "w", sql, "--epsilon", "1", "--delta", "1e-7", code=1)
    assert "delta" in refused.err
    assert run("budget", "-w", "w", "--format", "json").json()["populations"][0]["charges"] == 0


def test_public_tables_and_other_datasets_can_be_joined(clinic: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("code,side\nN,up\nS,down\n", encoding="utf-8")
    run("public", "add", "-w", "w", "towns.csv", "--key", "code")
    sql = "SELECT t.side, COUNT(*) AS n FROM clinic c JOIN towns t ON c.town = t.code GROUP BY t.side"
    answer = run("query", "-w", "w", sql, "--epsilon", "0.5", "--format", "json").json()
    assert [row["side"] for row in answer["rows"]] == ["up", "down"]
    assert abs(answer["rows"][0]["n"] - 2000) < 300
    (tmp_path / "stays.csv").write_text(
        "patient,nights\n" + "".join(f"{p},{p % 9}\n" for p in range(1, 3001)), encoding="utf-8"
    )
    card = (
        CARD.split("columns:")[0]
        .replace("dataset: clinic", "dataset: stays")
        .replace("title: {en: Clinic, fr: Clinique}\n", "")
    )
    columns = "columns:\n  patient: {kind: id, type: integer}\n  nights: {kind: integer, bounds: [0, 9]}\n"
    (tmp_path / "stays.yaml").write_text(card + columns, encoding="utf-8")
    run("add", "-w", "w", "stays.csv")
    both = "SELECT c.town, SUM(s.nights) AS nights FROM clinic c JOIN stays s ON c.patient = s.patient GROUP BY c.town"
    joined = run("query", "-w", "w", both, "--epsilon", "0.5", "--format", "json").json()
    (mechanism,) = joined["mechanisms"]
    assert mechanism["sensitivity"] == str(2 * 2 * 9)
    assert joined["datasets"] == {"clinic": 1, "stays": 1}


@pytest.mark.parametrize(
    "sql", ["SELECT COUNT(*) FROM clinic WHERE " + "x" * 100_000, "SELECT " + "(" * 3000 + "1" + ")" * 3000]
)
def test_enormous_statements_are_refused(clinic: Path, run: Run, sql: str) -> None:
    assert run("query", "-w", "w", sql, "--epsilon", "1", code=1).err.startswith("QueryRefused")
