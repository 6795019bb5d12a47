"""Paths a caller may name: regular files inside the allowed roots, with symbolic links followed first.

Whatever takes a path takes `AnyPath` and begins with `as_path`. A pipe would be waited for, a device may never end:
`open_regular` is how every file that somebody names is read.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, PathInvalid

__all__ = [
    "AnyPath",
    "allowed_roots",
    "as_path",
    "open_descriptor",
    "open_regular",
    "read_regular",
    "resolve_inside",
    "tell_reason",
]

_UNWAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

# What systems say most often, as Linux words it; anything else is told as it came.
_REASONS: Final = {
    reason.en: reason
    for reason in (
        Phrase("No such file or directory"),
        Phrase("Permission denied"),
        Phrase("Operation not permitted"),
        Phrase("Is a directory"),
        Phrase("Not a directory"),
        Phrase("File exists"),
        Phrase("Directory not empty"),
        Phrase("File name too long"),
        Phrase("File too large"),
        Phrase("Too many open files"),
        Phrase("Too many levels of symbolic links"),
        Phrase("No space left on device"),
        Phrase("Disk quota exceeded"),
        Phrase("Read-only file system"),
        Phrase("Input/output error"),
        Phrase("Invalid argument"),
        Phrase("Connection refused"),
        Phrase("Address already in use"),
    )
}

# How a caller may name a file or folder: text, a Path, or another object that stands for one.
AnyPath = str | os.PathLike[str]


def tell_reason(error: OSError) -> str:
    """Why the system refused, in the language of the moment."""
    reason = error.strerror or ""
    return str(_REASONS.get(reason, reason)) or say("the system refused")


def as_path(path: AnyPath, parameter: str = "path", *, rule: str = "") -> Path:
    """The path that a caller names; ParameterInvalid when it is none, or empty, or holds NUL."""
    given: object = path
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str) or not text:
        received = say("an empty text") if text == "" else "None" if given is None else type(given).__name__
        rule = rule or say("must be the path of a file or folder")
        raise ParameterInvalid(parameter=parameter, rule=rule, given=received)
    if "\0" in text:
        raise ParameterInvalid(parameter=parameter, rule=say("holds no NUL character"), given=repr(text[:40]))
    return given if isinstance(given, Path) else Path(text)


def open_regular(path: Path) -> io.BufferedReader:
    """A regular file, open for reading, or OSError at once: pipes, sockets, folders and devices are not opened.

    What is opened is looked at again, since it may have been put there meanwhile.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, say("a path holds no NUL character"))
    return os.fdopen(open_descriptor(path, os.O_RDONLY), "rb")


def open_descriptor(path: Path, flags: int) -> int:
    """The same for reading or writing, as a descriptor that no child inherits."""
    _require_regular(path.stat(), path)
    descriptor = os.open(path, flags | _UNWAITING)
    try:
        _require_regular(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: Path) -> bytes:
    """All of a small regular file, or OSError."""
    with open_regular(path) as stream:
        return stream.read()


def _require_regular(found: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, say("it is a folder"), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, say("it is not a regular file"), str(path))


def allowed_roots() -> tuple[Path, ...]:
    """The folders DISCREET_ROOTS names, empty when it is not set: then any file may be named."""
    named = os.environ.get("DISCREET_ROOTS", "")
    return tuple(Path(root).resolve() for root in named.split(os.pathsep) if root)


def resolve_inside(path: Path, roots: Iterable[Path] = (), *, folder: bool = False) -> Path:
    """The real path of a regular file, or PathInvalid when it is none or lies outside every root.

    With `folder` it may be a folder too.
    """
    shown = str(path)
    if "\0" in shown:
        raise PathInvalid(say("a path holds no NUL character."))
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise PathInvalid(say("'{path}' does not exist or cannot be reached.", path=shown), path=shown) from None
    if not (real.is_file() or (folder and real.is_dir())):
        raise PathInvalid(say("'{path}' is not a regular file.", path=shown), path=shown)
    allowed = [root.resolve() for root in roots]
    if allowed and not any(real.is_relative_to(root) for root in allowed):
        raise PathInvalid(
            say("'{path}' lies outside the allowed folders. The custodian sets them with DISCREET_ROOTS.", path=shown),
            path=shown,
        )
    return real
