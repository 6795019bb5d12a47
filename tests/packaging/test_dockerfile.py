"""The image of the service: what its Dockerfile may say, and what its steps make, where no daemon is.

Its base's own commands are this machine's. What only a daemon does is not tried: the user, the read-only root (what
the service writes is compared instead), limits.
"""

from __future__ import annotations

import fnmatch
import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.packaging.dockerfile import Dockerfile, Image, build_image, read_dockerfile
from tests.places import ROOT

TEXT: Final = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
IGNORED: Final = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
_PORT: Final = "8765"


@pytest.fixture(scope="module")
def read() -> Dockerfile:
    return read_dockerfile(TEXT)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("FROM python:3.12\nADD a b", "not known here: ADD"),
        ("FROM python:3.12\nARG TOKEN", "not known here: ARG"),
        ("FROM registry.example/python:3.12", "a plain name with a version"),
        ("FROM python", "a plain name with a version"),
        ("FROM python:latest", "a plain name with a version"),
        ("COPY a b", "before any FROM"),
        ("FROM python:3.12\nHEALTHCHECK NONE", "a check without a command"),
        ("FROM python:3.12\nCMD discreet serve", "Expecting value"),
    ],
)
def test_what_our_image_does_not_use_is_not_understood(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        read_dockerfile(text)


def test_the_image_is_slim_and_nobodys(read: Dockerfile) -> None:
    assert {stage.base for stage in read.stages} == {"python:3.12-slim-bookworm"}
    assert re.fullmatch(r"[1-9]\d{4}:[1-9]\d{4}", read.last.only("USER").text)
    assert {step.flags.get("chown") for step in read.last.of("COPY")} == {None, read.last.only("USER").text}
    assert not read.last.of("RUN"), "what is built is built before"
    assert all(step.flags["from"] == "build" for step in read.last.of("COPY"))


def test_it_takes_in_no_secret_and_fetches_nothing_but_packages(read: Dockerfile) -> None:
    names = [word.partition("=")[0] for stage in read.stages for step in stage.of("ENV") for word in step.words]
    assert not [name for name in names if re.search("TOKEN|SECRET|PASS|DSN|CREDENTIAL", name)]
    commands = {word for stage in read.stages for step in stage.of("RUN") for word in commands_of(step.text)}
    assert commands <= {"python", "/opt/discreet/bin/python", "set", "mkdir"}, "no apt, no curl"
    installs = [step.text for stage in read.stages for step in stage.of("RUN") if "pip install" in step.text]
    assert all("--constraint constraints.txt" in text for text in installs)
    sources = [word for stage in read.stages for step in stage.of("COPY") for word in step.words[:-1] if not step.flags]
    let_in = {line.removeprefix("!") for line in IGNORED if line.startswith("!")}
    assert set(sources) == let_in
    assert IGNORED[1] == "*", "all else stays out"
    assert any(fnmatch.fnmatch("src/discreet/__pycache__", line) for line in IGNORED)


def commands_of(text: str) -> list[str]:
    return [part.split()[0] for part in re.split(r"&&|\|\||;|\|", text)]


@pytest.mark.long
@pytest.mark.xdist_group("packaging")
def test_its_steps_make_a_service_that_answers(read: Dockerfile, tmp_path: Path) -> None:
    image = build_image(read, ROOT, tmp_path / "image")
    image.environment["HOME"] = str(image.root)  # where a number without a name is at home
    kept = [image.here(path) for path in image.owners]
    assert all(path.is_dir() and not any(path.iterdir()) for path in kept)
    before = list_files(image.root, apart_from=kept)

    for words in (
        ("init", "office"),
        ("sample", "survey", "sample", "--rows", "2000"),
        ("add", "sample/survey.parquet"),
        ("serve", "--check", "--port", "0"),
    ):
        done = image.run(*words)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    with serving(image) as (process, port):
        for path, told in (("/v1/health", "ok"), ("/v1/ready", "ready")):
            with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
                assert json.load(answer)["status"] == told
        assert checked(image, port) == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert checked(image, port) != 0
    assert list_files(image.root, apart_from=kept) == before, "the rest of the root can be read-only"


@contextmanager
def serving(image: Image) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`docker run IMAGE` with its own words, on a port that is free."""
    process = image.start(*image.command, "--port", "0")
    try:
        assert process.stderr is not None
        begun = time.monotonic()
        while not (found := re.search(r"Serving at http://127\.0\.0\.1:(\d+)", line := process.stderr.readline())):
            assert line, f"it ended with {process.wait(10)}"
            assert time.monotonic() - begun < 120
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def checked(image: Image, port: int) -> int:
    """How the image's own check of its health ends."""
    words = [word.replace(_PORT, str(port)) for word in image.check]
    assert words != list(image.check), "the check asks the port that is served"
    process = image.start(*words, entry=())
    process.communicate(timeout=60)
    return process.returncode


def list_files(root: Path, *, apart_from: list[Path]) -> dict[str, tuple[int, int]]:
    """Every file with its size and time."""
    found = {}
    for path in root.rglob("*"):
        if not any(path.is_relative_to(folder) for folder in apart_from):
            status = path.lstat()
            found[str(path)] = (status.st_size, status.st_mtime_ns) if path.is_file() else (0, 0)
    return found
