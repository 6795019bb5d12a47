"""Rows that PostgreSQL prepares once, for Discreet: equal to a file's, and one version after another."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import discreet
from discreet.engines.in_place.materialised_rows import materialise_table
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.postgres_writer import PostgresWriter
from discreet.errors import EngineUnavailable, Refused
from discreet.session import Session
from discreet.workspace import Dataset, RowSource, Workspace
from tests.conformance.engines import nasty
from tests.conformance.engines.test_postgres_rows import load_nasty

DSN_ENV = "DISCREET_TEST_MADE_DSN"
CARD = """\
dataset: visits
unit: {column: who, rows: 2}
neighbours: add-remove
budget: {epsilon: 1000}
columns:
  who: {kind: id, type: integer}
  town: {kind: category, categories: [N, S]}
  x: {kind: number, bounds: [0, 9], step: 0.5}
"""
ROWS = 600


@pytest.fixture
def schema(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A schema of raw tables, and one of the same name with `_made` for Discreet."""
    monkeypatch.setenv(DSN_ENV, postgres_dsn)
    name = f"office_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        for one in (name, f"{name}_made"):
            connection.execute(f"CREATE SCHEMA {one}".encode())
        connection.execute(f"CREATE TABLE {name}.visits (who int, town text, x float8, at bigint)".encode())
        connection.execute(
            f"INSERT INTO {name}.visits SELECT g % 200, CASE g % 2 WHEN 0 THEN 'N' ELSE 'S' END, g % 10, g "
            f"FROM generate_series(1, {ROWS}) AS g".encode()
        )
        yield name
        for one in (name, f"{name}_made"):
            connection.execute(f"DROP SCHEMA {one} CASCADE".encode())


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    (tmp_path / "visits.yaml").write_text(CARD, encoding="utf-8")
    with discreet.create(tmp_path / "w") as opened:
        yield opened


def source(schema: str, **changes: Any) -> RowSource:
    parts = {"dsn_env": DSN_ENV, "table": f"{schema}.visits", "materialise": f"{schema}_made", **changes}
    return RowSource("postgres", **parts)


def add(session: Session, schema: str, **changes: Any) -> Dataset:
    card = session.workspace.path.parent / "visits.yaml"
    return session.add_table(source(schema, **changes), card=card)


