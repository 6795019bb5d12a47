"""Plans as values: nodes that cannot be built, how plans are walked, and the columns they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from discreet.cards.card import parse_card
from discreet.sql.algebra import (
    And,
    Case,
    Clamp,
    Coalesce,
    Derive,
    Extreme,
    Field,
    Filter,
    IsNull,
    Join,
    Key,
    KeyJoin,
    Largest,
    Lookup,
    Marginal,
    OneOf,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Residual,
    Rows,
    Scan,
    Tally,
    TextIn,
    Total,
    Trimmed,
    Units,
    UnitTotal,
    Whole,
    Within,
    columns_of,
    fields_in,
    next_identity,
    scans,
    walk,
)
from tests.algebra.columns import at, field, scan

CARD = parse_card(
    """
dataset: people
unit: {column: pid, rows: 2}
neighbours: add-remove
budget: {epsilon: 3}
columns:
  pid: {kind: id, type: text}
  age: {kind: integer, bounds: [0, 120]}
  sex: {kind: category, categories: [1, 2]}
  height: {kind: number, bounds: [1, 2], step: 0.5}
  note: {kind: text}
""",
    file="people.yaml",
)
VISITS = parse_card(
    """
dataset: visits
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 3}
columns:
  pid: {kind: id, type: text}
  kind: {kind: category, categories: [1, 2]}
