"""A process that runs tasks of a study. It is told plain text and paths, and builds rows and models itself.

Sums of floats inside linear algebra depend on the number of threads, and results must not: every task runs in such a
process, with one thread, whatever the number of processes. Heavy imports wait until that is settled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import ENGLISH, speak
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.lab.study.bench import StudyBench
    from discreet.lab.study.execution.parts import StudyTask

__all__ = [
    "KEPT_MEMORY",
    "ONE_THREAD",
    "Assignment",
    "accept",
    "average",
    "describe",
    "leave_with_parent",
    "load",
    "perform",
    "start_worker",
]

_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ONE_THREAD: Final = dict.fromkeys(_THREADS, "1")
# Arrays of a megabyte come and go; glibc would give their pages back each time, and touch them anew.
KEPT_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 26)}
_NEEDED: Final = (
    "pyarrow.dataset",
    "discreet.intervals.mean_laws",
    "discreet.lab.study.bench",
    *(f"discreet.lab.study.models.{name}" for name in ("central_model", "local_model", "naive_model", "shuffle_model")),
)


@dataclass(frozen=True, slots=True)
class Assignment:
    """The study as written, the card as written, the rows on disk, where parts go, and who builds the models."""

    study: str
    file: str
    card: str
    data: str
    raw: str | None
    parts: str
    build: str
    language: str = ENGLISH  # of refusals


@dataclass(slots=True)
class _Desk:
    assignment: Assignment | None = None
    bench: StudyBench | None = None


_DESK: Final = _Desk()


def start_worker() -> None:
    """Called once in a new process. Interruptions are the parent's affair: a task under way is finished and kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_with_parent()
    os.environ.update(ONE_THREAD)
    sys.meta_path.insert(0, _WithoutPandas())


class _WithoutPandas(MetaPathFinder):
    """Where pandas is installed, pyarrow loads it before its first array: half a second, and no task needs it."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


def load() -> None:
    """Import what most tasks need, while their rows are still being prepared."""
    for name in _NEEDED:
        import_module(name)
    if find_spec("scipy") is not None:
        import_module("discreet.collect.mixing.divergence")


def accept(assignment: Assignment) -> None:
    """The study to work on: said once, before its first task."""
    speak(assignment.language)
    _DESK.assignment = assignment


def leave_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended: nobody waits for its work."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def describe() -> dict[str, Any] | str:
    """Rows, groups and models of the study; text is a refusal."""
    try:
        return _bench().describe()
    except DiscreetError as error:
        return error.message


def perform(task: StudyTask) -> str | None:
    """Run a task and write its part; text is a refusal. Errors do not travel between processes, their words do."""
    assert _DESK.assignment is not None
    try:
        _bench().perform(task, Path(_DESK.assignment.parts))
    except DiscreetError as error:
        return error.message
    return None


def average(tasks: Sequence[StudyTask]) -> str | None:
    """Write the averages over all tasks; text is a refusal. A process without pandas is sooner ready for it."""
    assert _DESK.assignment is not None
    try:
        _bench().average(tasks, Path(_DESK.assignment.parts))
    except DiscreetError as error:
        return error.message
    return None


def _bench() -> StudyBench:
    if _DESK.bench is None:
        from discreet.lab.study.bench import set_up

        assignment = _DESK.assignment
        assert assignment is not None
        module, _, name = assignment.build.partition(":")
        _DESK.bench = set_up(assignment, getattr(import_module(module), name))
    return _DESK.bench
