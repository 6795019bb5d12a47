"""A process that uses a store beside others: it waits for a line, does its part, and tells how it went.

Usage: python store_client.py PLACE.json count ROOM TIMES   adds one to a number in the store, so often
       python store_client.py PLACE.json die                writes, and dies before its transaction ends
       python store_client.py PLACE.json fork               goes on in a child and in itself, with one store
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from discreet.stores import Run, Store, Tables

__all__ = ["StorePlace", "add_one", "counting"]

CREATE = "CREATE TABLE {room}_counts (name text PRIMARY KEY, n bigint NOT NULL)"


@dataclass(frozen=True)
class StorePlace:
    """Where a store is: a file, or what stands for a database."""

    workspace_id: str
    path: str | None = None
    dsn_env: str | None = None

    def open(self, tables: Tables) -> Store:
        if self.dsn_env is not None:
            from discreet.stores.postgres_office import PostgresOffice

            return PostgresOffice(dsn_env=self.dsn_env, workspace_id=self.workspace_id, tables=tables)
        from discreet.stores.sqlite_office import SqliteOffice

        assert self.path is not None
        return SqliteOffice(Path(self.path), tables)

    def write(self, file: Path) -> Path:
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return file

    @classmethod
    def read(cls, file: Path) -> Self:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return cls(**found)


def counting(room: str = "one") -> Tables:
    """A room that counts, with a table of its own."""
    return Tables(room, (CREATE.format(room=room), f"INSERT INTO {room}_counts VALUES ('n', 0)"))


def add_one(run: Run, room: str = "one") -> int:
    """What was read plus one: between the two nobody else may write."""
    [(found,)] = run(f"SELECT n FROM {room}_counts WHERE name = ?", "n")
    run(f"UPDATE {room}_counts SET n = ? WHERE name = ?", found + 1, "n")
    return int(found) + 1


def count(place: StorePlace, room: str, times: int) -> None:
    store = place.open(counting(room))
    print("ready", flush=True)
    sys.stdin.readline()
    for time in range(times):
        with store.jotting() if time % 2 else store.writing() as run:
            add_one(run, room)
    store.close()


def die(place: StorePlace) -> None:
    with place.open(counting()).writing() as run:
        add_one(run)
        print("ready", flush=True)
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)


def fork(place: StorePlace) -> None:
    store = place.open(counting())
    with store.writing() as run:
        add_one(run)
    child = os.fork()
    for _ in range(20):
        with store.writing() as run:
            add_one(run)
    if child == 0:
        store.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with store.writing() as run:
        add_one(run)
    store.close()


def main() -> None:
    file, what, *rest = sys.argv[1:]
    place = StorePlace.read(Path(file))
    match what:
        case "count":
            count(place, rest[0], int(rest[1]))
        case "die":
            die(place)
        case "fork":
            fork(place)


if __name__ == "__main__":
    main()
