"""Linked counts: opening a study, drawing, counting, and a request from end to end over loopback.

    python -m benchmarks linked --people 10000000 --sample 100000

Slots are off by the agreement's public setting.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from benchmarks.memory import peak_mb
from discreet.linkage import (
    Agreement,
    HolderDesk,
    LinkedKind,
    OfficeRole,
    RegistryDesk,
    ResearcherDesk,
    SignedAgreement,
    create_office,
    find_study,
    open_holder,
    open_registry,
    open_researcher,
    parse_terms,
    received_answer,
    send_envelope,
)

_CARD = """\
dataset: {name}
population: {name}
unit: {{column: id, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 10, per_analyst: 1}}
columns:
  id: {{kind: id, type: integer}}
  code: {{kind: integer, bounds: [0, 999999999]}}
"""

_TERMS = """\
study: bench
holder: {{dataset: health, id: id}}
registry: {{dataset: registry, id: id}}
ids: integer
people: {people}
policy: {{belief: 0.8}}
scales: [30, 300]
kinds: [count]
properties:
  tongue: {{where: code < 40}}
quota: 1000000
largest_sample: {people}
expires: 2099-12-31
slots: false
"""


def main(words: list[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks linked")
    parser.add_argument("--people", type=int, default=10_000_000)
    parser.add_argument("--sample", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=7)
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCREET_KEYS"] = str(Path(folder) / "keys")
        for what, figure in measure(Path(folder), asked.people, asked.sample, asked.requests).items():
            print(f"{what:72} {figure:12,.3f}", flush=True)


def measure(folder: Path, people: int, sample: int, requests: int) -> dict[str, float]:
    """Seconds, or megabytes where it says so; of several requests the median."""
    _write(folder, people)
    figures: dict[str, float] = {}
    with _sessions(folder) as (health, registry):
        offices = {role: create_office(folder / role.value, role=role, name=role.value) for role in OfficeRole}
        terms = parse_terms(_TERMS.format(people=people), file="terms.yaml", folder=folder)
        agreement = Agreement(terms, {role: office.public for role, office in offices.items()})
        signed = SignedAgreement(agreement, {})
        for office in offices.values():
            signed = signed.sign(office)
        open_researcher(offices[OfficeRole.RESEARCHER], signed)
        taken, (study, key) = _timed(
            lambda: open_registry(offices[OfficeRole.REGISTRY], signed, workspace=folder / "registry-w")
        )
        figures[f"registry: opening a study of {people:,} people"] = taken
        figures["registry: index and accounts on disk, megabytes"] = _size(study.folder, folder / "registry" / "pools")
        figures["registry: most memory while opening, megabytes"] = peak_mb()
        open_holder(offices[OfficeRole.HOLDER], signed, workspace=folder / "health-w", link_key=key)
        desks = (
            ResearcherDesk(find_study(folder / "researcher")),
            HolderDesk(find_study(folder / "holder"), health),
            RegistryDesk(find_study(folder / "registry"), registry),
        )
        figures |= _requests(desks, people, sample, requests)
    return figures | _loopback(folder, people, sample, requests)


def _requests(desks: tuple[ResearcherDesk, HolderDesk, RegistryDesk], people: int, sample: int, requests: int) -> Any:
    researcher, holder, registry = desks
    taken: dict[str, list[float]] = {"researcher: asking": [], "holder: drawing": [], "registry: counting": []}
    sizes = []
    for number in range(requests + 1):
        where = _criteria(number, people, sample)
        seconds, asked = _timed(
            partial(researcher.ask, property="tongue", kind=LinkedKind.COUNT, scale=30, where=where)
        )
        drawing, drawn = _timed(partial(holder.draw, asked.envelope))
        counting, counted = _timed(partial(registry.count, drawn.sample))
        reading, _ = _timed(partial(researcher.read, counted.answer))
        if number:  # the first one opens files and engines
            sizes.append(drawn.drawn)
            for name, value in zip(taken, (seconds + reading, drawing, counting), strict=True):
                taken[name].append(value)
    found = {name: statistics.median(values) for name, values in taken.items()}
    return {
        "people in a sample": statistics.median(sizes),
        **found,
        "all three together": sum(found.values()),
        "all three together, slowest": max(map(sum, zip(*taken.values(), strict=True))),
    }


def _loopback(folder: Path, people: int, sample: int, requests: int) -> dict[str, float]:
    """From asking to the answer read, with each office a process that listens on 127.0.0.1 and passes on by itself."""
    ports = {role: _free_port() for role in OfficeRole}
    urls = {role: f"http://127.0.0.1:{port}" for role, port in ports.items()}
    passes = {
        OfficeRole.RESEARCHER: [],
        OfficeRole.HOLDER: [
            "--approve",
            "--to-registry",
            urls[OfficeRole.REGISTRY],
            "--to-researcher",
            urls[OfficeRole.RESEARCHER],
        ],
        OfficeRole.REGISTRY: ["--to-researcher", urls[OfficeRole.RESEARCHER]],
    }
    with ExitStack() as running:
        for role, more in passes.items():
            words = ["linked", "serve", "--office", str(folder / role.value), "--port", str(ports[role]), *more]
            process = subprocess.Popen([sys.executable, "-m", "discreet", *words], stdout=subprocess.DEVNULL)
            running.callback(process.wait)
            running.callback(process.terminate)
        for url in urls.values():
            _await(partial(_listens, url), 60)
        desk = ResearcherDesk(find_study(folder / "researcher"))
        taken = [
            _timed(partial(_ask_and_wait, desk, urls[OfficeRole.HOLDER], _criteria(number, people, sample)))[0]
            for number in range(requests + 1, 2 * requests + 2)
        ]
    return {
        "over loopback, a request from end to end": statistics.median(taken[1:]),
        "over loopback, slowest": max(taken[1:]),
    }


def _ask_and_wait(desk: ResearcherDesk, holder: str, where: str) -> None:
    asked = desk.ask(property="tongue", kind=LinkedKind.COUNT, scale=30, where=where)
    send_envelope(holder, asked.envelope)
    _await(lambda: received_answer(desk.study, asked.request)[0] is not None, 120)
    envelope, _ = received_answer(desk.study, asked.request)
    assert envelope is not None
    desk.read(envelope)


def _await(is_there: Callable[[], bool], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while not is_there():
        if time.perf_counter() > end:
            raise TimeoutError("an office does not answer")
        time.sleep(0.005)


def _listens(url: str) -> bool:
    try:
        with urlopen(f"{url}/health", timeout=5):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _criteria(number: int, people: int, sample: int) -> str:
    """People of its own for each request, so that none is answered from what is stored."""
    span = max(1, round(10**9 * sample / people))
    first = number * span % (10**9 - span)
    return f"code BETWEEN {first} AND {first + span - 1}"


def _write(folder: Path, people: int) -> None:
    """The same people in two files, in orders of their own."""
    rng = np.random.default_rng(1)
    ids = rng.permutation(np.arange(10**9, 10**9 + people, dtype=np.int64))
    for name in ("health", "registry"):
        table = pa.table({"id": rng.permutation(ids), "code": rng.integers(0, 10**9, people)})
        if name == "registry":
            table = table.set_column(1, "code", pa.array(rng.integers(0, 1_000, people)))
        pq.write_table(table, folder / f"{name}.parquet")
        (folder / f"{name}.yaml").write_text(_CARD.format(name=name), encoding="utf-8")


@contextmanager
def _sessions(folder: Path) -> Iterator[tuple[Any, Any]]:
    found = []
    for name in ("health", "registry"):
        session = discreet.create(folder / f"{name}-w")
        session.add(folder / f"{name}.parquet")
        found.append(session)
    try:
        yield found[0], found[1]
    finally:
        for session in found:
            session.close()


def _size(*folders: Path) -> float:
    return sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file()) / 10**6


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found
