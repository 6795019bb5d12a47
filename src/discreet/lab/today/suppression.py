"""Small-cell suppression with complementary suppression; for totals also the dominance rule.

A figure about a few people is hidden, and others with it until no hidden one follows from what is shown: first every
sum that shows all its parts but one loses another, then a linear program bounds what is hidden, and more is hidden
where a bound is too tight. Not differentially private: what is shown is exact.

Refs: [HDF12] rules for unsafe cells, and secondary suppression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Unproven
from discreet.lab.today.feasibility import Figure, Pattern
from discreet.lab.today.holdings import Figures, Hidden, Holdings, Integers, Published, require_whole
from discreet.tables import Margin, keep_keys

__all__ = ["Suppression"]

_Hidden = dict[Margin, Hidden]


@dataclass(frozen=True, slots=True)
class Suppression:
    """Figures about fewer than `threshold` people are hidden, zeros only without `show_zeros`, and what tells them.

    In a table of totals a figure is hidden too when its `dominant` largest contributors make more than `percent` of it.
    The feasible interval of what is hidden for its own sake spans at least `protection` people (the threshold unless
    given), in a table of totals `protection_percent` of the figure; `seconds` limit the audit.
    """

    threshold: int = 5
    show_zeros: bool = True
    protection: int | None = None
    dominant: int = 1
    percent: int = 75
    protection_percent: int = 20
    seconds: float = 10.0

    def __post_init__(self) -> None:
        require_whole(self.threshold, parameter="threshold", least=1)
        require_whole(self.dominant, parameter="dominant", least=1)
        require_whole(self.percent, parameter="percent", least=1, most=100)
        require_whole(self.protection_percent, parameter="protection_percent", least=1, most=100)
        if self.protection is not None:
            require_whole(self.protection, parameter="protection", least=1)
        if not 0 < self.seconds <= 3600:
            raise ParameterInvalid(
                parameter="seconds", rule=say("must lie between 0 and 3600"), given=str(self.seconds)
            )

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published:
        """Nothing is drawn: figures are exact or hidden."""
        unsafe = self.find_unsafe(holdings)
        hidden = {margin: mask.copy() for margin, mask in unsafe.items()}
        audited = self._complete(holdings, unsafe, hidden)
        first, all_hidden = (sum(int(mask.sum()) for mask in masks.values()) for masks in (unsafe, hidden))
        done = say(
            "Hidden for their own sake: {first}; hidden so that no sum gives those away: {more} more. The rest is "
            "exact.",
            first=first,
            more=all_hidden - first,
        )
        if not audited:
            stopped = say("The audit stopped after {seconds:g} s.", seconds=self.seconds)
            done = f"{done} {stopped}"
        margins = holdings.layout.margins
        return Published(
            method="suppression",
            did=f"{self._rule(holdings)} {done}",
            parameters=self._parameters(holdings, audited=audited),
            guarantee=Unproven("exact figures; hidden ones are safe only from those who see one table and know nobody"),
            figures={margin: np.where(hidden[margin], 0, holdings.margin(margin)) for margin in margins},
            hidden=hidden,
            reach=dict.fromkeys(margins, 0.0),
            steady=True,
        )

    def find_unsafe(self, holdings: Holdings) -> _Hidden:
        """What the rules hide for its own sake: cells and margins alike."""
        least = 1 if self.show_zeros else 0
        unsafe = {}
        for margin in holdings.layout.margins:
            people = keep_keys(holdings.counts, margin)
            unsafe[margin] = np.array((people >= least) & (people < self.threshold))
            if holdings.magnitude:
                unsafe[margin] |= self._find_dominated(holdings, margin)
        return unsafe

    def _find_dominated(self, holdings: Holdings, margin: Margin) -> Hidden:
        """Where the largest contributors, by size without sign, make more than `percent` of all contributions."""
        cells, values, people = holdings.rows()
        keys = np.unravel_index(cells, holdings.layout.sizes)
        shape = holdings.layout.shape(margin)
        groups = np.ravel_multi_index([keys[index] for index in margin], shape) if margin else np.zeros_like(cells)
        sizes = np.abs(values)
        order = np.lexsort((-sizes, groups))
        groups, sizes, people = groups[order], sizes[order], people[order]
        before = np.cumsum(people) - people
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        ahead = before - np.repeat(before[starts], np.diff(np.append(starts, groups.size)))
        largest, every = np.zeros((2, holdings.layout.count(margin)), dtype=np.int64)
        np.add.at(largest, groups, sizes * np.clip(self.dominant - ahead, 0, people))
        np.add.at(every, groups, sizes * people)
        dominated: Hidden = (largest * 100.0 > every * float(self.percent)).reshape(shape)
        return dominated

    def _complete(self, holdings: Holdings, unsafe: _Hidden, hidden: _Hidden) -> bool:
        """Hide more until the audit finds nothing; False when its time ran out."""
        until = monotonic() + self.seconds
        widths = {
            (margin, int(index)): self._width(holdings, int(holdings.margin(margin).ravel()[index]))
            for margin, mask in unsafe.items()
            for index in np.flatnonzero(mask)
        }
        _close_lines(holdings, hidden)
        while widths and monotonic() <= until:
            narrow = Pattern(holdings, hidden).find_narrow(widths, until=until)
            # Hiding more only widens intervals, so what is wide enough stays so.
            widths = {figure: widths[figure] for figure in narrow}
            for figure in narrow:
                _hide_beside(holdings, hidden, figure)
            _close_lines(holdings, hidden)
        return monotonic() <= until

    def _width(self, holdings: Holdings, figure: int) -> float:
        if holdings.magnitude:
            return abs(figure) * self.protection_percent / 100
        return float(self.protection or self.threshold)

    def _rule(self, holdings: Holdings) -> str:
        if not holdings.magnitude:
            if self.show_zeros:
                return say(
                    "Figures about fewer than {threshold} people (zeros are shown) are hidden.",
                    threshold=self.threshold,
                )
            return say("Figures about fewer than {threshold} people are hidden.", threshold=self.threshold)
        if self.show_zeros:
            return say(
                "Figures about fewer than {threshold} people (zeros are shown), or more than {percent}% of which the "
                "largest {dominant} add, are hidden.",
                threshold=self.threshold,
                percent=self.percent,
                dominant=self.dominant,
            )
        return say(
            "Figures about fewer than {threshold} people, or more than {percent}% of which the largest {dominant} add, "
            "are hidden.",
            threshold=self.threshold,
            percent=self.percent,
            dominant=self.dominant,
        )

    def _parameters(self, holdings: Holdings, *, audited: bool) -> dict[str, object]:
        result: dict[str, object] = {"threshold": self.threshold, "show_zeros": self.show_zeros, "audited": audited}
        if holdings.magnitude:
            result |= {
                "dominant": self.dominant,
                "percent": self.percent,
                "protection_percent": self.protection_percent,
            }
        else:
            result["protection"] = self.protection or self.threshold
        return result


def _list_sums(holdings: Holdings) -> Iterator[tuple[Margin, Margin]]:
    """Pairs of published margins where the first is a sum over the second, with none between them."""
    margins = holdings.layout.margins
    for margin in margins:
        wider = [set(other) for other in margins if set(other) > set(margin)]
        for other in wider:
            if not any(between < other for between in wider):
                yield margin, tuple(sorted(other))


def _unfold(figures: Figures, margin: Margin, wider: Margin) -> Figures:
    """The figures of `wider` as a matrix: a row for each figure of `margin`, what is summed over along it."""
    axes = [wider.index(index) for index in (*margin, *(index for index in wider if index not in margin))]
    rows = int(np.prod([figures.shape[axis] for axis in axes[: len(margin)]]))
    return figures.transpose(axes).reshape(rows, -1)


def _close_lines(holdings: Holdings, hidden: _Hidden) -> None:
    """Hide until no sum shows all of its parts but one.

    The part to go is one that other sums need as well, and among those the smallest; the sum itself where every other
    part is hidden already.
    """
    sums = list(_list_sums(holdings))
    indices = {margin: np.arange(mask.size).reshape(mask.shape) for margin, mask in hidden.items()}
    changed = True
    while changed:
        changed = False
        for margin, wider in sums:
            parts, at = _unfold(hidden[wider], margin, wider), _unfold(indices[wider], margin, wider)
            wants = _count_needs(sums, hidden, wider)
            sizes = np.abs(holdings.margin(wider)).astype(np.float64)
            price = _unfold(sizes / (sizes.max() + 1) - wants + (sizes == 0), margin, wider)
            for row in np.flatnonzero(parts.sum(axis=1) + hidden[margin].ravel() == 1):
                shown = np.flatnonzero(~parts[row])
                changed = True
                if hidden[margin].flat[row] or shown.size:
                    hidden[wider].flat[at[row, shown[np.argmin(price[row, shown])]]] = True
                else:
                    hidden[margin].flat[row] = True


def _count_needs(sums: list[tuple[Margin, Margin]], hidden: _Hidden, wider: Margin) -> Integers:
    """For each figure, in how many sums it would be the second part to be hidden."""
    needs = np.zeros(hidden[wider].shape, dtype=np.int64)
    for margin, other in sums:
        if other != wider:
            continue
        lacking = (_unfold(hidden[wider], margin, wider).sum(axis=1) + hidden[margin].ravel() == 1).astype(np.int64)
        spread = lacking.reshape(hidden[margin].shape)
        axes = tuple(index for index, key in enumerate(wider) if key not in margin)
        needs += np.expand_dims(spread, axes)
    return needs


def _hide_beside(holdings: Holdings, hidden: _Hidden, figure: Figure) -> None:
    """Hide the smallest shown figure that differs from this one in one key; else a sum that holds it."""
    margin, index = figure
    mask, values = hidden[margin], np.abs(holdings.margin(margin))
    at = np.unravel_index(index, mask.shape)
    every = np.indices(mask.shape)
    apart = np.sum([every[axis] != at[axis] for axis in range(mask.ndim)], axis=0)
    beside = np.flatnonzero(((apart == 1) & ~mask).ravel())
    if beside.size:
        worth = np.where(values.ravel()[beside] > 0, values.ravel()[beside], values.max() + 1)
        mask.flat[beside[np.argmin(worth)]] = True
        return
    for sums in sorted((other for other in hidden if set(other) < set(margin)), key=len, reverse=True):
        above = tuple(at[margin.index(key)] for key in sums)
        if not hidden[sums][above]:
            hidden[sums][above] = True
            return
