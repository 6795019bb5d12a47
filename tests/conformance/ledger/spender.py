"""A client in a process of its own: spends until it has asked `count` times, from several threads.

Usage: python spender.py CONFIG.json NAME COUNT THREADS EPSILON
Prints JSON: how many were admitted and refused, and when it began and ended.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from discreet.errors import BudgetExceeded
from discreet.guarantees.types import PureDP
from discreet.ledger import LedgerConfig, SpendRequest, open_ledger


def main() -> None:
    file, name, count, threads, epsilon = sys.argv[1:]
    fields = json.loads(Path(file).read_text())
    paths = {key: Path(fields[key]) for key in ("path", "key_path", "anchor_path") if fields.get(key)}
    with open_ledger(LedgerConfig(**{**fields, **paths})) as ledger:

        def ask(number: int) -> bool:
            request = SpendRequest(
                population="cchs",
                dataset="survey",
                version=1,
                analyst="ada",
                request_id=f"{name}-{number}",
                plan_hash="d" * 64,
                mechanisms=(),
                guarantee=PureDP(epsilon=epsilon),
            )
            try:
                ledger.spend(request)
            except BudgetExceeded:
                return False
            return True

        begin = time.time()
        with ThreadPoolExecutor(int(threads)) as pool:
            outcomes = list(pool.map(ask, range(int(count))))
        end = time.time()
    admitted = outcomes.count(True)
    print(json.dumps({"admitted": admitted, "refused": len(outcomes) - admitted, "begin": begin, "end": end}))


if __name__ == "__main__":
    main()
