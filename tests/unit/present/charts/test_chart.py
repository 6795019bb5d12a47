"""Charts: every mark where its axes put it, words that neither touch nor leave the drawing, and no two looks alike."""

from __future__ import annotations

import math
import re
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ExtraMissing, Refused
from discreet.present.charts import raster
from discreet.present.charts.chart import Chart, ChartKey, EndLabel, PanelRow, PlotPanel, draw_chart
from discreet.present.charts.chart_axes import AxisKind, ChartAxis, log_axis, name_axis, number_axis, percent_axis
from discreet.present.charts.chart_marks import SHAPES, BlockMarks, Look, MatrixMark, PanelMark, PointMarks, SpanMarks
from discreet.present.charts.drawing import diverge
from discreet.present.charts.pictures import picture_file
from tests.drawings import beyond_edges
from tests.golden.charts.examples import CHARTS
from tests.golden.charts.write import HERE

BLUE = Look("#0072b2")
PLAIN = ChartAxis(0.0, 10.0, ((0.0, "0"), (10.0, "10")))


def draw(*marks: PanelMark, across: ChartAxis = PLAIN, up: ChartAxis = PLAIN, ends: tuple[EndLabel, ...] = ()) -> str:
    panel = PlotPanel(across, up, marks, ends=ends)
    return draw_chart(Chart("chart", "Title", "words", (PanelRow((panel,), 100.0),))).svg


def circles(svg: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([^"]+)" cy="([^"]+)"', svg)]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: str(chart.name))
def test_charts_are_as_they_were(chart: Chart) -> None:
    """After a change that is meant: python -m tests.golden.charts.write."""
    drawn = picture_file(draw_chart(chart))
    assert drawn == (HERE / f"{chart.name}.svg").read_text(encoding="utf-8")
    assert list(beyond_edges(drawn)) == []


def test_points_lie_where_their_axes_put_them() -> None:
    (left, foot), (middle, halfway), (right, top) = circles(draw(PointMarks(((0, 0), (5, 5), (10, 10)), BLUE)))
    assert middle == pytest.approx((left + right) / 2, abs=0.01)
    assert halfway == pytest.approx((foot + top) / 2, abs=0.01)
    assert foot - top == pytest.approx(100)
    log = log_axis([1, 100])
    (_, low), (_, tenth), (_, high) = circles(draw(PointMarks(((1, 1), (1, 10), (1, 100)), BLUE), up=log))
    assert tenth == pytest.approx((low + high) / 2, abs=0.01)
    root = ChartAxis(0.0, 100.0, ((0.0, "0"),), AxisKind.ROOT)
    (zero, _), (quarter, _), (whole, _) = circles(draw(PointMarks(((0, 0), (25, 0), (100, 0)), BLUE), across=root))
    assert quarter == pytest.approx((zero + whole) / 2, abs=0.01)
    (_, first), (_, second) = circles(draw(PointMarks(((0, 0), (0, 1)), BLUE), up=name_axis(["a", "b"])))
    assert second - first == pytest.approx(50)


def test_a_span_beyond_its_axis_ends_in_an_arrow() -> None:
    assert "<polygon" not in draw(SpanMarks((((1, 1), (9, 1)),), BLUE.colour))
    assert draw(SpanMarks((((-1, 1), (11, 1)),), BLUE.colour)).count("<polygon") == 2
    assert draw(SpanMarks((((1, 0), (1, 5)),), BLUE.colour), up=log_axis([1, 10])).count("<polygon") == 1


def test_a_bar_reaches_from_corner_to_corner() -> None:
    svg = draw(BlockMarks((((0, 0), (5, 10)),), "#d5d8dc"))
    (height,) = re.findall(r'height="([^"]+)" fill="#d5d8dc"', svg)
    assert float(height) == pytest.approx(100)


def test_negative_values_are_marked_and_absent_ones_hatched() -> None:
    names = name_axis(["1", "2"])
    matrix = MatrixMark(((1.0, -0.5), (-0.5, None)), ("a", "<b>"))
    svg = draw(matrix, across=names, up=names)
    assert svg.count(f'fill="{diverge(-0.5)}"') == 2
    assert "a, &lt;b&gt;: −0.50" in svg
    assert svg.count('stroke-width="1.6"') == 2
    assert "<path" in svg
    assert "<path" not in draw(MatrixMark(((1.2,),), ("a",)), across=name_axis(["1"]), up=name_axis(["1"]))
    assert diverge(2) == diverge(1) != diverge(-1)


def test_names_of_lines_stand_apart_and_on_the_plot() -> None:
    ends = tuple(EndLabel((10, value), f"line {value}", BLUE) for value in (9.9, 10.0, 9.8, 0.0))
    root = ElementTree.fromstring(draw(ends=ends).encode())
    found = [(float(one.attrib["y"]), one.text) for one in root.iter("{http://www.w3.org/2000/svg}text")]
    names = sorted((y, text) for y, text in found if text and text.startswith("line"))
    assert [text for _, text in names] == ["line 10.0", "line 9.9", "line 9.8", "line 0.0"]
    assert all(below - above > 17 for (above, _), (below, _) in pairwise(names))


def test_labels_that_would_touch_are_left_out() -> None:
    crowded = ChartAxis(0.0, 10.0, tuple((place / 10, f"{place:,}000") for place in range(100)))
    root = ElementTree.fromstring(draw(across=crowded).encode())
    labels = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert 2 <= sum(label.endswith("000") for label in labels) < 20


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0.15, 350_000), ["0.1", "10", "1,000", "100,000"]),
        ((300, 60_000), ["1,000", "10,000"]),
        ((0.03, 0.2), ["0.05", "0.1", "0.2"]),
        ((101, 120), ["100", "120"]),
        ((), ["1", "2", "5", "10"]),
    ],
)
def test_logarithmic_axes_have_round_numbers_and_never_one(values: tuple[float, ...], labels: list[str]) -> None:
    told = [label for _, label in log_axis(values).ticks]
    assert len(told) > 1
    assert set(labels) <= set(told)


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=4))
def test_a_logarithmic_axis_holds_its_values(values: list[float]) -> None:
    axis = log_axis(values)
    assert axis.low < min(values) <= max(values) < axis.high
    assert len(axis.ticks) > 1
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks)


