"""kill -9 at named and at random points: no acknowledged charge is lost, no charge ever has two answers."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.ledger import Ledger, LedgerConfig, open_ledger

WORKER = Path(__file__).with_name("worker.py")
POINTS = (
    "before the event",
    "after the event",
    "before the head",
    "before the commit",
    "holding the anchor",
    "before the anchor",
    "after the anchor",
    "before the answer",
    "after the answer",
    "between charge and noise",
    "between noise and stored answer",
    "between stored answer and reader",
)
REQUESTS = 60
CHARGE = Decimal("0.0001")
RANDOM = "at random"


class Witness:
    """What clients were told, over all their lives."""

    def __init__(self) -> None:
        self.charges: dict[str, str] = {}
        self.answers: dict[str, str] = {}

    def hear(self, output: str) -> None:
        for line in output.splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            verb, number, what = line.split()
            told = self.charges if verb == "charged" else self.answers
            assert told.setdefault(number, what) == what, f"request {number} was told two things"


def run_worker(file: Path, point: str, *, first: int, last: int, after: int = 0) -> tuple[int, str]:
    """One life of a client; `at random` it is killed from outside."""
    dies = "never" if point == RANDOM else point
    last = last if point != RANDOM else first + 100 * REQUESTS  # more than it can do before it is killed
    command = [sys.executable, str(WORKER), str(file), str(first), str(last), dies, str(after)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        if point == RANDOM:
            time.sleep(random.uniform(0.1, 0.4))
            worker.kill()
        output, _ = worker.communicate(timeout=120)
    return worker.returncode, output


def kill_and_check(ledger: Ledger, config: LedgerConfig, folder: Path, lives: list[str]) -> int:
    """Live through every round; returns how many rounds ended by a kill."""
    file = folder / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    witness, killed = Witness(), 0
    for point in lives:
        # Every life begins among requests that were already answered: a retry must meet the same answers.
        first = max(0, len(witness.answers) - 3)
        code, output = run_worker(
            file, point, first=first, last=first + REQUESTS, after=random.randrange(REQUESTS // 6)
        )
        assert code in {0, -signal.SIGKILL}, output
        killed += code == -signal.SIGKILL
        witness.hear(output)
        with open_ledger(config) as survivor:
            verification = survivor.verify()
            assert verification.charges >= len(witness.charges)
            assert verification.answers >= len(witness.answers)
            assert survivor.state("cchs").population.epsilon_spent == verification.charges * CHARGE
    code, output = run_worker(file, "never", first=0, last=len(witness.charges) + 3)
    assert code == 0
    witness.hear(output)
    assert ledger.verify().charges == len(witness.charges)
    return killed


def test_a_kill_at_every_point_loses_nothing(ledger: Ledger, config: LedgerConfig, tmp_path: Path) -> None:
    lives = [*POINTS, RANDOM]
    random.shuffle(lives)
    assert kill_and_check(ledger, config, tmp_path, lives) >= 9


@pytest.mark.long
def test_seventy_kills_lose_nothing(ledger: Ledger, config: LedgerConfig, tmp_path: Path) -> None:
    lives = [*POINTS * 5, *[RANDOM] * 20]
    random.shuffle(lives)
    assert kill_and_check(ledger, config, tmp_path, lives) >= 50


def test_a_client_killed_holding_the_lock_lets_the_next_one_in(
    ledger: Ledger, config: LedgerConfig, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(asdict(config), default=str))
    code, output = run_worker(file, "before the commit", first=0, last=1)
    assert (code, output) == (-signal.SIGKILL, "")
    assert ledger.verify().charges == 0
    code, output = run_worker(file, "never", first=0, last=1)
    assert code == 0
    assert ledger.verify().charges == 1
