"""A Spark cluster for the engines, in the long run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import find_server

__all__ = ["spark_connect", "spark_master"]


@pytest.fixture(scope="session")
def spark_master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a standalone cluster; SPARK_CONF_DIR leads drivers to its settings."""
    master, settings = find_server("spark", tmp_path_factory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", settings)
        yield master
    from discreet.engines.in_place.spark_sessions import stop_sessions

    stop_sessions()


@pytest.fixture(scope="session")
def spark_connect(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a Spark Connect server."""
    address: str = find_server("spark-connect", tmp_path_factory)
    return address
