"""A Dockerfile, read strictly, and its steps taken without a daemon: folders stand for layers, a venv for the base.

Only what our Dockerfile uses is understood; anything else is a mistake, here or there. A step's absolute paths are
those of its stage's folder. Stages before the last are removed in the end, as an image is without them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["Dockerfile", "Image", "Stage", "Step", "build_image", "read_dockerfile"]

_KNOWN: Final = frozenset(
    {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
)
_IMAGE: Final = re.compile(r"[a-z0-9]+:[a-z0-9.-]+")
_ABSOLUTE: Final = re.compile(r"(?<![\w.*/])/(?!bin/|usr/bin|dev/)(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction with its flags; `words` are those of its list, or of its text."""

    name: str
    flags: Mapping[str, str]
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """What is built on one base."""

    base: str
    name: str
    steps: tuple[Step, ...]

    def of(self, name: str) -> list[Step]:
        return [step for step in self.steps if step.name == name]

    def only(self, name: str) -> Step:
        (step,) = self.of(name)
        return step


@dataclass(frozen=True, slots=True)
class Dockerfile:
    stages: tuple[Stage, ...]

    @property
    def last(self) -> Stage:
        return self.stages[-1]


def read_dockerfile(text: str) -> Dockerfile:
    """ValueError for what is not understood here."""
    stages: list[tuple[str, str, list[Step]]] = []
    for line in _join(text):
        step = _read_step(line)
        if step.name == "FROM":
            base, name = _read_base(step, len(stages))
            stages.append((base, name, []))
        elif not stages:
            raise ValueError(f"before any FROM: {line}")
        else:
            stages[-1][2].append(step)
    return Dockerfile(tuple(Stage(base, name, tuple(steps)) for base, name, steps in stages))


def _join(text: str) -> list[str]:
    """Instructions, one a line: without comments, with what was continued."""
    kept = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return re.sub(r"\s*\\\n\s*", " ", "\n".join(kept)).splitlines()


def _read_step(line: str) -> Step:
    name, _, rest = line.partition(" ")
    if name not in _KNOWN:
        raise ValueError(f"an instruction that is not known here: {line}")
    flags = {}
    while flag := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
        flags[flag[1]] = flag[2]
        rest = rest[flag.end() :]
    if name == "HEALTHCHECK":
        asked, _, rest = rest.partition(" ")
        if asked != "CMD":
            raise ValueError(f"a check without a command: {line}")
    if name in {"ENTRYPOINT", "CMD", "HEALTHCHECK"}:
        return Step(name, flags, rest, tuple(map(str, json.loads(rest))))  # a list: no shell between it and signals
    return Step(name, flags, rest, tuple(rest.split() if name == "RUN" else shlex.split(rest)))


def _read_base(step: Step, number: int) -> tuple[str, str]:
    match step.words:
        case (base, "AS", name):
            pass
        case (base,):
            name = str(number)
        case _:
            raise ValueError(f"no base: {step.text}")
    if not _IMAGE.fullmatch(base) or base.endswith(":latest"):
        raise ValueError(f"a base is a plain name with a version: {base}")
    return base, name


@dataclass
class Image:
    """What the last stage left: its folder, how it is run and as what it is configured."""

    root: Path
    environment: dict[str, str]
    entry: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    user: str = ""
    folder: str = "/"
    owners: dict[str, str] = field(default_factory=dict)

    def here(self, path: str) -> Path:
        """Where a path of the image is on this machine."""
        return self.root / path.lstrip("/")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`docker run IMAGE WORDS`, waited for."""
        started = self.start(*words)
        out, err = started.communicate(timeout=300)
        return subprocess.CompletedProcess(started.args, started.returncode, out, err)

    def start(self, *words: str, entry: tuple[str, ...] | None = None) -> subprocess.Popen[str]:
        """`docker run IMAGE WORDS`, or its own words where none are given."""
        command = [*(self.entry if entry is None else entry), *(words or self.command)]
        return subprocess.Popen(
            command,
            cwd=self.here(self.folder),
            env=self.environment,
            executable=shutil.which(command[0], path=self.environment["PATH"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def build_image(read: Dockerfile, context: Path, folder: Path) -> Image:
    """Take every step. A command that fails raises, with what it said."""
    done: dict[str, Image] = {}
    for stage in read.stages:
        done[stage.name] = _build_stage(stage, context, folder / stage.name, done)
    for name, image in done.items():
        if name != read.last.name:
            shutil.rmtree(image.root)
    return done[read.last.name]


def _build_stage(stage: Stage, context: Path, root: Path, done: Mapping[str, Image]) -> Image:
    """The base is this Python in a venv of its own, under the folder where the base has it."""
    root.mkdir(parents=True)
    image = Image(root, {"PATH": f"{root}/usr/local/bin:/usr/bin:/bin"})
    subprocess.run([sys.executable, "-m", "venv", root / "usr" / "local"], check=True)
    for step in stage.steps:
        match step.name:
            case "WORKDIR":
                image.folder = step.text
                image.here(step.text).mkdir(parents=True, exist_ok=True)
            case "COPY":
                _copy(step, context, image, done)
            case "RUN":
                _run(step, image)
            case "ENV":
                _set(step, image)
            case "USER":
                image.user = step.text
            case "HEALTHCHECK":
                image.check = step.words
            case "ENTRYPOINT":
                image.entry = step.words
            case "CMD":
                image.command = step.words
    return image


def _copy(step: Step, context: Path, image: Image, done: Mapping[str, Image]) -> None:
    *sources, target = step.words
    place = image.here(os.path.normpath(os.path.join(image.folder, target)))
    if "chown" in step.flags:
        image.owners[target] = step.flags["chown"]
    for source in sources:
        found = done[step.flags["from"]].here(source) if "from" in step.flags else context / source
        if found.is_dir():
            shutil.copytree(found, place, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, place)
    if "from" in step.flags:
        _move_scripts(place, done[step.flags["from"]].root, image.root)


def _move_scripts(place: Path, before: Path, after: Path) -> None:
    """Scripts name the interpreter of the folder that they were made in; in an image both stages call it the same."""
    for script in (place / "bin").glob("*"):
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            script.write_bytes(content.replace(os.fsencode(before), os.fsencode(after)))


def _run(step: Step, image: Image) -> None:
    told = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
    done = subprocess.run(
        ["/bin/sh", "-c", _ABSOLUTE.sub(f"{image.root}/", step.text)],
        cwd=image.here(image.folder),
        env={**told, **image.environment},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{step.text}\n{done.stdout}\n{done.stderr}")


def _set(step: Step, image: Image) -> None:
    for word in step.words:
        name, _, value = word.partition("=")
        image.environment[name] = _ABSOLUTE.sub(f"{image.root}/", value)
