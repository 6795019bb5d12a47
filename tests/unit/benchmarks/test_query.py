"""The measurements of questions on tiny data: every figure is there, and the page takes the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.page import PAGE, write_block
from benchmarks.query import CASES, run
from benchmarks.turns import WorkerFailed, take_turns

pytestmark = pytest.mark.long

MARKS = [f"<!-- {side} {name} -->" for name in ("query", "scalar", "peers") for side in ("begin", "end")]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    page = tmp_path / "benchmarks.md"
    page.write_text("# Figures\n\n" + "\nold\n".join(MARKS) + "\n\nThe end.\n", encoding="utf-8")
    return page


def test_tables_of_a_tiny_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCREET_KEYS", "DISCREET_ANALYST"):
        monkeypatch.setenv(name, "set anew by the run")
    first, last = CASES[0], CASES[-1]
    told = run(20_000, cases=(first, last), rounds=1, survey_rows=1_000, scalar_rounds=1, page=page)
    assert told[f"{first.title}: ratio, at most 1.2"] > 0
    assert 0 < told["scalar COUNT, beyond the engine (ms)"] <= told["scalar COUNT, whole (ms)"]
    text = page.read_text(encoding="utf-8")
    for case in (first, last):
        assert f"| {case.title} | " in text
        assert all(f"| {case.title}: {name} | " in text for name in case.others)
    assert "20,000 rows;" in text
    assert "| charge | " in text
    assert text.startswith("# Figures\n")
    assert text.endswith("\n\nThe end.\n")


def test_a_block_is_replaced_and_nothing_else(page: Path) -> None:
    for _ in range(2):
        write_block(page, "scalar", ["new"])
    text = page.read_text(encoding="utf-8")
    assert text.count("new") == 1
    assert all(mark in text for mark in MARKS)
    with pytest.raises(ValueError, match="no place marked 'other'"):
        write_block(page, "other", ["new"])


def test_the_page_has_a_place_for_every_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in MARKS)


def test_a_worker_that_fails_says_why() -> None:
    with pytest.raises(WorkerFailed, match="no such thing"):
        take_turns({"bad": ["sh", "-c", "echo no such thing >&2; exit 1"]}, rounds=1)
