"""The server: what HTTP adds to a question, swarms, killed workers, slow sockets, memory, starts, and how many workers.

    python -m benchmarks service --rounds 50 --kills 100

Slots are off by the public setting. What must hold whatever it takes (budgets, answers, the chain) is told as a fault,
and any fault ends the run with status 1.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.http_asker import HttpAsker
from benchmarks.killed_workers import Killing, kill_workers
from benchmarks.page import PAGE, describe_machine, table, write_block
from benchmarks.served_house import ANALYSTS, DSN_ENV, ServedHouse, furnish, furnish_survey, held_memory
from benchmarks.service_worker import EPSILON, SQL, TOKEN_ENV
from benchmarks.slow_sockets import Slowness, measure_slowness
from benchmarks.swarm import CLIENTS, COST, SwarmRound, ask_all, count_of, swarm
from benchmarks.turns import take_turns
from tests.conformance.ledger.postgres_server import postgres_server

__all__ = ["Sizes", "run"]

STORES: Final = {"SQLite": None, "PostgreSQL": DSN_ENV}
BEYOND_MS: Final = 15
SLOWEST: Final = 10
AMONG_SLOW: Final = 2
MOST_MB: Final = 200
_WAYS: Final = {
    "fresh": "a new answer",
    "stored": "a stored answer, under another key",
    "again": "the same under its key",
}
_AMPLE: Final = ("100000", "100000")
_MANY: Final = 16


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. The defaults are what docs/benchmarks.md shows."""

    turns: int = 101
    rounds: int = 50
    kills: int = 100
    sockets: int = 500
    seconds: float = 20.0
    rows: int = 113_290
    starts: int = 5
    questions: int = 200
    workers: Sequence[int] = (1, 2, 3, 4)
    stores: Sequence[str] = tuple(STORES)


