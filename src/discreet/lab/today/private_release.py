"""Differential privacy under the same attack: what an outsider reads from two releases, and what nobody can exceed.

The outsider gets more than a release shows: every noisy figure behind it, and the exact law of its noise. From how each
figure changed between the releases, and from how common each place is, they name the likeliest place; no guess from
these changes is right more often.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from math import exp, inf

import numpy as np
from numpy.typing import NDArray

from discreet.catalogue import say
from discreet.guarantees import ApproxDP, Guarantee, Neighbours, PureDP, text
from discreet.lab.today.differencing import OutsiderVerdict, conclude, read_line
from discreet.lab.today.holdings import Figures, HeldPerson, Holdings, Published
from discreet.tables import Margin, keep_keys

__all__ = ["Draw", "PrivateRelease", "Seen", "deduce_private", "publish_private", "success_ceiling"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Noisy figures of one margin in whole steps, and for each the scale of its discrete Laplace noise."""

    margin: Margin
    figures: Figures
    scales: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One release: all that was measured, and how the cells are published from it."""

    seen: tuple[Seen, ...]
    publish: Callable[[], Figures] = field(repr=False)


class PrivateRelease(ABC):
    """A table under differential privacy, drawn as often as asked for."""

    epsilon: Decimal
    guarantee: Guarantee

    @abstractmethod
    def draw(self, figures: Figures) -> Draw:
        """Fresh noise on these cells."""


def publish_private(release: PrivateRelease, holdings: Holdings) -> Published:
    """The table as differential privacy publishes it, margins the sums of its cells."""
    cells = np.asarray(release.draw(holdings.figures).publish())
    if cells.shape != holdings.layout.sizes:
        raise ValueError("a release has one figure for each cell")
    margins = holdings.layout.margins
    return Published(
        method="differential privacy",
        did=say("Noise that hides any one person is added; margins are the sums of the published cells."),
        parameters={"epsilon": text(release.epsilon)},
        guarantee=release.guarantee,
        figures={margin: keep_keys(cells, margin) for margin in margins},
        hidden={margin: np.zeros(holdings.layout.shape(margin), dtype=np.bool_) for margin in margins},
        reach=dict.fromkeys(margins, inf),
        steady=False,
    )


def deduce_private(
    everyone: Draw, without: Draw, person: HeldPerson, *, target: int, common: _Floats
) -> OutsiderVerdict:
    """The place that the changes between two releases make likeliest. Noise excludes none, so nothing is sure.

    Margins without the target change alike wherever the person is, and say nothing.
    """
    evidence = np.zeros(common.size)
    for first, second in zip(everyone.seen, without.seen, strict=True):
        if target in first.margin:
            at = read_line(first.margin, person, target)
            change = np.asarray(first.figures[at] - second.figures[at], dtype=np.float64)
            scale = np.broadcast_to(first.scales, first.figures.shape)[at]
            evidence += _log_law(change - person.value, scale) - _log_law(change, scale)
    return conclude(np.ones(common.size, dtype=np.bool_), evidence, common, person.cell[target])


def _log_law(difference: _Floats, scale: _Floats) -> _Floats:
    """The chance of a difference of two discrete Laplace variables, as a logarithm, but for a constant.

    With α = e^(−1/scale) it is proportional to α^|d|·(|d| + (1 + α²)/(1 − α²)), and the fraction is coth(1/scale).
    """
    result: _Floats = np.log(np.abs(difference) + 1 / np.tanh(1 / scale)) - np.abs(difference) / scale
    return result


def success_ceiling(holdings: Holdings, target: int, *, guarantee: Guarantee, neighbours: Neighbours) -> float | None:
    """What nobody can exceed, on average over the people, from tables under this guarantee; None where none is known.

    Of the two releases one knows nothing of the person's place. With prior π for the most common place, the other
    leaves no belief above e^ε'·π/(1 − π + e^ε'·π), where ε' = ε for replace-one and 2ε for add-remove, under which a
    change of place is one removal and one addition; nor can success exceed e^ε·π + δ, because every table is at most
    e^ε times as likely as under one and the same neighbour, wherever the person is.
    """
    if not isinstance(guarantee, PureDP | ApproxDP):
        return None
    epsilon = float(guarantee.epsilon)
    delta = float(guarantee.delta) if isinstance(guarantee, ApproxDP) else 0.0
    total = holdings.counts.sum(axis=target).ravel()
    prior = holdings.counts.max(axis=target).ravel()[total > 0] / total[total > 0]
    weights = total[total > 0] / holdings.people
    most = np.minimum(_grow(epsilon) * prior + delta, 1.0)
    if isinstance(guarantee, PureDP):
        odds = _grow(epsilon if neighbours is Neighbours.REPLACE_ONE else 2 * epsilon)
        most = np.minimum(most, 1 / (1 + (1 - prior) / prior / odds))
    return float(weights @ most)


def _grow(epsilon: float) -> float:
    return exp(epsilon) if epsilon < 700 else inf
