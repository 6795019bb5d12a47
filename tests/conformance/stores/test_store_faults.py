"""A store that is damaged, full, read-only, away or another's: it fails closed, says no secret, and heals."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import sys
import tempfile
import threading
import traceback
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ExtraMissing, RecordsUnavailable
from discreet.stores import Store, Tables, postgres_office
from discreet.stores.postgres_office import PostgresOffice
from discreet.stores.sqlite_office import SqliteOffice
from tests.conformance.stores.conftest import DSN_ENV, OpenStore
from tests.conformance.stores.store_client import StorePlace, add_one, counting

NOBODY = 65534

Administer = Callable[[str], list[Any]]
sqlite = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
postgres = pytest.mark.parametrize("place", ["postgres"], indirect=True)


def counted(store: Store) -> int:
    with store.reading() as run:
        [(found,)] = run("SELECT n FROM one_counts")
    return int(found)


def write_one(store: Store, way: str = "writing") -> int:
    with getattr(store, way)() as run:
        return add_one(run)


# --- a file ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(place: StorePlace) -> Path:
    assert place.path is not None
    return Path(place.path)


@sqlite
def test_what_is_no_store_is_refused_and_left(open_place: OpenStore, file: Path) -> None:
    file.write_bytes(b"no database of ours: " + b"x" * 4096)
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(RecordsUnavailable, match="SQLITE_NOTADB"):
            write_one(open_place())
    assert file.read_bytes() == before


@sqlite
def test_a_store_with_holes_is_refused(open_place: OpenStore, file: Path) -> None:
    with sqlite3.connect(file) as made:
        made.execute("CREATE TABLE taken (room text PRIMARY KEY, steps bigint NOT NULL)")
        made.executemany("INSERT INTO taken VALUES (?, 1)", [(f"room {number}" * 50,) for number in range(500)])
    made.close()
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(data)
    with pytest.raises(RecordsUnavailable, match="SQLITE_CORRUPT"):
        counted(open_place())


@sqlite
@pytest.mark.parametrize("which", ["", ".lock"])
def test_a_folder_in_its_place_is_refused(open_place: OpenStore, file: Path, which: str) -> None:
    Path(f"{file}{which}").mkdir()
    with pytest.raises(RecordsUnavailable):
        counted(open_place())


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    store = SqliteOffice(tmp_path / "absent" / "office.sqlite", counting())
    with pytest.raises(RecordsUnavailable, match="cannot be used: No such file or directory"):
        counted(store)
    (tmp_path / "absent").mkdir()
    assert write_one(store) == 1
    store.close()


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file of this process may grow beyond `room` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@sqlite
@pytest.mark.parametrize("way", ["writing", "jotting"])
@pytest.mark.parametrize("room", [0, 1_000, 5_000, 20_000])
def test_a_full_disk_loses_nothing_that_was_there(open_place: OpenStore, file: Path, way: str, room: int) -> None:
    store = open_place()
    done = write_one(store)
    refused = False
    with full_disk(Path(f"{file}-wal").stat().st_size + room):
        for _ in range(200):
            try:
                done = write_one(store, way)
            except RecordsUnavailable:
                refused = True
                break
        assert refused
        assert counted(store) == done
    assert write_one(store, way) == done + 1
    assert counted(open_place()) == done + 1


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-stores-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(folder)


@contextmanager
def without_root() -> Iterator[None]:
    """Root may write everywhere: step down for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("was_used", [False, True])
def test_a_folder_that_may_not_be_written_is_refused(open_folder: Path, was_used: bool) -> None:
    path = open_folder / "office.sqlite"
    if was_used:
        store = SqliteOffice(path, counting())
        write_one(store)
        store.close()
        for beside in open_folder.iterdir():
            beside.chmod(0o444)
    open_folder.chmod(0o555)
    store = SqliteOffice(path, counting())
    with without_root():
        for _ in range(2):
            with pytest.raises(RecordsUnavailable, match="Permission denied"):
                write_one(store)
    for beside in [open_folder, *open_folder.iterdir()]:
        beside.chmod(0o755)
    assert write_one(store) == 1 + was_used
    store.close()


