"""Generated rows as a file, in the card's codes and units; without a guarantee, every line says so.

Text that a spreadsheet could run as a formula is neutralised in CSV; in Parquet the schema's metadata say what the rows
promise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import ParameterInvalid, PathInvalid
from discreet.files import check_path, replace_file
from discreet.pages.spreadsheets import neutralise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.generator.rows import Rows
    from discreet.guarantees.types import Guarantee

__all__ = ["check_file", "write_rows"]

_SUFFIXES: Final = (".csv", ".parquet")
_GUARANTEE: Final = "guarantee"
# No column of a card can have this name.
_GUARANTEE_APART: Final = "_discreet_guarantee"


def check_file(path: Path, *, overwrite: bool) -> None:
    """Say what would stop the rows from being written here, before anything is released."""
    if path.suffix.lower() not in _SUFFIXES:
        rule = f"must end in {' or '.join(_SUFFIXES)}"
        raise ParameterInvalid(parameter="the file's name", rule=rule, came=f"'{path.name}'")
    check_path(path)
    if path.exists() and not overwrite:
        raise PathInvalid(f"'{path}' exists. Name another file, or replace it with --overwrite.", path=str(path))


def write_rows(rows: Rows, path: Path, *, guarantee: Guarantee, facts: Mapping[str, str]) -> None:
    """Write the whole file, or leave what was there."""
    table = rows.to_arrow()
    if not guarantee.differentially_private:
        table = _say(table, guarantee)
    content = _to_csv(table) if path.suffix.lower() == ".csv" else _to_parquet(table, guarantee, facts)
    replace_file(path, content)


def _say(table: Any, guarantee: Guarantee) -> Any:
    """With a column that holds the guarantee on every line: a sidecar would be lost with the first copy."""
    import pyarrow as pa

    taken = {name.lower() for name in table.column_names}
    name = _GUARANTEE if _GUARANTEE not in taken else _GUARANTEE_APART
    words = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int8()), len(table)), [str(guarantee)])
    return table.append_column(name, words.cast(pa.string()))


def _to_csv(table: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    for place, name in enumerate(table.column_names):
        if table.schema.field(name).type == pa.string():
            table = table.set_column(place, name, _neutralised(table.column(name)))
    sink = pa.BufferOutputStream()
    # Names of columns never need quotation marks, which pyarrow would give them.
    sink.write((",".join(table.column_names) + "\n").encode("ascii"))
    csv.write_csv(table, sink, csv.WriteOptions(include_header=False, quoting_style="needed"))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _neutralised(column: Any) -> Any:
    """Each distinct code is looked at once, however many rows have it."""
    import pyarrow as pa

    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    codes = pa.array([neutralise(code) for code in coded.dictionary.to_pylist()], pa.string())
    return codes.take(coded.indices)


def _to_parquet(table: Any, guarantee: Guarantee, facts: Mapping[str, str]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    told = {
        **facts,
        "guarantee": str(guarantee),
        "differentially_private": str(guarantee.differentially_private).lower(),
    }
    sink = pa.BufferOutputStream()
    named = table.replace_schema_metadata({f"discreet.{name}": fact for name, fact in told.items()})
    parquet.write_table(named, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
