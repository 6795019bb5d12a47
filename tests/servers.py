"""Servers that a whole run shares: the first test that needs one starts it, and it ends with the run.

Workers of one run are processes, so a server belongs to none of them: a keeper holds it, a process that watches the run
and stops what it started by process id when the run is over, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance.engines.spark_cluster import ClusterUnavailable, connect_server, spark_cluster
from tests.conformance.ledger.postgres_server import ServerUnavailable, postgres_server
from tests.places import ROOT

__all__ = ["find_server"]

START_SECONDS: Final = 300
_SERVERS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "postgres": postgres_server,
    "spark": spark_cluster,
    "spark-connect": connect_server,
}
_KEEPERS: Final[list[subprocess.Popen[bytes]]] = []


def find_server(name: str, factory: pytest.TempPathFactory) -> Any:
    """What one needs to reach a server; the test is skipped where it cannot be started, and fails under CI."""
    worker = os.environ.get("PYTEST_XDIST_WORKER") is not None
    folder = factory.getbasetemp().parent if worker else factory.getbasetemp()
    told = folder / f"{name}.json"
    with _locked(folder / f"{name}.lock"):
        if not told.exists():
            _start_keeper(name, told, run=os.getppid() if worker else os.getpid())
        said = json.loads(told.read_text(encoding="utf-8"))
    if "missing" in said:
        refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        refuse(f"{name} could not be started: {said['missing']}")
    return said["address"]


def _start_keeper(name: str, told: Path, *, run: int) -> None:
    command = [sys.executable, "-m", "tests.servers", name, str(told), str(run)]
    keeper = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    _KEEPERS.append(keeper)
    until = time.monotonic() + START_SECONDS
    while not told.exists():
        assert keeper.poll() is None, f"what keeps {name} has ended"
        assert time.monotonic() < until, f"{name} did not start"
        time.sleep(0.05)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def keep(name: str, told: Path, run: int) -> None:
    """Start a server, tell its address, and stop it when the run's process is gone."""
    try:
        with _SERVERS[name]() as address:
            _tell(told, {"address": address})
            _outlive(run)
    except (ServerUnavailable, ClusterUnavailable) as error:
        _tell(told, {"missing": str(error)})


def _outlive(process: int) -> None:
    with suppress(ProcessLookupError):
        while True:
            os.kill(process, 0)  # nothing is sent: it is asked whether the process is there
            time.sleep(0.5)


def _tell(told: Path, what: dict[str, Any]) -> None:
    partial = told.with_suffix(".partial")
    partial.write_text(json.dumps(what, default=str), encoding="utf-8")
    partial.rename(told)


if __name__ == "__main__":
    keep(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
