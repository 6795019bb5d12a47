"""Linked counts by network as processes: who sees which bytes, what a kill leaves, how a server begins and ends."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.linkage import AskedGroup, DrawnSample, EnvelopeKind, LinkedKind
from discreet.linkage.envelopes import MARK, read_header
from discreet.linkage.office_network.couriers import fetch_answer, send_envelope
from discreet.linkage.office_network.mailbox import Mailbox
from discreet.linkage.office_network.office_posts import HolderPost, received_answer
from tests.cli.clinic import Run
from tests.cli.linked_scene import ALONE, DISCREET, may_make_namespaces, until
from tests.docs.blocks import read_blocks
from tests.docs.page_run import split_commands
from tests.places import DOCS, ROOT
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text

CRITERIA = "age BETWEEN 7 AND 83"
OPEN = "closing: {share: 0.9}"


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[ThreeOffices]:
    found = open_offices(tmp_path, terms=terms_text(closing=OPEN))
    yield found
    found.close()


@contextmanager
def serving(folder: Path, role: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its address."""
    command = [*DISCREET, "serve", "--office", role, "--port", "0", *words]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=in_house()
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield process, line.partition("http://")[2].partition(". ")[0]
        finally:
            process.kill()


def in_house() -> dict[str, str]:
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def read_folder(*folders: Path) -> bytes:
    return b"\n".join(path.read_bytes() for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())


def kinds_on(wire: bytes) -> set[str]:
    return {read_header(MARK + part).kind.value for part in wire.split(MARK)[1:]}


def test_three_offices_in_three_networks_learn_their_part_alone(
    offices: ThreeOffices, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = [AskedGroup("young", "age < 30", Decimal(1)), AskedGroup("old", "age >= 30", Decimal("0.5"))]
    asked = offices.researcher.ask(
        property="francophone", kind=LinkedKind.COUNT_AND_SIZE, scale=10, where=CRITERIA, groups=groups
    )
    (tmp_path / "request.env").write_bytes(asked.envelope)
    apart = may_make_namespaces()
    scene = [sys.executable, "-m", "tests.cli.linked_scene", str(tmp_path)]
    command = ["unshare", "-rn", *scene, ALONE] if apart else scene
    if not apart:
        with capsys.disabled():
            print("network namespaces cannot be made here: the three offices are on ports of 127.0.0.1")
    played = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=in_house(), timeout=120)
    assert played.returncode == 0, played.stderr
    assert played.stdout.count("listens at http://") == 3
    assert ("offices are apart" in played.stdout) == apart
    assert "ends 0 0 0" in played.stdout
    assert played.stderr == ""

    wires = {path.name: path.read_bytes() for path in (tmp_path / "wires").iterdir()}
    assert {name: kinds_on(wire) for name, wire in wires.items()} == {
        "researcher-holder": {"request"},
        "holder-registry": {"sample"},
        "holder-researcher": {"labels"},
        "registry-researcher": {"answer"},
    }
    answer, labels = received_answer(offices.researcher.study, asked.request)
    assert answer is not None
    found = offices.researcher.read(answer, labels)
    assert found.groups == ("young", "old")
    assert found.answer.cells is not None

    # What the registry was sent is opened with its own key, and so for the others: sealed bytes hide anything.
    start = wires["holder-registry"].index(MARK)
    sample = wires["holder-registry"][start : wires["holder-registry"].index(b"HTTP/1.1 202", start)]
    opened = offices.registry.study.unseal(sample, EnvelopeKind.SAMPLE).body
    drawn = DrawnSample.from_bytes(opened)
    entries = drawn.entries()
    pseudonyms = [entries[place : place + 16] for place in range(0, len(entries), 17)]
    assert len(pseudonyms) > 50
    at_registry = [wire for name, wire in wires.items() if "registry" in name]
    at_researcher = [wire for name, wire in wires.items() if "researcher" in name]
    at_holder = [wire for name, wire in wires.items() if "holder" in name]
    study = offices.researcher.study
    told = [study.unseal(answer, EnvelopeKind.ANSWER).body, study.unseal(labels or b"", EnvelopeKind.LABELS).body]

    for words in (b"BETWEEN", b"age <", b"age >=", b"young"):
        assert words in (request := offices.holder.study.unseal(asked.envelope, EnvelopeKind.REQUEST).body), request
        seen = [opened, *at_registry, read_folder(tmp_path / "registry", tmp_path / "r")]
        assert not any(words in part for part in seen), words
    everything = [*told, *at_researcher, read_folder(tmp_path / "researcher")]
    assert not any(pseudonym in part for pseudonym in pseudonyms for part in everything)
    assert not any(pseudonym.hex().encode() in part for pseudonym in pseudonyms for part in everything)
    cells = str([list(group) for group in found.answer.cells]).replace(" ", "").encode()
    assert found.answer.receipt.encode() in told[0]
    for part in (*at_holder, read_folder(tmp_path / "holder", tmp_path / "h")):
        assert found.answer.receipt.encode() not in part
        assert answer not in part
        assert b'"cells"' not in part
        assert cells not in part
    # A sample is deleted after use.
    assert not any(pseudonym in read_folder(tmp_path / "registry" / "studies") for pseudonym in pseudonyms)
    assert not Mailbox(offices.registry.study).waiting(EnvelopeKind.SAMPLE)