def run(dsn: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = connection.execute(sql.encode())
        return found.fetchall() if found.description else []


def made(dsn: str, schema: str) -> set[str]:
    return {name for (name,) in run(dsn, f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}_made'")}


def stored(dsn: str, dataset: Dataset) -> Counter[tuple[Any, ...]]:
    assert dataset.source.stored is not None
    return Counter(run(dsn, f"SELECT * FROM {POSTGRES.table(dataset.source.stored.name)}"))


def count(session: Session) -> int:
    answer = session.query("SELECT COUNT(*) AS n FROM visits", epsilon="5", fresh=True)
    return int(str(answer.rows[0]["n"]))


def test_what_the_engine_stores_is_what_a_file_is_prepared_to(postgres_dsn: str, schema: str, tmp_path: Path) -> None:
    table, card = nasty.make_table(secrets.randbits(32)), nasty.make_card(sources=["dbl", "num", "txt", "code"])
    raw = RowSource("postgres", dsn_env=DSN_ENV, table=f"{schema}.nasty")
    load_nasty(postgres_dsn, raw, table)
    workspace = Workspace.create(tmp_path / "w")
    object.__setattr__(workspace, "salt", nasty.SALT)
    dataset = materialise_table(workspace, source(schema, table=f"{schema}.nasty"), card, replace=False)
    nasty.assert_same(card, stored(postgres_dsn, dataset), nasty.ingested(card, table))
    kinds = run(
        postgres_dsn,
        f"SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = '{schema}_made'",
    )
    assert {kind for (kind,) in kinds} <= {"smallint", "integer", "bigint", "text"}


def test_a_refresh_is_the_next_version_and_keeps_one_before_it(
    postgres_dsn: str, schema: str, session: Session
) -> None:
    first = add(session, schema)
    assert count(session) in range(400 - 30, 400 + 30)
    run(postgres_dsn, f"DELETE FROM {schema}.visits WHERE who >= 100")
    assert count(session) in range(400 - 30, 400 + 30), "the raw table is not read"
    second = session.refresh("visits")
    assert (first.version, second.version) == (1, 2)
    assert count(session) in range(200 - 30, 200 + 30)
    assert len(made(postgres_dsn, schema)) == 2
    third = session.refresh("visits")
    assert third.source.stored is not None
    assert second.source.stored is not None
    names = {one.source.stored.name.split(".")[1] for one in (second, third) if one.source.stored}
    assert made(postgres_dsn, schema) == names
    assert session.budget("visits").population.epsilon_remaining < 1000


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {t} SET x = 9, at = at + 1000 WHERE who = 7",
        "INSERT INTO {t} VALUES (7, 'N', 3, 2000), (999, 'S', 1, 2000), (NULL, 'S', 1, 2000)",
        "INSERT INTO {t} VALUES (7, 'N', 3, NULL)",
        "DELETE FROM {t} WHERE who = 7",
        "UPDATE {t} SET who = 8, at = at + 1000 WHERE who = 7",
        "UPDATE {t} SET who = NULL, at = at + 1000 WHERE who = 7",
        "SELECT 1",
    ],
)
def test_a_refresh_by_changes_gives_what_a_whole_one_gives(
    postgres_dsn: str, schema: str, session: Session, change: str
) -> None:
    add(session, schema, changed_by="at")
    run(postgres_dsn, change.format(t=f"{schema}.visits"))
    by_changes = stored(postgres_dsn, session.refresh("visits"))
    assert by_changes == stored(postgres_dsn, session.refresh("visits", whole=True))


