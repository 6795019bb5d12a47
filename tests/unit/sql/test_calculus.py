"""Sensitivities and facts, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.cards.card import Card, parse_card
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    Key,
    Largest,
    Least,
    Lookup,
    Measure,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Relation,
    Residual,
    Rows,
    Scan,
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
)
from discreet.sql.calculus import MOST_ROWS, WIDEST, facts_of, lineage_of, span_of
from discreet.sql.sensitivity import Sensitivities, Sensitivity, sensitivities
from tests.algebra.columns import at, field, scan

X, UP, SICK, REGION, NOTE, FREE, WEIGHT = (
    field(name) for name in ("x", "up", "sick", "region", "note", "free", "weight")
)
SICK_KEY, REGION_KEY, NOTE_KEY = Key(SICK, (0, 1, None)), Key(REGION, (0, 1, None)), Key(NOTE, None)


def card(
    neighbours: str = "add-remove",
    rows: int = 1,
    size: str = "private",
    *,
    exact: bool = False,
    membership: str = "confidential",
) -> Card:
    return parse_card(
        f"""
dataset: t
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
size: {size}
membership: {membership}
exact_public: {str(exact).lower()}
budget: {{epsilon: 3}}
weight: {{column: weight, cap: {{by: region, values: {{1: 2, 2: 30}}}}}}
columns:
  pid: {{kind: id, type: text}}
  region: {{kind: category, public: true, categories: [1, 2]}}
  sick: {{kind: category, categories: [1, 2]}}
  x: {{kind: integer, bounds: [-4, 10]}}
  up: {{kind: number, bounds: [1, 3], step: 0.5}}
  free: {{kind: integer}}
  note: {{kind: text}}
  weight: {{kind: number, bounds: [5, 50], step: 0.5}}
