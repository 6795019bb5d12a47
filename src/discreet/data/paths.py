"""Paths a caller may name: regular files inside the allowed roots, with symbolic links followed first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from discreet.errors import PathInvalid

__all__ = ["allowed_roots", "resolve_inside"]


def allowed_roots() -> tuple[Path, ...]:
    """The folders DISCREET_ROOTS names, empty when it is not set: then any file may be named."""
    named = os.environ.get("DISCREET_ROOTS", "")
    return tuple(Path(root).resolve() for root in named.split(os.pathsep) if root)


def resolve_inside(path: Path, roots: Iterable[Path] = ()) -> Path:
    """The real path of a regular file, or PathInvalid when it is none or lies outside every root."""
    shown = str(path)
    if "\0" in shown:
        raise PathInvalid("a path holds no NUL character.")
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise PathInvalid(f"'{shown}' does not exist or cannot be reached.", path=shown) from None
    if not real.is_file():
        raise PathInvalid(f"'{shown}' is not a regular file.", path=shown)
    allowed = [root.resolve() for root in roots]
    if allowed and not any(real.is_relative_to(root) for root in allowed):
        raise PathInvalid(
            f"'{shown}' lies outside the allowed folders. The custodian sets them with DISCREET_ROOTS.",
            path=shown,
        )
    return real
