"""A file is there whole or not at all, and there is one way to write it."""

from __future__ import annotations

import ast
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import discreet
from discreet.errors import PathInvalid
from discreet.files import (
    Content,
    check_path,
    is_partial,
    make_folder,
    put_in_place,
    replace_file,
    staged_file,
    write_whole,
)

# What opens a file to write, or moves one, and why it is no whole file that takes a place.
OTHERS = {
    "cli/program.py": "the null device in place of a closed pipe",
    "workspace/folder.py": "a staged folder becomes a version",
    "cli/help_screens.py": "text on a help screen",
    "engines/in_place/spark_sessions.py": "the null device while a driver speaks",
    "ledger/trust/anchor.py": "heads are appended",
    "ledger/chain_stores/sqlite_store.py": "SQLite writes its own file; what is set aside keeps its bytes; locks held",
    "linkage/office_network/mailbox.py": "an envelope is moved aside whole",
    "linkage/offices/office_studies.py": "a staged folder becomes a study",
    "linkage/offices/registry_index.py": "numpy writes into a staged file",
    "release/journals/journal.py": "answers are appended",
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("content", ["é\r\nx", "é\r\nx".encode(), ["é", b"\r\n", "x"]])
@pytest.mark.parametrize("write", [write_whole, replace_file])
def test_the_whole_content_takes_the_place(
    tmp_path: Path, write: Callable[[Path, Content], None], content: Content
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a longer text that was there before")
    write(file, content)
    assert file.read_bytes() == b"\xc3\xa9\r\nx"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("fault", [ValueError("a bad value"), KeyboardInterrupt(), OSError(28, "No space left")])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path, fault: BaseException, fresh: bool) -> None:
    file = tmp_path / "a.txt"
    before = [] if fresh else ["a.txt"]
    if not fresh:
        file.write_text("old")

    def parts() -> Iterator[str]:
        yield "half"
        assert len(names(tmp_path)) == len(before) + 1
        raise fault

    with pytest.raises(type(fault)):
        write_whole(file, parts(), fresh=fresh)
    assert names(tmp_path) == before
    assert fresh or file.read_text() == "old"


def test_text_that_cannot_be_encoded_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(file, "\ud800")
    assert (file.read_text(), names(tmp_path)) == ("old", ["a.txt"])


@pytest.mark.parametrize("linking", [True, False])
def test_what_is_fresh_is_never_put_over_another(
    tmp_path: Path, linking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not linking:
        monkeypatch.setattr("os.link", _refuse_to_link)
    there, dangling = tmp_path / "there", tmp_path / "dangling"
    there.write_text("old")
    dangling.symlink_to(tmp_path / "absent")
    for taken in (there, dangling):
        with pytest.raises(FileExistsError):
            write_whole(taken, "new", fresh=True)
    assert there.read_text() == "old"
    write_whole(tmp_path / "new", "new", fresh=True)
    assert (tmp_path / "new").read_text() == "new"
    assert names(tmp_path) == ["dangling", "new", "there"]


def _refuse_to_link(*_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize(("mode", "found"), [(0o666, 0o640), (0o600, 0o600)])
@pytest.mark.parametrize("fresh", [False, True])
def test_the_mode_is_the_callers_from_the_first_byte(tmp_path: Path, mode: int, found: int, fresh: bool) -> None:
    file, before = tmp_path / "a.key", os.umask(0o027)
    try:
        with staged_file(file, mode=mode, fresh=fresh) as staged:
            assert stat.S_IMODE(staged.stat().st_mode) == found
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == found


@pytest.mark.parametrize("fresh", [False, True])
def test_a_durable_file_is_on_the_disk_before_it_has_its_name_and_its_name_after(
    tmp_path: Path, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, sync = tmp_path / "a.txt", os.fsync
    seen: list[tuple[int, bool]] = []

    def watch(descriptor: int) -> None:
        seen.append((os.fstat(descriptor).st_ino, file.exists()))
        sync(descriptor)

    monkeypatch.setattr("os.fsync", watch)
    write_whole(tmp_path / "other.txt", "x", fresh=fresh, durable=False)
    assert seen == []
    write_whole(file, "x", fresh=fresh)
    assert seen == [(file.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    replace_file(link, "new")
    assert (target.read_text(), link.read_text(), link.is_symlink()) == ("old", "new", False)


def test_pipes_and_devices_stay(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for special in (pipe, link):
        with pytest.raises(PathInvalid, match="is not a regular file"):
            replace_file(special, "new")
        with pytest.raises(OSError, match="not a regular file"):
            write_whole(special, "new")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert names(tmp_path) == ["link", "pipe"]


def test_paths_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    for path, words in [
        (tmp_path, "is a folder"),
        (tmp_path / "absent" / "a.txt", "there is no folder"),
        (tmp_path / "a\0b", "no NUL character"),
    ]:
        with pytest.raises(PathInvalid, match=words):
            check_path(path)
        with pytest.raises(PathInvalid, match=words):
            replace_file(path, "new")
    with pytest.raises(PathInvalid, match="could not be written"):
        replace_file(tmp_path / ("x" * 256), "new")
    assert names(tmp_path) == []
    replace_file(tmp_path / ("x" * 255), "the longest name there is")


def test_a_folder_is_made_with_those_it_lies_in_or_told_why_not(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    make_folder(tmp_path / "mine", mode=0o700)
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o700
    file = tmp_path / "file"
    file.write_text("old")
    for path, words in [
        (file, "must be a folder; it is a file. Name another folder."),
        (file / "within", "must be a folder; it is a file. Name another folder."),
        (tmp_path / ("x" * 256), "cannot be created: File name too long. Name a folder you may write to."),
        (tmp_path / "a\0b", "no NUL character"),
    ]:
        with pytest.raises(PathInvalid, match=words):
            make_folder(path)
    assert file.read_text() == "old"


def test_what_a_killed_process_left_is_known(tmp_path: Path) -> None:
    with staged_file(tmp_path / "a.txt") as staged:
        assert is_partial(staged)
    assert not is_partial(tmp_path / "a.txt")
    assert not is_partial(staged)


def test_a_file_made_elsewhere_is_put_in_place(tmp_path: Path) -> None:
    made, file = tmp_path / "made", tmp_path / "a.txt"
    for fresh in (True, False):
        made.write_text("new")
        put_in_place(made, file, fresh=fresh)
        assert file.read_text() == "new"


# --- the one way -----------------------------------------------------------------------------------------------------

_MOVES = {"os.replace", "os.rename", "os.link", "shutil.move", "shutil.copy", "shutil.copyfile"}
_TAKEN_ASIDE = {"mkstemp", "NamedTemporaryFile", "TemporaryFile"}


def writes(source: str) -> list[str]:
    """The calls of a module that write, or move, a file of their own."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if _writes(call)]


def _writes(call: ast.Call) -> bool:
    called, told = ast.unparse(call.func), [ast.unparse(one) for one in call.args]
    name = called.rpartition(".")[2]
    if name in {"write_text", "write_bytes", *_TAKEN_ASIDE} or called in _MOVES:
        return True
    if called == "os.open":
        return any(flag in " ".join(told) for flag in ("O_WRONLY", "O_RDWR", "O_CREAT"))
    if name in ("open", "fdopen"):
        given = [*call.args, *(one.value for one in call.keywords if one.arg == "mode")]
        modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return any(len(mode) <= 3 and set(mode) & set("wax+") for mode in modes)
    # Text is replaced by something, a path is not.
    return isinstance(call.func, ast.Attribute) and name in ("replace", "rename") and len(told) == 1


def test_other_ways_would_be_found() -> None:
    for source in (
        "path.write_text('x')", "open(path, 'w')", "path.open('x', encoding='utf-8')", "path.open(mode='ab')",
        "os.fdopen(found, 'wb')", "os.open(path, os.O_RDWR | os.O_CREAT, 0o600)", "partial.replace(path)",
        "partial.rename(path)", "os.replace(a, b)", "tempfile.mkstemp()", "shutil.move(a, b)",
    ):  # fmt: skip
        assert writes(source), source
    for source in ("text.replace('a', 'b')", "path.open('rb')", "replace(self, a=1)", "os.open(path, os.O_RDONLY)"):
        assert not writes(source), source


@pytest.mark.slow
def test_nobody_writes_a_file_another_way() -> None:
    house = Path(discreet.__file__).parent
    found = {
        file.relative_to(house).as_posix()
        for file in house.rglob("*.py")
        if file != house / "files.py" and writes(file.read_text(encoding="utf-8"))
    }
    assert found == {*OTHERS}
