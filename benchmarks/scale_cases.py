"""The questions that are timed on every engine, the plain statement beside each, and the ratio that each may reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["BARE", "CASES", "DATASETS", "IN_PLACE", "MATERIALISED", "PREPARED", "ScaleCase", "limit_of"]

IN_PLACE: Final = "in place"
MATERIALISED: Final = "materialised"
PREPARED: Final = "prepared"  # by DuckDB, in the workspace
BARE: Final = "people_bare"
DATASETS: Final = ("people", "visits", "stays")
"""`people`: one row per unit. `visits`: about five, of which three count. `stays`: three, so that all count."""

_MEDIANS: Final = MappingProxyType(
    {
        "duckdb": "median(place)",
        "postgres": "percentile_disc(0.5) WITHIN GROUP (ORDER BY place)",
        "spark": "median(place)",
    }
)
_ENGINE_LIMITS: Final = MappingProxyType(
    {("duckdb", PREPARED): 1.2, ("postgres", MATERIALISED): 1.3, ("spark", MATERIALISED): 1.5, ("spark", IN_PLACE): 5.0}
)
_GROUPED: Final = (
    "SELECT {keys}, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM {{{rows}}} GROUP BY {keys}"
)


@dataclass(frozen=True, slots=True)
class ScaleCase:
    """A question; names of datasets stand in braces. `plain` is the same text unless it is given.

    `in_place_limit` is the ratio that is asked for in place on PostgreSQL; `timed_in_place` says whether the
    question is timed there at all, for it takes long.
    """

    title: str
    sql: str
    datasets: tuple[str, ...]
    plain: str = ""
    delta: str = "0"
    timed_in_place: bool = False
    in_place_limit: float | None = None
    engines: tuple[str, ...] = ("duckdb", "postgres", "spark")

    def plain_on(self, engine: str, tables: Mapping[str, str]) -> str:
        """The natural statement on the raw rows."""
        return (self.plain or self.sql).format(**tables, median=_MEDIANS[engine])

    def question(self) -> str:
        return self.sql.format(**{name: name for name in (*DATASETS, BARE)})


CASES: Final = (
    ScaleCase(
        "13 keys",
        _GROUPED.format(keys="province", rows="people"),
        ("people",),
        timed_in_place=True,
        in_place_limit=2.0,
    ),
    ScaleCase(
        "13 keys, no unique index",
        _GROUPED.format(keys="province", rows=BARE),
        (BARE,),
        timed_in_place=True,
        engines=("postgres",),
    ),
    ScaleCase(
        "13 keys, five rows a unit, three count",
        _GROUPED.format(keys="province", rows="visits"),
        ("visits",),
        timed_in_place=True,
        in_place_limit=6.0,
    ),
    ScaleCase(
        "13 keys, three rows a unit, all count",
        _GROUPED.format(keys="province", rows="stays"),
        ("stays",),
        timed_in_place=True,
        in_place_limit=6.0,
        engines=("postgres", "spark"),
    ),
    ScaleCase("1,300 keys", _GROUPED.format(keys="province, age", rows="people"), ("people",)),
    ScaleCase(
        "filter",
        "SELECT COUNT(*) AS n, SUM(income) AS total FROM {people} WHERE age >= 65 AND province IN (24, 35)",
        ("people",),
    ),
    ScaleCase(
        "keys that the card does not list",
        "SELECT town, COUNT(*) AS n FROM {people} GROUP BY town",
        ("people",),
        delta="0.000001",
    ),
    ScaleCase("median", "SELECT MEDIAN(place) AS middle FROM {people}", ("people",), "SELECT {median} FROM {people}"),
    ScaleCase("distinct units", "SELECT COUNT(DISTINCT id) AS units FROM {visits}", ("visits",)),
    ScaleCase(
        "mean of totals per unit",
        "SELECT AVG(total) AS mean FROM (SELECT id, SUM(income) AS total FROM {visits} GROUP BY id) AS totals",
        ("visits",),
    ),
    ScaleCase(
        "join on the unit",
        "SELECT p.province, COUNT(*) AS n, SUM(v.income) AS total FROM {people} AS p JOIN {visits} AS v ON p.id = v.id "
        "GROUP BY p.province",
        ("people", "visits"),
    ),
)


def limit_of(engine: str, way: str, case: ScaleCase) -> float | None:
    """The ratio to the plain statement that is asked for; None where none is."""
    if (engine, way) == ("postgres", IN_PLACE):
        return case.in_place_limit
    return _ENGINE_LIMITS.get((engine, way))
