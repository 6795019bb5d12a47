"""The files to link on disk: what two offices hold about one population, with their cards and tables of keys.

What holds for the files is written in docs/sample.md. Heavy imports wait until they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.files import staged_file, write_whole
from discreet.paths import AnyPath
from discreet.samples.destination import check_request, claim
from discreet.sources import arrow_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Residents = Mapping[str, NDArray[Any]]
    Rows = NDArray[np.int64]

__all__ = ["LINKED_PEOPLE", "write_linked"]

LINKED_PEOPLE: Final = 100_000
_FILES: Final = (
    "health.parquet",
    "health.yaml",
    "registry.parquet",
    "registry.yaml",
    "registry-people.yaml",
    "households.csv",
    "crosswalk.csv",
)
_AT_ONCE: Final = 500_000
_WEIGHT: Final = 5


def write_linked(
    directory: AnyPath, *, people: int = LINKED_PEOPLE, seed: int = 1, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a health file and a registry of `people` residents drawn from `seed`, with their cards, and tables of keys.

    Returns the paths: health.parquet, health.yaml, registry.parquet, registry.yaml, registry-people.yaml,
    households.csv, crosswalk.csv. The same people, seed and library versions give the same bytes. UsageError when
    people are not within 1,000 to 10,000,000; PathInvalid when a file of such a name exists, unless `overwrite`.
    """
    check_request(rows=people, seed=seed, called="people", default=LINKED_PEOPLE)
    paths = claim(directory, _FILES, overwrite=overwrite)

    import numpy as np

    from discreet.samples.linked_offices.linked_cards import health_card, people_card, registry_card
    from discreet.samples.linked_offices.linked_people import draw_linked

    health, health_yaml, registry, registry_yaml, people_yaml, households, crosswalk = paths
    residents = draw_linked(people=people, seed=seed)
    insured = np.random.default_rng([seed, 6]).permutation(np.flatnonzero(residents["insured"]))
    _write_batches(health, residents, insured, _describe_health)
    _write_batches(registry, residents, np.flatnonzero(residents["counted"]), _describe_registry)
    write_whole(households, _list_households(residents), durable=False)
    write_whole(crosswalk, _list_keys(residents), durable=False)
    write_whole(health_yaml, health_card(people=people, seed=seed), durable=False)
    write_whole(registry_yaml, registry_card(people=people, seed=seed), durable=False)
    write_whole(people_yaml, people_card(people=people, seed=seed), durable=False)
    return paths


def _write_batches(
    parquet: Path, residents: Residents, rows: Rows, describe: Callable[[Residents, Rows], dict[str, pa.Array]]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = (pa.RecordBatch.from_pydict(describe(residents, part)) for part in _parts(rows))
    first = next(batches)
    with (
        staged_file(parquet, durable=False) as path,
        pq.ParquetWriter(path, first.schema, compression="zstd") as writer,
    ):
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), _AT_ONCE):
        yield rows[start : start + _AT_ONCE]


def _describe_health(residents: Residents, rows: Rows) -> dict[str, pa.Array]:
    from discreet.samples.linked_offices.linked_health import DIABETES
    from discreet.samples.linked_offices.linked_people import REGIONS, SEXES

    return {
        "health_number": arrow_of(residents["health_number"][rows]),
        "address": _addresses(residents, rows),
        "age": arrow_of(residents["age"][rows]),
        "sex": _words(SEXES, residents["sex"][rows]),
        "region": _words(REGIONS, residents["region"][rows]),
        "angioplasty": _words(("no", "yes"), residents["angioplasty"][rows]),
        "diabetes": _words(DIABETES, residents["diabetes"][rows]),
        "hospital_days": arrow_of(residents["hospital_days"][rows]),
    }


def _describe_registry(residents: Residents, rows: Rows) -> dict[str, pa.Array]:
    import numpy as np

    from discreet.samples.linked_offices.linked_people import FIRST_OFFICIAL, HOME_LANGUAGES, TONGUES

    asked = residents["asked"][rows]
    tongue = residents["tongue"][rows]
    named = {
        word: np.array([word in words for words in TONGUES], dtype=np.int8)[tongue]
        for word in ("french", "english", "other")
    }
    return {
        "household": _addresses(residents, rows),
        "person": arrow_of(residents["health_number"][rows]),
        "census_id": arrow_of(residents["census_id"][rows]),
        **{word: _words(("no", "yes"), ranks) for word, ranks in named.items()},
        "first_official": _words(FIRST_OFFICIAL, residents["first_official"][rows]),
        "home_language": _words(HOME_LANGUAGES, residents["home_language"][rows], absent=~asked),
        "asked": _words(("no", "yes"), asked.astype(np.int8)),
        "weight": arrow_of(_WEIGHT * asked.astype(np.int8)),
    }


def _words(words: tuple[str, ...], ranks: NDArray[Any], *, absent: NDArray[np.bool_] | None = None) -> pa.Array:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(ranks, mask=absent), pa.array(words)).dictionary_decode()


def _addresses(residents: Residents, rows: Rows) -> pa.Array:
    import pyarrow as pa

    return pa.array(residents["address_codes"][residents["household"][rows]]).cast(pa.string())


def _list_households(residents: Residents) -> Iterator[bytes]:
    """The public map of every resident's health number to the household, in order of the numbers."""
    import numpy as np

    yield b"id,unit\n"
    for rows in _parts(np.argsort(residents["health_number"])):
        codes = residents["address_codes"][residents["household"][rows]]
        yield _lines(residents["health_number"][rows], codes.view(np.uint8).reshape(len(rows), -1))


def _list_keys(residents: Residents) -> Iterator[bytes]:
    """Health number and census number of those whom the offices could link, in order of the health numbers."""
    import numpy as np

    from discreet.samples.linked_offices.linked_people import spell_digits

    yield b"id,key\n"
    rows = np.flatnonzero(residents["keyed"])
    for part in _parts(rows[np.argsort(residents["health_number"][rows])]):
        yield _lines(residents["health_number"][part], spell_digits(residents["census_id"][part], 9))


def _lines(numbers: NDArray[np.int64], fields: NDArray[np.uint8]) -> bytes:
    """Lines of two fields: as all numbers have ten digits and all second fields one width, lines are rows of bytes."""
    import numpy as np

    from discreet.samples.linked_offices.linked_people import spell_digits

    comma, end = (np.full((len(numbers), 1), ord(mark), dtype=np.uint8) for mark in ",\n")
    return np.hstack([spell_digits(numbers, 10), comma, fields, end]).tobytes()
