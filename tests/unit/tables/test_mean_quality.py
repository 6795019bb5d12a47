"""Means of a table: where they are shown, and grades that no bound makes better than the figures are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.present.messages import say_message
from discreet.release.measurement.noisy_measures import Noisy, NoisyMeasure, draw
from discreet.results import Quality
from discreet.session import Session
from discreet.sql.serialisation import Serialisation
from discreet.tables.request import table_request
from discreet.tables.table_design import Design
from discreet.tables.table_figures import MarginFigures
from discreet.tables.table_reading import figure_margins

CARD = """
dataset: people
population: everyone
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 10000}
columns:
  pid: {kind: id, type: integer}
  town: {kind: category, public: true, categories: [a, b, c]}
  income: {kind: integer, bounds: [0, 1000]}
  height: {kind: integer, bounds: [100, 200]}
  shoe: {kind: integer, bounds: [20, 60], precision: 1.5}
  shop: {kind: integer, bounds: [10, 1000]}
"""
LEVEL = Decimal("0.95")
CELLS = (0,)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    tmp_path = tmp_path_factory.mktemp("house")
    rows = [
        f"{pid},{'ab'[pid % 2]},{200 + pid % 5},{150 + pid % 9},{40 + pid % 4},{50 + pid % 9}" for pid in range(400)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["pid,town,income,height,shoe,shop", *rows, ""]), encoding="utf-8")
    (tmp_path / "people.yaml").write_text(CARD, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        yield from open_house(tmp_path)


def open_house(folder: Path) -> Iterator[Session]:
    with Session.create(folder / "w") as session:
        session.add(folder / "people.csv", confirm=lambda _: True)
        yield session


def design_of(house: Session, value: str, epsilon: object = 1) -> Design:
    request = table_request("people", "town", value=value, mean=True, margins=False)
    return house.tables.read(request, epsilon=epsilon).design  # type: ignore[arg-type]


def figures_of(design: Design, totals: Sequence[int], sizes: Sequence[int], level: Decimal = LEVEL) -> MarginFigures:
    """The means of noisy values chosen here, in the order of the towns and no town."""
    return figure_margins(design, noisy_of(design, totals, sizes), level=level)[CELLS]


def noisy_of(design: Design, totals: Sequence[int], sizes: Sequence[int]) -> Noisy:
    pricing = design.price()
    measures = []
    for measure, priced, values in zip(design.statement.plan.measures, pricing.measures, (totals, sizes), strict=True):
        name = Serialisation.of(design.statement.plan).measure_id(measure)
        measures.append(NoisyMeasure(name, priced.epsilon, None, priced.mechanisms, tuple(values)))
    return Noisy(tuple(measures), pricing.guarantee)


def half_of(found: MarginFigures) -> float:
    low, high = found.low[0], found.high[0]
    assert low is not None
    assert high is not None
    return (high - low) / 2


def bound_of(design: Design, figures: int) -> float:
    mechanism = cast("DiscreteLaplace", design.price().measures[1].mechanisms[0])
    return float(mechanism.scale) * math.log(figures / 0.1)


def test_a_mean_is_shown_only_where_its_size_tells_it_from_nobody(house: Session) -> None:
    """K cells, noise of scale b: b · ln(K / 0.1), and less than a step more because noise is whole."""
    design = design_of(house, "income")
    bound = bound_of(design, 4)
    first = math.floor(bound) + 1
    found = figures_of(design, [0] * 4, [first - 1, first, first + 1, -5])
    assert found.too_small is not None
    shown = [not one for one in found.too_small]
    assert (shown[0], shown[2], shown[3]) == (False, True, False)
    ratio = math.exp(-1 / float(cast("DiscreteLaplace", design.price().measures[1].mechanisms[0]).scale))
    assert shown[1] == (4 * ratio**first / (1 + ratio) <= 0.05)


def test_what_is_too_small_has_no_number_and_no_grade(house: Session) -> None:
    table = house.table("people", by="town", value="income", mean=True, epsilon=500)
    nobody = table.cells[2]
    assert nobody.quality is Quality.TOO_SMALL
    assert (nobody.value, nobody.raw, nobody.low, nobody.high) == (None, None, None, None)
    assert {table.cells[0].quality, table.cells[1].quality} == {Quality.GOOD}
    told = table.to_dict()
    assert told["cells"][2]["quality"] == "too small"
    assert told["cells"][2]["value"] is None
    said = [sentence for _, sentence in map(say_message, table.notes)]
    assert any("no empty group" in one.en and "aucun groupe vide" in one.fr for one in said)


def test_an_interval_that_a_bound_cuts_does_not_make_a_mean_good(house: Session) -> None:
    """At the upper bound the interval shown is narrow, because most of it lies beyond."""
    design = design_of(house, "income", "0.1")
    found = figures_of(design, [500 * 250, 0, 0, 0], [150, 200, 200, 200])
    assert found.high[0] == 1000
    assert found.values[0] == 1000
    assert found.grades()[0] is not Quality.GOOD
    sure = figures_of(design, [500 * 100_000, 0, 0, 0], [100_000, 200, 200, 200])
    assert sure.grades()[0] is Quality.GOOD


def test_columns_that_begin_at_0_are_graded_by_the_relative_error_at_the_low_end(house: Session) -> None:
    design = design_of(house, "income", "0.1")
    for size in range(200, 6000, 300):
        found = figures_of(design, [-300 * size, 0, 0, 0], [size] * 4)
        half = half_of(found)
        relative = half / 1.96 / max(found.values[0] - half, 1e-9)
        if abs(relative - 0.165) > 0.03 and abs(relative - 0.333) > 0.06 and (found.low[0] or 0) > 0:
            expected = Quality.GOOD if relative < 0.165 else Quality.CAUTION if relative < 0.333 else Quality.UNRELIABLE
            assert found.grades()[0] is expected


def test_good_means_are_judged_together(house: Session) -> None:
    """A mean that is good among four good ones is not when it alone is: noise could well have made one in four so."""
    design = design_of(house, "income", "0.1")
    alone, among = [], []
    for size in range(400, 3000, 50):
        others, total = [200] * 3, -250 * size
        alone.append(figures_of(design, [total, 0, 0, 0], [size, *others]).grades()[0] is Quality.GOOD)
        among.append(figures_of(design, [total] * 4, [size] * 4).grades()[0] is Quality.GOOD)
        level = Decimal("0.9875") if alone[-1] else LEVEL
        if alone[-1] or among[-1]:
            found = figures_of(design, [total] * 4, [size] * 4, level)
            assert found.values[0] <= 1.33 * (found.low[0] or 0)
            assert found.values[0] >= 0.67 * (found.high[0] or 0)
    assert alone == sorted(alone)
    assert among == sorted(among)
    assert 0 < sum(alone) < sum(among)


def test_a_column_that_begins_above_0_is_not_good_when_it_may_be_wrong_by_a_third(house: Session) -> None:
    """Half-widths of less than 5% of the range are more than a third of a mean near the low bound."""
    design = design_of(house, "shop", "0.1")
    found = figures_of(design, [-440 * 1500, 440 * 1500, 0, 0], [1500] * 4)
    assert [half_of(found) < 0.05 * 990, *found.grades()[:2]] == [True, Quality.CAUTION, Quality.GOOD]


def test_other_columns_are_graded_against_their_range(house: Session) -> None:
    design = design_of(house, "height", "0.1")
    grades = set()
    for size in range(200, 6000, 100):
        found = figures_of(design, [0] * 4, [size] * 4)
        half = half_of(found)
        grades.add(found.grades()[0])
        expected = Quality.GOOD if half <= 5 else Quality.CAUTION if half <= 10 else Quality.UNRELIABLE
        assert found.grades()[0] is expected
    assert len(grades) == 3


def test_the_precision_of_the_card_goes_before_both(house: Session) -> None:
    design = design_of(house, "shoe", "0.1")
    grades = set()
    for size in range(200, 6000, 100):
        found = figures_of(design, [0] * 4, [size] * 4)
        half = half_of(found)
        grades.add(found.grades()[0])
        expected = Quality.GOOD if half <= 1.5 else Quality.CAUTION if half <= 3 else Quality.UNRELIABLE
        assert found.grades()[0] is expected
    assert len(grades) == 3


@pytest.mark.parametrize("level", ["0.5", "0.999"])
def test_grades_do_not_follow_the_level(house: Session, level: str) -> None:
    for value in ("income", "height", "shoe"):
        design = design_of(house, value, "0.1")
        noisy = [3000, -2000, 100, 7], [300, 900, 3000, 5000]
        assert figures_of(design, *noisy, Decimal(level)).grades() == figures_of(design, *noisy).grades()


def test_the_value_shown_lies_in_its_interval(house: Session) -> None:
    design = design_of(house, "income", "0.5")
    measured = house.open_engine(design.formed.datasets).measure(design.statement.plan)
    for _ in range(30):
        found = figure_margins(design, draw(design.statement.plan, design.price(), measured), level=LEVEL)[CELLS]
        for value, low, high in zip(found.values, found.low, found.high, strict=True):
            assert low is not None
            assert high is not None
            assert low <= value <= high
            assert low < high


def test_typical_and_precision_are_read_and_told(house: Session) -> None:
    assert house.workspace.dataset("people").card.column("shoe").precision == Decimal("1.5")
    column = next(one for one in house.describe("people")["columns"] if one["name"] == "shoe")  # type: ignore[attr-defined]
    assert column["precision"] == "1.5"
