"""Names change nothing but what outputs are called: statements with hostile names, on every engine.

Each statement that once made calculus and engine mean different columns is refused; so is every name that is not an
ordinary one. With ordinary names that a planner, an engine or another table could have taken, a statement is priced and
answered exactly as with plain ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from discreet.cards.card import ColumnKind, parse_card
from discreet.engines.dialects import DUCKDB
from discreet.errors import QueryRefused
from discreet.release.measurement.pricing import candidates_of
from discreet.sql.algebra import Plan
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities
from discreet.sql.serialisation import plan_hash
from discreet.workspace.public_tables import PublicColumn, PublicTable
from tests.conformance.engines.plans import DuckDBHouse, House, SparkHouse, answer, plain, postgres_house
from tests.unit.sql.catalogue import Shelf

CARD_A: Final = """
dataset: a
population: all
unit: {column: person_id, rows: 1}
neighbours: replace-one
budget: {epsilon: 10}
weight: {column: w, cap: {by: province, values: {24: 1, 35: 1000}}}
columns:
  person_id: {kind: id, type: integer}
  province: {kind: category, public: true, categories: [24, 35]}
  s: {kind: category, categories: [p, q]}
  pn: {kind: integer, bounds: [0, 3]}
  x: {kind: integer, bounds: [0, 1]}
  income: {kind: integer, bounds: [0, 1000000]}
  w: {kind: integer, bounds: [0, 1000]}
"""
CARD_B: Final = """
dataset: b
population: all
unit: {column: person_id, rows: 1}
neighbours: replace-one
budget: {epsilon: 10}
columns:
  person_id: {kind: id, type: integer}
  province: {kind: category, public: true, categories: [24, 35]}
  x: {kind: integer, bounds: [0, 1]}
