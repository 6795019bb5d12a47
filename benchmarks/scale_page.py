"""The tables and the figure of what was measured at scale: docs/benchmarks.md, docs/scale.md, pictures/scale.svg."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.page import PAGE, describe_machine, table, write_block
from benchmarks.scale_cases import CASES, IN_PLACE, MATERIALISED, PREPARED, limit_of
from benchmarks.scale_figures import AFTER, BEFORE, Measured, ScaleFigure
from discreet.present import (
    Chart,
    ChartKey,
    KeySample,
    LineMark,
    Look,
    PanelMark,
    PanelRow,
    PlotPanel,
    PointMarks,
    draw_chart,
    log_axis,
    number_axis,
)

__all__ = ["SCALE_PAGE", "TUMULT", "write_pages"]

SCALE_PAGE: Final = PAGE.with_name("scale.md")
TUMULT: Final = "Tumult Analytics"
ENGINES: Final = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "spark": "Spark"}
_WAYS: Final = (PREPARED, MATERIALISED, IN_PLACE, TUMULT)
_ORDER: Final = [case.title for case in CASES]
_BY_TITLE: Final = {case.title: case for case in CASES}
_LOOKS: Final = {
    "duckdb": Look("#0072b2", "circle"),
    "postgres": Look("#d55e00", "square"),
    "spark": Look("#007a5e", "up"),
}
_DRAWN: Final = _ORDER[0]
_HIGH: Final = 260.0
PLANNED_ROWS: Final = 10**9
CORES: Final = 2
BUSIEST: Final = 1_000 * 20 / (8 * 3600) * 3
"""New questions a second: 1,000 analysts, 20 each in eight hours, three times as many as usual in the busiest one."""


def write_pages(states: Mapping[str, Measured], *, page: Path = PAGE, scale_page: Path = SCALE_PAGE) -> None:
    """Every table that the figures allow; the figure where curves have two points."""
    write_block(page, "scale", [*_ratios(states), "", *_peers(states)])
    today = states.get(AFTER) or states.get(BEFORE) or Measured()
    write_block(scale_page, "scale curves", _curves(today))
    write_block(scale_page, "scale adding", _adding(today))
    write_block(scale_page, "scale plan", _plan(today))
    if any(len(points) > 1 for points in _lines(today).values()):
        pictures = scale_page.parent / "pictures"
        pictures.mkdir(exist_ok=True)
        (pictures / "scale.svg").write_text(draw_chart(_chart(today)).svg, encoding="utf-8")


# --- tables -----------------------------------------------------------------------------------------------------------


def _ratios(states: Mapping[str, Measured]) -> list[str]:
    """A line for each question, engine, number of rows and way; before and after beside each other."""
    before, after = (states.get(state, Measured()).figures for state in (BEFORE, AFTER))
    lines = []
    for key in sorted({*before, *after}, key=_place):
        engine, rows, title, way = key
        if way == TUMULT:
            continue
        limit = limit_of(engine, way, _BY_TITLE[title]) if rows >= 10_000_000 else None
        lines.append(
            [
                f"{ENGINES[engine]}: {title}",
                f"{rows:,}",
                way,
                *_shown(before.get(key), bold=False),
                *_shown(after.get(key), bold=True),
                "" if limit is None else f"{limit:.1f}×",
            ]
        )
    head = [
        "question",
        "rows",
        "way",
        "plain then (s)",
        "before (s)",
        "ratio",
        "plain (s)",
        "today (s)",
        "ratio",
        "at most",
    ]
    return [
        "Medians of rounds taken in turn, after one that is not counted; noise, charge and stored answer are included.",
        f"Before is commit {_commits(before.values())}, today {_commits(after.values())}.",
        describe_machine(),
        "",
        *table(head, lines),
    ]


def _peers(states: Mapping[str, Measured]) -> list[str]:
    """The plain statement, Discreet and Tumult Analytics on the same rows."""
    figures = (states.get(AFTER) or states.get(BEFORE) or Measured()).figures
    lines = []
    for engine, rows, title, way in sorted(figures, key=_place):
        if way != TUMULT:
            continue
        for other in (MATERIALISED, IN_PLACE, TUMULT):
            if (found := figures.get((engine, rows, title, other))) is not None:
                plain, seconds, ratio = _shown(found, bold=False)
                lines.append([title, f"{rows:,}", other, plain, seconds, ratio, str(found.rounds or "")])
    if not lines:
        return ["Tumult Analytics was not measured."]
    return table(["question", "rows", "by", "plain Spark (s)", "seconds", "ratio", "rounds"], lines)


def _curves(measured: Measured) -> list[str]:
    """Seconds and ratio by number of rows, the most rows to the right."""
    figures = measured.figures
    lines = []
    for engine in ENGINES:
        sizes = sorted({rows for name, rows, _, _ in figures if name == engine})
        for title in _ORDER:
            for way in _WAYS[:3]:
                known = [figures.get((engine, rows, title, way)) for rows in sizes]
                found = [figure for figure in known if figure is not None and not figure.missing]
                if not found:
                    continue
                cells = "; ".join(
                    f"{_millions(item.rows)}: {item.plain:.2f} → {item.seconds:.2f} s, {item.ratio:.2f}×"
                    for item in found
                )
                lines.append([f"{ENGINES[engine]}, {way}: {title}", cells, _growth(found)])
    head = ["question", "rows: plain → Discreet, ratio", "growth, plain and Discreet"]
    return table(head, lines) if lines else ["Nothing was measured."]


def _growth(found: Sequence[ScaleFigure]) -> str:
    """From the least to the most rows."""
    first, last = found[0], found[-1]
    return f"{last.plain / first.plain:.1f}×, {last.seconds / first.seconds:.1f}×" if len(found) > 1 else ""


def _adding(measured: Measured) -> list[str]:
    lines = [
        [
            f"{ENGINES[item.engine]}, {item.way}: {item.dataset}",
            f"{item.rows:,}",
            f"{item.seconds:.0f}",
            f"{item.rows / item.seconds / 1e6:.2f}",
            f"{item.bytes_written / item.rows:.1f}" if item.bytes_written else "none",
            f"{item.peak_mb:,.0f}" if item.peak_mb else "",
        ]
        for _, item in sorted(measured.added.items())
    ]
    head = ["dataset", "rows", "seconds", "million rows a second", "bytes a row", "MB, at most"]
    return table(head, lines) if lines else ["Nothing was measured."]


def _plan(measured: Measured) -> list[str]:
    """What 10^9 rows need, in proportion to the most rows that were measured; every question as often as the others."""
    lines = []
    for (engine, way), found in _largest(measured).items():
        rows = found[0].rows
        core_seconds = PLANNED_ROWS / rows * CORES * sum(item.seconds for item in found) / len(found)
        added = [item for item in measured.added.values() if (item.engine, item.way) == (engine, way)]
        stored = max((item.bytes_written / item.rows for item in added), default=0)
        lines.append(
            [
                f"{ENGINES[engine]}, {way}",
                _millions(rows),
                str(len(found)),
                f"{PLANNED_ROWS / core_seconds / 1e6:.2f}",
                f"{core_seconds:,.0f}",
                f"{core_seconds * BUSIEST:,.0f}",
                f"{max(item.peak_mb for item in found):,.0f}",
                f"{stored:.0f}" if stored else "none",
            ]
        )
    head = [
        "engine and way",
        "measured at",
        "questions",
        "million rows a second, one core",
        "core-seconds a question",
        "cores in the busiest hour",
        "MB, at most",
        "GB prepared",
    ]
    return table(head, lines) if lines else ["Nothing was measured."]


def _largest(measured: Measured) -> dict[tuple[str, str], list[ScaleFigure]]:
    """The figures at the most rows of every engine and way."""
    found: dict[tuple[str, str], list[ScaleFigure]] = {}
    for _, figure in sorted(measured.figures.items(), key=lambda item: _place(item[0])):
        if figure.missing or figure.way == TUMULT:
            continue
        others = found.setdefault((figure.engine, figure.way), [])
        if others and others[0].rows < figure.rows:
            others.clear()
        if not others or others[0].rows == figure.rows:
            others.append(figure)
    return found


def _shown(figure: ScaleFigure | None, *, bold: bool) -> list[str]:
    if figure is None:
        return ["", "", ""]
    if figure.missing:
        return ["", figure.missing, ""]
    ratio = f"{figure.ratio:.2f}×"
    return [f"{figure.plain:.3f}", f"{figure.seconds:.3f}", f"**{ratio}**" if bold else ratio]


def _place(key: tuple[str, int, str, str]) -> tuple[int, int, int, int]:
    engine, rows, title, way = key
    return list(ENGINES).index(engine), _ORDER.index(title), rows, _WAYS.index(way)


def _commits(figures: Iterable[ScaleFigure]) -> str:
    found = sorted({figure.commit for figure in figures if figure.commit})
    return ", ".join(found) or "not measured"


def _millions(rows: int) -> str:
    return f"{rows // 1_000_000}M" if rows >= 1_000_000 else f"{rows:,}"


# --- the figure -------------------------------------------------------------------------------------------------------


def _lines(measured: Measured) -> dict[str, list[ScaleFigure]]:
    """For each engine the figures of the first question, by its best way."""
    found = {}
    for engine in ENGINES:
        for way in (PREPARED, MATERIALISED, IN_PLACE):
            points = [
                figure
                for (name, _, title, by), figure in sorted(measured.figures.items())
                if (name, title, by) == (engine, _DRAWN, way) and not figure.missing
            ]
            if points:
                found[engine] = points
                break
    return found


def _chart(measured: Measured) -> Chart:
    lines = _lines(measured)
    sizes = sorted({item.rows for points in lines.values() for item in points})
    across = log_axis(sizes, at=[(size, _millions(size)) for size in sizes], label="Rows")
    seconds = [value for points in lines.values() for item in points for value in (item.plain, item.seconds)]
    top = max(item.ratio for points in lines.values() for item in points)
    times: list[PanelMark] = []
    ratios: list[PanelMark] = []
    keys: list[ChartKey] = []
    for engine, points in lines.items():
        look = _LOOKS[engine]
        plain = Look(look.colour, look.shape, filled=False, dashes="9 5")
        ours = tuple((float(item.rows), item.seconds) for item in points)
        theirs = tuple((float(item.rows), item.plain) for item in points)
        told = tuple((float(item.rows), item.ratio) for item in points)
        times += [LineMark(ours, look.colour), PointMarks(ours, look)]
        times += [LineMark(theirs, look.colour, 2.0, plain.dashes), PointMarks(theirs, plain)]
        ratios += [LineMark(told, look.colour), PointMarks(told, look)]
        keys.append(ChartKey(f"{ENGINES[engine]}, {points[0].way}", look, KeySample.WHISKER))
    keys.append(ChartKey("plain, in the same colour", Look("#6b7280", filled=False, dashes="9 5"), KeySample.LINE))
    panels = (
        PlotPanel(across, log_axis(seconds), tuple(times), "Seconds"),
        PlotPanel(across, number_axis(0.0, max(1.5, 1.1 * top)), tuple(ratios), "Ratio to plain"),
    )
    words = "; ".join(
        f"{ENGINES[engine]}: " + ", ".join(f"{_millions(item.rows)} rows {item.seconds:.2f} s" for item in points)
        for engine, points in lines.items()
    )
    return Chart(
        "scale",
        "COUNT, SUM and AVG by 13 keys, by number of rows",
        f"Seconds and the ratio to the plain statement against the number of rows. {words}.",
        (PanelRow(panels, _HIGH),),
        legend=tuple(keys),
    )
