"""Columns of an answer with very many cells: what `columns` and `presenting` say of each, worked out in arrays.

Numbers are exact ratios of 64-bit integers, and floats only as they leave: the same numbers, bit for bit. Where 64 bits
may not hold them, and for outputs that are not written here, `CellByCell` sends the caller back to those two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.release.cells.evaluation import is_whole, prints_exactly, round_out
from discreet.release.cells.output_columns import Average, NoiseReach, Number
from discreet.sql import (
    All,
    Arithmetic,
    Comparison,
    Constant,
    KeyAmong,
    KeyShown,
    Magnitude,
    Mean,
    Negation,
    Noted,
    Order,
    Output,
    Presentation,
    Selection,
)
from discreet.sql import Any as AnyOf

__all__ = [
    "CellByCell",
    "Keys",
    "Thin",
    "Truth",
    "Whole",
    "arrange_many",
    "interval_columns",
    "to_array",
    "value_column",
]

Whole = NDArray[np.int64]
Truth = NDArray[np.bool_]
Column = Sequence[Number] | NDArray[Any]
Thin = Mapping[int, Truth]
"""For a size that something is averaged over: the cells in which it is too small for that."""

Keys = Callable[[int], tuple[Sequence[int | str | None], Whole]]
"""For a key of the plan: what its cells hold, and which of them every cell of the answer lies in."""

_NOWHERE: Final[Thin] = {}
_FITS: Final = 1 << 62
_EXACT: Final = 1 << 53  # below, a whole number is a float
_TEN_NINE: Final = 10**9
_SPLITTER: Final = 134_217_729.0  # 2**27 + 1


class CellByCell(Exception):
    """This column is not worked out in arrays."""


@dataclass(frozen=True, slots=True)
class _Ratios:
    """over / under in every cell; under = 0 is endless, to the side of `over`. `absent` are cells without a number."""

    over: Whole
    under: Whole
    absent: Truth | None = None


def to_array(values: Sequence[int]) -> Whole:
    """Whole numbers as an array, or CellByCell."""
    try:
        result = np.array(values, dtype=np.int64)
    except OverflowError:
        raise CellByCell from None
    _most(result)
    return result


def _most(values: Whole) -> int:
    if values.size == 0:
        return 0
    most = max(int(values.max()), -int(values.min()))
    if most >= _FITS:
        raise CellByCell
    return most


def _times(one: Whole, other: Whole) -> Whole:
    if _most(one) * _most(other) >= _FITS:
        raise CellByCell
    return one * other


def _plus(one: Whole, other: Whole) -> Whole:
    if _most(one) + _most(other) >= _FITS:
        raise CellByCell
    return one + other


def _single(number: int) -> Whole:
    if abs(number) >= _FITS:
        raise CellByCell
    return np.asarray(number, dtype=np.int64)


# --- values ---------------------------------------------------------------------------------------------------------


def value_column(output: Output, measures: Sequence[Whole], count: int, thin: Thin = _NOWHERE) -> Column:
    """The output in every cell; `measures` are the noisy values of the cells shown."""
    return _shown(_evaluate(output, measures, thin), count, whole=is_whole(output))


def _evaluate(output: Output, measures: Sequence[Whole], thin: Thin) -> _Ratios:
    match output:
        case Noted(measure, step):
            return _Ratios(_times(measures[measure], _single(step.numerator)), _single(step.denominator))
        case Constant(value):
            return _constant(value)
        case Arithmetic(sign, left, right):
            return _combine(sign, _evaluate(left, measures, thin), _evaluate(right, measures, thin))
        case Magnitude(inner):
            found = _evaluate(inner, measures, thin)
            return _Ratios(np.abs(found.over), found.under, found.absent)
        case Mean(total, size):
            mean = _mean(Average.of(output), measures[total], measures[size])
            return _Ratios(mean.over, mean.under, thin.get(size))
    raise CellByCell


def _constant(value: Fraction) -> _Ratios:
    return _Ratios(_single(value.numerator), _single(value.denominator))


def _mean(average: Average, totals: Whole, sizes: Whole) -> _Ratios:
    weight = np.maximum(_times(sizes, _single(average.size)), _single(average.floor))
    over = _plus(_times(weight, _single(average.centre)), _times(totals, _single(average.total)))
    low, high = (_times(weight, _single(end)) for end in (average.low, average.high))
    return _Ratios(np.minimum(np.maximum(over, low), high), _times(weight, _single(average.unit)))


def _combine(sign: str, left: _Ratios, right: _Ratios) -> _Ratios:
    absent = _either(left.absent, right.absent)
    if sign == "*":
        return _Ratios(_times(left.over, right.over), _times(left.under, right.under), absent)
    if sign == "/":
        over, under = _times(left.over, right.under), _times(left.under, right.over)
        nothing = under == 0
        over, under = np.where(under < 0, -over, over), np.where(nothing, 1, np.abs(under))
        return _Ratios(np.where(nothing, 0, over), under, _either(absent, nothing))
    if left.under.ndim == right.under.ndim == 0 and left.under == right.under:
        first, second, under = left.over, right.over, left.under
    else:
        first, second = _times(left.over, right.under), _times(right.over, left.under)
        under = _times(left.under, right.under)
    return _Ratios(_plus(first, second if sign == "+" else -second), under, absent)


def _either(one: Truth | None, other: Truth | None) -> Truth | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


# --- intervals ------------------------------------------------------------------------------------------------------


def interval_columns(
    output: Output,
    measures: Sequence[Whole],
    margins: Mapping[int, NoiseReach],
    indices: Sequence[int],
) -> tuple[Column, Column]:
    """Both ends of the output's interval in every cell shown; None where there is no bound."""
    boxes = {number: _around(margin, measures[number], indices) for number, margin in margins.items()}
    count, whole = len(indices), is_whole(output)
    lows, highs = _enclose(output, boxes)
    return _end(lows, count, whole=whole, up=False), _end(highs, count, whole=whole, up=True)


