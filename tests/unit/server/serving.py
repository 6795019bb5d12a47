"""An office that serves: a workspace with two datasets and a person of every role, behind the real server."""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx

from discreet.people import People, Role
from discreet.server import GuardedProtocol, OfficeProtocol, WebServer
from discreet.server.assembly import make_app
from discreet.server.callers import SESSION_COOKIE
from discreet.server.office import OfficeSettings
from discreet.session import Session
from discreet.session import open as open_session
from tests.cli.clinic import CARD, ROWS
from tests.workspaces import fill

__all__ = ["COUNT", "Asker", "House", "furnish", "serving"]

COUNT = "SELECT COUNT(*) AS people FROM clinic"
PEOPLE: Mapping[str, Role] = {
    "ada": Role.ANALYST,
    "bob": Role.ANALYST,
    "rita": Role.REVIEWER,
    "carl": Role.CUSTODIAN,
    "cora": Role.CUSTODIAN,
    "aud": Role.AUDITOR,
}


@dataclass(frozen=True)
class House:
    """A workspace whose people have tokens: `ada` and `bob` may ask about 'clinic', nobody about 'ward'."""

    path: Path
    tokens: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Asker:
    """A client as somebody would write one: `who` carries their token, nobody carries none."""

    port: int
    path: Path
    tokens: Mapping[str, str] = field(repr=False)

    def __call__(
        self, who: str | None, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent["authorization"] = f"Bearer {self.tokens[who]}"
        if key is not None:
            sent["idempotency-key"] = key
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=30, trust_env=False) as client:
            return client.request(method, path, json=body, headers=sent)

    def own(self, who: str) -> dict[str, str]:
        """What the page of the office sends for somebody who signed in, by a link of their own."""
        with _tables(self.path) as (_, people):
            _, secret = people.sign_in.use_link(people.sign_in.make_link(who, who=who))
        return {"cookie": f"{SESSION_COOKIE}={secret}", "origin": f"http://127.0.0.1:{self.port}"}

    def in_person(self, who: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """As on the page: signed in, and without a token."""
        return self(None, method, path, body, **self.own(who))

    def query(self, who: str, sql: str = COUNT, *, epsilon: str = "0.1", key: str | None = None) -> httpx.Response:
        body = {"sql": sql, "epsilon": epsilon}
        return self(who, "POST", "/v1/queries", body, key=key or uuid.uuid4().hex)


def furnish(folder: Path, *, budget: str = "3", per_analyst: str = "1") -> House:
    """A house in this folder, copied from one that was made before where there is one."""
    path = fill(folder, f"service {budget} {per_analyst}", lambda place: _furnish(place, budget, per_analyst))
    with _tables(path) as (_, people):
        tokens = {name: people.tokens.make(name, days=90, who=name)[1] for name in PEOPLE}
    return House(path, tokens)


def _furnish(folder: Path, budget: str, per_analyst: str) -> None:
    terms = f"{{epsilon: {budget}, per_analyst: {per_analyst}}}"
    with Session.create(folder / "w") as session:
        for name, population in (("clinic", "patients"), ("ward", "inpatients")):
            card = CARD.replace("dataset: clinic", f"dataset: {name}").replace(
                "population: patients", f"population: {population}"
            )
            (folder / f"{name}.csv").write_text(ROWS, encoding="utf-8")
            (folder / f"{name}.yaml").write_text(card.replace("{epsilon: 3, per_analyst: 1}", terms), encoding="utf-8")
            session.add(folder / f"{name}.csv", confirm=lambda _: True)
    with _tables(folder / "w") as (_, people):
        for name, role in PEOPLE.items():
            people.add(name, {role}, who="ana" if name != "cora" else "carl")
        for name in ("ada", "bob"):
            people.grant(name, "clinic", who="ana")


@contextmanager
def _tables(path: Path) -> Iterator[tuple[Session, People]]:
    with open_session(path) as session:
        people = People(session.workspace, session.ledger)
        try:
            yield session, people
        finally:
            people.close()


@contextmanager
def serving(
    house: House, *, protocol: type[GuardedProtocol] = OfficeProtocol, slots: bool = False, **settings: Any
) -> Iterator[Asker]:
    """The house behind the real server, in a thread of this process."""
    chosen = OfficeSettings(workspace=os.fspath(house.path), slots=slots, **settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        begun, failures = Event(), []
        server = WebServer(make_app(chosen.to_settings()), protocol=protocol, announce=begun.set)

        def run() -> None:
            try:
                server.run(sockets=[listener])
            except BaseException as failure:
                failures.append(failure)
            finally:
                begun.set()

        thread = Thread(target=run, daemon=True)
        thread.start()
        assert begun.wait(60)
        if failures:
            raise failures[0]
        try:
            yield Asker(listener.getsockname()[1], house.path, house.tokens)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def problem(answer: httpx.Response) -> dict[str, Any]:
    """The document of a refusal, in the one shape that there is."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found: dict[str, Any] = json.loads(answer.content)
    assert {"type", "status", "error", "message", "fields", "charged"} <= found.keys() <= {*found, "problems"}
    assert found["status"] == answer.status_code
    assert found["type"] == f"urn:discreet:error:{found['error']}"
    return found
