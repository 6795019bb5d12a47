"""Partitioning: people are put into groups of at least k once, and only unions of whole groups are answered.

Groups are cells side by side along one key, or whole lines where a line has too few people. No query can part a group;
but a group that changes between two editions of the file gives away who joined it.

Refs: [CO79] atomic populations, and what changes of the file tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.catalogue import say
from discreet.guarantees import Unproven
from discreet.lab.today.differencing import OutsiderVerdict, conclude
from discreet.lab.today.holdings import Figures, HeldPerson, Hidden, Holdings, Integers, Published, require_whole
from discreet.tables import Margin

__all__ = ["Partitioning"]


@dataclass(frozen=True, slots=True)
class Partitioning:
    """Cells are joined `along` a key until a group has `least` people; lines that have fewer are joined whole."""

    along: int = 0
    least: int = 5

    def __post_init__(self) -> None:
        require_whole(self.along, parameter="along", least=0)
        require_whole(self.least, parameter="least", least=1)

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: figures of whole groups are exact, others are refused."""
        groups = self.partition(holdings)
        margins = holdings.layout.margins
        hidden = {margin: self._find_parted(holdings, margin, groups) for margin in margins}
        joined = int((np.bincount(groups.ravel()) > 1).sum())
        name = holdings.name(self.along)
        return Published(
            method="partitioning",
            did=say(
                "Cells are joined along {name} into groups of at least {least} people; {joined} of the groups have "
                "several cells. Figures of whole groups are exact, others are refused.",
                name=name,
                least=self.least,
                joined=joined,
            ),
            parameters={"along": name, "least": self.least},
            guarantee=Unproven("exact figures of groups; one that changes between two editions gives a person away"),
            figures={margin: np.where(hidden[margin], 0, holdings.margin(margin)) for margin in margins},
            hidden=hidden,
            reach=dict.fromkeys(margins, 0.0),
            steady=True,
        )

    def partition(self, holdings: Holdings) -> Integers:
        """The number of each cell's group. With fewer than `least` people in all there is one group."""
        require_whole(self.along, parameter="along", least=0, most=len(holdings.layout.sizes) - 1)
        lines = np.moveaxis(holdings.counts, self.along, -1)
        flat = lines.reshape(-1, lines.shape[-1])
        groups = np.zeros_like(flat)
        last, short = -1, list[int]()
        for line, counts in enumerate(flat):
            if counts.sum() < self.least:
                short.append(line)
                if flat[short].sum() >= self.least:
                    last += 1
                    groups[short], short = last, []
                continue
            cuts = self._cut(counts)
            groups[line] = last + 1 + cuts
            last += 1 + int(cuts[-1])
        groups[short] = max(last, 0)
        return np.moveaxis(groups.reshape(lines.shape), -1, self.along)

    def _cut(self, counts: Integers) -> Integers:
        """Groups along a line that has enough people, numbered from 0; what is left at its end joins the last."""
        numbers, number, people, left = np.zeros_like(counts), 0, 0, int(counts.sum())
        for index, more in enumerate(counts.tolist()):
            numbers[index] = number
            people, left = people + more, left - more
            if people >= self.least <= left:
                number, people = number + 1, 0
        return numbers

    def _find_parted(self, holdings: Holdings, margin: Margin, groups: Integers) -> Hidden:
        """The figures that hold a group in part."""
        keys = np.indices(holdings.layout.sizes)
        shape = holdings.layout.shape(margin)
        at = np.ravel_multi_index([keys[index].ravel() for index in margin], shape) if margin else 0 * groups.ravel()
        number = groups.ravel()
        lowest = np.full(number.max() + 1, at.max())
        highest = np.zeros_like(lowest)
        np.minimum.at(lowest, number, at)
        np.maximum.at(highest, number, at)
        parted = np.zeros(max(1, int(np.prod(shape))), dtype=np.bool_)
        parted[at[(lowest != highest)[number]]] = True
        refused: Hidden = parted.reshape(shape) | (holdings.people < self.least)
        return refused

    def attack(
        self, holdings: Holdings, person: HeldPerson, *, target: int, common: Figures, rng: np.random.Generator
    ) -> OutsiderVerdict:
        """A query that leaves one person out is refused, so two editions are compared, each with its own groups.

        Unions that are whole in both editions changed by the person or not at all.
        """
        less = holdings.without(person)
        if holdings.people <= self.least:
            return conclude(np.ones(common.size, dtype=np.bool_), np.zeros(common.size), common, person.cell[target])
        unions = _join(self.partition(holdings), self.partition(less))
        change = np.bincount(unions.ravel(), weights=(holdings.figures - less.figures).ravel())
        line = tuple(slice(None) if index == target else at for index, at in enumerate(person.cell))
        possible = (change != 0)[unions[line]] if person.value else np.ones(common.size, dtype=np.bool_)
        return conclude(possible, np.zeros(common.size), common, person.cell[target])


def _join(first: Integers, second: Integers) -> Integers:
    """The finest groups that are whole in both partitions."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    one, other = first.ravel(), second.ravel()
    shape = (int(one.max()) + 1, int(other.max()) + 1)
    size = sum(shape)
    edges = coo_array((np.ones(one.size), (one, shape[0] + other)), shape=(size, size))
    _, found = connected_components(edges, directed=False)
    return np.asarray(found[one]).reshape(first.shape)
