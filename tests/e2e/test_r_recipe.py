"""The recipe for R in docs/service.md, as it stands there, against the server that the page starts."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from openpyxl import load_workbook

from tests.debian import require_packages
from tests.docs.blocks import Fate
from tests.docs.page_run import PageRun
from tests.places import DOCS

pytestmark = [pytest.mark.long]

PAGE: Final = DOCS / "service.md"
ASKS: Final = "place <- ask("
LONG: Final = """
place <- ask(
  list(
    sql = paste(
      "SELECT health_region, age_group, sex, MEDIAN(height), MEDIAN(body_weight) FROM survey",
      "GROUP BY health_region, age_group, sex"
    ),
    epsilon = "0.1"
  ),
  key = "medians-by-region-1"
)
write.csv(fetch(place, codes = c("health_region", "age_group", "sex")), "medians.csv", row.names = FALSE)
"""
REFUSED: Final = 'ask(list(sql = "SELECT height FROM survey", epsilon = "0.1"), key = "rows-1")'


def has_httr2() -> bool:
    try:
        found = subprocess.run(
            ["Rscript", "-e", 'library(jsonlite); quit(status = !(packageVersion("httr2") >= "0.2"))'],
            capture_output=True,
        )
    except FileNotFoundError:
        return False
    return found.returncode == 0


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageRun]:
    """The page read up to where it tells what speaks HTTP: a server runs, and Ada has an address and a token."""
    require_packages("r-cran-httr2", "r-cran-jsonlite", works=has_httr2)
    until = PAGE.read_text(encoding="utf-8").splitlines().index("## 4. Ask from Python")
    with closing(PageRun(PAGE, tmp_path, monkeypatch)) as run:
        for block in run.blocks:
            if block.line < until:
                run.do(block)
        yield run


def run_r(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    (folder / "ask.R").write_text(script, encoding="utf-8")
    return subprocess.run(["Rscript", "--vanilla", "ask.R"], cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_recipe_for_r_asks_waits_and_is_refused(page: PageRun) -> None:
    [recipe] = (block.text for block in page.blocks if block.fate is Fate.ELSEWHERE)
    asked, again = (run_r(page.folder, recipe) for _ in range(2))
    assert asked.returncode == 0, asked.stderr
    assert again.stdout == asked.stdout, "the key stands in it: the same answer, for nothing"
    assert "Newfoundland and Labrador" in asked.stdout
    assert load_workbook(page.folder / "smokers.xlsx").sheetnames == ["Table", "Figures", "Notes"]

    functions = recipe[: recipe.index(ASKS)]
    waited = run_r(page.folder, functions + LONG)
    assert waited.returncode == 0, waited.stderr
    with (page.folder / "medians.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 97 * 16 * 2

    refused = run_r(page.folder, functions + REFUSED)
    assert refused.returncode != 0
    assert "HTTP 422" in refused.stderr
    assert "single rows are never shown" in refused.stderr, "the office's own sentence"
