"""Raking to public totals: what it meets, what it leaves alone, what it refuses."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.cards.columns import ColumnKind, Labels
from discreet.errors import ParameterInvalid, UnknownName
from discreet.results import Heading
from discreet.sql.statement import KeyFace
from discreet.tables.calibration import Target, calibrate, grid_of, meet, read_totals
from discreet.tables.linear.layout import keep_keys
from discreet.workspace.public_tables import PublicTable, describe_column

TABLE = np.array([[10.0, 30.0], [20.0, 20.0], [0.0, 50.0]])


def totals(*figures: float) -> NDArray[np.float64]:
    return np.array(figures)


def test_one_target_is_met_in_one_step() -> None:
    made = calibrate(TABLE, [Target((0,), totals(80, 40, 25))], iterations=1)
    np.testing.assert_allclose(made.values, [[20, 60], [20, 20], [0, 25]], rtol=1e-15)
    np.testing.assert_allclose(made.factors[0], [2, 1, 0.5])
    assert made.converged
    assert made.unmatched == ()


def test_a_grand_total_scales_the_table() -> None:
    made = calibrate(TABLE.astype(np.int64), [Target((), totals(260).reshape(()))])
    np.testing.assert_allclose(made.values, 2 * TABLE)


def test_two_targets_are_met_together() -> None:
    made = calibrate(TABLE, [Target((0,), totals(60, 60, 60)), Target((1,), totals(50, 130))])
    assert made.converged
    np.testing.assert_allclose(made.values.sum(axis=1), [60, 60, 60])
    np.testing.assert_allclose(made.values.sum(axis=0), [50, 130])
    # odds between rows stay as they were, and an empty cell stays empty
    odds = made.values[0, 0] * made.values[1, 1] / (made.values[0, 1] * made.values[1, 0])
    assert odds == pytest.approx(10 * 20 / (30 * 20))
    assert made.values[2, 0] == 0


def test_what_cannot_be_matched_is_named_and_shared_out_like_the_rest() -> None:
    table = np.array([[0.0, 0.0], [3.0, 5.0], [2.0, 2.0], [1.0, 1.0]])
    made = calibrate(table, [Target((0,), totals(7, 0, 8, float("nan")))])
    assert made.unmatched == ((0, (0,)),)
    np.testing.assert_allclose(made.values, [[3, 4], [0, 0], [4, 4], [1, 1]])
    assert made.converged
    nothing = calibrate(np.zeros((2, 2)), [Target((), totals(8).reshape(()))])
    np.testing.assert_allclose(nothing.values, 2)


def test_totals_that_zeros_make_impossible_are_met_all_the_same() -> None:
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    wanted = [Target((0,), totals(1, 3)), Target((1,), totals(3, 1))]
    made = calibrate(table, wanted)
    assert made.converged
    np.testing.assert_allclose(made.values.sum(axis=1), [1, 3])
    np.testing.assert_allclose(made.values.sum(axis=0), [3, 1])
    whole = meet(calibrate(table, wanted, iterations=2).values, wanted)
    assert whole.sum(axis=1).tolist() == [1, 3]
    assert whole.sum(axis=0).tolist() == [3, 1]


@pytest.mark.parametrize("seed", range(20))
def test_whole_figures_meet_every_total(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = tuple(chance.integers(1, 6, size=int(chance.integers(1, 4))).tolist())
    table = chance.gamma(0.3, 40, size=sizes) * (chance.random(sizes) > 0.4)
    whole = int(chance.integers(1, 10 ** int(chance.integers(1, 12))))
    keys = [(key,) for key in range(len(sizes))] if seed % 3 else [()]
    wanted = [Target(kept, share_out(chance, whole, tuple(sizes[key] for key in kept))) for kept in keys]
    raked = calibrate(table, wanted).values
    made = meet(raked, wanted)
    assert (made >= 0).all()
    for target in wanted:
        np.testing.assert_array_equal(keep_keys(made, target.kept).astype(np.float64), target.totals)
    assert np.abs(made - raked).max() <= 1 + len(keys) + 1e-4 * whole


def share_out(chance: np.random.Generator, whole: int, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Whole totals that add up, some of them 0."""
    count = int(np.prod(sizes))
    cuts = np.sort(chance.integers(0, whole, size=count - 1, endpoint=True))
    return np.diff([0, *cuts, whole]).astype(np.float64).reshape(sizes)


def test_totals_with_decimals_set_the_step() -> None:
    wanted = [Target((0,), totals(1.5, 2.25, 3))]
    assert grid_of(wanted) == Fraction(1, 100)
    made = meet(calibrate(TABLE, wanted).values, wanted)
    assert made.sum(axis=1).tolist() == [150, 225, 300]
    assert grid_of([Target((0,), totals(1, 200, 31274372))]) == 1


