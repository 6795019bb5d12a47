"""The unit of the service: systemd understands it, and what it starts is a command that there is."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.cli.in_process import call_here
from tests.places import ROOT

UNIT: Final = ROOT / "deploy" / "discreet.service"
SURVEY: Final = "data/survey.parquet"
Settings = dict[str, list[str]]


@pytest.fixture(scope="module")
def service() -> Settings:
    return read_unit(UNIT.read_text(encoding="utf-8"))["Service"]


def read_unit(text: str) -> dict[str, Settings]:
    """Sections, with every value of a key that may stand several times. ValueError for another line."""
    sections: dict[str, Settings] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if header := re.fullmatch(r"\[(\w+)\]", line):
            sections[header[1]] = defaultdict(list)
            continue
        name, equals, value = line.partition("=")
        if not sections or not equals or not re.fullmatch(r"[A-Z]\w*", name):
            raise ValueError(f"no setting: {line}")
        sections[list(sections)[-1]][name].append(value)
    return sections


def test_a_unit_is_read_strictly() -> None:
    assert read_unit("[A]\nX=1\n# no\nX=2 = 3\n") == {"A": {"X": ["1", "2 = 3"]}}
    for wrong in ("X=1", "[A]\nX 1", "[A]\n X=1"):
        with pytest.raises(ValueError, match="no setting"):
            read_unit(wrong)


def test_it_starts_a_command_that_there_is(service: Settings, tmp_path: Path) -> None:
    (line,) = service["ExecStart"]
    binary, command, *words = shlex.split(line)
    assert (binary, command) == ("/opt/discreet/bin/discreet", "serve")
    asked = call_here(tmp_path, [command, "--help"])
    known = set(re.findall(r"--[a-z-]+", asked.out))
    assert {word for word in words if word.startswith("--")} <= known
    assert {"--port", "--workers", "--check"} <= known
    assert "--host" not in words, "the proxy is on this machine"


def test_what_it_starts_would_serve(service: Settings, tmp_path: Path) -> None:
    for words in (["init", "office"], ["sample", "survey", "data", "--rows", "1000"], ["add", "-w", "office", SURVEY]):
        done = call_here(tmp_path, words)
        assert done.code == 0, done
    started = shlex.split(service["ExecStart"][0])[1:]
    started[started.index("--port") + 1] = "0"
    done = call_here(tmp_path, [*started, "--check", "-w", "office"])
    assert done.code == 0, done


def test_secrets_come_as_credentials_and_stay_closed(service: Settings) -> None:
    text = UNIT.read_text(encoding="utf-8")
    assert service["LoadCredential"] == ["ledger.key:/etc/discreet/ledger.key"]
    assert service["ExecStartPre"] == ["/usr/bin/install -m 0600 %d/ledger.key %t/discreet/ledger.key"]
    assert not re.search(r"postgres(?:ql)?://|password", text)
    assert service["UMask"] == ["0077"]
    assert service["LimitCORE"] == ["0"]


@pytest.fixture(scope="module")
def analyze() -> str:
    """systemd's own judge, where it is and knows credentials by `%d`."""
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not here: the unit was read by us alone")
    told = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if (version := re.match(r"systemd (\d+)", told)) is None or int(version[1]) < 250:
        pytest.skip("this systemd-analyze is older than 250: the unit was read by us alone")
    return found


def test_systemd_understands_it(analyze: str, tmp_path: Path) -> None:
    assert verify(analyze, tmp_path, UNIT.read_text(encoding="utf-8")) == ""
    planted = UNIT.read_text(encoding="utf-8").replace("ProtectSystem=strict", "ProtectSystems=strict")
    assert "ProtectSystems" in verify(analyze, tmp_path, planted)


def verify(analyze: str, folder: Path, text: str) -> str:
    """What systemd says of a unit, with a command in the place of the one that is not installed here."""
    unit = folder / "discreet.service"
    unit.write_text(text.replace("/opt/discreet/bin/discreet", sys.executable), encoding="utf-8")
    done = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True)
    return done.stderr


def test_systemd_finds_little_that_it_may_do(analyze: str, tmp_path: Path) -> None:
    unit = tmp_path / "discreet.service"
    shutil.copyfile(UNIT, unit)
    done = subprocess.run(
        [analyze, "security", "--offline=yes", "--threshold=20", unit], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
