"""discreet sensitivity as a user runs it: one table for anyone, another for the custodian."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import CARD, Run

MEAN = "SELECT AVG(age) FROM clinic"

pytestmark = pytest.mark.usefixtures("clinic")


def test_anyone_sees_guarantees_and_expected_errors_and_no_row_is_read(run: Run, clinic: Path) -> None:
    for file in clinic.rglob("*.parquet"):
        file.unlink()
    shown = run("sensitivity", "-w", "w", MEAN, "--epsilon", "0.5", "--assume", "n=1000")
    for words in ("public", "private-bounds", "global-type", "pure DP", "none: not DP", "does not apply"):
        assert words in shown.out
    assert "exact answer" not in shown.out
    assert "CUSTODIAN VIEW" not in shown.err
    assert "mean error" not in shown.out
    told = run("sensitivity", "-w", "w", MEAN, "--epsilon", "0.5", "--format", "json").json()
    assert set(told) == {"statement", "epsilon", "unit", "neighbours", "strategies", "notes"}
    assert all("custodian" not in line for line in told["strategies"])


def test_the_custodian_sees_errors_and_time(run: Run) -> None:
    words = ("sensitivity", "-w", "w", MEAN, "--epsilon", "1", "--custodian", "--runs", "3")
    told = run(*words, "--format", "json").json()
    assert told["exact_for_the_custodian"] == pytest.approx(44.5, abs=0.5)
    by_name = {line["strategy"]: line for line in told["strategies"]}
    public = by_name["public"]["custodian"]
    assert public["runs"] == 3
    assert set(public) == {"runs", "sensitivity", "error", "relative_error", "seconds"}
    assert set(public["error"]) == {"mean", "median", "min", "max"}
    assert "custodian" not in by_name["local"]
    shown = run(*words, "--strategies", "public, global-type")
    assert "exact answer" in shown.out
    assert "CUSTODIAN VIEW" in shown.err
    assert "private-bounds" not in shown.out
    [population] = run("budget", "-w", "w", "--format", "json").json()["populations"]
    assert (population["charges"], population["markers"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((MEAN, "--epsilon", "0"), 2, "epsilon"),
        ((MEAN, "--epsilon", "1", "--runs", "0"), 2, "runs"),
        ((MEAN, "--epsilon", "1", "--strategies", ","), 2, "at least one strategy"),
        ((MEAN, "--epsilon", "1", "--strategies", "publik"), 1, "Did you mean 'public'"),
        (("SELECT town, AVG(age) FROM clinic GROUP BY town", "--epsilon", "1"), 1, "one aggregate without groups"),
    ],
)
def test_bad_words_are_refused(run: Run, words: tuple[str, ...], code: int, told: str) -> None:
    done = run("sensitivity", "-w", "w", *words, code=code)
    assert told in " ".join(done.err.split())


def test_a_typical_value_goes_with_the_bounds_that_nobody_knows(run: Run, tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(CARD.replace("bounds: [0, 110]", "bounds: [0, 110], typical: 40"))
    run("add", "-w", "w", "clinic.csv", "--replace")
    assert "private-bounds" in run("sensitivity", "-w", "w", MEAN, "--epsilon", "1").out


def test_with_leave_the_unproven_are_drawn_and_marked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(CARD.replace("columns:", "allow: [generated]\ncolumns:", 1), encoding="utf-8")
    run("add", "-w", "w", "clinic.csv", "--replace")
    done = run(
        "sensitivity", "-w", "w", MEAN, "--epsilon", "1", "--custodian", "--runs", "2", "--format", "json"
    ).json()
    by_name = {line["strategy"]: line for line in done["strategies"]}
    assert by_name["local"]["custodian"]["runs"] == 2
    assert by_name["local"]["differentially_private"] is False
    assert "discreet gan train" in by_name["generated"]["told"]
    assert "no longer" in " ".join(run("budget", "-w", "w").out.split())
