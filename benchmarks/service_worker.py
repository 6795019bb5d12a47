"""One worker that asks a count of the sample survey three ways, through `Session` or over HTTP.

python -m benchmarks.service_worker session WORKSPACE
python -m benchmarks.service_worker http PORT
python -m benchmarks.service_worker client PORT

Fresh: a new charge, new noise, a stored answer. Stored: the same question again, under another key. Again: the same
under the same key. The token is in the environment.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.turns import serve

TOKEN_ENV: Final = "DISCREET_SERVICE_TOKEN"
EPSILON: Final = "0.01"
SQL: Final = "SELECT COUNT(*) AS people FROM survey"

Ask = Callable[[str, bool], object]
"""Asks under a key, and for a new answer or not."""


def ask_session(workspace: str) -> Ask:
    import discreet

    session = discreet.open(workspace).acting_for("bob", datasets=["survey"])
    return lambda key, fresh: session.query(SQL, epsilon=EPSILON, request_id=key, fresh=fresh).rows


def ask_http(port: str) -> Ask:
    from benchmarks.http_asker import HttpAsker

    asker = HttpAsker(int(port), os.environ[TOKEN_ENV], seconds=60)

    def ask(key: str, fresh: bool) -> object:
        reply = asker.query(SQL, epsilon=EPSILON, key=key, fresh=fresh)
        assert reply.status == 200, reply.body
        return reply.found["rows"]

    return ask


def ask_client(port: str) -> Ask:
    import discreet

    house = discreet.connect(f"http://127.0.0.1:{port}", token=os.environ[TOKEN_ENV])
    return lambda key, fresh: house.query(SQL, epsilon=EPSILON, request_id=key, fresh=fresh).rows


def run(ask: Ask) -> Callable[[], Mapping[str, float]]:
    def work() -> Mapping[str, float]:
        key = uuid.uuid4().hex
        ways = {"fresh": (key, True), "stored": (uuid.uuid4().hex, False), "again": (key, True)}
        taken = {}
        for name, (under, fresh) in ways.items():
            begun = time.perf_counter()
            ask(under, fresh)
            taken[name] = time.perf_counter() - begun
        return taken

    return work


if __name__ == "__main__":
    kinds: dict[str, Callable[[str], Ask]] = {"session": ask_session, "http": ask_http, "client": ask_client}
    serve(run(kinds[sys.argv[1]](sys.argv[2])))
