"""Charts that between them hold every mark, axis and key: what one change of the renderer changes, these show."""

from __future__ import annotations

from discreet.present import (
    BandMark,
    BlockMarks,
    Chart,
    ChartKey,
    EndLabel,
    KeySample,
    LineMark,
    Look,
    MatrixMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    SpanMarks,
    log_axis,
    name_axis,
    number_axis,
    percent_axis,
    root_axis,
)

__all__ = ["CHARTS"]

_BLUE = Look("#0072b2")
_OPEN = Look("#d55e00", "up", filled=False, dashes="9 5")
_GREY = "#d5d8dc"


def _estimates() -> Chart:
    """Bars with intervals by name, on a plain and on a root axis; an interval that runs beyond its axis."""
    towns = name_axis(["Northern Lights and Southern Shores", "South & West", "<East>"])
    bars = BlockMarks((((0.0, -0.4), (900.0, 0.4)), ((0.0, 0.6), (300.0, 1.4)), ((0.0, 1.6), (20.0, 2.4))), _GREY)
    points = PointMarks(((880.0, -0.2), (310.0, 0.8)), _BLUE, told=("North: 880", "South: 310"))
    spans = SpanMarks((((700.0, 0.2), (1_400.0, 0.2)), ((-50.0, 1.2), (90.0, 1.2))), _OPEN.colour)
    panels = (
        PlotPanel(number_axis(0.0, 1_000.0), towns, (bars, points, spans), "ε = 1"),
        PlotPanel(root_axis(0.0, 1_000.0), towns, (bars, points), "ε = 0.5", bare=True),
    )
    legend = (
        ChartKey("true figure", Look(_GREY), KeySample.BLOCK),
        ChartKey("central", _BLUE, KeySample.WHISKER),
        ChartKey("no value", Look(_GREY), KeySample.HATCHED),
    )
    return Chart(
        "estimates", "Estimates by town", "Bars by town.", (PanelRow(panels, 120.0, "Models", legend),),
        subtitle="Weighted count", notes="Whiskers are intervals.", small_print="Not a release",
    )  # fmt: skip


def _errors() -> Chart:
    """Lines and a band on logarithmic axes, with names at their ends that would touch."""
    across = log_axis([0.5, 8.0], at=[(0.5, "0.5"), (1.0, "1"), (8.0, "8")], label="ε")
    marks = (
        BandMark(((0.5, 40.0), (8.0, 4.0), (8.0, 2.0), (0.5, 20.0)), _GREY),
        LineMark(((0.5, 200.0), (1.0, 90.0), (8.0, 9.0)), _BLUE.colour, 5.5),
        LineMark(((0.5, 210.0), (1.0, 95.0), (8.0, 9.5)), _OPEN.colour, 2.4, "2 5"),
        SpanMarks((((1.0, 60.0), (1.0, 0.0)),), _BLUE.colour),
        PointMarks(((0.5, 210.0), (1.0, 95.0)), _OPEN),
    )
    ends = (EndLabel((8.0, 9.0), "central", _BLUE), EndLabel((8.0, 9.5), "local", _OPEN))
    panel = PlotPanel(across, log_axis([2.0, 210.0]), marks, ends=ends)
    key = ChartKey("where the others lie", Look(_GREY, dashes="9 5"), KeySample.LINE)
    return Chart("errors", "Error against ε", "Lines fall as ε grows.", (PanelRow((panel,), 160.0),), legend=(key,))


def _quality() -> Chart:
    """A map with a negative and an absent value, and a histogram under a line of steps."""
    matrix = MatrixMark(((1.0, -0.4, None), (-0.4, 1.0, 0.05), (None, 0.05, 1.0)), ("age", "height", "town"))
    numbers = name_axis(["1", "2", "3"])
    bins = BlockMarks((((0.0, 0.0), (10.0, 0.3)), ((10.0, 0.0), (20.0, 0.7))), _GREY)
    steps = LineMark(((0.0, 0.4), (10.0, 0.4), (10.0, 0.6), (20.0, 0.6)), _OPEN.colour, 2.0, "9 5")
    shapes = [Look("#009e73", shape, filled) for shape in ("circle", "down", "square") for filled in (True, False)]
    shapes += [Look("#cc79a7", shape, filled) for shape in ("up", "diamond", "plus") for filled in (True, False)]
    panels = (
        PlotPanel(numbers, numbers, (matrix,), "original"),
        PlotPanel(number_axis(0.0, 20.0), percent_axis(0.75), (bins, steps), "age", (ChartKey("0.91", _OPEN),)),
    )
    keys = tuple(ChartKey(f"{look.shape} {look.filled}", look) for look in shapes)
    return Chart(
        "quality", "Quality at ε = 1", "A map and a histogram.", (PanelRow(panels, 150.0),), legend=keys,
        listed=("1  age", "2  height", "3  town"),
    )  # fmt: skip


CHARTS = (_estimates(), _errors(), _quality())
