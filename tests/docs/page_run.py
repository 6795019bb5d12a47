"""A page as a reader follows it: its blocks one after the other, in one folder.

A server that a page starts listens on a port that is free, and later blocks speak to it there.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from discreet.cards import parse_card
from discreet.samples.sample_cards import survey_card, visits_card
from discreet.sql.reader.questions import read_statement
from tests.cli.in_process import call_here
from tests.docs.blocks import Block, Fate, read_blocks
from tests.places import DOCS
from tests.unit.sql.catalogue import Shelf
from tests.workspaces import fill
from tests.written_files import PARSERS, is_taken

__all__ = ["BlockFailed", "PageRun", "split_commands"]

_SAMPLE_WORKSPACE: Final = "sample.md#the-sample-workspace"
_OPERATORS: Final = frozenset("();<>|&")
_OWN_SHELL: Final = re.compile(r"[$`]|^\w+=")  # what only a shell works out
_NAMED_PORT: Final = "8765"
_LISTENS: Final = re.compile(r"Serving at https?://[\w.]+:(\d+),")
_PATIENCE: Final = 120.0


class BlockFailed(AssertionError):
    """A block does not do what its page says."""


class PageRun:
    """Runs, plans or checks blocks in a folder; `printed` is what all of them said."""

    def __init__(self, page: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.blocks = list(read_blocks(page))
        self.folder = folder
        self.printed = ""
        self._patch = patch
        self._port = _NAMED_PORT
        self._servers = ExitStack()
        self._names: dict[str, object] = {"__name__": "__main__"}
        if _SAMPLE_WORKSPACE in page.read_text(encoding="utf-8"):
            fill(folder, "sample workspace", _make_sample_workspace, workspace="office")

    def do(self, block: Block) -> None:
        """Raises BlockFailed, or whatever a Python block raises."""
        if block.fate in {Fate.ELSEWHERE, Fate.SHOWN, Fate.NOT_RUN}:
            return
        if self._port != _NAMED_PORT:
            block = replace(block, text=re.sub(rf"\b{_NAMED_PORT}\b", self._port, block.text))
        match block.language:
            case "sh" if block.said == "served":
                self._serve(block)
            case "sh":
                self._shell(block, split_commands(block.text))
            case "console":
                self._shell(block, _typed(block.text))
            case "python":
                with chdir(self.folder):
                    exec(compile("\n" * (block.line - 1) + block.text, str(block.page), "exec"), self._names)
            case _:
                _CHECKS[block.language](block)
                if named := re.match(r"# ([\w-]+\.yaml)\n", block.text):
                    (self.folder / named[1]).write_text(block.text, encoding="utf-8")

    def close(self) -> None:
        """End what the page has started."""
        self._servers.close()

    def _serve(self, block: Block) -> None:
        """Start the one command of a block, and go on once it listens. What it says on the way is `printed`."""
        (command,) = split_commands(block.text)
        words = [sys.executable, "-m", *_words(command), "--port", "0"]
        with (self.folder / "served.out").open("w") as said, (self.folder / "served.err").open("w") as told:
            server = subprocess.Popen(words, cwd=self.folder, stdout=said, stderr=told)
        self._servers.callback(_end, server)
        until = time.monotonic() + _PATIENCE
        while not (found := _LISTENS.search((self.folder / "served.err").read_text(encoding="utf-8"))):
            if server.poll() is not None or time.monotonic() > until:
                raise BlockFailed(f"{block.place}: nothing is served\n{(self.folder / 'served.err').read_text()}")
            time.sleep(0.05)
        self.printed += (self.folder / "served.out").read_text(encoding="utf-8")
        self._port = found[1]

    def _shell(self, block: Block, commands: Iterator[str]) -> None:
        refused = block.said == "refused"
        for command in commands:
            code, out, err = self._command(command)
            self.printed += out
            if (code != 0) != refused or "is an old spelling" in err:
                raise BlockFailed(f"{block.place}: exit code {code} of {command}\n{out}{err}")

    def _command(self, command: str) -> tuple[int, str, str]:
        """A plain call of Discreet in this process; everything else in a shell."""
        words = _words(command)
        if words[0] == "export":
            for name, value in (word.split("=", 1) for word in words[1:]):
                code, out, err = (
                    self._in_bash(f'found="{value}"\nprintf %s "$found"')
                    if _OWN_SHELL.search(value)
                    else (0, value, "")
                )
                if code != 0:
                    return code, out, err
                self._patch.setenv(name, out)
            return 0, "", ""
        target = words.pop() if len(words) > 2 and words[-2] == ">" else None
        if target:
            words.pop()
        if words[0] != "discreet" or _OWN_SHELL.search(command) or any(_OPERATORS.issuperset(word) for word in words):
            return self._in_bash(command)
        done = call_here(self.folder, words[1:])
        if target:
            (self.folder / target).write_text(done.out, encoding="utf-8")
        return done.code, "" if target else done.out, done.err

    def _in_bash(self, command: str) -> tuple[int, str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{command}"],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def split_commands(script: str) -> Iterator[str]:
    """The commands of a script: lines, with quotations, continued lines and here-documents kept whole."""
    lines = iter(script.splitlines())
    for line in lines:
        command = line
        if ended := re.search(r"<<\s*['\"]?(\w+)", line):
            command = "\n".join([line, *takewhile(ended[1].__ne__, lines), ended[1]])
        while not _is_whole(command):
            command += "\n" + next(lines)
        if _words(command):
            yield command


def _is_whole(command: str) -> bool:
    if "<<" in command:
        return True
    try:
        _words(command)
    except ValueError:
        return False
    return not command.endswith("\\")


def _words(command: str) -> list[str]:
    reader = shlex.shlex(command.split("<<", maxsplit=1)[0].replace("\\\n", ""), posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    return list(reader)


def _typed(transcript: str) -> Iterator[str]:
    """What follows `$ `, with the lines that go on with it."""
    lines = iter(transcript.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while not _is_whole(command):
                command += "\n" + next(lines)
            yield command


def _make_sample_workspace(folder: Path) -> None:
    """By the commands that the page on samples gives."""
    page = (DOCS / "sample.md").read_text(encoding="utf-8")
    first = page[: page.index("## The sample workspace")].count("\n")
    made = next(block for block in read_blocks(DOCS / "sample.md") if block.line > first)
    for command in split_commands(made.text):
        done = call_here(folder, _words(command)[1:])
        assert done.code == 0, done


@cache
def _samples() -> Shelf:
    texts = {"survey": survey_card(rows=113_290, seed=1), "visits": visits_card(people=113_290, seed=1)}
    return Shelf({name: parse_card(text, file=f"{name}.yaml") for name, text in texts.items()}, public={})


def _plan(block: Block) -> None:
    for statement in filter(str.strip, block.text.split(";\n")):
        read_statement(statement, _samples())


def _read_file(block: Block) -> None:
    if block.said == "part of a card":
        whole = yaml.load(survey_card(rows=113_290, seed=1), yaml.BaseLoader)
        part = yaml.load(block.text, yaml.BaseLoader)
        parse_card(yaml.safe_dump(_merge(whole, part), allow_unicode=True, sort_keys=False), file=block.place)
    elif not any(is_taken(kind, block.text) for kind in PARSERS):
        raise BlockFailed(f"{block.place}: neither a card nor a workload, a manifest, a study or an agreement")


def _merge(whole: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(whole)
    for key, value in part.items():
        kept = merged.get(key)
        both = isinstance(kept, dict) and isinstance(value, dict) and key in {"columns", "budget"}
        merged[key] = _merge(kept, value) if both and kept else value
    return merged


def _parse_csv(block: Block) -> None:
    if len({len(row) for row in csv.reader(block.text.splitlines())}) != 1:
        raise BlockFailed(f"{block.place}: rows of several lengths")


def _parse_json(block: Block) -> None:
    json.loads(block.text)


_CHECKS: Final = {"sql": _plan, "yaml": _read_file, "json": _parse_json, "csv": _parse_csv}
