"""Means and variances in SQL: shown only where the noisy size says that there is somebody, NULL elsewhere."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from discreet.present.messages import say_message
from discreet.release.cells.noisy_cells import MANY_CELLS
from discreet.release.cells.presence import presence_level
from discreet.results.notes import SizeTooSmall
from discreet.session import Session
from tests.unit.release.conftest import Given, ask_session

CARD = """
dataset: people
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100000}
columns:
  pid: {kind: id, type: integer}
  town: {kind: category, public: true, categories: [a, b, c, d]}
  place: {kind: integer, bounds: [0, 5999]}
  income: {kind: integer, bounds: [0, 1000]}
  other: {kind: integer, bounds: [0, 1000]}
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("house")
    rows = [f"{pid},{'ab'[pid % 2]},{pid},{300 + pid % 9},{pid if pid % 3 else ''}" for pid in range(300)]
    (folder / "people.csv").write_text("\n".join(["pid,town,place,income,other", *rows, ""]), encoding="utf-8")
    (folder / "people.yaml").write_text(CARD, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with Session.create(folder / "w") as session:
            session.add(folder / "people.csv", confirm=lambda _: True)
            yield session


def with_values(answer: Given, values: dict[int, list[int]]) -> Given:
    """The same answer with noisy values chosen here, by the place of the measure."""
    measures = answer.noisy.in_order_of(answer.statement)
    changed = tuple(
        replace(one, values=tuple(values.get(place, list(one.values)))) for place, one in enumerate(measures)
    )
    return Given(replace(answer.answer, noisy=replace(answer.noisy, measures=changed)))


def bound(answer: Given, place: int, figures: int) -> float:
    mechanism: Any = answer.noisy.in_order_of(answer.statement)[place].mechanisms[0]
    return float(mechanism.scale) * math.log(figures / 0.1)


def test_an_average_is_null_where_the_size_does_not_exceed_the_bound(house: Session) -> None:
    asked = ask_session(house, "SELECT town, AVG(income) AS mean FROM people GROUP BY town", epsilon=1)
    least = bound(asked, 1, 5)
    small, enough = math.floor(least), math.floor(least) + 2
    answer = with_values(asked, {0: [0] * 5, 1: [small, enough, 0, -9, 400]})
    assert [row["mean"] for row in answer.rows] == [None, 500.0, None, None, 500.0]
    shown = [row["mean"] for row in answer.intervals]
    assert shown[0] == shown[2] == shown[3] == [None, None]
    assert all(low is not None and low < 500 < (high or 0) for low, high in (shown[1], shown[4]))


def test_the_reason_is_told_to_people_and_machines(house: Session) -> None:
    answer = ask_session(house, "SELECT town, AVG(income) AS mean, COUNT(*) AS n FROM people GROUP BY town", epsilon=1)
    told: Any
    [told] = cast("list[Any]", answer.to_dict()["absent"])
    assert told["output"] == "mean"
    assert told["code"] == "size-too-small"
    [size] = told["sizes"]
    assert size["size"] == answer.statement.measures[1].text
    assert size["above"] == [pytest.approx(bound(answer, 1, 5), abs=1)] * 2
    [note] = [one for one in answer.notes if isinstance(one, SizeTooSmall)]
    assert say_message(note)[1].en.startswith(
        f"mean is shown as – where the noisy size is not above {size['above'][0]}: "
    )
    assert "no empty group" in told["reason"]
    assert (
        "absent" not in ask_session(house, "SELECT town, COUNT(*) AS n FROM people GROUP BY town", epsilon=1).to_dict()
    )
    gone = with_values(answer, {1: [-50] * 5})
    header, *lines = list(csv.reader(io.StringIO(gone.to_csv())))
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [(row["mean"], row["mean_low"], row["mean_status"]) for row in rows] == [("", "", "size-too-small")] * 5
    assert "n_status" not in header


def test_null_behaves_as_null_does_everywhere(house: Session) -> None:
    sql = (
        "SELECT town, AVG(income) AS mean, 2 * AVG(income) + 1 AS twice, VAR(income) AS v, STDDEV(income) AS s, "
        "LEAST(AVG(income), 7) AS least FROM people GROUP BY town"
    )
    asked = ask_session(house, sql, epsilon=1)
    size = next(place for place, face in enumerate(asked.statement.measures) if face.text.startswith("COUNT"))
    answer = with_values(asked, {size: [200, -5, 3, 200, 0]})
    for row, interval, there in zip(answer.rows, answer.intervals, [True, False, False, True, False], strict=True):
        for name in ("mean", "twice", "v", "s", "least"):
            assert (row[name] is not None) == there
            assert (interval[name] != [None, None]) == there


def test_having_and_order_by_pass_over_what_is_not_shown(house: Session) -> None:
    by = "SELECT town, AVG(income) AS mean FROM people GROUP BY town"
    sizes = {0: [100, 100, 0, 200, -100], 1: [200, -5, 3, 200, 200]}
    kept = with_values(ask_session(house, f"{by} HAVING AVG(income) > 0", epsilon=1), sizes)
    assert [row["town"] for row in kept.rows] == ["a", "d", None]
    negated = with_values(ask_session(house, f"{by} HAVING NOT AVG(income) > 0", epsilon=1), sizes)
    assert [row["town"] for row in negated.rows] == []
    ordered = with_values(ask_session(house, f"{by} ORDER BY mean DESC", epsilon=1), sizes)
    assert [row["town"] for row in ordered.rows] == ["d", "a", None, "b", "c"]

    first = with_values(ask_session(house, f"{by} ORDER BY mean DESC NULLS FIRST", epsilon=1), sizes)
    assert [row["town"] for row in first.rows] == ["b", "c", "d", "a", None]


def test_sizes_of_their_own_count_each(house: Session) -> None:
    """`other` can be absent, so its size is another: twice as many groups that must not be nobody."""
    one = ask_session(house, "SELECT town, AVG(other) AS mean FROM people GROUP BY town", epsilon=1)
    two = ask_session(house, "SELECT town, AVG(income), AVG(other) AS mean FROM people GROUP BY town", epsilon=1)
    assert len(two._cells.floors) == 2
    for answer, figures in ((one, 5), (two, 10)):
        size, floor = max(answer._cells.floors.items())
        scale: Any = answer.noisy.in_order_of(answer.statement)[size].mechanisms[0]
        assert floor.halves[0] == scale.half_width(presence_level(figures))


@pytest.mark.slow
def test_very_many_cells_are_the_same_cells(house: Session) -> None:
    """In arrays and one by one: values, intervals and what is not shown, bit for bit."""
    by = "SELECT place, AVG(income) AS mean FROM people GROUP BY place"
    asked = ask_session(house, f"{by} HAVING AVG(income) < 990 ORDER BY mean, place LIMIT 700", epsilon=1)
    assert asked.plan.cell_count > MANY_CELLS
    cells = asked.plan.cell_count
    values = {
        0: [place * 37 % 90_001 - 45_000 for place in range(cells)],
        1: [place * 7 % 401 for place in range(cells)],
    }
    many = with_values(asked, values)
    assert many._cells._many is not None
    few = with_values(asked, values)
    few._cells.__dict__["_many"] = None
    assert list(many._cells.places) == list(few._cells.places)
    assert many.rows == few.rows
    assert many.intervals == few.intervals
    everything = with_values(ask_session(house, by, epsilon=1), values)
    single = with_values(ask_session(house, by, epsilon=1), values)
    single._cells.__dict__["_many"] = None
    assert everything.rows == single.rows
    assert everything.intervals == single.intervals
    assert any(row["mean"] is None for row in single.rows)
