"""The engines that are timed, each with its rows: DuckDB on files, a PostgreSQL server, a Spark cluster of two workers.

Servers listen on a Unix socket or on loopback alone, and end by process id with the block that opened them. Settings
are those that came with the engine, but for those named here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.scale_cases import BARE, IN_PLACE, MATERIALISED, PREPARED
from benchmarks.scale_rows import COLUMNS, write_rows
from tests.conformance.engines.spark_cluster import daemon, free_port, installed, make_folder
from tests.conformance.ledger.postgres_server import postgres_server

__all__ = ["PLACES", "Place", "worker"]

DSN_ENV: Final = "DISCREET_SCALE_DSN"
SCHEMA: Final = "prepared"
WORKERS: Final = 2
# Memory to sort and hash in, and a log that loading does not fill; both engines' own advice for a machine of this size.
_POSTGRES: Final = {"work_mem": "64MB", "maintenance_work_mem": "256MB", "max_wal_size": "8GB"}
_SPARK: Final = """\
spark.executor.memory 2g
spark.executor.cores 1
spark.cores.max 2
spark.sql.shuffle.partitions 8
spark.ui.enabled false
"""
_CONNECT: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"


@dataclass(frozen=True, slots=True)
class Place:
    """An engine that runs and holds the rows."""

    engine: str
    ways: tuple[str, ...]
    plain: tuple[str, ...]
    """The command of a worker that runs a plain statement, which is added to it."""
    tables: Mapping[str, str]
    """What plain statements call the rows."""
    source: Callable[[str], list[str]]
    """The words of `discreet add` that name the rows of a dataset."""
    target: str
    """Where `--materialise` writes."""
    stored: Callable[[Path], int]
    """Bytes that prepared rows of a workspace take."""


def worker(*words: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.worker", *words]


@contextmanager
def duckdb_place(folder: Path, datasets: tuple[str, ...], rows: int) -> Iterator[Place]:
    files = {name: write_rows(folder, name, rows=rows) for name in datasets}
    yield Place(
        "duckdb",
        (PREPARED,),
        tuple(worker("plain")),
        {name: f"read_parquet('{file}')" for name, file in files.items()},
        lambda name: [str(files[name])],
        "",
        lambda workspace: sum(file.stat().st_size for file in workspace.glob("datasets/*/v*/data.parquet")),
    )


@contextmanager
def postgres_place(folder: Path, datasets: tuple[str, ...], rows: int) -> Iterator[Place]:
    """Tables as they are found: `people` has a primary key, the others have no index."""
    import psycopg

    with postgres_server() as dsn:
        os.environ[DSN_ENV] = dsn
        with psycopg.connect(dsn, autocommit=True) as connection:
            for name, value in _POSTGRES.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            for name in datasets:
                _load(connection, write_rows(folder, "people" if name == BARE else name, rows=rows), name)

        def stored(_: Path) -> int:
            size = "coalesce(sum(pg_total_relation_size(c.oid)), 0)"
            with psycopg.connect(dsn) as connection:
                found = connection.execute(
                    f"SELECT {size} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    f"WHERE n.nspname = '{SCHEMA}' AND c.relkind IN ('r', 'm')".encode()
                ).fetchone()
            assert found is not None
            return int(found[0])

        yield Place(
            "postgres",
            (IN_PLACE, MATERIALISED),
            tuple(worker("postgres", DSN_ENV)),
            {name: name for name in datasets},
            lambda name: ["--engine", "postgres", "--dsn-env", DSN_ENV, "--table", f"public.{name}"],
            SCHEMA,
            stored,
        )


def _load(connection: Any, file: Path, name: str) -> None:
    import duckdb

    text = file.with_suffix(".csv")
    columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
    connection.execute(f"CREATE TABLE {name} ({columns})")
    try:
        duckdb.execute(f"COPY (SELECT {', '.join(COLUMNS)} FROM read_parquet('{file}')) TO '{text}' (HEADER false)")
        with text.open("rb") as stream, connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
    finally:
        text.unlink(missing_ok=True)
    if name == "people":
        connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (id)")
    connection.execute(f"VACUUM ANALYZE {name}")


@contextmanager
def spark_place(folder: Path, datasets: tuple[str, ...], rows: int) -> Iterator[Place]:
    """A master, two workers and a Spark Connect server: plain statements and questions come as its clients."""
    for name in datasets:
        write_rows(folder, name, rows=rows)
    target = folder / "materialised"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    with _cluster() as remote:
        yield Place(
            "spark",
            (IN_PLACE, MATERIALISED),
            tuple(worker("spark", remote)),
            {name: f"parquet.`{folder / name}`" for name in datasets},
            lambda name: ["--engine", "spark", "--remote", remote, "--table", f"parquet.`{folder / name}`"],
            str(target),
            lambda _: sum(file.stat().st_size for file in target.rglob("*.parquet")),
        )


@contextmanager
def _cluster() -> Iterator[str]:
    home, folder = installed(), make_folder()
    (folder / "conf" / "spark-defaults.conf").write_text(_SPARK, encoding="ascii")
    master, port = f"127.0.0.1:{free_port()}", free_port()
    try:
        with ExitStack() as stack:
            host, master_port = master.split(":")
            words = ["master.Master", "--host", host, "--port", master_port, "--webui-port", "0"]
            stack.enter_context(daemon(home, folder, "master", words, ready="elected leader"))
            for number in range(WORKERS):
                words = ["worker.Worker", "--host", host, "--cores", "1", "--memory", "3g", "--webui-port", "0"]
                words += ["--work-dir", str(folder / f"work{number}"), f"spark://{master}"]
                stack.enter_context(daemon(home, folder, f"worker{number}", words, ready="Successfully registered"))
            words = ["SparkSubmit", "--class", _CONNECT, "--master", f"spark://{master}"]
            for setting in (
                f"spark.connect.grpc.binding.port={port}",
                "spark.connect.grpc.binding.address=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1",
                "spark.driver.host=127.0.0.1",
            ):
                words += ["--conf", setting]
            ready = "Spark Connect server started"
            stack.enter_context(daemon(home, folder, "connect", words, ready=ready, memory="2g"))
            yield f"sc://127.0.0.1:{port}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


PLACES: Final = {"duckdb": duckdb_place, "postgres": postgres_place, "spark": spark_place}
