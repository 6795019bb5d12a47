"""The differencing attack: the same table twice, with everyone and without one person.

An outsider knows everything about the person but one key, the target: which cell they may be in but for that key, and
what they add to it; also how common each place of the target is among people with the same other keys. Between the two
tables (someone joined; two filters differ by one person) only that person changed. From all that is published about
both, cells and margins, the outsider deduces the target, or guesses it.

Refs: [DDS79] trackers; [DR14] Section 1.1 on differencing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.lab.today.controlled_rounding import margin_matrix
from discreet.lab.today.feasibility import INFEASIBLE, solve_program
from discreet.lab.today.holdings import HeldPerson, Holdings, Published
from discreet.lab.today.restriction import QueryService, track
from discreet.tables import Margin

__all__ = [
    "Certainty",
    "OutsiderVerdict",
    "conclude",
    "deduce",
    "deduce_with_queries",
    "read_line",
    "weigh_rounding",
    "weigh_swapping",
]

_Floats = NDArray[np.float64]
Weigh = Callable[[Margin, _Floats], _Floats]
"""How much likelier each change of a figure is when the person is in it than when not, as a logarithm."""

_REMAINDERS = 2048
_RARELY = 1e-9


class Certainty(StrEnum):
    """What the outsider holds in the end."""

    SURE = "recovered"
    GUESSED = "guessed"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class OutsiderVerdict:
    """The place on the target key that the outsider names, how sure that is, and whether it is right."""

    certainty: Certainty
    guess: int
    right: bool


def deduce(
    everyone: Published,
    without: Published,
    person: HeldPerson,
    *,
    target: int,
    common: _Floats,
    nonnegative: bool = True,
    weigh: Weigh | None = None,
) -> OutsiderVerdict:
    """What follows from the two tables about the person's place on the target key.

    A place is possible when every figure shown in both tables may have changed as it did, were the person there. If
    several are, the likeliest is guessed, by the changes and by how `common` each place is. `nonnegative` says that
    nobody can lower a figure.
    """
    possible = np.ones(common.size, dtype=np.bool_)
    evidence = np.zeros(common.size)
    for margin in (item for item in everyone.figures if target in item):
        at = read_line(margin, person, target)
        change = np.asarray(everyone.figures[margin][at] - without.figures[margin][at], dtype=np.float64)
        seen = ~(everyone.hidden[margin][at] | without.hidden[margin][at])
        reach = 2 * everyone.reach[margin]
        if np.isfinite(reach):
            stays = (change == 0) if everyone.steady else (np.abs(change) <= reach)
            # A place stands if its own figure moved by the person, and every other figure by nothing.
            others = (~stays & seen).sum() - (~stays & seen)
            possible &= (others == 0) & (~seen | (np.abs(change - person.value) <= reach))
        if weigh is not None:
            evidence += np.where(seen, weigh(margin, change), 0.0)
    if possible.sum() > 1 and all(reach == 0 for reach in everyone.reach.values()):
        possible = _exclude_infeasible(everyone, without, person, target, possible, nonnegative=nonnegative)
    return conclude(possible, evidence, common, person.cell[target])


def deduce_with_queries(
    everyone: Holdings, without: Holdings, person: HeldPerson, *, target: int, least: int, first: OutsiderVerdict
) -> OutsiderVerdict:
    """The same against a query service that restricts set sizes: what it refuses is asked for by trackers."""
    if first.certainty is Certainty.SURE:
        return first
    services = [QueryService(holdings, least) for holdings in (everyone, without)]
    possible = np.ones(everyone.layout.sizes[target], dtype=np.bool_)
    for index in range(possible.size):
        asked = np.zeros(everyone.layout.sizes, dtype=np.bool_)
        asked[(*person.cell[:target], index, *person.cell[target + 1 :])] = True
        answers = [track(service, asked) for service in services]
        if answers[0] is not None and answers[1] is not None:
            possible[index] = answers[0] - answers[1] == person.value
    if person.value == 0 or possible.sum() != 1:
        return first
    return OutsiderVerdict(Certainty.SURE, int(possible.argmax()), bool(possible[person.cell[target]]))


def weigh_rounding(*, base: int, value: int) -> Weigh:
    """For figures rounded at random, each table afresh: the chance of a change averaged over all remainders."""
    there, absent = _rounding_law(base, value), _rounding_law(base, 0)

    def weigh(margin: Margin, change: _Floats) -> _Floats:
        steps = [round(item / base) for item in change]
        return np.array([np.log(there.get(step, _RARELY) / absent.get(step, _RARELY)) for step in steps])

    return weigh


def weigh_swapping(*, share: float, value: int, common: _Floats, cells: Margin) -> Weigh:
    """For a file in which the target itself was traded: the person is where the table changed, unless they traded.

    Who trades, a `share` of the people at most, ends at a place drawn from how common each is.
    """
    moved = np.maximum(share * common / common.sum(), _RARELY)
    stayed = np.log((1 - share + moved) / moved)
    return lambda margin, change: np.where((change == value) & (value != 0) & (margin == cells), stayed, 0.0)


def read_line(margin: Margin, person: HeldPerson, target: int) -> tuple[int | slice, ...]:
    """Where a margin tells the target: all places of that key, every other key the person's."""
    return tuple(slice(None) if index == target else person.cell[index] for index in margin)


