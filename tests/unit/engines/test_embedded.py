"""The embedded engine: its SQL, SQL's three-valued logic, and nothing else reachable."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.embedded import count_cells, count_sql, open_engine
from discreet.plan.nodes import And, CountPlan, IsNull, Key, Not, OneOf, Or, Predicate, TextIn, Within

Row = dict[str, int | str | None]


def make_plan(where: Predicate | None, keys: tuple[Key, ...] = (), rows: int = 2) -> CountPlan:
    return CountPlan("t", rows, keys, where, ((None, "count"),))


def write(path: Path, rows: list[Row]) -> Path:
    columns: dict[str, pa.DataType] = {"a": pa.int8(), "b": pa.int32(), "s": pa.string(), "ord": pa.int32()}
    pq.write_table(pa.table({n: pa.array([r[n] for r in rows], t) for n, t in columns.items()}), path)
    return path


def holds(predicate: Predicate, row: Row) -> bool | None:
    """Three-valued logic, written plainly."""
    match predicate:
        case IsNull(column):
            return row[column] is None
        case OneOf(column, values):
            return None if row[column] is None else row[column] in values
        case TextIn(column, texts):
            return None if row[column] is None else row[column] in texts
        case Within(column, low, high):
            value = row[column]
            if not isinstance(value, int):
                return None
            return (low is None or value >= low) and (high is None or value <= high)
        case Not(operand):
            inner = holds(operand, row)
            return None if inner is None else not inner
        case And(operands):
            found = [holds(operand, row) for operand in operands]
            return False if False in found else None if None in found else True
        case Or(operands):
            found = [holds(operand, row) for operand in operands]
            return True if True in found else None if None in found else False


def random_predicate(draw: random.Random, depth: int = 3) -> Predicate:
    leaves: list[Predicate] = [
        OneOf("a", tuple(draw.sample(range(4), draw.randint(0, 3)))),
        Within("b", draw.choice([None, -5, 0, 3]), draw.choice([-1, 2, 9])),
        Within("b", draw.choice([-5, 0, 3]), None),
        TextIn("s", tuple(draw.sample(["x", "it's", "é", '"q"'], draw.randint(0, 2)))),
        IsNull(draw.choice(["a", "b", "s"])),
    ]
    if depth == 0:
        return draw.choice(leaves)
    operands = tuple(random_predicate(draw, depth - 1) for _ in range(draw.randint(1, 3)))
    return draw.choice([*leaves, Not(operands[0]), And(operands), Or(operands)])


def test_counts_equal_a_plain_evaluation_of_random_plans(tmp_path: Path) -> None:
    draw = random.Random(20)
    rows: list[Row] = [
        {
            "a": draw.choice([0, 1, 2, 3, None]),
            "b": draw.choice([-6, -5, 0, 1, 3, 10, None]),
            "s": draw.choice(["x", "it's", "é", '"q"', "z", None]),
            "ord": draw.choice([1, 1, 2, 3]),
        }
        for _ in range(400)
    ]
    data = write(tmp_path / "it's data.parquet", rows)
    keys = (Key("a", (0, 1, 2, 3)), Key("b", (-6, -5, 0, 1, 3, 10)))
    for _ in range(150):
        where = random_predicate(draw)
        plan = make_plan(where, keys[: draw.randint(0, 2)])
        kept = [row for row in rows if row["ord"] in (1, 2) and holds(where, row)]
        expected = [
            sum(all(row[key.column] == value for key, value in zip(plan.keys, cell, strict=True)) for row in kept)
            for cell in itertools.product(*(key.cells for key in plan.keys))
        ]
        assert count_cells(plan, data) == expected


def test_golden_sql() -> None:
    where = And((OneOf("a", (1, 2)), Not(Or((Within("b", 0, None), IsNull("s"))))))
    plan = make_plan(where, (Key("a", (1, 2)),), rows=3)
    assert count_sql(plan, Path("d.parquet")) == (
        "SELECT \"a\", count(*) FROM read_parquet('d.parquet') WHERE ord <= 3 AND "
        '(("a" IN (1, 2)) AND (NOT (("b" >= 0) OR ("s" IS NULL)))) GROUP BY "a"'
    )


def test_an_empty_file_gives_zeros_for_every_cell(tmp_path: Path) -> None:
    data = write(tmp_path / "d.parquet", [])
    assert count_cells(make_plan(None), data) == [0]
    assert count_cells(make_plan(None, (Key("a", (0, 1)),)), data) == [0, 0, 0]


def test_nothing_but_the_file_is_reachable(tmp_path: Path) -> None:
    data, other = write(tmp_path / "d.parquet", []), write(tmp_path / "other.parquet", [])
    with open_engine(data) as engine:
        for statement in (
            f"SELECT * FROM read_parquet('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'x.db'}'",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                engine.execute(statement).fetchall()
