"""Tables as published: figures against the true ones, sums that hold, and what is said beside them.

At an epsilon of thousands the noise is 0 but with a probability below 1e-9, so that figures are the true ones.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.release.measurement.noisy_measures import NoisyMeasure
from discreet.results import Basis, Figure, Quality, Release
from discreet.results.notes import LeftOut
from discreet.tables.linear.layout import Layout
from discreet.tables.linear.margin_strategies import MeasuredShare
from discreet.tables.table_figures import EstimatedMeasure
from discreet.tables.table_reading import _within, figure_margins
from tests.unit.tables.office import PEOPLE, Office

pytestmark = pytest.mark.slow

PLENTY = 5000
CAPS = {"N": 5, "S": 20, None: 20}

Person = dict[str, Any]


def weigh(person: Person) -> int:
    return min(int(person["weight"]), CAPS[person["region"]])


def code(name: str, person: Person) -> Any:
    value = person[name]
    if name == "age" and value is not None:
        return "0-17" if value < 18 else "18-64" if value < 65 else "65-99"
    return str(value) if name == "smokes" and value is not None else value


def chosen(entry: Figure, by: str) -> list[Person]:
    """The people behind a figure."""
    return [
        person
        for person in PEOPLE
        if all(
            place in entry.over or code(name, person) == entry.codes[place] for place, name in enumerate(by.split(","))
        )
    ]


def check_truth(table: Release, by: str, truth: Callable[[list[Person]], float | None]) -> None:
    for entry in table.entries():
        expected = truth(chosen(entry, by))
        if expected is None:
            continue
        assert entry.value == pytest.approx(expected, abs=1e-9), entry
        assert entry.raw == pytest.approx(expected, abs=1e-6)
        assert entry.low is not None
        assert entry.high is not None
        assert entry.low <= expected + 1e-9
        assert entry.high >= expected - 1e-9


KEYS = ["region", "smokes,region", "age,smokes,grade", "region,smokes,age,grade"]


@pytest.mark.parametrize("by", KEYS)
def test_counts_are_those_of_people(office: Office, by: str) -> None:
    table = office.table(by, epsilon=PLENTY)
    check_truth(table, by, len)
    assert sum(len(chosen(entry, by)) for entry in table.cells) == len(PEOPLE)


@pytest.mark.parametrize("by", KEYS)
def test_weights_are_cut_at_their_caps(office: Office, by: str) -> None:
    check_truth(office.table(by, epsilon=PLENTY, weighted=True), by, lambda people: sum(map(weigh, people)))


@pytest.mark.parametrize("weighted", [False, True])
def test_totals_add_up_values_that_are_there(office: Office, weighted: bool) -> None:
    def total(people: list[Person]) -> float:
        return sum(
            (weigh(one) if weighted else 1) * float(one["height"]) for one in people if one["height"] is not None
        )

    check_truth(office.table("smokes,region", epsilon=50000, value="height", weighted=weighted), "smokes,region", total)


def test_totals_that_may_be_negative_are_not_clipped(office: Office) -> None:
    table = office.table("smokes", epsilon=PLENTY, value="change")
    check_truth(table, "smokes", lambda people: sum(one["change"] for one in people))
    assert any(entry.value is not None and entry.value < 0 for entry in table.cells)
    assert all(
        entry.high is not None and entry.value is not None and entry.high >= entry.value for entry in table.cells
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_of_a_margin_is_that_of_all_its_people(office: Office, weighted: bool) -> None:
    def mean(people: list[Person]) -> float | None:
        tall = [(weigh(one) if weighted else 1, one["height"]) for one in people if one["height"] is not None]
        return sum(w * height for w, height in tall) / sum(w for w, _ in tall) if tall else None

    table = office.table("region,smokes", epsilon=50000, value="height", mean=True, weighted=weighted)
    check_truth(table, "region,smokes", mean)
    assert table.statistic.step is None
    assert len(table.margins) == 3 + 3 + 1


def test_the_mean_of_nobody_may_be_anything_between_the_bounds(office: Office) -> None:
    """Noise that ends an interval before a bound has a probability below 1e-6 at this level."""
    design = office.design("region", epsilon="0.1", value="height", mean=True, where="age > 98")
    [cells, _] = figure_margins(design, office.draw(design), level=Decimal("0.999999")).values()
    assert (cells.low[-1], cells.high[-1]) == (1.0, 2.5)
    assert cells.grades()[-1] is Quality.UNRELIABLE


def test_bands_are_cut_as_asked(office: Office) -> None:
    table = office.table("age", epsilon=PLENTY, edges={"age": [0, 10, 50, 120]})
    ages = [one["age"] for one in PEOPLE]
    counts = {entry.codes[0]: entry.value for entry in table.cells}
    assert counts == {
        "0-9": sum(age is not None and age < 10 for age in ages),
        "10-49": sum(age is not None and 10 <= age < 50 for age in ages),
        "50-99": sum(age is not None and age >= 50 for age in ages),
        None: ages.count(None),
    }


def test_a_condition_keeps_its_rows(office: Office) -> None:
    table = office.table("region", epsilon=PLENTY, where="age >= 50 AND smokes = '2'")
    kept = [one for one in PEOPLE if one["age"] is not None and one["age"] >= 50 and one["smokes"] == 2]
    assert [entry.value for entry in table.margins] == [len(kept)]


# --- what is published ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"value": "height"}, {"value": "change"}])
def test_margins_are_exactly_sums_of_published_cells(office: Office, options: dict[str, Any]) -> None:
    table = office.table("region,smokes,age", epsilon="0.05", **options)
    scale = 100 if options.get("value") == "height" else 1
    for margin in table.margins:
        inside = [
            cell.value
            for cell in table.cells
            if all(place in margin.over or cell.codes[place] == code for place, code in enumerate(margin.codes))
        ]
        assert margin.value is not None
        assert round(margin.value * scale) == sum(round(value * scale) for value in inside if value is not None)
    values = [entry.value for entry in table.entries()]
    assert all(value is not None and (value >= 0 or options.get("value") == "change") for value in values)
    if scale == 1:
        assert table.statistic.whole
        assert all(isinstance(value, int) for value in values)


def test_the_chosen_margins_are_published_in_their_order(office: Office) -> None:
    table = office.table("region,smokes", epsilon=1, margins=["total", "smokes"])
    assert [entry.over for entry in table.margins] == [(0,)] * 3 + [(0, 1)]
    assert office.table("region,smokes", epsilon=1, margins=False).margins == []


def test_json_has_every_figure_with_its_keys(office: Office) -> None:
    told: Any = office.table("region,smokes", epsilon=1, weighted=True).to_dict("fr")
    keys = list(product(["N", "S", None], ["1", "2", None]))
    assert [tuple(cell["keys"].values()) for cell in told["cells"]] == keys
    for cell in told["cells"]:
        assert list(cell) == ["keys", "value", "raw", "low", "high", "quality"]
    for margin in told["margins"]:
        assert list(margin) == ["keys", "value", "raw", "low", "high", "quality", "over"]
        assert all(margin["keys"][name] is None for name in margin["over"])
    assert told["labels"]["region"] == {"N": "Nord", "S": "Sud"}
    assert told["table"]["title"] == "Effectif pondéré selon région et fume"
    answer = set(office.session.query("SELECT COUNT(*) AS n FROM people", epsilon=1).to_dict())
    assert answer <= set(told)
    assert [row["value"] for row in told["rows"]] == [one["value"] for one in (*told["cells"], *told["margins"])]
    assert [one["value"] for one in told["intervals"]] == [
        [one["low"], one["high"]] for one in (*told["cells"], *told["margins"])
    ]
    assert told["differentially_private"] is True


def test_unreliable_figures_are_left_out_by_their_noisy_values(office: Office) -> None:
    request = office.request("region,smokes,age")
    asked = office.session.tables.read(request, epsilon="0.5", suppress_above="0.333")
    table = office.session.tables.release(asked)
    whole = office.table("region,smokes,age", epsilon="0.5")
    for entry, before in zip(table.entries(), whole.entries(), strict=True):
        if before.quality is Quality.UNRELIABLE:
            assert (entry.value, entry.raw, entry.low, entry.high) == (None, None, None, None)
            assert entry.quality is Quality.SUPPRESSED
        else:
            assert entry == before
    assert {Quality.SUPPRESSED} < {entry.quality for entry in table.entries()}
    assert LeftOut(Decimal("0.333")) in table.notes


@pytest.mark.parametrize("above", ["0", "-0.1", "nan", "inf", "much"])
def test_a_limit_for_leaving_out_is_a_positive_number(reading_room: Office, above: str) -> None:
    with pytest.raises(ParameterInvalid, match="suppress"):
        reading_room.session.tables.read(reading_room.request("region"), epsilon=1, suppress_above=above)


def test_calibrated_figures_add_up_to_the_public_totals(office: Office) -> None:
    asked = office.session.tables.read(office.request("region,smokes"), epsilon=10, calibrate=["regions.people"])
    table = office.session.tables.release(asked)
    by_region = [entry for entry in table.margins if entry.over == (1,)]
    assert [(entry.codes[0], entry.value, entry.quality) for entry in by_region] == [
        ("N", 500, Quality.PUBLIC),
        ("S", 700, Quality.PUBLIC),
    ]
    assert table.calibration is not None
    told = table.to_dict()
    assert told["calibration"]["to"] == [{"totals": "regions.people", "by": ["region"]}]
    assert told["calibration"]["left_out"] == [{"region": None}]
    assert all(cell["calibrated"] == cell["value"] for cell in told["cells"])
    assert all("uncalibrated" in cell for cell in told["cells"])


def test_noise_that_a_float_cannot_tell_from_none_still_gives_a_table(office: Office) -> None:
    for epsilon in ("900", "50000"):
        table = office.table("smokes,grade", epsilon=epsilon, fresh=True)
        assert table.margins[-1].value == len(PEOPLE)
        assert (table.margins[-1].low, table.margins[-1].high) == (len(PEOPLE) - 1, len(PEOPLE) + 1)


def test_ends_are_whole_steps_inside_an_interval_or_around_one_without_any() -> None:
    low, high = _within(np.array([5.2, 6.0, 3.2]), np.array([9.9, 6.0, 3.4]), 1)
    assert (low.tolist(), high.tolist()) == ([6, 6, 3], [9, 6, 4])
    low, high = _within(np.array([520.0, 600.0]), np.array([990.0, 600.0]), 100)
    assert (low.tolist(), high.tolist()) == ([5, 6], [10, 6])


@pytest.mark.parametrize("level", ["0.5", "0.9", "0.99", "0.999999"])
def test_intervals_widen_with_their_level(office: Office, level: str) -> None:
    narrow = office.table("region,smokes", epsilon="0.5", level="0.4")
    wide = office.table("region,smokes", epsilon="0.5", level=level)
    assert wide.replayed
    assert wide.level == Decimal(level)
    for inner, outer in zip(narrow.entries(), wide.entries(), strict=True):
        assert (inner.value, inner.raw) == (outer.value, outer.raw)
        assert outer.low is not None and inner.low is not None and outer.low <= inner.low  # noqa: PT018
        assert outer.high is not None and inner.high is not None and outer.high >= inner.high  # noqa: PT018
    assert Decimal(level) > Decimal("0.4")


def test_a_table_read_from_another_statement_tells_how_that_was_split(office: Office) -> None:
    """A mean with its count gets equal parts; a table of the mean may be read from the same answer."""
    sql = "SELECT smokes, AVG(height) AS mean, COUNT(height) AS size FROM people GROUP BY smokes"
    office.session.query(sql, epsilon=2)
    table = office.table("smokes", epsilon=2, value="height", mean=True, margins=False)
    assert table.replayed
    told: Any = table.asked["strategy"]
    assert [one["share"] for component in told for one in component["measured"]] == [0.5, 0.5]


def test_with_the_variance_of_weights_quality_counts_sampling_too(office: Office) -> None:
    plain = office.table("smokes,region", weighted=True, epsilon=PLENTY)
    asked = office.session.tables.read(office.request("smokes,region", weighted=True, sampling="age"), epsilon=50000)
    table = office.session.tables.release(asked)
    assert (plain.basis, table.basis) == (Basis.NOISE, Basis.NOISE_AND_SAMPLING)
    assert table.to_dict()["quality_basis"] == "privacy noise and sampling"
    for entry, before in zip(table.entries(), plain.entries(), strict=True):
        assert entry.value == before.value
        variance = sum(one["age"] or 0 for one in chosen(entry, "smokes,region"))
        if entry.value:
            relative = variance**0.5 / entry.value
            good = Quality.GOOD if relative <= 0.165 else Quality.CAUTION if relative <= 0.333 else Quality.UNRELIABLE
            assert (before.quality, entry.quality) == (Quality.GOOD, good)
    assert len({entry.quality for entry in table.cells}) > 1


def test_what_is_published_may_hold_several_steps_of_the_measure() -> None:
    laplace = DiscreteLaplace(scale=Fraction(1, 128))
    noisy = NoisyMeasure("", Decimal(1), None, (laplace,), (1230, 470, -20, 999))
    layout = Layout((2, 2), None, ((0, 1), ()))
    estimated = EstimatedMeasure(layout, [MeasuredShare((0, 1), False, Fraction(1))], [noisy])
    assert estimated.published(nonnegative=False, fold=100).sum() == round((1230 + 470 - 20 + 999) / 100)
    assert np.abs(estimated.published(nonnegative=False, fold=100) - [[12.3, 4.7], [-0.2, 9.99]]).max() < 1
    assert estimated.published(nonnegative=True, fold=1).min() == 0


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"value": "age"}])
def test_no_figure_that_cannot_be_negative_has_an_interval_of_nothing(office: Office, options: dict[str, Any]) -> None:
    """[max(0, x − h), max(x, 0) + h]: below 0 as above it."""
    design = office.design("region,smokes", epsilon="0.2", **options)
    below = 0
    for _ in range(20):
        noisy = office.draw(design)
        for found in figure_margins(design, noisy, level=Decimal("0.95")).values():
            for raw, low, high in zip(found.raw, found.low, found.high, strict=True):
                assert low is not None
                assert high is not None
                assert 0 <= low < high
                assert low <= max(raw, 0) <= high
                below += raw < 0
    assert below
