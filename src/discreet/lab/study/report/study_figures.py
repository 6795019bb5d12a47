"""The figures of a study: estimates by group, error against ε, correlations and shapes, as SVG and PNG.

Every figure names its ε, its units, and that it was drawn from true data. Drawing keeps no state between figures, and
the same findings give the same files.
"""

from __future__ import annotations

import importlib.util
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import ExtraMissing
from discreet.files import staged_file, write_whole
from discreet.lab.study.findings.study_findings import Findings
from discreet.lab.study.worker import leave_with_parent
from discreet.present import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "SMALL_PRINT",
    "Drawing",
    "anchors",
    "chosen_epsilons",
    "draw_figures",
    "fill_bars",
    "format_axis",
    "format_log_axis",
    "leave_unlabelled",
    "new_figure",
    "require_drawing",
    "shorten",
    "slug",
    "tell_number",
    "title_axes",
    "write_drawings",
]

SMALL_PRINT: Final = "Study on true data – not a release"
_RESOLUTION: Final = 110
_FEWEST_EACH: Final = 4  # fewer are drawn sooner than a process has started
# Smaller files are not worth a second for each figure.
_QUICK: Final[dict[str, Any]] = {"pil_kwargs": {"compress_level": 2}}
_NAME: Final = re.compile(r' id="([^"]*)"')
_REFERENCE: Final = re.compile(r'(?:href="#|url\(#)([^")]+)')
_PREAMBLE: Final = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA: Final = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)

Progress = Callable[[str], None]
_HELPED: Final[list[Findings]] = []


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is written: its file name, what it shows in words, and how to draw it."""

    name: str
    words: str
    draw: Callable[[], Figure]


def draw_figures(findings: Findings, *, jobs: int = 1, progress: Progress | None = None) -> dict[str, Drawn]:
    """Draw and write every figure of a study into figures/; by name, in the order of the report.

    With more `jobs` other processes draw some of them, beginning with the last. A figure does not depend on where it
    was drawn.
    """
    drawings, folder = _list_drawings(findings), findings.folder / "figures"
    shares = min(jobs, max(1, len(drawings) // _FEWEST_EACH))
    if shares == 1:
        return write_drawings(drawings, folder, progress=progress)
    with _settings():  # what is missing is told here, not in another process
        folder.mkdir(exist_ok=True)
    with ProcessPoolExecutor(shares - 1, get_context("spawn"), initializer=_help, initargs=(findings,)) as pool:
        elsewhere = {drawing.name: pool.submit(_draw_again, drawing.name) for drawing in reversed(drawings)}
        own = (drawing for drawing in drawings if elsewhere[drawing.name].cancel())
        drawn = write_drawings(own, folder, progress=progress)
        return {name: drawn[name] if name in drawn else elsewhere[name].result() for name in reversed(elsewhere)}


def _help(findings: Findings) -> None:
    """Called once in another process that draws."""
    leave_with_parent()
    _HELPED.append(findings)


def _draw_again(name: str) -> Drawn:
    """In another process: the figure of that name."""
    (findings,) = _HELPED
    chosen = (drawing for drawing in _list_drawings(findings) if drawing.name == name)
    return write_drawings(chosen, findings.folder / "figures")[name]


def _list_drawings(findings: Findings) -> tuple[Drawing, ...]:
    from discreet.lab.study.report.estimate_figures import estimate_drawings
    from discreet.lab.study.report.quality_figures import quality_drawings
    from discreet.lab.study.report.sweep_figures import sweep_drawings

    return (*estimate_drawings(findings), *sweep_drawings(findings), *quality_drawings(findings))


def write_drawings(drawings: Iterable[Drawing], folder: Path, *, progress: Progress | None = None) -> dict[str, Drawn]:
    """Draw these and write each as SVG and PNG; ExtraMissing without the extra 'study'."""
    with _settings():
        folder.mkdir(exist_ok=True)
        drawn = {}
        for drawing in drawings:
            if progress is not None:
                progress(drawing.name)
            drawn[drawing.name] = _write(drawing, folder)
    return drawn


def chosen_epsilons(findings: Findings) -> tuple[float, ...]:
    """The ε at which correlations and shapes are shown: highest, middle and lowest."""
    every = findings.epsilons
    return tuple(dict.fromkeys((every[0], every[len(every) // 2], every[-1]))) if every else ()


def new_figure(width: float, height: float, title: str) -> Figure:
    """A figure with its title at the top left and the small print at the bottom right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.text(0.1 / width, 1 - 0.08 / height, title, ha="left", va="top", fontsize=10.5, fontweight="bold")
    figure.text(1 - 0.1 / width, 0.05 / height, SMALL_PRINT, ha="right", va="bottom", fontsize=6.5, color="#6b7280")
    return figure


