"""What every test gets: a PostgreSQL that the run shares, and keys that never land in the developer's own folders."""

from __future__ import annotations

import gc
import signal
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from tests.false_alarms import require_shares
from tests.servers import find_server
from tests.times import Times

SWEPT_EVERY = 100_000  # objects between two searches for cycles: with the usual 700 a fifth of the run is searching
_COUNT = count()
settings.register_profile("calm", deadline=None)  # how long an example takes says nothing of what it checks
settings.load_profile("calm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", action="store_true", help="print seconds by room and the ten slowest tests")


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(SWEPT_EVERY)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background: its servers would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--times") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times())


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    require_shares(items)
    for item in items:
        if "tmp_path" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if "spark" in item.nodeid:  # one worker has them all: a driver that is warm answers in half the time
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def postgres_dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The connection string of the run's PostgreSQL."""
    dsn: str = find_server("postgres", tmp_path_factory)
    return dsn


@pytest.fixture(autouse=True)
def _own_keys(_own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not `mktemp`: that looks through the folders of all tests before, for each test.
    monkeypatch.setenv("DISCREET_KEYS", str(_own_folder / f"{next(_COUNT)}"))
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    monkeypatch.delenv("DISCREET_WORKSPACE", raising=False)
    monkeypatch.delenv("DISCREET_LANG", raising=False)
    monkeypatch.delenv("DISCREET_ROOTS", raising=False)
    monkeypatch.delenv("DISCREET_SERVER", raising=False)
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)


@pytest.fixture(scope="session")
def _own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def a_font() -> None:
    """For tests that draw a PNG: they are skipped where no font is installed."""
    from discreet.errors import Refused
    from discreet.present import require_png

    try:
        require_png()
    except Refused as refused:
        pytest.skip(str(refused))