@sqlite
@pytest.mark.parametrize("put_back", [False, True])
def test_a_file_that_is_moved_away_under_a_process_is_not_written_on(
    open_place: OpenStore, file: Path, put_back: bool
) -> None:
    """What went on in a file without a name would be lost with the process."""
    store = open_place()
    write_one(store)
    store.close()
    kept = shutil.copy(file, file.with_suffix(".copy"))
    assert write_one(store) == 2
    for beside in ("", "-wal", "-shm"):
        Path(f"{file}{beside}").unlink(missing_ok=True)
    if put_back:
        Path(kept).rename(file)
    assert write_one(store) == (2 if put_back else 1)
    assert counted(open_place()) == (2 if put_back else 1)


# --- a database -----------------------------------------------------------------------------------------------------


def backend_of(store: Store) -> int:
    """The process of the server that serves a store, and nobody else: tests beside this one use the same server."""
    assert isinstance(store, PostgresOffice)
    return store._connection.get().info.backend_pid


@postgres
@pytest.mark.parametrize("way", ["reading", "writing", "jotting"])
def test_a_connection_that_ended_between_two_calls_is_not_noticed(
    open_place: OpenStore, administer: Administer, way: str
) -> None:
    store = open_place()
    assert write_one(store) == 1
    for _ in range(3):
        end_connection(store, administer)
        with getattr(store, way)() as run:
            assert run("SELECT n FROM one_counts") == [(1,)]


def end_connection(store: Store, administer: Administer) -> None:
    pid = backend_of(store)
    assert administer(f"SELECT pg_terminate_backend({pid}, 10000)") == [(True,)]


@postgres
@pytest.mark.parametrize("way", ["reading", "writing", "jotting"])
def test_a_connection_that_ends_in_the_middle_refuses_and_heals(
    open_place: OpenStore, administer: Administer, way: str
) -> None:
    store = open_place()
    assert write_one(store) == 1

    def be_interrupted() -> None:
        with getattr(store, way)() as run:
            if way != "reading":
                add_one(run)
            end_connection(store, administer)
            run("SELECT n FROM one_counts")

    with pytest.raises(RecordsUnavailable, match="AdminShutdown"):
        be_interrupted()
    assert counted(store) == 1
    assert write_one(store) == 2


@postgres
def test_a_connection_that_ends_before_the_commit_refuses(open_place: OpenStore, administer: Administer) -> None:
    store = open_place()

    def be_interrupted() -> None:
        with store.writing() as run:
            add_one(run)
            end_connection(store, administer)

    with pytest.raises(RecordsUnavailable):
        be_interrupted()
    assert counted(store) == 0


@postgres
def test_a_schema_that_was_dropped_is_made_anew(
    place: StorePlace, open_place: OpenStore, administer: Administer
) -> None:
    store = open_place()
    write_one(store)
    administer(f"DROP SCHEMA {schema_of(store)} CASCADE")
    with pytest.raises(RecordsUnavailable):
        write_one(store)
    assert write_one(store) == 1


def schema_of(store: Store) -> str:
    assert isinstance(store, PostgresOffice)
    return store._schema


