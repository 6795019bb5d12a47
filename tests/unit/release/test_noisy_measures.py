"""Noisy measures: what is drawn for which cell, what is stored, what comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from discreet.engines.engine import Measured
from discreet.guarantees.types import ApproxDP, PureDP, Unproven
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.release.measurement.noisy_measures import Noisy, NoisyMeasure, SearchedBounds, draw, slices_of
from discreet.release.measurement.pricing import Threshold, price
from discreet.sql.algebra import Extreme, Key, Quantile
from discreet.sql.first_form import make_first_form
from discreet.sql.serialisation import Serialisation
from tests.algebra.columns import at, field
from tests.unit.release.statements import BY_PROVINCE, BY_TOWN, COUNT, SUM, UNITS, WEIGHTS, make_card, make_statement

CARDS = {"t": make_card()}
BY_X = Key(field("x"), (0, 1))


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[DiscreteLaplace, list[int]]]:
    """Laplace noise replaced by none; every release is noted."""
    released: list[tuple[DiscreteLaplace, list[int]]] = []

    def release(self: DiscreteLaplace, values: Sequence[int]) -> list[int]:
        released.append((self, list(values)))
        return list(values)

    monkeypatch.setattr(DiscreteLaplace, "release", release)
    return released


def test_every_cell_gets_the_mechanism_of_its_slice(silent: list[Any]) -> None:
    statement = make_statement(COUNT, WEIGHTS, keys=(BY_X, BY_PROVINCE))
    pricing = price(statement, CARDS, epsilon=Decimal(2))
    noisy = draw(statement.plan, pricing, Measured(([1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 60])))
    assert silent[0][1] == [1, 2, 3, 4, 5, 6]
    assert [(int(mechanism.scale), values) for mechanism, values in silent[1:]] == [
        (30, [10, 40]),
        (120, [20, 50]),
        (120, [30, 60]),
    ]
    assert noisy.in_order_of(statement)[1].values == (10, 20, 30, 40, 50, 60)


def test_slices_follow_the_product_of_the_keys() -> None:
    keys = (BY_X, BY_PROVINCE, BY_X)
    plan = make_statement(COUNT, keys=keys).plan
    for place, key in enumerate(keys):
        cells = list(product(*(one.cells or () for one in keys)))
        assert slices_of(plan, place, None) == [(key.cells or ()).index(cell[place]) for cell in cells]
        assert slices_of(plan, place, cells) == slices_of(plan, place, None)


def test_only_keys_that_pass_are_shown_sorted_with_null_last_and_only_they_are_drawn_for(silent: list[Any]) -> None:
    statement = make_statement(SUM, UNITS, keys=(BY_TOWN,))
    pricing = price(statement, CARDS, epsilon=Decimal(20), delta=Decimal("1e-6"))
    assert pricing.threshold is not None
    least = pricing.threshold.least
    keys = ((None,), ("b",), ("a",), ("rare",))
    measured = Measured(([1, 2, 3, 4], [least, least, least + 5, least - 1]), keys)
    noisy = draw(statement.plan, pricing, measured)
    assert noisy.keys == (("a",), ("b",), (None,))
    assert [one.values for one in noisy.in_order_of(statement)] == [(3, 2, 1), (least + 5, least, least)]
    assert [values for _, values in silent] == [[least, least, least + 5, least - 1], [3, 2, 1]]


def test_an_empty_data_set_shows_no_open_key() -> None:
    statement = make_statement(SUM, UNITS, keys=(BY_TOWN,))
    pricing = price(statement, CARDS, epsilon=Decimal(1), delta=Decimal("1e-6"))
    noisy = draw(statement.plan, pricing, Measured(([], []), ()))
    assert noisy.keys == ()
    assert Noisy.from_bytes(noisy.to_bytes()) == noisy


def test_what_nobody_can_move_stays_exact() -> None:
    plan = make_statement(COUNT).plan
    pricing = price(make_statement(COUNT), CARDS, epsilon=Decimal(1))
    exact = replace(pricing, measures=(replace(pricing.measures[0], mechanisms=(None,)),))
    assert draw(plan, exact, Measured(([41],))).measures[0].values == (41,)


def test_quantiles_of_empty_cells_are_values_like_any_other() -> None:
    ends = (-5, 20)
    median, least = Quantile(field("x"), Fraction(1, 2), ends), Extreme(field("x"), largest=False, candidates=ends)
    statement = make_statement(median, least)
    pricing = price(statement, CARDS, epsilon=Decimal(1))
    noisy = draw(statement.plan, pricing, Measured(([[]], [[(3, 1000)]])))
    assert all(-5 <= value <= 20 for one in noisy.measures for value in one.values)


@pytest.mark.parametrize(
    "measured", [Measured(([1, 2],)), Measured(([1], [2])), Measured(([1],), ((1,),))], ids=["cells", "columns", "keys"]
)
def test_an_engine_that_measured_something_else_is_at_fault(measured: Measured) -> None:
    statement = make_statement(COUNT)
    with pytest.raises(ValueError, match="the engine"):
        draw(statement.plan, price(statement, CARDS, epsilon=Decimal(1)), measured)


IDS = Serialisation.of(make_statement(COUNT, SUM).plan)


def example(**changes: Any) -> Noisy:
    measures = (
        NoisyMeasure(
            IDS.measure_id(COUNT), Decimal("0.5"), None, (DiscreteLaplace(scale=Fraction(7, 2)),), (1, -2, 2**90)
        ),
        NoisyMeasure(
            IDS.measure_id(SUM), Decimal("0.5"), 0, (NoisyMax(rate=Fraction(1, 3), monotone=True), None), (4, 5, 6)
        ),
    )
    return Noisy(**{"measures": measures, "charged": PureDP(epsilon="0.1"), **changes})


def test_stored_values_come_back_bit_for_bit() -> None:
    threshold = Threshold(least=17, keys=3, delta=Decimal("1e-7"))
    for noisy in (
        example(),
        example(unproven="bounds were read from the rows"),
        example(charged=ApproxDP(epsilon=1, delta="1e-7"), keys=(("é",), (3,), (None,)), threshold=threshold),
    ):
        again = Noisy.from_bytes(noisy.to_bytes())
        assert again.to_bytes() == noisy.to_bytes()
        assert again.guarantee == noisy.guarantee
        assert (again.keys, again.threshold) == (noisy.keys, noisy.threshold)
        assert set(again.measures) == set(noisy.measures)
        assert json.loads(noisy.to_bytes())["schema"] == 3


def test_a_stored_answer_serves_every_order_of_the_measures() -> None:
    noisy = Noisy.from_bytes(example().to_bytes())
    for order in ((COUNT, SUM), (SUM, COUNT)):
        ids = [one.id for one in noisy.in_order_of(make_statement(*order))]
        assert ids == [IDS.measure_id(measure) for measure in order]
    reordered = example(measures=tuple(reversed(example().measures)))
    assert reordered.to_bytes() == example().to_bytes()


def test_an_unproven_release_never_claims_the_charge_as_its_guarantee() -> None:
    noisy = example(unproven="bounds were read from the rows")
    assert isinstance(noisy.guarantee, Unproven)
    assert isinstance(Noisy.from_bytes(noisy.to_bytes()).guarantee, Unproven)


def test_answers_of_the_first_form_are_read_by_what_they_called_their_measures_and_columns() -> None:
    statement = replace(make_statement(SUM, COUNT), private=((at("x"), Fraction(1)),))
    form = make_first_form(statement.plan, statement.names)
    assert form.measure_id(SUM) != IDS.measure_id(SUM)
    found = SearchedBounds(-3, 9, found=True, epsilon=Decimal("0.25"))
    counted, summed = example().measures
    measures = replace(counted, id=form.measure_id(COUNT)), replace(summed, id=form.measure_id(SUM))
    stored = example(measures=measures, bounds={"x": found}, schema=2).to_bytes()
    noisy = Noisy.from_bytes(stored)
    assert noisy.to_bytes() == stored
    assert [one.values for one in noisy.in_order_of(statement)] == [(4, 5, 6), (1, -2, 2**90)]
    assert noisy.bounds_of(statement) == {at("x"): found}


def test_bounds_are_stored_under_the_number_of_their_column() -> None:
    statement = replace(make_statement(SUM, COUNT), private=((at("x"), Fraction(1)),))
    found = SearchedBounds(-3, 9, found=True, epsilon=Decimal("0.25"))
    noisy = Noisy.from_bytes(example(bounds={"0": found}).to_bytes())
    assert noisy.bounds_of(statement) == {at("x"): found}
    with pytest.raises(KeyError):
        Noisy.from_bytes(example(bounds={"x": found}).to_bytes()).bounds_of(statement)
