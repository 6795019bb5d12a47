"""The thread of a serving process that does jobs, and a process that does nothing else."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

from discreet.server.asking import perform_job
from discreet.server.office import OfficeSettings, ServedOffice
from discreet.work import Worker

__all__ = ["do_jobs", "start_jobs"]


def start_jobs(office: ServedOffice, stop: threading.Event) -> threading.Thread:
    """A thread that does jobs until `stop` is set."""
    thread = threading.Thread(target=_worker(office).run, args=(stop,), name="jobs", daemon=True)
    thread.start()
    return thread


def do_jobs(settings: OfficeSettings, *, announce: Callable[[], None]) -> None:
    """Do jobs until SIGTERM or SIGINT; one that was begun is done first. Called from the main thread."""
    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    office = ServedOffice.open(settings)
    try:
        office.warm()
        announce()
        _worker(office).run(stop)
    finally:
        office.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _worker(office: ServedOffice) -> Worker:
    # A process that gets the number of one that was killed is another worker.
    name = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"
    return Worker(
        office.jobs,
        lambda job, before_charge: perform_job(office, job, before_charge),
        name=name,
        slots=office.settings.slots,
    )
