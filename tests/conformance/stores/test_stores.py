"""Both stores: one writer, all of a transaction or nothing, and tables that every release finds as it left them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import Barrier

import pytest

from discreet.errors import DiscreetError, RecordsUnavailable, UsageError
from discreet.stores import Rows, Run, Store, Tables, open_store
from discreet.workspace import LedgerSettings, Workspace, WorkspaceSettings
from tests.conformance.stores.conftest import OpenStore
from tests.conformance.stores.store_client import StorePlace, add_one, counting
from tests.places import ROOT

CLIENT = Path(__file__).with_name("store_client.py")
NOTES = Tables("notes", ("CREATE TABLE notes (name text PRIMARY KEY, note text, n bigint)",))
WAYS = ("writing", "jotting")

Transaction = Callable[[], AbstractContextManager[Run]]


def counted(store: Store, room: str = "one") -> int:
    with store.reading() as run:
        [(found,)] = run(f"SELECT n FROM {room}_counts")
    return int(found)


def kept(store: Store) -> Rows:
    with store.reading() as run:
        return run("SELECT name, note, n FROM notes ORDER BY name")


# --- transactions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_there_for_all(open_place: OpenStore, way: str) -> None:
    one, other = open_place(), open_place()
    assert counted(other) == 0
    begin: Transaction = getattr(one, way)
    with begin() as run:
        assert add_one(run) == 1
        assert counted(other) == 0, "before it ends, nobody else sees it"
        assert run("UPDATE one_counts SET n = n + 1 RETURNING n, name") == [(2, "n")]
        assert run("UPDATE one_counts SET n = n + 1 WHERE n = ?", 99) == []
    assert counted(other) == counted(one) == 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, RecordsUnavailable, OSError, GeneratorExit])
def test_what_raises_is_undone_and_raises(open_place: OpenStore, way: str, fault: type[BaseException]) -> None:
    store = open_place()
    begin: Transaction = getattr(store, way)
    error = fault("its own words")

    def write() -> None:
        with begin() as run:
            add_one(run)
            raise error

    with pytest.raises(fault) as raised:
        write()
    assert raised.value is error, "an error of the caller's is not one of the store's"
    assert counted(store) == 0
    with begin() as run:
        assert add_one(run) == 1


def test_what_fails_in_the_middle_undoes_what_was_before_it(open_place: OpenStore) -> None:
    store = open_place(NOTES)

    def write() -> None:
        with store.writing() as run:
            run("INSERT INTO notes VALUES ('a', 'b', 1)")
            with suppress(DiscreetError):
                run("INSERT INTO nowhere VALUES (1)")
            run("INSERT INTO notes VALUES ('a', 'c', 2)")

    with pytest.raises(RecordsUnavailable):
        write()
    assert kept(store) == []


def test_who_reads_sees_one_moment_throughout(open_place: OpenStore) -> None:
    reader, writer = open_place(), open_place()
    with reader.reading() as run:
        before = run("SELECT n FROM one_counts")
        with writer.writing() as other:
            add_one(other)
        assert run("SELECT n FROM one_counts") == before == [(0,)]
    assert counted(reader) == 1


def test_who_reads_writes_nothing(open_place: OpenStore) -> None:
    store = open_place()
    for statement in ("UPDATE one_counts SET n = 7", "DELETE FROM one_counts", "CREATE TABLE more (n bigint)"):
        with pytest.raises(RecordsUnavailable), store.reading() as run:
            run(statement)
    assert counted(store) == 0
    with store.writing() as run:
        assert add_one(run) == 1


def test_one_error_of_a_reader_is_no_error_of_the_next(open_place: OpenStore) -> None:
    store = open_place()
    with pytest.raises(ZeroDivisionError), store.reading() as run:
        assert run("SELECT n FROM one_counts")[0][0] / 0
    assert counted(store) == 0


def test_one_connection_serves_all_transactions(open_place: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading takes some twenty microseconds on SQLite; opening takes milliseconds."""
    store = open_place()
    assert counted(store) == 0
    monkeypatch.setattr(store, "_connect", None)
    monkeypatch.setattr(getattr(store, "_connection"), "_connect", None)  # noqa: B009
    for _ in range(200):
        counted(store)
        write_one(store)


# --- many at once ---------------------------------------------------------------------------------------------------


