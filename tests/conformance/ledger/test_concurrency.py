"""Many clients on one cap: it is spent fully and never beyond, and nobody is refused for want of a lock."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger, LedgerConfig, SpendRequest

Request = Callable[..., SpendRequest]
SPENDER = Path(__file__).with_name("spender.py")


def test_sixty_four_threads_spend_a_cap_exactly(ledger: Ledger, make_request: Request) -> None:
    start = threading.Barrier(64)

    def ask(number: int) -> bool:
        start.wait()
        try:
            ledger.spend(make_request(f"r{number}", epsilon="0.02"))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(64) as pool:
        outcomes = list(pool.map(ask, range(64)))
    assert outcomes.count(True) == 50
    assert ledger.state("cchs").population.epsilon_spent == 1
    assert ledger.verify().charges == 50


def test_eight_processes_of_eight_threads_spend_a_cap_exactly(
    ledger: Ledger, config: LedgerConfig, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    clients = [
        subprocess.Popen(
            [sys.executable, SPENDER, file, f"process{number}", "16", "8", "0.01"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    results = [client.communicate(timeout=300) for client in clients]
    assert [client.returncode for client in clients] == [0] * 8, results
    outcomes = [json.loads(output) for output, _ in results]
    assert sum(outcome["admitted"] for outcome in outcomes) == 100
    assert sum(outcome["refused"] for outcome in outcomes) == 28
    assert ledger.state("cchs").population.epsilon_spent == Decimal(1)
    assert ledger.verify().charges == 100


def test_one_request_from_many_threads_is_charged_once(ledger: Ledger, make_request: Request) -> None:
    def ask(number: int) -> tuple[bool, bytes]:
        receipt = ledger.spend(make_request("r1"))
        return receipt.replayed, ledger.commit_answer(receipt, f"draw {number}".encode())

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(ask, range(16)))
    assert [replayed for replayed, _ in outcomes].count(False) == 1
    assert len({answer for _, answer in outcomes}) == 1
    assert ledger.state("cchs").charges == 1


FORK = """
import json, os, sys
from pathlib import Path
from discreet.guarantees.types import PureDP
from discreet.ledger import LedgerConfig, SpendRequest, open_ledger

fields = json.loads(Path(sys.argv[1]).read_text())
paths = {key: Path(fields[key]) for key in ("path", "key_path", "anchor_path") if fields.get(key)}
ledger = open_ledger(LedgerConfig(**{**fields, **paths}))

def spend(name):
    ledger.spend(SpendRequest(population="cchs", dataset="survey", version=1, analyst="ada", request_id=name,
        plan_hash="f" * 64, mechanisms=(), guarantee=PureDP(epsilon="0.1")))

spend("before")
child = os.fork()
spend("child" if child == 0 else "parent")
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
spend("after")
ledger.close()
"""


def test_a_forked_child_opens_its_own_connection(ledger: Ledger, config: LedgerConfig, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    assert subprocess.run([sys.executable, "-c", FORK, file]).returncode == 0
    assert ledger.verify().charges == 4
