"""The differencing attack many times over, on people drawn at random, for each method and for differential privacy.

A rate comes with its Clopper–Pearson interval, and beside it stands what guessing the most common place would do.
Methods that draw nothing meet each cell once; what follows holds for everyone in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import exp, inf
from time import monotonic
from typing import Protocol

import numpy as np

from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.guarantees.types import ApproxDP, Guarantee, Neighbours, PureDP
from discreet.tables.today.controlled import ControlledRounding
from discreet.tables.today.differencing import (
    Certainty,
    Verdict,
    deduce,
    deduce_with_queries,
    weigh_laplace,
    weigh_rounding,
    weigh_swapping,
)
from discreet.tables.today.holdings import Figures, Holdings, Person, Published, keep_keys
from discreet.tables.today.restriction import SetSizeRestriction
from discreet.tables.today.rounding import RandomRounding
from discreet.tables.today.swapping import RecordSwapping

__all__ = [
    "Attack",
    "Method",
    "PublishDP",
    "attack",
    "attack_once",
    "base_rate",
    "clopper_pearson",
    "publish_private",
    "success_ceiling",
]

PublishDP = Callable[[Figures, Decimal], Figures]


class Method(Protocol):
    """Any method of today."""

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published: ...


@dataclass(frozen=True, slots=True)
class Attack:
    """What came of the trials: `sure` persons were recovered beyond doubt, `right` were named rightly, sure or not.

    `base_rate` is the success of naming the most common place without looking; `ceiling`, for differential privacy, is
    what no outsider can exceed on average over the people.
    """

    trials: int
    sure: int
    right: int
    low: float
    high: float
    base_rate: float
    ceiling: float | None = None

    @property
    def rate(self) -> float:
        return self.right / self.trials

    def to_dict(self) -> dict[str, object]:
        return {
            "trials": self.trials,
            "recovered_surely": self.sure,
            "named_rightly": self.right,
            "success_rate": self.rate,
            "interval": [self.low, self.high],
            "base_rate": self.base_rate,
            "ceiling": self.ceiling,
        }


def attack(
    method: Method | Callable[[Holdings], Published],
    holdings: Holdings,
    *,
    target: int,
    trials: int,
    seconds: float,
    rng: np.random.Generator,
    ceiling: float | None = None,
    everyone: Published | None = None,
) -> Attack | None:
    """Attack people drawn at random, at least one, until `trials` are done or time is over.

    None where the method finds no table, or nobody is in it. `everyone` is the table of a method that draws nothing,
    where it has been published already.
    """
    if not holdings.people:
        return None
    until, done, sure, right = monotonic() + seconds, 0, 0, 0
    known: dict[Person, Verdict | None] = {}
    if everyone is None and not _draws(method):
        everyone = _publish(method, holdings, rng)
    while done < trials and (done == 0 or monotonic() <= until):
        person = holdings.draw_person(rng)
        if person not in known or _draws(method):
            known[person] = attack_once(method, holdings, person, target=target, rng=rng, everyone=everyone)
        verdict = known[person]
        if verdict is None:
            return None
        done += 1
        sure += verdict.certainty is Certainty.SURE and verdict.right
        right += verdict.right
    low, high = clopper_pearson(right, done)
    return Attack(done, sure, right, low, high, base_rate(holdings, target), ceiling)


def attack_once(
    method: Method | Callable[[Holdings], Published],
    holdings: Holdings,
    person: Person,
    *,
    target: int,
    rng: np.random.Generator | None = None,
    everyone: Published | None = None,
) -> Verdict | None:
    """The attack on one person; None where the method finds no table. `everyone` saves publishing that table again."""
    if target not in range(len(holdings.layout.sizes)):
        raise ParameterInvalid(
            parameter="target", rule=f"must be the place of a key, below {len(holdings.layout.sizes)}", came=str(target)
        )
    drawn = np.random.default_rng() if rng is None else rng
    if isinstance(method, RecordSwapping):
        return _attack_swapped(method, holdings, person, target=target, rng=drawn)
    less = holdings.without(person)
    everyone = _publish(method, holdings, drawn) if everyone is None else everyone
    if not everyone.found:
        return None
    without = _publish(method, less, drawn)
    if callable(method):
        weigh = weigh_laplace(everyone=everyone, without=without, value=person.value)
        return deduce(everyone, without, person, target=target, weigh=weigh)
    if not without.found:
        return None
    if isinstance(method, RandomRounding | ControlledRounding):
        law = weigh_rounding(base=method.base, value=person.value)
        return deduce(everyone, without, person, target=target, weigh=law)
    verdict = deduce(everyone, without, person, target=target)
    if isinstance(method, SetSizeRestriction):
        return deduce_with_queries(holdings, less, person, target=target, least=method.least, first=verdict)
    return verdict


def base_rate(holdings: Holdings, target: int) -> float:
    """The share of people found by naming the most common place among those with the same other keys."""
    return float(holdings.counts.max(axis=target).sum() / holdings.people)


def success_ceiling(holdings: Holdings, target: int, *, guarantee: Guarantee, neighbours: Neighbours) -> float | None:
    """What nobody can exceed, on average over the people, from tables under this guarantee; None where none is known.

    With prior π for the most common place, no belief leaves e^ε'·π/(1 − π + e^ε'·π), where ε' = ε for replace-one and
    2ε for add-remove, under which a change of place is one removal and one addition; nor can success exceed e^ε·π + δ,
    because every table is at most e^ε times as likely as without the person.
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


