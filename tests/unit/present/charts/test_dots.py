"""Dot plots: every mark has its place, what is not above 0 stands at the foot, and wrong figures are refused."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from discreet.present.charts.dots import DotMark, DotPanel, DotSeries, draw_dots
from discreet.present.pages.html_page import Drawn


def draw(*series: DotSeries, references: tuple[float | None, ...] = ()) -> Drawn:
    return draw_dots(
        name="errors",
        words="what is shown",
        title="Errors & more",
        unit="metres",
        columns=[("0", "AVG(a)"), ("1", "SUM(b)")],
        groups=[("one", 1), ("two", 1)],
        panels=[DotPanel("ε = 1", tuple(series), references)],
        reference_words="exact" if references else "",
    )


def circles(drawn: Drawn) -> list[float]:
    return [float(y) for y in re.findall(r'<circle cx="[^"]+" cy="([^"]+)"', drawn.svg)]


def test_a_power_of_ten_is_a_step_of_the_axis() -> None:
    drawn = draw(DotSeries("public", (DotMark(1, 1, 1), DotMark(100, 100, 100))))
    _legend, low, high = circles(drawn)
    assert low - high == pytest.approx(250)
    assert all(told in drawn.svg for told in (">1<", ">10<", ">100<", "0 AVG(a)", "ε = 1", "Errors &amp; more"))
    ElementTree.fromstring(drawn.svg)


def test_what_is_not_above_zero_stands_at_the_foot() -> None:
    drawn = draw(DotSeries("public", (DotMark(-3, -5, 0), DotMark(10, 1, 10))))
    _legend, foot, top = circles(drawn)
    assert foot - top == pytest.approx(250)


def test_series_differ_in_shape_and_colour_and_are_told_when_pointed_at() -> None:
    drawn = draw(
        DotSeries("public", (DotMark(1, 0.5, 2), None), "#0072b2"),
        DotSeries("local", (None, DotMark(3, 1, 4)), "#d55e00"),
        references=(1.5, None),
    )
    assert "<title>local: 3 (1 to 4)</title>" in drawn.svg
    assert len(circles(drawn)) == 2
    assert drawn.svg.count('fill="#d55e00"') == 2
    assert ">exact<" in drawn.svg


def test_a_panel_without_marks_is_drawn() -> None:
    ElementTree.fromstring(draw(DotSeries("public", (None, None))).svg)


@pytest.mark.parametrize("ends", [(1.0, 2.0, 1.0), (float("nan"), 0.0, 1.0), (1.0, 0.0, float("inf"))])
def test_marks_are_finite_and_rise(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="finite ends"):
        DotMark(*ends)


def test_every_column_is_in_a_group() -> None:
    with pytest.raises(ValueError, match="in a group"):
        draw_dots(name="n", words="w", title="t", unit="u", columns=[("0", "a")], groups=[], panels=[DotPanel("p", ())])
