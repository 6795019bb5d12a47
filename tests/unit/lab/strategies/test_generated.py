"""The thesis' listing line by line, its CalcSens against the printed sensitivities, and what it must never do."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.readings import read_data
from discreet_replications.thesis.data.thesis_queries import QUERIES, matches

from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine_choice import engine_for
from discreet.errors import QueryRefused
from discreet.guarantees.types import Neighbours
from discreet.lab.strategies.generated_strategy import (
    Generated,
    calculate_sensitivity,
    estimate,
    sensitivity_of,
    unfiltered,
)
from discreet.lab.strategies.subject import AggregateKind, HeldValues, Subject, hold, subject_of
from discreet.release.ask_reader import Shelf
from discreet.sql.algebra import Clamp, Filter, Plan, Plus, Quantile, Scan, Whole, Within
from discreet.sql.reader.questions import read_statement
from tests.algebra.columns import at, field
from tests.places import SHARED
from tests.unit.tables.office import open_office

SOURCE = Scan("t", 1, ((at("x"), "x"), (at("y"), "y")))
SUBJECT = Subject(
    aggregate=AggregateKind.SUM,
    source=SOURCE,
    value=field("x"),
    step=Fraction(1, 2),
    unit_rows=1,
    neighbours=Neighbours.ADD_REMOVE,
    low=0,
    high=1000,
    bounded=True,
    dataset="t",
    column="x",
    text="SUM(x)",
)
HELD = HeldValues(((2, 3), (10, 1), (80, 1)), 7)


def transcribed(real: float, generated: float, seed: int) -> tuple[float, float, bool, float]:
    """The listing as printed, with a seeded generator in place of numpy's global one."""
    random = np.random.default_rng(seed)
    realSensitivity, generatedSensitivity = real, generated  # noqa: N806
    difference = abs(realSensitivity - generatedSensitivity)
    estimatedSensitivity = generatedSensitivity + (random.normal() + 3) * difference  # noqa: N806
    coin = random.binomial(1, 0.75) == 1
    if coin:  # noqa: SIM108
        usedSensitivity = realSensitivity  # noqa: N806
    else:
        usedSensitivity = estimatedSensitivity  # noqa: N806
    usedSensitivity += random.uniform(0.015, 0.06) * generatedSensitivity  # noqa: N806
    return difference, estimatedSensitivity, bool(coin), usedSensitivity


@pytest.mark.parametrize(("real", "generated"), [(50000.0, 47500.0), (0.2256, 0.2256), (1.0, 100.0), (76.0, 3.1026)])
def test_every_line_agrees_with_the_listing(real: float, generated: float) -> None:
    seen = Counter[bool]()
    for seed in range(40):
        mine = estimate(real, generated, np.random.default_rng(seed))
        difference, estimated, coin, used = transcribed(real, generated, seed)
        assert (mine.real, mine.generated) == (real, generated)
        assert (mine.difference, mine.estimated, mine.coin, mine.used) == (difference, estimated, coin, used)
        assert 0.015 * generated <= mine.margin <= 0.06 * generated
        seen[coin] += 1
    assert min(seen[True], seen[False]) > 0


def test_the_example_of_the_thesis() -> None:
    """A maximum of 50,000 and a generated one of 47,500: 2,500 apart; AVG divides by the real rows."""
    listing = estimate(50000.0, 47500.0, np.random.default_rng(0))
    assert listing.difference == 2500
    assert calculate_sensitivity(AggregateKind.SUM, Fraction(47500), 50) == 47500
    assert calculate_sensitivity(AggregateKind.AVG, Fraction(50000), 51) == 1000
    assert calculate_sensitivity(AggregateKind.COUNT, Fraction(50000), 51) == 1


def test_a_mean_over_hardly_any_rows_is_no_error() -> None:
    for rows in (0, 1, 2):
        assert calculate_sensitivity(AggregateKind.AVG, Fraction(7), rows) == 7


def test_generated_means_divide_by_the_real_rows() -> None:
    """Table 22 of the thesis: the means for SUM and AVG of number_emergency, 101,766 rows, a sample of 100,000."""
    mean = float(calculate_sensitivity(AggregateKind.AVG, Fraction("3.1026"), 101_766))
    assert f"{mean:.4e}" == "3.0488e-05"
    by_sample = float(calculate_sensitivity(AggregateKind.AVG, Fraction("3.1026"), 100_000))
    assert f"{by_sample:.4e}" != "3.0488e-05"


def test_the_real_sensitivity_counts_rows_without_a_value() -> None:
    assert sensitivity_of(SUBJECT, HELD) == 40
    assert sensitivity_of(replace(SUBJECT, aggregate=AggregateKind.AVG), HELD) == Fraction(40, 6)
    assert sensitivity_of(replace(SUBJECT, aggregate=AggregateKind.COUNT), HELD) == 1
    assert sensitivity_of(SUBJECT, HeldValues((), 7)) == 0


def test_a_maximum_is_that_of_absolute_values() -> None:
    """Else a column of losses would be answered with hardly any noise."""
    assert sensitivity_of(SUBJECT, HeldValues(((-80, 1), (10, 3)), 4)) == 40


VALUES = ("age", "change", "height", "CLAMP(wide, 0, 100)", "100 * height")
WHERE = ("", "WHERE smokes = '1'", "WHERE change > 49")


