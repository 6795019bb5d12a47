"""Processes side by side, each with a task at a time, and tasks that belong together kept in one lane.

What a model works out once for an ε, such as the allowance of a shuffled batch, serves all runs at that ε; in the lane
that has worked it out the next run is cheap. Some of it serves a neighbouring ε too, or another model at the same: so
lanes begin a model far from each other, and go on near to where they were. A lane without a group of its own helps
where most is left.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from decimal import Decimal
from multiprocessing import get_context

from discreet.lab.study.execution.parts import StudyTask
from discreet.lab.study.execution.worker import KEPT_MEMORY, ONE_THREAD, load, perform, start_worker

__all__ = ["Lane", "Queue", "open_lanes", "run_in_lanes"]

Lane = ProcessPoolExecutor
_Group = tuple[int, Decimal]


class Queue:
    """The tasks that wait, by model and ε, in the order in which groups are to be begun."""

    def __init__(self, tasks: Sequence[StudyTask]) -> None:
        self._waiting: dict[_Group, deque[StudyTask]] = {}
        for task in tasks:
            self._waiting.setdefault(_group(task), deque()).append(task)
        self._places = {epsilon: index for index, epsilon in enumerate(dict.fromkeys(task.epsilon for task in tasks))}
        self._begun: set[_Group] = set()

    def take(self, after: StudyTask | None) -> StudyTask | None:
        """The next task of a lane that has just done another; None when nothing waits."""
        waiting = {group: tasks for group, tasks in self._waiting.items() if tasks}
        if not waiting:
            return None
        own = _group(after) if after is not None else None
        if own not in waiting:
            fresh = [group for group in waiting if group not in self._begun]
            own = self._begin(fresh, own) if fresh else max(waiting, key=lambda group: len(waiting[group]))
        assert own is not None
        self._begun.add(own)
        return waiting[own].popleft()

    def _begin(self, fresh: Sequence[_Group], after: _Group | None) -> _Group:
        """Of the model whose turn it is, the ε nearest to the lane's last, or farthest from what other lanes began."""
        model = fresh[0][0]
        begun = [epsilon for index, epsilon in self._begun if index == model] if after is None else [after[1]]

        def distance(group: _Group) -> int:
            return min((abs(self._places[group[1]] - self._places[other]) for other in begun), default=0)

        return (max if after is None else min)((group for group in fresh if group[0] == model), key=distance)


@contextmanager
def open_lanes(number: int) -> Iterator[list[Lane]]:
    """That many processes, which load what they need while their first task is made ready.

    At the end, however it comes, tasks under way are finished and their parts kept.
    """
    context = get_context("spawn")
    lanes = [Lane(1, context, initializer=start_worker) for _ in range(number)]
    try:
        with _surrounded({**ONE_THREAD, **KEPT_MEMORY}):
            for lane in lanes:
                lane.submit(load)
        yield lanes
    finally:
        for lane in lanes:
            lane.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _surrounded(variables: Mapping[str, str]) -> Iterator[None]:
    """Processes that start here inherit these variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run_in_lanes(lanes: Sequence[Lane], tasks: Sequence[StudyTask], finished: Callable[[str | None], None]) -> None:
    """Run all tasks; `finished` is told after each, with the refusal if there was one."""
    queue = Queue(tasks)
    busy: dict[Future[str | None], tuple[Lane, StudyTask]] = {}

    def assign(lane: Lane, after: StudyTask | None) -> None:
        if (task := queue.take(after)) is not None:
            busy[lane.submit(perform, task)] = (lane, task)

    for lane in lanes:
        assign(lane, None)
    while busy:
        done, _ = wait(busy, return_when=FIRST_COMPLETED)
        for future in done:
            lane, task = busy.pop(future)
            refusal = future.result()
            assign(lane, task)
            finished(refusal)


def _group(task: StudyTask) -> _Group:
    return task.place, task.epsilon
