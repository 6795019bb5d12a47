"""Requests as people write them, and the SQL that says the same."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.cards.card import Card, parse_card
from discreet.errors import ParameterInvalid, QueryRefused, UnknownName
from discreet.tables.request import read_edges, table_request
from tests.unit.tables.office import CARD


@pytest.fixture
def card(tmp_path: Path) -> Card:
    return parse_card(CARD, file="people.yaml")


def test_columns_come_as_a_list_or_with_commas() -> None:
    assert table_request("people", " region , smokes ").by == ("region", "smokes")
    assert table_request("people", ["region", "smokes"]) == table_request("people", "region,smokes")


@pytest.mark.parametrize(
    ("margins", "kept"),
    [
        (True, [(0, 1), (0,), (1,), ()]),
        (False, [(0, 1)]),
        (["total"], [(0, 1), ()]),
        (["smokes"], [(0, 1), (1,)]),
        (["total", "region"], [(0, 1), (0,), ()]),
        (["smokes,region"], [(0, 1)]),
        ([["region"], []], [(0, 1), (0,), ()]),
    ],
)
def test_margins_are_all_none_or_those_named(margins: Any, kept: list[tuple[int, ...]]) -> None:
    assert list(table_request("people", "region,smokes", margins=margins).kept()) == kept


def test_a_column_named_total_is_not_taken_for_the_grand_total_beside_others() -> None:
    assert table_request("people", "total,region", margins=["total,region"]).kept() == ((0, 1),)


@pytest.mark.parametrize(
    ("by", "options"),
    [
        ("", {}),
        (" , ,", {}),
        ("region,region", {}),
        ("a,b,c,d,e,f,g", {}),
        ("region", {"mean": True}),
        ("region", {"sampling": "weight"}),
        ("region", {"sampling": "weight", "weighted": True, "value": "age", "mean": True}),
        ("region", {"edges": {"age": [0, 10]}}),
        ("age", {"edges": {"age": ["nan"]}}),
        ("age", {"edges": {"age": [0, float("inf")]}}),
        ("age", {"edges": {"age": [0, "1e400000000"]}}),
        ("age", {"edges": {"age": [0, "ten"]}}),
        ("age", {"edges": {"age": [0, Fraction(1, 3)]}}),
    ],
)
def test_words_that_make_no_table_are_refused(by: str, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterInvalid):
        table_request("people", by, **options)


def test_a_margin_of_no_key_is_refused() -> None:
    with pytest.raises(UnknownName, match="'region'"):
        table_request("people", "region,smokes", margins=["regoin"]).kept()


# --- in the words of SQL ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "figure"),
    [
        ({}, "COUNT(*)"),
        ({"weighted": True}, 'SUM("weight")'),
        ({"value": "height"}, 'SUM("height")'),
        ({"value": "height", "weighted": True}, 'SUM("weight" * "height")'),
        ({"value": "height", "mean": True}, 'AVG("height")'),
        ({"value": "height", "mean": True, "weighted": True}, 'WAVG("height")'),
    ],
)
def test_a_figure_is_a_count_a_total_or_a_mean(card: Card, options: dict[str, Any], figure: str) -> None:
    sql = table_request("people", "region", **options).to_sql(card)
    assert sql == f'SELECT "region" AS "region", {figure} AS "figure 1" FROM "people" GROUP BY 1'


def test_a_condition_stands_in_brackets_and_may_end_in_a_comment(card: Card) -> None:
    sql = table_request("people", "region", where="age > 3 -- grown").to_sql(card)
    assert "WHERE (age > 3 -- grown\n) GROUP BY" in sql


def test_the_variance_of_sampling_goes_with_the_square_of_the_value(card: Card) -> None:
    sql = table_request("people", "region", value="age", weighted=True, sampling="wide").to_sql(card)
    assert 'SUM("wide" * "age" * "age") AS "figure 2"' in sql


@pytest.mark.parametrize("options", [{"value": "smokes"}, {"value": "town"}])
def test_only_numbers_are_added_up(card: Card, options: dict[str, Any]) -> None:
    with pytest.raises(QueryRefused, match="needs numbers"):
        table_request("people", "region", **options).to_sql(card)


# --- bands ------------------------------------------------------------------------------------------------------------


def bands(card: Card, column: str, edges: list[Any] | None = None) -> list[tuple[str, str, str]]:
    request = table_request("people", column, edges=None if edges is None else {column: edges})
    return [(band.code, band.label.en, band.label.fr) for band in request.bands(card.column(column))]


def test_integers_are_cut_by_the_card_unless_edges_are_asked_for(card: Card) -> None:
    assert [code for code, _, _ in bands(card, "age")] == ["0-17", "18-64", "65-99"]
    assert [code for code, _, _ in bands(card, "age", [-10, 1, 50, 200])] == ["0", "1-49", "50-99"]
    assert bands(card, "grade") == []


def test_bands_of_what_may_be_negative_cannot_be_misread(card: Card) -> None:
    assert [code for code, _, _ in bands(card, "change", [-50, -10, 0, 50])] == ["-50..-11", "-10..-1", "0-50"]


def test_bands_of_numbers_say_where_they_end(card: Card) -> None:
    assert bands(card, "height", ["1", "1.65", "2.5"]) == [
        ("1..1.65", "1 to under 1.65", "1 à moins de 1,65"),
        ("1.65..2.5", "1.65 to 2.5", "1,65 à 2,5"),
    ]


@pytest.mark.parametrize(
    ("column", "edges"),
    [
        ("age", [0]),
        ("age", [0, 50]),
        ("age", [1, 99]),
        ("age", [0, 50, 50, 99]),
        ("age", [0, "50.5", 99]),
        ("age", [-10, -5, 99]),
        ("age", [0, 100, 200]),
        ("height", ["1", "1.655", "2.5"]),
        ("wide", [0, 10]),
        ("smokes", [1, 2]),
    ],
)
def test_edges_rise_lie_on_the_grid_and_span_the_bounds(card: Card, column: str, edges: list[Any]) -> None:
    with pytest.raises(ParameterInvalid, match="edges"):
        bands(card, column, edges)


def test_edges_are_read_from_words() -> None:
    found = read_edges(["age=0, 18,65,99", " height =1,1.5,2.5"])
    assert found == {"age": (0, 18, 65, 99), "height": (Decimal("1"), Decimal("1.5"), Decimal("2.5"))}


@pytest.mark.parametrize("words", [["age"], ["=1,2"], ["age=1,,2"], ["age=1,x"], ["age=nan"], ["age=1,2", "age=1,3"]])
def test_edges_that_cannot_be_read_are_refused(words: list[str]) -> None:
    with pytest.raises(ParameterInvalid, match="edges"):
        read_edges(words)
