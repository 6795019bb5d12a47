"""A file's values as they were written: weights before any cap, codes for "not stated" among the numbers.

Only the reproduction of the founding report reads them. Rows are those of the frame, in its order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import Card, Column, ColumnKind
from discreet.catalogue import Phrase
from discreet.errors import Refused
from discreet.sources import choose_columns, open_source

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["RawRows", "load_raw_rows"]

_ONE_ROW: Final = Phrase(
    "Model naive reads the file as it is: it needs one row per unit, none without an id, all written as the card says. "
    "Leave model naive out."
)


@dataclass(frozen=True, slots=True, eq=False)
class RawRows:
    """Numbers as written, nan where there is none; positions of categories; uncapped weights times the multiplier."""

    numbers: Mapping[str, NDArray[float64]]
    categories: Mapping[str, NDArray[int64]]
    weights: NDArray[float64]


def load_raw_rows(file: Path, card: Card, *, columns: Sequence[str], multiplier: float) -> RawRows:
    """The columns of a file, one row per unit, sorted by unit as frames are; where rows are units, as they come."""
    import pyarrow as pa

    weight = card.weight.column if card.weight else None
    unit = () if card.unit_type == "row" else (card.unit.column,)
    names = list(dict.fromkeys([*unit, *columns, *([weight] if weight else [])]))
    source = open_source(file)
    sources = [card.column(name).source for name in names]
    choose_columns(source, sources)
    table = pa.Table.from_batches(list(source.batches(sources))).rename_columns(names)
    if unit:
        table = _sorted_by_unit(table, card)
    read = {name: table.column(name) for name in columns}
    kinds = {name: card.column(name) for name in columns}
    return RawRows(
        numbers={name: _numbers(read[name]) for name, column in kinds.items() if column.numeric},
        categories={name: _positions(read[name], c) for name, c in kinds.items() if c.kind is ColumnKind.CATEGORY},
        weights=(np.nan_to_num(_numbers(table.column(weight))) if weight else np.ones(table.num_rows)) * multiplier,
    )


def _sorted_by_unit(table: Any, card: Card) -> Any:
    import pyarrow as pa

    identity = pa.int64() if card.unit_type == "integer" else pa.string()
    try:
        table = table.set_column(0, card.unit.column, _cast(table.column(0), identity)).sort_by(card.unit.column)
    except pa.ArrowInvalid:
        raise Refused(str(_ONE_ROW)) from None
    if len(table.column(0).unique()) != table.num_rows or table.column(0).null_count:
        raise Refused(str(_ONE_ROW))
    return table


def _cast(values: Any, wanted: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(values) if pa.types.is_string(values.type) else values
    return text.cast(wanted)


def _numbers(values: Any) -> NDArray[float64]:
    """What can be read as a number; nan for the rest, blanks above all."""
    import pyarrow as pa

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        read: NDArray[float64] = values.cast(pa.float64()).to_numpy().astype(np.float64)
        return read
    encoded = values.combine_chunks().dictionary_encode()
    known = np.array([*(_number(text) for text in encoded.dictionary.to_pylist()), math.nan])
    indices = encoded.indices.fill_null(known.size - 1).to_numpy(zero_copy_only=False)
    result: NDArray[float64] = known[indices]
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _positions(values: Any, column: Column) -> NDArray[int64]:
    """The place of each code in the card's list; -1 for anything else."""
    encoded = values.combine_chunks().dictionary_encode()
    indices = [column.position(str(code)) if code is not None else None for code in encoded.dictionary.to_pylist()]
    found = np.array([-1 if index is None else index for index in indices] + [-1], dtype=np.int64)
    placed: NDArray[int64] = found[encoded.indices.fill_null(len(indices)).to_numpy(zero_copy_only=False)]
    return placed