""",
    file="visits.yaml",
)
PEOPLE, OTHERS = scan(CARD), scan(CARD, prefix="other ")
AGE, SEX, NOTE, ABSENT = field("age"), field("sex"), field("note"), field("other age")
MADE, MORE = at("made"), at("more")
PLAN = Plan(Filter(PEOPLE, Within(AGE, 1, None)), (Key(SEX, (0, 1, None)),), (Rows(None), Total(AGE)))

# `age` is made below, and no longer a column of these.
COPIED = Derive(PEOPLE, ((MADE, AGE),))
COUNTED = PerUnit(PEOPLE, ((MADE, Tally(None)),))

# --- nodes that cannot be built -------------------------------------------------------------------------------------

SHARED: dict[str, Callable[[], object]] = {
    "Scan": lambda: Scan("people", 1, ((at("age"), "age"), (at("age"), "sex"))),
    "Derive, with itself": lambda: Derive(PEOPLE, ((MADE, AGE), (MADE, SEX))),
    "Derive, with its source": lambda: Derive(PEOPLE, ((at("sex"), AGE),)),
    "Derive, with a constant": lambda: Derive(PEOPLE, ((at("sex"), Whole(1)),)),
    "Derive, computed of itself": lambda: Derive(PEOPLE, ((at("age"), Plus((AGE, Whole(1)))),)),
    "Derive, exchanged": lambda: Derive(PEOPLE, ((at("age"), SEX), (at("sex"), AGE))),
    "Derive, passed on twice": lambda: Derive(PEOPLE, ((at("age"), AGE), (at("age"), AGE))),
    "Derive, with one dropped below": lambda: Derive(COPIED, ((at("age"), Field(MADE)),)),
    "Derive, through a filter": lambda: Derive(Filter(COPIED, IsNull(Field(MADE))), ((at("age"), Field(MADE)),)),
    "Derive, through a join": lambda: Derive(Join(COPIED, OTHERS), ((at("age"), Field(MADE)),)),
    "PerUnit, with itself": lambda: PerUnit(PEOPLE, ((MADE, Tally(None)), (MADE, UnitTotal(AGE)))),
    "PerUnit, with its source": lambda: PerUnit(PEOPLE, ((at("age"), Largest(AGE)),)),
    "PerUnit, with one dropped below": lambda: PerUnit(COPIED, ((at("sex"), Tally(None)),)),
    "Join": lambda: Join(PEOPLE, PEOPLE),
    "Join, of one column": lambda: Join(PEOPLE, Derive(OTHERS, ((at("age"), ABSENT),))),
    "Join, dropped on the left": lambda: Join(COUNTED, PEOPLE),
    "Join, dropped on the right": lambda: Join(PEOPLE, COUNTED),
    "Join, dropped on both": lambda: Join(COUNTED, PerUnit(PEOPLE, ((MORE, Tally(None)),))),
    "Join, looked up on both": lambda: Join(
        Lookup(PEOPLE, AGE, (MADE,), ((1, 5),)), Lookup(OTHERS, ABSENT, (MADE,), ((1, 5),))
    ),
    "Lookup, with itself": lambda: Lookup(PEOPLE, AGE, (MADE, MADE), ((1, 5, 6),)),
    "Lookup, with its source": lambda: Lookup(PEOPLE, AGE, (at("sex"),), ((1, 5),)),
    "Lookup, with one dropped below": lambda: Lookup(COPIED, Field(MADE), (at("age"),), ((1, 5),)),
    "KeyJoin": lambda: KeyJoin(PEOPLE, PEOPLE, SEX, SEX),
    "KeyJoin, dropped below": lambda: KeyJoin(PEOPLE, COPIED, SEX, Field(MADE)),
}

UNKNOWN: dict[str, Callable[[], object]] = {
    "Filter": lambda: Filter(PEOPLE, Within(ABSENT, 1, None)),
    "Filter, a text": lambda: Filter(PEOPLE, TextIn(field("other note"), ("flu",))),
    "Filter, deep inside": lambda: Filter(
        PEOPLE, And((IsNull(AGE), OneOf(Case(((IsNull(ABSENT), Whole(1)),), AGE), (1,))))
    ),
    "Filter, dropped below": lambda: Filter(COPIED, IsNull(AGE)),
    "Filter, dropped per unit": lambda: Filter(COUNTED, IsNull(AGE)),
    "Derive": lambda: Derive(PEOPLE, ((MADE, Coalesce((AGE, ABSENT))),)),
    "Derive, passed on": lambda: Derive(PEOPLE, ((at("other age"), ABSENT),)),
    "Derive, of its own columns": lambda: Derive(PEOPLE, ((MADE, AGE), (MORE, Field(MADE)))),
    "PerUnit": lambda: PerUnit(PEOPLE, ((MADE, UnitTotal(ABSENT)),)),
    "PerUnit, counted": lambda: PerUnit(PEOPLE, ((MADE, Tally(ABSENT)),)),
    "Lookup": lambda: Lookup(PEOPLE, ABSENT, (MADE,), ((1, 5),)),
    "Lookup, by what it gives": lambda: Lookup(PEOPLE, Field(MADE), (MADE,), ((1, 5),)),
    "KeyJoin, on the left": lambda: KeyJoin(PEOPLE, OTHERS, ABSENT, ABSENT),
    "KeyJoin, on the right": lambda: KeyJoin(PEOPLE, OTHERS, AGE, AGE),
    "Plan, a closed key": lambda: Plan(PEOPLE, (Key(ABSENT, (0, 1)),), (Rows(None),)),
    "Plan, an open key": lambda: Plan(PEOPLE, (Key(ABSENT, None),), (Units(),)),
    "Plan, rows": lambda: Plan(PEOPLE, (), (Rows(ABSENT),)),
    "Plan, a total": lambda: Plan(PEOPLE, (), (Units(), Total(Clamp(ABSENT, 0, 1)))),
    "Plan, a quantile": lambda: Plan(PEOPLE, (), (Quantile(ABSENT, Fraction(1, 2)),)),
    "Plan, an extreme": lambda: Plan(PEOPLE, (), (Extreme(ABSENT, largest=True, candidates=(0, 1)),)),
    "Plan, a trimmed mean": lambda: Plan(PEOPLE, (), (Trimmed(ABSENT, Fraction(1, 9)),)),
    "Plan, a margin": lambda: Plan(PEOPLE, PLAN.keys, (Marginal(Total(ABSENT), (0,)),)),
    "Plan, a residual": lambda: Plan(PEOPLE, PLAN.keys, (Residual(Total(ABSENT), (0,)),)),
    "Plan, dropped below": lambda: Plan(COUNTED, (), (Total(AGE),)),
}


@pytest.mark.parametrize("build", SHARED.values(), ids=SHARED)
def test_no_node_can_be_built_whose_inputs_share_an_identity(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="identity"):
        build()


@pytest.mark.parametrize("build", UNKNOWN.values(), ids=UNKNOWN)
def test_no_node_can_be_built_that_reads_a_column_its_input_lacks(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="does not have"):
        build()


def test_a_node_cannot_be_changed_into_one_that_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="does not have"):
        replace(PLAN, source=COUNTED)
    with pytest.raises(ValueError, match="identity"):
        replace(Join(PEOPLE, OTHERS), right=PEOPLE)


def test_columns_may_be_passed_on_as_they_are_beside_new_ones() -> None:
    kept = Derive(PEOPLE, ((at("sex"), SEX), (MADE, Plus((AGE, Whole(1))))))
    assert columns_of(kept) == (at("sex"), MADE)
    assert columns_of(Derive(kept, ((MADE, Field(MADE)), (MORE, SEX)))) == (MADE, MORE)


# --- columns --------------------------------------------------------------------------------------------------------


def test_columns_of_every_relation_in_their_order() -> None:
    own = tuple(at(name) for name in ("age", "sex", "height", "note"))
    theirs = tuple(at(f"other {name}") for name in ("age", "sex", "height", "note"))
    assert columns_of(PEOPLE) == own
    assert columns_of(Filter(PEOPLE, IsNull(AGE))) == own
    assert columns_of(COUNTED) == (MADE,)
    assert columns_of(Join(PEOPLE, OTHERS)) == (*own, *theirs)
    assert columns_of(KeyJoin(OTHERS, PEOPLE, ABSENT, AGE)) == (*theirs, *own)
    assert columns_of(Lookup(PEOPLE, AGE, (MORE, MADE), ((1, 5, 6),))) == (*own, MORE, MADE)
    assert [PEOPLE.name_of(column) for column in own] == ["age", "sex", "height", "note"]
    assert [OTHERS.name_of(column) for column in theirs] == ["age", "sex", "height", "note"]


def test_a_new_identity_is_none_that_a_relation_ever_made() -> None:
    for relation in (PEOPLE, COPIED, COUNTED, Join(PEOPLE, OTHERS), Lookup(COPIED, Field(MADE), (MORE,), ((1, 5),))):
        new = next_identity(relation)
        assert new not in columns_of(relation)
        assert columns_of(Derive(relation, ((new, Whole(1)),))) == (new,)
    assert next_identity(Scan("people", 1, ())) == 0


def test_the_columns_that_are_read() -> None:
    assert list(fields_in((Within(AGE, 1, None), Plus((AGE, SEX)), Whole(3)))) == [at("age"), at("age"), at("sex")]


# --- plans ----------------------------------------------------------------------------------------------------------


def test_datasets_from_left_to_right() -> None:
    tally = PerUnit(Filter(scan(VISITS), OneOf(field("kind"), (1,))), ((at("n"), Tally(None)),))
    looked = Lookup(Join(PEOPLE, tally), field("n"), (at("worth"),), ((1, 5),))
    assert [one.dataset for one in scans(looked)] == ["people", "visits"]
    assert Plan(looked, (), (Units(),)).dataset == "people"


def test_a_walk_meets_every_part() -> None:
    condition = And((OneOf(AGE, (1, 2)), Within(field("height"), 0, 3)))
    assert [type(node).__name__ for node in walk(condition)] == ["And", "OneOf", "Field", "Within", "Field"]


def test_cells_are_the_product_of_closed_keys() -> None:
    assert PLAN.cell_count == 3
    assert replace(PLAN, keys=()).cell_count == 1
    assert replace(PLAN, keys=(*PLAN.keys, Key(AGE, (1, 2)))).cell_count == 6
    assert not PLAN.open
    assert replace(PLAN, keys=(Key(SEX, None),)).open


def test_plans_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        PLAN.keys = ()  # type: ignore[misc]
