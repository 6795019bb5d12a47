"""Columns in arrays: the same numbers, bit for bit, as cell by cell, or none at all."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.release.cells.arrangement import arrange
from discreet.release.cells.output_arrays import CellByCell, arrange_many, interval_columns, to_array, value_column
from discreet.release.cells.output_columns import NoiseReach, show_intervals, show_values
from discreet.results.row_listing import Chosen, PairedColumns, RowListing
from discreet.sql.outputs import (
    All,
    Any,
    Arithmetic,
    Comparison,
    Constant,
    KeyAmong,
    KeyShown,
    Magnitude,
    Mean,
    Negation,
    Noted,
    Order,
    Output,
    Pick,
    Presentation,
    Selection,
    Spread,
    measures_used,
)

T = TypeVar("T")

CELLS = 40
SIZES = st.sampled_from([10, 1_000, 10**6, 10**10, 2**53, 2**61])
STEPS = st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(3), Fraction(1, 3), Fraction(7, 10**9)])
MEASURES = st.tuples(SIZES, st.integers(0, 2**32)).map(
    lambda drawn: [random.Random(drawn[1] + one).choices(range(-drawn[0], drawn[0] + 1), k=CELLS) for one in range(3)]
)


def means() -> st.SearchStrategy[Output]:
    return st.builds(
        lambda step, centre, width: Mean(0, 1, step, Fraction(1), centre, Fraction(1), centre - width, centre + width),
        STEPS,
        st.fractions(-50, 50, max_denominator=4),
        st.fractions(1, 50, max_denominator=2),
    )


def outputs() -> st.SearchStrategy[Output]:
    leaves: st.SearchStrategy[Output] = st.one_of(
        st.builds(Noted, st.integers(0, 2), STEPS),
        st.builds(Constant, st.fractions(-20, 20, max_denominator=10)),
        means(),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner), st.builds(Magnitude, inner)
        ),
        max_leaves=4,
    )


def in_arrays(work: Callable[[], T]) -> T | None:
    """What arrays give, or None where they give nothing."""
    try:
        return work()
    except CellByCell:
        return None


def listed(column: object) -> list[object]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)  # type: ignore[call-overload, no-any-return]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(outputs(), MEASURES)
def test_values_are_those_of_single_cells(output: Output, measures: list[list[int]]) -> None:
    found = in_arrays(lambda: value_column(output, [to_array(one) for one in measures], CELLS))
    if found is not None:
        expected = show_values(output, measures, range(CELLS))
        assert listed(found) == expected
        assert [type(one) for one in listed(found)] == [type(one) for one in expected]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(outputs(), MEASURES, st.integers(0, 500), st.booleans())
def test_intervals_are_those_of_single_cells(
    output: Output, measures: list[list[int]], half: int, by_slice: bool
) -> None:
    slices = [place % 3 for place in range(CELLS)] if by_slice else None
    margins = {place: NoiseReach((half, 2 * half, 7), slices) for place in measures_used(output)}
    places = list(range(CELLS))[::-1]
    arrays = [to_array(one)[places] for one in measures]
    found = in_arrays(lambda: interval_columns(output, arrays, margins, places))
    if found is not None:
        low, high = found
        expected = show_intervals(output, measures, places, margins)
        assert list(map(list, zip(listed(low), listed(high), strict=True))) == expected


@pytest.mark.parametrize(
    "output",
    [
        Noted(0, Fraction(1)),
        Noted(0, Fraction(1, 100)),
        Arithmetic("/", Noted(0, Fraction(1, 100)), Noted(1, Fraction(1))),
    ],
)
def test_what_people_ask_for_is_worked_out_in_arrays(output: Output) -> None:
    measures = [[place * 7 - 100 for place in range(CELLS)], [place - 3 for place in range(CELLS)]]
    arrays = [to_array(one) for one in measures]
    margins = {place: NoiseReach((5,)) for place in measures_used(output)}
    assert listed(value_column(output, arrays, CELLS)) == show_values(output, measures, range(CELLS))
    low, high = interval_columns(output, arrays, margins, range(CELLS))
    ends = list(map(list, zip(listed(low), listed(high), strict=True)))
    assert ends == show_intervals(output, measures, range(CELLS), margins)


def test_what_does_not_fit_goes_cell_by_cell() -> None:
    with pytest.raises(CellByCell):
        to_array([2**63])
    with pytest.raises(CellByCell):
        to_array([2**62])
    large = [to_array([2**60] * 3)] * 3
    for output in (
        Arithmetic("*", Noted(0, Fraction(1)), Noted(1, Fraction(1))),
        Pick(True, (Noted(0, Fraction(1)),)),
        Spread(0, 1, 2, Fraction(1), Fraction(9), False),
    ):
        with pytest.raises(CellByCell):
            value_column(output, large, 3)


KEYS: Sequence[Sequence[int | None]] = ((3, 1, 2, None), tuple(range(10)))
GRID = [(one, other) for one in KEYS[0] for other in KEYS[1]]


def key_of(place: int) -> tuple[Sequence[int | str | None], np.ndarray]:
    numbers = np.arange(CELLS)
    return KEYS[place], numbers // 10 if place == 0 else numbers % 10


def selections() -> st.SearchStrategy[Selection]:
    leaves: st.SearchStrategy[Selection] = st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), outputs(), outputs()),
        st.builds(KeyAmong, st.just(0), st.sampled_from([frozenset({1, 3}), frozenset({None, 2}), frozenset({None})])),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Negation, inner),
            st.builds(All, st.tuples(inner, inner)),
            st.builds(Any, st.tuples(inner, inner)),
        ),
        max_leaves=4,
    )


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.one_of(st.none(), selections()),
    st.lists(
        st.builds(Order, st.one_of(st.builds(KeyShown, st.integers(0, 1)), outputs()), st.booleans(), st.booleans()),
        max_size=2,
    ),
    st.one_of(st.none(), st.integers(0, 50)),
    st.integers(0, 5),
    MEASURES,
)
def test_cells_are_chosen_and_ordered_as_one_by_one(
    having: Selection | None, order: list[Order], limit: int | None, offset: int, measures: list[list[int]]
) -> None:
    shown = Presentation((), having=having, order=tuple(order), limit=limit, offset=offset)
    found = in_arrays(lambda: arrange_many(shown, key_of, [to_array(one) for one in measures], CELLS))
    if found is not None:
        assert list(found) == list(arrange(shown, GRID, measures))


def test_rows_are_made_when_they_are_looked_at() -> None:
    numbers = np.arange(20_000) % 3
    columns: dict[str, Sequence[object]] = {
        "town": Chosen(["N", "S", None], numbers),
        "n": np.arange(20_000),  # type: ignore[dict-item]
    }
    rows = RowListing(columns, 20_000)
    assert len(rows) == 20_000
    assert rows[1] == {"town": "S", "n": 1}
    assert rows[-1] == {"town": "S", "n": 19_999}
    assert rows[8_190:8_194] == [
        {"town": "NS"[place % 3] if place % 3 < 2 else None, "n": place} for place in range(8_190, 8_194)
    ]
    assert [row["n"] for row in rows] == list(range(20_000))
    assert type(rows[5]["n"]) is int
    assert rows == list(rows)
    assert rows != [*list(rows)[:-1], {}]
    assert rows != 5
    assert repr(rows).startswith("[{'town': 'N', 'n': 0}, ")
    with pytest.raises(IndexError):
        rows[20_000]
    assert list(RowListing({}, 2)) == [{}, {}]
    pairs = PairedColumns(np.array([1.5, 2.5]), [3, None])  # type: ignore[arg-type]
    assert list(pairs) == [[1.5, 3], [2.5, None]]
    assert pairs[-1] == [2.5, None]
