"""Every operator of the algebra over a small population, with numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.cards.card import Card, parse_card
from discreet.engines.engine import Cell, Histogram
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Filter,
    Greatest,
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
    Rows,
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
)
from tests.algebra.columns import Names

Datum = int | str | None
Table = list[dict[str, Datum]]

_CARD: Final = """
dataset: {name}
population: everyone
unit: {{column: pid, rows: 2}}
neighbours: add-remove
budget: {{epsilon: 3}}
columns:
  pid: {{kind: id, type: integer}}
{columns}
"""
PEOPLE: Final = parse_card(
    _CARD.format(
        name="people",
        columns="  region: {kind: category, categories: [a, b]}\n  age: {kind: integer, bounds: [0, 120]}\n"
        "  gain: {kind: integer}\n  note: {kind: text}\n",
    ),
    file="people.yaml",
)
VISITS: Final = parse_card(
    _CARD.format(
        name="visits",
        columns="  cost: {kind: integer, bounds: [0, 30000]}\n  day: {kind: integer, bounds: [0, 6]}\n",
    ),
    file="visits.yaml",
)
LABELS: Final = parse_card(
    _CARD.format(
        name="labels",
        columns="".join(
            f"  {name}: {{kind: integer, bounds: [0, 1000]}}\n"
            for name in ("c0", "c1", "unit", "entry", "one", "a", "b")
        ),
    ),
    file="labels.yaml",
)
"""Columns called as the engines' texts call theirs."""
CARDS: Final[Mapping[str, Card]] = {"people": PEOPLE, "visits": VISITS, "labels": LABELS}

AWKWARD: Final = "O'Brien \\ ${spark.app.name} \n {0} %s"
FAR: Final = 10**15


def _table(names: str, *rows: tuple[Datum, ...]) -> Table:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