def publish_private(publish_dp: PublishDP, epsilon: Decimal, holdings: Holdings, guarantee: Guarantee) -> Published:
    """The table as differential privacy publishes it, margins the sums of its cells."""
    cells = np.asarray(publish_dp(holdings.figures, epsilon))
    if cells.shape != holdings.layout.sizes:
        raise ValueError("publish_dp gives one figure for each cell")
    margins = holdings.layout.margins
    return Published(
        method="differential privacy",
        did="Noise that hides any one person is added; margins are the sums of the published cells.",
        parameters={"epsilon": str(epsilon)},
        guarantee=guarantee,
        figures={margin: keep_keys(cells, margin) for margin in margins},
        hidden={margin: np.zeros(holdings.layout.shape(margin), dtype=np.bool_) for margin in margins},
        reach=dict.fromkeys(margins, inf),
        steady=False,
    )


def clopper_pearson(hits: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """The exact interval for a rate."""
    try:
        from scipy.special import betaincinv
    except ImportError:
        raise ExtraMissing(needed_for="the comparison with today's methods", extra="tables") from None
    beyond = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, beyond))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - beyond))
    return low, high


def _attack_swapped(
    method: RecordSwapping, holdings: Holdings, person: Person, *, target: int, rng: np.random.Generator
) -> Verdict:
    """Both tables come from one swapped file, as two filters on it do: the person leaves where the swap put them."""
    swap = method.swap(holdings, rng=rng)
    cells, values, people = holdings.rows()
    flat = int(np.ravel_multi_index(person.cell, holdings.layout.sizes))
    row = int(np.flatnonzero((cells == flat) & (values == person.value) & (people > 0))[0])
    number = int(people[:row].sum()) + int(rng.integers(people[row]))
    drawn = np.flatnonzero(swap.people == number)
    stands = np.unravel_index(int(swap.after[drawn[0]]) if drawn.size else flat, holdings.layout.sizes)
    table = method.retabulate(holdings, swap)
    less = table.copy()
    less[stands] -= person.value
    weigh = weigh_swapping(share=float(method.share), value=person.value)
    everyone, without = method.publish(holdings, table), method.publish(holdings, less)
    return deduce(everyone, without, person, target=target, weigh=weigh)


def _publish(
    method: Method | Callable[[Holdings], Published], holdings: Holdings, rng: np.random.Generator
) -> Published:
    return method(holdings) if callable(method) else method.apply(holdings, rng=rng)


def _draws(method: object) -> bool:
    return callable(method) or isinstance(method, RandomRounding | RecordSwapping)


def _grow(epsilon: float) -> float:
    return exp(epsilon) if epsilon < 700 else inf
