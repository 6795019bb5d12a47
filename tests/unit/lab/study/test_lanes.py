"""Lanes keep together what belongs together, and no task is lost or run twice."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec
from itertools import product

from discreet.lab.study.execution import worker
from discreet.lab.study.execution.lanes import Queue
from discreet.lab.study.execution.parts import StudyTask

TASKS = [StudyTask(place, Decimal(epsilon), run) for place, epsilon, run in product(range(2), (1, 2), range(3))]


def test_a_lane_stays_with_its_group_and_begins_the_next_model_at_the_epsilon_it_knows() -> None:
    queue, last, seen = Queue(TASKS), None, []
    while (task := queue.take(last)) is not None:
        seen.append(task)
        last = task
    assert seen == [*TASKS[:6], *TASKS[9:], *TASKS[6:9]]


def test_two_lanes_walk_through_a_model_from_both_ends() -> None:
    tasks = [StudyTask(0, Decimal(epsilon), 0) for epsilon in (6, 3, 1, 2)]  # in the order of the study's file
    queue = Queue(tasks)
    first, second = queue.take(None), queue.take(None)
    assert (first, second) == (tasks[0], tasks[3])
    assert (queue.take(first), queue.take(second)) == (tasks[1], tasks[2])


def test_two_lanes_share_no_group_until_all_are_begun() -> None:
    queue = Queue(TASKS)
    lanes: list[list[StudyTask]] = [[], []]
    for turn in range(len(TASKS)):
        lane = lanes[turn % 2]
        task = queue.take(lane[-1] if lane else None)
        assert task is not None
        lane.append(task)
    assert sorted([*lanes[0], *lanes[1]], key=TASKS.index) == TASKS
    groups = [{(task.place, task.epsilon) for task in lane} for lane in lanes]
    assert not groups[0] & groups[1]
    assert queue.take(TASKS[0]) is None


def test_a_lane_without_a_group_helps_where_most_is_left() -> None:
    queue = Queue([*TASKS[:2], *TASKS[3:6]])
    first, second = queue.take(None), queue.take(None)
    assert (first, second) == (TASKS[0], TASKS[3])
    assert queue.take(first) == TASKS[1]
    assert queue.take(TASKS[1]) == TASKS[4]
    assert queue.take(TASKS[4]) == TASKS[5]
    assert queue.take(TASKS[5]) is None


def test_workers_load_what_there_is() -> None:
    """Nobody waits for the answer of `load`: a name that is gone would only make the first task slow."""
    missing = [name for name in worker._NEEDED if find_spec(name) is None]
    assert missing == []