def _around(margin: NoiseReach, values: Whole, indices: Sequence[int]) -> tuple[Whole, Whole]:
    if margin.ends is not None:
        return np.full(len(values), margin.ends[0]), np.full(len(values), margin.ends[1])
    if margin.slices is None:
        half = _single(margin.halves[0])
    else:
        half = to_array(margin.halves)[np.asarray(margin.slices)[np.asarray(indices)]]
    return _plus(values, -half), _plus(values, half)


def _enclose(output: Output, boxes: Mapping[int, tuple[Whole, Whole]]) -> tuple[_Ratios, _Ratios]:
    match output:
        case Noted(measure, step):
            over, under = _single(step.numerator), _single(step.denominator)
            low, high = boxes[measure]
            return _Ratios(_times(low, over), under), _Ratios(_times(high, over), under)
        case Constant(value):
            return _constant(value), _constant(value)
        case Arithmetic(sign, left, right):
            one, other = _enclose(left, boxes), _enclose(right, boxes)
            if sign in "+-":
                first, last = other if sign == "+" else (_negated(other[1]), _negated(other[0]))
                return _added(one[0], first), _added(one[1], last)
            return _spanned(one, other) if sign == "*" else _over(one, other)
    raise CellByCell


def _negated(end: _Ratios) -> _Ratios:
    return _Ratios(-end.over, end.under)


def _added(one: _Ratios, other: _Ratios) -> _Ratios:
    """An endless end stays endless; both ends of a sum lie on one side."""
    endless = (one.under == 0) | (other.under == 0)
    if not endless.any():
        return _combine("+", one, other)
    side = np.where(one.under == 0, one.over, other.over)
    bounded = _combine("+", *(_Ratios(end.over, np.where(end.under == 0, 1, end.under)) for end in (one, other)))
    return _Ratios(np.where(endless, np.sign(side), bounded.over), np.where(endless, 0, bounded.under))


def _spanned(one: tuple[_Ratios, _Ratios], other: tuple[_Ratios, _Ratios]) -> tuple[_Ratios, _Ratios]:
    """The corners decide; nothing times endless is nothing."""
    corners = [_corner(a, b) for a in one for b in other]
    low = high = corners[0]
    for corner in corners[1:]:
        low, high = _chosen(_below(corner, low), corner, low), _chosen(_below(high, corner), corner, high)
    return low, high


def _corner(one: _Ratios, other: _Ratios) -> _Ratios:
    over, under = _times(one.over, other.over), _times(one.under, other.under)
    under = np.where(over == 0, 1, under)
    return _Ratios(np.where(under == 0, np.sign(over), over), under)


def _below(one: _Ratios, other: _Ratios) -> Truth:
    endless = (one.under == 0) & (other.under == 0)
    first, second = _times(one.over, other.under), _times(other.over, one.under)
    result: Truth = np.where(endless, one.over < other.over, first < second)
    return result


