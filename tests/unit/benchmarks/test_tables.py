"""The measurements of tables on a tiny run: bias is told for every sort of figure, and the page takes the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.tables import CONSISTENCY_PAGE, run

pytestmark = pytest.mark.long

MARKS = [f"<!-- {side} {name} -->" for name in ("bias", "speed") for side in ("begin", "end")]


def test_tables_of_a_tiny_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("\n".join(MARKS) + "\nThe end.\n", encoding="utf-8")
    told = run(releases=3, large=(4, 3, 2), page=page)
    for epsilon in ("0.1", "1"):
        clipped, published = (told[f"epsilon {epsilon}, grand total: bias, {way}"] for way in ("clipped", "published"))
        # clipping adds about a thousand people even at epsilon 1, hundreds of times the spread of three releases
        assert abs(published) < clipped / 4
        assert told[f"epsilon {epsilon}, empty cells: bias, clipped"] > 0
    assert told["24 cells made consistent: median (s)"] > 0
    text = page.read_text(encoding="utf-8")
    assert "| province × smoking | " in text
    assert "24 cells (4 × 3 × 2)" in text
    assert text.endswith("The end.\n")


def test_the_page_has_a_place_for_every_table() -> None:
    text = CONSISTENCY_PAGE.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in MARKS)
