"""What commands give in a folder, as text that a reader can compare: one section for each command.

Noise is fixed where tests fix it, on the mechanisms, and there is no way to it from the product. What no two runs share
(times, identities, paths) is masked by name. JSON stands one field a line, so that a field more is a line more.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from discreet.cli.doctor import EXTRAS
from discreet.lab.generator.shelf import Shelved
from discreet.mechanisms.mechanism import AdditiveMechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.noise.selection import Choice, RunArrays
from tests.cli.clinic import Result
from tests.cli.in_process import call_here
from tests.golden.outputs.files import show_file, show_json
from tests.golden.outputs.office import make_office
from tests.golden.outputs.stand_in import load_model
from tests.workspaces import fill

__all__ = ["Scene", "record", "still"]

_LONG_FLOAT: Final = re.compile(r"(?<![\w.])-?\d+\.\d{10,}(?:e-?\d+)?(?![\w.])")
_UNSET: Final = (
    *("DISCREET_WORKSPACE", "DISCREET_SERVER", "DISCREET_TOKEN"),
    *("DISCREET_LANG", "DISCREET_ROOTS", "DISCREET_DEBUG"),
)
_MASKS: Final = {
    "<workspace-id>": r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    "<request-id>": r"\b[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}\b",
    "<request>": r"(?<=Request )[0-9a-f]{32}\b|(?<=\"request\": \")[0-9a-f]{32}\b",
    "<time>": r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00)?",
    "<date>": r"\b20\d\d-\d\d-\d\d\b",
    "<head>": r"(?<=head      )[0-9a-f]{64}\b|(?<=tête {11})[0-9a-f]{64}\b|(?<=\"head\": \")[0-9a-f]{64}\b",
    "<agreement>": r"(?<=\"agreement\": \")[0-9a-f]{64}\b",
    "<secret>": r"\b[0-9a-f]{16}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    "<token-id>": r"(?<=[Tt]oken )[0-9a-f]{16}\b|(?<=[Jj]eton )[0-9a-f]{16}\b|(?m:^)[0-9a-f]{16}(?=   )"
    r"|(?<=\"id\": \")[0-9a-f]{16}\b",
    "<address>": r"\b0x[0-9a-f]{8,}\b",
}


@dataclass(frozen=True)
class Scene:
    """Commands whose output is kept, each in a folder of its own, or `together` one after another in one; or `python`.

    `before` is run first in every folder and `prepare` then changes it, neither is kept. `files` are shown after a
    command that wrote them. With `terminal` a person seems to sit there, who types `stdin`. `empty` folders have no
    office in them. `blurred` text has no numbers and no columns, because they follow from chance, time or the machine.
    """

    name: str
    shown: Sequence[str] = ()
    python: Callable[[Path], str] | None = None
    before: Sequence[str] = ()
    prepare: Callable[[Path], None] | None = None
    files: Sequence[str] = ()
    together: bool = False
    terminal: bool = False
    stdin: str = ""
    empty: bool = False
    blurred: bool = False


@contextmanager
def still() -> Iterator[None]:
    """Surroundings in which the same commands give the same text."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="golden-keys-") as keys:
        patch.setenv("DISCREET_KEYS", keys)
        patch.setenv("DISCREET_ANALYST", "ana")
        patch.setenv("COLUMNS", "120")
        patch.setenv("DISCREET_MEMORY", "4GB")
        patch.delenv("DISCREET_SPILL", raising=False)
        for name in _UNSET:
            patch.delenv(name, raising=False)
        patch.setattr(AdditiveMechanism, "release", _drift)
        patch.setattr(NoisyMax, "release", _take_best)
        patch.setattr(Shelved, "load", load_model)
        patch.setattr("discreet.cli.doctor.version", _installed)
        patch.setattr("discreet.cli.progress.SECONDS_APART", 10**9)
        patch.setattr("discreet.lab.lab_commands.training_progress.SECONDS_APART", 10**9)
        patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**12))
        yield


def _installed(package: str) -> str:
    """A machine on which everything is installed but what trains generators."""
    if package in EXTRAS["gan"]:
        raise PackageNotFoundError
    return "1.0"


