"""Who does jobs: one at a time, under a lease that is renewed while it works, until it is told to stop.

What a job asks is for the caller's `perform` to know. Killed at any point, a worker leaves a job that somebody else
takes up when its lease has run out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any, Final

from discreet.catalogue import say, speaking
from discreet.work.job_store import WRITING, JobStore
from discreet.work.jobs import Job, JobState, tell_failure
from discreet.work.slots import next_slot

__all__ = ["JobOutcome", "Perform", "Worker"]

_LEASE: Final = 30
_SHORTEST: Final = 0.2
_LONGEST: Final = 2.0
_SWEPT_EVERY: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What became of a job: the number of the charge that its answer is stored under, or the problem instead.

    A problem is what `DiscreetError.to_dict` says, with `charged` beside it. Where that is true, the same question
    under the same request id is taken up again. Before `ready` nobody may know of the answer, wherever they look.
    """

    charge: int | None
    problem: Mapping[str, Any] | None
    ready: datetime | None = None


Perform = Callable[[Job, Callable[[], bool]], JobOutcome]
"""Does a job, and never raises. It asks the function that it is given before anything of the job stands on the ledger,
and gives the job up, with any outcome, where that says no."""


class Worker:
    """Takes up jobs under a name that no other worker has. With `slots`, how they end is seen at public times only."""

    def __init__(self, jobs: JobStore, perform: Perform, *, name: str, slots: bool, seconds: int = _LEASE) -> None:
        self._jobs = jobs
        self._perform = perform
        self._name = name
        self._slots = slots
        self._seconds = seconds

    def run(self, stop: Event) -> None:
        """Until `stop` is set; a job that was begun is done first. Meant for a thread of its own."""
        pause, swept, told = _SHORTEST, -_SWEPT_EVERY, ""
        while not stop.is_set():
            try:
                if time.monotonic() - swept >= _SWEPT_EVERY:
                    self._jobs.sweep(_now())
                    swept = time.monotonic()
                found, told = self.run_one(), ""
            except Exception as error:  # the store is away, or holds what a later release wrote: it is tried again
                found, told = False, _tell_once(error, told)
            if found:
                pause = _SHORTEST
                continue
            stop.wait(pause)
            pause = min(2 * pause, _LONGEST)

    def run_one(self) -> bool:
        """Do one job that waits; False where none does."""
        job = self._jobs.claim(self._name, seconds=self._seconds, now=_now(), slots=self._slots)
        if job is None:
            return False
        with self._renewing(job):
            outcome = self._done(job)
        self._jobs.finish(
            job, self._name, charge=outcome.charge, problem=outcome.problem, leaves=lambda: self._leaves(job, outcome)
        )
        return True

    def _leaves(self, job: Job, outcome: JobOutcome) -> datetime:
        """When what ends now may be seen."""
        now = _now()
        return next_slot(job.asked, max(now + WRITING, outcome.ready or now)) if self._slots else now

    def _done(self, job: Job) -> JobOutcome:
        charging = job.state is JobState.CHARGING

        def before_charge() -> bool:
            nonlocal charging
            began = self._jobs.begin_charge(job, self._name)
            charging = charging or began
            return began

        try:
            with speaking(job.language):
                return self._perform(job, before_charge)
        except (KeyboardInterrupt, SystemExit):
            raise  # this process ends; the job is somebody else's when the lease runs out
        except BaseException as error:  # some libraries raise theirs outside Exception
            _tell(error)
            return JobOutcome(None, tell_failure(job, charging=charging))

    # --- the lease --------------------------------------------------------------------------------------------------

    @contextmanager
    def _renewing(self, job: Job) -> Iterator[None]:
        over = Event()
        renewal = Thread(target=self._renew, args=(job, over), name=f"lease of {self._name}", daemon=True)
        renewal.start()
        try:
            yield
        finally:
            over.set()
            renewal.join()

    def _renew(self, job: Job, over: Event) -> None:
        while not over.wait(self._seconds / 3):
            # What cannot be renewed is tried again; if that is too late, another worker meets the same charge.
            with suppress(Exception):
                if not self._jobs.renew(job, self._name, seconds=self._seconds, now=_now()):
                    return


def _now() -> datetime:
    return datetime.now(UTC)


def _tell_once(error: BaseException, told: str) -> str:
    """One line for a fault that lasts, however often it is met."""
    if type(error).__name__ != told:
        _tell(error)
    return type(error).__name__


def _tell(error: BaseException) -> None:
    """By its class alone: what it says may depend on rows."""
    sys.stderr.write(say("A worker met an unforeseen {fault}.", fault=type(error).__name__) + "\n")
