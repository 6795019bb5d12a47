"""The measurements of large tables on tiny data: every figure is there, and the page takes the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cube import Case, run
from benchmarks.page import PAGE

pytestmark = pytest.mark.long

MARKS = [f"<!-- {side} cube -->" for side in ("begin", "end")]
CASES = (
    Case("two keys, all margins", ("province", "smoking"), (), 1),
    Case("three keys, two margins", ("province", "age", "smoking"), (("province", "age"), ()), 1),
)


def test_figures_of_a_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCREET_KEYS", "DISCREET_ANALYST"):
        monkeypatch.setenv(name, "set anew by the run")
    page = tmp_path / "page.md"
    page.write_text("\n".join(MARKS) + "\nThe end.\n", encoding="utf-8")
    told = run(2_000, cases=CASES, page=page)
    for case in CASES:
        assert 0 < told[f"{case.title}: without the ledger (s)"] < told[f"{case.title}: whole (s)"]
        assert told[f"{case.title}: estimate and consistency (s)"] > 0
        assert told[f"{case.title}: ratio"] > told[f"{case.title}: ratio without the ledger"]
    text = page.read_text(encoding="utf-8")
    assert "2,000 rows" in text
    assert "| Discreet, engine (s) | " in text
    assert text.endswith("The end.\n")


def test_plain_statements_have_the_same_margins() -> None:
    assert CASES[0].grouping == "CUBE (province, smoking)"
    assert CASES[1].grouping == "GROUPING SETS ((province, age, smoking), (province, age), ())"


def test_the_page_has_a_place_for_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in MARKS)
