"""Spark's words (4.0 or newer).

Spark has no function for NFC and writes some floats with more digits than they need (Java before 19 does). Both come
from libraries that every Spark 4 carries, called by name: ICU composes texts, Jackson writes shortest decimals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from discreet.engines.dialects import InPlaceDialect
from discreet.sources import WHITE_SPACE
from discreet.workspace import Form

__all__ = ["COMPOSER", "SPARK", "WRITERS", "Spark"]

COMPOSER: Final = "com.ibm.icu.text.Normalizer"
WRITERS: Final = {
    Form.DOUBLE: "com.fasterxml.jackson.core.io.schubfach.DoubleToDecimal",
    Form.SINGLE: "com.fasterxml.jackson.core.io.schubfach.FloatToDecimal",
}
_LARGEST: Final = {Form.DOUBLE: "1.7976931348623157E308D", Form.SINGLE: "3.4028234663852886E38D"}
_FORMS: Final = {
    "tinyint": Form.INTEGER,
    "smallint": Form.INTEGER,
    "int": Form.INTEGER,
    "bigint": Form.INTEGER,
    "decimal": Form.TEXT,
    "string": Form.TEXT,
    "varchar": Form.TEXT,
    "char": Form.TEXT,
    "double": Form.DOUBLE,
    "float": Form.SINGLE,
    "boolean": Form.BOOLEAN,
}
_MOST_PLACES: Final = 9
_THIRD: Final = 21
_DECIMAL: Final = re.compile(r"decimal\(([0-9]+),([0-9]+)\)")
# Brackets hold a length or a precision; whatever follows them makes another type, such as an array.
_KIND: Final = re.compile(r"([a-z]+)(?:\([0-9, ]+\))?")


class Spark(InPlaceDialect):
    """SUM of BIGINT overflows, so its parts are summed. The session is in ANSI mode and substitutes no variables."""

    engine: ClassVar[str] = "spark"
    wide_type: ClassVar[str] = "DECIMAL(38, 0)"
    text_type: ClassVar[str] = "string"
    # Spark itself keeps a projection apart whose results are used more than once.
    fence: ClassVar[str] = ""
    storage_types: ClassVar[Mapping[str, str]] = {
        "int8": "tinyint",
        "int16": "smallint",
        "int32": "int",
        "int64": "bigint",
        "text": "string",
    }
    most_listed: ClassVar[int] = 2_000

    def form(self, kind: str) -> Form | None:
        named = _KIND.fullmatch(kind)
        return _FORMS.get(named[1]) if named else None

    def raw(self, source: str, kind: str) -> str:
        column = self.name(source)
        return f"CAST({column} AS string)" if kind.startswith("decimal") else column

    def is_decimal(self, kind: str) -> bool:
        found = _DECIMAL.fullmatch(kind)
        # With so many digits, whatever they are compared or multiplied with fits into 38 as well.
        return found is not None and int(found[1]) - int(found[2]) <= 18 and int(found[2]) <= 12

    def table(self, name: str) -> str:
        if name.startswith("parquet.`"):
            return name
        return ".".join(map(self.name, name.split(".")))

    def name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def text(self, text: str) -> str:
        # Quotes, backslashes and ${…} mean other things under other settings; their bytes mean one thing.
        if all(character.isalnum() or character in " _-." for character in text):
            return f"'{text}'"
        return f"CAST(X'{text.encode().hex().upper()}' AS STRING)"

    def sum(self, value: str) -> str:
        # A sum of decimals makes objects of all rows. Thirds of 64-bit integers fit 64 bits for 2^42 rows.
        whole, mask = f"CAST({value} AS BIGINT)", (1 << _THIRD) - 1
        # Not the sign for shifting: behind array(…) and a comparison Spark reads it as two signs.
        shifted = [f"shiftright({whole}, {places})" for places in (2 * _THIRD, _THIRD)]
        thirds = (shifted[0], f"{shifted[1]} & {mask}", f"{whole} & {mask}")
        high, middle, low = (f"CAST(sum({third}) AS DECIMAL(20, 0))" for third in thirds)
        return self.wide(f"{high} * {1 << 2 * _THIRD}BD + {middle} * {1 << _THIRD}BD + {low}")

    def card_text(self, text: str) -> str:
        """Readable in a long list of codes: the session fixes what a backslash means."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def whole(self, value: int) -> str:
        return f"{value}BD" if value >= 0 else f"({value}BD)"

    def trim(self, raw: str) -> str:
        space = "".join(f"\\u{ord(character):04X}" for character in WHITE_SPACE)
        sound = f"is_valid_utf8({raw}) AND instr({raw}, chr(0)) = 0"
        return f"CASE WHEN {sound} THEN trim(BOTH '{space}' FROM {raw}) END"

    def compose(self, text: str) -> str:
        composed = f"reflect('{COMPOSER}', 'compose', {text}, false)"
        return f"CASE WHEN octet_length({text}) > length({text}) THEN {composed} ELSE {text} END"

    def matches(self, text: str, pattern: str) -> str:
        return f"{text} RLIKE r'^(?:{pattern})\\z'"

    def float_text(self, raw: str, form: Form) -> str:
        # NaN is above every number in Spark, so it is not finite by this test either.
        finite = f"abs({raw}) <= {_LARGEST[form]}"
        text = f"reflect('{WRITERS[form]}', 'toString', {raw})"
        if form is Form.SINGLE:
            text = f"CASE WHEN abs({raw}) >= {2**24} AND abs({raw}) < {2**62} THEN {_single(raw)} ELSE {text} END"
        return f"CASE WHEN {finite} THEN {text} END"

    def double(self, text: str) -> str:
        return f"{text}D" if not text.startswith("-") else f"({text}D)"

    def decimal_steps(self, value: str, places: int) -> str | None:
        # Bounds have at most 16 digits before the point; products of longer decimals would lose digits.
        if places > _MOST_PLACES:
            return None
        rounded = f"CAST(round({value}, {places}) AS DECIMAL({17 + places}, {places}))"
        return f"CAST({rounded} * {self.whole(10**places)} AS bigint)"

    def finite_decimal(self, value: str) -> str:
        return f"{value} IS NOT NULL"

    def quotient(self, numerator: str, divisor: int) -> str:
        return f"(({numerator}) div {self.whole(divisor)})"

    def position(self, text: str, codes: Sequence[str]) -> str:
        listed = ", ".join(map(self.card_text, codes))
        return f"(nullif(array_position(array({listed}), {text}), 0) - 1)"

    def pick(self, numbers: Sequence[int], position: str) -> str:
        # Not element_at: Spark takes it for never NULL; at position NULL it gives the last number, or no cap holds.
        return f"get(array({', '.join(f'{number}L' for number in numbers)}), CAST({position} AS int))"

    def digest(self, text: str) -> str:
        return f"md5({text})"

    def own_digest(self, held: Sequence[tuple[str, Form]], salt: str) -> str:
        return f"xxhash64({', '.join([self.card_text(salt), *(text for text, _ in held)])})"

    def listed_units(self, units: Sequence[int | str]) -> str:
        listed = (f"{unit}L" if isinstance(unit, int) else self.text(unit) for unit in units)
        return f"SELECT explode(array({', '.join(listed)})) AS u"


def _single(raw: str) -> str:
    """A large single float as the coarsest whole number that is nearer to it than to its neighbours.

    Jackson would also take a number halfway, as is right for doubles; the other engines do not for singles.
    """
    size, gap = f"CAST(abs({raw}) AS bigint)", f"CAST(reflect('java.lang.Math', 'ulp', {raw}) AS double)"
    powers = ", ".join(f"{10**zeros}L" for zeros in range(18, -1, -1))
    down, up = f"{size} - {size} % p", f"{size} - {size} % p + p"
    sides = f"CASE WHEN 2 * ({size} % p) <= p THEN array({down}, {up}) ELSE array({up}, {down}) END"
    # Below a power of two the neighbour is half as far.
    nearer = f"CASE WHEN c < {size} AND ({size} & ({size} - 1)) = 0 THEN 4 ELSE 2 END * abs(c - {size}) < {gap}"
    found = f"element_at(filter(flatten(transform(array({powers}), p -> {sides})), c -> {nearer}), 1)"
    return f"CASE WHEN {raw} < 0 THEN '-' ELSE '' END || CAST({found} AS string)"


SPARK: Final = Spark()
