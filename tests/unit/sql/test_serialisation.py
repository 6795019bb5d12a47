"""What plans are known by: everything that is measured, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction

import pytest

from discreet.cards.card import parse_card
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
    KeyJoin,
    Largest,
    Least,
    Lookup,
    Marginal,
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
    Trimmed,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    fields_in,
    scans,
    walk,
)
from discreet.sql.serialisation import VERSION, Serialisation, plan_hash
from tests.algebra.columns import at, field, scan
from tests.algebra.generator import random_example
from tests.unit.sql.catalogue import SURVEY, read

CARD = parse_card(
    """
dataset: people
unit: {column: pid, rows: 2}
neighbours: add-remove
budget: {epsilon: 3}
columns:
  pid: {kind: id, type: text}
  unread: {kind: integer, bounds: [0, 9]}
  age: {kind: integer, bounds: [0, 120]}
  sex: {kind: category, categories: [1, 2]}
  note: {kind: text}
""",
    file="people.yaml",
)
PEOPLE, OTHERS = scan(CARD), scan(CARD, prefix="other ", version=3)
AGE, SEX, NOTE, THEIRS = field("age"), field("sex"), field("note"), field("other age")
MADE, MORE = at("made"), at("more")
ADULTS = Filter(PEOPLE, Within(AGE, 1, None))
PLAN = Plan(ADULTS, (Key(SEX, (0, 1, None)),), (Rows(None), Total(AGE)))

VALUES: tuple[Value, ...] = (
    AGE,
    SEX,
    Whole(1),
    Whole(-1),
    Nothing(),
    Plus((AGE, SEX)),
    Plus((SEX, AGE)),
    Plus((AGE, SEX, SEX)),
    Plus((Plus((AGE, SEX)), SEX)),
    Times(AGE, SEX),
    Times(SEX, AGE),
    Absolute(AGE),
    Clamp(AGE, 0, 1),
    Clamp(AGE, 0, 2),
    Clamp(AGE, -1, 1),
    Least((AGE, SEX)),
    Greatest((AGE, SEX)),
    Coalesce((AGE, SEX)),
    Coalesce((SEX, AGE)),
    Case(((IsNull(SEX), AGE),), SEX),
    Case(((IsNull(AGE), AGE),), SEX),
    Case(((IsNull(SEX), AGE),), AGE),
    Case(((IsNull(SEX), AGE), (IsNull(SEX), AGE)), SEX),
)
CONDITIONS: tuple[Condition, ...] = (
    OneOf(AGE, (1,)),
    OneOf(AGE, (1, 2)),
    OneOf(AGE, ()),
    OneOf(SEX, (1,)),
    Within(AGE, 1, None),
    Within(AGE, None, 1),
    Within(AGE, 1, 1),
    TextIn(NOTE, ("a", "b")),
    TextIn(NOTE, ('a","b',)),
    TextIn(NOTE, ("1",)),
    TextIn(NOTE, ("é",)),
    TextIn(NOTE, ("e\u0301",)),
    IsNull(AGE),
    IsNull(NOTE),
    Not(IsNull(AGE)),
    Not(Not(IsNull(AGE))),
    And((IsNull(AGE), IsNull(SEX))),
    And((IsNull(SEX), IsNull(AGE))),
    Or((IsNull(AGE), IsNull(SEX))),
    Or(()),
    And(()),
)
AGGREGATES: tuple[UnitAggregate, ...] = (
    Tally(None),
    Tally(AGE),
    UnitTotal(AGE),
    UnitTotal(SEX),
    Smallest(AGE),
    Largest(AGE),
)
MEASURES: tuple[Measure, ...] = (
    Rows(None),
    Rows(AGE),
    Rows(SEX),
    Units(),
    *(Total(value) for value in VALUES),
    Quantile(AGE, Fraction(1, 3)),
    Quantile(AGE, Fraction(1, 2)),
    Quantile(AGE, Fraction(1, 2), (0, 1)),
    Quantile(AGE, Fraction(1, 2), (0, 2)),
    Extreme(AGE, largest=True),
    Extreme(AGE, largest=False),
    Extreme(AGE, largest=True, candidates=(0, 1)),
    Extreme(AGE, largest=True, candidates=(0, 2)),
    Trimmed(AGE, Fraction(1, 3)),
    Trimmed(AGE, Fraction(1, 2)),
    Marginal(Rows(None), (0,)),
    Marginal(Rows(None), ()),
    Marginal(Total(AGE), (0,)),
    Residual(Rows(None), (0,)),
    Residual(Rows(None), (0,), (0,)),
    Residual(Total(AGE), (0,)),
)
RELATIONS: tuple[Relation, ...] = (
    PEOPLE,
    scan(CARD, 3),
    scan(CARD, version=3),
    replace(PEOPLE, dataset="others"),
    *(Filter(PEOPLE, condition) for condition in CONDITIONS),
    Filter(Filter(PEOPLE, IsNull(AGE)), IsNull(SEX)),
    *(Derive(PEOPLE, ((MADE, value), (at("age"), AGE), (at("sex"), SEX))) for value in VALUES),
    Derive(PEOPLE, ((at("age"), AGE), (at("sex"), SEX))),
    Derive(PEOPLE, ((at("sex"), SEX), (at("age"), AGE))),
    Join(PEOPLE, PerUnit(OTHERS, ((MADE, Largest(THEIRS)), (MORE, Tally(None))))),
    Join(PEOPLE, PerUnit(OTHERS, ((MORE, Tally(None)), (MADE, Largest(THEIRS))))),
    Join(PEOPLE, OTHERS),
    Join(OTHERS, PEOPLE),
    Lookup(PEOPLE, AGE, (MADE,), ((1, 5),)),
    Lookup(PEOPLE, SEX, (MADE,), ((1, 5),)),
    Lookup(PEOPLE, AGE, (MADE,), ((1, 6),)),
    Lookup(PEOPLE, AGE, (MADE,), ((1, None),)),
    Lookup(PEOPLE, AGE, (MADE,), ((1, 5), (2, 5))),
    Lookup(PEOPLE, AGE, (MADE, MORE), ((1, 5, 5),)),
    Lookup(PEOPLE, AGE, (), ((1,),)),
    KeyJoin(PEOPLE, OTHERS, AGE, THEIRS),
    KeyJoin(PEOPLE, OTHERS, SEX, THEIRS),
    KeyJoin(PEOPLE, OTHERS, AGE, field("other sex")),
)
CELLS: tuple[tuple[int | None, ...] | None, ...] = (
    None,
    (),
    (None,),
    (0,),
    (0, 1),
    (1, 0),
    (0, 2),
    (0, 1, 2),
    (0, 1, 3),
    (0, 2, 3),
    (0, 1, None),
    (0, None, 1),
    (None, 0, 1),
    (-1, 0, 1),
    (0, 1, 0, 1),
)  # fmt: skip

DIFFERENT: tuple[Plan, ...] = (
    PLAN,
    *(Plan(PEOPLE, (Key(SEX, (0, 1)),), (measure,)) for measure in MEASURES),
    *(Plan(relation, (Key(SEX, (0, 1)), Key(AGE, (1,))), (Rows(None),)) for relation in RELATIONS),
    *(Plan(PerUnit(PEOPLE, ((MADE, aggregate),)), (), (Total(Field(MADE)),)) for aggregate in AGGREGATES),
    *(replace(PLAN, keys=(Key(SEX, cells),)) for cells in CELLS if cells != PLAN.keys[0].cells),
    replace(PLAN, keys=()),
    replace(PLAN, keys=(Key(AGE, (0, 1, None)),)),
    replace(PLAN, keys=(Key(AGE, (1,)), *PLAN.keys)),
    replace(PLAN, keys=(*PLAN.keys, Key(AGE, (1,)))),
    replace(PLAN, measures=(Rows(None),)),
    replace(PLAN, measures=()),
)


@pytest.fixture(scope="module")
def random_plans() -> tuple[Plan, ...]:
    return tuple(random_example(seed).plan for seed in range(300))


def test_whatever_is_measured_enters_the_hash() -> None:
    found: dict[str, Plan] = {}
    for plan in DIFFERENT:
        assert found.setdefault(plan_hash(plan), plan) is plan
    assert len(found) == len(DIFFERENT)


def test_measures_have_names_of_their_own() -> None:
    written = Serialisation.of(Plan(PEOPLE, (Key(SEX, (0, 1)),), MEASURES))
    assert len({written.measure_id(measure) for measure in MEASURES}) == len(MEASURES)


def test_a_hash_stays_the_same_between_runs() -> None:
    """Answers are stored under it: if this changes, so must `VERSION`, and older ones must still be found."""
    assert VERSION == 2
    assert (
        plan_hash(PLAN)
        == plan_hash(replace(PLAN))
        == "7496529629e104565168021d8cfe08c6dce54d8d9d1b6b5a77521222f5f7c1c0"
    )
    assert (
        Serialisation.of(PLAN).measure_id(Total(AGE))
        == "073e9d55ec8800cac5114f077e6891fac49bea7135f4aa484e166d0bf9e599fb"
    )


# --- what does not enter --------------------------------------------------------------------------------------------


def renumbered(node: object, number: Callable[[Identity], int]) -> object:
    """The same node with other identities."""

    def new(column: Identity) -> Identity:
        return Identity(number(column))

    match node:
        case Field(column):
            return Field(new(column))
        case Scan():
            return replace(node, columns=tuple((new(column), name) for column, name in node.columns))
        case Derive() | PerUnit():
            listed = tuple((new(column), renumbered(part, number)) for column, part in node.columns)
            return type(node)(renumbered(node.source, number), listed)  # type: ignore[arg-type]
        case Lookup():
            source, key = (renumbered(part, number) for part in (node.source, node.key))
            return Lookup(source, key, tuple(new(column) for column in node.columns), node.entries)  # type: ignore[arg-type]
        case tuple():
            return tuple(renumbered(part, number) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        parts = {one.name: renumbered(getattr(node, one.name), number) for one in fields(node)}
        return replace(node, **parts)
    return node


def shifted(plan: Plan, number: Callable[[Identity], int]) -> Plan:
    moved = renumbered(plan, number)
    assert isinstance(moved, Plan)
    return moved


RENUMBERINGS: dict[str, Callable[[Identity], int]] = {
    "shifted by 10": lambda column: column + 10,
    "in reverse": lambda column: 10**6 - column,
    "far apart": lambda column: column * 1000,
}


@pytest.mark.parametrize("number", RENUMBERINGS.values(), ids=RENUMBERINGS)
def test_raw_identities_do_not_enter(number: Callable[[Identity], int]) -> None:
    for plan in DIFFERENT:
        other = shifted(plan, number)
        assert other != plan or not any(one.columns for one in scans(plan.source))
        assert plan_hash(other) == plan_hash(plan)
        ids = [[Serialisation.of(one).measure_id(measure) for measure in one.measures] for one in (plan, other)]
        assert ids[0] == ids[1]


@pytest.mark.slow
@pytest.mark.parametrize("number", RENUMBERINGS.values(), ids=RENUMBERINGS)
def test_raw_identities_do_not_enter_for_random_plans(
    number: Callable[[Identity], int], random_plans: tuple[Plan, ...]
) -> None:
    for plan in random_plans:
        assert plan_hash(shifted(plan, number)) == plan_hash(plan)


def test_the_order_of_measures_does_not_enter() -> None:
    assert plan_hash(replace(PLAN, measures=PLAN.measures[::-1])) == plan_hash(PLAN)
    backwards = Plan(PEOPLE, (Key(SEX, (0, 1)),), MEASURES[::-1])
    assert plan_hash(backwards) == plan_hash(replace(backwards, measures=MEASURES))
    one, two = Serialisation.of(backwards), Serialisation.of(replace(backwards, measures=MEASURES))
    assert [one.measure_id(measure) for measure in MEASURES] == [two.measure_id(measure) for measure in MEASURES]


def test_columns_that_are_not_read_do_not_enter() -> None:
    """A card may gain a column, and those below it in the card move."""
    fewer = replace(PEOPLE, columns=tuple(one for one in PEOPLE.columns if one[1] != "unread"))
    assert plan_hash(replace(PLAN, source=Filter(fewer, ADULTS.where))) == plan_hash(PLAN)
    wider = SURVEY.replace("  region:", "  extra: {kind: integer, bounds: [0, 1]}\n  region:")
    for sql in ("SELECT COUNT(*) FROM survey", "SELECT region, AVG(age) FROM survey WHERE height > 1 GROUP BY region"):
        assert read(sql, SURVEY).hash == read(sql, wider).hash


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "SELECT smokes AS s, SUM(age) AS a FROM survey GROUP BY smokes",
            "SELECT SUM(t.age) AS b, t.smokes FROM survey AS t GROUP BY t.smokes",
        ),
        (
            "SELECT SUM(x) FROM (SELECT age + 1 AS x FROM survey) a",
            "SELECT SUM(height) FROM (SELECT age + 1 AS height FROM survey) AS b",
        ),
        (
            "SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t",
            "WITH u AS (SELECT pid, COUNT(*) AS cost FROM visits GROUP BY pid) SELECT AVG(cost) FROM u",
        ),
        (
            "SELECT s.region, v.region AS other, COUNT(*) FROM survey s JOIN visits v USING (pid) GROUP BY 1, 2",
            "SELECT a.region AS r, b.region AS q, COUNT(*) FROM survey a JOIN visits b ON b.pid = a.pid GROUP BY 1, 2",
        ),
        (
            "SELECT z.zone, SUM(z.people) FROM survey s JOIN zones z ON s.region = z.code GROUP BY z.zone",
            "SELECT y.zone AS q, SUM(y.people) FROM survey JOIN zones y ON survey.region = y.code GROUP BY y.zone",
        ),
        (
            "SELECT ABS(age - 3) AS d, COUNT(*) FROM survey GROUP BY d",
            "SELECT COUNT(*) AS key_0, ABS(age - 3) AS k FROM survey GROUP BY k",
        ),
    ],
    ids=["columns", "derived", "per unit", "joined", "looked up", "computed key"],
)
def test_names_do_not_enter(one: str, two: str) -> None:
    first, second = read(one), read(two)
    assert plan_hash(first.plan) == plan_hash(second.plan)
    assert first.hash == second.hash
    named = replace(first, names={column: f"{name} of old" for column, name in first.names.items()})
    assert named.hash == first.hash


def test_columns_that_names_would_confuse_are_told_apart() -> None:
    """`age` is the younger column here, `height` there."""
    statements = [
        read(f"SELECT SUM({summed}) FROM (SELECT CLAMP(age, 0, 3) AS {one}, age + 1 AS {two} FROM survey) t")
        for one, two, summed in (("a", "b", "a"), ("b", "a", "b"), ("a", "b", "b"), ("b", "a", "a"))
    ]
    assert statements[0].hash == statements[1].hash != statements[2].hash == statements[3].hash


# --- numbers --------------------------------------------------------------------------------------------------------


def made_in(relation: Relation) -> set[Identity]:
    made: set[Identity] = set()
    for node in walk(relation):
        match node:
            case Derive() | PerUnit():
                made |= {column for column, _ in node.columns}
            case Lookup():
                made |= set(node.columns)
    return made


def test_numbers_are_dense_and_given_to_what_is_made_or_read(random_plans: tuple[Plan, ...]) -> None:
    for plan in (*DIFFERENT, *random_plans):
        numbers = Serialisation.of(plan).numbers
        assert sorted(numbers.values()) == list(range(len(numbers)))
        assert set(numbers) == made_in(plan.source) | set(fields_in((plan.source, plan.keys, plan.measures)))


def test_numbers_follow_the_relation_from_the_inside_and_from_the_left() -> None:
    derived = Derive(PEOPLE, ((MORE, SEX), (MADE, AGE)))
    joined = Join(derived, Filter(OTHERS, IsNull(THEIRS)))
    plan = Plan(joined, (Key(THEIRS, (1,)),), (Total(Field(MADE)),))
    # `age` stands before `sex` in the card; both were made before what is derived of them.
    order = [at("age"), at("sex"), MORE, MADE, at("other age")]
    assert Serialisation.of(plan).numbers == {column: number for number, column in enumerate(order)}
    assert Serialisation.of(plan).column_key(MADE) == "3"


# --- random plans ---------------------------------------------------------------------------------------------------


def structure(plan: Plan) -> object:
    """A plan in other words than the serialisation's: identities by the order in which one meets them from above."""
    read_ = set(fields_in((plan.source, plan.keys, plan.measures)))
    met: dict[Identity, int] = {}

    def of(node: object) -> object:
        match node:
            case Field(column):
                return "Field", met.setdefault(column, len(met))
            case Scan():
                columns = sorted(
                    (name, met.setdefault(column, len(met))) for column, name in node.columns if column in read_
                )
                return "Scan", node.dataset, node.rows, node.version, tuple(columns)
            case Derive() | PerUnit():
                listed = tuple((met.setdefault(column, len(met)), of(part)) for column, part in node.columns)
                return type(node), listed, of(node.source)
            case Lookup():
                given = tuple(met.setdefault(column, len(met)) for column in node.columns)
                return Lookup, given, of(node.key), node.entries, of(node.source)
            case tuple():
                return tuple(of(part) for part in node)
        if is_dataclass(node) and not isinstance(node, type):
            return (type(node), *(of(getattr(node, one.name)) for one in fields(node)))
        return node

    source = of(plan.source)
    return source, of(plan.keys), frozenset(of(measure) for measure in plan.measures)


def test_random_plans_have_hashes_of_their_own(random_plans: tuple[Plan, ...]) -> None:
    by_hash: dict[str, set[object]] = {}
    for plan in (*DIFFERENT, *random_plans):
        by_hash.setdefault(plan_hash(plan), set()).add(structure(plan))
    assert all(len(structures) == 1 for structures in by_hash.values())
    assert len(by_hash) == len(set[object]().union(*by_hash.values()))
