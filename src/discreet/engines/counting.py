"""DuckDB inside the process: one prepared Parquet file, read-only, nothing else reachable.

Every value in the SQL text is one of our own integers or an escaped literal, and every name comes from a checked card.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.plan.nodes import And, CountPlan, IsNull, Not, OneOf, Or, Predicate, TextIn, Within

if TYPE_CHECKING:
    import duckdb

__all__ = ["count_cells", "count_sql", "open_engine"]


def count_cells(plan: CountPlan, data: Path) -> list[int]:
    """The exact count of every cell, in the order of the keys' domains (the last key varies fastest)."""
    with open_engine(data) as engine:
        found = engine.execute(count_sql(plan, data)).fetchall()
    counts = {tuple(row[:-1]): int(row[-1]) for row in found}
    return [counts.get(cell, 0) for cell in product(*(key.cells for key in plan.keys))]


def open_engine(data: Path) -> duckdb.DuckDBPyConnection:
    """A fresh in-memory DuckDB that can read this one file and nothing else."""
    import duckdb

    engine = duckdb.connect(":memory:", config={"threads": 2, "autoload_known_extensions": False})
    engine.execute(f"SET allowed_paths = [{_literal(str(data))}]")
    engine.execute("SET enable_external_access = false")
    engine.execute("SET lock_configuration = true")
    return engine


def count_sql(plan: CountPlan, data: Path) -> str:
    """The statement that counts. Rows beyond a unit's bound are dropped before the predicate sees them."""
    keys = ", ".join(_name(key.column) for key in plan.keys)
    select = f"{keys}, count(*)" if keys else "count(*)"
    where = f"ord <= {plan.rows_per_unit}"
    if plan.where is not None:
        where += f" AND {_condition(plan.where)}"
    group = f" GROUP BY {keys}" if keys else ""
    return f"SELECT {select} FROM read_parquet({_literal(str(data))}) WHERE {where}{group}"


def _condition(predicate: Predicate) -> str:
    match predicate:
        case OneOf(column, values):
            return _membership(column, [str(value) for value in values])
        case TextIn(column, texts):
            return _membership(column, [_literal(text) for text in texts])
        case Within(column, low, high):
            sides = [f"{_name(column)} >= {low}"] if low is not None else []
            sides += [f"{_name(column)} <= {high}"] if high is not None else []
            return f"({' AND '.join(sides)})"
        case IsNull(column):
            return f"({_name(column)} IS NULL)"
        case Not(operand):
            return f"(NOT {_condition(operand)})"
        case And(operands):
            return f"({' AND '.join(_condition(operand) for operand in operands)})"
        case Or(operands):
            return f"({' OR '.join(_condition(operand) for operand in operands)})"


def _membership(column: str, values: list[str]) -> str:
    # x <> x is false for a value and unknown for NULL: what IN over an empty list would be.
    return f"({_name(column)} IN ({', '.join(values)}))" if values else f"({_name(column)} <> {_name(column)})"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
