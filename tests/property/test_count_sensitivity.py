"""Neighbours searched for a counter-example: counts never move by more than derived, and each bound is reached.

The counts come from the embedded engine on prepared files, so the row bound, the predicate and the keys are the real
ones; only the search is ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data.card import Card, parse_card
from discreet.data.ingest import add_file
from discreet.data.workspace import Workspace
from discreet.engines import count_cells
from discreet.plan import count_sensitivity, plan_question

Row = tuple[int, str, str, str]

CONDITIONS = [
    "",
    "WHERE age >= 2",
    "WHERE smokes = 1 OR age IS NULL",
    "WHERE NOT (smokes = 2 AND age < 3)",
    "WHERE region = 10",
]
KEYS = ["", "region", "smokes", "region, smokes", "smokes, age"]


def make_card(neighbours: str, rows: int) -> Card:
    return parse_card(
        f"""
dataset: t
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
budget: {{epsilon: 3}}
columns:
  pid: {{kind: id, type: integer}}
  region: {{kind: category, public: true, categories: [10, 11]}}
  smokes: {{kind: category, categories: [1, 2]}}
  age: {{kind: integer, bounds: [0, 4]}}
""",
        file="t.yaml",
    )


def one_unit(pid: int, region: str, most: int) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(
        st.just(pid),
        st.just(region),
        st.sampled_from(["1", "2", "", "?"]),
        st.sampled_from(["0", "2", "4", "99", ""]),
    )
    return st.lists(row, min_size=1, max_size=most)


@st.composite
def neighbouring(draw: st.DrawFn) -> tuple[str, int, list[Row], list[Row]]:
    neighbours = draw(st.sampled_from(["add-remove", "replace-one"]))
    bound = draw(st.integers(1, 3))
    others = [row for pid in (2, 3) for row in draw(one_unit(pid, draw(st.sampled_from(["10", "11"])), 4))]
    region = draw(st.sampled_from(["10", "11"]))  # public: the same for the unit in both data sets
    first = draw(one_unit(1, region, 5))
    second = [] if neighbours == "add-remove" else draw(one_unit(1, region, 5))
    return neighbours, bound, others + first, draw(st.permutations(others)) + second


def moved(folder: Path, first: list[Row], second: list[Row], card: Card, sql: str) -> int:
    """How far the counts lie apart, both data sets prepared in one workspace: neighbours share its salt."""
    workspace = Workspace.create(folder / "w")
    counts = []
    for version, rows in enumerate((first, second)):
        file = folder / "t.csv"
        text = "pid,region,smokes,age\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        file.write_text(text, encoding="utf-8")
        prepared = add_file(workspace, file, card, replace=version > 0)
        counts.append(count_cells(plan_question(sql, lambda _: card), prepared.data))
    return sum(abs(a - b) for a, b in zip(*counts, strict=True))


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(pair=neighbouring(), condition=st.sampled_from(CONDITIONS), keys=st.sampled_from(KEYS))
def test_neighbours_move_counts_by_at_most_the_bound(
    tmp_path_factory: pytest.TempPathFactory,
    pair: tuple[str, int, list[Row], list[Row]],
    condition: str,
    keys: str,
) -> None:
    neighbours, bound, first, second = pair
    card = make_card(neighbours, bound)
    sql = f"SELECT COUNT(*) FROM t {condition}" + (f" GROUP BY {keys}" if keys else "")
    bound_on_moves = count_sensitivity(plan_question(sql, lambda _: card), card).l1
    assert moved(tmp_path_factory.mktemp("pair"), first, second, card, sql) <= bound_on_moves


REACHED = [
    ("add-remove", 2, "", [(1, "10", "1", "0"), (1, "10", "2", "1"), (1, "10", "2", "2")], []),
    ("add-remove", 2, "smokes", [(1, "10", "1", "0"), (1, "10", "2", "1")], []),
    ("replace-one", 1, "smokes", [(1, "10", "1", "0")], [(1, "10", "2", "0")]),
    ("replace-one", 2, "smokes", [(1, "10", "1", "0")] * 2, [(1, "10", "2", "0")] * 2),
    ("replace-one", 1, "region", [(1, "10", "1", "0")], [(1, "10", "2", "0")]),
]


@pytest.mark.parametrize(("neighbours", "bound", "keys", "first", "second"), REACHED)
def test_some_pair_reaches_the_bound(
    tmp_path: Path, neighbours: str, bound: int, keys: str, first: list[Row], second: list[Row]
) -> None:
    card = make_card(neighbours, bound)
    condition = "WHERE smokes = 1" if keys == "region" else ""
    sql = f"SELECT COUNT(*) FROM t {condition}" + (f" GROUP BY {keys}" if keys else "")
    others: list[Row] = [(2, "11", "1", "3")]
    reached = moved(tmp_path, others + first, others + second, card, sql)
    assert reached == count_sensitivity(plan_question(sql, lambda _: card), card).l1
