"""How numbers are written: decimals that their intervals bear, whatever columns they stand in."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.present.table_words import Writing
from discreet.results import Figure, Figures, Labels, Margin, Quality, Statistic
from tests.releases import make_table


@pytest.mark.parametrize(
    ("step", "half", "decimals"), [(None, 0.02, 3), (None, 40, 0), (None, None, 3), (None, 1e-12, 9), ("0.01", 10, 2)]
)
def test_decimals_are_those_of_the_step_or_those_that_intervals_bear(
    step: str | None, half: float | None, decimals: int
) -> None:
    table = make_table({"a": 1}, lambda _: 1.75, step=step, half=half)
    assert Writing.of(table.statistic, "en").decimals == decimals


def test_arrays_are_written_like_lists() -> None:
    """A large answer has its ends as arrays, a small one as lists."""
    listed = Margin((), (["a", "b"],), [1.75, 2.5], low=[1.73, 2.48], high=[1.77, 2.52])
    columns: Any = {name: np.array(getattr(listed, name)) for name in ("values", "low", "high")}
    for margin in (listed, replace(listed, **columns)):
        statistic = Statistic("mean", Labels("Mean", "Moyenne"), Figures(2, partial(list, [margin])))
        writing = Writing.of(statistic, "en")
        assert writing.decimals == 3
        assert [writing.value(figure) for figure in statistic.figures] == ["1.750", "2.500"]


@pytest.mark.parametrize(
    ("low", "high", "language", "told"),
    [
        (1.231, 1.239, "en", "1.23 to 1.24"),
        (None, 1.5, "en", "−∞ to 1.50"),
        (-2, None, "fr", "−2,00 à ∞"),
        (None, None, "en", ""),
    ],
)
def test_intervals_are_rounded_outwards(low: float | None, high: float | None, language: str, told: str) -> None:
    figure = Figure((), (), 1, 1, low, high, Quality.GOOD)
    assert Writing(language, 2, compact=False).interval(figure) == told
