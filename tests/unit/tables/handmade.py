"""Tables of any shape, built by hand for pictures and pages: keys with given labels, figures by a rule."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from fractions import Fraction
from itertools import combinations, product

from discreet.data.columns import Labels
from discreet.guarantees.types import Guarantee, PureDP
from discreet.plan.statement import KeyFace
from discreet.tables.table import Entry, Heading, Number, Quality, Shown, Table

Rule = Callable[[tuple[int, ...]], Number | None]


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
) -> Table:
    """Figures by their places; margins all, or those that keep the given keys; every interval as wide as `half`."""
    headings = tuple(make_key(name, labels) for name, labels in keys.items())
    sizes = [labels if isinstance(labels, int) else len(labels) for labels in keys.values()]
    codes: list[list[Shown]] = [
        list(heading.face.codes) or list(range(size)) for heading, size in zip(headings, sizes, strict=True)
    ]

    def make_entry(over: tuple[int, ...], shown: tuple[Shown, ...], value: Number | None) -> Entry:
        if value is None:
            return Entry(shown, over, None, None, None, None, Quality.SUPPRESSED)
        low, high = (None, None) if half is None else (value - half, value + half)
        return Entry(shown, over, value, value, low, high, quality)

    cells: list[Entry] = []
    sums: dict[tuple[tuple[int, ...], tuple[Shown, ...]], Number] = {}
    every = range(len(sizes))
    chosen = [kept for size in every for kept in combinations(every, size) if margins is None or kept in margins]
    for places in product(*map(range, sizes)):
        value = rule(places)
        cells.append(make_entry((), tuple(codes[key][place] for key, place in enumerate(places)), value))
        for kept in chosen:
            shown = tuple(codes[key][place] if key in kept else None for key, place in enumerate(places))
            sums[kept, shown] = sums.get((kept, shown), 0) + (value or 0)
    summed = [
        make_entry(tuple(key for key in every if key not in kept), shown, value)
        for (kept, shown), value in sums.items()
    ]
    promised = PureDP(epsilon="0.5") if guarantee is None else guarantee
    return Table(
        dataset="survey",
        title=Labels("A table", "Un tableau"),
        statistic=Labels("Count", "Effectif"),
        headings=headings,
        cells=cells,
        margins=summed,
        step=step,
        level="0.95",
        guarantee=promised,
        quality_basis="privacy noise",
        release={"guarantee": str(promised), "unit": "person (at most 1 row each)", "neighbours": "add-remove"},
        notes=((Labels("What is promised", "Ce qui est promis"), Labels("A promise.", "Une promesse.")),),
    )
