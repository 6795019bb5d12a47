"""Generated rows as a file, in the card's codes and units; without a guarantee, every line says so.

Text that a spreadsheet could run as a formula is neutralised in CSV; in Parquet the schema's metadata say what the rows
promise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say, say_list
from discreet.errors import ParameterInvalid, PathInvalid
from discreet.files import check_path, replace_file
from discreet.present import csv_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discreet.guarantees import Guarantee
    from discreet.lab.generator.generator_rows import GeneratorRows

__all__ = ["check_file", "write_rows"]

_SUFFIXES: Final = (".csv", ".parquet")
_GUARANTEE: Final = "guarantee"
# No column of a card can have this name.
_GUARANTEE_APART: Final = "_discreet_guarantee"
_PART: Final = 16_384


def check_file(path: Path, *, overwrite: bool) -> None:
    """Say what would stop the rows from being written here, before anything is released."""
    if path.suffix.lower() not in _SUFFIXES:
        rule = say("must end in {suffixes}", suffixes=say_list(_SUFFIXES, either=True))
        raise ParameterInvalid(parameter=Phrase("the file's name"), rule=rule, given=f"'{path.name}'")
    check_path(path)
    if path.exists() and not overwrite:
        raise PathInvalid(
            say("'{path}' exists. Name another file, or replace it with --overwrite.", path=path), path=str(path)
        )


def write_rows(rows: GeneratorRows, path: Path, *, guarantee: Guarantee, facts: Mapping[str, str]) -> None:
    """Write the whole file, or leave what was there."""
    table = rows.to_arrow()
    if not guarantee.differentially_private:
        table = _say(table, guarantee)
    csv = path.suffix.lower() == ".csv"
    replace_file(path, _csv_parts(table) if csv else _to_parquet(table, guarantee, facts))


def _say(table: Any, guarantee: Guarantee) -> Any:
    """With a column that holds the guarantee on every line: a sidecar would be lost with the first copy."""
    import pyarrow as pa

    taken = {name.lower() for name in table.column_names}
    name = _GUARANTEE if _GUARANTEE not in taken else _GUARANTEE_APART
    words = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int8()), len(table)), [str(guarantee)])
    return table.append_column(name, words.cast(pa.string()))


def _csv_parts(table: Any) -> Iterator[str]:
    """Lines of some ten thousand rows at a time."""
    import pyarrow as pa

    # Decimals as text: an object for each would take longer than all the rest.
    types = [pa.string() if pa.types.is_decimal(field.type) else field.type for field in table.schema]
    text = table.cast(pa.schema(zip(table.column_names, types, strict=True)))
    batches = text.to_batches(max_chunksize=_PART)
    return csv_columns(text.column_names, ([item.to_pylist() for item in batch.columns] for batch in batches))


def _to_parquet(table: Any, guarantee: Guarantee, facts: Mapping[str, str]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    lines = {
        **facts,
        "guarantee": str(guarantee),
        "differentially_private": str(guarantee.differentially_private).lower(),
    }
    sink = pa.BufferOutputStream()
    named = table.replace_schema_metadata({f"discreet.{name}": fact for name, fact in lines.items()})
    parquet.write_table(named, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
