"""The public face of a dataset: all that its card says, in one language."""

from __future__ import annotations

from typing import Any

from discreet.cards.card import parse_card
from discreet.cards.card_face import describe_card

CARD = """\
dataset: visits
title: {en: Visits, fr: Visites}
unit: {column: pid, rows: 1}
neighbours: replace-one
size: public
weight: {column: w, cap: {by: zone, values: {A: 10, B: 40}}}
budget: {epsilon: 1}
columns:
  pid: {kind: id, type: integer}
  zone: {kind: category, public: true, categories: {A: {en: North, fr: Nord}, B: South}}
  age: {kind: integer, bounds: [0, 110], missing: [999], label: {en: Age, fr: Âge}}
  cost: {kind: number, bounds: private, step: 0.01}
  stay: {kind: integer, bounds: [0, 60], provenance: from_rows}
  w: {kind: integer, bounds: [0, 100], presence: public}
  clinic: {kind: text, references: clinics.clinic_id}
"""


def face(language: str) -> dict[str, Any]:
    return describe_card(parse_card(CARD, file="visits.yaml"), language)


def test_a_reader_is_told_what_each_column_promises() -> None:
    columns = {column["name"]: column for column in face("en")["columns"]}
    assert columns["zone"] == {
        "name": "zone",
        "kind": "category",
        "label": "zone",
        "public": True,
        "categories": {"A": "North", "B": "South"},
    }
    assert (columns["age"]["bounds"], columns["age"]["missing"]) == (["0", "110"], ["999"])
    assert columns["cost"]["bounds_private"] is True
    assert "bounds" not in columns["cost"]
    assert columns["stay"]["provenance"] == "from_rows"
    assert [name for name, column in columns.items() if "provenance" in column] == ["stay"]
    assert columns["w"]["presence"] == "public"
    assert columns["clinic"]["references"] == "clinics.clinic_id"


def test_the_weight_is_told_with_every_cap() -> None:
    assert face("en")["weight"] == {"column": "w", "cap": "40", "by": "zone", "caps": {"A": "10", "B": "40"}}


def test_labels_are_in_the_language_asked_for() -> None:
    french, english = face("fr"), face("en")
    assert (french["title"], english["title"]) == ("Visites", "Visits")
    assert [column["label"] for column in french["columns"] if column["name"] == "age"] == ["Âge"]
    assert [column["label"] for column in english["columns"] if column["name"] == "age"] == ["Age"]
