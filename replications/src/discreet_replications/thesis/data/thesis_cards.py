"""The cards of the benchmark: one builder, five sets of terms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from discreet.catalogue import Phrase
from discreet_replications.thesis.data.public_ranges import COLUMNS, Codes, Range, Words
from discreet_replications.thesis.data.thesis_queries import QUERIES, ThesisQuery

__all__ = ["MOST_ENCOUNTERS", "Variant", "card_text", "queries_of"]

MOST_ENCOUNTERS: Final = 40
"""Of one patient in diabetes: ten years of records, four stays a year."""

_PATIENT: Final = "patient_nbr"
_TITLES: Final = {
    "kidney": "Chronic kidney disease",
    "breast": "Wisconsin breast cancer, diagnostic",
    "diabetes": "Diabetes, 130 US hospitals",
}


class Variant(StrEnum):
    """On which terms the queries are asked.

    `thesis`: what the thesis assumes, namely that each row is a person, neighbours replace one, and how many rows there
    are and which have a value is public. `add-remove`: the same rows with nothing public. The two with private bounds
    differ from these in that no range is known for the columns asked about. `patient`: as `thesis`, but diabetes
    protects whole patients, of whom only the number is public; again with private bounds.
    """

    THESIS = "thesis"
    ADD_REMOVE = "add-remove"
    PRIVATE_BOUNDS = "private-bounds"
    PRIVATE_BOUNDS_ADD_REMOVE = "private-bounds-add-remove"
    PATIENT = "patient"
    PATIENT_PRIVATE_BOUNDS = "patient-private-bounds"

    @property
    def label(self) -> Phrase:
        """What readers see."""
        return _LABELS[self]

    @property
    def replaces(self) -> bool:
        """Whether neighbours replace a unit, and how many there are is public."""
        return self not in {Variant.ADD_REMOVE, Variant.PRIVATE_BOUNDS_ADD_REMOVE}

    @property
    def private_bounds(self) -> bool:
        return self in {
            Variant.PRIVATE_BOUNDS,
            Variant.PRIVATE_BOUNDS_ADD_REMOVE,
            Variant.PATIENT_PRIVATE_BOUNDS,
        }

    @property
    def by_patient(self) -> bool:
        """Whether diabetes protects patients with all their stays."""
        return self in {Variant.PATIENT, Variant.PATIENT_PRIVATE_BOUNDS}

    def protects_patients(self, dataset: str) -> bool:
        """Whether the unit is a patient with all their rows, not a row."""
        return self.by_patient and dataset == "diabetes"


_LABELS: Final = {
    Variant.THESIS: Phrase("thesis"),
    Variant.ADD_REMOVE: Phrase("add-remove"),
    Variant.PRIVATE_BOUNDS: Phrase("private-bounds"),
    Variant.PRIVATE_BOUNDS_ADD_REMOVE: Phrase("private-bounds-add-remove"),
    Variant.PATIENT: Phrase("patient"),
    Variant.PATIENT_PRIVATE_BOUNDS: Phrase("patient-private-bounds"),
}


def queries_of(variant: Variant) -> tuple[ThesisQuery, ...]:
    """The queries that can be asked on these terms: the id of the protected unit cannot be summed."""
    return tuple(query for query in QUERIES if not variant.by_patient or query.column != _PATIENT)


def card_text(dataset: str, variant: Variant, *, narrow: bool = False) -> str:
    """The card of a data set on these terms, as YAML; `narrow` with no columns but the unit's and those asked about."""
    return "\n".join([*_terms(dataset, variant), "columns:", *_columns(dataset, variant, narrow=narrow)]) + "\n"


def _terms(dataset: str, variant: Variant) -> Iterator[str]:
    unit = (_PATIENT, MOST_ENCOUNTERS) if variant.protects_patients(dataset) else ("row_number", 1)
    yield "# Ranges are public knowledge with its reason beside it, never read from these rows: docs/thesis-cards.md."
    yield f"dataset: {dataset}"
    yield f"title: {_quoted(_TITLES[dataset])}"
    yield f"population: thesis-{dataset}"
    yield f"unit: {{column: {unit[0]}, rows: {unit[1]}}}"
    yield f"neighbours: {'replace-one' if variant.replaces else 'add-remove'}"
    if variant.replaces:
        yield "size: public"
        yield "exact_public: true"
    yield "budget: {epsilon: 1000}"
    yield "allow: [generated]"


def _columns(dataset: str, variant: Variant, *, narrow: bool) -> Iterator[str]:
    asked = {query.column for query in queries_of(variant) if query.dataset == dataset}
    patients = variant.protects_patients(dataset)
    if not patients:
        yield "  row_number: {kind: id, type: row}"
    for column in COLUMNS[dataset]:
        if narrow and column.column not in asked | ({_PATIENT} if patients else set()):
            continue
        yield f"  {column.column}:"
        match column:
            case Range(name) if patients and name == _PATIENT:
                yield "    kind: id"
                yield "    type: integer"
                continue
            case Range():
                yield from _range(column, private=variant.private_bounds and column.column in asked)
            case Codes(_, codes, source):
                yield "    kind: category"
                yield from (f"    source: {_quoted(name)}" for name in (source,) if name)
                yield f"    categories: [{', '.join(map(_quoted, codes))}]"
            case Words():
                yield "    kind: text"
                continue
        if variant.replaces and not patients:
            yield "    presence: public"


def _range(column: Range, *, private: bool) -> Iterator[str]:
    yield f"    kind: {'integer' if column.whole else 'number'}"
    if private:
        yield "    bounds: private"
    else:
        yield f"    bounds: [{column.low}, {column.high}]  # {column.why.en}"
    if not column.whole:
        yield f"    step: {column.step}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
