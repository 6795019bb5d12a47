"""What of a table a picture shows: panels of lines and columns, small enough to be read.

A table that is too large for one picture is shown by its largest published margin that is not; where none is small
enough, by the beginning of its cells. The words that say so belong to the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from discreet.present.crosstab import Stand, name_stand
from discreet.results import Figure, Release

__all__ = ["SUMMED", "ChartPanel", "PictureLimits", "View", "choose_view"]

SUMMED: Stand = (True, None)

Kept = tuple[int, ...]
"""The places of the keys that a margin keeps."""


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """How much one picture holds, and how many keys a panel shows: one down, or one down and one across."""

    keys: int
    panels: int
    lines: int
    columns: int
    figures: int


@dataclass(frozen=True, slots=True)
class _Axes:
    """Which keys tell panels apart, and which runs down and across within one."""

    outer: Kept
    down: int | None
    across: int | None


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """One panel: the codes its keys stand at, and its title, empty where it is the only one."""

    stands: Mapping[int, Stand]
    title: str


@dataclass(frozen=True)
class View:
    """What is shown: keys down and across (None for none), their codes, the panels, and why not everything."""

    release: Release
    kept: Kept
    axes: _Axes
    panels: Sequence[ChartPanel]
    lines: Sequence[Stand]
    columns: Sequence[Stand]
    entries: Mapping[tuple[Stand, ...], Figure]
    left_out: tuple[tuple[str, int, int], ...]

    def find(self, panel: ChartPanel, line: Stand, column: Stand) -> Figure | None:
        """The figure at a place of a panel; None where none is published."""
        stands = [SUMMED] * len(self.release.headings)
        for index, stand in panel.stands.items():
            stands[index] = stand
        for key, stand in ((self.axes.down, line), (self.axes.across, column)):
            if key is not None:
                stands[key] = stand
        return self.entries.get(tuple(stands))

    def name_line(self, line: Stand, language: str) -> str:
        return self._name(self.axes.down, line, language)

    def name_column(self, column: Stand, language: str) -> str:
        return self._name(self.axes.across, column, language)

    def shown(self) -> Iterator[Figure]:
        """Every figure in a panel, margins left aside."""
        for panel, line, column in product(self.panels, self.lines, self.columns):
            if (figure := self.find(panel, line, column)) is not None:
                yield figure

    def has_margin(self, *, lines: bool) -> bool:
        """Whether a margin that sums over the key down (or across) is published for any panel."""
        if (self.axes.down if lines else self.axes.across) is None:
            return False
        stands = ((SUMMED, item) for item in self.columns) if lines else ((item, SUMMED) for item in self.lines)
        return any(self.find(panel, *stand) is not None for stand in stands for panel in self.panels)

    def _name(self, key: int | None, stand: Stand, language: str) -> str:
        return "" if key is None else name_stand(self.release.headings[key], stand, language)


def choose_view(release: Release, limits: PictureLimits, language: str) -> View:
    """The largest published margin that fits, the cells before all; else the beginning of the cells."""
    orders = _list_codes(release)
    sizes = [len(order) for order in orders]
    everything = tuple(range(len(sizes)))
    published = {tuple(index for index in everything if index not in figure.over) for figure in release.margins}
    fitting = [kept for kept in sorted(published | {everything}) if _fits(kept, sizes, limits)]
    kept = max(fitting, key=lambda item: prod(sizes[index] for index in item)) if fitting else everything
    if everything in fitting:
        kept = everything
    axes = _find_axes(kept, sizes, limits)
    lines = [SUMMED] if axes.down is None else orders[axes.down]
    columns = [SUMMED] if axes.across is None else orders[axes.across]
    combinations = list(product(*(orders[index] for index in axes.outer)))
    each = min(len(lines), limits.lines) * min(len(columns), limits.columns)
    most = max(1, limits.figures // max(1, each))  # where no key is shown there is nothing in a panel
    cuts = (
        ("panels", min(limits.panels, most), len(combinations)),
        ("lines", limits.lines, len(lines)),
        ("columns", limits.columns, len(columns)),
    )
    return View(
        release=release,
        kept=kept,
        axes=axes,
        panels=[_name_panel(release, axes.outer, item, language) for item in combinations[: cuts[0][1]]],
        lines=lines[: limits.lines],
        columns=columns[: limits.columns],
        entries=_collect(release, kept),
        left_out=tuple((what, shown, of) for what, shown, of in cuts if shown < of),
    )


def _list_codes(release: Release) -> list[list[Stand]]:
    """The codes of every key in the order of the cells."""
    return [
        [(False, code) for code in dict.fromkeys(figure.codes[index] for figure in release.cells)]
        for index in range(len(release.headings))
    ]


def _find_axes(kept: Kept, sizes: Sequence[int], limits: PictureLimits) -> _Axes:
    if not kept:
        return _Axes((), None, None)
    if limits.keys == 1:
        return _Axes(kept[:-1], kept[-1], None)
    if len(kept) == 1:
        # A few codes stand in a row; many are read more easily down the page.
        return _Axes((), None, kept[0]) if sizes[kept[0]] <= 12 else _Axes((), kept[0], None)
    down, across = kept[-2:]
    if sizes[across] > limits.columns >= sizes[down]:
        down, across = across, down
    return _Axes(kept[:-2], down, across)


def _fits(kept: Kept, sizes: Sequence[int], limits: PictureLimits) -> bool:
    axes = _find_axes(kept, sizes, limits)
    return (
        prod(sizes[index] for index in axes.outer) <= limits.panels
        and (axes.down is None or sizes[axes.down] <= limits.lines)
        and (axes.across is None or sizes[axes.across] <= limits.columns)
        and prod(sizes[index] for index in kept) <= limits.figures
    )


def _collect(release: Release, kept: Kept) -> dict[tuple[Stand, ...], Figure]:
    """The figures of a margin and of all margins below it, by where they stand."""
    indices = range(len(release.headings))
    dropped = set(indices) - set(kept)
    return {
        tuple(SUMMED if index in figure.over else (False, figure.codes[index]) for index in indices): figure
        for figure in release.entries()
        if dropped <= set(figure.over)
    }


def _name_panel(release: Release, outer: Kept, stands: Sequence[Stand], language: str) -> ChartPanel:
    placed = dict(zip(outer, stands, strict=True))
    names = (name_stand(release.headings[index], stand, language) for index, stand in placed.items())
    return ChartPanel(placed, " · ".join(names))