"""
T: Final = PublicTable(
    name="t",
    version=1,
    key="prov",
    columns=(
        PublicColumn("prov", ColumnKind.CATEGORY, None, ("24", "35"), 0, 1),
        PublicColumn("region", ColumnKind.CATEGORY, None, ("east", "west"), 0, 1),
        PublicColumn("x", ColumnKind.NUMBER, Decimal(1), (), 0, 7),
    ),
    rows=((0, 0, 7), (1, 1, 0)),
)
CARDS: Final = {text.split()[1]: parse_card(text, file="card.yaml") for text in (CARD_A, CARD_B)}
SHELF: Final = Shelf(CARDS, public={"t": T})
ROWS: Final[dict[str, list[dict[str, Any]]]] = {
    "a": [
        {"person_id": 1, "province": 0, "s": 0, "pn": 0, "x": 1, "income": 999_999, "w": 1, "ord": 1},
        {"person_id": 2, "province": 1, "s": 1, "pn": 3, "x": 0, "income": 40_000, "w": 1000, "ord": 1},
        {"person_id": 3, "province": 1, "s": None, "pn": 1, "x": 1, "income": None, "w": 700, "ord": 1},
    ],
    "b": [
        {"person_id": 1, "province": 0, "x": 0, "ord": 1},
        {"person_id": 2, "province": 1, "x": 1, "ord": 1},
        {"person_id": 4, "province": 0, "x": 1, "ord": 1},
    ],
}
INCOME: Final = "FROM (SELECT person_id, x, income AS {0} FROM a) AS aa JOIN b ON aa.person_id = b.person_id"
TEMPLATES: Final = {
    "sum over a join": f"SELECT SUM(b.x) {INCOME}",
    "median over a join": f"SELECT MEDIAN(b.x) {INCOME}",
    "key of a public table after a join": "SELECT COUNT(*) FROM (SELECT person_id, province, s AS {0} FROM a WHERE "
    "income > 5) AS aa JOIN b ON aa.person_id = b.person_id JOIN t ON b.province = t.prov",
    "computed key": "SELECT CASE WHEN aa.{0} = '24' THEN 'big' ELSE 'small' END AS k, SUM(w) "
    "FROM (SELECT person_id, province AS {0}, w FROM a) AS aa GROUP BY 1",
    "computed key after a public table": "SELECT CASE WHEN aa.{0} = '24' THEN 'big' ELSE 'small' END AS k, SUM(w) "
    "FROM (SELECT person_id, province AS {0}, w FROM a) AS aa JOIN t ON aa.{0} = t.prov GROUP BY 1",
    "weights by a public table's column": "SELECT t.region, SUM(w) FROM (SELECT person_id, province AS {0}, w FROM a) "
    "AS aa JOIN t ON aa.{0} = t.prov GROUP BY t.region",
    "extreme by a key": "SELECT {0}, MAX(income) FROM (SELECT person_id, pn AS {0}, income FROM a) AS aa GROUP BY {0}",
    "table": "SELECT SUM({0}.income) FROM a AS {0} JOIN b ON b.person_id = {0}.person_id",
    "table of WITH": "WITH {0} AS (SELECT person_id, COUNT(*) AS n FROM b GROUP BY person_id) "
    "SELECT SUM(n), COUNT(*) FROM a JOIN {0} ON a.person_id = {0}.person_id",
    "a value called as the ids are": "SELECT SUM(bb.{0}) FROM a JOIN (SELECT x AS {0}, person_id AS k FROM b) AS bb "
    "ON a.person_id = bb.k",
    "per unit": "SELECT SUM({0}), MEDIAN({0}) FROM (SELECT person_id, MAX(x) AS {0} FROM b GROUP BY person_id) AS v",
}  # fmt: skip
HOSTILE: Final = ("x:1", "province:1", "key 0", "t.region", "t.prov", "a.x", "x ", "", "é", "x-1", "1x", 'x"y')
ORDINARY: Final = (
    "_discreet_value", "_discreet_unit", "_discreet_1", "_discreet_one", "ord", "unit", "entry", "one", "c0", "c1",
    "c7", "c8", "u1", "key_0", "x_1", "prepared_rows", "b_1", "r", "value", "bin", "region", "prov", "count",
)  # fmt: skip


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.long)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    if request.param == "duckdb":
        yield DuckDBHouse(tmp_path)
    elif request.param == "postgres":
        with postgres_house(request.getfixturevalue("postgres_dsn")) as found:
            yield found
    else:
        from discreet.engines.in_place.spark_sessions import shared_session

        tmp_path.chmod(0o755)
        yield SparkHouse(tmp_path, shared_session(request.getfixturevalue("spark_master")))


def read(template: str, name: str) -> Plan:
    return read_statement(template.format(name), SHELF)[0].plan


def priced(plan: Plan) -> list[object]:
    return [(sensitivities(plan, measure, CARDS), candidates_of(measure)) for measure in plan.measures]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_name_that_is_no_ordinary_one_is_refused(template: str, name: str) -> None:
    with pytest.raises(QueryRefused):
        read(template, quoted(name))


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_ordinary_names_change_neither_plan_nor_price(template: str) -> None:
    expected = read(template, "plain")
    for name in (*ORDINARY, "person_id") if " AS k " in template else ORDINARY:
        for written in (name, quoted(name), quoted(name.upper())):
            plan = read(template, written)
            assert plan == expected, written
            assert plan_hash(plan) == plan_hash(expected), written
            assert priced(plan) == priced(expected), written


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_hostile_names_are_answered_as_plain_ones(template: str, house: House, tmp_path: Path) -> None:
    name = "person_id" if " AS k " in template else "_discreet_value"
    own = tmp_path / "plain"
    own.mkdir()
    exact = plain(answer(DuckDBHouse(own), CARDS, ROWS, read(template, "plain"), DUCKDB))
    assert plain(answer(house, CARDS, ROWS, read(template, quoted(name)), house.dialect)) == exact


def test_what_the_names_reached_for_is_priced_for_what_it_is() -> None:
    """The largest cap, where the category that decides it is not known; two cells moved, where a key may change."""
    key = read(TEMPLATES["computed key"], "plain")
    assert sensitivities(key, key.measures[0], CARDS).largest.l1 == 1000
    extreme = read(TEMPLATES["extreme by a key"], "plain")
    assert sensitivities(extreme, extreme.measures[0], CARDS).largest.l1 == 2