TABLES: Final[Mapping[str, Table]] = {
    "people": _table(
        "pid region age gain note ord",
        (1, 0, 30, 10, "flu", 1),
        (1, 0, 100, -5, None, 2),
        (1, 0, 120, 1000, "lost", 3),
        (2, 1, None, FAR, AWKWARD, 1),
        (3, 1, 120, -FAR, "été", 1),
        (4, None, 0, None, "flu", 1),
        (5, 1, None, FAR, None, 1),
    ),
    "visits": _table("pid cost day ord", (1, 30000, 0, 1), (1, 1, 6, 2), (1, 500, 3, 3), (3, None, 2, 1), (5, 7, 1, 1)),
    "labels": _table(
        "pid c0 c1 unit entry one a b ord",
        (1, 1, 10, 3, 100, 1, 2, 4, 1),
        (1, 2, 20, 4, 200, 2, 6, 8, 2),
        (1, 2, 40, 5, 300, 3, 7, 9, 3),
        (2, 1, 30, 0, 300, 3, 5, 8, 1),
        (3, 3, 50, 6, 400, 4, 5, 6, 1),
        (4, 1, 60, None, 500, 5, 6, 7, 1),
    ),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A plan and what every engine must answer, column by column; for open keys also the keys."""

    name: str
    plan: Plan
    columns: tuple[Sequence[int] | Sequence[Histogram], ...]
    keys: tuple[Cell, ...] | None = None


# Identities stand in the golden texts, so they are given here, whatever other tests do.
_NAMES: Final = Names()
_at, _field = _NAMES.at, _NAMES.field
SCAN: Final = _NAMES.scan(PEOPLE)
VISITED: Final = _NAMES.scan(VISITS)
LABELLED: Final = _NAMES.scan(LABELS, prefix="label ")
AGE, GAIN, NOTE, REGION = (_field(name) for name in ("age", "gain", "note", "region"))
COST: Final = _field("cost")
BY_REGION: Final = Key(REGION, (0, 1, None))


def _ask(name: str, source: Relation, *measured: tuple[Measure, int]) -> Question:
    return Question(name, Plan(source, (), tuple(one for one, _ in measured)), tuple([truth] for _, truth in measured))


def _value(name: str, value: Value, total: int, rows: int) -> Question:
    return _ask(name, SCAN, (Total(value), total), (Rows(value), rows))


def _kept(name: str, where: Condition, rows: int) -> Question:
    return _ask(name, Filter(SCAN, where), (Rows(None), rows))


def _values() -> list[Question]:
    return [
        _value("field", AGE, 250, 4),
        _value("whole", Whole(7), 42, 6),
        _value("nothing", Nothing(), 0, 0),
        _value("plus", Plus((AGE, GAIN)), 255 - FAR, 3),
        _value("plus_constant", Plus((AGE, Whole(-60))), 10, 4),
        _value("plus_scaled", Plus((Times(Whole(3), AGE), Whole(1))), 754, 4),
        _value("times_narrow", Times(AGE, AGE), 25_300, 4),
        _value("times_wide", Times(Absolute(GAIN), Greatest((Whole(4500), Nothing()))), 4500 * (15 + 3 * FAR), 5),
        _value("absolute", Absolute(Plus((AGE, Whole(-60)))), 190, 4),
        _value("clamp", Clamp(AGE, 20, 110), 260, 4),
        _value("clamp_expression", Clamp(Plus((AGE, AGE)), 50, 10**30), 550, 4),
        _value("clamp_empty", Clamp(AGE, 50, 40), 160, 4),
        _value("least", Least((AGE, Whole(50))), 230, 6),
        _value("least_alone", Least((AGE,)), 250, 4),
        _value("greatest", Greatest((AGE, GAIN)), 250 + 2 * FAR, 6),
        _value("coalesce", Coalesce((AGE, Whole(7))), 264, 6),
        _value("case", Case(((Within(AGE, 0, 50), Whole(1)), (IsNull(AGE), Whole(5))), Whole(9)), 30, 6),
        _value("case_of_fields", Case(((OneOf(REGION, (0,)), AGE),), Nothing()), 130, 2),
    ]


def _conditions() -> list[Question]:
    return [
        _kept("one_of", OneOf(AGE, (0, 30, 10**30)), 2),
        _kept("one_of_none", OneOf(AGE, ()), 0),
        _kept("not_one_of_none", Not(OneOf(AGE, ())), 4),
        _kept("within", Within(AGE, 30, 100), 2),
        _kept("within_low", Within(AGE, 100, None), 2),
        _kept("within_high", Within(AGE, None, 0), 1),
        _kept("within_beyond", Within(GAIN, None, 10**30), 5),
        _kept("text_in", TextIn(NOTE, (AWKWARD, "été")), 2),
        _kept("text_in_unstorable", TextIn(NOTE, ("flu", "\0", "\ud800")), 2),
        _kept("is_null", IsNull(NOTE), 2),
        _kept("not", Not(Within(AGE, 30, 100)), 2),
        _kept("and", And((IsNull(NOTE), Within(AGE, 0, None))), 1),
        _kept("and_none", And(()), 6),
        _kept("or", Or((IsNull(REGION), TextIn(NOTE, ("flu",)))), 2),
        _kept("or_none", Or(()), 0),
        _kept("or_unknown", Not(Or((Within(AGE, 100, None), IsNull(REGION)))), 1),
    ]


def _relations() -> list[Question]:
    units = PerUnit(
        SCAN,
        (
            (_at("n"), Tally(None)),
            (_at("aged"), Tally(AGE)),
            (_at("total"), UnitTotal(AGE)),
            (_at("low"), Smallest(GAIN)),
            (_at("high"), Largest(GAIN)),
        ),
    )
    pairs = Join(SCAN, VISITED)
    grades = Lookup(SCAN, AGE, (_at("grade"), _at("extra")), ((30, 1, None), (120, 2, 5), (7, 9, 9)))
    cubes = Derive(Filter(SCAN, Within(GAIN, 0, 1000)), ((_at("cube"), Times(Times(GAIN, GAIN), GAIN)),))
    # Columns that are passed on, copied and made anew; and a second reading of columns with the same names.
    copies = Derive(
        SCAN,
        (
            (_at("age"), AGE),
            (_at("age, copied"), AGE),
            (_at("one"), Whole(1)),
            (_at("gain"), GAIN),
            (_at("region, copied"), REGION),
            (_at("two"), Whole(2)),
        ),
    )
    both = Join(copies, _NAMES.scan(PEOPLE, 1, prefix="first "))
    return [
        _ask("first_rows", _NAMES.scan(PEOPLE, 1), (Rows(None), 5), (Units(), 5), (Total(AGE), 150)),
        _ask("units", SCAN, (Rows(None), 6), (Units(), 5), (Rows(NOTE), 4)),
        _ask("derive", Derive(SCAN, ((_at("twice"), Times(AGE, Whole(2))),)), (Total(_field("twice")), 500)),
        _ask(
            "names",
            copies,
            (Total(AGE), 250),
            (Total(_field("age, copied")), 250),
            (Total(_field("one")), 6),
            (Rows(GAIN), 5),
            (Total(_field("region, copied")), 3),
            (Total(_field("two")), 12),
        ),
        _ask(
            "names_joined",
            both,
            (Rows(None), 6),
            (Total(AGE), 250),
            (Total(_field("first age")), 180),
            (Total(Plus((_field("one"), _field("first age")))), 184),
        ),
        _ask(
            "labels",
            Filter(
                Join(
                    Lookup(LABELLED, _field("label c0"), (_at("worth"),), ((1, 10), (2, 20))),
                    PerUnit(SCAN, ((_at("n"), Tally(None)),)),
                ),
                Within(_field("label unit"), 0, None),
            ),
            (Rows(None), 3),
            (Units(), 2),
            (Total(_field("label c0")), 4),
            (Total(_field("label c1")), 60),
            (Total(_field("label unit")), 7),
            (Total(Plus((_field("label entry"), _field("worth")))), 640),
            (Total(Plus((_field("label a"), _field("label b"), _field("n")))), 38),
            (Total(_field("label one")), 6),
        ),
        _ask(
            "per_unit",
            units,
            (Units(), 5),
            (Total(_field("n")), 6),
            (Total(_field("aged")), 4),
            (Total(_field("total")), 250),
            (Rows(_field("total")), 3),
            (Total(_field("low")), FAR - 5),
            (Total(_field("high")), FAR + 10),
        ),
        _ask(
            "per_unit_rows", PerUnit(Filter(SCAN, Within(AGE, 50, None)), ((_at("n"), Tally(NOTE)),)), (Rows(None), 2)
        ),
        _ask(
            "join",
            pairs,
            (Rows(None), 6),
            (Units(), 3),
            (Total(COST), 60_009),
            (Total(Times(AGE, COST)), 3_900_130),
        ),
        _ask("join_filtered", Filter(pairs, Within(AGE, 50, None)), (Rows(None), 3), (Units(), 2)),
        _ask(
            "join_per_unit",
            Join(units, PerUnit(VISITED, ((_at("spent"), UnitTotal(COST)),))),
            (Rows(None), 3),
            (Total(Plus((_field("spent"), _field("n")))), 30_011),
        ),
        _ask("lookup", grades, (Rows(None), 2), (Total(_field("grade")), 3), (Rows(_field("extra")), 1)),
        _ask("lookup_expression", Lookup(SCAN, Plus((AGE, Whole(1))), (_at("g"),), ((1, 8),)), (Total(_field("g")), 8)),
        _ask("lookup_nothing", Lookup(SCAN, AGE, (_at("g"),), ()), (Rows(None), 0), (Total(_field("g")), 0)),
        # Rows that the first filter drops would overflow in the second.
        _ask("filters_in_order", Filter(cubes, Within(_field("cube"), None, 10**6)), (Rows(None), 1)),
    ]


def _grouped() -> list[Question]:
    by_age = Key(AGE, (0, 30, 100, 120, None))
    return [
        Question(
            "keys",
            Plan(SCAN, (BY_REGION,), (Rows(None), Total(AGE), Units())),
            ([2, 3, 1], [130, 120, 0], [1, 3, 1]),
        ),
        Question(
            "two_keys",
            Plan(SCAN, (BY_REGION, by_age), (Rows(None),)),
            ([0, 1, 1, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0],),
        ),
        Question("keys_partly", Plan(SCAN, (Key(REGION, (1, 7)),), (Rows(None),)), ([3, 0],)),
        Question(
            "histograms",
            Plan(SCAN, (BY_REGION,), (Quantile(AGE, Fraction(1, 2)), Rows(None), Extreme(AGE, largest=True))),
            ([[(30, 1), (100, 1)], [(120, 1)], [(0, 1)]], [2, 3, 1], [[(30, 1), (100, 1)], [(120, 1)], [(0, 1)]]),
        ),
        Question(
            "histogram_of_expression",
            Plan(SCAN, (), (Extreme(Clamp(GAIN, 0, 10), largest=False),)),
            ([[(0, 2), (10, 3)]],),
        ),
        Question(
            "candidates",
            Plan(
                SCAN,
                (BY_REGION,),
                (
                    Quantile(AGE, Fraction(1, 2), candidates=(40, 110)),
                    Extreme(AGE, largest=True, candidates=(40, 110)),
                    Extreme(AGE, largest=False, candidates=(30, 30)),
                ),
            ),
            (
                [[(40, 1), (100, 1)], [(110, 1)], [(40, 1)]],
                [[(40, 1), (100, 1)], [(110, 1)], [(40, 1)]],
                [[(30, 2)], [(30, 1)], [(30, 1)]],
            ),
        ),
        Question(
            "open_text",
            Plan(SCAN, (Key(NOTE, None),), (Rows(None), Quantile(GAIN, Fraction(1, 4)))),
            ([1, 2, 1, 2], [[(FAR, 1)], [(10, 1)], [(-FAR, 1)], [(-5, 1), (FAR, 1)]]),
            keys=((AWKWARD,), ("flu",), ("été",), (None,)),
        ),
        Question(
            "open_number",
            Plan(SCAN, (Key(GAIN, None),), (Extreme(AGE, largest=True),)),
            ([[(120, 1)], [(100, 1)], [(30, 1)], [], [(0, 1)]],),
            keys=((-FAR,), (-5,), (10,), (FAR,), (None,)),
        ),
    ]


QUESTIONS: Final = (*_values(), *_conditions(), *_relations(), *_grouped())
