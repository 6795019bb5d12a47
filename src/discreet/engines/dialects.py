"""What differs between engines in SQL: one `Dialect` each, and an `InPlaceDialect` where raw rows stay in the engine.

Plans need little of it, names, texts and integers wider than 64 bits, because only whole numbers are ever computed:
three-valued logic, LEAST and GREATEST that pass over NULLs, COUNT, MIN and MAX are the same everywhere. A rule that
would need a float, a rounding or a hash is not written in SQL here. Preparing raw rows inside a query needs more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from discreet.workspace import Form

__all__ = ["DUCKDB", "Dialect", "InPlaceDialect"]


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


class DuckDB(Dialect):
    """SUM of integers of any width is a HUGEINT. Its rows are files, prepared when they are added."""

    engine: ClassVar[str] = "duckdb"
    wide_type: ClassVar[str] = "HUGEINT"


DUCKDB: Final = DuckDB()


class InPlaceDialect(Dialect, ABC):
    """An engine that keeps raw rows: one short method for each rule of docs/prepared.md that it words in its own way.

    Every method takes and gives SQL text. What an engine does with its own rows in another way than the others, such as
    ordering the rows of a unit, is said here and nowhere else.
    """

    text_type: ClassVar[str]
    storage_types: ClassVar[Mapping[str, str]]
    """What a prepared column is stored as, by its storage in docs/prepared.md."""
    fence: ClassVar[str]
    """Ends a sub-query whose results the planner must not compute again."""
    most_listed: ClassVar[int]
    """So many ids a statement may list."""

    # Tables and their columns.

    @abstractmethod
    def table(self, name: str) -> str:
        """A checked table name, quoted."""

    @abstractmethod
    def form(self, kind: str) -> Form | None:
        """In what form a column of the engine's type `kind` gives its values; None when it cannot be read."""

    @abstractmethod
    def raw(self, source: str, kind: str) -> str:
        """A column of the table, by name: texts and decimals as text, the rest as it is."""

    @abstractmethod
    def is_decimal(self, kind: str) -> bool:
        """Whether columns of the engine's type `kind` hold exact decimals."""

    def apart(self, query: str, columns: int) -> str:
        """The query, its results computed once and by as many processes as the engine likes."""
        return query

    # Texts.

    def card_text(self, text: str) -> str:
        """A text of a card as a literal."""
        return self.text(text)

    @abstractmethod
    def trim(self, raw: str) -> str:
        """A text without the white space around it; NULL where it could not be text on every engine."""

    @abstractmethod
    def compose(self, text: str) -> str:
        """A text in Unicode's form NFC."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether the whole text fits a pattern."""

    @abstractmethod
    def float_text(self, raw: str, form: Form) -> str:
        """The shortest decimal that reads back as the float; NULL for NaN and infinities."""

    # Numbers and lists.

    @abstractmethod
    def double(self, text: str) -> str:
        """The double nearest to a decimal, as a literal."""

    @abstractmethod
    def decimal_steps(self, value: str, places: int) -> str | None:
        """A decimal within its bounds, in units of 10^-places, halves away from zero; None: the engine may round."""

    @abstractmethod
    def finite_decimal(self, value: str) -> str:
        """Whether a decimal is a number."""

    @abstractmethod
    def whole(self, value: int) -> str:
        """An integer of any size as a literal."""

    @abstractmethod
    def quotient(self, numerator: str, divisor: int) -> str:
        """A quotient of non-negative wide integers without its remainder, as bigint."""

    @abstractmethod
    def position(self, text: str, codes: Sequence[str]) -> str:
        """Where a text stands in a list, from 0, as bigint; NULL when it does not."""

    @abstractmethod
    def pick(self, numbers: Sequence[int], position: str) -> str:
        """The number at a position from 0; NULL at position NULL."""

    # The order of a unit's rows.

    @abstractmethod
    def digest(self, text: str) -> str:
        """The md5 of a text as 32 hexadecimal digits that compare byte by byte: the order of prepared rows."""

    @abstractmethod
    def own_digest(self, held: Sequence[tuple[str, Form]], salt: str) -> str:
        """The engine's own hash of values in these forms, quick and always the same: the order of rows in place."""

    @abstractmethod
    def listed_units(self, units: Sequence[int | str]) -> str:
        """A SELECT of these ids, as `u`."""
