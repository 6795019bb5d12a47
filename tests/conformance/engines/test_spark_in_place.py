"""Raw files in Spark, asked where they are: how many rows of a unit count, which, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.cards.card import Card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.engine import Engine
from discreet.engines.in_place.bounded_rows import RawTable
from discreet.engines.in_place.spark_dialect import SPARK, Spark
from discreet.engines.in_place.spark_tables import SparkRows
from discreet.engines.in_place.tables_in_place import find_rows
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.workspace.row_source import RowSource
from tests.conformance.engines.plans import Reader, as_rows, write_prepared
from tests.conformance.engines.raw_tables import every_row, kept_rows, require_bounded, with_kept
from tests.conformance.engines.spark_rows import load
from tests.sql_text import fuzz
from tests.sql_text.populations import Population, population

pytestmark = pytest.mark.long

START = 900_000
# Spark takes most of a second for each over prepared rows, and several over raw ones.
PREPARED = range(START, START + 30)
IN_PLACE = (START, START + 30, *range(START + 1, START + 7))
SOME = (0, 1)
"""Populations with ids that are numbers and texts, and up to three rows that count."""


def read(source: RowSource, card: Card, dialect: InPlaceDialect = SPARK, **changes: Any) -> list[tuple[Any, ...]]:
    """The rows that a question keeps."""
    reader = SparkRows(source)
    assert source.table is not None
    try:
        parts = {"relation": reader.pin(source.table).relation, "types": source.type_of, "salt": "00ff", **changes}
        return kept_rows(RawTable(dialect, card, **parts), reader)
    finally:
        reader.close()


class ListsNone(Spark):
    most_listed = 0


def test_at_most_k_rows_of_a_unit_count_and_which_depends_on_the_unit_alone(spark_master: str, tmp_path: Path) -> None:
    """Other orders and files, other units, few long units or so many that all rows are ranked: the same rows."""
    for people in map(population, SOME):
        found: list[dict[tuple[str, object], list[str]]] = []
        gone = list(people.units)[::2]
        rest = {name: [row for row in every_row(people, name) if row[0] not in gone] for name in people.cards}
        for owners, dialect, seed in (
            (people, SPARK, 0),
            (people, ListsNone(), 1),
            (with_kept(people, rest), SPARK, 2),
        ):
            by_unit: dict[tuple[str, object], list[str]] = {}
            for name, source in load(spark_master, tmp_path, owners, seed=seed).items():
                kept = read(source, people.cards[name], dialect)
                require_bounded(people.cards[name], every_row(owners, name), kept)
                for row in kept:
                    by_unit.setdefault((name, row[0]), []).append(str(row))
            found.append({unit: sorted(rows) for unit, rows in by_unit.items()})
        whole, ranked, fewer = found
        assert ranked == whole
        assert fewer == {unit: rows for unit, rows in whole.items() if unit[1] not in gone}


def test_wrong_bounding_is_found(spark_master: str, tmp_path: Path) -> None:
    class HashesThePlace(ListsNone):
        def own_digest(self, held: Any, salt: str) -> str:
            return "hash(spark_partition_id(), monotonically_increasing_id())"

    class FindsTooLate(Spark):
        def listed_units(self, units: Any) -> str:
            return super().listed_units(units[: len(units) // 2] or [units[0], units[0]])

    people, name = population(0), "b"  # three rows count, and some units have more
    card, every = people.cards[name], every_row(people, name)
    sources = [load(spark_master, tmp_path, people, seed=seed)[name] for seed in range(4)]
    require_bounded(card, every, read(sources[0], card))
    with pytest.raises(AssertionError):
        require_bounded(card, every, read(sources[0], card, FindsTooLate()))
    with pytest.raises(AssertionError):
        require_bounded(card, every, read(sources[0], card, unique=frozenset({"person_id"})))
    assert len({str(sorted(map(str, read(source, card, HashesThePlace())))) for source in sources}) > 1


def test_statements_over_raw_rows_are_answered_as_they_read(
    spark_master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[int, tuple[Population, Engine]] = {}

    def prepared(number: int) -> Population:
        if number not in opened:
            people = population(number)
            sources = load(spark_master, tmp_path, people)
            kept = {name: read(source, people.cards[name]) for name, source in sources.items()}
            first = next(iter(sources.values()))
            rows = {name: find_rows(source, people.cards[name], salt="00ff") for name, source in sources.items()}
            engine = TabularEngine(rows, dialect=SPARK, connect=lambda: SparkRows(first))
            opened[number] = with_kept(people, kept), engine
        return opened[number][0]

    monkeypatch.setattr(fuzz, "population", prepared)
    result = fuzz.run(IN_PLACE, lambda people: opened[people.number][1], attacked=0)
    assert not result.violations, str(result)
    assert result.answered >= 4, str(result)


def test_statements_over_prepared_rows_are_answered_as_they_read(spark_master: str, tmp_path: Path) -> None:
    opened: dict[int, Engine] = {}
    tmp_path.chmod(0o755)

    def find(people: Population) -> Engine:
        if people.number not in opened:
            files = {
                name: write_prepared(tmp_path / f"{name}_{people.number}.parquet", card, people.table(name))
                for name, card in people.cards.items()
            }
            rows = {name: as_rows(f"parquet.`{files[name]}`", card) for name, card in people.cards.items()}
            reader = SparkRows(RowSource("spark", remote=spark_master, table="t"))
            opened[people.number] = TabularEngine(rows, dialect=SPARK, connect=lambda: Reader(reader.fetch))
        return opened[people.number]

    result = fuzz.run(PREPARED, find, attacked=0)
    assert not result.violations, str(result)
    assert result.share >= 0.5, str(result)
