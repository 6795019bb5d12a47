"""A file is written whole or not at all: beside its place first, then moved there in one step."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from discreet.errors import PathInvalid

__all__ = ["check_path", "replace_file"]


def check_path(path: Path) -> None:
    """Say what would stop a file from being written here."""
    if path.is_dir():
        raise PathInvalid(f"'{path}' is a folder. Name a file in it.", file=str(path))
    if not path.parent.is_dir():
        raise PathInvalid(f"there is no folder '{path.parent}'. Create it, or name another file.", file=str(path))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PathInvalid(f"'{path.parent}' does not let you write. Name a file in another folder.", file=str(path))


def replace_file(path: Path, content: bytes) -> None:
    """Write the whole file, or leave what was there."""
    check_path(path)
    # In the same folder, because only there is a rename one step.
    beside = path.parent / f".{secrets.token_hex(8)}.partial"
    try:
        with beside.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except OSError as error:
        raise PathInvalid(
            f"'{path}' could not be written ({error.strerror}); what was there still is. Name another file.",
            file=str(path),
        ) from None
    finally:
        beside.unlink(missing_ok=True)