def conclude(possible: NDArray[np.bool_], evidence: _Floats, common: _Floats, truth: int) -> OutsiderVerdict:
    """The likeliest of the possible places; sure where it is the only one."""
    if not possible.any():
        possible = np.ones_like(possible)
    prior = np.log(np.maximum(common, _RARELY))
    guess = int(np.where(possible, evidence + prior, -np.inf).argmax())
    if possible.sum() == 1:
        certainty = Certainty.SURE
    elif possible.all() and np.ptp(evidence) == 0:
        certainty = Certainty.NOTHING
    else:
        certainty = Certainty.GUESSED
    return OutsiderVerdict(certainty, guess, guess == truth)


def _exclude_infeasible(
    everyone: Published,
    without: Published,
    person: HeldPerson,
    target: int,
    possible: NDArray[np.bool_],
    *,
    nonnegative: bool,
) -> NDArray[np.bool_]:
    """For exact figures: a place stands only if some table fits both publications with the person there."""
    from scipy.sparse import vstack

    sizes = everyone.figures[max(everyone.figures, key=len)].shape
    parts, lines, shifts = [], [], []
    for published, absent in ((everyone, 0), (without, 1)):
        for margin, figures in published.figures.items():
            shown = np.flatnonzero(~published.hidden[margin].ravel())
            parts.append(margin_matrix(sizes, margin)[shown])
            lines.append(figures.ravel()[shown])
            shifts.append(np.full(shown.size, absent))
    matrix, right, shift = vstack(parts).tocsr(), np.concatenate(lines).astype(np.float64), np.concatenate(shifts)
    kept = possible.copy()
    for index in np.flatnonzero(possible):
        cell = np.ravel_multi_index((*person.cell[:target], int(index), *person.cell[target + 1 :]), sizes)
        added = person.value * shift * matrix[:, [int(cell)]].toarray()[:, 0]
        status, _ = solve_program(np.zeros(matrix.shape[1]), matrix, right + added, nonnegative=nonnegative)
        kept[index] = status != INFEASIBLE
    return kept if kept.any() else possible


def _rounding_law(base: int, value: int) -> Mapping[int, float]:
    """The chances of each change, in steps of the base, of a figure with any remainder that grows by `value`."""
    before = np.unique(np.linspace(0, base - 1, min(base, _REMAINDERS)).astype(np.int64))
    after = before + value
    least = int((after // base).min()) - 1
    chances = np.zeros(int((after // base).max()) + 2 - least)
    rest = (after % base) / base
    for up, first in ((0, 1 - before / base), (1, before / base)):
        for rise, second in ((0, 1 - rest), (1, rest)):
            np.add.at(chances, after // base + rise - up - least, first * second / before.size)
    return {least + step: max(float(chance), _RARELY) for step, chance in enumerate(chances)}
