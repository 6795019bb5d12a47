"""Figures are columns until somebody asks for one, and each column says what it holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.results import Figure, Figures, Later, Margin, Quality


def test_figures_are_put_together_when_they_are_looked_at() -> None:
    made: list[int] = []

    def put_together() -> list[Margin]:
        made.append(1)
        return [Margin((), (["a", "b"],), [1, 1], low=[0, 0], high=[2, 2], quality=[Quality.GOOD] * 2)]

    figures = Figures(2, put_together)
    assert (len(figures), made) == (2, [])
    assert figures[0].codes == ("a",)
    assert [figure.codes for figure in figures[1:]] == [("b",)]
    assert figures == list(figures)
    assert figures != [figures[0]]
    assert made == [1]


def test_columns_that_hold_nothing_give_figures_without_it() -> None:
    """The raw estimate of what has none of its own is what is published."""
    [figure] = Margin((0,), ([None],), [3])
    assert figure == Figure((None,), (0,), 3, 3, None, None, Quality.NOT_RATED)
    assert list(Margin((), (), [1, 2]))[1].codes == ()


def test_arrays_give_the_numbers_of_python() -> None:
    """What leaves must be written as JSON, which knows no number of numpy's."""
    values: Any = np.array([1, 2])
    codes: Any = np.array(["a", "b"])
    for figure in Margin((), (codes,), values, values / 2, values - 1, values + 1):
        numbers = (figure.value, figure.raw, figure.low, figure.high)
        assert [type(number) for number in numbers] == [int, float, int, int]
        assert type(figure.codes[0]) is str


def test_many_figures_are_shown_by_their_first() -> None:
    figures = Figures(1005, lambda: [Margin((), (range(1005),), range(1005))])
    assert repr(figures).endswith(", … 1,002 more]")
    assert repr(Figures(0, list)) == "[]"


def test_what_is_worked_out_later_is_worked_out_once() -> None:
    made: list[int] = []

    def work_out() -> int:
        made.append(1)
        return len(made)

    later = Later(work_out)
    assert made == []
    assert (later.value, later.value) == (1, 1)