@postgres
def test_who_waits_too_long_is_refused_and_heals(open_place: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = open_place(), open_place()
    assert counted(one) == counted(other) == 0
    monkeypatch.setattr(postgres_office, "_PATIENCE", "100ms")
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with one.reading():  # its own patience ends too
            pass
        monkeypatch.setattr(postgres_office, "_PATIENCE", "60s")
        with one.writing() as run:
            add_one(run)
            held.set()
            assert over.wait(60)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert held.wait(60)
        monkeypatch.setattr(postgres_office, "_PATIENCE", "100ms")
        with pytest.raises(RecordsUnavailable, match="LockNotAvailable"):
            write_one(other)
        assert counted(other) == 0, "who reads does not wait"
        over.set()
        holding.result(timeout=60)
    monkeypatch.setattr(postgres_office, "_PATIENCE", "60s")
    assert write_one(other) == 2


@postgres
def test_a_server_that_only_reads_is_read(
    place: StorePlace, open_place: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_one(open_place())
    monkeypatch.setenv(DSN_ENV, f"{os.environ[DSN_ENV]} options='-c default_transaction_read_only=on'")
    store = open_place()
    assert counted(store) == 1
    with pytest.raises(RecordsUnavailable, match="ReadOnlySqlTransaction"):
        write_one(store)
    assert counted(store) == 1


@postgres
def test_who_may_not_make_tables_uses_those_that_are_there(
    place: StorePlace, open_place: OpenStore, administer: Administer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_place()
    write_one(store)
    role, schema = f"clerk_{uuid.uuid4().hex[:8]}", schema_of(store)
    administer(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}")
    administer(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}")
    try:
        monkeypatch.setenv(DSN_ENV, os.environ[DSN_ENV].replace("user=postgres", f"user={role}"))
        clerk = open_place()
        assert write_one(clerk) == 2
        with pytest.raises(RecordsUnavailable, match="InsufficientPrivilege"):
            counted(open_place(Tables("more", ("CREATE TABLE more (n bigint)",))))
        clerk.close()
    finally:
        administer(f"DROP OWNED BY {role}; DROP ROLE {role}")


@postgres
@pytest.mark.parametrize("other", ["a_b", "A-B", "a-b-", "a-b" + "c" * 80])
def test_two_workspaces_of_one_database_do_not_meet(place: StorePlace, administer: Administer, other: str) -> None:
    own = uuid.uuid4().hex[:8]
    stores = [
        PostgresOffice(dsn_env=DSN_ENV, workspace_id=f"{name} {own}", tables=counting()) for name in ("a-b", other)
    ]
    try:
        assert [write_one(store) for store in stores] == [1, 1]
        assert [counted(store) for store in stores] == [1, 1]
        assert len(set(map(schema_of, stores))) == 2
        assert all(len(schema_of(store)) <= 63 for store in stores), "PostgreSQL would cut off what tells them apart"
    finally:
        for store in stores:
            store.close()
            administer(f"DROP SCHEMA IF EXISTS {schema_of(store)} CASCADE")


@postgres
def test_it_stands_beside_the_schema_of_its_ledger(place: StorePlace, open_place: OpenStore) -> None:
    from discreet.ledger.chain_stores.postgres_store import schema_name

    assert schema_of(open_place()) not in {schema_name(place.workspace_id), ""}


@pytest.mark.parametrize(
    "dsn",
    [
        "host=/nonexistent user=hunter2 password=hunter2",
        "postgresql://hunter2:hunter2@127.0.0.1:1/hunter2",
        "hunter2",
        "host=/nonexistent hunter2=hunter2",
        "",
    ],
)
def test_the_connection_string_is_never_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dsn: str
) -> None:
    monkeypatch.setenv(DSN_ENV, dsn)
    store = PostgresOffice(dsn_env=DSN_ENV, workspace_id="w", tables=counting())
    with pytest.raises(RecordsUnavailable) as refused:
        counted(store)
    told = "".join(traceback.format_exception(refused.value)) + repr(store) + repr(refused.value.to_dict())
    assert "hunter2" not in told + "".join(capsys.readouterr())
    assert "nonexistent" not in told
    store.close()


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv(DSN_ENV, "host=/tmp")
    with pytest.raises(ExtraMissing, match=r"discreet\[postgres\]"):
        counted(PostgresOffice(dsn_env=DSN_ENV, workspace_id="w", tables=counting()))
