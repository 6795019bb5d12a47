"""Published cells from estimated ones: whole, not negative where that is asked, and near the estimate in margins too.

Guarantee: post-processing; costs nothing.
Requires:  the estimate is made from released values alone.
Proof:     docs/tables-consistency.md
Refs:      [BPCPE11] and [And65] for how the nearest table is found; [CE82] for rounding that keeps totals.

Margins are sums of what is published here, so they add up whatever happens in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp, inf, isfinite, log, prod, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.tables.linear.layout import Margin, every_margin

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["project", "publish", "round_nested", "weigh_margins"]

TOLERANCE: Final = 1e-6
"""How well a table is settled, as a share of its most negative cell; figures of margins better as they count more."""

ENOUGH: Final = 0.03
"""The same for what is published: every figure is then within a few hundredths of the noise it has anyway."""

MOST_ROUNDS: Final = 1000

_OVERSHOOT: Final = 1.7
_VOTES_POWER: Final = 0.4
_REMEMBERED: Final = 8
_TOO_FAR: Final = 2.0
_RIDGE: Final = 1e-10
_SUMMED_IN_PAIRS: Final = 8  # numpy adds up lines from this length on in another order
_GRID_BITS: Final = 30
_LARGEST_SUM: Final = float(2**62)


def publish(raw: NDArray[float64], *, weights: Mapping[Margin, float], nonnegative: bool) -> NDArray[Any]:
    """The cells to publish for an estimate of all cells, both in whole steps.

    The result has int64 values, or Python's own integers where a sum could pass 2^62. It is deterministic, and a table
    that is already whole (and not negative, where that is asked) comes back as it is. `weights` say how much a figure
    of each margin counts (`weigh_margins`).
    """
    return round_nested(project(raw, weights=weights, tolerance=ENOUGH) if nonnegative else _checked(raw))


def weigh_margins(sizes: tuple[int, ...], variances: Mapping[Margin, float]) -> dict[Margin, float]:
    """How much a figure of each margin counts: 1 over its variance, times the root of how many cells it adds up.

    By their variances alone the few coarse figures are outvoted by the many fine ones, all of which non-negativity
    pushes the same way: grand totals of sparse tables then come out several standard deviations too high.
    """
    folds = _folds(sizes, variances)
    return {margin: sqrt(folds[margin]) / variance for margin, variance in variances.items()}


def project(
    raw: NDArray[float64], *, weights: Mapping[Margin, float], tolerance: float = TOLERANCE
) -> NDArray[float64]:
    """The table without negative cells that is nearest in all margins together, before it is rounded.

    Nearest is the smallest weighted sum of squared differences, over the figures of all margins. Cells are settled to
    well within the tolerance, a share of the most negative one; the order of the keys does not matter.
    """
    values = _checked(raw)
    form = _Form(values.shape, weights)
    shortfall = float(max(-values.min(), 0.0))
    if shortfall == 0.0:
        return values.copy()
    moved = _nearest_above(-values, form, tolerance=tolerance * shortfall)
    # where the bound holds, the two cancel exactly
    return np.maximum(values + moved, 0.0)


def round_nested(values: NDArray[float64]) -> NDArray[Any]:
    """Whole numbers for all cells, such that totals down the chain of keys are each less than 1 off.

    The chain is the grand total (rounded to the nearest whole number), the totals by the first key, by the first two,
    and so on to the cells. Each total is shared out among its parts by largest remainders; ties go to the earlier cell.
    """
    # summed as whole parts of a fine grid, totals and their parts agree to the last bit
    floors = np.floor(values)
    fractions = np.rint((values - floors) * 2**_GRID_BITS).astype(np.int64)
    added = (fractions.sum() + (1 << (_GRID_BITS - 1))) >> _GRID_BITS
    shared: NDArray[int64] = np.asarray(added, dtype=np.int64).reshape(1)
    for index in range(values.ndim):
        parts = fractions.reshape(*values.shape[: index + 1], -1).sum(axis=-1)
        shared = _share_out(shared, parts.reshape(shared.size, -1)).reshape(-1)
    extra = shared.reshape(values.shape)
    if float(np.abs(values).sum()) + values.size < _LARGEST_SUM:
        return floors.astype(np.int64) + extra
    exact = np.array([int(floor) for floor in floors.flat] or [0], dtype=object).reshape(values.shape)
    return np.asarray(exact + extra.astype(object), dtype=object)


def _share_out(totals: NDArray[int64], parts: NDArray[int64]) -> NDArray[int64]:
    """Parts, one line for each total, rounded down or up to add up to it: the largest remainders go up."""
    floors, remainders = parts >> _GRID_BITS, parts & ((1 << _GRID_BITS) - 1)
    missing = totals - floors.sum(axis=1)
    order = np.argsort(-remainders, axis=1, kind="stable")
    up = np.empty_like(parts)
    np.put_along_axis(up, order, np.arange(parts.shape[1])[None, :] < missing[:, None], axis=1)
    return floors + up


# --- the nearest table ----------------------------------------------------------------------------------------------


class _Form:
    """The weighted sum of squares over margins, as an operator on tables, scaled so that a cell alone counts 1.

    It is diagonal in the components of a table: for a set of keys, the part that varies with each of them and is even
    along the others. Every function of it is therefore again a sum over margins, with other coefficients.
    """

    def __init__(self, sizes: tuple[int, ...], weights: Mapping[Margin, float]) -> None:
        indices = range(len(sizes))
        margins = list(every_margin(len(sizes)))
        if not set(weights) <= set(margins):
            raise ValueError("weights are given for margins of this table")
        if any(not isfinite(weight) or weight < 0 for weight in weights.values()) or not weights.get(tuple(indices)):
            raise ValueError("weights are finite and not negative, and that of the cells is positive")
        item = weights[tuple(indices)]
        self.coefficients = {margin: weights.get(margin, 0.0) / item for margin in margins}
        self._sizes = sizes
        self._folds = _folds(sizes, margins)
        self.eigenvalues = {part: self._above(part, self.coefficients) for part in margins}
        # what is summed over for each margin that counts, and the root of how much: coarse ones settle last
        counted = [margin for margin in reversed(margins) if self.coefficients[margin]]
        self.coarse_first = [(_others(margin, len(sizes)), sqrt(self.coefficients[margin])) for margin in counted]

    def _above(self, part: Margin, coefficients: Mapping[Margin, float]) -> float:
        return sum(
            coefficient * self._folds[margin]
            for margin, coefficient in coefficients.items()
            if set(part) <= set(margin)
        )

    def function(self, of: Callable[[float], float]) -> dict[Margin, float]:
        """The coefficients of the operator with these eigenvalues, from the cells down to the grand total."""
        made: dict[Margin, float] = {}
        for part, eigenvalue in self.eigenvalues.items():
            made[part] = (of(eigenvalue) - self._above(part, made)) / self._folds[part]
        return made

    def middle(self) -> float:
        """A mean of the eigenvalues: what most components have, and a little of what the few coarse ones have.

        The power of a component's dimension is a choice by trial, on sparse and on dense tables of one to six keys.
        """
        votes = {part: prod(self._sizes[index] - 1 for index in part) ** _VOTES_POWER for part in self.eigenvalues}
        logs = sum(vote * log(self.eigenvalues[part]) for part, vote in votes.items())
        return exp(logs / sum(votes.values()))


def _folds(sizes: tuple[int, ...], margins: Iterable[Margin]) -> dict[Margin, int]:
    """How many cells a figure of each margin adds up."""
    return {margin: prod(size for index, size in enumerate(sizes) if index not in margin) for margin in margins}


def _apply(
    coefficients: Mapping[Margin, float], table: NDArray[float64], index: int = 0, kept: Margin = ()
) -> NDArray[float64]:
    """The sum over margins of coefficient times the margin's figures, each figure at all the cells it adds up.

    Keys from `place` on are still to be kept or summed over; those before it were, and `kept` says which are left.
    """
    if index == table.ndim:
        return table * coefficients[kept]
    made = _apply(coefficients, table, index + 1, (*kept, index))
    made += _apply(coefficients, _sum_over(table, index), index + 1, kept)
    return made


def _sum_over(table: NDArray[float64], position: int) -> NDArray[float64]:
    """`table.sum(axis=place, keepdims=True)` to the last bit, without its cost for every line of a short last key."""
    length = table.shape[-1]
    if position + 1 < table.ndim or length >= _SUMMED_IN_PAIRS:
        summed: NDArray[float64] = np.add.reduce(table, axis=position, keepdims=True)
        return summed
    added = table[..., :1].copy()
    for index in range(1, length):
        added += table[..., index : index + 1]
    return added


def _nearest_above(bounds: NDArray[float64], form: _Form, *, tolerance: float) -> NDArray[float64]:
    """The smallest change in the form's sense that is nowhere below its bound, by alternating directions.

    Working on the change keeps the size of cells out of the arithmetic. A run that does not reach the tolerance still
    gives a change within its bounds: what is published then adds up, and is only a little farther than it could be.
    """
    step = form.middle()
    inverse = form.function(_shifted_inverse(step))
    past = _Past(bounds.size)
    state = np.maximum(bounds, 0.0)
    for _ in range(MOST_ROUNDS):
        change = np.maximum(state, bounds)
        apart = _apply(inverse, step * (2 * change - state))
        apart -= change
        if _settled(apart, form, step=step, tolerance=tolerance):
            break
        state = past.extrapolate(state, _OVERSHOOT * apart)
    return np.maximum(state, bounds)


def _settled(apart: NDArray[float64], form: _Form, *, step: float, tolerance: float) -> bool:
    """Whether two solutions, one within the bounds and one that is nearest without them, are as good as one.

    `apart` times the step is also how far the slope of the form is from that of an optimum. A figure that counts more
    than a cell must agree better, by the root: many small differences of one sign would add up in the margins.
    """
    if step * float(np.abs(apart).max()) > tolerance:
        return False
    return all(root * float(np.abs(apart.sum(axis=over)).max()) <= tolerance for over, root in form.coarse_first)


def _others(margin: Margin, keys: int) -> Margin:
    return tuple(index for index in range(keys) if index not in margin)


class _Past:
    """The last rounds, and where they lead: the combination of them whose moves cancel best [And65].

    A round maps a state to another; once the cells at their bounds are settled the map is linear, and a few rounds tell
    nearly all of it. Sums are numpy's own, so that the same table always comes out, however many threads there are.
    """

    def __init__(self, size: int) -> None:
        self._states = np.empty((_REMEMBERED, size))
        self._moves = np.empty((_REMEMBERED, size))
        self._products = np.empty((_REMEMBERED, _REMEMBERED))
        self._along = np.empty(_REMEMBERED)
        self._held = self._rounds = 0
        self._last: tuple[NDArray[float64], NDArray[float64]] | None = None
        self._length = inf

    def extrapolate(self, state: NDArray[float64], move: NDArray[float64]) -> NDArray[float64]:
        """The state to try next, after a round moved this one so."""
        reached, moved = (state + move).ravel(), move.ravel()
        length = sqrt(float(np.einsum("i,i->", moved, moved)))
        if length > _TOO_FAR * self._length:
            self._held = self._rounds = 0
        elif self._last is not None:
            self._remember(reached, moved, *self._last)
        self._last, self._length = (reached, moved), length
        held = self._held
        if not held:
            return reached.reshape(state.shape)
        products = self._products[:held, :held]
        ridge = _RIDGE * np.trace(products) * np.eye(held)
        shares = np.linalg.solve(products + ridge, self._along[:held])
        led: NDArray[float64] = reached - np.einsum("i,ij->j", shares, self._states[:held])
        return led.reshape(state.shape)

    def _remember(
        self,
        reached: NDArray[float64],
        moved: NDArray[float64],
        last_reached: NDArray[float64],
        last_moved: NDArray[float64],
    ) -> None:
        index, self._rounds = self._rounds % _REMEMBERED, self._rounds + 1
        held = self._held = min(self._rounds, _REMEMBERED)
        np.subtract(reached, last_reached, out=self._states[index])
        change = np.subtract(moved, last_moved, out=self._moves[index])
        with_all = np.einsum("ij,j->i", self._moves[:held], change)
        self._products[index, :held] = self._products[:held, index] = with_all
        # along the last move they are known: what is new is along the change
        self._along[:held] += with_all
        self._along[index] = np.einsum("i,i->", change, moved)


def _shifted_inverse(step: float) -> Callable[[float], float]:
    return lambda eigenvalue: 1.0 / (eigenvalue + step)


def _checked(raw: NDArray[float64]) -> NDArray[float64]:
    values = np.asarray(raw, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError("an estimated table has cells, and each is a finite number")
    return values
