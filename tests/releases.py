"""Releases built by hand, without a workspace, a ledger or noise: figures of any shape, and tables by a rule."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, groupby, product
from typing import Any, Final

from discreet.guarantees.types import BootstrapDP, Guarantee, Neighbours, PureDP, Unit
from discreet.present.release_files import text_parts
from discreet.results import (
    Amount,
    Basis,
    Charged,
    Claim,
    Figure,
    Figures,
    Heading,
    KeyFace,
    Labels,
    Left,
    Margin,
    Marked,
    Number,
    Quality,
    Release,
    ReleaseKind,
    Settlement,
    Shown,
    Source,
    Statistic,
)
from discreet.results.notes import Coverage

__all__ = [
    "LEFT",
    "change_cells",
    "make_key",
    "make_margins",
    "make_release",
    "make_table",
    "put_figures",
    "put_step",
    "render_text",
]

Rule = Callable[[tuple[int, ...]], Number | None]

LEFT: Final = Left(Amount(Decimal("9.5")), Amount(Decimal("4.5")), Decimal("4.5"), 9)


def make_margins(figures: Iterable[Figure]) -> list[Margin]:
    """Figures as columns, those that sum over the same keys together; a column that holds nothing is None."""

    def column(run: Sequence[Figure], name: str) -> Any:
        values = [getattr(figure, name) for figure in run]
        return None if all(value is None for value in values) else values

    runs = [(over, list(run)) for over, run in groupby(figures, key=lambda figure: figure.over)]
    return [
        Margin(
            over=over,
            codes=tuple(map(list, zip(*(figure.codes for figure in run), strict=True))),
            values=[figure.value for figure in run],
            raw=[figure.raw for figure in run],
            low=column(run, "low"),
            high=column(run, "high"),
            quality=[figure.quality for figure in run],
            uncalibrated=column(run, "uncalibrated"),
        )
        for over, run in runs
    ]


def make_release(
    headings: Sequence[Heading],
    figures: Sequence[Figure],
    *,
    guarantee: Guarantee,
    title: Labels = Labels("A table", "Un tableau"),  # noqa: B008
    statistic: Labels = Labels("Count", "Effectif"),  # noqa: B008
    step: str | None = "1",
    **more: Any,
) -> Release:
    """A table of a survey, cells before margins; one with bootstrap's guarantee is marked and not charged."""
    drawn = isinstance(guarantee, BootstrapDP)
    settlement: Settlement = Charged(Amount(Decimal("0.5")), LEFT, replayed=False)
    if isinstance(guarantee, BootstrapDP):
        settlement = Marked(7, LEFT, replayed=False, nominal_epsilon=guarantee.epsilon)
    given: dict[str, Any] = {
        "kind": ReleaseKind.BOOTSTRAP if drawn else ReleaseKind.TABLE,
        "claim": Claim(
            guarantee,
            "cchs-2017",
            Unit("person_id", 1),
            Neighbours.REPLACE_ONE if drawn else Neighbours.ADD_REMOVE,
            neighbours_from="" if drawn else None,
        ),
        "settlement": settlement,
        "source": Source("survey", 1, {"survey": 1}, "a" * 64, "request-1", "2026-03-01T12:00:00+00:00"),
        "level": None if drawn else Decimal("0.95"),
        "notes": (Coverage("nothing" if drawn else "raw"),),
        "basis": Basis.NOTHING if drawn else Basis.NOISE,
        "asked": {"bootstrap_method": "i", "membership": None} if drawn else {},
    }
    made = Release(
        title=title, headings=tuple(headings), statistics=(Statistic("value", statistic, Figures(0, list)),),
        **{**given, **more},
    )  # fmt: skip
    return put_step(put_figures(made, cells=figures, margins=()), step)


def put_figures(
    release: Release, *, cells: Iterable[Figure] | None = None, margins: Iterable[Figure] | None = None
) -> Release:
    """The release with other cells, other margins, or both."""
    figures = [*(release.cells if cells is None else cells), *(release.margins if margins is None else margins)]
    columns = make_margins(figures)
    statistic = replace(release.statistic, figures=Figures(len(figures), lambda: columns))
    return replace(release, statistics=(statistic,))


def change_cells(release: Release, **fields: Any) -> Release:
    """The release with these fields in every cell."""
    return put_figures(release, cells=[figure._replace(**fields) for figure in release.cells])


def put_step(release: Release, step: str | None) -> Release:
    """The release on another step."""
    statistic = replace(release.statistic, step=step, whole=step is not None and "." not in step)
    return replace(release, statistics=(statistic,))


# --- tables by a rule -------------------------------------------------------------------------------------------------


def make_key(name: str, labels: Sequence[str] | int) -> Heading:
    """A key with labels, or so many plain numbers."""
    if isinstance(labels, int):
        return Heading(name, Labels(name, name), KeyFace(name, step=Fraction(1)))
    codes = tuple(f"{name}{place}" for place in range(len(labels)))
    return Heading(name, Labels(name, name), KeyFace(name, codes, tuple(Labels(one, f"{one} (fr)") for one in labels)))


def make_table(
    keys: dict[str, Sequence[str] | int],
    rule: Rule,
    *,
    half: float | None = 10,
    margins: Container[tuple[int, ...]] | None = None,
    quality: Quality = Quality.GOOD,
    guarantee: Guarantee | None = None,
    step: str | None = "1",
) -> Release:
    """Figures by their places; margins all, or those that keep the given keys; every interval as wide as `half`."""
    headings = tuple(make_key(name, labels) for name, labels in keys.items())
    sizes = [labels if isinstance(labels, int) else len(labels) for labels in keys.values()]
    codes: list[list[Shown]] = [
        list(heading.face.codes) or list(range(size)) for heading, size in zip(headings, sizes, strict=True)
    ]

    def make_figure(over: tuple[int, ...], shown: tuple[Shown, ...], value: Number | None) -> Figure:
        if value is None:
            return Figure(shown, over, None, None, None, None, Quality.SUPPRESSED)
        low, high = (None, None) if half is None else (value - half, value + half)
        return Figure(shown, over, value, value, low, high, quality)

    cells: list[Figure] = []
    sums: dict[tuple[tuple[int, ...], tuple[Shown, ...]], Number] = {}
    every = range(len(sizes))
    chosen = [kept for size in every for kept in combinations(every, size) if margins is None or kept in margins]
    for places in product(*map(range, sizes)):
        value = rule(places)
        cells.append(make_figure((), tuple(codes[key][place] for key, place in enumerate(places)), value))
        for kept in chosen:
            shown = tuple(codes[key][place] if key in kept else None for key, place in enumerate(places))
            sums[kept, shown] = sums.get((kept, shown), 0) + (value or 0)
    summed = [
        make_figure(tuple(key for key in every if key not in one), shown, value)
        for one in chosen
        for (kept, shown), value in sums.items()
        if kept == one
    ]
    promised = PureDP(epsilon="0.5") if guarantee is None else guarantee
    return make_release(headings, [*cells, *summed], guarantee=promised, step=step)


def render_text(release: Release, format: str, language: str) -> str:
    """A file of a release as one text."""
    return "".join(text_parts(release, format, language))
