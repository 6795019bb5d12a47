"""Spark sessions of this process: one per address, shared by all its questions.

A session is reached through Spark Connect, or this process is the driver of a cluster. A driver listens on the loopback
address where the master does, shows no page and logs nothing, because what Spark logs may quote rows.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import EngineUnavailable, ExtraMissing

__all__ = ["shared_session", "spark_unavailable", "stop_sessions"]

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
# By itself Spark sets it otherwise, so it tells whether a session is still the one that was opened.
_TELLING: Final = "spark.sql.variable.substitute"
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

_sessions: dict[tuple[int, str], Any] = {}
_opening = threading.Lock()


def shared_session(remote: str) -> Any:
    """The session of this process for an address, with the settings that the dialect rests on.

    One that the server has forgotten, or whose driver has stopped, is opened anew. Questions in several threads may use
    it at the same time. A process that forked opens its own.
    """
    mine = (os.getpid(), remote)
    with _opening:
        if mine in _sessions and not _answers(_sessions[mine]):
            _stop(_sessions.pop(mine))
        if mine not in _sessions:
            _sessions[mine] = _open(remote)
        return _sessions[mine]


def stop_sessions() -> None:
    """Let go of every session of this process, and stop its driver."""
    with _opening:
        for mine in [key for key in _sessions if key[0] == os.getpid()]:
            _stop(_sessions.pop(mine))


atexit.register(stop_sessions)


def spark_unavailable(remote: str, reason: str | Phrase) -> EngineUnavailable:
    return EngineUnavailable(
        say(
            "Spark at '{remote}' cannot be used: {reason}. Check the address, Java 17 or newer, and that the cluster "
            "runs Spark 4.",
            remote=remote,
            reason=reason,
        ),
        remote=remote,
        reason=reason.en if isinstance(reason, Phrase) else reason,
    )


def _open(remote: str) -> Any:
    try:
        return _opened(remote)
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("Data in Spark"), extra="spark") from None
    except EngineUnavailable:
        raise
    except Exception as error:
        raise spark_unavailable(remote, type(error).__name__) from None


def _opened(remote: str) -> Any:
    from pyspark.sql import SparkSession

    _knock(remote)
    if remote.startswith("sc://"):
        with _unwarned():
            session = SparkSession.builder.remote(remote).create()
    else:
        session = _driver(remote)
    if int(str(session.version).split(".", maxsplit=1)[0]) < _OLDEST:
        raise EngineUnavailable(
            say("Spark at '{remote}' is older than version {oldest}.", remote=remote, oldest=_OLDEST), remote=remote
        )
    with _unwarned():
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        # Whatever reading an answer loads is there before the first charge.
        session.sql("SELECT 1").toArrow()
    _hush()
    return session


def _answers(session: Any) -> bool:
    """Whether a session is still there, and still ours: a server that was started anew has lost its settings."""
    try:
        if _is_driver(session) and session.sparkContext._jsc.sc().isStopped():
            return False
        return bool(session.conf.get(_TELLING) == _SETTINGS[_TELLING])
    except Exception:
        return False


def _is_driver(session: Any) -> bool:
    return hasattr(session, "_jsparkSession")


def _stop(session: Any) -> None:
    # What is gone already need not be stopped.
    with suppress(Exception), _unwarned():
        session.stop()


def _knock(remote: str) -> None:
    """Refuse at once where nobody listens: Spark itself would try for ten minutes."""
    found = _HOST.match(remote)
    if found is None:
        return
    port = int(found["port"] or _PORTS[found["scheme"]])
    try:
        socket.create_connection((found["host"], port), timeout=_PATIENCE_SECONDS).close()
    except OSError:
        raise spark_unavailable(remote, Phrase("nobody answers there")) from None


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
    """A driver for a master. A process has at most one, so that of another master is stopped, if it is ours."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    ours = [key for key, session in _sessions.items() if key[0] == os.getpid() and _is_driver(session)]
    if running is not None and running.master != master:
        if not ours:
            raise EngineUnavailable(
                say(
                    "this process already drives Spark at '{master}', and can drive one master only.",
                    master=running.master,
                ),
                remote=master,
            )
        for mine in ours:
            _stop(_sessions.pop(mine))
    local = master.startswith("local") or "127.0.0.1" in master or "localhost" in master
    settings = {**_QUIET, **(_LOOPBACK if local else {}), **_SETTINGS}
    with _silenced():
        builder = SparkSession.builder.config(conf=SparkConf().setAll(list(settings.items())))
        return builder.master(master).getOrCreate().newSession()


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
