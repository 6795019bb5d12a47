"""Folders that reports are written into: new ones, or those of an earlier run of the same kind, and no others."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from discreet.catalogue import say
from discreet.errors import PathInvalid
from discreet.files import is_partial

__all__ = ["check_folder"]


def check_folder(folder: Path, *, kind: str, results: str, files: Collection[str]) -> None:
    """PathInvalid when the folder holds anything but an earlier reproduction of this kind, as its `results` tell."""
    if folder.exists() and not _is_ours(folder, kind, results, files):
        raise PathInvalid(
            say("'{folder}' holds something else. Name a new folder with --out.", folder=folder), path=str(folder)
        )


def _is_ours(folder: Path, kind: str, results: str, files: Collection[str]) -> bool:
    if not folder.is_dir():
        return False
    names = {found.name for found in folder.iterdir() if not is_partial(found)}
    if not names:
        return True
    if not (folder / results).is_file():  # a pipe would be waited for
        return False
    try:
        about = json.loads((folder / results).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return names <= {*files} and isinstance(about, dict) and about.get("reproduction") == kind
