"""Tables that stay in PostgreSQL or Spark: registered, refused when they do not fit, and asked, by command."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from tests.cli.clinic import CARD, ROWS, Run
from tests.conformance.engines.conftest import spark_connect, spark_master

__all__ = ["spark_connect", "spark_master"]

TABLE = ("--engine", "postgres", "--dsn-env", "CLINIC_DSN", "--table", "clinic.patients", "--card", "clinic.yaml")
SQL = "SELECT town, COUNT(*) AS n FROM clinic GROUP BY town"


@pytest.fixture
def house(tmp_path: Path, run: Run) -> Path:
    """A workspace and the card of the clinic, without its data."""
    (tmp_path / "clinic.yaml").write_text(CARD, encoding="utf-8")
    run("init", "w")
    return tmp_path / "w"


@pytest.fixture
def clinic_dsn(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The clinic's rows in PostgreSQL, as one would load them; for one test at a time."""
    rows = list(csv.DictReader(io.StringIO(ROWS)))
    with psycopg.connect(postgres_dsn, autocommit=True) as turn:
        turn.execute("SELECT pg_advisory_lock(20190131)")
        with psycopg.connect(postgres_dsn) as connection:
            connection.execute("DROP SCHEMA IF EXISTS clinic CASCADE")
            connection.execute("CREATE SCHEMA clinic")
            connection.execute(
                "CREATE TABLE clinic.patients "
                "(patient int, town text, smokes smallint, age float8, note varchar(9), at date)"
            )
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO clinic.patients VALUES (%(patient)s, %(town)s, %(smokes)s, %(age)s, %(note)s)", rows
                )
        monkeypatch.setenv("CLINIC_DSN", postgres_dsn)
        yield postgres_dsn


def counts(answer: dict[str, list[dict[str, int]]]) -> dict[object, int]:
    return {row["town"]: row["n"] for row in answer["rows"]}


def test_a_table_in_postgresql_answers_where_it_is(house: Path, run: Run, clinic_dsn: str) -> None:
    added = run("add", "-w", "w", *TABLE)
    assert "stay in table 'clinic.patients'" in added.out
    version = house / "datasets" / "clinic" / "v1"
    assert sorted(part.name for part in version.iterdir()) == ["card.yaml", "source.json"]
    kept = json.loads((version / "source.json").read_text(encoding="utf-8"))
    assert kept["dsn_env"] == "CLINIC_DSN"
    assert kept["types"]["age"] == "double precision"
    assert clinic_dsn not in (version / "source.json").read_text(encoding="utf-8")
    answer = run("query", "-w", "w", SQL, "--epsilon", "1", "--format", "json").json()
    # Noise of scale 1 strays this far with a chance below 10^-17.
    assert abs(counts(answer)["N"] - 2000) < 40
    assert abs(counts(answer)["S"] - 1000) < 40
    assert run("add", "-w", "w", *TABLE, code=1).err.startswith("Refused")
    assert "version 2" in run("add", "-w", "w", *TABLE, "--replace").out
    assert "no ingest report" in run("show", "clinic", "-w", "w", "--custodian", code=1).err


def test_a_table_that_postgresql_prepares_is_refreshed(house: Path, run: Run, clinic_dsn: str) -> None:
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("DROP SCHEMA IF EXISTS clinic_made CASCADE")
        connection.execute("CREATE SCHEMA clinic_made")
    missing = run("add", "-w", "w", *TABLE, "--materialise", "nowhere", code=1)
    assert "CREATE SCHEMA" in missing.err
    added = run("add", "-w", "w", *TABLE, "--materialise", "clinic_made")
    assert "prepared rows are in postgres, in clinic_made.discreet_clinic_" in added.out
    assert "discreet refresh -w w clinic" in added.out
    assert abs(counts(run("query", "-w", "w", SQL, "--epsilon", "0.5", "--format", "json").json())["N"] - 2000) < 80
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("UPDATE clinic.patients SET town = 'S'")
    assert "'clinic' is now version 2" in run("refresh", "-w", "w", "clinic").out
    answer = run("query", "-w", "w", SQL, "--epsilon", "0.5", "--format", "json").json()
    assert answer["version"] == 2
    assert abs(counts(answer)["S"] - 3000) < 80
    assert "--changed-by goes with --materialise" in run("add", "-w", "w", *TABLE, "--changed-by", "at", code=2).err
    assert "go with --engine" in run("add", "-w", "w", "x.csv", "--materialise", "s", code=2).err
    healthy = run("doctor", "-w", "w", "--format", "json", code=None).json()
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("DROP SCHEMA clinic_made CASCADE")
    ill = run("doctor", "-w", "w", "--format", "json", code=None).json()
    found = [
        next(check["status"] for check in report["checks"] if check["code"] == "dataset") for report in (healthy, ill)
    ]
    assert found == ["ok", "failed"]


