"""One worker: a plain engine on a statement, a session on a question or a table, or a session with its inner times.

python -m benchmarks.worker plain "SELECT …"
python -m benchmarks.worker postgres DSN_ENV "SELECT …"
python -m benchmarks.worker spark REMOTE "SELECT …"
python -m benchmarks.worker discreet WORKSPACE "SELECT …" [DELTA]
python -m benchmarks.worker parts WORKSPACE "SELECT …"
python -m benchmarks.worker table WORKSPACE DATASET KEY,KEY,… MARGIN;MARGIN;…
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.turns import serve

EPSILON = "0.01"
THREADS = 2


def run_plain(sql: str) -> Callable[[], Mapping[str, float]]:
    import duckdb

    database = duckdb.connect(config={"threads": THREADS})
    database.execute("SET enable_progress_bar = false")

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        database.execute(sql).fetchall()
        return {"whole": time.perf_counter() - start}

    return work


def run_postgres(dsn_env: str, sql: str) -> Callable[[], Mapping[str, float]]:
    import psycopg

    connection = psycopg.connect(os.environ[dsn_env], autocommit=True)

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        connection.execute(sql.encode()).fetchall()
        return {"whole": time.perf_counter() - start}

    return work


def run_spark(remote: str, sql: str) -> Callable[[], Mapping[str, float]]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(remote).create()

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        session.sql(sql).collect()
        return {"whole": time.perf_counter() - start}

    return work


def run_discreet(workspace: str, sql: str, delta: str = "0") -> Callable[[], Mapping[str, float]]:
    """A new charge, new noise and a stored answer each time; then what reading it takes."""
    import discreet

    session = discreet.open(workspace)

    def work() -> Mapping[str, float]:
        start = time.perf_counter()
        answer = session.query(sql, epsilon=EPSILON, delta=delta, fresh=True)
        answered = time.perf_counter()
        len(answer.rows)
        read = time.perf_counter()
        len(answer.intervals)
        return {"whole": answered - start, "rows": read - answered, "intervals": time.perf_counter() - read}

    return work


def run_parts(workspace: str, sql: str) -> Callable[[], Mapping[str, float]]:
    """The same, with the time of each step between question and answer."""
    import discreet
    from discreet.engines import EmbeddedEngine
    from discreet.ledger import Ledger
    from discreet.release import ask_reader as reading
    from discreet.release import question as asking

    parts: dict[str, float] = {}
    for owner, name, part in (
        (reading, "read_ask", "reading"),
        (asking, "price", "pricing"),
        (Ledger, "spend", "charge"),
        (EmbeddedEngine, "measure", "engine"),
        (asking, "draw", "noise"),
        (Ledger, "commit_answer", "commit"),
    ):
        _watch(owner, name, part, parts)
    session = discreet.open(workspace)

    def work() -> Mapping[str, float]:
        parts.clear()
        start = time.perf_counter()
        session.query(sql, epsilon=EPSILON, fresh=True)
        whole = time.perf_counter() - start
        return {
            "whole": whole,
            "beyond the engine": whole - parts["engine"],
            **parts,
            "rest": whole - sum(parts.values()),
        }

    return work


def run_table(workspace: str, dataset: str, by: str, margins: str = "") -> Callable[[], Mapping[str, float]]:
    """A new weighted table each time, from the request to every figure, with the time of each step.

    Margins are lists of keys as in `by`; an empty one is the grand total, and none at all stand for all of them.
    """
    import discreet
    from discreet.engines import EmbeddedEngine
    from discreet.ledger import Ledger
    from discreet.release import question as asking
    from discreet.tables import EstimatedMeasure, TableRequest
    from discreet.tables import asked_table as table_asking

    parts: dict[str, float] = {}
    for owner, name, part in (
        (table_asking, "form_table", "reading"),
        (table_asking, "design_table", "strategy"),
        (Ledger, "spend", "charge"),
        (EmbeddedEngine, "measure", "engine"),
        (asking, "draw", "noise"),
        (Ledger, "commit_answer", "commit"),
        (EstimatedMeasure, "published", "estimate and consistency"),
        (EstimatedMeasure, "half_widths", "intervals"),
    ):
        _watch(owner, name, part, parts)
    kept = tuple(tuple(margin.split(",")) if margin else () for margin in margins.split(";")) if margins else None
    request = TableRequest(dataset, tuple(by.split(",")), weighted=True, margins=kept)
    session = discreet.open(workspace)

    def work() -> Mapping[str, float]:
        parts.clear()
        start = time.perf_counter()
        released = session.tables.release(request, epsilon="1", fresh=True)
        whole = time.perf_counter() - start
        for _ in released.entries():
            pass
        read = time.perf_counter() - start
        return {
            "whole": whole,
            "with every figure put together": read,
            "without the ledger": whole - parts["charge"] - parts["commit"],
            **parts,
            "rest": whole - sum(parts.values()),
        }

    return work


def _watch(owner: Any, name: str, part: str, parts: dict[str, float]) -> None:
    inner = getattr(owner, name)

    def watched(*words: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return inner(*words, **named)
        finally:
            parts[part] = parts.get(part, 0.0) + time.perf_counter() - start

    setattr(owner, name, watched)


if __name__ == "__main__":
    kinds: dict[str, Callable[..., Callable[[], Mapping[str, float]]]] = {
        "plain": run_plain,
        "postgres": run_postgres,
        "spark": run_spark,
        "discreet": run_discreet,
        "parts": run_parts,
        "table": run_table,
    }
    serve(kinds[sys.argv[1]](*sys.argv[2:]))
