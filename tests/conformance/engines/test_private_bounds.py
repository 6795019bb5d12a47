"""The histogram that private bounds are found from is the same on every engine. Spark runs in the long tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.cards.card import parse_card
from discreet.release.measurement.private_bounds import edges, search_plan
from discreet.sql.algebra import Plus, Whole
from tests.algebra.columns import field, scan
from tests.algebra.interpreter import measure
from tests.conformance.engines.plans import DuckDBHouse, House, SparkHouse, answer, plain, postgres_house

CARD = parse_card(
    """
dataset: t
unit: {column: pid, rows: 2}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  pid: {kind: id, type: integer}
  x: {kind: integer, bounds: private}
""",
    file="t.yaml",
)
VALUES = [None, -(10**15), 10**15, *(edge + by for edge in edges() for by in (-1, 0, 1))]
ROWS: list[dict[str, Any]] = [
    {"pid": place // 3, "x": value, "ord": 1 + place % 3} for place, value in enumerate(VALUES)
]


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.long)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    if request.param == "duckdb":
        yield DuckDBHouse(tmp_path)
    elif request.param == "postgres":
        with postgres_house(request.getfixturevalue("postgres_dsn")) as found:
            yield found
    else:
        from discreet.engines.in_place.spark_sessions import shared_session

        tmp_path.chmod(0o755)  # workers of the cluster may run as another user
        yield SparkHouse(tmp_path, shared_session(request.getfixturevalue("spark_master")))


def test_the_histogram_equals_the_interpreter(house: House) -> None:
    cards, tables = {"t": CARD}, {"t": ROWS}
    for value in (field("x"), Plus((field("x"), Whole(3)))):
        plan = search_plan(scan(CARD, 2), value)
        assert plain(answer(house, cards, tables, plan, house.dialect)) == plain(measure(plan, tables, cards))
