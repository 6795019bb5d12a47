"""A statement means what SQL says: with next to no noise, answers are those of plain DuckDB on the same rows.

The truth must lie within twice the reach of the 99.9999% interval, which noise leaves less than once in 10^11 values;
epsilon is so large that this is a small part of every value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.session import Session

PEOPLE_CARD = """
dataset: people
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 1000000}
weight: {column: w, cap: {by: region, values: {10: 500, 11: 600, 12: 700}}}
columns:
  pid: {kind: id, type: integer}
  region: {kind: category, public: true, categories: {10: East, 11: West, 12: North}}
  smokes: {kind: category, categories: [1, 2]}
  age: {kind: integer, bounds: [0, 100]}
  height: {kind: number, bounds: [1, 2.5], step: 0.01}
  w: {kind: number, bounds: [0, 700], step: 0.5}
"""
VISITS_CARD = """
dataset: visits
population: all
unit: {column: pid, rows: 5}
neighbours: add-remove
budget: {epsilon: 1000000}
columns:
  pid: {kind: id, type: integer}
  cost: {kind: number, bounds: [-100, 1000], step: 0.01}
  day: {kind: integer, bounds: [1, 400]}
  clinic: {kind: category, categories: [a, b]}
"""
ZONES = "code,zone,people\n10,coast,1.5\n11,coast,\n99,inland,7\n"

STATEMENTS = [
    "SELECT COUNT(*) AS n, COUNT(age) AS a, COUNT(DISTINCT pid) AS u FROM people",
    "SELECT region, COUNT(*) AS n, SUM(w) AS w, SUM(age) AS a FROM people GROUP BY region",
    "SELECT region, smokes, COUNT(*) AS n FROM people GROUP BY region, smokes",
    "SELECT SUM(w * height) AS s, SUM(w * height) / SUM(w) AS r FROM people WHERE smokes = 1",
    "SELECT AVG(age) AS a, AVG(height) AS h, VARIANCE(age) AS v, STDDEV(height) AS s FROM people",
    "SELECT SUM(CASE WHEN smokes = 1 THEN w ELSE 0 END) AS s, SUM(CASE WHEN age > 50 THEN 1 END) AS o FROM people",
    "SELECT SUM(COALESCE(age, 7)) AS c, SUM(ABS(age - 40)) AS d, SUM(LEAST(age, 30)) AS l, "
    "SUM(GREATEST(age, height * 10)) AS g FROM people",
    "SELECT SUM(age * 0.25 + height - 1.5) AS x, SUM(-age) AS m, SUM((age + 1) * (height - 1)) AS p FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 20 AND 40 OR age IS NULL AND NOT smokes IN (2)",
    "SELECT COUNT(*) AS n FROM people WHERE NOT (age > 30 AND smokes = 1)",
    "SELECT COUNT(*) AS n FROM people WHERE age / 100.0 + 1 < height",
    "SELECT COUNT(*) AS n FROM people WHERE smokes <> 1",
    "SELECT CASE WHEN age < 18 THEN 'minor' WHEN age >= 18 THEN 'adult' END AS k, COUNT(*) AS n FROM people GROUP BY k",
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 60 ORDER BY n DESC LIMIT 2",
    "SELECT region, AVG(age) AS a FROM people GROUP BY region HAVING AVG(age) > 10 AND COUNT(*) > 9 ORDER BY a LIMIT 3",
    "SELECT n, COUNT(*) AS c FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) GROUP BY n HAVING COUNT(*) > 0",
    "SELECT AVG(t) AS a, SUM(n) AS m, COUNT(*) AS c FROM (SELECT pid, SUM(cost) AS t, COUNT(*) AS n, MIN(day) AS d "
    "FROM visits WHERE day > 100 GROUP BY pid HAVING COUNT(*) > 1) t WHERE d < 300",
    "WITH v AS (SELECT pid, SUM(cost) AS total, MAX(day) AS last FROM visits GROUP BY pid) "
    "SELECT p.region, COUNT(*) AS n, SUM(v.total) AS s, AVG(v.last) AS l FROM people p JOIN v ON v.pid = p.pid "
    "GROUP BY p.region HAVING COUNT(*) > 0",
    "SELECT p.smokes, COUNT(*) AS n, SUM(v.cost * p.age) AS s FROM people p JOIN visits v USING (pid) "
    "WHERE v.clinic = 'a' GROUP BY p.smokes HAVING COUNT(*) > 0",
    "SELECT z.zone, COUNT(*) AS n, SUM(z.people * p.age) AS s FROM people p JOIN zones z ON p.region = z.code "
    "GROUP BY z.zone HAVING COUNT(*) > 0",
    "SELECT clinic, SUM(cost) AS s, AVG(cost) AS a, COUNT(DISTINCT pid) AS u FROM visits GROUP BY clinic "
    "HAVING COUNT(*) > 9",
    "SELECT 100 * COUNT(age) / COUNT(*) - 3 AS pct, ABS(SUM(c)) AS c FROM (SELECT age, age - 100 AS c FROM people)",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clean rows: nothing is clamped, capped, rounded or cut, so plain SQL sees what is prepared."""
    chance, folder = random.Random(7), tmp_path_factory.mktemp("meaning")
    people = ["pid,region,smokes,age,height,w"]
    visits = ["pid,cost,day,clinic"]
    for pid in range(1, 301):
        region, smokes = chance.choice(["10", "11", "12"]), chance.choice(["1", "2", ""])
        age = chance.choice(["", *(str(chance.randint(0, 100)) for _ in range(6))])
        height = chance.choice(["", f"{chance.randint(100, 250) / 100:.2f}"])
        people.append(f"{pid},{region},{smokes},{age},{height},{chance.randint(1, 1000) / 2}")
        for _ in range(chance.choice([0, 1, 1, 2, 3, 5])):
            cost = chance.choice(["", f"{chance.randint(-10000, 100000) / 100:.2f}"])
            visits.append(f"{pid},{cost},{chance.randint(1, 400)},{chance.choice('ab')}")
    for name, lines, card in (("people", people, PEOPLE_CARD), ("visits", visits, VISITS_CARD)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / f"{name}.yaml").write_text(card, encoding="utf-8")
    (folder / "zones.csv").write_text(ZONES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def house(rows: Path) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_ANALYST", "ana")
        patch.setenv("DISCREET_KEYS", str(rows / "keys"))
        with Session.create(rows / "house") as made:
            for name in ("people", "visits"):
                made.add(rows / f"{name}.csv", confirm=lambda _: True)
            made.add_public_table(rows / "zones.csv", key="code")
            made.close()
        with discreet.open(rows / "house") as opened:
            yield opened


@pytest.fixture(scope="module")
def plain(rows: Path) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(":memory:")
    decimals = {"height", "cost", "w", "people"}
    for name in ("people", "visits", "zones"):
        file = rows / f"{name}.csv"
        known = file.read_text(encoding="utf-8").splitlines()[0].split(",")
        kept = ", ".join(f"'{column}': 'DECIMAL(9,2)'" for column in known if column in decimals)
        engine.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{file}', types={{{kept}}})")
    return engine


@pytest.mark.parametrize("sql", STATEMENTS)
def test_answers_are_those_of_sql(sql: str, house: Session, plain: duckdb.DuckDBPyConnection) -> None:
    answer = house.query(sql, epsilon="40000", analyst="ana", level="0.999999")
    cursor = plain.execute(sql)
    names = [column[0] for column in cursor.description or []]
    expected: dict[tuple[str | None, ...], dict[str, Any]] = {}
    keys = [heading.name for heading in answer.headings]
    for found in cursor.fetchall():
        values = dict(zip(names, found, strict=True))
        expected[tuple(None if values[key] is None else str(values[key]) for key in keys)] = values
    ordered = "ORDER BY" in sql
    shown = [tuple(None if row[key] is None else str(row[key]) for key in keys) for row in answer.rows]
    if ordered:
        assert shown == list(expected)
    for key, row, interval in zip(shown, answer.rows, answer.intervals, strict=True):
        values = expected.pop(key, dict.fromkeys(names, 0))
        for name in set(names) - set(keys):
            low, high = (float(end) for end in interval[name] if end is not None)
            value, truth = float(row[name] or 0), float(values[name] or 0)
            reach = max(value - low, high - value)
            assert reach <= max(0.01 * abs(truth), 5), (key, name, "the interval is too wide to say anything")
            assert abs(value - truth) <= 2 * reach + 1e-9, (key, name)
    assert not expected


def test_medians_and_extremes_are_chosen_at_the_right_place(house: Session, plain: duckdb.DuckDBPyConnection) -> None:
    """Every answer is a point that SQL's own definition allows; extremes lie a row or so inside."""
    answer = house.query(
        "SELECT QUANTILE(age, 0.25) AS q, MIN(age) AS low, MAX(age) AS high FROM people", epsilon="40000"
    ).rows[0]
    quantile, low, high = (
        float(value) for value in answer.values() if value is not None and not isinstance(value, str)
    )
    below, above, count = plain.execute(
        f"SELECT count(*) FILTER (age < {quantile}), count(*) FILTER (age > {quantile}), count(age) FROM people"
    ).fetchone() or (0, 0, 0)
    assert below <= 0.25 * count
    assert above <= 0.75 * count
    least, most = plain.execute("SELECT min(age), max(age) FROM people").fetchone() or (0, 0)
    assert least <= low <= least + 3
    assert most - 3 <= high <= most
