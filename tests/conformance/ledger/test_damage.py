"""Damage of any kind is told as damage: one changed byte, a changed column, a log or a file cut short."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from random import randrange
from typing import Any, Final

import pytest

from discreet.errors import LedgerDamaged, LedgerUnavailable, RequestConflict
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, create_ledger, open_ledger
from discreet.ledger.chain_stores.store import FORMAT, KNOWN_FORMATS

Request = Callable[..., SpendRequest]
WHERE: Final[dict[str, Any]] = {"population": "cchs", "dataset": "survey", "version": 1, "plan_hash": "a" * 64}
SMALL_PAGE: Final = 512


def fill(ledger: Ledger, make_request: Request) -> None:
    for number in range(2):
        ledger.commit_answer(ledger.spend(make_request(f"r{number}")), f"answer {number}".encode())
    stored = ledger.find_answer(**WHERE)
    assert stored is not None
    ledger.replay(stored, analyst="ben", request_id="b1")
    ledger.spend(make_request("open"))


def uses(make_request: Request) -> dict[str, Callable[[Ledger], object]]:
    """Every use of a ledger; each gives something that can be compared."""

    def replay(ledger: Ledger) -> object:
        stored = ledger.find_answer(**WHERE, analyst="ada")
        assert stored is not None
        return ledger.replay(stored, analyst="ada", request_id="again").answer

    return {
        "state": lambda ledger: ledger.state("cchs").to_dict(),
        "log": lambda ledger: [event.hash for event in ledger.log()],
        "find": lambda ledger: ledger.find_answer(**WHERE, analyst="ben"),
        "met": lambda ledger: ledger.spend(make_request("r0")).answer,
        "open": lambda ledger: ledger.spend(make_request("open")).answer,
        "spend": lambda ledger: ledger.spend(make_request("new")).population_after,
        "replay": replay,
        "verify": lambda ledger: ledger.verify().answers,
    }


def outcomes(config: LedgerConfig, make_request: Request) -> dict[str, object]:
    """What each use gives; a refusal in our words is its class, and anything else raised is a fault of ours."""
    given: dict[str, object] = {}
    try:
        ledger = open_ledger(config)
    except (LedgerDamaged, LedgerUnavailable) as refusal:
        return {"opening": type(refusal)}
    with ledger:
        for name, use in uses(make_request).items():
            try:
                given[name] = use(ledger)
            except (LedgerDamaged, LedgerUnavailable) as refusal:
                given[name] = type(refusal)
            except (AssertionError, RequestConflict):  # the charge that was met before is not found
                given[name] = None
    return given


def is_refusal(given: object) -> bool:
    return given in (LedgerDamaged, LedgerUnavailable)


@pytest.fixture
def small(config: LedgerConfig, make_request: Request, make_terms: Any) -> LedgerConfig:
    """A ledger in one small file, with pages so small that there are many of them."""
    assert config.path is not None
    with create_ledger(config) as ledger:
        ledger.register(make_terms())
        ledger.give_version("cchs", "survey", above=0, who="custodian")
        for name in ("ada", "ben"):
            ledger.add_analyst(name, who="custodian")
        fill(ledger, make_request)
    store = sqlite3.connect(config.path, isolation_level=None)
    for statement in ("journal_mode = DELETE", f"page_size = {SMALL_PAGE}"):
        store.execute(f"PRAGMA {statement}").fetchall()
    store.execute("VACUUM")
    store.execute("PRAGMA journal_mode = WAL").fetchall()
    store.close()
    return config


def sweep(config: LedgerConfig, make_request: Request, places: Iterable[int], *, suffix: str = "") -> int:
    """Change one byte at a time. What is not refused is right, or `verify` says that it is not."""
    assert config.path is not None
    assert config.anchor_path is not None
    kept = {
        path: path.read_bytes() for path in (*sorted(config.path.parent.glob("ledger.sqlite*")), config.anchor_path)
    }
    target = Path(f"{config.path}{suffix}")

    def restore() -> None:
        for path in config.path.parent.glob("ledger.sqlite*") if config.path is not None else ():
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content)

    right = outcomes(config, make_request)
    assert not any(map(is_refusal, right.values())), right
    refused = 0
    for place in places:
        restore()
        flipped = bytearray(kept[target])
        flipped[place] ^= 0xFF if place % 3 == 0 else 1 << place % 8
        target.write_bytes(flipped)
        given = outcomes(config, make_request)
        refused += any(map(is_refusal, given.values()))
        wrong = [name for name, value in given.items() if not is_refusal(value) and value != right[name]]
        assert not wrong or is_refusal(given["verify"]), (place, wrong)
    restore()
    return refused


def inhabited(content: bytes) -> list[int]:
    """Bytes that are not in the midst of unused room."""
    return [place for place in range(len(content)) if any(content[max(0, place - 4) : place + 5])]


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_changed_byte_is_damage_and_no_fault_of_ours(small: LedgerConfig, make_request: Request) -> None:
    assert small.path is not None
    content = small.path.read_bytes()
    places = [*range(0, 100, 7), *inhabited(content)[100::131]]
    assert sweep(small, make_request, places) > len(places) // 3


@pytest.mark.long
@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_one_byte_in_eight_is_damage_and_no_fault_of_ours(small: LedgerConfig, make_request: Request) -> None:
    """Others in every run: in a dozen or two all of them."""
    assert small.path is not None
    places = inhabited(small.path.read_bytes())[randrange(8) :: 8]
    assert sweep(small, make_request, places) > len(places) // 3


@pytest.fixture
def logged(small: LedgerConfig, make_request: Request, tmp_path: Path) -> LedgerConfig:
    """The same ledger while its newest events are in the write-ahead log."""
    assert small.path is not None
    folder = tmp_path / "logged"
    folder.mkdir()
    with open_ledger(small) as ledger:
        ledger.commit_answer(ledger.spend(make_request("late")), b"late answer")
        for suffix in ("", "-wal"):
            shutil.copy(f"{small.path}{suffix}", folder / f"{small.path.name}{suffix}")
    return replace(small, path=folder / small.path.name)


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_changed_byte_of_the_log_is_damage(logged: LedgerConfig, make_request: Request) -> None:
    size = Path(f"{logged.path}-wal").stat().st_size
    places = [*range(0, 80, 11), *range(80, size, 331)]
    assert sweep(logged, make_request, places, suffix="-wal") > len(places) // 3


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_a_log_or_file_cut_short_is_damage(logged: LedgerConfig, make_request: Request) -> None:
    assert logged.path is not None
    log = Path(f"{logged.path}-wal")
    whole = {path: path.read_bytes() for path in (logged.path, log)}
    for path, content in whole.items():
        for length in (0, 10, len(content) // 2, len(content) - 1):
            for other, kept in whole.items():
                other.write_bytes(kept)
            path.write_bytes(content[:length])
            Path(f"{logged.path}-shm").unlink(missing_ok=True)
            assert outcomes(logged, make_request) == {"opening": LedgerDamaged}, (path.suffix, length)


# Columns

DEEP: Final = "[" * 3000
BODIES: Final = (
    *("", "{", "null", "[]", "5", "{}", DEEP, '{"a":' * 3000, "9" * 5000, '{"a":1e999}', '"\\ud800"'),
    '{"kind":"charge"}',
    '{"kind":5,"payload":{},"population":"","previous":"","sequence":1,"when":"","who":"x"}',
)
COLUMNS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("head", "format"): ("0", "-1", "NULL"),
    ("head", "sequence"): ("0", "-5", "3", "9223372036854775807", "NULL"),
    ("head", "hash"): ("''", f"'{'é' * 32}'", f"'{'0' * 64}'", "NULL"),
    ("head", "standing"): ("''", "'{'", "'[]'", f"'{DEEP}'", "'é'", "NULL"),
    ("head", "mac"): ("''", "'é'", f"'{'0' * 64}'", "NULL"),
    ("events", "kind"): ("''", "'loan'", "'view'", "NULL"),
    ("events", "population"): ("'x'", "NULL"),
    ("events", "analyst"): ("'x'", "NULL"),
    ("events", "plan_hash"): ("'x'", "NULL"),
    ("events", "body"): (*(f"'{body}'" for body in BODIES), "NULL"),
    ("events", "hash"): ("''", "'é'", "NULL"),
    ("answers", "sha256"): ("''", "'é'", "NULL"),
    ("answers", "answer"): ("''", "X''", "NULL"),
}


def spoil(config: LedgerConfig, vandal: Any, table: str, column: str, value: str, where: str) -> bool:
    """Whether the store lets it be done, to someone who may change its rules."""
    import psycopg

    if config.store == "postgres" and value == "NULL":
        vandal.run(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
    try:
        vandal.run(f"UPDATE {table} SET {column} = {value} WHERE {where}")
    except (sqlite3.Error, psycopg.Error):
        return False
    return True


def quoted(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_column_is_damage(
    ledger: Ledger, config: LedgerConfig, make_request: Request, vandal: Any, table: str, column: str
) -> None:
    fill(ledger, make_request)
    outcomes(config, make_request)
    right = outcomes(config, make_request)
    assert not any(map(is_refusal, right.values()))
    charge = ledger.spend(make_request("r0")).sequence
    places = ["true"] if table == "head" else [f"sequence = {charge}"]
    if table == "events":
        places.append(f"sequence = {ledger.head()[0]}")
    if column == "analyst":
        del places[0]  # nobody's charge is charged anew: that is not damage that can be seen without `verify`
    done = 0
    for where in places:
        ((whole,),) = vandal.query(f"SELECT {column} FROM {table} WHERE {where}")
        for value in COLUMNS[table, column]:
            if not spoil(config, vandal, table, column, value, where):
                continue
            done += 1
            given = outcomes(config, make_request)
            assert is_refusal(given.get("opening")) or is_refusal(given["verify"]), value
            wrong = [name for name, one in given.items() if not is_refusal(one) and one != right[name]]
            assert set(wrong) <= {"find", "replay", "log"}, (value, wrong)
            if isinstance(whole, bytes):
                assert spoil(config, vandal, table, column, "CAST('answer 0' AS BLOB)", where) or spoil(
                    config, vandal, table, column, "'answer 0'::bytea", where
                )
            else:
                assert spoil(config, vandal, table, column, quoted(whole), where)
    assert done
    assert outcomes(config, make_request) == right


def test_a_format_that_is_newer_is_told_as_newer(ledger: Ledger, config: LedgerConfig, vandal: Any) -> None:
    assert FORMAT in KNOWN_FORMATS
    vandal.run(f"UPDATE head SET format = {max(KNOWN_FORMATS) + 1}")
    for attempt in (lambda: open_ledger(config), lambda: ledger.state("cchs"), ledger.verify):
        with pytest.raises(LedgerUnavailable, match="written by a newer version of Discreet: its format"):
            attempt()
    for format in (0, -1):
        vandal.run(f"UPDATE head SET format = {format}")
        with pytest.raises(LedgerDamaged, match="no known format"):
            open_ledger(config)


def test_every_write_leaves_the_format_of_this_version(
    ledger: Ledger, vandal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.chain_stores.store.KNOWN_FORMATS", frozenset({FORMAT, FORMAT + 1}))
    monkeypatch.setattr("discreet.ledger.chain_stores.store.FORMAT", FORMAT + 1)
    ledger.add_analyst("eve", who="custodian")
    assert vandal.query("SELECT format FROM head") == [(FORMAT + 1,)]


# The store's own look


@pytest.mark.parametrize("config", ["sqlite"], indirect=True)
def test_verify_includes_sqlites_own_check(small: LedgerConfig, make_request: Request) -> None:
    """An index that has lost a row: no event, hash or total is touched, and charges go unfound."""
    assert small.path is not None
    store = sqlite3.connect(small.path, isolation_level=None)
    (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'answered'").fetchone()
    (other,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'markers'").fetchone()
    store.close()
    content = bytearray(small.path.read_bytes())
    content[(page - 1) * SMALL_PAGE : page * SMALL_PAGE] = content[(other - 1) * SMALL_PAGE : other * SMALL_PAGE]
    small.path.write_bytes(content)
    with (
        open_ledger(small) as ledger,
        pytest.raises(LedgerDamaged, match="SQLite's own check of the file finds fault"),
    ):
        ledger.verify()


@pytest.mark.parametrize("config", ["postgres"], indirect=True)
def test_verify_reads_indexes_against_their_tables(ledger: Ledger, make_request: Request, vandal: Any) -> None:
    fill(ledger, make_request)
    ledger.verify()
    # A row that its index does not have, as after a crash of a server that does not sync: made by hand in the catalog.
    vandal.run(
        "UPDATE pg_index SET indisready = false WHERE indexrelid = 'plans'::regclass",
        "INSERT INTO events SELECT 999, kind, population, analyst, 'x', plan_hash, body, 'x' FROM events "
        "WHERE sequence = 6",
        "UPDATE pg_index SET indisready = true WHERE indexrelid = 'plans'::regclass",
    )
    from discreet.ledger.chain_stores.postgres_store import PostgresStore

    store = ledger._store
    assert isinstance(store, PostgresStore)
    with pytest.raises(LedgerDamaged, match="an index of PostgreSQL does not hold what its table does"):
        store.inspect()


def test_no_stored_text_is_shown(ledger: Ledger, config: LedgerConfig, make_request: Request, vandal: Any) -> None:
    fill(ledger, make_request)
    vandal.run("UPDATE events SET analyst = 'secret', population = 'secret' WHERE sequence > 5")
    attempts: list[Callable[[Ledger], object]] = [*uses(make_request).values(), lambda _: open_ledger(config)]
    for attempt in attempts:
        with pytest.raises(LedgerDamaged) as caught:
            attempt(ledger)
        assert "secret" not in str(caught.value.to_dict())
