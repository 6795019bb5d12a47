"""Ids as both offices write them, and the pseudonyms that stand for them under a study's key.

A pseudonym is the first 16 bytes of HMAC-SHA256 under the key of `discreet-linked-1|TYPE|` and the id: an integer in
decimal digits, a text trimmed and in Unicode's form NFC (docs/prepared.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import Phrase, say
from discreet.errors import FileRefused, PathInvalid
from discreet.linkage.agreements.agreement import IdType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PSEUDONYM", "canonical_column", "pseudonyms_of", "read_pairs", "secret_words"]

PSEUDONYM: Final = 16
_BLOCK: Final = 64
_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": 2,
    "preserve_insertion_order": True,
    "python_enable_replacements": False,
}
_INTEGER: Final = r"^[+-]?[0-9]{1,18}(\.0*)?$"
_WHITE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"  # noqa: E501


def pseudonyms_of(ids: Any, *, kind: IdType, key: bytes) -> NDArray[np.uint64]:
    """Two columns of 64-bit numbers, first and last half of each pseudonym, for an Arrow column of canonical ids."""
    return _digests(ids, key=key, label=b"discreet-linked-1|" + kind.value.encode() + b"|")


def secret_words(ids: Any, *, key: bytes, label: bytes) -> NDArray[np.uint64]:
    """A secret 64-bit number for each id, as good as drawn at random: the first half of its digest under a key."""
    return _digests(ids, key=key, label=label)[:, 0]


def _digests(ids: Any, *, key: bytes, label: bytes) -> NDArray[np.uint64]:
    """HMAC-SHA256 of every id, by DuckDB's own SHA-256 on all processors: a loop here would take several times as long.

    Each is the hash of the outer block and the hash of the inner block, the label and the id [RFC 2104].
    """
    import duckdb
    import pyarrow as pa

    if len(key) > _BLOCK:
        raise ValueError("a key is at most a block long")
    padded = key.ljust(_BLOCK, b"\0")
    inner, outer = (bytes(byte ^ mask for byte in padded) for mask in (0x36, 0x5C))
    digest = "sha256($outer || unhex(sha256($inner || encode(id::VARCHAR))))"
    with duckdb.connect(":memory:", config=_CONFIG) as database:
        database.register("ids", pa.table({"id": ids}))
        found = database.sql(
            f"SELECT unhex(left({digest}, 32)) AS found FROM ids", params={"inner": inner + label, "outer": outer}
        ).to_arrow_table()["found"]
    parts = [np.frombuffer(_bytes_of(part), dtype=">u8") for part in found.chunks]
    listed = np.concatenate(parts) if parts else np.zeros(0, dtype=">u8")
    return listed.reshape(-1, 2).astype(np.uint64)


def _bytes_of(column: Any) -> memoryview:
    """The values of a column one after the other; all are as long as a pseudonym."""
    start = column.offset * PSEUDONYM
    return memoryview(column.buffers()[2])[start : start + len(column) * PSEUDONYM]


def canonical_column(column: Any, kind: IdType) -> Any:
    """Texts of a file as ids, NULL for what is none: as rows are prepared, so that 007 and 7 are one integer."""
    import pyarrow as pa
    from pyarrow import compute as pc

    trimmed = pc.utf8_trim(pc.utf8_normalize(column.cast(pa.string()), form="NFC"), characters=_WHITE)
    if kind is IdType.TEXT:
        return pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    whole = pc.match_substring_regex(trimmed, _INTEGER)
    digits = pc.replace_substring_regex(pc.replace_substring_regex(trimmed, r"\.0*$", ""), r"^\+", "")
    return pc.cast(pc.if_else(whole, digits, None), pa.int64())


def read_pairs(path: Path, *, columns: tuple[str, str], kinds: tuple[IdType, IdType], sort: Phrase) -> Any:
    """Two columns of ids from a CSV file, as an Arrow table without NULL, or a refusal of a file that is none."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        if not path.is_file():
            raise PathInvalid(
                say("the {sort} '{path}' does not exist or is not a file.", sort=sort, path=path), path=str(path)
            )
        options = csv.ConvertOptions(include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string()))
        table = csv.read_csv(path, convert_options=options)
        with csv.open_csv(path) as opened:
            if any(opened.schema.names.count(name) != 1 for name in columns):
                raise pa.ArrowInvalid("a column is there twice")
    except (OSError, pa.ArrowInvalid, pa.ArrowKeyError):
        raise FileRefused(
            say(
                "the {sort} '{name}' is not a CSV file with the columns {first} and {second}.",
                sort=sort,
                name=path.name,
                first=columns[0],
                second=columns[1],
            ),
            file=path.name,
        ) from None
    found = pa.table({name: canonical_column(table[name], kind) for name, kind in zip(columns, kinds, strict=True)})
    if any(column.null_count for column in found.columns):
        raise FileRefused(
            say(
                "the {sort} '{name}' has a line whose {first} or {second} is empty or not of the agreed "
                "type. Mend it, and agree on it again.",
                sort=sort,
                name=path.name,
                first=columns[0],
                second=columns[1],
            ),
            file=path.name,
        )
    return found
