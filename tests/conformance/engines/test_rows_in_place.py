"""Raw tables in PostgreSQL, asked where they are: how many rows of a unit count, which, and what is made of them."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from random import Random
from typing import Any

import psycopg
import pytest

from discreet.cards.card import Card, parse_card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.engine import Engine
from discreet.engines.in_place.bounded_rows import RawTable
from discreet.engines.in_place.postgres_dialect import POSTGRES, Postgres
from discreet.engines.in_place.postgres_tables import PostgresRows
from discreet.engines.in_place.raw_columns import valued_rows
from discreet.engines.in_place.tables_in_place import find_rows
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.sql.reader.questions import read_statement
from discreet.workspace.row_source import RowSource
from tests.conformance.engines.raw_tables import every_row, kept_rows, raw_rows, require_bounded, with_kept
from tests.sql_text import fuzz
from tests.sql_text.populations import Population, population, populations
from tests.unit.sql.catalogue import Shelf

DSN_ENV = "DISCREET_TEST_IN_PLACE_DSN"
TYPES = {"double": "double precision", "decimal": "numeric", "integer": "bigint", "text": "text"}
START, STATEMENTS = 700_000, 250


@pytest.fixture
def schema(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A schema of this test's own."""
    monkeypatch.setenv(DSN_ENV, postgres_dsn)
    name = f"raw_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield name
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def fill(dsn: str, table: str, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> None:
    listed = ", ".join(f"{POSTGRES.name(name)} {kind}" for name, kind in columns.items())
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {table}".encode())
        connection.execute(f"CREATE TABLE {table} ({listed})".encode())
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)


def source_of(table: str) -> RowSource:
    bare = RowSource("postgres", dsn_env=DSN_ENV, table=table)
    reader = PostgresRows(bare)
    types = tuple(reader.columns(table).items())
    reader.close()
    return RowSource("postgres", dsn_env=DSN_ENV, table=table, types=types)


def load(dsn: str, schema: str, people: Population, *, seed: int = 0) -> dict[str, RowSource]:
    found = {}
    for name in people.cards:
        forms, rows = raw_rows(people, name, seed=seed)
        table = f"{schema}.{name}_{people.number}"
        fill(dsn, table, {column: TYPES[form] for column, form in forms.items()}, [tuple(row.values()) for row in rows])
        found[name] = source_of(table)
    return found


def rows_of(source: RowSource, card: Card, dialect: InPlaceDialect = POSTGRES, **changes: Any) -> RawTable:
    assert source.table is not None
    parts = {"relation": POSTGRES.table(source.table), "types": source.type_of, "salt": "00ff", **changes}
    return RawTable(dialect, card, **parts)


def read(rows: RawTable, source: RowSource) -> list[tuple[Any, ...]]:
    reader = PostgresRows(source)
    try:
        return kept_rows(rows, reader)
    finally:
        reader.close()


def test_a_unit_counts_with_at_most_k_of_its_own_rows(postgres_dsn: str, schema: str) -> None:
    for people in populations():
        for name, source in load(postgres_dsn, schema, people).items():
            kept = read(rows_of(source, people.cards[name]), source)
            require_bounded(people.cards[name], every_row(people, name), kept)


def test_which_rows_count_depends_on_the_unit_alone(postgres_dsn: str, schema: str) -> None:
    """Other orders, other units, few long units or so many that all rows are ranked: the same rows."""

    class ListsNone(Postgres):
        most_listed = 0

    for people in populations():
        found: list[dict[tuple[str, object], list[str]]] = []
        gone = list(people.units)[::2]
        fewer = with_kept(
            people, {name: [r for r in every_row(people, name) if r[0] not in gone] for name in people.cards}
        )
        for population_, dialect, still, seed in (
            (people, POSTGRES, True, 0),
            (people, ListsNone(), True, 1),
            (people, POSTGRES, False, 2),
            (fewer, POSTGRES, True, 3),
        ):
            sources = load(postgres_dsn, schema, population_, seed=seed)
            by_unit: dict[tuple[str, object], list[str]] = {}
            for name, source in sources.items():
                for row in read(rows_of(source, people.cards[name], dialect, still=still), source):
                    by_unit.setdefault((name, row[0]), []).append(str(row))
            found.append({unit: sorted(rows) for unit, rows in by_unit.items()})
        whole, *others, rest = found
        assert all(other == whole for other in others)
        assert rest == {unit: rows for unit, rows in whole.items() if unit[1] not in gone}


