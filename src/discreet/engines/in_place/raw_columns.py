"""From the raw columns of a table to prepared values, inside a query: what docs/prepared.md says of each value.

Integers, doubles, decimals and listed codes are read in one expression. What else there is climbs a ladder of named
results, one nested SELECT per rung, so that no text is taken apart twice: texts become digits and a place of the point,
and digits become whole numbers. Nothing a row may hold raises an error. Most of it is SQL that PostgreSQL and Spark
share; where they differ, `InPlaceDialect` has one short method per rule.

A double is read by its shortest decimal, with comparisons of doubles alone (docs/engines.md has the proof): a decimal
of at most 15 digits is the shortest of the double nearest to it, so a double lies beyond it exactly if its shortest
decimal does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from discreet.cards import Card, Column, ColumnKind, canonical_code
from discreet.engines.dialects import InPlaceDialect
from discreet.sources import BLANK_TOKENS
from discreet.workspace import Form

__all__ = ["category_position", "over", "raw_key", "valued_rows"]

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
_LONGEST_TREE: Final = 400
_PROVEN_DIGITS: Final = 10**15
_LARGEST_DOUBLE: Final = "1.7976931348623157e308"
_FLOATS: Final = {Form.DOUBLE: 2**53, Form.SINGLE: 2**24}

Rung = Mapping[str, str]


def valued_rows(
    dialect: InPlaceDialect,
    card: Card,
    *,
    relation: str,
    types: Mapping[str, str],
    columns: Collection[str],
    beside: Mapping[str, str] | None = None,
) -> str:
    """Every raw row with the prepared values v<i> of these columns, weights cut to their caps, and what is `beside`.

    Where no value needs more than one expression, the engine may share the work among its processes.
    """
    rule = card.weight
    asked = {*columns, rule.by} if rule is not None and rule.by is not None and rule.column in columns else {*columns}
    wanted = [(index, column) for index, column in enumerate(card.columns) if column.name in asked]
    short = {index: _short(dialect, column, types[column.source]) for index, column in wanted}
    ladders = {
        index: _ladder(dialect, column, index, _form(dialect, types[column.source]))
        for index, column in wanted
        if short[index] is None
    }
    raws = [
        f"{dialect.raw(column.source, types[column.source])} AS r{index}"
        if (text := short[index]) is None
        else f"{text} AS v{index}"
        for index, column in wanted
    ]
    beside = beside or {}
    raws += [f"{text} AS {alias}" for alias, text in beside.items()]
    query = f"SELECT {', '.join(raws)}\nFROM {relation}"
    if not ladders:
        query = dialect.apart(query, len(raws))
    for level in range(max(map(len, ladders.values()), default=0)):
        rung = [item for index, _ in wanted for item in _step(ladders.get(index, ()), level, index).items()]
        query = over(dialect, query, [*(f"{text} AS {alias}" for alias, text in rung), *beside])
    if rule is None or rule.column not in columns:
        return query
    return _capped(dialect, card, query, wanted, beside)


def raw_key(dialect: InPlaceDialect, column: Column, kind: str) -> str | None:
    """The raw column of a category whose position one expression finds; None for other columns."""
    fits = column.kind is ColumnKind.CATEGORY and _form(dialect, kind) in {Form.TEXT, Form.INTEGER}
    return dialect.raw(column.source, kind) if fits else None


def _form(dialect: InPlaceDialect, kind: str) -> Form:
    form = dialect.form(kind)
    if form is None:
        raise ValueError(f"columns of type {kind} cannot be read")
    return form


def _step(ladder: Sequence[Rung], level: int, index: int) -> Rung:
    return ladder[level] if level < len(ladder) else {f"v{index}": f"v{index}"}


def over(dialect: InPlaceDialect, query: str, items: Sequence[str], where: str = "") -> str:
    """A SELECT of these items from a query."""
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


# Values that one expression gives.


def _short(dialect: InPlaceDialect, column: Column, kind: str) -> str | None:
    """The prepared value of a raw column as one expression; None where it takes a ladder."""
    form = _form(dialect, kind)
    if raw_key(dialect, column, kind) is not None:
        return category_position(dialect, column, dialect.raw(column.source, kind), form)
    if column.kind is ColumnKind.ID and column.type == "integer" and form is Form.INTEGER:
        return _whole_id(dialect, column)
    if column.kind in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return _short_number(dialect, column, kind, form)
    return None


def category_position(dialect: InPlaceDialect, column: Column, raw: str, form: Form) -> str:
    """The position of a raw code. A text that stands in the list is found at once; only others are taken apart."""
    codes = [canonical_code(category.code) for category in column.categories]
    storage = dialect.storage_types[column.storage]
    if form is Form.INTEGER:
        numbers = [(int(code), index) for index, code in enumerate(codes) if code == _digits_of(code)]
        return _found(dialect, raw, [(str(number), index) for number, index in sorted(numbers)], storage, "NULL")
    text = dialect.compose(dialect.trim(raw))
    rest = f"CAST({dialect.position(_code(dialect, text), codes)} AS {storage})"
    known = sorted((code.encode(), index) for index, code in enumerate(codes))
    listed = [(dialect.card_text(code.decode()), index) for code, index in known]
    return _found(dialect, raw, listed, storage, rest)


def _found(dialect: InPlaceDialect, raw: str, listed: Sequence[tuple[str, int]], storage: str, rest: str) -> str:
    """A position by halving a sorted list, in few comparisons; `rest` for what is not in it."""
    if len(listed) > _LONGEST_TREE or not listed:
        return rest if rest != "NULL" else _looked_up(dialect, raw, listed, storage)
    if len(listed) <= 2:
        whens = " ".join(f"WHEN {raw} = {literal} THEN CAST({index} AS {storage})" for literal, index in listed)
        return f"CASE {whens} ELSE {rest} END"
    half = len(listed) // 2
    below, above = (_found(dialect, raw, part, storage, "NULL") for part in (listed[:half], listed[half:]))
    tree = f"CASE WHEN {raw} < {listed[half][0]} THEN {below} ELSE {above} END"
    return tree if rest == "NULL" else f"coalesce({tree}, {rest})"


def _looked_up(dialect: InPlaceDialect, raw: str, listed: Sequence[tuple[str, int]], storage: str) -> str:
    """The position of an integer in a long list."""
    if not listed:
        return f"CAST(NULL AS {storage})"
    first, last = int(listed[0][0]), int(listed[-1][0])
    if [(str(first + step), listed[0][1] + step) for step in range(len(listed))] == list(listed):
        shift = listed[0][1] - first
        return f"CASE WHEN {raw} BETWEEN {first} AND {last} THEN CAST({raw} + {shift} AS {storage}) END"
    codes = [""] * (max(index for _, index in listed) + 1)
    for code, index in listed:
        codes[index] = code
    return f"CAST({dialect.position(f'CAST({raw} AS {dialect.text_type})', codes)} AS {storage})"


def _digits_of(code: str) -> str:
    """A code as an integer would be written, or something that no code is."""
    try:
        return str(int(code)) if code.isascii() else ""
    except ValueError:
        return ""


def _whole_id(dialect: InPlaceDialect, column: Column) -> str:
    raw, reach = dialect.name(column.source), 10**_ID_DIGITS - 1
    missing = ", ".join(map(str, _missing_ids(column)))
    lacks = f" AND {raw} NOT IN ({missing})" if missing else ""
    return f"CASE WHEN {raw} BETWEEN {-reach} AND {reach}{lacks} THEN CAST({raw} AS bigint) END"


def _short_number(dialect: InPlaceDialect, column: Column, kind: str, form: Form) -> str | None:
    assert column.step is not None
    step, raw = Fraction(column.step), dialect.name(column.source)
    most = max(abs(column.low_units), abs(column.high_units)) + 1
    codes = [Fraction(code) for code in column.missing]
    if form is Form.INTEGER and step.numerator == 1 and step.denominator * most < 2**62:
        whole = [code for code in codes if code.denominator == 1]
        # Only after the comparisons the product is known to fit.
        return _clamped(dialect, column, f"CAST({raw} AS bigint)", f"CAST({raw} AS bigint) * {step.denominator}", whole)
    if dialect.is_decimal(kind) and step.numerator == 1 and step == Fraction(1, 10 ** _places(step)):
        steps = dialect.decimal_steps(raw, _places(step))
        if steps is not None:
            finite = dialect.finite_decimal(raw)
            return _clamped(dialect, column, raw, steps, codes, low_if=finite, high_if=finite)
    # The midpoint behind the outermost step has at most 15 digits, and so has whatever else is compared.
    bound = (2 * most + 1) * step.numerator * 5
    short = all(abs(code) * 10 ** _places(code) < _PROVEN_DIGITS for code in codes)
    if form is Form.DOUBLE and bound < _PROVEN_DIGITS and step.denominator < 2**45 and short:
        return _double_steps(dialect, column, raw, step, codes)
    return None


def _double_steps(dialect: InPlaceDialect, column: Column, raw: str, step: Fraction, codes: Sequence[Fraction]) -> str:
    """A double in steps: the whole steps below it, and one more if it reaches the midpoint behind them.

    The product may be off by far less than half a step, and then the comparison still decides rightly.
    """
    double = dialect.double
    size = raw if column.low_units >= 0 else f"abs({raw})"
    below = f"floor({size} * {double(str(step.denominator))}" + (
        ")" if step.numerator == 1 else f" / {double(str(step.numerator))})"
    )
    middle = f"({double(str(2 * step.numerator))} * {below} + {double(str(step.numerator))})"
    reached = f"{size} >= {middle} / {double(str(2 * step.denominator))}"
    steps = f"{below} + CASE WHEN {reached} THEN {double('1')} ELSE {double('0')} END"
    if column.low_units < 0:
        steps = f"sign({raw}) * ({steps})"
    finite = (f"{raw} >= {double('-' + _LARGEST_DOUBLE)}", f"{raw} <= {double(_LARGEST_DOUBLE)}")
    return _clamped(
        dialect, column, raw, steps, codes, low_if=finite[0], high_if=finite[1], literal=lambda n: double(_plain(n))
    )


def _clamped(
    dialect: InPlaceDialect,
    column: Column,
    raw: str,
    steps: str,
    codes: Sequence[Fraction],
    *,
    low_if: str = "",
    high_if: str = "",
    literal: Callable[[Fraction], str] | None = None,
) -> str:
    """A number in steps within its bounds; `low_if` and `high_if` tell numbers from infinities and NaN beyond them."""
    storage, step = dialect.storage_types[column.storage], Fraction(column.step or 1)
    written = literal or (lambda number: _plain(number) if number >= 0 else f"({_plain(number)})")

    def end(units: int, condition: str) -> str:
        value = f"CAST({units} AS {storage})"
        return f"CASE WHEN {condition} THEN {value} END" if condition else value

    missing = ", ".join(map(written, codes))
    low, high = (written(units * step) for units in (column.low_units, column.high_units))
    return (
        f"CASE {f'WHEN {raw} IN ({missing}) THEN NULL ' if missing else ''}"
        f"WHEN {raw} >= {high} THEN {end(column.high_units, high_if)} "
        f"WHEN {raw} <= {low} THEN {end(column.low_units, low_if)} "
        f"ELSE CAST({steps} AS {storage}) END"
    )


def _plain(number: Fraction) -> str:
    """A fraction with a finite decimal form, without exponent."""
    return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


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
    codes = [canonical_code(category.code) for category in column.categories]
    return [{p: _code(dialect, t)}, {f"v{index}": dialect.position(p, codes)}]


def _code(dialect: InPlaceDialect, text: str) -> str:
    """A text as codes are written: a whole number without plus sign and point."""
    unsigned = f"CASE WHEN left({text}, 1) = '+' THEN substr({text}, 2) ELSE {text} END"
    return f"CASE WHEN {dialect.matches(text, _CODE_PATTERN)} THEN split_part({unsigned}, '.', 1) ELSE {text} END"


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
    missing = ", ".join(map(dialect.whole, _missing_ids(column)))
    value = f"CASE WHEN {p} IN ({missing}) THEN NULL ELSE {p} END" if missing else p
    return [*climb, {f"v{index}": value}]


def _missing_ids(column: Column) -> list[int]:
    return [int(code) for code in map(canonical_code, column.missing) if code.lstrip("-").isdecimal()]


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


# Weights.


def _capped(
    dialect: InPlaceDialect, card: Card, query: str, columns: Sequence[tuple[int, Column]], beside: Iterable[str]
) -> str:
    """The weight cut to its cap in steps; a row whose category is absent falls under the largest."""
    rule = card.weight
    assert rule is not None
    index_of = {column.name: index for index, column in columns}
    step = Fraction(card.column(rule.column).step or 1)
    weight = f"v{index_of[rule.column]}"
    cap = str(int(Fraction(rule.largest) / step))
    if rule.by is not None:
        caps = [int(Fraction(rule.cap_for(each.code)) / step) for each in card.column(rule.by).categories]
        cap = f"coalesce({dialect.pick(caps, f'v{index_of[rule.by]}')}, {cap})"
    items = [*(f"v{index}" for index, _ in columns), *beside]
    items[items.index(weight)] = f"CASE WHEN {weight} > {cap} THEN {cap} ELSE {weight} END AS {weight}"
    return f"SELECT {', '.join(items)}\nFROM ({query}) AS q"
