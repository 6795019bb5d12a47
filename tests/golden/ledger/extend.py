"""Adds an event to the golden chain: python -m tests.golden.ledger.extend KIND WHO POPULATION 'PAYLOAD AS JSON'

What is there is never rewritten. The fold must admit the event; "before": "now" stands for the totals before it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from discreet.ledger.events import GENESIS, Event, EventKind
from discreet.ledger.standing import Standing, encode_before, fold

CHAIN = Path(__file__).with_name("events.json")


def extend(kind: str, who: str, population: str, given: str) -> None:
    rows = json.loads(CHAIN.read_text("ascii"))
    standing, previous = Standing(), GENESIS
    for row in rows:
        standing, previous = fold(standing, Event.from_body(row["body"])), row["hash"]
    payload = json.loads(given)
    if payload.get("before") == "now":
        payload["before"] = encode_before(standing.populations[population], payload["analyst"])
    number = len(rows) + 1
    when = f"2026-11-17T{9 + number // 60:02d}:{number % 60:02d}:00.000000+00:00"
    event = Event(number, EventKind(kind), when, who, population, payload, previous)
    fold(standing, event)
    rows.append({"body": event.body, "hash": event.hash})
    CHAIN.write_text(json.dumps(rows, indent=1) + "\n", "ascii")


if __name__ == "__main__":
    extend(*sys.argv[1:])
