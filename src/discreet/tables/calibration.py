"""Published tables brought to public totals, by raking, and to whole numbers that still meet them.

Guarantee: post-processing of a release with totals that are public; costs nothing.
Requires:  the totals are known without the confidential rows (data.publictables, `totals` of a card).
Proof:     docs/proofs/calibration.md
Refs:      [DS40] for raking; [DS92] for calibration to known totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import ColumnKind, canonical_code
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.tables.linear.consistency import round_nested
from discreet.tables.linear.layout import Margin, keep_keys

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from discreet.results import Heading, Labels
    from discreet.workspace import PublicTable

__all__ = ["RakedTable", "Target", "calibrate", "check_targets", "grid_of", "meet", "read_totals"]

SAME_TOTALS: Final = 1e-9

_MOST_PLACES: Final = 9
_INT64: Final = 2**62

_LIFT: Final = 1e-4
"""How much of a table without zeros is mixed in where zeros keep several totals from being met."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The public totals of one margin, in the order of its figures; NaN where there is none and nothing is to move.

    `name` is what errors call it: the public table and column, say. `source` says where the totals come from.
    """

    kept: Margin
    totals: NDArray[float64]
    name: str = ""
    source: Labels | None = None

    def __post_init__(self) -> None:
        if self.kept != tuple(sorted(set(self.kept))) or any(index < 0 for index in self.kept):
            raise ValueError("a margin lists places of keys, ascending")
        totals = np.array(self.totals, dtype=np.float64)
        totals.setflags(write=False)
        object.__setattr__(self, "totals", totals)
        if np.isinf(totals).any():
            raise self.refuse(say("must be finite"), say("an infinite one"))
        if (totals < 0).any():
            raise self.refuse(say("must be 0 or more"), say("a negative one"))

    @property
    def title(self) -> Phrase:
        if self.name:
            return Phrase("public totals '{name}'", name=self.name)
        return Phrase("public totals of margin {margin}", margin=self.kept)

    def refuse(self, rule: str, given: str) -> ParameterInvalid:
        return ParameterInvalid(parameter=self.title, rule=rule, given=given)


@dataclass(frozen=True, slots=True, eq=False)
class RakedTable:
    """A table after raking: the values given, times every target's factors.

    `unmatched` are figures that no factor can bring to their total, as (place of the target, position): 0 in the table
    with a total above it. Such a total is shared out as the rest of the table is. `gap` is the largest relative
    difference that remains between a total and its figure; `converged` whether it is below the tolerance.
    """

    values: NDArray[float64]
    factors: tuple[NDArray[float64], ...]
    unmatched: tuple[tuple[int, tuple[int, ...]], ...]
    gap: float
    converged: bool


def calibrate(
    values: NDArray[Any], totals: Sequence[Target], *, iterations: int = 200, tolerance: float = 1e-9
) -> RakedTable:
    """Rake published values, in the unit of the totals, until their margins are the totals.

    With one target this is one exact step. With several, each is met in turn until all hold within `tolerance`; where
    zeros in the table make that impossible, a little of a table without zeros is mixed in.
    """
    raked = np.array(values, dtype=np.float64)
    if not np.isfinite(raked).all() or (raked < 0).any():
        raise ParameterInvalid(
            parameter=Phrase("a table to calibrate"),
            rule=say(
                "must hold figures that are 0 or more: calibrate counts, or totals of a value that cannot be negative"
            ),
            given=say("another one"),
        )
    check_targets(raked.shape, totals)
    unmatched = tuple(_unmatched(raked, totals))
    made = _rake(_fill(raked, totals, unmatched), totals, iterations=iterations, tolerance=tolerance)
    if not made.converged:
        lifted = raked + _LIFT * max(float(raked.sum()), 1.0) * _independent(raked.shape, totals)
        made = _rake(lifted, totals, iterations=iterations, tolerance=tolerance)
    return replace(made, unmatched=unmatched)


def _rake(seed: NDArray[float64], totals: Sequence[Target], *, iterations: int, tolerance: float) -> RakedTable:
    raked = seed.copy()
    factors = [np.ones(target.totals.shape) for target in totals]
    gap = _gap(raked, totals)
    for _ in range(iterations):
        if gap <= tolerance:
            break
        for index, target in enumerate(totals):
            factor = np.ones(target.totals.shape)
            reached = keep_keys(raked, target.kept)
            np.divide(target.totals, reached, out=factor, where=(reached > 0) & ~np.isnan(target.totals))
            raked *= _spread(factor, target.kept, raked.ndim)
            factors[index] = factors[index] * factor
        gap = _gap(raked, totals)
    return RakedTable(values=raked, factors=tuple(factors), unmatched=(), gap=gap, converged=gap <= tolerance)


def grid_of(totals: Sequence[Target]) -> Fraction:
    """The decimal step on which all totals lie, and so do the figures that meet them; 1 where all are whole."""
    decimals = 0
    for target in totals:
        for total in target.totals.flat:
            if not np.isnan(total):
                exponent = Decimal(repr(float(total))).normalize().as_tuple().exponent
                decimals = max(decimals, -exponent if isinstance(exponent, int) else 0)
    return Fraction(1, 10 ** min(decimals, _MOST_PLACES))


def meet(raked: NDArray[float64], totals: Sequence[Target]) -> NDArray[Any]:
    """Whole steps of `grid_of(totals)` near a raked table that meet every total exactly; not negative.

    Every total is of one key, or the grand total, and none is NaN. Cells are rounded with the grand total kept; what a
    total then lacks is moved to it from one that has too much, between cells that agree in all other keys: that changes
    no other total.
    """
    step = grid_of(totals)
    scaled = raked / float(step)
    whole = round_nested(scaled).astype(object)
    wanted = [
        np.array([int(Fraction(repr(float(item))) / step) for item in target.totals.flat], dtype=object).reshape(
            target.totals.shape
        )
        for target in totals
    ]
    missing = int(wanted[0].sum()) - int(whole.sum())
    while missing:
        # more than one step only where floats cannot tell a figure from its neighbours
        cell = np.unravel_index(int(np.argmax(scaled - whole if missing > 0 else whole)), whole.shape)
        moved = missing if missing > 0 else -min(-missing, int(whole[cell]))
        whole[cell] += moved
        missing -= moved
    for target, figures in zip(totals, wanted, strict=True):
        if target.kept:
            _even_out(whole, scaled, target.kept[0], figures)
    largest = int(whole.sum())
    return whole if largest >= _INT64 else whole.astype(np.int64)


def _even_out(whole: NDArray[Any], scaled: NDArray[float64], axis: int, wanted: NDArray[Any]) -> None:
    """Move single steps along one key until its figures are the wanted ones, which have the same sum."""
    cells, near = np.moveaxis(whole, axis, 0), np.moveaxis(scaled, axis, 0)
    over = keep_keys(whole, (axis,)) - wanted
    while any(over):
        rich, poor = int(np.argmax(over)), int(np.argmin(over))
        moved = min(int(over[rich]), int(-over[poor]))
        # first where it is missed least: cells rounded up here, rounded down there
        gain = ((cells[rich] - near[rich]) - (cells[poor] - near[poor])).astype(np.float64).ravel()
        rich_cells = np.flatnonzero((cells[rich] > 0).ravel())
        chosen = rich_cells[np.argsort(-gain[rich_cells], kind="stable")][:moved]
        each = max(1, moved // len(rich_cells)) if len(chosen) < moved else 1
        for index in chosen.tolist():
            at = np.unravel_index(index, cells.shape[1:])
            taken = min(each, int(cells[(rich, *at)]), int(over[rich]), int(-over[poor]))
            cells[(rich, *at)] -= taken
            cells[(poor, *at)] += taken
            over[rich] -= taken
            over[poor] += taken


def read_totals(
    table: PublicTable, column: str, heading: Heading, cells: Sequence[int | str | None]
) -> NDArray[float64]:
    """The totals in a column of a public table, in the order of a key's cells; NaN for the cell without value.

    The table's own key is matched with the codes that the heading shows. Every cell with a code needs a total; rows of
    the public table that have no cell are passed over.
    """
    found = table.column(column)
    if found.step is None or found.kind not in (ColumnKind.INTEGER, ColumnKind.NUMBER):
        raise ParameterInvalid(
            parameter=Phrase("public totals '{name}'", name=f"{table.name}.{column}"),
            rule=say("must be a column of numbers: see discreet public show"),
            given=say("a column of kind {kind}", kind=str(found.kind)),
        )
    key, step = table.column(table.key), found.step
    known = {
        canonical_code(key.text(code)): float(total * step)
        for code, total in zip(table.values(table.key), table.values(column), strict=True)
        if code is not None and total is not None
    }
    codes = [heading.code(cell) for cell in cells]
    missing = [str(code) for code in codes if code is not None and canonical_code(str(code)) not in known]
    if missing:
        shown = ", ".join(say("'{name}'", name=code) for code in missing[:5]) + (", …" if len(missing) > 5 else "")
        raise ParameterInvalid(
            parameter=Phrase("public totals '{name}'", name=f"{table.name}.{column}"),
            rule=(
                say(
                    "must have one for every category of '{name}'. Add the missing ones to the file and store it "
                    "again with: discreet public add --replace",
                    name=heading.name,
                )
            ),
            given=say("none for {shown}", shown=shown),
        )
    return np.array([np.nan if code is None else known[canonical_code(str(code))] for code in codes])


# --- checks and steps -----------------------------------------------------------------------------------------------


def check_targets(sizes: tuple[int, ...], totals: Sequence[Target]) -> None:
    """Refuse totals that no table of these sizes can meet together, whatever its figures are."""
    _check_shapes(sizes, totals)
    _check_agreement(totals)


def _check_shapes(sizes: tuple[int, ...], totals: Sequence[Target]) -> None:
    if not totals:
        raise ParameterInvalid(
            parameter=Phrase("calibration"), rule=say("needs the totals of at least one margin"), given=say("none")
        )
    for target in totals:
        if any(index >= len(sizes) for index in target.kept):
            raise target.refuse(
                say("must be of keys of the table, which has {count}", count=len(sizes)),
                say("margin {margin}", margin=target.kept),
            )
        wanted = tuple(sizes[index] for index in target.kept)
        if target.totals.shape != wanted:
            raise target.refuse(
                say("must have the shape {wanted} of their margin", wanted=wanted), f"{target.totals.shape}"
            )


def _check_agreement(totals: Sequence[Target]) -> None:
    """What two targets both determine, at least the grand total, must be the same in both."""
    for index, one in enumerate(totals):
        for other in totals[:index]:
            common = tuple(key for key in one.kept if key in other.kept)
            ours, theirs = (
                keep_keys(target.totals, tuple(target.kept.index(key) for key in common)) for target in (one, other)
            )
            # a total that is not known makes the comparison nan, and that is never larger
            if (np.abs(ours - theirs) > SAME_TOTALS * np.maximum(ours, theirs)).any():
                rule = (
                    say("must have the same totals of margin {margin} as {others}", margin=common, others=other.title)
                    if common
                    else say("must have the same grand total as {others}", others=other.title)
                )
                raise one.refuse(rule, say("another one"))


def _spread(figures: NDArray[float64], kept: Margin, keys: int) -> NDArray[float64]:
    """A margin's figures with an axis of length 1 for every key summed over."""
    return np.expand_dims(figures, tuple(index for index in range(keys) if index not in kept))