def _drift(mechanism: Any, values: Sequence[int]) -> list[int]:
    """Every value off by up to its scale, by a rule: whatever else is drawn, and in whatever order."""
    parts = (1, -1, 0, 2, -2)
    return [int(value) + round(Fraction(parts[int(value) % 5], 2) * mechanism.scale) for value in values]


def _take_best(_: NoisyMax, runs: Any) -> Choice:
    """The middle of the first run that no other beats."""
    if isinstance(runs, RunArrays):
        runs = list(zip(runs.scores.tolist(), runs.multiplicities.tolist(), strict=True))
    best = max(score for score, length in runs if length)
    place, length = next((place, length) for place, (score, length) in enumerate(runs) if length and score == best)
    return Choice(place, length // 2)


def record(scene: Scene, folder: Path) -> str:
    """The text of a scene, played in an empty folder. Called in `still` surroundings."""
    _set_up(scene, folder)
    if scene.python is not None:
        return _mask(scene.python(folder), folder)
    start, sections = _Snapshot(folder), []
    os.environ["COLUMNS"] = "1000" if scene.blurred else "120"
    for command in scene.shown:
        if not scene.together:
            start.restore()
        done = call_here(folder, shlex.split(command), scene.stdin, terminal=scene.terminal)
        text = _mask(_tell(done, [folder / name for name in scene.files]), folder)
        sections.append(f"$ discreet {command}\n{_blur(text) if scene.blurred else text}")
    return "\n".join(sections)


def _set_up(scene: Scene, folder: Path) -> None:
    if not scene.empty:
        fill(folder, "golden outputs", make_office)
    for command in scene.before:
        done = call_here(folder, shlex.split(command))
        assert done.code == 0, (command, done)
    if scene.prepare is not None:
        scene.prepare(folder)


def _blur(text: str) -> str:
    text = re.sub(r"(?:(?<!\w)-)?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?|(?<=\"additive\": )\w+", "#", text)
    return re.sub("─+", "─", re.sub(r"(?<=\S) {2,}", "  ", text))


class _Snapshot:
    """All files of a folder and of its keys, to be put back as they were: quicker than another copy of the folder."""

    def __init__(self, folder: Path) -> None:
        self._places = (folder, Path(os.environ["DISCREET_KEYS"]))
        found = self._list()
        self._files = {path: (path.stat(), path.read_bytes()) for path in found if path.is_file()}
        self._folders = {path for path in found if path.is_dir()}

    def _list(self) -> list[Path]:
        return [path for place in self._places for path in sorted(place.rglob("*"))]

    def restore(self) -> None:
        for path in reversed(self._list()):
            if path.is_dir() and path not in self._folders:
                path.rmdir()
            elif path.is_file() and path not in self._files:
                path.unlink()
        for path, (seen, content) in self._files.items():
            now = path.stat() if path.exists() else None
            if now is None or (now.st_mtime_ns, now.st_size) != (seen.st_mtime_ns, seen.st_size):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _tell(done: Result, files: Sequence[Path]) -> str:
    parts = [f"[exit {done.code}]\n"] if done.code else []
    parts += [_ended(show_json(done.out))] if done.out else []
    parts += [f"[standard error]\n{_ended(show_json(done.err))}"] if done.err else []
    parts += [f"[{path.name}]\n{_ended(show_file(path))}" for path in files if path.exists()]
    return "".join(parts)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _mask(text: str, folder: Path) -> str:
    """The text with a name in the place of whatever differs from run to run."""
    text = re.sub(rf"{re.escape(os.environ['DISCREET_KEYS'])}(?:/[0-9a-f]{{32}})?", "<keys>", text)
    text = text.replace(str(folder), "<folder>")
    if (signed := folder / "survey.json").exists():
        text = text.replace(json.loads(signed.read_text("utf-8"))["signature"]["public_key"], "<public-key>")
    for name, pattern in _MASKS.items():
        text = re.sub(pattern, name, text)
    # The last digits of a float follow from the processor.
    return _LONG_FLOAT.sub(lambda found: f"{float(found[0]):.12g}", text)