def test_a_refresh_prepares_only_what_has_changed(postgres_dsn: str, schema: str, session: Session) -> None:
    """A row that changes behind the change column's back is not seen, and that is how one can tell."""
    add(session, schema, changed_by="at")
    run(postgres_dsn, f"UPDATE {schema}.visits SET x = 0.5 WHERE who = 7")
    run(postgres_dsn, f"UPDATE {schema}.visits SET x = 0.5, at = at + 1000 WHERE who = 8")
    found = stored(postgres_dsn, session.refresh("visits"))
    assert {row[2] for row in found if row[0] == 8} == {1}
    assert {row[2] for row in found if row[0] == 7} != {1}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"materialise": "nowhere"}, "no schema 'nowhere'"),
        ({"changed_by": "absent"}, "no column 'absent'"),
        ({"changed_by": "town"}, "of type text"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_left(
    postgres_dsn: str, schema: str, session: Session, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(discreet.DiscreetError, match=said):
        add(session, schema, **changes)
    assert session.datasets() == ()
    assert made(postgres_dsn, schema) == set()


# --- failures in the middle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["write", "finish"])
def test_a_failure_in_the_middle_leaves_the_old_version_in_use(
    postgres_dsn: str, schema: str, session: Session, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    add(session, schema)
    before = made(postgres_dsn, schema)
    real = getattr(PostgresWriter, where)

    def fail(writer: PostgresWriter, *words: Any) -> Any:
        real(writer, *words)
        raise psycopg.OperationalError("row 7 of a patient")

    with monkeypatch.context() as patch:
        patch.setattr(PostgresWriter, where, fail)
        with pytest.raises(EngineUnavailable) as refused:
            session.refresh("visits")
    assert "patient" not in str(refused.value)
    assert session.workspace.dataset("visits").version == 1
    count(session)
    session.refresh("visits")
    assert len(made(postgres_dsn, schema)) == 2, "what the failure left behind is gone"
    assert before < made(postgres_dsn, schema)


KILLED = """
import os, signal, sys
import discreet
from discreet.engines.in_place.postgres_writer import PostgresWriter
point, workspace = sys.argv[1:]
real = getattr(PostgresWriter, point)
def die(writer, *words):
    real(writer, *words)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(PostgresWriter, point, die)
with discreet.open(workspace) as session:
    session.refresh("visits")
"""


@pytest.mark.parametrize("point", ["check_home", "write", "finish"])
def test_a_kill_in_the_middle_leaves_the_old_version_in_use(
    postgres_dsn: str, schema: str, session: Session, point: str
) -> None:
    add(session, schema)
    words = [sys.executable, "-c", KILLED, point, str(session.workspace.path)]
    assert subprocess.run(words, check=False, env=os.environ.copy()).returncode == -signal.SIGKILL
    assert session.workspace.dataset("visits").version == 1
    count(session)
    assert session.refresh("visits").version == 2
    wait_until(lambda: len(made(postgres_dsn, schema)) == 2)


def wait_until(holds: Any) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_only_one_command_prepares_a_dataset_at_a_time(schema: str, session: Session) -> None:
    add(session, schema)
    with session.workspace.journal("visits"), pytest.raises(Refused, match="another command"):
        session.refresh("visits")


def test_a_question_sees_one_version_while_others_are_made(postgres_dsn: str, schema: str, session: Session) -> None:
    """Before each refresh the number of rows doubles or halves: an answer between two of them would be a mixture."""
    add(session, schema)
    sizes, over = (400, 200), threading.Event()
    faults: list[object] = []

    def ask() -> None:
        try:
            with discreet.open(session.workspace.path) as asking:
                while not over.is_set():
                    answer = asking.query(
                        "SELECT COUNT(*) AS n, SUM(x) AS s, MEDIAN(x) AS m FROM visits", epsilon="20", fresh=True
                    )
                    found = int(str(answer.rows[0]["n"]))
                    if not any(abs(found - size) < 30 for size in sizes):
                        faults.append(found)
        except Exception as error:
            faults.append(repr(error))

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for number in range(4):
        if number % 2:
            run(postgres_dsn, f"INSERT INTO {schema}.visits SELECT who + 100, town, x, at FROM {schema}.visits")
        else:
            run(postgres_dsn, f"DELETE FROM {schema}.visits WHERE who >= 100")
        session.refresh("visits")
    over.set()
    for thread in asking:
        thread.join()
    assert not faults


def test_a_table_that_a_question_reads_is_removed_later(postgres_dsn: str, schema: str, session: Session) -> None:
    first = add(session, schema)
    assert first.source.stored is not None
    with psycopg.connect(postgres_dsn) as reading:
        reading.execute(f"SELECT count(*) FROM {POSTGRES.table(first.source.stored.name)}".encode())
        session.refresh("visits")
        session.refresh("visits")
        assert len(made(postgres_dsn, schema)) == 3
    session.refresh("visits")
    assert len(made(postgres_dsn, schema)) == 2


# --- rights and names -------------------------------------------------------------------------------------------------


@pytest.fixture
def clerk(postgres_dsn: str, schema: str) -> Iterator[str]:
    """A user who may read the raw table and nothing else."""
    name = f"clerk_{secrets.token_hex(4)}"
    for statement in (
        f"CREATE ROLE {name} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        f"GRANT SELECT ON {schema}.visits TO {name}",
    ):
        run(postgres_dsn, statement)
    yield name
    for statement in (f"DROP OWNED BY {name} CASCADE", f"DROP ROLE {name}"):
        run(postgres_dsn, statement)


def as_user(dsn: str, name: str) -> str:
    return dsn.replace("user=postgres", f"user={name}")


def test_a_role_without_rights_is_refused_clearly_and_before_any_charge(
    postgres_dsn: str, schema: str, session: Session, clerk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DSN_ENV, as_user(postgres_dsn, clerk))
    with pytest.raises(EngineUnavailable, match="GRANT USAGE, CREATE"):
        add(session, schema)
    run(postgres_dsn, f"GRANT USAGE, CREATE ON SCHEMA {schema}_made TO {clerk}")
    add(session, schema)
    count(session)
    left = session.budget("visits").population.epsilon_remaining
    [name] = made(postgres_dsn, schema)
    run(postgres_dsn, f"ALTER TABLE {schema}_made.{name} OWNER TO postgres")
    with pytest.raises(EngineUnavailable, match="may not read a table"):
        count(session)
    assert session.budget("visits").population.epsilon_remaining == left
    assert not session.describe("visits")["suspended"]


def test_a_table_in_place_without_rights_is_refused_before_any_charge(
    postgres_dsn: str, schema: str, session: Session, clerk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DSN_ENV, as_user(postgres_dsn, clerk))
    add(session, schema, materialise=None)
    count(session)
    left = session.budget("visits").population.epsilon_remaining
    for statement in (
        f"REVOKE SELECT ON {schema}.visits FROM {clerk}",
        f"GRANT SELECT (who) ON {schema}.visits TO {clerk}",
    ):
        run(postgres_dsn, statement)
    with pytest.raises(EngineUnavailable, match="may not read a table"):
        session.query("SELECT SUM(x) AS s FROM visits", epsilon="1", fresh=True)
    assert session.budget("visits").population.epsilon_remaining == left


def test_nobody_else_may_read_what_is_stored(postgres_dsn: str, schema: str, session: Session, clerk: str) -> None:
    run(postgres_dsn, f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema}_made GRANT SELECT ON TABLES TO PUBLIC")
    add(session, schema)
    [name] = made(postgres_dsn, schema)
    found = run(postgres_dsn, f"SELECT has_table_privilege('{clerk}', '{schema}_made.{name}', 'SELECT')")
    assert found == [(False,)]


HOSTILE = ['a"b', "it's", "semi;colon", "sp ace", "é", 'x" FROM pg_class --', "select", "$1", "%s", "\\"]


def test_hostile_names_of_columns(postgres_dsn: str, schema: str, session: Session, tmp_path: Path) -> None:
    table = f"{schema}.odd"
    listed = ", ".join(f"{POSTGRES.name(name)} int" for name in HOSTILE)
    run(postgres_dsn, f"CREATE TABLE {table} (who int PRIMARY KEY, {listed})")
    run(postgres_dsn, f"INSERT INTO {table} SELECT g{', g % 5' * len(HOSTILE)} FROM generate_series(1, 500) AS g")
    described = {f"c{i}": f"{{kind: integer, bounds: [0, 9], source: {json.dumps(n)}}}" for i, n in enumerate(HOSTILE)}
    columns = "".join(f"  {name}: {text}\n" for name, text in described.items())
    for dataset, changes in (("odd", {}), ("raw", {"materialise": None})):
        card = CARD.split("  town", maxsplit=1)[0].replace("dataset: visits", f"dataset: {dataset}") + columns
        (tmp_path / "odd.yaml").write_text(card, encoding="utf-8")
        session.add_table(source(schema, table=table, **changes), card=tmp_path / "odd.yaml", confirm=lambda _: True)
        sums = ", ".join(f"SUM({name}) AS s_{name}" for name in described)
        [row] = session.query(f"SELECT {sums} FROM {dataset}", epsilon="500", fresh=True).rows
        assert all(abs(float(str(row[f"s_{name}"])) - 1000) < 60 for name in described)


@pytest.mark.parametrize("name", ["made; DROP TABLE x", 'a"b', "a.b.c", "../up", "é", "", "x" * 200])
def test_a_schema_is_named_plainly(name: str) -> None:
    with pytest.raises(discreet.DiscreetError, match="materialise"):
        RowSource("postgres", dsn_env=DSN_ENV, table="visits", materialise=name)