def _chosen(which: Truth, one: _Ratios, other: _Ratios) -> _Ratios:
    return _Ratios(np.where(which, one.over, other.over), np.where(which, one.under, other.under))


def _over(one: tuple[_Ratios, _Ratios], other: tuple[_Ratios, _Ratios]) -> tuple[_Ratios, _Ratios]:
    """Open on every side to which it can run away as the divisor nears 0."""
    low, high = other
    runs = ((low.over < 0) & (high.over > 0)) | ((low.over == 0) & (high.over == 0))
    inverse = _inverse(high, side=-1), _inverse(low, side=1)
    least, most = _spanned(one, inverse)
    return (
        _Ratios(np.where(runs, -1, least.over), np.where(runs, 0, least.under)),
        _Ratios(np.where(runs, 1, most.over), np.where(runs, 0, most.under)),
    )


def _inverse(end: _Ratios, *, side: int) -> _Ratios:
    over = np.where(end.over < 0, -end.under, end.under)
    under = np.abs(end.over)
    over = np.where(under == 0, side, over)
    return _Ratios(over, np.where(end.under == 0, 1, under))


# --- as they leave --------------------------------------------------------------------------------------------------


def _shown(ratios: _Ratios, count: int, *, whole: bool) -> Column:
    over, under = _reduced(ratios, count)
    found: Column = over // under if whole else _nearest(over, under)
    return _with_gaps(found, ratios.absent)


