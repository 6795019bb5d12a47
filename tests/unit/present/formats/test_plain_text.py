"""Plain text: digits below digits, and lines that a page holds."""

from __future__ import annotations

from discreet.results import Release
from tests.releases import render_text


def test_digits_stand_below_digits_whether_or_not_a_mark_follows(counted: Release) -> None:
    lines = render_text(counted, "table", "en").split("\n\n")[1].split("\n")[1:]
    assert any("\u00a0" in line for line in lines)
    ends = {index for line in lines for index in range(len(line)) if line[index].isdigit() and ends_here(line, index)}
    columns = max(sum(ends_here(line, index) for index in range(len(line))) for line in lines)
    assert len(ends) <= columns


def ends_here(line: str, index: int) -> bool:
    """Whether a number ends here."""
    return line[index].isdigit() and not line[index + 1 : index + 2].strip(" \u00a0")


def test_notes_are_folded_and_the_table_is_not(counted: Release) -> None:
    _, table, *rest = render_text(counted, "table", "en").split("\n\n")
    assert all(len(line) <= 100 for part in rest for line in part.split("\n"))
    assert any(line.startswith("  ") for part in rest for line in part.split("\n"))
    assert len(table.split("\n")) == 5
