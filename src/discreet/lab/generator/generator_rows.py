"""Rows as the generator sees them: one array for each column, real or generated, and what the card says of each.

Values are 64-bit floats that hold whole numbers: the position of a category in the card's list, or a number in steps;
nan is a missing value. No prepared value exceeds 10^15, so each is held exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from discreet.cards import Column, ColumnKind
from discreet.catalogue import say
from discreet.errors import FileRefused, Refused
from discreet.guarantees import text as plain_text
from discreet.workspace import ORDER_COLUMN

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from discreet.workspace import Dataset

__all__ = ["MOST_CATEGORIES", "GeneratorRows", "Shape", "read_rows", "read_units", "shape_of"]

MOST_CATEGORIES: Final = 5_000
_GENERATED: Final = {ColumnKind.CATEGORY, ColumnKind.INTEGER, ColumnKind.NUMBER}


@dataclass(frozen=True, slots=True)
class Shape:
    """A column as its card declares it. `low` and `high` are bounds in steps, None where the card fixes none.

    `from_rows`: the bounds or categories were read from the rows, so they are no public knowledge.
    """

    name: str
    kind: Literal["category", "integer", "number"]
    categories: tuple[str, ...] = ()
    step: str = "1"
    low: int | None = None
    high: int | None = None
    from_rows: bool = False

    def __post_init__(self) -> None:
        if self.kind not in {"category", "integer", "number"} or (self.kind == "category") != bool(self.categories):
            raise ValueError("a shape is a category with its codes, an integer or a number")
        if (self.low is None) != (self.high is None) or (self.low or 0) > (self.high or 0):
            raise ValueError("bounds come in pairs that rise")
        if len(self.categories) > MOST_CATEGORIES:
            raise Refused(
                say(
                    "column '{name}' has {count} categories; a generator learns at most {most_categories}. Group its "
                    "codes, or declare it as text, which is left out.",
                    name=self.name,
                    count=len(self.categories),
                    most_categories=MOST_CATEGORIES,
                ),
                column=self.name,
            )


@dataclass(frozen=True, slots=True)
class GeneratorRows:
    """Columns of one length, each as its shape says."""

    shapes: tuple[Shape, ...]
    values: Mapping[str, NDArray[float64]]

    def __post_init__(self) -> None:
        if [shape.name for shape in self.shapes] != list(self.values):
            raise ValueError("every shape has its values, in the same order")
        if len({len(array) for array in self.values.values()}) > 1:
            raise ValueError("the columns of rows have one length")

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def to_arrow(self) -> Any:
        """A pyarrow table in the card's own terms: codes as text, integers, exact decimals; null is missing."""
        import pyarrow as pa

        return pa.table({shape.name: _in_words(shape, self.values[shape.name]) for shape in self.shapes})


def shape_of(column: Column) -> Shape:
    """What the generator knows of a column before it sees a row."""
    bounds = (column.low_units, column.high_units) if column.numeric and column.bounds is not None else (None, None)
    return Shape(
        name=column.name,
        kind=column.kind.value,  # type: ignore[arg-type]
        categories=tuple(category.code for category in column.categories),
        step=plain_text(column.step) if column.step is not None else "1",
        low=bounds[0],
        high=bounds[1],
        from_rows=column.from_rows,
    )


def read_rows(dataset: Dataset) -> GeneratorRows:
    """The rows of a prepared dataset that count, without ids and texts: at most the card's number for each unit."""
    columns = [column for column in dataset.card.columns if column.kind in _GENERATED]
    if not columns:
        raise Refused(
            say("'{name}' has no category, integer or number column: there is nothing to generate.", name=dataset.name)
        )
    shapes = tuple(shape_of(column) for column in columns)
    table = _read(dataset, [shape.name for shape in shapes])
    values = {name: table.column(name).cast("float64").to_numpy() for name in table.column_names}
    return GeneratorRows(shapes, values)


def read_units(dataset: Dataset) -> NDArray[Any]:
    """The unit of each row, in the order of `read_rows`."""
    units: NDArray[Any] = _read(dataset, [dataset.card.unit.column]).column(0).to_numpy()
    return units


def _read(dataset: Dataset, names: list[str]) -> Any:
    """Columns of the rows that count, in the order of the file."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if dataset.source.engine != "duckdb":
        raise Refused(
            say(
                "the rows of '{name}' stay in {engine}; a generator learns from rows that are prepared in the "
                "workspace. Add an extract of them as a file.",
                name=dataset.name,
                engine=dataset.source.engine,
            ),
            dataset=dataset.name,
        )
    try:
        table = pq.ParquetFile(dataset.data).read(columns=[*names, ORDER_COLUMN])
    except (OSError, pa.ArrowException):
        raise FileRefused(
            say("the prepared rows of '{name}' cannot be read; add the file again.", name=dataset.name)
        ) from None
    counted = pc.less_equal(table.column(ORDER_COLUMN), dataset.card.unit.rows)
    return table.filter(counted).drop_columns([ORDER_COLUMN])


def _in_words(shape: Shape, values: NDArray[float64]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
    if shape.kind == "category":
        return pc.take(pa.array(shape.categories, pa.string()), whole)
    if shape.kind == "integer":
        return pc.multiply(whole, int(Decimal(shape.step)))
    return pc.multiply(whole.cast(pa.decimal128(19, 0)), pa.scalar(Decimal(shape.step)))
