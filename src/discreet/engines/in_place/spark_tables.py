"""A raw table that Spark can read, through Spark Connect or as the driver of a cluster.

A process has at most one driver of its own. It listens on the loopback address where the master does, shows no page
and logs nothing, because what Spark logs may quote rows.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from discreet.engines.exact_values import Row, exact_row
from discreet.engines.in_place.spark_dialect import COMPOSER, SPARK, WRITERS
from discreet.errors import EngineUnavailable, ExtraMissing
from discreet.workspace import RowSource

__all__ = ["SparkRows", "stop_drivers"]

_OLDEST: Final = 4
_SETTINGS: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    # Else ${...} within a text of the card would be replaced.
    "spark.sql.variable.substitute": "false",
}
_QUIET: Final = {
    "spark.app.name": "discreet",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOOPBACK: Final = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
# Several masters, separated by commas, stand in for one another: then Spark finds the one that leads.
_HOST: Final = re.compile(r"(?P<scheme>sc|spark)://(?P<host>[^:/,]+)(:(?P<port>[0-9]+))?(/.*)?$", re.ASCII)
_PORTS: Final = {"sc": 15002, "spark": 7077}
_PATIENCE_SECONDS: Final = 10

_drivers: dict[str, Any] = {}


class SparkRows:
    """A Spark session with the settings that the dialect rests on."""

    def __init__(self, source: RowSource) -> None:
        assert source.remote is not None
        assert source.table is not None
        self._remote = source.remote
        self._table = SPARK.table(source.table)
        try:
            self._session = _open(self._remote)
        except ImportError:
            raise ExtraMissing(needed_for="Data in Spark", extra="spark") from None
        except EngineUnavailable:
            raise
        except Exception as error:
            raise _unavailable(self._remote, type(error).__name__) from None

    def columns(self) -> dict[str, str]:
        """The columns of the table and their types, from the catalogue; empty when there is no such table."""
        from pyspark.errors import AnalysisException

        try:
            fields = self._session.sql(f"SELECT * FROM {self._table}").schema.fields
        except AnalysisException:
            return {}
        return {str(field.name): str(field.dataType.simpleString()) for field in fields}

    def check_libraries(self) -> None:
        """Refuse a Spark that lacks what the dialect calls by name."""
        from discreet.workspace import Form

        calls = (
            f"hex(reflect('{COMPOSER}', 'compose', 'e\\u0301', false))",
            f"reflect('{WRITERS[Form.DOUBLE]}', 'toString', 2E23D)",
            f"reflect('{WRITERS[Form.SINGLE]}', 'toString', CAST(0.1 AS float))",
        )
        try:
            found = self.run(f"SELECT {', '.join(calls)}")
        except Exception as error:
            raise _unavailable(self._remote, type(error).__name__) from None
        if found != [("C3A9", "2.0E23", "0.1")]:
            raise _unavailable(self._remote, "its libraries compose texts or write floats in another way")

    def run(self, sql: str) -> list[Row]:
        """The rows of one statement, as whole numbers, texts and NULL."""
        return [exact_row(row) for row in self._session.sql(sql).collect()]

    def close(self) -> None:
        """Let go of a remote session; a driver stays up for the next question of the process."""
        if self._remote.startswith("sc://"):
            self._session.stop()


def _open(remote: str) -> Any:
    from pyspark.sql import SparkSession

    _knock(remote)
    if remote.startswith("sc://"):
        with _unwarned():
            session = SparkSession.builder.remote(remote).create()
    else:
        session = _driver(remote).newSession()
    if int(str(session.version).split(".", maxsplit=1)[0]) < _OLDEST:
        raise EngineUnavailable(f"Spark at '{remote}' is older than version {_OLDEST}.", remote=remote)
    with _unwarned():
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
    _hush()
    return session


def _knock(remote: str) -> None:
    """Refuse at once where nobody listens: Spark itself would try for ten minutes."""
    found = _HOST.match(remote)
    if found is None:
        return
    port = int(found["port"] or _PORTS[found["scheme"]])
    try:
        socket.create_connection((found["host"], port), timeout=_PATIENCE_SECONDS).close()
    except OSError:
        raise _unavailable(remote, "nobody answers there") from None


@contextmanager
def _unwarned() -> Iterator[None]:
    """Pass over what the client says about its dependencies and about settings that we must fix all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _hush() -> None:
    """Keep the client from writing what failed, with its values, to standard error."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _driver(master: str) -> Any:
    """The driver of this process for a master, started on first use."""
    if master in _drivers:
        return _drivers[master]
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is not None and running.master != master:
        if not _drivers:
            raise EngineUnavailable(
                f"this process already drives Spark at '{running.master}', and can drive one master only.",
                remote=master,
            )
        stop_drivers()
    local = master.startswith("local") or "127.0.0.1" in master or "localhost" in master
    settings = {**_QUIET, **(_LOOPBACK if local else {}), **_SETTINGS}
    with _silenced():
        builder = SparkSession.builder.config(conf=SparkConf().setAll(list(settings.items())))
        _drivers[master] = builder.master(master).getOrCreate()
    return _drivers[master]


def stop_drivers() -> None:
    """Stop the driver of this process, if it started one."""
    for session in _drivers.values():
        session.stop()
    _drivers.clear()


@contextmanager
def _silenced() -> Iterator[None]:
    """Give the virtual machine, which inherits it, a standard error that goes nowhere."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _unavailable(remote: str, reason: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"Spark at '{remote}' cannot be used: {reason}. Check the address, Java 17 or newer, and that the cluster runs "
        "Spark 4.",
        remote=remote,
        reason=reason,
    )
