"""The interval of a mean holds where those of its total and of its size hold, both at once."""

from __future__ import annotations

import pytest

from tests.unit.tables.office import Office


@pytest.mark.parametrize("level", ["0.5", "0.95"])
def test_intervals_of_means_are_those_of_the_question_in_sql(office: Office, level: str) -> None:
    sql = "SELECT smokes, AVG(height) AS mean FROM people GROUP BY smokes"
    answer = office.session.query(sql, epsilon=5, level=level)
    table = office.table("smokes", value="height", mean=True, margins=False, epsilon=5, level=level)
    assert table.replayed
    for entry, row in zip(table.cells, answer.intervals, strict=True):
        assert (entry.low, entry.high) == pytest.approx(row["mean"])
    assert any(entry.low != 1.0 or entry.high != 2.5 for entry in table.cells)
