"""Hand-made statements over one small card, for tests that need no SQL."""

from __future__ import annotations

from fractions import Fraction

from discreet.cards.card import Card, parse_card
from discreet.sql.algebra import Key, Measure, Plan, Rows, Total, Units
from discreet.sql.outputs import KeyShown, Noted, Output, Presentation, ShownColumn
from discreet.sql.statement import KeyFace, MeasureFace, Statement
from tests.algebra.columns import called, field, scan

TEXT = """
dataset: t
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 100}
weight: {column: w, cap: {by: province, values: {A: 10, B: 40}}}
columns:
  pid: {kind: id, type: integer}
  province: {kind: category, public: true, categories: {A: Alpha, B: Beta}}
  x: {kind: integer, bounds: [-5, 20]}
  w: {kind: integer, bounds: [0, 100]}
  town: {kind: text}
"""

BY_PROVINCE = Key(field("province"), (0, 1, None))
BY_TOWN = Key(field("town"), None)
COUNT, SUM, WEIGHTS, UNITS = Rows(None), Total(field("x")), Total(field("w")), Units()


def make_card(*changes: tuple[str, str]) -> Card:
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_card(text, file="t.yaml")


def make_statement(
    *measures: Measure,
    keys: tuple[Key, ...] = (),
    outputs: tuple[Output, ...] | None = None,
    presentation: Presentation | None = None,
    rows: int = 3,
) -> Statement:
    """The measures by the keys, shown one by one as m0, m1, … after the keys, unless told otherwise."""
    faces = tuple(_face(key) for key in keys)
    if outputs is None:
        outputs = tuple(Noted(place, Fraction(1)) for place in range(len(measures)))
    columns = [ShownColumn(face.name, KeyShown(place)) for place, face in enumerate(faces)]
    columns += [ShownColumn(f"m{place}", output) for place, output in enumerate(outputs)]
    return Statement(
        Plan(scan(make_card(), rows), keys, measures),
        presentation or Presentation(tuple(columns)),
        faces,
        tuple(MeasureFace(f"measure {place}", Fraction(1)) for place in range(len(measures))),
        called(),
    )


def _face(key: Key) -> KeyFace:
    name = called()[key.field.column]
    if name != "province":
        return KeyFace(name, step=None if key == BY_TOWN else Fraction(1))
    categories = make_card().column("province").categories
    return KeyFace("province", tuple(one.code for one in categories), tuple(one.label for one in categories))
