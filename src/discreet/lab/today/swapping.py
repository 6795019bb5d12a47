"""Record swapping: some people trade one key, usually their place, with others who agree on the keys that are matched.

Who is swapped is drawn once, before the table is made. Every margin without the exchanged key stays as it is, and so
does every count that keeps beside it only matched keys.

Refs: [DR82] data swapping.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Unproven
from discreet.lab.today.holdings import Holdings, Integers, Published
from discreet.tables import Margin, keep_keys

__all__ = ["RecordSwapping", "Swap"]


@dataclass(frozen=True, slots=True, eq=False)
class Swap:
    """Who was drawn (their place in the file, the row of each), and the cells they stand in afterwards."""

    people: Integers
    rows: Integers
    after: Integers


@dataclass(frozen=True, slots=True)
class RecordSwapping:
    """A `share` of the people trade the key at place `exchanged` with partners who agree on the keys `matched`.

    Without `matched` partners agree on all other keys but the last of them in a table of counts, where agreeing on all
    would change nothing, and on all other keys in a table of totals.
    """

    share: float = 0.05
    exchanged: int = 0
    matched: Margin | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.share, (int, float)) or not 0 <= self.share <= 1:
            raise ParameterInvalid(parameter="share", rule=say("must lie between 0 and 1"), given=str(self.share))

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Fresh draws at every call."""
        return self.publish(holdings, self.retabulate(holdings, self.swap(holdings, rng=rng)))

    def publish(self, holdings: Holdings, cells: Integers) -> Published:
        """A table of the swapped file, with its margins."""
        margins = holdings.layout.margins
        matched = self.partners_agree_on(holdings)
        traded, percent = holdings.name(self.exchanged), 100 * self.share
        if matched:
            did = say(
                "{percent:g}% of the people trade their {traded} with others who agree on {matched}; the table of the "
                "traded file is exact, and figures without {traded} are unchanged.",
                percent=percent,
                traded=traded,
                matched=", ".join(map(holdings.name, matched)),
            )
        else:
            did = say(
                "{percent:g}% of the people trade their {traded} with others, whoever they are; the table of the "
                "traded file is exact, and figures without {traded} are unchanged.",
                percent=percent,
                traded=traded,
            )
        if self._changes_nothing(holdings):
            did = f"{did} {say('Here every count stays as it is.')}"
        return Published(
            method="record swapping",
            did=did,
            parameters={
                "share": self.share,
                "exchanged": traded,
                "matched": [holdings.name(index) for index in matched],
            },
            guarantee=Unproven("most people stand where they are, and keys that are not exchanged stay exact"),
            figures={margin: keep_keys(cells, margin) for margin in margins},
            hidden={margin: np.zeros(holdings.layout.shape(margin), dtype=np.bool_) for margin in margins},
            reach={margin: inf if self.exchanged in margin else 0.0 for margin in margins},
            steady=True,
        )

    def partners_agree_on(self, holdings: Holdings) -> Margin:
        """The places of the keys on which partners agree."""
        indices = range(len(holdings.layout.sizes))
        if self.exchanged not in indices:
            raise ParameterInvalid(
                parameter="exchanged",
                rule=say("must be the place of a key, below {count}", count=len(indices)),
                given=str(self.exchanged),
            )
        others = tuple(index for index in indices if index != self.exchanged)
        if self.matched is None:
            return others if holdings.magnitude else others[:-1]
        if not set(self.matched) <= set(others):
            raise ParameterInvalid(
                parameter="matched",
                rule=say("must be places of keys other than the exchanged one"),
                given=str(self.matched),
            )
        return tuple(sorted(set(self.matched)))

    def swap(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Swap:
        """Draw people, pair those who agree, and trade. Within a group, who lives nearest in key order never pair up.

        Sorting a group by the exchanged key and pairing across its middle leaves a pair without a difference only
        where one place holds more than half of the group.
        """
        drawn = np.random.default_rng() if rng is None else rng
        matched = self.partners_agree_on(holdings)
        cells, _, number = holdings.rows()
        chosen = int(Fraction(str(self.share)) * holdings.people)
        people = (
            drawn.permutation(drawn.choice(holdings.people, size=chosen, replace=False)) if chosen else np.arange(0)
        )
        rows = np.searchsorted(np.cumsum(number), people, side="right")
        keys = np.array(np.unravel_index(cells[rows], holdings.layout.sizes))
        shape = holdings.layout.shape(matched)
        groups = np.ravel_multi_index([keys[index] for index in matched], shape) if matched else np.zeros_like(people)
        order = np.lexsort((keys[self.exchanged], groups))
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        sizes = np.diff(np.append(starts, order.size))
        within = np.arange(order.size) - np.repeat(starts, sizes)
        half = np.repeat(sizes // 2, sizes)
        first = np.flatnonzero(within < half)
        one, other = order[first], order[first + half[first]]
        traded = keys[self.exchanged].copy()
        traded[one], traded[other] = keys[self.exchanged][other], keys[self.exchanged][one]
        keys[self.exchanged] = traded
        return Swap(people, rows, np.ravel_multi_index(list(keys), holdings.layout.sizes))

    def retabulate(self, holdings: Holdings, swap: Swap) -> Integers:
        """The cells of the table made from the swapped file."""
        cells, values, _ = holdings.rows()
        figures = holdings.figures.ravel().copy()
        np.subtract.at(figures, cells[swap.rows], values[swap.rows])
        np.add.at(figures, swap.after, values[swap.rows])
        return figures.reshape(holdings.layout.sizes)

    def _changes_nothing(self, holdings: Holdings) -> bool:
        return not holdings.magnitude and len(self.partners_agree_on(holdings)) == len(holdings.layout.sizes) - 1
