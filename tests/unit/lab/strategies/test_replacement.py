"""Data replacement: conditions and missing values mean on generated rows what they mean on real ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from discreet.cards.card import Card
from discreet.engines.engine_choice import engine_for
from discreet.errors import QueryRefused
from discreet.lab.generator.generator_rows import GeneratorRows, Shape, read_rows
from discreet.lab.strategies.replacement import Replacement, columns_read, hold_generated, require_columns
from discreet.lab.strategies.subject import HeldValues, Subject, hold, subject_of
from discreet.release.ask_reader import Shelf
from discreet.sql.reader.questions import read_statement
from tests.unit.tables.office import open_office

STATEMENTS = (
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(age) FROM people",
    "SELECT AVG(age) FROM people WHERE smokes = '1' AND height > 1.6",
    "SELECT SUM(height) FROM people WHERE region = 'N' OR age IS NULL",
    "SELECT AVG(2 * change + 1) FROM people",
    "SELECT MEDIAN(age) FROM people WHERE smokes IS NOT NULL",
    "SELECT MAX(serial) FROM people",
    "SELECT SUM(CLAMP(wide, 0, 100)) FROM people WHERE region IS NULL",
)


def test_the_rows_themselves_give_the_answers_they_gave(tmp_path: Path) -> None:
    """Real rows through the door of generated ones: every question must be answered as the engine answers it."""
    with open_office(tmp_path) as office:
        workspace = office.session.workspace
        dataset = workspace.dataset("people")
        rows = read_rows(dataset)
        engine = engine_for({"people": dataset}, salt=workspace.salt)
        for sql in STATEMENTS:
            statement, cards = read_statement(sql, Shelf(workspace))
            subject = subject_of(statement, cards)
            held = hold_generated(subject, rows, dataset.card)
            assert held == hold(subject, engine), sql
            drawn = Replacement(subject, dataset.card, lambda: rows).draw()
            assert drawn.result == float(held.result(subject) or 0)
            assert math.isnan(drawn.sensitivity)
        engine.close()


def ask(tmp_path: Path, sql: str) -> tuple[Subject, dict[str, Card]]:
    with open_office(tmp_path) as office:
        statement, cards = read_statement(sql, Shelf(office.session.workspace))
        return subject_of(statement, cards), cards


CHANGE = Shape("change", "integer", low=-50, high=50)


def made(*values: float) -> GeneratorRows:
    return GeneratorRows((CHANGE,), {"change": np.array(values)})


def test_numbers_may_be_taken_without_their_sign(tmp_path: Path) -> None:
    subject, cards = ask(tmp_path, "SELECT SUM(change) FROM people")
    rows = made(-3.0, 2.0, math.nan)
    card = cards["people"]
    assert hold_generated(subject, rows, card) == HeldValues(((-3, 1), (2, 1)), 3)
    assert hold_generated(subject, rows, card, absolute=True) == HeldValues(((2, 1), (3, 1)), 3)


def test_no_generated_value_is_no_error(tmp_path: Path) -> None:
    subject, cards = ask(tmp_path, "SELECT AVG(change) FROM people WHERE change > 40")
    strategy = Replacement(subject, cards["people"], lambda: made(1.0, math.nan))
    assert strategy.draw().result == 41.0  # the value nearest to 0 that the question lets a row have
    assert strategy.name == "replace"
    assert not strategy.guarantee.differentially_private


def test_columns_that_the_model_does_not_make_are_refused(tmp_path: Path) -> None:
    subject, cards = ask(tmp_path, "SELECT SUM(change) FROM people WHERE town = 'A' AND age > 3")
    assert columns_read(subject, cards) == ("age", "change", "town")
    card = cards["people"]
    with pytest.raises(QueryRefused, match="column 'age'"):
        require_columns(["change", "age"], [CHANGE], card)
    with pytest.raises(QueryRefused, match="column 'town'"):
        require_columns(["town"], [CHANGE], card)
    with pytest.raises(QueryRefused, match="column 'change'"):
        require_columns(["change"], [Shape("change", "number", step="0.5")], card)
    require_columns(["change"], [CHANGE], card)
