"""Drawings are well-formed whatever they show, ticks are round and enclose their range, shades keep their order."""

from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from discreet.present.charts.drawing import INK, PAPER, Canvas, Scale, contrast_ink, find_ticks, shade

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE, st.integers(3, 12))
@example(0.0, 5e-324, 3)
@example(-1.7e308, 1.7e308, 6)
def test_ticks_enclose_every_range(one: float, other: float, most: int) -> None:
    low, high = sorted((one, other))
    ticks = find_ticks(low, high, most=most)
    assert 2 <= len(ticks.values) <= most
    assert list(ticks.values) == sorted(set(ticks.values))
    # Beyond the largest power of ten that a float holds there is no round number left.
    assume(abs(low) < 1e308 and abs(high) < 1e308)
    assert ticks.low <= low
    assert ticks.high >= high
    scale = ticks.scale(0, 100)
    assert 0 <= scale(low) <= scale(high) <= 100


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (0, 0, (0, 0.2, 0.4, 0.6, 0.8, 1)),
        (0, 97, (0, 20, 40, 60, 80, 100)),
        (-3, 7, (-4, -2, 0, 2, 4, 6, 8)),
        (5, 5, (0, 1, 2, 3, 4, 5)),
        (0, 3e-9, (0, 5e-10, 1e-9, 1.5e-9, 2e-9, 2.5e-9, 3e-9)),
    ],
)
def test_ticks_are_round(low: float, high: float, values: tuple[float, ...]) -> None:
    assert find_ticks(low, high, most=7).values == pytest.approx(values)


@pytest.mark.parametrize("ends", [(math.nan, 1), (0, math.inf), (2, 1)])
def test_ticks_need_a_range(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="finite range"):
        find_ticks(*ends)


def test_a_scale_keeps_within_its_ends() -> None:
    scale = Scale(-1e308, 1e308, 0, 10)
    assert [scale(-math.inf), scale(0), scale(math.inf)] == [0, 5, 10]
    with pytest.raises(ValueError, match="larger"):
        Scale(1, 1, 0, 10)


def test_shades_grow_darker_steadily_and_text_stands_out() -> None:
    def grey(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    levels = [grey(shade(place / 50)) for place in range(51)]
    assert all(light - dark > 1 for light, dark in pairwise(levels))
    assert (contrast_ink(shade(0)), contrast_ink(shade(1))) == (INK, PAPER)
    assert (shade(-1), shade(2)) == (shade(0), shade(1))


@given(st.text(), st.text())
def test_any_text_gives_a_well_formed_drawing(one: str, other: str) -> None:
    canvas = Canvas(100, 50)
    with canvas.told(one):
        canvas.text(1, 2, other, halo=PAPER, turned=True)
    root = ElementTree.fromstring(canvas.svg(title=one, words=other).encode("utf-8"))
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) == 1


def test_hatching_stays_within_its_rectangle() -> None:
    canvas = Canvas(100, 50)
    canvas.hatch(10, 20, 30, 12, stroke=INK, crossed=True)
    path = ElementTree.fromstring(canvas.svg(title="t", words="w")).find("{http://www.w3.org/2000/svg}path")
    assert path is not None
    points = [part.split() for part in path.attrib["d"].replace("M", "|").replace("L", "|").split("|")[1:]]
    assert len(points) > 10
    assert all(10 <= float(x) <= 40 and 20 <= float(y) <= 32 for x, y in points)