@dataclass
class Found:
    """What was measured: figures by name and store, and every fault."""

    figures: dict[tuple[str, str], float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def put(self, what: str, store: str, figure: float) -> None:
        self.figures[what, store] = figure
        print(f"{what + ', ' + store:72} {figure:12,.3f}", flush=True)

    def fault(self, *told: str) -> None:
        self.faults += told
        for line in told:
            print(f"FAULT: {line}", flush=True)


def main(words: list[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks service")
    least = Sizes()
    for name in ("turns", "rounds", "kills", "sockets", "rows", "starts", "questions"):
        parser.add_argument(f"--{name}", type=int, default=getattr(least, name))
    parser.add_argument("--seconds", type=float, default=least.seconds, help="for which slow sockets stay")
    parser.add_argument("--page", type=Path, default=PAGE)
    asked = vars(parser.parse_args(words))
    page = asked.pop("page")
    if run(Sizes(**asked), page=page).faults:
        sys.exit(1)


def run(sizes: Sizes, *, page: Path = PAGE) -> Found:
    """Measure, and write what was found into `page`."""
    found = Found()
    before = {name: os.environ.get(name) for name in ("DISCREET_KEYS", "DISCREET_ANALYST", DSN_ENV, TOKEN_ENV)}
    try:
        with ExitStack() as stack:
            os.environ["DISCREET_ANALYST"] = "bench"
            if "PostgreSQL" in sizes.stores:
                os.environ[DSN_ENV] = stack.enter_context(postgres_server())
            for store in sizes.stores:
                for measure in (_measure_survey, _measure_load):
                    with _folder() as folder:
                        measure(folder, store, sizes, found)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    write_block(page, "service", _page(sizes, found))
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        os.environ["DISCREET_KEYS"] = str(Path(name) / "keys")
        yield Path(name)


# --- one who asks -----------------------------------------------------------------------------------------------------


def _measure_survey(folder: Path, store: str, sizes: Sizes, found: Found) -> None:
    house = furnish_survey(folder, rows=sizes.rows, dsn_env=STORES[store])
    _measure_starts(house, store, sizes, found)
    with house.serve() as serving:
        [process] = serving.workers()
        for name, megabytes in held_memory(process).items():
            found.put(f"warm worker before any question, {name} (MB)", store, megabytes)
        os.environ[TOKEN_ENV] = house.tokens["bob"]
        worker = [sys.executable, "-m", "benchmarks.service_worker"]
        turns = take_turns(
            {
                "Session": [*worker, "session", str(house.path)],
                "HTTP": [*worker, "http", str(serving.port)],
                "discreet.connect": [*worker, "client", str(serving.port)],
            },
            rounds=sizes.turns,
        )
        for way, title in _WAYS.items():
            for name, figures in turns.items():
                found.put(f"{title}: {name} (ms)", store, 1000 * figures.seconds[way])
            beyond = 1000 * (turns["HTTP"].seconds[way] - turns["Session"].seconds[way])
            found.put(f"{title}: HTTP beyond Session (ms)", store, beyond)
        with serving.asker(house.tokens["ada"]) as asker:
            _ask_survey(asker, sizes.questions, "memory")
        for name, megabytes in held_memory(process).items():
            found.put(f"warm worker after questions, {name} (MB)", store, megabytes)


def _measure_starts(house: ServedHouse, store: str, sizes: Sizes, found: Found) -> None:
    """How long a start takes, and whether the first question waits for anything that the tenth does not."""
    started, ratios, firsts = [], [], []
    for number in range(sizes.starts):
        with house.serve() as serving, serving.asker(house.tokens["ada"]) as asker:
            started.append(serving.started)
            taken = _ask_survey(asker, 10, f"start{number}")
            firsts.append(taken[0])
            ratios.append(taken[0] / statistics.median(taken[5:]))
    found.put("from start to ready, one worker (s)", store, statistics.median(started))
    found.put("first question of a worker (ms)", store, 1000 * statistics.median(firsts))
    found.put("first question of a worker, to the tenth", store, statistics.median(ratios))


def _ask_survey(asker: HttpAsker, times: int, name: str) -> list[float]:
    replies = [asker.query(SQL, epsilon=EPSILON, key=f"{name}-{number}") for number in range(times)]
    assert all(reply.status == 200 for reply in replies), "the survey's budget is ample"
    return [reply.seconds for reply in replies]


# --- many who ask -----------------------------------------------------------------------------------------------------


def _measure_load(folder: Path, store: str, sizes: Sizes, found: Found) -> None:
    # By turns the population's budget ends first, or each analyst's own.
    rounds = [(f"round{number}", ("1.5", "1") if number % 2 else ("3", "1")) for number in range(sizes.rounds)]
    killed = ("100", "100")
    house = furnish(folder, {**dict(rounds), "slow": _AMPLE, "many": _AMPLE, "killed": killed}, dsn_env=STORES[store])
    _measure_throughput(house, store, sizes, found)
    with house.serve(workers=3) as serving:
        told: list[SwarmRound] = []
        for dataset, (budget, per_analyst) in rounds:
            expected = int(min(float(budget), 2 * float(per_analyst)) / float(COST))
            told += swarm(serving, house, dataset, expected=expected)
        _tell_swarm(told, store, found)
        _tell_killing(kill_workers(serving, house, "killed", kills=sizes.kills), store, found)
    with house.serve(workers=1, most_files=256) as serving:
        _tell_slowness(
            measure_slowness(serving, house, "slow", many=sizes.sockets, seconds=sizes.seconds), store, found
        )
    with house.open() as session:
        session.verify()


def _tell_swarm(told: Sequence[SwarmRound], store: str, found: Found) -> None:
    found.put("swarms, each asked twice", store, len(told) / 2)
    found.put("longest wait in a swarm (s)", store, max(one.slowest for one in told))
    found.put("median of the longest waits (s)", store, statistics.median(one.slowest for one in told))
    for one in told:
        found.fault(*one.faults)


def _tell_killing(killing: Killing, store: str, found: Found) -> None:
    found.put("workers killed", store, killing.kills)
    found.put("questions answered meanwhile", store, killing.answered)
    found.put("of which asked more than once", store, killing.retried)
    found.put("longest wait while workers die (s)", store, killing.slowest)
    found.fault(*killing.faults)


def _tell_slowness(slow: Slowness, store: str, found: Found) -> None:
    found.put("slow sockets open at once", store, slow.most_open)
    found.put("slow sockets ended", store, slow.ended)
    found.put("longest question among them (s)", store, slow.slowest)


def _measure_throughput(house: ServedHouse, store: str, sizes: Sizes, found: Found) -> None:
    """Questions a second of many clients, by how many processes answer; and how long so many take to start."""
    for workers in sizes.workers:
        with house.serve(workers=workers) as serving, ExitStack() as stack:
            found.put(f"from start to ready, {workers} of 3 datasets and more (s)", store, serving.started)
            askers = [stack.enter_context(serving.asker(house.tokens[ANALYSTS[number % 2]])) for number in range(_MANY)]
            ask_all(askers, _questions(f"warm{workers}", _MANY))
            begun = time.perf_counter()
            ask_all(askers, _questions(f"many{workers}", sizes.questions))
            found.put(f"questions a second, {workers}", store, sizes.questions / (time.perf_counter() - begun))


def _questions(name: str, times: int) -> list[Callable[[HttpAsker], None]]:
    def ask(key: str, asker: HttpAsker) -> None:
        reply = asker.query(count_of("many"), epsilon=EPSILON, key=key)
        assert reply.status == 200, reply.body

    return [partial(ask, f"{name}-{number}") for number in range(times)]


# --- the page ---------------------------------------------------------------------------------------------------------


def _page(sizes: Sizes, found: Found) -> list[str]:
    def row(title: str, what: str, form: str = "{:.1f}", most: str = "") -> list[str]:
        shown = [form.format(found.figures[what, store]) for store in sizes.stores]
        return [title, *shown, most]

    head = ["", *sizes.stores, "at most"]
    asked = [
        row(f"{title}: {name} (ms)", f"{title}: {name} (ms)", most=f"{BEYOND_MS}" if "beyond" in name else "")
        for title in _WAYS.values()
        for name in ("Session", "HTTP", "HTTP beyond Session", "discreet.connect")
    ]
    many = [
        row(f"rounds of {CLIENTS} clients at once, 3 workers, each asked twice", "swarms, each asked twice", "{:.0f}"),
        row("longest that any of them waited (s)", "longest wait in a swarm (s)", "{:.2f}", f"{SLOWEST}"),
        row("median over the rounds (s)", "median of the longest waits (s)", "{:.2f}"),
        row("workers killed under load", "workers killed", "{:.0f}"),
        row("questions answered meanwhile", "questions answered meanwhile", "{:,.0f}"),
        row("of which asked more than once", "of which asked more than once", "{:,.0f}"),
        row("longest wait for an answer meanwhile (s)", "longest wait while workers die (s)", "{:.2f}"),
        row("slow sockets open at once", "slow sockets open at once", "{:.0f}"),
        row("longest question among them (s)", "longest question among them (s)", "{:.2f}", f"{AMONG_SLOW}"),
    ]
    one = [
        row("from start to ready, one worker (s)", "from start to ready, one worker (s)"),
        row("first question of a worker (ms)", "first question of a worker (ms)"),
        row("to the tenth", "first question of a worker, to the tenth", "{:.1f}×"),
        row("a warm worker, resident (MB)", "warm worker before any question, Rss (MB)", "{:.0f}", f"{MOST_MB}"),
        row("after the questions of this page (MB)", "warm worker after questions, Rss (MB)", "{:.0f}", f"{MOST_MB}"),
        *(row(f"questions a second, workers: {count}", f"questions a second, {count}") for count in sizes.workers),
    ]
    return [
        f"Medians of {sizes.turns} turns, of {sizes.starts} starts. {len(found.faults)} faults.",
        describe_machine(),
        "",
        *table(head, asked),
        "",
        *table(head, many),
        "",
        *table(head, one),
    ]