""",
        file="t.yaml",
    )


def rows_of(rows: int, *, prefix: str = "") -> Scan:
    return scan(card(), rows, prefix=prefix)


def derived(
    measure: Measure, *keys: Key, source: Relation | None = None, described: Card | None = None
) -> Sensitivities:
    described = described or card()
    plan = Plan(source or rows_of(described.unit.rows), keys, (measure,))
    return sensitivities(plan, measure, {"t": described})


REPLACE = card("replace-one", 3)
FIXED = card("replace-one", 3, "public")
EXACT = card("replace-one", 3, "public", exact=True)
KNOWN = card("replace-one", 3, "public", membership="public")


@pytest.mark.parametrize(
    ("described", "measure", "keys", "l1", "squared_l2"),
    [
        (card(rows=3), Rows(None), (), 3, 9),
        (card(rows=3), Rows(None), (SICK_KEY,), 3, 9),
        (card(rows=3), Total(X), (SICK_KEY,), 30, 900),
        (card(rows=3), Units(), (), 1, 1),
        (card(rows=3), Units(), (REGION_KEY,), 1, 1),
        (card(rows=3), Units(), (REGION_KEY, SICK_KEY), 3, 3),
        (card(rows=9), Units(), (SICK_KEY,), 3, 3),
        (card(rows=9), Units(), (NOTE_KEY,), 9, 9),
        (card(rows=3), Quantile(X, Fraction(1, 4)), (), Fraction(9, 4), Fraction(81, 16)),
        (card(rows=3), Extreme(X, largest=True), (SICK_KEY,), 3, 9),
        (REPLACE, Rows(None), (), 3, 9),
        (REPLACE, Rows(None), (REGION_KEY,), 3, 9),
        (REPLACE, Rows(None), (SICK_KEY,), 6, 18),
        (REPLACE, Total(X), (REGION_KEY,), 42, 42**2),
        (REPLACE, Total(X), (SICK_KEY,), 60, max(2 * 30**2, 42**2)),
        (REPLACE, Total(Clamp(X, -4, 4)), (SICK_KEY,), 24, 24**2),
        (REPLACE, Total(UP), (), 18, 18**2),
        (REPLACE, Units(), (), 1, 1),
        (REPLACE, Units(), (SICK_KEY,), 3, 3),
        (REPLACE, Units(), (NOTE_KEY,), 6, 6),
        (REPLACE, Quantile(X, Fraction(1, 4)), (REGION_KEY,), 3, 9),
        (REPLACE, Quantile(X, Fraction(1, 4)), (SICK_KEY,), Fraction(9, 2), Fraction(81, 4)),
        (FIXED, Rows(None), (), 2, 4),
        (FIXED, Rows(X), (), 3, 9),
        (FIXED, Rows(None), (SICK_KEY,), 6, 18),
        (EXACT, Total(Coalesce((UP, Whole(4)))), (), 16, 16**2),
        (FIXED, Total(Coalesce((UP, Whole(4)))), (), 18, 18**2),
        (FIXED, Total(Plus((Coalesce((X, Whole(0))), Whole(10**6)))), (), 3 * (10**6 + 10), (3 * (10**6 + 10)) ** 2),
        (EXACT, Total(Whole(2)), (), 4, 16),
        (FIXED, Total(Whole(2)), (), 4, 16),
        (FIXED, Units(), (REGION_KEY,), 0, 0),
        (card("replace-one", 1, "public"), Rows(None), (REGION_KEY,), 0, 0),
        (card("replace-one", 1, "public"), Total(Coalesce((X, Whole(3)))), (), 14, 14**2),
        (card("replace-one", 1, "public"), Total(UP), (), 6, 36),
        (card("replace-one", 1, "public"), Total(Coalesce((UP, Whole(4)))), (), 6, 36),
        (card("replace-one", 1, "public", exact=True), Total(Coalesce((UP, Whole(4)))), (), 4, 16),
        (card("replace-one", 1, "public"), Total(Whole(7)), (), 0, 0),
    ],
)
def test_sensitivity(
    described: Card, measure: Measure, keys: tuple[Key, ...], l1: Fraction, squared_l2: Fraction
) -> None:
    found = derived(measure, *keys, described=described)
    assert found.key is None
    assert (found.each[0].l1, found.each[0].squared_l2) == (l1, squared_l2)
    assert found.each[0].derivation.startswith("a unit")


def test_each_cell_of_a_public_key_has_the_cap_of_its_category() -> None:
    found = derived(Total(WEIGHT), SICK_KEY, REGION_KEY, described=card(rows=2))
    assert found.key == 1
    assert [one.l1 for one in found.each] == [8, 120, 120]
    assert found.largest.l1 == 120


def test_cells_that_differ_in_the_square_alone_are_kept_apart() -> None:
    """A row adds -36, or from -36 to 20: no cell is further away than the other, but one is wider."""
    found = derived(Total(Plus((WEIGHT, Whole(-40)))), REGION_KEY, SICK_KEY, described=card("replace-one"))
    assert found.key == 0
    assert [one.l1 for one in found.each] == [72, 72, 72]
    assert [one.squared_l2 for one in found.each] == [2 * 36**2, 56**2, 56**2]


def test_the_largest_holds_for_all_cells_in_both_norms() -> None:
    wide = Sensitivities(0, (_bound(20, 400), _bound(21, 221)))
    assert wide.largest.l1 == 21
    assert wide.largest.squared_l2 == 400


def _bound(l1: int, squared_l2: int) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(squared_l2), "by hand")


# A unit of one row, cell by cell: nothing, or one of the ends of what it adds.
SIGNED = Plus((UP, Whole(-4)))
KEYED = (REGION_KEY, SICK_KEY, Key(X, (0, 1)))


def residual(measure: Residual, cell: tuple[int, ...], value: int) -> NDArray[np.int64]:
    sizes = [len(key.cells or ()) for key in KEYED]
    cells = np.zeros(sizes, dtype=np.int64)
    cells[cell] = value
    table: NDArray[np.int64] = cells.sum(axis=tuple(place for place in range(3) if place not in measure.kept))
    for axis, place in enumerate(measure.kept):
        if place not in measure.whole:
            table = sizes[place] * table - table.sum(axis=axis, keepdims=True)
    return table


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("of", "adds"), [(Rows(None), (0, 1)), (Total(UP), (0, 2, 6)), (Total(SIGNED), (-2, 0, 2))])
@pytest.mark.parametrize(
    ("kept", "whole"), [((1,), ()), ((1,), (1,)), ((0, 1), (0,)), ((1, 2), ()), ((1, 2), (1,)), ((0, 1, 2), (0,))]
)
def test_no_unit_moves_residuals_by_more(
    neighbours: str, of: Rows | Total, adds: tuple[int, ...], kept: tuple[int, ...], whole: tuple[int, ...]
) -> None:
    measure = Residual(of, kept, whole)
    bound = derived(measure, *KEYED, described=card(neighbours)).largest
    cells = [[(region, sick, x) for sick in range(3) for x in range(2)] for region in range(3)]
    states = [[residual(measure, cell, value) for cell in some for value in adds] for some in cells]
    nothing = [np.zeros_like(states[0][0])]
    pairs = [pair for some in states for pair in product(some, nothing if neighbours == "add-remove" else some)]
    assert max(np.abs(one - two).sum() for one, two in pairs) <= bound.l1
    assert max(np.square(one - two).sum() for one, two in pairs) <= bound.squared_l2


def test_lines_across_the_caps_column_share_one_bound() -> None:
    beside = derived(Residual(Total(WEIGHT), (0, 1), whole=(0,)), REGION_KEY, SICK_KEY)
    assert beside.key == 0
    assert [one.l1 for one in beside.each] == [4 * 4, 60 * 4, 60 * 4]
    across = derived(Residual(Total(WEIGHT), (0, 1)), REGION_KEY, SICK_KEY)
    assert across.key is None
    assert across.each[0].l1 == 60 * 16


@pytest.mark.parametrize(
    ("condition", "highest"),
    [
        (OneOf(REGION, (0,)), 4),
        (OneOf(REGION, (0, 7, -1)), 4),
        (And((OneOf(REGION, (0, 1)), OneOf(REGION, (0,)))), 4),
        (OneOf(REGION, (1,)), 60),
        (OneOf(REGION, (0, 1)), 60),
        (Or((OneOf(REGION, (0,)), IsNull(SICK))), 60),
        (Not(OneOf(REGION, (1,))), 60),
    ],
)
def test_a_filter_fixes_the_cap(condition: Condition, highest: int) -> None:
    found = derived(Total(WEIGHT), source=Filter(rows_of(1), condition))
    assert found.each[0].l1 == highest


WHERE, W = field("where"), field("w")


@pytest.mark.parametrize(
    ("columns", "by"),
    [
        (((at("where"), REGION), (at("w"), WEIGHT)), WHERE),
        (((REGION.column, REGION), (at("w"), WEIGHT)), REGION),
    ],
    ids=["copied", "passed on"],
)
def test_caps_follow_the_column_that_decides_them(columns: tuple[tuple[Identity, Value], ...], by: Field) -> None:
    found = derived(Total(W), Key(by, (0, 1, None)), source=Derive(rows_of(1), columns))
    assert found.key == 0
    assert [one.l1 for one in found.each] == [4, 60, 60]


@pytest.mark.parametrize(
    "decides",
    [SICK, Least((REGION, Whole(0))), Clamp(REGION, 0, 1)],
    ids=["another column", "what is made of it", "its clamp"],
)
def test_a_weight_loses_its_caps_with_the_column_that_decides_them(decides: Value) -> None:
    taken = Derive(rows_of(1), ((at("where"), decides), (at("w"), WEIGHT)))
    found = derived(Total(W), Key(WHERE, (0, 1, None)), source=taken)
    assert found.key is None
    assert found.each[0].l1 == 60


# --- facts ----------------------------------------------------------------------------------------------------------


def spanned(value: Value, where: Condition | None = None) -> tuple[int | None, int | None, bool]:
    source = rows_of(2) if where is None else Filter(rows_of(2), where)
    span = span_of(value, facts_of(source, {"t": card(rows=2)}))
    return span.low, span.high, span.nullable


@pytest.mark.parametrize(
    ("value", "interval"),
    [
        (X, (-4, 10, True)),
        (UP, (2, 6, True)),
        (SICK, (0, 1, True)),
        (WEIGHT, (4, 60, True)),
        (Whole(7), (7, 7, False)),
        (Nothing(), (None, None, True)),
        (Plus((X, UP, Whole(-1))), (-3, 15, True)),
        (Plus((X, Nothing())), (None, None, True)),
        (Times(X, UP), (-24, 60, True)),
        (Times(X, X), (0, 100, True)),
        (Absolute(X), (0, 10, True)),
        (Clamp(X, -1, 20), (-1, 10, True)),
        (Clamp(X, 12, 20), (12, 12, True)),
        (Least((X, UP)), (-4, 10, True)),
        (Least((X, Whole(3))), (-4, 3, False)),
        (Greatest((X, Whole(3), UP)), (3, 10, False)),
        (Greatest((X, Nothing())), (-4, 10, True)),
        (Coalesce((X, UP)), (-4, 10, True)),
        (Coalesce((UP, Whole(0), X)), (0, 6, False)),
        (Case(((IsNull(X), Whole(99)),), UP), (2, 99, True)),
    ],
)
def test_intervals(value: Value, interval: tuple[int | None, int | None, bool]) -> None:
    assert spanned(value) == interval


@pytest.mark.parametrize(
    ("where", "interval"),
    [
        (Within(X, 0, 3), (0, 3, False)),
        (Within(X, None, 3), (-4, 3, False)),
        (And((Within(X, 0, None), OneOf(X, (2, 7, 40)))), (2, 10, False)),
        (Within(X, 50, 60), (-4, 10, False)),
        (OneOf(X, ()), (-4, 10, False)),
        (Or((Within(X, 0, 3), IsNull(SICK))), (-4, 10, True)),
        (Not(Within(X, 0, 3)), (-4, 10, True)),
        (Not(IsNull(X)), (-4, 10, False)),
    ],
)
def test_filters_narrow(where: Condition, interval: tuple[int, int, bool]) -> None:
    assert spanned(X, where) == interval


@pytest.mark.parametrize(
    ("aggregate", "interval"),
    [
        (Tally(None), (1, 2, False)),
        (Tally(NOTE), (0, 2, False)),
        (UnitTotal(X), (-8, 20, True)),
        (UnitTotal(UP), (2, 12, True)),
        (Smallest(X), (-4, 10, True)),
        (Largest(Coalesce((X, Whole(0)))), (-4, 10, False)),
    ],
)
def test_aggregates_per_unit(aggregate: UnitAggregate, interval: tuple[int, int, bool]) -> None:
    facts = facts_of(PerUnit(rows_of(2), ((at("made"), aggregate),)), {"t": card(rows=2)})
    span = facts.spans[at("made")]
    assert facts.rows == 1
    assert (span.low, span.high, span.nullable) == interval


def test_what_is_public_of_a_unit() -> None:
    aggregates: tuple[tuple[Identity, UnitAggregate], ...] = (
        (at("where"), Largest(REGION)),
        (at("ill"), Largest(SICK)),
        (at("sum"), UnitTotal(REGION)),
        (at("n"), Tally(REGION)),
    )
    spans = facts_of(PerUnit(rows_of(2), aggregates), {"t": card(rows=2)}).spans
    assert {column for column, span in spans.items() if span.public} == {at("where")}


ONCE = PerUnit(rows_of(3, prefix="other "), ((at("n"), Tally(None)),))


@pytest.mark.parametrize(
    ("relation", "steady"),
    [
        (rows_of(3), True),
        (Filter(rows_of(3), OneOf(REGION, (0,))), True),
        (Filter(rows_of(3), TextIn(NOTE, ("flu",))), False),
        (Filter(rows_of(3), And((OneOf(REGION, (0,)), IsNull(SICK)))), False),
        (Lookup(rows_of(3), REGION, (at("made"),), ((0, 5),)), True),
        (Lookup(rows_of(3), SICK, (at("made"),), ((0, 5),)), False),
        (PerUnit(Filter(rows_of(3), IsNull(X)), ((at("n"), Tally(None)),)), False),
    ],
)
def test_whose_presence_is_public(relation: Relation, steady: bool) -> None:
    assert facts_of(relation, {"t": FIXED}).steady is steady
    assert not facts_of(relation, {"t": REPLACE}).steady


@pytest.mark.parametrize(
    ("relation", "steady"),
    [
        (Join(ONCE, Filter(rows_of(3), IsNull(X))), False),
        (Join(ONCE, rows_of(3)), True),
        (Filter(Join(ONCE, rows_of(3)), OneOf(REGION, (0,))), True),
        (Filter(Join(ONCE, rows_of(3)), OneOf(SICK, (0,))), False),
    ],
)
def test_whose_presence_in_all_datasets_of_a_join_is_public(relation: Relation, steady: bool) -> None:
    """How many are in each of two data sets may be public, and who is in both a secret."""
    assert facts_of(relation, {"t": KNOWN}).steady is steady
    assert not facts_of(relation, {"t": FIXED}).steady
    assert not facts_of(relation, {"t": REPLACE}).steady


def test_a_scan_is_priced_by_the_rows_it_reads() -> None:
    assert derived(Rows(None), source=rows_of(2), described=card(rows=5)).each[0].l1 == 2
    assert derived(Rows(None), source=rows_of(9), described=card(rows=5)).each[0].l1 == 9


def test_joins_multiply_rows_and_lookups_do_not() -> None:
    copied = Derive(rows_of(3, prefix="other "), ((at("y"), field("other x")),))
    cards = {"t": card(rows=3)}
    assert facts_of(Join(rows_of(3), copied), cards).rows == 9
    assert facts_of(Join(rows_of(3), ONCE), cards).rows == 3
    assert facts_of(Lookup(rows_of(3), SICK, (at("made"),), ((0, 5), (1, None))), cards).rows == 3


def test_lineage_names_what_an_answer_depends_on() -> None:
    source = Filter(rows_of(1), And((TextIn(NOTE, ("flu",)), Within(X, 0, None))))
    plan = Plan(source, (SICK_KEY,), (Total(WEIGHT), Units()))
    names = {name for _, name in lineage_of(plan, {"t": card()})}
    assert names == {"note", "x", "sick", "weight", "region"}


ILL = Case(((OneOf(SICK, (0,)), Whole(1)),), Whole(0))
WORTH = Lookup(rows_of(1), SICK, (at("worth"),), ((0, 5),))


@pytest.mark.parametrize(
    ("source", "measure", "names"),
    [
        (rows_of(1), Rows(X), {"x"}),
        (rows_of(1), Total(ILL), {"sick"}),
        (rows_of(1), Total(Times(ILL, X)), {"sick", "x"}),
        (Derive(rows_of(1), ((at("ill"), ILL),)), Total(field("ill")), {"sick"}),
        (Derive(Filter(rows_of(1), IsNull(X)), ((at("ill"), ILL),)), Rows(None), {"x"}),
        (Filter(rows_of(1), Within(ILL, 1, None)), Rows(None), {"sick"}),
        (WORTH, Rows(None), {"sick"}),
        (WORTH, Total(field("worth")), {"sick"}),
        (PerUnit(Filter(rows_of(2), IsNull(X)), ((at("n"), Tally(SICK)),)), Rows(None), {"x"}),
        (PerUnit(rows_of(2), ((at("n"), Tally(SICK)),)), Total(field("n")), {"sick"}),
        (PerUnit(rows_of(2), ((at("m"), UnitTotal(ILL)),)), Total(field("m")), {"sick"}),
        (Join(Filter(rows_of(1), IsNull(X)), Filter(ONCE, Within(field("n"), 2, None))), Rows(None), {"x"}),
        (Join(ONCE, Filter(rows_of(1), IsNull(SICK))), Rows(None), {"sick"}),
    ],
)
def test_lineage_passes_every_operator(source: Relation, measure: Measure, names: set[str]) -> None:
    """Bounds and categories that were read from the rows make an answer unproven, wherever they are used."""
    assert {name for _, name in lineage_of(Plan(source, (), (measure,)), {"t": card()})} == names


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        FREE,
        NOTE,
        Plus((FREE, X)),
        Coalesce((NOTE, Whole(1))),
        Case(((IsNull(X), FREE),), X),
        Greatest((Least((FREE, Whole(5))), Whole(0))),
    ],
)
@pytest.mark.parametrize("sort", ["total", "quantile", "extreme"])
def test_what_is_summed_or_ranked_needs_bounds(value: Value, sort: str) -> None:
    measures: dict[str, Measure] = {
        "total": Total(value),
        "quantile": Quantile(value, Fraction(1, 2)),
        "extreme": Extreme(value, largest=True),
    }
    with pytest.raises(QueryRefused, match=r"needs bounds.*'(free|note)'"):
        derived(measures[sort])


def test_bounds_may_come_from_the_statement() -> None:
    assert derived(Total(Clamp(FREE, -3, 8))).each[0].l1 == 8
    assert derived(Total(FREE), source=Filter(rows_of(1), Within(FREE, -3, 8))).each[0].l1 == 8
    with pytest.raises(QueryRefused):
        derived(Total(FREE), source=Filter(rows_of(1), Within(FREE, -3, None)))


@pytest.mark.parametrize(
    "value",
    [
        Whole(WIDEST + 1),
        Times(FREE, FREE),
        Plus((Whole(WIDEST), Whole(-WIDEST))),
        Times(Whole(WIDEST), Clamp(X, 0, 2)),
    ],
)
def test_what_could_overflow_is_refused(value: Value) -> None:
    with pytest.raises(QueryRefused, match="64-bit"):
        derived(Total(Clamp(value, 0, 1)))


LARGEST = PerUnit(rows_of(1), ((at("m"), Largest(FREE)),))
FEW = Filter(LARGEST, OneOf(field("m"), (1, 2, 3)))
FAR = Times(field("m"), Whole(9 * 10**12))


@pytest.mark.parametrize(
    "relation",
    [
        Filter(FEW, Within(FAR, 1, None)),
        Filter(Derive(FEW, ((at("z"), FAR),)), Within(field("z"), 1, None)),
        Filter(Join(FEW, rows_of(1, prefix="other ")), IsNull(FAR)),
        Filter(Lookup(FEW, field("m"), (at("worth"),), ((1, 5),)), Not(OneOf(FAR, (0,)))),
    ],
)
def test_no_condition_rests_on_another_to_stay_within_64_bits(relation: Relation) -> None:
    """PostgreSQL runs the cheaper of two conditions first: whether it then overflows would depend on the rows."""
    with pytest.raises(QueryRefused, match="64-bit"):
        facts_of(relation, {"t": card()})


def test_what_is_computed_after_a_filter_may_rest_on_it() -> None:
    few = Filter(rows_of(1), Within(FREE, 0, 1000))
    assert derived(Total(Times(FREE, FREE)), source=few).each[0].l1 == 10**6
    squares = PerUnit(few, ((at("m"), UnitTotal(Times(FREE, FREE))),))
    assert facts_of(Filter(squares, Within(Times(field("m"), field("m")), 1, None)), {"t": card()}).rows == 1


def test_totals_per_unit_and_public_tables_stay_within_64_bits() -> None:
    with pytest.raises(QueryRefused, match="64-bit"):
        facts_of(PerUnit(rows_of(5000), ((at("n"), UnitTotal(FREE)),)), {"t": card(rows=5000)})
    with pytest.raises(QueryRefused, match="64-bit"):
        facts_of(Lookup(rows_of(1), SICK, (at("made"),), ((0, WIDEST + 1),)), {"t": card()})


def test_joins_of_too_many_rows_are_refused() -> None:
    many = replace(card(), unit=replace(card().unit, rows=40_000))
    assert MOST_ROWS < 40_000**2
    with pytest.raises(QueryRefused, match="per unit first"):
        facts_of(Join(rows_of(40_000), rows_of(40_000, prefix="other ")), {"t": many})


@pytest.mark.parametrize(
    ("where", "bounded"),
    [
        (And((Within(FREE, 0, None), Within(FREE, None, 9))), True),
        (And((IsNull(SICK), And((Within(FREE, None, 9), Within(FREE, 0, None))))), True),
        (And((Within(FREE, 0, None), Within(X, None, 9))), False),
        (Or((Within(FREE, 0, None), Within(FREE, None, 9))), False),
        (Not(And((Within(FREE, 0, None), Within(FREE, None, 9)))), False),
    ],
)
def test_conditions_on_both_sides_bound_a_column(where: Condition, bounded: bool) -> None:
    """BETWEEN is read as two conditions."""
    facts = facts_of(Filter(rows_of(1), where), {"t": card()})
    span = span_of(FREE, facts)
    assert span.bounded is bounded
    assert not bounded or (span.low, span.high) == (0, 9)
