"""Servers for the engines: PostgreSQL in every run, a Spark cluster in the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

import pytest

from tests.conformance.engines import nasty
from tests.conformance.engines.spark_cluster import ClusterUnavailable, connect_server, spark_cluster
from tests.conformance.ledger.conftest import postgres_dsn

__all__ = ["postgres_dsn", "spark_connect", "spark_master", "truth"]

T = TypeVar("T")


@pytest.fixture(scope="session")
def spark_master() -> Iterator[str]:
    """The address of a standalone cluster; SPARK_CONF_DIR leads drivers to its settings."""
    context = spark_cluster()
    master, settings = _entered(context)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(settings))
        yield master
    from discreet.engines.spark import stop_drivers

    stop_drivers()
    context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def spark_connect() -> Iterator[str]:
    """The address of a Spark Connect server."""
    context = connect_server()
    yield _entered(context)
    context.__exit__(None, None, None)


def _entered(context: AbstractContextManager[T]) -> T:
    try:
        return context.__enter__()
    except ClusterUnavailable as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"the tests need Spark: {error}")
        pytest.skip(f"Spark could not be started: {error}")


@pytest.fixture(scope="session")
def truth() -> nasty.Truth:
    """A fixed nasty table, prepared once."""
    table, card = nasty.make_table(1), nasty.make_card()
    return nasty.Truth(table, card, nasty.ingested(card, table))
