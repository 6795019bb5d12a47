"""Workers, each in a fresh process, that do their work in turn: medians and peak memory from one run.

Taking turns spreads whatever else the machine does over all of them. A worker's first round is not counted: it warms
the file cache and opens what stays open. Only the standard library is needed here, so that workers of other
environments can serve too.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.memory import peak_mb

__all__ = ["Figures", "WorkerFailed", "serve", "take_turns"]

_ROOT = Path(__file__).parents[1]


class WorkerFailed(Exception):
    """A worker ended before it answered; the message is the last line it wrote."""

    def __init__(self, worker: str, said: str) -> None:
        super().__init__(said)
        self.worker = worker


@dataclass(frozen=True, slots=True)
class Figures:
    """The median seconds of every part of a worker's rounds, and the most memory it ever held."""

    seconds: Mapping[str, float]
    peak_mb: float

    @property
    def whole(self) -> float:
        return self.seconds["whole"]


def serve(work: Callable[[], Mapping[str, float]]) -> None:
    """The worker's side: one round per line of input, its seconds by part as JSON; at the end its peak memory."""
    work()
    print("{}", flush=True)
    for _ in sys.stdin:
        print(json.dumps(dict(work())), flush=True)
    print(json.dumps(peak_mb()), flush=True)


def take_turns(commands: Mapping[str, Sequence[str]], *, rounds: int) -> dict[str, Figures]:
    """Start a worker per command, let each do a round in turn, and tell what they took."""
    workers: dict[str, _Worker] = {}
    try:
        for name, command in commands.items():
            workers[name] = _Worker(name, command)
        text: dict[str, list[Mapping[str, float]]] = {name: [] for name in workers}
        for _ in range(rounds):
            for name, worker in workers.items():
                text[name].append(worker.go())
        return {name: Figures(_medians(text[name]), worker.finish()) for name, worker in workers.items()}
    finally:
        for worker in workers.values():
            worker.stop()


def _medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {part: statistics.median(item[part] for item in rounds) for part in rounds[0]}


class _Worker:
    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._name = name
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._read()

    def go(self) -> dict[str, float]:
        _pipe(self._process.stdin).write("\n")
        _pipe(self._process.stdin).flush()
        return dict(self._read())

    def finish(self) -> float:
        _pipe(self._process.stdin).close()
        return float(self._read())

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            _pipe(pipe).close()
        self._process.wait()

    def _read(self) -> Any:
        line = _pipe(self._process.stdout).readline()
        if not line:
            said = _pipe(self._process.stderr).read().strip().splitlines()
            self.stop()
            raise WorkerFailed(self._name, said[-1] if said else "it ended without a word")
        return json.loads(line)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None, "every pipe was asked for"
    return pipe
