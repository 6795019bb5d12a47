"""A worker of jobs that dies on the way: one process that forks another for each line it is given.

A line is JSON: in which workspace, for how many seconds a job is leased, and where to die: the module and name of a
function, `before` or `after` it has done its work. The answer is a line too: how the fork ended.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from typing import Any

from discreet.server.asking import perform_job
from discreet.server.office import OfficeSettings, ServedOffice
from discreet.work import Worker
from tests.crash.linked_worker import SLOW, plant


def work(task: dict[str, Any]) -> None:
    office = ServedOffice.open(OfficeSettings(workspace=task["workspace"]))
    worker = Worker(
        office.jobs,
        lambda job, before_charge: perform_job(office, job, before_charge),
        name=f"worker-{os.getpid()}",
        slots=False,
        seconds=task["seconds"],
    )
    worker.run(threading.Event())


def main() -> None:
    for name in SLOW:
        import_module(name)
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            plant(task["place"], task["when"], 0)
            work(task)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
