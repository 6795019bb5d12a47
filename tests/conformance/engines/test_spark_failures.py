"""A worker is killed in the middle of a question: it is answered, or ends with its charge and can be asked again."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.engines.in_place.spark_sessions import shared_session
from discreet.errors import ChargedNotAnswered
from discreet.session import Session
from discreet.workspace import RowSource
from tests.conformance.engines.spark_cluster import ClusterUnavailable, watched_cluster
from tests.conformance.engines.spark_rows import fill, run_apart

pytestmark = pytest.mark.long

CARD = """\
dataset: visits
unit: {column: who, rows: 2}
neighbours: add-remove
budget: {epsilon: 1000}
columns:
  who: {kind: id, type: integer}
  town: {kind: category, categories: [N, S]}
  x: {kind: text}
"""
SQL = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
ROWS, LONGEST = 400_000, 90


def test_a_worker_that_dies_in_the_middle_of_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    try:
        with watched_cluster() as (address, folder, workers):
            monkeypatch.setenv("SPARK_CONF_DIR", str(folder / "conf"))
            run_apart(__name__, "ask_while_workers_die", tmp_path, address, folder, *workers)
    except ClusterUnavailable as missing:
        pytest.skip(str(missing))


def ask_while_workers_die(place: str, remote: str, cluster: str, *workers: str) -> None:
    home = Path(place)
    rows = [(who % (ROWS // 2 + 500), "NS"[who % 2], f"text {who}") for who in range(ROWS)]
    fill(home / "raw", {"who": pa.int64(), "town": pa.string(), "x": pa.string()}, rows, files=8)
    (home / "visits.yaml").write_text(CARD, encoding="utf-8")
    with discreet.create(home / "w") as session:
        source = RowSource("spark", remote=remote, table=f"parquet.`{home / 'raw'}`")
        session.add_table(source, card=home / "visits.yaml")
        answered = ask(session, remote, Path(cluster), list(map(int, workers)))
        left = session.budget("visits").population.epsilon_remaining
        assert left == 995, "charged once"
        counts = {row["town"]: int(str(row["n"])) for row in answered}
        assert all(abs(counts[town] - ROWS / 2) < ROWS / 100 for town in "NS"), counts


def ask(session: Session, remote: str, cluster: Path, workers: list[int]) -> list[dict[str, Any]]:
    """The answer, at once or by asking for it again: then it is the same question, and its charge the same."""
    killed = threading.Event()
    killer = threading.Thread(target=kill_at_work, args=(remote, cluster, workers, killed))
    killer.start()
    try:
        found = session.query(SQL, epsilon="5", request_id="r1")
    except ChargedNotAnswered:
        session.resume("visits", custodian=True)
        found = session.query(SQL, epsilon="5", request_id="r1")
    finally:
        killer.join()
    assert killed.is_set(), "no worker was at work"
    return list(found.rows)


def kill_at_work(remote: str, cluster: Path, workers: list[int], killed: threading.Event) -> None:
    """Kill the worker whose executor has begun with a stage of the question."""
    tracker = shared_session(remote).sparkContext.statusTracker()
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage is not None and stage.numTasks >= 2 and stage.numActiveTasks for stage in stages):
            busy = [place for place in range(len(workers)) if any((cluster / f"work{place}").glob("app-*/*"))]
            os.kill(workers[busy[0]], signal.SIGKILL)
            killed.set()
            return
        time.sleep(0.01)
