"""An office with people, a clock that tests move, and what is done by who can write its tables alone."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from discreet import session
from discreet.ledger import LedgerConfig, backup_ledger, restore_ledger
from discreet.people import LocalIdentity, People, Person, RequestFacts, Role, Token
from discreet.session import Session
from tests.places import ROOT

__all__ = ["Clock", "OpenOffice", "OpenOffices", "in_processes", "make_workspace", "opened"]

CLIENT = Path(__file__).with_name("people_client.py")
SECONDS = 60


@dataclass
class Clock:
    """The time of day, moved by hand."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(frozen=True)
class OpenOffice:
    """One process's hold on an office."""

    session: Session
    people: People
    clock: Clock

    @property
    def folder(self) -> Path:
        return self.session.workspace.path

    @property
    def config(self) -> LedgerConfig:
        return session.ledger_config(self.session.workspace)

    def by_token(self, bearer: str) -> Person | None:
        return LocalIdentity(self.people).authenticate(RequestFacts(bearer, None, "127.0.0.1/32"))

    def by_session(self, secret: str) -> Person | None:
        return LocalIdentity(self.people).authenticate(RequestFacts(None, secret, "127.0.0.1/32"))

    def make_token(self, person: str = "ben", *, days: int = 3) -> tuple[Token, str]:
        return self.people.tokens.make(person, days=days, who=person)

    def enter(self, name: str, password: str, address: str = "192.0.2.1") -> str:
        """The session of somebody who gave their password."""
        return self.people.sign_in.with_password(name, password, address=address)[1]

    def let_in(self, name: str, *, who: str = "ana") -> str:
        """The session of somebody who was sent a link and used it."""
        person, secret = self.people.sign_in.use_link(self.people.sign_in.make_link(name, who=who))
        assert person.name == name
        return secret

    def with_custodians(self, *names: str) -> None:
        """Custodians who act; from the third on, two of them had to agree."""
        for name in names:
            self.people.add(name, {Role.CUSTODIAN}, who=names[0])
            for proposal in self.people.proposals():
                self.people.confirm(proposal.number, who=names[1])

    def head(self) -> int:
        return self.session.ledger.head()[0]

    def acts(self) -> list[str]:
        return [str(event.payload["act"]) for event in self.session.ledger.log() if event.kind == "people"]

    def vandalise(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements on the tables as who has the database and nothing else; what the last one gives."""
        if self.config.path is not None:
            connection = sqlite3.connect(self.folder / "office.sqlite", isolation_level=None)
            try:
                return [connection.execute(statement).fetchall() for statement in statements][-1]
            finally:
                connection.close()
        return self._vandalise_postgres(statements)

    def _vandalise_postgres(self, statements: Sequence[str]) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(os.environ[self.config.dsn_env or ""], autocommit=True) as connection:
            schemas = connection.execute("SELECT schema_name FROM information_schema.schemata").fetchall()
            [schema] = [name for (name,) in schemas if name.endswith("_office") and self._is_ours(name)]
            connection.execute(f"SET search_path = {schema}".encode())
            cursors = [connection.execute(statement.encode()) for statement in statements]
            return cursors[-1].fetchall() if cursors[-1].description is not None else []

    def _is_ours(self, schema: str) -> bool:
        return self.session.workspace.id.replace("-", "_")[:20] in schema

    def back_up(self, file: Path) -> None:
        backup_ledger(self.config, file)

    def put_back(self, file: Path) -> None:
        """Lose the ledger, and put the copy in its place. Who has it open goes on with what is lost."""
        config = self.config
        self.session.close()
        if config.path is not None:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{config.path}{suffix}").unlink(missing_ok=True)
        else:
            import psycopg

            from discreet.ledger.chain_stores.postgres_store import schema_name

            with psycopg.connect(os.environ[config.dsn_env or ""], autocommit=True) as connection:
                connection.execute(f"DROP SCHEMA {schema_name(config.workspace_id)} CASCADE".encode())
        restore_ledger(config, file, who="ana")


OpenOffices = Callable[..., OpenOffice]


def make_workspace(folder: Path, dsn_env: str | None) -> Path:
    outside = folder.parent / f"{folder.name}-outside"
    Session.create(folder, ledger_dsn_env=dsn_env, key=outside / "key", anchor=outside / "anchor").close()
    return folder


@contextmanager
def opened(folder: Path, clock: Clock | None = None) -> Iterator[OpenOffice]:
    clock = clock or Clock()
    with session.open(folder) as found:
        people = People(found.workspace, found.ledger, clock=clock)
        try:
            yield OpenOffice(found, people, clock)
        finally:
            people.close()


def in_processes(folder: Path, *calls: Sequence[str]) -> list[str]:
    """What processes of their own say that do these things at the same moment."""
    started = [
        subprocess.Popen(
            [sys.executable, str(CLIENT), str(folder), *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for words in calls
    ]
    try:
        for one in started:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in started:
            assert one.stdin is not None
            one.stdin.write("\n")
            one.stdin.flush()
        return [one.communicate(timeout=SECONDS)[0].strip() for one in started]
    finally:
        for one in started:
            one.kill()
            one.wait()
