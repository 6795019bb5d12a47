"""The sample survey on disk: survey.parquet and its card, survey.yaml.

What holds for the files is written in docs/sample.md. Heavy imports wait until a survey is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.files import staged_file, write_whole
from discreet.paths import AnyPath
from discreet.samples.destination import check_request, claim
from discreet.sources import arrow_of

if TYPE_CHECKING:
    from discreet.samples.sample_people import Columns

__all__ = ["FULL", "write_survey"]

FULL: Final = 113_290


def write_survey(directory: AnyPath, *, rows: int = FULL, seed: int = 1, overwrite: bool = False) -> tuple[Path, Path]:
    """Write the survey of `rows` people drawn from `seed` into the directory; return its two paths.

    The same rows, seed and library versions give the same bytes. UsageError when rows are not within 1,000 to
    10,000,000; PathInvalid when a file of that name exists, unless `overwrite`.
    """
    check_request(rows=rows, seed=seed)
    parquet, card = claim(directory, ("survey.parquet", "survey.yaml"), overwrite=overwrite)

    from discreet.samples.sample_cards import survey_card
    from discreet.samples.sample_people import draw_people

    with staged_file(parquet, durable=False) as path:
        _write_columns(draw_people(rows=rows, seed=seed), path)
    write_whole(card, survey_card(rows=rows, seed=seed), durable=False)
    return parquet, card


def _write_columns(columns: Columns, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: arrow_of(values) for name, values in columns.items()})
    pq.write_table(table, path, compression="zstd", row_group_size=1_000_000)
