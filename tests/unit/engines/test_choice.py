"""Which engine answers: decided from the workspace alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine_choice import engine_for
from discreet.engines.in_place.postgres_dialect import POSTGRES as DIALECT
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.errors import QueryRefused
from discreet.sql.algebra import Clamp, Plan, Plus, Rows, Total, Value, Whole
from discreet.workspace.folder import Dataset
from discreet.workspace.row_source import RowSource
from tests.algebra.columns import field, scan
from tests.conformance.engines.operators import CARDS
from tests.conformance.engines.plans import Reader, as_rows

SALT = "00" * 16
POSTGRES = RowSource("postgres", dsn_env="A_DSN", table="t", types=(("pid", "bigint"),))
SPARK = RowSource("spark", remote="local[2]", table="t")


def dataset(name: str, source: RowSource | None = None) -> Dataset:
    path = Path("nowhere") / name
    return Dataset(name, 1, CARDS[name], path, path, source or RowSource("duckdb", path=path))


def typed(source: RowSource, name: str) -> RowSource:
    kinds = {"id": "bigint", "category": "text", "integer": "bigint", "number": "bigint", "text": "text"}
    return replace(source, types=tuple((one.source, kinds[one.kind]) for one in CARDS[name].columns))


@pytest.mark.parametrize(
    ("source", "kind"), [(None, EmbeddedEngine), (POSTGRES, TabularEngine)], ids=["duckdb", "postgres"]
)
def test_datasets_of_one_place_share_an_engine_and_nothing_is_opened(source: RowSource | None, kind: type) -> None:
    found = {name: dataset(name, typed(source, name) if source else None) for name in CARDS}
    assert isinstance(engine_for(found, salt=SALT), kind)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (None, POSTGRES),
        (None, SPARK),
        (POSTGRES, SPARK),
        (POSTGRES, replace(POSTGRES, dsn_env="ANOTHER_DSN")),
        (SPARK, replace(SPARK, remote="spark://elsewhere:7077")),
    ],
    ids=["postgres", "spark", "both", "another server", "another cluster"],
)
def test_datasets_of_several_places_are_refused(first: RowSource | None, other: RowSource) -> None:
    found = {"people": dataset("people", first), "visits": dataset("visits", other)}
    with pytest.raises(QueryRefused, match="different places"):
        engine_for(found, salt=SALT)


def test_what_no_engine_could_read_is_refused_without_one() -> None:
    value: Value = field("age")
    for _ in range(40):
        value = Clamp(Plus((value, Whole(1))), 0, 9)
    engine = engine_for({"people": dataset("people")}, salt=SALT)
    with pytest.raises(QueryRefused, match="CLAMP"):
        engine.prepare(Plan(scan(CARDS["people"], 1), (), (Total(value),)))


class CountedReader(Reader):
    """A connection that counts."""

    opened = 0
    closed = 0

    def __init__(self) -> None:
        super().__init__(self._count)
        CountedReader.opened += 1

    def _count(self, sql: str) -> pa.Table:
        if "visits" in sql:
            raise RuntimeError
        return pa.table({"n": [3]})

    def close(self) -> None:
        CountedReader.closed += 1


def test_every_question_has_a_connection_of_its_own_and_none_is_left() -> None:
    engine = TabularEngine(
        {name: as_rows(name, card) for name, card in CARDS.items()}, dialect=DIALECT, connect=CountedReader
    )
    people = Plan(scan(CARDS["people"], 1), (), (Rows(None),))
    engine.prepare(people)
    assert (CountedReader.opened, CountedReader.closed) == (1, 0)
    assert engine.measure(people).columns == ([3],)
    assert engine.measure(people).columns == ([3],)
    assert (CountedReader.opened, CountedReader.closed) == (2, 2)
    with pytest.raises(RuntimeError):
        engine.measure(Plan(scan(CARDS["visits"], 1), (), (Rows(None),)))
    engine.prepare(people)
    engine.close()
    assert (CountedReader.opened, CountedReader.closed) == (4, 4)
