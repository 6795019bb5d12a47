"""Set-size restriction: what concerns fewer than k people, or all but fewer than k, is not answered.

Refs: [DDS79] trackers: an answer that is refused follows from others that are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.catalogue import say
from discreet.guarantees import Unproven
from discreet.lab.today.holdings import Hidden, Holdings, Published, require_whole
from discreet.tables import keep_keys

__all__ = ["QueryService", "SetSizeRestriction", "track"]

_MOST_TRACKERS = 64


@dataclass(frozen=True, slots=True)
class SetSizeRestriction:
    """Figures and queries about fewer than `least` people, or more than all but `least`, are refused."""

    least: int = 5

    def __post_init__(self) -> None:
        require_whole(self.least, parameter="least", least=1)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: figures are exact or refused."""
        margins = holdings.layout.margins
        people = {margin: keep_keys(holdings.counts, margin) for margin in margins}
        most = holdings.people - self.least
        hidden = {margin: np.asarray((counts < self.least) | (counts > most)) for margin, counts in people.items()}
        return Published(
            method="set-size restriction",
            did=say(
                "Figures about fewer than {least} people, or more than all but {least}, are refused; the rest is "
                "exact.",
                least=self.least,
            ),
            parameters={"least": self.least},
            guarantee=Unproven("exact answers; refused ones follow from those that are given"),
            figures={margin: np.where(hidden[margin], 0, holdings.margin(margin)) for margin in margins},
            hidden=hidden,
            reach=dict.fromkeys(margins, 0.0),
            steady=True,
        )


@dataclass(frozen=True, slots=True, eq=False)
class QueryService:
    """Answers the figure of any set of cells, under the same restriction."""

    holdings: Holdings
    least: int

    def ask(self, cells: Hidden) -> int | None:
        """The exact figure, or None where the set is too small or too large."""
        people = int(self.holdings.counts[cells].sum())
        if not self.least <= people <= self.holdings.people - self.least:
            return None
        return int(self.holdings.figures[cells].sum())


def track(service: QueryService, cells: Hidden) -> int | None:
    """What the service refuses, from what it answers: figure(C) = figure(C or T) + figure(C or not T) − figure(all).

    T is any set for which both sides are answered, alone and joined with C; None where there is none.
    """
    direct = service.ask(cells)
    if direct is not None:
        return direct
    for tracker in _list_trackers(cells.shape):
        answers = [service.ask(part) for part in (cells | tracker, cells | ~tracker, tracker, ~tracker)]
        known = [answer for answer in answers if answer is not None]
        if len(known) == 4:
            return known[0] + known[1] - known[2] - known[3]
    return None


def _list_trackers(shape: tuple[int, ...]) -> Iterator[Hidden]:
    """The first cells of the table, about half of them first."""
    cells = int(np.prod(shape))
    for size in sorted(range(1, cells), key=lambda size: abs(2 * size - cells))[:_MOST_TRACKERS]:
        yield (np.arange(cells) < size).reshape(shape)