def test_totals_of_two_keys_at_once() -> None:
    wanted = np.arange(1.0, 7.0).reshape(3, 2)
    made = calibrate(np.ones((3, 4, 2)), [Target((0, 2), wanted)])
    np.testing.assert_allclose(made.values.sum(axis=1), wanted)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Target((0,), totals(1, -1, 2)), "must be 0 or more"),
        (lambda: Target((0,), totals(1, float("inf"), 2)), "must be finite"),
        (lambda: calibrate(TABLE, [Target((0,), totals(1, 2))]), r"shape \(3,\)"),
        (lambda: calibrate(TABLE, [Target((2,), totals(1, 2))]), "must be of keys of the table, which has 2"),
        (lambda: calibrate(TABLE, []), "at least one margin"),
        (lambda: calibrate(-TABLE, [Target((0,), totals(1, 2, 3))]), "0 or more"),
        (
            lambda: calibrate(TABLE, [Target((0,), totals(1, 2, 3), "people.n"), Target((1,), totals(3, 4), "sex.n")]),
            "'sex.n' must have the same grand total as public totals 'people.n'",
        ),
        (
            lambda: calibrate(TABLE, [Target((0,), totals(3, 3, 6)), Target((0, 1), np.full((3, 2), 2.0))]),
            r"totals of margin \(0,\)",
        ),
    ],
)
def test_what_is_refused(build: object, says: str) -> None:
    assert callable(build)
    with pytest.raises(ParameterInvalid, match=says):
        build()


def test_totals_may_differ_in_the_last_digits() -> None:
    near = Target((1,), totals(2, 4 + 1e-12))
    assert calibrate(TABLE, [Target((0,), totals(1, 2, 3)), near]).converged


# --- from public tables ---------------------------------------------------------------------------------------------

HEADING = Heading("province", Labels("Province", "Province"), KeyFace("province", codes=("10", "24", "35")))


def public_table(codes: tuple[str, ...] = ("35", "10.0", "24", "11")) -> PublicTable:
    rows = tuple((place, 100 + place, place, None if place == 3 else 5) for place in range(len(codes)))
    names = [f"name {code}" for code in codes]
    columns = (
        describe_column("code", ColumnKind.CATEGORY, step=None, categories=codes, values=[row[0] for row in rows]),
        describe_column(
            "people", ColumnKind.NUMBER, step=Decimal("0.5"), categories=(), values=[row[1] for row in rows]
        ),
        describe_column("name", ColumnKind.CATEGORY, step=None, categories=names, values=[row[2] for row in rows]),
        describe_column("old", ColumnKind.INTEGER, step=Decimal(1), categories=(), values=[row[3] for row in rows]),
    )
    return PublicTable(name="provinces", version=1, key="code", columns=columns, rows=rows)


def test_totals_come_in_the_order_of_the_cells() -> None:
    found = read_totals(public_table(), "people", HEADING, [0, 1, 2, None])
    np.testing.assert_array_equal(found, [50.5, 51.0, 50.0, np.nan])


def test_whole_number_keys_are_matched_as_codes() -> None:
    columns = (
        describe_column("code", ColumnKind.INTEGER, step=Decimal(1), categories=(), values=[24, 10, 35]),
        describe_column("people", ColumnKind.INTEGER, step=Decimal(1), categories=(), values=[2, 1, 3]),
    )
    table = PublicTable(name="provinces", version=1, key="code", columns=columns, rows=((24, 2), (10, 1), (35, 3)))
    np.testing.assert_array_equal(read_totals(table, "people", HEADING, [0, 1, 2]), [1, 2, 3])


def test_a_missing_category_is_named_with_the_next_step() -> None:
    with pytest.raises(ParameterInvalid, match=r"'province'.*discreet public add --replace; received none for '24'"):
        read_totals(public_table(("35", "10")), "people", HEADING, [0, 1, 2])


def test_an_absent_total_is_missing_too() -> None:
    heading = Heading("province", HEADING.title, KeyFace("province", codes=("11", "35")))
    with pytest.raises(ParameterInvalid, match="received none for '11'"):
        read_totals(public_table(), "old", heading, [0, 1])


def test_only_numbers_are_totals() -> None:
    with pytest.raises(ParameterInvalid, match="must be a column of numbers"):
        read_totals(public_table(), "name", HEADING, [0])
    with pytest.raises(UnknownName, match="Did you mean 'people'"):
        read_totals(public_table(), "peopel", HEADING, [0])
