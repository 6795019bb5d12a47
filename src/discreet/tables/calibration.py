"""Published tables brought to public totals, by raking.

Guarantee: post-processing of a release with totals that are public; costs nothing.
Requires:  the totals are known without the confidential rows (data.publictables).
Proof:     none needed beyond post-processing; docs/tables-consistency.md says what it repairs and what not.
Refs:      [DS40] for raking; [DS92] for calibration to known totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.data.columns import Kind, canonical_code
from discreet.errors import ParameterInvalid
from discreet.tables.layout import Margin, keep_keys

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from discreet.data.publictables import PublicTable
    from discreet.tables.table import Heading

__all__ = ["Calibrated", "Target", "calibrate", "check_targets", "read_totals"]

SAME_TOTALS: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The public totals of one margin, in the order of its figures; NaN where there is none and nothing is to move.

    `name` is what errors call it: the public table and column, say.
    """

    kept: Margin
    totals: NDArray[float64]
    name: str = ""

    def __post_init__(self) -> None:
        if self.kept != tuple(sorted(set(self.kept))) or any(place < 0 for place in self.kept):
            raise ValueError("a margin lists places of keys, ascending")
        totals = np.array(self.totals, dtype=np.float64)
        totals.setflags(write=False)
        object.__setattr__(self, "totals", totals)
        if np.isinf(totals).any():
            raise self.refuse("must be finite", "an infinite one")
        if (totals < 0).any():
            raise self.refuse("must be 0 or more", "a negative one")

    @property
    def title(self) -> str:
        return f"public totals '{self.name}'" if self.name else f"public totals of margin {self.kept}"

    def refuse(self, rule: str, came: str) -> ParameterInvalid:
        return ParameterInvalid(parameter=self.title, rule=rule, came=came)


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A table after raking: the values given, times every target's factors.

    `unmatched` are figures that no factor can bring to their total, as (place of the target, position): 0 in the table
    with another total, or the other way round. They are left alone. `gap` is the largest relative difference that
    remains between a total and its figure; `converged` whether it is below the tolerance.
    """

    values: NDArray[float64]
    factors: tuple[NDArray[float64], ...]
    unmatched: tuple[tuple[int, tuple[int, ...]], ...]
    gap: float
    converged: bool


def calibrate(
    values: NDArray[Any], totals: Sequence[Target], *, iterations: int = 200, tolerance: float = 1e-9
) -> Calibrated:
    """Rake published values, in the unit of the totals, until their margins are the totals.

    With one target this is one exact step. With several, each is met in turn until all hold within `tolerance`; zeros
    in the table can make that impossible, and `converged` then says so.
    """
    raked = np.array(values, dtype=np.float64)
    if not np.isfinite(raked).all() or (raked < 0).any():
        raise ParameterInvalid(
            parameter="a table to calibrate",
            rule="holds figures that are 0 or more: calibrate counts, or totals of a value that cannot be negative",
            came="another one",
        )
    check_targets(raked.shape, totals)
    matched = [_matched(raked, target) for target in totals]
    factors = [np.ones(target.totals.shape) for target in totals]
    gap = _gap(raked, totals, matched)
    for _ in range(iterations):
        if gap <= tolerance:
            break
        for place, (target, usable) in enumerate(zip(totals, matched, strict=True)):
            factor = np.ones(target.totals.shape)
            np.divide(target.totals, keep_keys(raked, target.kept), out=factor, where=usable)
            raked *= _spread(factor, target.kept, raked.ndim)
            factors[place] = factors[place] * factor
        gap = _gap(raked, totals, matched)
    return Calibrated(
        values=raked,
        factors=tuple(factors),
        unmatched=tuple(_unmatched(np.asarray(values, dtype=np.float64), totals)),
        gap=gap,
        converged=gap <= tolerance,
    )


def read_totals(
    table: PublicTable, column: str, heading: Heading, cells: Sequence[int | str | None]
) -> NDArray[float64]:
    """The totals in a column of a public table, in the order of a key's cells; NaN for the cell without value.

    The table's own key is matched with the codes that the heading shows. Every cell with a code needs a total; rows of
    the public table that have no cell are passed over.
    """
    found = table.column(column)
    if found.step is None or found.kind not in (Kind.INTEGER, Kind.NUMBER):
        raise ParameterInvalid(
            parameter=f"public totals '{table.name}.{column}'",
            rule="must be a column of numbers: see discreet public show",
            came=f"a column of kind {found.kind}",
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
        shown = ", ".join(f"'{code}'" for code in missing[:5]) + (", …" if len(missing) > 5 else "")
        raise ParameterInvalid(
            parameter=f"public totals '{table.name}.{column}'",
            rule=(
                f"must have one for every category of '{heading.name}'. Add the missing ones to the file and store it "
                "again with: discreet public add --replace"
            ),
            came=f"none for {shown}",
        )
    return np.array([np.nan if code is None else known[canonical_code(str(code))] for code in codes])


# --- checks and steps -----------------------------------------------------------------------------------------------


def check_targets(sizes: tuple[int, ...], totals: Sequence[Target]) -> None:
    """Refuse totals that no table of these sizes can meet together, whatever its figures are."""
    _check_shapes(sizes, totals)
    _check_agreement(totals)


def _check_shapes(sizes: tuple[int, ...], totals: Sequence[Target]) -> None:
    if not totals:
        raise ParameterInvalid(parameter="calibration", rule="needs the totals of at least one margin", came="none")
    for target in totals:
        if any(place >= len(sizes) for place in target.kept):
            raise target.refuse(f"must be of keys of the table, which has {len(sizes)}", f"margin {target.kept}")
        wanted = tuple(sizes[place] for place in target.kept)
        if target.totals.shape != wanted:
            raise target.refuse(f"must have the shape {wanted} of their margin", f"{target.totals.shape}")


def _check_agreement(totals: Sequence[Target]) -> None:
    """What two targets both determine, at least the grand total, must be the same in both."""
    for place, one in enumerate(totals):
        for other in totals[:place]:
            common = tuple(key for key in one.kept if key in other.kept)
            ours, theirs = (
                keep_keys(target.totals, tuple(target.kept.index(key) for key in common)) for target in (one, other)
            )
            # a total that is not known makes the comparison nan, and that is never larger
            if (np.abs(ours - theirs) > SAME_TOTALS * np.maximum(ours, theirs)).any():
                what = "grand total" if not common else f"totals of margin {common}"
                raise one.refuse(f"must have the same {what} as {other.title}", "another one")


def _spread(figures: NDArray[float64], kept: Margin, keys: int) -> NDArray[float64]:
    """A margin's figures with an axis of length 1 for every key summed over."""
    return np.expand_dims(figures, tuple(place for place in range(keys) if place not in kept))


def _matched(table: NDArray[float64], target: Target) -> NDArray[np.bool_]:
    return np.asarray((keep_keys(table, target.kept) > 0) & (target.totals > 0))


def _unmatched(table: NDArray[float64], totals: Sequence[Target]) -> list[tuple[int, tuple[int, ...]]]:
    named: list[tuple[int, tuple[int, ...]]] = []
    for place, target in enumerate(totals):
        apart = ((keep_keys(table, target.kept) > 0) != (target.totals > 0)) & ~np.isnan(target.totals)
        named.extend((place, tuple(int(index) for index in position)) for position in np.argwhere(apart))
    return named


def _gap(table: NDArray[float64], totals: Sequence[Target], matched: Sequence[NDArray[np.bool_]]) -> float:
    gaps = [
        np.abs(keep_keys(table, target.kept)[usable] / target.totals[usable] - 1).max(initial=0.0)
        for target, usable in zip(totals, matched, strict=True)
    ]
    return float(max(gaps))
