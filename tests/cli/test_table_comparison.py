"""`discreet lab compare`: for the custodian alone, readable on a narrow screen, refused before it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clinic import Run

COMPARE = ("lab", "compare", "-w", "w", "clinic", "--by", "town,smokes", "--trials", "3")


def test_every_method_is_a_line_of_a_narrow_screen(run: Run, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    done = run(*COMPARE, "--custodian", "--epsilon", "0.4")
    assert "CUSTODIAN VIEW" in done.err
    table, sentences = done.out.split("\n\n", 1)
    title, _, rule, *lines = table.splitlines()
    assert title.startswith("Count of rows by town and smokes")
    assert len(rule) <= 100
    titles = [
        "suppression",
        "systematic rounding",
        "random rounding",
        "controlled rounding",
        "set-size restriction",
        "overlap control",
        "query auditing",
        "partitioning",
        "swapping of town",
        "swapping of smokes",
        "fixed perturbation",
        "DP, epsilon 0.1",
        "DP, epsilon 0.4",
        "DP, epsilon 1.6",
    ]
    assert [line.split("   ")[0].strip() for line in lines] == titles
    assert "up to 2" in sentences
    assert "event" in run("budget", "-w", "w").out


def test_as_json_for_machines(run: Run, clinic: Path) -> None:
    told = run(*COMPARE, "--custodian", "--format", "json").json()
    assert told["target"] == "smokes"
    assert [line["parameters"].get("epsilon") for line in told["lines"]][-3:] == ["0.125", "0.5", "2"]
    exact = [line for line in told["lines"] if line["method"] in ("suppression", "set-size restriction")]
    assert all(line["attack"]["recovered_surely"] == 3 for line in exact)
    assert all(not line["differentially_private"] for line in exact)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "CustodianOnly"),
        (("--custodian", "--analyst", "nobody"), "UnknownName"),
        (("--custodian", "--trials", "0"), "ParameterInvalid"),
        (("--custodian", "--epsilon", "-1"), "ParameterInvalid"),
        (("--custodian", "--out", "x.csv"), "Usage"),
        (("--custodian", "--format", "xlsx"), "Usage"),
    ],
)
def test_what_is_refused_shows_nothing(run: Run, clinic: Path, words: tuple[str, ...], told: str) -> None:
    done = run(*COMPARE, *words, code=None)
    assert done.code != 0
    assert done.err.startswith(told)
    assert done.out == ""
    assert "event" not in run("budget", "-w", "w").out
