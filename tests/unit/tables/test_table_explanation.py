"""An explanation tells cost and expected error of every strategy; it opens no data and leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import UnknownName
from discreet.tables.linear.layout import every_margin
from tests.unit.tables.office import Office


def explain(office: Office, by: str, **options: Any) -> Any:
    return office.session.tables.explain(office.read(by, **options))


def test_every_strategy_tells_its_error_for_every_margin(generous_room: Office) -> None:
    before = generous_room.head
    told = explain(generous_room, "region,smokes,age", epsilon="0.5").to_dict()
    assert generous_room.head == before
    (measure,) = told["measures"]
    names = [(one["name"], one["noise"]) for one in measure["strategies"]]
    assert names == [
        ("cells", "laplace"),
        ("equal", "laplace"),
        ("weighted", "laplace"),
        ("cells", "gaussian"),
        ("equal", "gaussian"),
        ("weighted", "gaussian"),
        ("residual", "gaussian"),
    ]
    keys = ("region", "smokes", "age")
    margins = [[keys[place] for place in kept] for kept in every_margin(3)]
    for strategy in measure["strategies"]:
        assert [one["keeps"] for one in strategy["margins"]] == margins
        assert all(one["expected_variance"] == pytest.approx(one["standard_error"] ** 2) for one in strategy["margins"])
        mean = sum(one["expected_variance"] for one in strategy["margins"]) / len(margins)
        assert strategy["mean_expected_variance"] == pytest.approx(mean)
    (chosen,) = [one for one in measure["strategies"] if one["chosen"]]
    assert chosen["mean_expected_variance"] == min(one["mean_expected_variance"] for one in measure["strategies"])
    assert (chosen["name"], chosen["noise"]) == (measure["chosen"], measure["noise"])
    assert [one["keeps"] for one in measure["half_widths"]] == margins
    assert [one["keeps"] for one in measure["expected_errors"]] == margins
    for error, margin in zip(measure["expected_errors"], chosen["margins"], strict=True):
        # from a normal law, √(2/π) of the standard error, down to a Laplace one
        assert 0.70 < error["least"] / margin["standard_error"] <= error["largest"] / margin["standard_error"] < 0.80


def test_the_cost_is_told_in_the_budgets_own_terms(generous_room: Office, reading_room: Office) -> None:
    assert explain(generous_room, "region,age", epsilon="0.1").to_dict()["charge"]["rho"] == "0.005"
    assert explain(generous_room, "region", epsilon="0.5", noise="laplace").to_dict()["charge"]["epsilon"] == "0.5"
    assert explain(reading_room, "region", epsilon="0.5").to_dict()["charge"] == {"epsilon": "0.5", "delta": "0"}


def test_people_see_every_strategy_and_margin_on_one_screen(reading_room: Office) -> None:
    for by in ("region,smokes", "region,smokes,age,grade"):
        told = str(explain(reading_room, by, weighted=True))
        assert told.count("→ ") == 1
        assert all(name in told for name in ("cells", "equal", "weighted"))
        assert "95% intervals: " in told
        assert "Plan hash" in told
    short = str(explain(reading_room, "region,smokes"))
    assert all(name in short for name in ("region × smokes", "region", "smokes", "total"))


def test_steps_are_in_the_units_of_the_value(reading_room: Office) -> None:
    told = explain(reading_room, "smokes", value="height", margins=False).to_dict()["measures"][0]
    (cells,) = told["strategies"][0]["margins"]
    assert cells["standard_error"] == pytest.approx(2**0.5 * 2.5, rel=1e-2)  # a person adds at most 2.5
    assert told["half_widths"][0]["least"] == pytest.approx(2.5 * 3, rel=0.01)  # ln 20 = 3 scales


def test_a_budget_that_is_too_small_is_a_note_and_no_refusal(reading_room: Office) -> None:
    told = explain(reading_room, "region", epsilon="70000")
    assert "would be refused" in told.to_dict()["notes"][0]
    assert "would be refused" in str(told)


def test_who_may_not_ask_is_refused(reading_room: Office) -> None:
    asked = reading_room.session.tables.read(reading_room.request("region"), epsilon=1, analyst="nobody")
    with pytest.raises(UnknownName):
        reading_room.session.tables.explain(asked)
