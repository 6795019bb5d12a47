"""A house that is served: a workspace whose people carry tokens, and `discreet serve` over it in processes of its own.

Slots are off by the public setting, and limits of requests are out of reach: what is timed is the work alone.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.http_asker import HttpAsker, NotReached
from discreet.people import People, Role
from discreet.session import Session
from discreet.session import open as open_session

__all__ = [
    "ANALYSTS",
    "DSN_ENV",
    "ServedHouse",
    "Serving",
    "furnish",
    "furnish_survey",
    "held_memory",
    "kill",
    "others_of",
    "runs",
]

ANALYSTS: Final = ("ada", "bob")
DSN_ENV: Final = "DISCREET_SERVICE_DSN"
CUSTODIAN: Final = "carl"
_BEYOND: Final = "100000000"
_STARTING: Final = 120.0
_ENDING: Final = 40.0
_BASE: Final = re.compile(r"http://127\.0\.0\.1:(\d+)")
_CARD: Final = """\
dataset: {name}
population: {name}
unit: {{column: patient, rows: 1}}
neighbours: add-remove
budget: {{epsilon: {epsilon}, per_analyst: {per_analyst}}}
columns:
  patient: {{kind: id, type: integer}}
  age: {{kind: integer, bounds: [0, 110]}}
"""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that runs: where it listens, and its parent process."""

    port: int
    process: subprocess.Popen[bytes]
    words: Path
    started: float
    """Seconds from the start of its process to its word that it serves."""

    def asker(self, token: str | None = None, *, seconds: float = 60.0) -> HttpAsker:
        return HttpAsker(self.port, token, seconds=seconds)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def said(self) -> str:
        return self.words.read_text(encoding="utf-8")

    def workers(self) -> list[int]:
        """The processes that answer: those that it started, or itself."""
        return others_of(self.process.pid) or [self.process.pid]


@dataclass(frozen=True, slots=True)
class ServedHouse:
    """A workspace, and the tokens of the analysts who may ask about everything in it."""

    path: Path
    tokens: Mapping[str, str] = field(repr=False)

    @contextmanager
    def open(self) -> Iterator[Session]:
        with open_session(self.path) as session:
            yield session

    @contextmanager
    def serve(self, *, workers: int = 1, most_files: int | None = None) -> Iterator[Serving]:
        """`discreet serve` on a free port of loopback, ended by its process id. `most_files` is its soft limit."""
        words = self.path.parent / f"server-{time.monotonic_ns()}.txt"
        command = [sys.executable, "-m", "discreet", "serve", "-w", str(self.path), "--port", "0", "--no-slots"]
        command += ["--workers", str(workers), "--requests", _BEYOND]

        def limit() -> None:
            if most_files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

        begun = time.perf_counter()
        with words.open("wb") as written:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                env={**os.environ, "DISCREET_LANG": "en"},
                preexec_fn=limit if most_files is not None else None,  # noqa: PLW1509 - one system call, no lock
            )
        try:
            port = _await_base(process, words)
            yield Serving(port, process, words, time.perf_counter() - begun)
        finally:
            end(process)


def _await_base(process: subprocess.Popen[bytes], words: Path) -> int:
    until = time.monotonic() + _STARTING
    while time.monotonic() < until:
        said = words.read_text(encoding="utf-8")
        if (found := _BASE.search(said)) and said.endswith("\n"):
            port = int(found[1])
            if _is_ready(port):
                return port
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise RuntimeError(f"the server did not start: {words.read_text(encoding='utf-8')[-500:]}")


def _is_ready(port: int) -> bool:
    try:
        with HttpAsker(port, None, seconds=10) as asker:
            return asker.send("GET", "/v1/ready").status == 200
    except NotReached:
        return False


def end(process: subprocess.Popen[bytes]) -> None:
    """End a server and whatever it started; by force where it does not heed the word."""
    children = others_of(process.pid)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        for child in children:
            kill(child)


def kill(process: int) -> bool:
    """kill -9; False where it was gone already."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def others_of(parent: int) -> list[int]:
    """The processes that a process has started and that still run."""
    return [process for process, above in _processes() if above == parent]


def runs(process: int) -> bool:
    return any(process == one for one, _ in _processes())


def _processes() -> list[tuple[int, int]]:
    """All that run, each with its parent."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-A", "-o", "pid=,ppid=,stat="]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        found = [(pid, above, state[0]) for pid, above, state in map(str.split, listed)]
    else:
        found = [(file.parent.name, *_told_by(file)) for file in Path("/proc").glob("[0-9]*/stat")]
    return [(int(pid), int(above)) for pid, above, state in found if state not in "ZX"]


def _told_by(file: Path) -> tuple[str, str]:
    """Parent and state of a process; one that is gone counts as dead."""
    try:
        state, above = file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return "0", "X"
    return above, state


def held_memory(process: int) -> dict[str, float]:
    """Megabytes that a process holds now, and its share of them where others hold the same pages."""
    found = dict.fromkeys(("Rss", "Pss"), 0.0)
    for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(":")
        if name in found:
            found[name] = int(rest.split()[0]) / 1024
    return found


# --- furniture --------------------------------------------------------------------------------------------------------


def furnish(
    folder: Path,
    budgets: Mapping[str, tuple[str, str]],
    *,
    rows: int = 300,
    dsn_env: str | None = None,
) -> ServedHouse:
    """A workspace with a small dataset for each budget: its name, what there is in all, and what each analyst may."""
    with Session.create(folder / "w", ledger_dsn_env=dsn_env) as session:
        for name, (epsilon, per_analyst) in budgets.items():
            card = _CARD.format(name=name, epsilon=epsilon, per_analyst=per_analyst)
            (folder / f"{name}.yaml").write_text(card, encoding="utf-8")
            text = "patient,age\n" + "".join(f"{patient},{20 + patient % 50}\n" for patient in range(1, rows + 1))
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
            session.add(folder / f"{name}.csv", confirm=lambda _: True)
        return _people(session, list(budgets))


def furnish_survey(folder: Path, *, rows: int, dsn_env: str | None = None) -> ServedHouse:
    """A workspace with the sample survey, under a budget that no measurement spends."""
    words = ["sample", "survey", str(folder / "data"), "--rows", str(rows)]
    subprocess.run([sys.executable, "-m", "discreet", *words], check=True, stdout=subprocess.DEVNULL)
    card = folder / "data" / "survey.yaml"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace("epsilon: 3, per_analyst: 1", "epsilon: 9000"), encoding="utf-8")
    with Session.create(folder / "w", ledger_dsn_env=dsn_env) as session:
        session.add(folder / "data" / "survey.parquet", confirm=lambda _: True)
        return _people(session, ["survey"])


def _people(session: Session, datasets: Sequence[str]) -> ServedHouse:
    people = People(session.workspace, session.ledger)
    try:
        people.add(CUSTODIAN, {Role.CUSTODIAN}, who=session.who)
        tokens = {}
        for name in ANALYSTS:
            people.add(name, {Role.ANALYST}, who=session.who)
            for dataset in datasets:
                people.grant(name, dataset, who=session.who)
            tokens[name] = people.tokens.make(name, days=90, who=session.who)[1]
    finally:
        people.close()
    return ServedHouse(Path(session.workspace.path), tokens)