def test_threads_write_one_after_the_other(open_place: OpenStore) -> None:
    stores = [open_place(), open_place()]
    start = Barrier(8)

    def write(number: int) -> None:
        start.wait()
        store = stores[number % 2]
        for _ in range(25):
            with store.writing() if number < 4 else store.jotting() as run:
                add_one(run)
            counted(store)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert counted(stores[0]) == 8 * 25


def test_processes_that_begin_together_make_each_table_once(
    open_place: OpenStore, place: StorePlace, tmp_path: Path
) -> None:
    """Nobody made the store before them."""
    rooms = ("one", "two", "one", "two", "one", "two")
    clients = [start_client(place, tmp_path, "count", room, "20") for room in rooms]
    for client in clients:
        wait_for(client)
    for client in clients:
        let_go(client)
    told = [client.communicate(timeout=120) for client in clients]
    assert [client.returncode for client in clients] == [0] * len(rooms), told
    for room in ("one", "two"):
        assert counted(open_place(counting(room)), room) == 60


def test_threads_that_begin_together_make_each_table_once(place: StorePlace) -> None:
    start = Barrier(12)

    def use(number: int) -> int:
        room = "one" if number % 2 else "two"
        store = place.open(counting(room))
        start.wait()
        with store.writing() as run:
            found = add_one(run, room)
        store.close()
        return found

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(use, range(12))) == sorted([1, 2, 3, 4, 5, 6] * 2)


def test_a_child_of_a_fork_goes_on(open_place: OpenStore, place: StorePlace, tmp_path: Path) -> None:
    client = start_client(place, tmp_path, "fork")
    assert client.communicate(timeout=120) == ("", "")
    assert client.returncode == 0
    assert counted(open_place()) == 42


def test_a_writer_that_is_killed_holds_nobody_up(open_place: OpenStore, place: StorePlace, tmp_path: Path) -> None:
    store = open_place()
    assert counted(store) == 0
    client = start_client(place, tmp_path, "die")
    wait_for(client)
    assert counted(store) == 0, "who reads does not wait"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(write_one, store)
        let_go(client)
        assert waiting.result(timeout=60) == 1, "nothing of it was written"
        client.communicate(timeout=60)
    assert client.returncode == -9


def write_one(store: Store) -> int:
    with store.writing() as run:
        return add_one(run)


def start_client(place: StorePlace, folder: Path, *words: str) -> subprocess.Popen[str]:
    file = place.write(folder / "place.json")
    return subprocess.Popen(
        [sys.executable, str(CLIENT), str(file), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ,
    )


def wait_for(client: subprocess.Popen[str]) -> None:
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"


def let_go(client: subprocess.Popen[str]) -> None:
    assert client.stdin is not None
    client.stdin.write("\n")
    client.stdin.flush()


# --- tables that change from release to release ---------------------------------------------------------------------

EARLIER = Tables("notes", NOTES.steps)
LATER = Tables(
    "notes", (*NOTES.steps, "ALTER TABLE notes ADD COLUMN day bigint", "UPDATE notes SET day = COALESCE(day, 0) + 1")
)


def test_a_store_of_an_earlier_release_takes_the_steps_that_are_left_once(open_place: OpenStore) -> None:
    with open_place(EARLIER).writing() as run:
        run("INSERT INTO notes VALUES ('a', 'b', 1)")
    for _ in range(2):
        with open_place(LATER).reading() as run:
            assert run("SELECT name, note, n, day FROM notes") == [("a", "b", 1, 1)]


def test_a_store_of_a_later_release_is_left_as_it_is(open_place: OpenStore) -> None:
    later, earlier = open_place(LATER), open_place(EARLIER)
    assert kept(later) == []
    for _ in range(2):
        with pytest.raises(RecordsUnavailable, match=r"were made by a later version of Discreet\. Use that version"):
            write_note(earlier, "a")
    assert kept(later) == []
    assert write_one(open_place(counting())) == 1, "other rooms go on"


def test_who_is_at_work_goes_on_while_a_later_release_comes(open_place: OpenStore) -> None:
    earlier = open_place(EARLIER)
    write_note(earlier, "a")
    assert len(kept(open_place(LATER))) == 1
    with earlier.writing() as run:
        run("INSERT INTO notes (name) VALUES ('b')")
    assert len(kept(earlier)) == 2


def test_a_step_that_fails_leaves_those_before_it_untaken(open_place: OpenStore) -> None:
    broken = Tables("notes", (*NOTES.steps, "ALTER TABLE nowhere ADD COLUMN day bigint"))
    for _ in range(2):
        with pytest.raises(RecordsUnavailable):
            kept(open_place(broken))
    write_note(open_place(EARLIER), "a")


def write_note(store: Store, name: str, note: str | None = None, number: int | None = None) -> None:
    with store.writing() as run:
        run("INSERT INTO notes VALUES (?, ?, ?)", name, note, number)


# --- whatever is kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "é\N{COMBINING ACUTE ACCENT} 東京 😀 \N{RIGHT-TO-LEFT OVERRIDE}",
        "100 % of %s, ? and ?",
        "'; DROP TABLE notes; --",
        "\"\\'\n\r\t\x01\x7f",
        "\N{BYTE ORDER MARK}\ufffe\U0010ffff",
        "x" * 2**20,
        "😀" * 2**18,
    ],
    ids=range(8),
)
def test_a_text_comes_back_letter_for_letter(open_place: OpenStore, text: str) -> None:
    store = open_place(NOTES)
    write_note(store, "a", text)
    assert kept(store) == [("a", text, None)]
    with store.reading() as run:
        assert run("SELECT n FROM notes WHERE note = ?", text) == [(None,)]
        assert run("SELECT n FROM notes WHERE note = ?", f"{text}x") == []


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "x\udfff", "\udc80" * 3])
@pytest.mark.parametrize("way", ["reading", *WAYS])
def test_a_text_that_no_database_holds_is_refused_in_one_sentence(open_place: OpenStore, way: str, text: str) -> None:
    store = open_place(NOTES)
    begin: Transaction = getattr(store, way)
    with pytest.raises(UsageError, match=r"^a text cannot be kept that holds a NUL character or half of a") as refused:
        look_up(begin, text)
    assert refused.value.fields == {}
    write_note(store, "a")


