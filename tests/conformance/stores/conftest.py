"""Both stores for one suite: every test that takes `place` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.stores import Store, Tables
from tests.conformance.stores.store_client import StorePlace, counting

DSN_ENV = "DISCREET_TEST_OFFICE_DSN"
OpenStore = Callable[..., Store]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StorePlace:
    if request.param == "sqlite":
        return StorePlace("w", path=str(tmp_path / "office.sqlite"))
    monkeypatch.setenv(DSN_ENV, request.getfixturevalue("postgres_dsn"))
    return StorePlace(str(uuid.uuid4()), dsn_env=DSN_ENV)


@pytest.fixture
def open_place(place: StorePlace) -> Iterator[OpenStore]:
    """Opens it, as often as it is called; of a room that counts, unless another is given."""
    opened: list[Store] = []

    def again(tables: Tables | None = None) -> Store:
        opened.append(place.open(tables or counting()))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.fixture
def administer(place: StorePlace) -> Iterator[Callable[[str], list[Any]]]:
    """What the administrator of the database does, beside the store."""
    import psycopg

    connection = psycopg.connect(os.environ[DSN_ENV], autocommit=True)

    def run(statement: str) -> list[Any]:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description is not None else []

    yield run
    connection.close()
