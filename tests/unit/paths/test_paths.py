"""Files that somebody names: regular ones are read, and nothing else is waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import PathInvalid
from discreet.paths import open_regular, read_regular, resolve_inside


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


STRANGE: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a socket": make_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_what_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    path, link = Path("x.yaml"), Path("link.yaml")
    make(path)
    link.symlink_to(path)
    for named in (path, link):
        with pytest.raises(OSError, match=r"it is a folder|it is not a regular file"):
            open_regular(named)
        with pytest.raises(PathInvalid, match="is not a regular file"):
            resolve_inside(named)


def test_a_link_to_a_regular_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_regular(tmp_path / "b") == b"content"
    with pytest.raises(OSError, match="NUL"):
        open_regular(tmp_path / "a\0b")


def test_what_is_put_there_after_the_first_look_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, regular = tmp_path / "x", tmp_path / "y"
    os.mkfifo(path)
    regular.write_bytes(b"")
    looked = regular.stat()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", lambda *_, **__: looked)
        with pytest.raises(OSError, match="it is not a regular file"):
            open_regular(path)
