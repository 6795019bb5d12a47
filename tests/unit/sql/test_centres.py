"""About which value means are taken: the middle, or nearer to what the card calls typical where that errs less."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import hypot
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import CardInvalid
from discreet.session import Session
from discreet.sql.outputs import Mean
from discreet.sql.reader.centres import TOTAL_OF_MEAN, choose_centre
from discreet.tables.request import table_request
from tests.unit.release.conftest import ask_session

CARD = """
dataset: people
population: {name}
unit: {{column: pid, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 100}}
weight: {{column: weight, cap: 5}}
columns:
  pid: {{kind: id, type: integer}}
  income: {{kind: integer, bounds: [0, 100000]{more}}}
  weight: {{kind: integer, bounds: [0, 5]}}
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Session]:
    with Session.create(tmp_path / "w") as session:
        yield session


def add(house: Session, folder: Path, name: str, more: str = "") -> None:
    rows = [f"{pid},{5000 + pid},{1 + pid % 5}" for pid in range(50)]
    (folder / f"{name}.csv").write_text("\n".join(["pid,income,weight", *rows, ""]), encoding="utf-8")
    card = CARD.format(name=name, more=more).replace("dataset: people", f"dataset: {name}")
    (folder / f"{name}.yaml").write_text(card, encoding="utf-8")
    house.add(folder / f"{name}.csv", confirm=lambda _: True)


def mean_of(house: Session, sql: str) -> Mean:
    shown = ask_session(house, sql).statement.presentation.columns[0].shows
    assert isinstance(shown, Mean)
    return shown


def error_at(value: Fraction, centre: int, low: int, high: int) -> float:
    """Root of the expected squared error, but for a factor, of a mean at this value over many rows."""
    total = max(high - centre, centre - low) / float(TOTAL_OF_MEAN)
    return hypot(total, float(value - centre) / float(1 - TOTAL_OF_MEAN))


@settings(max_examples=40, deadline=None)
@given(st.integers(-1000, 1000), st.integers(100, 400), st.fractions(0, 1, max_denominator=50))
def test_the_centre_errs_least_at_the_guess(low: int, width: int, part: Fraction) -> None:
    high, middle = low + width, (2 * low + width) // 2
    usual = low + part * width
    centre = choose_centre(low, high, usual)
    ends = sorted([Fraction(middle), usual])
    assert ends[0] <= centre <= ends[1] or abs(centre - usual) < 1
    best = min(error_at(usual, place, low, high) for place in range(low, high + 1))
    one_step = 1 + 2 / width  # an odd range has no whole middle, and what is taken for it may lie a step off
    assert error_at(usual, centre, low, high) <= best * one_step


def test_a_guess_that_helps_little_leaves_the_middle() -> None:
    assert choose_centre(0, 1000, None) == 500
    assert choose_centre(0, 1000, Fraction(450)) == 500
    assert choose_centre(0, 1000, Fraction(0)) < 500
    assert choose_centre(0, 1000, Fraction(0)) == 1000 - choose_centre(0, 1000, Fraction(1000))


def test_the_error_of_a_skewed_column_falls_by_a_third() -> None:
    """Incomes up to 100,000 of which 5,000 is usual: the case of docs/card.md."""
    centre = choose_centre(0, 100_000, Fraction(5_000))
    assert centre == 14_500
    assert error_at(Fraction(5_000), centre, 0, 100_000) < 0.67 * error_at(Fraction(5_000), 50_000, 0, 100_000)


def test_means_of_a_column_with_a_typical_value_are_centred_near_it(house: Session, tmp_path: Path) -> None:
    add(house, tmp_path, "plain")
    add(house, tmp_path, "guessed", ", typical: 5000")
    assert mean_of(house, "SELECT AVG(income) FROM plain").centre == 50_000
    for aggregate in ("AVG(income)", "WAVG(income)"):
        assert mean_of(house, f"SELECT {aggregate} FROM guessed").centre == 14_500
    assert mean_of(house, "SELECT AVG(income * 2) FROM guessed").centre == 29_000
    assert mean_of(house, "SELECT AVG(income + 2) FROM guessed").centre == 50_002
    assert mean_of(house, "SELECT AVG(income), VAR(income) FROM guessed").centre == 50_000
    request = table_request("guessed", "weight", value="income", mean=True)
    formed = house.tables.read(request, epsilon=1).design.formed
    assert formed.mean is not None
    assert formed.mean.centre == 14_500


def test_the_sensitivity_is_that_of_the_shifted_column(house: Session, tmp_path: Path) -> None:
    add(house, tmp_path, "guessed", ", typical: 5000")
    told = house.query("SELECT AVG(income) FROM guessed", epsilon=1).to_dict()["mechanisms"]
    assert told[0]["sensitivity"] == "85500"


def test_a_column_without_a_guess_keeps_its_plan(house: Session, tmp_path: Path) -> None:
    add(house, tmp_path, "plain")
    plain = house.query("SELECT AVG(income) FROM plain", epsilon=1).source.plan_hash
    (tmp_path / "plain.yaml").write_text(
        (tmp_path / "plain.yaml").read_text(encoding="utf-8").replace("100000]", "100000], precision: 5"),
        encoding="utf-8",
    )
    house.add(tmp_path / "plain.csv", replace=True, confirm=lambda _: True)
    assert house.query("SELECT AVG(income) FROM plain", epsilon=1).source.plan_hash == plain


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (", typical: 100001", r"typical of column 'income' must lie within its bounds \[0, 100000\]; received 100001"),
        (", precision: 0", "precision of column 'income' must be positive; received 0"),
        (", typical: much", "typical of column 'income'"),
    ],
)
def test_a_guess_lies_in_the_bounds_and_a_precision_is_positive(
    house: Session, tmp_path: Path, more: str, said: str
) -> None:
    with pytest.raises(CardInvalid, match=said):
        add(house, tmp_path, "wrong", more)
