"""Work that takes its time, and when what it made may leave: at times that tell nobody how long it took.

What runs here knows nothing of HTTP; whoever serves it asks for it by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.work.job_store import JobStore
    from discreet.work.job_worker import JobOutcome, Worker
    from discreet.work.jobs import JOB_TABLES, Job, JobState
    from discreet.work.sizing import is_long
    from discreet.work.slots import next_slot
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "JOB_TABLES",
    "Job",
    "JobOutcome",
    "JobState",
    "JobStore",
    "Worker",
    "is_long",
    "next_slot",
]
