"""Prepared rows, as SQL one can read: golden files, and names that cannot break out."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.cards.card import parse_card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.exact_values import exact_row
from discreet.engines.in_place.bounded_rows import RawTable
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.prepared_rows import prepared_rows
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.errors import Refused, UsageError
from discreet.workspace.row_source import RowSource, StoredRows, read_row_source
from tests.places import GOLDEN as _GOLDEN

GOLDEN = _GOLDEN / "rows"
SALT = "00ff00ff00ff00ff00ff00ff00ff00ff"
CARD = r"""
dataset: visits
unit: {column: person, rows: 2}
neighbours: add-remove
weight: {column: weight, cap: {by: province, values: {10: 1700, "it's": 2500}}}
budget: {epsilon: 3}
columns:
  person: {kind: id, type: integer, missing: [99]}
  card_no: {kind: id, type: text}
  province: {kind: category, categories: [10, "it's"], public: true, missing: [9]}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.001, missing: [9.996]}
  cost: {kind: number, step: 0.01}
  weight: {kind: number, bounds: [0, 15000], step: 0.01}
  smokes: {kind: integer, bounds: [0, 1]}
  note: {kind: text, source: 'no"te`', missing: ['a\b']}
"""
TYPES = {
    "postgres": ("bigint", "text", "text", "double precision", "text", "numeric(12,2)", "boolean", "text"),
    "spark": ("bigint", "string", "string", "double", "string", "decimal(12,2)", "boolean", "string"),
}
DIALECTS: dict[str, InPlaceDialect] = {"postgres": POSTGRES, "spark": SPARK}
UNREADABLE = ["text[]", "character varying(3)[]", "date", "array<string>", "bytea", "string collate UNICODE"]


def golden_sql(engine: str) -> str:
    card = parse_card(CARD, file="visits.yaml")
    types = {column.source: kind for column, kind in zip(card.columns, TYPES[engine], strict=True)}
    relation = DIALECTS[engine].table("clinic.visits")
    return prepared_rows(DIALECTS[engine], card, relation=relation, types=types, salt=SALT) + "\n"


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_the_sql_is_the_golden_file(engine: str) -> None:
    assert golden_sql(engine) == (GOLDEN / f"{engine}.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["postgres", "spark"])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_other_types_have_no_form(engine: str, kind: str) -> None:
    assert DIALECTS[engine].form(kind) is None


def test_literals_and_names_cannot_break_out() -> None:
    assert POSTGRES.card_text("a'b\\") == "'a''b\\'"
    assert SPARK.card_text("a'b\\") == "'a\\'b\\\\'"
    assert POSTGRES.name('a"b') == '"a""b"'
    assert SPARK.name("a`b") == "`a``b`"
    assert POSTGRES.table("visits") == '"public"."visits"'
    assert SPARK.table("lake.clinic.visits") == "`lake`.`clinic`.`visits`"


@pytest.mark.parametrize(
    "words",
    [
        {"engine": "oracle", "table": "t"},
        {"engine": "postgres", "table": "t"},
        {"engine": "postgres", "table": "a.b.c", "dsn_env": "D"},
        {"engine": "postgres", "table": "t; drop table u", "dsn_env": "D"},
        {"engine": "postgres", "table": "t", "dsn_env": "postgresql://me:secret@host/db"},
        {"engine": "postgres", "table": "t", "dsn_env": "D", "remote": "local[2]"},
        {"engine": "spark", "table": "t"},
        {"engine": "spark", "table": "parquet.`a`b`", "remote": "local[2]"},
        {"engine": "spark", "table": "t", "remote": "sc://host:15002/;token=secret"},
        {"engine": "spark", "table": "t", "remote": "http://host"},
    ],
)
def test_a_source_that_is_off_is_refused_without_echoing_secrets(words: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        RowSource(**words)  # type: ignore[arg-type]
    assert "secret" not in refused.value.message


def test_a_source_is_kept_without_secrets_and_read_back(tmp_path: Path) -> None:
    source = RowSource("postgres", dsn_env="CLINIC", table="clinic.visits", types=(("who", "bigint"),))
    (tmp_path / "source.json").write_text(source.to_json(), encoding="utf-8")
    assert read_row_source(tmp_path) == source
    (tmp_path / "source.json").write_text('{"engine": "postgres"}', encoding="utf-8")
    with pytest.raises(Refused, match="damaged"):
        read_row_source(tmp_path)


def test_a_source_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    kept = '{"engine": "postgres", "dsn_env": "CLINIC", "table": "clinic.visits", "types": {"who": "bigint"}}'
    (tmp_path / "source.json").write_text(kept, encoding="utf-8")
    found = RowSource("postgres", dsn_env="CLINIC", table="clinic.visits", types=(("who", "bigint"),))
    assert read_row_source(tmp_path) == found


def test_a_source_that_is_prepared_in_its_engine_is_read_back(tmp_path: Path) -> None:
    stored = StoredRows("s.t", files=("a", "b"), mark="7")
    source = RowSource("spark", remote="local[2]", table="t", materialise="/lake/own", changed_by="at", stored=stored)
    (tmp_path / "source.json").write_text(source.to_json(), encoding="utf-8")
    assert read_row_source(tmp_path) == source


def test_a_table_that_may_move_is_ranked_whole() -> None:
    card = parse_card(CARD, file="visits.yaml")
    types = {column.source: kind for column, kind in zip(card.columns, TYPES["spark"], strict=True)}
    table = RawTable(SPARK, card, "t", types, SALT)
    assert table.long_units is not None
    assert replace(table, still=False).long_units is None


def test_only_whole_numbers_texts_and_null_come_back() -> None:
    assert exact_row([Decimal("12.00"), 3, "x", None]) == (12, 3, "x", None)
    for value in (Decimal("0.5"), 0.5, b"x"):
        with pytest.raises(TypeError):
            exact_row([value])
