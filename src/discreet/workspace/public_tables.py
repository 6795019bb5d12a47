"""Public tables: small files that hold nothing confidential, to join with on a unique key.

Names of regions, populations, groupings. As every value is public, types, ranges and categories are read from the
values (public_file.py), and messages may name them. Stored as JSON in whole steps and positions, like prepared rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from discreet.cards import LARGEST_UNITS, ColumnKind, canonical_code, is_reserved, is_well_named
from discreet.catalogue import Phrase, say
from discreet.errors import Refused, UnknownName, UsageError
from discreet.guarantees import text as plain_text
from discreet.paths import AnyPath, as_path, read_regular, tell_reason

if TYPE_CHECKING:
    from discreet.sources import DataSource
    from discreet.workspace.folder import Workspace

__all__ = [
    "MOST_COLUMNS",
    "MOST_ROWS",
    "PublicColumn",
    "PublicTable",
    "PublicValue",
    "add_public_file",
    "add_public_rows",
    "describe_column",
    "list_public_tables",
    "read_public_table",
]

MOST_ROWS: Final = 20_000
MOST_COLUMNS: Final = 50
SCHEMA: Final = 1

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_KINDS: Final = (ColumnKind.INTEGER, ColumnKind.NUMBER, ColumnKind.CATEGORY)
_KEY_KINDS: Final = (ColumnKind.INTEGER, ColumnKind.CATEGORY)

PublicValue = int | str | None


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """One column: numbers in whole steps, texts by their position among the categories.

    `low_units` and `high_units` enclose the values present (for a category, all positions); `absent` says whether
    some row has no value.
    """

    name: str
    kind: ColumnKind
    step: Decimal | None
    categories: tuple[str, ...]
    low_units: int
    high_units: int
    absent: bool = False

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"a public column is an integer, a number or a category, not of kind {self.kind}")
        if not is_well_named(self.name) or is_reserved(self.name):
            raise ValueError(f"'{self.name}' cannot name a public column")
        if (self.kind is ColumnKind.CATEGORY) != bool(self.categories) or (self.kind is ColumnKind.CATEGORY) != (
            self.step is None
        ):
            raise ValueError(f"column '{self.name}' has categories, or else a step")
        if len({canonical_code(code) for code in self.categories}) != len(self.categories):
            raise ValueError(f"the categories of column '{self.name}' must differ")
        if self.step is not None and (self.step <= 0 or (self.kind is ColumnKind.INTEGER and self.step != 1)):
            raise ValueError(f"the step of column '{self.name}' is positive, and 1 for integers")
        if self.categories and (self.low_units, self.high_units) != (0, len(self.categories) - 1):
            raise ValueError(f"positions of column '{self.name}' run over all its categories")
        if not -LARGEST_UNITS <= self.low_units <= self.high_units <= LARGEST_UNITS:
            raise ValueError(f"values of column '{self.name}' lie within 10^15 steps, the lowest first")

    def text(self, value: int) -> str:
        """A stored value as one writes it: the code, or the exact decimal."""
        return self.categories[value] if self.step is None else plain_text(value * self.step)

    def value(self, stored: int | None) -> PublicValue:
        """A stored value for JSON: integers as numbers, decimals and codes as text, absence as None."""
        if stored is None or self.kind is ColumnKind.INTEGER:
            return stored
        return self.text(stored)

    def position(self, code: str) -> int | None:
        """Where a code stands among the categories, or None; codes compare as they do in a card."""
        wanted = canonical_code(code)
        return next((index for index, known in enumerate(self.categories) if canonical_code(known) == wanted), None)


@dataclass(frozen=True)
class PublicTable:
    """One version of a public table. Rows hold stored values in the order of columns, in the order of the file."""

    name: str
    version: int
    key: str
    columns: tuple[PublicColumn, ...]
    rows: tuple[tuple[int | None, ...], ...]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.version < 1:
            raise ValueError("a public table has a name and a version from 1")
        if len({column.name.lower() for column in self.columns}) != len(self.columns):
            raise ValueError("column names must differ, whatever their case")
        if len(self.rows) > MOST_ROWS or len(self.columns) > MOST_COLUMNS:
            raise ValueError(f"a public table has at most {MOST_ROWS:,} rows and {MOST_COLUMNS} columns")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row has a place for every column")
        if self.column(self.key).kind not in _KEY_KINDS:
            raise ValueError("the key holds whole numbers or texts")
        for column in self.columns:
            _check_values(column, self.values(column.name))
        keys = self.values(self.key)
        if None in keys or len(set(keys)) != len(keys):
            raise ValueError("the key is unique and never absent")

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {column.name: index for index, column in enumerate(self.columns)}

    def column(self, name: str) -> PublicColumn:
        """The column of that name, or UnknownName with the nearest one."""
        index = self._places.get(name)
        if index is None:
            raise UnknownName(
                sort=Phrase("Column"), name=name, where=Phrase("'{name}'", name=self.name), known=self._places
            )
        return self.columns[index]

    def values(self, name: str) -> tuple[int | None, ...]:
        """The stored values of a column, in the order of rows."""
        index = self._places[self.column(name).name]
        return tuple(row[index] for row in self.rows)

    def to_json(self) -> str:
        """What is stored. Ranges are left out: they follow from the rows."""
        columns = [
            {
                "name": column.name,
                "kind": str(column.kind),
                "step": None if column.step is None else plain_text(column.step),
                "categories": list(column.categories),
            }
            for column in self.columns
        ]
        stored = {"schema": SCHEMA, "key": self.key, "columns": columns, "rows": self.rows}
        return json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n"


def describe_column(
    name: str, kind: ColumnKind, *, step: Decimal | None, categories: Sequence[str], values: Sequence[int | None]
) -> PublicColumn:
    """The column that holds these stored values."""
    present = [value for value in values if value is not None]
    low, high = (0, len(categories) - 1) if kind is ColumnKind.CATEGORY else (min(present), max(present))
    return PublicColumn(
        name=name,
        kind=kind,
        step=step,
        categories=tuple(categories),
        low_units=low,
        high_units=high,
        absent=len(present) < len(values),
    )


def add_public_file(
    workspace: Workspace,
    file: AnyPath,
    *,
    key: str,
    name: str | None = None,
    replace: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> PublicTable:
    """Read a file as a public table and store it as the next version. The name is the file's when none is given."""
    from discreet.paths import allowed_roots, resolve_inside
    from discreet.sources import open_source

    file = as_path(file, "file")
    called = _check_table_name(workspace, file.name.split(".")[0].lower() if name is None else name)
    real = resolve_inside(resolve_inside(file, workspace.roots), allowed_roots())
    source = open_source(real, encoding=encoding, delimiter=delimiter)
    return add_public_rows(workspace, source, key=key, name=called, replace=replace)