def test_rows_of_one_hash_are_told_apart_by_what_they_hold(postgres_dsn: str, schema: str) -> None:
    class HashesAlike(Postgres):
        def own_digest(self, held: Any, salt: str) -> str:
            return "0"

    people, name = population(0), "b"  # three rows count, and some units have more
    kept = []
    for seed in range(4):
        source = load(postgres_dsn, schema, people, seed=seed)[name]
        kept.append(sorted(map(str, read(rows_of(source, people.cards[name], HashesAlike()), source))))
    assert all(rows == kept[0] for rows in kept)


def test_statements_over_raw_rows_are_answered_as_they_read(
    postgres_dsn: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[int, tuple[Population, Engine]] = {}

    def prepared(number: int) -> Population:
        if number not in opened:
            people = population(number)
            sources = load(postgres_dsn, schema, people)
            kept = {name: read(rows_of(source, people.cards[name]), source) for name, source in sources.items()}
            first = next(iter(sources.values()))
            engine = TabularEngine(
                {name: find_rows(source, people.cards[name], salt="00ff") for name, source in sources.items()},
                dialect=POSTGRES,
                connect=lambda: PostgresRows(first),
            )
            opened[number] = with_kept(people, kept), engine
        return opened[number][0]

    monkeypatch.setattr(fuzz, "population", prepared)
    result = fuzz.run(range(START, START + STATEMENTS), lambda people: opened[people.number][1], attacked=0)
    assert not result.violations, str(result)
    assert result.share >= 0.6, str(result)


def test_a_unit_counts_once_under_every_spelling_of_a_code(postgres_dsn: str, schema: str) -> None:
    card = parse_card(PEOPLE.replace("rows: 1", "rows: 3") + "  town: {kind: category, categories: [N, S]}\n", file="p")
    table = f"{schema}.people"
    rows = [(1, 1, "N"), (1, 2, " N"), (1, 3, "N\t"), (2, 4, "N"), (3, 5, "S"), (3, 6, "s"), (4, 7, None)]
    fill(postgres_dsn, table, {"who": "int", "x": "int", "town": "text"}, rows)
    source = source_of(table)
    engine = TabularEngine(
        {"people": find_rows(source, card, salt="00ff")}, dialect=POSTGRES, connect=lambda: PostgresRows(source)
    )
    sql = "SELECT town, COUNT(*), COUNT(DISTINCT who) FROM people GROUP BY town"
    plan = read_statement(sql, Shelf({"people": card}, public={}))[0].plan
    rows_counted, units = (list(column) for column in engine.measure(plan).columns)
    assert (rows_counted, units) == ([4, 1, 2], [2, 1, 2])


NAMES = {"who": "c0", "town": "g", "kind": "ord", "age": "v0", "pay": "q", "paid": "u", "note": "k1"}
"""What raw columns are called, and what statements call their own on the way to an answer."""

CALLED = """
dataset: people
unit: {{column: who, rows: 2}}
neighbours: add-remove
budget: {{epsilon: 1}}
columns:
  who: {{kind: id, type: {ids}, source: {who}}}
  town: {{kind: category, {public}categories: [N, S], source: {town}}}
  kind: {{kind: category, categories: [a, b, c], source: {kind}}}
  age: {{kind: integer, bounds: [0, 120], source: {age}}}
  pay: {{kind: number, bounds: [0, 900], step: 0.5, source: {pay}}}
  paid: {{kind: number, bounds: [0, 900], step: 0.01, source: {paid}}}
  note: {{kind: category, categories: [x, y], source: {note}}}
"""
ASKED = (
    "SELECT COUNT(*), COUNT(DISTINCT who), SUM(age), SUM(pay), SUM(paid) FROM people",
    "SELECT town, kind, COUNT(*), SUM(age) FROM people GROUP BY town, kind",
    "SELECT note, SUM(paid) FROM people WHERE age > 30 GROUP BY note",
    "SELECT kind, COUNT(*) FROM people WHERE note = 'x' GROUP BY kind",
    "SELECT SUM(n) FROM (SELECT who, MAX(age) AS n FROM people GROUP BY who) AS t",
)


@pytest.mark.parametrize("ids", ["integer", "text"])
@pytest.mark.parametrize("public", ["", "public: true, "])
@pytest.mark.parametrize("listed", [POSTGRES.most_listed, 0])
def test_columns_called_as_the_statement_calls_its_own_are_ranked_all_the_same(
    postgres_dsn: str, schema: str, monkeypatch: pytest.MonkeyPatch, ids: str, public: str, listed: int
) -> None:
    monkeypatch.setattr(Postgres, "most_listed", listed)
    random, rows = Random(3), []
    for number in range(400):
        who = random.randrange(90)
        town = "NS"[who % 2] if who % 7 else random.choice("NS")
        paid = Decimal(random.randrange(90_000)) / 100
        spelled = random.choice(["x", " x", "y", None])
        rows.append((str(who), town, random.choice("abc"), number % 120, random.random() * 900, str(paid), spelled))
    kinds = ("bigint" if ids == "integer" else "text", "text", "text", "integer", "float8", "text", "text")
    found = []
    for names in ({name: name for name in NAMES}, NAMES):
        table = f"{schema}.people"
        fill(postgres_dsn, table, dict(zip(names.values(), kinds, strict=True)), rows)
        source, card = source_of(table), parse_card(CALLED.format(ids=ids, public=public, **names), file="p.yaml")
        engine = TabularEngine(
            {"people": find_rows(source, card, salt="00ff")}, dialect=POSTGRES, connect=partial(PostgresRows, source)
        )
        answers: list[Any] = [sorted(read(rows_of(source, card), source), key=str)]
        for sql in ASKED:
            plan = read_statement(sql, Shelf({"people": card}, public={}))[0].plan
            answers.append([list(column) for column in engine.measure(plan).columns])
        engine.close()
        found.append(answers)
    ordinary, hostile = found
    assert hostile == ordinary
    assert max(Counter(row[0] for row in ordinary[0]).values()) == 2
    assert len(ordinary[0]) < len(rows)


def test_wrong_bounding_is_found(postgres_dsn: str, schema: str) -> None:
    class HashesThePlace(Postgres):
        def own_digest(self, held: Any, salt: str) -> str:
            return "random()"

    class ListsHalf(Postgres):
        def listed_units(self, units: Any) -> str:
            return super().listed_units(units[: len(units) // 2] or [units[0], units[0]])

    people = population(0)
    sources = load(postgres_dsn, schema, people)
    name = "b"  # three rows count, and some units have more
    card, source = people.cards[name], sources[name]
    every = every_row(people, name)
    require_bounded(card, every, read(rows_of(source, card), source))
    with pytest.raises(AssertionError):
        require_bounded(card, every, read(rows_of(source, card, ListsHalf()), source))
    with pytest.raises(AssertionError):
        require_bounded(card, every, read(rows_of(source, card, unique=frozenset({"person_id"})), source))
    reads = {str(sorted(map(str, read(rows_of(source, card, HashesThePlace()), source)))) for _ in range(8)}
    assert len(reads) > 1


# --- what the catalogue vouches for -----------------------------------------------------------------------------------

PEOPLE = """
dataset: people
unit: {column: who, rows: 1}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  who: {kind: id, type: integer}
  x: {kind: integer, bounds: [0, 9]}
"""
UNIQUE = [
    ("CREATE TABLE {t} (who int PRIMARY KEY, x int)", True),
    ("CREATE TABLE {t} (who bigint UNIQUE, x int)", True),
    ("CREATE TABLE {t} (who numeric UNIQUE, x int)", True),
    ("CREATE TABLE {t} (who int, x int); CREATE UNIQUE INDEX ON {t} (who) INCLUDE (x)", True),
    ("CREATE TABLE {t} (who int PRIMARY KEY, x int) PARTITION BY HASH (who); "
     "CREATE TABLE {t}_p PARTITION OF {t} FOR VALUES WITH (MODULUS 1, REMAINDER 0)", True),
    ("CREATE TABLE {t} (who int, x int)", False),
    ("CREATE TABLE {t} (who text PRIMARY KEY, x int)", False),
    ("CREATE TABLE {t} (who int, x int); CREATE INDEX ON {t} (who)", False),
    ("CREATE TABLE {t} (who int, x int); CREATE UNIQUE INDEX ON {t} (who, x)", False),
    ("CREATE TABLE {t} (who int, x int); CREATE UNIQUE INDEX ON {t} (abs(who))", False),
    ("CREATE TABLE {t} (who int, x int); CREATE UNIQUE INDEX ON {t} (who) WHERE x > 0", False),
    ("CREATE TABLE {t} (who int UNIQUE DEFERRABLE INITIALLY DEFERRED, x int)", False),
    ("CREATE TABLE {t} (who int PRIMARY KEY, x int); CREATE TABLE {t}_c () INHERITS ({t})", False),
    ("CREATE TABLE {t}_b (who int PRIMARY KEY, x int); CREATE VIEW {t} AS SELECT * FROM {t}_b", False),
    ("CREATE TABLE {t}_b (who int, x int); CREATE MATERIALIZED VIEW {t} AS SELECT * FROM {t}_b; "
     "CREATE UNIQUE INDEX ON {t} (who)", False),
]  # fmt: skip


@pytest.mark.parametrize(("ddl", "expected"), UNIQUE)
def test_a_unique_index_on_the_unit_and_no_other_spares_the_counting(
    postgres_dsn: str, schema: str, ddl: str, expected: bool
) -> None:
    table = f"{schema}.people"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        for statement in ddl.format(t=table).split("; "):
            connection.execute(statement.encode())
    source = source_of(table)
    reader = PostgresRows(source)
    try:
        rows = find_rows(source, parse_card(PEOPLE, file="p.yaml"), salt="00ff")(reader)
    finally:
        reader.close()
    assert isinstance(rows, RawTable)
    assert rows.one_each is expected
    assert (rows.long_units is None) is (expected or not rows.still)


STILL = [
    ("CREATE TABLE {t} (who int, x int)", True),
    ("CREATE TABLE {t}_b (who int, x int); CREATE MATERIALIZED VIEW {t} AS SELECT * FROM {t}_b", True),
    ("CREATE TABLE {t} (who int, x int); CREATE TABLE {t}_c () INHERITS ({t})", True),
    ("CREATE TABLE {t}_b (who int, x int); CREATE VIEW {t} AS SELECT * FROM {t}_b WHERE random() < 0.5", False),
    ("CREATE TABLE {t} (who int, x int); ALTER TABLE {t} ENABLE ROW LEVEL SECURITY", False),
    ("CREATE FOREIGN DATA WRAPPER w{n}; CREATE SERVER s{n} FOREIGN DATA WRAPPER w{n}; "
     "CREATE FOREIGN TABLE {t} (who int, x int) SERVER s{n}", False),
    ("CREATE FOREIGN DATA WRAPPER w{n}; CREATE SERVER s{n} FOREIGN DATA WRAPPER w{n}; "
     "CREATE TABLE {t} (who int, x int) PARTITION BY HASH (who); "
     "CREATE FOREIGN TABLE {t}_f PARTITION OF {t} FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER s{n}", False),
]  # fmt: skip


@pytest.mark.parametrize(("ddl", "still"), STILL)
def test_what_may_differ_between_two_reads_is_ranked_whole(
    postgres_dsn: str, schema: str, ddl: str, still: bool
) -> None:
    table = f"{schema}.people"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        try:
            for statement in ddl.format(t=table, n=schema).split("; "):
                connection.execute(statement.encode())
            source = source_of(table)
            reader = PostgresRows(source)
            assert reader.pin(table).still is still
            reader.close()
        finally:
            connection.execute(f"DROP FOREIGN DATA WRAPPER IF EXISTS w{schema} CASCADE".encode())


def test_an_index_that_is_dropped_is_not_relied_on_any_more(postgres_dsn: str, schema: str) -> None:
    table = f"{schema}.people"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} (who int CONSTRAINT one PRIMARY KEY, x int)".encode())
        connection.execute(f"INSERT INTO {table} VALUES (1, 1), (2, 2)".encode())
    card, source = parse_card(PEOPLE, file="p.yaml"), source_of(table)
    engine = TabularEngine(
        {"people": find_rows(source, card, salt="00ff")}, dialect=POSTGRES, connect=lambda: PostgresRows(source)
    )
    plan = read_statement("SELECT COUNT(*) FROM people", Shelf({"people": card}, public={}))[0].plan
    assert list(engine.measure(plan).columns[0]) == [2]
    engine.prepare(plan)
    try:
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute("SET lock_timeout = '5s'")  # a question that waits for its charge holds no lock
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT one".encode())
            connection.execute(f"INSERT INTO {table} SELECT 1, 3 FROM generate_series(1, 50)".encode())
        assert list(engine.measure(plan).columns[0]) == [2]
    finally:
        engine.close()


def test_two_texts_that_are_one_id_are_one_unit_under_a_unique_index(postgres_dsn: str, schema: str) -> None:
    table = f"{schema}.people"
    fill(postgres_dsn, table, {"who": "text UNIQUE", "x": "int"}, [("7", 1), (" 7", 2), ("7.0", 3), ("8", 4)])
    source = source_of(table)
    kept = read(rows_of(source, parse_card(PEOPLE, file="p.yaml"), unique=frozenset({"who"})), source)
    assert sorted(row[0] for row in kept) == [7, 8]


# --- doubles ----------------------------------------------------------------------------------------------------------

DOUBLES = """
dataset: people
unit: {{column: who, rows: 1}}
neighbours: add-remove
budget: {{epsilon: 1}}
columns:
  who: {{kind: id, type: integer}}
  x: {{kind: number, bounds: [{low}, {high}], step: {step}, missing: [-7.7, 99.99]}}
"""


@pytest.mark.parametrize(
    ("low", "high", "step"), [("0", "250000", "0.01"), ("-1.5", "400", "0.05"), ("-9", "9", "0.5")]
)
def test_doubles_are_rounded_by_their_shortest_decimal(
    postgres_dsn: str, schema: str, low: str, high: str, step: str
) -> None:
    """Every midpoint of the grid and the doubles beside it, where a product of floats decides wrongly."""
    random, size, (bottom, top) = Random(19), Decimal(step), (Decimal(low), Decimal(high))
    steps = [random.randint(int(bottom / size) - 2, int(top / size) + 2) for _ in range(4_000)]
    middles = [float((2 * number + 1) * size / 2) for number in steps]
    values = [
        v for middle in middles for v in (math.nextafter(middle, -math.inf), middle, math.nextafter(middle, math.inf))
    ]
    values += [random.uniform(float(bottom), float(top)) for _ in range(4_000)]
    values += [-7.7, 99.99, math.inf, -math.inf, math.nan, 1e308, -1e308, 0.0, -0.0, 5e-324]
    table = f"{schema}.people"
    fill(postgres_dsn, table, {"who": "bigint PRIMARY KEY", "x": "float8"}, list(enumerate(values)))
    source = source_of(table)
    card = parse_card(DOUBLES.format(low=low, high=high, step=step), file="p.yaml")
    rows = rows_of(source, card, unique=frozenset({"who"}))
    sql = valued_rows(POSTGRES, card, relation=rows.relation, types=rows.types, columns=["x"])
    assert "split_part" not in sql, "these columns are read in one expression"
    found = dict(read(rows, source))
    for number, value in enumerate(values):
        assert found[number] == _steps(value, bottom, top, size), value.hex()


def _steps(value: float, low: Decimal, high: Decimal, step: Decimal) -> int | None:
    if not math.isfinite(value) or value in (-7.7, 99.99):
        return None
    shortest = min(max(Decimal(repr(value)), low), high)
    return int((shortest / step).to_integral_value(ROUND_HALF_UP))
