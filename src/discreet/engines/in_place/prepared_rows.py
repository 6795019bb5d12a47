"""Prepared rows computed inside a query: what docs/prepared.md says, from a raw table that stays where it is.

Each column climbs a ladder of named results, one nested SELECT per rung, so that no text is taken apart twice. Most of
it is SQL that PostgreSQL and Spark share; where they differ, `InPlaceDialect` has one short method per rule, written
by hand for each engine. Texts become digits and a place of the point, and digits become whole numbers: no float and no
rounding function of an engine takes part, and nothing a row may hold raises an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.cards import Card, Column, ColumnKind, canonical_code
from discreet.engines.dialects import InPlaceDialect
from discreet.sources import BLANK_TOKENS
from discreet.workspace import Form

__all__ = ["prepared_rows", "unit_check"]

_NUMBER_PATTERN: Final = (
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?"
)
_INTEGER_PATTERN: Final = r"[+-]?[0-9]+(?:\.0*)?"
_EXPONENT_PATTERN: Final = r"[^eE]*[eE][+-]?[0-9]{1,5}"
_CODE_PATTERN: Final = r"[+]?-?[0-9]+(?:\.0*)?"

# Bounds and missing codes have at most 16 digits before the point; what has more is clamped for certain.
_DIGITS_BEFORE: Final = 16
_BEYOND: Final = 10 ** (_DIGITS_BEFORE + 1) - 1
_ID_DIGITS: Final = 18
_MOST_ARGUMENTS: Final = 50
_FLOATS: Final = {Form.DOUBLE: 2**53, Form.SINGLE: 2**24}

Rung = Mapping[str, str]


def prepared_rows(dialect: InPlaceDialect, card: Card, *, table: str, types: Mapping[str, str], salt: str) -> str:
    """A SELECT that yields the prepared columns under their card names, and `ord`."""
    return _ordered(dialect, card, _capped(dialect, card, _valued(dialect, card, table, types)), salt)


def unit_check(dialect: InPlaceDialect, card: Card, *, table: str, types: Mapping[str, str]) -> str:
    """A SELECT of one row: the number of units, then 1 for each public column that varies within some unit."""
    names = [column.name for column in card.columns]
    unit = f"v{names.index(card.unit.column)}"
    public = [f"v{index}" for index, column in enumerate(card.columns) if column.public]
    varies = "CASE WHEN min({0}) <> max({0}) OR count({0}) NOT IN (0, count(*)) THEN 1 ELSE 0 END AS c{0}"
    units = _over(
        dialect,
        _valued(dialect, card, table, types),
        [f"{unit} AS u", *(varies.format(value) for value in public)],
        f"\nWHERE {unit} IS NOT NULL\nGROUP BY {unit}",
    )
    return _over(dialect, units, ["count(*) AS units", *(f"coalesce(max(c{v}), 0) AS c{v}" for v in public)])


def _valued(dialect: InPlaceDialect, card: Card, table: str, types: Mapping[str, str]) -> str:
    """Every raw row with its prepared values v<i>, weights not yet capped."""
    ladders = [
        _ladder(dialect, column, index, _form(dialect, types[column.source]))
        for index, column in enumerate(card.columns)
    ]
    raws = (
        f"{dialect.raw(column.source, types[column.source])} AS r{index}" for index, column in enumerate(card.columns)
    )
    query = f"SELECT {', '.join(raws)}\nFROM {dialect.table(table)}"
    for level in range(max(map(len, ladders))):
        rung = [item for i, steps in enumerate(ladders) for item in _step(steps, level, i).items()]
        query = _over(dialect, query, [f"{text} AS {alias}" for alias, text in rung])
    return query


def _form(dialect: InPlaceDialect, kind: str) -> Form:
    form = dialect.form(kind)
    if form is None:
        raise ValueError(f"columns of type {kind} cannot be read")
    return form


def _step(ladder: Sequence[Rung], level: int, index: int) -> Rung:
    return ladder[level] if level < len(ladder) else {f"v{index}": f"v{index}"}


def _over(dialect: InPlaceDialect, query: str, items: Sequence[str], where: str = "") -> str:
    return f"SELECT {', '.join(items)}\nFROM ({query}{dialect.fence}) AS q{where}"


def _ladder(dialect: InPlaceDialect, column: Column, index: int, form: Form) -> list[Rung]:
    """The rungs of one column from r<i> to v<i>, the prepared value."""
    if column.kind is ColumnKind.CATEGORY:
        return [*_texts(dialect, index, form), *_category(dialect, column, index)]
    if column.kind is ColumnKind.TEXT or column.type == "text":
        return [*_texts(dialect, index, form), _kept_text(dialect, column, index)]
    if column.kind is ColumnKind.ID:
        return _integer_id(dialect, column, index, form)
    return _number(dialect, column, index, form)


# Texts.


def _texts(dialect: InPlaceDialect, index: int, form: Form) -> list[Rung]:
    """Up to t<i>: the text to compare or keep."""
    r, t = f"r{index}", f"t{index}"
    if form is Form.TEXT:
        return [{t: dialect.trim(r)}, {t: dialect.compose(t)}]
    if form in _FLOATS:
        return [
            {t: dialect.float_text(r, form)},
            _mantissa(dialect, index),
            {t: t, **_digits(index, sides="BOTH")},
            {t: _float_as_text(dialect, index)},
        ]
    return [{t: f"CAST({r} AS {dialect.text_type})"}]


def _float_as_text(dialect: InPlaceDialect, index: int) -> str:
    """Plain digits between 10^-4 and 10^16, whole floats without a point; an exponent of two digits elsewhere."""
    t, d, n = f"t{index}", f"d{index}", f"n{index}"
    exponent = f"CAST(abs({n} - 1) AS {dialect.text_type})"
    scientific = (
        f"left({d}, 1) || CASE WHEN length({d}) > 1 THEN '.' || substr({d}, 2) ELSE '' END || "
        f"CASE WHEN {n} > 0 THEN 'e+' ELSE 'e-' END || CASE WHEN abs({n} - 1) < 10 THEN '0' ELSE '' END || {exponent}"
    )
    return (
        f"CASE WHEN {t} IS NULL THEN NULL ELSE CASE WHEN left({t}, 1) = '-' THEN '-' ELSE '' END || "
        f"CASE WHEN {d} = '' THEN '0' WHEN {n} > 16 OR {n} < -3 THEN {scientific} "
        f"WHEN {n} <= 0 THEN '0.' || repeat('0', -{n}) || {d} "
        f"WHEN {n} >= length({d}) THEN rpad({d}, {n}, '0') "
        f"ELSE left({d}, {n}) || '.' || substr({d}, {n} + 1) END END"
    )


def _kept_text(dialect: InPlaceDialect, column: Column, index: int) -> Rung:
    t = f"t{index}"
    blanks = ", ".join(map(dialect.card_text, BLANK_TOKENS))
    missing = ", ".join(map(dialect.card_text, column.missing))
    absent = f"lower({t}) IN ({blanks})" + (f" OR {t} IN ({missing})" if missing else "")
    return {f"v{index}": f"CASE WHEN {absent} THEN NULL ELSE {t} END"}


def _category(dialect: InPlaceDialect, column: Column, index: int) -> list[Rung]:
    t, p = f"t{index}", f"p{index}"
    unsigned = f"CASE WHEN left({t}, 1) = '+' THEN substr({t}, 2) ELSE {t} END"
    code = f"CASE WHEN {dialect.matches(t, _CODE_PATTERN)} THEN split_part({unsigned}, '.', 1) ELSE {t} END"
    codes = [canonical_code(category.code) for category in column.categories]
    return [{p: code}, {f"v{index}": dialect.position(p, codes)}]


# Ids.


def _integer_id(dialect: InPlaceDialect, column: Column, index: int, form: Form) -> list[Rung]:
    """Ids of at most 18 digits; a float is an id only where floats still tell neighbouring integers apart."""
    r, t, d, p = f"r{index}", f"t{index}", f"d{index}", f"p{index}"
    reach = 10**_ID_DIGITS - 1
    if form is Form.TEXT:
        digits = f"trim(LEADING '0' FROM split_part(translate({t}, '+-', ''), '.', 1))"
        sign = f"CASE WHEN left({t}, 1) = '-' THEN -1 ELSE 1 END"
        fits = f"{dialect.matches(t, _INTEGER_PATTERN)} AND length({d}) <= {_ID_DIGITS}"
        climb: list[Rung] = [
            {t: dialect.trim(r)},
            {t: t, d: digits},
            {p: f"CASE WHEN {fits} THEN {sign} * CAST('0' || {d} AS bigint) END"},
        ]
    elif form in _FLOATS:
        exact = f"CASE WHEN floor({r}) = {r} THEN CAST({r} AS bigint) END"
        climb = [{p: f"CASE WHEN abs({r}) <= {_FLOATS[form]} THEN {exact} END"}]
    elif form is Form.INTEGER:
        climb = [{p: f"CASE WHEN {r} BETWEEN {-reach} AND {reach} THEN CAST({r} AS bigint) END"}]
    else:
        return [{f"v{index}": "CAST(NULL AS bigint)"}]
    codes = [int(code) for code in map(canonical_code, column.missing) if code.lstrip("-").isdecimal()]
    missing = ", ".join(map(dialect.whole, codes))
    value = f"CASE WHEN {p} IN ({missing}) THEN NULL ELSE {p} END" if missing else p
    return [*climb, {f"v{index}": value}]


# Numbers.


def _number(dialect: InPlaceDialect, column: Column, index: int, form: Form) -> list[Rung]:
    """Up to p<i>, the number in units of 10^-scale, and from there to whole steps.

    The units are ten times finer than any bound, missing code or midpoint of the grid; the last digit only tells
    whether anything was cut off, so every comparison that matters comes out as for the number itself.
    """
    assert column.step is not None
    r, t, p = f"r{index}", f"t{index}", f"p{index}"
    scale = 1 + max([_places(Fraction(column.step) / 2), *(_places(Fraction(code)) for code in column.missing)])
    if form is Form.INTEGER:
        climb: list[Rung] = [{p: f"{_wide(dialect, r)} * {dialect.whole(10**scale)}"}]
    elif form is Form.BOOLEAN:
        item, zero = dialect.whole(10**scale), dialect.whole(0)
        climb = [{p: f"CASE WHEN {r} THEN {item} WHEN NOT {r} THEN {zero} END"}]
    else:
        text = dialect.float_text(r, form) if form in _FLOATS else dialect.trim(r)
        climb = [
            {t: text},
            _mantissa(dialect, index),
            {t: t, **_digits(index, sides="LEADING")},
            {p: _scaled(dialect, index, scale)},
        ]
    return [*climb, {f"v{index}": _steps(dialect, column, p, scale)}]


def _wide(dialect: InPlaceDialect, value: str) -> str:
    return f"CAST({value} AS {dialect.wide_type.lower()})"


def _mantissa(dialect: InPlaceDialect, index: int) -> Rung:
    """m<i>, digits with at most one point, and x<i>, the exponent; NULL for what is no number."""
    t = f"t{index}"
    exponent = f"CAST(split_part(replace({t}, 'E', 'e'), 'e', 2) AS integer)"
    return {
        t: t,
        f"m{index}": f"CASE WHEN {dialect.matches(t, _NUMBER_PATTERN)} "
        f"THEN split_part(translate({t}, 'E+-,', 'e'), 'e', 1) END",
        f"x{index}": f"CASE WHEN {dialect.matches(t, _EXPONENT_PATTERN)} THEN {exponent} ELSE 0 END",
    }


def _digits(index: int, *, sides: str) -> Rung:
    """The number as 0.d<i> times ten to the n<i>, d<i> without zeros in front."""
    m, padded = f"m{index}", f"replace(m{index}, '.', '')"
    cut = f"length({padded}) - length(trim(LEADING '0' FROM {padded}))"
    return {
        f"d{index}": f"trim({sides} '0' FROM {padded})",
        f"n{index}": f"length(split_part({m}, '.', 1)) + x{index} - ({cut})",
    }


def _scaled(dialect: InPlaceDialect, index: int, scale: int) -> str:
    t, d, n = f"t{index}", f"d{index}", f"n{index}"
    places = scale - 1
    kept = f"rpad(left({d}, {n} + {places}), {n} + {places}, '0')"
    rest = f"CASE WHEN trim(BOTH '0' FROM substr({d}, {n} + {places} + 1)) = '' THEN '0' ELSE '1' END"
    return (
        f"CASE WHEN left({t}, 1) = '-' THEN -1 ELSE 1 END * CASE WHEN {d} IS NULL THEN NULL "
        f"WHEN {d} = '' THEN {dialect.whole(0)} "
        f"WHEN {n} > {_DIGITS_BEFORE} THEN {dialect.whole(_BEYOND * 10**scale)} "
        f"WHEN {n} <= {-places} THEN {dialect.whole(1)} "
        f"ELSE {_wide(dialect, f'{kept} || {rest}')} END"
    )


def _steps(dialect: InPlaceDialect, column: Column, p: str, scale: int) -> str:
    """Whole steps within the bounds, halves away from zero. A NULL fits no branch and so stays NULL."""
    step = int(Fraction(column.step or 1) * 10**scale)
    low, high = (dialect.whole(units * step) for units in (column.low_units, column.high_units))
    codes = ", ".join(dialect.whole(int(Fraction(code) * 10**scale)) for code in column.missing)
    up, down = (dialect.quotient(f"2 * {value} + {step}", 2 * step) for value in (p, f"(-{p})"))
    return (
        f"CASE {f'WHEN {p} IN ({codes}) THEN NULL ' if codes else ''}"
        f"WHEN {p} <= {low} THEN CAST({column.low_units} AS bigint) "
        f"WHEN {p} >= {high} THEN CAST({column.high_units} AS bigint) "
        f"WHEN {p} >= 0 THEN {up} WHEN {p} < 0 THEN -{down} END"
    )


def _places(number: Fraction) -> int:
    plain = Decimal(number.numerator) / Decimal(number.denominator)
    return max(0, -int(plain.normalize().as_tuple().exponent))


# Rows.


def _capped(dialect: InPlaceDialect, card: Card, query: str) -> str:
    """The weight cut to its cap in steps; a row whose category is absent falls under the largest."""
    rule = card.weight
    if rule is None:
        return query
    names = [column.name for column in card.columns]
    step = Fraction(card.column(rule.column).step or 1)
    weight = f"v{names.index(rule.column)}"
    cap = str(int(Fraction(rule.largest) / step))
    if rule.by is not None:
        caps = [int(Fraction(rule.cap_for(each.code)) / step) for each in card.column(rule.by).categories]
        cap = f"coalesce({dialect.pick(caps, f'v{names.index(rule.by)}')}, {cap})"
    items = [f"v{index}" for index in range(len(names))]
    items[names.index(rule.column)] = f"CASE WHEN {weight} > {cap} THEN {cap} ELSE {weight} END AS {weight}"
    return _over(dialect, query, items)


def _ordered(dialect: InPlaceDialect, card: Card, query: str, salt: str) -> str:
    """Rank the rows of a unit by their digest. What has no unit, or contradicts its unit's public values, is dropped.

    Unlike a file, a table may change after it was checked: a public value is made one per unit here, for the
    sensitivity of every plan rests on it.
    """
    values = [f"v{index}" for index in range(len(card.columns))]
    unit = values[[column.name for column in card.columns].index(card.unit.column)]
    public = [v for v, column in zip(values, card.columns, strict=True) if column.public and card.unit.rows > 1]
    digest = dialect.digest(_canonical(dialect, card, salt))
    query = _over(dialect, query, [*values, f"{digest} AS g"], f"\nWHERE {unit} IS NOT NULL")
    firsts = [f"first_value({v}) OVER w AS f{v}" for v in public]
    ranked = [*values, "CAST(row_number() OVER w AS bigint) AS ord", *firsts]
    query = f"SELECT {', '.join(ranked)}\nFROM ({query}) AS q\nWINDOW w AS (PARTITION BY {unit} ORDER BY g)"
    named = [f"{v} AS {dialect.name(column.name)}" for v, column in zip(values, card.columns, strict=True)]
    agree = " AND ".join(f"{v} IS NOT DISTINCT FROM f{v}" for v in public)
    return f"SELECT {', '.join([*named, 'ord'])}\nFROM ({query}) AS q" + (f"\nWHERE {agree}" if agree else "")


def _canonical(dialect: InPlaceDialect, card: Card, salt: str) -> str:
    """The row as one text, no two rows alike: '|' between columns, ~ for NULL, its length before a text."""
    parts = []
    for index, column in enumerate(card.columns):
        digits = f"CAST({{}} AS {dialect.text_type})"
        value = f"v{index}"
        shown = f"{digits.format(f'length({value})')} || ':' || {value}"
        parts.append(f"coalesce({shown if column.storage == 'text' else digits.format(value)}, '~')")
    return _joined([dialect.card_text(salt), *parts])


def _joined(parts: Sequence[str]) -> str:
    """Texts with '|' between them, in groups where there are many: PostgreSQL takes at most 100 arguments."""
    if len(parts) <= _MOST_ARGUMENTS:
        return f"concat_ws('|', {', '.join(parts)})"
    groups = [parts[start : start + _MOST_ARGUMENTS] for start in range(0, len(parts), _MOST_ARGUMENTS)]
    return _joined([_joined(group) for group in groups])
