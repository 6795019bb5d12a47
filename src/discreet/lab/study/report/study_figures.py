"""The figures of a study: estimates by group, error against ε, correlations and shapes.

Every figure names its ε, its units, and that it was drawn from true data. It is a chart first, which is data; then an
SVG, and on request a PNG. The same findings give the same files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.files import write_whole
from discreet.lab.study.findings.study_findings import Findings, Series
from discreet.present import Chart, Drawn, draw_chart, draw_png, picture_file, require_png

__all__ = ["SMALL_PRINT", "anchors", "chosen_epsilons", "draw_figures", "facet", "slug", "write_charts"]

SMALL_PRINT: Final = Phrase("Study on true data – not a release")
_MOST_SERIES: Final = 5

Progress = Callable[[str], None]


def draw_figures(findings: Findings, *, png: bool = False, progress: Progress | None = None) -> dict[str, Drawn]:
    """Draw and write every figure of a study into figures/; by name, in the order of the report."""
    return write_charts(_list_charts(findings), findings.folder / "figures", png=png, progress=progress)


def _list_charts(findings: Findings) -> Iterator[Chart]:
    from discreet.lab.study.report.estimate_figures import estimate_charts
    from discreet.lab.study.report.overview_figure import overview_chart
    from discreet.lab.study.report.quality_figures import quality_charts
    from discreet.lab.study.report.sweep_figures import sweep_charts

    if (overview := overview_chart(findings)) is not None:
        yield overview
    yield from estimate_charts(findings)
    yield from sweep_charts(findings)
    yield from quality_charts(findings)


def write_charts(
    charts: Iterable[Chart], folder: Path, *, png: bool = False, progress: Progress | None = None
) -> dict[str, Drawn]:
    """Draw these and write each as SVG, and as PNG where that is asked for (ExtraMissing, Refused without a font)."""
    if png:
        require_png()
    folder.mkdir(exist_ok=True)
    drawn = {}
    for chart in charts:
        if progress is not None:
            progress(chart.name)
        drawn[chart.name] = item = draw_chart(chart)
        write_whole(folder / f"{chart.name}.svg", picture_file(item), durable=False)
        if png:
            write_whole(folder / f"{chart.name}.png", draw_png(item), durable=False)
    return drawn


def chosen_epsilons(findings: Findings) -> tuple[float, ...]:
    """The ε at which correlations and shapes are shown: highest, middle and lowest."""
    every = findings.epsilons
    return tuple(dict.fromkeys((every[0], every[len(every) // 2], every[-1]))) if every else ()


def facet(series: Sequence[Series]) -> list[tuple[str, list[Series]]]:
    """Series in rows of panels, few in each: models first, recipes that are there to compare apart from them.

    Each row has its title, which says nothing where there is one row alone.
    """
    rows = []
    for title, its in (
        (say("Models"), [item for item in series if not item.compared_only]),
        (say("Recipes kept for comparison"), [item for item in series if item.compared_only]),
    ):
        parts = -(-len(its) // _MOST_SERIES)
        for part in range(parts):
            few = its[part * len(its) // parts : (part + 1) * len(its) // parts]
            several = say("{title}, {part} of {parts}", title=title, part=part + 1, parts=parts)
            rows.append((several if parts > 1 else title, few))
    return rows if len(rows) > 1 else [("", its) for _, its in rows]


def anchors(findings: Findings) -> dict[str, str]:
    """By name of each query, what its files and its place in the report are called: short, plain, all different."""
    result: dict[str, str] = {}
    for asked in (*findings.asked, *findings.hybrids):
        if asked.name in result:
            continue
        plain = name = slug(asked.name)
        number = 2
        while name in result.values():
            name, number = f"{plain}-{number}", number + 1
        result[asked.name] = name
    return result


def slug(text: str) -> str:
    """A file name from a query's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "figure"
