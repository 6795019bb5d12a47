"""What differs between engines when a plan becomes SQL: names, texts, and integers wider than 64 bits.

All three agree on the rest, because only whole numbers are ever computed: three-valued logic, LEAST and GREATEST that
pass over NULLs, COUNT, MIN and MAX. A rule that would need a float, a rounding or a hash is not written in SQL here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

__all__ = ["DUCKDB", "POSTGRES", "SPARK", "Dialect"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of one engine. The defaults are standard SQL."""

    engine: ClassVar[str]
    wide_type: ClassVar[str]
    """Exact for sums of 64-bit integers over any number of rows that fits a disk."""

    def name(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def text(self, text: str) -> str:
        """A text literal; standard SQL knows no escapes but the doubled quote."""
        return "'" + text.replace("'", "''") + "'"

    def sum(self, value: str) -> str:
        """The exact sum of a 64-bit value; NULL over no rows."""
        return f"sum({value})"

    def wide(self, value: str) -> str:
        return f"CAST({value} AS {self.wide_type})"

    def clamp(self, value: str, low: int, high: int) -> str:
        """The value moved into the interval. LEAST and GREATEST would turn NULL into a bound, and are slower."""
        return f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"

    def first_rows(self, order: str, rows: int) -> str:
        """The rows of a unit that count."""
        return f"{order} <= {rows}"


@dataclass(frozen=True, slots=True)
class DuckDB(Dialect):
    """SUM of integers of any width is a HUGEINT."""

    engine: ClassVar[str] = "duckdb"
    wide_type: ClassVar[str] = "HUGEINT"


@dataclass(frozen=True, slots=True)
class Postgres(Dialect):
    """SUM of BIGINT is NUMERIC. The connection sets standard_conforming_strings."""

    engine: ClassVar[str] = "postgres"
    wide_type: ClassVar[str] = "NUMERIC"


@dataclass(frozen=True, slots=True)
class Spark(Dialect):
    """SUM of BIGINT overflows, so it is taken over decimals."""

    engine: ClassVar[str] = "spark"
    wide_type: ClassVar[str] = "DECIMAL(38, 0)"

    def name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def text(self, text: str) -> str:
        # Quotes, backslashes and ${…} mean other things under other settings; their bytes mean one thing.
        if all(character.isalnum() or character in " _-." for character in text):
            return f"'{text}'"
        return f"CAST(X'{text.encode().hex().upper()}' AS STRING)"

    def sum(self, value: str) -> str:
        return f"sum({self.wide(value)})"


DUCKDB: Final = DuckDB()
POSTGRES: Final = Postgres()
SPARK: Final = Spark()
