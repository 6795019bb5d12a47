"""The differencing attack many times over, on people drawn at random, for each method and for differential privacy.

A rate comes with its Clopper–Pearson interval, and beside it stands what guessing the most common place would do.
Methods that draw nothing meet each cell once; what follows holds for everyone in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.lab.audit import clopper_pearson
from discreet.lab.today.controlled_rounding import ControlledRounding, require_scipy
from discreet.lab.today.differencing import (
    Certainty,
    OutsiderVerdict,
    deduce,
    deduce_with_queries,
    weigh_rounding,
    weigh_swapping,
)
from discreet.lab.today.holdings import HeldPerson, Holdings, Published
from discreet.lab.today.log_audit import QueryAuditing
from discreet.lab.today.overlap import OverlapControl
from discreet.lab.today.partitioning import Partitioning
from discreet.lab.today.perturbation import FixedPerturbation
from discreet.lab.today.private_release import PrivateRelease, deduce_private
from discreet.lab.today.restriction import SetSizeRestriction
from discreet.lab.today.rounding import RandomRounding
from discreet.lab.today.swapping import RecordSwapping
from discreet.tables import Layout

__all__ = ["Attack", "TodayMethod", "attack", "attack_once", "base_rate", "draws"]


class TodayMethod(Protocol):
    """Any method of today."""

    def apply(self, holdings: Holdings, *, rng: np.random.Generator | None = None) -> Published: ...


@dataclass(frozen=True, slots=True)
class Attack:
    """What the trials gave: `sure` persons were recovered beyond doubt, `right` were named rightly, sure or not.

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
    method: TodayMethod | PrivateRelease,
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
    known: dict[HeldPerson, OutsiderVerdict | None] = {}
    while done < trials and (done == 0 or monotonic() <= until):
        person = holdings.draw_person(rng)
        if person not in known or draws(method) or isinstance(method, QueryAuditing):
            known[person] = attack_once(method, holdings, person, target=target, rng=rng, everyone=everyone)
        verdict = known[person]
        if verdict is None:
            return None
        done += 1
        sure += verdict.certainty is Certainty.SURE and verdict.right
        right += verdict.right
    require_scipy()
    low, high = clopper_pearson(right, done)
    return Attack(done, sure, right, low, high, base_rate(holdings, target), ceiling)


def attack_once(
    method: TodayMethod | PrivateRelease,
    holdings: Holdings,
    person: HeldPerson,
    *,
    target: int,
    rng: np.random.Generator | None = None,
    everyone: Published | None = None,
) -> OutsiderVerdict | None:
    """The attack on one person; None where the method finds no table. `everyone` saves publishing that table again."""
    if target not in range(len(holdings.layout.sizes)):
        raise ParameterInvalid(
            parameter="target",
            rule=say("must be the place of a key, below {count}", count=len(holdings.layout.sizes)),
            given=str(target),
        )
    drawn = np.random.default_rng() if rng is None else rng
    common = holdings.people_like(person, target).astype(np.float64)
    if isinstance(method, PrivateRelease):
        first, second = method.draw(holdings.figures), method.draw(holdings.without(person).figures)
        return deduce_private(first, second, person, target=target, common=common)
    if isinstance(method, RecordSwapping):
        return _attack_swapped(method, holdings, person, target=target, common=common, rng=drawn)
    if isinstance(method, FixedPerturbation):
        return _attack_perturbed(method, holdings, person, target=target, common=common, rng=drawn)
    if isinstance(method, OverlapControl | QueryAuditing | Partitioning):
        return method.attack(holdings, person, target=target, common=common, rng=drawn)
    less = holdings.without(person)
    everyone = method.apply(holdings, rng=drawn) if everyone is None else everyone
    without = method.apply(less, rng=drawn) if everyone.found else everyone
    if not without.found:
        return None
    weigh = None
    if isinstance(method, RandomRounding | ControlledRounding):
        weigh = weigh_rounding(base=method.base, value=person.value)
    verdict = deduce(
        everyone, without, person, target=target, common=common, nonnegative=holdings.nonnegative, weigh=weigh
    )
    if isinstance(method, SetSizeRestriction):
        return deduce_with_queries(holdings, less, person, target=target, least=method.least, first=verdict)
    return verdict


def base_rate(holdings: Holdings, target: int) -> float:
    """The share of people found by naming the most common place among those with the same other keys."""
    return float(holdings.counts.max(axis=target).sum() / holdings.people)


def _attack_swapped(
    method: RecordSwapping,
    holdings: Holdings,
    person: HeldPerson,
    *,
    target: int,
    common: NDArray[np.float64],
    rng: np.random.Generator,
) -> OutsiderVerdict:
    """Both tables come from one swapped file, as two filters on it do: the person leaves where the swap put them."""
    swap = method.swap(holdings, rng=rng)
    drawn = np.flatnonzero(swap.people == holdings.number(person, rng))
    flat = int(np.ravel_multi_index(person.cell, holdings.layout.sizes))
    stands = np.unravel_index(int(swap.after[drawn[0]]) if drawn.size else flat, holdings.layout.sizes)
    table = method.retabulate(holdings, swap)
    less = table.copy()
    less[stands] -= person.value
    weigh = weigh_swapping(share=float(method.share), value=person.value, common=common, cells=holdings.layout.cells)
    wider = _with_sums_over(holdings, method.exchanged)
    everyone, without = method.publish(wider, table), method.publish(wider, less)
    return deduce(everyone, without, person, target=target, common=common, weigh=weigh)


def _attack_perturbed(
    method: FixedPerturbation,
    holdings: Holdings,
    person: HeldPerson,
    *,
    target: int,
    common: NDArray[np.float64],
    rng: np.random.Generator,
) -> OutsiderVerdict:
    """Both tables come from one changed file: the person leaves where, and as, the change put them."""
    less = method.perturb(holdings.without(person), rng=rng)
    changed = method.perturb_person(holdings, person, rng=rng)
    table = less.copy()
    table[changed.cell] += changed.value
    weigh = None
    if not holdings.magnitude:
        weigh = weigh_swapping(
            share=float(method.share), value=person.value, common=np.ones(common.size), cells=holdings.layout.cells
        )
    wider = _with_sums_over(holdings, method.perturbed)
    everyone, without = method.publish(wider, table), method.publish(wider, less)
    return deduce(everyone, without, person, target=target, common=common, weigh=weigh)


def _with_sums_over(holdings: Holdings, index: int) -> Holdings:
    """Where every cell is shown, anyone can add them up over a key, whichever margins are published."""
    layout = holdings.layout
    summed = tuple(other for other in layout.cells if other != index)
    return replace(holdings, layout=Layout(layout.sizes, layout.slicing, tuple({*layout.margins, summed})))


def draws(method: object) -> bool:
    """Whether a method publishes the same table differently each time."""
    return isinstance(method, RandomRounding | RecordSwapping | FixedPerturbation | PrivateRelease)
