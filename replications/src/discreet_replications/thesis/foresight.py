"""What the public ranges promise on the thesis' terms, in closed form: clipping and noise of each query.

Neighbours replace one row, and it is public how many rows have a value: a sum moves by the width of the range, a mean
by that over the rows with a value. The error of b·Laplace noise on an answer that clipping has moved by a is
|a| + b·e^(−|a|/b) in the mean. Needs the exact answers: for the custodian and for studies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.public_ranges import COLUMNS, Range
from discreet_replications.thesis.data.readings import Readings, ThesisTable
from discreet_replications.thesis.data.thesis_queries import QUERIES, ThesisQuery
from discreet_replications.thesis.thesis_truth import EXACT, Truth, find_truth

__all__ = ["Foresight", "foresee", "foresee_all", "mean_error"]


@dataclass(frozen=True, slots=True)
class Foresight:
    """One query: its exact answer, the answer of the clipped values, how many were clipped, and its sensitivity."""

    truth: Truth
    range: Range
    clipped_result: Fraction
    clipped_rows: int

    @property
    def query(self) -> ThesisQuery:
        return self.truth.query

    @property
    def sensitivity(self) -> Fraction:
        width = Fraction(self.range.high) - Fraction(self.range.low)
        return width if self.query.aggregate == "SUM" else width / self.truth.present

    @property
    def bias(self) -> float:
        """What clipping alone does to the answer, relative to it."""
        return float((self.clipped_result - self.truth.result) / abs(self.truth.result))

    def relative_error(self, *, epsilon: Fraction) -> float:
        """The mean of |answer − truth| / |truth|."""
        scale = float(self.sensitivity / epsilon / abs(self.truth.result))
        moved = abs(self.bias)
        return moved + scale * math.exp(-moved / scale)

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.query.number,
            "query": self.query.sql,
            "bounds": [self.range.low, self.range.high],
            "reason": self.range.why.en,
            "clipped_rows": self.clipped_rows,
            "clipping_bias": self.bias,
            "sensitivity": float(self.sensitivity),
            "relative_error": {item: self.relative_error(epsilon=Fraction(item)) for item in ("0.01", "0.1")},
        }


def foresee(query: ThesisQuery, table: ThesisTable) -> Foresight:
    """What is to be expected of one query."""
    public = next(item for item in COLUMNS[query.dataset] if isinstance(item, Range) and item.column == query.column)
    low, high = Decimal(public.low), Decimal(public.high)
    histogram = table.histogram(query.column)
    with localcontext(EXACT):
        total = Fraction(sum((min(max(value, low), high) * count for value, count in histogram), Decimal(0)))
    truth = find_truth(query, table)
    clipped = total if query.aggregate == "SUM" else total / truth.present
    outside = sum(count for value, count in histogram if not low <= value <= high)
    return Foresight(truth, public, clipped, outside)


def foresee_all(readings: Readings, reading: KidneyReading = KidneyReading.CLEAN) -> tuple[Foresight, ...]:
    """What is to be expected of every query whose data were read."""
    tables = readings.tables(reading)
    return tuple(foresee(query, tables[query.dataset]) for query in QUERIES if query.dataset in tables)


def mean_error(foreseen: tuple[Foresight, ...], *, epsilon: Fraction) -> float:
    """The mean over queries, as the thesis takes it."""
    return math.fsum(item.relative_error(epsilon=epsilon) for item in foreseen) / len(foreseen)
