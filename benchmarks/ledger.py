"""Durable charges per second: SQLite and PostgreSQL, one client and eight processes; opening; verifying; finding."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

from discreet.guarantees import Budget, Neighbours, PopulationTerms, PureDP
from discreet.ledger import EventKind, Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger
from discreet.ledger.chain_stores.store import AnswerRow
from discreet.ledger.events import sha256_hex
from discreet.ledger.receipts import charge_payload

DSN_ENV = "DISCREET_BENCH_LEDGER_DSN"
SUITE = Path(__file__).parents[1] / "tests" / "conformance" / "ledger"
SPENDS = 400
CHARGES = 1500
LONG, SHORT = 20_000, 2_000
PROCESSES = 8


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for store in ("sqlite", "postgres"):
            if store == "postgres":
                os.environ[DSN_ENV] = stack.enter_context(_server_module().postgres_server())
            index = Path(folder) / store
            index.mkdir()
            figures |= _measure(_configure(store, index), index)
    return figures


def _measure(config: LedgerConfig, folder: Path) -> dict[str, float]:
    name = config.store
    with create_ledger(config) as ledger:
        _prepare(ledger)
        begin = time.perf_counter()
        for number in range(SPENDS):
            ledger.spend(_request(number))
        single = SPENDS / (time.perf_counter() - begin)
        many = _many(config, folder)
        begin = time.perf_counter()
        events = ledger.verify().events
        walk = events / (time.perf_counter() - begin)
    begin = time.perf_counter()
    open_ledger(config).close()
    opening = 1000 * (time.perf_counter() - begin)
    return {
        f"{name}: spends per second, one client": single,
        f"{name}: spends per second, {PROCESSES} processes": many,
        f"{name}: events verified per second": walk,
        f"{name}: opening, milliseconds": opening,
        f"{name}: finding one of {CHARGES} answers, milliseconds": 1000 * _find(config),
        f"{name}: verifying {SHORT} events, milliseconds": 1000 * _verify(config, SHORT),
        f"{name}: verifying {LONG} events, milliseconds": 1000 * _verify(config, LONG),
    }


def _find(config: LedgerConfig) -> float:
    """The best of many answers to one plan, for an analyst who has them all."""
    with _filled(config, "find", 2 * CHARGES) as ledger:
        begin = time.perf_counter()
        found = ledger.find_answer(
            population="cchs",
            dataset="survey",
            version=1,
            plan_hash="a" * 64,
            at_least=PureDP(epsilon="1e-6"),
            analyst="ada",
        )
        assert found is not None
        return time.perf_counter() - begin


def _verify(config: LedgerConfig, events: int) -> float:
    with _filled(config, f"verify{events}", events) as ledger:
        begin = time.perf_counter()
        ledger.verify()
        return time.perf_counter() - begin


def _filled(config: LedgerConfig, name: str, events: int) -> Ledger:
    """A ledger of its own with so many charges and answers, written in one transaction: they are not what is timed."""
    assert config.path is not None
    apart = replace(config, workspace_id=f"bench {name}", path=config.path.with_name(name), anchor_path=None)
    ledger = create_ledger(apart)
    _prepare(ledger)
    with ledger._writing() as book:
        for number in range(events // 2):
            standing = book.population("cchs")
            payload = charge_payload(_request(number), standing, None)
            charge = book.append(EventKind.CHARGE, who="ada", population="cchs", payload=payload)
            digest = sha256_hex(b"noisy")
            book.transaction.insert_answer(AnswerRow(charge.sequence, digest, b"noisy"))
            answer = {"charge": charge.sequence, "sha256": digest}
            book.append(EventKind.ANSWER, who="ada", population="cchs", payload=answer)
    return ledger


def _many(config: LedgerConfig, folder: Path) -> float:
    """Clients time themselves from their first to their last charge; the slowest counts."""
    file = folder / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    command = [sys.executable, str(SUITE / "spender.py"), str(file)]
    clients = [
        subprocess.Popen([*command, f"p{number}", str(SPENDS // 4), "1", "1e-6"], stdout=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    outcomes = [json.loads(client.communicate()[0]) for client in clients]
    span = float(max(outcome["end"] for outcome in outcomes) - min(outcome["begin"] for outcome in outcomes))
    return int(sum(outcome["admitted"] for outcome in outcomes)) / span


def _prepare(ledger: Ledger) -> None:
    terms = PopulationTerms(
        population="cchs",
        budget=Budget(epsilon=1),
        neighbours=Neighbours.ADD_REMOVE,
        unit_column="person_id",
        unit_type="integer",
    )
    ledger.register(terms)
    ledger.give_version("cchs", "survey", above=0, who="custodian")
    ledger.add_analyst("ada", who="custodian")


def _request(number: int) -> SpendRequest:
    return SpendRequest(
        population="cchs",
        dataset="survey",
        version=1,
        analyst="ada",
        request_id=f"r{number}",
        plan_hash="a" * 64,
        mechanisms=({"name": "discrete-laplace", "scale": "1000000"},),
        guarantee=PureDP(epsilon="1e-6"),
    )


def _configure(store: str, folder: Path) -> LedgerConfig:
    return LedgerConfig(
        workspace_id="bench",
        store="sqlite" if store == "sqlite" else "postgres",
        path=folder / "ledger.sqlite",
        dsn_env=DSN_ENV,
        key_path=folder / "key",
        anchor_path=folder / "anchor",
    )


def _server_module() -> ModuleType:
    """The tests' own PostgreSQL."""
    spec = importlib.util.spec_from_file_location("postgres_server", SUITE / "postgres_server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
