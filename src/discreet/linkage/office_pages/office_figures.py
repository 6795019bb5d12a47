"""Figures of offices' pages. Each has the same numbers in a table or facts beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from discreet.catalogue import say
from discreet.ledger import Balance
from discreet.linkage.office_pages.office_words import tell_amount, tell_kind, tell_percent
from discreet.linkage.offices.registry_status import AccountsView
from discreet.linkage.offices.researcher_status import LinkedPrice
from discreet.present import (
    SHAPES,
    BlockMarks,
    Chart,
    ChartAxis,
    ChartKey,
    Drawn,
    KeySample,
    LineMark,
    Look,
    PanelRow,
    PlotPanel,
    PointMarks,
    draw_chart,
    log_axis,
    name_axis,
)

__all__ = ["draw_accounts", "draw_budget", "draw_prices"]

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_BAR: Final = 0.34
_LINE: Final = 30.0
_TICKS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000)
_STEPS: Final = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 25.0, 50.0)
_MOST_STEPS: Final = 5


def draw_prices(prices: Sequence[LinkedPrice]) -> Drawn:
    """± of a number against how often one person can be counted at that price."""
    drawn = [price for price in prices if price.times]
    lines: dict[tuple[str, tuple[str, ...]], list[LinkedPrice]] = {}
    for price in drawn:
        lines.setdefault((price.kind.value, price.properties), []).append(price)
    kinds = [kind for kind, _ in lines]
    # Kinds that cost the same are one line.
    named: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for (kind, names), found in lines.items():
        places = tuple((float(price.times), float(price.half_width)) for price in found)
        name = tell_kind(kind) + ("" if kinds.count(kind) == 1 else f", {', '.join(names)}")
        named.setdefault(places, []).append(name)
    marks: list[LineMark | PointMarks] = []
    keys = []
    for number, (places, sorts) in enumerate(named.items()):
        look = Look(_COLOURS[number % len(_COLOURS)], SHAPES[number % len(SHAPES)])
        marks += [LineMark(places, look.colour), PointMarks(places, look)]
        keys.append(ChartKey(say("; ").join(sorts), look, KeySample.POINT))
    across = _log_axis([price.times for price in drawn])
    up = _log_axis([float(price.half_width) for price in drawn])
    title = say("The less noise, the fewer counts")
    sentence = say(
        "Half of the 95% interval of a number, against how often one person can be counted at that "
        "price, for each scale of the menu. Both grow with the scale: twice the noise, twice as many "
        "counts."
    )
    panel = PlotPanel(
        ChartAxis(across.low, across.high, across.ticks, across.kind, say("counts of one person")),
        up,
        tuple(marks),
        title="±",
    )
    return draw_chart(Chart("linked-prices", title, sentence, (PanelRow((panel,), 240.0, legend=tuple(keys)),)))


def _log_axis(values: Sequence[float]) -> ChartAxis:
    low, high = min(values, default=1), max(values, default=10)
    inside = [tick for tick in _TICKS if low <= tick <= high]
    if len(inside) < 2:
        inside = [low, high] if low < high else [low, low * 2]  # type: ignore[list-item]
    return log_axis(values, at=[(float(tick), tell_amount(tick)) for tick in inside])


def draw_budget(balance: Balance, reserved: Decimal) -> Drawn:
    """A population's ε: this study, everything else, what is left."""
    other = max(Decimal(0), balance.epsilon_spent - reserved)
    bars = [
        (say("this study"), float(reserved)),
        (say("everything else"), float(other)),
        (say("left"), float(balance.epsilon_remaining)),
    ]
    total = f"ε = {tell_amount(balance.epsilon_cap)}"
    sentence = say(
        "The population's budget of {total}: what this study reserved, what all else has spent, and what is left.",
        total=total,
    )
    title = say("The population's ε")
    return _draw_bars("linked-budget", title, sentence, bars, tell_amount)


def draw_accounts(name: str, title: str, bands: Sequence[str], view: AccountsView) -> Drawn:
    """How many units have used how much of their account."""
    units = max(view.units, 1)
    bars = [(band, 100 * count / units) for band, count in zip(bands, view.bands, strict=True)]
    nothing = tell_percent(view.bands[0] / units)
    sentence = say(
        "Share of the units by how much of their account is used, from nothing to all of it. {nothing} "
        "have used nothing, and {near} more than nine tenths.",
        nothing=nothing,
        near=tell_percent(view.near / units),
    )
    heading = say("How full accounts are: {title}", title=title)
    return _draw_bars(
        f"linked-accounts-{name}",
        heading,
        sentence,
        bars,
        lambda value, decimals: say("{percentage}%", percentage=tell_amount(value, decimals)),
    )


def _draw_bars(
    name: str, title: str, sentence: str, bars: Sequence[tuple[str, float]], tell: Callable[[float, int], str]
) -> Drawn:
    """A bar for each name, from 0."""
    most = max((value for _, value in bars), default=0.0) or 1.0
    step = next((step for step in _STEPS if most / step <= _MOST_STEPS), most)
    decimals = 0 if step == int(step) else 1 if 10 * step == int(10 * step) else 2
    ticks = tuple((place * step, tell(place * step, decimals)) for place in range(int(most / step) + 1))
    blocks = BlockMarks(
        tuple(((0.0, place - _BAR), (value, place + _BAR)) for place, (_, value) in enumerate(bars) if value > 0),
        _COLOURS[0],
    )
    panel = PlotPanel(
        ChartAxis(0.0, max(most, ticks[-1][0], step), ticks), name_axis([bar for bar, _ in bars]), (blocks,)
    )
    return draw_chart(Chart(name, title, sentence, (PanelRow((panel,), _LINE * len(bars)),)))
