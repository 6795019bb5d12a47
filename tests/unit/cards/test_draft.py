"""Drafted cards: parseable, undecided, and silent about rows unless asked."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card, ColumnKind, parse_card
from discreet.cards.draft import draft_card
from discreet.catalogue import FRENCH, speaking
from discreet.errors import CardUndecided

TEXT = """\
person_id,Capital-Gain,sex,note,height,ORD,age,Age
17,1234,M,alpha,1.75,1,40,1
23,871,F,beta,1.625,2,41,2
31,,M,gamma: #3,1.8,3,42,3
"""


def decided(text: str) -> Card:
    """The draft with plausible decisions in place."""
    places = {
        "column: DECIDE": "column: person_id",
        "rows: DECIDE": "rows: 1",
        "epsilon: DECIDE": "epsilon: 1",
        "bounds: DECIDE": "bounds: [0, 10]",
        "step: DECIDE": "step: 0.5",
        "categories: DECIDE": "categories: [a, b]",
    }
    for open_place, decision in places.items():
        text = text.replace(open_place, decision)
    return parse_card(text, file="draft.yaml")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "2024 Health-Survey.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("from_rows", [False, True])
def test_nothing_is_called_complete_from_the_rows(file: Path, from_rows: bool) -> None:
    """No row lacks a height, and only a person may say that none ever does."""
    assert not any(column.complete for column in decided(draft_card(file, from_rows=from_rows)).columns)


@pytest.mark.parametrize("from_rows", [False, True])
def test_no_typical_value_is_read_from_the_rows(file: Path, from_rows: bool) -> None:
    text = draft_card(file, from_rows=from_rows)
    assert all(column.typical is None for column in decided(text).columns)
    assert ("# typical: ..." in text) is not from_rows


@pytest.mark.parametrize("from_rows", [False, True])
def test_only_decisions_are_open(file: Path, from_rows: bool) -> None:
    text = draft_card(file, from_rows=from_rows)
    with pytest.raises(CardUndecided) as refused:
        parse_card(text, file="draft.yaml")
    assert len(refused.value.problems) == text.count(" DECIDE ")
    assert all("# " in line for line in text.splitlines() if " DECIDE " in line)
    assert "unit column is still to be decided" in str(refused.value)


def test_no_value_of_a_row_is_written(file: Path) -> None:
    text = draft_card(file, from_rows=False)
    for value in ("1234", "871", "alpha", "1.75", "1.625", "40", "42", "gamma"):
        assert value not in text
    assert "from_rows" not in text


def test_a_draft_in_french_is_the_same_card_with_other_comments(file: Path) -> None:
    english = draft_card(file, from_rows=True)
    with speaking(FRENCH):
        french = draft_card(file, from_rows=True)
    assert "# le nom du jeu de données" in french
    assert [line.split(" #")[0].rstrip() for line in french.splitlines() if not line.lstrip().startswith("#")] == [
        line.split(" #")[0].rstrip() for line in english.splitlines() if not line.lstrip().startswith("#")
    ]
    assert decided(french) == decided(english)


def test_guesses(file: Path) -> None:
    card = decided(draft_card(file, from_rows=False))
    kinds = {column.name: column.kind for column in card.columns}
    assert card.dataset == "d_2024_health_survey"
    assert kinds["person_id"] is ColumnKind.ID
    assert kinds["Capital_Gain"] is ColumnKind.INTEGER
    assert kinds["height"] is ColumnKind.NUMBER
    assert kinds["sex"] is ColumnKind.CATEGORY
    assert card.column("Capital_Gain").source == "Capital-Gain"
    assert card.column("ORD_2").source == "ORD"
    assert card.column("Age_2").source == "Age"


def test_from_rows_says_so(file: Path) -> None:
    card = decided(draft_card(file, from_rows=True))
    assert set(card.from_rows) == {column.name for column in card.columns if column.name != "person_id"}
    height = card.column("height")
    assert [str(bound) for bound in height.bounds or ()] == ["1.625", "1.800"]
    assert str(height.step) == "0.001"
    assert [category.code for category in card.column("note").categories] == ["alpha", "beta", "gamma: #3"]


def test_codes_that_look_like_something_else_survive(tmp_path: Path) -> None:
    codes = [
        "NO",
        "on",
        "010",
        "1e-6",
        "a: b",
        "#x",
        "'q'",
        '"d"',
        "- x",
        "[1]",
        "é",
        "DECIDE",
        "a\nb",
        "null",
        "{",
        "&a",
    ]
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"person_id": range(len(codes)), "code": codes}), file)
    card = decided(draft_card(file, from_rows=True))
    assert {category.code for category in card.column("code").categories} == set(codes) - {"null"}


def test_parquet_types_decide_even_without_values(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    empty = {
        "n": pa.array([None], pa.int32()),
        "x": pa.array([None], pa.float64()),
        "t": pa.array([None], pa.string()),
    }
    pq.write_table(pa.table({"person_id": [1], **empty}), file)
    card = decided(draft_card(file, from_rows=False))
    assert [column.kind for column in card.columns][1:] == [ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.TEXT]


def test_unnamed_and_double_columns_are_left_out_and_told(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("person_id,,a,a,b\n1,2,3,4,5\n")
    text = draft_card(file, from_rows=False)
    assert "# 2 columns of the file have no name or share one" in text
    assert [column.name for column in decided(text).columns] == ["person_id", "b"]


def test_labels_and_missing_codes_of_a_statistics_package(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="pyreadstat writes its files from polars or pandas frames")
    import pyreadstat

    frame = polars.DataFrame({"person_id": [1.0, 2.0], "sex": [1.0, 9.0], "w": [1.5, 2.5]})
    labels = {"sex": {1: "Male: m", 2: "Female", 9: "Not stated"}}
    pyreadstat.write_sav(
        frame, str(tmp_path / "x.sav"), variable_value_labels=labels, column_labels={"sex": "Sex"},
        missing_ranges={"sex": [9], "w": [99.5]},
    )  # fmt: skip
    sex = decided(draft_card(tmp_path / "x.sav", from_rows=False)).column("sex")
    assert [(category.code, category.label.en) for category in sex.categories] == [
        ("1", "Male: m"),
        ("2", "Female"),
    ]
    assert (sex.missing, sex.label.en, sex.from_rows) == (("9",), "Sex", False)
