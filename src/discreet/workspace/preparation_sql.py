"""SQL that turns one raw column into prepared values, by kind of column and type of source.

Each column gets a value and a status, so that the report can count what was coerced in one cheap pass. Text
is taken apart with regular expressions and exact decimals; a float is taken by its shortest decimal text and
never enters arithmetic. docs/prepared.md states the rules; a slow twin in Python checks them in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Final

from discreet.cards import Column, ColumnKind, canonical_code
from discreet.sources import BLANK_TOKENS, WHITE_SPACE

__all__ = [
    "MACROS",
    "ColumnExpressions",
    "Form",
    "ValueStatus",
    "column_expressions",
    "enum_name",
    "quote",
    "quote_name",
]


_DIGITS_BEFORE: Final = 16
_NUMBER: Final = r"[+-]?([0-9]+(\.[0-9]*)?|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?"
# More digits before the point than any bound or missing code may have: clamped for certain.
_BEYOND: Final = "9" * (_DIGITS_BEFORE + 1)


class Form(StrEnum):
    """In what form a source gives a column."""

    TEXT = "text"
    INTEGER = "integer"
    DOUBLE = "double"
    SINGLE = "single"
    BOOLEAN = "boolean"


class ValueStatus(IntEnum):
    """What became of a raw value."""

    KEPT = 0
    BLANK = 1
    MISSING = 2
    UNPARSABLE = 3
    NOT_LISTED = 4
    LOW = 5
    HIGH = 6


@dataclass(frozen=True, slots=True)
class ColumnExpressions:
    """Three layers, each seen by the next under the names `raw`, `clean` and `parsed` of the column."""

    clean: str
    parsed: str
    value: str
    status: str


def quote(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def enum_name(index: int) -> str:
    """The type whose members are the codes of the column at this place in the card."""
    return f"codes_{index}"


def column_expressions(column: Column, index: int, form: Form) -> ColumnExpressions:
    """The expressions of the column at a place in the card: raw is r<i>, clean is t<i>, parsed is p<i>."""
    if column.kind is ColumnKind.CATEGORY:
        return _category(column, index, form)
    if column.kind is ColumnKind.TEXT or column.type == "text":
        return _text(column, index, form)
    if column.kind is ColumnKind.ID:
        return _integer_id(column, index, form)
    return _number(column, index, form)


def _layers(index: int) -> tuple[str, str, str]:
    return f"r{index}", f"t{index}", f"p{index}"


def _composed(raw: str, form: Form) -> str:
    """Text without outer white space, in form NFC; one with U+0000 is left, for normalising would cut it."""
    text = _text_of(raw, form)
    if form is not Form.TEXT:
        return text
    return f"CASE WHEN contains({raw}, chr(0)) THEN {raw} ELSE nfc_normalize({text}) END"


def _text_of(raw: str, form: Form) -> str:
    """Text without outer white space; a whole float is written as the integer it is."""
    if form is Form.TEXT:
        edges = "[" + "".join(f"\\x{{{ord(c):04x}}}" for c in WHITE_SPACE) + "]"
        padded = f"regexp_matches({raw}, '^{edges}|{edges}$')"
        return f"CASE WHEN {padded} THEN trim({raw}, {quote(WHITE_SPACE)}) ELSE {raw} END"
    if form in {Form.DOUBLE, Form.SINGLE}:
        return f"CASE WHEN isfinite({raw}) THEN regexp_replace(CAST({raw} AS VARCHAR), '^(-?[0-9]+)\\.0$', '\\1') END"
    return f"CAST({raw} AS VARCHAR)"


def _blank(clean: str) -> str:
    return f"({clean} IS NULL OR lower({clean}) IN ({', '.join(map(quote, BLANK_TOKENS))}))"


def _status(*cases: tuple[str, ValueStatus], otherwise: ValueStatus) -> str:
    whens = " ".join(f"WHEN {test} THEN {status.value}" for test, status in cases)
    return f"CAST(CASE {whens} ELSE {otherwise.value} END AS UTINYINT)"


def _category(column: Column, index: int, form: Form) -> ColumnExpressions:
    raw, clean, parsed = _layers(index)
    whole = f"regexp_extract({clean}, '^\\+?(-?[0-9]+)(?:\\.0*)?$', 1)"
    coded = f"CASE WHEN {whole} = '' THEN {clean} ELSE {whole} END"
    cases = [(f"{parsed} IS NOT NULL", ValueStatus.KEPT), (_blank(clean), ValueStatus.BLANK)]
    if column.missing:
        codes = ", ".join(quote(canonical_code(code)) for code in column.missing)
        cases.append((f"{coded} IN ({codes})", ValueStatus.MISSING))
    return ColumnExpressions(
        clean=_composed(raw, form),
        parsed=f"TRY_CAST({coded} AS {enum_name(index)})",
        value=f"enum_code({parsed})",
        status=_status(*cases, otherwise=ValueStatus.NOT_LISTED),
    )


def _text(column: Column, index: int, form: Form) -> ColumnExpressions:
    raw, clean, parsed = _layers(index)
    cases = [(_blank(clean), ValueStatus.BLANK)]
    if column.missing:
        cases.append((f"{clean} IN ({', '.join(map(quote, column.missing))})", ValueStatus.MISSING))
    # PostgreSQL cannot hold U+0000 in text, so no engine shall.
    cases.append((f"contains({clean}, chr(0))", ValueStatus.UNPARSABLE))
    status = _status(*cases, otherwise=ValueStatus.KEPT)
    return ColumnExpressions(
        clean=_composed(raw, form),
        parsed=status,
        value=f"CASE WHEN {parsed} = {ValueStatus.KEPT.value} THEN {clean} END",
        status=parsed,
    )


def _integer_id(column: Column, index: int, form: Form) -> ColumnExpressions:
    """Ids of at most 18 digits; a float is an id only where floats still tell neighbouring integers apart."""
    raw, clean, parsed = _layers(index)
    if form is Form.INTEGER:
        whole = f"TRY_CAST({clean} AS BIGINT)"
        text, parse = raw, f"CASE WHEN {whole} BETWEEN {1 - 10**18} AND {10**18 - 1} THEN {whole} END"
        blank = f"{clean} IS NULL"
    elif form in {Form.DOUBLE, Form.SINGLE}:
        exact = 2**53 if form is Form.DOUBLE else 2**24
        test = f"isfinite({clean}) AND abs({clean}) <= {exact} AND {clean} = trunc({clean})"
        text, parse = raw, f"CASE WHEN {test} THEN CAST({clean} AS BIGINT) END"
        blank = f"({clean} IS NULL OR NOT isfinite({clean}))"
    else:
        text = _text_of(raw, form)
        digits = f"ltrim(split_part(ltrim({clean}, '+-'), '.', 1), '0')"
        value = f"CAST(CASE WHEN {digits} = '' THEN '0' ELSE {digits} END AS BIGINT)"
        signed = f"CASE WHEN starts_with({clean}, '-') THEN -{value} ELSE {value} END"
        plain = f"regexp_full_match({clean}, '[+-]?[0-9]+(\\.0*)?') AND length({digits}) <= 18"
        parse = f"CASE WHEN {plain} THEN {signed} END"
        blank = _blank(clean)
    codes = [int(code) for code in map(canonical_code, column.missing) if code.lstrip("-").isdecimal()]
    missing = f"{parsed} IN ({', '.join(map(str, codes))})" if codes else "false"
    kept = f"{parsed} IS NOT NULL AND NOT {missing}"
    cases = [(kept, ValueStatus.KEPT), (blank, ValueStatus.BLANK), (missing, ValueStatus.MISSING)]
    return ColumnExpressions(
        clean=text,
        parsed=parse,
        value=f"CASE WHEN {kept} THEN {parsed} END",
        status=_status(*cases, otherwise=ValueStatus.UNPARSABLE),
    )


def _number(column: Column, index: int, form: Form) -> ColumnExpressions:
    assert column.step is not None
    raw, clean, parsed = _layers(index)
    half = Fraction(column.step) / 2
    places = max([_places(half), *(_places(Fraction(code)) for code in column.missing)])
    exact = f"DECIMAL(38, {places + 1})"
    if form in {Form.INTEGER, Form.BOOLEAN}:
        text = f"CAST({raw} AS HUGEINT)" if form is Form.INTEGER else f"CAST({raw} AS TINYINT)"
        parse, blank = f"CAST({clean} AS {exact})", f"{clean} IS NULL"
    else:
        text = _text_of(raw, form)
        parse, blank = _decimal(clean, places, exact), _blank(clean)
    low, high = (
        f"CAST({quote(str(_plain(units * Fraction(column.step))))} AS {exact})"
        for units in (column.low_units, column.high_units)
    )
    codes = ", ".join(f"CAST({quote(str(_plain(Fraction(code))))} AS {exact})" for code in column.missing)
    missing = f"{parsed} IN ({codes})" if codes else "false"
    cases = [
        (f"{parsed} IS NULL AND {blank}", ValueStatus.BLANK),
        (f"{parsed} IS NULL", ValueStatus.UNPARSABLE),
        (missing, ValueStatus.MISSING),
        (f"{parsed} < {low}", ValueStatus.LOW),
        (f"{parsed} > {high}", ValueStatus.HIGH),
    ]
    steps = _steps(f"least(greatest({parsed}, {low}), {high})", column, places + 1)
    return ColumnExpressions(
        clean=text,
        parsed=parse,
        # greatest and least pass over NULL, so absence is decided before they are asked.
        value=f"CASE WHEN {parsed} IS NULL OR {missing} THEN NULL ELSE {steps} END",
        status=_status(*cases, otherwise=ValueStatus.KEPT),
    )


def _steps(clamped: str, column: Column, scale: int) -> str:
    """A clamped decimal in whole steps, halves rounded away from zero, in integers only."""
    assert column.step is not None
    step = int(Fraction(column.step) * 10**scale)
    reach = max(abs(column.low_units), abs(column.high_units)) * step
    kind = "BIGINT" if 2 * reach + step < 2**62 else "HUGEINT"
    scaled = f"CAST({clamped} * {10**scale} AS {kind})"
    return f"CAST(sign({clamped}) * ((2 * abs({scaled}) + {step}) // {2 * step}) AS BIGINT)"


def _decimal(clean: str, places: int, exact: str) -> str:
    """Text as a decimal with `places` digits, and one more that tells whether anything was cut off.

    Cutting keeps every comparison that matters: bounds, missing codes and midpoints of the grid all have at
    most `places` digits, so a value beyond one of them stays beyond it.
    """
    near = f"[+-]?[0-9]{{1,{_DIGITS_BEFORE}}}(\\.[0-9]{{0,{places}}})?"
    far = f"[+-]?[0-9]{{1,{_DIGITS_BEFORE}}}\\.[0-9]+"
    return (
        f"CASE WHEN regexp_full_match({clean}, '{near}') THEN CAST({clean} AS {exact}) "
        f"WHEN regexp_full_match({clean}, '{far}') THEN CAST(cut({clean}, {places}) AS {exact}) "
        f"WHEN regexp_full_match({clean}, '{_NUMBER}') "
        f"THEN CAST(cut(written_out({clean}), {places}) AS {exact}) END"
    )


# A number with commas or an exponent, written out as plain digits and a point. A list of one element and a
# lambda name an intermediate result: as nested macros the same text would be bound hundreds of times over.
MACROS: Final = (
    "CREATE MACRO cut(text, places) AS list_transform([text], lambda t: "
    "CASE WHEN length(split_part(t, '.', 2)) <= places THEN t "
    "ELSE left(t, strpos(t, '.') + places) || "
    "CASE WHEN regexp_matches(substr(t, strpos(t, '.') + places + 1), '[1-9]') THEN '1' ELSE '0' END END)[1]",
    f"CREATE MACRO placed(digits, point) AS CASE WHEN digits = '' THEN '0' "
    f"WHEN point > {_DIGITS_BEFORE} THEN '{_BEYOND}' "
    "WHEN point < -40 THEN '0.' || repeat('0', 40) || '1' "
    "WHEN point <= 0 THEN '0.' || repeat('0', -point) || digits "
    "WHEN point >= length(digits) THEN digits || repeat('0', point - length(digits)) "
    "ELSE left(digits, point) || '.' || substr(digits, point + 1) END",
    "CREATE MACRO written_out(t) AS CASE WHEN starts_with(t, '-') THEN '-' ELSE '' END || "
    "list_transform([{"
    "'mantissa': regexp_extract(replace(ltrim(t, '+-'), ',', ''), '^[0-9]*[.]?[0-9]*'), "
    "'exponent': coalesce(TRY_CAST(nullif(regexp_extract(t, '[eE]([+-]?[0-9]+)$', 1), '') AS INTEGER), 0)}], "
    "lambda n: list_transform([{"
    "'before': length(split_part(n.mantissa, '.', 1)) + n.exponent, "
    "'padded': replace(n.mantissa, '.', ''), "
    "'digits': ltrim(replace(n.mantissa, '.', ''), '0')}], "
    "lambda s: placed(s.digits, s.before - (length(s.padded) - length(s.digits))))[1])[1]",
)


def _places(number: Fraction) -> int:
    return max(0, -int(_plain(number).normalize().as_tuple().exponent))


def _plain(number: Fraction) -> Decimal:
    """A fraction with a finite decimal form as that decimal, without exponent."""
    return Decimal(format(Decimal(number.numerator) / Decimal(number.denominator), "f"))
