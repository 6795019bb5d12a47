"""Both stores for one suite: every test that takes `ledger` or `config` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.guarantees.budget import Budget, PopulationTerms
from discreet.guarantees.types import CentralGuarantee, Neighbours, PureDP
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger

DSN_ENV = "DISCREET_TEST_LEDGER_DSN"
MakeRequest = Callable[..., SpendRequest]


@pytest.fixture(params=["sqlite", "postgres"])
def config(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LedgerConfig:
    outside = tmp_path / "outside"
    common = {
        "workspace_id": str(uuid.uuid4()),
        "key_path": outside / "key",
        "anchor_path": outside / "anchor",
    }
    if request.param == "sqlite":
        return LedgerConfig(store="sqlite", path=tmp_path / "ledger.sqlite", **common)  # type: ignore[arg-type]
    monkeypatch.setenv(DSN_ENV, request.getfixturevalue("postgres_dsn"))
    return LedgerConfig(store="postgres", dsn_env=DSN_ENV, **common)  # type: ignore[arg-type]


@pytest.fixture
def ledger(config: LedgerConfig) -> Iterator[Ledger]:
    """A ledger with one pure population, one dataset and two analysts."""
    with create_ledger(config) as made:
        made.register(terms())
        made.give_version("cchs", "survey", above=0, who="custodian")
        for name in ("ada", "ben"):
            made.add_analyst(name, who="custodian")
        yield made


@pytest.fixture
def reopen(config: LedgerConfig) -> Iterator[Callable[[], Ledger]]:
    opened: list[Ledger] = []

    def again() -> Ledger:
        opened.append(open_ledger(config))
        return opened[-1]

    yield again
    for each in opened:
        each.close()


@pytest.fixture
def make_terms() -> Callable[..., PopulationTerms]:
    return terms


@pytest.fixture
def make_request() -> MakeRequest:
    return request_for


@pytest.fixture
def vandal(config: LedgerConfig) -> Iterator[Vandal]:
    made = Vandal(config)
    yield made
    made.close()


class Vandal:
    """Someone with write access to the store, who turns its triggers off first."""

    def __init__(self, config: LedgerConfig) -> None:
        self._config = config
        self._connection: sqlite3.Connection | None = None

    def run(self, *statements: str) -> None:
        if self._config.store == "sqlite":
            self._run_sqlite(statements)
        else:
            self._run_postgres(statements)

    def query(self, statement: str) -> list[tuple[object, ...]]:
        if self._config.store == "sqlite":
            return list(self._sqlite().execute(statement))
        with self._postgres() as connection:
            return list(connection.execute(statement))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _sqlite(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self._config.path or "", isolation_level=None)
        return self._connection

    def _run_sqlite(self, statements: tuple[str, ...]) -> None:
        connection = self._sqlite()
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)

    def _run_postgres(self, statements: tuple[str, ...]) -> None:
        with self._postgres() as connection:
            connection.execute("SET session_replication_role = replica")
            for statement in statements:
                connection.execute(statement)

    def _postgres(self) -> Any:
        import psycopg

        from discreet.ledger.chain_stores.postgres_store import schema_name

        connection = psycopg.connect(os.environ[DSN_ENV], autocommit=True)
        connection.execute(f"SET search_path = {schema_name(self._config.workspace_id)}")
        return connection


def terms(
    *, population: str = "cchs", epsilon: str = "1", delta: str = "0", per_analyst: str | None = None
) -> PopulationTerms:
    return PopulationTerms(
        population=population,
        budget=Budget(epsilon=epsilon, delta=delta, per_analyst=per_analyst),
        neighbours=Neighbours.ADD_REMOVE,
        unit_column="person_id",
        unit_type="integer",
    )


def request_for(
    request_id: str = "r1",
    *,
    epsilon: str = "0.1",
    analyst: str = "ada",
    plan: str = "a",
    version: int = 1,
    population: str = "cchs",
    dataset: str = "survey",
    guarantee: CentralGuarantee | None = None,
) -> SpendRequest:
    return SpendRequest(
        population=population,
        dataset=dataset,
        version=version,
        analyst=analyst,
        request_id=request_id,
        plan_hash=(plan * 64)[:64],
        mechanisms=({"name": "discrete-laplace", "scale": "10"},),
        guarantee=guarantee or PureDP(epsilon=epsilon),
    )
