"""Real and generated rows side by side: what each column holds, how like it is, and whether columns still go together.

Everything here follows from the real rows: it is for the custodian alone. Columns drawn independently of each other
from the real rows are the baseline: they keep every column's shape and lose every correlation, so a generator is worth
its training only where it beats them on correlations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.guarantees import text
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.similarity import correlate, correlation_similarity, ks_complement, present, tv_complement

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "INDEPENDENT",
    "REAL",
    "ColumnFacts",
    "ColumnInspection",
    "Inspection",
    "draw_independently",
    "find_facts",
    "inspect",
]

REAL: Final = "real"
INDEPENDENT: Final = "independent columns"


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column of one set of rows. `uniqueness` is distinct values over rows; `low` and `high` are for numbers.

    `shape` is KSComplement for numbers and TVComplement for categories against the real column; None where a side has
    no value at all, and for the real column itself.
    """

    cardinality: int
    uniqueness: float
    missing: float
    low: Decimal | None
    high: Decimal | None
    shape: float | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "cardinality": self.cardinality,
            "uniqueness": self.uniqueness,
            "missing": self.missing,
            "range": None if self.low is None or self.high is None else [text(self.low), text(self.high)],
            "shape": self.shape,
        }


@dataclass(frozen=True, slots=True)
class ColumnInspection:
    """A column in every set of rows, the real one first."""

    name: str
    kind: str
    facts: Mapping[str, ColumnFacts]


@dataclass(frozen=True, slots=True)
class Inspection:
    """Every set of rows by name: REAL first, then the generated ones, INDEPENDENT last.

    `shapes` is the mean over columns and `correlations` the mean CorrelationSimilarity over `pairs` of number columns;
    a pair in which a column does not vary on either side has no correlation and is left out. None where nothing is
    left to compare.
    """

    rows: Mapping[str, int]
    columns: tuple[ColumnInspection, ...]
    shapes: Mapping[str, float | None]
    correlations: Mapping[str, float | None]
    pairs: Mapping[str, int]

    @property
    def beats_independence(self) -> bool | None:
        """Whether every generated set keeps correlations better than independent columns do; None without pairs."""
        baseline = self.correlations[INDEPENDENT]
        generated = [score for name, score in self.correlations.items() if name != INDEPENDENT]
        if baseline is None or not generated or None in generated:
            return None
        return all(score is not None and score > baseline for score in generated)

    def to_dict(self) -> dict[str, object]:
        """Plain values; nothing in it may be published."""
        return {
            "custodian_only": True,
            "rows": dict(self.rows),
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "sets": {name: facts.to_dict() for name, facts in column.facts.items()},
                }
                for column in self.columns
            ],
            "column_shapes": dict(self.shapes),
            "correlation_similarity": dict(self.correlations),
            "correlated_pairs": dict(self.pairs),
            "beats_independent_columns": self.beats_independence,
        }


def inspect(
    real: GeneratorRows, generated: Mapping[str, GeneratorRows], *, random: np.random.Generator | None = None
) -> Inspection:
    """Compare sets of generated rows with the real ones. `random` draws the baseline."""
    if not len(real) or not all(len(rows) for rows in generated.values()):
        raise Refused(say("a comparison needs at least one row on each side. Sample some, or add a file with rows."))
    if any(_units(rows) != _units(real) for rows in generated.values()):
        raise Refused(
            say(
                "the columns, categories or steps of the dataset have changed since the model was trained. Train "
                "it again."
            )
        )
    if not {REAL, INDEPENDENT}.isdisjoint(generated):
        raise ValueError(f"'{REAL}' and '{INDEPENDENT}' name other rows")
    sets = {**generated, INDEPENDENT: draw_independently(real, len(real), random or np.random.default_rng())}
    columns = tuple(_inspect_column(shape, real, sets) for shape in real.shapes)
    matrix = _correlations(real)
    similarities = {name: _similarities(matrix, _correlations(rows)) for name, rows in sets.items()}
    return Inspection(
        rows={REAL: len(real), **{name: len(rows) for name, rows in sets.items()}},
        columns=columns,
        shapes={name: _mean(column.facts[name].shape for column in columns) for name in sets},
        correlations={name: _mean(found.tolist()) for name, found in similarities.items()},
        pairs={name: found.size for name, found in similarities.items()},
    )


def draw_independently(real: GeneratorRows, count: int, random: np.random.Generator) -> GeneratorRows:
    """Rows whose columns are drawn from the real ones with replacement, each by itself."""
    values = {name: column[random.integers(0, len(real), count)] for name, column in real.values.items()}
    return GeneratorRows(real.shapes, values)


def _units(rows: GeneratorRows) -> list[tuple[str, str, tuple[str, ...], str]]:
    """What the values of each column count: positions among categories, or steps."""
    return [(shape.name, shape.kind, shape.categories, shape.step) for shape in rows.shapes]


def _inspect_column(shape: Shape, real: GeneratorRows, sets: Mapping[str, GeneratorRows]) -> ColumnInspection:
    original = real.values[shape.name]
    facts = {REAL: find_facts(shape, original)}
    for name, rows in sets.items():
        facts[name] = find_facts(shape, rows.values[shape.name], original)
    return ColumnInspection(shape.name, shape.kind, facts)


def find_facts(shape: Shape, values: NDArray[float64], original: NDArray[float64] | None = None) -> ColumnFacts:
    """One column by itself, and how like its shape is to the original's, where there is one."""
    there = present(values)
    distinct = np.unique(there)
    low, high = None, None
    if shape.kind != "category" and distinct.size:
        low, high = (int(end) * Decimal(shape.step) for end in (distinct[0], distinct[-1]))
    alike = None
    if original is not None:
        measure = tv_complement if shape.kind == "category" else ks_complement
        alike = _known(measure(original, values))
    return ColumnFacts(
        cardinality=int(distinct.size),
        uniqueness=distinct.size / values.size,
        missing=1 - there.size / values.size,
        low=low,
        high=high,
        shape=alike,
    )


def _correlations(rows: GeneratorRows) -> NDArray[float64]:
    """The correlation of each pair of number columns, in the order of the columns; nan where there is none."""
    numbers = [rows.values[shape.name] for shape in rows.shapes if shape.kind != "category"]
    if len(numbers) < 2:
        return np.empty(0)
    pairs: NDArray[float64] = correlate(numbers)[np.triu_indices(len(numbers), k=1)]
    return pairs


def _similarities(real: NDArray[float64], generated: NDArray[float64]) -> NDArray[float64]:
    scores = correlation_similarity(real, generated)
    kept: NDArray[float64] = scores[np.isfinite(scores)]
    return kept


def _mean(scores: Iterable[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None


def _known(score: float) -> float | None:
    return None if np.isnan(score) else score