def test_rows_that_break_a_complete_column_are_left_out_where_they_are(
    tmp_path: Path, house: Path, run: Run, clinic_dsn: str
) -> None:
    card = CARD.replace("S: {en: South, fr: Sud}}", "S: {en: South, fr: Sud}}, complete: true")
    (tmp_path / "clinic.yaml").write_text(card, encoding="utf-8")
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("UPDATE clinic.patients SET town = 'Z' WHERE patient <= 300")
    run("add", "-w", "w", *TABLE)
    answer = counts(run("query", "-w", "w", SQL, "--epsilon", "1", "--format", "json").json())
    assert list(answer) == ["N", "S"]
    assert abs(sum(answer.values()) - 2700) < 80  # as above, for two cells
    assert run("show", "clinic", "-w", "w", "--custodian", "--format", "json").json() == {"incomplete": {"town": 300}}


def test_tables_that_do_not_fit_are_refused(tmp_path: Path, house: Path, run: Run, clinic_dsn: str) -> None:
    def add(*words: str, code: int = 1, **change: str) -> str:
        text = CARD
        for old, new in change.items():
            text = text.replace(old, new)
        (tmp_path / "clinic.yaml").write_text(text, encoding="utf-8")
        return run("add", "-w", "w", *(words or TABLE), code=code).err

    other = (*TABLE[:5], "clinic.persons", *TABLE[6:])
    assert "table 'clinic.persons' is not there" in add(*other)
    assert "lacks column 'smoke' (did you mean 'smokes'?)" in add(smokes="smoke")
    assert "'at' of type date" in add(note="at")
    assert "go with --engine" in add("--table", "clinic.patients", code=2)
    assert "takes --table and --card" in add("--engine", "postgres", "--table", "t", "--dsn-env", "X", code=2)
    assert not (house / "datasets" / "clinic").exists()
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("INSERT INTO clinic.patients VALUES (1, 'S', 1, 30, 'n')")
    assert "rows differ in 'town'" in add()


def test_what_a_server_says_of_its_rows_is_not_shown(house: Path, run: Run, clinic_dsn: str) -> None:
    with psycopg.connect(clinic_dsn) as connection:
        connection.execute("INSERT INTO clinic.patients VALUES (4711, 'N', 1, 30, 'cancer')")
        connection.execute(
            "CREATE VIEW clinic.broken AS SELECT CAST(note AS integer) AS patient, town, smokes, age, note "
            "FROM clinic.patients WHERE patient = 4711"
        )
    refused = run("add", "-w", "w", *TABLE[:5], "clinic.broken", *TABLE[6:], code=1).err
    assert "could not be read: InvalidTextRepresentation" in refused
    assert "cancer" not in refused
    assert not (house / "datasets" / "clinic").exists()


def test_a_server_that_cannot_be_reached_is_named_without_its_password(
    house: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = run("add", "-w", "w", *TABLE, code=1).err
    assert "EngineUnavailable: the rows are in PostgreSQL and the environment variable 'CLINIC_DSN' is not set" in unset
    monkeypatch.setenv("CLINIC_DSN", "host=127.0.0.1 port=1 user=me password=hunter2 connect_timeout=2")
    closed = run("add", "-w", "w", *TABLE, code=1)
    assert "EngineUnavailable: PostgreSQL (variable 'CLINIC_DSN') cannot be used" in closed.err
    assert "hunter2" not in closed.err + closed.out
    assert not (house / "datasets" / "clinic").exists()


@pytest.mark.long
@pytest.mark.parametrize("way", ["spark_master", "spark_connect"])
def test_a_table_in_spark_answers_where_it_is(
    tmp_path: Path, house: Path, process: Run, request: pytest.FixtureRequest, way: str
) -> None:
    """In processes of their own: two kinds of Spark session do not get on in one."""
    remote = request.getfixturevalue(way)
    (tmp_path / "lake").mkdir()
    pq.write_table(pa_csv.read_csv(pa.BufferReader(ROWS.encode())), tmp_path / "lake" / "part.parquet")
    table = f"parquet.`{tmp_path / 'lake'}`"
    words = ("add", "-w", "w", "--engine", "spark", "--remote", remote, "--card", "clinic.yaml", "--table")
    added = process(*words, table)
    assert [line[:14] for line in added.err.splitlines()] == ["New population"]
    answer = process("query", "-w", "w", SQL, "--epsilon", "1", "--format", "json")
    assert answer.err == ""
    assert abs(counts(answer.json())["N"] - 2000) < 40
    assert abs(counts(answer.json())["S"] - 1000) < 40
    if way == "spark_connect":  # a driver of its own takes a while to start
        assert "table 'nowhere.rows' is not there" in process(*words, "nowhere.rows", "--replace", code=1).err


def test_a_spark_that_does_not_answer_is_refused_at_once(house: Path, run: Run) -> None:
    words = ("--engine", "spark", "--remote", "sc://127.0.0.1:1", "--table", "t", "--card", "clinic.yaml")
    refused = run("add", "-w", "w", *words, code=None)
    assert refused.code in {1, 2}
    assert "ExtraMissing" in refused.err or "nobody answers there" in refused.err
