"""A comparison is refused before it leaves a trace, leaves one before a row is read, and holds the exact table."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import CustodianOnly, DiscreetError, ExtraMissing, ParameterInvalid, QueryRefused, UnknownName
from discreet.lab.laboratory import Laboratory
from discreet.lab.today import table_comparison as comparing
from discreet.lab.today.methods_comparison import MethodsComparison
from discreet.lab.today.table_comparison import TableRelease
from tests.unit.tables.office import CARD, PEOPLE, POPULATION, Office, open_office

pytestmark = pytest.mark.slow

SMOKERS = (1, 2, None)


def compare(
    office: Office, by: str, *, trials: int = 2, analyst: str | None = None, **options: Any
) -> MethodsComparison:
    epsilons = options.pop("epsilons", ["0.5", 1, 2])
    custodian = options.pop("custodian", True)
    request = office.request(by, **options)
    return Laboratory(office.session).compare(
        request, epsilons=epsilons, custodian=custodian, trials=trials, analyst=analyst
    )


def held(office: Office, by: str, **options: Any) -> Any:
    design = office.design(by, **options)
    return comparing._hold(design.formed, office.session.open_engine(design.formed.datasets))


def test_a_comparison_is_logged_and_marked_and_costs_nothing(office: Office) -> None:
    before = office.head[0]
    made = compare(office, "region,smokes")
    assert office.head[0] == before + 2
    assert office.spent == 0
    standing = office.session.budget(POPULATION)
    assert len(standing.markers) == 1
    assert "compared" in str(standing.markers[0].guarantee)
    assert [line.title for line in made.lines][-3:] == ["DP, epsilon 0.5", "DP, epsilon 1", "DP, epsilon 2"]


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"custodian": False}, CustodianOnly),
        ({"analyst": "nobody"}, UnknownName),
        ({"trials": 0}, ParameterInvalid),
        ({"epsilons": []}, ParameterInvalid),
        ({"epsilons": ["-1"]}, ParameterInvalid),
        ({"value": "height", "mean": True}, QueryRefused),
        ({"value": "wide"}, DiscreetError),
        ({"where": "nothing = 1"}, UnknownName),
    ],
)
def test_what_is_refused_leaves_no_trace(office: Office, wrong: dict[str, Any], refusal: type[DiscreetError]) -> None:
    before = office.head
    with pytest.raises(refusal):
        compare(office, "region,smokes", **wrong)
    assert office.head == before


def test_a_missing_extra_leaves_no_trace(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    before = office.head
    with pytest.raises(ExtraMissing, match="tables"):
        compare(office, "region,smokes")
    assert office.head == before


def test_traces_are_left_before_a_row_is_read(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    before = office.head[0]
    seen = []

    def fail(*_: object) -> None:
        seen.append(office.head[0])
        raise ZeroDivisionError

    monkeypatch.setattr(comparing, "_hold", fail)
    with pytest.raises(ZeroDivisionError):
        compare(office, "region,smokes")
    assert seen == [before + 2]


def test_the_held_table_is_the_exact_one(office: Office) -> None:
    counts = held(office, "region,smokes")
    regions = ("N", "S", None)
    expected = [[sum(one["region"] == r and one["smokes"] == s for one in PEOPLE) for s in SMOKERS] for r in regions]
    assert counts.figures.tolist() == expected
    assert counts.names == ("region", "smokes")
    heights = held(office, "smokes", value="height")
    assert heights.step == Fraction(1, 100)
    totals = [sum(round(100 * (one["height"] or 0)) for one in PEOPLE if one["smokes"] == s) for s in SMOKERS]
    assert heights.figures.tolist() == totals
    changes = held(office, "smokes", value="change")
    assert not changes.nonnegative
    assert changes.figures.tolist() == [sum(one["change"] for one in PEOPLE if one["smokes"] == s) for s in SMOKERS]


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"value": "height", "weighted": True}])
def test_contributions_add_up_to_what_a_release_measures(office: Office, options: dict[str, Any]) -> None:
    formed = office.design("region,smokes", **options).formed
    exact = office.measure(formed.plan, office.design("region,smokes", **options)).columns[0]
    assert np.array_equal(held(office, "region,smokes", **options).figures.ravel(), exact)


def test_a_release_without_noise_to_speak_of_publishes_the_table(office: Office) -> None:
    """At epsilon 10000 the noise on a weighted total of at most 20 is gone: published figures are whole people."""
    table = held(office, "region,smokes", weighted=True)
    draw = TableRelease(office.design("region,smokes", epsilon=10000, weighted=True, noise="laplace")).draw(
        table.figures
    )
    assert np.array_equal(draw.publish(), table.figures)
    for one in draw.seen:
        assert np.abs(one.figures - table.margin(one.margin)).max() <= 1
        assert np.broadcast_to(one.scales, one.figures.shape).shape == one.figures.shape


def test_the_scales_are_those_of_the_mechanisms(office: Office) -> None:
    """Weights are capped by region, 5 in the north and 20 elsewhere: so is the noise of what keeps the region."""
    table = held(office, "region,smokes", weighted=True)
    release = TableRelease(office.design("region,smokes", weighted=True, noise="laplace"))
    assert release.epsilon == 1
    cells = [one for one in release.draw(table.figures).seen if one.margin == (0, 1)]
    assert cells
    north, south, _ = cells[0].scales[:, 0]
    assert south == pytest.approx(4 * north)


def test_the_attack_is_after_a_key_that_is_not_public(office: Office) -> None:
    assert compare(office, "smokes,region").target == "smokes"
    assert compare(office, "region,grade").target == "grade"


def test_errors_are_in_the_unit_of_the_table(office: Office) -> None:
    """Rounded to a multiple of 5 metres, no cell is off by more than 2.5."""
    made = compare(office, "smokes", value="height")
    rounding = next(line for line in made.lines if line.title == "systematic rounding")
    assert rounding.parameters["base"] == 5
    assert rounding.largest_error is not None
    assert 0 < rounding.largest_error <= 2.5


def test_no_guarantee_is_claimed_for_keys_read_from_the_rows(office: Office) -> None:
    made = compare(office, "region,guessed")
    private = [line for line in made.lines if "epsilon" in line.parameters]
    assert len(private) == 3
    for line in private:
        assert not line.private
        assert "read from the rows" in line.guarantee
        assert line.attack is not None
        assert line.attack.ceiling is None


def test_rows_and_people_are_told_apart(tmp_path: Path) -> None:
    with open_office(tmp_path, CARD.replace("rows: 1", "rows: 3")) as several:
        assert any("up to 3" in sentence for sentence in compare(several, "region,smokes").sentences())


def test_no_ceiling_is_claimed_where_neighbours_keep_the_target(tmp_path: Path) -> None:
    card = CARD.replace("neighbours: add-remove", "neighbours: replace-one").replace(
        "rows: 1}", "rows: 1}\nsize: public"
    )
    with open_office(tmp_path, card) as replacing:
        for by, bounded in (("region,smokes", True), ("region", False)):
            line = compare(replacing, by, value="height").lines[-1]
            assert line.attack is not None
            assert (line.attack.ceiling is not None) == bounded


def test_nobody_is_compared_too(office: Office) -> None:
    made = compare(office, "region,smokes", where="age > 98 AND age < 1")
    assert all(line.attack is None for line in made.lines)
    assert made.to_dict()["title"] == made.title
    assert Decimal("0.5") == Decimal(str(made.lines[-3].parameters["epsilon"]))