def test_a_registry_that_is_killed_after_accepting_answers_once_and_charges_once(
    offices: ThreeOffices, tmp_path: Path
) -> None:
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="ill = 'yes'")
    sample = offices.holder.draw(asked.envelope).sample
    pool = offices.registry.pool(offices.signed.agreement.terms.property("francophone"))
    with (pool.folder / "lock").open("a") as lock, serving(tmp_path, "registry") as (process, place):
        fcntl.flock(lock, fcntl.LOCK_EX)  # counting waits for the accounts
        send_envelope(f"http://{place}", sample)
        assert fetch_answer(f"http://{place}", asked.request) is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert Mailbox(offices.registry.study).waiting(EnvelopeKind.SAMPLE) == (asked.request,)
    with serving(tmp_path, "registry", "--lang", "fr") as (process, place):
        url = f"http://{place}"
        until(lambda: fetch_answer(url, asked.request) is not None)
        answer = fetch_answer(url, asked.request)
        send_envelope(url, sample)  # a holder that has not heard the first time
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert answer is not None
    assert offices.researcher.read(answer).answer.cells is not None
    assert offices.registry.count(sample).answer == answer
    with offices.registry.hold(pool) as book:
        assert sorted(set(book.accounts.counters.tolist())) == [0, asked.charge]
        assert book.pending == ()
    assert offices.sessions[1].verify()


def test_a_person_draws_what_came_and_a_restart_sends_it(offices: ThreeOffices, tmp_path: Path, run: Run) -> None:
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where="ill = 'yes'")
    post = HolderPost(offices.holder.study, lambda said: None, desk=offices.holder, approved=False)
    post.accept(EnvelopeKind.REQUEST, asked.envelope)
    drawn = run("linked", "draw", asked.request, "--office", "holder")
    assert "Drew 60 people" in drawn.out
    assert "is in the outbox" in drawn.err
    assert len(post.mailbox.outgoing()) == 1
    assert "--out" in run("linked", "draw", asked.request, "--office", "holder", "--labels", "l.env", code=2).err
    assert "UnknownName" in run("linked", "draw", "0" * 32, "--office", "holder", code=1).err
    with serving(tmp_path, "registry") as (_, registry):
        read = ("linked", "read", asked.request, "--office", "researcher")
        assert "no answer to this request has come yet" in run(*read, code=1).err
        assert "no answer to this request" in run(*read, "--from", f"http://{registry}", code=1).err
        with serving(tmp_path, "holder", "--to-registry", f"http://{registry}"):
            until(lambda: not Mailbox(offices.holder.study).outgoing())
        until(lambda: fetch_answer(f"http://{registry}", asked.request) is not None)
        first = run(*read, "--from", f"http://{registry}", "--format", "json").json()
    assert run(*read, "--format", "json").json()["rows"] == first["rows"]


def test_wrong_calls_are_refused_before_anything_listens(offices: ThreeOffices, run: Run, tmp_path: Path) -> None:
    def refused(*words: str, code: int = 2) -> str:
        return run("linked", "serve", *words, code=code).err

    assert "is a holder, and --role says registry" in refused("--office", "holder", "--role", "registry")
    assert "--approve is not for a registry" in refused("--office", "registry", "--approve")
    assert "--to-registry is not for a registry" in refused("--office", "registry", "--to-registry", "http://x")
    assert "--to-researcher is not for a researcher" in refused("--office", "researcher", "--to-researcher", "http://x")
    assert "can be reached from other machines" in refused("--office", "holder", "--host", "0.0.0.0")
    assert "must be an IP address" in refused("--office", "holder", "--host", "office.example")
    assert "must be an address such as" in refused("--office", "holder", "--to-registry", "registry")
    assert "'elsewhere" in refused("--office", "elsewhere")
    mailbox = Mailbox(offices.researcher.study)
    with mailbox.hold():
        assert "served by another process" in refused("--office", "researcher", "--port", "0", code=1)


def test_the_page_by_network_is_run_as_it_stands(offices: ThreeOffices, tmp_path: Path, run: Run) -> None:
    """Its commands on offices of the tests', and on other ports."""
    blocks = [block.text for block in read_blocks(DOCS / "linked.md") if "test_linked_network" in block.said]
    listening, asking = ([*split_commands(text)] for text in blocks)
    for place, role in (("university", "researcher"), ("clinic", "holder"), ("census", "registry")):
        (tmp_path / place).symlink_to(tmp_path / role)
    ports = {}
    for port in (8520, 8521, 8522):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports[str(port)] = str(free.getsockname()[1])

    def words(command: str, request: str = "") -> list[str]:
        for port, own in ports.items():
            command = command.replace(port, own)
        return shlex.split(command.replace("angioplasty", "ill").replace("REQUEST", request))[1:]

    with ExitStack() as stack:
        for command in listening:
            started = [sys.executable, "-m", "discreet", *words(command)]
            process = stack.enter_context(
                subprocess.Popen(started, cwd=tmp_path, env=in_house(), stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            assert "listens at" in process.stdout.readline()
        ask, send, draw, read = asking
        request = run(*words(ask), "--format", "json").json()["request"]
        assert run(*words(send)).out == "Sent. The other office has it.\n"
        assert run(*words(send), "--lang", "fr").out.startswith("Envoyé.")
        run(*words(draw, request))
        until(lambda: received_answer(offices.researcher.study, request)[0] is not None)
        assert run(*words(read, request)).out
