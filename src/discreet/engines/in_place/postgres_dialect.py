"""PostgreSQL's words (13 or newer, a database in UTF-8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from discreet.engines.dialects import InPlaceDialect
from discreet.sources import WHITE_SPACE
from discreet.workspace import Form

__all__ = ["POSTGRES", "Postgres", "schema_and_table"]

_FORMS: Final = {
    "smallint": Form.INTEGER,
    "integer": Form.INTEGER,
    "bigint": Form.INTEGER,
    "numeric": Form.TEXT,
    "text": Form.TEXT,
    "character varying": Form.TEXT,
    "character": Form.TEXT,
    "double precision": Form.DOUBLE,
    "real": Form.SINGLE,
    "boolean": Form.BOOLEAN,
}
_HASHES: Final = {
    Form.INTEGER: ("hashint8extended", "bigint", "0"),
    Form.BOOLEAN: ("hashint4extended", "integer", "2"),
    Form.DOUBLE: ("hashfloat8extended", "float8", "0"),
    Form.SINGLE: ("hashfloat8extended", "float8", "0"),
    Form.TEXT: ("hashtextextended", "text", "''"),
}
"""For each form PostgreSQL's hash with a start value, the type that it takes, and what stands for NULL."""
_LARGEST: Final = "1.7976931348623157e308"
# Brackets hold a length or a precision; whatever follows them makes another type, such as an array.
_KIND: Final = re.compile(r"([a-z ]+)(?:\([0-9, ]+\))?")


class Postgres(InPlaceDialect):
    """SUM of BIGINT is NUMERIC. The connection sets standard_conforming_strings on and extra_float_digits 1."""

    engine: ClassVar[str] = "postgres"
    wide_type: ClassVar[str] = "NUMERIC"
    text_type: ClassVar[str] = "text"
    # The planner would write each rung into the next and compute it many times over; an OFFSET keeps it apart.
    fence: ClassVar[str] = "\nOFFSET 0"
    storage_types: ClassVar[Mapping[str, str]] = {
        "int8": "smallint",
        "int16": "smallint",
        "int32": "integer",
        "int64": "bigint",
        "text": "text",
    }
    most_listed: ClassVar[int] = 200_000

    def form(self, kind: str) -> Form | None:
        named = _KIND.fullmatch(kind)
        return _FORMS.get(named[1]) if named else None

    def raw(self, source: str, kind: str) -> str:
        column = self.name(source)
        if self.form(kind) is not Form.TEXT:
            return column
        text = f'CAST({column} AS text) COLLATE "C"'
        if kind.startswith("numeric"):
            return f"CASE WHEN {text} NOT IN ('NaN', 'Infinity', '-Infinity') THEN {text} END"
        return text

    def is_decimal(self, kind: str) -> bool:
        return kind.startswith("numeric")

    def apart(self, query: str, columns: int) -> str:
        # An OFFSET would keep all but one process from working. The planner does not look beyond a union's columns.
        return f"{query}\nUNION ALL SELECT {', '.join(['NULL'] * columns)} WHERE FALSE"

    def table(self, name: str) -> str:
        return ".".join(map(self.name, schema_and_table(name)))

    def whole(self, value: int) -> str:
        return str(value) if value >= 0 else f"({value})"

    def trim(self, raw: str) -> str:
        space = "".join(f"\\{ord(character):04X}" for character in WHITE_SPACE)
        return f"trim(BOTH U&'{space}' FROM {raw})"

    def compose(self, text: str) -> str:
        return f"CASE WHEN octet_length({text}) > length({text}) THEN normalize({text}, NFC) ELSE {text} END"

    def matches(self, text: str, pattern: str) -> str:
        return f"{text} ~ '^(?:{pattern})$'"

    def float_text(self, raw: str, form: Form) -> str:
        """PostgreSQL takes a decimal halfway between two floats for neither, so some texts of doubles are too long.

        Only doubles whose neighbours are whole numbers have a short decimal halfway. There each power of ten is tried,
        the coarsest first, with the multiples of it on both sides.
        """
        text = f'CAST({raw} AS text) COLLATE "C"'
        infinite = f"{raw} IN ('NaN', 'Infinity', '-Infinity')"
        if form is Form.SINGLE:
            return f"CASE WHEN {infinite} THEN NULL ELSE {text} END"
        size = f"CAST({text} AS numeric)"
        # A candidate beyond the largest float would raise an error, so it is never read back.
        reads_back = f"CASE WHEN abs(c) <= {_LARGEST} THEN CAST(c AS float8) = {raw} ELSE false END"
        shortest = (
            f"SELECT CAST(c AS text) FROM generate_series(1, 17) AS k, "
            f"LATERAL (SELECT length(CAST(trunc(abs({size})) AS text)) - k AS zeros) AS z, "
            f"LATERAL (SELECT sign({size}) * CAST('1e' || abs(zeros) AS numeric) AS unit) AS u, "
            f"LATERAL (VALUES (trunc({size}, -zeros)), (trunc({size}, -zeros) + unit)) AS v (c) "
            f"WHERE zeros >= 0 AND {reads_back} ORDER BY zeros DESC LIMIT 1"
        )
        return f"CASE WHEN {infinite} THEN NULL WHEN abs({raw}) >= {2**53} THEN ({shortest}) ELSE {text} END"

    def double(self, text: str) -> str:
        return f"float8 '{text}'"

    def decimal_steps(self, value: str, places: int) -> str | None:
        return f"CAST(round({value} * {10**places}) AS bigint)"

    def finite_decimal(self, value: str) -> str:
        # NaN and infinities minus themselves are NaN.
        return f"{value} - {value} = 0"

    def quotient(self, numerator: str, divisor: int) -> str:
        return f"CAST(div({numerator}, {divisor}) AS bigint)"

    def position(self, text: str, codes: Sequence[str]) -> str:
        listed = ", ".join(map(self.card_text, codes))
        return f"CAST(array_position(ARRAY[{listed}]::text[], {text}) - 1 AS bigint)"

    def pick(self, numbers: Sequence[int], position: str) -> str:
        return f"(ARRAY[{', '.join(map(str, numbers))}]::bigint[])[{position} + 1]"

    def digest(self, text: str) -> str:
        return f'md5({text}) COLLATE "C"'

    def own_digest(self, held: Sequence[tuple[str, Form]], salt: str) -> str:
        digest = f"hashtextextended({self.card_text(salt)}, 0)"
        for value, form in held:
            name, kind, none = _HASHES[form]
            digest = f"{name}(coalesce(CAST({value} AS {kind}), {none}), {digest})"
        return digest

    def listed_units(self, units: Sequence[int | str]) -> str:
        if units and isinstance(units[0], int):
            return f"SELECT unnest('{{{', '.join(map(str, units))}}}'::bigint[]) AS u"
        return f'SELECT unnest(ARRAY[{", ".join(self.text(str(unit)) for unit in units)}]::text[]) COLLATE "C" AS u'


def schema_and_table(name: str) -> tuple[str, str]:
    """A table's schema and own name; without a schema, public is meant."""
    schema, _, table = name.rpartition(".")
    return schema or "public", table


POSTGRES: Final = Postgres()
