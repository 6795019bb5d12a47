"""Whether what the thesis prints comes out again: true results and sensitivities of the 26 queries, exactly.

The sensitivities are the thesis' own rule, not those that a guarantee needs: of a sum the column's maximum, of a mean
that maximum over the number of rows less one, rows without a value counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.readings import Readings, ThesisTable
from discreet_replications.thesis.data.thesis_queries import QUERIES, ThesisQuery, matches

__all__ = ["EXACT", "Lost", "QueryCheck", "Truth", "TruthCheck", "check_readings", "find_truth", "losses"]

EXACT: Final = Context(prec=100, traps=[Inexact])
_READ: Final = {
    KidneyReading.THESIS: Phrase("as the thesis read kidney"),
    KidneyReading.CLEAN: Phrase("with kidney read cleanly"),
    None: Phrase("without kidney"),
}


@dataclass(frozen=True, slots=True)
class Truth:
    """A query's exact answer. `present` of the `rows` have a value."""

    query: ThesisQuery
    rows: int
    present: int
    result: Fraction
    least: Fraction
    greatest: Fraction

    @property
    def thesis_sensitivity(self) -> Fraction:
        return self.greatest if self.query.aggregate == "SUM" else self.greatest / (self.rows - 1)


def find_truth(query: ThesisQuery, table: ThesisTable) -> Truth:
    """The exact answer of a query over the rows that have a value."""
    histogram = table.histogram(query.column)
    with localcontext(EXACT):
        total = Fraction(sum((value * count for value, count in histogram), Decimal(0)))
    present = table.rows - table.missing(query.column)
    values = [value for value, _ in histogram]
    result = total if query.aggregate == "SUM" else total / present
    return Truth(query, table.rows, present, result, Fraction(min(values)), Fraction(max(values)))


@dataclass(frozen=True, slots=True)
class QueryCheck:
    """One query against what is printed."""

    truth: Truth

    @property
    def query(self) -> ThesisQuery:
        return self.truth.query

    @property
    def result_matches(self) -> bool:
        return matches(self.truth.result, self.query.result)

    @property
    def sensitivity_matches(self) -> bool:
        return matches(self.truth.thesis_sensitivity, self.query.sensitivity)

    @property
    def agrees(self) -> bool:
        return self.result_matches and self.sensitivity_matches

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.query.number,
            "query": self.query.sql,
            "printed_result": self.query.result,
            "result": float(self.truth.result),
            "printed_sensitivity": self.query.sensitivity,
            "sensitivity": float(self.truth.thesis_sensitivity),
            "rows": self.truth.rows,
            "present": self.truth.present,
            "agrees": self.agrees,
        }


@dataclass(frozen=True, slots=True)
class Lost:
    """What the thesis' reading of kidney loses: `fields` in `records`; `asked` counts them for each column queried."""

    records: int
    fields: int
    asked: Mapping[str, int]

    def tell(self) -> str:
        columns = ", ".join(f"{name} {count}" for name, count in self.asked.items() if count)
        if not columns:
            return say(
                "Read as the thesis did, {values} values in {records} records are lost after stray tabs; of the "
                "columns asked about: none.",
                values=self.fields,
                records=self.records,
            )
        return say(
            "Read as the thesis did, {values} values in {records} records are lost after stray tabs; of the columns "
            "asked about: {columns}.",
            values=self.fields,
            records=self.records,
            columns=columns,
        )


def losses(readings: Readings) -> Lost | None:
    """The values that one reading of kidney has and the other lacks; None without both."""
    if len(readings.kidney) < len(KidneyReading):
        return None
    clean, theirs = (readings.kidney[reading].arrow for reading in (KidneyReading.CLEAN, KidneyReading.THESIS))
    lost = {
        name: [
            mine is not None and other is None
            for mine, other in zip(clean.column(name).to_pylist(), theirs.column(name).to_pylist(), strict=True)
        ]
        for name in clean.column_names
    }
    records = sum(any(row) for row in zip(*lost.values(), strict=True))
    asked = {query.column: sum(lost[query.column]) for query in QUERIES if query.dataset == "kidney"}
    return Lost(records, sum(map(sum, lost.values())), asked)


@dataclass(frozen=True, slots=True)
class TruthCheck:
    """Every query that could be asked under one reading of kidney (None without it), against what is printed."""

    reading: KidneyReading | None
    lines: tuple[QueryCheck, ...]

    @property
    def agreeing(self) -> int:
        return sum(line.agrees for line in self.lines)

    @property
    def score(self) -> str:
        """As 26/26."""
        return f"{self.agreeing}/{len(self.lines)}"

    @property
    def differing(self) -> tuple[QueryCheck, ...]:
        return tuple(line for line in self.lines if not line.agrees)

    def tell(self) -> str:
        told = f"{self.score} {_READ[self.reading]}"
        if not self.differing:
            return told
        return say(
            "{told}; otherwise: {queries}", told=told, queries=", ".join(line.query.name for line in self.differing)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"reading": self.reading, "score": self.score, "lines": [line.to_dict() for line in self.lines]}


def check_readings(readings: Readings) -> tuple[TruthCheck, ...]:
    """The check for the thesis' reading, then for the clean one; without kidney one check of the rest."""
    order: list[KidneyReading | None] = [None]
    if readings.kidney:
        order = [reading for reading in (KidneyReading.THESIS, KidneyReading.CLEAN) if reading in readings.kidney]
    checks: list[TruthCheck] = []
    for reading in order:
        tables = readings.tables(reading or KidneyReading.CLEAN)
        known = (
            {line.query.number: line for line in checks[0].lines if line.query.dataset != "kidney"} if checks else {}
        )
        lines = (
            known.get(query.number) or QueryCheck(find_truth(query, tables[query.dataset]))
            for query in QUERIES
            if query.dataset in tables
        )
        checks.append(TruthCheck(reading, tuple(lines)))
    return tuple(checks)
