"""A client that charges, draws and commits a row of requests, tells of it, and may kill itself.

Usage: python worker.py CONFIG.json FIRST LAST POINT AFTER
It makes the requests from FIRST up to LAST. POINT names where it dies ('never' for nowhere), AFTER how often
it passes there first. The points are patched in from here; the ledger itself has no hooks.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.guarantees.types import PureDP
from discreet.ledger import LedgerConfig, SpendRequest, open_ledger
from discreet.ledger.chain_stores.store import Transaction
from discreet.ledger.trust.anchor import Anchor, HeldAnchor

POINTS: dict[str, tuple[type, str, bool]] = {
    "before the event": (Transaction, "insert_event", True),
    "after the event": (Transaction, "insert_event", False),
    "before the head": (Transaction, "replace_head", True),
    "before the commit": (Transaction, "replace_head", False),
    "holding the anchor": (Anchor, "_lock", False),
    "before the anchor": (HeldAnchor, "cover", True),
    "after the anchor": (HeldAnchor, "cover", False),
    "before the answer": (Transaction, "insert_answer", True),
    "after the answer": (Transaction, "insert_answer", False),
}


class Fuse:
    """Kills the process at its nth burning."""

    def __init__(self, passes: int) -> None:
        self.passes = passes

    def burn(self) -> None:
        if self.passes == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passes -= 1


def patch(point: str, fuse: Fuse) -> None:
    owner, name, before = POINTS[point]
    original: Callable[..., Any] = getattr(owner, name)

    def patched(*arguments: Any, **options: Any) -> Any:
        if before:
            fuse.burn()
        result = original(*arguments, **options)
        if not before:
            fuse.burn()
        return result

    setattr(owner, name, patched)


def main() -> None:
    file, first, last, point, after = sys.argv[1:]
    fields = json.loads(Path(file).read_text())
    paths = {key: Path(fields[key]) for key in ("path", "key_path", "anchor_path") if fields.get(key)}
    fuse = Fuse(int(after))
    if point in POINTS:
        patch(point, fuse)
    with open_ledger(LedgerConfig(**{**fields, **paths})) as ledger:
        for number in range(int(first), int(last)):
            request = SpendRequest(
                population="cchs",
                dataset="survey",
                version=1,
                analyst="ada",
                request_id=f"r{number}",
                plan_hash="e" * 64,
                mechanisms=(),
                guarantee=PureDP(epsilon="0.0001"),
            )
            receipt = ledger.spend(request)
            print("charged", number, receipt.event_hash, flush=True)
            if point == "between charge and noise":
                fuse.burn()
            answer = receipt.answer
            if answer is None:
                draw = secrets.token_hex(8).encode()
                if point == "between noise and stored answer":
                    fuse.burn()
                answer = ledger.commit_answer(receipt, draw)
            if point == "between stored answer and reader":
                fuse.burn()
            print("answered", number, answer.decode(), flush=True)


if __name__ == "__main__":
    main()