def _unmatched(table: NDArray[float64], totals: Sequence[Target]) -> list[tuple[int, tuple[int, ...]]]:
    named: list[tuple[int, tuple[int, ...]]] = []
    for place, target in enumerate(totals):
        empty = (keep_keys(table, target.kept) <= 0) & (target.totals > 0)
        named.extend((place, tuple(int(index) for index in position)) for position in np.argwhere(empty))
    return named


def _fill(
    table: NDArray[float64], totals: Sequence[Target], unmatched: Sequence[tuple[int, tuple[int, ...]]]
) -> NDArray[float64]:
    """The table with something in every figure that has a total: shared as in the whole table, or evenly."""
    filled = table.copy()
    for place, position in unmatched:
        kept = totals[place].kept
        others = tuple(key for key in range(table.ndim) if key not in kept)
        like = keep_keys(table, others)
        at: list[Any] = [slice(None)] * table.ndim
        for key, index in zip(kept, position, strict=True):
            at[key] = index
        filled[tuple(at)] = like if (like > 0).any() else 1.0
    return filled


def _independent(sizes: tuple[int, ...], totals: Sequence[Target]) -> NDArray[float64]:
    """Shares of a table in which keys with totals are independent and all else is even: above 0 where totals are."""
    shares = np.ones(sizes)
    for target in totals:
        known = np.nan_to_num(target.totals, nan=0.0)
        shares = shares * _spread(known / max(float(known.sum()), 1.0), target.kept, len(sizes))
    return np.asarray(shares / max(float(shares.sum()), 1e-300))


def _gap(table: NDArray[float64], totals: Sequence[Target]) -> float:
    gaps = [
        np.nan_to_num(np.abs(keep_keys(table, target.kept) - target.totals) / np.maximum(target.totals, 1e-300)).max(
            initial=0.0
        )
        for target in totals
    ]
    return float(max(gaps))
