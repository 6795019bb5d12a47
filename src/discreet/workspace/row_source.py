"""Where the rows of a dataset are: prepared in the workspace, prepared in their own engine, or raw in that engine.

What is stored says how to find a table and never how to open it: a connection string stays in the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import Refused, UsageError
from discreet.paths import AnyPath, read_regular

__all__ = ["ENGINES", "RowSource", "StoredRows", "read_row_source"]

ENGINES: Final = ("duckdb", "postgres", "spark")

_PART: Final = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
_FOLDER: Final = r"(?:[a-z][a-z0-9]{1,9}:/{1,3}|/)[^`'\"\\\x00-\x1f\x7f]{1,1000}"
_TABLES: Final = {
    "postgres": re.compile(rf"{_PART}(\.{_PART})?", re.ASCII),
    "spark": re.compile(rf"{_PART}(\.{_PART}){{0,2}}|parquet\.`[^`\x00-\x1f\x7f]{{1,1000}}`", re.ASCII),
}
_TABLE_RULES: Final = {
    "postgres": Phrase("--table is TABLE or SCHEMA.TABLE, of letters, digits and underscores; received another name."),
    "spark": Phrase(
        "--table is TABLE, SCHEMA.TABLE or CATALOG.SCHEMA.TABLE, of letters, digits and underscores, or "
        "parquet.`FOLDER`; received another name."
    ),
}
_HOMES: Final = {
    "postgres": re.compile(_PART, re.ASCII),
    "spark": re.compile(rf"{_PART}(\.{_PART})?|(delta:)?{_FOLDER}", re.ASCII),
}
_HOME_RULES: Final = {
    "postgres": Phrase("--materialise is a SCHEMA, of letters, digits and underscores; received another name."),
    "spark": Phrase(
        "--materialise is SCHEMA, CATALOG.SCHEMA, the path of a folder such as /lake/discreet or s3a://lake/discreet, "
        "or delta:PATH; received another name."
    ),
}
_TAKEN: Final = {
    "duckdb": Phrase("--engine duckdb takes a file, and no other source."),
    "postgres": Phrase("--engine postgres takes --dsn-env and --table, and no other source."),
    "spark": Phrase("--engine spark takes --remote and --table, and no other source."),
}
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_HOSTS: Final = r"[A-Za-z0-9._-]+(:[0-9]{1,5})?(,[A-Za-z0-9._-]+(:[0-9]{1,5})?)*"
# No user, password or token fits in here: those belong in Spark's own environment and settings.
_REMOTE: Final = re.compile(
    rf"sc://[A-Za-z0-9._-]+(:[0-9]{{1,5}})?(/(;use_ssl=(true|false))?)?|(spark|k8s)://{_HOSTS}|k8s://https?://{_HOSTS}"
    r"|yarn|local(\[([0-9]{1,3}|\*)\])?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Prepared rows that the engine keeps for one version: a table or folder that nobody changes once it is made.

    `files` and `snapshot` pin its state where the engine has none of its own. `mark` is the greatest value of the
    change column among the raw rows that were read.
    """

    name: str
    files: tuple[str, ...] = ()
    snapshot: str | None = None
    mark: str | None = None

    def to_dict(self) -> dict[str, Any]:
        kept = {"name": self.name, "files": list(self.files), "snapshot": self.snapshot, "mark": self.mark}
        return {key: value for key, value in kept.items() if value}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> StoredRows:
        return cls(**{**found, "files": tuple(map(str, found.get("files", ())))})


@dataclass(frozen=True, slots=True)
class RowSource:
    """An engine and where it finds the rows; `types` gives the engine's own type of every column of the card.

    For duckdb `path` is the prepared file; for postgres and spark `table` is the raw table and `dsn_env` or
    `remote` leads to it. Where rows are prepared in the engine, `materialise` is the schema or folder that holds them,
    `changed_by` a raw column that grows with every change, and `stored` what was made for this version.
    """

    engine: str
    path: AnyPath | None = None
    dsn_env: str | None = None
    remote: str | None = None
    table: str | None = None
    types: tuple[tuple[str, str], ...] = ()
    materialise: str | None = None
    changed_by: str | None = None
    stored: StoredRows | None = None

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UsageError(
                say(
                    "--engine must be one of {engines}; received '{engine}'.",
                    engines=", ".join(ENGINES),
                    engine=self.engine,
                ),
                engine=self.engine,
            )
        given = {"path": self.path, "dsn_env": self.dsn_env, "remote": self.remote, "table": self.table}
        wanted = {"duckdb": {"path"}, "postgres": {"dsn_env", "table"}, "spark": {"remote", "table"}}[self.engine]
        if {key for key, value in given.items() if value is not None} != wanted:
            raise UsageError(str(_TAKEN[self.engine]))
        if self.table is not None and not _TABLES[self.engine].fullmatch(self.table):
            raise UsageError(str(_TABLE_RULES[self.engine]), engine=self.engine)
        if self.dsn_env is not None and not _VARIABLE.fullmatch(self.dsn_env):
            raise UsageError(say("--dsn-env is the name of an environment variable that holds the connection string."))
        if self.remote is not None and not _REMOTE.fullmatch(self.remote):
            raise UsageError(
                say(
                    "--remote is sc://HOST:PORT (Spark Connect) or a master such as spark://HOST:PORT, yarn or "
                    "local[2], without user, password or token."
                )
            )

        self._check_home()

    def _check_home(self) -> None:
        if self.materialise is None:
            if self.changed_by is not None:
                raise UsageError(say("--changed-by goes with --materialise."))
            return
        if self.engine not in _HOMES:
            raise UsageError(say("--materialise goes with --engine postgres or --engine spark."))
        if not _HOMES[self.engine].fullmatch(self.materialise):
            raise UsageError(str(_HOME_RULES[self.engine]), engine=self.engine)

    @property
    def type_of(self) -> Mapping[str, str]:
        """The engine's type of each column of the table, by the column's name there."""
        return dict(self.types)

    @property
    def place(self) -> str:
        """The engine and how it is reached: what is kept in one place can be joined, and removed together."""
        return " ".join(part for part in (self.engine, self.dsn_env, self.remote) if part is not None)

    @property
    def where(self) -> str:
        """The table in words that may be shown."""
        return say("table '{name}'", name=self.table) if self.table is not None else say("the file")

    def to_json(self) -> str:
        """What a version folder keeps."""
        kept = {"engine": self.engine, "dsn_env": self.dsn_env, "remote": self.remote, "table": self.table}
        kept |= {"materialise": self.materialise, "changed_by": self.changed_by}
        known: dict[str, Any] = {key: value for key, value in kept.items() if value is not None}
        if self.stored is not None:
            known["stored"] = self.stored.to_dict()
        return json.dumps({**known, "types": dict(self.types)}, indent=2) + "\n"


def read_row_source(folder: Path) -> RowSource:
    """Where the rows of a version are: as its source.json says, else in its prepared file."""
    file = folder / "source.json"
    if not file.exists():
        return RowSource("duckdb", path=folder / "data.parquet")
    try:
        found: dict[str, Any] = json.loads(read_regular(file))
        types = tuple((str(name), str(kind)) for name, kind in found.pop("types").items())
        stored = StoredRows.from_dict(found.pop("stored")) if "stored" in found else None
        return RowSource(**found, types=types, stored=stored)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, UsageError):
        raise Refused(
            say(
                "'{file}' of '{dataset}' is damaged; add the table again with --replace.",
                file=file.name,
                dataset=folder.parent.name,
            )
        ) from None
