"""Faults as edits: each says what it breaks, in which file, and which tests look for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "Fault", "FaultUnplantable", "read_faults"]

FOLDER = Path(__file__).parent
_KEYS = {"breaks", "file", "old", "new", "tests", "long"}


class FaultUnplantable(Exception):
    """The source no longer reads as the fault expects; the text says where."""


@dataclass(frozen=True)
class Fault:
    """One edit of one file. `old` stands there once; `tests` are files or folders of the suite, asked in this order.

    A fault that only `make test-all` finds is `long`.
    """

    room: str
    name: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    long: bool = False

    def plant(self, root: Path) -> str:
        """The file's text with the fault in it."""
        text = (root / self.file).read_text(encoding="utf-8")
        found = text.count(self.old)
        if found != 1:
            raise FaultUnplantable(
                f"{self.room}/{self.name}: the text to be changed stands {found} times in {self.file}, not once. "
                "Write it anew as the source reads now."
            )
        if self.new == self.old:
            raise FaultUnplantable(f"{self.room}/{self.name}: it changes nothing.")
        return text.replace(self.old, self.new)


def read_faults(folder: Path = FOLDER) -> tuple[Fault, ...]:
    """Every fault, room by room."""
    faults = []
    for page in sorted(folder.glob("*.toml")):
        for name, entry in tomllib.loads(page.read_text(encoding="utf-8")).items():
            faults.append(_read(page.stem, name, entry))
    return tuple(faults)


def _read(room: str, name: str, entry: dict[str, Any]) -> Fault:
    if missing := _KEYS - {"long"} - entry.keys():
        raise FaultUnplantable(f"{room}/{name}: {', '.join(sorted(missing))} must be said.")
    if unknown := entry.keys() - _KEYS:
        raise FaultUnplantable(f"{room}/{name}: {', '.join(sorted(unknown))} is not known.")
    return Fault(room, name, **{**entry, "tests": tuple(entry["tests"])})
