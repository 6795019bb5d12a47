"""A process that takes up jobs, and may kill itself while it does one.

Usage: python job_client.py CONFIG.json NAME take     claims all jobs that wait, once a line comes in, and prints ids
       python job_client.py CONFIG.json NAME POINT    does one job, charged on the ledger, and dies at POINT
Points inside transactions are patched in from here; jobs have no hooks.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.guarantees.types import PureDP
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, open_ledger
from discreet.stores import Store
from discreet.stores.postgres_office import PostgresOffice
from discreet.stores.sqlite_office import SqliteOffice
from discreet.work import JOB_TABLES, Job, JobOutcome, JobStore, Worker, job_store

POINTS = ("claiming", "running", "charging", "charged", "answered", "finishing", "done")


def vouch(*parts: str | int) -> str:
    """Gives its word as the key of a ledger does."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def open_tables(config: LedgerConfig) -> Store:
    """The tables beside a ledger."""
    if config.dsn_env is not None:
        return PostgresOffice(dsn_env=config.dsn_env, workspace_id=config.workspace_id, tables=JOB_TABLES)
    assert config.path is not None
    return SqliteOffice(config.path.with_name("office.sqlite"), JOB_TABLES)


def jobs_beside(config: LedgerConfig) -> AbstractContextManager[JobStore]:
    class Opened(JobStore):
        def close(self) -> None:
            self._store.close()

    return closing(Opened(open_tables(config), vouch))


def perform_with(ledger: Ledger, pass_by: Callable[[str], None]) -> Callable[[Job, Callable[[], bool]], JobOutcome]:
    """Does a job as a server would: asked for leave, charged, drawn, and kept."""

    def perform(job: Job, before_charge: Callable[[], bool]) -> JobOutcome:
        pass_by("running")
        if not before_charge():
            return JobOutcome(None, {"error": "Refused"})
        pass_by("charging")
        receipt = ledger.spend(
            SpendRequest(
                population="cchs",
                dataset="survey",
                version=1,
                analyst="ada",
                request_id=job.request_id,
                plan_hash="e" * 64,
                mechanisms=(),
                guarantee=PureDP(epsilon="0.1"),
            )
        )
        pass_by("charged")
        if receipt.answer is None:
            ledger.commit_answer(receipt, b"drawn")
        pass_by("answered")
        return JobOutcome(receipt.sequence, None)

    return perform


def die_at(point: str) -> Callable[[str], None]:
    def pass_by(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    return pass_by


def patch(pass_by: Callable[[str], None]) -> None:
    """Two points are inside a transaction, after its statement."""

    def passing(name: str, point: str) -> None:
        original: Callable[..., Any] = getattr(job_store, name)

        def patched(*arguments: Any, **options: Any) -> Any:
            result = original(*arguments, **options)
            pass_by(point)
            return result

        setattr(job_store, name, patched)

    passing("read_job", "claiming")
    passing("_finish", "finishing")


def take_all(jobs: JobStore, name: str) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    while job := jobs.claim(name, seconds=600, now=datetime.now(UTC)):
        print(job.id, flush=True)


def main() -> None:
    file, name, point = sys.argv[1:]
    fields = json.loads(Path(file).read_text())
    paths = {key: Path(fields[key]) for key in ("path", "key_path", "anchor_path") if fields.get(key)}
    config = LedgerConfig(**{**fields, **paths})
    with jobs_beside(config) as jobs:
        if point == "take":
            take_all(jobs, name)
            return
        pass_by = die_at(point)
        patch(pass_by)
        with open_ledger(config) as ledger:
            assert Worker(jobs, perform_with(ledger, pass_by), name=name, slots=False, seconds=600).run_one()
        pass_by("done")


if __name__ == "__main__":
    main()
