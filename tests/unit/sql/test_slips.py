"""A mistyped word of SQL, a decimal comma and a wrong code are answered with what was meant, from text and card."""

from __future__ import annotations

import pytest

from discreet.cards.codes import nearest_code
from discreet.cards.columns import Labels
from discreet.errors import QueryRefused, UnknownName, tell_point
from discreet.sql.algebra import Nothing
from discreet.sql.reader import scopes
from discreet.sql.reader.parsing import LONGEST_TEXT, parse
from discreet.sql.reader.slips import find_commas, find_words
from discreet.sql.reader.typed_values import Typed, ValueSort
from tests.unit.sql.catalogue import read


def reads(sql: str) -> bool:
    try:
        return bool(parse(sql))
    except QueryRefused:
        return False


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("SELEC COUNT(*) FROM people", "SELECT for 'SELEC'"),
        ("selec count(*) from people", "SELECT for 'selec'"),
        ("SELECT COUNT(*) FORM people", "FROM for 'FORM'"),
        ("SELECT a, COUNT(*) FROM people GRUOP BY a", "GROUP for 'GRUOP'"),
        ("SELECT a, COUNT(*) FROM people GROUPBY a", "GROUP BY for 'GROUPBY'"),
        ("SELECT COUNT(*) FROM people WHER age > 3", "WHERE for 'WHER'"),
        ("SELECT COUNT(*) FROM people WHERE a = 1 ADN b = 'FORM'", "AND for 'ADN'"),
        ("SELECT COUNT(*) FROM people WHERE age BETWEN 1 AND 2", "BETWEEN for 'BETWEN'"),
        ("SELECT a, COUNT(*) FROM people GROUP BY a ODER BY 2", "ORDER for 'ODER'"),
        ("SELEC COUNT(*) FORM people", "SELECT for 'SELEC', FROM for 'FORM'"),
    ],
)
def test_words_of_sql(sql: str, meant: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        parse(sql)
    assert f"Did you mean {meant}?" in refused.value.message


@pytest.mark.parametrize(
    "sql", ["DELETE FROM people", "SELECT (", "", "SELEC" * 1000, "SELECT a FROM b; SELECT c FROM d"]
)
def test_no_guess_where_none_would_help(sql: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        parse(sql)
    assert "Did you mean" not in refused.value.message
    assert "point" not in refused.value.message


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("SELECT COUNT(*) FROM t WHERE height > 1,5", "1.5"),
        ("SELECT SUM(0,5 * height) FROM t", "0.5"),
        ("SELECT COUNT(*) FROM t WHERE a IN (1,2) AND height > 1,5", "1.5"),
    ],
)
def test_decimal_commas(sql: str, number: str) -> None:
    with pytest.raises(QueryRefused, match=f"Use a point: write {number}"):
        parse(sql)


def test_lists_and_texts_keep_their_commas() -> None:
    assert find_commas("SELECT a FROM t WHERE a IN (1,2", reads) == ""
    assert find_commas("SELECT a FROM t WHERE a = '1,5' b", reads) == ""
    assert find_words("SELECT 'FORM' FROM t WHERE (", reads) == ""


def test_arguments_are_counted_with_points_too() -> None:
    """CLAMP(x, 0, 5, 2) can be parsed; only the card's reader sees that an argument is too many."""
    with pytest.raises(QueryRefused, match=r"three arguments.* Use a point: write 0\.5"):
        read("SELECT SUM(CLAMP(height,0,5,2)) FROM survey")


def test_functions() -> None:
    with pytest.raises(QueryRefused, match="Did you mean COUNT"):
        read("SELECT CONT(*) FROM survey")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("100", "Did you mean '10' (East)?"),
        ("12", "Did you mean '10' (East)?"),
        ("on", "Did you mean 'ON' (Ontario)?"),
        ("ontario", "Did you mean 'ON' (Ontario)?"),
        ("Wst", "Did you mean '11' (West)?"),
        ("x", "They are 10, 11, ON, 010."),
    ],
)
@pytest.mark.parametrize("where", ["region = '{}'", "region IN ('10', '{}')", "region <> '{}'"])
def test_codes(given: str, told: str, where: str) -> None:
    with pytest.raises(UnknownName) as refused:
        read(f"SELECT COUNT(*) FROM survey WHERE {where.format(given)}")
    assert told in refused.value.message


def test_a_label_goes_before_a_code_that_is_spelt_alike() -> None:
    labels = (Labels("South", "Sud"), Labels("Nor", "Nor"))
    typed = Typed(Nothing(), ValueSort.CATEGORY, "side", codes=("nord", "2"), labels=labels)
    assert "Did you mean '2' (Nor)?" in scopes._unknown_code(typed, "nor").message
    assert "Did you mean 'nord' (South)?" in scopes._unknown_code(typed, "nordd").message


def test_what_is_too_long_or_nested_is_not_parsed() -> None:
    assert reads("SELECT 1 FROM t WHERE a = 1")
    assert not reads("SELECT 1 FROM t WHERE a = 1" + " " * LONGEST_TEXT)


def test_of_codes_equally_like_the_one_that_begins_the_same() -> None:
    assert nearest_code("25", ["62", "35", "24"]) == "24"
    assert nearest_code("9", ["1", "2"]) is None
    assert nearest_code("9", []) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,1", "use a point: write 0.1"),
        (",5", "use a point: write .5"),
        ("-2,75", "use a point: write -2.75"),
        ("1,000", "use a point: write 1.000, or 1000 for thousands"),
        ("1,5,2", ""),
        ("1.5", ""),
        ("a,5", ""),
    ],
)
def test_points(text: str, told: str) -> None:
    assert tell_point(text) == told
