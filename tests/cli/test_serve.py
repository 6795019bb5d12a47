"""`discreet serve` and `discreet work` as processes: how they begin, whom they let in first, and how they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import httpx
import pytest

from discreet.cli.program import _put_behind
from tests.cli.clinic import Run, heed_interrupts
from tests.unit.client.hostile import answer, hostile

SERVE = [sys.executable, "-m", "discreet", "serve", "-w", "w", "--port", "0"]
FIRST = "This link signs in once"


@contextmanager
def started(folder: Path, words: list[str], until: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process, and what it said beside its results until it was ready."""
    with subprocess.Popen(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509
    ) as process:
        try:
            assert process.stderr is not None
            said, late = "", time.monotonic() + 60
            while until not in said and time.monotonic() < late and process.poll() is None:
                said += process.stderr.readline()
            assert until in said, said
            yield process, said
        finally:
            process.kill()


def address(said: str) -> str:
    return next(word.rstrip(",.") for word in said.split() if word.startswith("http://"))


def test_the_first_start_makes_a_custodian_and_a_link_that_works_once(clinic: Path) -> None:
    with started(clinic.parent, SERVE, "Ctrl-C") as (process, said):
        assert FIRST in said
        assert process.stdout is not None
        link = urlsplit(process.stdout.readline().strip())
        base = address(said)
        assert f"{link.scheme}://{link.netloc}" == base
        assert httpx.get(f"{base}{link.path}").status_code == 200
        signed = httpx.post(f"{base}/v1/session", json={"link": link.fragment})
        assert signed.json() == {"name": "ana", "roles": ["custodian"]}
        assert httpx.post(f"{base}/v1/session", json={"link": link.fragment}).status_code == 401
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    with started(clinic.parent, SERVE, "Ctrl-C") as (process, said):
        assert FIRST not in said
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""


@pytest.mark.slow
def test_two_workers_serve_one_workspace_and_nothing_secret_is_in_their_commands(clinic: Path) -> None:
    with started(clinic.parent, [*SERVE, "--workers", "2"], "Ctrl-C") as (process, said):
        base = address(said)
        assert httpx.get(f"{base}/v1/ready").json()["status"] == "ready"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        assert len(children) == 2
        for child in children:
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            assert b"keys" not in words
            assert str(clinic).encode() not in words
        os.kill(int(children[0]), signal.SIGKILL)
        late = time.monotonic() + 60
        while time.monotonic() < late:
            now = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
            if len(now) == 2 and children[0] not in now:
                break
            time.sleep(0.1)
        assert httpx.get(f"{base}/v1/health", timeout=30).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_work_does_jobs_until_it_is_ended(clinic: Path) -> None:
    words = [sys.executable, "-m", "discreet", "work", "-w", "w"]
    with started(clinic.parent, words, "Ctrl-C") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "--tls-cert"),
        (("--host", "office.example"), "must be an IP address"),
        (("--behind-proxy", "everybody"), "must be a network"),
        (("--tls-cert", "w.pem"), "--tls-key"),
        (("--tls-cert", "w.pem", "--tls-key", "w.pem"), "cannot be used for TLS"),
        (("-w", "nowhere"), "is not a workspace"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_made(
    clinic: Path, run: Run, words: tuple[str, ...], said: str
) -> None:
    failed = run("serve", "-w", "w", *words, "--check", code=2)
    assert said in failed.err
    assert "link" not in failed.out
    assert run("person", "list", "-w", "w", "--format", "json").json()["people"] == []


def test_a_check_says_whether_it_could_serve_and_makes_nobody(clinic: Path, run: Run) -> None:
    found = run("serve", "-w", "w", "--port", "0", "--check")
    assert "The ledger is intact" in found.out
    assert "There is no custodian yet" in found.out
    assert run("person", "list", "-w", "w", "--format", "json").json()["people"] == []
    assert "Le grand livre est intact" in run("serve", "-w", "w", "--port", "0", "--check", "--lang", "fr").out


def test_a_check_reads_what_is_kept_beside_the_ledger(clinic: Path, run: Run) -> None:
    run("person", "add", "-w", "w", "ada", "--role", "analyst")
    (clinic.parent / "w" / "office.sqlite").write_bytes(b"no database")
    failed = run("serve", "-w", "w", "--port", "0", "--check", code=1)
    assert "office" in failed.err or "beside the ledger" in failed.err
    assert "intact" not in failed.out


def test_an_address_of_another_machine_is_told_as_one(clinic: Path, run: Run) -> None:
    failed = run("serve", "-w", "w", "--host", "192.0.2.7", "--behind-proxy", "10.0.0.1", "--check", code=2)
    assert failed.err.startswith("ParameterInvalid: host must be an address of this machine")


def test_where_people_are_and_no_custodian_one_is_made(clinic: Path, run: Run) -> None:
    for name in ("ada", "ana"):
        run("person", "add", "-w", "w", name, "--role", "analyst")
    assert "There is no custodian yet" in run("serve", "-w", "w", "--port", "0", "--check").out
    with started(clinic.parent, SERVE, "Ctrl-C") as (process, said):
        assert "There was no custodian yet, so 'ana' is one from now on." in said
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    people = run("person", "list", "-w", "w", "--format", "json").json()["people"]
    assert {one["name"]: one["roles"] for one in people} == {"ada": ["analyst"], "ana": ["analyst", "custodian"]}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["--server", "U", "query", "Q", "--epsilon", "1"], ["query", "Q", "--epsilon", "1", "--server", "U"]),
        (["--token-file", "F", "--server=U", "budget"], ["budget", "--token-file", "F", "--server=U"]),
        (["--server", "U", "query", "--", "Q"], ["query", "--server", "U", "--", "Q"]),
        (["query", "Q", "--server", "U"], ["query", "Q", "--server", "U"]),
        (["--server"], ["--server"]),
        (["--lang", "fr", "--server", "U", "datasets"], ["--lang", "fr", "datasets", "--server", "U"]),
        (["--server=U", "--lang=fr", "datasets"], ["--lang=fr", "datasets", "--server=U"]),
        ([], []),
    ],
)
def test_a_server_may_be_named_before_the_command(given: list[str], read: list[str]) -> None:
    assert _put_behind(given) == read


QUERY = ["query", "SELECT COUNT(*) AS people FROM clinic", "--epsilon", "1", "--request-id", "mine"]


def test_whoever_interrupts_a_question_is_told_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Event()

    def stay_silent(wire: socket.socket) -> None:
        heard.set()
        wire.recv(1)

    monkeypatch.setenv("DISCREET_TOKEN", "a.b")
    with (
        hostile(answer(502, b"", "text/html"), stay_silent) as server,
        started(tmp_path, [sys.executable, "-m", "discreet", *QUERY, "--server", server.url], "60 seconds") as (
            asking,
            _,
        ),
    ):
        assert heard.wait(20)
        asking.send_signal(signal.SIGINT)
        _, said = asking.communicate(timeout=20)
    assert asking.returncode == 130
    assert [line for line in said.splitlines() if "--request-id mine" in line] == said.splitlines()
