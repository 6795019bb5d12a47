"""What `--times` prints at the end of a run: seconds by room, and the ten slowest tests."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

import pytest

__all__ = ["Times", "room_of"]

_SLOWEST = 10


class Times:
    """Listens where the reports of all workers arrive."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        rooms: defaultdict[str, list[float]] = defaultdict(list)
        for test, seconds in self._seconds.items():
            rooms[room_of(test)].append(seconds)
        terminalreporter.section("times by room, in seconds of one worker")
        for room, each in sorted(rooms.items(), key=lambda item: -sum(item[1])):
            terminalreporter.write_line(f"{sum(each):8.1f}  {room} ({len(each)})")
        terminalreporter.write_line(f"{sum(self._seconds.values()):8.1f}  all ({len(self._seconds)})")
        terminalreporter.section(f"the {_SLOWEST} slowest tests, in seconds")
        for test, seconds in sorted(self._seconds.items(), key=lambda item: -item[1])[:_SLOWEST]:
            terminalreporter.write_line(f"{seconds:8.1f}  {test}")


def room_of(test: str) -> str:
    """'unit/plan' of 'tests/unit/sql/test_algebra.py::test_it', 'cli' of 'tests/cli/test_query.py::test_it'."""
    return "/".join(PurePosixPath(test.partition("::")[0]).parent.parts[1:3]) or "tests"