def test_an_engine_tells_without_a_histogram_what_the_listing_needs(tmp_path: Path) -> None:
    with open_office(tmp_path) as office:
        workspace = office.session.workspace
        with closing(engine_for({"people": workspace.dataset("people")}, salt=workspace.salt)) as engine:
            for value, aggregate, where in product(VALUES, ("COUNT", "SUM", "AVG"), WHERE):
                sql = f"SELECT {aggregate}({value}) FROM people {where}"
                subject = subject_of(*read_statement(sql, Shelf(workspace)))
                whole = hold(unfiltered(subject), engine)
                guessed = calculate_sensitivity(subject.aggregate, Fraction(9), whole.rows)
                rng = np.random.default_rng(1)
                slow = Generated.calibrate(subject, hold(subject, engine), guessed, epsilon=1, rng=rng, whole=whole)
                assert Generated.measure(subject, engine, Fraction(9), epsilon=1, rng=rng) == slow, sql


def test_what_the_rows_reach_to_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[Plan] = []
    measure = EmbeddedEngine.measure

    def counting(engine: EmbeddedEngine, plan: Plan) -> Any:
        ranked.extend([plan] if any(isinstance(one, Quantile) for one in plan.measures) else [])
        return measure(engine, plan)

    monkeypatch.setattr(EmbeddedEngine, "measure", counting)
    with open_office(tmp_path) as office:
        workspace = office.session.workspace
        with closing(engine_for({"people": workspace.dataset("people")}, salt=workspace.salt)) as engine:
            for aggregate, age in (("SUM", 20), ("AVG", 30), ("COUNT", 40)):
                sql = f"SELECT {aggregate}(change) FROM people WHERE age > {age}"
                subject = subject_of(*read_statement(sql, Shelf(workspace)))
                Generated.measure(subject, engine, Fraction(9), epsilon=1, rng=np.random.default_rng(1))
    [plan] = ranked
    assert isinstance(plan.source, Scan)
    assert (plan.source.dataset, plan.source.rows) == ("people", 1)


def test_all_rows_count_for_the_sensitivity_whatever_is_asked() -> None:
    asked = replace(SUBJECT, source=Filter(Filter(SOURCE, Within(field("x"), 0, 9)), Within(field("y"), 0, 9)))
    assert unfiltered(asked) == SUBJECT
    clamped = replace(asked, value=Clamp(field("x"), -(10**6), 10**6))
    assert unfiltered(clamped).source == SOURCE
    filtered = HeldValues(((2, 3),), 3)
    strategy = Generated.calibrate(asked, filtered, Fraction(40), epsilon=1, rng=np.random.default_rng(1), whole=HELD)
    assert strategy.answer == 3
    assert strategy.real == 40


@pytest.mark.parametrize(
    "changes",
    [
        {"aggregate": AggregateKind.MAX},
        {"value": Plus((field("x"), Whole(1)))},
        {"value": field("x"), "column": None},
    ],
)
def test_other_questions_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(QueryRefused, match="COUNT, SUM or AVG of one column"):
        unfiltered(replace(SUBJECT, **changes))


class Rigged:
    """A generator whose normal draw is far below, and whose coin chooses the estimate."""

    def normal(self) -> float:
        return -4.5

    def binomial(self, _n: int, _p: float) -> int:
        return 0

    def uniform(self, _low: float, _high: float) -> float:
        return 0.03


def test_a_negative_estimate_is_clamped_to_the_smallest_step() -> None:
    """Generated 1, real 100: 1 - 1.5 * 99 is below 0, and no noise has such a scale."""
    rigged: Any = Rigged()
    listing = estimate(100.0, 1.0, rigged)
    assert listing.estimated == 1 - 1.5 * 99
    assert listing.used < 0
    held = HeldValues(((2, 5), (200, 1)), 6)
    strategy = Generated.calibrate(SUBJECT, held, Fraction(1), epsilon="0.5", rng=rigged)
    drawn = strategy.draw()
    assert drawn.sensitivity == 0.5  # one step
    assert math.isfinite(drawn.result)
    mean = Generated.calibrate(
        replace(SUBJECT, aggregate=AggregateKind.AVG), held, Fraction(1, 5), epsilon="0.5", rng=rigged
    )
    assert mean.draw().sensitivity == pytest.approx(0.5 / 5)


@pytest.mark.parametrize(
    "held", [HeldValues((), 0), HeldValues((), 9), HeldValues(((0, 4),), 4), HeldValues(((5, 1),), 1)]
)
@pytest.mark.parametrize("aggregate", [AggregateKind.COUNT, AggregateKind.SUM, AggregateKind.AVG])
def test_no_rows_are_an_error(held: HeldValues, aggregate: AggregateKind) -> None:
    subject = replace(SUBJECT, aggregate=aggregate)
    strategy = Generated.calibrate(subject, held, Fraction(0), epsilon="0.01", rng=np.random.default_rng(3))
    drawn = strategy.draw()
    assert math.isfinite(drawn.result)
    assert drawn.sensitivity > 0
    assert not strategy.guarantee.differentially_private
    assert strategy.name == "generated"


def test_every_draw_runs_the_listing_anew() -> None:
    strategy = Generated.calibrate(SUBJECT, HELD, Fraction(30), epsilon=1, rng=np.random.default_rng(5))
    drawn = [strategy.draw() for _ in range(20)]
    assert len({one.sensitivity for one in drawn}) == 20
    assert len({one.result for one in drawn}) == 20


# --- the printed sensitivities --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(
    not (SHARED / "diabetes130.csv.gz").is_file(), reason="the data of the thesis are not beside the project"
)
def test_the_printed_sensitivities_are_those_of_the_data() -> None:
    tables = read_data(SHARED).tables(KidneyReading.THESIS)
    for query in QUERIES:
        table = tables[query.dataset]
        greatest = max(Fraction(value) for value, _ in table.histogram(query.column))
        found = calculate_sensitivity(AggregateKind(query.aggregate), greatest, table.rows)
        assert matches(found, query.sensitivity), query