def look_up(begin: Transaction, value: str | int) -> None:
    with begin() as run:
        run("SELECT n FROM notes WHERE name = ?", "a")
        run("SELECT n FROM notes WHERE CAST(n AS text) = ?", value)


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63 - 1, -(2**63) + 1])
def test_a_number_of_64_bits_comes_back(open_place: OpenStore, number: int) -> None:
    store = open_place(NOTES)
    write_note(store, "a", number=number)
    assert kept(store) == [("a", None, number)]


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, 10**5_000], ids=range(4))
def test_a_longer_number_is_refused_in_one_sentence(open_place: OpenStore, number: int) -> None:
    store = open_place(NOTES)
    with pytest.raises(UsageError, match=r"^a number cannot be kept that is longer than 64 bits"):
        write_note(store, "a", number=number)
    assert kept(store) == []


def test_what_is_stored_is_in_no_error(open_place: OpenStore) -> None:
    store = open_place(NOTES)
    write_note(store, "hunter2", "secret words")
    faults = (
        ("INSERT INTO notes VALUES (?, ?, ?)", ("hunter2", "secret words", 7)),
        ("INSERT INTO notes VALUES ('hunter2', 'secret words', 7)", ()),
        ("SELECT CAST(note AS bigint) / 0 FROM notes, hunter2", ()),
    )
    for statement, values in faults:
        with pytest.raises(RecordsUnavailable) as refused, store.writing() as run:
            run(statement, *values)
        told = f"{refused.value} {refused.value!r} {refused.value.to_dict()}"
        assert refused.value.message.startswith("what this office keeps of people and jobs cannot be used: ")
        for secret in ("hunter2", "secret", "words", "notes"):
            assert secret not in told
        assert refused.value.__suppress_context__
    assert kept(store) == [("hunter2", "secret words", None)]


# --- where they are -------------------------------------------------------------------------------------------------


def test_a_workspace_has_them_where_its_ledger_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.create(tmp_path / "w")
    store = open_store(workspace, counting())
    assert not (workspace.path / "office.sqlite").exists(), "it is made when it is first needed"
    assert counted(store) == 0
    store.close()
    assert (workspace.path / "office.sqlite").stat().st_mode & 0o777 == 0o600
    shared = Workspace.create(
        tmp_path / "shared", settings=WorkspaceSettings(LedgerSettings("postgres", "DISCREET_ABSENT_DSN"))
    )
    monkeypatch.delenv("DISCREET_ABSENT_DSN", raising=False)
    with pytest.raises(RecordsUnavailable, match="environment variable 'DISCREET_ABSENT_DSN' is not set"):
        counted(open_store(shared, counting()))
    assert not (shared.path / "office.sqlite").exists()


def test_no_driver_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys; from discreet.stores import Tables, open_store; assert not {'sqlite3', 'psycopg'} & {*sys.modules}"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
