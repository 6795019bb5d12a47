"""HAVING, ORDER BY and LIMIT over noisy outputs, in SQL's logic."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.release.cells.arrangement import arrange, holds
from discreet.sql.outputs import (
    All,
    Any,
    Arithmetic,
    Comparison,
    Constant,
    KeyAmong,
    KeyShown,
    Negation,
    Noted,
    Order,
    Presentation,
    Selection,
)

N, M = Noted(0, Fraction(1)), Noted(1, Fraction(1))
SHARE = Arithmetic("/", N, M)
ZERO = Constant(Fraction(0))
TRUE, FALSE = Comparison("=", ZERO, ZERO), Comparison("<>", ZERO, ZERO)
UNKNOWN = Comparison("=", Arithmetic("/", ZERO, ZERO), ZERO)
CELLS = [(0,), (1,), (2,), (None,)]
MEASURES = [[5, -1, 5, 2], [1, 0, 5, 0]]


def truth(selection: Selection) -> bool | None:
    return holds(selection, (1,), ())


@pytest.mark.parametrize(
    ("sign", "expected"), [("=", False), ("<>", True), ("<", True), ("<=", True), (">", False), (">=", False)]
)
def test_comparisons(sign: str, expected: bool) -> None:
    assert holds(Comparison(sign, N, M), (), (1, 2)) is expected  # type: ignore[arg-type]


def test_three_valued_logic() -> None:
    assert truth(UNKNOWN) is None
    assert truth(Negation(UNKNOWN)) is None
    assert [truth(All((TRUE, part))) for part in (TRUE, FALSE, UNKNOWN)] == [True, False, None]
    assert [truth(Any((FALSE, part))) for part in (TRUE, FALSE, UNKNOWN)] == [True, False, None]
    assert truth(All((UNKNOWN, FALSE))) is False
    assert truth(Any((UNKNOWN, TRUE))) is True


def test_the_null_key_is_among_others_only_when_asked_for() -> None:
    assert [holds(KeyAmong(0, (1,)), cell, ()) for cell in CELLS] == [False, True, False, None]
    assert [holds(Negation(KeyAmong(0, (1,))), cell, ()) for cell in CELLS] == [True, False, True, None]
    assert [holds(Negation(KeyAmong(0, (None,))), cell, ()) for cell in CELLS] == [True, True, True, False]


def test_unknown_is_dropped_like_false() -> None:
    shown = Presentation((), having=Comparison(">", SHARE, ZERO))
    assert arrange(shown, CELLS, MEASURES) == [0, 2]
    assert arrange(Presentation((), having=Negation(Comparison(">", SHARE, ZERO))), CELLS, MEASURES) == []


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((Order(N),), [1, 3, 0, 2]),
        ((Order(N, descending=True),), [0, 2, 3, 1]),
        ((Order(N), Order(KeyShown(0), descending=True)), [1, 3, 2, 0]),
        ((Order(KeyShown(0), descending=True, nulls_first=True),), [3, 2, 1, 0]),
        ((Order(KeyShown(0)),), [0, 1, 2, 3]),
        ((Order(SHARE),), [2, 0, 1, 3]),
        ((Order(SHARE, nulls_first=True),), [1, 3, 2, 0]),
        ((Order(SHARE, descending=True),), [0, 2, 1, 3]),
    ],
)
def test_order_is_stable_and_puts_null_where_it_is_told(order: tuple[Order, ...], expected: list[int]) -> None:
    assert arrange(Presentation((), order=order), CELLS, MEASURES) == expected


def test_limit_and_offset_cut_last() -> None:
    assert list(arrange(Presentation((), limit=2), CELLS, MEASURES)) == [0, 1]
    assert list(arrange(Presentation((), limit=0), CELLS, MEASURES)) == []
    assert list(arrange(Presentation((), offset=3), CELLS, MEASURES)) == [3]
    assert arrange(Presentation((), order=(Order(N),), limit=2, offset=1), CELLS, MEASURES) == [3, 0]