def test_number_axes_keep_their_ends_where_two_round_numbers_lie_between() -> None:
    assert (number_axis(1.53, 1.78).low, number_axis(1.53, 1.78).high) == (1.53, 1.78)
    assert [label for _, label in number_axis(1.53, 1.78).ticks] == ["1.6", "1.7"]
    assert [label for _, label in percent_axis(0.37).ticks] == ["0%", "10%", "20%", "30%"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: PointMarks(((math.nan, 0),), BLUE),
        lambda: PointMarks(((0, 0),), BLUE, told=("one", "two")),
        lambda: SpanMarks((((0, 0), (0, math.inf)),), "#000000"),
        lambda: MatrixMark(((math.nan,),), ("a",)),
        lambda: MatrixMark(((1.0, 0.0),), ("a",)),
        lambda: ChartAxis(1.0, 1.0, ()),
        lambda: ChartAxis(0.0, 1.0, (), AxisKind.LOG),
        lambda: Chart("n", "t", "w", ()),
    ],
)
def test_what_cannot_be_drawn_is_refused_when_it_is_made(make: object) -> None:
    with pytest.raises(ValueError, match=r"a mark|of all points|a matrix|an axis|a logarithmic|a chart"):
        make()  # type: ignore[operator]


@given(st.text(max_size=60), st.lists(st.text(max_size=40), min_size=1, max_size=12), st.booleans())
@settings(max_examples=40)
def test_words_stay_on_the_drawing_whatever_they_are(title: str, names: list[str], bare: bool) -> None:
    looks = [Look("#009e73", SHAPES[place % 6], place % 2 == 0) for place in range(len(names))]
    keys = tuple(ChartKey(name, look) for name, look in zip(names, looks, strict=True))
    ends = tuple(EndLabel((10.0, 5.0), name, BLUE) for name in names[:3])
    panel = PlotPanel(PLAIN, name_axis(names), (), title, keys[:2], ends, bare)
    row = PanelRow((panel, panel), 30.0 * len(names), title, keys)
    drawn = draw_chart(Chart("n", title, title, (row,), title, keys, tuple(names), title, "small print"))
    assert list(beyond_edges(drawn.svg)) == []


# --- PNG --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("a_font")
def test_a_png_is_twice_as_large_and_the_same_each_time() -> None:
    drawn = draw_chart(CHARTS[1])
    png = raster.draw_png(drawn)
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == 1280
    assert raster.draw_png(drawn) == png


@pytest.mark.usefixtures("a_font")
def test_a_pdf_has_lines_and_letters() -> None:
    pdf = raster.draw_pdf(draw_chart(CHARTS[1]))
    assert pdf.startswith(b"%PDF-")
    assert b"/FontFile" in pdf
    assert b"/Subtype /Image" not in pdf
    assert b"/Subtype/Image" not in pdf


def test_without_its_extra_or_a_font_no_png_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    import resvg_py

    raster._png_face.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
        with pytest.raises(Refused, match="needs a font, and none was found"):
            raster.require_png()
    with monkeypatch.context() as patch:
        patch.setitem(__import__("sys").modules, "resvg_py", None)
        with pytest.raises(ExtraMissing, match=r"discreet\[png\]"):
            raster.require_png()


def test_without_its_extra_or_a_font_no_pdf_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    import svg2pdf_py

    raster._pdf_face.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(svg2pdf_py, "FontDatabase", lambda: SimpleNamespace(load_system_fonts=lambda: None))
        patch.setattr(svg2pdf_py, "svg_to_pdf", lambda svg, _: b"%PDF")
        with pytest.raises(Refused, match="needs a font, and none was found"):
            raster.require_pdf()
    with monkeypatch.context() as patch:
        patch.setitem(__import__("sys").modules, "svg2pdf_py", None)
        with pytest.raises(ExtraMissing, match=r"discreet\[pdf\]"):
            raster.require_pdf()
