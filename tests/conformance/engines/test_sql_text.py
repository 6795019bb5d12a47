"""Random SQL text on PostgreSQL: the same integers as the interpreter's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from discreet.engines.engine import Engine
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.postgres_tables import fetch_columns
from discreet.engines.in_place.tabular_engine import TabularEngine
from tests.conformance.engines.plans import POSTGRES_TYPES, Reader, as_rows
from tests.sql_text.fuzz import Engines, run
from tests.sql_text.populations import Population

START = 500_000
STATEMENTS = 500


@pytest.fixture
def postgres(postgres_dsn: str) -> Iterator[Engines]:
    """Tables of a temporary schema, filled once for each population."""
    import psycopg

    with psycopg.connect(postgres_dsn, client_encoding="utf8", autocommit=True) as connection:
        opened: dict[int, Engine] = {}

        def find(people: Population) -> Engine:
            if people.number not in opened:
                opened[people.number] = _opened(connection, people)
            return opened[people.number]

        yield find


def _opened(connection: Any, people: Population) -> Engine:
    rows = {}
    for name, card in people.cards.items():
        columns = [*((one.name, POSTGRES_TYPES[one.storage]) for one in card.columns), ("ord", "integer")]
        table = f"{name}_{people.number}"
        described = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        connection.execute(f"CREATE TEMPORARY TABLE {table} ({described})")
        places = ", ".join(["%s"] * len(columns))
        values = [tuple(row[column] for column, _ in columns) for row in people.table(name)]
        connection.cursor().executemany(f"INSERT INTO {table} VALUES ({places})", values)
        rows[name] = as_rows(table, card)
    return TabularEngine(rows, dialect=POSTGRES, connect=lambda: Reader(partial(fetch_columns, connection)))


def test_statements_are_answered_as_they_read(postgres: Engines) -> None:
    result = run(range(START, START + STATEMENTS), postgres, attacked=0)
    assert not result.violations, str(result)
    assert result.share >= 0.6, str(result)
