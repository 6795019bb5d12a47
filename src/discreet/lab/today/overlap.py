"""Overlap control: a query about few people, or about too many whom an earlier query named already, is not answered.

The service knows each user's earlier queries by the people in them. Cells share nobody, so a table loses its margins.

Refs: [DJL79]: with sets of at least k people of whom any two share at most r, 1 + (k − 1)/r queries are
needed to find one person; 2k − 1 are enough where k(k − 1) other people can be named.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.catalogue import say
from discreet.guarantees import Unproven
from discreet.lab.today.differencing import OutsiderVerdict, conclude, deduce
from discreet.lab.today.holdings import Figures, HeldPerson, Hidden, Holdings, Integers, Published, require_whole
from discreet.tables import Margin, keep_keys

__all__ = ["OverlapControl", "OverlapService"]


@dataclass(frozen=True, slots=True)
class OverlapControl:
    """Sets of fewer than `least` people, or with more than `overlap` of an earlier set, are refused.

    Figures are asked for in the order of the layout, the cells first.
    """

    least: int = 5
    overlap: int = 1

    def __post_init__(self) -> None:
        require_whole(self.least, parameter="least", least=1)
        require_whole(self.overlap, parameter="overlap", least=0)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: figures are exact or refused."""
        margins = sorted(holdings.layout.margins, key=len, reverse=True)
        answered: dict[Margin, Hidden] = {}
        for margin in margins:
            given = keep_keys(holdings.counts, margin) >= self.least
            for earlier, text in answered.items():
                given &= _most_shared(holdings, margin, earlier, text) <= self.overlap
            answered[margin] = np.asarray(given)
        return Published(
            method="overlap control",
            did=say(
                "Figures about fewer than {least} people, or about more than {overlap} of the people of an earlier "
                "figure, are refused; cells are asked for before margins, and what is answered is exact.",
                least=self.least,
                overlap=self.overlap,
            ),
            parameters={"least": self.least, "overlap": self.overlap},
            guarantee=Unproven("exact answers; sets that overlap little enough still give one person away"),
            figures={margin: np.where(answered[margin], holdings.margin(margin), 0) for margin in margins},
            hidden={margin: ~answered[margin] for margin in margins},
            reach=dict.fromkeys(margins, 0.0),
            steady=True,
        )

    def attack(
        self, holdings: Holdings, person: HeldPerson, *, target: int, common: Figures, rng: np.random.Generator
    ) -> OutsiderVerdict:
        """One user's grid of queries; where too few people can be named, the two tables under two users' names."""
        found = self._cross(holdings, person, target=target, rng=rng)
        if found is not None and found.sum() == 1:
            return conclude(found, np.zeros(found.size), common, person.cell[target])
        first, second = self.apply(holdings), self.apply(holdings.without(person))
        return deduce(first, second, person, target=target, common=common, nonnegative=holdings.nonnegative)

    def _cross(self, holdings: Holdings, person: HeldPerson, *, target: int, rng: np.random.Generator) -> Hidden | None:
        """The places that the grid allows; None where the grid is refused or too large.

        Others stand in k rows of k − 1. Each row is asked for together with the person, each column alone: the rows
        hold the person k times and everyone else once, the columns everyone else once.
        """
        needed = self.least * (self.least - 1)
        if person.value == 0 or holdings.people <= needed:
            return None
        named = holdings.number(person, rng)
        others = rng.choice(holdings.people - 1, size=needed, replace=False)
        grid = (others + (others >= named)).reshape(self.least, self.least - 1)
        service = OverlapService(holdings, target, self)
        rows = [service.ask(np.append(row, named)) for row in grid]
        columns = [service.ask(column) for column in grid.T]
        if any(answer is None for answer in (*rows, *columns)):
            return None
        left = sum(answer for answer in rows if answer is not None) - sum(item for item in columns if item is not None)
        return np.asarray(left == self.least * person.value)


@dataclass(frozen=True, slots=True, eq=False)
class OverlapService:
    """Answers one user how what some people add divides over the target, under the same control."""

    holdings: Holdings
    target: int
    control: OverlapControl
    asked: list[Integers] = field(default_factory=list)

    def ask(self, people: Integers) -> Integers | None:
        """The exact figures by place of the target, or None where the set is too small or shares too many."""
        if people.size < self.control.least:
            return None
        if any(np.intersect1d(people, earlier).size > self.control.overlap for earlier in self.asked):
            return None
        self.asked.append(people)
        return self.holdings.divide(people, self.target)


def _most_shared(holdings: Holdings, margin: Margin, earlier: Margin, text: Hidden) -> Integers:
    """For each figure of a margin the most people it shares with one answered figure of another margin."""
    both = tuple(sorted({*margin, *earlier}))
    away = tuple(axis for axis, index in enumerate(both) if index not in earlier)
    shared = np.where(np.expand_dims(text, away), keep_keys(holdings.counts, both), 0)
    over = tuple(axis for axis, index in enumerate(both) if index not in margin)
    return np.asarray(shared.max(axis=over, initial=0))
