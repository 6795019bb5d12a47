"""The sample visits: what the people of the sample survey did over two years, 1 to 40 rows for each of them.

The visits of a size and seed belong to the people of the survey of that size and seed: the old and the unwell
come more often. Nothing about visits was published; every figure here is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.files import staged_file, write_whole
from discreet.paths import AnyPath
from discreet.samples.destination import check_request, claim
from discreet.samples.survey import FULL

if TYPE_CHECKING:
    import numpy as np

    from discreet.samples.sample_people import Columns

__all__ = ["write_visits"]

_MOST_VISITS: Final = 40
_DAYS: Final = 730
_AT_ONCE: Final = 200_000
# Family practice, walk-in clinic, specialist, emergency department, virtual care: share, median cost, spread.
_CLINICS: Final = (
    (0.46, 48.0, 0.45),
    (0.17, 42.0, 0.40),
    (0.17, 140.0, 0.70),
    (0.09, 330.0, 0.95),
    (0.11, 36.0, 0.30),
)


def write_visits(
    directory: AnyPath, *, people: int = FULL, seed: int = 1, overwrite: bool = False
) -> tuple[Path, Path]:
    """Write the visits of the survey of `people` people drawn from `seed`; return the paths of data and card.

    The same people, seed and library versions give the same bytes. UsageError when people are not within
    1,000 to 10,000,000; PathInvalid when a file of that name exists, unless `overwrite`.
    """
    check_request(rows=people, seed=seed)
    parquet, card = claim(directory, ("visits.parquet", "visits.yaml"), overwrite=overwrite)

    import pyarrow as pa
    import pyarrow.parquet as pq

    from discreet.samples.sample_cards import visits_card

    with staged_file(parquet, durable=False) as path:
        batches = (pa.RecordBatch.from_pydict(columns) for columns in _draw_visits(people=people, seed=seed))
        first = next(batches)
        with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)
    write_whole(card, visits_card(people=people, seed=seed), durable=False)
    return parquet, card


def _draw_visits(*, people: int, seed: int) -> Iterator[Columns]:
    """The visits in batches of people, so that ten million people need no more memory than their survey."""
    import numpy as np

    from discreet.samples.sample_people import draw_people
    from discreet.samples.tendencies import VISITS_BY_AGE

    survey = draw_people(rows=people, seed=seed)
    ids = survey["person_id"]
    unwell = np.minimum(survey["perceived_health"], 5)
    usual = VISITS_BY_AGE[survey["age_group"] - 1] * (0.7 + 0.25 * (unwell - 1))
    del survey, unwell
    rng = np.random.default_rng([seed, 2])
    for start in range(0, people, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        often = rng.poisson(usual[part] * rng.gamma(0.9, 1 / 0.9, len(usual[part])))
        visits = np.minimum(1 + often, _MOST_VISITS).astype(np.int8)
        yield _describe(rng, ids[part], visits)


def _describe(
    rng: np.random.Generator,
    ids: np.ndarray[tuple[int], np.dtype[np.number]],
    visits: np.ndarray[tuple[int], np.dtype[np.int8]],
) -> Columns:
    """One row per visit, each person's in order of days."""
    import numpy as np

    share, median, spread = (np.array(column) for column in zip(*_CLINICS, strict=True))
    rows = int(visits.sum(dtype=np.int64))
    owner = np.repeat(np.arange(len(ids)), visits)
    day = rng.integers(1, _DAYS, size=rows, endpoint=True, dtype=np.int16)
    order = np.lexsort((day, owner))
    first = np.cumsum(visits, dtype=np.int64) - visits
    clinic = np.searchsorted(np.cumsum(share)[:-1], rng.random(rows))
    cost = median[clinic] * np.exp(spread[clinic] * rng.standard_normal(rows))
    return {
        "person_id": ids[owner],
        "visit": (np.arange(rows) - first[owner] + 1).astype(np.int8),
        "day": day[order],
        "clinic": (clinic + 1).astype(np.int8),
        "cost": np.round(cost, 2),
    }
