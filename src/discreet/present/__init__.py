"""The one voice: a `Release` in every format, its facts in words, its figures as pictures, in English and French.

`save` and `text_parts` write files; `draw_heat_map` and its like draw; `say_…` gives sentences. Nothing here decides
what is released, and nothing here reads a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.present.charts.bar_chart import draw_bars
    from discreet.present.charts.chart import (
        Chart,
        ChartKey,
        EndLabel,
        KeySample,
        PanelRow,
        PlotPanel,
        draw_chart,
    )
    from discreet.present.charts.chart_axes import (
        ChartAxis,
        log_axis,
        name_axis,
        number_axis,
        percent_axis,
        root_axis,
    )
    from discreet.present.charts.chart_marks import (
        SHAPES,
        BandMark,
        BlockMarks,
        LineMark,
        Look,
        MatrixMark,
        PanelMark,
        PointMarks,
        SpanMarks,
    )
    from discreet.present.charts.curves import Curve, CurvePanel, MarkedPlace, draw_curves
    from discreet.present.charts.densities import draw_densities, laplace_density
    from discreet.present.charts.drawing import diverge
    from discreet.present.charts.heat_map import draw_heat_map
    from discreet.present.charts.lettering import borne_decimals, screen_width, tell_number
    from discreet.present.charts.pictures import check_picture, picture_file, plot, write_picture
    from discreet.present.charts.raster import draw_pdf, draw_png, require_pdf, require_png
    from discreet.present.formats.arrow import to_arrow, to_pandas, to_polars
    from discreet.present.formats.html import fragment
    from discreet.present.formats.json import (
        about_collection,
        charge_fields,
        describe,
        facts,
        fields,
        warnings,
        write_parts,
    )
    from discreet.present.messages import CAPPED, ESTIMATORS, cover_of, say_accuracy, say_message, say_strategy
    from discreet.present.note_list import list_messages
    from discreet.present.notebook_list import Listed, ListedBudget
    from discreet.present.pages.csv_text import csv_columns, csv_text
    from discreet.present.pages.html_page import Drawn, show_figure, write_page
    from discreet.present.pages.markup import Markup, bullets, element, join, table
    from discreet.present.release_files import FORMATS, check_output, file_parts, infer_format, save, text_parts
    from discreet.present.table_words import Writing
    from discreet.present.words import (
        STORED,
        say_basis,
        say_left,
        say_neighbours,
        say_replay,
        say_unit,
        tell_calibration,
        tell_charge,
        tell_guarantee,
    )
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "CAPPED",
    "ESTIMATORS",
    "FORMATS",
    "SHAPES",
    "STORED",
    "BandMark",
    "BlockMarks",
    "Chart",
    "ChartAxis",
    "ChartKey",
    "Curve",
    "CurvePanel",
    "Drawn",
    "EndLabel",
    "KeySample",
    "LineMark",
    "Listed",
    "ListedBudget",
    "Look",
    "MarkedPlace",
    "Markup",
    "MatrixMark",
    "PanelMark",
    "PanelRow",
    "PlotPanel",
    "PointMarks",
    "SpanMarks",
    "Writing",
    "about_collection",
    "borne_decimals",
    "bullets",
    "charge_fields",
    "check_output",
    "check_picture",
    "cover_of",
    "csv_columns",
    "csv_text",
    "describe",
    "diverge",
    "draw_bars",
    "draw_chart",
    "draw_curves",
    "draw_densities",
    "draw_heat_map",
    "draw_pdf",
    "draw_png",
    "element",
    "facts",
    "fields",
    "file_parts",
    "fragment",
    "infer_format",
    "join",
    "laplace_density",
    "list_messages",
    "log_axis",
    "name_axis",
    "number_axis",
    "percent_axis",
    "picture_file",
    "plot",
    "require_pdf",
    "require_png",
    "root_axis",
    "save",
    "say_accuracy",
    "say_basis",
    "say_left",
    "say_message",
    "say_neighbours",
    "say_replay",
    "say_strategy",
    "say_unit",
    "screen_width",
    "show_figure",
    "table",
    "tell_calibration",
    "tell_charge",
    "tell_guarantee",
    "tell_number",
    "text_parts",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "warnings",
    "write_page",
    "write_parts",
    "write_picture",
]
