"""Sensitivity of counts for both neighbour relations."""

from __future__ import annotations

import pytest

from discreet.data.card import Card, parse_card
from discreet.plan import count_sensitivity, plan_question


def card(neighbours: str, rows: int, size: str = "private") -> Card:
    return parse_card(
        f"""
dataset: t
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
size: {size}
budget: {{epsilon: 3}}
columns:
  pid: {{kind: id, type: text}}
  region: {{kind: category, public: true, categories: [1, 2]}}
  sick: {{kind: category, categories: [1, 2]}}
""",
        file="t.yaml",
    )


COUNT = "SELECT COUNT(*) FROM t"


@pytest.mark.parametrize(
    ("neighbours", "rows", "size", "sql", "expected"),
    [
        ("add-remove", 1, "private", COUNT, 1),
        ("add-remove", 5, "private", f"{COUNT} WHERE sick = 1 GROUP BY sick", 5),
        ("replace-one", 1, "private", COUNT, 1),
        ("replace-one", 1, "private", f"{COUNT} WHERE sick = 1", 1),
        ("replace-one", 1, "private", f"{COUNT} GROUP BY sick", 2),
        ("replace-one", 3, "private", f"{COUNT} GROUP BY region, sick", 6),
        ("replace-one", 3, "private", f"{COUNT} GROUP BY region", 3),
        ("replace-one", 1, "public", COUNT, 0),
        ("replace-one", 1, "public", f"{COUNT} WHERE region = 1 GROUP BY region", 0),
        ("replace-one", 1, "public", f"{COUNT} WHERE sick = 1 GROUP BY region", 1),
        ("replace-one", 1, "public", f"{COUNT} GROUP BY sick", 2),
        ("replace-one", 2, "public", COUNT, 2),
    ],
)
def test_count(neighbours: str, rows: int, size: str, sql: str, expected: int) -> None:
    described = card(neighbours, rows, size)
    found = count_sensitivity(plan_question(sql, lambda _: described), described)
    assert found.l1 == expected
    assert found.derivation