def title_axes(axes: Any, title: str, *, pad: float) -> None:
    """The title at the left, and no axis labels: matplotlib would measure every tick to find a place for them."""
    axes.set_title(title, loc="left", y=1.0, pad=pad)
    leave_unlabelled(axes)


def leave_unlabelled(axes: Any) -> None:
    axes.xaxis.set_label_coords(0.5, 0.0)
    axes.yaxis.set_label_coords(0.0, 0.5)


def fill_bars(axes: Any, corners: Iterable[tuple[float, float, float, float]], colour: str) -> None:
    """Bars from left, bottom, right and top, as one thing to draw: matplotlib's own are as many as there are bars."""
    from matplotlib.collections import PolyCollection

    bars = [[(left, low), (right, low), (right, high), (left, high)] for left, low, right, high in corners]
    axes.add_collection(PolyCollection(bars, facecolors=colour, linewidths=0))
    axes.autoscale_view()


def shorten(text: str, most: int) -> str:
    """A label cut to a length, at a word where one ends near."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > most * 0.6 else cut).rstrip(" ,;:(") + "…"


def anchors(findings: Findings) -> dict[str, str]:
    """By name of each query, what its files and its place in the report are called: short, plain, all different."""
    found: dict[str, str] = {}
    for asked in (*findings.asked, *findings.hybrids):
        if asked.name in found:
            continue
        plain = name = slug(asked.name)
        number = 2
        while name in found.values():
            name, number = f"{plain}-{number}", number + 1
        found[asked.name] = name
    return found


def slug(text: str) -> str:
    """A file name from a query's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "figure"


def require_drawing() -> None:
    """ExtraMissing where figures cannot be drawn: to be asked before a long run, not after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ExtraMissing(needed_for="The report of a study", extra="study")


@contextmanager
def _settings() -> Iterator[None]:
    require_drawing()
    import matplotlib

    from discreet.lab.study.report.palette import SETTINGS

    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # What the font lacks is drawn as a box; the tables beside have the letter itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _write(drawing: Drawing, folder: Path) -> Drawn:
    import matplotlib

    figure = drawing.draw()
    text = io.BytesIO()
    # Names inside a file follow from its content and this salt, so that figures can stand side by side in one page.
    matplotlib.rcParams["svg.hashsalt"] = f"discreet {drawing.name}"
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    with staged_file(folder / f"{drawing.name}.png", durable=False) as file:
        figure.savefig(file, format="png", dpi=_RESOLUTION, metadata={"Software": None}, **_QUICK)
    written = text.getvalue().decode("utf-8")
    write_whole(folder / f"{drawing.name}.svg", written, durable=False)
    return Drawn(drawing.name, drawing.words, _slim(written))


def _slim(svg: str) -> str:
    """The drawing alone, without preamble, metadata and names that nothing refers to; fonts are the page's own."""
    text = _METADATA.sub("", _PREAMBLE.sub("", svg, count=1))
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    used = set(_REFERENCE.findall(text))
    text = _NAME.sub(lambda found: found.group(0) if found.group(1) in used else "", text)
    text = re.sub(r"'DejaVu Sans', ?", "", text)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def tell_number(value: float) -> str:
    """A number for an axis: thousands separated up to a million, then in millions."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:,.4g}M".replace("-", "−")
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", "−")
    # A small number in full: 1e-05 is not for everyone.
    return f"{Decimal(f'{value:.4g}'):f}".replace("-", "−")


def format_axis(axis: Any) -> None:
    """Ticks as people write numbers."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: tell_number(value)))


def format_log_axis(axis: Any) -> None:
    """Ticks at 1, 2 and 5 times a power of ten where the axis spans little more than one: never a single number."""
    from matplotlib.ticker import LogLocator

    low, high = sorted(axis.get_view_interval())
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    format_axis(axis)