def _end(ratios: _Ratios, count: int, *, whole: bool, up: bool) -> Column:
    endless = np.broadcast_to(ratios.under == 0, (count,))
    over, under = _reduced(_Ratios(ratios.over, np.where(ratios.under == 0, 1, ratios.under)), count)
    return _with_gaps(over // under if whole else _round_out(over, under, up=up), endless)


def _reduced(ratios: _Ratios, count: int) -> tuple[Whole, Whole]:
    over, under = (np.broadcast_to(part, (count,)) for part in (ratios.over, ratios.under))
    if max(_most(over), _most(under)) < _EXACT:
        return over, under
    shared = np.gcd(over, under)
    return over // shared, under // shared


def _with_gaps(result: Column, absent: Truth | None) -> Column:
    if absent is None or not absent.any():
        return result
    filled = np.asarray(result, dtype=object)
    filled[np.broadcast_to(absent, filled.shape)] = None
    return filled


def _large(over: Whole, under: Whole) -> Whole:
    return np.flatnonzero((np.abs(over) >= _EXACT) | (under >= _EXACT))


def _nearest(over: Whole, under: Whole) -> NDArray[np.float64]:
    result = over / under
    for index in _large(over, under).tolist():
        result[index] = int(over[index]) / int(under[index])
    return result


def _round_out(over: Whole, under: Whole, *, up: bool) -> NDArray[np.float64]:
    """`round_out` for every cell."""
    result = over / under
    beyond = _beyond(result, over.astype(np.float64), under.astype(np.float64))
    short = (beyond < 0) if up else (beyond > 0)
    short[short] = ~_print_exactly(over[short], under[short])
    result[short] = np.nextafter(result[short], np.inf if up else -np.inf)
    for index in _large(over, under).tolist():
        result[index] = round_out(int(over[index]), int(under[index]), up=up)
    return result


def _beyond(found: NDArray[np.float64], over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exact sign of found * under - over: the product in two floats that add up to it (Dekker)."""
    product = found * under
    found_high, under_high = (_SPLITTER * part - (_SPLITTER * part - part) for part in (found, under))
    found_low, under_low = found - found_high, under - under_high
    rest = ((found_high * under_high - product) + found_high * under_low + found_low * under_high) + (
        found_low * under_low
    )
    return (product - over) + rest


def _print_exactly(over: Whole, under: Whole) -> Truth:
    """Whether the nearest float prints as this very ratio: decimals of at most 15 digits do."""
    shared = np.gcd(over, under)
    digits, under = np.abs(over // shared), under // shared
    decimal = _TEN_NINE % np.minimum(under, _TEN_NINE + 1) == 0
    factor = _TEN_NINE // np.minimum(under, _TEN_NINE)
    wide = decimal & (digits >= _FITS // np.maximum(factor, 1))
    digits = np.where(decimal & ~wide, digits * factor, 0)
    while (cut := (digits >= 10**15) & (digits % 10 == 0)).any():
        digits[cut] //= 10
    result: Truth = decimal & (digits < 10**15)
    for index in np.flatnonzero(wide).tolist():
        result[index] = prints_exactly(int(over[index]), int(under[index] * shared[index]))
    return result


# --- HAVING and ORDER BY --------------------------------------------------------------------------------------------


def arrange_many(
    presentation: Presentation, keys: Keys, measures: Sequence[Whole], count: int, thin: Thin = _NOWHERE
) -> Sequence[int]:
    """As `presenting.arrange`: the places to show, in the order asked."""
    end = None if presentation.limit is None else presentation.offset + presentation.limit
    if presentation.having is None and not presentation.order:
        return range(count)[presentation.offset : end]
    indices = np.arange(count)
    if presentation.having is not None:
        held, known = _holds(presentation.having, keys, measures, thin)
        indices = indices[np.broadcast_to(held & known, (count,))]
    for order in reversed(presentation.order):
        indices = indices[_ranks(order, keys, measures, indices, thin)]
    result: list[int] = indices[presentation.offset : end].tolist()
    return result


def _holds(selection: Selection, keys: Keys, measures: Sequence[Whole], thin: Thin) -> tuple[Truth, Truth]:
    """Whether a condition holds, and whether that is known."""
    match selection:
        case Comparison(sign, left, right):
            one, other = _evaluate(left, measures, thin), _evaluate(right, measures, thin)
            first, second = _times(one.over, other.under), _times(other.over, one.under)
            absent = _either(one.absent, other.absent)
            return _COMPARE[sign](first, second), np.asarray(True) if absent is None else ~absent
        case KeyAmong(key, among):
            cells, where = keys(key)
            held = np.array([cell in among for cell in cells], dtype=np.bool_)[where]
            known = np.array([cell is not None or None in among for cell in cells], dtype=np.bool_)[where]
            return held, known
        case Negation(operand):
            held, known = _holds(operand, keys, measures, thin)
            return ~held, known
        case All(operands) | AnyOf(operands):
            parts = [_holds(operand, keys, measures, thin) for operand in operands]
            decides = isinstance(selection, AnyOf)
            held, known = np.asarray(not decides), np.asarray(True)
            settled = np.asarray(False)
            for part, sure in parts:
                held = held | (part & sure) if decides else held & (part | ~sure)
                known = known & sure
                settled = settled | ((part == decides) & sure)
            return np.where(settled, decides, held), known | settled
    raise CellByCell


_COMPARE: Final[dict[str, Callable[[Whole, Whole], Truth]]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _ranks(order: Order, keys: Keys, measures: Sequence[Whole], indices: Whole, thin: Thin) -> Whole:
    """The order of the places by one term; equal ones stay as they are, absent ones come first or last."""
    if isinstance(order.by, KeyShown):
        cells, where = keys(order.by.key)
        present = [cell for cell in cells if cell is not None]
        rank = {cell: number for number, cell in enumerate(sorted(present))}
        by_cell = np.array([-1 if cell is None else rank[cell] for cell in cells], dtype=np.int64)
        values = by_cell[where][indices]
        absent = values < 0
    else:
        ratios = _evaluate(order.by, measures, thin)
        count = len(measures[0])
        absent = np.broadcast_to(False if ratios.absent is None else ratios.absent, (count,))[indices]
        values = _numbered(ratios, indices, count)
    gone, there = np.flatnonzero(absent), np.flatnonzero(~absent)
    ranked = np.argsort(-values[there] if order.descending else values[there], kind="stable")
    return np.concatenate([gone, there[ranked]] if order.nulls_first else [there[ranked], gone])


def _numbered(ratios: _Ratios, indices: Whole, count: int) -> Whole:
    """Whole numbers in the order of the ratios, equal for equal ones."""
    over, under = (np.broadcast_to(part, (count,))[indices] for part in (ratios.over, ratios.under))
    if not ratios.under.ndim:
        return over
    nearest = _nearest(over, under)
    by = np.argsort(nearest, kind="stable")
    over, under, nearest = over[by], under[by], nearest[by]
    differs = _times(over[1:], under[:-1]) != _times(over[:-1], under[1:])
    if (differs & (nearest[1:] == nearest[:-1])).any():
        raise CellByCell  # two ratios that no float tells apart
    numbers = np.zeros(len(by), dtype=np.int64)
    numbers[by[1:]] = np.cumsum(differs)
    return numbers
