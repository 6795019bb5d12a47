"""The one way a file is written: aside first, then put in its place in one step, so that a reader never meets half.

Elsewhere only what grows line by line or belongs to a database opens a file to write: the ledger's anchor and SQLite
file, the journal of releases, locks, and rows that DuckDB and pyarrow write into a folder which nobody can see yet.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from discreet.catalogue import say
from discreet.errors import PathInvalid
from discreet.paths import tell_reason

__all__ = [
    "Content",
    "check_path",
    "is_partial",
    "locked",
    "make_folder",
    "put_in_place",
    "replace_file",
    "staged_file",
    "sync",
    "write_whole",
]

_PARTIAL: Final = ".partial"

Content = str | bytes | Iterable[str | bytes]


def check_path(path: Path) -> None:
    """Say what would stop `replace_file` from writing here."""
    if "\0" in str(path):
        raise PathInvalid(say("a path holds no NUL character."))
    if os.path.isdir(path):
        raise PathInvalid(say("'{path}' is a folder. Name a file in it.", path=path), file=str(path))
    if _is_special(path):
        raise PathInvalid(say("'{path}' is not a regular file. Name another file.", path=path), file=str(path))
    if not os.path.isdir(path.parent):
        raise PathInvalid(
            say("there is no folder '{parent}'. Create it, or name another file.", parent=path.parent), file=str(path)
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PathInvalid(
            say("you may not write in '{parent}'. Name a file in another folder.", parent=path.parent), file=str(path)
        )


def make_folder(path: Path, *, mode: int = 0o777) -> None:
    """Make a folder that somebody named, and those it lies in, unless it is there; or say why not: PathInvalid."""
    if "\0" in str(path):
        raise PathInvalid(say("a path holds no NUL character."))
    try:
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    except (FileExistsError, NotADirectoryError):
        raise PathInvalid(
            say("{path} must be a folder; it is a file. Name another folder.", path=path), path=str(path)
        ) from None
    except OSError as fault:
        raise PathInvalid(
            say(
                "{path} cannot be created: {reason}. Name a folder you may write to.",
                path=path,
                reason=tell_reason(fault),
            ),
            path=str(path),
        ) from None


def replace_file(path: Path, content: Content) -> None:
    """Write the whole of a file that somebody named, or leave what was there and say why: PathInvalid."""
    check_path(path)
    try:
        write_whole(path, content)
    except OSError as error:
        raise PathInvalid(
            say(
                "'{path}' could not be written ({reason}); what was there before is unchanged. Name another file.",
                path=path,
                reason=tell_reason(error),
            ),
            file=str(path),
        ) from None


def write_whole(path: Path, content: Content, *, mode: int = 0o666, fresh: bool = False, durable: bool = True) -> None:
    """Write a file, all of it or nothing; text as UTF-8, large content in parts. The rest is `staged_file`'s."""
    with staged_file(path, mode=mode, fresh=fresh, durable=durable) as staged, staged.open("wb") as stream:
        for part in (content,) if isinstance(content, str | bytes) else content:
            stream.write(part.encode() if isinstance(part, str) else part)


@contextmanager
def staged_file(path: Path, *, mode: int = 0o666, fresh: bool = False, durable: bool = True) -> Iterator[Path]:
    """An empty file beside `path`; it takes that place when the block ends well and is gone when it does not.

    `mode` is less the umask, as for any new file. A link at `path` is replaced, not followed; with `fresh` nothing is:
    FileExistsError. What is `durable` survives a power cut once the block has ended; anything else may be lost to one.
    OSError when the file cannot be written.
    """
    # In the same folder, because only there is a rename one step; with a name that is never too long.
    staged = path.parent / f".{secrets.token_hex(8)}{_PARTIAL}"
    if _is_special(path):
        raise OSError(errno.EINVAL, say("it is not a regular file"), str(path))
    try:
        os.close(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield staged
        if durable:
            sync(staged)
        put_in_place(staged, path, fresh=fresh, durable=durable)
    finally:
        staged.unlink(missing_ok=True)


def put_in_place(staged: Path, path: Path, *, fresh: bool = False, durable: bool = True) -> None:
    """Give a finished file its name in one step; with `fresh` never over another, and `staged` stays for the caller."""
    if fresh:
        _link(staged, path)
    else:
        staged.replace(path)
    if durable:
        sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    except PermissionError:
        if folder:
            return  # one that lets nobody list it, or Windows: a rename is one step there too
        raise
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_partial(path: Path) -> bool:
    """Whether a file is what a killed process left half written."""
    return path.name.startswith(".") and path.name.endswith(_PARTIAL) and path.is_file()


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock that dies with its process; without `wait`, BlockingIOError when somebody else holds it."""
    with path.open("a") as stream:
        try:
            import fcntl
        except ImportError:
            # No such locks here: commands take turns by hand, and nothing is swept that may be in use.
            if not wait:
                raise BlockingIOError from None
            yield
            return
        fcntl.flock(stream, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _is_special(path: Path) -> bool:
    """A device or a pipe, which would be lost if a file took its name."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _link(staged: Path, path: Path) -> None:
    try:
        os.link(staged, path)
    except FileExistsError:
        raise
    except OSError:
        # Where files cannot be linked, a crash between the two leaves an empty file.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        staged.replace(path)
