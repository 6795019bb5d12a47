"""Servers for the engines: PostgreSQL in every run, a Spark cluster in the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.conformance.engines import nasty
from tests.conformance.engines.spark_cluster import ClusterUnavailable, spark_cluster
from tests.conformance.ledger.conftest import postgres_dsn

__all__ = ["postgres_dsn", "spark_master", "truth"]


@pytest.fixture(scope="session")
def spark_master() -> Iterator[str]:
    """The address of a standalone cluster; SPARK_CONF_DIR leads drivers to its settings."""
    context = spark_cluster()
    try:
        master, settings = context.__enter__()
    except ClusterUnavailable as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"the tests need a Spark cluster: {error}")
        pytest.skip(f"no Spark cluster could be started: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(settings))
        yield master
    from discreet.engines.spark import stop_drivers

    stop_drivers()
    context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def truth() -> nasty.Truth:
    """A fixed nasty table, prepared once."""
    table, card = nasty.make_table(1), nasty.make_card()
    return nasty.Truth(table, card, nasty.ingested(card, table))