def add_public_rows(
    workspace: Workspace, source: DataSource, *, key: str, name: str, replace: bool = False
) -> PublicTable:
    """Read what a source holds as a public table and store it as the next version."""
    from dataclasses import replace as changed

    from discreet.workspace.public_file import read_public_file

    table = read_public_file(source, name=_check_table_name(workspace, name), key=key)
    try:
        version = workspace.publish_public(name, table.to_json(), replace=replace)
    except OSError as error:
        raise Refused(
            say(
                "public table '{name}' could not be stored: {reason}. Nothing was changed.",
                name=name,
                reason=tell_reason(error),
            ),
            table=name,
        ) from None
    return changed(table, version=version)


def list_public_tables(workspace: Workspace) -> tuple[PublicTable, ...]:
    """Every public table in its current version, by name."""
    return tuple(read_public_table(workspace, name) for name in workspace.public_names())


def read_public_table(workspace: Workspace, name: str, version: int | None = None) -> PublicTable:
    """A public table in its current version or an older one; UnknownName with the nearest when there is none."""
    names = workspace.public_names()
    if name not in names:
        raise UnknownName(
            sort=Phrase("Public table"),
            name=name,
            where=Phrase("the workspace"),
            known=names,
            advice=say("List them with: discreet public list"),
        )
    number = version or workspace.public_version(name) or 1
    try:
        found = json.loads(read_regular(workspace.public_file(name, number)))
        if found["schema"] != SCHEMA:
            raise Refused(
                say(
                    "public table '{name}' has schema {schema}; this version of Discreet reads schema {readable}.",
                    name=name,
                    schema=found["schema"],
                    readable=SCHEMA,
                ),
                table=name,
            )
        return _from_json(found, name, number)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, UnknownName):
        raise Refused(
            say(
                "public table '{name}' version {number} cannot be read; add the file again with --replace.",
                name=name,
                number=number,
            ),
            table=name,
        ) from None


def _from_json(found: Mapping[str, Any], name: str, version: int) -> PublicTable:
    rows = tuple(tuple(row) for row in found["rows"])
    columns = [
        describe_column(
            entry["name"],
            ColumnKind(entry["kind"]),
            step=None if entry["step"] is None else Decimal(entry["step"]),
            categories=entry["categories"],
            values=[row[index] for row in rows],
        )
        for index, entry in enumerate(found["columns"])
    ]
    return PublicTable(name=name, version=version, key=found["key"], columns=tuple(columns), rows=rows)


def _check_values(column: PublicColumn, values: Sequence[int | None]) -> None:
    for value in values:
        if value is not None and (type(value) is not int or not column.low_units <= value <= column.high_units):
            raise ValueError(f"column '{column.name}' holds a value outside its range")


def _check_table_name(workspace: Workspace, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            say(
                "the name of a public table is a lower-case letter, then letters, digits or _, at most 63; "
                "received '{name}'. Choose one with --name.",
                name=name[:40],
            ),
            parameter="name",
            given=name[:40],
        )
    if name in workspace.names():
        raise Refused(
            say(
                "'{name}' is a dataset of this workspace, and a public table cannot share its name. Choose "
                "another one with --name.",
                name=name,
            ),
            table=name,
        )
    return name
