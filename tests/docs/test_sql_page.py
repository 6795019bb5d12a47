"""The page on SQL tells the truth: what it says is refused is refused. What it says is answered runs in test_blocks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from discreet.cards.card import read_card
from discreet.errors import Refused
from discreet.samples.survey import write_survey
from discreet.samples.visits import write_visits
from discreet.sql.reader.questions import read_statement
from tests.places import DOCS
from tests.unit.sql.catalogue import Shelf

PAGE = (DOCS / "sql.md").read_text(encoding="utf-8")
REFUSED = re.findall(r"^\| `((?:SELECT|DELETE).*?)` \|", PAGE.split("## Why the rest is refused")[1], re.M)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("samples")
    _, survey = write_survey(folder, rows=1000)
    _, visits = write_visits(folder, people=1000)
    cards = [read_card(path) for path in (survey, visits)]
    return Shelf({card.dataset: card for card in cards}, public={})


def test_the_page_has_examples() -> None:
    assert len(REFUSED) > 15


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(sql: str, samples: Shelf) -> None:
    with pytest.raises(Refused):
        read_statement(sql, samples)


def test_why_wavg_is_meant(tmp_path: Path) -> None:
    """People without a height count below the line of SUM(weight * height) / SUM(weight), not above it."""
    data, _ = write_survey(tmp_path)
    known = f"SELECT weight, CASE WHEN height < 9 THEN height END AS height FROM '{data}'"
    ratio, mean = duckdb.execute(
        "SELECT sum(weight * height) / sum(weight), sum(weight * height) / sum(weight) FILTER (height IS NOT NULL) "
        f"FROM ({known})"
    ).fetchone() or (0, 0)
    assert f"{ratio:.2f} m instead of {mean:.2f} m in the survey" in PAGE


def test_every_aggregate_is_told(samples: Shelf) -> None:
    """Each is on the page; what is told as read for comparisons alone is refused as a question."""
    told = set(re.findall(r"`([A-Z_]+)\(", PAGE))
    named = ("COUNT", "SUM", "AVG", "WAVG", "VAR", "STDDEV", "MIN", "MAX", "MEDIAN", "QUANTILE", "TRIMMED_AVG", "CLAMP")
    assert set(named) <= told
    with pytest.raises(Refused, match="comparisons"):
        read_statement("SELECT TRIMMED_AVG(height, 0.1) FROM survey", samples)
    assert read_statement("SELECT TRIMMED_AVG(height, 0.1) FROM survey", samples, admit=frozenset({"smooth"}))


def test_a_condition_on_both_sides_bounds_what_the_card_does_not(samples: Shelf) -> None:
    card = samples.cards["survey"]
    free = [replace(column, bounds=None, edges=()) if column.name == "height" else column for column in card.columns]
    shelf = Shelf({"survey": replace(card, columns=tuple(free))}, public={})
    with pytest.raises(Refused, match="bounds"):
        read_statement("SELECT SUM(height) FROM survey WHERE height >= 0", shelf)
    assert read_statement("SELECT SUM(height) FROM survey WHERE height BETWEEN 0 AND 3", shelf)


def test_names_of_outputs(samples: Shelf) -> None:
    functions = ("COUNT", "SUM", "AVG", "WAVG", "VAR", "STDDEV", "MIN", "MAX", "MEDIAN")
    for function in functions:
        statement, _ = read_statement(f"SELECT {function}(height) FROM survey", samples)
        assert f"`{statement.presentation.columns[0].name.removesuffix('height')}x`" in PAGE
