"""The folder of a study: what may be written there, what is kept of an interrupted run, what is replaced.

    study.yaml, study.json           the configuration as written; everything about the run
    results.parquet, …               the tidy tables (tables.py)
    tables/                          averages as CSV
    figures/, report.html            made from the files above
    .parts/                          finished tasks of a run under way; gone when it is complete
    .rows-*/                         the true rows while a run is under way

Whoever can read the folder sees true values, so it is closed to everyone else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import PathInvalid, Refused
from discreet.files import is_partial, make_folder, write_whole
from discreet.lab.study.findings.tidy_tables import SIZES, TABLES
from discreet.paths import read_regular, tell_reason

__all__ = ["SCHEMA", "StudyFolder", "hold_folder", "is_study"]

SCHEMA: Final = 1
_ABOUT: Final = "study.json"
_KEY: Final = "key.json"
_FILES: Final = ("study.yaml", _ABOUT, *(f"{name}.parquet" for name in TABLES))
_SOME: Final = ("report.html", f"{SIZES}.parquet")  # not of every study
_FOLDERS: Final = (".parts", "tables", "figures")


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """A folder that belongs to one study: `key` is the hash of its configuration and data, and the versions used."""

    path: Path
    key: Mapping[str, Any]

    @classmethod
    def claim(cls, path: Path, key: Mapping[str, Any], *, overwrite: bool) -> StudyFolder:
        """The folder, ready to be written to. Refused when it holds another study, unless that is to be replaced."""
        folder = cls(path, key)
        held = _held(path)
        if held is None and path.is_dir() and any(_foreign(path)):
            raise PathInvalid(
                say("'{path}' holds files that do not belong to a study. Name a new folder.", path=path), path=str(path)
            )
        if overwrite:
            folder._clear()
        elif held is not None and held["config_hash"] != key["config_hash"]:
            raise Refused(
                say(
                    "'{path}' holds another study: its configuration or data differ. Name another folder, or replace "
                    "it with --overwrite.",
                    path=path,
                ),
                path=str(path),
            )
        elif held is not None and held != key:
            # Other versions may draw otherwise; one study is never made from two of them.
            folder._clear()
        folder._open()
        return folder

    @property
    def parts(self) -> Path:
        return self.path / ".parts"

    @property
    def complete(self) -> bool:
        """Whether the whole study is there already."""
        return all((self.path / name).is_file() for name in _FILES) and _about(self.path) == self.key

    @contextmanager
    def rows(self) -> Iterator[Path]:
        """A closed folder for true rows, gone at the end; what a crash left behind goes too."""
        for left in self.path.glob(".rows-*"):
            shutil.rmtree(left, ignore_errors=True)
        for left in filter(is_partial, self.path.iterdir()):
            left.unlink()
        made = Path(mkdtemp(prefix=".rows-", dir=self.path))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def finish(self, about: Mapping[str, Any]) -> None:
        """Say that the study is complete, and let go of its parts."""
        _write(self.path / _ABOUT, about)
        shutil.rmtree(self.parts, ignore_errors=True)

    def _open(self) -> None:
        make_folder(self.path, mode=0o700)
        try:
            self.path.chmod(0o700)
            if not self.complete:
                self.parts.mkdir(exist_ok=True, mode=0o700)
                _write(self.parts / _KEY, self.key)
        except OSError as error:
            raise PathInvalid(
                say("'{path}' cannot be written: {strerror}.", path=self.path, strerror=tell_reason(error)),
                path=str(self.path),
            ) from None

    def _clear(self) -> None:
        """Remove what a study writes, and nothing else."""
        for name in (*_FILES, *_SOME):
            (self.path / name).unlink(missing_ok=True)
        for name in _FOLDERS:
            shutil.rmtree(self.path / name, ignore_errors=True)


@contextmanager
def hold_folder(path: Path) -> Iterator[None]:
    """One run at a time: Refused when another holds the folder. It is made if need be; the hold dies with its process.

    Two runs would sweep away each other's rows and mix their tables.
    """
    make_folder(path, mode=0o700)
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise PathInvalid(
            say("'{path}' cannot be read: {strerror}. Name another folder.", path=path, strerror=tell_reason(error)),
            path=str(path),
        ) from None
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return  # no such locks here: runs take turns by hand
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(
            say("Another run is at work in '{path}'. Wait until it has ended, or name another folder.", path=path),
            path=str(path),
        ) from None


def is_study(path: Path) -> bool:
    """Whether a folder holds a complete study."""
    return _about(path) is not None


def _held(path: Path) -> Mapping[str, Any] | None:
    """The key of the study that a folder holds, finished or not."""
    return _read_key(path / ".parts" / _KEY) or _about(path)


def _about(path: Path) -> Mapping[str, Any] | None:
    return _read_key(path / _ABOUT)


def _read_key(file: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(read_regular(file))
        return {"config_hash": found["config_hash"], "versions": found["versions"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _foreign(path: Path) -> Iterator[Path]:
    known = {*_FILES, *_SOME, *_FOLDERS}
    found = (item for item in path.iterdir() if item.name not in known)
    return (item for item in found if not item.name.startswith(".rows-") and not is_partial(item))


def _write(file: Path, value: Mapping[str, Any]) -> None:
    write_whole(file, json.dumps(value, indent=2, ensure_ascii=False) + "\n", durable=False)
