"""docs/benchmarks.md: the tables on it are written by the measurements themselves, each between its two markers."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

__all__ = ["PAGE", "describe_machine", "table", "write_block"]

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def write_block(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put these lines between the markers of `name`, in place of what stands there."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    text = page.read_text(encoding="utf-8")
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise ValueError(f"{page.name} has no place marked '{name}'")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown; the first column is text, the others are numbers."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, ruler, *rows)]


def describe_machine() -> str:
    """In general words: nothing that names a host or a folder."""
    system = f"{platform.system()} on {platform.machine()}"
    versions = f"Python {platform.python_version()}, DuckDB {version('duckdb')}"
    return f"{os.cpu_count()} shared cores, {system}, {versions}, two threads for every engine."
